"""Diversity of tests, counted by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from code_a1.diversity import KINDS, arguments_of, call_key, diversity_metrics, is_boundary, statement_calls
from code_a1.mistake_book import MistakeBook
from code_a1.prompts import parse_suite
from code_a1.records import (
    Candidate,
    Completion,
    JudgedCandidate,
    JudgedSuite,
    JudgedTest,
    Judgement,
    Problem,
    TestSuite,
    Validity,
    Verdict,
)

NOTHING = Completion("", (), (), (), "stop")
PROBLEM = Problem("p", 'Join. For example, f("a", [1]) is "a1", and f( \'b\', [] ) is "b".', "f", "def f(s, xs): ...")


def parsed(*asserts: str):
    return parse_suite("```python\n" + "\n".join(asserts) + "\n```", "f")


def judgement(*suites: tuple[str, ...], validity: Validity = Validity.VALID) -> Judgement:
    judged = tuple(
        JudgedSuite(
            TestSuite(parsed(*asserts), NOTHING),
            tuple(JudgedTest(t.source, validity, t, Verdict.PASS) for t in parsed(*asserts)),
        )
        for asserts in suites
    )
    return Judgement(PROBLEM, (), (JudgedCandidate(Candidate("p", 0, "", NOTHING), True, (), judged),))


def test_a_step_by_hand():
    book = MistakeBook()
    book.record("p", (), parsed("assert f('b', []) == 'c'"))
    metrics = diversity_metrics(
        [
            judgement(
                ('assert f("a", [1]) == "a1"', "assert f('b', []) == 'b'"),
                ("assert f('b',[]) == 'x'", "assert f(s='abc', xs=(2.5, None)) is not None"),
            )
        ],
        book,
    )
    # four tests, three distinct calls; of eight arguments 'a', [1], 'b', [], 'b', [] lie at a boundary
    assert metrics["diversity/distinct_calls"] == pytest.approx(3 / 4)
    assert metrics["diversity/in_statement"] == pytest.approx(3 / 4)
    assert metrics["diversity/in_book"] == pytest.approx(2 / 4)
    assert metrics["diversity/boundary"] == pytest.approx(6 / 8)
    assert metrics["diversity/length"] == pytest.approx((1 + 1 + 1 + 0 + 1 + 0 + 3 + 2) / 8)
    types = {kind: metrics[f"diversity/type/{kind}"] for kind in KINDS}
    assert types == dict.fromkeys(KINDS, 0) | {"str": 4 / 8, "list": 3 / 8, "tuple": 1 / 8}
    assert math.isnan(metrics["diversity/magnitude"])  # no number among them


def test_every_key_is_documented():
    text = (Path(__file__).parents[1] / "docs/metrics.md").read_text(encoding="utf-8")
    for key in diversity_metrics([], MistakeBook()):
        assert f"`{key}`" in text or key.startswith("diversity/type/")


def test_numbers_are_averaged_on_a_logarithmic_scale():
    metrics = diversity_metrics(
        [judgement(("assert f(9, -99) == 1", f"assert f(10**400, {10**25}) == 2"))], MistakeBook()
    )
    # 10**400 is no literal here; log10 of 10, 100 and (capped) 20
    assert metrics["diversity/magnitude"] == pytest.approx((1 + 2 + 20) / 3)
    assert (metrics["diversity/type/int"], metrics["diversity/type/other"]) == (3 / 4, 1 / 4)


def test_unusable_tests_do_not_count_and_nothing_is_no_value():
    metrics = diversity_metrics([judgement(("assert f('a', []) == 1",), validity=Validity.CALL_FAILED)], MistakeBook())
    assert all(math.isnan(value) for value in metrics.values())
    assert diversity_metrics([], MistakeBook()).keys() == metrics.keys()


@pytest.mark.parametrize(
    "source",
    [
        "None",
        "0",
        "1",
        "-1",
        "0.0",
        "-1.0",
        "float('inf')",
        "float('nan')",
        "''",
        "'x'",
        "[]",
        "{}",
        "set()",
        "[7]",
        "(3,)",
        "2147483647",
        "-2**31".replace("-2**31", str(-(2**31))),
    ],
)
def test_boundary_values(source):
    assert [a.boundary for a in arguments_of(f"f({source})", "f")] == [True]


@pytest.mark.parametrize(
    "source",
    ["2", "-2", "True", "False", "1.5", "1e300", "'xy'", "[0, 0]", "{1: 2, 3: 4}", "2147483646", "x", "g(0)", "[x]"],
)
def test_values_within(source):
    assert [a.boundary for a in arguments_of(f"f({source})", "f")] == [False]


def test_arguments_are_those_of_the_entry_point_wherever_it_is_called():
    assert [a.kind for a in arguments_of("sorted(f([1, 2], key=None))", "f")] == ["list", "NoneType"]
    assert [a.kind for a in arguments_of("f(f(1), b'x', {2}, frozenset(), True)", "f")] == [
        "other",
        "other",
        "set",
        "other",
        "bool",
        "int",
    ]
    assert arguments_of("f(", "f") == ()
    assert not is_boundary(object())


def test_examples_in_a_statement_are_found_and_written_one_way():
    text = "Use f(1,  2). Or `f( 'a)', [3] )`, also f((1, 2)) and xf(9), f(broken, f.x and f(4"
    assert statement_calls(text, "f") == {"f(1, 2)", "f('a)', [3])", "f((1, 2))"}
    [test] = parsed('assert f( "a)",[3]) == 1')
    assert call_key(test) == ("f('a)', [3])",)
