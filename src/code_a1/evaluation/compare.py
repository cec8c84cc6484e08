"""Several evaluations and training runs in one table, each beside the first: differences with paired intervals."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from code_a1.errors import RunDirError
from code_a1.evaluation.code.folder import SETTINGS, EvalFolder
from code_a1.evaluation.code.statistics import (
    Estimate,
    estimate,
    estimate_of,
    mean_of_means,
    paired_difference,
    paired_difference_of,
)
from code_a1.evaluation.code.summary import Values, task_values
from code_a1.evaluation.pair.results import from_row as pair_row
from code_a1.evaluation.pair.summary import WAYS
from code_a1.evaluation.pair.summary import task_values as pair_values
from code_a1.evaluation.tests.results import from_row as tests_row
from code_a1.evaluation.tests.summary import MUL, Pair, mul, task_pairs
from code_a1.evaluation.tests.summary import task_values as tests_values
from code_a1.run_dir import RunDir

AVERAGE = "average"
FORMATS = ("markdown", "csv", "latex")
Column = tuple[str, str]
"""A benchmark and a metric, `pass@1` say; or "" and the key of a training run."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number; `by_task` holds the values it is the mean of, where they were kept, per benchmark."""

    estimate: Estimate
    by_task: tuple[Mapping[str, float], ...] = ()
    share: bool = True
    """A share in [0, 1], shown in percent; else a number of another kind."""
    pairs: Mapping[str, Pair] = field(default_factory=dict)
    """Of Mul, which is no mean over tasks: what it is made of, task by task."""


@dataclass(slots=True)
class Compared:
    """One run: its numbers by column, and what each benchmark consisted of."""

    name: str
    cells: dict[Column, Cell] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    how: str = ""
    """Of testers and pairs, how they were asked: stands behind the name in every table."""

    @property
    def title(self) -> str:
        """The head of its row."""
        return f"{self.name} ({self.how})" if self.how else self.name


def read_run(path: Path, metrics: Sequence[str] = ()) -> Compared:
    """The numbers of a folder: of an evaluation, or the last measurements of a training run.

    `metrics` picks what is shown of an evaluation; by default pass@1 and the greedy answer of programs, pass@K, mut@K
    in both forms, Mul and coverage of tests, and every way of choosing of a pair. Raises RunDirError where the folder
    is neither, or has no results yet.
    """
    if (path / SETTINGS).is_file():
        return _evaluation(path, metrics)
    if (path / "config.toml").is_file():
        return _training(path, metrics)
    raise RunDirError(f"{path} is neither the folder of an evaluation nor that of a training run")


def _evaluation(path: Path, metrics: Sequence[str]) -> Compared:
    folder = EvalFolder.open(path)
    benches = folder.settings["benchmarks"]
    count, values_B, pairs_B, usual = _values(folder)
    for name, bench in benches.items():
        done = count.get(name, 0)
        if done < bench["tasks"]:
            raise RunDirError(
                f"{path}: {done} of {bench['tasks']} problems of {name} are done; resume it with the same command"
            )
    metrics = metrics or usual
    fingerprints = {name: bench["fingerprint"] for name, bench in benches.items()}
    run = Compared(path.name, fingerprints=fingerprints, how=_how(folder))
    for metric in metrics:
        found = {name: values[metric] for name, values in values_B.items() if values.get(metric)}
        for name, by_task in found.items():
            run.cells[name, metric] = Cell(estimate(list(by_task.values())), (by_task,))
        if len(found) == len(benches) > 1:
            over = mean_of_means([list(by_task.values()) for by_task in found.values()])
            run.cells[AVERAGE, metric] = Cell(over, tuple(found.values()))
    if MUL in metrics:
        for name, pairs in pairs_B.items():
            run.cells[name, MUL] = Cell(estimate_of(list(pairs.values()), mul), pairs=pairs)
    if not run.cells:
        raise RunDirError(f"{path}: has none of the metrics {', '.join(metrics)}")
    return run


def _how(folder: EvalFolder) -> str:
    settings = folder.settings
    if folder.kind == "code":
        return ""
    seen = "white-box" if settings["white_box"] else "black-box"
    if folder.kind == "pair":
        return f"{seen}, {settings['n']} programs, {settings['k']} tests a suite"
    return f"{settings['protocol']}, {seen}, {settings['candidate']} code"


def _values(
    folder: EvalFolder,
) -> tuple[dict[str, int], dict[str, Values], dict[str, dict[str, Pair]], tuple[str, ...]]:
    """Per benchmark how many tasks are done, their values by metric, and of testers what Mul is made of.

    Last, what is shown of such an evaluation where nothing is asked for. Raises RunDirError for a kind that this
    version does not know.
    """
    settings = folder.settings
    if folder.kind == "code":
        code = folder.results()
        values = {name: task_values(list(some.values()), settings["n"]) for name, some in code.items()}
        return {name: len(some) for name, some in code.items()}, values, {}, ("pass@1", "greedy")
    if folder.kind == "tests":
        k = settings["k"]
        tests = folder.read(tests_row)
        values = {name: tests_values(list(some.values()), k) for name, some in tests.items()}
        pairs = {name: task_pairs(of_tasks, k) for name, of_tasks in values.items()}
        usual = (f"pass@{k}", f"mut@{k}", f"mut@{k} all", MUL, f"line@{k}", f"branch@{k}")
        return {name: len(some) for name, some in tests.items()}, values, pairs, usual
    if folder.kind == "pair":
        both = folder.read(pair_row)
        values = {name: pair_values(list(some.values()), settings["k"]) for name, some in both.items()}
        return {name: len(some) for name, some in both.items()}, values, {}, WAYS
    raise RunDirError(f"{folder.path}: an evaluation of the kind {folder.kind!r}, which this version does not know")


