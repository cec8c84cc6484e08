"""`TestCase` → source again, and the key under which equal calls are known."""

from __future__ import annotations

import ast
from collections.abc import Callable

from code_a1.assertions.names import COMPREHENSIONS, free_names
from code_a1.assertions.parsing import parse_expression, parse_module, to_text
from code_a1.assertions.unrolling import substitute
from code_a1.records import TestCase


def call_key(test: TestCase) -> tuple[str, tuple[str, ...]]:
    """What a test calls: equal for tests that differ only in layout, in the answer or in the form."""
    return (test.prelude, test.calls)


def to_source(test: TestCase, literal: Callable[[bytes], str] | None = None) -> str:
    """The test as Python: the statements before it and an assert that means the same.

    `literal` writes an encoded expected value as source; without it the answer is the predicted one.
    """
    if test.kind == "check" or (test.expected_value is None and _is_plain(test)):
        return test.source
    form = parse_expression(test.form)
    calls = {f"_{i}": parse_expression(call) for i, call in enumerate(test.calls)}
    results: dict[str, ast.expr] = {}
    assigned: list[ast.stmt] = []
    if not _read_once_in_order(form, list(calls)):
        assigned = [ast.Assign([ast.Name(f"result{n}", ast.Store())], call, lineno=1) for n, call in calls.items()]
        results = {n: ast.Name(f"result{n}", ast.Load()) for n in calls}
    names = results or calls
    expected = literal(test.expected_value) if test.expected_value is not None and literal else test.expected
    if expected is not None:
        names = names | {"expected": parse_expression(expected)}
    before = [to_text(s) for s in parse_module(test.prelude)]
    form_before = [to_text(s) for s in parse_module(test.form_prelude)]
    if set(before) & set(form_before) and expected is not None and test.expected_value is None:
        # what both sides are made from could change under the call: the answer comes first, from values of its own
        answer = to_text(ast.Assign([ast.Name("expected", ast.Store())], names.pop("expected"), lineno=1))
        before = [*form_before, answer, *before]
    else:
        before += [text for text in form_before if text not in before]
    statement = ast.Assert(substitute(form, names), None)
    return "\n".join([*before, *map(to_text, assigned), to_text(statement)])


def _is_plain(test: TestCase) -> bool:
    """Whether the assert as it was written is already one call compared with an answer, with nothing before it."""
    if test.prelude or test.form_prelude or len(test.calls) != 1 or test.expected is None:
        return False
    operator = test.form.removeprefix("_0 ").removesuffix(" expected")
    return (
        test.form == f"_0 {operator} expected" and test.source == f"assert {test.calls[0]} {operator} {test.expected}"
    )


def _read_once_in_order(form: ast.expr, names: list[str]) -> bool:
    """Whether the calls may be written where their results are read: once each, in order, and not inside a loop."""
    read = sorted((n.lineno, n.col_offset, n.id) for n in ast.walk(form) if isinstance(n, ast.Name) and n.id in names)
    inner = [n for n in ast.walk(form) if isinstance(n, (*COMPREHENSIONS, ast.Lambda))]
    repeated = any(not free_names(n).isdisjoint(names) for n in inner)
    return [name for _, _, name in read] == names and not repeated
