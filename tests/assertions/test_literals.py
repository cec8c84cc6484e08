"""Literal answers are read without running code; everything else is refused."""

from __future__ import annotations

import math

import pytest

from code_a1.assertions import literal_value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("4", 4),
        ("-4", -4),
        ("+4", 4),
        ("- -4", 4),
        ("0x10", 16),
        ("1_000", 1000),
        ("4.5", 4.5),
        ("-0.5e-3", -0.0005),
        ("1e999", math.inf),
        ("True", True),
        ("None", None),
        ("'a' 'b'", "ab"),
        ("b'\\x00'", b"\x00"),
        ("'\\ud800'", "\ud800"),
        ("()", ()),
        ("(1,)", (1,)),
        ("1, 2", (1, 2)),
        ("[1, [2, (3,)]]", [1, [2, (3,)]]),
        ("{1, 2}", {1, 2}),
        ("{}", {}),
        ("{'a': {1: None}, (1, 2): []}", {"a": {1: None}, (1, 2): []}),
        ("set()", set()),
        ("set([1, 2])", {1, 2}),
        ("frozenset()", frozenset()),
        ("frozenset({1})", frozenset({1})),
        ("float('inf')", math.inf),
        ("-float('inf')", -math.inf),
        ("float('-Infinity')", -math.inf),
        ("3 + 4j", 3 + 4j),
        ("-3 - 4j", -3 - 4j),
        ("2j", 2j),
        ("[\n  1,\n  2,\n]", [1, 2]),
        ("1  # comment", 1),
    ],
)
def test_literals(source, value):
    read = literal_value(source)
    assert read == value
    assert type(read) is type(value)


def test_nan_and_negative_zero():
    assert math.isnan(literal_value("float('nan')"))
    assert math.copysign(1, literal_value("-0.0")) == -1


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x",
        "1 + 1",
        "2 ** 10",
        "[x for x in y]",
        "f(2)",
        "float('1.5')",
        "float(x)",
        "set('ab')",
        "set(range(3))",
        "set([1], [2])",
        "frozenset(x=1)",
        "sorted([1])",
        "__import__('os')",
        "{**{}}",
        "[*[1]]",
        "f'{1}'",
        "...",
        "not True",
        "-'a'",
        "-[1]",
        "-None",
        "{[]}",
        "{[]: 1}",
        "1; 2",
        "1) + (2",
        "a = 1",
        "1 +",
        "'\0'",
        "'\ud800'",
        "9" * 5000,
        "(" * 300,
        "[" * 150 + "]" * 150,
        "-" * 3000 + "1",
        "'" + "a" * 200_000 + "'",
    ],
)
def test_no_literals(source):
    with pytest.raises(ValueError, match=r"not a literal|characters"):
        literal_value(source)
