"""How good the suites of a test policy are, with intervals over problems."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from code_a1.records import Validity
from code_a1.suites import TestPool

RESAMPLES = 2000

Ratio = tuple[float, float]
"""What one problem adds to numerator and denominator of a share."""


def pool_metrics(pools: Sequence[TestPool], prefix: str) -> dict[str, float]:
    """Shares over all tests that were sampled, and the mean mutation score of what the policy itself got right.

    `_low` and `_high` are ends of 95 % intervals: percentiles of a bootstrap over problems, since tests of one problem
    are alike. A problem without a valid test has mutation score 0, one without mutants none.
    """
    counts_P = [Counter(t.validity for t in pool.sampled) for pool in pools]
    valid = [(float(counts[Validity.VALID]), float(counts.total())) for counts in counts_P]
    usable = [(float(sum(counts[v] for v in Validity if v.usable)), float(counts.total())) for counts in counts_P]
    scores = [pool.matrix.score([t for t, right in enumerate(pool.predicted) if right]).value for pool in pools]
    mutation = [(score, 1.0) for score in scores if score is not None]
    tests = sum(counts.total() for counts in counts_P)
    metrics: dict[str, float] = {
        "problems": len(pools),
        "suites": sum(pool.suites for pool in pools),
        "tests": tests,
        "distinct_usable": sum(len(pool.sources) for pool in pools),
    }
    for name, ratios in (("validity", valid), ("usable", usable), ("mutation_score", mutation)):
        low, high = bootstrap(ratios)
        metrics |= {name: share(ratios), f"{name}_low": low, f"{name}_high": high}
    totals = sum(counts_P, Counter[Validity]())
    metrics |= {f"validity/{kind}": totals[kind] / tests if tests else float("nan") for kind in Validity}
    return {f"{prefix}/{name}": value for name, value in metrics.items()}


def share(ratios: Sequence[Ratio]) -> float:
    """Sum of the numerators by sum of the denominators; NaN where there is nothing."""
    below = sum(d for _, d in ratios)
    return sum(n for n, _ in ratios) / below if below else float("nan")


def bootstrap(ratios: Sequence[Ratio], *, seed: int = 0) -> tuple[float, float]:
    """The 2.5th and the 97.5th percentile of the share, over resamples of the problems."""
    if not ratios:
        return float("nan"), float("nan")
    rng = random.Random(seed)  # noqa: S311 - a seeded resampling, not cryptography
    drawn = (share(rng.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    found = sorted(value for value in drawn if value == value)  # noqa: PLR0124 - NaN: a resample without a test
    if not found:
        return float("nan"), float("nan")
    return found[round(0.025 * (len(found) - 1))], found[round(0.975 * (len(found) - 1))]
