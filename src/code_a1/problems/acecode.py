"""Rows of AceCode-87K (Zeng et al. 2025): questions with asserts, and what models answered instead of a solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from code_a1.problems.entry_points import defined_names, entry_point_of, parse_source
from code_a1.problems.fields import (
    Fields,
    RowError,
    Unsuited,
    check_python,
    checked,
    program_in,
    text_field,
    texts_field,
    unix_lines,
)
from code_a1.records import Problem


def acecode_versions(row: Fields) -> Iterator[Problem]:
    """One version for each recorded completion that passed every test, in the order of the row.

    Raises Unsuited if none did: nothing else in the row can serve as a reference.
    """
    tests = tuple(unix_lines(test).strip() for test in texts_field(row, "test_cases"))
    if not tests:
        raise RowError("field 'test_cases' is empty")
    for i, test in enumerate(tests):
        check_python(test, f"field 'test_cases'[{i}]")
    problem_id = text_field(row, "id")
    question = unix_lines(text_field(row, "question")).strip()
    rates = _rates(row)
    if not any(rate == 1 for _, rate in rates):
        best = max((rate for _, rate in rates), default=0.0)
        raise Unsuited(f"no reference: the best of {len(rates)} recorded completions passes {best:.0%} of the tests")
    faults: list[RowError] = []
    found = False
    for completion in (completion for completion, rate in rates if rate == 1):
        try:
            problem = _problem(problem_id, question, program_in(completion), tests)
        except RowError as error:
            faults.append(error)
        else:
            found = True
            yield problem
    if not found:
        raise faults[0]


def acecode_pass_rate(row: Fields) -> float | None:
    """Mean share of tests that the recorded completions pass."""
    rates = [rate for _, rate in _rates(row)]
    return sum(rates) / len(rates) if rates else None


def _rates(row: Fields) -> list[tuple[str, float]]:
    """Completions with the share of tests that each passed."""
    inferences = row.get("inferences") or []
    if not isinstance(inferences, (list, tuple)):
        raise RowError("field 'inferences' must be a list of objects with completion and pass_rate")
    found = []
    for item in inferences:
        rate = item.get("pass_rate") if isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or isinstance(rate, bool) or not isinstance(rate, (int, float)):
            raise RowError("field 'inferences' must be a list of objects with completion and pass_rate")
        found.append((text_field(item, "completion"), float(rate)))
    return found


def _problem(problem_id: str, question: str, solution: str, tests: tuple[str, ...]) -> Problem:
    check_python(solution, "field 'inferences': the completion that passes every test")
    entry_point = entry_point_of(tests, defined_names(parse_source(solution)))
    if entry_point is None:
        raise RowError("field 'test_cases' calls nothing that the completion defines", "no entry point")
    named = re.search(rf"\b{re.escape(entry_point)}\b", question)
    problem = Problem(
        problem_id=problem_id,
        statement=question if named or not question else f"{question}\n{tests[0]}",
        entry_point=entry_point,
        reference_solution=solution.strip("\n") + "\n",
        reference_tests=tests,
    )
    return checked(problem, solution_field="inferences", tests_field="test_cases")
