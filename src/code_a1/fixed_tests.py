"""Tests that judge every candidate alike, step after step: the problems' own, or suites exported earlier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from code_a1.assertions import parse_assertions
from code_a1.errors import ProblemError
from code_a1.judge import Judge
from code_a1.problems import Dropped, entry_is_class
from code_a1.records import (
    Candidate,
    CodeGroup,
    Completion,
    JudgedTest,
    Problem,
    SuiteGroup,
    TestCase,
    TestSuite,
    Validity,
)
from code_a1.suite_file import read_suites

KnownTests = Mapping[str, tuple[TestCase, ...]]
"""Problem id → tests that hold on its reference, ready to be run on candidates."""

Found = tuple[KnownTests, tuple[Dropped, ...]]
"""Tests of the problems that have some, and the other problems with the reason."""


def own_tests(problems: Sequence[Problem], checked: KnownTests) -> Found:
    """The problems' own tests, which were `checked` on the references."""
    without = [p.problem_id for p in problems if not checked[p.problem_id]]
    reason = "no reference tests, which this mode judges by"
    return {i: tests for i, tests in checked.items() if tests}, tuple(Dropped(i, reason) for i in without)


def exported_suites(path: str, problems: Sequence[Problem], judge: Judge) -> Found:
    """The suites of a file, once more checked on the references.

    A problem is left out that has no suite, or whose suite does not hold on its reference: that suite is another
    problem's. Raises ProblemError where the file has no suite for any of the problems.
    """
    suites = read_suites(path)
    with_suite = [p for p in problems if suites.get(p.problem_id)]
    if not with_suite:
        raise ProblemError(
            f"{path}: no suite for any of the run's {len(problems)} problems: its {len(suites)} suites are for "
            f"problems such as {next(iter(suites), None)!r}, the run has problems such as {problems[0].problem_id!r}; "
            "export suites for the problems of this run"
        )
    tests: dict[str, tuple[TestCase, ...]] = {}
    dropped = [Dropped(p.problem_id, f"no suite in {path}") for p in problems if not suites.get(p.problem_id)]
    judged_P = judge_asserts(judge, [(p, suites[p.problem_id]) for p in with_suite])
    for problem, judged in zip(with_suite, judged_P, strict=True):
        bad = [t for t in judged if t.validity not in (Validity.VALID, Validity.DUPLICATE)]
        if bad:
            count = f"{len(bad)} of {len(judged)} tests do not hold on the reference"
            why = f"{bad[0].source[:200]!r}: {bad[0].validity} {bad[0].reason}".strip()
            reason = f"its suite in {path} is for another problem: {count}, such as {why}"
            dropped.append(Dropped(problem.problem_id, reason))
        else:
            tests[problem.problem_id] = tuple(t.test for t in judged if t.test is not None)
    return tests, tuple(dropped)


def judge_asserts(judge: Judge, suites: Sequence[tuple[Problem, Sequence[str]]]) -> list[tuple[JudgedTest, ...]]:
    """Every suite's asserts on its problem's reference, which stands in for a candidate that is attacked."""
    nothing = Completion("", (), (), (), "stop")
    groups, attacks = [], []
    for problem, sources in suites:
        tests = parse_assertions(
            "\n".join(sources), problem.entry_point, entry_is_class=entry_is_class(problem), max_tests=len(sources)
        )
        groups.append(CodeGroup(problem, (Candidate(problem.problem_id, 0, problem.reference_solution, nothing),)))
        attacks.append(SuiteGroup(problem.problem_id, 0, (TestSuite(tests, nothing),)))
    return [judged.candidates[0].suites[0].tests for judged in judge(groups, attacks)]
