"""File access by path (Landlock): reading a few folders, writing nowhere but to /dev/null."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection, Iterable, Iterator

from code_a1.sandbox import syscalls

_VERSION_QUERY = 1
_PATH_BENEATH = 1
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OWN_FILES = _WRITE_FILE | _READ_FILE | _READ_DIR | _TRUNCATE | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13
"""Also removing folders and files, making both, and moving them."""
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Number of file rights that a version of the interface knows."""


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int)]


def version() -> int:
    """Version of the kernel's interface, 0 without one."""
    try:
        return syscalls.call("landlock_create_ruleset", 0, 0, _VERSION_QUERY)
    except OSError:
        return 0


def restrict(
    readable: Iterable[str],
    devices: Iterable[str],
    hidden: Collection[str] = (),
    *,
    writable: Iterable[str] = (),
) -> None:
    """Allow this thread and what it starts to read beneath `readable` and to use `devices`; nothing else.

    Beneath `writable` files and folders may be made, changed and removed.

    The folders `hidden` cannot be read even where they lie beneath a readable one. TCP and, where the kernel can,
    signals and abstract sockets to processes outside are denied as well. Raises OSError.
    """
    known = version()
    if not known:
        raise OSError("the kernel offers no Landlock (it came with 5.13, and must be in the list of active LSMs)")
    handled = (1 << _FILE_RIGHTS.get(known, 16)) - 1
    rules = _Ruleset(handled, 3 if known >= 4 else 0, 3 if known >= 6 else 0)
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = syscalls.call("landlock_create_ruleset", ctypes.byref(rules), size, 0)
    try:
        for path in readable:
            for part, whole in _around(path, hidden):
                listing = _READ_DIR if os.path.isdir(part) else 0  # noqa: PTH112
                _allow(ruleset, part, listing | (_READ_FILE if whole else 0))
        for path in writable:
            _allow(ruleset, path, handled & _OWN_FILES)
        for path in devices:
            _allow(ruleset, path, handled & (_READ_FILE | _WRITE_FILE | _TRUNCATE))
        syscalls.call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _around(path: str, hidden: Collection[str]) -> Iterator[tuple[str, bool]]:
    """The path, or the parts of it that are not hidden: each with whether it may be read, and not just listed."""
    real = os.path.realpath(path)
    if real in hidden:
        return
    whole = not any(place.startswith(real.rstrip("/") + "/") for place in hidden)
    yield path, whole
    if not whole:
        with os.scandir(real) as entries:
            for entry in entries:
                if not entry.is_symlink():  # its target has a rule of its own, or none
                    yield from _around(entry.path, hidden)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        rule = _Beneath(access, descriptor)
        syscalls.call("landlock_add_rule", ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
