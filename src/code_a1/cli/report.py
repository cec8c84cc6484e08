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

    from code_a1.run_dir import RunDir  # noqa: PLC0415

    rows = list(RunDir.open(run).metrics())
    target = output or run / "curves.svg"
    if rows and "examples" in rows[0]:  # a run of mode `sft`
        from code_a1 import sft  # noqa: PLC0415

        draw, table = sft.draw_warm_start, sft.closing_table
    else:
        from code_a1.report import curves, summary  # noqa: PLC0415

        draw, table = curves.draw_curves, summary.closing_table
    draw(rows, target, run.name)
    Console().print(table(rows))
    click.echo(f"curves: {target}")
