"""Judging while suites are still being written: the same judgements, whatever comes first and whoever is slow."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest

from code_a1.config import RolloutConfig
from code_a1.engines import ScriptedEngine
from code_a1.judge import Judge
from code_a1.judge.lanes import Lanes
from code_a1.prompts import parse_suite
from code_a1.records import Candidate, CodeGroup, Completion, Problem, SuiteGroup, TestSuite
from code_a1.rollout import rollout_suites, stream_suites
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Limits

COMPLETION = Completion("", (), (), (), "stop")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Sandbox(Limits(cpu_s_per_call=0.5, wall_s_per_call=5.0), workers=2, allow_tier="rlimits-only") as sandbox:
        yield Judge(sandbox)


def group_of(number: int, codes: list[str | None]) -> CodeGroup:
    problem = Problem(f"p{number}", "A task.", "f", f"def f(x):\n    return x + {number}")
    return CodeGroup(problem, tuple(Candidate(f"p{number}", i, code, COMPLETION) for i, code in enumerate(codes)))


def attack(group: CodeGroup, index: int, *asserts: str) -> SuiteGroup:
    suite = TestSuite(parse_suite("```python\n" + "\n".join(asserts) + "\n```", "f"), COMPLETION)
    return SuiteGroup(group.problem.problem_id, index, (suite,))


def a_step(problems: int) -> tuple[list[CodeGroup], list[list[SuiteGroup]]]:
    """Per problem a right program, one that is off by one, and none at all; the first two are attacked."""
    groups = [
        group_of(n, [f"def f(x):\n    return x + {n}", f"def f(x):\n    return x + {n + 1}", None])
        for n in range(problems)
    ]
    attacks = [
        [attack(g, i, f"assert f(1) == {1 + n}", f"assert f({n + 100}) == {100 + 2 * n}") for i in (0, 1)]
        for n, g in enumerate(groups)
    ]
    return groups, attacks


def test_problems_added_in_any_order_are_judged_like_a_whole_step(judge):
    groups, attacks = a_step(11)  # more than one share of the two lanes
    at_once = judge(groups, [a for own in attacks for a in own])
    with judge.begin(groups) as judging:
        for position in (7, 3, 10, 0, 1, 2, 4, 5, 6, 8, 9):
            judging.add(position, attacks[position])
        seen: list[int] = []
        streamed = judging.judgements(seen.append)
    assert streamed == at_once
    assert [j.problem.problem_id for j in streamed] == [f"p{n}" for n in range(11)]
    for n, judgement in enumerate(streamed):
        right, wrong, missing = judgement.candidates
        verdicts = [[str(t.verdict) for t in c.suites[0].tests] for c in (right, wrong)]
        assert verdicts == [["PASS", "PASS"], ["FAIL", "FAIL"]], n
        assert not missing.loaded
    assert judging.busy_s > 0


def test_problems_that_nobody_attacks_keep_their_place(judge):
    groups, attacks = a_step(3)
    with judge.begin(groups) as judging:
        judging.add(1, attacks[1])
        judgements = judging.judgements()
    assert [len(j.candidates[0].suites) for j in judgements] == [0, 1, 0]
    assert all(j.candidates[0].loaded for j in judgements)


def test_the_same_problem_twice_in_a_step(judge):
    groups, attacks = a_step(1)
    judgements = judge([groups[0], groups[0]], attacks[0])
    assert judgements[0] == judgements[1]
    assert len(judgements[0].candidates[0].suites) == 1


def test_a_group_is_added_once_and_its_suites_belong_to_it(judge):
    groups, attacks = a_step(2)
    with judge.begin(groups) as judging:
        judging.add(0, attacks[0])
        with pytest.raises(ValueError, match="code group at 0"):
            judging.add(0, attacks[0])
    with pytest.raises(ValueError, match="p1"):
        judge(groups[:1], attacks[1])


def test_leaving_early_does_not_wait_and_the_judge_stays_usable(judge):
    groups, attacks = a_step(9)
    slow = group_of(99, ["import time\ndef f(x):\n    time.sleep(0.3)\n    return x"] * 1)
    with contextlib.suppress(KeyboardInterrupt), judge.begin([slow, *groups]) as judging:
        judging.add(0, [attack(slow, 0, *(f"assert f({k}) == {k + 99}" for k in range(4)))])
        raise KeyboardInterrupt
    assert judge(groups[:1], attacks[0])[0].candidates[0].loaded


def test_lanes_take_what_waits_in_shares_and_keep_the_order():
    shares: list[list[int]] = []
    begin = threading.Event()

    def work(items: list[int]) -> list[int]:
        begin.wait(10)
        shares.append(items)
        return [10 * item for item in items]

    lanes: Lanes[int, int] = Lanes(work, share=3)
    for item in range(10):
        lanes.add(item)
    begin.set()
    assert lanes.results() == [10 * item for item in range(10)]
    assert sorted(item for share in shares for item in share) == list(range(10))
    # two lanes began with whatever was there first; what waited meanwhile went in shares of three
    assert max(map(len, shares)) == 3
    lanes.close()


def test_lanes_raise_what_the_work_raised():
    def work(items: list[int]) -> list[int]:
        raise OSError(f"no {items[0]}")

    lanes: Lanes[int, int] = Lanes(work, share=1)
    lanes.add(4)
    with pytest.raises(OSError, match="no 4"):
        lanes.results()
    lanes.close()


def test_suites_come_as_soon_as_those_of_a_problem_are_written():
    good, broken = "def f(x):\n    return x", "def f(x:"
    groups = [group_of(0, [broken, None]), group_of(1, [good, broken, good]), group_of(2, [good])]
    config = RolloutConfig(suites_per_candidate=2, tests_per_suite=1)

    def engine() -> ScriptedEngine:
        return ScriptedEngine(lambda prompt, index, seed: f"```python\nassert f({index}) == {index}\n```")

    streamed = stream_suites(engine(), groups, config, seed=3)
    first = next(streamed)
    assert first == (0, [])  # nothing to attack: there before anything is sampled
    rest = list(streamed)
    assert [(position, [a.candidate_index for a in attacks]) for position, attacks in rest] == [(1, [0, 2]), (2, [0])]
    assert [len(a.suites) for _, attacks in rest for a in attacks] == [2, 2, 2]
    assert rollout_suites(engine(), groups, config, seed=3) == [a for _, attacks in rest for a in attacks]
    assert list(stream_suites(None, groups, config, seed=3)) == [(0, []), (1, []), (2, [])]
