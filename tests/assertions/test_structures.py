"""Suites that are more than lines of asserts: functions, classes, loops, tables, broken text."""

from __future__ import annotations

import pytest

from code_a1.assertions import parse_assertions
from code_a1.records import RejectedTest, TestCase, Validity


def lines(suite: str, entry_point: str = "f") -> list[str]:
    """Each test as `prelude; call form expected`, each rejected piece as its validity and source."""
    found = []
    for t in parse_assertions(suite, entry_point):
        if isinstance(t, TestCase):
            prelude = t.prelude.replace("\n", "; ")
            found.append(f"{prelude + '; ' if prelude else ''}{', '.join(t.calls)} | {t.form} | {t.expected}")
        else:
            found.append(f"{t.validity}: {t.source}")
    return found


CASES = {
    "test functions have scopes of their own": (
        "x = 1\ndef test_a():\n    x = 2\n    assert f(x) == 2\ndef test_b():\n    assert f(x) == 1",
        ["f(2) | _0 == expected | 2", "f(1) | _0 == expected | 1"],
    ),
    "a function may use what follows it": (
        "def test_a():\n    assert f(up(2)) == LIMIT\ndef up(x):\n    return x * SCALE\nLIMIT = 3\nSCALE = 2",
        ["def up(x):;     return x * SCALE; SCALE = 2; f(up(2)) | _0 == expected | 3"],
    ),
    "a return ends a function": ("def test():\n    assert f(1)\n    return\n    assert f(2)", ["f(1) | _0 | None"]),
    "a main function runs once": (
        "def main():\n    assert f(2) == 4\n    print('ok')\nif __name__ == '__main__':\n    main()",
        ["f(2) | _0 == expected | 4"],
    ),
    "asserts under the main guard": ("if __name__ == '__main__':\n    assert f(2) == 4", ["f(2) | _0 == expected | 4"]),
    "a checker runs where it is called": (
        "def check(x, y=4):\n    got = f(x)\n    assert got == y, f'{x}'\ncheck(2)\ncheck([3], y=9)",
        ["f(2) | _0 == expected | 4", "f([3]) | _0 == expected | 9"],
    ),
    "a checker of a candidate": (
        "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate([1]) == 1",
        ["f(2) | _0 == expected | 4", "f([1]) | _0 == expected | 1"],
    ),
    "a checker of a candidate that is called": (
        "def check(candidate):\n    assert candidate(2) == 4\ncheck(f)",
        ["f(2) | _0 == expected | 4"],
    ),
    "a checker that nothing calls": ("def check(a, b):\n    assert f(a) == b", ["MALFORMED: assert f(a) == b"]),
    "a checker that calls itself": (
        "def check(n):\n    assert f(n) == n\n    check(n - 1)\ncheck(3)",
        ["f(3) | _0 == expected | 3", "MALFORMED: assert f(n) == n"],
    ),
    "arguments are bound all at once": (
        "def check(a, b):\n    assert f(a, b) == 0\na, b = [1], [2]\ncheck(b + [], a)\ncheck(b, a)",
        ["a = [1]; b = [2]; a, b = (b + [], a); f(a, b) | _0 == expected | 0", "f([2], [1]) | _0 == expected | 0"],
    ),
    "loops over literals": (
        "for x, y in [(1, 2), ([3], 4)]:\n    assert f(x) == y, x",
        ["f(1) | _0 == expected | 2", "f([3]) | _0 == expected | 4"],
    ),
    "loops over a name": (
        "CASES = {1: 2, 3: 4}\nfor k, v in CASES.items():\n    r = f(k)\n    assert r == v",
        ["f(1) | _0 == expected | 2", "f(3) | _0 == expected | 4"],
    ),
    "loops with a number": (
        "cases = [((1, 2), 3)]\nfor i, ((a, b), want) in enumerate(cases, 1):\n    assert f(a, b, i) == want",
        ["f(1, 2, 1) | _0 == expected | 3"],
    ),
    "loops in loops": (
        "for i in range(2):\n    for c in 'ab':\n        assert f(i, c)",
        [f"f({i}, '{c}') | _0 | None" for i in (0, 1) for c in "ab"],
    ),
    "loops with zip": (
        "a = [1, 2]\nfor x, y in zip(a, [3, 4]):\n    assert f(x) == y",
        ["f(1) | _0 == expected | 3", "f(2) | _0 == expected | 4"],
    ),
    "loops over dictionaries of cases": (
        "for case in [{'x': [1], 'y': 2}]:\n    assert f(case['x']) == case['y']",
        ["f([1]) | _0 == expected | 2"],
    ),
    "loops over rows of a table": (
        "for case in [([1], 2)]:\n    assert f(case[0]) == case[1]\n    assert case[0] == [1]",
        [
            "f(([1], 2)[0]) | _0 == expected | 2",
            "case = ([1], 2); f(case[0]); case | _0[0] == [1] | None",
        ],
    ),
    "parametrize": (
        "@pytest.mark.parametrize('a, b', [(1, 2), pytest.param([3], 4, id='x')])\n"
        "def test_x(a, b):\n    assert f(a) == b",
        ["f(1) | _0 == expected | 2", "f([3]) | _0 == expected | 4"],
    ),
    "parametrize with a single name": (
        "@pytest.mark.parametrize(['a'], [[1], [2]])\ndef test_x(a):\n    assert f(a)",
        ["f([1]) | _0 | None", "f([2]) | _0 | None"],
    ),
    "fixtures": (
        "@pytest.fixture\ndef xs():\n    return [3, 1]\ndef test_x(xs):\n    assert f(xs) == [1, 3]",
        ["def fixture_xs():;     return [3, 1]; xs = fixture_xs(); f(xs) | _0 == expected | [1, 3]"],
    ),
    "unknown fixtures": ("def test_x(capsys):\n    assert f(1) == 2", ["MALFORMED: assert f(1) == 2"]),
    "several on a line": (
        "assert f(1) == 1; assert f(2) == 2",
        ["f(1) | _0 == expected | 1", "f(2) | _0 == expected | 2"],
    ),
}


