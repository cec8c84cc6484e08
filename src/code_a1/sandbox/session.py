"""One job from start to end: feed a child one call at a time, re-fork after what kills it, check what it answers."""

from __future__ import annotations

import marshal
import os
import signal
from collections.abc import Callable, Iterator

from code_a1.sandbox import codec, wire
from code_a1.sandbox.dialogue import Dialogue, Forged, Overdue
from code_a1.sandbox.forkserver import ChildGone, ForkServerHandle, describe_status
from code_a1.sandbox.programs import Outcome, OutcomeKind

_known: dict[bytes, int] = {}
"""Short payloads that were found to be well-formed, and how many values they hold: most answers recur."""
RESULTS_PER_PROGRAM = 16
"""All results of a program together may take so many times the limit of one."""


class Session:
    """The run of one job on one fork server."""

    def __init__(self, server: ForkServerHandle, job: wire.Job, caller_is_gone: Callable[[], bool]) -> None:
        self.server = server
        self.job = job
        self.caller_is_gone = caller_is_gone
        self.cpu_limit, _, self.memory_mb, self.result_bytes, self.max_reforks = job.limits

    def open(self, source: str, setup: str, check_entry: str = "", *, beside: bool = False) -> Dialogue:
        """Fork a child, `beside` the one before it or in its place; `check_entry` makes the source a check program."""
        job = self.job
        cpu_backstop = 30 * self.cpu_limit * (2 + len(job.calls))
        program = (source, setup, job.seed, self.memory_mb, cpu_backstop, self.result_bytes, check_entry)
        child = self.server.fork(beside=beside)
        return Dialogue(child, wire.frame(marshal.dumps(program)), job, self.caller_is_gone)

    def ask(
        self, dialogue: Dialogue, body: bytes, codes: frozenset[int] = wire.CHILD_CODES
    ) -> tuple[Outcome, bytes, bool]:
        """Outcome and payload of one message, and whether the child is lost; the payload is not looked into."""
        return self._answered(dialogue, lambda: dialogue.ask(body, codes))

    def _answered(
        self, dialogue: Dialogue, record: Callable[[], tuple[int, bytes, bytes]]
    ) -> tuple[Outcome, bytes, bool]:
        try:
            code, detail, payload = record()
        except Overdue as late:
            return self.failure(dialogue, OutcomeKind.TIMEOUT, str(late))
        except Forged as forged:
            return self.failure(dialogue, OutcomeKind.CRASH, str(forged))
        except ChildGone:
            dialogue.child.close()
            status, peak = self.server.end_children()[dialogue.child.number]
            return self.post_mortem(status, peak), b"", True
        kind = OutcomeKind.VALUE if code == wire.RELAY else wire.KINDS[code]
        outcome = Outcome(kind, detail=detail.decode("utf-8", "replace") if detail else "", cpu_s=dialogue.used_s)
        return outcome, payload, False

    def failure(self, dialogue: Dialogue, kind: OutcomeKind, detail: str) -> tuple[Outcome, bytes, bool]:
        """Kill the child and say why."""
        dialogue.child.close()
        self.server.kill_children()
        return Outcome(kind, detail=detail, cpu_s=dialogue.used_s), b"", True

    def post_mortem(self, status: int, peak: int) -> Outcome:
        """What a child that closed its channel died of. It was killed afterwards if it was still alive."""
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if killed and peak >= (self.memory_mb << 20) * 3 // 4:
            return Outcome(OutcomeKind.MEMORY, detail=f"killed at {peak >> 20} MiB")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return Outcome(OutcomeKind.TIMEOUT, detail=f"over the CPU limit of {self.cpu_limit:g} s")
        return Outcome(OutcomeKind.CRASH, detail="closed its result channel" if killed else describe_status(status))


class ProgramSession(Session):
    """Every call of a program, each in a fresh namespace."""

    def __init__(self, server: ForkServerHandle, job: wire.Job, caller_is_gone: Callable[[], bool]) -> None:
        super().__init__(server, job, caller_is_gone)
        self.dialogue: Dialogue | None = None
        self.payload_left = RESULTS_PER_PROGRAM * self.result_bytes

    def run(self) -> list[Outcome]:
        """Outcomes of the load and of every call."""
        try:
            return self._run()
        finally:
            if self.dialogue is not None:
                self.dialogue.child.close()
            self.server.renew()

    def _run(self) -> list[Outcome]:
        calls = self.job.calls
        load = self._exchange(b"", None)
        if load.kind is not OutcomeKind.VALUE:
            return [load] * (1 + len(calls))
        outcomes = [load]
        reforks = 0
        while len(outcomes) <= len(calls):
            if self.dialogue is None:
                reforks += 1
                if reforks > self.max_reforks:
                    break
            left = calls[len(outcomes) - 1 :]
            if self.job.trusted and len(left) > 1:
                outcomes += self._exchange_all(left)
            else:
                outcomes.append(self._exchange(left[0], _expressions(left[0])))
        missing = 1 + len(calls) - len(outcomes)
        if missing:
            lost = f"the program lost its process {reforks} times before this call"
            outcomes += [Outcome(OutcomeKind.NOT_RUN, detail=lost)] * missing
        return outcomes

    def _exchange(self, body: bytes, expressions: int | None) -> Outcome:
        """One call and its outcome; afterwards `dialogue` is None if the process was lost."""
        if self.dialogue is None:
            self.dialogue = self.open(self.job.source, self.job.setup)
        outcome, payload, lost = self.ask(self.dialogue, body)
        if not lost and outcome.kind is OutcomeKind.VALUE and expressions is not None:
            outcome, lost = self._checked(outcome, payload, expressions)
        if lost:
            self.dialogue = None
        return outcome

    def _exchange_all(self, bodies: list[bytes]) -> Iterator[Outcome]:
        """Several calls, and their outcomes until the process is lost."""
        if self.dialogue is None:
            self.dialogue = self.open(self.job.source, self.job.setup)
        records = self.dialogue.ask_all(bodies)
        for body in bodies:
            outcome, payload, lost = self._answered(self.dialogue, lambda: next(records))
            if not lost and outcome.kind is OutcomeKind.VALUE:
                outcome, lost = self._checked(outcome, payload, _expressions(body))
            yield outcome
            if lost:
                self.dialogue = None
                return

    def _checked(self, outcome: Outcome, payload: bytes, expressions: int) -> tuple[Outcome, bool]:
        """The outcome of a result, after making sure that it is one: well-formed, within limits, as long as asked."""
        self.payload_left -= len(payload)
        if self.payload_left < 0:
            detail = "the results of all calls together are too large"
            return Outcome(OutcomeKind.OUTPUT_LIMIT, detail=detail, cpu_s=outcome.cpu_s), False
        if not _is_result(payload, expressions):
            assert self.dialogue is not None
            failed, _, lost = self.failure(self.dialogue, OutcomeKind.CRASH, "wrote a malformed result")
            return failed, lost
        return Outcome(OutcomeKind.VALUE, payload, cpu_s=outcome.cpu_s), False


def _expressions(body: bytes) -> int:
    """How many values a call gives."""
    return len(marshal.loads(body)[0])  # noqa: S302 - the caller's own


def _is_result(payload: bytes, expressions: int) -> bool:
    """Whether the payload is an encoded tuple of so many values."""
    count = _known.get(payload)
    if count is None:
        try:
            values = codec.decode(payload)
        except codec.CodecError:
            return False
        if type(values) is not tuple:
            return False
        count = len(values)
        if len(payload) <= 64:
            if len(_known) >= 10_000:
                _known.clear()
            _known[payload] = count
    return count == expressions
