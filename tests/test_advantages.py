from __future__ import annotations

import math

import pytest

from code_a1.advantages import group_advantages, population_std, select_by_spread


def test_advantages_by_hand():
    # mean 0.5, unbiased std of [0, 1] is sqrt(0.5)
    expected = 0.5 / (math.sqrt(0.5) + 1e-6)
    assert group_advantages([0.0, 1.0]) == pytest.approx([-expected, expected], abs=1e-12)
    got = group_advantages([1.0, 2.0, 3.0])
    assert got == pytest.approx([-1 / (1 + 1e-6), 0, 1 / (1 + 1e-6)], abs=1e-12)


@pytest.mark.parametrize("rewards", [[], [1.0], [0.3, 0.3], [0.1 + 0.2, 0.3]])
def test_a_group_without_spread_has_no_advantages(rewards):
    assert group_advantages(rewards) is None


def test_population_std_by_hand():
    assert population_std([0.0, 1.0]) == 0.5
    assert population_std([4.0]) == 0.0


def test_selection_takes_the_widest_groups_and_ties_go_to_the_earlier():
    groups = [[0.0, 0.1], [0.0, 1.0], None, [0.0, 1.0], []]
    assert select_by_spread(groups, 1) == [1]
    assert select_by_spread(groups, 2) == [1, 3]
    assert select_by_spread(groups, 9) == [0, 1, 3]
    assert select_by_spread(groups, 0) == [0, 1, 3]
    assert select_by_spread([None], 1) == []
