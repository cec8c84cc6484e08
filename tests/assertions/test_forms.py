"""Every form of one assert, with the test that it is by hand."""

from __future__ import annotations

import pytest

from code_a1.assertions import parse_assertions
from code_a1.records import RejectedTest, TestCase, Validity

EQUAL = "_0 == expected"

# source, calls, form, expected
FORMS = [
    ("assert f(2) == 4", ["f(2)"], EQUAL, "4"),
    ("assert f( 2 )==4 , 'message'", ["f(2)"], EQUAL, "4"),
    ("assert (f(2)) == (4)", ["f(2)"], EQUAL, "4"),
    ("assert f(\n  [1,\n   2],\n  k='a',\n) == {\n  'x': (1,),\n}", ["f([1, 2], k='a')"], EQUAL, "{'x': (1,)}"),
    ("assert 4 == f(2)", ["f(2)"], EQUAL, "4"),
    ("assert 4 != f(2)", ["f(2)"], "_0 != expected", "4"),
    ("assert 3 < f(2)", ["f(2)"], "_0 > expected", "3"),
    ("assert 3 >= f(2)", ["f(2)"], "_0 <= expected", "3"),
    ("assert f(2) < 3", ["f(2)"], "_0 < expected", "3"),
    ("assert f(2) in {1, 2}", ["f(2)"], "_0 in expected", "{1, 2}"),
    ("assert f(2) not in [1]", ["f(2)"], "_0 not in expected", "[1]"),
    ("assert 2 in f(2)", ["f(2)"], "expected in _0", "2"),
    ("assert 2 not in f(2)", ["f(2)"], "expected not in _0", "2"),
    ("assert f(2) is None", ["f(2)"], "_0 is expected", "None"),
    ("assert None is not f(2)", ["f(2)"], "_0 is not expected", "None"),
    ("assert f(2) is True", ["f(2)"], "_0 is expected", "True"),
    ("assert f(2) is f(2)", ["f(2) is f(2)"], "_0", None),
    ("assert f(2)", ["f(2)"], "_0", None),
    ("assert not f(2)", ["f(2)"], "not _0", None),
    ("assert not f(2) == 3", ["f(2)"], "_0 != expected", "3"),
    ("assert not f(2) < 3", ["f(2)"], "not _0 < 3", None),
    ("assert not 3 in f(2)", ["f(2)"], "expected not in _0", "3"),
    ("assert f(2) == f(3)", ["f(2)", "f(3)"], "_0 == _1", None),
    ("assert f(2) == f(2)", ["f(2)", "f(2)"], "_0 == _1", None),
    ("assert 0 < f(3) <= 3", ["f(3)"], "0 < _0 <= 3", None),
    ("assert f(1) < f(2) < f(3)", ["f(1)", "f(2)", "f(3)"], "_0 < _1 < _2", None),
    ("assert abs(f(2) - 2) < 1e-6", ["f(2)"], "abs(_0 - 2) < 1e-06", None),
    ("assert f(2) == 1 and f(3) == 2", ["f(2)", "f(3)"], "_0 == 1 and _1 == 2", None),
    ("assert f(2) == 1 or f(2) == 2", ["f(2)", "f(2)"], "_0 == 1 or _1 == 2", None),
    ("assert len(f(2)) == 3", ["f(2)"], "len(_0) == 3", None),
    ("assert set(f(2)) == {1}", ["f(2)"], "set(_0) == {1}", None),
    ("assert list(f(2)) == [1]", ["f(2)"], "list(_0) == [1]", None),
    ("assert isinstance(f(2), int)", ["f(2)"], "isinstance(_0, int)", None),
    ("assert f(2)[0] == 1", ["f(2)"], "_0[0] == 1", None),
    ("assert f(2).startswith('a')", ["f(2)"], "_0.startswith('a')", None),
    ("assert f'{f(2)}' == '4'", ["f(2)"], "f'{_0}' == '4'", None),
    ("assert -f(2) == -4", ["f(2)"], "-_0 == -4", None),
    ("assert f(2) + 1 == 5", ["f(2)"], "_0 + 1 == 5", None),
    ("assert (1 if f(2) else 0) == 1", ["f(2)"], "(1 if _0 else 0) == 1", None),
    ("assert f(2) == -4", ["f(2)"], EQUAL, "-4"),
    ("assert f(2) == float('inf')", ["f(2)"], EQUAL, "float('inf')"),
    ("assert f(2) == 1e999", ["f(2)"], EQUAL, "1e309"),
    ("assert f(2) == 3 + 4j", ["f(2)"], EQUAL, "3 + 4j"),
    ("assert f(2) == sorted([3, 1])", ["f(2)"], EQUAL, "sorted([3, 1])"),
    ('assert f(\'say "hi"\\n\') == "it\'s"', ["f('say \"hi\"\\n')"], EQUAL, '"it\'s"'),
    ("assert f('ü', '日本') == 'é'", ["f('ü', '日本')"], EQUAL, "'é'"),
    ("assert f(f(2)) == 3", ["f(f(2))"], EQUAL, "3"),
    ("assert f(2)(3) == 5", ["f(2)(3)"], EQUAL, "5"),
    ("assert f(*[1, 2], **{'a': 1}) == 3", ["f(*[1, 2], **{'a': 1})"], EQUAL, "3"),
    ("assert f(lambda x: x + 1, 3) == 4", ["f(lambda x: x + 1, 3)"], EQUAL, "4"),
    ("assert f([i * i for i in range(3)]) == 5", ["f([i * i for i in range(3)])"], EQUAL, "5"),
    ("assert next(f(3)) == 1", ["next(f(3))"], EQUAL, "1"),
    ("assert list(map(f, [1, 2])) == [1, 2]", ["list(map(f, [1, 2]))"], EQUAL, "[1, 2]"),
    ("assert all(map(f, [1, 2]))", ["list(map(f, [1, 2]))"], "all(_0)", None),
    ("assert sorted([3, 1], key=f) == [1, 3]", ["sorted([3, 1], key=f)"], EQUAL, "[1, 3]"),
    ("assert all(f(i) == i for i in range(2))", ["f(0)", "f(1)"], "all([_0 == 0, _1 == 1])", None),
    ("assert [f(c) for c in 'ab'] == ['A', 'B']", ["f('a')", "f('b')"], "[_0, _1] == ['A', 'B']", None),
    ("assert {x: f(x) for x in (1, 2)} == {}", ["f(1)", "f(2)"], "{1: _0, 2: _1} == {}", None),
    ("assert len({f(x) for x in [1, 2]}) == 2", ["f(1)", "f(2)"], "len({_0, _1}) == 2", None),
    ("assert all(f(x) == y for x, y in zip([1, 2], [3, 4]))", ["f(1)", "f(2)"], "all([_0 == 3, _1 == 4])", None),
    ("assert all(x > 0 for x in f(3))", ["f(3)"], "all((x > 0 for x in _0))", None),
    ("assert any(f(2) == v for v in (1, 2))", ["f(2)"], "any((_0 == v for v in (1, 2)))", None),
    ("assert max(f(2), f(3)) == 3", ["f(2)", "f(3)"], "max(_0, _1) == 3", None),
    ("assert f(Node(1)).val == 2", ["f(Node(1)).val"], EQUAL, "2"),
    ("assert f(2).next.items[0].val == 2", ["f(2).next.items[0].val"], EQUAL, "2"),
    ("assert f(2) == Node(1)", ["f(2)", "Node(1)"], "_0 == _1", None),
]


