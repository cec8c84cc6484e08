"""What runs in the child of a script: the program as `__main__`, on the descriptors that the worker hands over."""

from __future__ import annotations

import _sitebuiltins
import atexit
import builtins
import gc
import os
import socket
import sys
import threading
import types
from typing import Any

from code_a1.sandbox.programs import OutcomeKind
from code_a1.sandbox.runner import CHANNEL, describe, send
from code_a1.sandbox.wire import CODES

NAME = "solution.py"
_exit, _write, _close = os._exit, os.write, os.close


def run(source: str, nonce: bytes) -> None:
    """Say that the streams may come, run the program on them, end the process as the interpreter would.

    What became of it the worker sees from outside: the exit status and the pipe. A line about an exception goes into
    the channel for people.
    """
    send(nonce, CODES[OutcomeKind.VALUE])
    take_streams()
    atexit._clear()
    status, detail = execute(source)
    status = finish(status)
    if status and detail:
        _write(CHANNEL, detail)
    _exit(status)


def take_streams() -> None:
    """Put the worker's descriptors in the place of standard input and output."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=os.dup(CHANNEL))
    with channel:
        _, (stdin, stdout), _, _ = socket.recv_fds(channel, 1, 2)
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    _close(stdin)
    _close(stdout)
    # as the interpreter opens them in a C.UTF-8 locale when they are no terminal
    sys.stdin = sys.__stdin__ = open(  # type: ignore[misc] # noqa: SIM115
        0, encoding="utf-8", errors="surrogateescape", closefd=False
    )
    sys.stdout = sys.__stdout__ = open(  # type: ignore[misc] # noqa: SIM115
        1, "w", encoding="utf-8", errors="surrogateescape", closefd=False
    )


def execute(source: str) -> tuple[int, bytes]:
    """Run the program to the end of its main thread; exit status, and one line about what ended it."""
    sys.argv[:] = [NAME]
    for name in ("exit", "quit"):  # what `site` adds, which our processes start without
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    module: Any = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__.update(__builtins__=builtins, __file__=NAME)
    try:
        exec(compile(source, NAME, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - what this process is for
    except SystemExit as end:
        return exit_status(end.code), b"SystemExit"
    except BaseException as error:
        error.__traceback__ = None
        return 1, describe(error)[1]
    return 0, b""


def exit_status(code: object) -> int:
    """What `sys.exit(code)` makes of its argument."""
    if code is None:
        return 0
    return code & 0xFF if isinstance(code, int) else 1


def finish(status: int) -> int:
    """Wait for threads, run exit handlers, flush; 120 in place of 0 if that fails, as the interpreter has it."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.__stdout__):
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        sys.modules["__main__"].__dict__.clear()  # files that the program left open are flushed as they go
        gc.collect()
    except BaseException:
        return status or 120
    return status