def _training(path: Path, metrics: Sequence[str]) -> Compared:
    """The last value of every measurement, and of the rewards of both sides; there is nothing per problem."""
    last: dict[str, float] = {}
    for row in RunDir.open(path).metrics():
        last |= {key: value for key, value in row.items() if isinstance(value, (int, float))}
    run = Compared(path.name)
    for key, value in last.items():
        found = Estimate(float(value), math.nan, math.nan)
        role, _, name = key.removeprefix("eval/").partition("/")
        if key.startswith("eval/") and name.startswith("code/"):
            metric = name.removeprefix("code/")
            if not metrics or metric in metrics:
                run.cells[role, metric] = Cell(found, share=metric.startswith(("pass@", "avg@", "greedy", "loaded")))
        elif key in ("code/reward_mean", "test/reward_mean") or (key.startswith("eval/") and name.startswith("test/")):
            run.cells["", key] = Cell(found, share=False)
    if not run.cells:
        raise RunDirError(f"{path}: has no metrics yet")
    return run


def difference(first: Cell, other: Cell) -> Estimate:
    """`other - first`, over the problems that both have; without those, the difference of the numbers alone."""
    if shared := [task for task in first.pairs if task in other.pairs]:
        return paired_difference_of([first.pairs[t] for t in shared], [other.pairs[t] for t in shared], mul)
    if len(first.by_task) == len(other.by_task) and first.by_task:
        shared_B = [[task for task in a if task in b] for a, b in zip(first.by_task, other.by_task, strict=True)]
        if all(shared_B):
            return paired_difference(
                [[a[t] for t in shared] for a, shared in zip(first.by_task, shared_B, strict=True)],
                [[b[t] for t in shared] for b, shared in zip(other.by_task, shared_B, strict=True)],
            )
    return Estimate(other.estimate.value - first.estimate.value, math.nan, math.nan)


def notes(runs: Sequence[Compared]) -> list[str]:
    """What a reader has to know: which benchmarks are not the same everywhere."""
    first = runs[0].fingerprints
    asked = [
        f"{run.name}: was asked in another way than {runs[0].name}; their numbers are not comparable"
        for run in runs[1:]
        if run.how and runs[0].how and run.how != runs[0].how
    ]
    return asked + [
        f"{name}: {run.name} has other problems, prompts or tests than {runs[0].name}; the difference is over the "
        "problems with equal ids"
        for run in runs[1:]
        for name, fingerprint in run.fingerprints.items()
        if name in first and first[name] != fingerprint
    ]


def compare(runs: Sequence[Compared], form: str) -> str:
    """The table as text in one of `FORMATS`. Runs are rows; every difference is to the first run."""
    columns = list(dict.fromkeys(column for run in runs for column in run.cells))
    columns.sort(key=lambda column: (column[0] == "", column[0] == AVERAGE))
    if form == "csv":
        return _csv(runs, columns)
    rows = [
        [run.title, *(_text(run.cells.get(c), None if i == 0 else runs[0].cells.get(c), form) for c in columns)]
        for i, run in enumerate(runs)
    ]
    head = ["", *(" ".join(part for part in column if part) for column in columns)]
    return _latex(head, rows) if form == "latex" else _markdown(head, rows)


def _text(cell: Cell | None, first: Cell | None, form: str) -> str:
    if cell is None:
        return "–"
    scale, digits = (100, 2) if cell.share else (1, 3)
    text = f"{scale * cell.estimate.value:.{digits}f}"
    if not math.isnan(cell.estimate.low):
        text += f" [{scale * cell.estimate.low:.{digits}f}, {scale * cell.estimate.high:.{digits}f}]"
    if first is None:
        return text
    change = difference(first, cell)
    sure = change.low > 0 or change.high < 0
    ends = f" [{scale * change.low:+.{digits}f}, {scale * change.high:+.{digits}f}]"
    star = ("$^*$" if form == "latex" else "\\*") if sure else ""
    return f"{text} ({scale * change.value:+.{digits}f}{'' if math.isnan(change.low) else ends}){star}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _latex(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    escaped = [[_escaped(cell) for cell in line] for line in (head, *rows)]
    lines = [" & ".join(line) + " \\\\" for line in escaped]
    return "\n".join(
        [f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", "\\hline", lines[0], "\\hline", *lines[1:], "\\hline",
         "\\end{tabular}", ""]
    )  # fmt: skip


def _escaped(cell: str) -> str:
    for character in "&%#_":
        cell = cell.replace(character, f"\\{character}")
    return cell.replace("–", "--")


def _csv(runs: Sequence[Compared], columns: Sequence[Column]) -> str:
    """One line per run and column, in plain numbers."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    ends = ("", "_low", "_high")
    writer.writerow(["run", "benchmark", "metric", *(f"{of}{end}" for of in ("value", "difference") for end in ends)])
    nothing = Estimate(math.nan, math.nan, math.nan)
    for i, run in enumerate(runs):
        for column in (column for column in columns if column in run.cells):
            first = runs[0].cells.get(column) if i else None
            change = nothing if first is None else difference(first, run.cells[column])
            numbers = [x for e in (run.cells[column].estimate, change) for x in (e.value, e.low, e.high)]
            writer.writerow([run.name, *column, *("" if math.isnan(x) else f"{x:.6g}" for x in numbers)])
    return file.getvalue()
