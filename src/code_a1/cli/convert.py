"""The work of `code-a1 problems convert`."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from code_a1.conversion import Conversion, Converter, Finding, Selection
from code_a1.errors import ConfigError, ProblemError
from code_a1.judge import Judge
from code_a1.problems import BadRow, write_problems
from code_a1.problems.loading import open_reading
from code_a1.records import Problem
from code_a1.report.live import LiveView
from code_a1.sandbox import Sandbox

LOG_EVERY_S = 10.0
"""Seconds between lines of progress where stderr is no terminal."""


def convert_problems(
    format_: str,
    source: str,
    output: Path,
    *,
    split: str | None,
    selection: Selection,
    list_to: Path | None,
    workers: int,
    allow_tier: str,
    as_json: bool,
) -> Conversion:
    """Convert, show progress on stderr, list what was dropped, print the closing table.

    Raises ProblemError for an unreadable source or output, and where no problem is left.
    """
    _refuse_overwriting(source, output)
    reading = open_reading(source, format_, split)
    progress = _Progress(reading.source.count())
    with contextlib.ExitStack() as stack:
        stack.callback(progress.close)
        findings = stack.enter_context(_listing(list_to))
        sandbox = stack.enter_context(Sandbox(workers=workers, allow_tier=allow_tier))
        converter = Converter(Judge(sandbox), selection, findings, progress.rows)
        progress.done = converter.done
        write_problems(output, _some(converter, converter.convert(reading), source))
    done = converter.done
    Console().print(_table(done, reading.format_name))
    click.echo(f"problems: {output}")
    if as_json:
        click.echo(json.dumps(_summary(done) | {"format": reading.format_name, "output": str(output)}))
    return done


def _refuse_overwriting(source: str, output: Path) -> None:
    if output.exists() and Path(source).exists() and output.samefile(source):
        raise ConfigError(f"{output}: is the file that is read; write to another one")


def _some(converter: Converter, problems: Iterator[Problem], source: str) -> Iterator[Problem]:
    """Pass problems on; ProblemError if there were none, so that no empty file is written."""
    yield from problems
    done = converter.done
    if not done.written:
        reasons = ", ".join(f"{n} {name}" for name, n in (done.broken + done.left_out).most_common())
        levels = ", ".join(f"'{name}' {n} times" for name, n in done.levels.most_common())
        raise ProblemError(
            f"{source}: no problem is left of {done.rows} rows ({reasons}); nothing was written"
            + (f". Difficulties in it: {levels}" if levels else "")
        )


@contextlib.contextmanager
def _listing(path: Path | None) -> Iterator[Callable[[Finding], None]]:
    """Broken rows go to stdout; what was left out goes there too, or into a file of one JSON object a line."""
    if path is None:
        yield lambda finding: click.echo(_line(finding))
        return
    try:
        with path.open("w", encoding="utf-8") as file:

            def write(finding: Finding) -> None:
                if isinstance(finding, BadRow) and finding.kind != "unsuited":
                    click.echo(_line(finding))
                file.write(json.dumps(asdict(finding), ensure_ascii=False) + "\n")

            yield write
    except OSError as error:
        raise ProblemError(f"{path}: cannot be written: {error}") from error


def _line(finding: Finding) -> str:
    return str(finding) if isinstance(finding, BadRow) else f"{finding.problem_id}: {finding.reason}"


class _Progress:
    """A bar in a terminal, a line now and then in a log."""

    def __init__(self, total: int | None) -> None:
        self._view = LiveView()
        self._view.phase("converting", total)
        self._total = total
        self._console = Console(stderr=True)
        self._start = self._told = time.monotonic()
        self.done = Conversion()

    def rows(self, amount: int) -> None:
        self._view.advance(amount)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._told >= LOG_EVERY_S:
            self._told = now
            of = f" of {self._total:,}" if self._total else ""
            rate = self.done.rows / (now - self._start)
            self._view.message(f"{self.done.rows:,}{of} rows read, {self.done.written:,} written, {rate:.0f} rows/s")

    def close(self) -> None:
        self._view.close()


def _summary(done: Conversion) -> dict[str, object]:
    return {
        "rows": done.rows,
        "written": done.written,
        "tests": done.tests,
        "tests_left_out": dict(done.tests_left_out),
        "left_out": dict(done.left_out),
        "broken": dict(done.broken),
    }


def _table(done: Conversion, format_name: str) -> Table:
    table = Table(title=f"{done.rows:,} rows in the format {format_name}", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("problems written", f"{done.written:,}")
    table.add_row("their tests", f"{done.tests:,}")
    for name, n in done.tests_left_out.most_common():
        table.add_row(f"  tests left out: {name}", f"{n:,}")
    for name, n in done.left_out.most_common():
        table.add_row(f"left out: {name}", f"{n:,}")
    for kind, n in done.broken.most_common():
        table.add_row(f"broken rows: {kind}", f"{n:,}")
    return table
