"""Giving up privileges: what a fork server enters once, and what each of its children enters after the fork."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
from pathlib import Path

PAGE = resource.getpagesize()
FALLBACK_VM_BYTES = 512 << 20
"""Assumed size of the server where /proc cannot be read."""


def vm_bytes() -> int:
    """Address space of this process, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
    except (OSError, ValueError, IndexError):
        return FALLBACK_VM_BYTES


class Isolation:
    """The tier without namespaces and filters: own session, limits, everything killed afterwards."""

    def __init__(self) -> None:
        self.base_bytes = vm_bytes()

    def private_descriptor(self, channel: int, number: int) -> None:
        """In the child: leave nothing open but the standard streams and `channel`, moved to `number`."""
        if channel != number:
            os.dup2(channel, number)
        os.closerange(number + 1, max(256, channel + 1))

    def confine(self, memory_mb: int, cpu_s: float) -> None:
        """In the child, before the program: give up what it must not have."""
        os.setsid()
        limits = {
            resource.RLIMIT_AS: self.base_bytes + (memory_mb << 20),
            resource.RLIMIT_CPU: math.ceil(cpu_s),
            resource.RLIMIT_FSIZE: 16 << 20,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: 256,
        }
        for which, value in limits.items():
            resource.setrlimit(which, (value, value))

    def kill_and_reap(self, children: list[int]) -> list[tuple[int, int]]:
        """In the server: nothing that the children started survives. Wait status and peak memory in bytes of each."""
        for child in children:
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(child, signal.SIGKILL)
        ended = []
        for child in children:
            _, status, usage = os.wait4(child, 0)
            ended.append((status, usage.ru_maxrss * 1024))
        return ended


def enter(tier: str) -> Isolation:
    """Enter the tier in the fork server."""
    del tier
    return Isolation()
