"""What runs in the forked child: load the program, evaluate one call after another, answer with data.

Everything below shares its process with code that nobody trusts. What that code does to it changes nothing but the
answers about itself: the worker accepts one record per call, with the nonce that came with the call. The built-ins that
are needed afterwards are bound here, before that code runs, so that a careless `builtins.len = …` harms no answer.
"""

from __future__ import annotations

import builtins
import decimal
import functools
import io
import marshal
import os
import random
import sys
import time
import types
from collections.abc import Callable
from typing import Any, Protocol

from code_a1.errors import CodecError
from code_a1.sandbox import codec
from code_a1.sandbox.live import decode_live
from code_a1.sandbox.programs import OutcomeKind
from code_a1.sandbox.wire import ALL_CALLS, CODES, CPU_S, FRAME, MAX_DETAIL, NONCE_BYTES, RECORD, SCRIPT, clip

CHANNEL = 3
"""The descriptor of the child's end of its private socket."""
MODULE = "solution"
"""`__name__` of a program's namespace, under which `sys.modules` knows it."""

_read, _write, _exit, _exec, _eval, _compile, _len = os.read, os.write, os._exit, exec, eval, compile, len
_loads, _seed, _type, _str, _tuple, _dict = marshal.loads, random.seed, type, str, tuple, dict
_setrecursionlimit, _module, _process_time = sys.setrecursionlimit, types.ModuleType, time.process_time
_partial = functools.partial
_setcontext, _getcontext, _DECIMAL = decimal.setcontext, decimal.getcontext, decimal.Context()
_modules = sys.modules
_builtins = builtins.__dict__
_pristine_builtins = dict(_builtins)
_VALUE, _RAISED, _MEMORY = (CODES[k] for k in (OutcomeKind.VALUE, OutcomeKind.RAISED, OutcomeKind.MEMORY))
_TOO_LARGE, _UNREPRESENTABLE = CODES[OutcomeKind.OUTPUT_LIMIT], CODES[OutcomeKind.UNREPRESENTABLE]


_SHARED = ("builtins", "__self__", "modules", "decimal", "random", "statistics")
"""Words without which no program that is not out for it changes what calls share."""


def seed_all(seed: int) -> None:
    """Seed the generators that programs use without an own seed."""
    _seed(seed)
    numpy = _modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)


def _reset_decimal() -> None:
    context = _getcontext()
    if context.prec != _DECIMAL.prec or context.rounding != _DECIMAL.rounding or context.Emax != _DECIMAL.Emax:
        _setcontext(_DECIMAL.copy())


def receive() -> tuple[bytes, bytes]:
    """Nonce and body of the next message. Ends the process when the worker is gone."""
    buffer = _read(CHANNEL, 65536)
    while _len(buffer) < FRAME.size:
        more = _read(CHANNEL, 65536)
        if not more:
            _exit(0)
        buffer += more
    size = FRAME.size + FRAME.unpack_from(buffer)[0]
    if _len(buffer) < size:
        parts, have = [buffer], _len(buffer)
        while have < size:
            more = _read(CHANNEL, min(size - have, 1 << 20))
            if not more:
                _exit(0)
            parts.append(more)
            have += _len(more)
        buffer = b"".join(parts)
    start = FRAME.size + NONCE_BYTES
    return buffer[FRAME.size : start], buffer[start:]


def send(nonce: bytes, code: int, detail: bytes = b"", payload: bytes = b"") -> None:
    """Write one record."""
    record = RECORD.pack(nonce, code, _len(detail), _len(payload)) + detail + payload
    done = _write(CHANNEL, record)
    while done < _len(record):
        done += _write(CHANNEL, memoryview(record)[done : done + (1 << 20)])


def describe(error: BaseException) -> tuple[int, bytes]:
    """Kind and one line about an exception that ended a call."""
    if isinstance(error, MemoryError):
        return _MEMORY, b"MemoryError"
    if isinstance(error, codec.TooLarge):
        return _TOO_LARGE, clip(_str(error))
    if isinstance(error, CodecError):
        return _UNREPRESENTABLE, clip(_str(error))
    name = type.__dict__["__name__"].__get__(_type(error))
    try:
        text = _str(error)[:MAX_DETAIL]
    except BaseException:
        text = "(the exception's text raised as well)"
    return _RAISED, clip(f"{name}: {text}")


