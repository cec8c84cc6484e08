"""Equality of decoded values: Python's `==`, and where it differs, as documented."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import fractions
import time

import pytest

from code_a1.sandbox import Array, Iterated, Structure, codec

NAN = float("nan")
OTHER_NAN = -float("nan")
POINT = Structure("Point", (("x", 1), ("y", 2)), "namedtuple")
BOX = Structure("Box", (("w", 1.0),))

EQUAL = [
    (1, 1.0), (True, 1), (False, 0.0), (0.0, -0.0), (1, 1 + 0j), (10**400, 10**400), (NAN, OTHER_NAN), ([NAN], [OTHER_NAN]),
    ({"a": NAN}, {"a": OTHER_NAN}), (complex(NAN, 1), complex(NAN, 1)), ({1, 2}, {2, 1}), ({1}, frozenset([1])),
    ({1: 2, 3: 4}, {3: 4, 1: 2}), ({1: [2]}, collections.OrderedDict({1: [2]})),
    (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)), (collections.Counter("ab"), {"a": 1, "b": 1}),
    (collections.Counter(a=0), collections.Counter()), (collections.defaultdict(None, {1: 2}), {1: 2}),
    (POINT, (1, 2)), ((1, 2), POINT), (POINT, Structure("Other", (("a", 1), ("b", 2)), "namedtuple")), ([POINT], [(1, 2)]),
    (BOX, Structure("Box", (("w", 1),))), (Array("int64", (2,), (1, 2)), Array("float64", (2,), (1.0, 2.0))),
    (Iterated("iterator", (1, 2)), Iterated("iterator", (1, 2))), (Iterated("dict_keys", (1, 2)), {2, 1}),
    (Iterated("dict_keys", (1, 2)), Iterated("dict_keys", (2, 1))), (decimal.Decimal("1.0"), 1),
    (decimal.Decimal("NaN"), decimal.Decimal("sNaN")),
    (fractions.Fraction(1, 2), 0.5), (collections.deque([1]), collections.deque([1], 3)), (range(0), range(3, 3)),
    (b"a", bytearray(b"a")), (dt.date(2020, 1, 1), dt.date(2020, 1, 1)), ({POINT}, {(1, 2)}),
]  # fmt: skip

UNEQUAL = [
    (1, 2), (1, "1"), ([1], (1,)), ([1, 2], [2, 1]), ([1], [1, 1]), ({1}, [1]), ({1}, {1, 2}), ({1: 2}, {1: 3}), ({1: 2}, {2: 2}),
    (None, False), (None, 0), ("a", b"a"), (NAN, 1.0), (NAN, None), (decimal.Decimal("sNaN"), 1), (0.1 + 0.2, 0.3), (10**400, float("inf")), (2**53 + 1, float(2**53)),
    (BOX, Structure("Crate", (("w", 1.0),))), (BOX, Structure("Box", (("w", 2.0),))), (BOX, Structure("Box", ())), (BOX, 1.0),
    (POINT, [1, 2]), (POINT, (1, 2, 3)), (Array("int64", (2,), (1, 2)), Array("int64", (2, 1), (1, 2))),
    (Array("int64", (2,), (1, 2)), [1, 2]), (Iterated("iterator", (1, 2)), [1, 2]), (Iterated("iterator", (1,)), Iterated("dict_keys", (1,))),
    (Iterated("dict_values", (1,)), {1}), (collections.deque([1]), [1]), (range(3), [0, 1, 2]), ({}, set()), (int, float),
    (dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)), (dt.datetime(2020, 1, 1), dt.date(2020, 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal(a: object, b: object) -> None:
    assert codec.equal(a, b)
    assert codec.equal(b, a)


@pytest.mark.parametrize(("a", "b"), UNEQUAL)
def test_unequal(a: object, b: object) -> None:
    assert not codec.equal(a, b)
    assert not codec.equal(b, a)


@pytest.mark.parametrize(
    ("a", "b", "close"),
    [
        (1.0, 1.0 + 1e-7, True), (1.0, 1.00001, False), (1e9, 1e9 + 100, True), (1e9, 1e9 + 10_000, False), (0.0, 9e-7, True),
        (1, 1.0000001, True), (1, 2, False), (10, 10 + 0j + 1e-7, True), ([1.0, [2.0]], [1.0, [2.0000001]], True),
        ({"a": 1.0}, {"a": 1.0000001}, True), ({1.0, 5.0}, {1.0000001, 5.0}, True), ({1.0, 5.0}, {1.0000001, 6.0}, False),
        ({(1.0, "a"), (2.0, "b")}, {(2.0000001, "b"), (1.0, "a")}, True), (BOX, Structure("Box", (("w", 1.0000001),)), True),
        (Array("f", (1,), (1.0,)), Array("f", (1,), (1.0000001,)), True), (float("inf"), float("inf"), True),
        (float("inf"), 1e308, False), (NAN, 1.0, False), (10**400, 1.0, False), ("a", "b", False),
    ],
)  # fmt: skip
def test_tolerance_of_one_millionth(a: object, b: object, close: bool) -> None:
    assert codec.equal(a, b, 1e-6) is close
    assert codec.equal(b, a, 1e-6) is close


def test_integers_never_get_tolerance() -> None:
    assert not codec.equal(1_000_000_000, 1_000_000_001, 1e-6)


def test_hostile_values_cost_little() -> None:
    nested_a: object = 1.0
    nested_b: object = 1.0
    for _ in range(5000):
        nested_a, nested_b = [nested_a], [nested_b]
    many_a = {(float(i), "x") for i in range(20_000)}
    many_b = {(i + 0.25, "x") for i in range(20_000)}
    started = time.process_time()
    assert not codec.equal(nested_a, nested_b)
    assert not codec.equal(many_a, many_b, 1e-9)
    assert codec.equal(10**100_000, 10**100_000)
    assert not codec.equal({1: nested_a}, {1: nested_b}, 1e-6)
    assert time.process_time() - started < 30
