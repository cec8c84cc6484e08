"""The rewards of both sides, as pure functions over counts, and `score`, which applies them to judgements.

Notation (algorithm, "Rewards"): candidate m with replayed tests H has pass_hist = passed/|H|; suite (m, n) has
pass_new = passed/|usable|. The code reward is the mean over suites of s(m, n); the test reward is
R = α·Val + (1 − α)·Adv − g, and −g against a candidate that did not load.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from code_a1.config import RewardsConfig
from code_a1.records import JudgedCandidate, JudgedSuite, Judgement, Verdict

Variant = Literal["released", "paper"]

BLAMELESS = frozenset("\n\r\t\f\v")
"""Control characters that ordinary text contains."""


@dataclass(frozen=True, slots=True)
class SuiteReward:
    """The test reward of one suite and the parts that it is made of."""

    reward: float
    validity: float
    adversarial: float
    penalty: float


def pass_rate(passed: int, total: int) -> float | None:
    """passed/total, None where there is nothing to pass."""
    return passed / total if total else None


def suite_score(pass_hist: float | None, pass_new: float | None) -> float:
    """s(m, n): the mean of both pass rates, the one that exists, or 0 with neither."""
    rates = [rate for rate in (pass_hist, pass_new) if rate is not None]
    return sum(rates) / len(rates) if rates else 0.0


def validity_term(n_usable: int, n_invalid: int, k: int) -> float:
    """Val = clip(min(n_usable/K, 1 − n_invalid/K), 0, 1)."""
    return max(0.0, min(1.0, n_usable / k, 1 - n_invalid / k))


def adversarial_term(failed: Sequence[bool], pass_hist: float | None, k: int, variant: Variant) -> float:
    """Adv of a suite whose i-th usable test the candidate failed (`failed[i]`), in the released or the paper's form.

    `released`: f = failures among the first K usable tests / K; ½(f − (1 − pass_hist) + 1) with history, else f.
    `paper`: ½(pass_hist − pass_new + 1) with history, else 1 − pass_new. Both are 0 without usable tests.
    """
    if not failed:
        return 0.0
    if variant == "released":
        new_failures = sum(failed[:k]) / k
        return new_failures if pass_hist is None else 0.5 * (new_failures - (1 - pass_hist) + 1)
    pass_new = 1 - sum(failed) / len(failed)
    return 1 - pass_new if pass_hist is None else 0.5 * (pass_hist - pass_new + 1)


def suite_reward(
    failed: Sequence[bool],
    n_invalid: int,
    pass_hist: float | None,
    *,
    k: int,
    loaded: bool = True,
    penalty: float = 0.0,
    alpha: float = 0.5,
    variant: Variant = "released",
) -> SuiteReward:
    """R of one suite: `failed` has one entry per usable test, `penalty` is g, `loaded` is about the candidate."""
    validity = validity_term(len(failed), n_invalid, k)
    adversarial = adversarial_term(failed, pass_hist, k, variant)
    earned = alpha * validity + (1 - alpha) * adversarial if loaded else 0.0
    return SuiteReward(earned - penalty, validity, adversarial, penalty)


def unprintable_share(text: str, counted: Literal["control", "non-ascii"]) -> float:
    """g: the share of characters of `text` that are counted as unprintable, 0 for an empty text.

    `control` counts control, surrogate, private-use and unassigned characters except ordinary white space;
    `non-ascii` counts everything outside printable ASCII and white space, as the released code does.
    """
    if not text:
        return 0.0
    if counted == "non-ascii":
        bad = sum(not (" " <= c <= "~" or c in BLAMELESS) for c in text)
    else:
        bad = sum(c not in BLAMELESS and unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") for c in text)
    return bad / len(text)


def replay_pass_rate(candidate: JudgedCandidate) -> float | None:
    """pass_hist(m), None without replayed tests."""
    return pass_rate(candidate.replayed.count(Verdict.PASS), len(candidate.replayed))


def new_pass_rate(suite: JudgedSuite) -> float | None:
    """pass_new(m, n), None without usable tests."""
    return pass_rate(sum(t.verdict is Verdict.PASS for t in suite.usable), len(suite.usable))


def score_candidate(candidate: JudgedCandidate) -> float | None:
    """The code reward of one candidate.

    None where it is masked, where nothing at all was there to judge it by, or where the code policy did not write it.
    """
    if candidate.masked or not candidate.candidate.own:
        return None
    if not candidate.loaded:
        return 0.0
    pass_hist = replay_pass_rate(candidate)
    if not candidate.suites:
        return pass_hist
    return sum(suite_score(pass_hist, new_pass_rate(s)) for s in candidate.suites) / len(candidate.suites)


def score_suite(suite: JudgedSuite, candidate: JudgedCandidate, config: RewardsConfig, k: int) -> SuiteReward | None:
    """The test reward of one suite; None where an infrastructure failure touched it or its candidate's replayed tests.

    Tests that were not run after the cap of re-forks earn the tester nothing, so they count as not failed here.
    """
    if suite.masked or candidate.sandbox_error or Verdict.SANDBOX_ERROR in candidate.replayed:
        return None
    return suite_reward(
        [t.verdict not in (Verdict.PASS, Verdict.NOT_RUN) for t in suite.usable],
        suite.n_invalid,
        replay_pass_rate(candidate),
        k=k,
        loaded=candidate.loaded,
        penalty=unprintable_share(suite.suite.completion.text, config.unprintable),
        alpha=config.alpha,
        variant=config.variant,
    )


CodeRewards = list[list[float | None]]
"""[P][M]"""
TestRewards = list[list[list[SuiteReward | None]]]
"""[P][M][N]"""


def score(judgements: Sequence[Judgement], config: RewardsConfig, k: int) -> tuple[CodeRewards, TestRewards]:
    """Rewards of both sides for a step: `code[P][M]` and `test[P][M][N]`; None is masked, never 0."""
    code_P = [[score_candidate(c) for c in j.candidates] for j in judgements]
    test_P = [[[score_suite(s, c, config, k) for s in c.suites] for c in j.candidates] for j in judgements]
    return code_P, test_P
