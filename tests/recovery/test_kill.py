"""A training process is killed again and again, and what comes of it is what comes of a run left alone, to the bit."""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("peft")

from engines.tiny import build_tiny_model
from recovery import trainee

OPENING = "opening"
ONCE = (OPENING, "loading problems", "loading the checkpoint")
"""Phases that a process goes through once."""
PHASES = (
    OPENING,
    "loading problems",
    "candidates",
    "suites",
    "judging",
    "learning",
    "saving",
    "loading the checkpoint",
)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """`start(folder, steps)` begins or resumes the run in a process of its own; returns it and what it announces."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["peft", "code_a1.engines.local.engine", "code_a1.trainer"])  # loaded once
    model = str(build_tiny_model(tmp_path_factory.mktemp("model"), kind="llama", max_position_embeddings=4096))

    def begin(folder: Path, steps: int):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=trainee.run, args=(folder, model, steps, theirs))
        process.start()
        theirs.close()
        return process, ours

    return begin


def finish(process, phases) -> None:
    while phases.poll(120):
        try:
            phases.recv()
        except EOFError:
            break
    process.join(60)
    assert process.exitcode == 0


def kill_in(process, phases, wanted: str, occurrence: int, delay_s: float) -> str | None:
    """SIGKILL so long after a phase was announced for the nth time; the phase that it was in, None if it ended first."""
    last = OPENING
    with contextlib.suppress(EOFError):  # it has ended
        while occurrence and wanted != OPENING:
            if not phases.poll(120):
                raise AssertionError(f"nothing happens in phase {last!r}")
            last = phases.recv()
            occurrence -= last == wanted
        end = time.monotonic() + delay_s
        while (left := end - time.monotonic()) > 0:
            if phases.poll(left):
                last = phases.recv()
    if process.exitcode is not None:
        process.join()
        return None
    process.kill()
    process.join()
    return last if process.exitcode == -9 else None


def killed_and_resumed(start, folder: Path, steps: int, kills: int, phases: tuple[str, ...], seed: int) -> Counter:
    rng = random.Random(seed)
    hit: Counter = Counter()
    while sum(hit.values()) < kills:
        wanted = phases[sum(hit.values()) % len(phases)]
        occurrence = 1 if wanted in ONCE else rng.randint(1, 2)
        if wanted == "loading the checkpoint" and not list(folder.glob("run/checkpoints/step-*[0-9]")):
            wanted, occurrence = "saving", 3
        process, announced = start(folder, steps)
        phase = kill_in(process, announced, wanted, occurrence, rng.random() * 0.1)
        announced.close()
        if phase is None:
            assert process.exitcode == 0, "the run failed by itself"
            break
        hit[phase] += 1
    finish(*start(folder, steps))
    return hit


def alike(start, tmp_path: Path, steps: int, kills: int, phases: tuple[str, ...]) -> Counter:
    left_alone, killed = tmp_path / "left alone", tmp_path / "killed"
    for folder in (left_alone, killed):
        folder.mkdir()
    finish(*start(left_alone, steps))
    hit = killed_and_resumed(start, killed, steps, kills, phases, seed=steps)
    ours, theirs = trainee.outcome(killed, steps), trainee.outcome(left_alone, steps)
    assert len(theirs["metrics"]) == steps
    assert theirs["book"], "a book without tests shows nothing"
    for part, value in theirs.items():
        assert ours[part] == value, part
    return hit


@pytest.mark.timeout(900)
def test_a_run_killed_a_few_times_ends_as_one_left_alone(start, tmp_path):
    hit = alike(start, tmp_path, 3, 3, ("learning", "saving", "judging"))
    assert sum(hit.values()) == 3


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_run_killed_fifty_times_ends_as_one_left_alone(start, tmp_path):
    hit = alike(start, tmp_path, 30, 50, PHASES)
    assert sum(hit.values()) == 50
    assert set(PHASES) <= set(hit), hit
