"""What was found out about the suites of one task, and how it is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from code_a1.records import Validity


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test. `passes` is asked of the test by itself: one that is repeated passes every time it is written."""

    source: str
    validity: Validity
    passes: bool
    reason: str = ""
    kills_shown: bool = False
    """Whether it is VALID and the program that was shown fails it."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """One suite of at most K tests. Kills and coverage are those of the tests that pass."""

    tests: tuple[TestResult, ...]
    completions: tuple[str, ...]
    finish_reasons: tuple[str, ...]
    killed: int = 0
    survived: int = 0
    timed_out: int = 0
    unknown: int = 0
    lines: tuple[int, int] = (0, 0)
    """Covered, and all there are."""
    branches: tuple[int, int] = (0, 0)
    masked: bool = False
    """A failure of ours touched it, so that it counts for nothing."""


@dataclass(frozen=True, slots=True)
class TestTaskResult:
    """One task. A task that was `left_out` has the reason and no suites."""

    bench: str
    task_id: str
    left_out: str = ""
    added_imports: tuple[str, ...] = ()
    mutants: int = 0
    equivalent: int = 0
    shown: str = ""
    """The program that the tester saw, where it is not the given code."""
    suites: tuple[SuiteResult, ...] = ()
    diversity: Mapping[str, float | None] | None = None

    __test__ = False

    @property
    def scored(self) -> tuple[SuiteResult, ...]:
        """The suites that count."""
        return tuple(suite for suite in self.suites if not suite.masked)


def to_row(result: TestTaskResult) -> dict[str, Any]:
    """As one line of `results.jsonl`."""
    return asdict(result)


def from_row(row: Mapping[str, Any]) -> TestTaskResult:
    """Read back what `to_row` wrote. Raises KeyError, TypeError or ValueError where it did not."""
    fields = dict(row)
    suites = tuple(_suite(suite) for suite in fields.pop("suites"))
    added = tuple(fields.pop("added_imports"))
    return TestTaskResult(**fields, suites=suites, added_imports=added)


def _suite(row: Mapping[str, Any]) -> SuiteResult:
    fields = dict(row)
    tests = tuple(TestResult(**(test | {"validity": Validity(test["validity"])})) for test in fields.pop("tests"))
    for key in ("completions", "finish_reasons", "lines", "branches"):
        fields[key] = tuple(fields[key])
    return SuiteResult(tests=tests, **fields)
