"""Group-relative advantages (GRPO) and TopVar, the selection of the suites that train the test policy."""

from __future__ import annotations

import math
from collections.abc import Sequence

EPSILON = 1e-6
"""Added to the standard deviation, as in the released code."""

NO_SPREAD = 1e-9
"""Rewards closer together than this are equal: the rest is floating-point noise of sums in another order."""


def group_advantages(rewards: Sequence[float]) -> list[float] | None:
    """A = (R - mean) / (std + 1e-6) for the rewards of one group, with the unbiased standard deviation.

    Returns None for a group without spread (or of fewer than two members): it carries no gradient.
    """
    if len(rewards) < 2 or max(rewards) - min(rewards) < NO_SPREAD:
        return None
    mean = math.fsum(rewards) / len(rewards)
    std = math.sqrt(math.fsum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1))
    return [(r - mean) / (std + EPSILON) for r in rewards]


def population_std(values: Sequence[float]) -> float:
    """Standard deviation with denominator n; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))


def select_by_spread(groups: Sequence[Sequence[float] | None], count: int) -> list[int]:
    """TopVar: indices of the `count` groups with the largest population standard deviation, 0 for all.

    `groups` are the values of one problem's candidates (M groups of N), None where a candidate was not attacked.
    Ties go to the earlier candidate; the result is in ascending order.
    """
    present = [(i, group) for i, group in enumerate(groups) if group]
    ranked = sorted(present, key=lambda item: (-population_std(item[1]), item[0]))
    return sorted(i for i, _ in (ranked[:count] if count else ranked))
