"""The formats of problem rows in a plain dict, our own schema, and how a row shows which format it has.

A reader takes the fields of one row and returns a `Problem`, or raises `RowError` naming the field at fault. Where rows
come from (a file, the hub) is the business of `code_a1.problems.rows`. Fields of each format: docs/problems.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from code_a1.errors import ConfigError
from code_a1.problems.evalplus import in_evalplus_split, read_evalplus
from code_a1.problems.fields import Fields, RowError, checked, number_field, text_field, texts_field
from code_a1.problems.mbpp import in_mbpp_split, read_mbpp
from code_a1.records import Problem


@dataclass(frozen=True, slots=True)
class Format:
    """One schema of rows."""

    name: str
    read: Callable[[Fields], Problem]
    telling: frozenset[str]
    """Fields that no other format has: any of them gives the format away."""
    summary: str
    """The fields, for messages."""
    in_split: Callable[[Fields, str], bool] | None = None
    """Whether a row of a file belongs to a named split; None where files have no splits."""


OWN_FIELDS = (
    "problem_id",
    "statement",
    "entry_point",
    "reference_solution",
    "reference_tests",
    "setup",
    "tolerance",
)


def read_own(row: Fields) -> Problem:
    """A row in our schema, taken exactly as it is; unknown fields are refused, `id` is an alias of `problem_id`."""
    unknown = [name for name in row if name not in OWN_FIELDS and name != "id"]
    if unknown:
        raise RowError(f"unknown field '{unknown[0]}': the fields are {', '.join(OWN_FIELDS)}")
    if row.get("id") is not None and row.get("problem_id") is not None:
        raise RowError("fields 'id' and 'problem_id' mean the same: keep one")
    problem = Problem(
        problem_id=text_field(row, "id" if row.get("id") is not None else "problem_id"),
        statement=text_field(row, "statement"),
        entry_point=text_field(row, "entry_point"),
        reference_solution=text_field(row, "reference_solution"),
        reference_tests=texts_field(row, "reference_tests", default=()),
        setup=text_field(row, "setup", default=""),
        tolerance=number_field(row, "tolerance", 0.0),
    )
    return checked(problem, solution_field="reference_solution")


def own_row(problem: Problem) -> dict[str, object]:
    """The row of a problem in our schema; what `read_own` turns into an equal problem."""
    row: dict[str, object] = {
        "problem_id": problem.problem_id,
        "statement": problem.statement,
        "entry_point": problem.entry_point,
        "reference_solution": problem.reference_solution,
        "reference_tests": list(problem.reference_tests),
    }
    if problem.setup:
        row["setup"] = problem.setup
    if problem.tolerance:
        row["tolerance"] = problem.tolerance
    return row


FORMATS: dict[str, Format] = {
    "code-a1": Format(
        "code-a1",
        read_own,
        frozenset({"reference_solution", "statement", "reference_tests"}),
        "problem_id, statement, entry_point, reference_solution, reference_tests, setup, tolerance",
    ),
    "evalplus": Format(
        "evalplus",
        read_evalplus,
        frozenset({"GT_code", "canonical_solution"}),
        "problem, GT_code, test, extra_info; or task_id, prompt, entry_point, canonical_solution, test",
        in_evalplus_split,
    ),
    "mbpp": Format(
        "mbpp",
        read_mbpp,
        frozenset({"test_list", "test_setup_code", "challenge_test_list"}),
        "task_id, text or prompt, code, test_list",
        in_mbpp_split,
    ),
}

_NOT_READ = {
    "UnLeakedTestBench": frozenset({"func_name", "test_list"}),
    "KodCode": frozenset({"question", "solution", "test"}),
    "AceCode": frozenset({"question", "test_cases"}),
    "APPS or TACO": frozenset({"question", "input_output"}),
}


def looks_like(row: Fields) -> str | None:
    """Name of the format whose telling fields the row has; also of known ones that are not in `FORMATS`."""
    for name, fields in _NOT_READ.items():
        if fields <= row.keys():
            return name
    return next((name for name, fmt in FORMATS.items() if fmt.telling & row.keys()), None)


def choose_format(asked: str, row: Fields) -> Format:
    """The format to read rows like this one with. Raises RowError that says what the row looks like instead."""
    found = looks_like(row)
    if found is not None and found not in FORMATS:
        raise RowError(f"looks like {found}, which is not read directly: convert it to the schema in docs/problems.md")
    if asked != "auto":
        if asked not in FORMATS:
            raise ConfigError(f"problems.format = {asked!r}: the formats are auto, {', '.join(FORMATS)}")
        if found not in (None, asked):
            raise RowError(f"looks like {found}, not {asked}: set problems.format to '{found}' or 'auto'")
        return FORMATS[asked]
    if found is None:
        known = "; ".join(f"{fmt.name}: {fmt.summary}" for fmt in FORMATS.values())
        fields = ", ".join(list(row)[:12]) or "none"
        raise RowError(f"no known format has these fields ({fields}). Known are {known}")
    return FORMATS[found]
