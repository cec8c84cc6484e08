"""Ctrl-C as a request that a run can end on its own terms."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Interrupted(Exception):
    """The user asked the run to stop."""


class Interrupt:
    """Turns SIGINT into a request to stop after the current phase; the second SIGINT is a KeyboardInterrupt again."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: object = None

    def __enter__(self) -> Interrupt:
        # signal handlers can be set in the main thread only; elsewhere the caller has its own way to stop
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)  # type: ignore[arg-type]
            self._previous = None

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
