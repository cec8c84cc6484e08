"""`code-a1 bench …`."""

from __future__ import annotations

import click


@click.group(short_help="Measure this machine, as ratios within one run.")
def bench() -> None:
    """Benchmarks."""


@bench.command(name="judge", short_help="The judge against one Python process per candidate.")
@click.option("--problems", default="bundled", show_default=True, help="Problem file, folder, hub id, or `bundled`.")
@click.option("--workers", default=0, help="Worker processes; 0 means one per core.")
@click.option("--quick", is_flag=True, help="A small part of the work; figures are rough.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on the last line of stdout.")
def bench_judge(problems: str, workers: int, quick: bool, as_json: bool) -> None:
    r"""Judge programs made from PROBLEMS and compare with the usual way: a Python process each, results printed.

    \b
    Example:
      code-a1 bench judge --json
    """
    import json  # noqa: PLC0415 - `--help` stays fast

    from code_a1.bench.judge import run  # noqa: PLC0415
    from code_a1.config import ProblemsConfig  # noqa: PLC0415
    from code_a1.problems import load_problems  # noqa: PLC0415

    found = load_problems(ProblemsConfig(path=problems)).problems
    figures = run(found, quick=quick, workers=workers, on_progress=lambda text: click.echo(f"… {text}", err=True))
    for name, value in figures.items():
        click.echo(f"{name:<36} {value:10.2f}")
    if as_json:
        click.echo(json.dumps(figures))
