"""A worker as the caller sees it: a process, a socket, and the jobs that it holds."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from code_a1.sandbox import wire
from code_a1.sandbox.forkserver import START_TIMEOUT_S, spawn
from code_a1.sandbox.programs import ProgramResult

GRACE_S = 60.0
"""A worker that reports nothing for this long beyond all limits of its job is taken for dead."""


class PendingJob:
    """A job on its way: its frame, how often it lost its worker, and where its result belongs."""

    __slots__ = ("body", "calls", "deaths", "errors", "index", "longest_s", "result", "run", "ticket")

    def __init__(self, ticket: int, calls: int, body: bytes, longest_s: float) -> None:
        self.ticket = ticket
        self.calls = calls
        self.body = body
        self.longest_s = longest_s
        self.run: object = None
        self.index = 0
        self.deaths = 0
        self.errors = 0
        self.result: ProgramResult | None = None


class WorkerClosed(RuntimeError):
    """The worker's socket is at its end; `last_words` says why, if it managed to."""


class WorkerHandle:
    """Starts a worker; queues jobs to it; yields results in the order of the jobs."""

    def __init__(self, tier: str) -> None:
        self.socket, theirs = socket.socketpair()
        try:
            self.process: subprocess.Popen[bytes] = spawn(
                "worker", theirs, "upstream_fd", tier=tier, source_root=SOURCE_ROOT, site=site_folders()
            )
        except OSError:
            self.socket.close()
            raise
        finally:
            theirs.close()
        self.socket.setblocking(False)
        self.jobs: deque[PendingJob] = deque()
        self.ready = False
        self.served = 0
        self.sound = False
        """Whether the last harmless job that it was given came back."""
        self.last_words = ""
        self.outgoing = bytearray()
        self.incoming = bytearray()
        self.head_since = time.monotonic()

    def submit(self, job: PendingJob) -> None:
        """Queue a job."""
        if not self.jobs:
            self.head_since = time.monotonic()
        self.jobs.append(job)
        self.outgoing += job.body

    def flush(self) -> None:
        """Send what the socket takes now. Raises WorkerClosed."""
        try:
            while self.outgoing:
                with memoryview(self.outgoing) as view:
                    sent = self.socket.send(view[: 1 << 20])
                del self.outgoing[:sent]
        except BlockingIOError:
            return
        except OSError as error:
            raise WorkerClosed(str(error)) from error

    def results(self) -> Iterator[PendingJob]:
        """Jobs that finished since, each with its result. Raises WorkerClosed at the end of the stream."""
        try:
            chunk = self.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError as error:
            raise WorkerClosed(str(error)) from error
        if not chunk:
            raise WorkerClosed(self.last_words or "its process died")
        self.incoming += chunk
        while (body := self._next_frame()) is not None:
            ticket, result = wire.unpack_result(body)
            if ticket == wire.READY:
                self.ready = True
                self.head_since = time.monotonic()
            elif ticket == wire.DYING:
                self.last_words = result.load.detail
            elif self.jobs and self.jobs[0].ticket == ticket:
                job = self.jobs.popleft()
                job.result = result
                self.served += 1
                self.head_since = time.monotonic()
                yield job

    def _next_frame(self) -> bytes | None:
        if len(self.incoming) < wire.FRAME.size:
            return None
        end = wire.FRAME.size + wire.FRAME.unpack_from(self.incoming)[0]
        if len(self.incoming) < end:
            return None
        body = bytes(memoryview(self.incoming)[wire.FRAME.size : end])
        del self.incoming[:end]
        return body

    def seconds_left(self) -> float:
        """Wall clock until the worker counts as dead; infinite while it is idle."""
        if not self.ready:
            limit = START_TIMEOUT_S + GRACE_S
        elif self.jobs:
            limit = self.jobs[0].longest_s + GRACE_S
        else:
            return float("inf")
        return self.head_since + limit - time.monotonic()

    def kill(self) -> None:
        """End the worker at once; its fork servers and children end with it."""
        self.socket.close()
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Let the worker end its fork servers; kill it if that takes long."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        try:
            self.process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


SOURCE_ROOT = str(Path(__file__).resolve().parents[2])
"""The folder that holds this package; only the exec'ed processes need it, and the fork servers forget it."""


def site_folders() -> list[str]:
    """Folders of installed packages, so that programs can import them (no `.pth` file is run)."""
    return [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
