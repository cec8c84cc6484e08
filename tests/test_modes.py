"""Every mode in whole runs with scripted policies, every number worked out by hand; and what each of them refuses."""

from __future__ import annotations

import json

import pytest

from code_a1.config_file import make_config
from code_a1.dry_run import sizes
from code_a1.engines import ScriptedEngine
from code_a1.errors import ConfigError, ProblemError
from code_a1.modes import MODES
from code_a1.problems import write_problems
from code_a1.records import Problem
from code_a1.suite_file import ProblemSuite, write_suites
from code_a1.trainer import train

PROBLEM = Problem(
    "double",
    "Return twice x.",
    "double",
    "def double(x):\n    return 2 * x\n",
    ("assert double(1) == 2", "assert double(2) == 4"),
)
RIGHT = "def double(x):\n    return x + x"
WRONG = "def double(x):\n    return x * x"  # right for 0 and 2


def block(*lines: str) -> str:
    return "```python\n" + "\n".join(lines) + "\n```\n"


def writes_code(prompt) -> bool:
    return "expert software tester" not in prompt[0].content


def play(prompt, index: int, _seed: int) -> str:
    """Right and wrong program; a mild suite and one that finds x * x; it plays whichever role it is asked to."""
    if writes_code(prompt):
        return block((RIGHT, WRONG)[index])
    mild, sharp = (
        block("assert double(2) == 4", "assert double(0) == 0"),
        block("assert double(3) == 6", "assert double(2) == 4"),
    )
    return (mild, sharp)[index]


def config_of(tmp_path, mode: str, *problems: Problem, **changes):
    path = tmp_path / "problems.jsonl"
    write_problems(path, problems or (PROBLEM,))
    rollout = {"problems_per_step": 1, "candidates_per_problem": 2, "suites_per_candidate": 2, "tests_per_suite": 2}
    settings = {
        "mode": mode,
        "steps": 2,
        "run_dir": str(tmp_path / f"run-{mode}"),
        "problems": {"path": str(path)} | changes.pop("problems", {}),
        "sandbox": {"workers": 1},
        "policy": {"optimizer": {"warmup_steps": 0, "schedule": "constant", "minibatches": 1}},
        "rollout": rollout | changes.pop("rollout", {}),
    }
    return make_config(settings | changes)


def roles_learned(engine: ScriptedEngine) -> list[set[str]]:
    """Per update the kinds of samples in it, told by the names of their groups."""
    return [{row.sample.group.partition("/")[0] for row in rows} for rows in engine.updates]


def run(tmp_path, mode: str, code=play, tests=play, **changes):
    code_policy, test_policy = ScriptedEngine(code), ScriptedEngine(tests)
    run_dir = train(config_of(tmp_path, mode, **changes), policies=(code_policy, test_policy))
    return run_dir, code_policy, test_policy


# -- two steps of each mode, by hand -----------------------------------------------------------------------------------
#
# Candidates: RIGHT passes everything; WRONG passes double(2) and double(0), fails double(3), and of the problem's own
# tests fails double(1) and passes double(2).
# Suites, K = 2, all tests valid: against RIGHT both earn Val 1, Adv 0; against WRONG the mild one Adv 0, the sharp ½.

FIRST_CODE = (1 + (1 + 0.5) / 2) / 2  # RIGHT 1; WRONG passes 2 of 2 and 1 of 2
FIRST_TEST = (0.5 + 0.5 + 0.5 + 0.75) / 4
# Step 2 replays double(3): pass_hist is 1 for RIGHT and 0 for WRONG.
SECOND_CODE = (1 + ((0 + 1) / 2 + (0 + 0.5) / 2) / 2) / 2
SECOND_TEST = (0.5 + 0.5 * 0.5) / 4 * 2 + (0.5 + 0) / 4 + (0.5 + 0.5 * 0.25) / 4


def by_hand(rows) -> None:
    first, second = rows
    assert first["code/reward_mean"] == pytest.approx(FIRST_CODE)
    assert first["test/reward_mean"] == pytest.approx(FIRST_TEST)
    assert second["code/reward_mean"] == pytest.approx(SECOND_CODE)
    assert second["test/reward_mean"] == pytest.approx(SECOND_TEST)
    assert (first["book/size"], second["book/size"]) == (1, 1)
    assert first["test/killing"] == pytest.approx(1 / 4)
    assert first["validity/VALID"] == 1


