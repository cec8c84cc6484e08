"""pass@k and intervals over problems: pure functions, standard library only."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Row = TypeVar("Row")

RESAMPLES = 2000
LOW, HIGH = 0.025, 0.975
"""Ends of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its 95 % interval; NaN where there is nothing to average."""

    value: float
    low: float
    high: float


def pass_at_k(n: int, c: int, k: int) -> float:
    """Unbiased estimate of pass@k from `n` samples of which `c` are right (Chen et al. 2021): 1 - C(n-c, k) / C(n, k).

    Raises ValueError unless 0 <= c <= n and 1 <= k <= n: fewer than k samples say nothing about pass@k.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@{k} cannot be estimated from {c} right of {n} samples")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def mean(values: Sequence[float]) -> float:
    """The mean, NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """Mean of one value per problem, with a bootstrap interval over problems (percentiles)."""
    return mean_of_means([values], seed=seed)


def mean_of_means(values_B: Sequence[Sequence[float]], *, seed: int = 0) -> Estimate:
    """Mean over benchmarks of the means over their problems; problems are resampled within their benchmark."""
    if not values_B or not all(values_B):
        return Estimate(math.nan, math.nan, math.nan)
    rng = random.Random(seed)  # noqa: S311 - a seeded resampling, not cryptography
    drawn = sorted(mean([mean(rng.choices(values, k=len(values))) for values in values_B]) for _ in range(RESAMPLES))
    return Estimate(mean([mean(values) for values in values_B]), _quantile(drawn, LOW), _quantile(drawn, HIGH))


def paired_difference(before_B: Sequence[Sequence[float]], after_B: Sequence[Sequence[float]]) -> Estimate:
    """Mean of `after - before` over the same problems in the same order, with a paired bootstrap interval.

    Raises ValueError where the two are not about the same number of problems.
    """
    differences_B = [
        [b - a for a, b in zip(before, after, strict=True)] for before, after in zip(before_B, after_B, strict=True)
    ]
    return mean_of_means(differences_B)


def estimate_of(rows: Sequence[Row], statistic: Callable[[Sequence[Row]], float], *, seed: int = 0) -> Estimate:
    """Any statistic of rows, one per problem, with a bootstrap interval over problems; NaN where it has no value."""
    return _percentiles(statistic(rows), rows, statistic, seed)


def paired_difference_of(
    before: Sequence[Row], after: Sequence[Row], statistic: Callable[[Sequence[Row]], float], *, seed: int = 0
) -> Estimate:
    """`statistic(after) - statistic(before)` over the same problems in the same order, with a paired interval.

    Raises ValueError where the two are not about the same number of problems.
    """

    def change(pairs: Sequence[tuple[Row, Row]]) -> float:
        return statistic([b for _, b in pairs]) - statistic([a for a, _ in pairs])

    pairs = list(zip(before, after, strict=True))
    return _percentiles(change(pairs), pairs, change, seed)


def _percentiles(value: float, rows: Sequence[Row], statistic: Callable[[Sequence[Row]], float], seed: int) -> Estimate:
    """Resamples on which the statistic has no value say nothing about its spread, and are passed over."""
    if math.isnan(value):
        return Estimate(math.nan, math.nan, math.nan)
    rng = random.Random(seed)  # noqa: S311 - a seeded resampling, not cryptography
    drawn = (statistic(rng.choices(rows, k=len(rows))) for _ in range(RESAMPLES))
    found = sorted(x for x in drawn if not math.isnan(x))
    if not found:
        return Estimate(value, math.nan, math.nan)
    return Estimate(value, _quantile(found, LOW), _quantile(found, HIGH))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between the two neighbours."""
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])
