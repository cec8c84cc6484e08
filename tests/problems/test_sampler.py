"""Batches of problems: epochs, their borders, and resuming to the problem."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_a1.errors import CheckpointError, ConfigError, ProblemError
from code_a1.problems import ProblemSampler
from code_a1.records import Problem

PINNED = ["p1", "p4", "p3", "p2", "p0"]


def pool(size: int, name: str = "p") -> tuple[Problem, ...]:
    return tuple(Problem(f"{name}{i}", "s", "f", "def f(): pass") for i in range(size))


def ids(batch: tuple[Problem, ...]) -> list[str]:
    return [p.problem_id for p in batch]


def test_an_epoch_draws_every_problem_once() -> None:
    sampler = ProblemSampler(pool(6), 2, seed=1)
    drawn = []
    for _ in range(3):
        assert sampler.epoch == 0
        drawn += ids(sampler.next_batch())
    assert sorted(drawn) == ["p0", "p1", "p2", "p3", "p4", "p5"]
    assert sampler.epoch == 1


def test_the_seed_decides_the_order() -> None:
    orders = {seed: tuple(ids(ProblemSampler(pool(50), 50, seed=seed).next_batch())) for seed in (0, 0, 1, 2)}
    assert orders[0] == tuple(ids(ProblemSampler(pool(50), 50, seed=0).next_batch()))
    assert len(set(orders.values())) == 3
    # pinned: a change of the order would break every saved position
    assert ids(ProblemSampler(pool(5), 5, seed=7).next_batch()) == PINNED


def test_epochs_come_in_different_orders() -> None:
    sampler = ProblemSampler(pool(40), 40, seed=3)
    assert ids(sampler.next_batch()) != ids(sampler.next_batch())


@pytest.mark.parametrize("size", [5, 8])
def test_a_pool_that_is_not_larger_than_the_batch_is_the_batch(size: int) -> None:
    sampler = ProblemSampler(pool(5), size)
    for epoch in range(3):
        assert sampler.epoch == epoch
        assert sorted(ids(sampler.next_batch())) == ["p0", "p1", "p2", "p3", "p4"]


@given(size=st.integers(1, 12), batch=st.integers(1, 14), seed=st.integers(0, 5))
def test_no_problem_twice_in_a_batch_and_each_once_per_epoch(size: int, batch: int, seed: int) -> None:
    sampler = ProblemSampler(pool(size), batch, seed=seed)
    expected = min(size, batch)
    drawn: list[str] = []
    for _ in range(12):
        chosen = ids(sampler.next_batch())
        assert len(chosen) == len(set(chosen)) == expected
        drawn += chosen
        assert sampler.epoch == len(drawn) // size
    for start in range(0, len(drawn) - size + 1, size):
        assert set(Counter(drawn[start : start + size]).values()) == {1}


@given(size=st.integers(1, 9), batch=st.integers(1, 10), before=st.integers(0, 9))
def test_a_resumed_sampler_continues_identically(size: int, batch: int, before: int) -> None:
    first = ProblemSampler(pool(size), batch, seed=4)
    for _ in range(before):
        first.next_batch()
    state = json.loads(json.dumps(first.state_dict()))
    second = ProblemSampler(pool(size), batch, seed=4)
    second.next_batch()
    second.load_state_dict(state)
    assert second.epoch == first.epoch
    for _ in range(7):
        assert first.next_batch() == second.next_batch()
        assert first.state_dict() == second.state_dict()


def test_a_position_is_small_whatever_the_pool() -> None:
    sampler = ProblemSampler(pool(1000), 3)
    for _ in range(334):
        sampler.next_batch()
    assert len(json.dumps(sampler.state_dict())) < 150


def test_a_position_of_another_run_is_refused() -> None:
    state = ProblemSampler(pool(4), 2, seed=0).state_dict()
    with pytest.raises(CheckpointError, match="the seeds differ"):
        ProblemSampler(pool(4), 2, seed=1).load_state_dict(state)
    with pytest.raises(CheckpointError, match="the problems differ"):
        ProblemSampler(pool(4, "other"), 2).load_state_dict(state)
    with pytest.raises(CheckpointError, match="the problems differ"):
        ProblemSampler(pool(5), 2).load_state_dict(state)


@pytest.mark.parametrize(
    "change", [{"position": 4}, {"position": -1}, {"position": "1"}, {"epoch": None}, {"head": [9]}, {"head": "x"}]
)
def test_a_damaged_position_is_refused(change: dict[str, object]) -> None:
    sampler = ProblemSampler(pool(4), 2)
    before = sampler.state_dict()
    with pytest.raises(CheckpointError, match="damaged"):
        sampler.load_state_dict(before | change)
    assert sampler.state_dict() == before


def test_an_empty_pool_a_repeated_id_and_an_empty_batch_are_refused() -> None:
    with pytest.raises(ProblemError, match="no problems to draw from"):
        ProblemSampler((), 1)
    with pytest.raises(ProblemError, match="appears twice"):
        ProblemSampler(pool(1) + pool(1), 1)
    with pytest.raises(ConfigError, match="problems_per_step = 0"):
        ProblemSampler(pool(1), 0)
