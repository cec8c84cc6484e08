"""How fast the local engine samples and trains, beside the plain ways to do the same work.

Sampling: prompts of random tokens, several rows each, every row with a forced length, the same for both ways:
continuous batching against `generate` on batches of as many rows as there are slots. Training: one group of completions
of one prompt, forward and backward: shared prompt against padded rows, with the same chunked output layer, so that
sharing is all that differs; and against TRL's GRPOTrainer where TRL is installed. Each way has a process of its own
(peak memory is its own too), and their repeats are interleaved after a cold one, so that a busy machine slows all of
them alike.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

from code_a1.bench.engine_workload import Workload

MODES = ("sample", "hf_generate", "train", "padded_train", "trl_train")
PAIRS = (("sample", "hf_generate"), ("train", "padded_train"), ("train", "trl_train"))


def usable_modes() -> tuple[str, ...]:
    """The modes that can run here: `trl_train` needs TRL beside this package."""
    return tuple(mode for mode in MODES if mode != "trl_train" or find_spec("trl") is not None)


def run(workload: Workload, *, repeats: int = 5, modes: tuple[str, ...] = ()) -> dict[str, Any]:
    """Measure every mode (default: those usable here) `repeats` times, interleaved, after a cold one that is dropped.

    Returns:
        `<mode>_tok_s` (median of completion tokens per second), `<mode>_spread` (lowest and highest), the ratio of each
        pair as `sample_over_hf_generate`, `train_over_padded_train` and `train_over_trl_train`, `peak_rss_gb` of the
        engine's own modes and `<mode>_peak_rss_gb` of each.

    Raises:
        ModelError, MissingExtra: as the local engine does.
        RuntimeError: the process of a mode ended.
    """
    modes = modes or usable_modes()
    context = multiprocessing.get_context("spawn")
    speeds: dict[str, list[float]] = {mode: [] for mode in modes}
    peaks: dict[str, float] = {}
    with _workers(context, workload, modes) as pipes:
        for repeat in range(repeats + 1):
            for mode, pipe in pipes.items():
                speed, peaks[mode] = _ask(pipe, mode)
                if repeat:
                    speeds[mode].append(speed)
    return _report(speeds, peaks)


def _report(speeds: dict[str, list[float]], peaks: dict[str, float]) -> dict[str, Any]:
    medians = {mode: statistics.median(values) for mode, values in speeds.items()}
    report: dict[str, Any] = {f"{mode}_tok_s": round(value, 1) for mode, value in medians.items()}
    for mode, values in speeds.items():
        report[f"{mode}_spread"] = [round(min(values), 1), round(max(values), 1)]
        report[f"{mode}_peak_rss_gb"] = round(peaks[mode], 2)
    for ours, plain in PAIRS:
        if ours in medians and plain in medians:
            report[f"{ours}_over_{plain}"] = round(medians[ours] / medians[plain], 2)
    report["peak_rss_gb"] = max(
        report[f"{m}_peak_rss_gb"] for m in speeds if m in ("sample", "train") or len(speeds) == 1
    )
    return report


@contextmanager
def _workers(context: Any, workload: Workload, modes: tuple[str, ...]) -> Iterator[dict[str, Connection]]:
    """A process per mode, each with its model loaded when asked for the first time."""
    pipes, processes = {}, []
    try:
        for mode in modes:
            pipes[mode], theirs = context.Pipe()
            processes.append(context.Process(target=_serve, args=(theirs, mode, workload), daemon=True))
            processes[-1].start()
            theirs.close()
        yield pipes
    finally:
        for pipe in pipes.values():
            pipe.close()
        for process in processes:
            process.join(10)
            if process.is_alive():
                process.kill()


def _ask(pipe: Connection, mode: str) -> tuple[float, float]:
    try:
        pipe.send(None)
        answer = pipe.recv()
    except (EOFError, OSError) as error:
        raise RuntimeError(f"the process that measures {mode!r} ended; it may have run out of memory") from error
    if isinstance(answer, Exception):
        raise answer
    speed, peak = answer
    return speed, peak


def _serve(pipe: Connection, mode: str, workload: Workload) -> None:
    """Answer every message with (completion tokens per second, peak memory in GB)."""
    from code_a1.engines.local.engine import peak_rss_gb  # noqa: PLC0415 - torch is loaded in this process only

    work: Callable[[], int] | None = None
    while True:
        try:
            pipe.recv()
        except (EOFError, OSError):
            return
        try:
            work = work or _prepare(mode, workload)
            start = time.perf_counter()
            tokens = work()
            pipe.send((tokens / (time.perf_counter() - start), peak_rss_gb()))
        except Exception as error:  # raised again in the process that asked
            pipe.send(error)


def _prepare(mode: str, workload: Workload) -> Callable[[], int]:
    import torch  # noqa: PLC0415

    from code_a1.bench import engine_trl, engine_work  # noqa: PLC0415
    from code_a1.bench.random_model import random_model  # noqa: PLC0415

    if workload.model.startswith("random-"):
        workload = replace(workload, model=str(random_model(workload.model)))
    if workload.threads:
        torch.set_num_threads(workload.threads)
    owner = engine_trl if mode == "trl_train" else engine_work
    prepare: Callable[[Workload], Callable[[], int]] = getattr(owner, f"prepare_{mode}")
    return prepare(workload)
