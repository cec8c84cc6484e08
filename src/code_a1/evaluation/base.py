"""What a measurement of policies looks like to whoever takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from code_a1.engines.base import PolicyEngine

Players = Mapping[str, PolicyEngine]
"""The policy that plays each role, `code` and `test`; a role that nobody plays is absent, one policy may play both."""

Progress = Callable[[int], None]
"""Called with how many programs have finished since the last call."""


class Bench(Protocol):
    """One measurement, opened once and taken many times: the same questions and the same seeds every time."""

    name: str
    """Stands in the keys of its metrics: `eval/NAME/…`."""

    def __call__(self, players: Players, on_progress: Progress | None = None) -> dict[str, float]:
        """Measure the roles that are played. Keys begin with the role, as in `code/pass@1`; NaN is no value."""
        ...


def evaluate(benches: Sequence[Bench], players: Players, on_progress: Progress | None = None) -> dict[str, float]:
    """Take every measurement; keys as they stand in `metrics.jsonl`."""
    return {
        f"eval/{bench.name}/{key}": value for bench in benches for key, value in bench(players, on_progress).items()
    }
