"""Whole check programs, `check(candidate)` as HumanEval and EvalPlus write them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckProgram:
    """A candidate, and a program that checks it by calling its entry point.

    `check_source` runs in a process of its own, where `candidate`, the name of the entry point and the argument of
    `check(…)` are stand-ins: a call of theirs carries its arguments to the candidate's process and the result back, as
    data. `source` and then `setup` run in the candidate's process.

    The outcome is VALUE if the check ended without an exception. Where an argument or a result cannot cross as data it
    is UNREPRESENTABLE, or with `share_process` that of a second run in which both share one process: less trust, and
    `Outcome.shared_process` says so. Ask for it only where the reference itself needs it, since a candidate can
    return something that does not cross on purpose.
    """

    source: str
    check_source: str
    entry_point: str
    setup: str = ""
    seed: int = 0
    share_process: bool = False
