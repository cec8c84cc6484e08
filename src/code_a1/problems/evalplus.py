"""Rows of HumanEval+ and MBPP+ (Liu et al. 2023), as Parquet with full tests or as JSONL; and of HumanEval."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping

from code_a1.errors import ConfigError
from code_a1.problems.entry_points import defined_names, parse_source
from code_a1.problems.fields import Fields, RowError, checked, number_field, text_field, unix_lines
from code_a1.records import Problem

EVALPLUS_TOLERANCE = 1e-6
"""What EvalPlus grants floats where a task names no `atol` of its own."""

EVALPLUS_SPLITS = ("humanevalplus", "mbppplus")
"""Values of `data_source` in EvalPlus-shaped Parquet."""


def read_evalplus(row: Fields) -> Problem:
    """A row of HumanEval+ or MBPP+: EvalPlus-shaped Parquet, or the JSONL of HumanEval and EvalPlus."""
    return _evalplus_parquet(row) if "GT_code" in row else _human_eval(row)


def _evalplus_parquet(row: Fields) -> Problem:
    extra = row.get("extra_info")
    if not isinstance(extra, Mapping):
        raise RowError("field 'extra_info' must be an object with function_name, imports and question_id")
    entry_point = text_field(extra, "function_name")
    problem_text = unix_lines(text_field(row, "problem"))
    solution = _whole(problem_text, unix_lines(text_field(row, "GT_code")), entry_point)
    entry_point, test = _tested(entry_point, solution, _check_program(unix_lines(text_field(row, "test"))))
    problem = Problem(
        problem_id=text_field(extra, "question_id"),
        statement=problem_text.strip(),
        entry_point=entry_point,
        reference_solution=solution,
        reference_tests=(test,),
        # The statement shows these imports above the signature, so a candidate may count on them.
        setup=unix_lines(text_field(extra, "imports", default="")).strip(),
        tolerance=_tolerance_of(test),
    )
    return checked(problem, solution_field="GT_code", tests_field="test")


def _human_eval(row: Fields) -> Problem:
    entry_point = text_field(row, "entry_point")
    prompt = unix_lines(text_field(row, "prompt"))
    test = unix_lines(text_field(row, "test", default=""))
    problem = Problem(
        problem_id=text_field(row, "task_id"),
        statement=prompt.strip(),
        entry_point=entry_point,
        reference_solution=_whole(prompt, unix_lines(text_field(row, "canonical_solution")), entry_point),
        # EvalPlus's own files keep inputs without answers; such a row is a problem without reference tests.
        reference_tests=(_check_program(test),) if test.strip() else (),
        setup=_imports_of(prompt),
        tolerance=number_field(row, "atol", 0.0) or EVALPLUS_TOLERANCE,
    )
    return checked(problem, solution_field="canonical_solution", tests_field="test")


def _check_program(test: str) -> str:
    if not re.search(r"^def check\(", test, re.MULTILINE):
        raise RowError("field 'test' must be a program that defines check(candidate)")
    return test


def _tested(entry_point: str, solution: str, test: str) -> tuple[str, str]:
    """The function that the check really calls, and the check with it as its parameter.

    Where an MBPP+ solution has helper functions, the rows (and the parameter of `check`) name the first function that
    is defined, while the loop at the end of the check calls the one that the task is about: MBPP/6, MBPP/123, ….
    """
    parameter = re.search(r"^def check\((\w+)", test, re.MULTILINE)
    called = re.findall(r"(\w+)\(\*", test[-300:])
    if parameter is None or parameter[1] in called:
        return entry_point, test
    try:
        own = defined_names(parse_source(solution)).own
    except ValueError:
        return entry_point, test  # `checked` names what is wrong
    name = next((name for name in called if name in own), None)
    if name is None:
        return entry_point, test
    return name, f"{test[: parameter.start(1)]}{name}{test[parameter.end(1) :]}"


def _whole(prompt: str, solution: str, entry_point: str) -> str:
    """A solution that defines the entry point stands alone; otherwise it is the body that follows the prompt."""
    # a body is indented and no program of its own; `checked` judges what becomes of it
    with contextlib.suppress(ValueError):
        if entry_point in defined_names(parse_source(solution)).own:
            return solution.strip("\n") + "\n"
    return prompt.rstrip("\n") + "\n" + solution.strip("\n") + "\n"


def _imports_of(prompt: str) -> str:
    """Imports at the left margin of a code prompt."""
    return "\n".join(re.findall(r"^(?:import|from) .+$", prompt, re.MULTILINE))


def _tolerance_of(test: str) -> float:
    """The `atol` in the last line `assertion(candidate(*inp), exp, 0.0001)`; 0 stands for EvalPlus's default."""
    match = re.search(r"assertion\(.*, *([0-9.]+(?:e-?\d+)?)\)\s*$", test[-300:])
    return (float(match[1]) if match else 0.0) or EVALPLUS_TOLERANCE


def in_evalplus_split(row: Fields, split: str) -> bool:
    """Whether a row belongs to `humanevalplus` or `mbppplus`. Raises ConfigError for another name."""
    if split not in EVALPLUS_SPLITS:
        raise ConfigError(f"problems.split = {split!r}: EvalPlus-shaped files have {' and '.join(EVALPLUS_SPLITS)}")
    return row.get("data_source") == split
