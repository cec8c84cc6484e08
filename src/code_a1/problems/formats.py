"""The formats of problem rows in a plain dict, our own schema, and how a row shows which format it has.

A reader takes the fields of one row and returns a `Problem`, or raises `RowError` naming the field at fault. Where rows
come from (a file, the hub) is the business of `code_a1.problems.rows`. Fields of each format: docs/problems.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from code_a1.errors import ConfigError
from code_a1.problems.acecode import acecode_pass_rate, acecode_versions
from code_a1.problems.competition import competition_difficulty, competition_versions
from code_a1.problems.evalplus import in_evalplus_split, read_evalplus
from code_a1.problems.fields import Fields, RowError, checked, number_field, text_field, texts_field
from code_a1.problems.kodcode import kodcode_difficulty, kodcode_pass_rate, read_kodcode
from code_a1.problems.mbpp import in_mbpp_split, read_mbpp
from code_a1.records import Problem

Versions = Callable[[Fields], Iterator[Problem]]
"""A reader: the problem of a row. A row that may be understood in several ways, or has several solutions, gives further
versions, to be tried where the reference of the one before does not pass its tests."""


@dataclass(frozen=True, slots=True)
class Format:
    """One schema of rows."""

    name: str
    versions: Versions
    telling: tuple[frozenset[str], ...]
    """Sets of fields that no other format has: a row with all fields of one of them has this format."""
    summary: str
    """The fields, for messages."""
    in_split: Callable[[Fields, str], bool] | None = None
    """Whether a row of a file belongs to a named split; None where files have no splits."""
    convert_only: bool = False
    """Whether rows are converted, and their references checked, before anybody trains on them."""
    difficulty: Callable[[Fields], str] | None = None
    """The row's level of difficulty in the words of the format; None where it has none."""
    pass_rate: Callable[[Fields], float | None] | None = None
    """Share (0-1) of attempts by some model that solved the row, as far as the row tells."""

    def read(self, row: Fields) -> Problem:
        """The first version of the row's problem. Raises RowError if it has none."""
        return next(self.versions(row))


def _single(read: Callable[[Fields], Problem]) -> Versions:
    return lambda row: iter((read(row),))


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


def _any_of(*fields: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset({field}) for field in fields)


_ALL = (
    Format(
        "kodcode",
        _single(read_kodcode),
        (frozenset({"question", "solution", "test"}), frozenset({"question", "solution", "test_code"})),
        "question_id, question, solution, test, test_info, gpt_difficulty",
        convert_only=True,
        difficulty=kodcode_difficulty,
        pass_rate=kodcode_pass_rate,
    ),
    Format(
        "acecode",
        acecode_versions,
        (frozenset({"question", "test_cases"}),),
        "id, question, test_cases, inferences",
        convert_only=True,
        pass_rate=acecode_pass_rate,
    ),
    Format(
        "taco",
        partial(competition_versions, dataset="taco"),
        tuple(frozenset({"question", "input_output", name}) for name in ("raw_tags", "skill_types", "tags")),
        "question, solutions, starter_code, input_output, difficulty, url",
        convert_only=True,
        difficulty=competition_difficulty,
    ),
    Format(
        "apps",
        partial(competition_versions, dataset="apps"),
        (frozenset({"question", "input_output"}),),
        "problem_id, question, solutions, starter_code, input_output, difficulty",
        convert_only=True,
        difficulty=competition_difficulty,
    ),
    Format(
        "code-a1",
        _single(read_own),
        _any_of("reference_solution", "statement", "reference_tests"),
        "problem_id, statement, entry_point, reference_solution, reference_tests, setup, tolerance",
    ),
    Format(
        "evalplus",
        _single(read_evalplus),
        _any_of("GT_code", "canonical_solution"),
        "problem, GT_code, test, extra_info; or task_id, prompt, entry_point, canonical_solution, test",
        in_evalplus_split,
    ),
    Format(
        "mbpp",
        _single(read_mbpp),
        _any_of("test_list", "test_setup_code", "challenge_test_list"),
        "task_id, text or prompt, code, test_list",
        in_mbpp_split,
    ),
)
FORMATS = {fmt.name: fmt for fmt in _ALL}
"""Every format; of those that share fields the one that needs more of them comes first."""

REPOSITORY = Format("repo", _single(read_own), (), "a folder of Python modules with pytest tests")
"""Rows that `code_a1.problems.repository` makes, in our schema."""

_UNREAD = {"UnLeakedTestBench": frozenset({"func_name", "test_list"})}
"""What people have beside problem files, and what would be taken for one of the formats."""


def looks_like(row: Fields) -> str | None:
    """Name of the format whose telling fields the row has; also of known ones that are not in `FORMATS`."""
    for name, fields in _UNREAD.items():
        if fields <= row.keys():
            return name
    return next((fmt.name for fmt in _ALL if any(fields <= row.keys() for fields in fmt.telling)), None)


def choose_format(asked: str, row: Fields, *, converting: bool = False) -> Format:
    """The format to read rows like this one with. Raises RowError that says what the row looks like instead."""
    usable = {name: fmt for name, fmt in FORMATS.items() if converting or not fmt.convert_only}
    if asked not in ("auto", *FORMATS):
        raise ConfigError(f"problems.format = {asked!r}: the formats are auto, {', '.join(usable)}")
    found = looks_like(row)
    if found is not None and found not in FORMATS:
        raise RowError(f"looks like {found}, which is not read: its tests do not hold on its code", "other format")
    if asked != "auto" and found not in (None, asked):
        how = f"code-a1 problems convert {found} …" if converting else f"set problems.format to '{found}' or 'auto'"
        raise RowError(f"looks like {found}, not {asked}: {how}", "other format")
    name = found if asked == "auto" else asked
    if converting and asked != "auto" and not any(fields & row.keys() for fields in FORMATS[asked].telling):
        fields = ", ".join(list(row)[:12]) or "none"
        reason = f"has none of the fields of {asked} ({FORMATS[asked].summary}); its fields are {fields}"
        raise RowError(reason, "other format")
    if name is None:
        known = "; ".join(f"{fmt.name}: {fmt.summary}" for fmt in usable.values())
        fields = ", ".join(list(row)[:12]) or "none"
        raise RowError(f"no known format has these fields ({fields}). Known are {known}", "other format")
    if name not in usable:
        how = f"code-a1 problems convert {name} FILE -o problems.jsonl"
        raise RowError(f"looks like {name}, which is converted before use: {how}", "other format")
    return FORMATS[name]
