"""Values cross as data, whole; hostile bytes and hostile classes get nowhere."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import random
import re
import struct
import time
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_a1.sandbox import Array, Iterated, Structure, codec, tags

Point = collections.namedtuple("Point", "x y")
TIME_ZONE = dt.timezone(dt.timedelta(hours=2))


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 3


@dataclasses.dataclass
class Account:
    owner: str
    entries: list


class Slotted:
    __slots__ = ("left", "unset")

    def __init__(self) -> None:
        self.left = 1


class Plain:
    def __init__(self) -> None:
        self.b, self.a = 2, 1


EXACT = [
    None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**63, -(2**70), 10**5000, 1.5, -0.0, float("inf"), float("-inf"), 1 + 2j,
    "", "a\ud800ü\U0001f600", b"\x00\xff", bytearray(b"x"), [1, [2, []]], (1,), (), {1, 2}, frozenset("ab"), {"a": 1, 2: []},
    range(1, 10, 3), range(10**30), slice(1, None, 2), ..., NotImplemented, decimal.Decimal("1.50"), decimal.Decimal("-Infinity"),
    fractions.Fraction(-1, 3), dt.date(2020, 2, 29), dt.time(1, 2, 3, 4, TIME_ZONE, fold=1),
    dt.datetime(1999, 12, 31, 23, 59, 59, 999999, TIME_ZONE), dt.timedelta(-1, 5, 7), dt.UTC,
    collections.deque([1, 2], 5), collections.deque(), collections.Counter("aab"), collections.OrderedDict(b=1, a=2),
    int, type(None), ValueError,
]  # fmt: skip


@pytest.mark.parametrize("original", EXACT, ids=lambda v: ascii(v)[:30] if not isinstance(v, int) else str(type(v)))
def test_value_comes_back_with_its_type(original: object) -> None:
    back = codec.decode(codec.encode(original))
    assert type(back) is type(original)
    assert back == original


def test_details_that_equality_does_not_see() -> None:
    assert struct.pack("<d", typing.cast("float", codec.decode(codec.encode(-0.0)))) == struct.pack("<d", -0.0)
    assert str(codec.decode(codec.encode(decimal.Decimal("1.50")))) == "1.50"
    assert list(typing.cast("dict", codec.decode(codec.encode({"b": 1, "a": 2})))) == ["b", "a"]
    assert typing.cast("collections.deque", codec.decode(codec.encode(collections.deque([1], 5)))).maxlen == 5
    back = codec.decode(codec.encode(collections.defaultdict(int, {1: 2})))
    assert isinstance(back, collections.defaultdict)
    assert back.default_factory is None
    not_a_number = codec.decode(codec.encode([float("nan")] * 2))
    assert codec.equal(not_a_number, [float("nan"), float("nan")])


def test_values_of_own_classes_become_records() -> None:
    def through(value: object) -> object:
        return codec.decode(codec.encode(value))

    assert through(Point(1, 2)) == Structure("Point", (("x", 1), ("y", 2)), "namedtuple")
    assert through(Colour.RED) == Structure("Colour", (("name", "RED"), ("value", 1)), "enum")
    assert through(Level.LOW) == 3
    assert through(Account("ann", [1])) == Structure("Account", (("entries", [1]), ("owner", "ann")))
    assert through(Plain()) == Structure("Plain", (("a", 1), ("b", 2)))
    assert through(Slotted()) == Structure("Slotted", (("left", 1),))
    assert through(KeyError("k", 3)) == Structure("KeyError", (("args", ("k", 3)),), "exception")
    record = through(Account("ann", [1]))
    assert isinstance(record, Structure)
    assert record.owner == "ann"
    with pytest.raises(AttributeError, match="'Account' object has no attribute 'name'"):
        _ = record.name
    assert codec.encode(record) == codec.encode(Account("ann", [1]))


def test_iterators_and_views_are_tagged() -> None:
    def through(value: object) -> object:
        return codec.decode(codec.encode(value))

    assert through(i * i for i in range(3)) == Iterated("iterator", (0, 1, 4))
    assert through(map(str, [1])) == through(iter(["1"])) == Iterated("iterator", ("1",))
    assert through({1: 2}.keys()) == Iterated("dict_keys", (1,))
    assert through({1: 2}.items()) == Iterated("dict_items", ((1, 2),))
    match = through(re.match("(a)(b)?", "a"))
    assert match == Structure("Match", (("groups", ("a", None)), ("match", "a"), ("span", (0, 1))))


def test_numpy_becomes_plain() -> None:
    numpy = pytest.importorskip("numpy")
    assert codec.decode(codec.encode(numpy.float64(2.5))) == 2.5
    assert codec.decode(codec.encode(numpy.bool_(True))) is True
    assert type(codec.decode(codec.encode(numpy.int32(7)))) is int
    assert codec.decode(codec.encode(numpy.arange(4).reshape(2, 2))) == Array("int64", (2, 2), (0, 1, 2, 3))
    assert codec.decode(codec.encode(numpy.array(3.0))) == Array("float64", (), (3.0,))
    assert codec.decode(codec.encode(numpy.array(["a"]))) == Array("<U1", (1,), ("a",))


def test_overridden_methods_of_builtins_do_not_run() -> None:
    def fail(*_args: object) -> typing.NoReturn:
        raise AssertionError("ran")

    names = (
        "__iter__",
        "__len__",
        "__eq__",
        "__getitem__",
        "__index__",
        "__int__",
        "__str__",
        "encode",
        "items",
        "__float__",
    )
    body = dict.fromkeys(names, fail)
    for base, args, plain in (
        (list, ([1],), [1]), (tuple, ([1],), (1,)), (set, ([1],), {1}), (dict, ({1: 2},), {1: 2}), (int, (5,), 5),
        (float, (5.5,), 5.5), (str, ("s",), "s"), (bytes, (b"b",), b"b"), (frozenset, ([1],), frozenset([1])),
    ):  # fmt: skip
        lying = type("Lying", (base,), body | {"__hash__": None})
        back = codec.decode(codec.encode(lying(*args)))
        assert (type(back), back) == (base, plain)


def test_what_is_not_data_is_refused() -> None:
    cyclic: list = []
    cyclic.append(cyclic)
    nested: list = []
    for _ in range(tags.MAX_DEPTH + 1):
        nested = [nested]
    with pytest.raises(codec.CodecError, match="cannot leave its process as data"):
        codec.encode(open)
    for value in (len, lambda: 0, cyclic, nested, Plain, re.compile("a"), struct.Struct("<I"), object.__init__):
        with pytest.raises(codec.CodecError) as caught:
            codec.encode(value)
        assert not isinstance(caught.value, codec.TooLarge)


def test_what_is_too_large_is_refused_quickly() -> None:
    doubled: list = [0]
    for _ in range(100):
        doubled = [doubled, doubled]

    def endless() -> typing.Iterator[int]:
        while True:
            yield 1

    started = time.process_time()
    for value in (
        doubled,
        endless(),
        "x" * 5_000_000,
        1 << (8 * tags.MAX_INT_BYTES + 8),
        decimal.Decimal("1" * 10_001),
    ):
        with pytest.raises(codec.TooLarge):
            codec.encode(value)
    assert time.process_time() - started < 20
    assert codec.encode("x" * 100, max_bytes=105) == b"s\x64\x00\x00\x00" + b"x" * 100
    with pytest.raises(codec.TooLarge):
        codec.encode("x" * 100, max_bytes=104)


MALFORMED = {
    "nothing": b"", "unknown tag": b"?", "cut": b"i\x01", "trailing": b"NN", "no items": b"l\x05\x00\x00\x00N",
    "four billion items": b"l\xff\xff\xff\xff", "four gigabytes": b"s\xff\xff\xff\xff", "not UTF-8": b"s\x01\x00\x00\x00\xff",
    "list in a set": b"S\x01\x00\x00\x00l\x00\x00\x00\x00", "key without value": b"d\x01\x00\x00\x00N",
    "impossible date": b"a\x03\x00\x00\x00" + b"i\x00\x00\x00\x00\x00\x00\x00\x00" * 3,
    "fraction by zero": b"Q\x02\x00\x00\x00" + codec.encode(1) + codec.encode(0),
    "not a Decimal": b"D\x01\x00\x00\x00x", "range of strings": b"r\x03\x00\x00\x00" + codec.encode("a") * 3,
    "range without step": b"r\x03\x00\x00\x00" + codec.encode(0) * 3,
    "array of another size": b"Y\x02\x00\x00\x00" + codec.encode("int64") + codec.encode((3,)),
    "array of negative size": b"Y\x02\x00\x00\x00" + codec.encode("int64") + codec.encode((-1, 0)),
    "structure of unknown kind": b"R\x02\x00\x00\x00" + codec.encode("evil") + codec.encode("T"),
    "unknown class": b"y\x04\x00\x00\x00eval", "too deep": b"l\x01\x00\x00\x00" * 5000 + b"N",
    "deque beyond its bound": b"q\x03\x00\x00\x00" + codec.encode(1) * 3,
    "empty structure": b"R\x00\x00\x00\x00", "empty deque": b"q\x00\x00\x00\x00", "empty view": b"g\x00\x00\x00\x00",
    "zone of a week": b"z\x01\x00\x00\x00" + codec.encode(dt.timedelta(7)),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_bytes_are_a_codec_error(name: str) -> None:
    with pytest.raises(codec.CodecError):
        codec.decode(MALFORMED[name])


def test_floods_of_equal_hashes_are_refused_at_once() -> None:
    modulus = 2**61 - 1
    integers = [i * modulus for i in range(1, 100_000)]
    tuples = [(i * modulus, j * modulus) for i in range(1, 200) for j in range(1, 200)]
    unhashed = [Structure("T", (("x", [i]),)) for i in range(2000)]
    started = time.process_time()
    for flood in (integers, tuples, unhashed):
        body = b"".join(map(codec.encode, flood))
        for head in (b"S", b"Z"):
            with pytest.raises(codec.CodecError, match="same hash"):
                codec.decode(head + struct.pack("<I", len(flood)) + body)
    assert time.process_time() - started < 20


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers(allow_nan=False) | st.text() | st.binary()
    | st.decimals(allow_nan=False) | st.fractions() | st.dates() | st.times() | st.datetimes() | st.timedeltas()
)  # fmt: skip
hashable = st.recursive(scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.sets(hashable, max_size=4)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.builds(collections.deque, st.lists(inner, max_size=3))
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(values)
def test_any_value_round_trips(value: object) -> None:
    encoded = codec.encode(value)
    back = codec.decode(encoded)
    assert type(back) is type(value)
    assert codec.equal(back, codec.decode(encoded))


@settings(max_examples=2000, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_decode_or_fail_cleanly(data: bytes) -> None:
    try:
        value = codec.decode(data)
    except codec.CodecError:
        return
    assert codec.decode(codec.encode(value)) is not data


@settings(max_examples=2000, deadline=None)
@given(values, st.data())
def test_damaged_encodings_decode_or_fail_cleanly(value: object, data: st.DataObject) -> None:
    encoded = bytearray(codec.encode(value))
    for _ in range(data.draw(st.integers(1, 4))):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    try:
        value = codec.decode(encoded)
    except codec.CodecError:
        return
    codec.equal(value, value)
    hash(repr(value))


@pytest.mark.slow
def test_a_million_hostile_byte_strings() -> None:
    draw = random.Random(1)
    seeds = [codec.encode(value) for value in EXACT]
    alphabet = b"NTFExiIfcsbBltSZqdCeorLDQahAmzRYgy\x00\x01\x02\x03\xff"
    for turn in range(1_000_000):
        if turn % 2:
            data = bytes(draw.choices(alphabet, k=draw.randrange(1, 40)))
        else:
            damaged = bytearray(draw.choice(seeds)[:200])
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
            data = bytes(damaged)
        try:
            codec.decode(data)
        except codec.CodecError:
            continue
