"""verl's reward functions, called as verl's reward managers call them."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.integrations.test_pass_rate import ANSWERS, CHECKED, DOUBLE, Broken, fenced

from code_a1.errors import ProblemError, SandboxError
from code_a1.integrations import verl
from code_a1.integrations.verl import compute_score, compute_scores, ground_truth_of, rows, write_parquet
from code_a1.records import Problem

SETTINGS = {"workers": 2, "allow_tier": "rlimits-only", "cpu_s_per_test": 0.5, "wall_s_per_test": 5.0}
EXTRA = {"index": 0, "problem_id": "double", "num_turns": 1, "rollout_reward_scores": {}}
RIGHT = fenced("def double(x):\n    return 2 * x")


@pytest.fixture(autouse=True)
def processes_end():
    yield
    verl._pass_rate.cache_clear()


def test_one_answer_at_a_time_from_many_threads():
    async def all_answers() -> list[float]:
        loop = asyncio.get_running_loop()
        calls = [
            loop.run_in_executor(
                None,
                lambda answer=answer: compute_score(
                    data_source="code-a1",
                    solution_str=answer,
                    ground_truth=ground_truth_of(DOUBLE),
                    extra_info=dict(EXTRA),
                    reward_router_address=None,
                    **SETTINGS,
                ),
            )
            for answer in ANSWERS
        ]
        return list(await asyncio.gather(*calls))

    assert asyncio.run(all_answers()) == list(ANSWERS.values())


def test_a_batch_of_several_problems():
    square = fenced("def square(x):\n    return x * x")
    truths = [ground_truth_of(DOUBLE), ground_truth_of(CHECKED), ground_truth_of(DOUBLE)]
    scores = compute_scores(
        data_sources=["code-a1"] * 3,
        solution_strs=[RIGHT, square, fenced("def double(x):\n    return x + 2")],
        ground_truths=truths,
        extra_infos=[dict(EXTRA)] * 3,
        **SETTINGS,
    )
    assert scores == [1.0, 1.0, 0.25]
    strict = compute_scores(
        ["code-a1"], [fenced("def double(x):\n    return x + 2")], truths[:1], all_or_nothing=True, **SETTINGS
    )
    assert strict == [0.0]


def test_one_id_for_two_problems_is_no_confusion():
    triple = Problem(
        "double", "Return thrice x.", "double", "def double(x):\n    return 3 * x", ("assert double(1) == 3",)
    )
    scores = compute_scores(["a", "b"], [RIGHT, RIGHT], [ground_truth_of(DOUBLE), ground_truth_of(triple)], **SETTINGS)
    assert scores == [1.0, 0.0]


def test_a_failing_sandbox_never_becomes_a_score(monkeypatch):
    monkeypatch.setattr("code_a1.integrations.pass_rate.Sandbox", Broken)
    unlucky = RIGHT.replace("2 * x", "2 * x  # UNLUCKY")
    truth = ground_truth_of(DOUBLE)
    settings = SETTINGS | {"max_sandbox_error_share": 1.0}
    with pytest.raises(SandboxError, match="could not be judged"):
        compute_score("code-a1", unlucky, truth, **settings)
    half = fenced("def double(x):\n    return x + 2")
    assert compute_scores(["code-a1"] * 3, [RIGHT, unlucky, half], [truth] * 3, **settings) == [1.0, 0.625, 0.25]
    with pytest.raises(SandboxError, match="no answer to a problem"):
        compute_scores(["code-a1"], [unlucky], [truth], **settings)


@pytest.mark.parametrize("truth", ["42", "{}", "not json", '{"problem_id": 3}'])
def test_another_data_sets_ground_truth_is_refused(truth):
    with pytest.raises(ProblemError, match=r"write_parquet"):
        compute_score("gsm8k", RIGHT, truth, **SETTINGS)


def test_a_problem_that_does_not_hold_is_refused():
    wrong = Problem("wrong", "…", "f", "def f(x):\n    return x", ("assert f(1) == 2",))
    with pytest.raises(ProblemError, match="cannot be judged"):
        compute_score("code-a1", RIGHT, ground_truth_of(wrong), **SETTINGS)


def test_rows_have_what_verl_reads(tmp_path):
    wrong = Problem("wrong", "…", "f", "def f(x):\n    return x", ("assert f(1) == 2",))
    first, second = rows([DOUBLE, wrong, CHECKED])
    assert set(first) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
    assert first["prompt"][-1]["role"] == "user"
    assert "Return twice x." in first["prompt"][-1]["content"]
    assert json.loads(first["reward_model"]["ground_truth"])["problem_id"] == "double"
    assert [r["extra_info"]["index"] for r in (first, second)] == [0, 1]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert write_parquet([DOUBLE, CHECKED], tmp_path / "train.parquet") == 2
    assert parquet.read_table(tmp_path / "train.parquet").to_pylist() == [first, second]
