"""What runs in the child of a check program: the candidate is in another process, reached through stand-ins."""

from __future__ import annotations

import builtins
import collections
import dis
import sys
import types
from typing import Any

from code_a1.sandbox import codec
from code_a1.sandbox.live import decode_live
from code_a1.sandbox.runner import MODULE, Runner, answer, receive, send
from code_a1.sandbox.wire import RELAY


def run(runner: Runner, entry_point: str, nonce: bytes) -> None:
    """Run the check program to its end and say how it went; then wait for the end."""
    link = Link(nonce, runner.result_bytes)

    def work() -> bytes:
        check(runner, entry_point, link)
        return b""

    try:
        answer(link, work)
    finally:
        receive()


class Link:
    """The way to the candidate. `nonce` is that of the message to answer next."""

    def __init__(self, nonce: bytes, max_bytes: int) -> None:
        self.nonce = nonce
        self.max_bytes = max_bytes

    def call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Have the candidate's process call `name`."""
        send(self.nonce, RELAY, b"", codec.encode((name, args, kwargs), max_bytes=self.max_bytes))
        self.nonce, body = receive()
        if body[:1] != b"V":
            raise remote_error(body[1:].decode("utf-8", "replace"))
        value, *changed = decode_live(body[1:])
        if changed:
            for mine, theirs in zip((*args, *kwargs.values()), (*changed[0], *changed[1].values()), strict=False):
                overwrite(mine, theirs)
        return value


def check(runner: Runner, entry_point: str, link: Link) -> None:
    """Execute the source with stand-ins for what it does not define, then call its `check`, if it has one."""
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    namespace = module.__dict__
    runner.settle()
    code = compile(runner.texts[0][0], "<check>", "exec", dont_inherit=True)
    stand_in = _stand_in(link, entry_point)
    for name in missing_names(code):
        namespace[name] = _stand_in(link, name)
    namespace |= {"__builtins__": builtins, "candidate": stand_in, entry_point: stand_in}
    exec(code, namespace)  # noqa: S102 - what this process is for
    program = namespace.get("check")
    if program is not None and program is not stand_in:
        if entry_point != "check":
            namespace[entry_point] = stand_in  # the source may hold the problem's stub
        program(stand_in)


def _stand_in(link: Link, name: str) -> Any:
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return link.call(name, args, kwargs)

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def missing_names(code: types.CodeType) -> set[str]:
    """Global names that the program uses, but neither defines nor finds among the built-ins: the solution's."""
    used: set[str] = set()
    defined: set[str] = set()
    todo = [code]
    while todo:
        part = todo.pop()
        for instruction in dis.get_instructions(part):
            if instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
                used.add(instruction.argval)
            elif instruction.opname in ("STORE_NAME", "STORE_GLOBAL"):
                defined.add(instruction.argval)
        todo += [constant for constant in part.co_consts if isinstance(constant, types.CodeType)]
    return {name for name in used - defined if not hasattr(builtins, name) and not name.startswith("__")}


def overwrite(mine: Any, theirs: Any) -> None:
    """Make an argument look as the candidate left its copy."""
    if isinstance(mine, list | bytearray):
        mine[:] = theirs
    elif isinstance(mine, dict | set):
        mine.clear()
        mine.update(theirs)
    elif isinstance(mine, collections.deque):
        mine.clear()
        mine.extend(theirs)


def remote_error(detail: str) -> Exception:
    """The exception that the candidate raised: of the same class if that is a built-in one, else a RuntimeError.

    Never one that ends an iteration: `all(map(candidate, …))` would take it for the end of the tests.
    """
    name, _, text = detail.partition(": ")
    cls = getattr(builtins, name, None)
    silent = (StopIteration, StopAsyncIteration, UnicodeError, Warning)
    if isinstance(cls, type) and issubclass(cls, Exception) and not issubclass(cls, silent):
        return cls(text)
    return RuntimeError(detail)
