"""What is drawn of a run's metrics: one function per panel, used by the single picture and by the HTML report alike.

A panel draws what is there; a step without a value is a gap, and a panel without any value stays empty. The code policy
is blue with round marks, the test policy orange with square ones, in every panel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from code_a1.records import Validity, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CODE, TEST, INK, GREY, GRID = "#1f6feb", "#c2500a", "#24292f", "#6e7781", "#d0d7de"
SHARES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8c8c", "#7a5195")
"""Colours of stacked shares: Okabe and Ito's, which people of every kind of colour vision can tell apart."""
MARKED = 200
"""Steps up to which every one is marked, so that a mouse can find it."""
SMOOTHED = 20
"""Steps from which a running mean is drawn upon the values."""
PHASES = ("candidates", "suites", "judging", "learning")

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Panel:
    """A titled place for curves; `alone` ones are left out of the single picture."""

    title: str
    draw: Callable[[Axes, Rows], None]
    alone: bool = False


def series(rows: Rows, key: str) -> tuple[list[int], list[float]]:
    """Steps and values of one metric; a step without a value is a gap."""
    return [row["step"] for row in rows], [math.nan if row.get(key) is None else row[key] for row in rows]


def running_mean(values: Sequence[float], width: int) -> list[float]:
    """Mean of the values up to `width` // 2 places away on either side; NaN are left out."""
    reach = width // 2
    means = []
    for i in range(len(values)):
        near = [v for v in values[max(0, i - reach) : i + reach + 1] if not math.isnan(v)]
        means.append(math.fsum(near) / len(near) if near else math.nan)
    return means


