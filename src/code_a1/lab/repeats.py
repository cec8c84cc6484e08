"""A configuration over seeds, and beside each run its control: more supervised training of the same base.

Both arms of a seed are measured on the same held-out problems with the same seeds, so that they can be compared in
pairs. Every arm runs in a process of its own and leaves one JSON file; arms that have theirs are not run again.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from code_a1.config import Config
from code_a1.errors import ConfigError, RunDirError
from code_a1.evaluation.heldout import HeldOut
from code_a1.judge import Judge
from code_a1.lab.pretrain import Recipe, pretrain
from code_a1.report.view import View
from code_a1.sandbox import Sandbox
from code_a1.trainer import train

Arm = Literal["run", "supervised"]
ARMS: tuple[Arm, ...] = ("run", "supervised")

CONTROL_SEED = 1000
"""Added to the seed of a run for its control, so that no control repeats the lessons of the base."""


@dataclass(frozen=True, slots=True)
class Control:
    """How the supervised arm trains."""

    steps: int
    learning_rate: float

    @property
    def problems(self) -> int:
        """As many as its steps meet once each, but not more than the base had."""
        recipe = Recipe()
        return min(recipe.problems_per_step * self.steps, recipe.problems)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an arm came to under one seed."""

    seed: int
    arm: str
    after: Mapping[str, float]
    """Metrics of held-out problems after training, without their prefix `eval/heldout/`."""
    cpu_s: float
    """CPU seconds of the training process, without loading and measuring."""
    seconds: float
    """Seconds of the same."""
    before: Mapping[str, float] = field(default_factory=dict)
    """The same before training; of runs alone, since both arms begin with one base."""


class Stopwatch(View):
    """Sums up the time of steps; what lies between them (measuring, saving) is left out."""

    def __init__(self) -> None:
        self.cpu_s = self.seconds = 0.0
        self._begun: tuple[float, float] | None = None

    def phase(self, name: str, total: int | None) -> None:
        """A step begins with its candidates."""
        if name == "candidates":
            self._begun = time.process_time(), time.monotonic()

    def step(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        """A step has ended."""
        assert self._begun is not None
        self.cpu_s += time.process_time() - self._begun[0]
        self.seconds += time.monotonic() - self._begun[1]


def check(config: Config) -> None:
    """Raise ConfigError unless the configuration can be repeated and measured here."""
    if config.evaluation.problems is None or not config.eval_every or not config.evaluation.at_start:
        raise ConfigError("runs are compared by their held-out problems: set eval_every and evaluation.problems")
    if config.code_policy.model != config.test_policy.model:
        raise ConfigError("the control goes on from one base: code_policy.model and test_policy.model must be the same")


def repeat(
    config: Config, control: Control, folder: Path, seeds: Iterable[int], *, jobs: int, on_done: Callable[[str], None]
) -> list[Outcome]:
    """Run every arm of every seed that has no outcome in `folder` yet, `jobs` at a time; return all outcomes.

    Raises ConfigError as `check` does, and whatever ends an arm; arms that have ended by then keep their outcome.
    """
    check(config)
    tasks = [(arm, seed) for seed in seeds for arm in ARMS]
    # spawned: torch's threads do not outlive a fork
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        open_ = {
            pool.submit(_run_arm, config, control, folder, arm, seed, jobs): (arm, seed)
            for arm, seed in tasks
            if not outcome_path(folder, arm, seed).is_file()
        }
        for done in as_completed(open_):
            done.result()
            arm, seed = open_[done]
            on_done(f"seed {seed}: {arm} done")
    return [read_outcome(outcome_path(folder, arm, seed)) for arm, seed in tasks]


def outcome_path(folder: Path, arm: Arm, seed: int) -> Path:
    """Where an arm leaves what it came to."""
    return folder / f"seed-{seed}" / f"{arm}.json"


def read_outcome(path: Path) -> Outcome:
    """Read an arm's file. Raises RunDirError if it is none."""
    try:
        return Outcome(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise RunDirError(f"{path}: not the outcome of an arm: {error}; remove it to run the arm again") from error


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Write an arm's file, whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    partial.replace(path)


def _run_arm(config: Config, control: Control, folder: Path, arm: Arm, seed: int, jobs: int) -> None:
    """One arm, in a process of its own."""
    import torch  # noqa: PLC0415 - only where it is used

    torch.set_num_threads(max(1, (os.cpu_count() or 1) // jobs))
    place = folder / f"seed-{seed}" / arm
    shutil.rmtree(place, ignore_errors=True)  # left by an arm that was stopped
    place.parent.mkdir(parents=True, exist_ok=True)
    seeded = config.model_copy(update={"seed": seed, "run_dir": place})
    outcome = play(seeded) if arm == "run" else go_on_supervised(seeded, control, place)
    write_outcome(outcome_path(folder, arm, seed), outcome)


def play(config: Config) -> Outcome:
    """Train as the configuration says. Raises RunDirError where the run ended before it was measured."""
    watch = Stopwatch()
    rows = list(train(config, watch).metrics())
    first, last = (_heldout(row) for row in (rows[0], rows[-1]))
    if not last:
        raise RunDirError(f"{config.run_dir}: the run ended before it was measured")
    return Outcome(config.seed, "run", last | _book(rows[-1]), watch.cpu_s, watch.seconds, first | {"book": 0})


def go_on_supervised(config: Config, control: Control, folder: Path) -> Outcome:
    """Go on with the base's own training, into `folder`, and measure what came of it like a run."""
    recipe = Recipe(
        problems=control.problems,
        steps=control.steps,
        learning_rate=control.learning_rate,
        seed=CONTROL_SEED + config.seed,
        base=config.code_policy.model,
    )
    spent = {"step_s": 0.0, "step_cpu_s": 0.0}

    def on_step(_step: int, metrics: Mapping[str, float], _policy: Any) -> None:
        for name in spent:
            spent[name] += metrics[name]

    pretrain(folder, recipe, on_step)
    after = measure_both_roles(config, str(folder))
    return Outcome(config.seed, "supervised", after, spent["step_cpu_s"], spent["step_s"])


def measure_both_roles(config: Config, model: str) -> dict[str, float]:
    """What a run of `config` would measure on its held-out problems if `model` played both roles."""
    from code_a1.engines.local.engine import LocalEngine  # noqa: PLC0415 - torch is loaded only where it is used

    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox.of(config.sandbox))
        bench = HeldOut.open(config, Judge(sandbox), sandbox)
        settings = config.code_policy.model_copy(update={"model": model})
        policy = LocalEngine(settings, seed=config.seed, trainable=False)
        stack.callback(policy.close)
        return bench({"code": policy, "test": policy})


def _heldout(row: Mapping[str, Any]) -> dict[str, float]:
    prefix = "eval/heldout/"
    return {key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)}


def _book(row: Mapping[str, Any]) -> dict[str, float]:
    return {"book": row["book/size"]}
