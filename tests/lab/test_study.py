"""The study: rules that turn numbers into verdicts, arms that are valid, runs that are never lost or done twice."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from code_a1.cli.lab import study as study_command
from code_a1.cli.studying import chosen_arms, plan_text
from code_a1.config_file import make_config
from code_a1.errors import ConfigError
from code_a1.lab.repeats import Control, Outcome, write_outcome
from code_a1.lab.study.arms import ARMS, BY_NAME
from code_a1.lab.study.claims import ALPHAS, BASE, CLAIMS, PASS, Answer, Claim, over, slope
from code_a1.lab.study.figures import draw_findings
from code_a1.lab.study.measuring import old_failures
from code_a1.lab.study.running import Study, Task, digest, run_study, tasks_of, trained_models
from code_a1.lab.study.tables import contrast_text, findings, study_report
from code_a1.modes import mode_of
from code_a1.run_dir import RunDir


def study_of(folder: Path, **changes) -> Study:
    raw = tomllib.loads((files("code_a1.lab.study") / "study.toml").read_text(encoding="utf-8"))
    return Study(make_config(raw | changes), Control(150, 3e-4), folder)


def outcome(task: Task, **after: float) -> Outcome:
    return Outcome(
        task.seed, task.arm, {key.replace("_at_", "@").replace("__", "/"): v for key, v in after.items()}, 100.0, 60.0
    )


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([0.05, 0.06, 0.07], Answer.CONFIRMED),  # .06 ± .025
        ([-0.05, -0.06, -0.07], Answer.REFUTED),
        ([0.001, 0.0, -0.001], Answer.REFUTED),  # ± .0025: if there is anything, it is less than two points
        ([0.1, -0.1, 0.06], Answer.UNDECIDED),
        ([0.9], Answer.UNDECIDED),
    ],
)
def test_an_interval_decides(values, answer):
    assert Claim("c", "…", PASS, over("co-evolve", BASE)).answer(values) is answer


def test_no_worse_means_above_minus_two_points():
    claim = Claim("c", "…", PASS, over("co-evolve", BASE), threshold=-0.02, margin=0.0)
    assert claim.answer([0.001, 0.0, -0.001]) is Answer.CONFIRMED
    assert claim.answer([-0.05, -0.051, -0.049]) is Answer.REFUTED
    assert claim.answer([-0.02, 0.0, -0.04]) is Answer.UNDECIDED


def test_the_slope_over_alpha():
    weights = slope(ALPHAS)
    assert weights["alpha-0"] == pytest.approx(-0.8)  # (0 - .5) / (2 * .25 + 2 * .0625)
    line = {arm: 0.3 + 0.4 * x for arm, x in ALPHAS.items()}
    assert sum(weights[arm] * line[arm] for arm in weights) == pytest.approx(0.4)


def test_claims_are_about_arms_that_exist_and_pair_their_seeds():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        assert claim.arms, claim.name
        assert set(claim.arms) <= set(BY_NAME), claim.name
        assert min(BY_NAME[arm].seeds for arm in claim.arms) >= 3
    assert {arm for claim in CLAIMS for arm in claim.arms} == set(BY_NAME)  # no arm is run for nothing


def test_every_arm_is_a_valid_configuration_that_differs(tmp_path):
    study = study_of(tmp_path)
    seen = {}
    for arm in ARMS:
        task = Task(arm.name, 2)
        config = study.config_of(task, arm.changes)
        assert config.seed == 2
        assert config.run_dir == tmp_path / arm.name / "seed-2"
        assert mode_of(study.config_of(task, arm.measured_with)).name == "co-evolve"
        if arm.kind == "run":
            seen[arm.name] = config.model_copy(update={"seed": 0, "run_dir": Path("x")}).model_dump_json()
    assert len(set(seen.values())) == len(seen)
    weak = study.config_of(Task("golden-weak", 0), BY_NAME["golden-weak"].changes)
    assert weak.problems.path == f"{tmp_path}/typical.jsonl"
    exported = study.config_of(Task("exported-suites", 1), BY_NAME["exported-suites"].changes)
    assert exported.problems.suites == f"{tmp_path}/co-evolve/seed-1/suites.jsonl"


def test_tasks_go_seed_by_seed_with_the_base_and_what_others_need():
    tasks = tasks_of([BY_NAME["exported-suites"], BY_NAME["golden-weak"]])
    assert [str(t) for t in tasks[:4]] == [
        "base, seed 0",
        "co-evolve, seed 0",
        "exported-suites, seed 0",
        "golden-weak, seed 0",
    ]
    assert sum(t.arm == "co-evolve" for t in tasks) == 3
    assert sum(t.arm == BASE for t in tasks) == 5
    assert len(tasks_of(ARMS, seeds=1)) == len(ARMS) + 1


def fake_run(study: Study, task: Task, jobs: int) -> None:
    """Stands for training; fails where the folder says so. Counts by appending to a file."""
    with (study.folder / "began.txt").open("a") as lines:
        lines.write(f"{task}\n")
    if task.needs and not study.outcome_path(Task(task.needs, task.seed)).is_file():
        raise AssertionError("what it needs is not there")
    if (study.folder / "broken").exists() and task.arm == "golden-weak":
        raise OSError("no space left")
    study.place(task).mkdir(parents=True)
    write_outcome(study.outcome_path(task), outcome(task, code__pass_at_1=0.5))


def test_a_study_goes_on_where_it_was_stopped(tmp_path):
    study = study_of(tmp_path / "s")
    tasks = tasks_of([BY_NAME["exported-suites"], BY_NAME["golden-weak"]], seeds=2)
    study.begin()
    (study.folder / "broken").touch()
    with pytest.raises(OSError, match="no space left"):
        run_study(study, tasks, jobs=2, on_done=lambda _: None, run=fake_run)
    done_before = [task for task in tasks if study.outcome(task) is not None]
    assert done_before
    (study.folder / "broken").unlink()
    told: list[str] = []
    run_study(study, tasks, jobs=2, on_done=told.append, run=fake_run)
    assert all(study.outcome(task) is not None for task in tasks)
    assert told[-1].startswith("8 of 8: ")
    began = (study.folder / "began.txt").read_text().splitlines()
    assert all(began.count(str(task)) == 1 for task in done_before)
    assert "8 runs, 0 to run" in plan_text(study, tasks, 2)


def test_a_folder_belongs_to_one_configuration(tmp_path):
    study_of(tmp_path / "s").begin()
    study_of(tmp_path / "s").begin()
    with pytest.raises(ConfigError, match="another configuration"):
        study_of(tmp_path / "s", steps=7).begin()
    with pytest.raises(ConfigError, match="held-out"):
        study_of(tmp_path / "t", eval_every=0).begin()
    weak = (tmp_path / "s" / "typical.jsonl").read_text().splitlines()
    assert len(weak) == 160
    assert all(len(json.loads(line)["reference_tests"]) == 4 for line in weak)


def a_few_outcomes(study: Study) -> dict[Task, Outcome]:
    outcomes = {}
    for seed, (before, golden, after) in enumerate([(0.5, 0.55, 0.62), (0.52, 0.55, 0.64), (0.48, 0.56, 0.61)]):
        for arm, value in ((BASE, before), ("golden-weak", golden), ("co-evolve", after)):
            task = Task(arm, seed)
            outcomes[task] = outcome(task, code__pass_at_1=value)
            study.place(task).mkdir(parents=True)
            write_outcome(study.outcome_path(task), outcomes[task])
    del outcomes[Task("golden-weak", 2)]
    return outcomes


def test_findings_pair_by_seed_and_leave_out_what_is_missing(tmp_path):
    found = {f.claim.name: f for f in findings(a_few_outcomes(study_of(tmp_path)))}
    assert set(found) == {"coder-learns", "beats-golden"}
    assert found["coder-learns"].values == pytest.approx((0.12, 0.12, 0.13))
    assert found["coder-learns"].answer is Answer.CONFIRMED
    assert found["beats-golden"].seeds == (0, 1)
    assert found["beats-golden"].values == pytest.approx((0.07, 0.09))
    assert found["beats-golden"].answer is Answer.UNDECIDED  # .08 ± .127 with two seeds


def test_the_report_says_verdict_contrast_and_source(tmp_path):
    study = study_of(tmp_path)
    outcomes = a_few_outcomes(study)
    found = findings(outcomes)
    figures = draw_findings(study, found, outcomes, tmp_path / "figures")
    report = study_report(study, outcomes, figures)
    assert "| co-evolve − base | `code/pass@1` | 3 | +0.123 [+0.109, +0.138] | **confirmed** |" in report
    assert "![coder-learns](figures/coder-learns.svg)" in report
    assert "| co-evolve | both sides learn from each other | 3 | 0.623 ± 0.015 | – | – | – | 100 |" in report
    assert f"| base, seed 0 | `{digest(study, Task(BASE, 0))}` |" in report
    assert (tmp_path / "figures" / "coder-learns.svg").read_text().count("<svg") == 1
    once = (tmp_path / "figures" / "coder-learns.svg").read_bytes()
    draw_findings(study, found, outcomes, tmp_path / "figures")
    assert (tmp_path / "figures" / "coder-learns.svg").read_bytes() == once
    write_outcome(study.outcome_path(Task(BASE, 0)), replace(outcomes[Task(BASE, 0)], cpu_s=1.0))
    assert digest(study, Task(BASE, 0)) not in report


def test_contrasts_for_people():
    texts = {claim.name: contrast_text(claim) for claim in CLAIMS}
    assert texts["beats-golden"] == "co-evolve − golden-weak"
    assert texts["balance"] == "1 · co-evolve − 0.5 · alpha-0 − 0.5 · alpha-1"
    assert texts["topvar-is-enough"] == "co-evolve − all-candidates > -0.02"


def test_arms_are_chosen_by_name_claim_or_group():
    assert [a.name for a in chosen_arms("main")] == [a.name for a in ARMS if a.seeds == 5]
    assert [a.name for a in chosen_arms("book-teaches, co-evolve")] == ["co-evolve", "small-pool", "small-pool-no-book"]
    assert chosen_arms("") == list(ARMS)
    with pytest.raises(ConfigError, match="'alpha-2'.*alpha-0.25"):
        chosen_arms("alpha-2")


def test_what_a_run_leaves_for_each_role(tmp_path):
    study = study_of(tmp_path)
    expected = {
        "co-evolve": {"code": "code", "test": "test"},
        "self-play-white-box": {"code": "code", "test": "code"},
        "golden-weak": {"code": "code"},
        "frozen-tester": {"code": "code", "test": None},
        "frozen-coder": {"code": None, "test": "test"},
    }
    for arm, roles in expected.items():
        config = study.config_of(Task(arm, 0), BY_NAME[arm].changes)
        run = RunDir.create(config)
        run.unlock()
        run.checkpoint_path(60).mkdir()
        wanted = {role: "lab" if name is None else run.checkpoint_path(60) / name for role, name in roles.items()}
        assert trained_models(config) == wanted, arm


def test_old_failures_are_valid_tests_that_a_program_failed(tmp_path):
    config = study_of(tmp_path).config_of(Task("small-pool", 0), {})
    run = RunDir.create(config)

    def row(problem: str, *tests: tuple[str, str, str | None]) -> dict:
        shown = [{"test": t, "validity": validity, "verdict": verdict} for t, validity, verdict in tests]
        return {"problem_id": problem, "suites": [{"tests": shown}]}

    first = row("a", ("t1", "VALID", "FAIL"), ("t2", "VALID", "PASS"), ("t3", "WRONG_EXPECTATION", "FAIL"))
    run.log_rollouts(1, [first, row("b", ("t4", "VALID", "TIMEOUT"))])
    run.log_rollouts(2, [row("a", ("t1", "VALID", "FAIL"), ("t5", "VALID", "FAIL"))])
    run.log_rollouts(3, [row("a", ("t6", "VALID", "FAIL"))])
    run.unlock()
    assert old_failures(run, until=2) == {"a": ("t1", "t5")}


def test_the_command_plans_without_running(tmp_path):
    done = CliRunner().invoke(study_command, ["-o", str(tmp_path / "s"), "--plan", "--only", "main", "--seeds", "2"])
    assert done.exit_code == 0, done.output
    assert "co-evolve                2 seeds, 0 done, 2 to run" in done.output
    assert "14 runs, 14 to run" in done.output
    assert not (tmp_path / "s").exists()
