"""The work of `code-a1 problems validate`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import click

from code_a1.judge import Judge
from code_a1.problems import BadRow, decontaminate, load_benchmark, read_rows
from code_a1.records import Problem
from code_a1.reference_check import Status, report_references
from code_a1.report.live import LiveView
from code_a1.sandbox import Sandbox


def validate_problems(
    path: str,
    format_: str,
    *,
    split: str | None,
    limit: int,
    benchmarks: Sequence[str],
    show_all: bool,
    as_json: bool,
) -> int:
    """Print a line per finding and a closing count. Returns the number of findings."""
    rows = list(read_rows(path, format_, split))
    rows = rows[:limit] if limit else rows
    problems = [row for row in rows if isinstance(row, Problem)]
    bad_rows = [row for row in rows if isinstance(row, BadRow)]
    contaminated = _contaminated(problems, benchmarks)
    counts: Counter[str] = Counter()
    for bad in bad_rows:
        counts[bad.kind] += 1
        click.echo(str(bad))
    view = LiveView()
    try:
        with Sandbox() as sandbox:
            view.phase("checking references", None)
            reports = report_references(Judge(sandbox), problems, view.advance)
    finally:
        view.close()
    for report in reports:
        status = str(report.status)
        reason = report.reason
        if report.status is Status.OK and report.problem.problem_id in contaminated:
            status, reason = "contaminated", contaminated[report.problem.problem_id]
        counts[status] += 1
        if show_all or status != Status.OK:
            click.echo(f"{report.problem.problem_id}: {status}" + (f": {reason}" if reason else ""))
    findings = sum(counts.values()) - counts[Status.OK]
    click.echo(f"{len(rows)} rows: " + ", ".join(f"{n} {name}" for name, n in counts.most_common()))
    if as_json:
        click.echo(json.dumps({"path": path, "rows": len(rows), "findings": findings, "counts": dict(counts)}))
    return findings


def _contaminated(problems: Sequence[Problem], benchmarks: Sequence[str]) -> dict[str, str]:
    if not benchmarks:
        return {}
    _, dropped = decontaminate(problems, [load_benchmark(name) for name in benchmarks])
    return {item.problem_id: item.reason for item in dropped}