@pytest.mark.parametrize(("source", "calls", "form", "expected"), FORMS, ids=[f[0] for f in FORMS])
def test_forms(source, calls, form, expected):
    (test,) = parse_assertions(source, "f")
    assert isinstance(test, TestCase), test
    assert (list(test.calls), test.form, test.expected) == (calls, form, expected)
    assert (test.prelude, test.form_prelude, test.expected_value, test.kind) == ("", "", None, "assert")


@pytest.mark.parametrize(
    ("source", "form", "form_prelude"),
    [
        ("import math\nassert math.isclose(f(2), 2.0)", "math.isclose(_0, 2.0)", "import math"),
        ("assert math.isclose(f(2), 2.0)", "math.isclose(_0, 2.0)", "import math"),
        ("assert Counter(f(2)) == Counter('a')", "Counter(_0) == Counter('a')", "from collections import Counter"),
        ("import numpy as np\nassert np.allclose(f(2), [1.0])", "np.allclose(_0, [1.0])", "import numpy as np"),
        ("np.testing.assert_array_equal(f(2), [1])", "np.array_equal(_0, [1])", "import numpy as np"),
    ],
)
def test_what_surrounds_the_calls_brings_its_imports(source, form, form_prelude):
    (test,) = parse_assertions(source, "f")
    assert isinstance(test, TestCase)
    assert (test.calls, test.form, test.prelude, test.form_prelude) == (("f(2)",), form, "", form_prelude)


@pytest.mark.parametrize(
    ("source", "value", "holds"),
    [
        ("assert f(2) == pytest.approx(2.0)", 2.0000001, True),
        ("assert f(2) == approx(2.0)", 2.1, False),
        ("assert approx([1.0, 2.0], abs=0.2) == f(2)", [1.1, 2.1], True),
        ("assert f(2) == approx([1.0, 2.0])", [1.0], False),
        ("assert f(2) == approx({'a': 0.3})", {"a": 0.1 + 0.2}, True),
        ("assert f(2) == approx(1.0, rel=0.5)", 1.4, True),
        ("assert f(2) == approx(0.0)", 1e-13, True),
        ("assert f(2) == approx(float('inf'))", 5.0, False),
        ("assert f(2) == approx('a')", "a", True),
        ("assert f(2) != approx(1.0)", 2.0, True),
    ],
)
def test_approx_means_what_it_means_to_pytest(source, value, holds):
    (test,) = parse_assertions(source, "f")
    assert isinstance(test, TestCase)
    assert test.calls == ("f(2)",)
    namespace: dict[str, object] = {}
    exec(test.form_prelude, namespace)
    assert eval(test.form, namespace | {"_0": value}) is holds
    assert (
        eval(source.removeprefix("assert "), {"f": lambda _: value, "pytest": pytest, "approx": pytest.approx}) is holds
    )


