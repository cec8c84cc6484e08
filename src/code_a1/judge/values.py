"""Plain values as Python source, so that a test says what its call gets."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import fractions
import math
from collections.abc import Callable
from typing import Any

MAX_CHARS = 200_000
"""Longer arguments stay as the test computes them."""


class NotWritable(Exception):
    """The value has no source, or a source that is too long."""


def written(value: Any, modules: set[str]) -> str:
    """An expression for the value; `modules` gets the names of modules that it needs. Raises NotWritable."""
    try:
        text = _write(value, modules)
    except (ValueError, RecursionError) as error:  # an int of more digits than str() converts
        raise NotWritable(str(error)) from None
    if len(text) > MAX_CHARS:
        raise NotWritable(f"longer than {MAX_CHARS} characters")
    return text


def _write(value: Any, modules: set[str]) -> str:
    kind = type(value)
    if kind in _WRITERS:
        return _WRITERS[kind](value, modules)
    raise NotWritable(f"a value of type {kind.__name__} has no source")


def _float(value: float, _modules: set[str]) -> str:
    return repr(value) if math.isfinite(value) else f"float('{value!r}')"


def _list(value: list[Any], modules: set[str]) -> str:
    return f"[{', '.join([_write(v, modules) for v in value])}]"


def _tuple(value: tuple[Any, ...], modules: set[str]) -> str:
    return f"({', '.join([_write(v, modules) for v in value])}{',' if len(value) == 1 else ''})"


def _set(value: set[Any], modules: set[str]) -> str:
    return f"{{{', '.join(sorted(_write(v, modules) for v in value))}}}" if value else "set()"


def _dict(value: dict[Any, Any], modules: set[str]) -> str:
    return f"{{{', '.join([f'{_write(k, modules)}: {_write(v, modules)}' for k, v in value.items()])}}}"


def _called(name: str, inner: Callable[[Any, set[str]], str], module: str = "") -> Callable[[Any, set[str]], str]:
    def write(value: Any, modules: set[str]) -> str:
        if module:
            modules.add(module)
        return f"{module + '.' if module else ''}{name}({inner(value, modules)})"

    return write


def _deque(value: collections.deque[Any], modules: set[str]) -> str:
    modules.add("collections")
    bound = "" if value.maxlen is None else f", {value.maxlen}"
    return f"collections.deque({_list(list(value), modules)}{bound})"


def _dated(value: Any, modules: set[str]) -> str:
    if getattr(value, "tzinfo", None) is not None or getattr(value, "fold", False):
        raise NotWritable("a time with a zone")
    modules.add("datetime")
    return repr(value)


def _plain(value: Any, _modules: set[str]) -> str:
    return repr(value)


def _text(value: Any, _modules: set[str]) -> str:
    return repr(str(value))


_WRITERS: dict[type, Callable[[Any, set[str]], str]] = {
    type(None): _plain,
    bool: _plain,
    int: _plain,
    str: _plain,
    bytes: _plain,
    range: _plain,
    type(...): _plain,
    float: _float,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    set: _set,
    frozenset: _called("frozenset", lambda v, m: _list(sorted(v, key=repr), m) if v else ""),
    bytearray: _called("bytearray", lambda v, _: repr(bytes(v))),
    complex: _called("complex", lambda v, m: f"{_float(v.real, m)}, {_float(v.imag, m)}"),
    decimal.Decimal: _called("Decimal", _text, "decimal"),
    fractions.Fraction: _called("Fraction", lambda v, _: f"{v.numerator}, {v.denominator}", "fractions"),
    collections.deque: _deque,
    collections.Counter: _called("Counter", _dict, "collections"),
    collections.OrderedDict: _called("OrderedDict", lambda v, m: _list(list(v.items()), m), "collections"),
    dt.date: _dated,
    dt.datetime: _dated,
    dt.time: _dated,
    dt.timedelta: _dated,
}
_MUTABLE = (list, dict, set, bytearray, collections.deque)


def is_mutable(value: object) -> bool:
    """Whether a call could change the value, or a part of it, in place."""
    if isinstance(value, tuple):
        return any(map(is_mutable, value))
    return isinstance(value, _MUTABLE)


def in_place(path: str, changed: str, value: object) -> str:
    """Statements that make what stands at `path` look like `changed`. Raises NotWritable."""
    if isinstance(value, list | bytearray):
        return f"{path}[:] = {changed}"
    if isinstance(value, dict | set):
        return f"{path}.clear()\n{path}.update({changed})"
    if isinstance(value, collections.deque):
        return f"{path}.clear()\n{path}.extend({changed})"
    raise NotWritable("a tuple of things that may change")
