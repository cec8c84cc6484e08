"""Rows of KodCode-V1 (Xu et al. 2025), whose tests are pytest files that import from `solution`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from code_a1.problems.entry_points import (
    Defined,
    declaration_of,
    defined_names,
    entry_point_of_program,
    parse_source,
)
from code_a1.problems.fields import (
    Fields,
    RowError,
    Unsuited,
    check_python,
    checked,
    program_in,
    text_field,
    unix_lines,
)
from code_a1.records import Problem


def read_kodcode(row: Fields) -> Problem:
    """A row of KodCode-V1 or of one of its subsets; `test` is `test_code` in older revisions and in the SFT set.

    The statement ends with the declarations of `test_info`, as the authors of the dataset advise for reinforcement
    learning, unless the question shows them. Raises Unsuited without a test of a function: `test_info` is empty where
    the tests are about a class, and rows in the style `online_judge` are judged by what they print.
    """
    test_field = "test" if row.get("test") is not None else "test_code"
    test = unix_lines(text_field(row, test_field))
    if row.get("style") == "online_judge" or test.lstrip().startswith("{"):
        raise Unsuited("judged by what it prints (style online_judge), not by calls of a function")
    declared = _declared(row.get("test_info"))
    if not declared and "test_info" in row:
        raise Unsuited("no function-level test: test_info names no function")
    solution = program_in(text_field(row, "solution"))
    check_python(solution, "field 'solution'")
    check_python(test, f"field '{test_field}'")
    defined = defined_names(parse_source(solution))
    entry_point = _entry_point(test, defined, declared)
    if not declared:
        declared = {entry_point: declaration_of(parse_source(solution), entry_point)}
    problem = Problem(
        problem_id=text_field(row, "question_id"),
        statement=_statement(unix_lines(text_field(row, "question")).strip(), declared),
        entry_point=entry_point,
        reference_solution=solution.strip("\n") + "\n",
        reference_tests=(test.strip("\n"),),
    )
    return checked(problem, solution_field="solution", tests_field=test_field)


def kodcode_difficulty(row: Fields) -> str:
    """`easy`, `medium` or `hard`, by how often GPT-4o's solution passed GPT-4o's tests; "" if the row does not say."""
    return text_field(row, "gpt_difficulty", default="")


def kodcode_pass_rate(row: Fields) -> float | None:
    """The same as a share."""
    value = row.get("gpt_pass_percentage")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _declared(info: object) -> dict[str, str]:
    """Function names of `test_info` with their declarations: a list of objects, or one, or either as JSON."""
    if isinstance(info, str):
        try:
            info = json.loads(info)
        except json.JSONDecodeError as error:
            raise RowError(f"field 'test_info' is not JSON: {error.msg}") from error
    entries = [info] if isinstance(info, Mapping) else info or []
    if not isinstance(entries, list):
        raise RowError("field 'test_info' must be a list of objects with function_name and function_declaration")
    declared: dict[str, str] = {}
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise RowError("field 'test_info' must be a list of objects with function_name and function_declaration")
        name = text_field(entry, "function_name", default="").strip()
        if name:
            declared[name] = text_field(entry, "function_declaration", default="").strip().rstrip(":")
    return declared


def _entry_point(test: str, defined: Defined, declared: Mapping[str, str]) -> str:
    """The one declared function, or of several the one that most tests call."""
    named = tuple(name for name in declared if name in defined.functions + defined.assigned)
    if declared and not named:
        names = ", ".join(defined.own) or "nothing"
        reason = (
            f"field 'solution' defines none of the functions in 'test_info' ({', '.join(declared)}); it defines {names}"
        )
        raise RowError(reason, "no entry point")
    if len(named) == 1:
        return named[0]
    candidates = replace(defined, functions=named, classes=(), assigned=()) if named else defined
    found = entry_point_of_program(test, candidates) or (named[0] if named else None)
    if found is None:
        raise RowError("the tests call no function that 'solution' defines", "no entry point")
    if found in defined.classes:
        raise Unsuited(f"no function-level test: the tests are about the class {found}")
    return found


def _statement(question: str, declared: Mapping[str, str]) -> str:
    missing = [text for name, text in declared.items() if text and f"def {name}(" not in question]
    return "\n\n".join([question, "\n".join(missing)]) if missing else question
