"""`code-a1 compare`."""

from __future__ import annotations

from pathlib import Path

import click

from code_a1.cli import options


@click.command(short_help="Evaluations and training runs in one table.")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--format", "form", default="markdown", show_default=True, type=click.Choice(["markdown", "csv", "latex"])
)
@click.option("--metric", "metrics", multiple=True, help="Of evaluations; may be repeated. Default: the main ones.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the table here.")
@options.as_json
def compare(runs: tuple[Path, ...], form: str, metrics: tuple[str, ...], output: Path | None, as_json: bool) -> None:
    r"""Put RUNS side by side: folders of `code-a1 eval code`, `tests` or `pair`, and run folders of `code-a1 train`.

    Every run but the first has its difference to the first behind its numbers, with a 95 % interval from a paired
    bootstrap over the problems that both have; an asterisk marks intervals without 0. Training runs keep no results
    per problem: of those the last measurements are shown, without intervals.

    \b
    Examples:
      code-a1 compare evals/base evals/trained
      code-a1 compare evals/base evals/trained --metric pass@1 --metric pass@8 --format latex -o table.tex
    """
    import json  # noqa: PLC0415 - `--help` stays fast

    from code_a1.errors import RunDirError  # noqa: PLC0415
    from code_a1.evaluation.compare import compare as tabulate  # noqa: PLC0415
    from code_a1.evaluation.compare import notes, read_run  # noqa: PLC0415

    found = [read_run(path, metrics) for path in runs]
    table = tabulate(found, form)
    if output is None:
        click.echo(table, nl=False)
    else:
        try:
            output.write_text(table, encoding="utf-8")
        except OSError as error:
            raise RunDirError(f"cannot write {output}: {error}") from error
        click.echo(f"table: {output}")
    for note in notes(found):
        click.echo(note, err=True)
    if as_json:
        cells = {
            run.name: {" ".join(column).strip(): cell.estimate.value for column, cell in run.cells.items()}
            for run in found
        }
        click.echo(json.dumps({"runs": cells}))
