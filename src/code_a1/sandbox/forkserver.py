"""A fork server as its worker sees it, and one child of it: sockets, clocks, bytes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time

from code_a1.sandbox.zygote import END, FORK, FORK_BESIDE, KILL, STATUS

START_TIMEOUT_S = 60.0
"""Wall clock for a fork server to come up (importing numpy on a loaded machine takes seconds)."""
TICK_S = 0.25
"""Longest wait between two looks at a child's clock."""
_CREDENTIALS: int | None = getattr(socket, "SO_PASSCRED", None)
"""The option by which the kernel tells a sender's process id; Linux only."""
SITE_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8", "TZ": "UTC",  # noqa: S108 - exists, and nothing can be written there
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "1",
    "LD_BIND_NOW": "1",  # symbols bound before the fork: each bound after it is a page copied per child
}  # fmt: skip
"""All that an exec'ed process gets to see; single-threaded linear algebra, since a fork keeps no threads."""
BOOT = (
    # Modules that register work for after a fork (`threading`, `random`) would do it in every child: a third of a fork.
    # Children start single-threaded and are seeded by the runner; the zygote gives the function back afterwards.
    "import os; os.register_at_fork = lambda **hooks: None; "
    "import sys, json; a = json.loads(sys.argv[1]); sys.path.insert(0, a['source_root']); import importlib; "
    "importlib.import_module('code_a1.sandbox.' + a.pop('module')).main(**a)"
)


def spawn(
    module: str, channel: socket.socket, fd_argument: str, hash_seed: int = 0, **arguments: object
) -> subprocess.Popen[bytes]:
    """Exec a clean Python that runs `code_a1.sandbox.<module>.main(**arguments)`; only `channel` stays open."""
    arguments = {"module": module, fd_argument: channel.fileno(), **arguments}
    return subprocess.Popen(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-s", "-S", "-P", "-c", BOOT, json.dumps(arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(channel.fileno(),),
        env={**SITE_ENVIRONMENT, "PYTHONHASHSEED": str(hash_seed % (1 << 32))},
        cwd="/",
        start_new_session=True,
    )


class ForkServerClosed(RuntimeError):
    """The fork server died; what it ran goes to a fresh worker."""


class ForkServerHandle:
    """Starts a fork server and asks it for children."""

    def __init__(
        self, seed: int, with_numpy: bool, tier: str, source_root: str, site: list[str], *, scratch: bool = False
    ) -> None:
        self.ready: Child | None = None
        self.control, theirs = socket.socketpair()
        try:
            self.process = spawn(
                "zygote", theirs, "control_fd", seed,
                seed=seed, tier=tier, with_numpy=with_numpy, source_root=source_root, site=site, scratch=scratch,
            )  # fmt: skip
        finally:
            theirs.close()
        self.control.settimeout(START_TIMEOUT_S)
        try:
            ready = self.control.recv(1024)
        except OSError:
            ready = b""
        if ready != b"R":
            self.close()
            raise ForkServerClosed(ready[1:].decode("utf-8", "replace") or "a fork server did not start")
        self.control.settimeout(None)

    def fork(self, *, beside: bool = False) -> Child:
        """A child that has not seen a program; the one kept ready if there is one.

        Earlier children of the server are killed and reaped first, unless it runs `beside` them.
        """
        ready, self.ready = self.ready, None
        if ready is not None and not beside:
            if ready.is_waiting():
                return ready
            ready.close()
        return self._fork(beside=beside)

    def renew(self) -> None:
        """Have the children killed and reaped, without waiting for it, and a new one kept ready."""
        if self.ready is not None:
            self.ready.close()
        self.ready = self._fork(beside=False)

    def _fork(self, *, beside: bool) -> Child:
        ours, theirs = socket.socketpair()
        try:
            if _CREDENTIALS is not None:
                ours.setsockopt(socket.SOL_SOCKET, _CREDENTIALS, 1)
            socket.send_fds(self.control, [FORK_BESIDE if beside else FORK], [theirs.fileno()])
        except (BrokenPipeError, ConnectionResetError) as error:
            ours.close()
            raise ForkServerClosed("a fork server died") from error
        finally:
            theirs.close()
        return Child(ours, 1 if beside else 0)

    def kill_children(self) -> None:
        """Have the children killed and reaped, without waiting for it."""
        self._command(KILL)

    def end_children(self) -> list[tuple[int, int]]:
        """Kill and reap the children; wait status and peak memory in bytes of each, in the order of their forks."""
        self._command(END)
        answer = self.control.recv(STATUS.size, socket.MSG_WAITALL)
        if len(answer) < STATUS.size:
            raise ForkServerClosed("a fork server died")
        first, first_peak, second, second_peak = STATUS.unpack(answer)
        return [(first, first_peak), (second, second_peak)]

    def _command(self, command: bytes) -> None:
        try:
            self.control.sendall(command)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ForkServerClosed("a fork server died") from error

    def close(self) -> None:
        """End the server and, with it, everything that it started."""
        self.control.close()
        if self.ready is not None:
            self.ready.close()
        try:
            self.process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class ChildGone(Exception):
    """The child closed its end of the channel."""


class Child:
    """One forked process and the worker's end of its private socket."""

    def __init__(self, channel: socket.socket, number: int) -> None:
        self.number = number
        """Its place among the children of its server."""
        self.channel = channel
        self.clock = 0
        self.born = 0.0
        self.used_s = 0.0
        """CPU seconds when its clock was last read."""
        self.tick(TICK_S)

    def is_waiting(self) -> bool:
        """Whether a child that was kept ready still is: it has said hello at most, and not gone away."""
        try:
            return len(self.channel.recv(2, socket.MSG_PEEK | socket.MSG_DONTWAIT)) == 1
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False

    def identify(self) -> None:
        """Learn the process id, as the kernel and not as the child says it, and with it the CPU clock."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                hello, ancillary, _, _ = self.channel.recvmsg(1, 64)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                break
            if hello and _CREDENTIALS is None:
                self.born = time.monotonic()
                return
            if hello and ancillary:
                (pid,) = struct.unpack_from("i", ancillary[0][2])
                self.clock = (~pid << 3) | 2
                return
            break
        raise OSError("a fork server could not fork")

    def cpu_s(self) -> float:
        """CPU seconds used so far; wall-clock seconds where the system does not let one see another process's clock."""
        if self.born:
            self.used_s = time.monotonic() - self.born
            return self.used_s
        try:
            self.used_s = time.clock_gettime(self.clock)
        except OSError:  # ended and reaped: what was read last stands
            return self.used_s
        return self.used_s

    def tick(self, seconds: float) -> None:
        """Let a blocking send or receive return after so long."""
        timeval = struct.pack("ll", int(seconds), int(seconds % 1 * 1e6) or 1)
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        self.channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval)

    def receive(self, size: int, *, wait: bool = True) -> bytes | None:
        """Some bytes, None if there were none for a tick (or now). Raises ChildGone at the end."""
        try:
            chunk = self.channel.recv(size, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise ChildGone
        return chunk

    def close(self) -> None:
        """Close the worker's end; the child is ended by the server."""
        self.channel.close()


def describe_status(status: int) -> str:
    """How a process ended, for people."""
    if os.WIFSIGNALED(status):
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
        return f"killed by signal {os.WTERMSIG(status)}"
    return f"exited with status {os.waitstatus_to_exitcode(status)}"
