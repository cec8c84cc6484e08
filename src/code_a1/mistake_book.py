"""The Mistake Book: per problem, the tests that candidates failed, replayed until they pass (experience replay).

A stored test is structured data (`TestCase` with its encoded expected value), so it replays exactly as it ran. The book
lies in `code_a1.book_store`, and a step costs what its own problems cost, however many others there are.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from json.encoder import encode_basestring_ascii as _quoted
from pathlib import Path
from typing import Any

from code_a1.book_store import BookStore
from code_a1.errors import CheckpointError
from code_a1.records import Judgement, Problem, TestCase, Verdict

NOT_A_FAILURE = frozenset({Verdict.PASS, Verdict.NOT_RUN, Verdict.SANDBOX_ERROR, None})
"""Verdicts that never enter the book: the candidate was right, or was not shown to be wrong."""


@dataclass(frozen=True, slots=True)
class BookChange:
    """What one update did, in tests."""

    added: int = 0
    removed: int = 0
    evicted: int = 0

    def __add__(self, other: BookChange) -> BookChange:
        return BookChange(self.added + other.added, self.removed + other.removed, self.evicted + other.evicted)


PROBLEMS_AT_ONCE = 4096
"""Problems of another book that are written together."""

USUAL_FORM = "_0 == expected"
"""What nearly every test asserts: that one call returns one value."""

TestKey = tuple[str, str, tuple[str, ...], str, bytes | str | None]


def identity(test: TestCase) -> TestKey:
    """What makes two tests the same: how they call, and what must hold of the result."""
    if test.kind == "check":
        return (test.kind, test.source, (), "", None)
    return (test.kind, test.prelude, test.calls, test.form, test.expected_value or test.expected)


@dataclass(slots=True)
class _Page:
    """Tests of one problem by the digest of their identity, oldest first; a test is decoded only to be replayed."""

    counts: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> _Page:
        keys, counts, *tests = text.split("\n") if text else ("", "")
        order = keys.split()
        return cls(
            dict(zip(order, map(int, counts.split()), strict=True)),
            dict(zip(order, tests, strict=True)),
        )

    def __str__(self) -> str:
        """A line of digests, a line of counts, a line per test; "" without tests."""
        lines = (" ".join(self.counts), " ".join(map(str, self.counts.values())), *self.texts.values())
        return "\n".join(lines) if self.counts else ""

    def tests(self, keys: Sequence[str]) -> list[TestCase]:
        return _decode([self.texts[key] for key in keys])

    def top(self, k: int) -> list[str]:
        """The keys of the `k` tests with the highest counts, ties to the older one."""
        return sorted(self.counts, key=self.counts.__getitem__, reverse=True)[:k]  # stable, and order is age

    def count_down(self, key: str, times: int) -> int:
        """How many tests this removes, 0 or 1."""
        count = self.counts.get(key)
        if count is None:
            return 0
        if count > times:
            self.counts[key] = count - times
            return 0
        del self.counts[key], self.texts[key]
        return 1

    def count_up(self, key: str, times: int, test: TestCase) -> int:
        """How many tests this adds, 0 or 1."""
        count = self.counts.get(key)
        self.counts[key] = (count or 0) + times
        if count is None:
            self.texts[key] = _encode(test)
        return count is None

    def evict(self, limit: int) -> int:
        """Drop the tests of lowest count, of one count the oldest first, until `limit` are left; 0 is no limit."""
        excess = max(0, len(self.counts) - limit) if limit else 0
        for key in heapq.nsmallest(excess, self.counts, key=self.counts.__getitem__) if excess else ():  # stable
            del self.counts[key], self.texts[key]
        return excess


class MistakeBook:
    """Per problem an ordered map from test to count; bounded per problem, cheap for problems that a step leaves alone.

    `max_tests_per_problem` 0 keeps everything. `path` is the book's file, None for a book in memory.
    """

    def __init__(self, max_tests_per_problem: int = 64, path: Path | None = None, *, read_only: bool = False) -> None:
        self.max_tests_per_problem = max_tests_per_problem
        self.store = BookStore(path, read_only=read_only)
        """The file: pages by problem and step."""
        # Of the problems last replayed: a step reads a page once, and knows the digests of what it replays.
        self._pages: dict[str, _Page] = {}
        self._replayed: dict[str, tuple[tuple[TestCase, ...], list[str]]] = {}

    def __len__(self) -> int:
        return self.store.last.size

    @property
    def step(self) -> int:
        """The last step that wrote something."""
        return self.store.last.step

    def counts(self, problem_id: str, step: int | None = None) -> dict[TestCase, int]:
        """Tests of one problem with their counts, oldest first; as they were after `step`, if it is given."""
        page = self._page(problem_id, step)
        return dict(zip(page.tests(list(page.counts)), page.counts.values(), strict=True))

    def replayed_tests(self, problem_id: str, k: int) -> tuple[TestCase, ...]:
        """The top `k` tests by count, ties to the older one."""
        page = self._page(problem_id)
        return tuple(page.tests(page.top(k)))

    def replay(self, problems: Sequence[Problem], k: int) -> dict[str, tuple[TestCase, ...]]:
        """The replayed tests H of every problem of a step."""
        held = self.store.read([p.problem_id for p in problems])
        self._pages = {p.problem_id: _Page.parse(held.get(p.problem_id, "")) for p in problems}
        self._replayed = {}
        for problem_id, page in self._pages.items():
            keys = page.top(k)
            self._replayed[problem_id] = tuple(page.tests(keys)), keys
        return {problem_id: tests for problem_id, (tests, _) in self._replayed.items()}

    def record(self, problem_id: str, passed: Iterable[TestCase], failed: Iterable[TestCase]) -> BookChange:
        """Count down every pass of a replayed test, then count up every new failure (the order matters).

        A test whose count falls to 0 is removed; further passes of it change nothing. A new failure is inserted with 1.
        """
        page = self._page(problem_id)
        change = self._apply(page, Counter(_digest(identity(test)) for test in passed), _Failures(failed))
        self._write(self.step, {problem_id: page}, change)
        return change

    def update(self, judgements: Iterable[Judgement], step: int | None = None) -> BookChange:
        """Record a step: passes of replayed tests by every candidate, new failures of every candidate that loaded.

        Candidates that the code policy did not write (mutants, earlier policies) leave no trace: their mistakes are not
        its own. Everything is written at once, as the work of `step` (that of the last write if it is None).
        """
        total = BookChange()
        pages: dict[str, _Page] = {}
        for judgement in judgements:
            problem_id = judgement.problem.problem_id
            passed, failed = self._passed(judgement), _Failures(_failed(judgement))
            if passed or failed.counts:
                page = pages.setdefault(problem_id, self._page(problem_id))
                total += self._apply(page, passed, failed)
        self._write(self.step if step is None else step, pages, total)
        return total

    def add(self, rows: Iterable[tuple[str, TestCase, int]]) -> int:
        """Take over (problem id, test, count) from another book, oldest first; returns how many tests are held then.

        Rows of one problem are best given together. The bound per problem holds for them too.
        """
        pages: dict[str, _Page] = {}
        change = BookChange()
        for problem_id, group in groupby(rows, key=lambda row: row[0]):
            if len(pages) == PROBLEMS_AT_ONCE:
                self._write(self.step, pages, change)
                pages, change = {}, BookChange()
            page = pages.setdefault(problem_id, self._page(problem_id))
            added = sum(page.count_up(_digest(identity(test)), count, test) for _, test, count in group)
            change += BookChange(added, evicted=page.evict(self.max_tests_per_problem))
        self._write(self.step, pages, change)
        return len(self)

    def rows(self, step: int | None = None) -> Iterator[tuple[str, TestCase, int]]:
        """(problem id, test, count) of every test held, or held after `step`; by problem, oldest first."""
        for problem_id, page in self.store.pages(step):
            parsed = _Page.parse(page)
            for test, count in zip(parsed.tests(list(parsed.counts)), parsed.counts.values(), strict=True):
                yield problem_id, test, count

    def keep_for(self, earliest: int, latest: int) -> None:
        """Tell which steps have checkpoints that may be gone back to; what none of them sees may be forgotten."""
        self.store.checkpoints = (earliest, latest)

    def clear(self) -> None:
        """Forget everything, as if nothing had ever been written."""
        self.store.go_back(-1)
        self._pages, self._replayed = {}, {}

    def sync(self) -> None:
        """Return when everything written is on the disk."""
        self.store.sync()

    def close(self) -> None:
        """Close the book's file."""
        self.store.close()

    def state_dict(self) -> dict[str, Any]:
        """Which state of the book's file this is: the step that wrote last, the size, a digest of all that was written.

        The tests themselves stay in the file, where later steps do not change what earlier ones wrote.
        """
        last = self.store.last
        return {"step": last.step, "size": last.size, "digest": last.digest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go back to the state that `state_dict` named. Raises CheckpointError where this book never was in it."""
        self.store.go_back(int(state["step"]))
        self._pages, self._replayed = {}, {}
        if self.state_dict() != state:
            raise CheckpointError(
                f"the mistake book {self.store.path} does not belong to this checkpoint: it should hold "
                f"{state['size']} tests after step {state['step']}, and went back to {len(self)} after step "
                f"{self.step}; was it replaced, or copied without its -wal file?"
            )

    def _page(self, problem_id: str, step: int | None = None) -> _Page:
        held = self._pages.get(problem_id) if step is None else None
        return _Page.parse(self.store.read([problem_id], step).get(problem_id, "")) if held is None else held

    def _passed(self, judgement: Judgement) -> dict[str, int]:
        """How often each replayed test was passed by a candidate of the code policy, by the test's digest."""
        tests, keys = self._replayed.get(judgement.problem.problem_id, ((), []))
        if tests is not judgement.replayed:  # it did not come from the last `replay`
            keys = [_digest(identity(test)) for test in judgement.replayed]
        verdicts = [c.replayed for c in judgement.candidates if c.candidate.own and c.replayed]
        counts = [column.count(Verdict.PASS) for column in zip(*verdicts, strict=True)]
        return {key: count for key, count in zip(keys, counts, strict=False) if count}

    def _apply(self, page: _Page, passed: Mapping[str, int], failed: _Failures) -> BookChange:
        removed = sum(page.count_down(key, times) for key, times in passed.items())
        added = sum(page.count_up(_digest(key), n, failed.tests[key]) for key, n in failed.counts.items())
        return BookChange(added, removed, page.evict(self.max_tests_per_problem))

    def _write(self, step: int, pages: Mapping[str, _Page], change: BookChange) -> None:
        try:
            texts = {problem_id: str(page) for problem_id, page in pages.items()}
            self.store.write(step, texts, len(self) + change.added - change.removed - change.evicted)
        except BaseException:
            self._pages, self._replayed = {}, {}  # they are ahead of what was written
            raise


class _Failures:
    """New failures of one problem: each test once, in the order of its first failure, with how often it failed."""

    def __init__(self, failed: Iterable[TestCase]) -> None:
        self.counts: dict[TestKey, int] = {}
        self.tests: dict[TestKey, TestCase] = {}
        for test in failed:
            key = identity(test)
            if key in self.counts:
                self.counts[key] += 1
            else:
                self.counts[key], self.tests[key] = 1, test


def _failed(judgement: Judgement) -> list[TestCase]:
    """The new tests that a candidate of the code policy failed, once per failure."""
    own = (candidate for candidate in judgement.candidates if candidate.loaded and candidate.candidate.own)
    passes = Verdict.PASS  # most are, and a step has some 100,000 verdicts
    return [
        judged.test
        for judged in chain.from_iterable(suite.tests for candidate in own for suite in candidate.suites)
        if judged.verdict is not passes
        and judged.verdict not in NOT_A_FAILURE
        and judged.validity.usable
        and judged.test is not None
    ]


def _digest(key: TestKey) -> str:
    return hashlib.blake2b(ascii(key).encode(), digest_size=8).hexdigest()


def _encode(test: TestCase) -> str:
    """A test as one line of JSON: its fields in order, or what is needed of a usual one. A step encodes thousands."""
    value = "null" if test.expected_value is None else f'"{_base64(test.expected_value)}"'
    expected = "null" if test.expected is None else _quoted(test.expected)
    plain = test.form == USUAL_FORM and test.kind == "assert" and not (test.prelude or test.form_prelude)
    if plain and len(test.calls) == 1 and test.source == f"assert {test.calls[0]} == {test.expected}":
        return f"[{_quoted(test.calls[0])},{expected},{value}]"
    texts = ",".join(map(_quoted, (test.source, test.form, test.prelude, test.form_prelude, test.kind)))
    return f"[[{','.join(map(_quoted, test.calls))}],{expected},{value},{texts}]"


def _decode(lines: Sequence[str]) -> list[TestCase]:
    """The inverse of `_encode`, for several tests at once."""
    tests = []
    for calls, expected, coded, *rest in json.loads(f"[{','.join(lines)}]"):
        value = None if coded is None else a2b_base64(coded)
        if rest:
            source, form, prelude, form_prelude, kind = rest
            tests.append(TestCase(source, tuple(calls), form, expected, prelude, form_prelude, value, kind))
        else:
            source = f"assert {calls} == {expected}"
            tests.append(TestCase(source, (calls,), USUAL_FORM, expected, "", "", value))
    return tests


def _base64(value: bytes) -> str:
    return b2a_base64(value, newline=False).decode("ascii")


def to_json(test: TestCase) -> dict[str, Any]:
    """A test as JSON-able data; fields at their default are left out."""
    row: dict[str, Any] = {"source": test.source}
    if test.kind != "assert":
        row["kind"] = test.kind
    if test.calls:
        row |= {"calls": list(test.calls), "form": test.form}
    row |= {name: value for name in ("prelude", "form_prelude", "expected") if (value := getattr(test, name))}
    if test.expected_value is not None:
        row["expected_value"] = _base64(test.expected_value)
    return row


def from_json(row: Mapping[str, Any]) -> TestCase:
    """The inverse of `to_json`. Raises CheckpointError naming a field that is missing or unknown."""
    fields = dict(row)
    try:
        if "expected_value" in fields:
            fields["expected_value"] = a2b_base64(fields["expected_value"], strict_mode=True)
        return TestCase(**fields | {"calls": tuple(fields.get("calls", ()))})
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"not a stored test: {error}; row {str(row)[:200]}") from error
