"""Every reference on its own tests, twice: which problems can be trusted to train on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from code_a1.judge import Judge
from code_a1.judge.judge import Progress
from code_a1.problems import Dropped
from code_a1.records import JudgedTest, Problem, TestCase, Validity


class Status(StrEnum):
    """What is to be said about one problem's reference."""

    OK = "ok"
    FAILING = "failing"
    NONDETERMINISTIC = "nondeterministic"
    NO_ENTRY_POINT = "no entry point"
    DUPLICATE_ID = "duplicate id"
    SANDBOX_ERROR = "sandbox error"


@dataclass(frozen=True, slots=True)
class ReferenceReport:
    """One problem's reference after two runs on its own tests."""

    problem: Problem
    status: Status
    reason: str
    tests: tuple[TestCase, ...]
    """The tests that hold, ready to be replayed on candidates."""


@dataclass(frozen=True, slots=True)
class CheckedProblems:
    """Problems to train on, their own tests as data, and what was left out."""

    problems: tuple[Problem, ...]
    tests: dict[str, tuple[TestCase, ...]]
    dropped: tuple[Dropped, ...]


def report_references(
    judge: Judge, problems: Sequence[Problem], on_progress: Progress | None = None
) -> list[ReferenceReport]:
    """Run every reference twice, under different seeds, on its own tests."""
    judged_P = judge.check_references(problems, on_progress)
    loads_P = judge.load_references(problems, on_progress)
    seen: set[str] = set()
    reports = []
    for problem, judged, load_error in zip(problems, judged_P, loads_P, strict=True):
        report = report_reference(problem, judged, load_error)
        if problem.problem_id in seen:
            report = ReferenceReport(problem, Status.DUPLICATE_ID, "an earlier problem has the same id", report.tests)
        seen.add(problem.problem_id)
        reports.append(report)
    return reports


def check_references(
    judge: Judge, problems: Sequence[Problem], *, on_progress: Progress | None = None
) -> CheckedProblems:
    """Keep the problems whose reference holds on all of its own tests."""
    kept, tests, dropped = [], {}, []
    for report in report_references(judge, problems, on_progress):
        problem_id = report.problem.problem_id
        if report.status is not Status.OK:
            dropped.append(Dropped(problem_id, f"{report.status}: {report.reason}"))
        else:
            kept.append(report.problem)
            tests[problem_id] = report.tests
    return CheckedProblems(tuple(kept), tests, tuple(dropped))


def report_reference(problem: Problem, judged: Sequence[JudgedTest], load_error: str) -> ReferenceReport:
    """What two runs of its own tests, and of loading ("" where it loaded), say about one problem's reference."""
    holding = tuple(t.test for t in judged if t.validity is Validity.VALID and t.test is not None)
    if load_error:
        status = Status.NO_ENTRY_POINT if load_error.startswith("RAISED: NameError") else Status.FAILING
        return ReferenceReport(problem, status, load_error, holding)
    # a test written twice is a flaw of the suite, not of the reference
    bad = [t for t in judged if t.validity not in (Validity.VALID, Validity.DUPLICATE)]
    if not bad:
        return ReferenceReport(problem, Status.OK, "", holding)
    first = bad[0]
    status = {
        Validity.NONDETERMINISTIC: Status.NONDETERMINISTIC,
        Validity.SANDBOX_ERROR: Status.SANDBOX_ERROR,
    }.get(first.validity, Status.FAILING)
    count = f"{len(bad)} of {len(judged)} tests, such as {first.source[:200]!r}: {first.validity}"
    return ReferenceReport(problem, status, f"{count} {first.reason}".strip(), holding)
