"""What stands before an assert: what the calls need of it, what the form needs, and what is pulled into the assert."""

from __future__ import annotations

import pytest

from code_a1.assertions import call_key, parse_assertions
from code_a1.records import RejectedTest, TestCase, Validity

EQUAL = "_0 == expected"


def parts(suite: str, entry_point: str = "f", entry_is_class: bool = False):
    return [
        (t.prelude, t.calls, t.form, t.expected, t.form_prelude) if isinstance(t, TestCase) else t
        for t in parse_assertions(suite, entry_point, entry_is_class=entry_is_class)
    ]


CASES = {
    "constants are put in place": (
        "n = 5\nwant = 7\nassert f(n) == want",
        [("", ("f(5)",), EQUAL, "7", "")],
    ),
    "a value used once is put in place": (
        "xs = [1, 2]\nassert f(xs) == 3",
        [("", ("f([1, 2])",), EQUAL, "3", "")],
    ),
    "a variable called expected": (
        "result = f(2)\nexpected = 4\nassert result == expected",
        [("", ("f(2)",), EQUAL, "4", "")],
    ),
    "a computed variable called expected": (
        "expected = sorted([2, 1])\nassert f(2) == expected",
        [("", ("f(2)",), EQUAL, "expected", "expected = sorted([2, 1])")],
    ),
    "only what is needed": (
        "import os\nimport math\na = 1\nb = [2]\nb.append(3)\nprint(b)\nassert f(b, math.pi) == math.e",
        [("import math\nb = [2]\nb.append(3)", ("f(b, math.pi)",), EQUAL, "math.e", "import math")],
    ),
    "an augmented name": (
        "x = 3\nx += 1\nassert f(x) == 4",
        [("x = 3\nx += 1", ("f(x)",), EQUAL, "4", "")],
    ),
    "the last binding counts": (
        "x = [1]\nx.append(2)\nx = [3]\nassert f(x) == 4",
        [("", ("f([3])",), EQUAL, "4", "")],
    ),
    "changed in place": (
        "xs = [3, 1]\nf(xs)\nassert xs == [1, 3]",
        [("xs = [3, 1]\nf(xs)", ("xs",), EQUAL, "[1, 3]", "")],
    ),
    "changed in place through another name": (
        "a = [3, 1]\nb = a\nf(b)\nassert a == [1, 3]",
        [("a = [3, 1]\nb = a\nf(b)", ("a",), EQUAL, "[1, 3]", "")],
    ),
    "changed in place inside a container": (
        "grid = [[2, 1]]\nfor row in grid:\n    f(row)\nassert grid == [[1, 2]]",
        [("grid = [[2, 1]]\nfor row in grid:\n    f(row)", ("grid",), EQUAL, "[[1, 2]]", "")],
    ),
    "changed by an earlier assert": (
        "xs = [3, 1]\nassert f(xs) is None\nassert xs == [1, 3]",
        [
            ("", ("f([3, 1])",), "_0 is expected", "None", ""),
            ("xs = [3, 1]\nf(xs)", ("xs",), EQUAL, "[1, 3]", ""),
        ],
    ),
    "changed by the same assert": (
        "xs = [3, 1]\nassert f(xs) == sorted(xs)",
        [("xs = [3, 1]", ("f(xs)", "xs"), "_0 == sorted(_1)", None, "")],
    ),
    "constants cannot be changed": (
        "s = 'ab'\nassert f(s) == s[::-1]\nassert f(s) == s * 2",
        [
            ("", ("f('ab')",), EQUAL, "'ab'[::-1]", ""),
            ("", ("f('ab')",), EQUAL, "'ab' * 2", ""),
        ],
    ),
    "results are judged in the assert": (
        "r = f(2) == 4\nassert r",
        [("", ("f(2)",), EQUAL, "4", "")],
    ),
    "results over several statements": (
        "r = f([1, 2])\nn = len(r)\nok = n == 2\nassert ok and r[0] == 1",
        [("", ("f([1, 2])",), "len(_0) == 2 and _0[0] == 1", None, "")],
    ),
    "one result, several asserts": (
        "r = f(2)\nassert r[0] == 1\nassert r[1] == 2",
        [("", ("f(2)",), "_0[0] == 1", None, ""), ("", ("f(2)",), "_0[1] == 2", None, "")],
    ),
    "a result that is used again": (
        "a = f(2)\nassert f(a) == 16",
        [("a = f(2)", ("f(a)",), EQUAL, "16", "")],
    ),
    "a result that is changed": (
        "r = f(2)\nr.sort()\nassert r == [1]",
        [("r = f(2)\nr.sort()", ("r",), EQUAL, "[1]", "")],
    ),
    "a result before its argument changes": (
        "xs = [1]\nr = f(xs)\nxs.append(2)\nassert r == 1",
        [("xs = [1]\nr = f(xs)\nxs.append(2)", ("r",), EQUAL, "1", "")],
    ),
    "an unpacked result": (
        "a, b = f(2)\nassert b == 1",
        [("a, b = f(2)", ("b",), EQUAL, "1", "")],
    ),
    "results in a loop": (
        "out = []\nfor x in [1, 2]:\n    out.append(f(x))\nassert out == [2, 4]",
        [("out = []\nfor x in [1, 2]:\n    out.append(f(x))", ("out",), EQUAL, "[2, 4]", "")],
    ),
    "an alias": ("g = f\nassert g(2) == 4", [("g = f", ("g(2)",), EQUAL, "4", "")]),
    "an import under another name": (
        "from solution import f as g\nassert g(2) == 4",
        [("g = f", ("g(2)",), EQUAL, "4", "")],
    ),
    "imports of the solution": (
        "from solution import f\nfrom .main import *\nassert f(2) == 4",
        [("", ("f(2)",), EQUAL, "4", "")],
    ),
    "the module of the solution": (
        "import solution as s\nassert s.f([s.Node(1)]) == 4",
        [("", ("f([Node(1)])",), EQUAL, "4", "")],
    ),
    "a generator": (
        "g = f(3)\nassert next(g) == 1\nassert next(g) == 2",
        [("g = f(3)", ("next(g)",), EQUAL, "1", ""), ("g = f(3)\nnext(g)", ("next(g)",), EQUAL, "2", "")],
    ),
    "helper functions on both sides": (
        "N = 2\ndef up(x):\n    return x + N\nassert f(up(1)) == up(3)",
        [
            (
                "N = 2\n\ndef up(x):\n    return x + N".replace("\n\n", "\n"),
                ("f(up(1))",),
                EQUAL,
                "up(3)",
                "N = 2\ndef up(x):\n    return x + N",
            )
        ],
    ),
    "a helper that calls": (
        "def call(x):\n    return f(x)\nassert call(2) == 4",
        [("def call(x):\n    return f(x)", ("call(2)",), EQUAL, "4", "")],
    ),
    "a predicate": (
        "def holds(x, y):\n    '''doc'''\n    got = f(x)\n    return got == y\nassert holds([2], 4)",
        [("", ("f([2])",), EQUAL, "4", "")],
    ),
    "coroutines": (
        "async def test():\n    r = await f(2)\n    assert r == 4",
        [("import asyncio", ("asyncio.run(f(2))",), EQUAL, "4", "")],
    ),
    "seeds": (
        "import random\nrandom.seed(0)\nassert f(random.random()) == 1",
        [("import random\nrandom.seed(0)", ("f(random.random())",), EQUAL, "1", "")],
    ),
}


