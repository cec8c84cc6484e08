"""What one GPU does with the local engine: agreement with the CPU, speed, memory, a run of five steps; a short table.

`scripts/gpu_check.sh` starts it. Everything is made on the spot (random weights, bundled problems), so that nothing has
to be downloaded. With `--dry` the same code runs on a CPU in small sizes, which shows that it works and nothing else.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from code_a1.bench.engine_workload import Workload, prompt_ids, row_lengths, sampling_params, training_rows
from code_a1.bench.random_model import random_model
from code_a1.config import PolicyConfig
from code_a1.engines.base import SamplingParams, TrainingRow
from code_a1.engines.local.engine import LocalEngine, peak_rss_gb
from code_a1.engines.local.pair import open_local
from code_a1.engines.local.sampler import Sampler
from code_a1.engines.update import update
from code_a1.records import Sample
from code_a1.run_dir import RunDir

Row = tuple[str, float, str, bool | None]
"""What was measured, its value, the unit or limit, and whether it holds (None where nothing is asked of it)."""

SMALL = "random-qwen2-5m"
LARGE = "random-qwen2-1.5b"
FULL_PAIR_GB = 70.0  # two policies of 1.5B that train all weights: bfloat16, float32 masters, moments, gradients, twice


def parity(device: str) -> Iterator[Row]:
    """The same rows on the CPU and on `device`, both in float32."""
    workload = Workload(SMALL, train_rows=6, train_prompt_tokens=60, train_completion_tokens=(5, 40))
    engines = [LocalEngine(_policy(str(random_model(SMALL)), d, "float32"), seed=0) for d in ("cpu", device)]
    rows = training_rows(workload, engines[0].backbone.model.config.vocab_size)
    scored = [engine.logprobs([row.sample for row in rows]) for engine in engines]
    distance = max(abs(a - b) for x, y in zip(*scored, strict=True) for a, b in zip(x, y, strict=True))
    yield "log-probs, GPU against CPU", distance, "< 1e-3", distance < 1e-3
    near = [TrainingRow(r.sample, old, ref) for r, old, ref in zip(rows, scored[0], scored[0], strict=True)]
    losses = [engine.forward_backward(near)["loss"] for engine in engines]
    norms = [engine.optim_step(0.0)["grad_norm"] for engine in engines]
    yield "loss, GPU against CPU", abs(losses[0] - losses[1]), "< 1e-4", abs(losses[0] - losses[1]) < 1e-4
    gap = abs(norms[0] / norms[1] - 1)
    yield "gradient norm, relative", gap, "< 1e-3", gap < 1e-3
    prompts = prompt_ids(workload, 256)[:4]
    drawn = [
        [c.tokens for g in sorted(_groups(e, prompts), key=lambda g: g.index) for c in g.completions] for e in engines
    ]
    share = statistics.mean(a == b for a, b in zip(*drawn, strict=True))
    yield "completions with the same tokens", share, "> 0.8", share > 0.8


def pair(name: str, model: str, device: str, workload: Workload) -> Iterator[Row]:
    """Both policies of a pair: sampling, scoring, an update; bfloat16 where the device has it."""
    lora = {"rank": 16, "alpha": 32} if find_spec("peft") is not None else None
    if lora is None and device != "cpu" and _gpu_gb() < FULL_PAIR_GB and model != str(random_model(SMALL)):
        yield f"{name}: skipped, without peft it needs GB", FULL_PAIR_GB, f"of {_gpu_gb():.0f}", None
        return
    policy = _policy(model, device, "bfloat16", lora=lora, sampling_slots=workload.slots)
    engines = open_local({"code": policy, "test": policy}, seed=0)
    for role, engine in engines.items():
        backbone = engine.backbone
        backbone.chat.eos_ids = frozenset()
        prompts = prompt_ids(workload, backbone.model.config.vocab_size)
        samples: list[Sample] = []
        for group in _groups(engine, prompts[:1], n=2):  # the first call of a GPU compiles and allocates
            samples += [Sample("warm", c, 1.0) for c in group.completions]
        seconds, groups = _timed(functools.partial(_all_groups, engine, prompts, workload), device)
        tokens = sum(len(c.tokens) for g in groups for c in g.completions)
        yield f"{name} {role}: sampled tokens per second", tokens / seconds, "", None
        samples = [Sample(str(g.index), c, (-1.0) ** i) for g in groups for i, c in enumerate(g.completions)]
        seconds, metrics = _timed(functools.partial(_update, engine, samples), device)
        yield f"{name} {role}: trained tokens per second, scoring included", metrics["tokens"] / seconds, "", None
        yield (
            f"{name} {role}: sampler's log-probs off by, nats per token",
            metrics["sampler_logprob_gap"],
            "< 0.1",
            (metrics["sampler_logprob_gap"] < 0.1),
        )
    yield f"{name}: peak memory in GB", _peak_gb(device), "", None
    for engine in engines.values():
        engine.close()


def five_steps(model: str, device: str) -> Iterator[Row]:
    """A run on bundled problems as a user starts it, both policies learning."""
    keys = {
        "steps": 5,
        "problems.limit": 8,
        "rollout.problems_per_step": 2,
        "rollout.candidates_per_problem": 4,
        "rollout.suites_per_candidate": 4,
        "rollout.tests_per_suite": 4,
        "rollout.max_code_tokens": 64,
        "rollout.max_test_tokens": 64,
        "rollout.begin_answers": "true",
        "sandbox.allow_tier": "rlimits-only",
        "policy.model": model,
        "policy.device": device,
    }
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        (Path(folder) / "config.toml").write_text('mode = "co-evolve"\n', encoding="utf-8")
        settings = [part for key, value in {**keys, "run_dir": run}.items() for part in ("--set", f"{key}={value}")]
        command = [sys.executable, "-c", "from code_a1.cli import main; main()", "train", f"{folder}/config.toml"]
        start = time.perf_counter()
        done = subprocess.run([*command, *settings], capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        seconds = time.perf_counter() - start
        if done.returncode:
            sys.stderr.write(done.stderr[-2000:])
        rows = list(RunDir(run).metrics())
    yield "run: steps completed", len(rows), "= 5", len(rows) == 5
    yield "run: seconds, start and models included", seconds, "", None


def main(arguments: list[str] | None = None) -> int:
    """Run all checks; 0 where all hold, 1 where one does not, 3 without a GPU."""
    parser = argparse.ArgumentParser(prog="gpu_check", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="small sizes, on the CPU where there is no GPU")
    parser.add_argument("--model", default=None, help="folder of a small real model, measured too")
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available() and not options.dry:
        sys.stderr.write("no CUDA GPU here; --dry runs small sizes on the CPU\n")
        return 3
    device = "cuda" if torch.cuda.is_available() else "cpu"
    small = Workload(SMALL, prompts=2, rows=2, prompt_tokens=20, max_tokens=8, slots=4)
    large = Workload(LARGE, prompts=16, rows=8, prompt_tokens=400, max_tokens=128, slots=128)
    name = SMALL if options.dry else LARGE
    plans: list[tuple[str, Callable[[], Iterator[Row]]]] = [
        ("parity", lambda: parity(device)),
        ("pair", lambda: pair(name, str(random_model(name)), device, small if options.dry else large)),
        ("run", lambda: five_steps(options.model or str(random_model(SMALL)), device)),
    ]
    if options.model:
        plans.insert(2, ("model", lambda: pair("real model", options.model, device, small if options.dry else large)))
    rows: list[Row] = []
    for label, plan in plans:
        start = time.perf_counter()
        rows += _printed(plan())
        _print(f"  ({label}: {time.perf_counter() - start:.0f} s)")
        gc.collect()
        if device == "cuda":
            torch.cuda.empty_cache()
    if options.json:
        _print(json.dumps({name: value for name, value, _, _ in rows}))
    return int(any(holds is False for *_, holds in rows))


def _printed(rows: Iterator[Row]) -> list[Row]:
    kept = []
    for name, value, limit, holds in rows:
        verdict = "" if holds is None else "ok" if holds else "FAILS"
        _print(f"{name:<58} {value:>12.4g}  {limit:<8} {verdict}")
        kept.append((name, value, limit, holds))
    return kept


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _policy(model: str, device: str, dtype: str, **keys: Any) -> PolicyConfig:
    return PolicyConfig.model_validate(
        {"model": model, "device": device, "dtype": dtype, "tokens_per_microbatch": 16384, **keys}
    )


def _groups(engine: LocalEngine, prompts: Any, *, n: int = 4, workload: Workload | None = None) -> Iterator[Any]:
    """Groups straight from the sampler, for prompts that are token ids; a workload forces its rows and lengths."""
    n = workload.rows if workload else n
    params = sampling_params(workload) if workload else SamplingParams(max_tokens=16, seed=3)
    sampler = Sampler(engine.backbone, engine._adapter, prompts, n, params, slots=engine.policy.sampling_slots)
    if workload:
        lengths = row_lengths(workload)
        sampler.limit = lambda prompt, sample: lengths[prompt][sample]  # type: ignore[method-assign]
    return sampler.run()


def _all_groups(engine: LocalEngine, prompts: Any, workload: Workload) -> list[Any]:
    return list(_groups(engine, prompts, workload=workload))


def _update(engine: LocalEngine, samples: list[Sample]) -> dict[str, float]:
    return update(engine, samples, engine.policy.optimizer, engine.policy.loss, step=0, steps=5, seed=0)


def _timed(work: Callable[[], Any], device: str) -> tuple[float, Any]:
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    result = work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start, result


def _gpu_gb() -> float:
    return float(torch.cuda.get_device_properties(0).total_memory) / 1e9 if torch.cuda.is_available() else 0.0


def _peak_gb(device: str) -> float:
    return float(torch.cuda.max_memory_allocated()) / 1e9 if device == "cuda" else peak_rss_gb()


if __name__ == "__main__":
    sys.exit(main())
