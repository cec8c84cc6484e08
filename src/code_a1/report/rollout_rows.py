"""A step's rollouts as rows that people and programs can read: one per candidate, with its suites and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from code_a1.records import JudgedCandidate, JudgedSuite, JudgedTest, Judgement
from code_a1.rewards import CodeRewards, SuiteReward, TestRewards


def rollout_rows(judgements: Sequence[Judgement], code_P: CodeRewards, test_P: TestRewards) -> Iterator[dict[str, Any]]:
    """Rows for `RunDir.log_rollouts`, in the order of problems and candidates."""
    for judgement, code_M, test_M in zip(judgements, code_P, test_P, strict=True):
        for candidate, reward, test_N in zip(judgement.candidates, code_M, test_M, strict=True):
            yield _row(judgement, candidate, reward, test_N)


def _row(
    judgement: Judgement, candidate: JudgedCandidate, reward: float | None, test_N: Sequence[SuiteReward | None]
) -> dict[str, Any]:
    made = candidate.candidate
    return {
        "problem_id": judgement.problem.problem_id,
        "statement": judgement.problem.statement,
        "candidate": made.index,
        "origin": made.origin,
        "completion": made.completion.text,
        "finish_reason": made.completion.finish_reason,
        "code": made.code,
        "loaded": candidate.loaded,
        "load_error": candidate.load_error,
        "reward": reward,
        "replayed": [
            {"test": test.source, "verdict": verdict}
            for test, verdict in zip(judgement.replayed, candidate.replayed, strict=True)
        ],
        "suites": [_suite(s, r) for s, r in zip(candidate.suites, test_N, strict=True)],
    }


def _suite(suite: JudgedSuite, reward: SuiteReward | None) -> dict[str, Any]:
    return {
        "completion": suite.suite.completion.text,
        "finish_reason": suite.suite.completion.finish_reason,
        "reward": reward.reward if reward else None,
        "validity": reward.validity if reward else None,
        "adversarial": reward.adversarial if reward else None,
        "tests": [_test(t) for t in suite.tests],
    }


def _test(judged: JudgedTest) -> dict[str, Any]:
    row: dict[str, Any] = {"test": judged.source, "validity": judged.validity, "verdict": judged.verdict}
    return row | ({"reason": judged.reason} if judged.reason else {})
