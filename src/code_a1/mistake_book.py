"""The Mistake Book: per problem, the tests that candidates failed, replayed until they pass (experience replay).

A stored test is structured data (`TestCase` with its encoded expected value), so it replays exactly as it ran.
"""

from __future__ import annotations

import base64
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from code_a1.errors import CheckpointError
from code_a1.records import Judgement, Problem, TestCase, Verdict

FORMAT = 1

NOT_A_FAILURE = frozenset({Verdict.PASS, Verdict.NOT_RUN, Verdict.SANDBOX_ERROR, None})
"""Verdicts that never enter the book: the candidate was right, or was not shown to be wrong."""


@dataclass(frozen=True, slots=True)
class BookChange:
    """What one update did, in tests."""

    added: int = 0
    removed: int = 0
    evicted: int = 0


TestKey = tuple[str, str, tuple[str, ...], str, bytes | str | None]


def identity(test: TestCase) -> TestKey:
    """What makes two tests the same: how they call, and what must hold of the result."""
    if test.kind == "check":
        return (test.kind, test.source, (), "", None)
    return (test.kind, test.prelude, test.calls, test.form, test.expected_value or test.expected)


class MistakeBook:
    """Per problem an ordered map from test to count; bounded per problem, cheap for problems that a step leaves alone.

    `max_tests_per_problem` 0 keeps everything.
    """

    def __init__(self, max_tests_per_problem: int = 64) -> None:
        self.max_tests_per_problem = max_tests_per_problem
        self._tests: dict[str, dict[TestKey, TestCase]] = {}
        self._counts: dict[str, dict[TestKey, int]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def counts(self, problem_id: str) -> dict[TestCase, int]:
        """Tests of one problem with their counts, oldest first."""
        tests = self._tests.get(problem_id, {})
        return {tests[key]: count for key, count in self._counts.get(problem_id, {}).items()}

    def replayed_tests(self, problem_id: str, k: int) -> tuple[TestCase, ...]:
        """The top `k` tests by count, ties to the older one."""
        counts = self._counts.get(problem_id, {})
        tests = self._tests.get(problem_id, {})
        # nlargest is stable, and insertion order is age
        return tuple(tests[key] for key, _ in heapq.nlargest(k, counts.items(), key=lambda item: item[1]))

    def replay(self, problems: Sequence[Problem], k: int) -> dict[str, tuple[TestCase, ...]]:
        """The replayed tests H of every problem of a step."""
        return {p.problem_id: self.replayed_tests(p.problem_id, k) for p in problems}

    def record(self, problem_id: str, passed: Iterable[TestCase], failed: Iterable[TestCase]) -> BookChange:
        """Count down every pass of a replayed test, then count up every new failure (the order matters).

        A test whose count falls to 0 is removed; further passes of it change nothing. A new failure is inserted with 1.
        """
        counts = self._counts.setdefault(problem_id, {})
        tests = self._tests.setdefault(problem_id, {})
        removed = added = evicted = 0
        for test in passed:
            key = identity(test)
            if key not in counts:
                continue
            counts[key] -= 1
            if counts[key] <= 0:
                del counts[key], tests[key]
                removed += 1
        for test in failed:
            key = identity(test)
            added += key not in counts
            counts[key] = counts.get(key, 0) + 1
            tests.setdefault(key, test)
        if self.max_tests_per_problem:
            while len(counts) > self.max_tests_per_problem:
                victim = min(counts, key=counts.__getitem__)  # the first minimum is the oldest
                del counts[victim], tests[victim]
                evicted += 1
        if not counts:
            del self._counts[problem_id], self._tests[problem_id]
        self._size += added - removed - evicted
        return BookChange(added, removed, evicted)

    def update(self, judgements: Iterable[Judgement]) -> BookChange:
        """Record a step: passes of replayed tests by every candidate, new failures of every candidate that loaded.

        Candidates that the code policy did not write (mutants, earlier policies) leave no trace: their mistakes are not
        its own.
        """
        total = BookChange()
        for judgement in judgements:
            own = [candidate for candidate in judgement.candidates if candidate.candidate.own]
            passed = [
                test
                for candidate in own
                for test, verdict in zip(judgement.replayed, candidate.replayed, strict=False)
                if verdict is Verdict.PASS
            ]
            failed = [
                judged.test
                for candidate in own
                if candidate.loaded
                for suite in candidate.suites
                for judged in suite.usable
                if judged.test is not None and judged.verdict not in NOT_A_FAILURE
            ]
            change = self.record(judgement.problem.problem_id, passed, failed)
            total = BookChange(
                total.added + change.added, total.removed + change.removed, total.evicted + change.evicted
            )
        return total

    def state_dict(self) -> dict[str, Any]:
        """JSON-able; order is age."""
        return {
            "format": FORMAT,
            "problems": {
                problem_id: [[to_json(test), count] for test, count in self.counts(problem_id).items()]
                for problem_id in self._counts
            },
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace the contents by what `state_dict` returned. Raises CheckpointError on another format."""
        if state.get("format") != FORMAT:
            raise CheckpointError(f"mistake book of format {state.get('format')!r}; this version reads format {FORMAT}")
        self._tests, self._counts, self._size = {}, {}, 0
        for problem_id, rows in state["problems"].items():
            tests = [(from_json(row), int(count)) for row, count in rows]
            self._tests[problem_id] = {identity(test): test for test, _ in tests}
            self._counts[problem_id] = {identity(test): count for test, count in tests}
            self._size += len(self._counts[problem_id])


def to_json(test: TestCase) -> dict[str, Any]:
    """A test as JSON-able data; fields at their default are left out."""
    row: dict[str, Any] = {"source": test.source}
    if test.kind != "assert":
        row["kind"] = test.kind
    if test.calls:
        row |= {"calls": list(test.calls), "form": test.form}
    row |= {name: value for name in ("prelude", "form_prelude", "expected") if (value := getattr(test, name))}
    if test.expected_value is not None:
        row["expected_value"] = base64.b64encode(test.expected_value).decode("ascii")
    return row


def from_json(row: Mapping[str, Any]) -> TestCase:
    """The inverse of `to_json`. Raises CheckpointError naming a field that is missing or unknown."""
    fields = dict(row)
    try:
        if "expected_value" in fields:
            fields["expected_value"] = base64.b64decode(fields["expected_value"], validate=True)
        return TestCase(**fields | {"calls": tuple(fields.get("calls", ()))})
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"not a stored test: {error}; row {str(row)[:200]}") from error
