"""Judge a file of candidates: rows in, verdicts out, in the order of the rows. Schemas are in docs/judge.md."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from code_a1.assertions import parse_assertions
from code_a1.errors import ProblemError
from code_a1.judge import Judge
from code_a1.problems import entry_is_class
from code_a1.problems.fields import Fields, RowError, text_field, texts_field
from code_a1.problems.rows import open_rows
from code_a1.records import (
    Candidate,
    CodeGroup,
    Completion,
    JudgedCandidate,
    Problem,
    SuiteGroup,
    TestCase,
    TestSuite,
    Validity,
    Verdict,
)

ROWS_AT_A_TIME = 512
"""Candidates judged together: enough to keep every worker busy, little enough to hold and to lose."""

NO_COMPLETION = Completion("", (), (), (), "stop")
FIELDS = {"id", "problem_id", "code", "tests"}


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One row of the candidates' file. `tests` None means the problem's own."""

    id: str
    problem: Problem
    code: str
    tests: tuple[str, ...] | None


@dataclass(slots=True)
class JudgedFile:
    """The closing counts."""

    candidates: int = 0
    passed_all: int = 0
    not_loaded: int = 0
    without_tests: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    invalid_tests: Counter[Validity] = field(default_factory=Counter)


def read_candidates(path: Path, problems: Mapping[str, Problem]) -> Iterator[CandidateRow]:
    """Rows of a JSONL file. Raises ProblemError naming file, line and field of the first row that cannot be used."""
    for row in open_rows(str(path)).rows:
        try:
            if isinstance(row.fields, RowError):
                raise row.fields
            yield _candidate_row(row.fields, row.line, problems)
        except RowError as error:
            raise ProblemError(f"{path}:{row.line}: {error}") from error


def _candidate_row(row: Fields, line: int, problems: Mapping[str, Problem]) -> CandidateRow:
    if unknown := sorted(set(row) - FIELDS):
        raise RowError(f"field '{unknown[0]}' is unknown: a candidate has {', '.join(sorted(FIELDS))}")
    problem_id = text_field(row, "problem_id")
    if problem_id not in problems:
        raise RowError(f"problem_id {problem_id!r} is not in the problems' file")
    code = row.get("code")
    if not isinstance(code, str):  # an empty program is a program that defines nothing
        raise RowError("field 'code' must be a string: the candidate's program")
    tests = texts_field(row, "tests") if row.get("tests") is not None else None
    return CandidateRow(text_field(row, "id", default=str(line)), problems[problem_id], code, tests)


def judge_file(
    judge: Judge,
    candidates: Iterator[CandidateRow],
    output: Path,
    *,
    on_progress: Callable[[int], None] | None = None,
) -> JudgedFile:
    """Judge every candidate and write one row each; the file appears under its name when it is whole.

    Candidates with `tests` of their own are run on those that are usable on the reference; the others on the problem's
    reference tests that hold on it.
    """
    counts = JudgedFile()
    partial = output.with_name(output.name + ".partial")
    with ExitStack() as stack:
        lines = stack.enter_context(partial.open("w", encoding="utf-8"))
        while rows := list(itertools.islice(candidates, ROWS_AT_A_TIME)):
            for row in _judge_rows(judge, rows, counts):
                lines.write(json.dumps(row) + "\n")
            if on_progress is not None:
                on_progress(len(rows))
    partial.replace(output)
    return counts


def _judge_rows(judge: Judge, rows: Sequence[CandidateRow], counts: JudgedFile) -> Iterator[dict[str, Any]]:
    """Judge own-test rows as attacked by one suite each, the others as run on known tests."""
    known = _reference_tests(judge, [row.problem for row in rows if row.tests is None])
    groups: dict[tuple[str, bool], list[CandidateRow]] = {}
    for row in rows:
        groups.setdefault((row.problem.problem_id, row.tests is None), []).append(row)
    results: dict[int, JudgedCandidate] = {}
    tests: dict[int, Sequence[TestCase]] = {}
    for own in (False, True):
        chosen = {key: group for key, group in groups.items() if key[1] is not own}
        code_groups = [
            CodeGroup(
                group[0].problem,
                tuple(Candidate(key[0], i, row.code, NO_COMPLETION) for i, row in enumerate(group)),
            )
            for key, group in chosen.items()
        ]
        suites = [_suite(row, i) for group in chosen.values() for i, row in enumerate(group)] if own else []
        judgements = judge(code_groups, suites, {} if own else known) if code_groups else []
        for judgement, group in zip(judgements, chosen.values(), strict=True):
            for row, candidate in zip(group, judgement.candidates, strict=True):
                results[id(row)], tests[id(row)] = candidate, judgement.replayed
    for row in rows:
        yield _verdict_row(row, results[id(row)], tests[id(row)], counts)


def _reference_tests(judge: Judge, problems: Sequence[Problem]) -> dict[str, tuple[TestCase, ...]]:
    distinct = list({p.problem_id: p for p in problems}.values())
    checked = judge.check_references(distinct) if distinct else []
    return {
        problem.problem_id: tuple(t.test for t in judged if t.validity is Validity.VALID and t.test is not None)
        for problem, judged in zip(distinct, checked, strict=True)
    }


def _suite(row: CandidateRow, index: int) -> SuiteGroup:
    problem = row.problem
    parsed = tuple(
        test
        for source in row.tests or ()
        for test in parse_assertions(
            source, problem.entry_point, entry_is_class=entry_is_class(problem), max_tests=10_000
        )
    )
    return SuiteGroup(problem.problem_id, index, (TestSuite(parsed, NO_COMPLETION),))


def _verdict_row(
    row: CandidateRow, judged: JudgedCandidate, replayed: Sequence[TestCase], counts: JudgedFile
) -> dict[str, Any]:
    verdicts: list[dict[str, Any]] = [
        {"test": test.source, "validity": Validity.VALID, "verdict": verdict}
        for test, verdict in zip(replayed, judged.replayed, strict=True)
    ]
    for suite in judged.suites:
        for t in suite.tests:
            verdicts.append({"test": t.source, "validity": t.validity, "verdict": t.verdict})
            if not t.validity.usable:
                counts.invalid_tests[t.validity] += 1
    ran = [v["verdict"] for v in verdicts if v["verdict"] is not None]
    passed = sum(v is Verdict.PASS for v in ran)
    counts.candidates += 1
    counts.passed_all += judged.loaded and bool(ran) and passed == len(ran)
    counts.not_loaded += not judged.loaded
    counts.without_tests += not ran
    counts.verdicts.update(ran)
    return {
        "id": row.id,
        "problem_id": row.problem.problem_id,
        "loaded": judged.loaded,
        "load_error": judged.load_error,
        "passed": passed,
        "total": len(ran),
        "verdicts": verdicts,
    }
