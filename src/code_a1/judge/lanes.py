"""Work in shares, on a few threads, while its items are still coming."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

LANES = 2
"""Shares in work at a time: one reads tests and compares answers while the sandbox runs the programs of the other."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Lanes(Generic[Item, Result]):
    """Results of items, in the order in which they were added.

    `work` takes a share, at most `share` items that wait together, and is called by several threads at a time.
    """

    def __init__(self, work: Callable[[list[Item]], list[Result]], share: int) -> None:
        self._work = work
        self._share = share
        self._threads = ThreadPoolExecutor(LANES, thread_name_prefix="lane")
        self._lock = threading.Lock()
        self._waiting: deque[tuple[int, Item]] = deque()
        self._shares: list[Future[None]] = []
        self._results: dict[int, Result] = {}
        self._in_work = 0
        self._began = 0.0
        self.busy_s = 0.0
        """Seconds during which at least one share was in work."""

    def add(self, item: Item) -> None:
        """Have it worked on as soon as a lane is free."""
        self._waiting.append((len(self._shares), item))
        self._shares.append(self._threads.submit(self._next_share))

    def results(self) -> list[Result]:
        """Wait for everything that was added. Raises what the work raised."""
        for share in self._shares:
            share.result()
        return [self._results[position] for position in range(len(self._shares))]

    def close(self) -> None:
        """Drop what waits. Shares in work are not waited for: they end with what they work on."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _next_share(self) -> None:
        """Work on what waits, if a lane before this one has left any of it."""
        with self._lock:
            share = [self._waiting.popleft() for _ in range(min(self._share, len(self._waiting)))]
            if share and not self._in_work:
                self._began = time.monotonic()
            self._in_work += bool(share)
        if not share:
            return
        try:
            results = self._work([item for _, item in share])
            self._results.update(zip((position for position, _ in share), results, strict=True))
        finally:
            with self._lock:
                self._in_work -= 1
                if not self._in_work:
                    self.busy_s += time.monotonic() - self._began
