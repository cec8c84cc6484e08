"""`code-a1 runs …`."""

from __future__ import annotations

from pathlib import Path

import click

from code_a1.cli.runexport import export


@click.group(short_help="Look into run folders.")
def runs() -> None:
    """Look into run folders."""


@runs.command(short_help="Candidates, suites and verdicts of a run, as Markdown.")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--step", "steps", type=int, multiple=True, help="Only this step; may be repeated. Default: all.")
@click.option("--problem", default=None, help="Only this problem.")
@click.option("--loaded", is_flag=True, help="Only candidates that load.")
@click.option("--suites", default=0, help="Suites shown of a candidate; 0 shows all.")
@click.option("--limit", default=0, help="Candidates shown, spread evenly over the run; 0 shows all.")
def rollouts(run: Path, steps: tuple[int, ...], problem: str | None, loaded: bool, suites: int, limit: int) -> None:
    r"""Print what was sampled in RUN and how it was judged.

    \b
    Example:
      code-a1 runs rollouts runs/co-evolve-20260101-120000 --loaded --suites 1 --limit 10
    """
    from code_a1.report.rollouts import render_rollouts  # noqa: PLC0415 - `--help` stays fast
    from code_a1.run_dir import RunDir  # noqa: PLC0415

    folder = RunDir.open(run)
    wanted = steps or [row["step"] for row in folder.metrics()]
    rows = [
        row
        for step in wanted
        for row in folder.rollouts(step)
        if problem in (None, row["problem_id"]) and (row["loaded"] or not loaded)
    ]
    if limit and len(rows) > limit:
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    for text in render_rollouts(rows, suites=suites):
        click.echo(text)


runs.add_command(export)
