"""Open the policy whose suites are wanted: a model, or what a run has trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from code_a1.config import Config, merge
from code_a1.config_file import load_config, make_config, parse_override
from code_a1.engines import PolicyEngine, open_policies
from code_a1.errors import RunDirError

MAX_TOKENS = 512
"""Longest suite of a model that comes without a run's configuration, unless told otherwise."""


def open_tester(name: str, overrides: Sequence[str] = ()) -> tuple[Config, PolicyEngine]:
    """The policy, to be sampled from and closed by the caller, and the configuration that says how.

    `name` is a run folder, whose latest checkpoint and whose configuration are taken, or whatever
    `test_policy.model` may be, with the defaults. `overrides` are those of `code-a1 train --set`.

    Raises:
        RunDirError: the run has saved no test policy.
        ConfigError: an override is wrong.
        ModelError: the model cannot be found or used.
    """
    folder = Path(name)
    saved: Path | None = None
    if (folder / "config.toml").is_file():
        config = load_config(folder / "config.toml", overrides)
        saved = _latest(folder)
    else:
        raw: dict[str, object] = {"test_policy": {"model": name}, "rollout": {"max_test_tokens": MAX_TOKENS}}
        for override in overrides:
            raw = merge(raw, parse_override(override))
        config = make_config(raw, source=f"--test {name}")
    policy = config.test_policy
    if saved is not None and config.engine == "local":
        policy = policy.model_copy(update={"model": str(saved), "lora": None})
    opened = open_policies({"test": policy}, seed=config.seed, engine=config.engine, frozen={"test"})["test"]
    if saved is not None and config.engine != "local":
        opened.load(saved)
    return config, opened


def _latest(run: Path) -> Path:
    """The test policy of a run's latest checkpoint; where one model plays both roles, that one."""
    for checkpoint in sorted(run.glob("checkpoints/step-*[0-9]"), reverse=True):
        for role in ("test", "code"):
            if (checkpoint / role).is_dir():
                return checkpoint / role
    raise RunDirError(f"{run} has no checkpoint to take a test policy from: let it run to its first `save_every`")
