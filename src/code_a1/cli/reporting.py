"""What closes a run in the terminal, whatever its mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from code_a1.errors import MissingExtra
from code_a1.report import curves, summary
from code_a1.report.highlights import highlights
from code_a1.report.page import write_page
from code_a1.run_dir import RunDir

Rows = Sequence[Mapping[str, Any]]


def closing_tables(rows: Rows) -> list[Table]:
    """The tables of a run; of none without a step."""
    if _supervised(rows):
        from code_a1 import sft  # noqa: PLC0415 - a mode among others

        return [sft.closing_table(rows)]
    return summary.closing_tables(rows) if rows else []


def draw_picture(rows: Rows, path: Path, title: str) -> Path:
    """The curves of a run as one picture; returns `path`."""
    if _supervised(rows):
        from code_a1 import sft  # noqa: PLC0415 - a mode among others

        sft.draw_warm_start(rows, path, title)
    else:
        curves.draw_curves(rows, path, title)
    return path


def close_run(run: RunDir) -> None:
    """Print a run's tables and the rollouts worth reading, and write its page."""
    rows = list(run.metrics())
    tables = closing_tables(rows)
    console = Console()
    for highlight in highlights(run, [row["step"] for row in rows]):
        click.echo(f"{highlight.markdown()}\n")
    for table in tables:
        console.print(table)
    click.echo(f"run folder: {run.path}")
    try:
        click.echo(f"report: {write_page(run, tables)}")
    except MissingExtra as missing:  # the run is whole without a page
        click.echo(f"no report.html: {missing}", err=True)


def _supervised(rows: Rows) -> bool:
    """Whether the rows are those of mode `sft`."""
    return bool(rows) and "examples" in rows[0]
