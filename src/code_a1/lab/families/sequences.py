"""Lists of numbers as sequences: order, neighbours, ties."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import LIMIT, NOTHING, Cases, Int, Pick

WAY = Cases(
    "way op",
    (
        ("strictly ascending", "<"),
        ("ascending (equal neighbours allowed)", "<="),
        ("strictly descending", ">"),
        ("descending (equal neighbours allowed)", ">="),
    ),
)

FAMILIES = (
    family(
        "second_best",
        "xs: ints -> int | None",
        ("Return the second $best of the distinct values in xs, or $none if there are not two.",),
        """
        values = sorted(set(xs))
        if len(values) < 2:
            return $none
        return values[$at]
        """,
        Cases("best at", (("largest", "-2"), ("smallest", "1"))),
        NOTHING,
    ),
    family(
        "kth_best",
        "xs: ints -> int | None",
        (
            "Return the element at place $k of xs sorted in $d order, where equal elements take a place each and places count from 1; $none if xs is shorter.",
        ),
        """
        if len(xs) < $k:
            return $none
        return sorted(xs$r)[«$k - 1|$k»]
        """,
        Int("k", 1, 4),
        Cases("d r", (("ascending", ""), ("descending", ", reverse=True"))),
        NOTHING,
    ),
    family(
        "is_sorted",
        "xs: ints -> bool",
        ("Is xs in $way order? (True for fewer than two elements.)",),
        """
        for i in range(len(xs) - 1):
            if not xs[i] $op xs[i + 1]:
                return False
        return True
        """,
        WAY,
    ),
    family(
        "longest_ordered_run",
        "xs: ints -> int",
        ("How long is the longest part of xs, of neighbouring elements, that is $way? 0 if xs is empty.",),
        """
        if not xs:
            return 0
        best = 1
        run = 1
        for i in range(1, len(xs)):
            run = run + 1 if xs[i - 1] $op xs[i] else 1
            best = max(best, run)
        return best
        """,
        WAY,
    ),
    family(
        "count_steps",
        "xs: ints -> int",
        ("How many elements of xs are $w the element before them?",),
        """
        n = 0
        for i in range(1, len(xs)):
            if xs[i] $op xs[i - 1]:
                n += 1
        return n
        """,
        Cases(
            "w op",
            (
                ("greater than", ">"),
                ("less than", "<"),
                ("equal to", "=="),
                ("different from", "!="),
                ("at least as large as", ">="),
                ("at most as large as", "<="),
            ),
        ),
    ),
    family(
        "count_jumps",
        "xs: ints -> int",
        ("How often do neighbours in xs differ by $cmp $k?",),
        """
        n = 0
        for i in range(len(xs) - 1):
            if abs(xs[i] - xs[i + 1]) $cmp $k:
                n += 1
        return n
        """,
        LIMIT,
        Int("k", 1, 8),
    ),
    family(
        "index_of_best",
        "xs: ints -> int",
        ("Return the index of the $best element of xs; of several, the $tie one. -1 if xs is empty.",),
        """
        best = -1
        for i, x in enumerate(xs):
            if best < 0 or x $op xs[best]:
                best = i
        return best
        """,
        Cases(
            "best tie op",
            (
                ("largest", "first", ">"),
                ("largest", "last", ">="),
                ("smallest", "first", "<"),
                ("smallest", "last", "<="),
            ),
        ),
    ),
    family(
        "closest",
        "xs: ints, v: int -> int | None",
        ("Return the element of xs that is closest to v; of two equally close ones, the $tie. None if xs is empty.",),
        """
        best = None
        for x in xs:
            if best is None or abs(x - v) < abs(best - v) or (abs(x - v) == abs(best - v) and x $op best):
                best = x
        return best
        """,
        Cases("tie op", (("smaller", "<"), ("larger", ">"))),
    ),
    family(
        "farthest_from_zero",
        "xs: ints -> int | None",
        (
            "Return the element of xs with the $w absolute value; of several, the $tie in the list. $none if xs is empty.",
        ),
        """
        best = $none
        for i, x in enumerate(xs):
            if i == 0 or abs(x) $op abs(best):
                best = x
        return best
        """,
        Cases(
            "w tie op",
            (
                ("largest", "first", ">"),
                ("largest", "last", ">="),
                ("smallest", "first", "<"),
                ("smallest", "last", "<="),
            ),
        ),
        Pick("none", (("None", "None"), ("0", "0"))),
    ),
    family(
        "most_frequent",
        "xs: ints -> int | None",
        ("Return the value that occurs most often in xs; among ties, the $tie. None if xs is empty.",),
        """
        best = None
        for x in xs:
            if best is None or xs.count(x) > xs.count(best):
                best = x
            elif xs.count(x) == xs.count(best) and $c:
                best = x
        return best
        """,
        Cases(
            "tie c",
            (
                ("smallest", "x < best"),
                ("largest", "x > best"),
                ("one whose first occurrence comes latest", "xs.index(x) > xs.index(best)"),
            ),
        ),
    ),
    family(
        "count_frequent",
        "xs: ints -> int",
        ("How many different values occur $w in xs?",),
        "return len([x for x in set(xs) if xs.count(x) $c])",
        Cases(
            "w c",
            (
                ("exactly once", "== 1"),
                ("more than once", "> 1"),
                ("exactly twice", "== 2"),
                ("at least three times", ">= 3"),
                ("at most twice", "<= 2"),
            ),
        ),
    ),
    family(
        "keep_frequent",
        "xs: ints -> list[int]",
        ("Keep the elements of xs whose value occurs $w in xs.",),
        "return [x for x in xs if xs.count(x) $c]",
        Cases(
            "w c",
            (("exactly once", "== 1"), ("more than once", "> 1"), ("exactly twice", "== 2"), ("at most twice", "<= 2")),
        ),
    ),
    family(
        "squeeze",
        "xs: ints -> list[int]",
        ("Wherever neighbours in xs are all $w, keep only the $tie of them.",),
        """
        kept = []
        for x in xs:
            if kept and $c:
                $do
            else:
                kept.append(x)
        return kept
        """,
        Cases(
            "w c",
            (
                ("even", "x % 2 == 0 and kept[-1] % 2 == 0"),
                ("odd", "x % 2 == 1 and kept[-1] % 2 == 1"),
                ("positive", "x > 0 and kept[-1] > 0"),
                ("negative", "x < 0 and kept[-1] < 0"),
                ("greater than $k", "x > $k and kept[-1] > $k"),
                ("at most $k", "x <= $k and kept[-1] <= $k"),
            ),
            Int("k", 1, 8),
        ),
        Cases("tie do", (("first", "continue"), ("last", "kept[-1] = x"), ("largest", "kept[-1] = max(x, kept[-1])"))),
    ),
    family(
        "has_repeat",
        "xs: ints -> bool",
        ("Does xs hold equal elements $w?",),
        """
        for i in range(len(xs)):
            for j in range(i + 1, len(xs)):
                if xs[i] == xs[j]$c:
                    return True
        return False
        """,
        Cases(
            "w c",
            (
                ("anywhere", ""),
                ("next to each other", " and j == i + 1"),
                ("exactly $k places apart", " and j - i == $k"),
                ("at most $k places apart", " and j - i <= $k"),
                ("that are not neighbours", " and j - i > 1"),
            ),
            Int("k", 2, 3),
        ),
    ),
    family(
        "pair_sum",
        "xs: ints -> bool",
        ("Do two different places of xs hold numbers with a $w $c $k?",),
        """
        for i in range(len(xs)):
            for j in range(i + 1, len(xs)):
                if $e $op $k:
                    return True
        return False
        """,
        Cases(
            "w e",
            (
                ("sum", "xs[i] + xs[j]"),
                ("product", "xs[i] * xs[j]"),
                ("difference (the larger minus the smaller)", "abs(xs[i] - xs[j])"),
            ),
        ),
        Cases("c op", (("of exactly", "=="), ("greater than", ">"), ("less than", "<"))),
        Int("k", 2, 12),
    ),
)
