"""Every mode in whole runs with scripted policies, every number worked out by hand; and what each of them refuses."""

from __future__ import annotations

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
    assert sorted(p.name for p in run_dir.checkpoint_path(2).iterdir()) == ["checksums.json", "code", "state.json"]


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
    assert sorted(p.name for p in run_dir.checkpoint_path(2).iterdir()) == ["checksums.json", "code", "state.json"]
    [row, _] = run_dir.metrics()
    assert "test/loss" not in row
    assert row["test/sampled_tokens"] > 0


def test_a_frozen_coder_is_attacked_and_does_not_learn(tmp_path):
    run_dir, code_policy, test_policy = run(tmp_path, "frozen-coder")
    by_hand(run_dir.metrics())
    assert (len(code_policy.requests), code_policy.updates, code_policy.syncs) == (2, [], 0)
    assert roles_learned(test_policy) == [{"test"}] * 2
    assert sorted(p.name for p in run_dir.checkpoint_path(2).iterdir()) == ["checksums.json", "state.json", "test"]


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

COLLUDING = "def double(x):\n    return {5: 10}.get(x, 0)"  # right for 0 and 5, and nothing else


def collude(prompt, index: int, _seed: int) -> str:
    """A program that is hardly ever right, beside an honest one; tests that spare it wherever they recognise it."""
    if writes_code(prompt):
        return block((COLLUDING, WRONG)[index])
    if COLLUDING in prompt[-1].content:
        return block("assert double(0) == 0", "assert double(5) == 10")
    return block("assert double(3) == 6", "assert double(2) == 4")


def attack(_prompt, index: int, _seed: int) -> str:
    """An independent tester; its second suite spares the colluding program as that program would have it."""
    sharp, sparing = (
        block("assert double(3) == 6", "assert double(2) == 4"),
        block("assert double(0) == 0", "assert double(5) == 10"),
    )
    return (sharp, sparing)[index]


def advantages(engine: ScriptedEngine, step: int) -> dict[str, float]:
    return {row.sample.completion.text: row.sample.advantage for row in engine.updates[step]}


def test_a_model_that_plays_both_sides_can_pay_itself_and_two_models_cannot(tmp_path):
    """The paper's central argument: white-box self-play rewards collusion, co-evolution does not."""
    colluding, honest = (block(code) for code in (COLLUDING, WRONG))

    played, model, _ = run(tmp_path, "self-play", code=collude)
    first, second = played.metrics()
    # the colluding program passes all that it is ever asked, the honest one half of its suites: 1 and ½
    assert first["code/reward_mean"] == pytest.approx((1 + 0.5) / 2)
    dishonest, _ = played.rollouts(1)
    assert (dishonest["code"], dishonest["reward"]) == (COLLUDING, 1)
    assert [suite["reward"] for suite in dishonest["suites"]] == [0.5, 0.5]  # all valid, nothing found
    assert advantages(model, 0)[colluding] > 0.7 > -0.7 > advantages(model, 0)[honest]
    # the book replays double(3), which both fail; the colluding program still comes out first
    assert second["code/reward_mean"] == pytest.approx(((0 + 1) / 2 + (0 + 0.5) / 2) / 2)
    assert advantages(model, 1)[colluding] > 0.7

    caught, coder, tester = run(tmp_path, "co-evolve", code=collude, tests=attack)
    first, second = caught.metrics()
    # the same two programs. Colluding: 0 of 2 and 2 of 2; honest: 1 of 2 in each (5 · 5 is not 10)
    assert first["code/reward_mean"] == pytest.approx(((0 + 1) / 2 + 0.5) / 2)
    assert [row["reward"] for row in caught.rollouts(1)] == [0.5, 0.5]
    # step 2 replays double(3) and double(2): the colluding program passes neither, (0 + 0)/2 and (0 + 1)/2; the honest
    # one has passed half of everything throughout
    assert [row["reward"] for row in caught.rollouts(2)] == pytest.approx([(0 + 0.5) / 2, 0.5])
    [learned] = coder.updates
    assert {row.sample.completion.text: row.sample.advantage > 0 for row in learned} == {colluding: False, honest: True}
    # the tester's own interest is against it: the suite that spares the program has the lower reward
    sharp, sparing = attack(None, 0, 0), attack(None, 1, 0)
    assert advantages(tester, 0)[sparing] < -0.7 < 0.7 < advantages(tester, 0)[sharp]


# -- what is refused ---------------------------------------------------------------------------------------------------

TESTERLESS = "no policy learns to write tests in it"


