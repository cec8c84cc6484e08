"""Rows of MBPP (Austin et al. 2021), full or sanitized."""

from __future__ import annotations

import re

from code_a1.errors import ConfigError
from code_a1.problems.entry_points import defined_names, entry_point_of, parse_source
from code_a1.problems.fields import Fields, RowError, check_python, checked, text_field, texts_field, unix_lines
from code_a1.records import Problem

MBPP_SPLITS = {"prompt": (1, 10), "test": (11, 510), "validation": (511, 600), "train": (601, 974)}
"""The usual ranges of `task_id`, both ends included."""


def _mbpp_number(row: Fields) -> int:
    task_id = row.get("task_id")
    if isinstance(task_id, str) and (match := re.fullmatch(r"(?:mbpp/)?(\d{1,9})", task_id, re.IGNORECASE)):
        return int(match[1])
    if isinstance(task_id, bool) or not isinstance(task_id, int):
        problem = "is missing" if task_id is None else f"must be a number, not {task_id!r}"
        raise RowError(f"field 'task_id' {problem}")
    return task_id


def read_mbpp(row: Fields) -> Problem:
    """A row of MBPP or of its sanitized version (Austin et al. 2021), `code` with the line ends of Unix.

    The statement ends with the first test, as in MBPP+: the text alone names neither the function nor its arguments.
    `challenge_test_list` is left out, as in the usual score on MBPP.
    """
    number = _mbpp_number(row)
    code = unix_lines(text_field(row, "code"))
    text = unix_lines(text_field(row, "text" if row.get("text") is not None else "prompt")).strip()
    tests = tuple(unix_lines(test).strip() for test in texts_field(row, "test_list"))
    imports = texts_field(row, "test_imports", default=())
    setup = "\n".join(unix_lines(part).strip() for part in (*imports, text_field(row, "test_setup_code", default="")))
    if not text:
        raise RowError("the statement is empty")
    if not tests:
        raise RowError("field 'test_list' is empty: MBPP rows name their function in the tests alone")
    problem = Problem(
        problem_id=f"mbpp/{number}",
        statement=f"{text}\n{tests[0]}",
        entry_point=_tested_name(code, tests),
        reference_solution=code,
        reference_tests=tests,
        setup=setup.strip(),
    )
    return checked(problem, solution_field="code", tests_field="test_list")


def _tested_name(code: str, tests: tuple[str, ...]) -> str:
    try:
        defined = defined_names(parse_source(code))
    except ValueError as error:
        raise RowError(f"field 'code' is not Python: {error}") from error
    for i, test in enumerate(tests):
        check_python(test, f"field 'test_list'[{i}]")
    name = entry_point_of(tests, defined)
    if name is None:
        names = ", ".join(defined.own) or "nothing"
        reason = f"field 'test_list' calls no function or class that 'code' defines (it defines {names})"
        raise RowError(reason, "no entry point")
    return name


def in_mbpp_split(row: Fields, split: str) -> bool:
    """Whether a row belongs to one of the usual splits. Raises ConfigError for another name."""
    if split not in MBPP_SPLITS:
        raise ConfigError(f"problems.split = {split!r}: the splits of MBPP are {', '.join(MBPP_SPLITS)}")
    first, last = MBPP_SPLITS[split]
    return first <= _mbpp_number(row) <= last
