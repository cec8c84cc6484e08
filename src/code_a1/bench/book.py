"""`code-a1 bench book`: what a step costs the Mistake Book when it is large."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from code_a1.book_store import BookStore
from code_a1.mistake_book import MistakeBook
from code_a1.records import (
    Candidate,
    Completion,
    JudgedCandidate,
    JudgedSuite,
    JudgedTest,
    Judgement,
    Problem,
    TestCase,
    TestSuite,
    Validity,
    Verdict,
)
from code_a1.sandbox import codec

PROBLEMS_PER_STEP = 256
CANDIDATES = 8
SUITES = 8
TESTS = 8
"""Sizes of a step: P, M, N and K of the paper."""

KILLING = 0.15
"""Share of the suites that hold a test which their candidate fails: in the lab, trained testers had 11 to 19 %."""

DISTINCT_BOOKS = 512
"""Different contents among the problems when the book is filled: what is measured does not depend on more."""

AT_ONCE = 10_000
"""Problems written in one transaction while the book is filled."""

_NOBODY = Completion("", (), (), (), "stop")
_PASSED = JudgedTest("", Validity.VALID, TestCase("assert solve([]) == 0", ("solve([])",)), Verdict.PASS)
_HARMLESS = JudgedSuite(TestSuite((), _NOBODY), (_PASSED,) * TESTS)


def run(
    problems: int = 1_000_000,
    tests: int = 20,
    steps: int = 30,
    on_progress: Callable[[str], None] = lambda _text: None,
    folder: Path | None = None,
) -> dict[str, float]:
    """Fill a book, open it, and take the book's part of `steps` steps of 256 problems drawn anew.

    Returns `open_s`, `step_ms_p50` (replay and update of a step, the commit included), its parts `replay_ms_p50` and
    `update_ms_p50`, `step_ms_max`, `rss_growth_mb` (over opening and all steps), and `problems`, `tests`, `file_mb`,
    `fill_s`. The book is made in a temporary folder inside `folder` and removed.
    """
    scratch = Path(tempfile.mkdtemp(prefix="code-a1-book-", dir=folder))
    try:
        path = scratch / "mistake_book.sqlite"
        on_progress(f"filling a book of {problems} problems with {tests} tests each")
        started = time.perf_counter()
        fill(path, problems, tests)
        fill_s = time.perf_counter() - started
        on_progress(f"{steps} steps of {PROBLEMS_PER_STEP} problems")
        return _measure(path, problems, steps) | {
            "problems": problems,
            "tests": tests,
            "file_mb": path.stat().st_size / 1e6,
            "fill_s": fill_s,
        }
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def fill(path: Path, problems: int, tests: int) -> None:
    """Write a book of so many problems. Contents repeat after a while, since what is measured is not their making."""
    rng = random.Random(0)  # noqa: S311 - no secret
    sample = MistakeBook()
    sample.add((_id(i), make_test(rng), 1 + rng.randrange(4)) for i in range(DISTINCT_BOOKS) for _ in range(tests))
    pages = [page for _, page in sample.store.pages()]
    store = BookStore(path)
    for start in range(0, problems, AT_ONCE):
        part = range(start, min(start + AT_ONCE, problems))
        store.write(0, {_id(i): pages[i % len(pages)] for i in part}, len(part) * tests + store.last.size)
    store.close()


def _measure(path: Path, problems: int, steps: int) -> dict[str, float]:
    rng = random.Random(1)  # noqa: S311
    before = resident_mb()
    started = time.perf_counter()
    book = MistakeBook(path=path)
    open_s = time.perf_counter() - started
    replays, updates = [], []
    for step in range(book.step + 1, book.step + steps + 1):
        chosen = [_problem(i) for i in rng.sample(range(problems), min(PROBLEMS_PER_STEP, problems))]
        started = time.perf_counter()
        replayed = book.replay(chosen, TESTS)
        replays.append((time.perf_counter() - started) * 1000)
        judgements = [_judgement(problem, replayed[problem.problem_id], rng) for problem in chosen]
        started = time.perf_counter()
        book.update(judgements, step)
        updates.append((time.perf_counter() - started) * 1000)
        del judgements
    growth = resident_mb() - before
    book.close()
    both = [replay + update for replay, update in zip(replays, updates, strict=True)]
    return {
        "step_ms_p50": statistics.median(both),
        "rss_growth_mb": growth,
        "open_s": open_s,
        "replay_ms_p50": statistics.median(replays),
        "update_ms_p50": statistics.median(updates),
        "step_ms_max": max(both),
    }


def make_test(rng: random.Random) -> TestCase:
    """A test as the judge hands them to the book: a call with a list of numbers, its answer as an encoded value."""
    numbers = [rng.randint(-1000, 1000) for _ in range(rng.randint(0, 9))]
    call, answer = f"solve({numbers})", sum(numbers)
    return TestCase(
        f"assert {call} == {answer}", (call,), "_0 == expected", str(answer), expected_value=codec.encode(answer)
    )


def _judgement(problem: Problem, replayed: Sequence[TestCase], rng: random.Random) -> Judgement:
    """Candidates that pass half of what is replayed, and fail one new test in a share of the suites."""
    candidates = []
    for m in range(CANDIDATES):
        verdicts = tuple(rng.choice((Verdict.PASS, Verdict.FAIL)) for _ in replayed)
        suites = tuple(_suite(rng.random() < KILLING, rng) for _ in range(SUITES))
        candidates.append(JudgedCandidate(Candidate(problem.problem_id, m, "", _NOBODY), True, verdicts, suites))
    return Judgement(problem, tuple(replayed), tuple(candidates))


def _suite(kills: bool, rng: random.Random) -> JudgedSuite:
    if not kills:
        return _HARMLESS
    test = make_test(rng)
    failed = JudgedTest(test.source, Validity.VALID, test, Verdict.FAIL)
    return JudgedSuite(_HARMLESS.suite, (failed, *_HARMLESS.tests[1:]))


def _id(number: int) -> str:
    return f"problem-{number:07d}"


def _problem(number: int) -> Problem:
    return Problem(_id(number), "", "solve", "")


def resident_mb() -> float:
    """Resident memory of this process now, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