def test_co_evolve_trains_both(tmp_path):
    run_dir, code_policy, test_policy = run(tmp_path, "co-evolve")
    by_hand(run_dir.metrics())
    assert roles_learned(code_policy) == [{"code"}] * 2
    assert roles_learned(test_policy) == [{"test"}] * 2


def test_self_play_trains_one_model_on_both_roles_in_one_update(tmp_path):
    run_dir, model, unused = run(tmp_path, "self-play")
    by_hand(run_dir.metrics())
    assert roles_learned(model) == [{"code", "test"}] * 2  # one update a step, both kinds in it
    assert (unused.requests, unused.updates) == ([], [])
    # both groups of two have the advantages of two different values, whatever their rewards: ±d/√2 / (d + 1e-6)
    groups = {}
    for row in model.updates[0]:
        groups.setdefault(row.sample.group, []).append(row.sample.advantage)
    assert sorted(groups) == ["code/double", "test/double/1"]  # TopVar: only the suites against WRONG differ
    assert sorted(groups["code/double"]) == pytest.approx([-0.7071, 0.7071], abs=1e-4)
    assert sorted(groups["test/double/1"]) == pytest.approx([-0.7071, 0.7071], abs=1e-4)
    [row, _] = run_dir.metrics()
    assert (row["code/groups"], row["test/groups"], row["code/samples"]) == (1, 1, 4)
    assert "test/samples" not in row
    assert sorted(p.name for p in run_dir.checkpoint_path(2).iterdir()) == ["code", "state.json"]


@pytest.mark.parametrize("white_box", [True, False])
def test_self_play_is_white_box_or_black_box(tmp_path, white_box):
    _, model, _ = run(tmp_path, "self-play", rollout={"white_box": white_box})
    shown = [RIGHT in m.content or WRONG in m.content for r in model.requests for p in r.prompts for m in p]
    assert any(shown) is white_box


def test_a_frozen_tester_attacks_and_does_not_learn(tmp_path):
    run_dir, code_policy, test_policy = run(tmp_path, "frozen-tester")
    by_hand(run_dir.metrics())
    assert roles_learned(code_policy) == [{"code"}] * 2
    assert (len(test_policy.requests), test_policy.updates, test_policy.syncs) == (2, [], 0)
    assert sorted(p.name for p in run_dir.checkpoint_path(2).iterdir()) == ["code", "state.json"]
    [row, _] = run_dir.metrics()
    assert "test/loss" not in row
    assert row["test/sampled_tokens"] > 0


def test_a_frozen_coder_is_attacked_and_does_not_learn(tmp_path):
    run_dir, code_policy, test_policy = run(tmp_path, "frozen-coder")
    by_hand(run_dir.metrics())
    assert (len(code_policy.requests), code_policy.updates, code_policy.syncs) == (2, [], 0)
    assert roles_learned(test_policy) == [{"test"}] * 2
    assert sorted(p.name for p in run_dir.checkpoint_path(2).iterdir()) == ["state.json", "test"]


def test_golden_judges_by_the_problems_own_tests(tmp_path):
    run_dir, code_policy, test_policy = run(tmp_path, "golden")
    for row in run_dir.metrics():
        assert row["code/reward_mean"] == pytest.approx((1 + 1 / 2) / 2)
        assert row["test/suites"] == 0
    assert roles_learned(code_policy) == [{"code"}] * 2
    assert (test_policy.requests, test_policy.updates) == ([], [])


def suites_file(tmp_path, **tests: tuple[str, ...]) -> str:
    path = tmp_path / "suites.jsonl"
    write_suites(path, [ProblemSuite(name, sources) for name, sources in tests.items()])
    return str(path)


def test_a_static_suite_judges_instead_of_a_tester(tmp_path):
    path = suites_file(tmp_path, double=("assert double(2) == 4", "assert double(3) == 6", "assert double(5) == 10"))
    run_dir, code_policy, test_policy = run(tmp_path, "static-suite", problems={"suites": path})
    for row in run_dir.metrics():
        assert row["code/reward_mean"] == pytest.approx((1 + 1 / 3) / 2)
        assert row["code/pass_replayed"] == pytest.approx(4 / 6)
        assert row["book/size"] == 0
    assert roles_learned(code_policy) == [{"code"}] * 2
    assert (test_policy.requests, test_policy.updates) == ([], [])


