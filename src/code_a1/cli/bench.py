"""`code-a1 bench …`."""

from __future__ import annotations

from pathlib import Path

import click

from code_a1.cli import options


@click.group(short_help="Measure this machine, as ratios within one run.")
def bench() -> None:
    """Benchmarks."""


@bench.command(name="judge", short_help="The judge against one Python process per candidate.")
@click.option("--problems", default="bundled", show_default=True, help="Problem file, folder, hub id, or `bundled`.")
@options.workers
@click.option("--quick", is_flag=True, help="A small part of the work; figures are rough.")
@options.as_json
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


@bench.command(name="engine", short_help="The local engine against generate, padded rows and TRL.")
@click.option(
    "--model",
    default="smollm2",
    show_default=True,
    help="`smollm2`, a folder, a .gguf file, a hub id, or `random-qwen2-5m`.",
)
@click.option("--dtype", default="bfloat16", show_default=True, type=click.Choice(["bfloat16", "float32"]))
@click.option("--lora-rank", default=0, help="Train adapters of this rank; 0 trains all weights.")
@click.option("--repeats", default=5, show_default=True, help="Interleaved repeats after a cold one.")
@click.option(
    "--only", multiple=True, type=click.Choice(["sample", "hf_generate", "train", "padded_train", "trl_train"])
)
@options.as_json
def bench_engine(model: str, dtype: str, lora_rank: int, repeats: int, only: tuple[str, ...], as_json: bool) -> None:
    r"""Sample and train with the local engine, and do the same work in the plain ways, interleaved in one run.

    \b
    Example:
      code-a1 bench engine --model smollm2 --json
    """
    import json  # noqa: PLC0415 - `--help` stays fast

    from code_a1.bench.engine import run  # noqa: PLC0415
    from code_a1.bench.engine_workload import Workload  # noqa: PLC0415

    workload = Workload(model=model, dtype=dtype, lora_rank=lora_rank)
    figures = run(workload, repeats=repeats, modes=only)
    for name, value in figures.items():
        click.echo(f"{name:<32} {value}")
    if as_json:
        click.echo(json.dumps(figures))


@bench.command(name="book", short_help="A step's part in a large Mistake Book.")
@click.option("--problems", default=1_000_000, show_default=True, help="Problems in the book.")
@click.option("--tests", default=20, show_default=True, help="Tests of each.")
@click.option("--steps", default=30, show_default=True, help="Steps of 256 problems that are timed.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Where the book is made; about 1 GB.")
@options.as_json
def bench_book(problems: int, tests: int, steps: int, folder: Path | None, as_json: bool) -> None:
    r"""Fill a Mistake Book, open it, and time what a step does with it: replay and update of 256 problems.

    \b
    Example:
      code-a1 bench book --json
    """
    import json  # noqa: PLC0415 - `--help` stays fast

    from code_a1.bench.book import run  # noqa: PLC0415

    figures = run(problems, tests, steps, lambda text: click.echo(f"… {text}", err=True), folder)
    for name, value in figures.items():
        click.echo(f"{name:<16} {value:12.3f}")
    if as_json:
        click.echo(json.dumps(figures))
