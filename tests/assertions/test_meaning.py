"""A parsed test holds exactly where the assert holds in plain Python, on right and wrong solutions alike."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assertions.plain_python import parsed_outcome, plain_outcomes
from code_a1.assertions import parse_assertions, to_source
from code_a1.records import TestCase

# the solutions and asserts of MBPP hold invalid escapes, which plain Python warns about
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")

SOLUTIONS = {
    "sorted copy": "def f(xs, k=0):\n    return sorted(xs)",
    "sorts in place": "def f(xs, k=0):\n    xs.sort()\n    return xs",
    "sorts in place, returns nothing": "def f(xs, k=0):\n    xs.sort()",
    "unsorted copy": "def f(xs, k=0):\n    return list(xs)",
    "appends": "def f(xs, k=0):\n    xs.append(k)\n    return list(xs)",
    "empties": "def f(xs, k=0):\n    r = sorted(xs)\n    xs.clear()\n    return r",
    "raises": "def f(xs, k=0):\n    if len(xs) > 2:\n        raise ValueError('long')\n    return sorted(xs)",
    "a number": "def f(xs, k=0):\n    return sum(xs) + k",
    "a generator": "def f(xs, k=0):\n    return tuple(sorted(xs))",
}

literals = st.lists(st.integers(-3, 3), max_size=4).map(repr)
names = st.sampled_from(["a", "b", "c"])
calls = st.one_of(
    st.builds("f({})".format, st.one_of(literals, names)),
    st.builds("f({}, {})".format, names, st.integers(0, 3)),
    st.builds("f({}, k={})".format, literals, st.integers(0, 3)),
)
answers = st.one_of(
    literals, names, st.builds("sorted({})".format, names), st.just("None"), st.integers(-3, 9).map(str)
)
asserts = st.one_of(
    st.builds("assert {} {} {}".format, calls, st.sampled_from(["==", "!=", "<", ">="]), answers),
    st.builds("assert {} {} {}".format, answers, st.sampled_from(["==", "!=", "<", ">="]), calls),
    st.builds("assert {} == {}".format, calls, calls),
    st.builds("assert not {}".format, calls),
    st.builds("assert {} is None".format, calls),
    st.builds("assert {} in [{}, {}]".format, calls, answers, answers),
    st.builds("assert {} in {}".format, st.integers(-3, 3), calls),
    st.builds("assert len({}) == {}".format, calls, st.integers(0, 4)),
    st.builds("assert {}[0] == {}".format, calls, st.integers(-3, 3)),
    st.builds("assert {} == {} and f({}) != {}".format, calls, literals, literals, answers),
    st.builds("assert all(x > {} for x in {})".format, st.integers(-3, 3), calls),
    st.builds("assert [f(x) for x in [{}, {}]] == [{}, {}]".format, literals, names, answers, answers),
    st.builds("assert {} == {}".format, names, answers),
    st.builds("assert r == {}".format, answers),
    st.builds("assert r is not {}".format, names),
    st.builds("assert {} <= {} <= {}".format, literals, calls, literals),
)
statements = st.one_of(
    st.builds("{} = {}".format, names, literals),
    st.builds("{} = {}".format, names, names),
    st.builds("{} = list({})".format, names, names),
    st.builds("{}.append({})".format, names, st.integers(-3, 3)),
    st.builds("r = {}".format, calls),
    st.builds("{}".format, calls),
    st.builds("{} += [{}]".format, names, st.integers(-3, 3)),
    st.builds("for x in [{}, {}]:\n    f(x)".format, names, names),
)
START = "a = [3, 1, 2]\nb = [1]\nc = a\nr = f(list(b))\n"


@st.composite
def suites(draw):
    lines = draw(st.lists(st.one_of(statements, asserts), min_size=1, max_size=7))
    return START + "\n".join([*lines, draw(asserts)])


@settings(max_examples=150, deadline=None)
@given(suites(), st.sampled_from(sorted(SOLUTIONS)))
def test_meaning_is_preserved(suite, solution):
    source = SOLUTIONS[solution]
    try:
        plain = plain_outcomes(suite, source)
    except Exception:  # a statement between the asserts raises: there the suite ends in plain Python
        return
    tests = parse_assertions(suite, "f")
    for test, holds in zip(tests, plain, strict=False):
        if isinstance(test, TestCase):
            assert parsed_outcome(test, source) is holds, (test, solution)
            assert _holds(to_source(test), source) is holds, (test, to_source(test), solution)


def _holds(test: str, solution: str) -> bool:
    namespace: dict[str, object] = {}
    exec(solution, namespace)
    try:
        exec(test, namespace)
    except Exception:
        return False
    return True


def entry_point_of(tests: list[str], code: str) -> str:
    """The function called in the first assert that the solution defines."""
    defined = {n.name for n in ast.parse(code).body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    called = [n.id for n in ast.walk(ast.parse(tests[0].strip())) if isinstance(n, ast.Name)]
    return next(name for name in called if name in defined)


@pytest.fixture(scope="module")
def mbpp(shared_data):
    rows = [json.loads(line) for line in (shared_data / "mbpp.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 974
    return rows


def test_every_mbpp_assert_is_a_test(mbpp):
    """All 2,938; all but three compare one call with an answer."""
    forms: dict[str, int] = {}
    for row in mbpp:
        entry_point = entry_point_of(row["test_list"], row["code"])
        for source in row["test_list"] + row["challenge_test_list"]:
            (test,) = parse_assertions(source, entry_point)
            assert isinstance(test, TestCase), (source, test)
            forms[test.form] = forms.get(test.form, 0) + 1
    assert forms == {"_0 == expected": 2935, "int(_0) == 35": 1, "int(_0) == 5": 1, "int(_0) == 20": 1}


@pytest.mark.slow
def test_every_mbpp_assert_means_what_it_means_in_plain_python(mbpp):
    checked = 0
    for row in mbpp:
        solution = row["code"] + "\n" + row["test_setup_code"]
        entry_point = entry_point_of(row["test_list"], row["code"])
        for source in row["test_list"] + row["challenge_test_list"]:
            (test,) = parse_assertions(source, entry_point)
            assert isinstance(test, TestCase)
            if row["task_id"] != 927 and plain_outcomes(source, solution) == [True]:
                assert parsed_outcome(test, solution), (row["task_id"], source)
                checked += 1
    assert checked > 2900


def test_every_ult_assert_is_a_test(shared_data):
    rows = json.loads((shared_data / "ult_lite_public.json").read_text(encoding="utf-8"))
    tests = [test for row in rows for source in row["test_list"] for test in parse_assertions(source, row["func_name"])]
    assert len(tests) == 500
    assert [test for test in tests if not isinstance(test, TestCase)] == []
