"""Write the suites of a test policy to a file: validated, deduplicated, and as few tests as find the same mutants.

Problems are done a few at a time and their rows written at once, into a file that gets its name when it is whole. An
export that was broken off goes on where it stopped, if it is asked for the same thing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from code_a1.config import RolloutConfig
from code_a1.engines.base import PolicyEngine
from code_a1.errors import ConfigError, ProblemError, RunDirError
from code_a1.judge import Judge
from code_a1.mutation import minimise
from code_a1.records import Problem
from code_a1.report.view import View
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed
from code_a1.suite_file import ProblemSuite, read_suite_rows
from code_a1.suites.pool import TestPool, sample_pools

PROBLEMS_AT_A_TIME = 16
"""Enough prompts to sample together, few enough to lose."""


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What is asked for."""

    sizes: RolloutConfig
    """`candidates_per_problem` programs are shown, the reference and mutants, with `suites_per_candidate` each."""
    mutants: int
    """Mutants of a reference that decide which tests are kept."""
    extra: int
    """Tests to keep beside those that the mutants need."""
    seed: int


@dataclass(frozen=True, slots=True)
class Exported:
    """The closing counts. `sampled` and `usable` are of this call alone, the others of the whole file."""

    problems: int = 0
    without_tests: int = 0
    tests: int = 0
    killed: int = 0
    mutants: int = 0
    """Mutants that were killed or survived."""
    sampled: int = 0
    usable: int = 0
    """Distinct tests that hold on the reference, before minimising."""


def export_suites(
    policy: PolicyEngine,
    sandbox: Sandbox,
    problems: Sequence[Problem],
    output: Path,
    settings: ExportSettings,
    *,
    source: Mapping[str, str],
    view: View | None = None,
) -> Exported:
    """Sample, judge and write a row for every problem, in their order; a problem without a usable test has none in it.

    `source` says where policy and problems come from; with the settings it is written beside the output, as
    `STEM.settings.json`, and an export is only gone on with where all of it is the same.

    Raises:
        RunDirError: the output exists already, or cannot be written.
        ConfigError: an export under this name was begun with other settings (names those that differ), or the name does
            not end in .jsonl.
    """
    if output.suffix != ".jsonl":
        raise ConfigError(f"{output}: a suite file is named .jsonl")
    if output.exists():
        raise RunDirError(f"{output} exists already and is never overwritten: choose another name, or move it away")
    view = view or View()
    partial = output.with_name(output.stem + ".partial.jsonl")
    batches = [problems[i : i + PROBLEMS_AT_A_TIME] for i in range(0, len(problems), PROBLEMS_AT_A_TIME)]
    try:
        _claim(output.with_name(output.stem + ".settings.json"), partial, settings, source)
        rows = list(_finished(partial, batches))
        done = len({row.problem_id for row in rows})
        if done:
            view.message(f"{done} of {len(problems)} problems were done before; going on with the others.")
        judge = Judge(sandbox)
        sampled = usable = 0
        with partial.open("w", encoding="utf-8") as lines:
            lines.writelines(row.to_line() for row in rows)
            lines.flush()
            for number, batch in enumerate(batches):
                if number * PROBLEMS_AT_A_TIME < done:
                    continue
                view.message(f"problems {number * PROBLEMS_AT_A_TIME + 1}-{number * PROBLEMS_AT_A_TIME + len(batch)}")
                seed = derive_seed(settings.seed, "suites", number)
                pools = sample_pools(
                    policy, judge, sandbox, batch, settings.sizes, mutants=settings.mutants, seed=seed, view=view
                )
                rows += (found := [smallest_suite(pool, settings.extra) for pool in pools])
                lines.writelines(row.to_line() for row in found)
                lines.flush()
                sampled += sum(len(pool.sampled) for pool in pools)
                usable += sum(len(pool.sources) for pool in pools)
        partial.replace(output)
    except OSError as error:
        if isinstance(error, RunDirError):
            raise
        raise RunDirError(f"cannot write {output}: {error}") from error
    return Exported(
        problems=len(rows),
        without_tests=sum(not row.tests for row in rows),
        tests=sum(len(row.tests) for row in rows),
        killed=sum(row.killed or 0 for row in rows),
        mutants=sum(row.mutants or 0 for row in rows),
        sampled=sampled,
        usable=usable,
    )


def smallest_suite(pool: TestPool, extra: int) -> ProblemSuite:
    """The tests of a pool that are needed to kill what all of them kill, and `extra` others."""
    kills = [pool.matrix.killed_by(t) for t in range(len(pool.sources))]
    kept = minimise(kills, extra=extra)
    score = pool.matrix.score(kept)
    return ProblemSuite(
        pool.problem.problem_id,
        tuple(pool.sources[t] for t in kept),
        killed=score.killed,
        mutants=score.killed + score.survived,
    )


def _claim(path: Path, partial: Path, settings: ExportSettings, source: Mapping[str, str]) -> None:
    """Write down what is asked for, or make sure that what was begun is the same."""
    asked = json.loads(json.dumps({**source, **asdict(settings), "sizes": settings.sizes.model_dump(mode="json")}))
    if not partial.exists():
        path.write_text(json.dumps(asked, indent=1) + "\n", encoding="utf-8")
        return
    try:
        begun = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{partial} is there but not what it was asked for ({error}): remove it") from error
    differing = sorted(key for key in asked.keys() | begun.keys() if asked.get(key) != begun.get(key))
    if differing:
        raise ConfigError(
            f"{partial} was begun with another {', '.join(differing)} ({path} says which): ask for the same, "
            "choose another output, or remove both"
        )


def _finished(partial: Path, batches: Sequence[Sequence[Problem]]) -> Iterator[ProblemSuite]:
    """Rows of the batches that are whole; what a killed process left of another one is sampled again."""
    rows: dict[str, ProblemSuite] = {}
    if partial.exists():
        with contextlib.suppress(ProblemError):  # nothing was written yet, or the last line is torn
            for row in read_suite_rows(partial):
                rows[row.problem_id] = row
    for batch in batches:
        if not all(problem.problem_id in rows for problem in batch):
            return
        yield from (rows[problem.problem_id] for problem in batch)
