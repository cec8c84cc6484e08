"""The fork server: an exec'ed, single-threaded process that never sees a program, so that its children start clean.

It is told to fork, and handed the child's end of a private socket; the worker talks to the child over the other end.
Jobs and results never pass through here: a child inherits nothing of the programs before it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import posix
import signal
import socket
import struct
import sys
import types

from code_a1.sandbox import checker, lockdown, runner, scriptrunner

FORK, FORK_BESIDE, KILL, END = b"F", b"G", b"K", b"E"
STATUS = struct.Struct("<iQiQ")
"""Wait status and peak resident set in bytes of the first child and of the second."""

PRELOADED = (
    "abc", "array", "bisect", "calendar", "cmath", "collections.abc", "contextlib", "copy", "dataclasses", "datetime",
    "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "inspect", "io", "itertools", "json", "keyword",
    "math", "numbers", "operator", "os", "queue", "random", "re", "statistics", "string", "struct", "sys", "textwrap",
    "threading", "time", "traceback", "types", "typing", "unicodedata", "uuid", "warnings", "weakref",
)  # fmt: skip


class ForkServer:
    """Forks children for the worker; `children` holds the process ids of those alive, two at most."""

    def __init__(self, control: socket.socket, isolation: lockdown.Isolation) -> None:
        self.control = control
        self.isolation = isolation
        self.children: list[int] = []

    def serve(self) -> None:
        """Obey until the worker is gone."""
        while True:
            command, descriptors, _, _ = socket.recv_fds(self.control, 1, 4)
            if command == FORK_BESIDE:
                self.fork(descriptors)
                continue
            ended = self.end()
            if command == FORK:
                self.fork(descriptors)
            elif command == END:
                (first, first_peak), (second, second_peak) = [*ended, (0, 0), (0, 0)][:2]
                self.control.sendall(STATUS.pack(first, first_peak, second, second_peak))
            elif not command:
                return

    def fork(self, descriptors: list[int]) -> None:
        """Start a child on the descriptor; if that fails, the worker finds the channel closed."""
        (channel,) = descriptors
        try:
            child = os.fork()
        except OSError:
            os.close(channel)
            return
        if child == 0:
            self.isolation.private_descriptor(channel, runner.CHANNEL)
            runner.main(self.isolation.confine, checker, scriptrunner)
        self.children.append(child)
        os.close(channel)

    def end(self) -> list[tuple[int, int]]:
        """Kill the children and all they may have left, and reap; wait status and peak memory of each."""
        children, self.children = self.children, []
        return self.isolation.kill_and_reap(children) if children else []


def neutral_streams() -> None:
    """Standard streams on /dev/null, for this process and for every child."""
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
    sys.stdin = sys.__stdin__ = io.open(0, closefd=False)  # type: ignore[misc] # noqa: UP020, SIM115
    sys.stdout = sys.__stdout__ = io.open(1, "w", closefd=False)  # type: ignore[misc] # noqa: UP020, SIM115
    sys.stderr = io.open(2, "w", errors="backslashreplace", closefd=False)  # noqa: UP020, SIM115
    sys.__stderr__ = sys.stderr  # type: ignore[misc]


def preload(with_numpy: bool) -> None:
    """Import what solutions import most; whatever is missing stays missing."""
    for name in (*PRELOADED, *(["numpy", "numpy.random", "numpy.linalg"] if with_numpy else ())):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def hide_ourselves(source_root: str) -> None:
    """Leave no module of this package to be imported or patched by accident."""
    sys.path.remove(source_root)  # put in front when we were exec'ed; it stays behind where packages are installed too
    for name in [name for name in sys.modules if name.partition(".")[0] == "code_a1"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = [""]


def main(
    control_fd: int, seed: int, tier: str, *, with_numpy: bool, source_root: str, site: list[str], scratch: bool
) -> None:
    """Entry of the exec'ed process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=control_fd)
    neutral_streams()
    sys.path.extend(site)
    preload(with_numpy)
    os.register_at_fork = posix.register_at_fork
    try:
        isolation = lockdown.enter(tier, site, source_root, scratch=scratch)  # returns in the process that serves
    except lockdown.IsolationFailed as failed:
        control.sendall(b"X" + str(failed).encode())
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hide_ourselves(source_root)
    runner.rehearse()
    runner.seed_all(seed)
    gc.collect()
    gc.freeze()
    control.sendall(b"R")
    ForkServer(control, isolation).serve()
    os._exit(0)
