"""Any text at all: parsing never raises, and its time is bounded."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_a1.assertions import parse_assertions, to_source
from code_a1.records import RejectedTest, TestCase, Validity

SUITE = '''import math
from solution import f

CASES = [([1, 2], 3), ([], 0)]

def check(x, y):
    """doc"""
    got = f(x)
    assert got == y, f"{x!r}"

class TestF(unittest.TestCase):
    def setUp(self):
        self.xs = [3, 1]

    def test_all(self):
        self.assertEqual(f(self.xs), 4)
        for x, want in CASES:
            with self.subTest(x=x):
                self.assertAlmostEqual(f(x), want, places=3)

@pytest.mark.parametrize("a, b", [(1, 2), (3, 4)])
def test_table(a, b):
    assert f(a) == b and not f(b) != a

xs = {"k": [1, *CASES]}
assert math.isclose(f(**xs), 2.0), "message"
assert all(f(i) == i ** 2 for i in range(3)) or [x for x in f(2) if x] == (lambda v: v)([1])
check([1], 2)
'''


@settings(max_examples=150, deadline=None)
@given(st.text())
def test_arbitrary_text(text):
    for prefix in ("", "assert f(2) == ", "def test():\n    assert f("):
        parse_assertions(prefix + text, "f")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_suites(data):
    """Cut out, double, swap and insert pieces of a suite that uses everything."""
    text = SUITE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 80, len(text))))
        new = data.draw(
            st.sampled_from(["", text[start:end] * 2, "(", "\n", "    ", "f", "assert ", "await ", "*", "=", "_0"])
        )
        text = text[:start] + new + text[end:]
    for test in parse_assertions(text, "f"):
        if isinstance(test, TestCase):
            compile(test.prelude + "\n", "<prelude>", "exec")
            compile(test.form_prelude + "\n", "<form prelude>", "exec")
            for expression in (*test.calls, test.form, *([test.expected] if test.expected else [])):
                compile(expression, "<expression>", "eval")
            compile(to_source(test), "<test>", "exec")
        else:
            assert test.validity in (Validity.MALFORMED, Validity.OFF_TARGET)
            assert test.reason


LARGE = {
    "asserts": "assert f(1) == 1\n" * 100_000,
    "broken asserts": "assert f(1) = 1\n" * 100_000,
    "one broken block": "def test():\n" + "    assert f(1) = 1\n" * 100_000,
    "open brackets": "assert f(" * 100_000,
    "brackets": "(" * 1_000_000,
    "quotes": "'\"" * 500_000,
    "triple quotes": "'''\n" * 250_000,
    "backslashes": "\\\n" * 500_000,
    "spaces": " " * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "one name": "x" * 1_000_000,
    "prose": "the quick brown fox isn't here. " * 30_000,
    "binary": "".join(map(chr, range(1, 256))) * 4_000,
    "one list": f"assert f([{'1, ' * 300_000}]) == 1",
    "statements": "x = f(1)\n" * 20_000 + "assert x == 1",
    "a fixture that all asserts share": "xs = [1]\n" + "assert f(xs) == xs\n" * 10_000,
    "a long chain of names": "a0 = [1]\n"
    + "".join(f"a{i + 1} = a{i}\n" for i in range(4_000))
    + "assert f(a4000) == 1",
    "loops in loops": "".join(f"{'  ' * i}for x{i} in range(60):\n" for i in range(15)) + "  " * 15 + "assert f(x0)",
    "empty loops in loops": "".join(f"{'  ' * i}for x{i} in range(60):\n" for i in range(9))
    + f"{'  ' * 9}for y in []:\n{'  ' * 10}assert f(y)",
    "checkers that call checkers": "".join(f"def c{i}(x):\n    c{i + 1}(x)\n    c{i + 1}(x)\n" for i in range(30))
    + "def c30(x):\n    assert f(x)\nc0(1)",
    "predicates that call predicates": "".join(
        f"def p{i}(x): return p{i + 1}(x) and p{i + 1}(x) and f(x) == 1\n" for i in range(30)
    )
    + "def p30(x): return f(x) == 1\nassert p0(1)",
    "variables that double": "r0 = f(1)\n"
    + "".join(f"r{i + 1} = r{i} + r{i}\n" for i in range(60))
    + "assert r60 == 1",
    "comprehensions in comprehensions": "assert "
    + "[" * 12
    + "f(1)"
    + "".join(f" for x{i} in range(60)]" for i in range(12))
    + " == 1",
    "literals that double": "a0 = [1, 1]\n"
    + "".join(f"a{i + 1} = [a{i}, a{i}]\n" for i in range(40))
    + "assert f(2) == a40",
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_large_and_hostile_texts_take_bounded_time(text):
    start = time.process_time()
    tests = parse_assertions(text, "f")
    seconds = time.process_time() - start
    assert len(tests) <= 64
    assert sum(len(t.prelude) + len(t.form) for t in tests if isinstance(t, TestCase)) < 64 * 200_000
    assert seconds < 10


def test_a_long_suite_is_cut_at_a_line():
    tests = parse_assertions("# " + "x" * 199_000 + "\n" + "assert f(1) == 1\n" * 100, "f", max_tests=10_000)
    assert len(tests) == 58
    assert all(isinstance(t, TestCase) for t in tests)


def test_the_recursion_limit_is_no_matter(monkeypatch):
    """An assert whose printing exhausts the stack is malformed, whoever calls."""

    def deep(n: int) -> tuple[TestCase | RejectedTest, ...]:
        return deep(n - 1) if n else parse_assertions(f"assert f({'-' * 80}1) == 1", "f")

    (test,) = deep(850)
    assert isinstance(test, RejectedTest | TestCase)
