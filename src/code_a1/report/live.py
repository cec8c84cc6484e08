"""The live view of a run in a terminal: a bar for the phase, a bar for the run, one line per finished step."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from code_a1.report.view import View

UNITS = {
    "candidates": "completions",
    "suites": "completions",
    "judging": "programs",
    "checking references": "programs",
    "converting": "rows",
}


class LiveView(View):
    """Draws on stderr. Where stderr is no terminal it prints the step lines only, so that logs stay readable."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._phase: TaskID | None = None
        self._run: TaskID | None = None
        self._unit = ""
        self._progress.start()

    def message(self, text: str) -> None:
        """Print a line above the bars."""
        self._console.print(text, highlight=False, soft_wrap=True)

    def phase(self, name: str, total: int | None) -> None:
        """Start the phase's bar anew."""
        self._unit = UNITS.get(name, "")
        if self._phase is not None:
            self._progress.remove_task(self._phase)
        self._phase = self._progress.add_task(name, total=total, rate="")

    def advance(self, amount: int) -> None:
        """Move the phase's bar and show its speed."""
        if self._phase is None:
            return
        self._progress.advance(self._phase, amount)
        task = next(t for t in self._progress.tasks if t.id == self._phase)
        if task.speed:
            self._progress.update(self._phase, rate=f"{task.speed:.1f} {self._unit}/s")

    def step(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        """Print the step's line and move the run's bar."""
        if self._run is None:
            self._run = self._progress.add_task("run", total=steps, rate="")
        self._progress.update(self._run, completed=step, total=steps)
        self._console.print(step_line(step, steps, metrics), highlight=False, soft_wrap=True)

    def evaluation(self, step: int, metrics: Mapping[str, float]) -> None:
        """Print what was measured, in one line."""
        values = (
            f"{key.removeprefix('eval/')} {value if isinstance(value, int) else number(value)}"
            for key, value in metrics.items()
        )
        self._console.print(" · ".join([f"evaluation after step {step}", *values]), highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the bars away."""
        self._progress.stop()


def step_line(step: int, steps: int, metrics: Mapping[str, float]) -> str:
    """One step in one line: rewards of both sides, pass rates, validity, book, speed."""
    book = f"book {metrics['book/size']:.0f}"
    if "book/added" in metrics:
        book += f" (+{metrics['book/added']:.0f} −{metrics['book/removed'] + metrics['book/evicted']:.0f})"
    return " · ".join(
        [
            f"step {step}/{steps}",
            f"code {number(metrics['code/reward_mean'])} ± {number(metrics['code/reward_std'])}",
            f"test {number(metrics['test/reward_mean'])} ± {number(metrics['test/reward_std'])}",
            f"pass {number(metrics['code/pass_new'])} new, {number(metrics['code/pass_replayed'])} replayed",
            f"valid {number(metrics['validity/VALID'])}",
            book,
            f"{metrics['judge/candidates_per_s']:.0f} candidates/s",
            f"{metrics['time/step_s']:.1f} s",
        ]
    )


def number(value: float | None, digits: int = 2) -> str:
    """A number for people; a dash where there was nothing to measure."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"
