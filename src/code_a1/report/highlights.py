"""Three rollouts worth reading: a bug that the tester found, a test that entered the book, a program that got better.

Each is picked by a stated rule from the rollouts of a run; where nothing fits, it is left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from code_a1.prompts import fenced
from code_a1.run_dir import RunDir

MOST_BYTES = 200_000_000
"""Of rollout files that are read, the last ones of a run; more would take minutes."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Highlight:
    """Something to read: sentences, and programs or tests as code."""

    title: str
    parts: tuple[tuple[str, str], ...]
    """("text", a sentence) or ("code", Python source), in order."""

    def markdown(self) -> str:
        """As Markdown, for a terminal."""
        lines = [text if kind == "text" else fenced(text) for kind, text in self.parts]
        return "\n\n".join([f"### {self.title}", *lines])


def highlights(run: RunDir, steps: Sequence[int]) -> list[Highlight]:
    """Up to three, in the order of the module's title, out of the rollouts of `steps`."""
    rows = [row for row in _rows(run, steps) if row.get("origin", "policy") == "policy" and row["loaded"]]
    found = (_bug(rows), _book_test(rows), _better_program(rows))
    return [highlight for highlight in found if highlight is not None]


def _rows(run: RunDir, steps: Sequence[int]) -> Iterator[Row]:
    size, first = 0, len(steps)
    while first and size < MOST_BYTES:
        first -= 1
        path = run.rollouts_path(steps[first])
        size += path.stat().st_size if path.is_file() else 0
    for step in steps[first:]:
        yield from run.rollouts(step)


def _asked(row: Row) -> tuple[str, str]:
    """The problem, its statement cut to what one reads in passing."""
    statement = textwrap.shorten(row.get("statement", ""), 400, placeholder=" …")
    return "text", f"{row['problem_id']}: {statement}" if statement else row["problem_id"]


def _tests(row: Row) -> list[Row]:
    return [test for suite in row["suites"] for test in suite["tests"] if test["verdict"] is not None]


def _found(row: Row) -> list[Row]:
    """Tests with a right prediction whose call gives the wrong result."""
    return [test for test in _tests(row) if test["validity"] == "VALID" and test["verdict"] == "FAIL"]


def _passed(row: Row) -> float:
    verdicts = [test["verdict"] == "PASS" for test in _tests(row)]
    return verdicts.count(True) / len(verdicts)


def _bug(rows: Sequence[Row]) -> Highlight | None:
    """The program that most of its tests miss the bug of; among equals the latest."""
    best = max((row for row in rows if _found(row)), key=lambda row: (_passed(row), row["step"]), default=None)
    if best is None:
        return None
    total = len(_tests(best))
    missed = sum(test["verdict"] == "PASS" for test in _tests(best))
    return Highlight(
        "A bug that the tester found",
        (
            _asked(best),
            ("text", f"Step {best['step']}: this program passes {missed} of {total} new tests."),
            ("code", best["code"]),
            ("text", "The tester read it, and predicted an answer that it does not give and the reference does:"),
            ("code", _found(best)[0]["test"]),
        ),
    )


@dataclass(slots=True)
class _Entry:
    """A test that a program failed, and how the programs of later steps did on it."""

    row: Row
    test: str
    replays: dict[int, list[str]] = field(default_factory=dict)

    @property
    def learned(self) -> bool:
        """Whether everybody passed it the last time, and somebody had failed it in between."""
        verdicts = list(self.replays.values())
        return bool(verdicts) and set(verdicts[-1]) == {"PASS"} and any(set(v) != {"PASS"} for v in verdicts)


def _book_test(rows: Sequence[Row]) -> Highlight | None:
    """The test that was replayed most often, one that programs failed and then passed before others."""
    entries: dict[tuple[str, str], _Entry] = {}
    for row in rows:
        for known in row["replayed"]:
            if entry := entries.get((row["problem_id"], known["test"])):
                entry.replays.setdefault(row["step"], []).append(known["verdict"])
        for test in _found(row):
            entries.setdefault((row["problem_id"], test["test"]), _Entry(row, test["test"]))
    best = max(entries.values(), key=lambda e: (e.learned, len(e.replays), e.row["step"]), default=None)
    if best is None:
        return None
    told = [
        f"step {step}: {sum(v == 'PASS' for v in verdicts)} of {len(verdicts)} programs passed it"
        for step, verdicts in best.replays.items()
    ]
    after = (
        f"It was replayed whenever the problem came up again: {'; '.join(told)}."
        if told
        else "The problem has not come up again since."
    )
    return Highlight(
        "A test that entered the Mistake Book",
        (
            _asked(best.row),
            ("text", f"Step {best.row['step']}: this test"),
            ("code", best.test),
            ("text", "failed this program, and so was kept:"),
            ("code", best.row["code"]),
            ("text", after),
        ),
    )


def _better_program(rows: Sequence[Row]) -> Highlight | None:
    """The problem whose programs gained most reward between its first and its last visit, one of each shown."""
    visits: dict[str, dict[int, list[Row]]] = {}
    for row in rows:
        if row["reward"] is not None:
            visits.setdefault(row["problem_id"], {}).setdefault(row["step"], []).append(row)
    best: tuple[float, Row, Row, float, float] | None = None
    for by_step in visits.values():
        first, *_, last = (by_step[step] for step in (min(by_step), max(by_step)))
        before, after = (sum(row["reward"] for row in visit) / len(visit) for visit in (first, last))
        worse, better = min(first, key=_reward), max(last, key=_reward)
        if worse["code"] != better["code"] and after > before and (best is None or after - before > best[0]):
            best = (after - before, worse, better, before, after)
    if best is None:
        return None
    _, worse, better, before, after = best
    replayed = sum(t["verdict"] == "PASS" for t in better["replayed"])
    kept = f" It passes {replayed} of {len(better['replayed'])} replayed tests." if better["replayed"] else ""
    return Highlight(
        "A program that got better",
        (
            _asked(better),
            (
                "text",
                f"The mean reward of its programs went from {before:.2f} in step {worse['step']} to {after:.2f} in "
                f"step {better['step']}. Then, with reward {worse['reward']:.2f}:",
            ),
            ("code", worse["code"]),
            ("text", f"And later, with reward {better['reward']:.2f}:"),
            ("code", better["code"]),
            ("text", f"{kept.strip() or 'No test had been kept for replay.'}"),
        ),
    )


def _reward(row: Row) -> float:
    return float(row["reward"])
