"""Arguments as data keep a test's meaning: what a call gets, what it changes, what stays as the test computes it."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import fractions
from collections.abc import Iterator

import pytest

from code_a1.judge import Judge
from code_a1.judge.arguments import by_place, is_data, same_call
from code_a1.judge.settled import settle
from code_a1.judge.values import NotWritable, written
from code_a1.prompts import parse_suite
from code_a1.records import Candidate, CodeGroup, Completion, JudgedTest, Problem, SuiteGroup, TestCase, TestSuite
from code_a1.records import Validity as V
from code_a1.records import Verdict as W
from code_a1.sandbox import Limits, Outcome, OutcomeKind, Sandbox, codec

COMPLETION = Completion("", (), (), (), "stop")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Sandbox(Limits(cpu_s_per_call=1.0, wall_s_per_call=5.0), workers=1) as sandbox:
        yield Judge(sandbox)


def judged(judge: Judge, reference: str, suite: str, *codes: str) -> list[list[JudgedTest]]:
    problem = Problem("p", "A task.", "f", reference)
    tests = TestSuite(parse_suite(f"```python\n{suite}\n```", "f"), COMPLETION)
    group = CodeGroup(problem, tuple(Candidate("p", i, code, COMPLETION) for i, code in enumerate(codes)))
    [judgement] = judge([group], [SuiteGroup("p", i, (tests,)) for i in range(len(codes))])
    return [list(candidate.suites[0].tests) for candidate in judgement.candidates]


def seen(tests: list[JudgedTest]) -> list[tuple[V, W | None]]:
    return [(t.validity, t.verdict) for t in tests]


@pytest.mark.parametrize(
    "call",
    [
        "f()", "f(1)", "f(-1, 2.5, 1e-07, 3j)", "f('a(b', \"c'd\", b'e')", "f([1, [2]], (3,), {4: 'x'}, {5})", "f(True, None)",
        "f(x=1, y=[2])", "f('x=1', [])", "f(set(), float('inf'))", "f(0x1fffff)", "f([(1, 2), (3, 4)])", "f({'a': -1})",
    ],
)  # fmt: skip
def test_literals_are_told_in_a_hurry(call):
    assert is_data(call, "f")


@pytest.mark.parametrize(
    "call",
    [
        "g(1)", "f(x)", "f(g(1))", "f(1)(2)", "f(1).x", "f([1][0])", "f(1 + 1)", "f(2 - 1)", "f(--1)", "f(2 ** 3)", "f(*[1])",
        "f(**{'x': 1})", "f([x for x in 'a'])", "f(lambda: 1)", "f(1 if True else 2)", "f(f'{1}')", "f(not True)", "f((1)(2))",
        "f('a'.upper())", "f('a'[0])", "f([1, 2][0:1])", "f(e)", "f(j)", "f(x:=1)", "f(1) == 1", "f(...)", "f(1 < 2)", "(f(1))",
    ],
)  # fmt: skip
def test_whatever_is_computed_takes_a_closer_look(call):
    assert not is_data(call, "f")


@pytest.mark.parametrize(
    "value",
    [
        0, -5, 10**300, True, None, 1.5, -0.0, float("inf"), float("nan"), 1 + 2j, "é\ud800\n'\"", b"\x00", bytearray(b"x"), [1, [2]],
        (), (1,), (1, 2), {1, 2}, set(), frozenset({3}), frozenset(), {"a": [1]}, range(1, 9, 2), decimal.Decimal("1.50"),
        fractions.Fraction(1, 3), collections.deque([1], 3), collections.Counter("aab"), collections.OrderedDict(a=1),
        dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 1, 2, 3, 4), dt.time(1, 2), dt.timedelta(days=-1, seconds=5), ...,
    ],
)  # fmt: skip
def test_values_are_written_as_they_are(value):
    modules: set[str] = set()
    text = written(value, modules)
    scope = {name: __import__(name) for name in modules}
    assert codec.encode(eval(text, scope)) == codec.encode(value)


@pytest.mark.parametrize(
    "value", [object(), len, int, 10**5000, [object()], "x" * 300_000, dt.datetime.now(dt.UTC)], ids=range(7)
)
def test_what_has_no_source_is_refused(value):
    with pytest.raises(NotWritable):
        written(value, set())


def test_computed_arguments_become_what_was_computed(judge):
    suite = (
        "import math, random\nfrom decimal import Decimal\nfrom collections import deque\nfrom datetime import date\n"
        "assert f(math.floor(2.5), k=[x * x for x in range(3)]) == 3\n"
        "random.seed(7)\nxs = [random.randint(1, 9) for _ in range(3)]\nassert f(xs) == 1\n"
        "assert f(Decimal('1.50')) == 1\nassert f(deque([1, 2])) == 1\nassert f(date(2020, 1, 2)) == 1\nassert f(iter([1, 2])) == 1\n"
        "it = iter([5, 6])\nassert f(next(it)) == 1\n"
    )
    reference = "def f(a, k=()):\n    return len(k) or 1"
    [tests] = judged(judge, reference, suite, "def f(a, k=()): return len(k) if k else 1")
    assert seen(tests) == [(V.VALID, W.PASS)] * 7
    calls = [t.test.calls for t in tests]
    assert calls[0] == ("f(2, [0, 1, 4])",)  # nobody was told what the parameters are called
    assert calls[2] == ("f(decimal.Decimal('1.50'))",)
    assert tests[2].test.prelude == "import decimal"
    assert calls[3] == ("f(collections.deque([1, 2]))",)
    assert calls[6] == ("f(5)",)


SORT = "def f(xs):\n    xs.sort()"
COPY = "def f(xs): return sorted(xs)"
TAMPER = "import sys\ndef f(xs):\n    g = sys._getframe(1).f_globals\n    for n in list(g):\n        if n in ('data', '_a0', 'xs'): g[n] = [0]"


def test_changes_in_place_are_seen_and_nothing_else_can_be_changed(judge):
    suite = "data = {'in': [3, 1, 2], 'out': [1, 2, 3]}\nf(data['in'])\nassert data['in'] == data['out']"
    right, copy, tamper = judged(judge, SORT, suite, "def f(xs): xs[:] = sorted(xs)", COPY, TAMPER)
    assert seen(right) == [(V.VALID, W.PASS)]
    assert seen(copy) == [(V.VALID, W.FAIL)]
    assert seen(tamper) == [(V.VALID, W.FAIL)]
    assert "out" not in "".join((right[0].test.prelude, *right[0].test.calls))


def test_dictionaries_and_sets_are_changed_in_place_too(judge):
    suite = (
        "case = ({'a': 1}, {'a': 1, 'b': 2})\nf(case[0])\nassert case[0] == case[1]\n"
        "class T:\n    x = {1}\n    y = {1, 'b'}\nf(T.x)\nassert T.x == T.y\n"
    )
    reference = "def f(d):\n    if isinstance(d, set):\n        d.add('b')\n    else:\n        d['b'] = 2"
    right, nothing = judged(judge, reference, suite, reference + "\n    return 5", "def f(d): pass")
    assert seen(right) == [(V.VALID, W.PASS)] * 2
    assert seen(nothing) == [(V.VALID, W.FAIL)] * 2


def test_objects_that_are_shared_stay_shared(judge):
    suite = "grid = [[0] * 2] * 2\nassert f(grid) == [[1, 0], [1, 0]]\nx = [1]\nassert f([x, x]) == [[1], [1]]"
    reference = "def f(rows):\n    rows[0][0] = 1\n    return rows"
    [tests] = judged(judge, reference, suite, "def f(g):\n    g[0][0] = 1\n    return g")
    assert seen(tests) == [(V.VALID, W.PASS)] * 2


def test_functions_and_instances_are_made_where_the_candidate_is(judge):
    suite = "class Node:\n    def __init__(self, v): self.v = v\nassert f(lambda n: n.v, Node(3)) == 3\nassert f(len, 'ab') == 2"
    [tests] = judged(judge, "def f(g, x):\n    return g(x)", suite, "def f(g, x):\n    y = g(x)\n    return y")
    assert seen(tests) == [(V.VALID, W.PASS)] * 2


def test_a_test_that_breaks_modules_does_not_change_what_others_compute(judge):
    suite = "import math\nmath.sqrt = lambda x: 0\nassert f(math.sqrt(9)) == 1\n"
    honest = "import math\nassert f(math.sqrt(16)) == 5.0\n"
    problem = Problem("p", "A task.", "f", "def f(x):\n    return x + 1")
    suites = tuple(TestSuite(parse_suite(f"```python\n{s}\n```", "f"), COMPLETION) for s in (suite, honest, suite))
    [judgement] = judge(
        [CodeGroup(problem, (Candidate("p", 0, "def f(x): return 1 + x", COMPLETION),))], [SuiteGroup("p", 0, suites)]
    )
    first, second, _ = judgement.candidates[0].suites
    assert seen(list(second.tests)) == [(V.VALID, W.PASS)]
    assert all(t.verdict in (W.PASS, None) for t in first.tests)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("f(1)", "f(x=1)", True),
        ("f(1)", "f(1, 2)", True),
        ("f(1, 2)", "f(y=2, x=1)", True),
        ("f(1)", "f(1, 3)", False),
        ("f(1)", "f(True)", False),
        ("f(1)", "f(1.0)", False),
        ("f('x=1')", "f('x=2')", False),
        ("f(1)", "f(z=1)", False),
    ],
)
def test_the_same_call_is_known_however_it_is_written(one, other, same):
    source = "def f(x, y=2):\n    return x"
    keys = [same_call(TestCase("", (call,), "_0"), source, "f") for call in (one, other)]
    assert (keys[0] == keys[1]) is same


def test_parameters_are_named_only_where_somebody_told_their_names():
    source = "def f(width, height=2, *, deep=False): return width"
    assert by_place("f(width=1)", source, "f", "Return the area.") == "f(width=1)"  # it has keyword-only parameters
    source = "def f(width, height=2): return width"
    assert by_place("f(1, height=3)", source, "f", "Return the area.") == "f(1, 3)"
    assert by_place("f(height=3, width=1)", source, "f", "Return the area.") == "f(1, 3)"
    assert by_place("f(height=3)", source, "f", "Return the area.") == "f(height=3)"
    assert by_place("f(width=1)", source, "f", "Of a given width …") == "f(width=1)"


def test_the_reference_may_take_half_of_the_time():
    def ran(cpu_s: float) -> Outcome:
        return Outcome(OutcomeKind.VALUE, codec.encode((4,)), cpu_s=cpu_s)

    assert settle(ran(1.9), ran(1.9), cpu_limit_s=2.0).failure is None
    assert settle(ran(2.5), ran(1.9), cpu_limit_s=2.0).failure is None  # one of them was slow by chance
    late = settle(ran(2.5), ran(2.1), cpu_limit_s=2.0)
    assert (late.failure, late.reason) == (V.CALL_FAILED, "the reference takes more than 2 s for it")
