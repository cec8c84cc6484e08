"""Open the policies of a run with the engine that its configuration names."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from code_a1.config import PolicyConfig
from code_a1.engines.base import PolicyEngine
from code_a1.errors import ConfigError


def open_policies(
    policies: Mapping[str, PolicyConfig], *, seed: int, engine: str = "local", frozen: Collection[str] = ()
) -> dict[str, PolicyEngine]:
    """Open every policy of `policies` by its role, `code` or `test`; those whose role is in `frozen` never learn.

    `local` loads language models into this process; policies that adapt the same model with LoRA, frozen ones and
    reference policies share one copy of its weights. `scripted` reads its answers from the file that `model` names:
    JSON strings, one a line.

    Raises:
        ConfigError: the engine is unknown or not part of this installation, or a script cannot be read.
        MissingExtra: the packages of the local engine are not installed.
        ModelError: a model cannot be found or used.
    """
    if engine == "local":
        from code_a1.engines.local.pair import open_local  # noqa: PLC0415 - torch is loaded only where it is used

        return dict(open_local(policies, seed=seed, frozen=frozen))
    if engine == "scripted":
        return {role: _scripted(f"{role}_policy", policy) for role, policy in policies.items()}
    if engine == "ray":
        raise ConfigError("engine = 'ray' comes with the distributed engine, which this version lacks; use 'local'")
    raise ConfigError(f"engine = {engine!r} is unknown; accepted: 'local', 'scripted', 'ray'")


def _scripted(side: str, policy: PolicyConfig) -> PolicyEngine:
    from code_a1.engines.scripted import ScriptedEngine  # noqa: PLC0415 - as for the other engines

    path = Path(policy.model)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(
            f"{side}.model = {policy.model!r}: the scripted engine reads its answers from a file, one JSON string a "
            f"line, and cannot read this one: {error}"
        ) from error
    answers = []
    for number, line in enumerate(lines, start=1):
        try:
            answer = json.loads(line) if line.strip() else None
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}: not JSON: {error}") from error
        if answer is not None and not isinstance(answer, str):
            raise ConfigError(f"{path}, line {number}: an answer must be a JSON string, not {type(answer).__name__}")
        if answer is not None:
            answers.append(answer)
    if not answers:
        raise ConfigError(f"{path}: no answers; the scripted engine needs at least one JSON string")
    return ScriptedEngine(answers)
