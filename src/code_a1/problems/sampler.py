"""Which problems a step trains on: seeded, without replacement within an epoch, resumable to the problem."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import Any

from code_a1.errors import CheckpointError, ConfigError, ProblemError
from code_a1.problems.curriculum import Curriculum
from code_a1.records import Problem

State = dict[str, Any]


class ProblemSampler:
    """Draws batches of P problems; an epoch is one pass over the pool in a shuffled order.

    Within an epoch no problem comes twice. Where P does not divide the pool, a batch takes the last problems of one
    epoch and the first of the next; those of the next that the batch already holds are put off to the batch after, so
    that no problem stands twice in a batch. A pool of at most P problems is the batch, in a new order each time.

    The order depends on the seed and the epoch alone, not on what else draws random numbers.

    Problems that a `curriculum` has set aside are passed over. Batches are smaller where fewer than P are left, and
    where none is left all are drawn again.
    """

    def __init__(
        self, problems: Sequence[Problem], batch_size: int, seed: int = 0, curriculum: Curriculum | None = None
    ) -> None:
        """Raises ProblemError for an empty pool or an id that appears twice, ConfigError for a batch size below 1."""
        if batch_size < 1:
            raise ConfigError(f"rollout.problems_per_step = {batch_size}: must be at least 1")
        if not problems:
            raise ProblemError("no problems to draw from: every one was dropped or left out")
        if len({p.problem_id for p in problems}) < len(problems):
            raise ProblemError("a problem_id appears twice in the pool: remove or rename one")
        self._problems = tuple(problems)
        self._batch_size = min(batch_size, len(problems))
        self._seed = seed
        self._pool = _fingerprint(problems)
        self._position = 0
        self._curriculum = curriculum
        self._drawn: dict[str, int] = {}
        self._retried = 0
        self._start_epoch(0, ())

    @property
    def epoch(self) -> int:
        """Completed passes over the pool."""
        return self._epoch

    def next_batch(self) -> tuple[Problem, ...]:
        """The next P problems (the whole pool if it is smaller), all different."""
        chosen: list[int] = []
        while len(chosen) < self._batch_size and self._position < len(self._order):
            index = self._order[self._position]
            self._position += 1
            if not self._skips(index, self._epoch):
                chosen.append(index)
        epochs = dict.fromkeys(chosen, self._epoch)
        if self._position == len(self._order):
            head = self._head_of_next_epoch(chosen)
            self._start_epoch(self._epoch + 1, head)
            self._position = len(head)
            epochs |= dict.fromkeys(head, self._epoch)
        batch = tuple(self._problems[i] for i in epochs)
        self._drawn = {self._problems[i].problem_id: epoch for i, epoch in epochs.items()}
        self._retried = sum(self._curriculum.was_aside(p) for p in self._drawn) if self._curriculum else 0
        return batch

    def record(self, solved: Mapping[str, float | None]) -> None:
        """Tell the curriculum how the batch went: per problem the share of candidates that passed everything."""
        if self._curriculum is not None:
            for problem_id, share in solved.items():
                self._curriculum.record(problem_id, share, self._drawn.get(problem_id, self._epoch))

    def metrics(self) -> dict[str, float]:
        """What the curriculum does: problems set aside now, and how many of the last batch were tried again."""
        if self._curriculum is None:
            return {}
        return {
            "curriculum/skipped_solved": self._curriculum.skipped("solved", self._epoch),
            "curriculum/skipped_unsolved": self._curriculum.skipped("unsolved", self._epoch),
            "curriculum/retried": self._retried,
        }

    def state_dict(self) -> State:
        """The position as plain JSON; without a curriculum its size is bounded by the batch, not by the pool."""
        state: State = {
            "seed": self._seed,
            "epoch": self._epoch,
            "position": self._position,
            "head": list(self._head),
            "pool": self._pool,
        }
        return state if self._curriculum is None else state | {"curriculum": self._curriculum.state_dict()}

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Continue where `state_dict` was taken. Raises CheckpointError if it belongs to another pool or seed."""
        for key, here in (("pool", self._pool), ("seed", self._seed)):
            if state.get(key) != here:
                what = {"pool": "the problems", "seed": "the seeds"}[key]
                raise CheckpointError(
                    f"sampler position of another run: {what} differ (saved {state.get(key)!r}, here {here!r}); "
                    "resume with the configuration and the problem file of that run"
                )
        epoch, position, head = state.get("epoch"), state.get("position"), state.get("head")
        if not (isinstance(epoch, int) and isinstance(position, int) and isinstance(head, list)):
            raise CheckpointError("sampler position is damaged: epoch, position or head is missing or of another type")
        if not (epoch >= 0 and 0 <= position < len(self._problems) and set(head) <= set(range(len(self._problems)))):
            raise CheckpointError(f"sampler position is damaged: epoch {epoch}, position {position}, head {head}")
        if self._curriculum is not None:
            self._curriculum.load_state_dict(state.get("curriculum") or {})  # type: ignore[arg-type]
        self._start_epoch(epoch, tuple(head))
        self._position = position

    def _skips(self, index: int, epoch: int) -> bool:
        return self._curriculum is not None and self._curriculum.skips(self._problems[index].problem_id, epoch)

    def _head_of_next_epoch(self, chosen: Sequence[int]) -> tuple[int, ...]:
        """What fills a batch that the present epoch ends in; all problems, if every one of them is set aside."""
        missing = self._batch_size - len(chosen)
        if not missing or (chosen and self._batch_size == len(self._problems)):  # a batch that is the pool is an epoch
            return ()
        following, taken = self._shuffled(self._epoch + 1), set(chosen)
        open_ = [i for i in following if i not in taken and not self._skips(i, self._epoch + 1)]
        return tuple((open_ if open_ or chosen else following)[:missing])

    def _start_epoch(self, epoch: int, head: tuple[int, ...]) -> None:
        """Order of an epoch: `head` was drawn to fill the last batch of the one before, the rest follows shuffled."""
        first = set(head)
        self._epoch = epoch
        self._head = head
        self._order = head + tuple(i for i in self._shuffled(epoch) if i not in first)
        self._position = 0

    def _shuffled(self, epoch: int) -> list[int]:
        order = list(range(len(self._problems)))
        random.Random(f"problems:{self._seed}:{epoch}").shuffle(order)  # noqa: S311 - not for secrets
        return order


def _fingerprint(problems: Sequence[Problem]) -> str:
    """A digest of the ids in order: what a saved position is a position in."""
    digest = hashlib.sha256("\n".join(p.problem_id for p in problems).encode())
    return f"{len(problems)}:{digest.hexdigest()[:16]}"
