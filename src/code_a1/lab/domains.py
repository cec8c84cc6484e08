"""What a parameter may be: its annotation, typical values, and the values that a careful tester would think of.

Values are short, since they are written out in tests. `near` are numbers and letters that the program itself mentions:
bugs live there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

LETTERS = "abcdexyz"


@dataclass(frozen=True, slots=True)
class Near:
    """Constants of the program that is tested."""

    numbers: tuple[int, ...] = ()
    letters: tuple[str, ...] = ()

    def number(self, rng: Random) -> int:
        """A constant of the program, or one off it, or a small number."""
        if not self.numbers or rng.random() < 0.25:
            return rng.choice((0, 0, 1, -1, 2, 10))
        return rng.choice(self.numbers) * rng.choice((1, 1, 1, -1)) + rng.choice((-1, 0, 0, 1))

    def letter(self, rng: Random) -> str:
        """A letter of the program or any other character."""
        return rng.choice(self.letters) if self.letters and rng.random() < 0.5 else rng.choice(LETTERS + "A0 .")


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of one parameter. `note` is what the statement has to say about it, after "is" or "are"."""

    annotation: str
    typical: Callable[[Random], object]
    edge: Callable[[Random, Near], object]
    note: str = ""


# -- numbers -----------------------------------------------------------------------------------------------------------


def _edge_int(rng: Random, near: Near) -> int:
    return near.number(rng) if rng.random() < 0.85 else rng.randint(-30, 60)


def _edge_count(rng: Random, near: Near) -> int:
    return abs(_edge_int(rng, near)) if rng.random() < 0.7 else rng.choice((0, 1, 2, 9, 10, 11, 99, 100, 101, 110))


def _edge_positive(rng: Random, near: Near) -> int:
    return max(1, _edge_count(rng, near))


def _edge_small(rng: Random, near: Near) -> int:
    return min(abs(near.number(rng)), 9) if rng.random() < 0.5 else rng.choice((0, 0, 1, 1, 2, 5, 8))


# -- lists -------------------------------------------------------------------------------------------------------------


def _edge_ints(rng: Random, near: Near) -> list[int]:
    shape = rng.random()
    if shape < 0.08:
        return []
    if shape < 0.2:
        return [near.number(rng)]
    xs = [near.number(rng) if rng.random() < 0.7 else rng.randint(-9, 15) for _ in range(rng.randint(2, 5))]
    if shape < 0.35:
        xs[rng.randrange(len(xs))] = xs[0]
    elif shape < 0.42:
        xs = [xs[0]] * len(xs)
    elif shape < 0.56:
        xs.sort(reverse=rng.random() < 0.5)
    elif shape < 0.66:
        xs = [-abs(x) for x in xs]
    elif shape < 0.72:
        xs = xs + xs[: rng.randint(1, 3)]
    return xs


def _typical_ints(rng: Random) -> list[int]:
    return rng.sample(range(1, 16), rng.randint(3, 4))


def _typical_rising(rng: Random) -> list[int]:
    return sorted(_typical_ints(rng))


def _edge_rising(rng: Random, near: Near) -> list[int]:
    return sorted(_edge_ints(rng, near))


def _typical_rows(rng: Random) -> list[list[int]]:
    width = rng.randint(2, 3)
    return [[rng.randint(1, 9) for _ in range(width)] for _ in range(2)]


def _edge_rows(rng: Random, near: Near) -> list[list[int]]:
    return [[near.number(rng) for _ in range(rng.randint(0, 3))] for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]


# -- strings -----------------------------------------------------------------------------------------------------------


def _typical_text(rng: Random) -> str:
    return "".join(rng.sample(LETTERS, rng.randint(3, 5)))


def _edge_text(rng: Random, near: Near) -> str:
    shape = rng.random()
    if shape < 0.08:
        return ""
    if shape < 0.18:
        return near.letter(rng)
    text = "".join(near.letter(rng) for _ in range(rng.randint(2, 6)))
    changed = (
        text + text[-1],
        text[:3] + text[:3][::-1],
        text[0] * len(text),
        "".join(c.upper() if rng.random() < 0.4 else c for c in text),
        text + rng.choice("0123456789"),
    )
    return rng.choice(changed) if shape < 0.75 else text


def _word(rng: Random) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(2, 4)))


def _typical_words(rng: Random) -> str:
    return " ".join(_word(rng) for _ in range(rng.randint(2, 3)))


def _edge_words(rng: Random, near: Near) -> str:
    shape = rng.random()
    if shape < 0.08:
        return ""
    words = [rng.choice(("a", "b", "ad", "Be", _word(rng), near.letter(rng).strip() or "x")) for _ in range(3)]
    words = words[: rng.randint(1, 3)]
    if shape < 0.25:
        return "  ".join(words)
    if shape < 0.4:
        return " " + " ".join(words)
    if shape < 0.55:
        return " ".join(words + words[:1])
    return " ".join(words)


def _typical_texts(rng: Random) -> list[str]:
    return [_word(rng) for _ in range(rng.randint(2, 3))]


def _edge_texts(rng: Random, near: Near) -> list[str]:
    size = rng.choice((0, 1, 2, 3, 3, 4))
    texts = [_edge_text(rng, near)[:5] for _ in range(size)]
    if size > 1 and rng.random() < 0.4:
        texts[rng.randrange(size)] = texts[0]
    if size > 1 and rng.random() < 0.3:
        texts[0] = "".join(rng.choice(LETTERS) for _ in texts[-1])
    return texts


# -- dicts -------------------------------------------------------------------------------------------------------------


def _typical_table(rng: Random) -> dict[str, int]:
    return dict(zip(rng.sample(LETTERS, 3), rng.sample(range(1, 13), 3), strict=True))


def _edge_table(rng: Random, near: Near) -> dict[str, int]:
    size = rng.choice((0, 1, 2, 3, 3, 4))
    letters = near.letters + tuple(LETTERS)
    keys = list(dict.fromkeys(rng.choice(letters) for _ in range(size)))
    table = {key: near.number(rng) for key in keys}
    if len(keys) > 1 and rng.random() < 0.5:
        table[keys[-1]] = table[keys[0]]
    return table


DOMAINS = {
    "int": Domain("int", lambda rng: rng.randint(-5, 20), _edge_int),
    "count": Domain("int", lambda rng: rng.randint(2, 20), _edge_count, "never negative"),
    "positive": Domain("int", lambda rng: rng.randint(2, 20), _edge_positive, "at least 1"),
    "small": Domain("int", lambda rng: rng.randint(1, 3), _edge_small, "never negative"),
    "ints": Domain("list[int]", _typical_ints, _edge_ints),
    "rising": Domain("list[int]", _typical_rising, _edge_rising, "sorted in ascending order"),
    "rows": Domain("list[list[int]]", _typical_rows, _edge_rows),
    "text": Domain("str", _typical_text, _edge_text),
    "letter": Domain("str", lambda rng: rng.choice(LETTERS), lambda rng, near: near.letter(rng), "one character"),
    "words": Domain("str", _typical_words, _edge_words),
    "texts": Domain("list[str]", _typical_texts, _edge_texts),
    "table": Domain("dict[str, int]", _typical_table, _edge_table),
    "flag": Domain("bool", lambda rng: rng.random() < 0.5, lambda rng, _: rng.random() < 0.5),
}
"""By the name that stands in a family's signature."""
