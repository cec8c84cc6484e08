"""Rollouts of a run as Markdown: candidate, suites, verdicts, for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from code_a1.prompts import fenced
from code_a1.report.live import number

Row = Mapping[str, Any]


def render_rollouts(rows: Iterable[Row], *, suites: int = 0) -> Iterator[str]:
    """Markdown of each row of `rollouts/`; `suites` bounds how many suites of a candidate are shown (0 shows all)."""
    for row in rows:
        yield "\n".join(_candidate(row, suites))


def _candidate(row: Row, suites: int) -> Iterator[str]:
    origin = row.get("origin", "policy")
    what = f"reward {number(row['reward'])}" if origin == "policy" else f"shown to the tester only ({origin})"
    yield f"### Step {row['step']}, {row['problem_id']}, candidate {row['candidate']}: {what}"
    yield ""
    if row["code"] is None:
        yield "No fenced Python block. The completion:"
        yield ""
        yield fenced(row["completion"]).replace("python", "text", 1)
    else:
        yield fenced(row["code"])
    yield ""
    if not row["loaded"]:
        yield f"Did not load: {row['load_error']}"
        yield ""
    if row["replayed"]:
        yield "Replayed from the Mistake Book: " + ", ".join(f"`{t['test']}` {t['verdict']}" for t in row["replayed"])
        yield ""
    shown = row["suites"][:suites] if suites else row["suites"]
    for n, suite in enumerate(shown):
        yield from _suite(n, suite)


def _suite(n: int, suite: Mapping[str, Any]) -> Iterator[str]:
    parts = f"validity {number(suite['validity'])}, adversarial {number(suite['adversarial'])}"
    yield f"Suite {n}: reward {number(suite['reward'])} ({parts})"
    yield ""
    if not suite["tests"]:
        yield "No test in it."
        yield ""
        return
    yield "| test | validity | verdict | |"
    yield "| --- | --- | --- | --- |"
    for t in suite["tests"]:
        yield f"| `{_cell(t['test'])}` | {t['validity']} | {t['verdict'] or '–'} | {_cell(t.get('reason', ''))} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("\n", " ⏎ ").replace("|", "\\|").replace("`", "ˋ")
