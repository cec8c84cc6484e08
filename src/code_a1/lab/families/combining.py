"""A list and a number, or two lists."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import NOTHING, Cases, Int

FAMILIES = (
    family(
        "count_compared",
        "xs: ints, v: int -> int",
        ("How many elements of xs are $w v?", "Count the elements of xs that are $w v."),
        """
        n = 0
        for x in xs:
            if $c:
                n += 1
        return n
        """,
        Cases(
            "w c",
            (
                ("equal to", "x == v"),
                ("greater than", "x > v"),
                ("at least", "x >= v"),
                ("less than", "x < v"),
                ("within $k of", "abs(x - v) <= $k"),
                ("more than $k away from", "abs(x - v) > $k"),
                ("more than $k above", "x > v + $k"),
                ("at least $k below", "x <= v - $k"),
            ),
            Int("k", 1, 4),
        ),
    ),
    family(
        "get_or",
        "xs: ints, i: small -> int | None",
        ("Return the element of xs at index i, $w, or $none if there is no such element.",),
        """
        if i >= len(xs):
            return $none
        return xs[$e]
        """,
        Cases(
            "w e",
            (
                ("counted from the front and from 0", "i"),
                ("counted from the end, where 0 is the last one", "len(xs) - 1 - i"),
            ),
        ),
        NOTHING,
    ),
    family(
        "remove_value",
        "xs: ints, v: int -> list[int]",
        ("Remove $w from xs.",),
        "return [x for i, x in enumerate(xs) if $c]",
        Cases(
            "w c",
            (
                ("every element equal to v", "x != v"),
                ("the first element equal to v, if any,", "x != v or v in xs[:i]"),
                ("the last element equal to v, if any,", "x != v or v in xs[i + 1:]"),
                ("all elements equal to v but the first", "x != v or v not in xs[:i]"),
                ("every element after the first one equal to v", "v not in xs[:i]"),
                ("every element before the first one equal to v (all if there is none)", "v in xs[:i + 1]"),
            ),
        ),
    ),
    family(
        "insert_sorted",
        "xs: rising, v: int -> int",
        ("At which index does v have to go into xs, so that xs stays sorted? If equal elements are there, $w them.",),
        """
        i = 0
        while i < len(xs) and xs[i] $op v:
            i += 1
        return i
        """,
        Cases("w op", (("before", "<"), ("after", "<="))),
    ),
    family(
        "rank",
        "xs: ints, v: int -> int",
        ("Return the rank of v in xs: 1 plus the number of $d elements of xs that are $w v.",),
        "return 1 + len($s(x for x in xs if x $op v))",
        Cases("d s", (("all", "list"), ("different", "set"))),
        Cases("w op", (("greater than", ">"), ("less than", "<"))),
    ),
    family(
        "dot",
        "xs: ints, ys: ints -> int",
        ("Pair xs and ys up by index, $o. Return the sum of the $w of the pairs.",),
        """
        total = 0
        for i in range($n(len(xs), len(ys))):
            x = xs[i] if i < len(xs) else 0
            y = ys[i] if i < len(ys) else 0
            total += $e
        return total
        """,
        Cases("o n", (("as far as the shorter one goes", "min"), ("with 0 for what the shorter one lacks", "max"))),
        Cases(
            "w e",
            (
                ("larger members", "max(x, y)"),
                ("smaller members", "min(x, y)"),
                ("differences without sign", "abs(x - y)"),
                ("products", "x * y"),
            ),
        ),
    ),
    family(
        "compare_pairs",
        "xs: ints, ys: ints -> int",
        ("At how many indices that both lists have is the element of xs $w that of ys?",),
        """
        n = 0
        for x, y in zip(xs, ys):
            if $c:
                n += 1
        return n
        """,
        Cases(
            "w c",
            (
                ("greater than", "x > y"),
                ("less than", "x < y"),
                ("equal to", "x == y"),
                ("different from", "x != y"),
                ("at least", "x >= y"),
                ("more than $k above", "x > y + $k"),
                ("at least $k above", "x >= y + $k"),
                ("within $k of", "abs(x - y) <= $k"),
            ),
            Int("k", 1, 4),
        ),
    ),
    family(
        "set_operation",
        "xs: ints, ys: ints -> list[int]",
        ("Return the distinct values that are in $w, in $d order.",),
        "return sorted(set(xs) $op set(ys)$r)",
        Cases(
            "w op",
            (
                ("both xs and ys", "&"),
                ("xs or ys or both", "|"),
                ("xs but not in ys", "-"),
                ("exactly one of xs and ys", "^"),
            ),
        ),
        Cases("d r", (("ascending", ""), ("descending", ", reverse=True"))),
    ),
    family(
        "filter_by_other",
        "xs: ints, ys: ints -> list[int]",
        ("Keep the elements of xs $w, in the order of xs$o.",),
        """
        kept = []
        for x in xs:
            if $c:
                kept.append(x)
        return kept
        """,
        Cases(
            "w t",
            (
                ("that are in ys", "x in ys"),
                ("that are not in ys", "x not in ys"),
                ("that occur in ys more often than in xs", "ys.count(x) > xs.count(x)"),
                ("that occur in ys exactly once", "ys.count(x) == 1"),
            ),
        ),
        Cases("o c", (("", "$t"), (", each value once", "$t and x not in kept"))),
    ),
    family(
        "interleave",
        "xs: ints, ys: ints -> list[int]",
        ("Take elements of $w in turn, one at a time; $o.",),
        """
        result = []
        for i in range($n(len(xs), len(ys))):
            result += $a[i:i + 1] + $b[i:i + 1]
        return result
        """,
        Cases("w a b", (("xs and ys", "xs", "ys"), ("ys and xs", "ys", "xs"))),
        Cases(
            "o n",
            (
                ("stop when the shorter list is used up and as many of the other are taken", "min"),
                ("when one is used up, the rest of the other follows", "max"),
            ),
        ),
    ),
    family(
        "merge",
        "xs: rising, ys: rising -> list[int]",
        ("Merge xs and ys into one sorted list$w.",),
        "return sorted($e)",
        Cases(
            "w e",
            (
                (" that keeps all copies", "xs + ys"),
                (" without repeated values", "set(xs + ys)"),
                (" in descending order that keeps all copies", "xs + ys, reverse=True"),
                (" of the values greater than $k, with all copies", "[x for x in xs + ys if x > $k]"),
                (" of the values that are at most $k, with all copies", "[x for x in xs + ys if x <= $k]"),
            ),
            Int("k", 1, 9),
        ),
    ),
    family(
        "same_start",
        "xs: ints, ys: ints -> int",
        ("With how many equal elements do xs and ys $w?",),
        """
        n = 0
        while n < min(len(xs), len(ys)) and xs[$e] == ys[$e]:
            n += 1
        return n
        """,
        Cases("w e", (("begin", "n"), ("end", "-1 - n"))),
    ),
    family(
        "compare_lists",
        "xs: ints, ys: ints -> bool",
        ("Do xs and ys hold $w?",),
        "return $e",
        Cases(
            "w e",
            (
                ("the same values, however often and in whatever order", "set(xs) == set(ys)"),
                ("the same values equally often, in whatever order", "sorted(xs) == sorted(ys)"),
                ("no common value", "not set(xs) & set(ys)"),
                ("a common value that is greater than $k", "any(x > $k for x in set(xs) & set(ys))"),
                ("more than $k common values, counting each once", "len(set(xs) & set(ys)) > $k"),
            ),
            Int("k", 1, 5),
        ),
    ),
)
