"""One job from start to end: feed the child one call at a time, judge its clocks, re-fork after what kills it."""

from __future__ import annotations

import marshal
import os
import signal
import time
from collections.abc import Callable

from code_a1.sandbox import codec, wire
from code_a1.sandbox.forkserver import TICK_S, Child, ChildGone, ForkServerHandle, describe_status
from code_a1.sandbox.programs import Outcome, OutcomeKind

RESULTS_PER_PROGRAM = 16
"""All results of a program together may take so many times the limit of one."""


class CallerGone(BrokenPipeError):
    """Nobody waits for the result any more."""


class _Overdue(Exception):  # noqa: N818 - these are outcomes of the child's, not errors of ours
    pass


class _Forged(Exception):  # noqa: N818
    pass


class Session:
    """The run of one program."""

    def __init__(self, server: ForkServerHandle, job: wire.Job, caller_is_gone: Callable[[], bool]) -> None:
        self.server = server
        self.job = job
        self.caller_is_gone = caller_is_gone
        self.cpu_limit, self.wall_limit, self.memory_mb, self.result_bytes, self.max_reforks = job.limits
        self.payload_left = RESULTS_PER_PROGRAM * self.result_bytes
        self.child: Child | None = None
        self.opening = b""

    def run(self) -> list[Outcome]:
        """Outcomes of the load and of every call."""
        try:
            load = self.load()
            calls = self.job.calls
            if load.kind is not OutcomeKind.VALUE:
                return [load] * (1 + len(calls))
            outcomes = [load]
            reforks = 0
            for call in calls:
                if self.child is None:
                    reforks += 1
                    if reforks > self.max_reforks:
                        break
                    self.start()
                outcomes.append(self.exchange(call))
            missing = 1 + len(calls) - len(outcomes)
            if missing:
                lost = f"the program lost its process {self.max_reforks + 1} times before this call"
                outcomes += [Outcome(OutcomeKind.NOT_RUN, detail=lost)] * missing
            return outcomes
        finally:
            self.drop()

    def start(self) -> None:
        """Fork a child; the program goes to it with its first call."""
        self.child = self.server.fork()
        job = self.job
        cpu_backstop = self.cpu_limit * (2 + len(job.calls)) + 2
        program = marshal.dumps((job.source, job.setup, job.seed, self.memory_mb, cpu_backstop, self.result_bytes))
        self.opening = wire.frame(program)

    def load(self) -> Outcome:
        """Execute source and setup once; the first call uses that namespace."""
        self.start()
        return self.exchange(b"")

    def exchange(self, body: bytes) -> Outcome:
        """One call and its outcome; afterwards `self.child` is None if the process was lost."""
        child = self.child
        assert child is not None
        nonce = os.urandom(wire.NONCE_BYTES)
        before = child.cpu_s()
        deadlines = (before + self.cpu_limit, time.monotonic() + self.wall_limit)
        try:
            self.send(child, nonce, self.opening + body if self.opening else body, deadlines)
            self.opening = b""
            code, detail, payload = self.record(child, nonce, deadlines)
        except _Overdue as late:
            return self.end(OutcomeKind.TIMEOUT, str(late), min(self.cpu_limit, child.cpu_s() - before))
        except _Forged:
            return self.end(OutcomeKind.CRASH, "wrote to its result channel on its own")
        except ChildGone:
            return self.lost()
        used = child.cpu_s() - before
        if used > self.cpu_limit:
            return self.end(OutcomeKind.TIMEOUT, self.cpu_detail(), self.cpu_limit)
        kind = wire.KINDS[code]
        if kind is not OutcomeKind.VALUE:
            return Outcome(kind, detail=detail.decode("utf-8", "replace"), cpu_s=used)
        return self.checked(payload, len(marshal.loads(body)[0]) if body else None, used)  # noqa: S302 - the caller's

    def record(self, child: Child, nonce: bytes, deadlines: tuple[float, float]) -> tuple[int, bytes, bytes]:
        """Kind, detail and payload of the one record that answers the call."""
        buffer = child.receive()
        head = wire.RECORD.size
        wanted = head
        while True:
            if buffer is None:
                self.look_at_clocks(child, deadlines)
                buffer = b""
            if len(buffer) >= head:
                echoed, code, detail_size, payload_size = wire.RECORD.unpack_from(buffer)
                wanted = head + detail_size + payload_size
                wrong = echoed != nonce or code not in wire.CHILD_CODES or len(buffer) > wanted
                if wrong or detail_size > wire.MAX_DETAIL or payload_size > self.result_bytes:
                    raise _Forged
                if len(buffer) == wanted:
                    start = head + detail_size
                    return code, bytes(buffer[head:start]), bytes(buffer[start:])
                if type(buffer) is bytes:
                    buffer = bytearray(buffer)  # a large result: append in place
            chunk = child.receive(max(65536, wanted - len(buffer)))
            if chunk is None:
                self.look_at_clocks(child, deadlines)
            else:
                buffer += chunk

    def checked(self, payload: bytes, expressions: int | None, used: float) -> Outcome:
        """The outcome of a result, after making sure that it is one: well-formed, within the limits, as long as asked."""
        if expressions is None:
            return Outcome(OutcomeKind.VALUE, cpu_s=used)
        self.payload_left -= len(payload)
        if self.payload_left < 0:
            return Outcome(OutcomeKind.OUTPUT_LIMIT, detail="all results together are too large", cpu_s=used)
        try:
            values = codec.decode(payload)
        except codec.CodecError as error:
            return self.end(OutcomeKind.CRASH, f"wrote a malformed result: {error}")
        if type(values) is not tuple or len(values) != expressions:
            return self.end(OutcomeKind.CRASH, "wrote a malformed result")
        return Outcome(OutcomeKind.VALUE, payload, cpu_s=used)

    def send(self, child: Child, nonce: bytes, body: bytes, deadlines: tuple[float, float]) -> None:
        """Write one message."""
        message = memoryview(wire.FRAME.pack(wire.NONCE_BYTES + len(body)) + nonce + body)
        while message:
            try:
                message = message[child.channel.send(message) :]
            except BlockingIOError:
                self.look_at_clocks(child, deadlines)
            except (BrokenPipeError, ConnectionResetError):
                raise ChildGone from None

    def look_at_clocks(self, child: Child, deadlines: tuple[float, float]) -> None:
        """Raise _Overdue if the child is over a limit; else set when to look again."""
        if self.caller_is_gone():
            raise CallerGone("the caller is gone")
        cpu_left, wall_left = deadlines[0] - child.cpu_s(), deadlines[1] - time.monotonic()
        if cpu_left <= 0:
            raise _Overdue(self.cpu_detail())
        if wall_left <= 0:
            raise _Overdue(f"over the wall-clock limit of {self.wall_limit:g} s")
        child.tick(min(TICK_S, cpu_left + 0.001, wall_left + 0.001))

    def cpu_detail(self) -> str:
        """Why a call was ended."""
        return f"over the CPU limit of {self.cpu_limit:g} s"

    def lost(self) -> Outcome:
        """The child closed its end: find out how it ended."""
        self.drop_channel()
        status, peak = self.server.end_child()
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if killed and peak >= (self.memory_mb << 20) * 3 // 4:
            return Outcome(OutcomeKind.MEMORY, detail=f"killed at {peak >> 20} MiB")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return Outcome(OutcomeKind.TIMEOUT, detail=self.cpu_detail(), cpu_s=self.cpu_limit)
        return Outcome(OutcomeKind.CRASH, detail="closed its result channel" if killed else describe_status(status))

    def end(self, kind: OutcomeKind, detail: str, cpu_s: float = 0.0) -> Outcome:
        """Kill the child and say why."""
        self.drop()
        return Outcome(kind, detail=detail, cpu_s=cpu_s)

    def drop_channel(self) -> None:
        if self.child is not None:
            self.child.close()
            self.child = None

    def drop(self) -> None:
        """Kill the child, if there is one."""
        if self.child is not None:
            self.drop_channel()
            self.server.kill_child()