@pytest.mark.parametrize(("suite", "expected"), CASES.values(), ids=CASES)
def test_structures(suite, expected):
    assert lines(suite) == expected


UNITTEST = """
import unittest
from solution import f

class TestF(unittest.TestCase):
    LIMIT = 9

    def setUp(self):
        self.x = [1]
        self.y = 2

    def double(self, n):
        return [n] * 2

    def check(self, a, b):
        self.assertEqual(f(a), b)

    def test_one(self):
        self.assertEqual(f(self.x), self.y)
        self.check(5, 6)
        self.assertEqual(f(self.double(3)), self.LIMIT)

    def test_two(self):
        for a in (1, 2):
            with self.subTest(a=a):
                self.assertTrue(f(a), "message")
        with self.assertRaises(ValueError):
            f(-1)
        self.assertRaises(ValueError, f, -1)

if __name__ == "__main__":
    unittest.main()
"""


def test_unittest():
    assert lines(UNITTEST) == [
        "f([1]) | _0 == expected | 2",
        "f(5) | _0 == expected | 6",
        "def self_double(n):;     return [n] * 2; f(self_double(3)) | _0 == expected | self_LIMIT",
        "f(1) | _0 | None",
        "f(2) | _0 | None",
        "MALFORMED: self.assertRaises(ValueError)",
        "MALFORMED: self.assertRaises(ValueError, f, -1)",
    ]


@pytest.mark.parametrize(
    ("method", "form", "expected"),
    [
        ("assertEqual(f(2), 4)", "_0 == expected", "4"),
        ("assertEqual(4, f(2), 'm')", "_0 == expected", "4"),
        ("assertEqual(first=f(2), second=4)", "_0 == expected", "4"),
        ("assertNotEqual(f(2), 4)", "_0 != expected", "4"),
        ("assertTrue(f(2) == 4)", "_0 == expected", "4"),
        ("assertFalse(f(2))", "not _0", None),
        ("assertFalse(f(2) == 4)", "_0 != expected", "4"),
        ("assertIs(f(2), None)", "_0 is expected", "None"),
        ("assertIsNone(f(2))", "_0 is expected", "None"),
        ("assertIsNotNone(f(2))", "_0 is not expected", "None"),
        ("assertIn(f(2), [1])", "_0 in expected", "[1]"),
        ("assertNotIn(1, f(2))", "expected not in _0", "1"),
        ("assertGreater(f(2), 1)", "_0 > expected", "1"),
        ("assertLessEqual(1, f(2))", "_0 >= expected", "1"),
        ("assertListEqual(f(2), [1])", "_0 == expected", "[1]"),
        ("assertIsInstance(f(2), int)", "isinstance(_0, int)", None),
    ],
)
def test_unittest_methods(method, form, expected):
    suite = f"class T(unittest.TestCase):\n    def test(self):\n        self.{method}"
    (test,) = parse_assertions(suite, "f")
    assert isinstance(test, TestCase)
    assert (test.calls, test.form, test.expected) == (("f(2)",), form, expected)


