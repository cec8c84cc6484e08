"""`code-a1 lab …`."""

from __future__ import annotations

import click


@click.group(short_help="Small generated problems, and the tiny model that plays on them.")
def lab() -> None:
    """Everything that makes co-evolution fit a laptop."""


@lab.command(name="problems", short_help="Generate problems.")
@click.option("-n", "count", default=1000, show_default=True, help="How many problems.")
@click.option("-o", "output", required=True, metavar="FILE", help="Problems as JSON Lines in our own format.")
@click.option("--seed", default=0, show_default=True, help="Which problems are drawn, in which order.")
@click.option(
    "--split",
    type=click.Choice(["all", "train", "heldout-problems", "heldout-families"]),
    default="train",
    show_default=True,
    help="Splits share no problem; heldout-families shares no family with the others.",
)
@click.option(
    "--tests",
    type=click.Choice(["hidden", "typical"]),
    default="hidden",
    show_default=True,
    help="Reference tests: 20 strong ones, or only the 4 on typical inputs, which miss bugs.",
)
@click.option("--bugs", metavar="FILE", help="Also write wrong programs for every problem, with their kind.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on the last line of stdout.")
def lab_problems(count: int, output: str, seed: int, split: str, tests: str, bugs: str | None, as_json: bool) -> None:
    r"""Generate small problems of over 200 families, with references, tests and bugs. See docs/lab.md.

    \b
    Example:
      code-a1 lab problems -n 5000 -o problems.jsonl --bugs bugs.jsonl
    """
    from code_a1.cli.labwork import write_generated  # noqa: PLC0415 - `--help` stays fast

    write_generated(count, output, seed=seed, split=split, tests=tests, bugs=bugs, as_json=as_json)
