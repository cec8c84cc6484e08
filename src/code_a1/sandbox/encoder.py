"""Values to bytes: the direction that runs inside the process of the untrusted code."""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import decimal
import enum
import fractions
import itertools
import re
import struct
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from code_a1.errors import CodecError
from code_a1.sandbox import tags
from code_a1.sandbox.values import Array, Iterated, Structure

_PACK_COUNT = struct.Struct("<cI").pack
_PACK_INT = struct.Struct("<cq").pack
_PACK_FLOAT = struct.Struct("<cd").pack
_PACK_COMPLEX = struct.Struct("<cdd").pack
_MRO = type.__dict__["__mro__"].__get__
_NAME = type.__dict__["__name__"].__get__
_VARS = type.__dict__["__dict__"].__get__
_BASICSIZE = type.__dict__["__basicsize__"].__get__


class TooLarge(CodecError):
    """The value is representable, but over the limit of bytes, items or digits."""


def encode(value: object, *, max_bytes: int = tags.MAX_BYTES) -> bytes:
    """The value as bytes. Raises TooLarge over a limit and CodecError for what is not data (functions, cycles …)."""
    return Encoder(max_bytes).encode(value)


class Encoder:
    """One encoding in progress: the bytes so far and what is left of the limits."""

    __slots__ = ("depth", "items", "max_bytes", "out")

    def __init__(self, max_bytes: int) -> None:
        self.out = bytearray()
        self.max_bytes = max_bytes
        self.items = 0
        self.depth = 0

    def encode(self, value: object) -> bytes:
        """Encode one value; the object is used once."""
        self.value(value)
        if len(self.out) > self.max_bytes:
            raise TooLarge(f"an encoded value of more than {self.max_bytes} bytes")
        return bytes(self.out)

    def value(self, value: Any) -> None:
        """Append one value."""
        kind = type(value)
        write = WRITERS.get(kind) or _writer_of_subclass(kind)
        write(self, value)

    def sequence(self, tag: bytes, count: int, values: Iterable[object]) -> None:
        """Append `count` values after their tag."""
        self.items += count
        if self.items > tags.MAX_ITEMS:
            raise TooLarge(f"more than {tags.MAX_ITEMS} values")
        if self.depth >= tags.MAX_DEPTH:
            raise CodecError(f"nested deeper than {tags.MAX_DEPTH} levels, or cyclic")
        self.depth += 1
        out, limit = self.out, self.max_bytes
        if count > limit - len(out):  # a value takes a byte at least
            raise TooLarge(f"an encoded value of more than {limit} bytes")
        out += _PACK_COUNT(tag, count)
        for value in values:
            kind = type(value)
            if kind is int and -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:  # type: ignore[operator]
                out += _PACK_INT(tags.INT64, value)  # most values are, and a call costs more than the rest
                continue
            (WRITERS.get(kind) or _writer_of_subclass(kind))(self, value)
            if len(out) > limit:
                raise TooLarge(f"an encoded value of more than {limit} bytes")
        self.depth -= 1

    def blob(self, tag: bytes, content: bytes) -> None:
        """Append length-prefixed bytes."""
        if len(content) > self.max_bytes:
            raise TooLarge(f"an encoded value of more than {self.max_bytes} bytes")
        self.out += _PACK_COUNT(tag, len(content))
        self.out += content


Writer = Callable[[Encoder, Any], None]


def _constant(tag: bytes) -> Writer:
    def write(encoder: Encoder, _value: object) -> None:
        encoder.out += tag

    return write


def _int(encoder: Encoder, value: int) -> None:
    number = int.__index__(value)
    if -0x8000000000000000 <= number <= 0x7FFFFFFFFFFFFFFF:
        encoder.out += _PACK_INT(tags.INT64, number)
        return
    size = (number.bit_length() + 8) // 8
    if size > tags.MAX_INT_BYTES:
        raise TooLarge(f"an integer of more than {tags.MAX_INT_BYTES} bytes")
    encoder.blob(tags.BIG_INT, number.to_bytes(size, "little", signed=True))


def _float(encoder: Encoder, value: float) -> None:
    encoder.out += _PACK_FLOAT(tags.FLOAT, float.__float__(value))


