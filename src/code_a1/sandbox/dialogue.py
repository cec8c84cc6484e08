"""Question and answer with one child: one message, one record, both clocks watched from outside."""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Callable, Iterator, Sequence

from code_a1.sandbox import wire
from code_a1.sandbox.forkserver import TICK_S, Child, ChildGone


class Overdue(Exception):
    """The child is over a limit; the message says which."""


class Forged(Exception):
    """What came over the channel is not the one record that answers the message."""


class CallerGone(BrokenPipeError):
    """Nobody waits for the result any more."""


class Dialogue:
    """The worker's side of one child's channel.

    `opening` goes out with the first message: the program, which reaches a child only after the fork.
    """

    def __init__(self, child: Child, opening: bytes, job: wire.Job, caller_is_gone: Callable[[], bool]) -> None:
        self.child = child
        self.opening = opening
        self.caller_is_gone = caller_is_gone
        self.cpu_limit, self.wall_limit, _, self.result_bytes, _ = job.limits
        self.used_s = 0.0
        """CPU seconds that the last message took, its answer included."""
        self.received = b""
        """What came after the last record: the start of the next one, where several are on their way."""

    def ask(self, body: bytes, codes: frozenset[int] = wire.CHILD_CODES) -> tuple[int, bytes, bytes]:
        """Send a message; kind, detail and payload of the record that answers it.

        Raises Overdue, Forged and ChildGone; the child is of no use afterwards.
        """
        nonce = os.urandom(wire.NONCE_BYTES)
        child = self.child
        before = child.used_s
        deadlines = (before + self.cpu_limit, time.monotonic() + self.wall_limit)
        try:
            self._send(nonce, body, deadlines)
            answer = self._record(nonce, codes, deadlines)
        finally:
            self.used_s = min(child.cpu_s() - before, self.cpu_limit)
        if self.used_s >= self.cpu_limit:
            raise Overdue(self._cpu_detail())
        return answer

    def ask_all(self, bodies: Sequence[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
        """Send all calls of a trusted program at once; kind, detail and payload of their records as they come.

        Each call has the limits of one call, by the child's own account of where one ends and the next begins.
        Raises like `ask`.
        """
        nonce = os.urandom(wire.NONCE_BYTES)
        deadlines = (self.child.used_s + self.cpu_limit, time.monotonic() + self.wall_limit)
        began = None
        try:
            self._send(nonce, wire.ALL_CALLS + marshal.dumps(list(bodies)), deadlines)
            began = self.child.used_s
            for _ in bodies:
                deadlines = (began + self.cpu_limit, time.monotonic() + self.wall_limit)
                code, detail, payload = self._record(nonce, wire.CHILD_CODES, deadlines, others_follow=True)
                if len(detail) < wire.CPU_S.size:
                    raise Forged("answered without the time it took")
                (ended,) = wire.CPU_S.unpack_from(detail)
                self.used_s, began = max(ended - began, 0.0), ended
                if self.used_s >= self.cpu_limit:
                    self.used_s = self.cpu_limit
                    raise Overdue(self._cpu_detail())
                yield code, detail[wire.CPU_S.size :], payload
        finally:
            if began is not None:
                self.child.cpu_s()

    def _send(self, nonce: bytes, body: bytes, deadlines: tuple[float, float]) -> None:
        if self.opening:
            self._send_all(wire.message(nonce, self.opening + body), deadlines, watch=False)
            self.opening = b""
            self.child.identify()
        else:
            self._send_all(wire.message(nonce, body), deadlines)

    def _send_all(self, message: bytes, deadlines: tuple[float, float], *, watch: bool = True) -> None:
        """Write it all; `watch` its clocks, or (while the process id is not known) rely on its reading what we send."""
        sent = 0
        while sent < len(message):
            try:
                sent += self.child.channel.send(memoryview(message)[sent:] if sent else message)
                late = sent < len(message)  # a slow reader
            except BlockingIOError:
                late = True
            except (BrokenPipeError, ConnectionResetError):
                raise ChildGone from None
            if late and (watch or time.monotonic() > deadlines[1]):
                self.look_at_clocks(deadlines)

    def _record(
        self, nonce: bytes, codes: frozenset[int], deadlines: tuple[float, float], *, others_follow: bool = False
    ) -> tuple[int, bytes, bytes]:
        buffer: bytes | bytearray = self.received
        head = wanted = wire.RECORD.size
        while True:
            if len(buffer) >= head:
                echoed, code, detail_size, payload_size = wire.RECORD.unpack_from(buffer)
                wanted = head + detail_size + payload_size
                wrong = echoed != nonce or code not in codes or (len(buffer) > wanted and not others_follow)
                if wrong or detail_size > wire.MAX_DETAIL + wire.CPU_S.size or payload_size > self.result_bytes:
                    raise Forged("wrote to its result channel on its own")
                if len(buffer) >= wanted:
                    start = head + detail_size
                    self.received = bytes(buffer[wanted:])
                    return code, bytes(buffer[head:start]), bytes(buffer[start:wanted])
            if buffer and not others_follow:
                self.look_at_clocks(deadlines)  # so that nobody gains time by writing byte by byte
            chunk = self.child.receive(max(8192, wanted - len(buffer)))
            if chunk is None:
                chunk = self._late(deadlines, others_follow)
            if not buffer:
                buffer = chunk
            else:
                if type(buffer) is bytes:
                    buffer = bytearray(buffer)  # a large result: append in place
                buffer += chunk

    def _late(self, deadlines: tuple[float, float], others_follow: bool) -> bytes:
        """What has come after all, now that a tick went by without anything. Raises Overdue if the child is over."""
        try:
            self.look_at_clocks(deadlines)
        except Overdue:
            # A child with more calls to do works on while nobody looks: its clock may have passed the limit after it
            # answered in time. (One that gets call after call waits, and its clock with it.)
            if not (others_follow and (chunk := self.child.receive(8192, wait=False))):
                raise
            return chunk
        return b""

    def look_at_clocks(self, deadlines: tuple[float, float]) -> None:
        """Raise Overdue if the child is over a limit; else set when to look again."""
        if self.caller_is_gone():
            raise CallerGone("the caller is gone")
        cpu_left, wall_left = deadlines[0] - self.child.cpu_s(), deadlines[1] - time.monotonic()
        if cpu_left <= 0:
            raise Overdue(self._cpu_detail())
        if wall_left <= 0:
            raise Overdue(f"over the wall-clock limit of {self.wall_limit:g} s")
        self.child.tick(min(TICK_S, cpu_left + 0.001, wall_left + 0.001))

    def _cpu_detail(self) -> str:
        return f"over the CPU limit of {self.cpu_limit:g} s"