class Runner:
    """A program in its process."""

    def __init__(self, source: str, setup: str, seed: int, result_bytes: int) -> None:
        self.texts = [(source, "<solution>"), (setup, "<setup>")] if setup else [(source, "<solution>")]
        self.seed = seed
        self.result_bytes = result_bytes
        self.compiled: list[types.CodeType] | None = None
        self.fresh: dict[str, Any] | None = None
        self.used = False
        self.streams = (sys.stdin, sys.stdout, sys.stderr)
        self.recursion_limit = sys.getrecursionlimit()
        self.words: set[str] = set()
        self.read(source)
        self.read(setup)

    def read(self, text: str) -> None:
        """Note which shared things the text names: only those are put back between calls.

        Looking at them all would copy a hundred pages in every child, and what a program hides from this it does to its
        own answers alone.
        """
        for word in _SHARED:
            if word in text:
                self.words.add(word)

    def load(self) -> dict[str, Any]:
        """Execute source and setup in a new namespace."""
        if self.compiled is None:
            self.compiled = [_compile(text, name, "exec", 0, True) for text, name in self.texts]
        module = _module(MODULE)
        _modules[MODULE] = module
        namespace = module.__dict__
        namespace["__builtins__"] = builtins
        self.settle()
        for code in self.compiled:
            _exec(code, namespace)
        return namespace

    def load_ahead(self) -> bytes:
        """Load for the call that comes next; nothing is to be told about it."""
        self.fresh = self.load()
        return b""

    def settle(self) -> None:
        """Put back what an earlier call of the same program may have left behind in shared places."""
        if not self.used:  # forked a moment ago from a server that is as it should be
            self.used = True
            return
        _setrecursionlimit(self.recursion_limit)
        self.restore_builtins()
        if "decimal" in self.words:
            _reset_decimal()
        if self.words & {"random", "statistics"}:
            seed_all(self.seed)
        if (sys.stdin, sys.stdout, sys.stderr) != self.streams or sys.stdout.closed or sys.stdin.closed:
            self.reopen()

    def restore_builtins(self) -> None:
        """Take back a `builtins.len = …`."""
        if self.words & {"builtins", "__self__", "modules"} and _builtins != _pristine_builtins:
            _builtins.clear()
            _builtins.update(_pristine_builtins)

    def reopen(self) -> None:
        """Streams like those at the start, after the program replaced or closed them."""
        sys.stdin, sys.stdout = io.open(0, closefd=False), io.open(1, "w", closefd=False)  # noqa: UP020, SIM115
        sys.stderr = io.open(2, "w", errors="backslashreplace", closefd=False)  # noqa: UP020, SIM115
        self.streams = (sys.stdin, sys.stdout, sys.stderr)

    def call(self, body: bytes) -> bytes:
        """Evaluate one call in a namespace of its own; the encoded tuple of its values."""
        message = _loads(body)
        if _len(message) == 1:
            return self.relayed(message[0])
        expressions, prelude, bindings = message
        namespace, self.fresh = self.fresh, None
        if namespace is None:
            namespace = self.load()
        # a copy: a test that names its variables like the program's own globals must not change the program
        namespace = _dict(namespace)
        if bindings:
            namespace.update(decode_live(bindings))
        if prelude:
            self.read(prelude)
            _exec(_compile(prelude, "<prelude>", "exec", 0, True), namespace)
        values = []
        for text in expressions:
            self.read(text)
            values.append(_eval(_compile(text.lstrip(" \t"), "<expression>", "eval", 0, True), namespace))
        _setrecursionlimit(self.recursion_limit)
        self.restore_builtins()  # the codec works with them
        return codec.encode(_tuple(values), max_bytes=self.result_bytes)

    def relayed(self, request: bytes) -> bytes:
        """One call by a check program, in the namespace that its earlier calls used; changed arguments go back too."""
        if self.fresh is None:
            self.fresh = self.load()
        name, args, kwargs = decode_live(request)
        if name not in self.fresh:
            raise NameError(f"name {name!r} is not defined")
        value = self.fresh[name](*args, **kwargs)
        _setrecursionlimit(self.recursion_limit)
        after = codec.encode((name, args, kwargs), max_bytes=self.result_bytes)
        values = (value,) if after == request else (value, args, kwargs)
        return codec.encode(values, max_bytes=self.result_bytes)