def _complex(encoder: Encoder, value: complex) -> None:
    encoder.out += _PACK_COMPLEX(tags.COMPLEX, _REAL(value), _IMAG(value))


_REAL = complex.__dict__["real"].__get__
_IMAG = complex.__dict__["imag"].__get__


def _str(encoder: Encoder, value: str) -> None:
    encoder.blob(tags.STR, str.encode(value, "utf-8", "surrogatepass"))


def _bytes(encoder: Encoder, value: bytes) -> None:
    encoder.blob(tags.BYTES, bytes.__getitem__(value, slice(0, None)))


def _bytearray(encoder: Encoder, value: bytearray) -> None:
    encoder.blob(tags.BYTEARRAY, bytes(bytearray.__getitem__(value, slice(0, None))))


def _sequence_of(tag: bytes, cls: Any) -> Writer:
    length, iterate = cls.__len__, cls.__iter__

    def write(encoder: Encoder, value: Any) -> None:
        encoder.sequence(tag, length(value), iterate(value))

    return write


def _dict_of(tag: bytes) -> Writer:
    flatten = itertools.chain.from_iterable

    def write(encoder: Encoder, value: dict[object, object]) -> None:
        encoder.sequence(tag, 2 * dict.__len__(value), flatten(dict.items(value)))

    return write


def _ordered_dict(encoder: Encoder, value: collections.OrderedDict[object, object]) -> None:
    keys = list(collections.OrderedDict.__iter__(value))
    pairs = [part for key in keys for part in (key, dict.__getitem__(value, key))]
    encoder.sequence(tags.ORDERED_DICT, len(pairs), pairs)


def _deque(encoder: Encoder, value: collections.deque[object]) -> None:
    maxlen = collections.deque.__dict__["maxlen"].__get__(value)
    items = [maxlen, *collections.deque.__iter__(value)]
    encoder.sequence(tags.DEQUE, len(items), items)


def _parts_of(tag: bytes, cls: Any, names: tuple[str, ...]) -> Writer:
    getters = [cls.__dict__[name].__get__ for name in names]

    def write(encoder: Encoder, value: object) -> None:
        encoder.sequence(tag, len(getters), [get(value) for get in getters])

    return write


_DATETIME_PARTS = [
    *(dt.date.__dict__[name].__get__ for name in ("year", "month", "day")),
    *(dt.datetime.__dict__[n].__get__ for n in ("hour", "minute", "second", "microsecond", "fold", "tzinfo")),
]


def _datetime(encoder: Encoder, value: dt.datetime) -> None:
    encoder.sequence(tags.DATETIME, len(_DATETIME_PARTS), [get(value) for get in _DATETIME_PARTS])


def _decimal(encoder: Encoder, value: decimal.Decimal) -> None:
    text = decimal.Decimal.__str__(value)
    if len(text) > tags.MAX_DECIMAL_CHARS:
        raise TooLarge(f"a Decimal of more than {tags.MAX_DECIMAL_CHARS} characters")
    encoder.blob(tags.DECIMAL, text.encode("ascii"))


