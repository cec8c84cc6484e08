"""A picture per claim: what every arm of it came to, seed by seed, and how it got there where it was watched."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from code_a1.errors import MissingExtra
from code_a1.lab.repeats_table import interval
from code_a1.lab.study.claims import BASE, Claim
from code_a1.lab.study.running import Study, Task
from code_a1.lab.study.tables import Finding, Outcomes
from code_a1.report.panels import GREY, GRID, INK, SHARES
from code_a1.run_dir import RunDir

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOOK = {"book-keeps-fixes": ("book/added", "book/removed"), "book-teaches": ("book/added", "book/removed")}
"""Claims whose curves are of the training steps, and of what."""


def draw_findings(study: Study, found: Sequence[Finding], outcomes: Outcomes, folder: Path) -> dict[str, str]:
    """Write `CLAIM.svg` for every finding; their names, relative to the folder's parent. Raises MissingExtra."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("matplotlib", extra="report", purpose="drawing the study") from error
    folder.mkdir(exist_ok=True)
    drawn = {}
    # no dates and no random ids: the same numbers give the same file
    with mpl.rc_context({"svg.hashsalt": "study", "font.size": 9, "axes.edgecolor": GRID, "text.color": INK}):
        for finding in found:
            claim = finding.claim
            figure = Figure(figsize=(8.4, 3.2), layout="constrained")
            curves, bars = figure.subplots(1, 2, width_ratios=(3, 2))
            _curves(curves, study, finding)
            _bars(bars, claim, finding.seeds, outcomes)
            figure.suptitle(f"{claim.says}  ({finding.answer or 'no claim'})", fontsize=10)
            name = f"{claim.name}.svg"
            figure.savefig(folder / name, metadata={"Date": None})
            drawn[claim.name] = f"{folder.name}/{name}"
    return drawn


def _colors(claim: Claim) -> dict[str, str]:
    arms = [arm for arm in claim.contrast if arm != BASE]
    return {BASE: GREY, **{arm: SHARES[i % len(SHARES)] for i, arm in enumerate(arms)}}


def _curves(axis: Axes, study: Study, finding: Finding) -> None:
    """The metric on held-out problems over the steps, mean and range over seeds; for the book what it took and gave."""
    claim, colors = finding.claim, _colors(finding.claim)
    keys = BOOK.get(claim.name, (f"eval/heldout/{claim.metric}",))
    for arm in claim.arms:
        for key, style in zip(keys, ("-", "--"), strict=False):
            by_step: dict[int, list[float]] = {}
            for seed in finding.seeds:
                for step, value in _watched(study, Task(arm, seed), key):
                    by_step.setdefault(step, []).append(value)
            if not by_step:
                continue
            steps = sorted(by_step)
            label = arm if len(keys) == 1 else f"{arm}: {key.rpartition('/')[2]}"
            axis.plot(steps, [statistics.fmean(by_step[s]) for s in steps], style, color=colors[arm], label=label)
            low, high = ([pick(by_step[s]) for s in steps] for pick in (min, max))
            axis.fill_between(steps, low, high, color=colors[arm], alpha=0.15, linewidth=0)
    if axis.has_data():
        axis.set_xlabel("step")
        axis.legend(fontsize=7, frameon=False)
    else:
        axis.text(0.5, 0.5, "measured at the end only", ha="center", va="center", color=GREY, transform=axis.transAxes)
    axis.grid(color=GRID, linewidth=0.5)


def _watched(study: Study, task: Task, key: str) -> list[tuple[int, float]]:
    place = study.place(task)
    if not (place / "metrics.jsonl").is_file():
        return []
    rows: list[dict[str, Any]] = list(RunDir(place).metrics())
    return [(row["step"], row[key]) for row in rows if row.get(key) is not None]


def _bars(axis: Axes, claim: Claim, seeds: Sequence[int], outcomes: Outcomes) -> None:
    """Means of the arms at the end with 95 % intervals over seeds, and every seed as a dot."""
    arms, colors = list(claim.contrast), _colors(claim)
    for place, arm in enumerate(arms):
        values = [outcomes[Task(arm, seed)].after[claim.metric] for seed in seeds]
        mean, low, high = interval(values)
        error = None if math.isnan(low) else [[mean - low], [high - mean]]
        axis.bar(place, mean, 0.6, color=colors[arm], alpha=0.35, yerr=error, ecolor=INK, capsize=3)
        axis.plot([place] * len(values), values, "o", color=colors[arm], markersize=3.5)
    axis.set_xticks(range(len(arms)), [arm.replace("-", "-\n", 1) for arm in arms], fontsize=7)
    axis.set_ylabel(claim.metric)
    axis.grid(axis="y", color=GRID, linewidth=0.5)