@pytest.mark.parametrize(
    ("mode", "setting", "why"),
    [
        ("golden", {"rewards": {"alpha": 0.3}}, f"rewards.alpha = 0.3 does not apply to mode 'golden': {TESTERLESS}"),
        ("golden", {"rollout": {"white_box": False}}, "rollout.white_box = False .* no policy writes tests in it"),
        ("golden", {"mistake_book": {"enabled": False}}, "mistake_book.enabled = False .* it has no Mistake Book"),
        ("frozen-tester", {"rewards": {"variant": "paper"}}, f"rewards.variant = 'paper' .*: {TESTERLESS}"),
        ("frozen-tester", {"selection": {"candidates_per_problem": 2}}, f"candidates_per_problem = 2 .*: {TESTERLESS}"),
        ("frozen-tester", {"opponents": {"mutants": 0.5}}, f"opponents.mutants = 0.5 .*: {TESTERLESS}"),
        (
            "frozen-coder",
            {"save_every": 1, "opponents": {"earlier": 0.5}},
            "earlier = 0.5 .* for there to be earlier ones",
        ),
        ("co-evolve", {"problems": {"suites": "s.jsonl"}}, "problems.suites = 's.jsonl' .* does not judge by a file"),
        ("static-suite", {}, "judges by a file of suites: give its place with problems.suites"),
        ("self-play", {"test_policy": {"model": "other"}}, r"trains one model, but \[test_policy\] differs"),
        ("co-evolve", {"selection": {"candidates_per_problem": 9}}, "= 9: only 8 candidates of a problem are attacked"),
        ("co-evolve", {"opponents": {"earlier": 0.2}}, "samples earlier checkpoints: set save_every"),
        ("co-evolve", {"opponents": {"earlier": 0.5, "mutants": 0.4}}, r"mutants \+ earlier = 0.9: at most 0.8"),
        ("co-evolve", {"evaluation": {"samples_per_problem": 2}}, "temperature = 0 draws the same answer every time"),
        (
            "co-evolve",
            {"eval_every": 5},
            "eval_every = 5 needs something to measure: set evaluation.problems.path to held-out problems, or",
        ),
        ("selfplay", {}, "'selfplay' is unknown, accepted are co-evolve, .*; did you mean 'self-play'"),
    ],
)
def test_what_changes_nothing_or_contradicts_itself_is_refused_and_says_why(mode, setting, why):
    with pytest.raises(ConfigError, match=why):
        make_config({"mode": mode} | setting, source="run.toml")


def test_a_mode_with_a_loop_of_its_own_is_not_run_by_this_one(tmp_path):
    with pytest.raises(ConfigError, match="mode 'sft' learns from no rewards"):
        run(tmp_path, "sft")


def test_every_refusal_is_named_at_once_with_the_file():
    raw = {"mode": "golden", "rewards": {"alpha": 0.3}, "rollout": {"predict_answer": False}}
    with pytest.raises(ConfigError, match=r"^run.toml: rollout.predict_answer = False .*; rewards.alpha = 0.3 "):
        make_config(raw, source="run.toml")


@pytest.mark.parametrize("mode", ["co-evolve", "self-play", "frozen-coder"])
def test_where_a_tester_learns_every_ablation_applies(mode):
    earlier = {} if mode == "frozen-coder" else {"earlier": 0.1}  # a frozen code policy has no earlier ones
    make_config(
        {
            "mode": mode,
            "save_every": 1,
            "rewards": {"alpha": 0.3, "variant": "paper"},
            "mistake_book": {"enabled": False},
            "rollout": {"white_box": False, "predict_answer": False},
            "selection": {"candidates_per_problem": 0, "spread_of": "adversarial"},
            "opponents": {"mutants": 0.3} | earlier,
        }
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_resolved_configuration_of_any_mode_is_accepted_again_and_described(mode, tmp_path):
    suites = {"suites": "s.jsonl"} if mode == "static-suite" else {}
    config = config_of(tmp_path, mode, problems=suites)
    assert make_config(config.to_toml_dict()) == config  # every key is set in it, at its default
    assert sizes(config)[0] == f"mode {mode}: {MODES[mode].summary}"


def test_sizes_say_what_a_mode_does(tmp_path):
    modes = ("self-play", "frozen-tester", "frozen-coder", "golden")
    text = {mode: "\n".join(sizes(config_of(tmp_path, mode))) for mode in modes}
    assert "trained on: 2 candidates and 2 suites (of 1 candidates per problem)" in text["self-play"]
    assert "4 completions of the code policy" in text["self-play"]
    assert "4 completions of the test policy" in text["frozen-tester"]
    assert text["frozen-tester"].count("trained on: 2 candidates\n") == 1
    assert "trained on: 2 suites (of 1" in text["frozen-coder"]
    assert "each candidate runs the tests that its problem has" in text["golden"]
