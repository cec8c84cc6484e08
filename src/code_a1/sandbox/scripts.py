"""Whole programs that read standard input and write standard output."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Script:
    """A program run as `python solution.py < stdin > stdout` would run it, on real descriptors.

    Its namespace is `__main__`; standard input is a regular file at its start; what it prints is kept in full, up to
    `Limits.result_bytes`; threads that were not joined are waited for, exit handlers run, and buffers are flushed.

    The outcome is VALUE, with the bytes of standard output as its only value, if the process ended with status 0.
    Another status, or an exception that nobody caught, is RAISED. `Limits.cpu_s_per_call` is for the whole run.
    """

    source: str
    stdin: bytes = b""
    seed: int = 0
