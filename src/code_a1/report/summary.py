"""The tables that close a run: held-out problems before and after, and what changed between first and last steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from code_a1.report.live import number

ROWS = {
    "code/reward_mean": "code reward",
    "code/pass_new": "candidates' pass rate on new tests",
    "code/pass_replayed": "candidates' pass rate on replayed tests",
    "code/loaded": "candidates that load",
    "test/reward_mean": "test reward",
    "test/validity": "validity term of the test reward",
    "test/adversarial": "adversarial term of the test reward",
    "test/usable_per_suite": "usable tests per suite",
    "validity/VALID": "share of tests with the right answer",
    "book/size": "tests in the Mistake Book",
    "code/kl": "KL of the code policy to its reference",
    "test/kl": "KL of the test policy to its reference",
    "time/step_s": "seconds per step",
}

EVALUATIONS = {
    "eval/heldout/code/pass@1": "pass@1 of programs",
    "eval/heldout/code/loaded": "programs that load",
    "eval/heldout/test/validity": "valid tests, of those written",
    "eval/heldout/test/usable_per_suite": "usable tests per suite",
    "eval/heldout/test/kills_shown": "wrong programs found out by the suite's valid tests",
    "eval/heldout/test/mutation_score": "mutants killed by the suite's valid tests",
    "book/size": "tests in the Mistake Book",
}
"""Measured now and then: the first and the last time are compared."""

Logged = Sequence[Mapping[str, Any]]


def closing_tables(logged: Logged) -> list[Table]:
    """Held-out problems, where they were measured, and the steps of a run, at least one."""
    return [table for table in (heldout_table(logged), steps_table(logged)) if table.row_count]


def heldout_table(logged: Logged) -> Table:
    """The first measurement on held-out problems (before training, where there was one) and the last."""
    measured = [row for row in logged if "eval/heldout/problems" in row]
    table = _table("", "before", "after")
    if not measured:
        return table
    first, last = measured[0], measured[-1]
    if len(measured) == 1:  # the other is still to come, or was not asked for
        first, last = (first, {}) if first["step"] == 0 else ({}, last)
    table = _table(
        f"{measured[0]['eval/heldout/problems']} held-out problems",
        "before" if first.get("step", 0) == 0 else f"after step {first['step']}",
        f"after step {last['step']}" if last else "after",
    )
    for key, label in EVALUATIONS.items():
        # nothing is in the book before the first step
        before, digits = (first.get(key, 0 if first else None), 0) if key == "book/size" else (first.get(key), 3)
        _add(table, label, before, last.get(key), digits=digits)
    return table


def steps_table(logged: Logged) -> Table:
    """Means over the first and the last third of a run's steps (at least one step each), side by side."""
    rows = [row for row in logged if row["step"] > 0]
    n = max(1, len(rows) // 3)
    span = "step 1" if n == 1 else f"steps 1–{n}"
    end = f"step {len(rows)}" if n == 1 else f"steps {len(rows) - n + 1}–{len(rows)}"
    table = _table(f"{len(rows)} steps", span, end)
    for key, label in ROWS.items():
        _add(table, label, _mean(rows[:n], key), _mean(rows[-n:], key), digits=4 if key.endswith("/kl") else 2)
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for heading in (*headings, "change"):
        table.add_column(heading, justify="right")
    return table


def _add(table: Table, label: str, before: float | None, after: float | None, digits: int = 2) -> None:
    if before is None and after is None:
        return
    change = "–" if before is None or after is None else f"{after - before:+.{digits}f}"
    table.add_row(label, number(before, digits), number(after, digits), change)


def _mean(rows: Logged, key: str) -> float | None:
    values = [row[key] for row in rows if row.get(key) is not None]
    return sum(values) / len(values) if values else None
