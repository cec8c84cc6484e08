"""Which run a configuration goes on with, from which checkpoint, and what may have changed since it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_a1.checkpoint import load_state
from code_a1.config import Config
from code_a1.config_file import load_config, make_config
from code_a1.errors import CheckpointError, ConfigError
from code_a1.run_dir import RunDir, expand

_OF_A_POLICY = (
    *("optimizer.lr", "optimizer.warmup_steps", "optimizer.schedule", "device", "gradient_checkpointing"),
    *("tokens_per_microbatch", "sampling_slots", "vllm_memory_share"),
)

CHANGEABLE = (
    *("run_dir", "steps", "save_every", "eval_every", "checkpoints", "watchdogs"),
    *("sandbox.workers", "sandbox.allow_tier", "sandbox.max_sandbox_error_share", "sandbox.outage_pauses_s"),
    *(f"{side}_policy.{key}" for side in ("code", "test") for key in _OF_A_POLICY),
)
"""Keys, and tables as a whole, that a run may be resumed with other values of: how long, how fast, where, what is
logged and kept. Everything else says what is being learned from what."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A run to go on with; its folder is locked by this process."""

    run_dir: RunDir
    config: Config
    state: Mapping[str, Any] | None
    """What `load_state` read; None where the run was stopped before its first checkpoint and begins again."""
    changed: Mapping[str, tuple[Any, Any]]
    """Keys with the value that the run had and the one that it goes on with."""
    damaged: tuple[Path, ...] = ()
    """Later checkpoints that could not be used."""
    damage: tuple[str, ...] = ()
    """Why, in the same order."""

    @property
    def step(self) -> int:
        """Steps completed."""
        return 0 if self.state is None else int(self.state["step"])


def find_run(config: Config) -> Resumed | None:
    """The run in the folder that `config.run_dir` names, None where there is no such folder yet.

    Raises:
        ConfigError: the folder's name holds the time, or keys differ that may not: all of them are named.
        RunDirError: the folder holds no run, or another process trains into it.
        CheckpointError: there are checkpoints, and none of them is whole.
    """
    if "{time}" in str(config.run_dir):
        raise ConfigError(
            f"run_dir = {str(config.run_dir)!r} is a new folder every time, so that there is nothing to resume: name "
            "the run with --set run_dir=…, or give the run folder in place of the configuration file"
        )
    path = Path(expand(str(config.run_dir), config))
    if not path.exists():
        return None
    run_dir = RunDir.open(path)
    run_dir.lock()
    try:
        return _resumed(run_dir, config.model_copy(update={"run_dir": path}))
    except BaseException:
        run_dir.unlock()
        raise


def differences(before: Config, now: Config) -> dict[str, tuple[Any, Any]]:
    """Keys whose values differ, dotted, with both values; None stands for a table or value that is not set."""
    old, new = _flat(before.to_toml_dict()), _flat(now.to_toml_dict())
    return {
        key: (old.get(key), new.get(key)) for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)
    }


def _resumed(run_dir: RunDir, config: Config) -> Resumed:
    changed = _check(run_dir.config_path, load_config(run_dir.config_path), config)
    damaged: dict[Path, str] = {}
    for path in reversed(run_dir.checkpoints().values()):
        try:
            state = load_state(path)
        except CheckpointError as error:
            damaged[path] = str(error)
            continue
        changed = _check(path, make_config(state["config"], source=str(path)), config)
        return Resumed(run_dir, config, state, changed, tuple(damaged), tuple(damaged.values()))
    if damaged:
        raise CheckpointError(
            f"none of the checkpoints of {run_dir.path} can be resumed from: {'; '.join(damaged.values())}. To begin "
            "again, choose another folder with --set run_dir=…"
        )
    return Resumed(run_dir, config, None, changed)


def _check(source: Path, before: Config, now: Config) -> dict[str, tuple[Any, Any]]:
    """What has changed, run folder aside. Raises ConfigError naming every key that may not."""
    changed = differences(before, now)
    refused = [
        f"{key} was {_show(old)}, is {_show(new)}" for key, (old, new) in changed.items() if not _changeable(key)
    ]
    if refused:
        raise ConfigError(
            f"{source} belongs to another configuration: {'; '.join(refused)}. A run is resumed as it began (only "
            f"{', '.join(CHANGEABLE)} may change): give the folder of the run in place of the configuration, or begin "
            "another run with --set run_dir=…"
        )
    return {key: values for key, values in changed.items() if key != "run_dir"}


def _changeable(key: str) -> bool:
    return any(key == allowed or key.startswith(allowed + ".") for allowed in CHANGEABLE)


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def _show(value: Any) -> str:
    return "not set" if value is None else repr(value)
