"""Problems that are set aside: when, for how long, and that a saved position remembers it."""

from __future__ import annotations

import json

import pytest

from code_a1.config import CurriculumConfig
from code_a1.errors import CheckpointError
from code_a1.problems import ProblemSampler
from code_a1.problems.curriculum import Curriculum
from code_a1.records import Problem


def pool(size: int) -> tuple[Problem, ...]:
    return tuple(Problem(f"p{i}", "s", "f", "def f(): pass") for i in range(size))


def sampler(size: int, batch: int, **settings: int) -> ProblemSampler:
    return ProblemSampler(pool(size), batch, seed=1, curriculum=Curriculum(CurriculumConfig(**settings)))


def draw(source: ProblemSampler, **solved: float) -> list[str]:
    """One batch, recorded: problems not named are half solved."""
    ids = sorted(p.problem_id for p in source.next_batch())
    source.record({problem_id: solved.get(problem_id, 0.5) for problem_id in ids})
    return ids


def test_a_problem_solved_twice_in_a_row_sits_out_and_is_tried_again() -> None:
    source = sampler(3, 3, skip_solved_after=2, retry_after=2)
    every, rest = ["p0", "p1", "p2"], ["p1", "p2"]
    assert [draw(source, p0=1) for _ in range(2)] == [every, every]  # epochs 0 and 1
    assert source.metrics() == {
        "curriculum/skipped_solved": 1,
        "curriculum/skipped_unsolved": 0,
        "curriculum/retried": 0,
    }
    assert [draw(source, p0=1) for _ in range(2)] == [rest, rest]  # out for epochs 2 and 3
    assert draw(source, p0=1) == every  # tried again in epoch 4, solved again: one visit is enough now
    assert source.metrics()["curriculum/retried"] == 1
    assert [draw(source) for _ in range(2)] == [rest, rest]
    assert draw(source, p0=0.9) == every  # tried again, not solved by all: back for good
    assert [draw(source, p0=1), draw(source, p0=0.5), draw(source, p0=1)] == [every] * 3
    assert source.metrics()["curriculum/skipped_solved"] == 0


def test_problems_that_nobody_solves_sit_out_by_a_limit_of_their_own() -> None:
    source = sampler(3, 3, skip_unsolved_after=1, retry_after=1)
    assert draw(source, p0=0, p1=1) == ["p0", "p1", "p2"]
    assert source.metrics()["curriculum/skipped_unsolved"] == 1
    assert draw(source, p1=1) == ["p1", "p2"]  # solved problems have no limit here
    assert draw(source) == ["p0", "p1", "p2"]


def test_an_unknown_outcome_neither_counts_nor_breaks_a_row() -> None:
    curriculum = Curriculum(CurriculumConfig(skip_solved_after=2))
    for solved in (1.0, None, 1.0):
        curriculum.record("p", solved, epoch=0)
    assert curriculum.skips("p", 1)


def test_with_everything_set_aside_everything_is_drawn_again() -> None:
    source = sampler(4, 2, skip_solved_after=1, retry_after=9)
    drawn = draw(source, p0=1, p1=1, p2=1, p3=1) + draw(source, p0=1, p1=1, p2=1, p3=1)
    assert sorted(drawn) == ["p0", "p1", "p2", "p3"]
    assert len(draw(source)) == 2
    assert source.metrics()["curriculum/retried"] == 2


def test_batches_of_a_larger_pool_are_full_while_enough_is_left_and_smaller_after() -> None:
    source = sampler(6, 4, skip_solved_after=1, retry_after=9)
    easy = {"p0": 1.0, "p1": 1.0, "p2": 1.0}
    sizes = [len(draw(source, **easy)) for _ in range(6)]
    assert sizes[0] == 4
    assert sizes[-1] == 3  # p3, p4 and p5 are left
    for _ in range(3):
        assert draw(source) == ["p3", "p4", "p5"]


def test_the_curriculum_is_part_of_the_position() -> None:
    first = sampler(5, 2, skip_solved_after=1, skip_unsolved_after=2, retry_after=1)
    for _ in range(7):
        draw(first, p0=1, p1=0)
    state = json.loads(json.dumps(first.state_dict()))
    second = sampler(5, 2, skip_solved_after=1, skip_unsolved_after=2, retry_after=1)
    draw(second, p3=1)
    second.load_state_dict(state)
    for _ in range(9):
        assert draw(first, p0=1, p1=0, p2=1) == draw(second, p0=1, p1=0, p2=1)
        assert first.state_dict() == second.state_dict()
        assert first.metrics() == second.metrics()


def test_a_position_without_curriculum_has_none_and_a_damaged_one_is_refused() -> None:
    assert "curriculum" not in ProblemSampler(pool(3), 2, seed=1).state_dict()
    source = sampler(3, 2, skip_solved_after=1)
    with pytest.raises(CheckpointError, match="curriculum's state is damaged"):
        source.load_state_dict(source.state_dict() | {"curriculum": {"p0": {"outcome": "solved"}}})
