"""Mode `sft` from end to end with a scripted policy: what is learned from, what is measured, what is saved."""

import json
import os
import signal

import pytest
from click.testing import CliRunner

from code_a1.cli import cli
from code_a1.config_file import make_config
from code_a1.engines.scripted import ScriptedEngine
from code_a1.errors import ConfigError, ProblemError
from code_a1.report.view import View
from code_a1.sft import warm_start

PROBLEMS = [
    {
        "problem_id": name,
        "statement": f"Return n {operator} 1 ({name}).",
        "entry_point": name,
        "reference_solution": f"def {name}(n):\n    return n {operator} 1\n",
        "reference_tests": [f"assert {name}(4) == {4 + by}"],
    }
    for name, operator, by in (("inc", "+", 1), ("dec", "-", -1), ("held", "+", 1))
]
SUITE = "```python\nassert {f}(1) == 2\nassert {f}(1) == 9\nassert {f}(-7) == -6\nassert {f}('x') == 1\n```"


def answer(prompt, _index, _seed):
    """The same four tests for everybody; all about another function where the problem is `dec`."""
    name = next(n for n in ("inc", "dec", "held") if f"`{n}`" in prompt[-1].content)
    return SUITE.format(f="inc" if name == "dec" else name)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def examples_of(run_dir):
    return [json.loads(line) for line in (run_dir.path / "examples.jsonl").read_text().splitlines()]


def config_of(tmp_path, **changes):
    raw = {
        "mode": "sft",
        "engine": "scripted",
        "steps": 3,
        "run_dir": str(tmp_path / "run"),
        "problems": {"path": write(tmp_path / "problems.jsonl", PROBLEMS)},
        "rollout": {"candidates_per_problem": 2, "suites_per_candidate": 1, "tests_per_suite": 4},
        "evaluation": {"problems": {"path": write(tmp_path / "heldout.jsonl", PROBLEMS[2:])}},
        "sft": {"mutants_per_problem": 4, "prompts_per_step": 2},
        "test_policy": {"optimizer": {"lr": 0.1, "warmup_steps": 0, "minibatches": 1, "schedule": "constant"}},
        "sandbox": {"workers": 1, "allow_tier": "rlimits-only", "cpu_s_per_test": 1.0},
    }
    return make_config(raw | changes)


def test_calls_are_the_policys_answers_the_references_and_only_answers_are_learned(tmp_path):
    policy = ScriptedEngine(answer)
    run_dir = warm_start(config_of(tmp_path), policy=policy)

    # inc: two programs shown, the reference and a mutant; f('x') fails on the reference, f(1) == 9 repeats a call
    examples = examples_of(run_dir)
    assert [e["problem_id"] for e in examples] == ["inc", "inc"]
    for example in examples:
        lines = example["answer"].splitlines()
        assert (lines[0], lines[-1]) == ("```python", "```")
        assert sorted(lines[1:-1]) == ["assert inc(-7) == -6", "assert inc(1) == 2"]
        assert "exactly 2 lines" in example["prompt"][-1]["content"]
    assert "def inc(n):\n    return n + 1\n" in examples[0]["prompt"][-1]["content"]
    assert [e["kills_shown"] for e in examples] == [False, True]

    # three steps of two examples, every row without old log-probs and with weight 1
    assert [len(update) for update in policy.updates] == [2, 2, 2]
    rows = [row for update in policy.updates for row in update]
    assert {row.old_logprobs for row in rows} == {None}
    assert {row.sample.advantage for row in rows} == {1.0}
    assert {row.sample.completion.text for row in rows} == {e["answer"] for e in examples}
    assert policy.learning_rates == [0.1] * 3

    first, *_, last = run_dir.metrics()
    assert (first["step"], last["step"]) == (0, 3)
    # of eight tests on the held-out problem two per suite are right, one is wrong, one fails
    assert first["eval/tests"] == 8
    assert first["eval/validity"] == 4 / 8
    assert first["eval/validity/WRONG_EXPECTATION"] == 0  # the same call as the one before: a duplicate
    assert first["eval/validity/DUPLICATE"] == 2 / 8
    assert first["eval/usable"] == 4 / 8
    assert first["sampled/problems"] == 2
    assert first["sampled/validity/OFF_TARGET"] == 8 / 16  # all that was written for dec
    assert (first["examples"], first["examples/tests"], first["examples/kill_shown"]) == (2, 4, 1)
    assert last["eval/validity"] == 4 / 8  # a script does not learn
    assert last["test/loss"] == -1.0  # of the script; what is logged is what the engine says
    assert (run_dir.checkpoint_path(3) / "test" / "scripted.json").is_file()
    assert [e["event"] for e in run_dir.events()][-2:] == ["checkpoint", "finished"]


