"""Benchmarks as measurements of a training run."""

from __future__ import annotations

from code_a1.engines import ScriptedEngine
from code_a1.problems import write_problems
from code_a1.trainer import train
from test_heldout import HELD_OUT, evaluations, play
from test_modes import PROBLEM, config_of


def test_any_bench_is_measured_and_kept_out_of_training(tmp_path):
    write_problems(tmp_path / "bench.jsonl", HELD_OUT)
    evaluation = {"benches": [str(tmp_path / "bench.jsonl")], "samples_per_problem": 2, "temperature": 0.5}
    config = config_of(tmp_path, "golden", HELD_OUT[0], PROBLEM, steps=2, eval_every=1, evaluation=evaluation)
    run_dir = train(config, policies=(ScriptedEngine(play), ScriptedEngine(play)))
    found = evaluations(run_dir)
    assert sorted(found) == [0, 1, 2]
    assert found[2] == {
        "eval/bench/problems": 2,
        "eval/bench/code/pass@1": 0.5,  # `larger` is solved both times, `inc` never
        "eval/bench/code/pass@2": 0.5,
        "eval/bench/code/avg@2": 0.5,
    }
    [left_out] = [e for e in run_dir.events() if e["event"] == "problem-left-out"]
    assert left_out["reason"] == "is the task larger of bench"


def test_greedy_is_pass_at_1(tmp_path):
    write_problems(tmp_path / "bench.jsonl", HELD_OUT)
    evaluation = {"benches": [str(tmp_path / "bench.jsonl")], "bench_limit": 1, "at_start": False}
    config = config_of(tmp_path, "golden", PROBLEM, steps=1, eval_every=1, evaluation=evaluation)
    engine = ScriptedEngine(play)
    [row] = evaluations(train(config, policies=(engine, ScriptedEngine(play)))).values()
    assert row["eval/bench/problems"] == 1
    assert set(row) == {"eval/bench/problems", "eval/bench/code/pass@1"}
    assert [r.n for r in engine.requests if r.params.temperature == 0] == [1]
