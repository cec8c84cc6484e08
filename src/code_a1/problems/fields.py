"""What all row readers share: typed access to fields, and what every problem must satisfy."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping
from typing import Literal

from code_a1.problems.entry_points import defined_names, parse_source
from code_a1.records import Problem

Fields = Mapping[str, object]

PARSED_TEST_CHARACTERS = 5_000
"""Longer reference tests are not parsed on reading: EvalPlus's 15 MB take 8 s, and the judge runs them anyway."""


RowFault = Literal["unreadable row", "other format", "duplicate id", "no entry point", "unsuited"]


class RowError(Exception):
    """A row is no problem; the text names the field and the remedy. The reader of the file adds where it stands."""

    def __init__(self, message: str, kind: RowFault = "unreadable row") -> None:
        super().__init__(message)
        self.kind: RowFault = kind


class Unsuited(RowError):
    """The row is whole but no problem of ours: it is judged by what it prints, or nobody solved it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "unsuited")


def text_field(row: Fields, name: str, *, default: str | None = None) -> str:
    """A string field; null counts as absent. Raises RowError without a default, or on another type."""
    value = row.get(name)
    if value is None:
        if default is None:
            raise RowError(f"field '{name}' is missing")
        return default
    if not isinstance(value, str):
        raise RowError(f"field '{name}' must be a string, not {_type_name(value)}")
    return value


def texts_field(row: Fields, name: str, *, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """A field that holds a list of strings; null counts as absent."""
    value = row.get(name)
    if value is None:
        if default is None:
            raise RowError(f"field '{name}' is missing")
        return default
    if not isinstance(value, (list, tuple)):
        raise RowError(f"field '{name}' must be a list of strings, not {_type_name(value)}")
    for i, item in enumerate(value):
        if not isinstance(item, str):
            raise RowError(f"field '{name}'[{i}] must be a string, not {_type_name(item)}")
    return tuple(value)


def number_field(row: Fields, name: str, default: float) -> float:
    """A finite number of at least 0; null counts as absent."""
    value = row.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RowError(f"field '{name}' must be a number, not {_type_name(value)}")
    if value < 0 or not math.isfinite(value):
        raise RowError(f"field '{name}' must be a finite number of at least 0, not {value}")
    return float(value)


def _type_name(value: object) -> str:
    json_names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return json_names.get(type(value), "an object" if isinstance(value, Mapping) else type(value).__name__)


def unix_lines(text: str) -> str:
    """Line ends as Python writes them: MBPP's solutions have CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


_FENCE = re.compile(r"^```[ \t]*(?:python|py)?[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE | re.IGNORECASE)


def program_in(text: str) -> str:
    """The program in what a model answered: the text itself if it is Python, else its first fenced block."""
    text = unix_lines(text)
    try:
        parse_source(text)
    except ValueError:
        fenced = _FENCE.search(text)
        return fenced[1] if fenced else text
    return text


def checked(problem: Problem, *, solution_field: str, tests_field: str = "reference_tests") -> Problem:
    """The problem itself if it is whole; RowError otherwise. The field names are those of the row it came from."""
    if not problem.problem_id.strip() or not problem.problem_id.isprintable():
        raise RowError(f"field 'problem_id' must be one line of visible text, not {problem.problem_id!r}")
    if not problem.statement.strip():
        raise RowError("the statement is empty")
    if not problem.entry_point.isidentifier() or keyword.iskeyword(problem.entry_point):
        raise RowError(f"field 'entry_point' must be the name of a function or class, not {problem.entry_point!r}")
    try:
        defined = defined_names(parse_source(problem.reference_solution))
    except ValueError as error:
        raise RowError(f"field '{solution_field}' is not Python: {error}") from error
    if problem.entry_point not in defined:
        names = ", ".join(defined.own) or "nothing"
        raise RowError(
            f"field '{solution_field}' does not define the entry point '{problem.entry_point}' (it defines {names}): "
            "correct one of the two",
            "no entry point",
        )
    check_python(problem.setup, "the setup code")
    for i, test in enumerate(problem.reference_tests):
        if not test.strip():
            raise RowError(f"field '{tests_field}'[{i}] is empty: remove it")
        if len(test) <= PARSED_TEST_CHARACTERS:
            check_python(test, f"field '{tests_field}'[{i}]")
    return problem


def check_python(source: str, what: str) -> None:
    """Raise RowError, naming `what`, unless the source is Python."""
    try:
        parse_source(source)
    except ValueError as error:
        raise RowError(f"{what} is not Python: {error}") from error
