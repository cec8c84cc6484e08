"""The evaluation that runs beside training: what it measures, when, and that held-out problems stay out of training."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_a1.engines import ScriptedEngine
from code_a1.errors import ProblemError
from code_a1.evaluation import evaluate
from code_a1.problems import write_problems
from code_a1.records import Problem
from code_a1.report.summary import closing_tables
from code_a1.trainer import train
from test_modes import PROBLEM, RIGHT, block, config_of, writes_code

HELD_OUT = (
    Problem(
        "larger",
        "Return the larger of a and b.",
        "larger",
        "def larger(a, b):\n    return a if a > b else b\n",
        ("assert larger(1, 2) == 2", "assert larger(5, 3) == 5"),
    ),
    Problem("inc", "Return x + 1.", "inc", "def inc(x):\n    return x + 1\n", ("assert inc(1) == 2",)),
)


def play(prompt, _index: int, _seed: int) -> str:
    """Solves `larger`, fails `inc`; one good suite for `larger`, a useless and partly wrong one for `inc`."""
    text = prompt[-1].content
    if "larger" in text:
        return (
            block("def larger(a, b):\n    return max(a, b)")
            if writes_code(prompt)
            else block("assert larger(1, 2) == 2", "assert larger(5, 3) == 5")
        )
    if "inc(" in text:
        return (
            block("def inc(x):\n    return x")
            if writes_code(prompt)
            else block("assert inc(1) == 9", "assert inc() == 1")
        )
    return block(RIGHT) if writes_code(prompt) else block("assert double(2) == 4", "assert double(0) == 0")


def config_with(tmp_path, mode="co-evolve", *problems: Problem, **changes):
    path = tmp_path / "held_out.jsonl"
    write_problems(path, HELD_OUT)
    evaluation = {"problems": {"path": str(path)}, "mutants_per_problem": 6} | changes.pop("evaluation", {})
    return config_of(tmp_path, mode, *problems, **{"eval_every": 2, "evaluation": evaluation} | changes)


def evaluations(run_dir) -> dict[int, dict[str, float]]:
    rows = ({k: v for k, v in row.items() if k.startswith("eval/") or k == "step"} for row in run_dir.metrics())
    return {row.pop("step"): row for row in rows if len(row) > 1}


def test_both_sides_are_measured_before_training_every_so_many_steps_and_at_the_end(tmp_path):
    engine, tester = ScriptedEngine(play), ScriptedEngine(play)
    run_dir = train(config_with(tmp_path, steps=3), policies=(engine, tester))
    found = evaluations(run_dir)
    assert sorted(found) == [0, 2, 3]
    assert found[0] == found[2] == found[3]  # the scripts do not learn, and the questions are the same
    row = {key.removeprefix("eval/heldout/"): value for key, value in found[0].items()}
    assert (row["problems"], row["code/pass@1"], row["code/loaded"]) == (2, 0.5, 1)
    assert row["test/tests_per_suite"] == 2
    assert row["test/usable_per_suite"] == 1.5  # the wrong answer is put right, the failing call is lost
    assert row["test/validity"] == 0.5  # both of the first suite; a wrong answer and a failing call in the second
    assert row["test/kills_shown"] == 0.5
    # larger's six mutants (==, <=, <, !=, is, not) all differ in (1, 2) or (5, 3); without a valid test nothing is killed
    assert row["test/mutation_score"] == pytest.approx((6 / 6 + 0 / 6) / 2)
    documented = (Path(__file__).parents[1] / "docs/metrics.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in documented for key in found[0])
    greedy = [r for r in engine.requests if r.params.temperature == 0]
    assert len(greedy) == 3
    assert len({r.params.seed for r in greedy}) == 1
    assert [set(row) >= {"code/reward_mean", "time/step_s"} for row in run_dir.metrics()] == [False, True, True, True]
    assert run_dir.path.joinpath("rollouts/step-000003.jsonl").exists()
    held_out, steps = closing_tables(list(run_dir.metrics()))
    assert (held_out.title, steps.title) == ("2 held-out problems", "3 steps")
    assert [column.header for column in held_out.columns] == ["", "before", "after step 3", "change"]
    lines = list(zip(*(column.cells for column in held_out.columns), strict=True))
    assert lines[0] == ("pass@1 of programs", "0.500", "0.500", "+0.000")
    assert lines[-1][0] == "tests in the Mistake Book"


@pytest.mark.parametrize(
    ("mode", "roles"), [("golden", {"code"}), ("self-play", {"code", "test"}), ("frozen-coder", {"code", "test"})]
)
def test_the_roles_that_are_played_are_measured(tmp_path, mode, roles):
    changes = {"at_start": False}
    model, other = ScriptedEngine(play), ScriptedEngine(play)
    [(_, row)] = evaluations(train(config_with(tmp_path, mode, evaluation=changes), policies=(model, other))).items()
    assert {key.split("/")[2] for key in row} - {"problems"} == roles
    assert row["eval/heldout/code/pass@1"] == 0.5
    if mode == "self-play":
        assert other.requests == []


def test_held_out_problems_are_left_out_of_training(tmp_path):
    run_dir = train(
        config_with(tmp_path, "golden", HELD_OUT[0], PROBLEM, steps=1),
        policies=(ScriptedEngine(play), ScriptedEngine(play)),
    )
    [left_out] = [e for e in run_dir.events() if e["event"] == "problem-left-out"]
    assert left_out["problem_id"] == "larger"
    assert left_out["reason"] == "is the task larger of the held-out problems"
    assert [row["problem_id"] for row in run_dir.rollouts(1)] == ["double", "double"]


def test_training_on_the_held_out_problems_alone_is_refused(tmp_path):
    with pytest.raises(ProblemError, match="no problem is left to train on; .* is the task larger of the held-out"):
        train(config_with(tmp_path, "golden", *HELD_OUT), policies=(ScriptedEngine(play), ScriptedEngine(play)))


def test_held_out_problems_without_tests_are_refused(tmp_path):
    config = config_with(tmp_path)
    write_problems(tmp_path / "held_out.jsonl", [Problem("x", "s", "f", "def f(): return 1")])
    with pytest.raises(
        ProblemError, match="none of 1 held-out problems has a reference that holds on tests of its own"
    ):
        train(config, policies=(ScriptedEngine(play), ScriptedEngine(play)))


def test_any_measurement_can_join():
    class Length:
        name = "length"

        def __call__(self, players, on_progress=None):
            return {f"{role}/window": policy.context_window for role, policy in players.items()}

    players = {"code": ScriptedEngine(["a"], context_window=10), "test": ScriptedEngine(["a"], context_window=20)}
    assert evaluate([Length()], players) == {"eval/length/code/window": 10, "eval/length/test/window": 20}
