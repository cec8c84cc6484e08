"""What each ablation switch changes, in whole steps with scripted policies."""

from __future__ import annotations

import pytest

from code_a1.engines import ScriptedEngine
from code_a1.trainer import train
from test_modes import RIGHT, WRONG, block, config_of, writes_code


def play(prompt, index: int, _seed: int) -> str:
    """Two programs; a suite whose answers are all wrong, and one with a right answer that finds x * x."""
    if writes_code(prompt):
        return block((RIGHT, WRONG)[index])
    return (
        block("assert double(2) == 9", "assert double(3) == 9"),
        block("assert double(3) == 6", "assert double(2) == 4"),
    )[index]


def first_step(tmp_path, **changes):
    code_policy, test_policy = ScriptedEngine(play), ScriptedEngine(play)
    run_dir = train(config_of(tmp_path, "co-evolve", steps=1, **changes), policies=(code_policy, test_policy))
    [row] = run_dir.metrics()
    return row, run_dir, test_policy


# Both suites have two usable tests; the first has no valid one. WRONG fails double(3): f = ½ for both suites.
# Val: 0 and 1. Adv: 0, 0 against RIGHT; ½, ½ against WRONG.


@pytest.mark.parametrize("alpha", [0.0, 0.25, 1.0])
def test_alpha_weighs_validity_against_difficulty(tmp_path, alpha):
    row, *_ = first_step(tmp_path, rewards={"alpha": alpha})
    assert row["test/reward_mean"] == pytest.approx((0 + alpha + (1 - alpha) / 2 + alpha + (1 - alpha) / 2) / 4)


def test_without_predicted_answers_the_reference_fills_them_in(tmp_path):
    row, run_dir, test_policy = first_step(tmp_path, rollout={"predict_answer": False})
    # whatever was asserted of it, every call that runs is valid: Val 1 for all four suites
    assert row["validity/VALID"] == row["test/validity"] == 1
    assert row["test/reward_mean"] == pytest.approx((0.5 + 0.5 + 0.75 + 0.75) / 4)
    right, wrong = run_dir.rollouts(1)
    assert [t["verdict"] for s in right["suites"] for t in s["tests"]] == ["PASS"] * 4
    assert [t["verdict"] for s in wrong["suites"] for t in s["tests"]] == ["PASS", "FAIL", "FAIL", "PASS"]
    assert row["book/size"] == 1  # double(3), with the reference's answer
    prompt = test_policy.requests[0].prompts[0][-1].content
    assert "assert double(arguments)\n" in prompt
    assert "== answer" not in prompt


def test_calls_alone_are_tests_where_no_answer_is_predicted(tmp_path):
    def calls(prompt, index, seed):
        return (
            play(prompt, index, seed)
            if writes_code(prompt)
            else block("assert double(3)", "assert double(0)", "assert double()", "assert 1")
        )

    run_dir = train(
        config_of(tmp_path, "co-evolve", rollout={"predict_answer": False}),
        policies=(ScriptedEngine(play), ScriptedEngine(calls)),
    )
    first, second = run_dir.metrics()
    # double(0) is 0, which an assert would not hold on; a call that fails and no call at all stay what they are
    assert [first[f"validity/{v}"] for v in ("VALID", "CALL_FAILED", "OFF_TARGET")] == [0.5, 0.25, 0.25]
    assert second["verdict_replayed/FAIL"] == 0.5  # the stored test replays with its answer


def test_without_the_book_nothing_is_replayed(tmp_path):
    config = config_of(tmp_path, "self-play", mistake_book={"enabled": False})
    _, second = train(config, policies=(ScriptedEngine(play), ScriptedEngine(play))).metrics()
    assert second["book/size"] == second["book/replayed"] == 0


def test_the_reward_variant_of_the_paper_divides_by_usable_tests(tmp_path):
    def one_test(prompt, index, seed):
        return play(prompt, index, seed) if writes_code(prompt) else block("assert double(3) == 6")

    rewards = []
    for variant in ("released", "paper"):
        config = config_of(
            tmp_path, "co-evolve", steps=1, rewards={"variant": variant}, run_dir=str(tmp_path / variant)
        )
        [row] = train(config, policies=(ScriptedEngine(play), ScriptedEngine(one_test))).metrics()
        rewards.append(row["test/adversarial"])
    assert rewards == [pytest.approx((0 + 0.5) / 2), pytest.approx((0 + 1) / 2)]  # one lone kill: 1/K, or 1


@pytest.mark.parametrize(("count", "groups"), [(1, 1), (2, 2), (0, 2)])
def test_the_suites_of_so_many_candidates_train_the_tester(tmp_path, count, groups):
    row, _, test_policy = first_step(tmp_path, selection={"candidates_per_problem": count})
    assert row["test/groups"] == groups
    assert len({r.sample.group for r in test_policy.updates[0]}) == groups


def test_the_spread_may_be_that_of_the_adversarial_part(tmp_path):
    """Against RIGHT the rewards spread by their validity alone, against WRONG by their difficulty alone."""

    def suites(prompt, index, seed):
        if writes_code(prompt):
            return play(prompt, index, seed)
        if "x * x" in prompt[-1].content:
            return (
                block("assert double(2) == 4", "assert double(0) == 0"),
                block("assert double(3) == 6", "assert double(2) == 4"),
            )[index]
        return play(prompt, index, seed)

    for key, group in (("reward", "test/double/0"), ("adversarial", "test/double/1")):
        config = config_of(tmp_path, "co-evolve", steps=1, selection={"spread_of": key}, run_dir=str(tmp_path / key))
        tester = ScriptedEngine(suites)
        train(config, policies=(ScriptedEngine(play), tester))
        assert {r.sample.group for r in tester.updates[0]} == {group}
