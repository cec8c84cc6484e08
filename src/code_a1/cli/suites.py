"""`code-a1 suites`."""

from __future__ import annotations

from pathlib import Path

import click

from code_a1.cli import options


@click.group(short_help="Suites of a test policy, outside of training.")
def suites() -> None:
    """Suites of a test policy, outside of training."""


@suites.command(short_help="Write validated, minimised suites to a file.")
@click.option("--test", required=True, metavar="MODEL_OR_RUN", help="A model as in test_policy.model, or a run folder.")
@options.problems
@click.option("--limit", type=click.IntRange(min=0), default=0, help="Only the first so many problems; 0 takes all.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Suites, JSONL.")
@click.option(
    "--programs",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Programs shown per problem: the reference, mutants.",
)
@click.option(
    "--suites",
    "suites_",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Suites sampled against each program.",
)
@click.option(
    "--mutants",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Mutants per reference that tests are tried on.",
)
@click.option(
    "--extra",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Tests kept beside those that the mutants need.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of sampling and of the choice of mutants.",
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="A key of the configuration, as in train.")
@options.as_json
def export(
    test: str,
    problems: str,
    limit: int,
    output: Path,
    programs: int,
    suites_: int,
    mutants: int,
    extra: int,
    seed: int,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    r"""Sample suites with a test policy, keep what holds on the references, and of that what kills mutants.

    Wrong predicted answers are replaced by the reference's. The same command goes on where an earlier one was broken
    off. The file serves mode `static-suite` (problems.suites).

    \b
    Examples:
      code-a1 suites export --test runs/RUN --problems bundled -o suites.jsonl
      code-a1 suites export --test smollm2 --set rollout.begin_answers=true --problems mbpp.jsonl -o suites.jsonl
    """
    from code_a1.cli.exporting import export_to_file  # noqa: PLC0415 - `--help` stays fast

    found = export_to_file(
        test,
        problems,
        output,
        limit=limit,
        programs=programs,
        suites=suites_,
        mutants=mutants,
        extra=extra,
        seed=seed,
        overrides=overrides,
        as_json=as_json,
    )
    if not found:
        raise SystemExit(1)
