"""The folder of an evaluation: what was asked, what came of it task by task, and what that comes to.

eval.json       the settings: an evaluation is resumed under the same ones only
results.jsonl   one object per task, with every completion, its program and its verdict
summary.json    estimates and intervals, written when all tasks are done
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from code_a1.errors import RunDirError
from code_a1.evaluation.code.tasks import Judged, SampleResult, TaskResult
from code_a1.records import Verdict

Result = TypeVar("Result")

SETTINGS, RESULTS, SUMMARY = "eval.json", "results.jsonl", "summary.json"


class EvalFolder:
    """Results are appended block by block; what a killed evaluation wrote in part is cut off when it is resumed."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.settings = dict(settings)

    @classmethod
    def start(cls, path: Path, settings: Mapping[str, Any]) -> EvalFolder:
        """A new folder, or one that an evaluation under the same settings has begun.

        Raises RunDirError where the folder holds something else, or other settings: the differences are named.
        """
        if (path / SETTINGS).is_file():
            folder = cls.open(path)
            differing = list(differences(folder.settings, settings))
            if differing:
                raise RunDirError(
                    f"{path} holds an evaluation under other settings ({'; '.join(differing)}): "
                    "repeat those to resume it, or choose another folder with -o"
                )
            folder._cut()
            return folder
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise RunDirError(f"{path} is no folder of an evaluation and not empty: choose another with -o")
            (path / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            if isinstance(error, RunDirError):
                raise
            raise RunDirError(f"cannot write the folder {path}: {error}; choose another with -o") from error
        return cls(path, settings)

    @classmethod
    def open(cls, path: Path) -> EvalFolder:
        """An existing folder. Raises RunDirError if it is none."""
        try:
            settings = json.loads((path / SETTINGS).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunDirError(f"{path} is no folder of an evaluation: {error}") from error
        if not isinstance(settings, dict):
            raise RunDirError(f"{path / SETTINGS} is not the settings of an evaluation")
        return cls(path, settings)

    @property
    def kind(self) -> str:
        """What was evaluated: `code`, `tests` or `pair`."""
        return str(self.settings.get("kind", "code"))

    def append(self, results: Sequence[TaskResult]) -> None:
        """Keep the results of a block of an evaluation of programs, all at once."""
        self.append_rows([_row(result) for result in results])

    def append_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep rows that name their `bench` and `task_id`, all at once."""
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        with (self.path / RESULTS).open("a", encoding="utf-8") as file:
            file.write(lines)

    def results(self) -> dict[str, dict[str, TaskResult]]:
        """What is there of an evaluation of programs: benchmark → task id → result."""
        return self.read(_result)

    def read(self, read_row: Callable[[Mapping[str, Any]], Result]) -> dict[str, dict[str, Result]]:
        """What is there: benchmark → task id → what `read_row` makes of the row."""
        found: dict[str, dict[str, Result]] = {}
        for bench, task_id, result in self._read(read_row):
            found.setdefault(bench, {})[task_id] = result
        return found

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write `summary.json`, whole or not at all."""
        partial = self.path / f"{SUMMARY}.partial"
        partial.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
        partial.replace(self.path / SUMMARY)

    def _read(self, read_row: Callable[[Mapping[str, Any]], Result]) -> Iterator[tuple[str, str, Result]]:
        path = self.path / RESULTS
        if not path.is_file():
            return
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    row = json.loads(line)
                    yield row["bench"], row["task_id"], read_row(row)
                except (ValueError, KeyError, TypeError) as error:
                    raise RunDirError(f"{path}, line {number}: not a result ({error}); remove the line") from error

    def _cut(self) -> None:
        """Take away a last line that was not finished."""
        path = self.path / RESULTS
        if path.is_file():
            content = path.read_bytes()
            if not content.endswith(b"\n"):
                path.write_bytes(content[: content.rfind(b"\n") + 1])


def differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """One line per setting that differs, as `n: 8 there, 32 asked for`."""
    for key in dict.fromkeys((*old, *new)):
        a, b = old.get(key), new.get(key)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            yield from differences(a, b, f"{prefix}{key}.")
        elif a != b:
            yield f"{prefix}{key}: {_shown(a)} there, {_shown(b)} asked for"


def _shown(value: object) -> str:
    return "nothing" if value is None else json.dumps(value)


def _row(result: TaskResult) -> dict[str, Any]:
    judged, right = result.counts()
    return {
        "bench": result.bench,
        "task_id": result.task_id,
        "judged": judged,
        "right": right,
        "left_out": result.left_out,
        "samples": [_sample_row(sample) for sample in result.samples],
        "greedy": None if result.greedy is None else _sample_row(result.greedy),
    }


def _sample_row(sample: SampleResult) -> dict[str, Any]:
    row = asdict(sample)
    judged = row.pop("judged")
    return row | {"verdict": str(judged["verdict"]), "detail": judged["detail"]}


def _result(row: Mapping[str, Any]) -> TaskResult:
    samples = tuple(_sample(sample) for sample in row["samples"])
    greedy = None if row["greedy"] is None else _sample(row["greedy"])
    return TaskResult(row["bench"], row["task_id"], samples, greedy, row["left_out"])


def _sample(row: Mapping[str, Any]) -> SampleResult:
    judged = Judged(Verdict(row["verdict"]), row["detail"])
    return SampleResult(row["completion"], row["program"], tuple(row["removed"]), row["finish_reason"], judged)