REHEARSED = """
import math
from typing import List
class Point:
    def __init__(self, x): self.x = x
def solve(items: List[int], text="a", *more):
    seen = {}
    for i, item in enumerate(items):
        seen[item] = seen.get(item, 0) + i
    words = sorted(f"{text}{k}" for k in seen)
    return [items, {"a": 2.5}, (True, None), math.sqrt(4), len(words), " ".join(words), Point(1).x, {1, 2}]
"""


def rehearse() -> None:
    """In the server: do a few times what every child will do.

    The interpreter fills its caches and specialises its bytecode as code runs; done here, children need not do it each
    for itself, on pages that they would have to copy.
    """
    call = marshal.dumps((("solve([3, 1, 3], 'b')",), "", b""))
    wrong = marshal.dumps((("solve(None)",), "", b""))
    for _ in range(8):
        runner = Runner(REHEARSED, "", 0, 1 << 20)
        runner.load_ahead()
        for body in (call, wrong) * 3:
            try:
                RECORD.pack(b"", _VALUE, 0, len(runner.call(body)))
            except TypeError as error:
                describe(error)
    _modules.pop(MODULE, None)


class Asked(Protocol):
    """Whatever holds the nonce of the message to be answered."""

    nonce: bytes


class Message:
    """A message that waits for its answer."""

    def __init__(self, nonce: bytes) -> None:
        self.nonce = nonce


def answer(asked: Asked, work: Callable[[], bytes], *, timed: bool = False) -> None:
    """Do the work and send its payload, or what it raised; behind the process's CPU clock where the worker asked so."""
    try:
        payload = work()
    except BaseException as error:
        error.__traceback__ = None  # frames may hold the memory that ran out
        code, detail = describe(error)
        payload = b""
    else:
        code, detail = _VALUE, b""
    if timed:
        detail = CPU_S.pack(_process_time()) + detail
    send(asked.nonce, code, detail, payload)


def serve(runner: Runner, nonce: bytes, body: bytes) -> None:
    """Answer messages until the worker ends the process. An empty body asks for the load alone."""
    while True:
        if not body:
            answer(Message(nonce), runner.load_ahead)
        elif body[:1] == ALL_CALLS:  # of a program whose word about its CPU time is taken
            for call in _loads(body[1:]):
                answer(Message(nonce), _partial(runner.call, call), timed=True)
        else:
            answer(Message(nonce), _partial(runner.call, body))
        nonce, body = receive()


def main(confine: Callable[[int, float], None], checker: types.ModuleType, scripts: types.ModuleType) -> None:
    """Entry of a forked child, which never returns.

    `confine(memory_mb, cpu_s)` gives up every privilege; `checker` and `scripts` are the modules
    that run check programs and whole scripts.
    """
    try:
        _write(CHANNEL, b"\0")  # carries the credentials by which the worker knows this process
        nonce, message = receive()  # the program, and behind it the first call
        start = FRAME.size + FRAME.unpack_from(message)[0]
        *program, memory_mb, cpu_s, result_bytes, check_entry = _loads(message[FRAME.size : start])
        body = message[start:]
        confine(memory_mb, cpu_s)
        source, setup, seed = program
        runner = Runner(source, setup, seed, result_bytes)
        del message, program, source, setup
        if check_entry:
            checker.run(runner, check_entry, nonce)
        elif body == SCRIPT:
            scripts.run(runner.texts[0][0], nonce)
        else:
            serve(runner, nonce, body)
    finally:
        _exit(70)
