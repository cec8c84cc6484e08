"""`code-a1 problems …`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from code_a1.cli import options


@click.group(short_help="Convert and validate problem sets.")
def problems() -> None:
    """Work with problem sets."""


@problems.command(short_help="Run every reference on its own tests, twice.")
@click.argument("path")
@click.option("--format", "format_", default="auto", show_default=True, help="auto, code-a1, mbpp or evalplus.")
@click.option("--split", default=None, help="Split of a dataset, or MBPP's prompt, test, validation or train.")
@click.option("--limit", default=0, help="Only the first so many problems; 0 takes all.")
@click.option("--decontaminate", multiple=True, metavar="FILE", help="A benchmark file; what it holds is listed.")
@click.option("--all", "show_all", is_flag=True, help="List the problems that are ok, too.")
@options.as_json
def validate(
    path: str,
    format_: str,
    split: str | None,
    limit: int,
    decontaminate: tuple[str, ...],
    show_all: bool,
    as_json: bool,
) -> None:
    r"""Run every reference of PATH on its own tests, twice, and report per problem.

    PATH is a file (.jsonl, .parquet), a `datasets` folder, a hub id, or `bundled`. A problem is ok, failing,
    nondeterministic, without entry point, a duplicate id, or (with --decontaminate) contaminated. Rows that cannot be
    read are named by file and line. Exit code 1 if anything is not ok.

    \b
    Examples:
      code-a1 problems validate bundled
      code-a1 problems validate mbpp.jsonl --split train --decontaminate evalplus.parquet
    """
    from code_a1.cli.validate import validate_problems  # noqa: PLC0415 - `--help` stays fast

    findings = validate_problems(
        path, format_, split=split, limit=limit, benchmarks=decontaminate, show_all=show_all, as_json=as_json
    )
    sys.exit(1 if findings else 0)


@problems.command(short_help="Make problems of other people's datasets, or of tested Python modules.")
@click.argument("format_", metavar="FORMAT")
@click.argument("source")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Problems, JSONL.")
@click.option("--split", default=None, help="Split of a dataset, as its files or the hub name it.")
@click.option("--difficulty", multiple=True, metavar="LEVEL", help="Only rows of this level; may be given again.")
@click.option(
    "--min-pass-rate", default=0.0, type=click.FloatRange(0, 1), help="Lowest recorded share of solved tries."
)
@click.option("--max-pass-rate", default=1.0, type=click.FloatRange(0, 1), help="Highest recorded share.")
@click.option("--min-tests", default=1, show_default=True, type=click.IntRange(0), help="Fewest tests of a problem.")
@click.option("--decontaminate", multiple=True, metavar="FILE", help="A benchmark; what it holds is left out.")
@click.option(
    "--ngram",
    default=10,
    show_default=True,
    type=click.IntRange(0),
    help="Shared words in a row that count as contamination; 0 compares ids and whole statements only.",
)
@click.option("--limit", default=0, type=click.IntRange(0), help="Stop after so many problems; 0 takes all.")
@click.option(
    "--dropped",
    "list_to",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="List what was left out here, as JSONL, and not on stdout.",
)
@click.option("--strict", is_flag=True, help="Exit code 1 if a row was broken.")
@options.workers
@options.allow_tier
@options.as_json
def convert(
    format_: str,
    source: str,
    output: Path,
    split: str | None,
    difficulty: tuple[str, ...],
    min_pass_rate: float,
    max_pass_rate: float,
    min_tests: int,
    decontaminate: tuple[str, ...],
    ngram: int,
    limit: int,
    list_to: Path | None,
    strict: bool,
    workers: int,
    allow_tier: str,
    as_json: bool,
) -> None:
    r"""Write the problems of SOURCE in the schema that training reads, if their references hold on their own tests.

    FORMAT is kodcode, acecode, apps, taco, mbpp, evalplus, code-a1, auto (by the fields of the first row), or repo: a
    folder of Python modules with pytest tests. SOURCE is a file (.jsonl, .json, .parquet), a folder of such files, a
    folder written by `datasets`, or a hub id. A broken row is named and skipped; docs/problems.md says what becomes of
    each format.

    \b
    Examples:
      code-a1 problems convert kodcode KodCode/KodCode-V1 --split train --difficulty hard -o kodcode-hard.jsonl
      code-a1 problems convert mbpp mbpp.jsonl --split train --decontaminate evalplus.parquet -o mbpp-train.jsonl
      code-a1 problems convert repo path/to/project -o project.jsonl
    """
    from code_a1.cli.convert import convert_problems  # noqa: PLC0415 - `--help` stays fast
    from code_a1.conversion import Selection  # noqa: PLC0415
    from code_a1.problems import load_benchmark  # noqa: PLC0415

    if min_pass_rate > max_pass_rate:
        raise click.BadParameter(
            f"{min_pass_rate:g} is more than --max-pass-rate {max_pass_rate:g}", param_hint="--min-pass-rate"
        )
    benchmarks = tuple(load_benchmark(path, ngram) for path in decontaminate)
    selection = Selection(difficulty, min_pass_rate, max_pass_rate, benchmarks, min_tests, limit)
    done = convert_problems(
        format_,
        source,
        output,
        split=split,
        selection=selection,
        list_to=list_to,
        workers=workers,
        allow_tier=allow_tier,
        as_json=as_json,
    )
    sys.exit(1 if strict and done.broken else 0)
