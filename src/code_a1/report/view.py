"""The seam between a run and whoever watches it. The base class watches in silence."""

from __future__ import annotations

from collections.abc import Mapping


class View:
    """Told what a long piece of work is doing. Every method may be overridden; none may fail."""

    def message(self, text: str) -> None:
        """Something that people should read once."""

    def phase(self, name: str, total: int | None) -> None:
        """A phase begins; `total` is how much `advance` will add up to, None if unknown."""

    def advance(self, amount: int) -> None:
        """So much of the current phase is done."""

    def step(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        """Training step number `step` of `steps` (counted from 1) is finished."""

    def evaluation(self, step: int, metrics: Mapping[str, float]) -> None:
        """The policies were measured after `step` steps; keys as in `metrics.jsonl`."""

    def close(self) -> None:
        """Nothing follows."""
