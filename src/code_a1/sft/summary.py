"""The table that closes a warm start: the tester on held-out problems, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from code_a1.report.live import number

ROWS = {
    "eval/validity": "tests with the right answer",
    "eval/usable": "tests whose call runs on the reference",
    "eval/mutation_score": "mutation score of the right tests",
    "eval/tests": "tests",
    "test/loss": "loss (nats per token)",
}


def closing_table(logged: Sequence[Mapping[str, Any]]) -> Table:
    """The first and the last value of each, with 95 % intervals over problems where there are any."""
    table = Table(title="Suites on held-out problems, and what was learned from", title_justify="left")
    table.add_column("")
    for heading in ("before", "after"):
        table.add_column(heading, justify="right")
    for key, label in ROWS.items():
        found = [row for row in logged if row.get(key) is not None]
        if found:
            table.add_row(label, _value(found[0], key), _value(found[-1], key))
    if logged and "examples" in logged[0]:
        table.add_row("examples learned from", "", str(logged[0]["examples"]))
    return table


def _value(row: Mapping[str, Any], key: str) -> str:
    text = str(row[key]) if isinstance(row[key], int) else number(row[key], 3)
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    return text if low is None or high is None else f"{text} [{number(low, 3)}, {number(high, 3)}]"
