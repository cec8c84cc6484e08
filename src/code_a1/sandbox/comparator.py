"""Whether two decoded values are equal: Python's `==` on plain data, nan equal to nan, a tolerance for floats if asked.

Beyond `==`: `Structure`s are equal by class name and fields (named tuples as the tuples they are), `Array`s by shape
and items, ordered dictionaries as dictionaries. The work is bounded: values too tangled to compare within the bound are
unequal.
"""

from __future__ import annotations

import collections
import decimal
import math
from collections.abc import Iterable, Set
from typing import Any

from code_a1.sandbox.values import COMPARE, Array, Iterated, Structure

MAX_STEPS = 2_000_000
"""Pairs of values looked at in one comparison."""
_SET_LIKE = (set, frozenset)
_SEQUENCES = (list, tuple, collections.deque)


def equal(a: object, b: object, tolerance: float = 0.0) -> bool:
    """Whether `a` equals `b`; `tolerance` is absolute and relative, and applies to floats at any depth but in keys."""
    if a is b:
        return True
    try:
        return _Comparison(tolerance).equal(a, b)
    except (_OutOfSteps, RecursionError, ArithmeticError):  # a signalling NaN raises at any comparison
        return False


COMPARE[0] = equal


class _OutOfSteps(Exception):
    pass


class _Comparison:
    __slots__ = ("steps", "tolerance")

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.steps = MAX_STEPS

    def equal(self, a: Any, b: Any) -> bool:  # noqa: PLR0911 - a table of rules
        """The rules, most common types first; anything unlisted is left to Python's `==` of immutable built-ins."""
        if a is b:
            return True
        self.steps -= 1
        if self.steps < 0:
            raise _OutOfSteps
        kind, other = type(a), type(b)
        if kind in _NUMBERS and other in _NUMBERS:
            return self.numbers(a, b)
        if kind is Structure or other is Structure:
            return self.structures(a, b)
        if kind in _SEQUENCES or other in _SEQUENCES:
            return kind is other and len(a) == len(b) and self.pairwise(a, b)
        if isinstance(a, dict) or isinstance(b, dict):
            return isinstance(a, dict) and isinstance(b, dict) and self.dicts(a, b)
        if kind in (Array, Iterated) or other in (Array, Iterated):
            return self.records(a, b)
        if kind in _SET_LIKE or other in _SET_LIKE:
            return kind in _SET_LIKE and other in _SET_LIKE and self.sets(a, b)
        if kind is decimal.Decimal and other is decimal.Decimal and a.is_nan() and b.is_nan():
            return True
        return bool(a == b)

    def numbers(self, a: Any, b: Any) -> bool:
        if a == b or (a != a and b != b):  # noqa: PLR0124 - nan differs from itself
            return True
        if not self.tolerance or not (isinstance(a, float | complex) or isinstance(b, float | complex)):
            return False
        if isinstance(a, complex) or isinstance(b, complex):
            a, b = complex(a), complex(b)
            return all(math.isclose(x, y, rel_tol=self.tolerance, abs_tol=self.tolerance)
                       for x, y in ((a.real, b.real), (a.imag, b.imag)))  # fmt: skip
        return math.isclose(a, b, rel_tol=self.tolerance, abs_tol=self.tolerance)

    def pairwise(self, a: Iterable[Any], b: Iterable[Any]) -> bool:
        return all(self.equal(x, y) for x, y in zip(a, b, strict=True))

    def dicts(self, a: dict[Any, Any], b: dict[Any, Any]) -> bool:
        if isinstance(a, collections.Counter) and isinstance(b, collections.Counter) and a == b:
            return True  # an absent count equals 0
        if len(a) != len(b):
            return False
        return all(key in b and self.equal(value, b[key]) for key, value in a.items())

    def sets(self, a: Set[Any], b: Set[Any]) -> bool:
        if a == b:
            return True
        if len(a) != len(b) or not self.tolerance:
            return False
        return self.sets_within_tolerance(a, b)

    def sets_within_tolerance(self, a: Set[Any], b: Set[Any]) -> bool:
        """Match what is not exactly equal: real numbers in their order, everything else by search."""
        left, right = list(a - b), list(b - a)
        if all(isinstance(x, int | float) and x == x for x in (*left, *right)):  # noqa: PLR0124
            return self.pairwise(sorted(left), sorted(right))
        for x in left:
            match = next((i for i, y in enumerate(right) if self.equal(x, y)), None)
            if match is None:
                return False
            del right[match]
        return True

    def structures(self, a: Any, b: Any) -> bool:
        if _is_tuple(a) and _is_tuple(b):
            x, y = _items(a), _items(b)
            return len(x) == len(y) and self.pairwise(x, y)
        if type(a) is not type(b) or (a.type_name, a.kind) != (b.type_name, b.kind) or len(a.fields) != len(b.fields):
            return False
        return all(n == m and self.equal(x, y) for (n, x), (m, y) in zip(a.fields, b.fields, strict=True))

    def records(self, a: Any, b: Any) -> bool:
        if type(a) is Array and type(b) is Array:
            return a.shape == b.shape and self.pairwise(a.items, b.items)
        x, y = _as_set(a), _as_set(b)
        if x is not None and y is not None:
            return self.sets(x, y)
        if type(a) is not Iterated or type(b) is not Iterated or a.kind != b.kind:
            return False
        return len(a.items) == len(b.items) and self.pairwise(a.items, b.items)


_NUMBERS = (int, float, bool, complex)


def _is_tuple(value: object) -> bool:
    return type(value) is tuple or (type(value) is Structure and value.kind == "namedtuple")


def _items(value: Any) -> tuple[Any, ...]:
    return value.items() if type(value) is Structure else value


def _as_set(value: object) -> Set[Any] | None:
    if isinstance(value, set | frozenset):
        return value
    if type(value) is Iterated and value.kind in ("dict_keys", "dict_items"):
        try:
            return frozenset(value.items)
        except TypeError:
            return None  # a view of items with unhashable values
    return None