def _fraction(encoder: Encoder, value: fractions.Fraction) -> None:
    parts = [object.__getattribute__(value, name) for name in ("_numerator", "_denominator")]
    if not all(isinstance(part, int) for part in parts):
        raise CodecError("a Fraction whose parts are not integers")
    if any(int.bit_length(part) // 8 >= tags.MAX_FRACTION_BYTES for part in parts):
        raise TooLarge(f"a Fraction with a part of more than {tags.MAX_FRACTION_BYTES} bytes")
    encoder.sequence(tags.FRACTION, 2, parts)


def _timezone(encoder: Encoder, value: dt.timezone) -> None:
    encoder.sequence(tags.TIMEZONE, 1, [dt.timezone.utcoffset(value, None)])


def _class(encoder: Encoder, value: type) -> None:
    name = _NAME(value)
    if tags.BUILTIN_CLASSES.get(name) is not value:
        raise CodecError(f"the class {name!r} cannot leave its process")
    encoder.blob(tags.CLASS, name.encode())


def _materialise(kind: str) -> Writer:
    def write(encoder: Encoder, value: Iterable[object]) -> None:
        # One byte a value at least: the byte limit bounds what an endless iterator may give.
        left = min(tags.MAX_ITEMS - encoder.items, encoder.max_bytes - len(encoder.out))
        items = tuple(itertools.islice(value, max(left, 0) + 1))
        if len(items) > left:
            raise TooLarge("an iterator without end, or over the limits")
        _iterated(encoder, Iterated(kind, items))

    return write


def _iterated(encoder: Encoder, value: Iterated) -> None:
    encoder.sequence(tags.ITERATED, 1 + len(value.items), [value.kind, *value.items])


def _structure(encoder: Encoder, value: Structure) -> None:
    parts: list[object] = [value.kind, value.type_name]
    for name, field in value.fields:
        parts += (name, field)
    encoder.sequence(tags.STRUCTURE, len(parts), parts)


def _array(encoder: Encoder, value: Array) -> None:
    encoder.sequence(tags.ARRAY, 2 + len(value.items), [value.dtype, value.shape, *value.items])


def _numpy_array(encoder: Encoder, value: Any) -> None:
    base = sys.modules["numpy"].ndarray
    if base.size.__get__(value) > tags.MAX_ITEMS - encoder.items:
        raise TooLarge(f"more than {tags.MAX_ITEMS} values")
    flat = base.tolist(base.reshape(value, -1))
    _array(encoder, Array(str(base.dtype.__get__(value)), tuple(base.shape.__get__(value)), tuple(flat)))


def _numpy_scalar(encoder: Encoder, value: Any) -> None:
    plain = sys.modules["numpy"].generic.item(value)
    if type(plain) not in WRITERS:
        raise CodecError(f"the numpy type {_NAME(type(value))!r} has no Python number")
    encoder.value(plain)


def _match(encoder: Encoder, value: re.Match[str]) -> None:
    """What a regular expression found; that is all that tests look at, next to whether there is a match."""
    fields = (("groups", value.groups()), ("match", value.group()), ("span", value.span()))
    _structure(encoder, Structure("Match", fields))


def _exception(encoder: Encoder, value: BaseException) -> None:
    args = BaseException.__dict__["args"].__get__(value)
    _structure(encoder, Structure(_NAME(type(value)), (("args", args),), "exception"))


def _enum_member(encoder: Encoder, value: enum.Enum) -> None:
    state = object.__getattribute__(value, "__dict__")
    fields = (("name", dict.get(state, "_name_")), ("value", dict.get(state, "_value_")))
    _structure(encoder, Structure(_NAME(type(value)), fields, "enum"))


def _namedtuple(encoder: Encoder, value: tuple[object, ...]) -> None:
    names = _namedtuple_fields(type(value))
    items = tuple(tuple.__iter__(value))
    if names is None or len(names) != len(items):
        encoder.sequence(tags.TUPLE, len(items), items)
    else:
        _structure(encoder, Structure(_NAME(type(value)), tuple(zip(names, items, strict=True)), "namedtuple"))


def _namedtuple_fields(kind: type) -> tuple[str, ...] | None:
    for cls in _MRO(kind):
        names = _VARS(cls).get("_fields")
        if type(names) is tuple and all(type(name) is str for name in names):
            return names
    return None


def _object(encoder: Encoder, value: object) -> None:
    kind = type(value)
    state: dict[str, object] = {}
    for cls in _MRO(kind)[:-1]:
        for name, member in list(_VARS(cls).items()):
            if type(member) is types.MemberDescriptorType:
                try:
                    state[name] = member.__get__(value)
                except AttributeError:
                    continue  # a slot that was never set
    with contextlib.suppress(AttributeError):  # __slots__ without __dict__
        state |= object.__getattribute__(value, "__dict__")
    declared = _VARS(kind).get("__dataclass_fields__")
    names = sorted(n for n in state if type(n) is str and (type(declared) is not dict or n in declared))
    if len(names) != len(state) and type(declared) is not dict:
        raise CodecError(f"an instance of {_NAME(kind)!r} has attributes that are not strings")
    _structure(encoder, Structure(_NAME(kind), tuple([(name, state[name]) for name in names])))


def _unrepresentable(_encoder: Encoder, value: object) -> None:
    raise CodecError(f"a value of type {_NAME(type(value))!r} cannot leave its process as data")


def _is_plain_class(kind: type) -> bool:
    """Whether instances hold nothing beyond `__dict__` and `__slots__` (a C type hides its state in its size)."""
    slots = 0
    layered = False
    for cls in _MRO(kind)[-2::-1]:
        members = _VARS(cls)
        layered = layered or "__slots__" in members or "__dict__" in members
        slots += sum(type(m) is types.MemberDescriptorType for m in list(members.values()))
        if not layered:
            return False
    word = struct.calcsize("P")
    return bool(_BASICSIZE(kind) <= object.__basicsize__ + word * (slots + 2))


def _writer_of_subclass(kind: type) -> Writer:  # noqa: PLR0911 - a table of rules
    """The writer of a type that is not in the table: its first built-in base decides."""
    for cls in _MRO(kind):
        if (name := _NAME(cls)) in ("ndarray", "generic") and getattr(sys.modules.get("numpy"), name, None) is cls:
            return _numpy_array if name == "ndarray" else _numpy_scalar
        if cls is tuple:
            return _namedtuple
        if cls in WRITERS and cls is not type:
            return WRITERS[cls]
        if cls is BaseException:
            return _exception
        if cls is enum.Enum:
            return _enum_member_like(kind)
    if issubclass(kind, type) or not _is_plain_class(kind):
        return _class if issubclass(kind, type) else _unrepresentable
    return _object


def _enum_member_like(kind: type) -> Writer:
    """Members of IntEnum and StrEnum equal their values in Python, so they cross as those."""
    for cls in _MRO(kind):
        if cls in (int, str, float, bytes):
            return WRITERS[cls]
    return _enum_member


_ITERATORS: tuple[Any, ...] = (
    types.GeneratorType, map, filter, zip, enumerate, reversed, type(iter([])), type(iter(())), type(iter({})),
    type(iter({}.values())), type(iter({}.items())), type(iter(set())), type(iter("")), type(iter("\u0100")),
    type(iter(b"")), type(iter(bytearray())), type(iter(range(0))), type(iter(range(1 << 70))), type(reversed([])),
    type(reversed({})), type(reversed(range(0))), type(iter(collections.deque())), type(iter(int, 0)),
    *(getattr(itertools, name) for name in dir(itertools) if isinstance(getattr(itertools, name), type)),
)  # fmt: skip

WRITERS: dict[type, Writer] = {
    type(None): _constant(tags.NONE),
    type(Ellipsis): _constant(tags.ELLIPSIS),
    type(NotImplemented): _constant(tags.NOT_IMPLEMENTED),
    bool: lambda encoder, value: encoder.out.extend(tags.TRUE if value is True else tags.FALSE),
    int: _int,
    float: _float,
    complex: _complex,
    str: _str,
    bytes: _bytes,
    bytearray: _bytearray,
    list: _sequence_of(tags.LIST, list),
    tuple: _sequence_of(tags.TUPLE, tuple),
    set: _sequence_of(tags.SET, set),
    frozenset: _sequence_of(tags.FROZENSET, frozenset),
    dict: _dict_of(tags.DICT),
    collections.Counter: _dict_of(tags.COUNTER),
    collections.defaultdict: _dict_of(tags.DEFAULTDICT),
    collections.OrderedDict: _ordered_dict,
    collections.deque: _deque,
    range: _parts_of(tags.RANGE, range, ("start", "stop", "step")),
    slice: _parts_of(tags.SLICE, slice, ("start", "stop", "step")),
    decimal.Decimal: _decimal,
    fractions.Fraction: _fraction,
    dt.datetime: _datetime,
    dt.date: _parts_of(tags.DATE, dt.date, ("year", "month", "day")),
    dt.time: _parts_of(tags.TIME, dt.time, ("hour", "minute", "second", "microsecond", "fold", "tzinfo")),
    dt.timedelta: _parts_of(tags.TIMEDELTA, dt.timedelta, ("days", "seconds", "microseconds")),
    dt.timezone: _timezone,
    type: _class,
    re.Match: _match,
    Structure: _structure,
    Array: _array,
    Iterated: _iterated,
    type({}.keys()): _materialise("dict_keys"),
    type({}.values()): _materialise("dict_values"),
    type({}.items()): _materialise("dict_items"),
    **dict.fromkeys(_ITERATORS, _materialise("iterator")),
}
