"""Tags and bounds of the codec, shared by its two directions."""

from __future__ import annotations

MAX_BYTES = 4 << 20
"""Default size of one encoded value."""
MAX_DEPTH = 200
"""Containers within containers; a cycle runs into it."""
MAX_ITEMS = 64_000_000
"""Values within one encoded value; the limit of bytes is reached first unless it is raised."""
MAX_INT_BYTES = 1 << 20
"""Longest integer: a mebibyte, about 2,525,000 decimal digits."""
MAX_DECIMAL_CHARS = 10_000
MAX_FRACTION_BYTES = 4096
"""Longest numerator or denominator: reducing a fraction takes quadratic time."""
MAX_SAME_HASH = 64
"""Keys of one set or dictionary with the same hash: more would make building it quadratic."""

NONE, TRUE, FALSE, ELLIPSIS, NOT_IMPLEMENTED = b"N", b"T", b"F", b"E", b"x"
INT64, BIG_INT, FLOAT, COMPLEX = b"i", b"I", b"f", b"c"
STR, BYTES, BYTEARRAY = b"s", b"b", b"B"
LIST, TUPLE, SET, FROZENSET, DEQUE = b"l", b"t", b"S", b"Z", b"q"
DICT, COUNTER, DEFAULTDICT, ORDERED_DICT = b"d", b"C", b"e", b"o"
RANGE, SLICE, DECIMAL, FRACTION = b"r", b"L", b"D", b"Q"
DATE, TIME, DATETIME, TIMEDELTA, TIMEZONE = b"a", b"h", b"A", b"m", b"z"
STRUCTURE, ARRAY, ITERATED, CLASS = b"R", b"Y", b"g", b"y"

BUILTIN_CLASSES = {
    cls.__name__: cls
    for cls in (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range, slice, object, type,
        BaseException, Exception, ArithmeticError, AssertionError, AttributeError, IndexError, KeyError, LookupError,
        NameError, NotImplementedError, OSError, OverflowError, RecursionError, RuntimeError, StopIteration, TypeError,
        ValueError, ZeroDivisionError,
    )
} | {"NoneType": type(None)}  # fmt: skip
"""Class objects that cross by name."""
