"""Which problems a step trains on: seeded, without replacement within an epoch, resumable to the problem."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence

from code_a1.errors import CheckpointError, ConfigError, ProblemError
from code_a1.records import Problem

State = dict[str, int | str | list[int]]


class ProblemSampler:
    """Draws batches of P problems; an epoch is one pass over the pool in a shuffled order.

    Within an epoch no problem comes twice. Where P does not divide the pool, a batch takes the last problems of one
    epoch and the first of the next; those of the next that the batch already holds are put off to the batch after, so
    that no problem stands twice in a batch. A pool of at most P problems is the batch, in a new order each time.

    The order depends on the seed and the epoch alone, not on what else draws random numbers.
    """

    def __init__(self, problems: Sequence[Problem], batch_size: int, seed: int = 0) -> None:
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
        self._start_epoch(0, ())

    @property
    def epoch(self) -> int:
        """Completed passes over the pool."""
        return self._epoch

    def next_batch(self) -> tuple[Problem, ...]:
        """The next P problems (the whole pool if it is smaller), all different."""
        end = self._position + self._batch_size
        chosen = self._order[self._position : end]
        self._position = end
        if end >= len(self._order):
            taken = set(chosen)
            missing = self._batch_size - len(chosen)
            following = self._shuffled(self._epoch + 1)
            head = tuple(i for i in following if i not in taken)[:missing] if missing else ()
            self._start_epoch(self._epoch + 1, head)
            self._position = missing
            chosen += head
        return tuple(self._problems[i] for i in chosen)

    def state_dict(self) -> State:
        """The position as plain JSON; its size is bounded by the batch, not by the pool."""
        return {
            "seed": self._seed,
            "epoch": self._epoch,
            "position": self._position,
            "head": list(self._head),
            "pool": self._pool,
        }

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
        self._start_epoch(epoch, tuple(head))
        self._position = position

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
