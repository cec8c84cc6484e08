"""Lists of numbers: parts, ends, rotations, sums along the way."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import NOTHING, Cases, Int

FAMILIES = (
    family(
        "unique",
        "xs: ints -> list[int]",
        ("Remove repeated values from xs; of equal elements the $tie stays, in its place.",),
        """
        kept = []
        for x in xs$turn:
            if x not in kept:
                kept.append(x)
        return kept$turn
        """,
        Cases("tie turn", (("first", ""), ("last", "[::-1]"))),
    ),
    family(
        "limit_repeats",
        "xs: ints -> list[int]",
        (
            "Keep at most $k copies of each value in xs, the first ones.",
            "Go through xs and leave out an element if $k equal ones have been kept already.",
        ),
        """
        kept = []
        for x in xs:
            if kept.count(x) < $k:
                kept.append(x)
        return kept
        """,
        Cases("k", (("1",), ("2",), ("3",))),
    ),
    family(
        "rotate",
        "xs: ints -> list[int]",
        ("Rotate xs to the $w by $k places.", "Return xs rotated by $k to the $w."),
        """
        if not xs:
            return []
        k = $k % len(xs)
        return $e
        """,
        Cases("w e", (("left", "xs[k:] + xs[:k]"), ("right", "xs[len(xs) - k:] + xs[:len(xs) - k]"))),
        Int("k", 1, 4),
    ),
    family(
        "cut",
        "xs: ints -> list[int]",
        ("Return $w; if xs is too short for that, $o.",),
        """
        if len(xs) < $k:
            return $short
        return $e
        """,
        Cases(
            "w e",
            (
                ("the first $k elements of xs", "xs[:$k]"),
                ("the last $k elements of xs", "xs[-$k:]"),
                ("xs without its first $k elements", "xs[$k:]"),
                ("xs without its last $k elements", "xs[:len(xs) - $k]"),
            ),
        ),
        Int("k", 1, 4),
        Cases("o short", (("an empty list", "[]"), ("all of xs", "xs"), ("[0]", "[0]"))),
    ),
    family(
        "every_kth",
        "xs: ints -> list[int]",
        ("Return every $w element of xs, beginning with the one at index $s.",),
        "return xs[$s::$k]",
        Cases("w k", (("second", "2"), ("third", "3"))),
        Int("s", 0, 2),
    ),
    family(
        "pad",
        "xs: ints -> list[int]",
        ("«Pad|Fill up» xs with $v at the $end until it has $k elements; leave it alone if it has that many already.",),
        """
        missing = max(0, $k - len(xs))
        return $e
        """,
        Cases(
            "end v e",
            (
                ("end", "0", "xs + [0] * missing"),
                ("front", "0", "[0] * missing + xs"),
                ("end", "-1", "xs + [-1] * missing"),
                ("front", "1", "[1] * missing + xs"),
            ),
        ),
        Int("k", 2, 5),
    ),
    family(
        "ends",
        "xs: ints -> int | None",
        ("Return the $w of the first and the last element of xs (a single element is both), or $none if xs is empty.",),
        """
        if not xs:
            return $none
        return $e
        """,
        Cases(
            "w e",
            (
                ("sum", "xs[0] + xs[-1]"),
                ("product", "xs[0] * xs[-1]"),
                ("larger", "max(xs[0], xs[-1])"),
                ("smaller", "min(xs[0], xs[-1])"),
            ),
        ),
        NOTHING,
    ),
    family(
        "swap_ends",
        "xs: ints -> list[int]",
        ("Swap the first and the last element of xs if the first is $w; otherwise return xs unchanged.",),
        """
        if len(xs) < 2 or not xs[0] $op xs[-1]:
            return xs
        return [xs[-1]] + xs[1:-1] + [xs[0]]
        """,
        Cases("w op", (("larger", ">"), ("smaller", "<"))),
    ),
    family(
        "alternating_sum",
        "xs: ints -> int",
        ("Add the elements at $w indices of xs and subtract those at $v ones.",),
        """
        total = 0
        for i, x in enumerate(xs):
            if i % 2 == $r:
                total += x
            else:
                total -= x
        return total
        """,
        Cases("w v r", (("even", "odd", "0"), ("odd", "even", "1"))),
    ),
    family(
        "running",
        "xs: ints -> list[int]",
        ("Return the running $w of xs: at each index, the $w of all elements up to it, itself included.",),
        """
        result = []
        for i in range(len(xs)):
            result.append($f(xs[:«i + 1|i»]))
        return result
        """,
        Cases("w f", (("sum", "sum"), ("maximum", "max"), ("minimum", "min"))),
    ),
    family(
        "differences",
        "xs: ints -> list[int]",
        ("Return $w of each two neighbours in xs, from left to right.",),
        "return [$e for i in range(len(xs) - 1)]",
        Cases(
            "w e",
            (
                ("the second minus the first", "xs[i + 1] - xs[i]"),
                ("the first minus the second", "xs[i] - xs[i + 1]"),
                ("the sum", "xs[i] + xs[i + 1]"),
                ("the larger", "max(xs[i], xs[i + 1])"),
                ("the distance", "abs(xs[i] - xs[i + 1])"),
            ),
        ),
    ),
    family(
        "peaks",
        "xs: ints -> list[int]",
        (
            "«List|Return» the elements of xs that are $w than both neighbours; the ends have only one and do not count.",
        ),
        "return [xs[i] for i in range(1, len(xs) - 1) if xs[i - 1] $op xs[i] and xs[i + 1] $op xs[i]]",
        Cases("w op", (("larger", "<"), ("smaller", ">"))),
    ),
    family(
        "mean",
        "xs: ints -> int | None",
        ("Return the mean of xs, rounded $w, or $none if xs is empty.",),
        """
        if not xs:
            return $none
        return $e
        """,
        Cases("w e", (("down", "sum(xs) // len(xs)"), ("up", "-(-sum(xs) // len(xs))"))),
        NOTHING,
    ),
    family(
        "trimmed_sum",
        "xs: ints -> int",
        ("Sum xs without $w; 0 if $o.",),
        """
        if len(xs) < $k:
            return 0
        return $e
        """,
        Cases(
            "w k o e",
            (
                (
                    "one largest and one smallest element",
                    "3",
                    "xs has fewer than 3 elements",
                    "sum(xs) - max(xs) - min(xs)",
                ),
                ("one largest element", "2", "xs has fewer than 2 elements", "sum(xs) - max(xs)"),
                ("one smallest element", "2", "xs has fewer than 2 elements", "sum(xs) - min(xs)"),
                ("its first and last element", "3", "xs has fewer than 3 elements", "sum(xs[1:-1])"),
            ),
        ),
    ),
    family(
        "sort_by",
        "xs: ints -> list[int]",
        ("Sort xs by $w in $d order; equal ones keep their order in xs.",),
        "return sorted(xs, key=lambda x: $e)",
        Cases(
            "w v",
            (
                ("absolute value", "abs(x)"),
                ("distance from $k", "abs(x - $k)"),
                ("the remainder when divided by $m (from 0 to $m - 1)", "x % $m"),
            ),
            Int("k", 2, 6),
            Int("m", 3, 4),
        ),
        Cases("d e", (("ascending", "$v"), ("descending", "-$v"))),
    ),
)
