"""What the results of an evaluation come to: estimates per benchmark, and their average."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from code_a1.evaluation.code.statistics import Estimate, estimate, mean_of_means, pass_at_k
from code_a1.evaluation.code.tasks import TaskResult
from code_a1.records import Verdict

Values = dict[str, dict[str, float]]
"""Metric → task id → value in [0, 1]."""


def task_values(results: Sequence[TaskResult], n: int) -> Values:
    """Every metric's value per task: `pass@k` for k = 1, 2, 4, … and n, `avg@n`, `greedy`.

    A task of which our own failures left fewer than k judged samples has no pass@k.
    """
    ks = sorted({k for k in (1 << i for i in range(20)) if k <= n} | ({n} if n else set()))
    values: Values = {}
    for result in results:
        if result.left_out:
            continue
        judged, right = result.counts()
        for k in ks:
            if judged >= k:
                values.setdefault(f"pass@{k}", {})[result.task_id] = pass_at_k(judged, right, k)
        if judged:
            values.setdefault(f"avg@{n}", {})[result.task_id] = right / judged
        greedy = result.greedy
        if greedy is not None and greedy.judged.verdict is not Verdict.SANDBOX_ERROR:
            values.setdefault("greedy", {})[result.task_id] = float(greedy.judged.passed)
    return values


def summarise(results_B: Mapping[str, Sequence[TaskResult]], n: int) -> dict[str, Any]:
    """The numbers of an evaluation as they stand in `summary.json`; intervals are 95 %, over problems."""
    values_B = {name: task_values(results, n) for name, results in results_B.items()}
    benches = {name: _bench(results_B[name], values) for name, values in values_B.items()}
    average = {}
    for metric in dict.fromkeys(metric for values in values_B.values() for metric in values):
        if all(values.get(metric) for values in values_B.values()):
            average[metric] = as_list(mean_of_means([list(values[metric].values()) for values in values_B.values()]))
    return {"benchmarks": benches, "average": average}


def _bench(results: Sequence[TaskResult], values: Values) -> dict[str, Any]:
    kept = [result for result in results if not result.left_out]
    samples = [s for result in kept for s in (*result.samples, *((result.greedy,) if result.greedy else ()))]
    return {
        "problems": len(kept),
        "left_out": {result.task_id: result.left_out for result in results if result.left_out},
        "samples": len(samples),
        "no_program": sum(s.program is None for s in samples),
        "cut_off": sum(s.finish_reason == "length" for s in samples),
        "verdicts": dict(Counter(str(s.judged.verdict) for s in samples).most_common()),
        "metrics": {metric: as_list(estimate(list(by_task.values()))) for metric, by_task in values.items()},
    }


def as_list(found: Estimate) -> list[float | None]:
    """Value and ends of the interval, as JSON has them."""
    return [None if math.isnan(x) else x for x in (found.value, found.low, found.high)]


def percent(numbers: Sequence[float | None] | None) -> str:
    """`56.95 [54.10, 59.60]`: percentages with the interval, a dash where there is nothing."""
    if not numbers or any(x is None for x in numbers):
        return "–"
    value, low, high = (100 * x for x in numbers if x is not None)
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def summary_table(title: str, summary: Mapping[str, Any]) -> Table:
    """Benchmarks side by side, with their average where there are several."""
    benches = summary["benchmarks"]
    table = Table(title=title, title_justify="left", caption="percent, with 95 % intervals over problems")
    table.add_column("")
    for name in benches:
        table.add_column(name, justify="right")
    several = len(benches) > 1
    if several:
        table.add_column("average", justify="right")
    for metric in dict.fromkeys(metric for bench in benches.values() for metric in bench["metrics"]):
        cells = [percent(bench["metrics"].get(metric)) for bench in benches.values()]
        table.add_row(metric, *cells, *([percent(summary["average"].get(metric))] if several else []))
    for key, label in (("problems", "problems"), ("samples", "samples"), ("no_program", "without a program")):
        table.add_row(label, *[str(bench[key]) for bench in benches.values()], *([""] if several else []))
    failed = [str(bench["verdicts"].get("SANDBOX_ERROR", 0)) for bench in benches.values()]
    if any(number != "0" for number in failed):
        table.add_row("not judged, through our fault", *failed, *([""] if several else []))
    return table
