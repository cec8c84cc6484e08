"""`code-a1 report`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="A run as one HTML page with its curves, and its closing tables.")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Default: RUN/report.html. With .svg, .png or .pdf the main curves alone, as one picture.",
)
def report(run: Path, output: Path | None) -> None:
    r"""Write the page of the run folder RUN and print what changed between its beginning and its end.

    The page is one file that needs no network: tables, three rollouts worth reading, curves of both sides, the
    configuration. A run may be looked at while it is going on.

    \b
    Examples:
      code-a1 report runs/co-evolve-20260101-120000
      code-a1 report runs/co-evolve-20260101-120000 -o curves.png
    """
    from rich.console import Console  # noqa: PLC0415 - `--help` stays fast

    from code_a1.cli.reporting import closing_tables, draw_picture  # noqa: PLC0415
    from code_a1.report.page import write_page  # noqa: PLC0415
    from code_a1.run_dir import RunDir  # noqa: PLC0415

    folder = RunDir.open(run)
    rows = list(folder.metrics())
    tables = closing_tables(rows)
    if output is None or output.suffix.lower() in (".html", ".htm"):
        written = write_page(folder, tables, output)
    else:
        written = draw_picture(rows, output, run.name)
    for table in tables:
        Console().print(table)
    click.echo(f"report: {written}")
