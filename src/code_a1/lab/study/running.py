"""Runs of the study: every arm under every seed, each in a process of its own, resumable at any moment.

FOLDER/study.toml                the study's configuration; another one is refused
FOLDER/typical.jsonl             the training problems with their weak tests
FOLDER/ARM/seed-S.json           what came of an arm, written when everything else is there
FOLDER/ARM/seed-S/               its run folder, or its model where it is supervised
FOLDER/ARM/seed-S-pairs/         choices by pairs, where an arm measures them
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from code_a1.config import Config, merge
from code_a1.config_file import make_config
from code_a1.errors import ConfigError, RunDirError
from code_a1.lab.problems import TYPICAL as TYPICAL_TESTS
from code_a1.lab.repeats import Control, Outcome, check, go_on_supervised, play, read_outcome, write_outcome
from code_a1.lab.study.arms import BY_NAME, EXPORTED, Arm
from code_a1.lab.study.claims import BASE
from code_a1.lab.study.measuring import measure_old_failures, measure_pairs, measure_roles
from code_a1.modes import mode_of
from code_a1.problems import load_problems, write_problems
from code_a1.run_dir import RunDir
from code_a1.sandbox import Sandbox
from code_a1.suites.export import ExportSettings, export_suites
from code_a1.suites.tester import open_tester

EXPORT = {"programs": 3, "suites": 2, "mutants": 10, "extra": 1}
"""How the suites of `exported-suites` are sampled and minimised: see docs/suites.md."""


@dataclass(frozen=True, slots=True)
class Task:
    """One arm under one seed; the base itself is an arm that does nothing."""

    arm: str
    seed: int

    @property
    def needs(self) -> str:
        """The arm of the same seed that has to be there first."""
        return BY_NAME[self.arm].needs if self.arm in BY_NAME else ""

    def __str__(self) -> str:
        return f"{self.arm}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Study:
    """A configuration, the control beside it, and the folder that everything goes into."""

    config: Config
    control: Control
    folder: Path

    def place(self, task: Task) -> Path:
        """The run folder of a task."""
        return self.folder / task.arm / f"seed-{task.seed}"

    def outcome_path(self, task: Task) -> Path:
        """What a task leaves when it is done."""
        return self.folder / task.arm / f"seed-{task.seed}.json"

    def outcome(self, task: Task) -> Outcome | None:
        """What came of a task, None where it is not done. Raises RunDirError for a file that is no outcome."""
        path = self.outcome_path(task)
        return read_outcome(path) if path.is_file() else None

    def config_of(self, task: Task, changes: Mapping[str, Any]) -> Config:
        """The study's configuration with changes, under a task's seed and in its place."""
        raw: Any = self.config.to_toml_dict()
        for key, value in changes.items():
            nested = value
            if isinstance(value, str):
                nested = value.format(study=self.folder, needed=self.place(Task(task.needs, task.seed)))
            for part in reversed(key.split(".")):
                nested = {part: nested}
            raw = merge(raw, nested)
        raw = merge(raw, {"seed": task.seed, "run_dir": str(self.place(task))})
        return make_config(raw, source=str(task))

    def begin(self) -> None:
        """Make the folder, or go on in it. Raises ConfigError where it belongs to another study."""
        check(self.config)
        settings = {
            "config": self.config.to_toml_dict(),
            "control": {"steps": self.control.steps, "lr": self.control.learning_rate},
        }
        path = self.folder / "study.toml"
        if path.is_file():
            if tomllib.loads(path.read_text(encoding="utf-8")) != settings:
                raise ConfigError(
                    f"{self.folder} holds a study under another configuration ({path}): choose another folder"
                )
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        found = load_problems(self.config.problems).problems
        write_problems(
            self.folder / "typical.jsonl",
            [replace(p, reference_tests=p.reference_tests[:TYPICAL_TESTS]) for p in found],
        )
        path.write_text(tomli_w.dumps(settings), encoding="utf-8")


def tasks_of(arms: Iterable[Arm], seeds: int = 0) -> list[Task]:
    """Every arm with its seeds (or the first `seeds` of them), what others need included, the base first."""
    counts: dict[str, int] = {}
    for arm in arms:
        count = min(seeds, arm.seeds) if seeds else arm.seeds
        for name in (BASE, arm.needs, arm.name):
            if name:
                counts[name] = max(counts.get(name, 0), count)
    # seed by seed, so that a study that is stopped early has whole pairs
    return [
        Task(name, seed) for seed in range(max(counts.values(), default=0)) for name in counts if seed < counts[name]
    ]


def run_study(
    study: Study,
    tasks: Sequence[Task],
    *,
    jobs: int,
    on_done: Callable[[str], None],
    run: Callable[[Study, Task, int], None] | None = None,
) -> None:
    """Run every task that has no outcome yet, `jobs` at a time. What is stopped in between is begun anew next time.

    `run` does one task in a process of its own, and leaves its outcome; by default `run_task`.

    Raises ConfigError for a folder of another study, and whatever ends a task; tasks that have ended keep their
    outcome.
    """
    study.begin()
    left = [task for task in tasks if not study.outcome_path(task).is_file()]
    waiting, done = list(left), {task for task in tasks if task not in left}
    context = multiprocessing.get_context("spawn")  # torch's threads do not outlive a fork
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        open_: dict[Future[None], Task] = {}
        while waiting or open_:
            ready = [t for t in waiting if not t.needs or Task(t.needs, t.seed) in done]
            for task in ready[: jobs - len(open_)]:
                waiting.remove(task)
                open_[pool.submit(run or run_task, study, task, jobs)] = task
            for future in wait(open_, return_when=FIRST_COMPLETED).done:
                task = open_.pop(future)
                future.result()
                done.add(task)
                on_done(f"{len(done)} of {len(tasks)}: {task}")


def run_task(study: Study, task: Task, jobs: int = 1) -> None:
    """One task, in a process of its own: train, measure, and write the outcome."""
    import torch  # noqa: PLC0415 - only where it is used

    torch.set_num_threads(max(1, (os.cpu_count() or 1) // jobs))
    place = study.place(task)
    pairs = place.with_name(place.name + "-pairs")
    for left_over in (place, pairs):
        shutil.rmtree(left_over, ignore_errors=True)  # of a task that was stopped
    place.parent.mkdir(parents=True, exist_ok=True)
    config = study.config_of(task, {})
    if task.arm == BASE:
        model = config.code_policy.model
        outcome = Outcome(task.seed, BASE, measure_roles(config, {"code": model, "test": model}), 0.0, 0.0)
    else:
        outcome = _run_arm(study, task, BY_NAME[task.arm], pairs)
    write_outcome(study.outcome_path(task), outcome)


def digest(study: Study, task: Task) -> str:
    """Twelve hex digits that name what a task's numbers come from: its run folder's configuration and metrics."""
    found = hashlib.sha256()
    for name in ("config.toml", "metrics.jsonl", "model.safetensors"):
        path = study.place(task) / name
        if path.is_file():
            found.update(path.read_bytes())
    found.update(study.outcome_path(task).read_bytes())
    return found.hexdigest()[:12]


def _run_arm(study: Study, task: Task, arm: Arm, pairs: Path) -> Outcome:
    place = study.place(task)
    measured = study.config_of(task, arm.measured_with)
    if arm.kind == "supervised":
        return go_on_supervised(measured, study.control, place)
    config = study.config_of(task, arm.changes)
    if EXPORTED in arm.changes.values():
        _export(config, study.place(Task(arm.needs, task.seed)))
    outcome = play(config)
    models = trained_models(config)
    after = measure_roles(measured, models)
    if "pairs" in arm.measures:
        after |= measure_pairs(measured, models, pairs)
    if "old failures" in arm.measures:
        after |= measure_old_failures(config, RunDir.open(place), models["code"])
    return replace(outcome, arm=arm.name, after=after)


def trained_models(config: Config) -> dict[str, Path | str]:
    """By role, what a finished run left for it: its last checkpoint, or the base where the role did not learn."""
    mode = mode_of(config)
    checkpoint = RunDir.open(config.run_dir).checkpoint_path(config.steps)
    models: dict[str, Path | str] = {}
    for role in ("code", "test"):
        learner = next((policy for policy, kinds in mode.learns.items() if role in kinds), None)
        if learner is not None:
            models[role] = checkpoint / learner
        elif role in mode.policies:
            models[role] = (config.code_policy if role == "code" else config.test_policy).model
    if not checkpoint.is_dir():
        raise RunDirError(f"{config.run_dir} has no checkpoint of step {config.steps}")
    return models


def _export(config: Config, needed: Path) -> None:
    """Suites for the training problems by the tester that the needed run left; gone on with where it was stopped."""
    output = Path(EXPORTED.format(needed=needed))
    if output.is_file():
        return
    with ExitStack() as stack:
        settings, policy = open_tester(str(needed))
        stack.callback(policy.close)
        sandbox = stack.enter_context(Sandbox.of(config.sandbox))
        sizes = settings.rollout.model_copy(
            update={"candidates_per_problem": EXPORT["programs"], "suites_per_candidate": EXPORT["suites"]}
        )
        export_suites(
            policy,
            sandbox,
            load_problems(settings.problems).problems,
            output,
            ExportSettings(sizes, EXPORT["mutants"], EXPORT["extra"], settings.seed),
            source={"test": "the needed run's tester", "problems": settings.problems.path},
        )
