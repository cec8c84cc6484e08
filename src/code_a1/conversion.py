"""Rows of other people's datasets → problems whose references hold on the tests that are written out with them.

    select by difficulty → leave out repetitions and what a benchmark holds → tests as single asserts
        → every reference on them, twice, under different hash and random seeds → write

What is written is what was checked. A test that cannot be judged by calls and values (it expects an exception, say) is
left out; a problem with a test that its reference fails is left out as a whole, since either may be wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice

from code_a1.assertions import to_source
from code_a1.errors import ConfigError, ProblemError
from code_a1.judge import Judge
from code_a1.problems import BadRow, Benchmark, Dropped
from code_a1.problems.decontaminate import contamination
from code_a1.problems.fields import RowError
from code_a1.problems.loading import Reading, ReadRow, Repeats, TakenIds
from code_a1.records import JudgedTest, Problem, RejectedTest, TestCase, Validity
from code_a1.reference_check import ReferenceReport, Status, report_reference

CHUNK = 256
"""Problems that go to the sandbox together: enough to keep its workers busy, few enough to hold in memory."""
MAX_VERSIONS = 8
"""Ways to understand one row that are tried."""

UNUSABLE = (Validity.MALFORMED, Validity.OFF_TARGET, Validity.UNREPRESENTABLE, Validity.DUPLICATE)
"""What is wrong with a test alone and says nothing against the reference."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which problems of a dataset are wanted."""

    difficulties: tuple[str, ...] = ()
    """Levels in the words of the format, in any case; empty takes all."""
    min_pass_rate: float = 0.0
    max_pass_rate: float = 1.0
    """Share (0-1) of recorded attempts that solved the problem; the whole range also takes rows that do not say."""
    benchmarks: tuple[Benchmark, ...] = ()
    min_tests: int = 1
    limit: int = 0
    """Stop after so many problems; 0 takes all."""


@dataclass(slots=True)
class Conversion:
    """What became of the rows so far. Every row is written, broken, or left out under one of the reasons."""

    rows: int = 0
    written: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    """Rows that could not be read, by kind."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Rows that could, by reason."""
    levels: Counter[str] = field(default_factory=Counter)
    """Levels of difficulty that were met, where one was asked for."""
    tests: int = 0
    tests_left_out: Counter[str] = field(default_factory=Counter)
    """Tests of written problems that could not be judged, by validity."""


Finding = BadRow | Dropped
OnFinding = Callable[[Finding], None]
"""Called for every broken row and every problem that is left out, except by difficulty, in the order they are met."""


@dataclass(slots=True)
class _Candidate:
    """A row on its way: the version that is tried now, with its tests as single asserts, and the versions after it."""

    row: ReadRow
    problem: Problem
    rejected: Counter[str]
    """Tests of this version that could not be taken, by validity."""
    later: Iterator[Problem]
    report: ReferenceReport | None = None


