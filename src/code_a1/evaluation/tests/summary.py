"""What the suites of a tester come to: estimates per benchmark, and their average."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from code_a1.evaluation.code.statistics import estimate, estimate_of, mean, mean_of_means
from code_a1.evaluation.code.summary import as_list, percent
from code_a1.evaluation.tests.results import SuiteResult, TestTaskResult
from code_a1.records import Validity

Values = dict[str, dict[str, float]]
"""Metric → task id → value in [0, 1]."""
Pair = tuple[float, float]
"""pass@K and mut@K of one task; mut@K is NaN where no suite passes whole."""
MUL = "mul"
MISSING = "MISSING"
"""Tests that were asked for and never written."""


def task_values(results: Sequence[TestTaskResult], k: int) -> Values:
    """Every metric's value per task. Suites of one task are averaged; a task without a value is absent.

    `mut@K` has the tasks with a suite of which all K tests pass, as published; `mut@K all` has every task.
    """
    values: Values = {}
    for result in results:
        suites = result.scored
        if result.left_out or not suites:
            continue
        for metric, of_suites in _suite_values(suites, k).items():
            known = [value for value in of_suites if not math.isnan(value)]
            if known:
                values.setdefault(metric, {})[result.task_id] = mean(known)
        for metric, value in (result.diversity or {}).items():
            if value is not None:
                values.setdefault(f"calls/{metric}", {})[result.task_id] = value
    return values


def _suite_values(suites: Sequence[SuiteResult], k: int) -> dict[str, list[float]]:
    passing = [sum(t.passes for t in suite.tests) for suite in suites]
    whole = [p == k for p in passing]
    kills = [_share(s.killed, s.killed + s.survived) for s in suites]
    written = [Counter(str(t.validity) for t in s.tests) + Counter({MISSING: k - len(s.tests)}) for s in suites]
    values = {
        f"pass@{k}": [p / k for p in passing],
        f"mut@{k}": [value if all_pass else math.nan for value, all_pass in zip(kills, whole, strict=True)],
        f"mut@{k} all": kills,
        f"line@{k}": [_share(*s.lines) for s in suites],
        f"branch@{k}": [_share(*s.branches) for s in suites],
        "whole suite passes": [float(all_pass) for all_pass in whole],
        "kills the program shown": [float(any(t.kills_shown for t in s.tests)) for s in suites],
    }
    return values | {
        f"validity/{kind}": [counts[kind] / k for counts in written] for kind in (*map(str, Validity), MISSING)
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def task_pairs(values: Values, k: int) -> dict[str, Pair]:
    """pass@K and mut@K of every task: what Mul is made of."""
    killed = values.get(f"mut@{k}", {})
    return {task: (passed, killed.get(task, math.nan)) for task, passed in values.get(f"pass@{k}", {}).items()}


def mul(pairs: Sequence[Pair]) -> float:
    """Mean pass@K times mean mut@K, both shares: Mul of UnLeakedTestBench, which multiplies percent, by 100."""
    killed = [m for _, m in pairs if not math.isnan(m)]
    return mean([p for p, _ in pairs]) * mean(killed) if killed else (0.0 if pairs else math.nan)


def summarise(results_B: Mapping[str, Sequence[TestTaskResult]], k: int) -> dict[str, Any]:
    """The numbers of an evaluation as they stand in `summary.json`; intervals are 95 %, over tasks."""
    values_B = {name: task_values(results, k) for name, results in results_B.items()}
    benches = {name: _bench(results_B[name], values, k) for name, values in values_B.items()}
    average = {}
    for metric in dict.fromkeys(metric for values in values_B.values() for metric in values):
        if all(values.get(metric) for values in values_B.values()):
            average[metric] = as_list(mean_of_means([list(values[metric].values()) for values in values_B.values()]))
    return {"benchmarks": benches, "average": average}


def _bench(results: Sequence[TestTaskResult], values: Values, k: int) -> dict[str, Any]:
    kept = [result for result in results if not result.left_out]
    suites = [suite for result in kept for suite in result.suites]
    estimates = {metric: estimate(list(by_task.values())) for metric, by_task in values.items()}
    estimates[MUL] = estimate_of(list(task_pairs(values, k).values()), mul)
    return {
        "problems": len(kept),
        "left_out": {result.task_id: result.left_out for result in results if result.left_out},
        "added_imports": {r.task_id: list(r.added_imports) for r in kept if r.added_imports},
        "without_mutants": [r.task_id for r in kept if r.mutants == r.equivalent],
        "suites": len(suites),
        "masked": sum(suite.masked for suite in suites),
        "cut_off": sum(reason == "length" for suite in suites for reason in suite.finish_reasons),
        "mutants": {
            "made": sum(r.mutants for r in kept),
            "equivalent": sum(r.equivalent for r in kept),
            **{name: sum(getattr(s, name) for s in suites) for name in ("killed", "survived", "timed_out", "unknown")},
        },
        "tasks": {metric: len(by_task) for metric, by_task in values.items() if metric.startswith(("mut@", "branch@"))},
        "metrics": {metric: as_list(found) for metric, found in estimates.items()},
    }


def summary_table(title: str, summary: Mapping[str, Any], k: int, *, buggy: bool) -> Table:
    """Benchmarks side by side."""
    benches = summary["benchmarks"]
    table = Table(title=title, title_justify="left", caption="percent, with 95 % intervals over tasks")
    table.add_column("")
    for name in benches:
        table.add_column(name, justify="right")
    shown = ["kills the program shown"] if buggy else []
    metrics = [f"pass@{k}", f"mut@{k}", f"mut@{k} all", MUL, f"line@{k}", f"branch@{k}", "whole suite passes", *shown]
    metrics += [
        m for m in dict.fromkeys(m for b in benches.values() for m in b["metrics"]) if m.startswith("validity/")
    ]
    for metric in (*metrics, "calls/distinct", "calls/boundary", "calls/in_statement"):
        cells = [bench["metrics"].get(metric) for bench in benches.values()]
        if metric.startswith("validity/") and not any(cell and cell[0] for cell in cells):
            continue
        texts = [_with_count(percent(cell), bench, metric) for cell, bench in zip(cells, benches.values(), strict=True)]
        table.add_row(metric, *texts)
    for label, count in (
        ("tasks", lambda b: b["problems"]),
        ("left out", lambda b: len(b["left_out"])),
        ("missing imports supplied", lambda b: len(b["added_imports"])),
        ("without mutants", lambda b: len(b["without_mutants"])),
        ("mutants that ran out of time", lambda b: b["mutants"]["timed_out"]),
        ("not judged, through our fault", lambda b: b["masked"]),
    ):
        counts = [count(bench) for bench in benches.values()]
        if any(counts):
            table.add_row(label, *map(str, counts))
    return table


def _with_count(text: str, bench: Mapping[str, Any], metric: str) -> str:
    """Over how many tasks a mean is taken, where those are not all."""
    tasks = bench["tasks"].get(metric)
    return text if tasks is None or tasks == bench["problems"] else f"{text} of {tasks}"
