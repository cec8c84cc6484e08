"""Tests written as Python again, for people, exported suites and pytest files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from code_a1.assertions import parse_assertions, to_source
from code_a1.records import TestCase


@pytest.mark.parametrize(
    ("suite", "source"),
    [
        ("assert f( 2 )==4, 'm'", "assert f(2) == 4"),
        ("assert 3 < f(2)", "assert f(2) > 3"),
        ("assert 2 in f(2)", "assert 2 in f(2)"),
        ("assert not f(2)", "assert not f(2)"),
        ("assert f(2) == f(3)", "assert f(2) == f(3)"),
        ("assert f(2) == (1 if True else 2)", "assert f(2) == (1 if True else 2)"),
        (
            "import math\nassert math.isclose(f(math.pi), math.e)",
            "import math\nassert math.isclose(f(math.pi), math.e)",
        ),
        ("xs = [3, 1]\nf(xs)\nassert xs == [1, 3]", "xs = [3, 1]\nf(xs)\nassert xs == [1, 3]"),
        ("r = f(2)\nassert r[0] == r[1]", "result_0 = f(2)\nassert result_0[0] == result_0[1]"),
        ("assert all(x > 0 for x in f(2))", "result_0 = f(2)\nassert all((x > 0 for x in result_0))"),
        (
            "def up(x):\n    return [x]\nassert f(up(1)) == up(2)",
            "def up(x):\n    return [x]\nexpected = up(2)\ndef up(x):\n    return [x]\nassert f(up(1)) == expected",
        ),
    ],
)
def test_to_source(suite, source):
    (test,) = parse_assertions(suite, "f")
    assert isinstance(test, TestCase)
    assert to_source(test) == source


def test_the_answer_of_the_reference_takes_the_place_of_the_predicted_one():
    (test,) = parse_assertions("assert f(2) == 5", "f")
    assert isinstance(test, TestCase)
    known = replace(test, expected_value=b"four")
    assert to_source(known, lambda value: {b"four": "2 + 2"}[value]) == "assert f(2) == 2 + 2"
    assert to_source(known) == "assert f(2) == 5"
    assert to_source(replace(known, expected=None), lambda _: "4") == "assert f(2) == 4"


def test_source_of_a_repaired_test_of_several_calls():
    (test,) = parse_assertions("assert f(1) == f(2)", "f")
    assert isinstance(test, TestCase)
    repaired = replace(test, form="(_0, _1) == expected", expected_value=b"x")
    assert to_source(repaired, lambda _: "(1, 4)") == "assert (f(1), f(2)) == (1, 4)"


def test_a_check_program_is_its_own_source():
    program = "def check(candidate):\n    assert candidate(2) == 4"
    assert to_source(TestCase(program, kind="check")) == program


def test_what_was_written_back_reads_the_same():
    for suite in ("assert 3 == f([1], k='\"')", "xs = [1]\nf(xs)\nassert xs == [2]", "assert abs(f(2) - 1) < 0.5"):
        (test,) = parse_assertions(suite, "f")
        assert isinstance(test, TestCase)
        (again,) = parse_assertions(to_source(test), "f")
        assert replace(again, source="") == replace(test, source="")
