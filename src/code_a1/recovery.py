"""How a run ends early without losing anything, and goes on: checkpoints, outages of the sandbox, resuming."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from code_a1.checkpoint import read_score, remove_checkpoint, save_checkpoint
from code_a1.errors import CodeA1Error, SandboxError, TrainingError, WatchdogStop
from code_a1.interrupt import Interrupted
from code_a1.records import Judgement
from code_a1.resume import Resumed
from code_a1.run import Run
from code_a1.watchdogs import alarms


def restore(run: Run, resumed: Resumed) -> None:
    """Put everything where it was after the checkpoint's step, and take back what was logged since."""
    for path, why in zip(resumed.damaged, resumed.damage, strict=True):
        path.rename(path.with_name(path.name + ".damaged"))
        run.view.message(f"A later checkpoint cannot be used: {why}")
        run.run_dir.log_event("checkpoint-damaged", path=path.name, reason=why)
    run.run_dir.forget_after(resumed.step if resumed.state else -1)
    run.run_dir.write_config(run.config)
    if resumed.state is not None:
        path = run.run_dir.checkpoint_path(resumed.step)
        run.view.phase("loading the checkpoint", None)
        for role in run.mode.learns:
            run.policies[role].load(path / role)
        run.book.load_state_dict(resumed.state["mistake_book"])
        run.sampler.load_state_dict(resumed.state["sampler"])
        run.pending = resumed.state["pending"]
        run.step = resumed.step
        run.history.extend(row for row in run.run_dir.metrics() if row["step"] > 0)
        prune(run)
    run.run_dir.log_event("resumed", step=run.step, changed=dict(resumed.changed))
    run.view.message(f"Going on with {run.run_dir.path} after step {run.step}.")


def save(run: Run) -> None:
    """Write a checkpoint of the state after the last whole step, unless there is none yet or it is written already."""
    path = run.run_dir.checkpoint_path(run.step)
    if run.step == 0 or path.exists():
        return
    run.view.phase("saving", None)
    run.run_dir.sync()
    save_checkpoint(
        path,
        step=run.step,
        policies={role: run.policies[role] for role in run.mode.learns},
        book=run.book,
        sampler=run.position,
        pending=run.pending,
        score=_score(run),
        config=run.config.to_toml_dict(),
    )
    run.run_dir.log_event("checkpoint", step=run.step)
    prune(run)


def _score(run: Run) -> float | None:
    """What the checkpoint is ranked by; None where it was not measured in this step, or is not yet."""
    row = run.history[-1] if run.history and run.pending is None else {}
    value = row.get(run.config.checkpoints.keep_best)
    return None if value is None or math.isnan(value) else value


def prune(run: Run) -> None:
    """Delete the checkpoints that nobody wants any more, and tell the book which it must be able to go back to."""
    found = run.run_dir.checkpoints()
    settings = run.config.checkpoints
    scores = {step: score for step, path in found.items() if (score := read_score(path)) is not None}
    kept = wanted(list(found), scores if settings.keep_best else {}, settings.keep_last, run.config.save_every)
    for step, path in found.items():
        if step not in kept:
            remove_checkpoint(path)
    if kept:
        run.book.keep_for(min(kept), max(kept))


def wanted(steps: Sequence[int], scores: Mapping[int, float], keep_last: int, save_every: int) -> set[int]:
    """Which checkpoints stay: the latest `keep_last` (0: all), the one of highest score, and the latest in any case.

    What an interrupt left in between two regular ones counts for nothing once there is a later one.
    """
    if not keep_last or not steps:
        return set(steps)
    regular = [step for step in steps if save_every and step % save_every == 0]
    best = {max(scores, key=lambda step: (scores[step], step))} if scores else set()
    return {*regular[-keep_last:], steps[-1], *best}


@contextmanager
def everything_saved(run: Run) -> Iterator[None]:
    """Whatever ends the block, the state after the last whole step is on the disk, and people are told how to go on.

    A step that had begun to learn is lost: what it leaves belongs to no step. An interrupt ends the block quietly.
    """
    try:
        yield
    except Interrupted:
        save(run)
        name = run.interrupt.requested.name if run.interrupt.requested else ""
        run.run_dir.log_event("interrupted", step=run.step, signal=name)
        run.view.message(f"Interrupted after {run.step} of {run.config.steps} steps; everything done is saved.")
        run.view.message(_how_to_go_on(run))
    except Exception as error:
        try:
            if not run.learning:
                save(run)
            kind = "stopped" if isinstance(error, WatchdogStop) else "failed"
            run.run_dir.log_event(kind, step=run.step, error=type(error).__name__, reason=str(error))
        except CodeA1Error as another:  # the disk may be what failed first
            run.view.message(f"Nothing more could be saved: {another}")
        run.view.message(_how_to_go_on(run))
        if isinstance(error, MemoryError):
            raise TrainingError(
                f"step {run.step + 1}: this machine is out of memory ({error}); make the step smaller "
                "(rollout.problems_per_step begins another run) or the machine larger"
            ) from error
        raise


def judged_soundly(
    run: Run, judgements: list[Judgement], ran: int, failed: int, again: Callable[[], list[Judgement]]
) -> list[Judgement]:
    """The judgements, judged `again` after a pause for as long as the sandbox fails: never zero rewards for that.

    `ran` and `failed` count the programs of the first attempt. Raises SandboxError once the pauses are used up.
    """
    limit = run.config.sandbox.max_sandbox_error_share
    for pause_s in (*run.config.sandbox.outage_pauses_s, None):
        if not ran or failed / ran <= limit:
            return judgements
        trouble = f"{failed} of {ran} programs failed through no fault of their own"
        run.run_dir.log_event("sandbox-outage", step=run.step, failed=failed, programs=ran, pause_s=pause_s)
        if pause_s is None:
            raise SandboxError(
                f"step {run.step + 1}: {trouble} (limit sandbox.max_sandbox_error_share = {limit}); the step was not "
                "learned from. `code-a1 doctor` says what the sandbox lacks"
            )
        run.view.message(f"{trouble}: judging again in {pause_s:g} s.")
        run.interrupt.sleep(pause_s)
        ran, failed = run.judge.programs_run, run.judge.sandbox_errors
        judgements = again()
        ran, failed = run.judge.programs_run - ran, run.judge.sandbox_errors - failed
    return judgements


def watch(run: Run) -> None:
    """Warn of what the watchdogs see. Raises WatchdogStop for one that the configuration lets end the run."""
    settings = run.config.watchdogs
    first = next((row for row in run.run_dir.metrics() if row["step"] > 0), {}) if settings.enabled else {}
    stopping = []
    for alarm in alarms(list(run.history), first, settings):
        run.view.message(f"warning ({alarm.name}): {alarm.text}")
        run.run_dir.log_event("warning", step=run.step, watchdog=alarm.name, text=alarm.text)
        if alarm.name in settings.stop:
            stopping.append(f"{alarm.name}: {alarm.text}")
    if stopping:
        raise WatchdogStop(f"stopped after step {run.step} by watchdogs.stop: {'; '.join(stopping)}")


def _how_to_go_on(run: Run) -> str:
    steps = list(run.run_dir.checkpoints())
    where = f"after step {steps[-1]}" if steps else "from the start (no checkpoint was written yet)"
    return f"Go on {where}: code-a1 train {run.run_dir.path} --resume"
