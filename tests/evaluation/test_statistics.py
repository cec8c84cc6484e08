from __future__ import annotations

import itertools
import math

import pytest

from code_a1.evaluation.code.statistics import estimate, mean_of_means, paired_difference, pass_at_k


def test_pass_at_k_is_the_share_of_draws_without_replacement_that_hold_a_right_sample():
    for n, c in itertools.product((1, 4, 6), range(7)):
        if c > n:
            continue
        samples = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            draws = list(itertools.combinations(samples, k))
            assert pass_at_k(n, c, k) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))
    assert pass_at_k(200, 1, 100) == pytest.approx(0.5)
    for n, c, k in ((2, 1, 3), (2, 3, 1), (2, 0, 0)):
        with pytest.raises(ValueError, match="cannot be estimated"):
            pass_at_k(n, c, k)


def test_intervals_are_those_of_a_normal_mean_for_many_problems():
    values = [1.0] * 300 + [0.0] * 100
    found = estimate(values)
    assert found.value == 0.75
    half = 1.96 * math.sqrt(0.75 * 0.25 / 400)  # 0.0424
    assert found.low == pytest.approx(0.75 - half, abs=0.006)
    assert found.high == pytest.approx(0.75 + half, abs=0.006)
    assert found == estimate(values)
    assert math.isnan(estimate([]).value)


def test_the_average_over_benchmarks_weighs_benchmarks_and_not_problems():
    assert mean_of_means([[1.0], [0.0, 0.0, 0.0]]).value == 0.5
    assert math.isnan(mean_of_means([[1.0], []]).value)


def test_a_paired_difference_is_narrower_than_two_intervals_suggest():
    before = [float(i % 2) for i in range(100)]
    after = [1.0 if i == 0 else x for i, x in enumerate(before)]  # one problem better, 99 the same
    found = paired_difference([before], [after])
    assert found.value == pytest.approx(0.01)
    assert (found.low, found.high) == (0.0, pytest.approx(0.03, abs=0.011))
    with pytest.raises(ValueError, match="zip"):
        paired_difference([[1.0]], [[1.0, 0.0]])
