"""The work of `code-a1 suites export`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from code_a1.config import ProblemsConfig
from code_a1.judge import Judge
from code_a1.mutation import require_operators
from code_a1.problems import load_problems
from code_a1.reference_check import check_references
from code_a1.report.live import LiveView
from code_a1.sandbox import Sandbox
from code_a1.suites.export import Exported, ExportSettings, export_suites
from code_a1.suites.tester import open_tester


def export_to_file(
    test: str,
    problems: str,
    output: Path,
    *,
    limit: int,
    programs: int,
    suites: int,
    mutants: int,
    extra: int,
    seed: int,
    overrides: Sequence[str],
    as_json: bool,
) -> int:
    """Export with progress on stderr, print the closing table. Returns how many tests the file holds."""
    require_operators()
    known = load_problems(ProblemsConfig(path=problems, limit=limit))
    view = LiveView()
    with ExitStack() as stack:
        stack.callback(view.close)
        view.phase("loading models", None)
        config, policy = open_tester(test, overrides)
        stack.callback(policy.close)
        sandbox = stack.enter_context(Sandbox.of(config.sandbox))
        view.phase("checking references", None)
        checked = check_references(Judge(sandbox), known.problems, on_progress=view.advance)
        for item in (*known.dropped, *checked.dropped):
            view.message(f"{item.problem_id} left out: {item.reason}")
        sizes = config.rollout.model_copy(update={"candidates_per_problem": programs, "suites_per_candidate": suites})
        counts = export_suites(
            policy,
            sandbox,
            checked.problems,
            output,
            ExportSettings(sizes, mutants, extra, seed),
            source={"test": test, "problems": problems},
            view=view,
        )
    Console().print(_table(counts))
    click.echo(f"suites: {output}")
    if as_json:
        click.echo(json.dumps(asdict(counts) | {"output": str(output)}))
    return counts.tests


def _table(counts: Exported) -> Table:
    table = Table(title=f"Suites for {counts.problems} problems", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("tests sampled", str(counts.sampled))
    table.add_row("distinct tests that hold on the reference", str(counts.usable))
    table.add_row("tests kept", str(counts.tests))
    share = f" ({counts.killed / counts.mutants:.1%})" if counts.mutants else ""
    table.add_row("mutants killed", f"{counts.killed} of {counts.mutants}{share}")
    table.add_row("problems without a test", str(counts.without_tests))
    return table
