"""Disks, processes, clocks, memory and rows that fail, most of them for real."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from code_a1 import recovery, trainer
from code_a1 import run_dir as run_dir_module
from code_a1.checkpoint import load_state
from code_a1.engines import ScriptedEngine
from code_a1.errors import ProblemError, RunDirError, SandboxError, TrainingError
from code_a1.report.view import View
from code_a1.run_dir import RunDir
from code_a1.sandbox import pool
from code_a1.trainer import train
from recovery.runs import QUICK, book_of, events, timeless
from test_trainer import PROBLEM, InterruptedIn, config_of, scripted, write_code


def in_namespace(command: str) -> list[str]:
    """A command with mounts of its own; the test skips where the machine allows none."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no user namespaces here: nothing can be mounted")
    return [*unshare, "bash", "-c", command]


TRAIN = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_trainer import config_of, scripted
from code_a1.trainer import train
from code_a1.errors import CodeA1Error
from code_a1.engines import ScriptedEngine

class Filling(ScriptedEngine):
    def save(self, path):
        super().save(path)
        (path / "weights").write_bytes(bytes({size}) )

code, tests = (Filling(p.answers) for p in scripted())
try:
    train(config_of(Path({folder!r}), steps=4, save_every=2, run_dir={run!r}), policies=(code, tests), resume=True)
except CodeA1Error as error:
    print(f"{{type(error).__name__}}: {{error}}")
else:
    print("finished")
"""


def test_a_disk_that_is_really_full(tmp_path):
    """4 MB: room for the checkpoint of step 2 and not for that of step 4; then it is made larger."""
    script = tmp_path / "train.py"
    run = tmp_path / "small/run"
    (tmp_path / "small").mkdir()
    tests = str(Path(__file__).resolve().parents[1])
    script.write_text(TRAIN.format(tests=tests, folder=str(tmp_path), run=str(run), size=1_300_000))
    small = f"mount -t tmpfs -o size=4m none {tmp_path}/small"
    again = f"mount -o remount,size=40m {tmp_path}/small"
    python = f"{sys.executable} {script}"
    done = subprocess.run(
        in_namespace(f"{small} && {python} && ls {run}/checkpoints && {again} && {python} && ls {run}/checkpoints"),
        check=False,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    first, kept, second, *checkpoints = done.stdout.splitlines()
    assert first.startswith("CheckpointError: cannot write checkpoint")
    assert "No space left on device; earlier checkpoints are untouched: make room" in first
    assert (kept, second, checkpoints) == ("step-000002", "finished", ["step-000002", "step-000004"])


def test_a_run_folder_that_becomes_read_only(tmp_path):
    script = tmp_path / "train.py"
    run = tmp_path / "run"
    tests = str(Path(__file__).resolve().parents[1])
    script.write_text(TRAIN.format(tests=tests, folder=str(tmp_path), run=str(run), size=1))
    python = f"{sys.executable} {script}"
    train(config_of(tmp_path, steps=2, save_every=2), policies=scripted())
    shutil.rmtree(run / "checkpoints/step-000002")
    mount = f"mount --bind {run} {run} && mount -o remount,ro,bind {run}"
    done = subprocess.run(
        in_namespace(f"{mount} && {python}"), check=False, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"RunDirError: cannot write the run folder {run}: ")
    assert "Read-only file system" in done.stdout


def test_a_second_process_is_refused(tmp_path):
    config = config_of(tmp_path)
    run_dir = train(config, policies=scripted())
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"from pathlib import Path; from code_a1.run_dir import RunDir; r = RunDir(Path({str(run_dir.path)!r})); r.lock(); print('locked', flush=True); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(RunDirError, match=f"is in use by process {holder.pid} on "):
            train(config, policies=scripted(), resume=True)
        holder.kill()
        holder.wait()
    train(config, policies=scripted(), resume=True)  # a lock does not outlive its process


def test_sigterm_in_a_long_phase_saves_within_a_moment(tmp_path):
    asked = []

    def write_and_be_told(prompt, index, seed):
        asked.append(prompt)
        if len(asked) == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        return write_code(prompt, index, seed)

    config = config_of(tmp_path, steps=9)
    run_dir = train(config, policies=(ScriptedEngine(write_and_be_told), scripted()[1]))
    assert list(run_dir.checkpoints()) == [2]
    assert len(asked) == 6  # the phase was left, not finished with suites
    [event] = [e for e in run_dir.events() if e["event"] == "interrupted"]
    assert (event["step"], event["signal"]) == (2, "SIGTERM")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_interrupt_while_a_step_is_measured_loses_neither(tmp_path, monkeypatch):
    def measured(run):
        if run.step == 2 and not run.view.done:
            run.view.done = True
            os.kill(os.getpid(), signal.SIGTERM)
            run.advance(1)
        return {"eval/x": run.step}

    view = View()
    view.done = False
    monkeypatch.setattr(trainer, "measure", measured)
    config = config_of(tmp_path, steps=4, eval_every=2, evaluation={"problems": {"path": "bundled", "limit": 1}})
    run_dir = train(config, view, scripted())
    assert [row["step"] for row in run_dir.metrics()] == [0, 1]
    train(config, view, scripted(), resume=True)
    assert [(row["step"], row.get("eval/x")) for row in run_dir.metrics()] == [
        (0, 0),
        (1, None),
        (2, 2),
        (3, None),
        (4, 4),
    ]


def outage(monkeypatch, starts_that_fail: int):
    """Workers that are there die (really), and so many new ones cannot be started."""
    left = [starts_that_fail]
    real = pool.WorkerHandle

    def start(tier):
        if left[0] > 0:
            left[0] -= 1
            raise OSError(errno.EAGAIN, "no more processes")
        return real(tier)

    monkeypatch.setattr(pool, "WorkerHandle", start)


class BreaksIn(View):
    """Kills the sandbox's workers as judging begins in one step."""

    def __init__(self, monkeypatch, starts_that_fail: int) -> None:
        self.patch, self.starts, self.steps, self.said = monkeypatch, starts_that_fail, 0, []

    def message(self, text):
        self.said.append(text)

    def phase(self, name, total):
        self.steps += name == "candidates"
        if name == "candidates" and self.steps == 2:
            for sandbox in SANDBOXES:
                for worker in sandbox._workers:
                    worker.process.kill()
            outage(self.patch, self.starts)


