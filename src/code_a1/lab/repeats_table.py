"""Outcomes over seeds as Markdown: means, differences in pairs with 95 % intervals, and every seed by itself."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from code_a1.errors import ConfigError
from code_a1.lab.repeats import Outcome

METRICS = {
    "code/pass@1": "pass@1 of programs",
    "code/loaded": "programs that load",
    "test/validity": "valid tests, of those written",
    "test/usable_per_suite": "usable tests per suite",
    "test/kills_shown": "wrong programs found out by the suite's valid tests",
    "test/mutation_score": "mutants killed by the suite's valid tests",
}

T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120)
"""97.5th percentiles of Student's t with 1, 2, … degrees of freedom."""


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean of independent values with the ends of its 95 % interval (Student's t); NaN ends for a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan, math.nan
    t = T[len(values) - 2] if len(values) - 2 < len(T) else 1.96 + 2.5 / (len(values) - 1)
    half = t * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def repeats_table(outcomes: Sequence[Outcome]) -> str:
    """The tables of all seeds that have both arms. Raises ConfigError if there is none."""
    runs = {o.seed: o for o in outcomes if o.arm == "run"}
    controls = {o.seed: o for o in outcomes if o.arm == "supervised"}
    seeds = sorted(runs.keys() & controls.keys())
    if not seeds:
        raise ConfigError("no seed has both arms yet: there is nothing to compare")
    lines = [
        f"Means over {len(seeds)} seeds; differences are in pairs, with 95 % intervals over seeds (Student's t), "
        "an asterisk where they exclude 0. Behind the slash: in how many seeds it rose.",
        "",
        "| | base | co-evolution | more supervised | co-evolution − base | supervised − base "
        "| co-evolution − supervised |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for key, label in METRICS.items():
        before = [runs[s].before[key] for s in seeds]
        after = [runs[s].after[key] for s in seeds]
        control = [controls[s].after[key] for s in seeds]
        means = " | ".join(f"{statistics.fmean(v):.3f}" for v in (before, after, control))
        pairs = " | ".join(_difference(a, b) for a, b in ((before, after), (before, control), (control, after)))
        lines.append(f"| {label} | {means} | {pairs} |")
    lines += ["", *_each_seed(runs, controls, seeds), "", _compute(runs, controls, seeds)]
    return "\n".join(lines) + "\n"


def _difference(before: Sequence[float], after: Sequence[float]) -> str:
    changes = [b - a for a, b in zip(before, after, strict=True)]
    mean, low, high = interval(changes)
    rose = f"{sum(change > 0 for change in changes)} of {len(changes)}"
    if math.isnan(low):
        return f"{mean:+.3f} / {rose}"
    return f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]{'*' if low > 0 or high < 0 else ''} / {rose}"


def _each_seed(runs: dict[int, Outcome], controls: dict[int, Outcome], seeds: Sequence[int]) -> list[str]:
    shown = [key for key in METRICS if key not in ("code/loaded", "test/usable_per_suite")]
    lines = [
        "Each seed: base → co-evolution (more supervised).",
        "",
        f"| seed | {' | '.join(METRICS[key] for key in shown)} | tests in the book |",
        f"| --- |{' --- |' * (len(shown) + 1)}",
    ]
    for seed in seeds:
        run, control = runs[seed], controls[seed]
        cells = [f"{run.before[k]:.3f} → {run.after[k]:.3f} ({control.after[k]:.3f})" for k in shown]
        lines.append(f"| {seed} | {' | '.join(cells)} | {run.after['book']:.0f} |")
    return lines


def _compute(runs: dict[int, Outcome], controls: dict[int, Outcome], seeds: Sequence[int]) -> str:
    cpu = [[arm[s].cpu_s for s in seeds] for arm in (runs, controls)]
    wall = [[arm[s].seconds for s in seeds] for arm in (runs, controls)]
    (a, b), (c, d) = (map(statistics.fmean, values) for values in (cpu, wall))
    return (
        f"Compute of a seed, steps alone: co-evolution {a:.0f} s of CPU ({c:.0f} s), more supervised training "
        f"{b:.0f} s of CPU ({d:.0f} s)."
    )
