"""A check program and its candidate, each in a process of its own; calls and results cross between them as data."""

from __future__ import annotations

import marshal
from collections.abc import Callable

from code_a1.sandbox import wire
from code_a1.sandbox.dialogue import Dialogue
from code_a1.sandbox.forkserver import ForkServerHandle
from code_a1.sandbox.programs import Call, Outcome, OutcomeKind
from code_a1.sandbox.session import ProgramSession, Session

TOTAL_CPU_LIMITS = 30
"""A whole check may use so many times the CPU limit of one call, in either process."""
RELAYED_LIMITS = 8
"""Arguments and results that cross may be so many times as large as a result that is kept."""
_RELAYED = frozenset({wire.RELAY, *wire.CHILD_CODES})
_CROSSES = (OutcomeKind.VALUE, OutcomeKind.RAISED)


class CheckSession(Session):
    """Runs `check(candidate)`; the candidate keeps its namespace from call to call, as it would in one process."""

    def __init__(self, server: ForkServerHandle, job: wire.Job, caller_is_gone: Callable[[], bool]) -> None:
        cpu_s, wall_s, memory_mb, result_bytes, max_reforks = job.limits
        limits = (cpu_s, wall_s, memory_mb, RELAYED_LIMITS * result_bytes, max_reforks)
        super().__init__(server, job._replace(limits=limits), caller_is_gone)

    def run(self) -> list[Outcome]:
        """The one outcome: VALUE if the check ended without an exception."""
        try:
            outcome = self._run()
        finally:
            self.server.renew()
        if outcome.kind is OutcomeKind.UNREPRESENTABLE and self.job.share_process:
            return [self._run_shared()]
        return [outcome]

    def _run(self) -> Outcome:
        job = self.job
        candidate = self.open(job.source, job.setup)
        # forked before the candidate runs, or its threads could use up what a fork needs and pass for a fault of ours
        checker = self.open(job.check, "", job.entry_point, beside=True)
        try:
            load, _, _ = self.ask(candidate, b"")
            return load if load.kind is not OutcomeKind.VALUE else self._relay(checker, candidate)
        finally:
            candidate.child.close()
            checker.child.close()

    def _relay(self, checker: Dialogue, candidate: Dialogue) -> Outcome:
        """Carry calls and results until the check program is through, or one of the two is lost."""
        answer = b""
        total_s = [0.0, 0.0]
        while True:
            outcome, payload, lost = self.ask(checker, answer, _RELAYED)
            total_s[0] += outcome.cpu_s
            if lost or outcome.kind is not OutcomeKind.VALUE or not payload:
                return outcome
            result, values, lost = self.ask(candidate, marshal.dumps((payload,)))
            total_s[1] += result.cpu_s
            if lost or result.kind not in _CROSSES:
                return result
            if max(total_s) > TOTAL_CPU_LIMITS * self.cpu_limit:
                detail = f"over the CPU limit of {TOTAL_CPU_LIMITS * self.cpu_limit:g} s for a whole check"
                return Outcome(OutcomeKind.TIMEOUT, detail=detail, cpu_s=sum(total_s))
            # The check's process decodes it, on its own clock; a malformed result is an exception there.
            answer = b"V" + values if result.kind is OutcomeKind.VALUE else b"R" + result.detail.encode()

    def _run_shared(self) -> Outcome:
        """Lower trust, on request: check program and candidate in one process."""
        job = self.job
        setup = f"{job.setup}\n__candidate__ = {job.entry_point}\n"
        check = f"{job.check}\nif callable(globals().get('check')): check(__candidate__)\n"
        call = wire.pack_call(Call(("None",), prelude=check))
        load, outcome = ProgramSession(
            self.server, job._replace(setup=setup, calls=[call], check=""), self.caller_is_gone
        ).run()
        chosen = outcome if load.kind is OutcomeKind.VALUE else load
        return Outcome(chosen.kind, detail=chosen.detail, cpu_s=chosen.cpu_s, shared_process=True)