SANDBOXES: list = []


@pytest.fixture
def sandboxes(monkeypatch):
    real = pool.Sandbox.__init__

    def remember(self, *args, **kwargs):
        real(self, *args, **kwargs)
        SANDBOXES.append(self)

    monkeypatch.setattr(pool.Sandbox, "__init__", remember)
    yield
    SANDBOXES.clear()


def test_a_worker_that_dies_changes_nothing(tmp_path, left_alone, monkeypatch, sandboxes):
    run_dir = train(config_of(tmp_path, steps=4, save_every=2), BreaksIn(monkeypatch, 0), scripted())
    assert timeless(run_dir) == timeless(left_alone)


def test_a_short_outage_is_waited_for(tmp_path, left_alone, monkeypatch, sandboxes):
    view = BreaksIn(monkeypatch, 6)
    config = config_of(tmp_path, steps=4, save_every=2, sandbox={"workers": 1, "outage_pauses_s": [0.01] * 5})
    run_dir = train(config, view, scripted())
    assert timeless(run_dir) == [row | {"judge/sandbox_errors": 0} for row in timeless(left_alone)] or any(
        "judging again in" in text for text in view.said
    )
    rewards = [row["code/reward_mean"] for row in run_dir.metrics()]
    assert rewards == [row["code/reward_mean"] for row in left_alone.metrics()]
    assert "sandbox-outage" in events(run_dir)
    assert book_of(run_dir) == book_of(left_alone)


def test_a_long_outage_stops_the_run_with_everything_saved(tmp_path, monkeypatch, sandboxes):
    code_policy, test_policy = scripted()
    config = config_of(tmp_path, steps=4, sandbox={"workers": 1, "outage_pauses_s": [0.01]})
    with pytest.raises(SandboxError, match="step 2: .* through no fault of their own"):
        train(config, BreaksIn(monkeypatch, 10**6), (code_policy, test_policy))
    assert len(code_policy.updates) == 1  # nothing was learned from the second step
    run_dir = RunDir.open(config.run_dir)
    assert list(run_dir.checkpoints()) == [1]
    assert [e["pause_s"] for e in run_dir.events() if e["event"] == "sandbox-outage"] == [0.01, None]
    monkeypatch.undo()
    train(config, policies=scripted(), resume=True)
    assert len(list(run_dir.metrics())) == 4


