"""Windows, chunks, and lists of lists."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import LIMIT, NOTHING, NUMBER, Cases, Int, Pick

FAMILIES = (
    family(
        "first_over",
        "xs: ints -> int",
        ("Add up xs from the left. At which index does the sum first become $cmp $k? $none if never.",),
        """
        total = 0
        for i, x in enumerate(xs):
            total += x
            if total $cmp $k:
                return i
        return $none
        """,
        Pick("cmp", (("greater than", ">"), ("at least", ">="))),
        Int("k", 4, 20),
        Cases("none", (("-1",), ("len(xs)",))),
    ),
    family(
        "spend",
        "xs: ints, budget: count -> int",
        (
            "xs are prices, bought $w as long as the total stays $c budget; the first that does not fit ends the purchase. How many are bought?",
        ),
        """
        total = 0
        n = 0
        for x in $e:
            if not total + x $op budget:
                break
            total += x
            n += 1
        return n
        """,
        Cases(
            "w e",
            (("from left to right", "xs"), ("from right to left", "xs[::-1]"), ("in ascending order", "sorted(xs)")),
        ),
        Cases("c op", (("at most", "<="), ("below", "<"))),
    ),
    family(
        "window_best",
        "xs: ints -> int | None",
        ("Return the $w sum of $k neighbouring elements of xs, or $none if xs has fewer than $k.",),
        """
        if len(xs) < $k:
            return $none
        return $f(sum(xs[i:i + $k]) for i in range(len(xs) - $k + 1))
        """,
        Cases("w f", (("largest", "max"), ("smallest", "min"))),
        Int("k", 2, 3),
        NOTHING,
    ),
    family(
        "window_values",
        "xs: ints -> list[int]",
        ("Return the $w of every $k neighbouring elements of xs, from left to right; an empty list if xs is shorter.",),
        "return [$f(xs[i:i + $k]) for i in range(len(xs) - $k + 1)]",
        Cases("w f", (("sum", "sum"), ("maximum", "max"), ("minimum", "min"))),
        Int("k", 2, 3),
    ),
    family(
        "chunk_values",
        "xs: ints -> list[int]",
        ("Split xs into chunks of $k from the left; $o. Return the $w of each chunk.",),
        "return [$f(xs[i:i + $k]) for i in range(0, len(xs)$cut, $k)]",
        Cases("o cut", (("the last one may be shorter", ""), ("leave out a last one that is shorter", " - $k + 1"))),
        Cases("w f", (("sum", "sum"), ("maximum", "max"), ("length", "len"))),
        Int("k", 2, 3),
    ),
    family(
        "missing",
        "xs: ints -> $out",
        ("$ask the whole numbers from $a to $b, $i, that are $w in xs.",),
        "return $f[n for n in range($a, $b$end) if n $op xs]$g",
        Cases("out ask f g", (("list[int]", "List in ascending order", "", ""), ("int", "Count", "len(", ")"))),
        Cases("i end", (("both included", " + 1"), ("$b excluded", ""))),
        Int("a", 0, 3),
        Int("b", 5, 8),
        Cases("w op", (("not", "not in"), ("also", "in"))),
    ),
    family(
        "flatten",
        "rows: rows -> list[int]",
        ("Put all numbers of rows that are $p into one list, $w.",),
        "return [x for row in $e for x in row if $p]",
        Cases("w e", (("row after row", "rows"), ("the last row first, each row from left to right", "rows[::-1]"))),
        NUMBER,
    ),
    family(
        "row_values",
        "rows: rows -> list[int]",
        ("Return for each row $w, leaving out empty rows.",),
        "return [$e for row in rows if row]",
        Cases(
            "w e",
            (
                ("its sum", "sum(row)"),
                ("its largest number", "max(row)"),
                ("its smallest number", "min(row)"),
                ("its last number", "row[-1]"),
                ("the number of elements greater than $k", "len([x for x in row if x > $k])"),
                ("largest minus smallest", "max(row) - min(row)"),
            ),
            Int("k", 1, 8),
        ),
    ),
    family(
        "best_row",
        "rows: rows -> int",
        (
            "Return the index of the row with the $w sum (an empty row has sum 0); of several, the $tie. -1 without rows.",
        ),
        """
        best = -1
        for i, row in enumerate(rows):
            if best < 0 or sum(row) $op sum(rows[best]):
                best = i
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
    ),
    family(
        "count_rows",
        "rows: rows -> int",
        ("How many rows $w?",),
        "return sum(1 for row in rows if $c)",
        Cases(
            "w c",
            (
                ("have a sum of $cmp $k", "sum(row) $cmp $k"),
                ("hold $cmp 2 elements", "len(row) $cmp 2"),
                ("hold a number greater than $k", "any(x > $k for x in row)"),
                ("hold only numbers that are at least $k (empty rows count)", "all(x >= $k for x in row)"),
                ("hold a repeated value", "len(set(row)) < len(row)"),
            ),
            Int("k", 1, 9),
        ),
        LIMIT,
    ),
    family(
        "cycle",
        "xs: ints, n: small -> list[int]",
        ("Repeat xs $w until it has $o elements, cutting off what is too much. An empty list stays empty.",),
        """
        if not xs:
            return []
        return [xs$turn[i % len(xs)] for i in range(n$more)]
        """,
        Cases("w turn", (("from its start", ""), ("reversed", "[::-1]"))),
        Cases("o more", (("n", ""), ("n plus $k", " + $k")), Int("k", 1, 3)),
    ),
)
