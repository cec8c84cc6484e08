"""Bugs, and running programs that have them."""

from __future__ import annotations

from code_a1.lab.bugs import KINDS, spontaneous_bugs
from code_a1.lab.execution import Failed, LabProgram

COUNT = """\
def count(xs):
    if not xs:
        return None
    n = 0
    for x in xs:
        if x > 3:
            n += 1
    return n"""


def test_the_bugs_of_a_short_function_are_these():
    assert spontaneous_bugs(COUNT) == {
        COUNT.replace("    if not xs:\n        return None\n", ""): "missed case",
        COUNT.replace("n = 0", "n = 1"): "initial value",
        COUNT.replace("> 3", ">= 3"): "boundary",
        COUNT.replace("> 3", "< 3"): "comparison",
        COUNT.replace("> 3", "> 4"): "boundary",
        COUNT.replace("> 3", "> 2"): "boundary",
        COUNT.replace("n += 1", "n -= 1"): "logic",
        COUNT.replace("n += 1", "n += 2"): "boundary",
        COUNT.replace("n += 1", "n += 0"): "boundary",
    }


def test_order_and_forgotten_calls():
    source = "def f(s, t):\n    return sorted(s.lower(), key=abs)[0] - t[-1]"
    found = spontaneous_bugs(source)
    assert found[source.replace("key=abs", "key=abs, reverse=True")] == "wrong order"
    assert found[source.replace(", key=abs", "")] == "wrong order"
    assert found[source.replace("[0]", "[-1]")] == "wrong order"
    assert found["def f(s, t):\n    return t[-1] - sorted(s.lower(), key=abs)[0]"] == "wrong order"
    assert found[source.replace("s.lower()", "str(s)")] == "missed case"
    assert found[source.replace("lower", "upper")] == "comparison"
    assert set(found.values()) <= set(KINDS)


def test_nobody_is_one_off_with_a_divisor():
    assert spontaneous_bugs("def f(n):\n    return n % 10") == {"def f(n):\n    return n // 10": "logic"}


def test_a_program_runs_with_bounded_work_on_copies():
    endless = LabProgram("def f(n):\n    while n > 0:\n        n += 1\n    return n", "f")
    assert endless([1]) == Failed()
    assert endless([0]) == 0
    changing = LabProgram("def f(xs, d):\n    xs[0].append(1)\n    d['a'] = 1\n    return len(xs[0]) + len(d)", "f")
    xs, d = [[5]], {}
    assert changing([xs, d]) == 3
    assert changing([xs, d]) == 3
    assert xs == [[5]]
    assert d == {}
    assert LabProgram("def f(n):\n    return 'x' * n", "f")([1000]) == Failed()
    assert LabProgram("def f(n):\n    return 1 // n", "f")([0]) == Failed()
    assert LabProgram("def f(n):\n    return missing", "f")([0]) == Failed()
