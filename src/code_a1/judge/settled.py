"""Two runs of one thing, and what they agree on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from code_a1.records import Validity
from code_a1.sandbox import codec
from code_a1.sandbox.programs import Outcome, OutcomeKind


@dataclass(frozen=True, slots=True)
class Settled:
    """What two runs of one call, expression or form agree on: a payload, or the reason why there is none."""

    payload: bytes = b""
    failure: Validity | None = None
    reason: str = ""

    def values(self) -> tuple[object, ...]:
        """The payload decoded."""
        return Outcome(OutcomeKind.VALUE, self.payload).values()


def settle(first: Outcome, second: Outcome, tolerance: float = 0.0, cpu_limit_s: float = math.inf) -> Settled:
    """Combine the outcomes of two runs under different seeds."""
    kinds = {first.kind, second.kind}
    failed = first if first.kind is not OutcomeKind.VALUE else second
    if OutcomeKind.SANDBOX_ERROR in kinds:
        return Settled(failure=Validity.SANDBOX_ERROR, reason=failed.detail)
    if kinds & {OutcomeKind.UNREPRESENTABLE, OutcomeKind.OUTPUT_LIMIT}:
        return Settled(failure=Validity.UNREPRESENTABLE, reason=failed.detail)
    if kinds != {OutcomeKind.VALUE}:
        return Settled(failure=Validity.CALL_FAILED, reason=f"{failed.kind}: {failed.detail}")
    if first.payload != second.payload and not codec.equal(first.values(), second.values(), tolerance):
        return Settled(failure=Validity.NONDETERMINISTIC, reason="two runs under different seeds differ")
    if min(first.cpu_s, second.cpu_s) > cpu_limit_s:  # the quicker one: a busy machine makes calls slower, not faster
        return Settled(failure=Validity.CALL_FAILED, reason=f"the reference takes more than {cpu_limit_s:g} s for it")
    return Settled(payload=first.payload)
