"""Ctrl-C and SIGTERM as a request that a run can end on its own terms."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any


class Interrupted(Exception):
    """The user, or the machine's scheduler, asked the run to stop."""


class Interrupt:
    """Turns SIGINT and SIGTERM into a request to stop soon; the second SIGINT is a KeyboardInterrupt again."""

    def __init__(self) -> None:
        self.requested: signal.Signals | None = None
        """The signal that asked first."""
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        # signal handlers can be set in the main thread only; elsewhere the caller has its own way to stop
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous = {}

    def check(self) -> None:
        """Raise Interrupted if the run is asked to stop."""
        if self.requested:
            raise Interrupted

    def sleep(self, seconds: float) -> None:
        """Wait; raises Interrupted as soon as the run is asked to stop."""
        end = time.monotonic() + seconds
        # in slices: a signal handler may not touch what the thread that it interrupts is waiting on
        while (left := end - time.monotonic()) > 0 and not self.requested:
            time.sleep(min(left, 0.2))
        self.check()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = self.requested or signal.Signals(number)
