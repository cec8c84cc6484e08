"""The curves of a run as one picture: rewards of both sides, pass rates, validity, the Mistake Book, KL, time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from code_a1.errors import MissingExtra, RunDirError
from code_a1.records import Validity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CODE, TEST = "#1f6feb", "#d1580b"
"""One colour per side, in every panel."""

Rows = Sequence[Mapping[str, Any]]


def draw_curves(rows: Rows, path: Path, title: str) -> None:
    """Draw the metrics of a run into `path` (the ending says how: .svg, .png, .pdf).

    Raises:
        MissingExtra: matplotlib is not installed.
        RunDirError: there is no step to draw, or the file cannot be written.
    """
    if not rows:
        raise RunDirError(f"{title}: no step has been finished yet, so there is nothing to draw")
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        raise MissingExtra("matplotlib", extra="report", purpose="drawing curves") from None
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(2, 3, figsize=(13, 6.6), layout="constrained")
    for draw, axis in zip(PANELS, axes.flat, strict=True):
        draw(axis, rows)
        axis.set_xlabel("step")
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        axis.xaxis.get_major_locator().set_params(integer=True)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    try:
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    except (OSError, ValueError) as error:
        raise RunDirError(f"cannot write the picture {path}: {error}") from error
    finally:
        plt.close(figure)


def series(rows: Rows, key: str) -> tuple[list[int], list[float]]:
    """Steps and values of one metric; a step without a value is a gap."""
    return [row["step"] for row in rows], [math.nan if row.get(key) is None else row[key] for row in rows]


def _line(axis: Axes, rows: Rows, key: str, label: str, color: str, style: str = "-") -> None:
    steps, values = series(rows, key)
    if not all(map(math.isnan, values)):
        axis.plot(steps, values, style, color=color, label=label, marker=".", markersize=4)


def _evaluated(axis: Axes, rows: Rows, key: str, label: str, color: str) -> None:
    """A metric that is taken now and then: its points joined."""
    taken = [row for row in rows if row.get(key) is not None]
    if taken:
        axis.plot(*series(taken, key), ":", color=color, label=label, marker="o", markersize=4)


def _taken(rows: Rows) -> Rows:
    """Rows of training steps; what was measured before the first one stands in row 0."""
    return [row for row in rows if row["step"] > 0]


def _rewards(axis: Axes, rows: Rows) -> None:
    axis.set_title("reward: mean, and ± one standard deviation", fontsize=10)
    for side, color in (("code", CODE), ("test", TEST)):
        steps, mean = series(rows, f"{side}/reward_mean")
        _, std = series(rows, f"{side}/reward_std")
        _line(axis, rows, f"{side}/reward_mean", f"{side} policy", color)
        low, high = [m - s for m, s in zip(mean, std, strict=True)], [m + s for m, s in zip(mean, std, strict=True)]
        axis.fill_between(steps, low, high, color=color, alpha=0.12, linewidth=0)
    axis.set_ylim(-0.05, 1.05)
    axis.legend(frameon=False, fontsize=8)


def _pass_rates(axis: Axes, rows: Rows) -> None:
    axis.set_title("candidates; on held-out problems, dotted, both sides", fontsize=10)
    _line(axis, rows, "code/pass_new", "pass rate, new tests", CODE)
    _line(axis, rows, "code/pass_replayed", "pass rate, replayed tests", CODE, "--")
    _line(axis, rows, "code/loaded", "share that loads", "#8b949e")
    _evaluated(axis, rows, "eval/heldout/code/pass@1", "pass@1", CODE)
    _evaluated(axis, rows, "eval/heldout/test/mutation_score", "mutants killed by a suite", TEST)
    axis.set_ylim(-0.05, 1.05)
    axis.legend(frameon=False, fontsize=8)


def _validity(axis: Axes, rows: Rows) -> None:
    axis.set_title("tests: share of each validity class", fontsize=10)
    rows = _taken(rows)
    steps = [row["step"] for row in rows]
    shares = {v: [row.get(f"validity/{v}") or 0.0 for row in rows] for v in Validity}
    present = {v: values for v, values in shares.items() if any(values)}
    if present:
        axis.stackplot(steps, list(present.values()), labels=[str(v) for v in present], alpha=0.85)
        axis.legend(frameon=True, fontsize=7, loc="lower left")
    axis.set_ylim(0, 1)


def _book(axis: Axes, rows: Rows) -> None:
    axis.set_title("Mistake Book", fontsize=10)
    steps, added = series(rows, "book/added")
    _, removed = series(rows, "book/removed")
    axis.bar(steps, added, color=TEST, alpha=0.5, label="tests added in the step")
    axis.bar(steps, [-r for r in removed], color=CODE, alpha=0.5, label="tests removed in the step")
    _line(axis, rows, "book/size", "tests held", "#24292f")
    axis.legend(frameon=False, fontsize=8)


def _kl(axis: Axes, rows: Rows) -> None:
    axis.set_title("KL to the reference policy (k3, nats per token)", fontsize=10)
    for side, color in (("code", CODE), ("test", TEST)):
        _line(axis, rows, f"{side}/kl", f"{side} policy", color)
    axis.legend(frameon=False, fontsize=8)


def _time(axis: Axes, rows: Rows) -> None:
    axis.set_title("seconds of a step", fontsize=10)
    rows = _taken(rows)
    phases = ("candidates", "suites", "judging", "learning")
    values = [[row.get(f"time/{phase}_s") or 0.0 for row in rows] for phase in phases]
    axis.stackplot([row["step"] for row in rows], values, labels=phases, alpha=0.8)
    axis.legend(frameon=False, fontsize=8, loc="upper left")


PANELS = (_rewards, _pass_rates, _validity, _book, _kl, _time)
