"""The judge means what plain Python means; the whole comparison is `python -m tests.fidelity.comparison`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from code_a1.config import ProblemsConfig
from code_a1.judge import Judge
from code_a1.problems import load_problems
from code_a1.sandbox import Sandbox

from .comparison import MUTANT_LIMITS, compare_mutants, compare_references, plain_verdicts, ult_problems


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Sandbox(MUTANT_LIMITS) as sandbox:
        yield Judge(sandbox)


def test_the_yardstick_itself() -> None:
    source = "def f(x):\n    if x == 3: raise ValueError\n    while x == 4: pass\n    assert x != 5\n    return x + k"
    tests = ["assert f(1) == 3", "assert f(1) == 4", "assert f(3) == 1", "assert f(4) == 1", "assert f(5) == 1"]
    tests += ["import os; os._exit(0)", "assert f(1) == 3"]
    [verdicts] = plain_verdicts([(source, "k = 2", tests)], MUTANT_LIMITS)
    assert verdicts == ["PASS", "FAIL", "ERROR", "TIMEOUT", "ERROR", "CRASH", "CRASH"]


def test_asserts_that_hold_on_bundled_references_are_valid(judge: Judge) -> None:
    comparison = compare_references(judge, load_problems(ProblemsConfig(limit=12)).problems)
    assert comparison.total >= 30
    assert comparison.differences == []


def test_mutants_of_bundled_references_get_the_verdicts_of_plain_python(judge: Judge) -> None:
    comparison = compare_mutants(judge, load_problems(ProblemsConfig(limit=12)).problems, 40)
    assert comparison.total >= 120
    assert {"PASS", "FAIL"} <= set(comparison.verdicts)
    assert comparison.differences == []


@pytest.mark.slow
def test_real_asserts_and_mutants(judge: Judge, shared_data: Path) -> None:
    mbpp = load_problems(ProblemsConfig(path=str(shared_data / "mbpp.jsonl"))).problems
    asserts = compare_references(judge, [*mbpp[:200], *ult_problems(shared_data / "ult_lite_public.json")])
    assert asserts.agreed >= 0.995 * asserts.total
    mutants = compare_mutants(judge, mbpp, 300)
    assert mutants.agreed >= 0.995 * mutants.total
