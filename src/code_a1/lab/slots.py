"""What varies inside a family: a slot draws words for the statement together with the code that means the same.

Texts name slots as `$k`. `$` stands in no Python program and in none of our statements, so code with braces needs no
escaping.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Part:
    """One drawn value: as the statement says it and as the program writes it."""

    words: str
    code: str


Draw = Mapping[str, Part]
"""Name of a slot, as in `$name` → what was drawn for it."""


class Slot(Protocol):
    """A parameter of a family."""

    def draw(self, rng: Random) -> Draw:
        """One value of the slot for every name that it fills."""
        ...


@dataclass(frozen=True)
class Int:
    """A whole number from `low` to `high`, both included."""

    name: str
    low: int
    high: int

    def draw(self, rng: Random) -> Draw:
        """One number under one name."""
        number = str(rng.randint(self.low, self.high))
        return {self.name: Part(number, number)}


@dataclass(frozen=True)
class Rising:
    """Distinct whole numbers in ascending order, one per name; neighbours lie at least `gap` apart."""

    names: str
    low: int
    high: int
    gap: int = 1

    def draw(self, rng: Random) -> Draw:
        """A number for each of the names, the first name the smallest."""
        names = self.names.split()
        room = self.high - self.low - (self.gap - 1) * (len(names) - 1)
        base = sorted(rng.sample(range(self.low, self.low + room + 1), len(names)))
        numbers = [str(number + i * (self.gap - 1)) for i, number in enumerate(base)]
        return {name: Part(number, number) for name, number in zip(names, numbers, strict=True)}


@dataclass(frozen=True)
class Letter:
    """Distinct characters out of `alphabet`, one per name; in words and code they stand in single quotes."""

    names: str
    alphabet: str = "abcdexyz"

    def draw(self, rng: Random) -> Draw:
        """A quoted character for each of the names."""
        names = self.names.split()
        letters = rng.sample(self.alphabet, len(names))
        return {name: Part(f"'{letter}'", f"'{letter}'") for name, letter in zip(names, letters, strict=True)}


class Pick:
    """One of several (words, code) pairs; the more often a pair stands there, the likelier it is.

    Texts may name the nested slots, and any other slot of the family.
    """

    def __init__(self, name: str, options: tuple[tuple[str, str], ...], *nested: Slot) -> None:
        self.name = name
        self.options = options
        self.nested = nested

    def draw(self, rng: Random) -> Draw:
        """A pair, and what it may name."""
        words, code = rng.choice(self.options)
        return {self.name: Part(words, code)} | draw_all(self.nested, rng)


class Cases:
    """One row of texts, one for each name: where a choice shows in several places.

    Texts may name slots as in `Pick`.
    """

    def __init__(self, names: str, rows: tuple[tuple[str, ...], ...], *nested: Slot) -> None:
        self.names = names.split()
        self.rows = rows
        self.nested = nested

    def draw(self, rng: Random) -> Draw:
        """A row, words and code the same, and what it may name."""
        texts = zip(self.names, rng.choice(self.rows), strict=True)
        return {name: Part(text, text) for name, text in texts} | draw_all(self.nested, rng)


def draw_all(slots: Sequence[Slot], rng: Random) -> dict[str, Part]:
    """What all the slots draw, under all their names."""
    parts: dict[str, Part] = {}
    for slot in slots:
        parts |= slot.draw(rng)
    return parts


def fill_words(text: str, parts: Draw) -> str:
    """The text with every `$name` replaced by the words of that part. Raises KeyError for a name without a part."""
    return _fill(text, parts, lambda part: part.words, str)


def fill_code(text: str, parts: Draw) -> str:
    """The text with every `$name` replaced by the code of that part, an expression in brackets where it needs them.

    Raises KeyError for a name without a part.
    """
    return _fill(text, parts, lambda part: part.code, _bracketed)


NAME = re.compile(r"\$(?:([a-z]\w*)|\{([a-z]\w*)\})")


def _fill(text: str, parts: Draw, side: Callable[[Part], str], finish: Callable[[str], str]) -> str:
    """Replace names, also those in parts, innermost first."""
    return NAME.sub(lambda found: finish(_fill(side(parts[found[1] or found[2]]), parts, side, finish)), text)


def _bracketed(code: str) -> str:
    """The code in brackets if it is an expression of several terms; Python's unparser removes what is not needed.

    What begins with a space is the tail of an expression, such as ` + 1`.
    """
    try:
        node = ast.parse(code, mode="eval").body if not code.startswith(" ") else None
    except SyntaxError:
        return code
    return f"({code})" if isinstance(node, ast.BoolOp | ast.Compare | ast.BinOp | ast.UnaryOp | ast.IfExp) else code


# -- slots that many families share ------------------------------------------------------------------------------------


def _simple(k: str, m: str, d: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"greater than ${k}", f"x > ${k}"),
        (f"greater than ${k}", f"x > ${k}"),
        (f"at least ${k}", f"x >= ${k}"),
        (f"at least ${k}", f"x >= ${k}"),
        (f"less than ${k}", f"x < ${k}"),
        (f"at most ${k}", f"x <= ${k}"),
        ("even", "x % 2 == 0"),
        ("odd", "x % 2 == 1"),
        (f"divisible by ${m}", f"x % ${m} == 0"),
        (f"not divisible by ${m}", f"x % ${m} != 0"),
        ("positive", "x > 0"),
        ("negative", "x < 0"),
        ("not negative", "x >= 0"),
        (f"equal to ${k}", f"x == ${k}"),
        (f"different from ${k}", f"x != ${k}"),
        (f"greater than ${d} in absolute value", f"abs(x) > ${d}"),
        (f"at most ${d} in absolute value", f"abs(x) <= ${d}"),
    )


def _double(k: str, m: str, a: str, b: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"between ${a} and ${b}, both included", f"${a} <= x <= ${b}"),
        (f"strictly between ${a} and ${b}", f"${a} < x < ${b}"),
        (f"at least ${a} and less than ${b}", f"${a} <= x < ${b}"),
        (f"less than ${a} or greater than ${b}", f"x < ${a} or x > ${b}"),
        (f"divisible by ${m} but not zero", f"x != 0 and x % ${m} == 0"),
        (f"even and greater than ${k}", f"x % 2 == 0 and x > ${k}"),
        (f"odd or less than ${k}", f"x % 2 == 1 or x < ${k}"),
    )


def simple_property(name: str, inner: str = "p") -> Pick:
    """A property of a whole number x without "and" or "or", so that it can be joined with others without ambiguity.

    `$name` is an adjective in words and a condition in code; `inner` keeps the nested slots of two properties in one
    family apart.
    """
    k, m, d = (f"{inner}{letter}" for letter in "kmd")
    return Pick(name, _simple(k, m, d), Int(k, -3, 9), Int(m, 3, 5), Int(d, 2, 6))


def number_property(name: str, inner: str = "p") -> Pick:
    """A property of a whole number x, as `simple_property`, or one of two conditions."""
    k, m, a, b, d = (f"{inner}{letter}" for letter in "kmabd")
    options = _simple(k, m, d) + _double(k, m, a, b)
    return Pick(name, options, Int(k, -3, 9), Int(m, 3, 5), Rising(f"{a} {b}", -3, 9, gap=3), Int(d, 2, 6))


def character_property(name: str, inner: str = "q") -> Pick:
    """A property of a character `c`, in words that follow "characters that are"."""
    a, b = f"{inner}a", f"{inner}b"
    options = (
        ("one of the vowels 'aeiou'", "c in 'aeiou'"),
        ("none of the vowels 'aeiou'", "c not in 'aeiou'"),
        ("a digit from '0' to '9'", "'0' <= c <= '9'"),
        ("a capital letter from 'A' to 'Z'", "'A' <= c <= 'Z'"),
        ("a small letter from 'a' to 'z'", "'a' <= c <= 'z'"),
        (f"equal to ${a}", f"c == ${a}"),
        (f"equal to ${a}", f"c == ${a}"),
        (f"different from ${a}", f"c != ${a}"),
        (f"equal to ${a} or ${b}", f"c == ${a} or c == ${b}"),
        (f"neither ${a} nor ${b}", f"c != ${a} and c != ${b}"),
        (f"greater than ${a}", f"c > ${a}"),
        (f"at most ${a}", f"c <= ${a}"),
    )
    return Pick(name, options, Letter(f"{a} {b}"))


def text_property(name: str, inner: str = "r") -> Pick:
    """A property of a string `w`, in words that follow "strings that"."""
    k, a = f"{inner}k", f"{inner}a"
    options = (
        (f"are longer than ${k} characters", f"len(w) > ${k}"),
        (f"have at least ${k} characters", f"len(w) >= ${k}"),
        (f"are shorter than ${k} characters", f"len(w) < ${k}"),
        (f"have at most ${k} characters", f"len(w) <= ${k}"),
        (f"have exactly ${k} characters", f"len(w) == ${k}"),
        (f"start with ${a}", f"w.startswith(${a})"),
        (f"end with ${a}", f"w.endswith(${a})"),
        (f"contain ${a}", f"${a} in w"),
        (f"do not contain ${a}", f"${a} not in w"),
        (f"contain ${a} more than once", f"w.count(${a}) > 1"),
    )
    return Pick(name, options, Int(k, 2, 4), Letter(a))


NUMBER = number_property("p")
SIMPLE = simple_property("p")
CHARACTER = character_property("q")
TEXT = text_property("r")

NOTHING = Pick("none", (("None", "None"), ("0", "0"), ("-1", "-1")))
"""What stands for a missing result."""

LIMIT = Pick(
    "cmp",
    (("more than", ">"), ("at least", ">="), ("less than", "<"), ("at most", "<=")),
)
"""A comparison in words that come before a number."""
