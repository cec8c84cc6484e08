"""Which problems are set aside for a while, because every candidate solves them or none does: they teach nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from code_a1.config import CurriculumConfig
from code_a1.errors import CheckpointError

Outcome = Literal["solved", "unsolved"]


@dataclass(slots=True)
class Streak:
    """How a problem's last visits ended, all alike."""

    outcome: Outcome
    visits: int
    until: int = 0
    """The epoch in which the problem is drawn again; 0 where it has not been set aside."""


class Curriculum:
    """Counts visits of one outcome in a row, per problem; bounded by the pool, and empty for what teaches something."""

    def __init__(self, config: CurriculumConfig) -> None:
        self._limits: dict[Outcome, int] = {"solved": config.skip_solved_after, "unsolved": config.skip_unsolved_after}
        self._retry_after = config.retry_after
        self._streaks: dict[str, Streak] = {}

    def skips(self, problem_id: str, epoch: int) -> bool:
        """Whether the problem sits out this epoch."""
        streak = self._streaks.get(problem_id)
        return streak is not None and streak.until > epoch

    def was_aside(self, problem_id: str) -> bool:
        """Whether the problem, if it is drawn now, is tried again after it was set aside."""
        streak = self._streaks.get(problem_id)
        return streak is not None and streak.until > 0

    def record(self, problem_id: str, solved: float | None, epoch: int) -> None:
        """Note a visit: `solved` is the share of candidates that passed all of their tests, None if that is unknown.

        After enough visits of one outcome in a row the problem sits out the `retry_after` epochs that follow `epoch`.
        """
        if solved is None:
            return
        outcome: Outcome | None = "solved" if solved == 1 else "unsolved" if solved == 0 else None
        if outcome is None or not self._limits[outcome]:
            self._streaks.pop(problem_id, None)
            return
        streak = self._streaks.get(problem_id)
        if streak is None or streak.outcome != outcome:
            streak = self._streaks[problem_id] = Streak(outcome, 0)
        streak.visits += 1
        if streak.visits >= self._limits[outcome]:
            streak.until = epoch + self._retry_after + 1

    def skipped(self, outcome: Outcome, epoch: int) -> int:
        """How many problems sit out this epoch for this reason."""
        return sum(s.outcome == outcome and s.until > epoch for s in self._streaks.values())

    def state_dict(self) -> dict[str, Any]:
        """The streaks as plain JSON."""
        return {problem_id: asdict(streak) for problem_id, streak in self._streaks.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace the streaks by what `state_dict` returned. Raises CheckpointError where it is none."""
        try:
            self._streaks = {problem_id: Streak(**row) for problem_id, row in state.items()}
        except (TypeError, AttributeError) as error:
            raise CheckpointError(f"the curriculum's state is damaged: {error}") from error
