from __future__ import annotations

import json
from pathlib import Path

import pytest

from code_a1.config import RewardsConfig
from code_a1.records import (
    Candidate,
    Completion,
    JudgedCandidate,
    JudgedSuite,
    JudgedTest,
    Judgement,
    Problem,
    TestCase,
    TestSuite,
    Validity,
    Verdict,
)
from code_a1.rewards import (
    pass_rate,
    score,
    suite_reward,
    suite_score,
    unprintable_share,
    validity_term,
)

GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "golden/rewards.jsonl").read_text().splitlines()]


def test_the_golden_file_is_whole():
    assert len(GOLDEN) == 500


def test_released_rewards_equal_the_authors_on_all_golden_cases():
    for case in GOLDEN:
        pass_hist = pass_rate(case["replayed_passed"], case["replayed_total"])
        failed = [bool(x) for x in case["new_failed"]]
        assert len(failed) == case["n_valid"]
        pass_new = pass_rate(len(failed) - sum(failed), len(failed))
        assert suite_score(pass_hist, pass_new) == pytest.approx(case["reward_code_one_suite"], abs=1e-9), case
        got = suite_reward(
            failed,
            case["n_invalid"],
            pass_hist,
            k=8,
            loaded=case["code_valid"],
            penalty=case["nonprintable_ratio"],
            alpha=case["alpha"],
        )
        assert got.reward == pytest.approx(case["reward_test"], abs=1e-9), case


@pytest.mark.parametrize(
    ("failed", "pass_hist", "variant", "adversarial"),
    [
        ([True], None, "paper", 1.0),  # one lone killing test: everything under the paper's formula …
        ([True], None, "released", 0.25),  # … and 1/K in the released code
        ([True, False, False, False], 0.5, "paper", 0.5 * (0.5 - 0.75 + 1)),
        ([True, False, False, False], 0.5, "released", 0.5 * (0.25 - 0.5 + 1)),
        ([False] * 4 + [True], None, "released", 0.0),  # only the first K usable tests count
        ([False] * 4 + [True], None, "paper", 0.2),
        ([], 0.5, "paper", 0.0),
        ([], 0.5, "released", 0.0),
    ],
)
def test_adversarial_term_by_hand(failed, pass_hist, variant, adversarial):
    got = suite_reward(failed, 0, pass_hist, k=4, alpha=0.0, variant=variant)
    assert got.adversarial == pytest.approx(adversarial)
    assert got.reward == pytest.approx(adversarial)


@pytest.mark.parametrize(
    ("usable", "invalid", "validity"), [(4, 0, 1.0), (8, 0, 1.0), (3, 1, 0.75), (4, 2, 0.5), (0, 9, 0.0), (0, 0, 0.0)]
)
def test_validity_term_by_hand(usable, invalid, validity):
    assert validity_term(usable, invalid, 4) == validity


def test_a_candidate_that_did_not_load_leaves_the_attacker_only_the_penalty():
    assert suite_reward([True] * 4, 0, None, k=4, loaded=False, penalty=0.125).reward == -0.125


def test_unprintable_share_counts_control_characters_or_everything_outside_ascii():
    text = "aé\n\x00"  # of four characters one is a control character, two are outside printable ASCII
    assert unprintable_share(text, "control") == 0.25
    assert unprintable_share(text, "non-ascii") == 0.5
    assert unprintable_share("", "control") == 0.0
    assert unprintable_share("\ud800", "control") == 1.0


COMPLETION = Completion("text", (1,), (0.0,), (1,), "stop")
PROBLEM = Problem("p", "s", "f", "def f(x): return x")


def judged_suite(*outcomes: tuple[Validity, Verdict | None]) -> JudgedSuite:
    tests = tuple(JudgedTest(f"t{i}", v, TestCase(f"t{i}"), verdict) for i, (v, verdict) in enumerate(outcomes))
    return JudgedSuite(TestSuite((), COMPLETION), tests)


def judged(*suites: JudgedSuite, loaded: bool = True, replayed: tuple[Verdict, ...] = ()) -> JudgedCandidate:
    return JudgedCandidate(Candidate("p", 0, "code", COMPLETION), loaded, replayed, suites)


def rewards_of(*candidates: JudgedCandidate, variant="released"):
    code, test = score([Judgement(PROBLEM, (), candidates)], RewardsConfig(variant=variant), 4)
    return code[0], [[s and s.reward for s in suites] for suites in test[0]]


V, W, M = Validity.VALID, Validity.WRONG_EXPECTATION, Validity.MALFORMED
PASS, FAIL, OURS = Verdict.PASS, Verdict.FAIL, Verdict.SANDBOX_ERROR


def test_score_of_one_candidate_by_hand():
    # suite 1: 2 of 3 usable pass, 1 malformed, 1 wrong expectation; suite 2: nothing usable; history 1 of 2
    one = judged_suite((V, PASS), (V, FAIL), (W, PASS), (M, None))
    two = judged_suite((M, None))
    code, test = rewards_of(judged(one, two, replayed=(PASS, FAIL)))
    assert code == [pytest.approx((0.5 * (0.5 + 2 / 3) + 0.5) / 2)]
    validity = min(3 / 4, 1 - 2 / 4)
    adversarial = 0.5 * (1 / 4 - 0.5 + 1)
    assert test == [[pytest.approx(0.5 * validity + 0.5 * adversarial), 0.0]]


def test_a_sandbox_error_masks_its_suite_and_candidate_and_nothing_else():
    touched = judged(judged_suite((V, OURS)), judged_suite((V, FAIL)))
    healthy = judged(judged_suite((V, FAIL)))
    code, test = rewards_of(touched, healthy)
    assert code == [None, 0.0]
    assert test[0][0] is None
    assert test[0][1] == test[1][0] == pytest.approx(0.5 * 0.25 + 0.5 * 0.25)
    code, test = rewards_of(judged(judged_suite((V, FAIL)), replayed=(OURS,)))
    assert (code, test) == ([None], [[None]])


def test_a_test_not_run_counts_against_the_candidate_and_earns_the_tester_nothing():
    for variant in ("released", "paper"):
        code, test = rewards_of(judged(judged_suite((V, Verdict.NOT_RUN))), variant=variant)
        assert code == [0.0]
        assert test == [[pytest.approx(0.5 * 0.25)]]  # validity alone


def test_a_candidate_that_nobody_attacked_is_judged_by_its_history_or_not_at_all():
    code, _ = rewards_of(judged(replayed=(PASS, FAIL)), judged(), judged(loaded=False))
    assert code == [0.5, None, 0.0]
