"""Dictionaries from names to numbers: entries with a property, changes."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import CHARACTER, LIMIT, NUMBER, Cases, Int, Letter, Pick

FAMILIES = (
    family(
        "names_where",
        "d: table -> list[str]",
        ("Return the keys of d whose value is $p, sorted $w.",),
        "return sorted((k for k, x in d.items() if $p)$r)",
        NUMBER,
        Cases("w r", (("alphabetically", ""), ("in reverse alphabetical order", ", reverse=True"))),
    ),
    family(
        "total_where",
        "d: table -> int",
        ("Add up the values of d that are $p.", "Return the sum of all values of d that are $p."),
        """
        total = 0
        for x in d.values():
            if $p:
                total += x
        return total
        """,
        NUMBER,
    ),
    family(
        "count_where",
        "d: table -> int",
        ("How many keys of d have a value that is $p?",),
        "return sum(1 for x in d.values() if $p)",
        NUMBER,
    ),
    family(
        "keep_where",
        "d: table -> dict[str, int]",
        ("Return a dict with those entries of d whose value is $p.", "Filter d: keep an entry if its value is $p."),
        "return {k: x for k, x in d.items() if $p}",
        NUMBER,
    ),
    family(
        "change_where",
        "d: table -> dict[str, int]",
        ("Return d with $e in place of every value that is $p.",),
        "return {k: $e if $p else x for k, x in d.items()}",
        NUMBER,
        Pick(
            "e",
            (
                ("0", "0"),
                ("the value plus $v", "x + $v"),
                ("twice the value", "x * 2"),
                ("the negated value", "-x"),
                ("$v", "$v"),
            ),
            Int("v", 1, 9),
        ),
    ),
    family(
        "histogram",
        "xs: ints -> dict[int, int]",
        ("Count how often each value that is $p occurs in xs; return a dict from value to count$w.",),
        """
        counts = {}
        for x in xs:
            if $p:
                counts[x] = counts.get(x, 0) + 1
        return {x: n for x, n in counts.items() if n $op}
        """,
        NUMBER,
        Cases(
            "w op",
            (
                ("", "> 0"),
                (", for values that occur more than once", "> 1"),
                (", for values that occur exactly once", "== 1"),
            ),
        ),
    ),
    family(
        "letter_counts",
        "s: text -> dict[str, int]",
        ("Count the characters of s that are $q: return a dict from character to count$w.",),
        """
        counts = {}
        for c in s:
            if $q:
                counts[c] = counts.get(c, 0) + 1
        return {c: n for c, n in counts.items() if n $op}
        """,
        CHARACTER,
        Cases("w op", (("", "> 0"), (", only for characters that occur more than once", "> 1"))),
    ),
    family(
        "raise_value",
        "d: table, k: letter -> dict[str, int]",
        ("Return d with the value of k $w by $v; if k is missing, $o. The other entries stay.",),
        """
        result = dict(d)
        if k in d:
            result[k] = d[k] $op $v
        else:
            $do
        return result
        """,
        Cases("w op", (("increased", "+"), ("reduced", "-"))),
        Int("v", 1, 5),
        Cases(
            "o do",
            (("add it with value $z", "result[k] = $z"), ("add it with value $v", "result[k] = $v")),
            Int("z", 0, 1),
        ),
    ),
    family(
        "spread_of_values",
        "d: table -> int",
        ("Return $w in d; 0 if d has fewer than $k keys.",),
        """
        if len(d) < $k:
            return 0
        values = sorted(d.values())
        return $e
        """,
        Cases(
            "w k e",
            (
                ("the largest minus the smallest value", "2", "values[-1] - values[0]"),
                (
                    "the largest minus the second largest value (equal ones count singly)",
                    "2",
                    "values[-1] - values[-2]",
                ),
                ("the sum of the two largest values", "2", "values[-1] + values[-2]"),
                ("the sum of the two smallest values", "2", "values[0] + values[1]"),
                ("the middle of the three smallest values", "3", "values[1]"),
            ),
        ),
    ),
    family(
        "key_sum",
        "d: table -> int",
        ("Add up the values of the keys of d that are $w $a alphabetically.",),
        "return sum(x for k, x in d.items() if k $op $a)",
        Cases("w op", (("before", "<"), ("after", ">"), ("not before", ">="), ("not after", "<="))),
        Letter("a", "bcdexy"),
    ),
    family(
        "all_values",
        "d: table -> bool",
        ("$ask of the values of d $w $k? $o.",),
        "return $e",
        Cases(
            "ask o e",
            (
                ("Are all", "An empty dict counts as True", "all(x $op $k for x in d.values())"),
                ("Is any", "An empty dict counts as False", "any(x $op $k for x in d.values())"),
            ),
        ),
        Cases("w op", (("more than", ">"), ("at least", ">="), ("less than", "<"), ("at most", "<="))),
        Int("k", 0, 9),
    ),
    family(
        "count_values",
        "d: table -> int",
        ("How many values of d are $cmp $k and belong to a key that is $w $a?",),
        "return sum(1 for k, x in d.items() if x $cmp $k and k $op $a)",
        LIMIT,
        Int("k", 1, 9),
        Cases("w op", (("alphabetically before", "<"), ("alphabetically after", ">"), ("different from", "!="))),
        Letter("a", "bcdexy"),
    ),
)
