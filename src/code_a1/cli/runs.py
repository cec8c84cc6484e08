"""`code-a1 runs …`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from code_a1.cli import options

if TYPE_CHECKING:
    from code_a1.records import TestCase

from code_a1.cli.runexport import export


@click.group(short_help="Look into run folders.")
def runs() -> None:
    """Look into run folders."""


@runs.command(short_help="Candidates, suites and verdicts of a run, as Markdown.")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--step", "steps", type=int, multiple=True, help="Only this step; may be repeated. Default: all.")
@click.option("--problem", default=None, help="Only this problem.")
@click.option("--loaded", is_flag=True, help="Only candidates that load.")
@click.option("--suites", default=0, help="Suites shown of a candidate; 0 shows all.")
@click.option("--limit", default=0, help="Candidates shown, spread evenly over the run; 0 shows all.")
def rollouts(run: Path, steps: tuple[int, ...], problem: str | None, loaded: bool, suites: int, limit: int) -> None:
    r"""Print what was sampled in RUN and how it was judged.

    \b
    Example:
      code-a1 runs rollouts runs/co-evolve-20260101-120000 --loaded --suites 1 --limit 10
    """
    from code_a1.report.rollouts import render_rollouts  # noqa: PLC0415 - `--help` stays fast
    from code_a1.run_dir import RunDir  # noqa: PLC0415

    folder = RunDir.open(run)
    wanted = steps or [row["step"] for row in folder.metrics()]
    rows = [
        row
        for step in wanted
        for row in folder.rollouts(step)
        if problem in (None, row["problem_id"]) and (row["loaded"] or not loaded)
    ]
    if limit and len(rows) > limit:
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    for text in render_rollouts(rows, suites=suites):
        click.echo(text)


@runs.command(short_help="The Mistake Book of a run.")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--problem", default=None, help="Only this problem.")
@click.option(
    "--step", type=int, default=None, help="As the book was after this step; that of a checkpoint still kept."
)
@click.option("--limit", default=20, show_default=True, help="Problems shown; 0 shows all.")
@click.option("--export", "target", type=click.Path(path_type=Path, dir_okay=False), help="Write it all as JSON lines.")
@options.as_json
def book(run: Path, problem: str | None, step: int | None, limit: int, target: Path | None, as_json: bool) -> None:
    r"""Show the tests that candidates of RUN failed and have not passed since, with their counts.

    What `--export` writes, another run can begin with: `--set mistake_book.start_from=FILE` (or a run folder).

    \b
    Examples:
      code-a1 runs book runs/co-evolve-20260101-120000 --problem mbpp/11
      code-a1 runs book runs/co-evolve-20260101-120000 --export book.jsonl
    """
    from contextlib import closing  # noqa: PLC0415 - `--help` stays fast

    from code_a1.book_file import open_book, write_book  # noqa: PLC0415

    with closing(open_book(run)) as opened:
        if problem is None:
            rows = opened.rows(step)
        else:
            rows = ((problem, test, count) for test, count in opened.counts(problem, step).items())
        if target is not None:
            click.echo(f"{write_book(target, rows)} tests written to {target}", err=True)
        else:
            print_book(rows, limit)
        if as_json:
            click.echo(json.dumps({"tests": len(opened), "step": opened.step}))


def print_book(rows: Iterable[tuple[str, TestCase, int]], limit: int) -> None:
    """Print tests under their problems, those of highest count first."""
    shown = 0
    for problem_id, group in itertools.groupby(rows, key=lambda row: row[0]):
        tests = sorted(((count, test.source) for _, test, count in group), key=lambda each: each[0], reverse=True)
        shown += 1
        if limit and shown > limit:
            click.echo(f"… and more problems; --limit 0 shows all, --problem {problem_id} the next")
            return
        click.echo(f"{problem_id}: {len(tests)} tests")
        for count, source in tests:
            click.echo(f"  {count:>4} × {source}")
    if not shown:
        click.echo("no tests", err=True)


@runs.command(short_help="Signs of reward hacking in a run, with examples.")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--step", "steps", type=int, multiple=True, help="Only this step; may be repeated. Default: all.")
@click.option("--examples", default=2, show_default=True, help="Examples shown of each sign.")
@options.as_json
def audit(run: Path, steps: tuple[int, ...], examples: int, as_json: bool) -> None:
    r"""Read the rollouts of RUN for programs and tests that were paid for something else than being right.

    Exit code 1 where a sign is more frequent than its limit (docs/recovery.md).

    \b
    Example:
      code-a1 runs audit runs/co-evolve-20260101-120000
    """
    from code_a1.audit import audit_run  # noqa: PLC0415 - `--help` stays fast
    from code_a1.run_dir import RunDir  # noqa: PLC0415

    signs = audit_run(RunDir.open(run), steps, examples)
    for sign in signs:
        share = f"{sign.found} of {sign.seen} ({sign.share:.1%}, limit {sign.limit:.0%})"
        click.echo(f"{'!' if sign.finding else ' '} {sign.name}: {share}: {sign.meaning}")
        for example in sign.examples:
            click.echo("\n".join("      " + line for line in example.splitlines()) + "\n")
    if as_json:
        click.echo(json.dumps({sign.name: sign.row() for sign in signs}))
    if any(sign.finding for sign in signs):
        raise SystemExit(1)


runs.add_command(export)
