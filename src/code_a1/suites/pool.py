"""What suites of a test policy come to once they are pooled: validated tests, and which mutants they kill.

The policy is shown programs of a problem, the reference and mutants of it; all that it writes about the problem goes
into one pool, whichever program it was written against. A pooled test is Python with the reference's answer in it, read
back and judged once more, so that what is written to a file or learned from is what was judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from code_a1.assertions import to_source
from code_a1.config import RolloutConfig
from code_a1.engines.base import PolicyEngine
from code_a1.judge import Judge
from code_a1.judge.values import NotWritable, written
from code_a1.mistake_book import identity
from code_a1.mutation import KillMatrix, Mutant, Subject, make_mutants, run_mutants
from code_a1.records import (
    Candidate,
    CodeGroup,
    Completion,
    JudgedTest,
    Judgement,
    Problem,
    TestCase,
    Validity,
)
from code_a1.report.view import View
from code_a1.rollout import rollout_suites
from code_a1.sandbox import Sandbox, codec

_NO_COMPLETION = Completion("", (), (), (), "stop")


@dataclass(frozen=True, slots=True)
class TestPool:
    """The suites of one problem, after judging."""

    problem: Problem
    shown: tuple[str, ...]
    """The programs that the policy saw: the reference, then mutants in the order of the matrix."""
    sampled: tuple[JudgedTest, ...]
    """Every test of every suite as the policy wrote it, in order."""
    suites: int
    """How many suites they were in."""
    sources: tuple[str, ...]
    """The distinct usable tests as Python, with the reference's answers."""
    predicted: tuple[bool, ...]
    """Which of them the policy wrote with the right answer."""
    matrix: KillMatrix
    """A column per source."""

    __test__ = False


def sample_pools(
    policy: PolicyEngine,
    judge: Judge,
    sandbox: Sandbox,
    problems: Sequence[Problem],
    sizes: RolloutConfig,
    *,
    mutants: int,
    seed: int,
    view: View | None = None,
) -> list[TestPool]:
    """Sample N suites against each of M programs of every problem, and judge them; pools in the problems' order.

    `sizes` are those of a rollout: `candidates_per_problem` programs are shown, the reference and as many mutants as
    there are. `mutants` is how many mutants of a reference the tests are tried on. Problem ids must differ.
    """
    view = view or View()
    mutants_P = [make_mutants(p.reference_solution, p.entry_point, limit=mutants, seed=seed) for p in problems]
    groups = [_group(p, made[: sizes.candidates_per_problem - 1]) for p, made in zip(problems, mutants_P, strict=True)]
    view.phase("suites", sum(len(g.candidates) for g in groups) * sizes.suites_per_candidate)
    attacks = rollout_suites(policy, groups, sizes, seed=seed, on_progress=view.advance)
    view.phase("judging", None)
    judgements = judge(groups, attacks, None, view.advance)
    usable_P = [_distinct(j) for j in judgements]
    tests_P = _read_back(judge, problems, usable_P, view)
    view.phase("mutants", None)
    subjects = [
        Subject(problem, made, tuple(test for _, test in tests))
        for problem, made, tests in zip(problems, mutants_P, tests_P, strict=True)
    ]
    matrices = run_mutants(sandbox, subjects, on_progress=view.advance)
    return [
        _pool(judgement, usable, [source for source, _ in tests], matrix)
        for judgement, usable, tests, matrix in zip(judgements, usable_P, tests_P, matrices, strict=True)
    ]


def written_source(test: TestCase) -> str | None:
    """A usable test as Python with the reference's answer, or None where the answer has no source."""
    modules: set[str] = set()
    try:
        source = to_source(test, lambda payload: written(codec.decode(payload), modules))
    except NotWritable:
        return None
    needed = [f"import {module}" for module in sorted(modules)]
    lines = source.split("\n")
    return "\n".join([*(line for line in needed if line not in lines), *lines])


def _group(problem: Problem, shown: Sequence[Mutant]) -> CodeGroup:
    sources = [problem.reference_solution, *(mutant.source for mutant in shown)]
    return CodeGroup(
        problem, tuple(Candidate(problem.problem_id, i, source, _NO_COMPLETION) for i, source in enumerate(sources))
    )


def _distinct(judgement: Judgement) -> dict[str, bool]:
    """Every distinct usable test as Python, and whether any suite had it with the right answer."""
    found: dict[str, bool] = {}
    seen: dict[object, str | None] = {}
    for test in _all_tests(judgement):
        if not test.validity.usable or test.test is None:
            continue
        key = identity(test.test)
        if key not in seen:
            seen[key] = written_source(test.test)
        source = seen[key]
        if source is not None:
            found[source] = found.get(source, False) or test.validity is Validity.VALID
    return found


def _read_back(
    judge: Judge, problems: Sequence[Problem], usable_P: Sequence[Iterable[str]], view: View
) -> list[list[tuple[str, TestCase]]]:
    """The sources that hold on the references once more, each with the test that it is."""
    flat = [(i, source) for i, usable in enumerate(usable_P) for source in usable]
    alone = [replace(problems[i], reference_tests=(source,)) for i, source in flat]
    tests_P: list[list[tuple[str, TestCase]]] = [[] for _ in problems]
    for (i, source), judged in zip(flat, judge.check_references(alone, view.advance), strict=True):
        if len(judged) == 1 and judged[0].validity is Validity.VALID and judged[0].test is not None:
            tests_P[i].append((source, judged[0].test))
    return tests_P


def _all_tests(judgement: Judgement) -> list[JudgedTest]:
    return [t for c in judgement.candidates for s in c.suites for t in s.tests]


def _pool(judgement: Judgement, usable: dict[str, bool], sources: Sequence[str], matrix: KillMatrix) -> TestPool:
    return TestPool(
        judgement.problem,
        tuple(c.candidate.code or "" for c in judgement.candidates),
        tuple(_all_tests(judgement)),
        sum(len(c.suites) for c in judgement.candidates),
        tuple(sources),
        tuple(usable[source] for source in sources),
        matrix,
    )