@pytest.mark.parametrize(
    ("source", "validity", "reason"),
    [
        ("assert 1 == 1", Validity.OFF_TARGET, "never calls"),
        ("assert g(2) == 4", Validity.OFF_TARGET, "never calls"),
        ("assert ff(2) == 4", Validity.OFF_TARGET, "never calls"),
        ("assert f", Validity.OFF_TARGET, "without calling"),
        ("assert callable(f)", Validity.OFF_TARGET, "without calling"),
        ("assert f.__name__ == 'f'", Validity.OFF_TARGET, "never calls"),
        ("def f(x): return 4\nassert f(2) == 4", Validity.OFF_TARGET, "defines the entry point"),
        ("f = lambda x: 4\nassert f(2) == 4", Validity.OFF_TARGET, "defines the entry point"),
        ("from math import sqrt as f\nassert f(4) == 2", Validity.OFF_TARGET, "defines the entry point"),
        ("for f in [abs]: pass\nassert f(2) == 2", Validity.OFF_TARGET, "defines the entry point"),
        ("assert (f(2) == 4, 'message')", Validity.MALFORMED, "always true"),
        ("assert f(x := 2) == 4", Validity.MALFORMED, "assigns"),
        ("assert await f(2) == 4", Validity.MALFORMED, "awaits"),
        ("assert f(2) ==", Validity.MALFORMED, "not a Python statement"),
        ("assert f(2) = 4", Validity.MALFORMED, "not a Python statement"),
        ("assert f(2) == [1, 2", Validity.MALFORMED, "not a Python statement"),
        ("assert f(2) == 'abc", Validity.MALFORMED, "not a Python statement"),
        ("assert (lambda v: f(v) == 3)(2)", Validity.MALFORMED, "depends on a variable"),
        ("assert all(f(x) for x in range(9) if x % 2)", Validity.MALFORMED, "condition"),
        ("assert all(f(x) == x for x in range(65))", Validity.MALFORMED, "64 literals"),
        ("assert all(f(x) for x in count())", Validity.MALFORMED, "64 literals"),
        ("assert f(2) == _0", Validity.MALFORMED, "taken"),
        ("assert all_equal(f(2), 4)", Validity.MALFORMED, "nothing defines the function 'all_equal'"),
        ("assert f(eval('2')) == 4", Validity.MALFORMED, "'eval' reaches"),
        ("assert f(f.__globals__) == 4", Validity.MALFORMED, "'__globals__' reaches"),
        ("if x: assert f(2) == 4", Validity.MALFORMED, "if statement around it"),
        ("while True:\n    assert f(2) == 4", Validity.MALFORMED, "while statement around it"),
        ("try:\n    assert f(2) == 4\nexcept ValueError: pass", Validity.MALFORMED, "try statement around it"),
        ("with pytest.raises(ValueError):\n    f(-1)", Validity.MALFORMED, "with statement around it"),
        ("for x in f(3):\n    assert x > 0", Validity.MALFORMED, "not literals"),
        ("for x in [1, 2]:\n    if x: break\n    assert f(x)", Validity.MALFORMED, "break"),
    ],
)
def test_rejected(source, validity, reason):
    (test,) = parse_assertions(source, "f")
    assert isinstance(test, RejectedTest), test
    assert test.validity is validity
    assert reason in test.reason


def test_what_is_no_assert_is_no_test():
    assert parse_assertions("print(f(2))\nf(3)\nf(2) == 4\n'assert f(2) == 4'\n# assert f(2) == 4", "f") == ()
    assert parse_assertions("", "f") == ()
    assert parse_assertions("assertion = f(2)\nassert_it = 3", "f") == ()


def test_the_same_call_has_the_same_spelling():
    sources = ["assert f( [1,2] )==3", "x = [1, 2]\nassert f(x) == 3", "for x in [[1, 2]]:\n  assert f(x) == 3"]
    sources += ["def test():\n  got = f([1, 2])\n  want = 3\n  assert got == want"]
    tests = [parse_assertions(s, "f")[0] for s in sources]
    assert {(t.prelude, t.calls, t.form, t.expected) for t in tests} == {("", ("f([1, 2])",), EQUAL, "3")}


def test_at_most_max_tests_are_read():
    suite = "\n".join(f"assert f({i}) == {i}" for i in range(10_000))
    assert len(parse_assertions(suite, "f")) == 64
    assert [t.source for t in parse_assertions(suite, "f", max_tests=2)] == ["assert f(0) == 0", "assert f(1) == 1"]
    assert parse_assertions(suite, "f", max_tests=0) == ()
