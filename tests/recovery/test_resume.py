"""Runs that stop and go on, with scripted policies."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from code_a1 import checkpoint
from code_a1.checkpoint import load_state
from code_a1.engines import ScriptedEngine
from code_a1.errors import CheckpointError, ConfigError, RunDirError, TrainingError
from code_a1.report.view import View
from code_a1.run_dir import RunDir
from code_a1.trainer import train
from recovery.runs import Heard, book_of, events, timeless
from test_trainer import InterruptedIn, config_of, scripted


def test_an_interrupted_run_goes_on_as_if_nothing_had_happened(tmp_path, left_alone):
    config = config_of(tmp_path, steps=4, save_every=2)
    run_dir = train(config, InterruptedIn("suites", 4), scripted())
    assert events(run_dir)[-1] == "interrupted"
    assert list(run_dir.checkpoints()) == [2, 3]
    train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    assert book_of(run_dir) == book_of(left_alone)
    assert list(run_dir.checkpoints()) == [2, 3, 4]
    for step in range(1, 5):
        assert list(run_dir.rollouts(step)) == list(left_alone.rollouts(step))


def test_a_run_that_failed_in_the_middle_of_learning_goes_on_from_the_last_checkpoint(
    tmp_path, left_alone, monkeypatch
):
    config = config_of(tmp_path, steps=4, save_every=2)
    code_policy, test_policy = scripted()
    taken = []

    def not_finite(rows):
        taken.append(rows)
        if len(taken) == 4:
            raise TrainingError("a gradient is not finite")
        return ScriptedEngine.forward_backward(test_policy, rows)

    monkeypatch.setattr(test_policy, "forward_backward", not_finite)
    heard = Heard()
    with pytest.raises(TrainingError, match="step 3, minibatch 1 of 1: a gradient is not finite"):
        train(config, heard, (code_policy, test_policy))
    run_dir = RunDir.open(config.run_dir)
    assert list(run_dir.checkpoints()) == [2]  # the book was written for step 4 by then
    assert f"Go on after step 2: code-a1 train {config.run_dir} --resume" in heard.said
    assert events(run_dir)[-1] == "failed"
    train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    assert book_of(run_dir) == book_of(left_alone)


def test_a_run_without_a_checkpoint_begins_again(tmp_path, left_alone):
    config = config_of(tmp_path, steps=4, save_every=2)

    class Killed(BaseException):
        pass

    class DiesIn(View):
        def phase(self, name, total):
            if name == "learning":
                raise Killed

    with pytest.raises(Killed):
        train(config, DiesIn(), scripted())
    run_dir = train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    assert book_of(run_dir) == book_of(left_alone)


def test_resume_begins_a_run_that_is_not_there_and_leaves_a_finished_one_alone(tmp_path, left_alone):
    config = config_of(tmp_path, steps=4, save_every=2)
    run_dir = train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    longer = config_of(tmp_path, steps=6, save_every=2)
    train(longer, policies=scripted(), resume=True)
    assert len(timeless(run_dir)) == 6
    [event] = [e for e in run_dir.events() if e["event"] == "resumed" and e["changed"]]
    assert event["changed"] == {"steps": [4, 6]}
    assert "steps = 6" in run_dir.config_path.read_text()


def test_another_configuration_is_refused_by_its_keys(tmp_path):
    train(config_of(tmp_path), policies=scripted())
    other = config_of(tmp_path, rollout={"tests_per_suite": 3}, seed=7, save_every=1)
    with pytest.raises(ConfigError, match=r"rollout.tests_per_suite was 2, is 3; seed was 0, is 7\. A run"):
        train(other, policies=scripted(), resume=True)
    with pytest.raises(ConfigError, match="is a new folder every time"):
        train(config_of(tmp_path, run_dir="runs/{time}"), policies=scripted(), resume=True)


def test_a_damaged_checkpoint_is_passed_over_and_said(tmp_path, left_alone):
    config = config_of(tmp_path, steps=4, save_every=2)
    run_dir = train(config, policies=scripted())
    file = run_dir.checkpoint_path(4) / "code/scripted.json"
    file.write_bytes(file.read_bytes()[:-1] + b" ")
    with pytest.raises(CheckpointError, match="code/scripted.json is damaged"):
        load_state(run_dir.checkpoint_path(4))
    heard = Heard()
    train(config, heard, scripted(), resume=True)
    assert any("code/scripted.json is damaged" in text for text in heard.said)
    assert timeless(run_dir) == timeless(left_alone)
    assert book_of(run_dir) == book_of(left_alone)
    for path in run_dir.checkpoints().values():
        (path / "state.json").unlink()
    with pytest.raises(
        CheckpointError, match="none of the checkpoints of .* state.json is missing|no whole checkpoint"
    ):
        train(config, policies=scripted(), resume=True)


@pytest.mark.parametrize("damage", ["missing", "added", "torn checksums", "older version", "format"])
def test_what_is_wrong_with_a_checkpoint_is_named(tmp_path, damage):
    path = train(config_of(tmp_path), policies=scripted()).checkpoint_path(2)
    match damage:
        case "missing":
            (path / "test/scripted.json").unlink()
        case "added":
            (path / "extra").touch()
        case "torn checksums":
            (path / "checksums.json").write_text('{"a')
        case "older version":
            (path / "checksums.json").unlink()
        case "format":
            (path / "state.json").write_text('{"format": 1}')
    why = {
        "missing": "test/scripted.json is missing",
        "added": "extra was added",
        "torn checksums": "checksums.json is damaged",
        "older version": "an earlier version wrote it",
        "format": "of format 1; this version reads format 2",
    }[damage]
    with pytest.raises(CheckpointError, match=why):
        load_state(path)


@pytest.mark.parametrize(
    ("call", "number"), [("fsync", 1), ("fsync", 3), ("fsync", 7), ("rename", 1), ("write", 1), ("engine", 1)]
)
def test_a_disk_that_fails_while_saving_costs_the_new_checkpoint_only(tmp_path, monkeypatch, left_alone, call, number):
    config = config_of(tmp_path, steps=4, save_every=2)
    calls = []

    def failing(real):
        def fail(*args, **kwargs):
            if (tmp_path / "run/checkpoints/step-000004.partial").exists():
                calls.append(call)
                if len(calls) >= number:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*args, **kwargs)

        return fail

    target, name = {
        "fsync": (os, "fsync"),
        "rename": (Path, "rename"),
        "write": (checkpoint, "_write_json"),
        "engine": (ScriptedEngine, "save"),
    }[call]
    with monkeypatch.context() as patch:
        patch.setattr(target, name, failing(getattr(target, name)))
        with pytest.raises(CheckpointError, match="No space left on device; earlier checkpoints are untouched"):
            train(config, policies=scripted())
    run_dir = RunDir.open(config.run_dir)
    assert sorted(p.name for p in (run_dir.path / "checkpoints").iterdir()) == ["step-000002"]
    load_state(run_dir.checkpoint_path(2))
    train(config, policies=scripted(), resume=True)
    assert timeless(run_dir) == timeless(left_alone)
    assert book_of(run_dir) == book_of(left_alone)


def test_a_full_disk_never_leaves_half_a_line(tmp_path):
    run_dir = RunDir.create(config_of(tmp_path))
    run_dir.unlock()
    run_dir.log_metrics(1, {"a": 1.0})
    run_dir.metrics_path.rename(tmp_path / "metrics")
    run_dir.metrics_path.symlink_to("/dev/full")
    with pytest.raises(
        RunDirError, match="metrics.jsonl: .*No space left on device; what was written before is untouched"
    ):
        run_dir.log_metrics(2, {"a": 2.0})
