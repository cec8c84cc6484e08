"""From rewards to what a policy learns from: groups, advantages, and the selection of suites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from code_a1.advantages import group_advantages, select_by_spread
from code_a1.config import SelectionConfig
from code_a1.modes import Mode, Role
from code_a1.records import Completion, Judgement, Sample
from code_a1.rewards import CodeRewards, SuiteReward, TestRewards


@dataclass(slots=True)
class Batch:
    """The samples of one policy for one step, and how many groups there were and why some are not among them."""

    samples: list[Sample] = field(default_factory=list)
    groups: int = 0
    """Groups of two members or more that were scored."""
    without_spread: int = 0
    """Groups dropped because all their rewards are equal: they carry no gradient."""

    def add(self, name: str, completions: Sequence[Completion], rewards: Sequence[float]) -> None:
        """Turn one group's rewards into samples; without spread it is only counted."""
        if len(rewards) < 2:
            return
        self.groups += 1
        advantages = group_advantages(rewards)
        if advantages is None:
            self.without_spread += 1
            return
        self.samples += [Sample(name, c, a) for c, a in zip(completions, advantages, strict=True)]


def batches(
    mode: Mode,
    judgements: Sequence[Judgement],
    code_P: CodeRewards,
    test_P: TestRewards,
    selection: SelectionConfig,
) -> dict[Role, dict[Role, Batch]]:
    """What each policy learns from: per policy that learns, per kind of samples; groups keep to one kind."""
    make: dict[Role, Callable[[], Batch]] = {
        "code": lambda: code_samples(judgements, code_P),
        "test": lambda: suite_samples(judgements, test_P, selection),
    }
    return {policy: {kind: make[kind]() for kind in kinds} for policy, kinds in mode.learns.items()}


def code_samples(judgements: Sequence[Judgement], rewards_P: CodeRewards) -> Batch:
    """The M candidates of every problem as one group each; masked candidates are left out."""
    batch = Batch()
    for judgement, rewards_M in zip(judgements, rewards_P, strict=True):
        scored = [(c, r) for c, r in zip(judgement.candidates, rewards_M, strict=True) if r is not None]
        batch.add(
            f"code/{judgement.problem.problem_id}", [c.candidate.completion for c, _ in scored], [r for _, r in scored]
        )
    return batch


def suite_samples(judgements: Sequence[Judgement], rewards_P: TestRewards, selection: SelectionConfig) -> Batch:
    """The N suites of the ℓ candidates per problem whose rewards spread most (TopVar), one group per candidate."""
    batch = Batch()
    for judgement, rewards_M in zip(judgements, rewards_P, strict=True):
        for m in select_by_spread(
            [spread_values(rewards_N, selection) for rewards_N in rewards_M], selection.candidates_per_problem
        ):
            suites = judgement.candidates[m].suites
            scored = [(s, r) for s, r in zip(suites, rewards_M[m], strict=True) if r is not None]
            batch.add(
                f"test/{judgement.problem.problem_id}/{m}",
                [s.suite.completion for s, _ in scored],
                [r.reward for _, r in scored],
            )
    return batch


def spread_values(rewards_N: Sequence[SuiteReward | None], selection: SelectionConfig) -> list[float]:
    """What the spread of one candidate's suites is measured on, masked suites left out."""
    scored = [r for r in rewards_N if r is not None]
    return [r.reward if selection.spread_of == "reward" else r.adversarial for r in scored]
