"""From what `--bench` says to benchmarks: names, files, and where the data of a name is looked for."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from code_a1.config import ProblemsConfig
from code_a1.errors import MissingExtra, ProblemError
from code_a1.evaluation.code.bigcodebench import bigcodebench_task, is_bigcodebench_row
from code_a1.evaluation.code.livecodebench import in_window, is_livecodebench_row, livecodebench_task
from code_a1.evaluation.code.plus import bench_of, is_plus_row, plus_task
from code_a1.evaluation.code.tasks import Benchmark, ProblemTests, Task
from code_a1.evaluation.code.ult import ULT, is_ult_row, ult_tasks
from code_a1.problems import PACKAGED, load_problems
from code_a1.problems.fields import Fields, RowError
from code_a1.problems.rows import Source, open_rows
from code_a1.prompts import code_prompt
from code_a1.seeds import derive_seed

FOLDER = Path("benchmarks")
"""Where files of benchmarks are looked for before the hub is asked."""
HUB = {
    "humaneval+": "evalplus/humanevalplus",
    "mbpp+": "evalplus/mbppplus",
    "livecodebench": "livecodebench/code_generation_lite",
    "bigcodebench": "bigcode/bigcodebench",
    "bigcodebench-instruct": "bigcode/bigcodebench",
}
"""Dataset on the Hugging Face hub by benchmark."""


@dataclass(frozen=True, slots=True)
class Window:
    """Days of contests, both included; None leaves an end open. A model may have seen what is older than its data."""

    since: date | None = None
    until: date | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None


ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".json")


def open_benchmarks(
    asked: Sequence[str],
    *,
    folder: Path = FOLDER,
    limit: int = 0,
    seed: int = 0,
    window: Window = Window(),
    untested: bool = False,
) -> list[Benchmark]:
    """The benchmarks that are asked for: names, `NAME=FILE`, or files.

    A name is looked for as `FOLDER/NAME.parquet` (or .jsonl, .jsonl.gz, .json), then on the Hugging Face hub. Files are
    EvalPlus-shaped (each benchmark in it counts for itself), LiveCodeBench's, or problems in any format that training
    reads. `window` picks problems of LiveCodeBench. `limit` draws so many tasks of each benchmark with `seed`, in the
    order of the file; 0 takes all. `untested` takes problems without tests too, UnLeakedTestBench (`ult`) among them:
    testers are measured on those.

    Raises:
        ProblemError: no such file, a bad row (named by file and line), or a name without data: says what to put where.
    """
    found = [bench for item in asked for bench in _open(item, folder, window, untested)]
    names = [bench.name for bench in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ProblemError(f"the benchmark {twice} is asked for twice: results go by its name")
    return [_sampled(bench, limit, seed) for bench in found]


def _sampled(bench: Benchmark, limit: int, seed: int) -> Benchmark:
    if not limit or limit >= len(bench.tasks):
        return bench
    rng = random.Random(derive_seed(seed, bench.name, "tasks"))  # noqa: S311 - a seeded draw, not cryptography
    chosen = sorted(rng.sample(range(len(bench.tasks)), limit))
    return replace(bench, tasks=tuple(bench.tasks[i] for i in chosen))


def _open(item: str, folder: Path, window: Window, untested: bool) -> Iterator[Benchmark]:
    name, equals, file = item.partition("=")
    if name == ULT:
        if not untested:
            raise ProblemError(f"{item}: nothing says which programs are right there: `code-a1 eval tests` takes {ULT}")
        source, path = _source_of(name, file if equals else "", folder)
        yield Benchmark(ULT, ult_tasks(source), path)
    elif name in HUB:
        source, path = _source_of(name, file if equals else "", folder)
        tasks = tuple(task for bench, task in _bench_tasks(source, window, name) if bench == name)
        if not tasks:
            raise ProblemError(f"{path}: holds no task of {name}{' in the window of dates' if window else ''}")
        yield Benchmark(name, tasks, path)
    elif equals and not Path(item).exists():
        known = ", ".join((*HUB, ULT) if untested else HUB)
        raise ProblemError(f"benchmark {name!r} is unknown; known are {known}, or give a FILE alone")
    else:
        yield from _file_benchmarks(item, window, untested)


def _source_of(name: str, file: str, folder: Path) -> tuple[Source, str]:
    stem = name.removesuffix("-instruct")  # the same rows
    places = [file] if file else [str(folder / f"{stem}{ending}") for ending in ENDINGS]
    place = next((p for p in places if Path(p).exists()), None)
    if place is not None:
        return open_rows(place), place
    if file:
        raise ProblemError(f"{file}: no such file, which is to hold the benchmark {name}")
    if name == ULT:
        raise ProblemError(
            f"no data of the benchmark {name}: there is no file {places[0]} (or {', '.join(ENDINGS[1:])}). Put "
            f"the file of UnLeakedTestBench there (a list of rows is named .json), or name it: --bench {name}=FILE"
        )
    try:
        return open_rows(HUB[name], "v0.1.4" if name.startswith("bigcodebench") else "test"), HUB[name]
    except (ProblemError, MissingExtra) as error:
        raise ProblemError(
            f"no data of the benchmark {name}: there is no file {places[0]} (or {', '.join(ENDINGS[1:])}), and "
            f"{HUB[name]} cannot be had from the Hugging Face hub. Without a network, fetch that dataset elsewhere and "
            f"put its file at {places[0]}, or name it: --bench {name}=FILE\n  {error}"
        ) from error


def _bench_tasks(source: Source, window: Window, name: str = "bigcodebench") -> Iterator[tuple[str, Task]]:
    seen: set[tuple[str, str]] = set()
    for row in source.rows:
        try:
            if isinstance(row.fields, RowError):
                raise row.fields
            if is_livecodebench_row(row.fields):
                if not in_window(row.fields, window.since, window.until):
                    continue
                bench, task = "livecodebench", livecodebench_task(row.fields)
            elif is_bigcodebench_row(row.fields):
                bench = name
                task = bigcodebench_task(row.fields, instruct=name == "bigcodebench-instruct")
            elif is_plus_row(row.fields):
                bench, task = bench_of(row.fields), plus_task(row.fields)
            else:
                fields = ", ".join(list(row.fields)[:12])
                raise RowError(f"is no row of {', '.join(HUB)}; its fields are {fields}")
            if (bench, task.task_id) in seen:
                raise RowError(f"id '{task.task_id}' stands twice: remove or rename one")
        except RowError as error:
            raise ProblemError(f"{row.file or source.name}:{row.line}: {error}") from error
        seen.add((bench, task.task_id))
        yield bench, task


def _file_benchmarks(path: str, window: Window, untested: bool) -> Iterator[Benchmark]:
    """The benchmarks of a file, by what its first row looks like."""
    first = _first_row(path) if path not in PACKAGED else {}
    if untested and is_ult_row(first):
        yield Benchmark(ULT, ult_tasks(open_rows(path)), path)
        return
    if any(tells(first) for tells in (is_plus_row, is_livecodebench_row, is_bigcodebench_row)):
        tasks: dict[str, list[Task]] = {}
        for name, task in _bench_tasks(open_rows(path), window):
            tasks.setdefault(name, []).append(task)
        if not tasks:
            raise ProblemError(f"{path}: holds no task in the window of dates")
        yield from (Benchmark(name, tuple(some), path) for name, some in tasks.items())
        return
    loaded = load_problems(ProblemsConfig(path=path))
    without = [p.problem_id for p in loaded.problems if not p.reference_tests]
    if without and not untested:
        raise ProblemError(f"{path}: problem {without[0]} has no tests, so that nothing says which programs are right")
    own = tuple(Task(p.problem_id, code_prompt(p), p.entry_point, ProblemTests(p)) for p in loaded.problems)
    yield Benchmark(Path(path).name.partition(".")[0], own, path)


def _first_row(path: str) -> Fields:
    row = next(iter(open_rows(path).rows))
    return {} if isinstance(row.fields, RowError) else row.fields
