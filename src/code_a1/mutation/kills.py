"""Which tests kill which mutants, found in the sandbox: one process per mutant, every test in a fresh namespace of it.

A mutant is judged as a candidate is, against the reference's answers. A test kills it by seeing another result, an
exception, a crash or too much memory. Time is not a result: a mutant that runs out of it is counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from code_a1.judge import Judge
from code_a1.mutation.mutants import Mutant
from code_a1.records import Candidate, CodeGroup, Completion, Problem, TestCase, Verdict
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Limits

CPU_S_PER_TEST = 1.0
WALL_S_PER_TEST = 10.0
MAX_REFORKS = 2
"""Bounds for a mutant: of the loops that lost their end, few should cost much, and the third ends the mutant's run."""


class MutantStatus(StrEnum):
    """What one test, or several together, say about one mutant."""

    KILLED = "KILLED"
    SURVIVED = "SURVIVED"
    TIMED_OUT = "TIMED_OUT"
    """Neither killed nor survived: counted apart."""
    UNKNOWN = "UNKNOWN"
    """Not run: earlier tests used up the mutant's processes, or the sandbox failed."""


_STATUS = {Verdict.PASS: MutantStatus.SURVIVED, Verdict.TIMEOUT: MutantStatus.TIMED_OUT} | dict.fromkeys(
    (Verdict.NOT_RUN, Verdict.SANDBOX_ERROR), MutantStatus.UNKNOWN
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A problem, mutants of its reference, and tests that carry the reference's answers, as the judge returns them."""

    problem: Problem
    mutants: tuple[Mutant, ...]
    tests: tuple[TestCase, ...]


@dataclass(frozen=True, slots=True)
class MutationScore:
    """Counts of mutants. `equivalent` ones are presumed to differ from the reference in nothing that can be seen."""

    killed: int
    survived: int
    timed_out: int = 0
    unknown: int = 0
    equivalent: int = 0

    @property
    def value(self) -> float | None:
        """Share killed of those that were killed or survived; None where there are none."""
        decided = self.killed + self.survived
        return self.killed / decided if decided else None


@dataclass(frozen=True, slots=True)
class KillMatrix:
    """What every test says about every mutant.

    `statuses` has a row per mutant and a column per test, in the order of the subject. `holds` says per test whether
    the reference itself passes it under the same limits; a test that it does not pass says nothing, and its column is
    UNKNOWN.
    """

    subject: Subject
    statuses: tuple[tuple[MutantStatus, ...], ...]
    holds: tuple[bool, ...]

    def killed_by(self, test: int) -> frozenset[int]:
        """The mutants that one test kills."""
        return frozenset(m for m, row in enumerate(self.statuses) if row[test] is MutantStatus.KILLED)

    def status(self, mutant: int, tests: Iterable[int] | None = None) -> MutantStatus:
        """What some tests say together, or all of them. A mutant that no test was run on survives."""
        row = self.statuses[mutant]
        said = set(row) if tests is None else {row[t] for t in tests}
        order = (MutantStatus.KILLED, MutantStatus.TIMED_OUT, MutantStatus.UNKNOWN)
        return next((status for status in order if status in said), MutantStatus.SURVIVED)

    def undetected(self) -> frozenset[int]:
        """Mutants that survive every test of the matrix: equivalent, as far as anybody can see."""
        return frozenset(m for m in range(len(self.statuses)) if self.status(m) is MutantStatus.SURVIVED)

    def score(self, tests: Collection[int] | None = None, *, equivalent: Collection[int] = ()) -> MutationScore:
        """Counts over the mutants for some tests, or all. `equivalent` mutants are counted as such and as nothing else.

        With the inputs of hidden tests in the matrix beside a suite's, `score(suite, equivalent=undetected())` leaves
        out what neither tells apart from the reference.
        """
        counted = Counter(self.status(m, tests) for m in range(len(self.statuses)) if m not in equivalent)
        return MutationScore(
            killed=counted[MutantStatus.KILLED],
            survived=counted[MutantStatus.SURVIVED],
            timed_out=counted[MutantStatus.TIMED_OUT],
            unknown=counted[MutantStatus.UNKNOWN],
            equivalent=len(equivalent),
        )


def run_mutants(
    sandbox: Sandbox,
    subjects: Sequence[Subject],
    *,
    limits: Limits | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[KillMatrix]:
    """Run every test of every subject on its mutants, and on the reference beside them; all in one stream of programs.

    `limits` are the sandbox's with less time and fewer processes unless given. Problem ids must differ.
    """
    if len({s.problem.problem_id for s in subjects}) < len(subjects):
        raise ValueError("two subjects are about the same problem: put their tests into one")
    judge = Judge(sandbox, limits or mutant_limits(sandbox.limits))
    groups = [_group(s) for s in subjects if s.tests]
    judged = judge(groups, (), {s.problem.problem_id: s.tests for s in subjects}, on_progress) if groups else []
    rows = {j.problem.problem_id: [candidate.replayed for candidate in j.candidates] for j in judged}
    return [_matrix(s, rows.get(s.problem.problem_id, [()] * (1 + len(s.mutants)))) for s in subjects]


def mutant_limits(limits: Limits) -> Limits:
    """The same limits with a mutant's share of time and processes."""
    return replace(
        limits,
        cpu_s_per_call=min(CPU_S_PER_TEST, limits.cpu_s_per_call),
        wall_s_per_call=min(WALL_S_PER_TEST, limits.wall_s_per_call),
        max_reforks=min(MAX_REFORKS, limits.max_reforks),
    )


_NO_COMPLETION = Completion("", (), (), (), "stop")


def _group(subject: Subject) -> CodeGroup:
    """The reference, then its mutants, as candidates of the problem."""
    problem = subject.problem
    sources = [problem.reference_solution, *(mutant.source for mutant in subject.mutants)]
    return CodeGroup(
        problem, tuple(Candidate(problem.problem_id, i, source, _NO_COMPLETION) for i, source in enumerate(sources))
    )


def _matrix(subject: Subject, verdicts: Sequence[Sequence[Verdict]]) -> KillMatrix:
    reference, *mutants = verdicts
    holds = tuple(verdict is Verdict.PASS for verdict in reference)
    statuses = tuple(
        tuple(
            _STATUS.get(verdict, MutantStatus.KILLED) if held else MutantStatus.UNKNOWN
            for verdict, held in zip(row, holds, strict=True)
        )
        for row in mutants
    )
    return KillMatrix(subject, statuses, holds)
