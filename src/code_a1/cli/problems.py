"""`code-a1 problems …`."""

from __future__ import annotations

import sys

import click


@click.group(short_help="Validate problem sets.")
def problems() -> None:
    """Work with problem sets."""


@problems.command(short_help="Run every reference on its own tests, twice.")
@click.argument("path")
@click.option("--format", "format_", default="auto", show_default=True, help="auto, code-a1, mbpp or evalplus.")
@click.option("--split", default=None, help="Split of a dataset, or MBPP's prompt, test, validation or train.")
@click.option("--limit", default=0, help="Only the first so many problems; 0 takes all.")
@click.option("--decontaminate", multiple=True, metavar="FILE", help="A benchmark file; what it holds is listed.")
@click.option("--all", "show_all", is_flag=True, help="List the problems that are ok, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on the last line of stdout.")
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
