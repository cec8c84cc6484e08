"""The table that closes a run: what changed between its first and its last steps."""

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
    "eval/heldout/code/pass@1": "held-out problems: pass@1",
    "eval/heldout/test/validity": "held-out problems: share of valid tests",
    "eval/heldout/test/mutation_score": "held-out problems: mutants killed by a suite",
}
"""Measured now and then: the first and the last time are compared."""


def closing_table(logged: Sequence[Mapping[str, Any]]) -> Table:
    """Means over the first and the last third of a run's steps (at least one step each), side by side.

    Of evaluations, the first (before training, where there was one) and the last.
    """
    rows = [row for row in logged if row["step"] > 0]
    n = max(1, len(rows) // 3)
    first, last = rows[:n], rows[-n:]
    span = "step 1" if n == 1 else f"steps 1–{n}"
    end = f"step {len(rows)}" if n == 1 else f"steps {len(rows) - n + 1}–{len(rows)}"
    table = Table(title=f"{len(rows)} steps", title_justify="left")
    table.add_column("")
    for heading in (span, end, "change"):
        table.add_column(heading, justify="right")
    for key, label in ROWS.items():
        _add(table, label, _mean(first, key), _mean(last, key), digits=4 if key.endswith("/kl") else 2)
    for key, label in EVALUATIONS.items():
        if values := [row[key] for row in logged if row.get(key) is not None]:
            _add(table, label, values[0], values[-1])
    return table


def _add(table: Table, label: str, before: float | None, after: float | None, digits: int = 2) -> None:
    if before is None and after is None:
        return
    change = "–" if before is None or after is None else f"{after - before:+.{digits}f}"
    table.add_row(label, number(before, digits), number(after, digits), change)


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> float | None:
    values = [row[key] for row in rows if row.get(key) is not None]
    return sum(values) / len(values) if values else None
