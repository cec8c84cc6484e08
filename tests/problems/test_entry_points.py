"""Which name the tests of a solution are about."""

from __future__ import annotations

import pytest

from code_a1.problems.entry_points import defined_names, entry_point_of, parse_source

SOLUTION = """
import math
from os import path as ospath

class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

def swap(pair):
    return Pair(pair.b, pair.a)

def length(pairs):
    inner = 3
    return len(pairs)

double = lambda x: 2 * x
if True:
    def guarded(x):
        return x
"""


def entry(*tests: str, solution: str = SOLUTION) -> str | None:
    return entry_point_of(tests, defined_names(parse_source(solution)))


def test_names_of_the_top_level_in_order_of_writing() -> None:
    names = defined_names(parse_source(SOLUTION))
    assert names.functions == ("swap", "length", "guarded")
    assert names.classes == ("Pair",)
    assert names.assigned == ("double",)
    assert names.imported == ("math", "ospath")
    assert "length" in names
    assert "inner" not in names
    assert "ospath" in names
    assert "sqrt" not in names
    assert "sqrt" in defined_names(parse_source("from math import *"))


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("assert length([1]) == 1", "length"),
        ("assert length([Pair(1, 2), Pair(3, 4)]) == 2", "length"),
        ("assert set(length([1])) == {1}", "length"),
        ("assert not length([])", "length"),
        ("assert math.isclose(length([1]), 1.0, rel_tol=0.1)", "length"),
        ("assert 1 == length([1])", "length"),
        ("assert (length([1]),) == (1,)", "length"),
        ("assert 0 < length([1]) < 2", "length"),
        ("assert sorted(length(x) for x in [[1]]) == [1]", "length"),
        ("assert swap(Pair(1, 2)).a == 2", "swap"),
        ("assert Pair(1, 2) == swap(Pair(2, 1))", "swap"),
        ("p = Pair(1, 2)\nassert p.a == 1", "Pair"),
        ("assert Pair(1, 2).a == 1", "Pair"),
        ("assert double(2) == 4", "double"),
        ("assert guarded(1) == 1", "guarded"),
        ("assert list(map(double, [1])) == [2]", "double"),
        ("assert abs(-1) == 1", None),
        ("assert inner(1) == 1", None),
    ],
)
def test_entry_point_of_one_test(test: str, expected: str | None) -> None:
    assert entry(test) == expected


def test_the_name_that_most_tests_call_wins() -> None:
    assert entry("assert swap(1) == 1", "assert length(1) == 1", "assert length(2) == 1") == "length"


def test_no_tests_name_nothing() -> None:
    assert entry() is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(:", "line 1"),
        ("x = 1\nreturn x", "outside function"),
        ("x = '\0'", "null"),
        ("(" * 500 + ")" * 500, "paren|nest"),
    ],
)
def test_what_is_not_python_says_why(source: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_source(source)


def test_an_odd_escape_is_no_warning() -> None:
    assert defined_names(parse_source("PATTERN = '\\d'")).assigned == ("PATTERN",)


def test_a_long_sum_does_not_exhaust_the_stack() -> None:
    source = "total = " + " + ".join("1" for _ in range(900)) + "\ndef f():\n    return total"
    assert entry("assert f() == " + " + ".join("1" for _ in range(900)), solution=source) == "f"