def test_problems_without_a_suite_of_their_own_are_left_out_and_named(tmp_path):
    other = Problem("half", "Return half of x.", "half", "def half(x):\n    return x // 2\n", ())
    third = Problem("next", "Return x + 1.", "succ", "def succ(x):\n    return x + 1\n", ())
    # the suite under "next" is about a function that the problem does not have
    path = suites_file(tmp_path, double=("assert double(2) == 4",), next=("assert half(4) == 2", "assert half(2) == 1"))
    config = config_of(tmp_path, "static-suite", other, PROBLEM, third, steps=1, problems={"suites": path})
    run_dir = train(config, policies=(ScriptedEngine(play), ScriptedEngine(play)))
    left_out = {e["problem_id"]: e["reason"] for e in run_dir.events() if e["event"] == "problem-left-out"}
    assert left_out["half"] == f"no suite in {path}"
    assert "is for another problem: 2 of 2 tests do not hold on the reference" in left_out["next"]
    assert "'assert half(4) == 2': OFF_TARGET" in left_out["next"]
    assert len(list(run_dir.metrics())) == 1


def test_suites_for_other_problems_are_refused_before_anything_is_written(tmp_path):
    path = suites_file(tmp_path, triple=("assert triple(2) == 6",))
    config = config_of(tmp_path, "static-suite", problems={"suites": path})
    with pytest.raises(ProblemError, match=r"no suite for any .* such as 'triple', the run has .* such as 'double'"):
        train(config, policies=(ScriptedEngine(play), ScriptedEngine(play)))
    assert not (tmp_path / "run-static-suite").exists()
    # the same ids, another file of problems: the tests themselves tell
    path = suites_file(tmp_path, double=("assert double(2) == 5",))
    config = config_of(tmp_path, "static-suite", problems={"suites": path})
    with pytest.raises(ProblemError, match="no problem is left .*'assert double.2. == 5': WRONG_EXPECTATION"):
        train(config, policies=(ScriptedEngine(play), ScriptedEngine(play)))


# -- why two models ----------------------------------------------------------------------------------------------------

COLLUDING = "def double(x):\n    return 0  # only right for 0"


def collude(prompt, _index: int, _seed: int) -> str:
    """Writes a program that is right for one input, and tests that one input wherever it recognises its own hand."""
    if writes_code(prompt):
        return block(COLLUDING)
    if "only right for 0" in prompt[-1].content:
        return block("assert double(0) == 0", "assert double(-0) == 0 and double(0) == 0")
    return block("assert double(3) == 6", "assert double(2) == 4")


def attack(prompt, index: int, _seed: int) -> str:
    """An independent tester; its second suite is as trivial as the colluding one's."""
    return (
        block("assert double(3) == 6", "assert double(2) == 4"),
        block("assert double(0) == 0", "assert double(1) == 2"),
    )[index]


def test_a_model_that_plays_both_sides_can_pay_itself_and_two_models_cannot(tmp_path):
    """The paper's central argument: white-box self-play rewards collusion, co-evolution does not."""
    one_suite = {"candidates_per_problem": 2, "tests_per_suite": 1}
    collusion, _, _ = run(tmp_path, "self-play", code=collude, rollout=one_suite)
    *_, paid = collusion.metrics()
    # a program that is wrong for every number but one passes everything that it is ever judged by
    assert (paid["code/reward_mean"], paid["code/pass_new"], paid["book/size"]) == (1, 1, 0)
    assert paid["validity/VALID"] > 0

    caught, coder, tester = run(tmp_path, "co-evolve", code=collude, tests=attack)
    first, second = caught.metrics()
    # the same program: fails both tests of the first suite, one of two in the second; then with the book against it
    assert first["code/reward_mean"] == pytest.approx((0 + 0.5) / 2)
    assert second["code/reward_mean"] < first["code/reward_mean"] < 0.3 < paid["code/reward_mean"]
    # and the tester's own interest is against it: the suite that spares the program has the lower reward
    by_text = {row.sample.completion.text: row.sample.advantage for row in tester.updates[0]}
    sharp, trivial = attack(None, 0, 0), attack(None, 1, 0)
    assert by_text[trivial] < 0 < by_text[sharp]
