"""A sandbox for all tests of this folder, with short limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from code_a1.sandbox import Call, Limits, Outcome, Program, ProgramResult, Sandbox

LIMITS = Limits(cpu_s_per_call=1.0, wall_s_per_call=5.0, memory_mb=512, max_reforks=3)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, workers=2) as shared:
        yield shared


def program(source: str, *expressions: str, seed: int = 0, setup: str = "") -> Program:
    return Program(source, tuple(Call((expression,)) for expression in expressions), setup=setup, seed=seed)


@pytest.fixture
def run(sandbox: Sandbox) -> Callable[..., ProgramResult]:
    """Run a source with calls of one expression each."""

    def run_one(source: str, *expressions: str, seed: int = 0, setup: str = "") -> ProgramResult:
        [result] = sandbox.run_all([program(source, *expressions, seed=seed, setup=setup)])
        return result

    return run_one


def value(outcome: Outcome) -> object:
    """The one value of an outcome, which must be one."""
    assert outcome.kind == "VALUE", f"{outcome.kind}: {outcome.detail}"
    [only] = outcome.values()
    return only


def kinds(result: ProgramResult) -> list[str]:
    return [outcome.kind.value for outcome in result.outcomes]
