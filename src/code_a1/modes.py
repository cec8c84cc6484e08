"""Who attacks, who judges, who learns: one small object per mode, and the trainer never asks which it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from code_a1.config import Config
from code_a1.engines.base import PolicyEngine
from code_a1.mistake_book import MistakeBook
from code_a1.records import CodeGroup, Judgement, Problem, SuiteGroup, TestCase
from code_a1.rewards import CodeRewards, TestRewards
from code_a1.rollout import Progress, rollout_suites
from code_a1.samples import Batch, code_samples, suite_samples

ReferenceTests = Mapping[str, tuple[TestCase, ...]]
"""Problem id → the problem's own tests that hold on its reference."""


class CoEvolve:
    """The paper's mode: the test policy attacks every candidate, the Mistake Book replays, both policies learn."""

    name = "co-evolve"
    needs_reference_tests = False
    uses_test_policy = True

    def attack(
        self,
        test_policy: PolicyEngine,
        code_groups: Sequence[CodeGroup],
        config: Config,
        *,
        seed: int,
        on_progress: Progress | None = None,
    ) -> list[SuiteGroup]:
        """The suites written against the candidates."""
        return rollout_suites(test_policy, code_groups, config.rollout, seed=seed, on_progress=on_progress)

    def known_tests(
        self, problems: Sequence[Problem], book: MistakeBook, reference_tests: ReferenceTests, config: Config
    ) -> dict[str, tuple[TestCase, ...]]:
        """The tests that every candidate of a problem is run on, whoever attacks it."""
        if not config.mistake_book.enabled:
            return {}
        return book.replay(problems, config.mistake_book.replayed_tests or config.rollout.tests_per_suite)

    def remembers(self, config: Config) -> bool:
        """Whether new failures enter the Mistake Book."""
        return config.mistake_book.enabled

    def batches(
        self, judgements: Sequence[Judgement], code_rewards: CodeRewards, test_rewards: TestRewards, config: Config
    ) -> dict[str, Batch]:
        """What each policy learns from, by role."""
        return {
            "code": code_samples(judgements, code_rewards),
            "test": suite_samples(judgements, test_rewards, config.selection),
        }


class Golden(CoEvolve):
    """The golden-test baseline: the problem's own tests judge, the code policy alone learns."""

    name = "golden"
    needs_reference_tests = True
    uses_test_policy = False

    def attack(
        self,
        test_policy: PolicyEngine,
        code_groups: Sequence[CodeGroup],
        config: Config,
        *,
        seed: int,
        on_progress: Progress | None = None,
    ) -> list[SuiteGroup]:
        """Nobody attacks."""
        return []

    def known_tests(
        self, problems: Sequence[Problem], book: MistakeBook, reference_tests: ReferenceTests, config: Config
    ) -> dict[str, tuple[TestCase, ...]]:
        """The problems' own tests."""
        return {p.problem_id: reference_tests[p.problem_id] for p in problems}

    def remembers(self, config: Config) -> bool:
        """The tests are the same in every step; there is nothing to remember."""
        return False

    def batches(
        self, judgements: Sequence[Judgement], code_rewards: CodeRewards, test_rewards: TestRewards, config: Config
    ) -> dict[str, Batch]:
        """The candidates alone."""
        return {"code": code_samples(judgements, code_rewards)}


MODES: dict[str, CoEvolve] = {mode.name: mode for mode in (CoEvolve(), Golden())}
"""By the name that the configuration uses."""
