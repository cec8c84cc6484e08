"""`code-a1 report`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="The curves of a run as one picture, and its closing table.")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: RUN/curves.svg. Also .png, .pdf.")
def report(run: Path, output: Path | None) -> None:
    r"""Draw the curves of the run folder RUN and print what changed between its first and its last steps.

    \b
    Example:
      code-a1 report runs/co-evolve-20260101-120000 -o curves.png
    """
    from rich.console import Console  # noqa: PLC0415 - `--help` stays fast

    from code_a1.report.curves import draw_curves  # noqa: PLC0415
    from code_a1.report.summary import closing_table  # noqa: PLC0415
    from code_a1.run_dir import RunDir  # noqa: PLC0415

    rows = list(RunDir.open(run).metrics())
    target = output or run / "curves.svg"
    draw_curves(rows, target, run.name)
    Console().print(closing_table(rows))
    click.echo(f"curves: {target}")
