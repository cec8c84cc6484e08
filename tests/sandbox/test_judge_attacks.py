"""No suite makes a right program fail or earns by tricks, and no wrong program passes a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from code_a1.judge import Judge
from code_a1.prompts import parse_suite
from code_a1.records import Candidate, CodeGroup, Completion, Judgement, Problem, SuiteGroup, TestSuite, Verdict
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Limits

from .attacks.suites import CANDIDATES, CHECKS, REFERENCE, RIGHT, SUITES, CandidateAttack, SuiteAttack

COMPLETION = Completion("", (), (), (), "stop")
LIMITS = Limits(cpu_s_per_call=0.3, wall_s_per_call=2.0, memory_mb=256, max_reforks=2)
IN_PLACE = "def f(xs):\n    return sorted(xs)"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Sandbox(LIMITS, workers=2) as sandbox:
        yield Judge(sandbox)


def judged(judge: Judge, code: str, suite: str, reference: str) -> Judgement:
    problem = Problem("p", "Double a number.", "f", reference)
    parsed = TestSuite(parse_suite(f"```python\n{suite}\n```", "f"), COMPLETION)
    group = CodeGroup(problem, (Candidate("p", 0, code, COMPLETION),))
    [judgement] = judge([group], [SuiteGroup("p", 0, (parsed,))])
    return judgement


def names(attacks: list[SuiteAttack] | list[CandidateAttack]) -> list[str]:
    return [f"{a.kind}-{a.name}".replace(" ", "_") for a in attacks]


@pytest.mark.parametrize("attack", SUITES, ids=names(SUITES))
def test_a_suite_gains_nothing_against_a_right_program(judge: Judge, attack: SuiteAttack) -> None:
    [candidate] = judged(judge, RIGHT, attack.suite, REFERENCE).candidates
    assert candidate.loaded, candidate.load_error
    [suite] = candidate.suites
    usable = [t for t in suite.tests if t.validity.usable]
    assert [(t.source, t.verdict) for t in usable if t.verdict is not Verdict.PASS] == []
    assert len(usable) <= attack.usable, [t.source for t in usable]


@pytest.mark.parametrize("attack", CANDIDATES, ids=names(CANDIDATES))
def test_a_wrong_program_passes_nothing(judge: Judge, attack: CandidateAttack) -> None:
    reference = IN_PLACE if attack.kind == "in-place" else REFERENCE
    judgement = judged(judge, attack.code, attack.suite, reference)
    tests = judgement.candidates[0].suites[0].tests
    usable = [t for t in tests if t.validity.usable]
    assert usable, [(t.validity, t.reason) for t in tests]
    assert {t.verdict for t in usable} <= set(Verdict) - {Verdict.PASS, Verdict.SANDBOX_ERROR}


@pytest.mark.parametrize("attack", CHECKS, ids=names(CHECKS))
def test_a_wrong_program_passes_no_check(judge: Judge, attack: CandidateAttack) -> None:
    check = (
        "def check(candidate):\n    expected = 4\n    assert all(map(lambda x: candidate(x) == 2 * x, [2, 3]))\n"
        "    assert abs(candidate(2) - expected) < 1e-6\n    for x in range(5):\n        assert candidate(x) == 2 * x\n"
    )
    problem = Problem("p", "Double a number.", "f", REFERENCE, (check,))
    candidates = (Candidate("p", 0, attack.code, COMPLETION), Candidate("p", 1, RIGHT, COMPLETION))
    [judgement] = judge([CodeGroup(problem, candidates)], replayed={"p": judge.reference_tests(problem)})
    assert judgement.candidates[0].replayed[0] in set(Verdict) - {Verdict.PASS, Verdict.SANDBOX_ERROR}
    assert judgement.candidates[1].replayed == (Verdict.PASS,)
