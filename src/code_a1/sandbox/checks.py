"""Whole check programs, `check(candidate)` as HumanEval and EvalPlus write them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckProgram:
    """A candidate and a program that checks it by calling `entry_point`."""

    source: str
    entry_point: str
    check_source: str
    setup: str = ""
