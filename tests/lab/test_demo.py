"""The demo's parts: problems in the package, a run of the lab's model end to end, and runs over seeds with controls."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path

import pytest

from code_a1.cli import main
from code_a1.cli.labwork import parse_seeds
from code_a1.config import ProblemsConfig
from code_a1.config_file import load_config
from code_a1.errors import ConfigError, RunDirError
from code_a1.lab.families import FAMILIES
from code_a1.lab.pretrain import Recipe, pretrain
from code_a1.lab.problems import generate, split_of
from code_a1.lab.rates import measure_model
from code_a1.lab.repeats import Control, Outcome, outcome_path, read_outcome, repeat
from code_a1.lab.repeats_table import interval, repeats_table
from code_a1.problems import PACKAGED, load_problems

ROOT = Path(__file__).parents[2]
needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("cosmic_ray") is None, reason="needs the extras 'local' and 'mutation'"
)


@pytest.mark.parametrize(("name", "split", "count"), [("lab", "train", 400), ("lab-heldout", "heldout-problems", 200)])
def test_the_problems_in_the_package_are_those_that_the_generator_makes(name, split, count):
    found = load_problems(ProblemsConfig(path=name)).problems
    assert len(found) == count
    assert list(found[:6]) == [p.problem for p in generate(6, seed=1, split=split)]
    families = {family.name: family for family in FAMILIES}
    for problem in found:
        assert split_of(families[problem.entry_point], problem.reference_solution.removesuffix("\n")) == split
    assert PACKAGED[name].stat().st_size < 600_000


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab") / "base"
    pretrain(folder, Recipe.of_width(32, problems=24, steps=4, layers=1, problems_per_step=4))
    return folder


BASE = PACKAGED["lab"].parents[1] / "lab/base"


@needs_torch
@pytest.mark.skipif(not BASE.is_dir(), reason="no base checkpoint is in the package yet")
def test_the_base_in_the_package_plays_both_roles_with_room_to_grow():
    assert sum(path.stat().st_size for path in BASE.iterdir()) < 12_000_000
    assert "## Measured" in (BASE / "README.md").read_text(encoding="utf-8")
    rates = measure_model("lab", list(generate(12, seed=2, split="heldout-problems")), samples=2, seed=0)
    for share in (rates.pass_at_1, rates.validity):
        assert 0.1 < share < 0.9
    assert rates.loaded > 0.7


SMALL = {
    "steps": 2,
    "eval_every": 2,
    "problems.limit": 4,
    "evaluation.problems.limit": 2,
    "evaluation.suites_per_problem": 1,
    "evaluation.mutants_per_problem": 2,
    "rollout.problems_per_step": 2,
    "rollout.candidates_per_problem": 3,
    "rollout.suites_per_candidate": 2,
    "rollout.max_code_tokens": 12,
    "rollout.max_test_tokens": 12,
    "sandbox.workers": 1,
}


def small(base: Path, **changes: object):
    settings = SMALL | {"policy.model": f'"{base}"', "code_policy.model": f'"{base}"'} | changes
    return load_config(ROOT / "configs/demo.toml", [f"{key}={value}" for key, value in settings.items()])


def timeless(rows):
    clocks = ("time/", "_tok_s", "_per_s", "peak_rss_gb")
    return [{k: v for k, v in row.items() if not any(clock in k for clock in clocks)} for row in rows]


@needs_torch
def test_two_runs_of_one_seed_have_the_same_metrics(base, tmp_path):
    from code_a1.trainer import train  # noqa: PLC0415

    runs = [
        train(small(base, run_dir=f'"{tmp_path}/{name}"', seed=seed))
        for name, seed in (("one", 3), ("two", 3), ("other", 4))
    ]
    found = [timeless(run.metrics()) for run in runs]
    written = [[row["completion"] for row in run.rollouts(1)] for run in runs]
    assert [row["step"] for row in found[0]] == [0, 1, 2]
    assert found[0] == found[1]
    assert written[0] == written[1] != written[2]
    assert found[0][2]["code/tokens"] == 0  # no program of random weights is right, none has an advantage
    assert found[0][1]["code/sampled_tokens"] > 0


@needs_torch
def test_a_run_over_seeds_has_its_control_and_goes_on_where_it_stopped(base, tmp_path, capsys):
    folder = tmp_path / "seeds"
    changes = [f"--set={key}={value}" for key, value in (SMALL | {"policy.model": f'"{base}"'}).items()]
    done = outcome_path(folder, "run", 5)
    done.parent.mkdir(parents=True)
    after = {"code/pass@1": 0.5, "code/loaded": 1, "book": 3} | {
        f"test/{name}": 0.25 for name in ("validity", "usable_per_suite", "kills_shown", "mutation_score")
    }
    earlier = {"seed": 5, "arm": "run", "before": after | {"book": 0}, "after": after, "cpu_s": 8.0, "seconds": 4.0}
    done.write_text(json.dumps(earlier))
    (folder / "seed-5/supervised").mkdir()  # left by an arm that was stopped
    options = ["--seeds", "5", "--control-steps", "2", "-o", str(folder), "--json"]
    main(["lab", "seeds", str(ROOT / "configs/demo.toml"), *changes, *options])
    shown = capsys.readouterr()
    assert "seed 5: supervised done" in shown.err
    assert "seed 5: run done" not in shown.err
    run, control = json.loads(shown.out.splitlines()[-1])["outcomes"]
    assert run == earlier
    assert control["after"]["code/pass@1"] == 0  # of random weights
    assert control["after"]["problems"] == 2
    assert control["cpu_s"] > 0
    assert "| pass@1 of programs | 0.500 | 0.500 | 0.000 |" in shown.out
    assert (folder / "seed-5/supervised/model.safetensors").is_file()


def outcome(seed, arm, value, before=0.5):
    metrics = {f"test/{name}": value for name in ("validity", "usable_per_suite", "kills_shown", "mutation_score")}
    metrics |= {"code/pass@1": value, "code/loaded": value, "book": 7}
    return Outcome(seed, arm, metrics, 10.0 * seed, 5.0 * seed, dict.fromkeys(metrics, before))


def test_the_table_over_seeds_has_these_numbers():
    runs = [outcome(1, "run", 0.6), outcome(2, "run", 0.7), outcome(3, "run", 0.8)]
    controls = [outcome(1, "supervised", 0.6), outcome(2, "supervised", 0.6), outcome(3, "supervised", 0.6)]
    alone = [outcome(4, "run", 0.9)]
    text = repeats_table([*runs, *controls, *alone])
    # differences .1 .2 .3: mean .2, deviation .1, t(2) = 4.303: ± 4.303 * .1 / sqrt(3) = .248
    assert "| pass@1 of programs | 0.500 | 0.700 | 0.600 | +0.200 [-0.048, +0.448] / 3 of 3 |" in text
    assert "| +0.100 [+0.100, +0.100]* / 3 of 3 |" in text
    assert "+0.100 [-0.148, +0.348] / 2 of 3 |" in text
    assert "| 2 | 0.500 → 0.700 (0.600) |" in text
    assert "| 4 |" not in text
    assert "co-evolution 20 s of CPU (10 s)" in text
    with pytest.raises(ConfigError, match="no seed has both arms"):
        repeats_table(alone)


def test_intervals_are_those_of_student():
    assert interval([1.0])[0] == 1.0
    assert math.isnan(interval([1.0])[1])
    mean, low, high = interval([0.0, 1.0])
    assert (mean, low, high) == (0.5, pytest.approx(0.5 - 12.706 * 0.5), pytest.approx(0.5 + 12.706 * 0.5))
    assert interval([0.0, 1.0] * 20)[2] == pytest.approx(0.5 + 2.023 * 0.5064 / math.sqrt(40), abs=1e-3)


def test_what_cannot_be_compared_is_refused(tmp_path):
    config = load_config(ROOT / "configs/demo.toml")
    control = Control(1, 1e-3)

    def refuse(*overrides):
        changed = load_config(ROOT / "configs/demo.toml", overrides)
        repeat(changed, control, tmp_path, [0], jobs=1, on_done=print)

    assert config.code_policy.model == "lab"
    with pytest.raises(ConfigError, match="set eval_every and evaluation.problems"):
        refuse("eval_every=0")
    with pytest.raises(ConfigError, match="must be the same"):
        refuse("test_policy.model=smollm2")
    path = outcome_path(tmp_path, "run", 0)
    path.parent.mkdir()
    path.write_text("{}")
    with pytest.raises(RunDirError, match=r"run\.json: not the outcome of an arm"):
        read_outcome(path)
    assert parse_seeds("3, 0-2,1") == [3, 0, 1, 2]
    for wrong in ("", "a", "1-", "-1"):
        with pytest.raises(ConfigError, match="expected a range"):
            parse_seeds(wrong)