@pytest.mark.parametrize(
    ("method", "value", "holds"),
    [
        ("assertAlmostEqual(f(2), 1.0)", 1.00000001, True),
        ("assertAlmostEqual(f(2), 1.0)", 1.0001, False),
        ("assertAlmostEqual(f(2), 1.0, places=2)", 1.001, True),
        ("assertAlmostEqual(f(2), 1.0, 2)", 1.1, False),
        ("assertAlmostEqual(f(2), 1.0, delta=0.5)", 1.4, True),
        ("assertAlmostEqual(f(2), float('inf'))", float("inf"), True),
        ("assertNotAlmostEqual(f(2), 1.0)", 2.0, True),
        ("assertCountEqual(f(2), [1, 2, 2])", [2, 1, 2], True),
        ("assertCountEqual(f(2), [1, 2, 2])", [2, 1, 1], False),
        ("assertCountEqual(f(2), [[1], {}])", [{}, [1]], True),
        ("assertRegex(f(2), 'a+')", "baa", True),
        ("assertNotRegex(f(2), 'a+')", "b", True),
    ],
)
def test_unittest_methods_mean_what_they_mean(method, value, holds):
    (test,) = parse_assertions(f"class T:\n    def test(self):\n        self.{method}", "f")
    assert isinstance(test, TestCase)
    namespace: dict[str, object] = {}
    exec(test.form_prelude, namespace)
    assert bool(eval(test.form, namespace | {"_0": value})) is holds


BROKEN = {
    "a cut-off last line": (
        "assert f(1) == 1\nassert f(2) == [1, 2",
        ["f(1) | _0 == expected | 1", "MALFORMED: assert f(2) == [1, 2"],
    ),
    "a broken line between": (
        "assert f(1) == 1\nassert f(2) = 2\nassert f(3) == 3",
        ["f(1) | _0 == expected | 1", "MALFORMED: assert f(2) = 2", "f(3) | _0 == expected | 3"],
    ),
    "prose between": (
        "Here are the tests:\nassert f(1) == 1\n- and this isn't one\nassert f(2) == 2",
        ["f(1) | _0 == expected | 1", "f(2) | _0 == expected | 2"],
    ),
    "a bracket that spans lines beside a broken line": (
        "x = [\n1,\n2,\n]\nassert f(\nx\n) == [\n]\nthis is broken\nassert f(3) == 3",
        ["f([1, 2]) | _0 == expected | []", "f(3) | _0 == expected | 3"],
    ),
    "a cut-off function": (
        "def test():\n    x = 1\n    assert f(x) == 1\n    assert f(2) == (",
        ["f(1) | _0 == expected | 1", "MALFORMED: assert f(2) == ("],
    ),
    "a class cut off in a word": (
        "class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n    def test_b(se",
        ["f(1) | _0 == expected | 2"],
    ),
    "indented": (
        "    assert f(1) == 1\n    assert f(2) == 2",
        ["f(1) | _0 == expected | 1", "f(2) | _0 == expected | 2"],
    ),
    "unevenly indented": (
        "assert f(1) == 1\n  assert f(2) == 2\nassert f(3) == 3",
        ["f(1) | _0 == expected | 1", "MALFORMED: assert f(2) == 2", "f(3) | _0 == expected | 3"],
    ),
    "Windows line ends and a byte-order mark": (
        "\ufeffassert f(1) == 1\r\nassert f(2) == 2\r",
        ["f(1) | _0 == expected | 1", "f(2) | _0 == expected | 2"],
    ),
    "a NUL byte": (
        "assert f(1) == 1\nassert f('\0') == 2\nassert f(3) == 3",
        ["f(1) | _0 == expected | 1", "MALFORMED: assert f('\0') == 2", "f(3) | _0 == expected | 3"],
    ),
    "a lone surrogate": (
        "assert f(1) == 1\nassert f('\ud800') == 2",
        ["f(1) | _0 == expected | 1", "MALFORMED: assert f('\ud800') == 2"],
    ),
    "an escaped lone surrogate": ("assert f('\\ud800') == 2", ["f('\\ud800') | _0 == expected | 2"]),
    "an integer that Python will not read": (
        f"assert f(1) == {'9' * 5000}\nassert f(2) == 2",
        [f"MALFORMED: assert f(1) == {'9' * 5000}", "f(2) | _0 == expected | 2"],
    ),
    "an integer that Python will not print": (
        f"assert f(1) == 0x{'f' * 5000}",
        [f"f(1) | _0 == expected | 0x{'f' * 5000}"],
    ),
    "a warning of the compiler": ("assert f('\\d') is 2", ["f('\\\\d') is 2 | _0 | None"]),
}


@pytest.mark.parametrize(("suite", "expected"), BROKEN.values(), ids=BROKEN)
def test_broken_text(suite, expected):
    assert lines(suite) == expected


@pytest.mark.parametrize(
    "expression",
    ["-" * 500 + "1", "[" * 150 + "]" * 150, "[" * 5000, "f" + "(2)" * 3000, "+".join("1" * 5000), "a" + ".b" * 9000],
    ids=["minus", "brackets", "open brackets", "calls", "sum", "attributes"],
)
def test_deep_nesting_is_malformed(expression):
    tests = parse_assertions(f"assert f(2) == {expression}\nassert f(3) == 3", "f")
    assert [isinstance(t, TestCase) for t in tests] == [False, True]
    assert isinstance(tests[0], RejectedTest)
    assert tests[0].validity is Validity.MALFORMED
