"""What goes into the sandbox and what comes out: plain records, nothing that runs.

The child returns data; the parent decides. A `Program` holds the code that nobody trusts and the expressions to
evaluate in its namespace. It never holds an expected value, another candidate, or code of ours that judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from code_a1.sandbox import codec


class OutcomeKind(StrEnum):
    """How one call ended, as seen from outside the process that ran it."""

    VALUE = "VALUE"
    RAISED = "RAISED"
    """An exception of any class, `SystemExit` and `KeyboardInterrupt` included."""
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    """The process ended without an answer: `os._exit`, a signal, a blocked system call."""
    MEMORY = "MEMORY"
    OUTPUT_LIMIT = "OUTPUT_LIMIT"
    """The result is larger than the codec's limits. (What is printed is drained and dropped.)"""
    UNREPRESENTABLE = "UNREPRESENTABLE"
    """A value that cannot leave the process as data."""
    NOT_RUN = "NOT_RUN"
    """The cap of re-forks was reached before this call."""
    SANDBOX_ERROR = "SANDBOX_ERROR"
    """Ours: a worker died or could not start, on two workers at least."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one program; CPU time first, with a generous wall clock so that load does not change verdicts."""

    cpu_s_per_call: float = 4.0
    """CPU seconds for one call, loading the program's namespace included."""
    wall_s_per_call: float = 20.0
    """Wall-clock seconds for one call (a sleeping program uses no CPU time)."""
    memory_mb: int = 1024
    """Address space beyond what the server holds at fork, in MiB."""
    result_bytes: int = 4 << 20
    """Size of one encoded result."""
    max_reforks: int = 8
    """How often a program may lose its process before its remaining calls are `NOT_RUN`."""


@dataclass(frozen=True, slots=True)
class Call:
    """Expressions to evaluate, one after another, in a fresh namespace of the program.

    `prelude` is run first (statements). `bindings` are values put into the namespace before the prelude; they cross as
    data and arrive as fresh copies.
    """

    expressions: tuple[str, ...]
    prelude: str = ""
    bindings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Program:
    """Source that nobody trusts, and the calls to make in it.

    For every call `source` and then `setup` are executed anew in a fresh `__main__`-less namespace, so that a test
    never sees what an earlier one left behind.
    """

    source: str
    calls: tuple[Call, ...]
    setup: str = ""
    seed: int = 0
    """0 is the seed of verdicts; another value runs under another hash seed and another state of `random`."""
    trusted: bool = False
    """Whether the program's word about its own CPU time can be taken, as with a reference solution. Its process then
    gets all calls at once and answers them in a row, which saves two context switches a call; anybody else's gets the
    next call when the last one is answered and timed."""
    scratch: bool = False
    """Whether the program may write files: into a private `/tmp`, its working folder, that is gone after it. Only the
    tier `full` has one; elsewhere nothing can be written. Costs the start of a fork server per program."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one call ended. `payload` is the encoded tuple of the expressions' values (kind VALUE only)."""

    kind: OutcomeKind
    payload: bytes = b""
    detail: str = ""
    """One line for people: the exception's class and message, the signal, the limit."""
    cpu_s: float = 0.0
    shared_process: bool = False
    """Lower trust: a check program and the candidate shared one process, because data could not cross between them."""

    def values(self) -> tuple[object, ...]:
        """Decode the payload into plain data. Raises CodecError on anything but a VALUE outcome's payload."""
        decoded = codec.decode(self.payload)
        if not isinstance(decoded, tuple):
            raise codec.CodecError("an outcome's payload must be a tuple")
        return decoded


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """Outcomes in the order of the program's calls, and how loading went.

    `load` is VALUE if source and setup ran to their end in the first attempt; otherwise it says how they failed, and
    every outcome repeats it.
    """

    load: Outcome
    outcomes: tuple[Outcome, ...]

    @property
    def loaded(self) -> bool:
        """Whether source and setup ran to their end."""
        return self.load.kind is OutcomeKind.VALUE