def _line(axis: Axes, rows: Rows, key: str, label: str, color: str, style: str = "-") -> None:
    """One metric of the training steps; long runs as a running mean upon their faint values."""
    steps, values = series(_taken(rows), key)
    if all(map(math.isnan, values)):
        return
    marker = ("s" if color == TEST else "o") if len(steps) <= MARKED else ""
    smooth = len(steps) >= SMOOTHED
    style_of: dict[str, Any] = {"alpha": 0.4, "linewidth": 0.8} if smooth else {"linewidth": 1.5}
    axis.plot(
        steps,
        values,
        style,
        color=color,
        gid=key,
        marker=marker,
        markersize=3,
        label="" if smooth else label,
        **style_of,
    )
    if smooth:
        axis.plot(steps, running_mean(values, len(steps) // 10 + 1), style, color=color, label=label, linewidth=2)


def _evaluated(axis: Axes, rows: Rows, key: str, label: str, color: str, style: str = ":") -> None:
    """A metric that is taken now and then: its points joined."""
    taken = [row for row in rows if row.get(key) is not None]
    if taken:
        marker = "s" if color == TEST else "o"
        axis.plot(*series(taken, key), style, color=color, label=label, marker=marker, markersize=5, gid=key)


def _sides(axis: Axes, rows: Rows, name: str, style: str = "-", suffix: str = "") -> None:
    for side, color in (("code", CODE), ("test", TEST)):
        _line(axis, rows, f"{side}/{name}", f"{side} policy{suffix}", color, style)


def _stack(axis: Axes, rows: Rows, keys: Mapping[str, str]) -> None:
    """Layers of metrics (label by key), those that are never above 0 left out."""
    rows = _taken(rows)
    layers = {label: [row.get(key) or 0.0 for row in rows] for key, label in keys.items()}
    present = {label: values for label, values in layers.items() if any(values)}
    colors = {label: SHARES[i % len(SHARES)] for i, label in enumerate(layers)}
    steps = [row["step"] for row in rows]
    if len(steps) > MARKED:
        axis.stackplot(
            steps,
            list(present.values()),
            labels=list(present),
            colors=[colors[label] for label in present],
            linewidth=0,
        )
        return
    base = [0.0] * len(steps)
    for label, values in present.items():
        axis.bar(steps, values, 0.9, bottom=base, color=colors[label], label=label)
        base = [below + value for below, value in zip(base, values, strict=True)]


def _taken(rows: Rows) -> Rows:
    """Rows of training steps; what was measured before the first one stands in row 0."""
    return [row for row in rows if row["step"] > 0]


def _unit(axis: Axes) -> None:
    if axis.has_data():
        axis.set_ylim(-0.03, 1.03)


def _rewards(axis: Axes, rows: Rows) -> None:
    rows = _taken(rows)
    for side, color in (("code", CODE), ("test", TEST)):
        steps, mean = series(rows, f"{side}/reward_mean")
        _, std = series(rows, f"{side}/reward_std")
        _line(axis, rows, f"{side}/reward_mean", f"{side} policy", color)
        if len(steps) < SMOOTHED and not all(map(math.isnan, mean)):
            low, high = ([m + sign * s for m, s in zip(mean, std, strict=True)] for sign in (-1, 1))
            axis.fill_between(steps, low, high, color=color, alpha=0.12, linewidth=0)
    _unit(axis)


def _pass_rates(axis: Axes, rows: Rows) -> None:
    _line(axis, rows, "code/pass_new", "new tests", CODE)
    _line(axis, rows, "code/pass_replayed", "replayed tests", INK, "--")
    _line(axis, rows, "code/loaded", "share that loads", GREY, ":")
    _unit(axis)


def _heldout(axis: Axes, rows: Rows) -> None:
    _evaluated(axis, rows, "eval/heldout/code/pass@1", "pass@1", CODE, "-")
    _evaluated(axis, rows, "eval/heldout/test/validity", "valid tests", TEST, "-")
    _evaluated(axis, rows, "eval/heldout/test/mutation_score", "mutants killed by valid tests", TEST, "--")
    _evaluated(axis, rows, "eval/heldout/test/kills_shown", "wrong program shown is found out", TEST, ":")
    _evaluated(axis, rows, "eval/validity", "valid tests", TEST, "-")  # a warm start
    _evaluated(axis, rows, "eval/usable", "usable tests", GREY, "-")
    _evaluated(axis, rows, "eval/mutation_score", "mutants killed by valid tests", TEST, "--")
    _unit(axis)


def _benches(axis: Axes, rows: Rows) -> None:
    keys = sorted({key for row in rows for key in row if key.endswith("/code/pass@1")} - {"eval/heldout/code/pass@1"})
    for i, key in enumerate(keys):
        _evaluated(axis, rows, key, key.split("/")[1], SHARES[i % len(SHARES)], "-")
    _unit(axis)


def _test_terms(axis: Axes, rows: Rows) -> None:
    _line(axis, rows, "test/validity", "validity term", TEST)
    _line(axis, rows, "test/adversarial", "adversarial term", INK, "--")
    _line(axis, rows, "test/killing", "suites with a failing test", GREY, ":")
    _unit(axis)


def _usable(axis: Axes, rows: Rows) -> None:
    _line(axis, rows, "test/tests_per_suite", "written", GREY, ":")
    _line(axis, rows, "test/usable_per_suite", "usable", TEST)


def _validity(axis: Axes, rows: Rows) -> None:
    _stack(axis, rows, {f"validity/{kind}": str(kind) for kind in Validity})


def _verdicts(axis: Axes, rows: Rows) -> None:
    _stack(axis, rows, {f"verdict/{kind}": str(kind) for kind in Verdict})


def _book(axis: Axes, rows: Rows) -> None:
    rows = _taken(rows)
    steps, added = series(rows, "book/added")
    _, removed = series(rows, "book/removed")
    if not all(map(math.isnan, added)):
        axis.bar(steps, added, color=TEST, alpha=0.5, label="added in the step")
        axis.bar(steps, [-r for r in removed], color=CODE, alpha=0.5, label="removed in the step")
        marker = "o" if len(steps) <= MARKED else ""
        axis.plot(
            *series(rows, "book/size"), color=INK, label="tests held", gid="book/size", marker=marker, markersize=3
        )


def _groups(axis: Axes, rows: Rows) -> None:
    shares = [
        {"step": row["step"]}
        | {
            f"{side}/share": 1 - (row[f"{side}/groups_without_spread"] / total)
            for side in ("code", "test")
            if (total := (row.get(f"{side}/groups") or 0) + (row.get(f"{side}/groups_without_spread") or 0))
        }
        for row in _taken(rows)
    ]
    _sides(axis, shares, "share")
    _unit(axis)


def _kl(axis: Axes, rows: Rows) -> None:
    _sides(axis, rows, "kl")


def _entropy(axis: Axes, rows: Rows) -> None:
    _sides(axis, rows, "entropy")


def _lengths(axis: Axes, rows: Rows) -> None:
    _sides(axis, rows, "completion_tokens_mean")


def _truncated(axis: Axes, rows: Rows) -> None:
    _sides(axis, rows, "truncated")
    _unit(axis)


def _diversity(axis: Axes, rows: Rows) -> None:
    _line(axis, rows, "diversity/distinct_calls", "distinct calls", TEST)
    _line(axis, rows, "diversity/boundary", "arguments at boundaries", INK, "--")
    _line(axis, rows, "diversity/in_book", "calls that the book held", GREY, ":")
    _unit(axis)


def _loss(axis: Axes, rows: Rows) -> None:
    _sides(axis, rows, "loss")


def _gradients(axis: Axes, rows: Rows) -> None:
    _sides(axis, rows, "grad_norm")


def _time(axis: Axes, rows: Rows) -> None:
    if any(row.get("time/judging_s") is not None for row in rows):
        _stack(axis, rows, {f"time/{phase}_s": phase for phase in PHASES})
    else:
        _line(axis, rows, "time/step_s", "whole step", INK)


PANELS = (
    Panel("reward, mean of a step", _rewards),
    Panel("programs: share of tests passed", _pass_rates),
    Panel("held-out problems", _heldout, alone=True),
    Panel("benchmarks, pass@1", _benches, alone=True),
    Panel("tests: share of each validity class", _validity),
    Panel("usable tests in a suite", _usable, alone=True),
    Panel("test reward: its two terms, and how many suites kill", _test_terms, alone=True),
    Panel("verdicts on new tests", _verdicts, alone=True),
    Panel("Mistake Book, tests", _book),
    Panel("share of groups with something to learn", _groups, alone=True),
    Panel("KL to the reference policy (k3, nats per token)", _kl),
    Panel("entropy (nats per token)", _entropy, alone=True),
    Panel("length of completions (tokens)", _lengths, alone=True),
    Panel("completions cut at the limit", _truncated, alone=True),
    Panel("variety of tests", _diversity, alone=True),
    Panel("loss", _loss, alone=True),
    Panel("gradient norm before clipping", _gradients, alone=True),
    Panel("seconds of a step", _time),
)


def finish(axis: Axes) -> None:
    """Grid, spines, ticks and legend, alike in every panel."""
    axis.set_xlabel("step", fontsize=8, loc="right", labelpad=1)
    axis.grid(color=GRID, linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
    axis.margins(x=0.02)
    axis.locator_params(axis="x", integer=True)
    if axis.get_legend_handles_labels()[1]:
        axis.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2, borderaxespad=0)
