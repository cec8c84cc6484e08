"""Mistake Books as files: JSON lines written by `code-a1 runs book --export`, and the folders of other runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from code_a1.errors import CheckpointError, RunDirError
from code_a1.mistake_book import MistakeBook, from_json, to_json
from code_a1.records import TestCase
from code_a1.run_dir import RunDir

Row = tuple[str, TestCase, int]
"""Problem id, test, count."""


def write_book(path: Path, rows: Iterable[Row]) -> int:
    """Write a row per test, whole or not at all; returns how many. Raises RunDirError where it cannot be written."""
    partial = path.with_name(path.name + ".partial")
    written = 0
    try:
        with partial.open("w", encoding="utf-8") as lines:
            for problem_id, test, count in rows:
                lines.write(json.dumps({"problem_id": problem_id, "count": count, "test": to_json(test)}) + "\n")
                written += 1
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RunDirError(f"cannot write {path}: {error}") from error
    return written


def read_book(source: Path, wanted: Collection[str] | None = None) -> Iterator[Row]:
    """The tests of a run's book or of an exported file, those of the problems in `wanted` alone.

    Raises:
        RunDirError: there is no such book.
        CheckpointError: a line is not one of `write_book`; it is named.
    """
    rows = _of_run(source) if source.is_dir() else _of_file(source)
    return (row for row in rows if wanted is None or row[0] in wanted)


def open_book(run: Path) -> MistakeBook:
    """The book of a run, to be looked at while the run goes on or later. Raises RunDirError where there is none."""
    path = RunDir.open(run).book_path
    if not path.is_file():
        raise RunDirError(f"{run} has no Mistake Book: {path.name} is missing")
    return MistakeBook(path=path, read_only=True)


def _of_run(run: Path) -> Iterator[Row]:
    with closing(open_book(run)) as book:
        yield from book.rows()


def _of_file(path: Path) -> Iterator[Row]:
    try:
        lines = path.open(encoding="utf-8")
    except OSError as error:
        raise RunDirError(f"no Mistake Book at {path}: {error}") from error
    with lines:
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                problem_id, count = row["problem_id"], row["count"]
                if not isinstance(problem_id, str) or type(count) is not int or count < 1:
                    raise ValueError("problem_id must be a string and count a positive integer")
                yield problem_id, from_json(row["test"]), count
            except (ValueError, KeyError, TypeError, CheckpointError) as error:
                raise CheckpointError(f"{path}, line {number}: not a test of a Mistake Book: {error}") from error
