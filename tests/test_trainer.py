"""Whole runs with scripted policies, every number worked out by hand."""

from __future__ import annotations

import json
import math
import os
import signal

import pytest

from code_a1.checkpoint import load_state
from code_a1.config_file import make_config
from code_a1.engines import ScriptedEngine
from code_a1.errors import ProblemError, RunDirError, TrainingError
from code_a1.mistake_book import MistakeBook
from code_a1.problems import write_problems
from code_a1.records import Problem
from code_a1.report.view import View
from code_a1.trainer import train

PROBLEM = Problem(
    "double",
    "Return twice x.",
    "double",
    "def double(x):\n    return 2 * x\n",
    ("assert double(1) == 2", "assert double(2) == 4"),
)
RIGHT = "def double(x):\n    return x + x"
WRONG = "def double(x):\n    return x * x"  # right for 0 and 2


def block(*lines: str) -> str:
    return "```python\n" + "\n".join(lines) + "\n```\n"


def write_code(_prompt, index: int, _seed: int) -> str:
    return block((RIGHT, WRONG)[index])


def write_suite(prompt, index: int, _seed: int) -> str:
    if "x * x" in prompt[-1].content:
        # validity 1 both; kills 1 of 2 and 2 of 2
        return (
            block("assert double(2) == 4", "assert double(3) == 6"),
            block("assert double(3) == 6", "assert double(1) == 2"),
        )[index]
    # two valid tests; then a wrong expectation (usable with the right answer) and one that never calls the function
    return (
        block("assert double(1) == 2", "assert double(3) == 6"),
        block("assert double(5) == 9", "assert 1 == 1"),
    )[index]


def config_of(tmp_path, *problems: Problem, **changes):
    path = tmp_path / "problems.jsonl"
    write_problems(path, problems or (PROBLEM,))
    rollout = {
        "problems_per_step": 1,
        "candidates_per_problem": 2,
        "suites_per_candidate": 2,
        "tests_per_suite": 2,
        "max_code_tokens": 500,
        "max_test_tokens": 500,
    }
    settings = {
        "steps": 2,
        "run_dir": str(tmp_path / "run"),
        "problems": {"path": str(path)},
        "sandbox": {"workers": 1},
        "policy": {"optimizer": {"warmup_steps": 0, "schedule": "constant", "minibatches": 1}},
        "rollout": rollout | changes.pop("rollout", {}),
    }
    return make_config(settings | changes)


def scripted(code=write_code, tests=write_suite):
    return ScriptedEngine(code), ScriptedEngine(tests)


def test_co_evolution_by_hand(tmp_path):
    code_policy, test_policy = scripted()
    run_dir = train(config_of(tmp_path), policies=(code_policy, test_policy))
    first, second = run_dir.metrics()

    # step 1, no history: the right candidate passes everything; the wrong one 1 of 2 and 0 of 2
    assert first["code/reward_mean"] == pytest.approx((1 + (0.5 + 0) / 2) / 2)
    # suites: Val 1 Adv 0; Val min(1/2, 1 - 2/2) Adv 0; Val 1 Adv 1/2; Val 1 Adv 1
    assert first["test/reward_mean"] == pytest.approx((0.5 + 0 + 0.75 + 1) / 4)
    assert first["test/validity"] == pytest.approx(3 / 4)
    assert first["test/adversarial"] == pytest.approx((0 + 0 + 0.5 + 1) / 4)
    assert first["code/pass_new"] == pytest.approx(4 / 7)
    assert first["code/pass_replayed"] is None  # nothing was replayed: no value, not a value of 0
    assert (first["validity/VALID"], first["validity/WRONG_EXPECTATION"], first["validity/OFF_TARGET"]) == (
        pytest.approx(6 / 8),
        pytest.approx(1 / 8),
        pytest.approx(1 / 8),
    )
    assert (first["verdict/PASS"], first["verdict/FAIL"]) == (pytest.approx(4 / 7), pytest.approx(3 / 7))
    assert first["test/usable_per_suite"] == pytest.approx(7 / 4)
    # double(3) failed twice, double(1) once
    assert (first["book/size"], first["book/added"], first["book/removed"]) == (2, 2, 0)

    # step 2 replays both: pass_hist is 1 for the right candidate, 0 for the wrong one
    assert second["code/reward_mean"] == pytest.approx((1 + (0.25 + 0) / 2) / 2)
    # Adv = ½(f − (1 − pass_hist) + 1): ½, ½, ¼, ½
    assert second["test/reward_mean"] == pytest.approx((0.75 + 0.25 + 0.625 + 0.75) / 4)
    assert second["code/pass_replayed"] == pytest.approx(0.5)
    # the right candidate takes double(1) out, the wrong one puts it in again
    assert (second["book/size"], second["book/added"], second["book/removed"]) == (2, 1, 1)
    assert second["book/replayed"] == 2
    book = MistakeBook(path=run_dir.book_path)
    assert {t.source: n for t, n in book.counts("double").items()} == {
        "assert double(3) == 6": 3,
        "assert double(1) == 2": 1,
    }

    # the code policy learned from both candidates; TopVar took the suites of the right one (spread ¼ against ⅛)
    advantage = 0.375 / (math.sqrt(2) * 0.375 + 1e-6)
    assert sorted(row.sample.advantage for row in code_policy.updates[0]) == pytest.approx([-advantage, advantage])
    assert len(test_policy.updates) == 2
    trained_on = [row.sample.completion.text for row in test_policy.updates[0]]
    assert sorted(trained_on) == sorted(write_suite((type("M", (), {"content": ""}),), i, 0) for i in (0, 1))
    assert (first["test/groups"], first["test/groups_without_spread"]) == (1, 0)


