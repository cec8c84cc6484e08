"""How varied the tests of a step are: whether a tester tries many things, or has found one that always works.

Counted over usable tests. A call is what a test asks of the entry point, with its literals written one way; arguments
are the values that are passed, top level only; what is no plain value counts as `other`.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache

from code_a1.assertions.literals import node_value
from code_a1.assertions.parsing import parse_expression, to_text
from code_a1.metrics import Metrics, mean
from code_a1.mistake_book import MistakeBook
from code_a1.records import Judgement, TestCase

KINDS = ("bool", "int", "float", "str", "list", "tuple", "dict", "set", "NoneType", "other")
"""Types of arguments that are told apart."""

LARGE = 2**31 - 1
"""Integers from here on are boundary values: where other languages' integers end."""

CALL_CHARS = 500
"""Longest call that is looked for in a statement."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What is counted of one value that a test passes."""

    kind: str
    boundary: bool
    length: int | None
    """Of strings and containers."""
    magnitude: float | None
    """Of numbers: log10(1 + |x|), 20 at most, a scale on which typical and huge ones can be averaged."""


def diversity_metrics(judgements: Sequence[Judgement], book: MistakeBook) -> Metrics:
    """Diversity of the step's usable tests; `book` as it was when they were written. NaN where there are none."""
    distinct: list[float] = []
    examples: list[bool] = []
    remembered: list[bool] = []
    arguments: list[Argument] = []
    for judgement in judgements:
        problem = judgement.problem
        tests = [t.test for c in judgement.candidates for s in c.suites for t in s.usable if t.test is not None]
        keys = [call_key(test) for test in tests]
        if keys:
            distinct.append(len(set(keys)) / len(keys))
        stated = statement_calls(problem.statement, problem.entry_point)
        held = {call_key(test) for test in book.counts(problem.problem_id)}
        examples += [not stated.isdisjoint(key) for key in keys]
        remembered += [key in held for key in keys]
        arguments += [a for test in tests for call in test.calls for a in arguments_of(call, problem.entry_point)]
    types = Counter(a.kind for a in arguments)
    return {
        "diversity/distinct_calls": mean(distinct),
        "diversity/in_statement": mean(examples),
        "diversity/in_book": mean(remembered),
        "diversity/boundary": mean(a.boundary for a in arguments),
        "diversity/length": mean(a.length for a in arguments if a.length is not None),
        "diversity/magnitude": mean(a.magnitude for a in arguments if a.magnitude is not None),
        **{f"diversity/type/{kind}": types[kind] / len(arguments) if arguments else math.nan for kind in KINDS},
    }


def call_key(test: TestCase) -> tuple[str, ...]:
    """What a test calls, as the parser of tests writes it; the code that its arguments need belongs to it."""
    return (*test.calls, test.prelude) if test.prelude else test.calls


@lru_cache(maxsize=16384)
def statement_calls(statement: str, entry_point: str) -> frozenset[str]:
    """The calls of the entry point that stand in a problem's statement, written as the parser of tests does."""
    found = (
        _shortest_call(statement[match.start() : match.start() + CALL_CHARS])
        for match in re.finditer(rf"\b{re.escape(entry_point)}\(", statement)
    )
    return frozenset(call for call in found if call)


@lru_cache(maxsize=65536)
def arguments_of(call: str, entry_point: str) -> tuple[Argument, ...]:
    """The values that a call passes to the entry point, keywords included."""
    try:
        nodes = list(ast.walk(parse_expression(call)))
    except SyntaxError:
        return ()
    calls = (n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == entry_point)
    return tuple(_argument(value) for n in calls for value in (*n.args, *(k.value for k in n.keywords)))


def _argument(node: ast.expr) -> Argument:
    try:
        value = node_value(node)
    except ValueError:
        return Argument("other", boundary=False, length=None, magnitude=None)
    name = type(value).__name__
    return Argument(
        name if name in KINDS else "other",
        is_boundary(value),
        len(value) if isinstance(value, Sized) else None,
        _magnitude(value),
    )


def is_boundary(value: object) -> bool:
    """Whether a value lies where programs tend to break.

    None, 0, 1 and -1, integers at or beyond ±(2³¹ − 1), infinities and NaN, and whatever has a length of 0 or 1. No
    bool does: there are only two.
    """
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return value in (0, 1, -1) or not math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= 1 or abs(value) >= LARGE
    return value is None or (isinstance(value, Sized) and len(value) <= 1)


def _magnitude(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        return None
    return 20.0 if abs(value) >= 1e20 else math.log10(1 + abs(value))


def _shortest_call(text: str) -> str | None:
    """The shortest beginning of the text, up to a closing bracket, that is an expression."""
    for end in (i for i, char in enumerate(text) if char == ")"):
        try:
            return to_text(parse_expression(text[: end + 1]))
        except (SyntaxError, ValueError, RecursionError):
            continue
    return None
