"""Dictionaries: looking up, ranking, grouping, joining."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import NUMBER, Cases, Int, Pick

FAMILIES = (
    family(
        "lookup",
        "d: table, k: letter -> int",
        ("Return the value of k in d, $o. If k is missing, return $m.",),
        """
        if k not in d:
            return $m
        return $e
        """,
        Cases(
            "o e",
            (
                ("but at most $v", "min(d[k], $v)"),
                ("but at least $v", "max(d[k], $v)"),
                ("plus $v", "d[k] + $v"),
                ("or 0 if it is negative", "max(0, d[k])"),
            ),
            Int("v", 2, 9),
        ),
        Pick("m", (("0", "0"), ("-1", "-1"), ("the number of keys in d", "len(d)"))),
    ),
    family(
        "best_name",
        "d: table -> str | None",
        ("Return the key with the $w value in d; of several, the alphabetically $tie one. None if d is empty.",),
        """
        best = None
        for k in sorted(d):
            if best is None or d[k] $op d[best]:
                best = k
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
        "ranking",
        "d: table -> list[str]",
        ("List the keys of d by value, the $w first; keys with equal values in alphabetical order.",),
        "return sorted(d, key=lambda k: ($e, k))",
        Cases(
            "w e",
            (
                ("largest", "-d[k]"),
                ("smallest", "d[k]"),
                ("smallest in absolute value", "abs(d[k])"),
                ("closest to $v", "abs(d[k] - $v)"),
            ),
            Int("v", 2, 9),
        ),
    ),
    family(
        "top_names",
        "d: table -> list[str]",
        (
            "List the $k keys of d with the $w values, the $w first; equal values in alphabetical order. If d is smaller, list all keys.",
        ),
        "return sorted(d, key=lambda k: ($e, k))[:$k]",
        Cases("w e", (("largest", "-d[k]"), ("smallest", "d[k]"))),
        Int("k", 1, 3),
    ),
    family(
        "add_tables",
        "d: table, e: table -> dict[str, int]",
        ("Merge d and e. Where both have a key, $w.",),
        """
        result = dict(d)
        for k, x in e.items():
            if k in d:
                result[k] = $e
            else:
                result[k] = x
        return result
        """,
        Cases(
            "w e",
            (
                ("add the values", "d[k] + x"),
                ("the value of d counts", "d[k]"),
                ("the value of e counts", "x"),
                ("the larger value counts", "max(d[k], x)"),
                ("the smaller value counts", "min(d[k], x)"),
                ("take the value of d minus that of e", "d[k] - x"),
            ),
        ),
    ),
    family(
        "join_tables",
        "d: table, e: table -> dict[str, int]",
        ("Return a dict with the keys that are in both d and e, each with $w.",),
        "return {k: $e for k in d if k in e}",
        Cases(
            "w e",
            (
                ("the sum of its values", "d[k] + e[k]"),
                ("the larger of its values", "max(d[k], e[k])"),
                ("its value in d minus its value in e", "d[k] - e[k]"),
                ("its value in e", "e[k]"),
            ),
        ),
    ),
    family(
        "less_table",
        "d: table, e: table -> dict[str, int]",
        (
            "Take the numbers in e off those in d, key by key (a key missing in e takes off 0), and leave out keys whose result is $w $k.",
        ),
        """
        result = {}
        for k, x in d.items():
            left = x - e.get(k, 0)
            if not left $op $k:
                result[k] = left
        return result
        """,
        Cases("w op", (("less than", "<"), ("at most", "<="), ("equal to", "=="))),
        Int("k", 0, 2),
    ),
    family(
        "total_of",
        "d: table, keys: texts -> int",
        ("Add up the values in d of all strings in keys; $w; $o.",),
        """
        total = 0
        for k in $e:
            total += d.get(k, $m)
        return total
        """,
        Cases(
            "w m",
            (
                ("a string that d lacks counts as 0", "0"),
                ("a string that d lacks counts as $v", "$v"),
                ("a string that d lacks counts as -1", "-1"),
            ),
            Int("v", 1, 5),
        ),
        Cases("o e", (("a repeated string counts each time", "keys"), ("a repeated string counts once", "set(keys)"))),
    ),
    family(
        "index_map",
        "xs: ints -> dict[int, int]",
        ("Return a dict from each value in xs that is $p to the index of its $w occurrence.",),
        """
        found = {}
        for i, x in enumerate(xs):
            if $p$c:
                found[x] = i
        return found
        """,
        Cases("w c", (("first", " and x not in found"), ("last", ""))),
        NUMBER,
    ),
    family(
        "group_by_length",
        "ws: texts -> dict[int, $t]",
        ("Group the strings of ws by length: return a dict from length to $w.",),
        """
        groups = {}
        for w in ws:
            «|if not w:
                continue
            »$do
        return groups
        """,
        Cases(
            "t w do",
            (
                ("int", "the number of strings", "groups[len(w)] = groups.get(len(w), 0) + 1"),
                ("list[str]", "the list of strings in their order", "groups[len(w)] = groups.get(len(w), []) + [w]"),
                ("str", "the first such string", "groups.setdefault(len(w), w)"),
                ("str", "the last such string", "groups[len(w)] = w"),
            ),
        ),
    ),
    family(
        "names_of_value",
        "d: table -> dict[int, str]",
        ("Turn d around: return a dict from each value to its key; of several keys, the alphabetically $w.",),
        """
        result = {}
        for k in sorted(d$r):
            result[d[k]] = k
        return result
        """,
        Cases("w r", (("last", ""), ("first", ", reverse=True"))),
    ),
    family(
        "take_stock",
        "d: table, k: letter, n: small -> bool",
        ("Does d hold $w n of k? A missing key counts as $z.",),
        "return d.get(k, $z) $op n",
        Cases("w op", (("at least", ">="), ("more than", ">"), ("exactly", "=="))),
        Int("z", 0, 2),
    ),
)