def test_the_golden_baseline_by_hand(tmp_path):
    code_policy, test_policy = scripted()
    run_dir = train(config_of(tmp_path, mode="golden"), policies=(code_policy, test_policy))
    first, second = run_dir.metrics()
    assert first["code/reward_mean"] == second["code/reward_mean"] == pytest.approx((1 + 0.5) / 2)
    assert first["verdict_replayed/FAIL"] == pytest.approx(1 / 4)
    assert first["book/size"] == 0
    assert test_policy.requests == []
    assert test_policy.updates == []
    assert len(code_policy.updates) == 2
    assert sorted(p.name for p in run_dir.checkpoint_path(2).iterdir()) == ["checksums.json", "code", "state.json"]


def test_the_ablations_of_book_and_white_box_show_in_what_happens(tmp_path):
    code_policy, test_policy = scripted()
    config = config_of(tmp_path, mistake_book={"enabled": False}, rollout={"white_box": False})
    _, second = train(config, policies=(code_policy, test_policy)).metrics()
    assert second["book/size"] == second["book/replayed"] == 0
    assert "book/added" not in second
    assert not any("x * x" in m.content for r in test_policy.requests for p in r.prompts for m in p)


def test_answers_can_be_begun_for_the_model(tmp_path):
    code_policy = ScriptedEngine(lambda _p, i, _s: ("(x):\n    return x + x\n```", "(x):\n    return x * x\n```")[i])
    test_policy = ScriptedEngine(lambda _p, i, _s: ("1) == 2\nassert double(3) == 6\n```", "5) == 10\n```")[i])
    run_dir = train(config_of(tmp_path, steps=1, rollout={"begin_answers": True}), policies=(code_policy, test_policy))
    [row] = run_dir.metrics()
    # suites of two and one valid tests: the right candidate passes all, the wrong one none of double(1), (3), (5)
    assert (row["code/loaded"], row["validity/VALID"], row["code/reward_mean"]) == (1, 1, 0.5)
    starts = {r.prompts[0][-1].content for policy in (code_policy, test_policy) for r in policy.requests}
    assert starts == {"```python\ndef double", "```python\nassert double("}


def test_a_run_folder_holds_what_happened_and_is_never_overwritten(tmp_path):
    run_dir = train(config_of(tmp_path), policies=scripted())
    rows = list(run_dir.rollouts(1))
    assert [(r["problem_id"], r["candidate"], r["reward"]) for r in rows] == [("double", 0, 1.0), ("double", 1, 0.25)]
    killer = rows[1]["suites"][1]["tests"][0]
    assert (killer["test"], killer["validity"], killer["verdict"]) == ("assert double(3) == 6", "VALID", "FAIL")
    assert rows[0]["suites"][1]["tests"][0]["reason"] == "the reference: 10"
    assert [e["event"] for e in run_dir.events()] == ["started", "checkpoint", "finished"]
    with pytest.raises(RunDirError, match="never overwritten"):
        train(config_of(tmp_path), policies=scripted())


