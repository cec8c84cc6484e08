"""The work of `code-a1 judge`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from code_a1.config import ProblemsConfig
from code_a1.errors import RunDirError
from code_a1.judge import Judge
from code_a1.judge_file import JudgedFile, judge_file, read_candidates
from code_a1.problems import load_problems
from code_a1.report.live import LiveView
from code_a1.sandbox import Sandbox


def judge_candidates(
    candidates: Path, problems: str, output: Path, *, workers: int, allow_tier: str, as_json: bool
) -> None:
    """Judge, show progress on stderr, print the closing table."""
    known = {p.problem_id: p for p in load_problems(ProblemsConfig(path=problems)).problems}
    total = sum(1 for _ in read_candidates(candidates, known))  # every row is checked before the first is run
    view = LiveView()
    try:
        with Sandbox(workers=workers, allow_tier=allow_tier) as sandbox:
            view.phase("candidates", total)
            counts = judge_file(Judge(sandbox), read_candidates(candidates, known), output, on_progress=view.advance)
    except OSError as error:
        raise RunDirError(f"cannot write {output}: {error}") from error
    finally:
        view.close()
    Console().print(_table(counts))
    click.echo(f"verdicts: {output}")
    if as_json:
        click.echo(json.dumps(_summary(counts) | {"output": str(output)}))


def _summary(counts: JudgedFile) -> dict[str, object]:
    return {
        "candidates": counts.candidates,
        "passed_all": counts.passed_all,
        "not_loaded": counts.not_loaded,
        "without_tests": counts.without_tests,
        "verdicts": {str(k): n for k, n in counts.verdicts.most_common()},
        "invalid_tests": {str(k): n for k, n in counts.invalid_tests.most_common()},
    }


def _table(counts: JudgedFile) -> Table:
    table = Table(title=f"{counts.candidates} candidates", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("candidates that passed every test", str(counts.passed_all))
    table.add_row("candidates that did not load", str(counts.not_loaded))
    if counts.without_tests:
        table.add_row("candidates without a usable test", str(counts.without_tests))
    for verdict, n in counts.verdicts.most_common():
        table.add_row(f"tests: {verdict}", str(n))
    for validity, n in counts.invalid_tests.most_common():
        table.add_row(f"tests not run: {validity}", str(n))
    return table
