"""What a lab model can do, by the engine, the prompts and the judge of any run: the figures of its model card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from code_a1.config import PolicyConfig, RolloutConfig
from code_a1.engines.base import PolicyEngine
from code_a1.judge import Judge
from code_a1.lab.problems import LabProblem
from code_a1.lab.tokenizer import CONTEXT_WINDOW
from code_a1.mistake_book import NOT_A_FAILURE
from code_a1.records import JudgedCandidate, JudgedSuite, Judgement, Validity, Verdict
from code_a1.rollout import rollout_candidates, rollout_suites
from code_a1.sandbox import Sandbox
from code_a1.sft.measure import Ratio, bootstrap, share


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares between 0 and 1; NaN where nothing was measured."""

    pass_at_1: float
    """Programs that pass every hidden test."""
    loaded: float
    """Programs that are Python and define the function."""
    validity: float
    """Tests that are VALID, of those asked for."""
    usable: float
    """Tests that a program can be run on, their answer right or corrected."""
    kill: float
    """Suites against a program that is wrong on hidden tests, whose own VALID tests find it out. An attacker who
    tries every hidden input finds all of them out."""
    signal: float
    """Suites against any program of which at least one usable test fails."""
    programs: int
    suites: int
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """95 % intervals of the shares, by name: a bootstrap over problems."""

    def text(self, name: str) -> str:
        """A field for people to read, with its interval where it has one."""
        value = getattr(self, name)
        low, high = self.intervals.get(name, (float("nan"), float("nan")))
        ends = f" [{low:.3f}, {high:.3f}]" if low <= high else ""
        return f"{value:.3f}{ends}" if isinstance(value, float) else str(value)


SHARES = ("pass_at_1", "loaded", "validity", "usable", "kill", "signal")
"""The fields of `Rates` that are shares."""


def measure(
    policy: PolicyEngine, judge: Judge, problems: Sequence[LabProblem], sizes: RolloutConfig, *, seed: int
) -> Rates:
    """Let one policy play both roles on the problems: programs on hidden tests, suites against these programs."""
    records = [p.problem for p in problems]
    checked = judge.check_references(records)
    hidden = {
        r.problem_id: [t.test for t in row if t.test is not None] for r, row in zip(records, checked, strict=True)
    }
    groups = rollout_candidates(policy, records, sizes, seed=seed)
    attacks = rollout_suites(policy, groups, sizes, seed=seed + 1)
    counts_P = [_counts(j, sizes.tests_per_suite) for j in judge(groups, attacks, hidden)]
    ratios = {name: [counts[name] for counts in counts_P] for name in SHARES}
    return Rates(
        **{name: share(found) for name, found in ratios.items()},
        programs=int(sum(counts["loaded"][1] for counts in counts_P)),
        suites=int(sum(counts["validity"][1] for counts in counts_P)) // sizes.tests_per_suite,
        intervals={name: bootstrap(found) for name, found in ratios.items()},
    )


def _counts(judgement: Judgement, tests_per_suite: int) -> dict[str, Ratio]:
    """What one problem adds to numerator and denominator of every share."""
    candidates = [c for c in judgement.candidates if not c.masked]
    suites = [(c, s) for c in candidates for s in c.suites]
    asked = len(suites) * tests_per_suite
    tests = [t for _, s in suites for t in s.tests[:tests_per_suite]]
    return {
        "pass_at_1": _ratio(_right(c) for c in candidates),
        "loaded": _ratio(c.loaded for c in candidates),
        "validity": (sum(t.validity is Validity.VALID for t in tests), asked),
        "usable": (sum(t.validity.usable for t in tests), asked),
        "kill": _ratio(_finds(s, valid=True) for c, s in suites if c.loaded and not _right(c)),
        "signal": _ratio(_finds(s, valid=False) for c, s in suites if c.loaded),
    }


SIZES = RolloutConfig(
    candidates_per_problem=4,
    suites_per_candidate=1,
    tests_per_suite=4,
    max_code_prompt_tokens=CONTEXT_WINDOW,
    max_test_prompt_tokens=CONTEXT_WINDOW,
    max_code_tokens=128,
    max_test_tokens=224,
)
"""Sizes of the lab: what fits a model of its own."""


def measure_model(model: str, problems: Sequence[LabProblem], *, samples: int, seed: int) -> Rates:
    """`measure` for a model that is given by name or folder, in the lab's sizes."""
    from code_a1.engines.local.engine import LocalEngine  # noqa: PLC0415 - torch is loaded only where it is used

    policy = LocalEngine(PolicyConfig(model=model), seed=seed, trainable=False)
    try:
        with Sandbox() as sandbox:
            sizes = SIZES.model_copy(update={"candidates_per_problem": samples})
            return measure(policy, Judge(sandbox), problems, sizes, seed=seed)
    finally:
        policy.close()


def _right(candidate: JudgedCandidate) -> bool:
    return candidate.loaded and all(verdict is Verdict.PASS for verdict in candidate.replayed)


def _finds(suite: JudgedSuite, *, valid: bool) -> bool:
    """Whether a usable test, or a valid one, fails the program."""
    return any(t.verdict not in NOT_A_FAILURE and (not valid or t.validity is Validity.VALID) for t in suite.usable)


def _ratio(facts: Iterable[bool]) -> Ratio:
    found = list(facts)
    return sum(found), len(found)
