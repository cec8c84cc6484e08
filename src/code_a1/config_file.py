"""Reading a configuration: the TOML file, the `--set` overrides upon it, and errors that name the key."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from code_a1.config import Config, merge
from code_a1.errors import ConfigError
from code_a1.modes import mode_of


def load_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read a TOML file and lay `a.b=c` overrides upon it.

    Raises ConfigError naming file and key for unreadable TOML, unknown keys, values of the wrong type or out of bounds.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"no such configuration file: {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from error
    for override in overrides:
        raw = merge(raw, parse_override(override))
    return make_config(raw, source=str(path))


def make_config(raw: Mapping[str, Any], source: str = "configuration") -> Config:
    """Validate a nested dictionary. Raises ConfigError naming every key that is wrong and why."""
    try:
        config = Config.model_validate(raw)
        mode_of(config)
    except ValidationError as error:
        lines = [_explain(detail) for detail in error.errors(include_url=False)]
        raise ConfigError(f"{source}: " + "; ".join(lines)) from error
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None
    return config


def parse_override(text: str) -> dict[str, Any]:
    """`a.b=c` as a nested dictionary; c is a TOML value, or a string where it is none.

    >>> parse_override("rollout.tests_per_suite=4")
    {'rollout': {'tests_per_suite': 4}}
    >>> parse_override("code_policy.model=Qwen/Qwen2.5-Coder-0.5B-Instruct")
    {'code_policy': {'model': 'Qwen/Qwen2.5-Coder-0.5B-Instruct'}}
    """
    key, equals, value = text.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not equals or not all(parts):
        raise ConfigError(f"--set {text!r}: expected KEY=VALUE, such as rollout.tests_per_suite=4")
    try:
        nested: Any = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        nested = value
    for part in reversed(parts):
        nested = {part: nested}
    return dict(nested)


def _explain(detail: Any) -> str:
    """One validation error, with the key's full name and, for an unknown key, the nearest known ones."""
    location = [str(part) for part in detail["loc"]]
    key = ".".join(location)
    if detail["type"] != "extra_forbidden":
        return f"{key or 'configuration'}: {detail['msg']}, got {detail['input']!r:.80}"
    known = known_keys()
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.6) or difflib.get_close_matches(
        location[-1], [k.rpartition(".")[2] for k in known], n=1, cutoff=0.75
    )
    return f"{key}: unknown key" + (f"; did you mean {near[0]}?" if near else "; `code-a1 train --keys` lists them all")


def known_keys(model: type[BaseModel] = Config, prefix: str = "") -> list[str]:
    """Every key of the configuration, dotted, tables included."""
    keys = []
    for name, field in model.model_fields.items():
        keys.append(prefix + name)
        if nested := nested_model(field.annotation):
            keys += known_keys(nested, f"{prefix}{name}.")
    return keys


def nested_model(annotation: Any) -> type[BaseModel] | None:
    """The table that a field holds, also where it may be None; None for a plain value."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None
