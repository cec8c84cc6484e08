"""`TestCase` → source again, and the key under which equal calls are known."""

from __future__ import annotations

import ast
from collections.abc import Callable

from code_a1.assertions.parsing import parse_expression, to_text
from code_a1.assertions.unrolling import substitute
from code_a1.records import TestCase


def call_key(test: TestCase) -> tuple[str, tuple[str, ...]]:
    """What a test calls: equal for tests that differ only in layout, in the answer or in the form."""
    return (test.prelude, test.calls)


def to_source(test: TestCase, literal: Callable[[bytes], str] | None = None) -> str:
    """The test as Python: the statements before it and an assert that means the same.

    `literal` writes an encoded expected value as source; without it the answer is the predicted one.
    """
    if test.kind == "check":
        return test.source
    names: dict[str, ast.expr] = {f"_{i}": parse_expression(call) for i, call in enumerate(test.calls)}
    expected = test.expected
    if test.expected_value is not None and literal is not None:
        expected = literal(test.expected_value)
    if expected is not None:
        names["expected"] = parse_expression(expected)
    statement = ast.Assert(substitute(parse_expression(test.form), names), None)
    known = test.prelude.splitlines()
    before = [line for line in test.form_prelude.splitlines() if line not in known]
    return "\n".join([*known, *before, to_text(statement)])
