"""Bytes to values: the direction that reads what untrusted code may have written."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import fractions
import struct
from collections.abc import Callable
from typing import Any

from code_a1.errors import CodecError
from code_a1.sandbox import tags
from code_a1.sandbox.values import Array, Iterated, Structure

_COUNT = struct.Struct("<I").unpack_from
_INT = struct.Struct("<q").unpack_from
_FLOAT = struct.Struct("<d").unpack_from
_COMPLEX = struct.Struct("<dd").unpack_from

NAN = float("nan")
"""The one nan that decoding gives: the same object in every container, so that `==` of containers finds it equal."""

_MALFORMED = (ValueError, TypeError, ArithmeticError, IndexError, KeyError, struct.error, RecursionError)


def decode(data: bytes | bytearray | memoryview, revive: Callable[[Any], object] | None = None) -> object:
    """The value that `encode` wrote. Raises CodecError for anything else, trailing bytes included.

    `revive` turns an `Array` or an `Iterated` into what it stands for.
    """
    decoder = Decoder(bytes(data), revive)
    try:
        value = decoder.value()
    except CodecError:
        raise
    except _MALFORMED as error:
        raise CodecError(f"not an encoded value: {type(error).__name__}: {str(error)[:100]}") from None
    if decoder.at != len(decoder.data):
        raise CodecError("bytes after the end of an encoded value")
    return value


class Decoder:
    """One decoding in progress: where it is, and what is left of the limits."""

    __slots__ = ("at", "data", "depth", "items", "revive")

    def __init__(self, data: bytes, revive: Callable[[Any], object] | None) -> None:
        self.revive = revive
        self.data = data
        self.at = 0
        self.items = 0
        self.depth = 0

    def value(self) -> Any:
        """Read one value."""
        at = self.at
        self.at = at + 1
        read = READERS.get(self.data[at])
        if read is None:
            raise CodecError(f"unknown tag {self.data[at]}")
        return read(self)

    def values(self) -> list[Any]:
        """Read a count and that many values."""
        (count,) = _COUNT(self.data, self.at)
        self.at += 4
        self.items += count
        if count > len(self.data) - self.at or self.items > tags.MAX_ITEMS:
            raise CodecError("more values than bytes or than allowed")
        if self.depth >= tags.MAX_DEPTH:
            raise CodecError(f"nested deeper than {tags.MAX_DEPTH} levels")
        self.depth += 1
        items: list[Any] = []
        append, data, readers = items.append, self.data, READERS
        for _ in range(count):
            at = self.at
            self.at = at + 1
            append(readers[data[at]](self))
        self.depth -= 1
        return items

    def parts(self, count: int) -> list[Any]:
        """Read a sequence of exactly `count` values."""
        items = self.values()
        if len(items) != count:
            raise CodecError(f"expected {count} parts, not {len(items)}")
        return items

    def blob(self, longest: int = 1 << 62) -> bytes:
        """Read length-prefixed bytes."""
        (size,) = _COUNT(self.data, self.at)
        start = self.at + 4
        self.at = start + size
        if self.at > len(self.data) or size > longest:
            raise CodecError("a length beyond the end or over the limit")
        return self.data[start : self.at]


Reader = Callable[[Decoder], Any]


def _int(decoder: Decoder) -> int:
    at = decoder.at
    decoder.at = at + 8
    return int(_INT(decoder.data, at)[0])


def _float(decoder: Decoder) -> float:
    at = decoder.at
    decoder.at = at + 8
    number: float = _FLOAT(decoder.data, at)[0]
    return number if number == number else NAN  # noqa: PLR0124 - nan differs from itself


def _complex(decoder: Decoder) -> complex:
    at = decoder.at
    decoder.at = at + 16
    return complex(*_COMPLEX(decoder.data, at))


def _hashable(keys: list[Any]) -> list[Any]:
    """The keys, after making sure that they hash and that no flood of equal hashes makes inserting them quadratic."""
    hashes = [hash(key) for key in keys]
    if len(keys) > tags.MAX_SAME_HASH:
        _, most = collections.Counter(hashes).most_common(1)[0]
        if most > tags.MAX_SAME_HASH:
            raise CodecError(f"more than {tags.MAX_SAME_HASH} keys with the same hash")
    return keys


def _set(decoder: Decoder) -> set[Any]:
    return set(_hashable(decoder.values()))


def _dict(decoder: Decoder) -> dict[Any, Any]:
    parts = decoder.values()
    if len(parts) % 2:
        raise CodecError("a dictionary with a key and no value")
    return dict(zip(_hashable(parts[::2]), parts[1::2], strict=True))


def _counter(decoder: Decoder) -> Any:
    counter: collections.Counter[Any] = collections.Counter()
    dict.update(counter, _dict(decoder))
    return counter


def _deque(decoder: Decoder) -> collections.deque[Any]:
    parts = decoder.values()
    maxlen = parts[0]
    if maxlen is not None and (type(maxlen) is not int or maxlen < len(parts) - 1):
        raise CodecError("a deque longer than its bound")
    return collections.deque(parts[1:], maxlen)


def _exact_ints(parts: list[Any]) -> list[int]:
    if any(type(part) is not int for part in parts):
        raise CodecError("a part that is not an integer")
    return parts


def _decimal(decoder: Decoder) -> decimal.Decimal:
    return decimal.Decimal(decoder.blob(tags.MAX_DECIMAL_CHARS).decode("ascii"))


def _fraction(decoder: Decoder) -> fractions.Fraction:
    numerator, denominator = _exact_ints(decoder.parts(2))
    if denominator <= 0 or max(numerator.bit_length(), denominator.bit_length()) > 8 * tags.MAX_FRACTION_BYTES:
        raise CodecError("a fraction with a bad denominator or over the limit")
    return fractions.Fraction(numerator, denominator)


def _zone(part: object) -> dt.timezone | None:
    if part is not None and type(part) is not dt.timezone:
        raise CodecError("a time zone that is not a fixed offset")
    return part


def _time(decoder: Decoder) -> dt.time:
    *clock, fold, zone = decoder.parts(6)
    hour, minute, second, microsecond = _exact_ints(clock)
    return dt.time(hour, minute, second, microsecond, _zone(zone), fold=fold)


def _datetime(decoder: Decoder) -> dt.datetime:
    *clock, fold, zone = decoder.parts(9)
    year, month, day, *rest = _exact_ints(clock)
    hour, minute, second, microsecond = rest
    return dt.datetime(year, month, day, hour, minute, second, microsecond, _zone(zone), fold=fold)


def _timezone(decoder: Decoder) -> dt.timezone:
    (offset,) = decoder.parts(1)
    return dt.timezone(offset)


def _structure(decoder: Decoder) -> Structure:
    kind, type_name, *parts = decoder.values()
    names = parts[::2]
    if len(parts) % 2 or not all(type(name) is str for name in (kind, type_name, *names)):
        raise CodecError("a structure without kind, name or fields")
    if kind not in ("object", "namedtuple", "enum", "exception"):
        raise CodecError("a structure of unknown kind")
    return Structure(type_name, tuple(zip(names, parts[1::2], strict=True)), kind)


def _array(decoder: Decoder) -> object:
    dtype, shape, *items = decoder.values()
    if type(dtype) is not str or type(shape) is not tuple or len(shape) > 64:
        raise CodecError("an array without type or shape")
    size = 1
    for extent in _exact_ints(list(shape)):
        size *= extent
        if extent < 0 or size.bit_length() > 64:
            raise CodecError("an array of impossible shape")
    if size != len(items):
        raise CodecError("an array whose shape and items disagree")
    array = Array(dtype, shape, tuple(items))
    return decoder.revive(array) if decoder.revive else array


def _iterated(decoder: Decoder) -> object:
    kind, *items = decoder.values()
    if kind not in ("iterator", "dict_keys", "dict_values", "dict_items"):
        raise CodecError("an iterator of unknown kind")
    if kind in ("dict_keys", "dict_items"):
        for item in items:
            if kind == "dict_items" and not (type(item) is tuple and len(item) == 2):
                raise CodecError("a view of items that are not pairs")
        _hashable([item[0] if kind == "dict_items" else item for item in items])
    iterated = Iterated(kind, tuple(items))
    return decoder.revive(iterated) if decoder.revive else iterated


READERS: dict[int, Reader] = {
    tag[0]: reader
    for tag, reader in {
        tags.NONE: lambda _decoder: None,
        tags.TRUE: lambda _decoder: True,
        tags.FALSE: lambda _decoder: False,
        tags.ELLIPSIS: lambda _decoder: ...,
        tags.NOT_IMPLEMENTED: lambda _decoder: NotImplemented,
        tags.INT64: _int,
        tags.BIG_INT: lambda decoder: int.from_bytes(decoder.blob(tags.MAX_INT_BYTES), "little", signed=True),
        tags.FLOAT: _float,
        tags.COMPLEX: _complex,
        tags.STR: lambda decoder: decoder.blob().decode("utf-8", "surrogatepass"),
        tags.BYTES: lambda decoder: decoder.blob(),
        tags.BYTEARRAY: lambda decoder: bytearray(decoder.blob()),
        tags.LIST: lambda decoder: decoder.values(),
        tags.TUPLE: lambda decoder: tuple(decoder.values()),
        tags.SET: _set,
        tags.FROZENSET: lambda decoder: frozenset(_set(decoder)),
        tags.DEQUE: _deque,
        tags.DICT: _dict,
        tags.COUNTER: _counter,
        tags.DEFAULTDICT: lambda decoder: collections.defaultdict(None, _dict(decoder)),
        tags.ORDERED_DICT: lambda decoder: collections.OrderedDict(_dict(decoder)),
        tags.RANGE: lambda decoder: range(*_exact_ints(decoder.parts(3))),
        tags.SLICE: lambda decoder: slice(*decoder.parts(3)),
        tags.DECIMAL: _decimal,
        tags.FRACTION: _fraction,
        tags.DATE: lambda decoder: dt.date(*_exact_ints(decoder.parts(3))),
        tags.TIME: _time,
        tags.DATETIME: _datetime,
        tags.TIMEDELTA: lambda decoder: dt.timedelta(*_exact_ints(decoder.parts(3))),
        tags.TIMEZONE: _timezone,
        tags.STRUCTURE: _structure,
        tags.ARRAY: _array,
        tags.ITERATED: _iterated,
        tags.CLASS: lambda decoder: tags.BUILTIN_CLASSES[decoder.blob(64).decode("ascii")],
    }.items()
}