def test_out_of_memory_and_a_sampler_that_dies_are_said_and_resumed_from(tmp_path, left_alone):
    asked = []

    def hungry(prompt, index, seed):
        asked.append(prompt)
        if len(asked) == 5:
            bytearray(1 << 62)  # a real MemoryError
        if len(asked) == 8:
            raise RuntimeError("the engine's process has died")
        return write_code(prompt, index, seed)

    config = config_of(tmp_path, steps=4, save_every=2)
    with pytest.raises(TrainingError, match="step 3: this machine is out of memory"):
        train(config, policies=(ScriptedEngine(hungry), scripted()[1]))
    with pytest.raises(RuntimeError, match="has died"):
        train(config, policies=(ScriptedEngine(hungry), scripted()[1]), resume=True)
    run_dir = train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    assert [e["error"] for e in run_dir.events() if e["event"] == "failed"] == ["MemoryError", "RuntimeError"]


def test_a_clock_that_jumps_changes_nothing(tmp_path, left_alone, monkeypatch):
    times = iter([datetime(2026, 1, 1, tzinfo=UTC), *(datetime(1970 + i % 90, 1, 1, tzinfo=UTC) for i in range(99))])

    class Jumping(datetime):
        @classmethod
        def now(cls, tz=None):
            return next(times)

    monkeypatch.setattr(run_dir_module, "datetime", Jumping)
    config = config_of(tmp_path, steps=4, save_every=2)
    train(config, InterruptedIn("suites", 4), scripted())
    run_dir = train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    assert all(row["time/step_s"] >= 0 for row in run_dir.metrics())


def test_which_checkpoints_stay():
    steps = [2, 4, 5, 6, 8]
    assert recovery.wanted(steps, {}, 0, 2) == set(steps)
    assert recovery.wanted(steps, {}, 2, 2) == {6, 8}
    assert recovery.wanted([2, 4, 5], {}, 2, 2) == {2, 4, 5}  # 5 was left by an interrupt
    assert recovery.wanted(steps, {2: 0.5, 4: 0.5, 6: 0.1}, 1, 2) == {4, 8}
    assert recovery.wanted([7], {}, 1, 0) == {7}
    assert recovery.wanted([], {}, 1, 2) == set()


def test_the_last_and_the_best_checkpoints_are_kept(tmp_path):
    config = config_of(tmp_path, steps=5, save_every=1, checkpoints={"keep_last": 2, "keep_best": "code/pass_new"})
    run_dir = train(config, policies=scripted())
    values = [row["code/pass_new"] for row in run_dir.metrics()]
    best = max(range(1, 6), key=lambda step: (values[step - 1], step))
    assert list(run_dir.checkpoints()) == sorted({best, 4, 5})
    assert load_state(run_dir.checkpoint_path(5))["score"] == values[4]


POISON = {
    "loops": "def double(x):\n    while True:\n        pass\n",
    "exits": "import os\n\n\ndef double(x):\n    os._exit(0)\n",
    "eats": "def double(x):\n    return [0] * 10**10\n",
    "raises": "raise SystemExit(0)\n\n\ndef double(x):\n    return 2 * x\n",
}


@pytest.mark.parametrize("checked", [True, False])
def test_a_poisoned_row_costs_itself(tmp_path, checked):
    poison = [replace(PROBLEM, problem_id=name, reference_solution=code) for name, code in POISON.items()]
    config = config_of(tmp_path, PROBLEM, *poison, steps=1, rollout={"problems_per_step": 5}, sandbox=QUICK)
    config = config.model_copy(update={"problems": config.problems.model_copy(update={"validate_references": checked})})
    run_dir = train(config, policies=scripted())
    left_out = {e["problem_id"] for e in run_dir.events() if e["event"] == "problem-left-out"}
    assert left_out == (set(POISON) if checked else set())
    [row] = run_dir.metrics()
    if not checked:  # no test of theirs is usable, and the good one is judged as ever
        assert row["validity/CALL_FAILED"] > 0
    valid = [
        t["validity"]
        for r in run_dir.rollouts(1)
        if r["problem_id"] == "double"
        for s in r["suites"]
        for t in s["tests"]
    ]
    assert valid.count("VALID") == 6


def test_a_row_that_is_no_problem_is_named_before_anything_is_made(tmp_path):
    config = config_of(tmp_path)
    path = Path(config.problems.path)
    path.write_text(path.read_text() + '{"problem_id": 5}\n')
    with pytest.raises(ProblemError, match=r"problems.jsonl:2: "):
        train(config, policies=scripted())
    assert not config.run_dir.exists()
