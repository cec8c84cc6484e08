from __future__ import annotations

import contextlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_a1.config import Config
from code_a1.config_file import known_keys, load_config, make_config, parse_override
from code_a1.dry_run import describe, describe_keys, missing, sizes
from code_a1.errors import ConfigError

CONFIGS = sorted((Path(__file__).parents[1] / "configs").glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.name)
def test_every_shipped_config_loads_and_describes_itself(path):
    config = load_config(path)
    text = describe(config)
    resolved, _, rest = text.partition("# a step")
    assert make_config(tomllib.loads(resolved)) == config  # what is printed is what would run
    assert f"{config.steps} steps" in rest


def test_the_paper_configs_hold_the_authors_settings():
    for size in ("1.5b", "3b", "7b"):
        config = load_config(CONFIGS[0].with_name(f"paper-{size}.toml"))
        r, o, loss = config.rollout, config.code_policy.optimizer, config.code_policy.loss
        assert (r.problems_per_step, r.candidates_per_problem, r.suites_per_candidate, r.tests_per_suite) == (
            256,
            8,
            8,
            8,
        )
        assert (r.max_code_prompt_tokens, r.max_test_prompt_tokens, r.max_code_tokens) == (4096, 8192, 4096)
        assert (o.lr, o.warmup_steps, o.schedule, o.weight_decay, o.grad_norm, o.minibatches) == (
            1e-6,
            10,
            "cosine",
            0.1,
            1.0,
            2,
        )
        assert (loss.clip_low, loss.clip_high, loss.dual_clip, loss.kl_coef) == (0.2, 0.28, 10.0, 0.001)
        assert config.code_policy == config.test_policy
        assert (config.steps, config.rewards.alpha, config.selection.candidates_per_problem) == (111, 0.5, 1)


def test_a_dry_run_names_what_is_missing_and_how_to_get_it():
    config = make_config(
        {"engine": "ray", "problems": {"path": "nowhere.jsonl"}, "policy": {"model": "./no/model.gguf"}}
    )
    gaps = "\n".join(missing(config))
    assert "engine 'ray'" in gaps
    assert "problems.path: no file nowhere.jsonl" in gaps
    local = "\n".join(missing(make_config({"policy": {"model": "./no/model.gguf"}})))
    assert "code_policy.model: no file or folder ./no/model.gguf" in local
    assert "test_policy.model: no file or folder ./no/model.gguf" in local


def test_sizes_of_a_step_by_hand():
    config = make_config(
        {
            "rollout": {
                "problems_per_step": 3,
                "candidates_per_problem": 4,
                "suites_per_candidate": 2,
                "tests_per_suite": 5,
            }
        }
    )
    text = "\n".join(sizes(config))
    assert "= 12 completions of the code policy" in text
    assert "= 24 completions of the test policy" in text
    assert "up to 180 verdicts" in text  # 12 candidates × (2 × 5 new + 5 replayed)
    assert "12 candidates and 6 suites" in text


def test_shared_policy_keys_are_overridden_side_by_side():
    config = make_config(
        {
            "policy": {"model": "m", "optimizer": {"lr": 1e-4, "warmup_steps": 3}},
            "test_policy": {"optimizer": {"lr": 2e-4}},
        }
    )
    assert config.code_policy.optimizer.lr == 1e-4
    assert (config.test_policy.optimizer.lr, config.test_policy.optimizer.warmup_steps) == (2e-4, 3)
    assert config.test_policy.model == "m"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"stepz": 3}, "stepz: unknown key; did you mean steps"),
        ({"policy": {"optimizer": {"learning_rate": 1}}}, "code_policy.optimizer.learning_rate: unknown key"),
        ({"rollout": {"tests_per_suit": 1}}, "did you mean rollout.tests_per_suite"),
        ({"steps": 0}, "steps: Input should be greater than 0"),
        ({"mode": "chaos"}, "mode: 'chaos' is unknown, accepted are co-evolve, self-play"),
        ({"rewards": {"alpha": 1.5}}, "rewards.alpha"),
        ({"rollout": 7}, "rollout"),
        ({"policy": 7}, "code_policy"),
    ],
)
def test_a_wrong_key_or_value_is_named(raw, message):
    with pytest.raises(ConfigError, match=message):
        make_config(raw)


def test_files_that_are_no_configuration_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"no such configuration file: .*nothing\.toml"):
        load_config(tmp_path / "nothing.toml")
    for number, content in enumerate((b"a = ", b"\xff\xfe", b"a = 1\na = 2")):
        path = tmp_path / f"{number}.toml"
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=f"{number}.toml: cannot be read as TOML"):
            load_config(path)


def test_overrides_reach_any_depth_and_win(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text("steps = 3\n[policy.optimizer]\nlr = 1e-5\n")
    config = load_config(
        path, ["steps=7", "policy.optimizer.lr=3e-4", "problems.decontaminate=['a.jsonl']", "run_dir=out/{mode}"]
    )
    assert config.steps == 7
    assert config.code_policy.optimizer.lr == config.test_policy.optimizer.lr == 3e-4
    assert config.problems.decontaminate == ("a.jsonl",)
    assert config.run_dir == Path("out/{mode}")


@pytest.mark.parametrize("text", ["steps", "=3", "a..b=1", ""])
def test_an_override_without_key_or_value_is_refused(text):
    with pytest.raises(ConfigError, match="expected KEY=VALUE"):
        parse_override(text)


@given(st.text())
def test_any_override_is_parsed_or_refused_with_our_error(text):
    with contextlib.suppress(ConfigError):
        assert isinstance(parse_override(text), dict)


def test_every_key_is_documented():
    text = describe_keys()
    for key in known_keys():
        if not any(other.startswith(key + ".") for other in known_keys()):
            assert f"{key} = " in text
    paragraphs = [line for line in text.splitlines() if line.startswith("    ")]
    assert all(line.strip() for line in paragraphs)


def test_the_package_and_its_help_never_load_torch():
    code = (
        "import sys, code_a1, code_a1.config, code_a1.cli as c\n"
        "try: c.main(['train', '--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('torch', 'transformers', 'numpy', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip().endswith("[]")


def test_defaults_are_the_papers():
    config = Config()
    assert config.rollout.problems_per_step == 256
    assert config.selection.candidates_per_problem == 1
    assert config.rewards.variant == "released"
