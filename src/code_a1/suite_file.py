"""Files of suites: one JSON object a line, one line a problem. Written by `suites export`, read by `static-suite`.

    {"problem_id": "add", "tests": ["assert add(1, 2) == 3"], "killed": 4, "mutants": 5}

`tests` are asserts in source form, each by itself. `killed` of `mutants` says, where it is known, how many mutants of
the reference the tests kill together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from code_a1.errors import ProblemError
from code_a1.problems.fields import Fields, RowError, check_python, text_field, texts_field
from code_a1.problems.rows import open_rows

FIELDS = ("problem_id", "tests", "killed", "mutants")


@dataclass(frozen=True, slots=True)
class ProblemSuite:
    """The tests that one problem is to be judged by. `killed` and `mutants` are None where nobody measured them."""

    problem_id: str
    tests: tuple[str, ...]
    killed: int | None = None
    mutants: int | None = None

    def to_line(self) -> str:
        """The row of a suite file, line end included."""
        row: dict[str, object] = {"problem_id": self.problem_id, "tests": list(self.tests)}
        counts = {"killed": self.killed, "mutants": self.mutants}
        return json.dumps(row | {name: count for name, count in counts.items() if count is not None}) + "\n"


def read_suites(path: str | Path) -> dict[str, tuple[str, ...]]:
    """The asserts of every problem of the file, in the file's order; a problem may have none.

    Raises ProblemError naming file and line: no such file, a row of another shape, a problem twice, a test that is not
    Python.
    """
    return {suite.problem_id: suite.tests for suite in read_suite_rows(path)}


def read_suite_rows(path: str | Path) -> Iterator[ProblemSuite]:
    """The rows of a suite file with their counts. Raises ProblemError as `read_suites` does."""
    seen: dict[str, int] = {}
    for row in open_rows(str(path)).rows:
        try:
            if isinstance(row.fields, RowError):
                raise row.fields
            suite = _suite(row.fields)
            if (first := seen.setdefault(suite.problem_id, row.line)) != row.line:
                raise RowError(
                    f"problem_id {suite.problem_id!r} stands in line {first} already: put its tests together"
                )
        except RowError as error:
            raise ProblemError(f"{path}:{row.line}: {error}") from error
        yield suite


def write_suites(path: Path, suites: Iterable[ProblemSuite]) -> None:
    """Write a suite file; it appears under its name when it is whole."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8") as lines:
        lines.writelines(suite.to_line() for suite in suites)
    partial.replace(path)


def _suite(row: Fields) -> ProblemSuite:
    if unknown := sorted(set(row) - set(FIELDS)):
        raise RowError(f"field '{unknown[0]}' is unknown: a suite has {', '.join(FIELDS)}")
    tests = texts_field(row, "tests")
    for i, test in enumerate(tests):
        if not test.strip():
            raise RowError(f"field 'tests'[{i}] is empty: remove it")
        check_python(test, f"field 'tests'[{i}]")
    return ProblemSuite(text_field(row, "problem_id"), tests, _count(row, "killed"), _count(row, "mutants"))


def _count(row: Fields, name: str) -> int | None:
    value = row.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise RowError(f"field '{name}' must be a whole number of at least 0, not {value!r}")
    return value