@pytest.mark.parametrize(("suite", "expected"), CASES.values(), ids=CASES)
def test_preludes(suite, expected):
    assert parts(suite) == expected


CLASS_CASES = {
    "a chain": (
        "assert Stack().push(1).size() == 1",
        [("", ("Stack().push(1).size()",), EQUAL, "1", "")],
    ),
    "state": (
        "s = Stack()\ns.push(1)\nassert s.pop() == 1\nassert s.empty()\nassert s.items == []",
        [
            ("s = Stack()\ns.push(1)", ("s.pop()",), EQUAL, "1", ""),
            ("s = Stack()\ns.push(1)\ns.pop()", ("s.empty()",), "_0", None, ""),
            ("s = Stack()\ns.push(1)\ns.pop()\ns.empty()", ("s.items",), EQUAL, "[]", ""),
        ],
    ),
    "what instances define themselves": (
        "s = Stack([1])\nassert len(s) == 1\nassert 1 in s\nassert s == Stack([1])\nassert [x for x in s] == [1]",
        [
            ("s = Stack([1])", ("len(s)",), EQUAL, "1", ""),
            ("s = Stack([1])", ("1 in s",), "_0", None, ""),
            ("s = Stack([1])", ("s == Stack([1])",), "_0", None, ""),
            ("s = Stack([1])", ("list(s)",), "[x for x in _0] == [1]", None, ""),
        ],
    ),
    "class methods": ("assert Stack.of(1).size() == 1", [("", ("Stack.of(1).size()",), EQUAL, "1", "")]),
    "a result": (
        "s = Stack()\ns.push(3)\nr = s.pop()\nassert r == 3",
        [("s = Stack()\ns.push(3)", ("s.pop()",), EQUAL, "3", "")],
    ),
}


@pytest.mark.parametrize(("suite", "expected"), CLASS_CASES.values(), ids=CLASS_CASES)
def test_preludes_of_classes(suite, expected):
    assert parts(suite, "Stack", entry_is_class=True) == expected


@pytest.mark.parametrize(
    "suite",
    [
        "def ok():\n    for i in [1]:\n        if f(i) != i:\n            return False\n    return True\nassert ok()",
        "if f(2) == 4:\n    x = 1\nelse:\n    x = 2\nassert x == 1",
        "out = []\nfor x in [1]:\n    out.append(f(x) == 1)\nassert all(out)",
        "try:\n    r = f(2)\nexcept ValueError:\n    r = None\nassert r is None",
        "r = f(2)\nr.append(r == 3)\nassert r[-1]",
    ],
)
def test_nothing_is_judged_where_the_candidate_is(suite):
    """An object of the candidate could agree to every comparison there."""
    (test,) = parse_assertions(suite, "f")
    assert isinstance(test, RejectedTest), test
    assert test.validity is Validity.MALFORMED
    assert "judges the result before the assert" in test.reason


@pytest.mark.parametrize(
    "line",
    [
        "import math\nmath.sqrt = None",
        "import builtins\nbuiltins.len = None",
        "import sys\nsys.setrecursionlimit(5)",
        "len = None",
        "def helper(x):\n    return None",
    ],
)
def test_what_a_test_does_not_need_is_not_run_with_the_candidate(line):
    assert parts(f"{line}\nassert f(2) == 4") == [("", ("f(2)",), EQUAL, "4", "")]


def test_reaching_into_the_solution_is_refused():
    (test,) = parse_assertions("f.__globals__['helper'] = None\nassert f(2) == 4", "f")
    assert isinstance(test, RejectedTest)
    assert "__globals__" in test.reason


def test_call_key_is_about_calls_alone():
    first, second, third = parse_assertions("assert f( 2)==4\nassert f(2) > 3, 'm'\nassert f(3) == 4", "f")
    assert call_key(first) == call_key(second) == ("", ("f(2)",))
    assert call_key(third) != call_key(first)
