"""Lists of strings."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import CHARACTER, LIMIT, TEXT, Cases, Int, Letter

TIED = Cases(
    "w tie op",
    (("longest", "first", ">"), ("longest", "last", ">="), ("shortest", "first", "<"), ("shortest", "last", "<=")),
)

FAMILIES = (
    family(
        "count_texts",
        "ws: texts -> int",
        ("How many strings in ws $r?", "Count the strings in ws that $r."),
        """
        n = 0
        for w in ws:
            if $r:
                n += 1
        return n
        """,
        TEXT,
    ),
    family(
        "keep_texts",
        "ws: texts -> list[str]",
        ("Keep the strings of ws that $r.", "Filter ws: return those strings that $r, in order."),
        "return [w for w in ws if $r]",
        TEXT,
    ),
    family(
        "drop_texts",
        "ws: texts -> list[str]",
        ("Leave out the strings of ws that $r, and all empty strings.",),
        "return [w for w in ws if w and not ($r)]",
        TEXT,
    ),
    family(
        "join_texts",
        "ws: texts -> str",
        ("Join the strings of ws that $r with $s between them.",),
        "return $s.join(w for w in ws if $r)",
        TEXT,
        Letter("s", "-+/,;_"),
    ),
    family(
        "find_text",
        "ws: texts -> int",
        ("Return the index of the $t of the strings in ws that $r, or $m if there are none.",),
        """
        found = [i for i, w in enumerate(ws) if $r]
        if not found:
            return $m
        return found[$at]
        """,
        TEXT,
        Cases("t at", (("first", "0"), ("last", "-1"))),
        Cases("m", (("-1",), ("len(ws)",))),
    ),
    family(
        "all_texts",
        "ws: texts -> bool",
        ("Is it true that $w strings in ws $r?",),
        "return $e",
        Cases(
            "w e",
            (
                ("all (an empty ws counts as True)", "all($r for w in ws)"),
                ("some (at least one)", "any($r for w in ws)"),
                ("exactly two", "sum($r for w in ws) == 2"),
                ("more than half of the", "sum($r for w in ws) * 2 > len(ws)"),
            ),
        ),
        TEXT,
    ),
    family(
        "best_text",
        "ws: texts -> str | None",
        ("Return the $w string in ws; of several, the $tie one. $m if ws is empty.",),
        """
        if not ws:
            return $m
        best = ws[0]
        for w in ws[1:]:
            if len(w) $op len(best):
                best = w
        return best
        """,
        TIED,
        Cases("m", (("None",), ("''",), ("'?'",))),
    ),
    family(
        "sort_texts",
        "ws: texts -> list[str]",
        ("Sort ws by length, $d first; strings of equal length $o.",),
        "return sorted(ws, key=lambda w: $e)",
        Cases("d n", (("the shortest", "len(w)"), ("the longest", "-len(w)"))),
        Cases("o e", (("keep their order", "$n"), ("in alphabetical order", "($n, w)"))),
    ),
    family(
        "lengths",
        "ws: texts -> list[int]",
        ("For each of the strings in ws that $r, in order, return $e0.",),
        "return [$e for w in ws if $r]",
        Cases(
            "e0 e",
            (
                ("the length", "len(w)"),
                ("the number of $z", "w.count($z)"),
                ("the number of different characters", "len(set(w))"),
            ),
            Letter("z"),
        ),
        TEXT,
    ),
    family(
        "total_length",
        "ws: texts -> int",
        ("Return the length of all strings in ws that $r together; $o.",),
        """
        total = 0
        for w in ws:
            if $r:
                total += $e
        return total
        """,
        TEXT,
        Cases(
            "o e",
            (
                ("count $k more for each of them", "len(w) + $k"),
                ("count at most $k for each of them", "min(len(w), $k)"),
                ("count nothing else", "len(w)"),
            ),
            Int("k", 1, 3),
        ),
    ),
    family(
        "cut_texts",
        "ws: texts -> list[str]",
        ("Cut every string in ws that is longer than $k to $w $k characters$o.",),
        "return [$e for w in ws$c]",
        Int("k", 1, 3),
        Cases("w e", (("its first", "w[:$k]"), ("its last", "w[-$k:]"))),
        Cases(
            "o c",
            (
                ("", ""),
                (" and leave out empty strings", " if w"),
                (" and leave out all strings that are shorter than $k", " if len(w) >= $k"),
            ),
        ),
    ),
    family(
        "first_in_order",
        "ws: texts -> str | None",
        ("Return the alphabetically $w of the strings in ws that $r, or $m if there are none.",),
        "return $f((w for w in ws if $r), default=$m)",
        Cases("w f", (("first", "min"), ("last", "max"))),
        TEXT,
        Cases("m", (("None",), ("''",), ("'?'",))),
    ),
    family(
        "rank_texts",
        "ws: texts -> list[str]",
        ("Put a number behind every string in ws: $w, then the next higher. Strings that $r are left out $o.",),
        """
        result = []
        for i, w in enumerate(ws, $k):
            if not ($r):
                result.append(w + str($e))
        return result
        """,
        Cases("w k", (("the first gets 1", "1"), ("the first gets 0", "0"))),
        TEXT,
        Cases("o e", (("but use up a number", "i"), ("and use up no number", "$k + len(result)"))),
    ),
    family(
        "char_lists",
        "ws: texts -> int",
        ("How many characters that are $q are in the strings of ws, not counting strings $w?",),
        """
        n = 0
        for w in ws:
            if not ($c):
                for c in w:
                    if $q:
                        n += 1
        return n
        """,
        CHARACTER,
        Cases(
            "w c",
            (
                ("longer than $k", "len(w) > $k"),
                ("shorter than $k", "len(w) < $k"),
                ("that start with $z", "w.startswith($z)"),
            ),
            Int("k", 2, 4),
            Letter("z"),
        ),
    ),
    family(
        "fits",
        "ws: texts -> int",
        (
            "How many strings of ws, from the $w on, fit into a line of $k characters, with $o between neighbours? Stop at the first that does not fit.",
        ),
        """
        used = 0
        n = 0
        for w in ws$turn:
            need = len(w) + ($g if n > 0 else 0)
            if used + need > $k:
                break
            used += need
            n += 1
        return n
        """,
        Cases("w turn", (("first", ""), ("last", "[::-1]"))),
        Int("k", 4, 10),
        Cases("o g", (("one space", "1"), ("two spaces", "2"), ("nothing", "0"))),
    ),
    family(
        "length_test",
        "ws: texts -> bool",
        ("Do $cmp $k strings in ws have $w length?",),
        """
        n = len([w for w in ws if $c])
        return n $cmp $k
        """,
        LIMIT,
        Int("k", 1, 2),
        Cases(
            "w c",
            (
                ("an even", "len(w) % 2 == 0"),
                ("an odd", "len(w) % 2 == 1"),
                ("a larger than average", "len(w) * len(ws) > sum(map(len, ws))"),
                ("the largest", "len(w) == max(map(len, ws))"),
            ),
        ),
    ),
)
