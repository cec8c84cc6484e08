"""A script and its streams: the worker hands over a file and a pipe, reads what is printed, and watches both clocks."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import tempfile
import time

from code_a1.sandbox import codec, wire
from code_a1.sandbox.dialogue import Dialogue, Overdue
from code_a1.sandbox.forkserver import TICK_S, ChildGone
from code_a1.sandbox.programs import Outcome, OutcomeKind
from code_a1.sandbox.session import Session

CHUNK = 1 << 16


class ScriptSession(Session):
    """Runs one script on its standard input."""

    def run(self) -> list[Outcome]:
        """The one outcome."""
        try:
            return [self._run()]
        finally:
            self.server.renew()

    def _run(self) -> Outcome:
        dialogue = self.open(self.job.source, "")
        try:
            ready, _, lost = self.ask(dialogue, wire.SCRIPT)
            if lost or ready.kind is not OutcomeKind.VALUE:
                return ready
            output = self._hand_over(dialogue)
            try:
                return self._watched(dialogue, output)
            finally:
                os.close(output)
        finally:
            dialogue.child.close()

    def _hand_over(self, dialogue: Dialogue) -> int:
        """Give the child its standard input and output; the end of the pipe to read from."""
        stdin = input_file(self.job.stdin or b"")
        output, writer = os.pipe()
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it is gone, as will be found
                socket.send_fds(dialogue.child.channel, [b"\0"], [stdin, writer])
        finally:
            os.close(stdin)
            os.close(writer)
        os.set_blocking(output, False)
        return output

    def _watched(self, dialogue: Dialogue, output: int) -> Outcome:
        """Read until the process ends, or is over a limit."""
        child = dialogue.child
        before = child.cpu_s()
        watch = _Watch(dialogue, output, self.result_bytes, before)
        try:
            watch.until_the_end()
        except Overdue as late:
            dialogue.used_s = child.cpu_s() - before
            return self.failure(dialogue, OutcomeKind.TIMEOUT, str(late))[0]
        except codec.TooLarge as large:
            return self.failure(dialogue, OutcomeKind.OUTPUT_LIMIT, str(large))[0]
        used_s = child.cpu_s() - before
        status, peak = self.server.end_children()[child.number]
        try:
            watch.drain()
        except codec.TooLarge as large:
            return Outcome(OutcomeKind.OUTPUT_LIMIT, detail=str(large), cpu_s=used_s)
        if os.WIFSIGNALED(status):
            return self.post_mortem(status, peak)
        if status == 0:
            return Outcome(OutcomeKind.VALUE, codec.encode((bytes(watch.printed),), max_bytes=1 << 30), cpu_s=used_s)
        said = bytes(watch.said).decode("utf-8", "replace")
        kind = OutcomeKind.MEMORY if said.startswith("MemoryError") else OutcomeKind.RAISED
        detail = f"exited with status {os.waitstatus_to_exitcode(status)}{': ' if said else ''}{said}"
        return Outcome(kind, detail=detail, cpu_s=used_s)


class _Watch:
    """What comes from a script while it runs: what it prints, and at most one line in its channel."""

    def __init__(self, dialogue: Dialogue, output: int, max_bytes: int, before_s: float) -> None:
        self.dialogue = dialogue
        self.output = output
        self.max_bytes = max_bytes
        self.deadlines = (before_s + dialogue.cpu_limit, time.monotonic() + dialogue.wall_limit)
        self.printed = bytearray()
        self.said = bytearray()

    def until_the_end(self) -> None:
        """Until the child's end of the channel is closed. Raises Overdue, and TooLarge for what is printed."""
        child = self.dialogue.child
        poller = select.poll()
        poller.register(child.channel, select.POLLIN)
        poller.register(self.output, select.POLLIN)
        looked = 0.0
        while True:
            ready = poller.poll(TICK_S * 1000 / 4)
            if not ready or time.monotonic() - looked > TICK_S / 4:
                self.dialogue.look_at_clocks(self.deadlines)
                looked = time.monotonic()
            for descriptor, _ in ready:
                if descriptor == self.output:
                    if not self.read():
                        poller.unregister(self.output)
                    continue
                try:
                    self.said += (child.receive(CHUNK, wait=False) or b"")[: wire.MAX_DETAIL - len(self.said)]
                except ChildGone:
                    return

    def read(self) -> bool:
        """Some of what was printed; False at the end of the pipe."""
        try:
            chunk = os.read(self.output, CHUNK)
        except BlockingIOError:
            return True
        self.printed += chunk
        if len(self.printed) > self.max_bytes:
            raise codec.TooLarge(f"printed more than {self.max_bytes} bytes")
        return bool(chunk)

    def drain(self) -> None:
        """What is still in the pipe, now that nobody writes any more."""
        while self.read():
            pass


def input_file(content: bytes) -> int:
    """A descriptor, for reading only, of a file without a name: programs may ask for its size, and seek in it."""
    descriptor, path = tempfile.mkstemp(prefix="code-a1-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.unlink(path)  # noqa: PTH108
