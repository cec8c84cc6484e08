"""How often each way of choosing takes a right program, and how that changes with N and the number of tests."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from code_a1.evaluation.code.statistics import estimate, mean, mean_of_means, paired_difference
from code_a1.evaluation.code.summary import as_list, percent
from code_a1.evaluation.pair.choosing import choose_by_output, choose_by_tests
from code_a1.evaluation.pair.results import PairResult

Values = dict[str, dict[str, float]]
"""Way of choosing → task id → share of right choices."""
BY_TESTS = "chosen by tests"
WAYS = (BY_TESTS, "random choice", "majority by output", "first sample", "oracle")
DRAWS = 32
"""Subsets of the programs that a smaller N is averaged over, per task; seeded by the task's place."""


def choices(result: PairResult, programs: Sequence[int], tests_per_suite: int) -> dict[str, float]:
    """How every way of choosing does on some of the programs of a task, with the suites that belong to them.

    Of every suite the first `tests_per_suite` tests are looked at.
    """
    right = [float(bool(result.right[i])) for i in programs]
    shown = [result.behaviours[i] for i in programs]
    tests = sorted({t for i in programs for t in result.suites[i][:tests_per_suite]})
    return {
        BY_TESTS: right[choose_by_tests(shown, tests)],
        "random choice": mean(right),
        "majority by output": right[choose_by_output(shown, tests)],
        "first sample": right[0],
        "oracle": max(right),
    }


def task_values(results: Sequence[PairResult], k: int) -> Values:
    """What every way of choosing comes to on every task, with all N programs and all tests."""
    values: Values = {}
    for result in results:
        if result.scored:
            for way, value in choices(result, range(len(result.programs)), k).items():
                values.setdefault(way, {})[result.task_id] = value
    return values


def by_size(results: Sequence[PairResult], n: int, k: int) -> list[dict[str, Any]]:
    """The same for fewer programs and fewer tests per suite: rows with `n`, `tests` and the mean of every way."""
    scored = [result for result in results if result.scored]
    rows = []
    for size in _sizes(n):
        for tests in _sizes(k):
            found = [_averaged(result, place, size, tests) for place, result in enumerate(scored)]
            rows.append(
                {"n": size, "tests": tests, **{way: mean([values[way] for values in found]) for way in WAYS if found}}
            )
    return rows


def _averaged(result: PairResult, place: int, size: int, tests: int) -> dict[str, float]:
    """Over seeded subsets of the programs, each in the order sampled."""
    everybody = range(len(result.programs))
    if size == len(everybody):
        return choices(result, everybody, tests)
    rng = random.Random(place)  # noqa: S311 - seeded subsets, not cryptography
    drawn = [choices(result, sorted(rng.sample(everybody, size)), tests) for _ in range(DRAWS)]
    return {way: mean([values[way] for values in drawn]) for way in WAYS}


def _sizes(largest: int) -> list[int]:
    return sorted({1 << i for i in range(20) if 1 << i <= largest} | {largest})


def summarise(results_B: Mapping[str, Sequence[PairResult]], n: int, k: int) -> dict[str, Any]:
    """The numbers of an evaluation as they stand in `summary.json`; intervals are 95 %, over problems."""
    values_B = {name: task_values(results, k) for name, results in results_B.items()}
    average = {}
    for way in WAYS:
        if all(values.get(way) for values in values_B.values()):
            average[way] = as_list(mean_of_means([list(values[way].values()) for values in values_B.values()]))
    benches = {name: _bench(results_B[name], values, n, k) for name, values in values_B.items()}
    return {"benchmarks": benches, "average": average}


def _bench(results: Sequence[PairResult], values: Values, n: int, k: int) -> dict[str, Any]:
    scored = [result for result in results if result.scored]
    chosen = list(values.get(BY_TESTS, {}).values())
    over = {
        way: as_list(paired_difference([list(values[way].values())], [chosen])) for way in WAYS[1:] if way in values
    }
    return {
        "problems": len(scored),
        "left_out": {result.task_id: result.left_out for result in results if result.left_out},
        "masked": sum(not r.scored and not r.left_out for r in results),
        "no_program": sum(p is None for r in scored for p in r.programs),
        "tests": sum(len(r.tests) for r in scored),
        "without_tests": sum(not r.tests for r in scored),
        "no_test_passed": sum(not any(b.passed for b in r.behaviours) for r in scored),
        "decidable": sum(len(set(r.right)) > 1 for r in scored),
        "metrics": {way: as_list(estimate(list(by_task.values()))) for way, by_task in values.items()},
        "by_tests_minus": over,
        "by_size": by_size(results, n, k),
    }


def summary_table(title: str, summary: Mapping[str, Any]) -> Table:
    """Ways of choosing beside each other; the difference of choosing by tests to each is paired over problems."""
    table = Table(title=title, title_justify="left", caption="percent right, with 95 % intervals over problems")
    table.add_column("")
    benches = summary["benchmarks"]
    for name in benches:
        table.add_column(name, justify="right")
        table.add_column("by tests, minus this", justify="right")
    for way in WAYS:
        cells = []
        for bench in benches.values():
            cells += [percent(bench["metrics"].get(way)), percent(bench["by_tests_minus"].get(way))]
        table.add_row(way, *cells)
    labels = {
        "problems": "problems",
        "decidable": "of which some programs are right and some wrong",
        "no_test_passed": "of which no program passes any test",
        "without_tests": "of which without a test",
    }
    for key, label in labels.items():
        table.add_row(label, *[text for bench in benches.values() for text in (str(bench[key]), "")])
    return table


def size_table(name: str, bench: Mapping[str, Any]) -> Table:
    """How N and the number of tests per suite matter, on one benchmark."""
    rows = bench["by_size"]
    table = Table(title=f"{name}: share right (percent) by programs and tests per suite", title_justify="left")
    tests = list(dict.fromkeys(row["tests"] for row in rows))
    table.add_column("programs", justify="right")
    for count in tests:
        table.add_column(f"by {count} test{'s' if count > 1 else ''} each", justify="right")
    for way in ("random choice", "majority by output", "oracle"):
        table.add_column(way, justify="right")
    for n in dict.fromkeys(row["n"] for row in rows):
        of_n = {row["tests"]: row for row in rows if row["n"] == n}
        last = of_n[tests[-1]]
        shown = [of_n[count].get(BY_TESTS) for count in tests]
        shown += [last.get(way) for way in ("random choice", "majority by output", "oracle")]
        table.add_row(str(n), *["–" if value is None else f"{100 * value:.1f}" for value in shown])
    return table