def test_two_runs_of_one_seed_give_the_same_metrics(tmp_path):
    def timeless(run_dir):
        return [
            {k: v for k, v in row.items() if not k.startswith("time/") and k != "judge/candidates_per_s"}
            for row in run_dir.metrics()
        ]

    first = train(config_of(tmp_path), policies=scripted())
    again = config_of(tmp_path, run_dir=str(tmp_path / "again"), sandbox={"workers": 2})
    assert timeless(train(again, policies=scripted())) == timeless(first)


class InterruptedIn(View):
    def __init__(self, phase: str, occurrence: int) -> None:
        self.wanted, self.left = phase, occurrence

    def phase(self, name, total):
        self.left -= name == self.wanted
        if name == self.wanted and self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_ends_after_the_phase_with_everything_before_it_saved(tmp_path):
    code_policy, test_policy = scripted()
    before = signal.getsignal(signal.SIGINT)
    run_dir = train(config_of(tmp_path, steps=9), InterruptedIn("suites", 3), (code_policy, test_policy))
    assert len(list(run_dir.metrics())) == 2
    assert len(code_policy.updates) == 2  # the third step was not learned from
    assert load_state(run_dir.checkpoint_path(2))["step"] == 2
    assert [e["event"] for e in run_dir.events()][-2:] == ["checkpoint", "interrupted"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_while_learning_lets_the_step_finish(tmp_path):
    run_dir = train(config_of(tmp_path, steps=9), InterruptedIn("learning", 2), scripted())
    assert len(list(run_dir.metrics())) == 2
    assert load_state(run_dir.checkpoint_path(2))["step"] == 2


def test_checkpoints_come_as_often_as_asked(tmp_path):
    run_dir = train(config_of(tmp_path, steps=5, save_every=2), policies=scripted())
    assert sorted(p.name for p in (run_dir.path / "checkpoints").iterdir()) == [
        "step-000002",
        "step-000004",
        "step-000005",
    ]


def test_whatever_the_policies_write_is_data(tmp_path):
    noise = [
        "",
        "```python\n```",
        "no code at all",
        "\x00\ud800",
        "```python\ndef double(x: return",
        block("1/0"),
        "é" * 400,
    ]
    run_dir = train(config_of(tmp_path, steps=4), policies=(ScriptedEngine(noise), ScriptedEngine(noise)))
    assert len(list(run_dir.metrics())) == 4
    assert all(row["code/reward_mean"] == 0 for row in run_dir.metrics())
    assert json.loads(run_dir.rollouts_path(1).read_text().splitlines()[0])["loaded"] is False


def test_bad_references_are_left_out_and_named_and_none_left_is_an_error(tmp_path):
    wrong = Problem("wrong", "s", "f", "def f(): return 1", ("assert f() == 2",))
    run_dir = train(config_of(tmp_path, wrong, PROBLEM), policies=scripted())
    [left_out] = [e for e in run_dir.events() if e["event"] == "problem-left-out"]
    assert left_out["problem_id"] == "wrong"
    assert "assert f() == 2" in left_out["reason"]
    with pytest.raises(ProblemError, match="no problem is left"):
        train(config_of(tmp_path, wrong, run_dir=str(tmp_path / "none")), policies=scripted())
    assert not (tmp_path / "none").exists()


def test_prompts_over_the_limit_are_counted_and_a_step_of_nothing_else_is_an_error(tmp_path):
    long = Problem("long", "words " * 900, "double", PROBLEM.reference_solution, ())
    config = config_of(
        tmp_path, long, PROBLEM, steps=1, rollout={"problems_per_step": 2, "max_code_prompt_tokens": 4000}
    )
    [row] = train(config, policies=scripted()).metrics()
    assert row["code/prompts_too_long"] == 1
    assert row["code/completions"] == 2
    config = config_of(tmp_path, long, run_dir=str(tmp_path / "b"), rollout={"max_code_prompt_tokens": 4000})
    with pytest.raises(TrainingError, match="every prompt is over the limit; raise rollout.max_code_prompt_tokens"):
        train(config, policies=scripted())


def test_a_candidate_whose_test_prompt_is_too_long_is_dropped_from_the_attack_and_counted(tmp_path):
    config = config_of(tmp_path, steps=1, rollout={"max_test_prompt_tokens": 10})
    [row] = train(config, policies=scripted()).metrics()
    assert row["test/prompts_too_long"] == 2
    assert row["test/suites"] == 0
    assert row["code/reward_mean"] is None  # nobody judged the candidates: that is no reward of 0
