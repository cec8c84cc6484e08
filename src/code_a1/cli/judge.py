"""`code-a1 judge`."""

from __future__ import annotations

from pathlib import Path

import click

from code_a1.cli import options


@click.command(short_help="Judge a file of candidate programs.")
@click.argument("candidates", type=click.Path(path_type=Path, dir_okay=False))
@options.problems
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Verdicts, JSONL.")
@options.workers
@options.allow_tier
@options.as_json
def judge(candidates: Path, problems: str, output: Path, workers: int, allow_tier: str, as_json: bool) -> None:
    r"""Run every program of CANDIDATES in the sandbox and write its verdicts.

    A row of CANDIDATES (JSONL) has problem_id, code, and optionally id and tests (a list of assert statements). Without
    tests the problem's reference_tests judge. docs/judge.md has both schemas.

    \b
    Example:
      code-a1 judge candidates.jsonl --problems problems.jsonl -o verdicts.jsonl
    """
    from code_a1.cli.judging import judge_candidates  # noqa: PLC0415 - `--help` stays fast

    judge_candidates(candidates, problems, output, workers=workers, allow_tier=allow_tier, as_json=as_json)
