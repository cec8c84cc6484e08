"""Run untrusted code as data in, data out.

    with Sandbox() as sandbox:
        [result] = sandbox.run_all([Program("def f(x): return x + 1", (Call(("f(1)",)),))])
    assert result.outcomes[0].values() == (2,)

The names below are imported on first use, so that importing the package costs nothing (standard library only).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from code_a1.sandbox.checks import CheckProgram
    from code_a1.sandbox.pool import Sandbox
    from code_a1.sandbox.programs import Call, Limits, Outcome, OutcomeKind, Program, ProgramResult
    from code_a1.sandbox.scripts import Script
    from code_a1.sandbox.tiers import TierReport, probe
    from code_a1.sandbox.values import Array, Iterated, Structure

_HOMES = {
    "Array": "values",
    "Call": "programs",
    "CheckProgram": "checks",
    "Iterated": "values",
    "Limits": "programs",
    "Outcome": "programs",
    "OutcomeKind": "programs",
    "Program": "programs",
    "ProgramResult": "programs",
    "Sandbox": "pool",
    "Script": "scripts",
    "Structure": "values",
    "TierReport": "tiers",
    "probe": "tiers",
}

__all__ = [
    "Array",
    "Call",
    "CheckProgram",
    "Iterated",
    "Limits",
    "Outcome",
    "OutcomeKind",
    "Program",
    "ProgramResult",
    "Sandbox",
    "Script",
    "Structure",
    "TierReport",
    "probe",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