class Converter:
    """Turns rows into checked problems, some hundred at a time; `done` counts along.

    `on_rows` is called with the number of rows read since the last call, and with 0 while programs finish, from another
    thread.
    """

    def __init__(
        self, judge: Judge, selection: Selection, on_finding: OnFinding, on_rows: Callable[[int], None]
    ) -> None:
        self._judge = judge
        self._selection = selection
        self._on_finding = on_finding
        self._on_rows = on_rows
        self._ids = TakenIds()
        self._repeats = Repeats()
        self.done = Conversion()

    def convert(self, reading: Reading) -> Iterator[Problem]:
        """Problems in the order of their rows.

        Raises:
            ProblemError: the source cannot be read, or its first row is plainly of another format.
            ConfigError: a choice by difficulty or pass rate in a format that tells neither.
        """
        candidates = self._candidates(reading)
        limit = self._selection.limit or math.inf
        with ThreadPoolExecutor(1) as sandbox:  # which works on one chunk while the next is read
            under_way: list[_Candidate] = []
            checked = sandbox.submit(self._check, under_way)
            ended = False
            while not ended and self.done.written < limit:
                room = int(min(CHUNK, limit - self.done.written - len(under_way)))
                chunk = list(islice(candidates, room))
                ended = room > 0 and not chunk
                checked.result()
                ready, under_way = under_way, chunk
                checked = sandbox.submit(self._check, under_way)
                for candidate in filter(self._is_kept, ready):
                    self.done.written += 1
                    self.done.tests += len(candidate.problem.reference_tests)
                    self.done.tests_left_out += candidate.rejected
                    yield candidate.problem

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _candidates(self, reading: Reading) -> Iterator[_Candidate]:
        for row in reading.rows():
            self.done.rows += 1
            self._on_rows(1)
            if isinstance(row, BadRow):
                if row.kind == "other format" and not reading.format_found:
                    raise ProblemError(str(row))
                self._broken(row)
            elif self._is_wanted(row):
                try:
                    candidate = self._candidate(row)
                except RowError as error:
                    self._broken(row.bad(error))
                else:
                    if candidate is not None:
                        yield candidate

    def _broken(self, row: BadRow) -> None:
        if row.kind == "unsuited":
            self.done.left_out["no problem of a function"] += 1
        else:
            self.done.broken[row.kind] += 1
        self._on_finding(row)

    def _is_wanted(self, row: ReadRow) -> bool:
        """Whether difficulty and pass rate are those asked for; what is not is counted and not listed."""
        wanted = self._selection
        fmt = row.format
        if wanted.difficulties:
            if fmt.difficulty is None:
                raise ConfigError(f"--difficulty: rows in the format {fmt.name} have no difficulty")
            level = fmt.difficulty(row.fields).casefold()
            self.done.levels[level] += 1
            if level not in {name.casefold() for name in wanted.difficulties}:
                self.done.left_out["other difficulty"] += 1
                return False
        if (wanted.min_pass_rate, wanted.max_pass_rate) != (0, 1):
            if fmt.pass_rate is None:
                raise ConfigError(
                    f"--min-pass-rate and --max-pass-rate: rows in the format {fmt.name} have no pass rate"
                )
            rate = fmt.pass_rate(row.fields)
            if rate is None or not wanted.min_pass_rate <= rate <= wanted.max_pass_rate:
                self.done.left_out["other pass rate"] += 1
                return False
        return True

    def _candidate(self, row: ReadRow) -> _Candidate | None:
        """The row's problem, unless an earlier row or a benchmark holds it. Raises RowError for a broken row."""
        versions = row.format.versions(row.fields)
        problem = next(versions)
        self._ids.take(problem.problem_id, row)
        if (repeat := self._repeats.of(problem)) is not None:
            self._drop("repetition", repeat)
        elif (hit := contamination(problem, self._selection.benchmarks)) is not None:
            self._drop("contaminated", hit)
        else:
            return _Candidate(row, *self._with_single_tests(problem), versions)
        return None

    def _drop(self, kind: str, dropped: Dropped) -> None:
        self.done.left_out[kind] += 1
        self._on_finding(replace(dropped, reason=f"{kind}: {dropped.reason}"))

    # -- tests and references -----------------------------------------------------------------------------------------

    def _check(self, candidates: Sequence[_Candidate]) -> None:
        """Fill in the report of every candidate; where a reference fails, the next version of its row is tried."""
        left = list(candidates)
        for _ in range(MAX_VERSIONS):
            self._run(left)
            failed = [c for c in left if c.report is not None and c.report.status is not Status.OK]
            left = []
            for candidate in failed:
                later = _next_version(candidate.later)
                if later is not None:
                    candidate.problem, candidate.rejected = self._with_single_tests(later)
                    left.append(candidate)
            if not left:
                return

    def _with_single_tests(self, problem: Problem) -> tuple[Problem, Counter[str]]:
        """The problem with one assert in each of its tests, and what in them is no test."""
        asserts: dict[str, None] = {}
        checks: dict[str, None] = {}
        rejected: Counter[str] = Counter()
        for source in problem.reference_tests:
            for test in self._parsed(problem, source):
                if isinstance(test, RejectedTest):
                    rejected[str(test.validity)] += 1
                elif test.kind == "check":
                    checks[source] = None
                else:
                    text = to_source(test)
                    is_single = text == test.source or len(self._parsed(problem, text)) == 1
                    if is_single:  # or what it needs holds asserts itself
                        asserts[text] = None
                    else:
                        rejected[str(Validity.MALFORMED)] += 1
        return replace(problem, reference_tests=(*asserts, *checks)), rejected

    def _parsed(self, problem: Problem, source: str) -> tuple[TestCase | RejectedTest, ...]:
        return self._judge.reference_tests(replace(problem, reference_tests=(source,)))

    def _run(self, candidates: Sequence[_Candidate]) -> None:
        """Every reference on its tests, twice; tests that say nothing against it and cannot be judged are taken out."""
        judged_P = self._judge.check_references([c.problem for c in candidates], lambda _: self._on_rows(0))
        # a reference with a test that holds has loaded; of the others loading says why nothing does
        silent = [
            c
            for c, judged in zip(candidates, judged_P, strict=True)
            if not any(t.validity is Validity.VALID for t in judged)
        ]
        loads = dict(zip(map(id, silent), self._judge.load_references([c.problem for c in silent]), strict=True))
        for candidate, judged in zip(candidates, judged_P, strict=True):
            usable = [t for t in judged if not _is_unusable(t)]
            candidate.report = report_reference(candidate.problem, usable, loads.get(id(candidate), ""))
            tests = candidate.problem.reference_tests
            assert len(tests) == len(judged), "every test was written as one assert"
            kept = tuple(s for s, t in zip(tests, judged, strict=True) if not _is_unusable(t))
            candidate.rejected.update(str(t.validity) for t in judged if _is_unusable(t))
            candidate.problem = replace(candidate.problem, reference_tests=kept)

    def _is_kept(self, candidate: _Candidate) -> bool:
        report, problem = candidate.report, candidate.problem
        assert report is not None
        if report.status is not Status.OK:
            kind = "reference fails its tests" if report.status is Status.FAILING else str(report.status)
            self._drop(kind, Dropped(problem.problem_id, report.reason))
            return False
        count = len(problem.reference_tests)
        if count < self._selection.min_tests:
            others = ", ".join(f"{n} {validity}" for validity, n in candidate.rejected.most_common())
            reason = f"{count} tests that can be judged, {self._selection.min_tests} are asked for"
            self._drop("too few tests", Dropped(problem.problem_id, reason + (f" ({others})" if others else "")))
            return False
        return True


def _is_unusable(test: JudgedTest) -> bool:
    """Whether something is wrong with the test alone; random arguments say nothing of the reference either."""
    return test.validity in UNUSABLE or test.reason.startswith("its arguments: ")


def _next_version(versions: Iterator[Problem]) -> Problem | None:
    try:
        return next(versions, None)
    except RowError:
        return None  # the version before is what the row comes to