def test_held_out_problems_are_never_trained_on_even_where_both_files_have_them(tmp_path):
    run_dir = warm_start(config_of(tmp_path), policy=ScriptedEngine(answer))
    left_out = [e for e in run_dir.events() if e["event"] == "problem-left-out"]
    assert [e["problem_id"] for e in left_out] == ["held"]
    assert "held" not in {row["problem_id"] for row in examples_of(run_dir)}


def test_without_anything_to_learn_from_the_run_says_what_to_do(tmp_path):
    with pytest.raises(ProblemError, match=r"none of 2 tests sampled on 2 problems .*begin_answers = true"):
        warm_start(
            config_of(tmp_path, rollout={"candidates_per_problem": 1, "suites_per_candidate": 1}),
            policy=ScriptedEngine(["I would test `inc`.", "assert dec('x') == 1\nassert dec(None) == 1"] * 2),
        )
    # what was measured is kept
    assert (tmp_path / "run" / "metrics.jsonl").is_file()


def test_an_interrupt_saves_what_was_learned(tmp_path):
    class Impatient(View):
        def message(self, text: str) -> None:
            if text.startswith("step 1/"):
                os.kill(os.getpid(), signal.SIGINT)

    run_dir = warm_start(config_of(tmp_path), Impatient(), ScriptedEngine(answer))
    assert run_dir.checkpoint_path(1).is_dir()
    assert [e["event"] for e in run_dir.events()][-1] == "interrupted"
    assert [row["step"] for row in run_dir.metrics()] == [0, 1]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"rewards": {"alpha": 0.3}}, "rewards.alpha = 0.3 does not apply to mode 'sft'"),
        ({"mistake_book": {"enabled": False}}, "mistake_book.enabled"),
        ({"rollout": {"predict_answer": False}}, "what mode 'sft' teaches is to predict answers"),
        ({"sft": {"prompts_per_step": 0}}, "sft.prompts_per_step"),
    ],
)
def test_what_does_not_apply_is_refused(tmp_path, changes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        config_of(tmp_path, **changes)


def test_the_command_trains_and_closes_with_a_table(tmp_path):
    script = write(tmp_path / "answers.jsonl", [SUITE.format(f="inc")])
    problems = write(tmp_path / "problems.jsonl", PROBLEMS[:1])
    config = tmp_path / "sft.toml"
    config.write_text(
        f'mode = "sft"\nengine = "scripted"\nsteps = 1\nrun_dir = "{tmp_path}/run"\n'
        f'[problems]\npath = "{problems}"\n[evaluation.problems]\npath = "{write(tmp_path / "held.jsonl", [PROBLEMS[0] | {"problem_id": "other", "statement": "Another."}])}"\n'
        f'[test_policy]\nmodel = "{script}"\n[sandbox]\nworkers = 1\nallow_tier = "rlimits-only"\n'
        "[rollout]\ncandidates_per_problem = 1\nsuites_per_candidate = 1\n"
    )
    dry = CliRunner().invoke(cli, ["train", str(config), "--dry-run"])
    assert "one prompt each" in dry.output
    done = CliRunner().invoke(cli, ["train", str(config)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "tests with the right answer" in done.output
    assert "0.500 [0.500, 0.500]" in done.output
    assert f"run folder: {tmp_path}/run\n" in done.output
    picture = tmp_path / "curves.svg"
    drawn = CliRunner().invoke(cli, ["report", f"{tmp_path}/run", "-o", str(picture)], catch_exceptions=False)
    assert "tests with the right answer" in drawn.output
    assert "what became of every test" in picture.read_text()
    assert "tests with the right answer" in (tmp_path / "run" / "report.html").read_text()
