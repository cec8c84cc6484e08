"""Frames between the three kinds of processes, and who trusts whom.

    caller ──jobs──▶ worker ──calls, one at a time──▶ child        (trusted → less trusted: marshal is fine)
    caller ◀─results── worker ◀────records──── child               (never anything but fixed structs and codec bytes)

Every frame begins with its length. A record answers exactly one call: it repeats the nonce that came with it.
"""

from __future__ import annotations

import marshal
import struct
from typing import NamedTuple

from code_a1.sandbox import codec
from code_a1.sandbox.checks import CheckProgram
from code_a1.sandbox.programs import Call, Limits, Outcome, OutcomeKind, Program, ProgramResult
from code_a1.sandbox.scripts import Script

FRAME = struct.Struct("<I")
NONCE_BYTES = 8
RECORD = struct.Struct(f"<{NONCE_BYTES}sBII")
"""Nonce, kind, length of detail, length of payload; then detail and payload."""
MAX_DETAIL = 400
"""Bytes of an outcome's detail."""

_OUTCOME = struct.Struct("<BBdII")
_RESULT = struct.Struct("<QI")
KINDS = tuple(OutcomeKind)
CODES = {kind: code for code, kind in enumerate(KINDS)}
CHILD_CODES = frozenset(
    CODES[kind]
    for kind in (
        OutcomeKind.VALUE, OutcomeKind.RAISED, OutcomeKind.MEMORY, OutcomeKind.OUTPUT_LIMIT,
        OutcomeKind.UNREPRESENTABLE,
    )
)  # fmt: skip
"""What a child may say about itself; everything else is observed from outside."""
READY, DYING = (1 << 64) - 1, (1 << 64) - 2
"""Tickets of the worker's first and last words."""
ALL_CALLS = b"A"
"""First byte of a message that holds all calls of a trusted program (no marshalled call begins so)."""
SCRIPT = b"S"
"""A message that asks for the program to be run as a script; no marshalled call begins so, either."""
CPU_S = struct.Struct("<d")
"""In front of the detail of a record that answers one of several calls: the CPU clock of the child's process."""
RELAY = 255
"""Record kind of a check program that asks for a call of the candidate."""


class Job(NamedTuple):
    """A program (`check` empty) or a check program with its candidate, as the worker reads it."""

    ticket: int
    source: str
    setup: str
    seed: int
    limits: tuple[float, float, int, int, int]
    calls: list[bytes]
    trusted: bool = False
    check: str = ""
    entry_point: str = ""
    share_process: bool = False
    stdin: bytes | None = None
    """What a script reads; None of other programs."""
    scratch: bool = False


def pack_call(call: Call) -> bytes:
    """One call as the child reads it."""
    bindings = codec.encode(dict(call.bindings)) if call.bindings else b""
    return marshal.dumps((call.expressions, call.prelude, bindings))


def pack_limits(limits: Limits) -> tuple[float, float, int, int, int]:
    """The limits in the order of their fields."""
    return (
        float(limits.cpu_s_per_call), float(limits.wall_s_per_call), limits.memory_mb, limits.result_bytes,
        limits.max_reforks,
    )  # fmt: skip


def pack_program(ticket: int, program: Program, limits: Limits) -> bytes:
    """A frame with one job. Raises CodecError if a binding is not data."""
    calls = [pack_call(call) for call in program.calls]
    job = Job(
        ticket, program.source, program.setup, program.seed, pack_limits(limits), calls, program.trusted,
        scratch=program.scratch,
    )  # fmt: skip
    return frame(marshal.dumps(tuple(job)))


def pack_check(ticket: int, program: CheckProgram, limits: Limits) -> bytes:
    """A frame with one check program as a job."""
    job = Job(
        ticket, program.source, program.setup, program.seed, pack_limits(limits), [], False,
        program.check_source or "pass", program.entry_point, program.share_process,
    )  # fmt: skip
    return frame(marshal.dumps(tuple(job)))


def pack_script(ticket: int, script: Script, limits: Limits) -> bytes:
    """A frame with one script as a job."""
    job = Job(ticket, script.source, "", script.seed, pack_limits(limits), [], stdin=script.stdin)
    return frame(marshal.dumps(tuple(job)))


def frame(body: bytes) -> bytes:
    """The body behind its length."""
    return FRAME.pack(len(body)) + body


def message(nonce: bytes, body: bytes) -> bytes:
    """A frame for a child."""
    return FRAME.pack(NONCE_BYTES + len(body)) + nonce + body


def unpack_job(body: bytes) -> Job:
    """The inverse of `pack_program`; only ever applied to what the caller's own process wrote."""
    return Job(*marshal.loads(body))  # noqa: S302 - written by the trusted caller


def pack_result(ticket: int, outcomes: list[Outcome]) -> bytes:
    """A frame with the outcome of loading and those of the calls."""
    parts = [_RESULT.pack(ticket, len(outcomes))]
    for outcome in outcomes:
        detail = clip(outcome.detail) if outcome.detail else b""
        head = (CODES[outcome.kind], outcome.shared_process, outcome.cpu_s, len(detail), len(outcome.payload))
        parts += (_OUTCOME.pack(*head), detail, outcome.payload)
    return frame(b"".join(parts))


def unpack_result(body: bytes) -> tuple[int, ProgramResult]:
    """Ticket and result."""
    ticket, count = _RESULT.unpack_from(body)
    at = _RESULT.size
    outcomes = []
    for _ in range(count):
        code, shared, cpu_s, detail_size, payload_size = _OUTCOME.unpack_from(body, at)
        at += _OUTCOME.size
        detail = body[at : at + detail_size].decode("utf-8", "replace") if detail_size else ""
        at += detail_size
        outcomes.append(Outcome(KINDS[code], body[at : at + payload_size], detail, cpu_s, bool(shared)))
        at += payload_size
    load = outcomes[0] if outcomes else Outcome(OutcomeKind.NOT_RUN)
    return ticket, ProgramResult(load, tuple(outcomes[1:]))


def clip(detail: str) -> bytes:
    """One line of text within the limit."""
    return detail.replace("\n", " ").encode("utf-8", "replace")[:MAX_DETAIL]
