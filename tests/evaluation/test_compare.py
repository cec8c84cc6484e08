from __future__ import annotations

import csv
import io
import json

import pytest

from code_a1.cli import main
from code_a1.errors import RunDirError
from code_a1.evaluation.code.folder import EvalFolder
from code_a1.evaluation.code.tasks import Judged, SampleResult, TaskResult
from code_a1.evaluation.compare import compare, difference, notes, read_run
from code_a1.records import Verdict


def evaluation(path, fingerprint="f", **rights: list[int]):
    """A folder with, per benchmark, how many of two samples of each task are right."""
    benches = {name: {"tasks": len(counts), "fingerprint": fingerprint} for name, counts in rights.items()}
    folder = EvalFolder.start(path, {"model": path.name, "benchmarks": benches, "n": 2})
    for name, counts in rights.items():
        folder.append([TaskResult(name, f"t{i}", tuple(sample(j < c) for j in range(2))) for i, c in enumerate(counts)])
    return path


def sample(right: bool) -> SampleResult:
    return SampleResult("", "p", (), "stop", Judged(Verdict.PASS if right else Verdict.FAIL))


@pytest.fixture
def two(tmp_path):
    base = evaluation(tmp_path / "base", a=[2, 0] * 20, b=[1] * 10)
    better = evaluation(tmp_path / "better", a=[2, 1] * 5 + [2, 0] * 15, b=[1] * 10)
    return base, better


def test_differences_are_paired(two):
    base, better = (read_run(path) for path in two)
    found = difference(base.cells["a", "pass@1"], better.cells["a", "pass@1"])
    assert found.value == 0.0625
    assert 0 < found.low < 0.03 < 0.1 < found.high < 0.13  # 0.5 for 5 tasks and 0 for 35: 1.96 standard errors are 0.05
    unpaired = better.cells["a", "pass@1"].estimate
    assert unpaired.low < base.cells["a", "pass@1"].estimate.high  # the two intervals alone would not tell
    assert difference(base.cells["b", "pass@1"], better.cells["b", "pass@1"]).high == 0
    assert better.cells["average", "pass@1"].estimate.value == pytest.approx((0.5625 + 0.5) / 2)


def test_the_three_forms_hold_the_same_numbers(two, capsys, tmp_path):
    main(["compare", *map(str, two)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "|  | a pass@1 | b pass@1 | average pass@1 |"
    assert lines[3].startswith("| better | 56.25 [")
    assert "(+6.25 [+" in lines[3]
    assert lines[3].split(" | ")[1].endswith(")\\*")
    assert lines[3].split(" | ")[2] == "50.00 [50.00, 50.00] (+0.00 [+0.00, +0.00])"
    runs = [read_run(path) for path in two]
    rows = list(csv.DictReader(io.StringIO(compare(runs, "csv"))))
    row = next(r for r in rows if (r["run"], r["benchmark"]) == ("better", "a"))
    assert (row["value"], row["difference"]) == ("0.5625", "0.0625")
    assert [r["difference"] for r in rows if r["run"] == "base"] == ["", "", ""]
    main(["compare", *map(str, two), "--format", "latex", "-o", str(tmp_path / "t.tex"), "--json"])
    latex = (tmp_path / "t.tex").read_text()
    assert latex.count("\\\\") == 3
    assert ")$^*$ & 50.00" in latex
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["runs"]["base"]["a pass@1"] == 0.5


def test_pass_at_2_can_be_asked_for(two):
    assert read_run(two[1], ("pass@2",)).cells["a", "pass@2"].estimate.value == 25 / 40


def test_other_tests_under_one_name_are_noted(two, tmp_path):
    other = evaluation(tmp_path / "other", fingerprint="g", a=[2] * 40)
    [note] = notes([read_run(two[0]), read_run(other)])
    assert note.startswith("a: other has other problems, prompts or tests than base")


def test_training_runs_stand_beside_evaluations(two, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.toml").write_text("")
    rows = [
        {"step": 1, "code/reward_mean": 0.1, "eval/a/code/pass@1": 0.2},
        {"step": 2, "code/reward_mean": 0.4, "eval/a/code/pass@1": 0.6, "eval/heldout/test/validity": None},
        {"step": 3, "code/reward_mean": 0.5, "eval/heldout/test/validity": 0.7},
    ]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = compare([read_run(two[0]), read_run(run)], "markdown").splitlines()
    assert lines[0].split(" | ")[-2:] == ["code/reward_mean", "eval/heldout/test/validity |"]
    assert "| run | 60.00 (+10.00) | – | – | 0.500 | 0.700 |" in lines


def test_what_cannot_be_compared_is_named(tmp_path):
    with pytest.raises(RunDirError, match="neither the folder of an evaluation nor that of a training run"):
        read_run(tmp_path)
    half = evaluation(tmp_path / "half", a=[1, 1])
    lines = (half / "results.jsonl").read_text().splitlines()
    (half / "results.jsonl").write_text(lines[0] + "\n")
    with pytest.raises(RunDirError, match="1 of 2 problems of a are done; resume it"):
        read_run(half)
