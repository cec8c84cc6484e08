import sys

import pytest

from code_a1.errors import MissingExtra, ProblemError
from code_a1.mutation import Mutant, make_mutants, operators
from code_a1.mutation.operators import apply, positions

SOURCE = """\
import math

LIMIT = 3
UNUSED = 4

def helper(x: int | None) -> int:
    return x

def other(x):
    return x * 2

def f(n: int) -> int:
    if n > LIMIT:
        return helper(n)
    return n

if __name__ == "__main__":
    print(f(1))
"""


def changed(source: str, mutant: Mutant) -> str:
    """The line that a mutant changed."""
    before, after = source.splitlines(), mutant.source.splitlines()
    [line] = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert mutant.line == line + 1
    return after[line].strip()


def test_every_mutant_of_a_small_function_is_the_one_that_the_operators_promise():
    mutants = make_mutants(SOURCE, "f", limit=0, seed=0)
    found = {changed(SOURCE, mutant) for mutant in mutants}
    # `>` becomes each of the other seven comparisons, the condition is negated, the constant moves by one either way;
    # imports, the main guard, what f never reaches, and annotations stay as they are
    others = ("==", "!=", "<", "<=", ">=", "is", "is not")
    assert found == {f"if n {op} LIMIT:" for op in others} | {"if not n > LIMIT:", "LIMIT = 4", "LIMIT = 2"}
    assert len(mutants) == 10
    assert {m.operator for m in mutants if m.line == 3} == {"NumberReplacer"}


def test_a_limit_takes_the_same_beginning_for_the_same_seed_and_another_for_another():
    everything = make_mutants(SOURCE, "f", limit=0, seed=0)
    assert make_mutants(SOURCE, "f", limit=4, seed=0) == everything[:4]
    assert make_mutants(SOURCE, "f", limit=100, seed=0) == everything
    again = make_mutants(SOURCE, "f", limit=0, seed=1)
    assert again != everything
    assert set(again) == set(everything)


def test_mutants_that_say_the_same_are_one_and_what_is_no_python_is_none():
    # removing either of two equal decorators leaves the same program
    twice = "import functools\n\n@functools.cache\n@functools.cache\ndef f():\n    return None\n"
    assert [m.operator for m in make_mutants(twice, "f", limit=0, seed=0)] == ["RemoveDecorator"]
    # cosmic-ray writes `n ism` here, and its runner counts that as killed by every test
    glued = "def f(n, m):\n    return n ==m\n"
    assert "n ism" in {apply(glued, p).splitlines()[1].removeprefix("    return ") for p in positions(glued)}
    mutants = make_mutants(glued, "f", limit=0, seed=0)
    assert {changed(glued, m) for m in mutants} == {f"return n {op}m" for op in ("!=", "<", "<=", ">", ">=")}


def test_a_mutant_is_laid_out_as_its_source_is():
    compact = "def f(n, m):\n    return n>m or n[-1]==f(m,1)\n"
    lines = {changed(compact, m) for m in make_mutants(compact, "f", limit=0, seed=0)}
    assert {"return n>=m or n[-1]==f(m,1)", "return n>m or n[-2]==f(m,1)", "return n>m or n[-1]==f(m,2)"} <= lines
    assert not {line for line in lines if "  " in line or "( " in line or ", " in line or "- " in line}


def test_a_function_without_a_place_to_change_has_no_mutants():
    assert make_mutants("def f(x):\n    return x\n", "f", limit=10, seed=0) == ()


@pytest.mark.parametrize("source", ["def f(:\n", "def f():\n    return 1\n\x00", "return 1", "(" * 500 + ")" * 500])
def test_a_source_that_is_no_python_is_refused(source):
    with pytest.raises(ProblemError, match="the source is not Python"):
        make_mutants(source, "f", limit=1, seed=0)


def test_classes_nested_functions_and_entry_points_by_assignment_are_mutated():
    method = "class A:\n    def f(self):\n        def g(x):\n            return x and True\n        return g(1)\n"
    assert {changed(method, m) for m in make_mutants(method, "A", limit=0, seed=0)} == {
        "return x or True",
        "return x and False",
        "return g(2)",
        "return g(0)",
    }
    lambda_ = "f = lambda n: n < 2\ng = lambda n: n < 3\n"
    assert {m.line for m in make_mutants(lambda_, "f", limit=0, seed=0)} == {1}


def test_without_the_library_the_extra_is_named(monkeypatch):
    operators._operators.cache_clear()
    monkeypatch.setitem(sys.modules, "cosmic_ray.operators.provider", None)
    with pytest.raises(MissingExtra, match=r"pip install 'code-a1\[mutation\]'"):
        make_mutants("def f():\n    return 1\n", "f", limit=1, seed=0)
