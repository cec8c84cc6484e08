from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from code_a1.cli import cli, main
from code_a1.problems import BUNDLED, write_problems
from code_a1.records import Problem

ROOT = Path(__file__).parents[1]
DOUBLE = Problem(
    "double", "Return twice x.", "double", "def double(x):\n    return 2 * x\n", ("assert double(1) == 2",)
)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from code_a1.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
        timeout=120,
    )


def commands(group=cli, path=()):
    for name, command in group.commands.items():
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize(
    ("path", "command"), list(commands()), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_explains_itself_with_an_example(path, command, capsys):
    main([*path, "--help"])
    text = capsys.readouterr().out
    assert "Usage: code-a1 " + " ".join(path) in text
    assert "\\b" not in text
    if not hasattr(command, "commands"):
        examples = [line.strip() for line in text.split("Example", 1)[1].splitlines()]
        assert any(line.startswith(f"code-a1 {' '.join(path)}") for line in examples)


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    write_problems(folder / "problems.jsonl", [DOUBLE])
    code = ["```python\ndef double(x):\n    return x + x\n```", "```python\ndef double(x):\n    return x * x\n```"]
    suite = ["```python\nassert double(3) == 6\nassert double(2) == 4\n```", "```python\nassert double(1) == 2\n```"]
    for name, answers in (("code", code), ("tests", suite)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(a) + "\n" for a in answers))
    (folder / "c.toml").write_text(
        f"""
engine = "scripted"
steps = 2
[problems]
path = "{folder}/problems.jsonl"
[rollout]
problems_per_step = 1
candidates_per_problem = 2
suites_per_candidate = 2
tests_per_suite = 2
[sandbox]
workers = 1
[code_policy]
model = "{folder}/code.jsonl"
[test_policy]
model = "{folder}/tests.jsonl"
"""
    )
    done = run("train", str(folder / "c.toml"), "--set", f"run_dir={folder}/run")
    assert done.returncode == 0, done.stderr
    assert f"run folder: {folder}/run" in done.stdout
    assert "code reward" in done.stdout
    assert "step 2/2" in done.stderr
    assert "### A test that entered the Mistake Book" in done.stdout
    assert f"report: {folder}/run/report.html" in done.stdout
    return folder / "run"


def test_a_run_from_the_command_line_leaves_its_contract(finished_run):
    rows = [json.loads(line) for line in (finished_run / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2]
    assert tomllib.loads((finished_run / "config.toml").read_text())["run_dir"] == str(finished_run)
    assert (finished_run / "checkpoints/step-000002/state.json").is_file()
    again = run("train", str(finished_run / "config.toml"))
    assert again.returncode == 2
    assert "exists already and is never overwritten" in again.stderr


def test_the_curves_of_a_run_are_drawn(finished_run, tmp_path):
    done = run("report", str(finished_run), "-o", str(tmp_path / "curves.svg"))
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / "curves.svg").read_text()
    assert picture.count("<!-- reward, mean") == 1
    assert "<!-- Mistake Book, tests -->" in picture
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "config.toml").write_text("")
    assert "nothing to draw" in run("report", str(empty), "-o", str(tmp_path / "none.png")).stderr
    assert "is not a run folder" in run("report", str(tmp_path)).stderr


def test_wrong_use_is_one_line_and_exit_code_2(tmp_path):
    done = run("train", str(tmp_path / "nothing.toml"))
    assert done.returncode == 2
    assert done.stderr.startswith("error: no such configuration file")
    assert "Traceback" not in done.stderr
    assert run("trian").returncode == 2


def test_a_dry_run_needs_nothing(tmp_path):
    done = run("train", str(ROOT / "configs/paper-7b.toml"), "--dry-run")
    assert done.returncode == 0
    assert "2048 candidates × 8 suites = 16384 completions" in done.stdout
    assert "engine 'ray'" in done.stdout
    assert "no file kodcode-hard.jsonl" in done.stdout


def test_every_key_is_listed_without_a_configuration():
    done = run("train", "--keys")
    assert done.returncode == 0
    assert "rollout.tests_per_suite = 8" in done.stdout


def test_the_bundled_problems_are_all_ok():
    done = run("problems", "validate", "bundled", "--json")
    assert done.returncode == 0, done.stdout
    count = len(BUNDLED.read_text().splitlines())
    assert count >= 60
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "path": "bundled",
        "rows": count,
        "findings": 0,
        "counts": {"ok": count},
    }


def test_a_bad_problem_file_is_reported_row_by_row(tmp_path):
    path = tmp_path / "p.jsonl"
    good = {"problem_id": "a", "statement": "s", "entry_point": "f", "reference_solution": "def f(): return 1"}
    rows = [
        good | {"reference_tests": ["assert f() == 1"]},
        good | {"problem_id": "b", "reference_tests": ["assert f() == 2"]},
        good,
        {"problem_id": "c"},
        good
        | {
            "problem_id": "d",
            "reference_solution": "import random\ndef f(): return random.random()",
            "reference_tests": ["assert f() == 1"],
        },
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n{not json\n")
    done = run("problems", "validate", str(path), "--json")
    assert done.returncode == 1
    counts = json.loads(done.stdout.splitlines()[-1])["counts"]
    assert counts == {"ok": 1, "failing": 1, "duplicate id": 1, "unreadable row": 2, "nondeterministic": 1}
    for row in (4, 6):
        assert f"p.jsonl, line {row}" in done.stdout or f"p.jsonl:{row}" in done.stdout
    assert "b: failing" in done.stdout


def test_doctor_says_what_the_sandbox_offers():
    done = run("doctor")
    assert done.returncode == 0, done.stderr
    assert "sandbox" in done.stdout
    assert "tier" in done.stdout


def test_rollouts_are_shown_for_people(finished_run):
    done = run("runs", "rollouts", str(finished_run), "--step", "1", "--suites", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("### Step 1, double, candidate") == 2
    assert "| `assert double(3) == 6` | VALID | FAIL |  |" in done.stdout
    assert done.stdout.count("Suite 0") == 2
    assert "Suite 1" not in done.stdout
    one = run("runs", "rollouts", str(finished_run), "--limit", "1")
    assert one.stdout.count("### Step") == 1
