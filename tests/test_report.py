"""The HTML report: any run of any mode, tooltips that hold the numbers, and a browser that has nothing to complain of."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from code_a1.cli.reporting import closing_tables
from code_a1.engines import ScriptedEngine
from code_a1.errors import RunDirError
from code_a1.report.highlights import highlights
from code_a1.report.page import DARK, LIGHT, write_page
from code_a1.report.panels import running_mean
from code_a1.run_dir import RunDir
from code_a1.trainer import train
from test_modes import config_of, play

pytest.importorskip("matplotlib")

VOID = {"meta", "link", "br"}


class Checked(HTMLParser):
    """Every element closed in order, no id twice, nothing loaded from elsewhere, no script."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.captions: list[str] = []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        assert tag != "script"
        assert not re.match(r"https?:", found.get("src") or found.get("href") or "")
        if "id" in found:
            self.ids.append(found["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] == "figcaption":
            self.captions.append(text)


def checked(page: Path) -> Checked:
    parser = Checked()
    parser.feed(page.read_text(encoding="utf-8"))
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    return parser


def page_of(folder: Path) -> Path:
    run = RunDir.open(folder)
    return write_page(run, closing_tables(list(run.metrics())))


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    return train(config_of(folder, "co-evolve"), policies=(ScriptedEngine(play), ScriptedEngine(play))).path


def test_a_page_has_the_curves_of_both_sides_with_their_numbers(run_folder):
    page = page_of(run_folder)
    found = checked(page)
    assert {"reward, mean of a step", "Mistake Book, tests", "usable tests in a suite", "seconds of a step"} <= set(
        found.captions
    )
    assert "held-out problems" not in found.captions  # nothing was measured there
    text = page.read_text(encoding="utf-8")
    for row in RunDir.open(run_folder).metrics():
        for key in ("code/reward_mean", "test/usable_per_suite", "book/size"):
            assert f"<title>{key}, step {row['step']}: {row[key]:.4g}</title>" in text
    drawn = text[text.index("<main>") :]
    assert not [color for color in LIGHT.values() if color in drawn]  # every colour follows the reader's theme
    assert set(LIGHT) == set(DARK)
    assert "prefers-color-scheme: dark" in text
    assert "mode co-evolve" in text
    assert "problems_per_step = " in text


@pytest.mark.parametrize("mode", ["golden", "self-play", "frozen-coder"])
def test_every_mode_has_a_page(tmp_path, mode):
    run = train(config_of(tmp_path, mode, steps=1), policies=(ScriptedEngine(play), ScriptedEngine(play)))
    found = checked(page_of(run.path))
    assert "reward, mean of a step" in found.captions
    assert ("usable tests in a suite" in found.captions) == (mode != "golden")


def test_a_warm_start_has_a_page(tmp_path):
    (tmp_path / "config.toml").write_text('mode = "sft"\n')
    run = RunDir(tmp_path)
    shares = {f"eval/{name}": 0.25 for name in ("validity", "usable", "mutation_score")} | {"eval/tests": 8}
    run.log_metrics(0, shares | {"eval/validity_low": 0.125, "eval/validity_high": 0.5, "examples": 3})
    run.log_metrics(1, {"test/loss": 1.5, "time/step_s": 2.0})
    run.log_metrics(2, {"test/loss": 1.25, "time/step_s": 2.0} | shares | {"eval/validity": 0.75})
    page = page_of(tmp_path)
    assert checked(page).captions == ["held-out problems", "loss", "seconds of a step"]
    text = page.read_text()
    assert "<td>tests with the right answer</td><td>0.250 [0.125, 0.500]</td><td>0.750</td>" in text
    assert "<title>eval/validity, step 2: 0.75</title>" in text


def test_a_run_that_has_just_begun_has_a_page_that_says_so(tmp_path):
    (tmp_path / "config.toml").write_text('mode = "co-evolve"\n')
    found = checked(page_of(tmp_path))
    assert found.captions == []
    assert "No step has been finished yet" in (tmp_path / "report.html").read_text()
    run = RunDir(tmp_path)
    run.log_metrics(1, {"code/reward_mean": float("nan"), "test/loss": 1.5})  # nearly all metrics are lacking
    assert checked(page_of(tmp_path)).captions == ["loss"]
    with (tmp_path / "metrics.jsonl").open("a") as lines:
        lines.write('{"step": 2, "code')
    with pytest.raises(RunDirError, match=r"metrics.jsonl, line 2: not JSON"):
        page_of(tmp_path)


def test_what_models_wrote_cannot_become_markup(tmp_path):
    (tmp_path / "config.toml").write_text("")
    (tmp_path / "rollouts").mkdir()
    run = RunDir(tmp_path)
    hostile = "</pre><script>alert(1)</script>\ud800"
    test = {"test": f"assert f() == '{hostile}'", "validity": "VALID", "verdict": "FAIL"}
    row = {
        "problem_id": "<b>p</b>",
        "candidate": 0,
        "code": hostile,
        "loaded": True,
        "reward": 0.0,
        "replayed": [],
        "suites": [{"tests": [test]}],
    }
    run.log_rollouts(1, [row])
    run.log_metrics(1, {"code/reward_mean": 0.0})
    run.log_event("problem-left-out", problem_id="x", reason="<script>")
    checked(page_of(tmp_path))
    assert "&lt;script&gt;alert(1)" in (tmp_path / "report.html").read_text()


def rollout(step, code, reward, *tests, problem="p", replayed=(), origin="policy"):
    names = ("test", "validity", "verdict")
    return {
        "step": step,
        "problem_id": problem,
        "statement": f"Solve\n {problem}.",
        "candidate": 0,
        "origin": origin,
        "code": code,
        "loaded": True,
        "reward": reward,
        "replayed": [{"test": t, "verdict": v} for t, v in replayed],
        "suites": [{"tests": [dict(zip(names, test, strict=True)) for test in tests]}],
    }


def test_the_rollouts_worth_reading_are_those(tmp_path):
    run = RunDir(tmp_path)
    (tmp_path / "rollouts").mkdir()
    blunt = [("t1", "VALID", "FAIL"), ("t2", "VALID", "FAIL")]
    subtle = [("t3", "VALID", "PASS"), ("t4", "VALID", "PASS"), ("t5", "VALID", "FAIL")]
    corrected = [("t6", "WRONG_EXPECTATION", "FAIL"), *[("t7", "VALID", "PASS")] * 9]
    run.log_rollouts(1, [rollout(1, "old = 1", 0.2, *blunt), rollout(1, "b", 0.4, *subtle, problem="q")])
    run.log_rollouts(2, [rollout(2, "c", 0.3, *corrected), rollout(2, "m", None, *subtle, origin="mutant")])
    run.log_rollouts(3, [rollout(3, "d", 0.3, replayed=[("t1", "FAIL")])])
    run.log_rollouts(4, [rollout(4, "new = 1", 0.9, replayed=[("t1", "PASS"), ("t2", "PASS")])])
    bug, kept, better = highlights(run, [1, 2, 3, 4])
    assert bug.parts[:2] == (("text", "q: Solve q."), ("text", "Step 1: this program passes 2 of 3 new tests."))
    assert (bug.parts[2], bug.parts[4]) == (("code", "b"), ("code", "t5"))
    assert kept.parts[2] == ("code", "t1")
    assert kept.parts[-1][1].endswith("step 3: 0 of 1 programs passed it; step 4: 1 of 1 programs passed it.")
    assert (better.parts[2], better.parts[4]) == (("code", "old = 1"), ("code", "new = 1"))
    assert "from 0.20 in step 1 to 0.90 in step 4" in better.parts[1][1]
    assert better.parts[-1] == ("text", "It passes 2 of 2 replayed tests.")
    assert "```python\nnew = 1\n```" in better.markdown()
    assert highlights(run, [2]) == []  # the only failure there is of a test whose prediction was wrong


def test_a_measurement_that_is_still_to_come_is_no_change():
    measured = {"step": 0, "eval/heldout/problems": 2, "eval/heldout/code/pass@1": 0.5}
    [table] = [t for t in closing_tables([measured, {"step": 1}]) if "held-out" in str(t.title)]
    cells = [list(column.cells) for column in table.columns]
    assert [column.header for column in table.columns] == ["", "before", "after", "change"]
    assert [column[0] for column in cells] == ["pass@1 of programs", "0.500", "–", "–"]
    assert [column[-1] for column in cells] == ["tests in the Mistake Book", "0", "–", "–"]
    late = {**measured, "step": 4, "book/size": 3}
    table = closing_tables([{"step": 1}, late])[0]
    cells = [list(column.cells) for column in table.columns]
    assert [column.header for column in table.columns] == ["", "before", "after step 4", "change"]
    assert [column[-1] for column in cells] == ["tests in the Mistake Book", "–", "3", "–"]


def test_a_running_mean_leaves_gaps_out():
    assert running_mean([1.0, 3.0, float("nan"), 5.0], 3) == [2.0, 2.0, 4.0, 5.0]


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.skipif(BROWSER is None, reason="needs chromium on the path")
def test_a_browser_draws_the_page_without_complaint(run_folder, tmp_path):
    page = page_of(run_folder)
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
        "--enable-logging=stderr", "--window-size=1300,2900", f"--screenshot={tmp_path}/page.png", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr
    picture = tmp_path / "page.png"
    assert picture.stat().st_size > 50_000, done.stderr
    image = pytest.importorskip("matplotlib.image").imread(picture)
    for name in ("code", "test"):
        wanted = [int(LIGHT[name][i : i + 2], 16) / 255 for i in (1, 3, 5)]
        near = (abs(image[:, :, :3] - wanted).max(axis=2) < 0.02).sum()
        assert near > 500, f"hardly anything is drawn in the colour of the {name} policy"


def test_the_command_writes_the_page(run_folder):
    command = [sys.executable, "-c", "from code_a1.cli import main; main()", "report", str(run_folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"report: {run_folder}/report.html" in done.stdout
    assert done.stdout.count("code reward") == 1
