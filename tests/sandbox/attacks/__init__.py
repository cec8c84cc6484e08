"""Programs that attack the sandbox, by kind; `docs/sandbox.md` lists the kinds.

An attack defines `f`. It has won if `f(…)` gives the secret answer, if it returns "ESCAPED", or if the harmless program
that runs after it is harmed. Add one by appending to a module here, or by adding a module to `MODULES`.
"""

from __future__ import annotations

from dataclasses import dataclass

SECRET = 7_319_452_806
"""What the judge would expect of `f(2)` and `f(3)`; no process of a candidate is ever told."""


@dataclass(frozen=True)
class Attack:
    kind: str
    name: str
    source: str
    needs_filter: bool = False
    """Only safe to run where a system call filter or a process namespace holds it."""
    calls: int = 2
    """How often it is called; once where it takes as long as it may."""


def all_attacks() -> list[Attack]:
    from . import channel, escapes, exhaustion, forging, interpreter, kernel, meddling, objects  # noqa: PLC0415

    modules = (forging, escapes, exhaustion, meddling, channel, objects, interpreter, kernel)
    return [attack for module in modules for attack in module.ATTACKS]
