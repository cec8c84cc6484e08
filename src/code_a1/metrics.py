"""What a step's judgements and rewards say, as one flat dictionary of numbers; docs/metrics.md explains each key."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from code_a1.advantages import population_std
from code_a1.mistake_book import NOT_A_FAILURE
from code_a1.records import CodeGroup, Completion, JudgedCandidate, Judgement, SuiteGroup, Validity, Verdict
from code_a1.rewards import CodeRewards, TestRewards

Metrics = dict[str, float]


def judgement_metrics(judgements: Sequence[Judgement], code_P: CodeRewards, test_P: TestRewards) -> Metrics:
    """Rewards of both sides, pass rates, and the share of each validity class and verdict.

    A mean over nothing is NaN and is logged as null: no value is not a value of 0.
    """
    shown = [c for j in judgements for c in j.candidates]
    candidates = [c for c in shown if c.candidate.own]
    code_rewards = [r for row in code_P for r in row if r is not None]
    suite_rewards = [r for rows in test_P for row in rows for r in row if r is not None]
    suites = [s for c in shown for s in c.suites]
    tests = [t for s in suites for t in s.tests]
    new = [t.verdict for c in candidates for s in c.suites for t in s.tests if t.verdict is not None]
    old = [v for c in candidates for v in c.replayed]
    return {
        "code/reward_mean": mean(code_rewards),
        "code/reward_std": population_std(code_rewards),
        "code/pass_new": mean(v is Verdict.PASS for v in new),
        "code/pass_replayed": mean(v is Verdict.PASS for v in old),
        "code/pass_all": mean(passed for c in candidates if (passed := passes_all(c)) is not None),
        "code/loaded": mean(c.loaded for c in candidates),
        "code/no_code": mean(c.candidate.code is None for c in candidates),
        "code/masked": sum(c.masked for c in candidates),
        "test/reward_mean": mean(r.reward for r in suite_rewards),
        "test/reward_std": population_std([r.reward for r in suite_rewards]),
        "test/validity": mean(r.validity for r in suite_rewards),
        "test/adversarial": mean(r.adversarial for r in suite_rewards),
        "test/penalty": mean(r.penalty for r in suite_rewards),
        "test/killing": mean(any(t.verdict not in NOT_A_FAILURE for t in s.usable) for s in suites if not s.masked),
        "test/suites": len(suites),
        "test/tests_per_suite": mean(len(s.tests) for s in suites),
        "test/usable_per_suite": mean(len(s.usable) for s in suites),
        "test/masked": sum(s.masked for s in suites),
        **shares("validity", [t.validity for t in tests], Validity),
        **shares("verdict", new, Verdict),
        **shares("verdict_replayed", old, Verdict),
        "book/replayed": sum(len(j.replayed) for j in judgements),
        "opponents/mutants": sum(c.candidate.origin == "mutant" for c in shown),
        "opponents/earlier": sum(c.candidate.origin == "earlier" for c in shown),
    }


def completion_metrics(code_groups: Sequence[CodeGroup], suite_groups: Sequence[SuiteGroup]) -> Metrics:
    """Lengths of what was sampled, and how many prompts were over the limit."""
    return {
        **_lengths("code", [c.completion for g in code_groups for c in g.candidates if c.own]),
        **_lengths("test", [s.completion for g in suite_groups for s in g.suites]),
        "code/prompts_too_long": sum(g.prompt_too_long for g in code_groups),
        "test/prompts_too_long": sum(g.prompt_too_long for g in suite_groups),
    }


def passes_all(candidate: JudgedCandidate) -> bool | None:
    """Whether a candidate loaded and passed every test that it was run on; None if it loaded and there was no test."""
    if not candidate.loaded:
        return False
    verdicts = [*candidate.replayed, *(t.verdict for s in candidate.suites for t in s.usable)]
    return all(v is Verdict.PASS for v in verdicts) if verdicts else None


def solved_shares(judgements: Sequence[Judgement]) -> dict[str, float | None]:
    """Per problem the share of the code policy's candidates that passed everything; None where none was judged."""
    shares: dict[str, float | None] = {}
    for judgement in judgements:
        passed = [passes_all(c) for c in judgement.candidates if c.candidate.own and not c.masked]
        known = [p for p in passed if p is not None]
        shares[judgement.problem.problem_id] = mean(known) if known else None
    return shares


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean, NaN of nothing."""
    found = [float(v) for v in values]
    return math.fsum(found) / len(found) if found else math.nan


def shares(prefix: str, values: Sequence[Validity | Verdict], kinds: Iterable[Validity | Verdict]) -> Metrics:
    """The share of each kind among the values; all NaN if there are none."""
    counts = Counter(values)
    return {f"{prefix}/{kind}": counts[kind] / len(values) if values else math.nan for kind in kinds}


def _lengths(role: str, completions: Sequence[Completion]) -> Metrics:
    return {
        f"{role}/completions": len(completions),
        f"{role}/sampled_tokens": sum(len(c.tokens) for c in completions),
        f"{role}/completion_tokens_mean": mean(len(c.tokens) for c in completions),
        f"{role}/truncated": mean(c.finish_reason == "length" for c in completions),
    }
