"""Programs that are attacked beside the code policy's own: what they change, and what they leave alone."""

from __future__ import annotations

import pytest

from code_a1.config import OpponentsConfig
from code_a1.engines import ScriptedEngine
from code_a1.mistake_book import MistakeBook
from code_a1.records import Problem
from code_a1.trainer import train
from test_modes import RIGHT, block, config_of, writes_code

ABS = Problem(
    "abs",
    "Return the absolute value of x.",
    "absolute",
    "def absolute(x):\n    if x < 0:\n        return -x\n    return x\n",
    ("assert absolute(-2) == 2", "assert absolute(3) == 3", "assert absolute(0) == 0"),
)
GOOD = "def absolute(x):\n    return abs(x)"


def write(prompt, index: int, _seed: int) -> str:
    if writes_code(prompt):
        return block(GOOD)
    return (
        block("assert absolute(-2) == 2", "assert absolute(3) == 3"),
        block("assert absolute(0) == 0", "assert absolute(9) == 9"),
    )[index]


@pytest.mark.parametrize(
    ("own", "mutants", "earlier", "counts"),
    [
        (8, 0.0, 0.0, (0, 0)),
        (8, 0.5, 0.0, (8, 0)),
        (4, 0.43, 0.0, (3, 0)),
        (4, 0.4, 0.2, (4, 2)),
        (8, 0.01, 0.0, (1, 0)),
    ],
)
def test_shares_are_of_all_programs_shown(own, mutants, earlier, counts):
    assert OpponentsConfig(mutants=mutants, earlier=earlier).counts(own) == counts


def test_mutants_are_attacked_but_neither_learned_from_nor_remembered(tmp_path):
    code_policy, test_policy = ScriptedEngine(write), ScriptedEngine(write)
    config = config_of(tmp_path, "co-evolve", ABS, opponents={"mutants": 0.5}, selection={"candidates_per_problem": 0})
    run_dir = train(config, policies=(code_policy, test_policy))
    for row in run_dir.metrics():
        assert row["opponents/mutants"] == 2
        assert (row["code/completions"], row["code/loaded"], row["code/reward_mean"], row["code/pass_new"]) == (
            2,
            1,
            1,
            1,
        )
        assert row["test/suites"] == 2 * 2 + 2 * 2
        assert row["book/size"] == 0  # the code policy made no mistake
    shown = [r for r in run_dir.rollouts(1) if r["origin"] == "mutant"]
    assert [(r["candidate"], r["reward"]) for r in shown] == [(2, None), (3, None)]
    assert all(r["code"] != GOOD for r in shown)
    # every mutant shown is wrong: it fails one of the problem's own tests, all of which the two suites hold
    assert all(any(t["verdict"] != "PASS" for s in r["suites"] for t in s["tests"]) for r in shown)
    assert code_policy.updates == []  # both its candidates earn 1: nothing to learn, whatever the mutants do
    groups = {row.sample.group for rows in test_policy.updates for row in rows}
    assert groups <= {"test/abs/2", "test/abs/3"}
    assert groups


def test_the_same_seed_shows_the_same_mutants_and_another_step_may_show_others(tmp_path):
    def shown(name):
        config = config_of(
            tmp_path, "co-evolve", ABS, steps=4, opponents={"mutants": 0.5}, run_dir=str(tmp_path / name)
        )
        run_dir = train(config, policies=(ScriptedEngine(write), ScriptedEngine(write)))
        return [[r["code"] for r in run_dir.rollouts(step) if r["origin"] == "mutant"] for step in (1, 2, 3, 4)]

    first = shown("a")
    assert first == shown("b")
    assert len({tuple(codes) for codes in first}) > 1


def test_without_a_test_that_tells_right_from_wrong_no_mutant_is_shown(tmp_path):
    untested = Problem(ABS.problem_id, ABS.statement, ABS.entry_point, ABS.reference_solution)
    config = config_of(tmp_path, "co-evolve", untested, steps=1, opponents={"mutants": 0.5})
    [row] = train(config, policies=(ScriptedEngine(write), ScriptedEngine(write))).metrics()
    assert row["opponents/mutants"] == 0
    assert row["test/suites"] == 4


def test_the_mistake_book_tells_mutants_apart_where_the_problem_has_no_tests(tmp_path):
    untested = Problem(ABS.problem_id, ABS.statement, ABS.entry_point, ABS.reference_solution)

    def bad_first(prompt, index, seed):
        return block("def absolute(x):\n    return x") if writes_code(prompt) else write(prompt, index, seed)

    config = config_of(tmp_path, "co-evolve", untested, opponents={"mutants": 0.5})
    first, second = train(config, policies=(ScriptedEngine(bad_first), ScriptedEngine(write))).metrics()
    assert (first["book/size"], first["opponents/mutants"]) == (1, 0)  # absolute(-2), which the coder failed
    assert second["opponents/mutants"] > 0


def test_earlier_checkpoints_write_a_share_of_the_programs(tmp_path):
    """The script says a new program every step; what an earlier checkpoint wrote is what came next in it then."""
    programs = [block(f"def absolute(x):\n    return abs(x)  # {n}") for n in range(20)]
    code_policy, test_policy = ScriptedEngine(programs), ScriptedEngine(write)
    config = config_of(tmp_path, "co-evolve", ABS, steps=3, save_every=1, opponents={"earlier": 0.5})
    run_dir = train(config, policies=(code_policy, test_policy))
    counts = [row["opponents/earlier"] for row in run_dir.metrics()]
    assert counts == [0, 2, 2]  # before the first checkpoint there is none
    second = [(r["origin"], r["code"].rpartition("# ")[2]) for r in run_dir.rollouts(2)]
    # after step 1 two programs had been written; the checkpoint of step 1 goes on with the third
    assert second == [("policy", "2"), ("policy", "3"), ("earlier", "2"), ("earlier", "3")]
    third = [(r["origin"], r["code"].rpartition("# ")[2]) for r in run_dir.rollouts(3)]
    assert third[:2] == [("policy", "4"), ("policy", "5")]  # sampling as an earlier policy left the present one alone
    taken = [r.sampled_as for r in code_policy.requests]
    assert taken[0] is taken[1] is taken[3] is None
    assert taken[2] == run_dir.checkpoint_path(1) / "code"
    assert taken[4] in (run_dir.checkpoint_path(1) / "code", run_dir.checkpoint_path(2) / "code")


def test_the_book_of_a_run_with_opponents_holds_the_code_policys_own_failures(tmp_path):
    def one_wrong(prompt, index, seed):
        return (
            block((RIGHT, "def double(x):\n    return x * x")[index])
            if writes_code(prompt)
            else block(f"assert double({3 + index}) == {6 + 2 * index}")
        )

    config = config_of(tmp_path, "co-evolve", steps=1, opponents={"mutants": 0.5})
    run_dir = train(config, policies=(ScriptedEngine(one_wrong), ScriptedEngine(one_wrong)))
    book = MistakeBook(path=run_dir.book_path)
    assert {t.source: n for t, n in book.counts("double").items()} == {
        "assert double(3) == 6": 1,
        "assert double(4) == 8": 1,
    }
