"""Words of a text, and pairs of texts."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import TEXT, Cases, Int, Letter

TIED = Cases(
    "w tie op",
    (("longest", "first", ">"), ("longest", "last", ">="), ("shortest", "first", "<"), ("shortest", "last", "<=")),
)

FAMILIES = (
    family(
        "initials",
        "s: words -> str",
        ("Return the $w characters of the words of s that $r, in order. Words are separated by one or more spaces.",),
        "return ''.join(w[$at] for w in s.split() if $r)",
        Cases("w at", (("first", "0"), ("last", "-1"))),
        TEXT,
    ),
    family(
        "count_words",
        "s: words -> int",
        ("How many words of s $r? Words are separated by one or more spaces.",),
        "return sum(1 for w in s.split() if $r)",
        TEXT,
    ),
    family(
        "best_word",
        "s: words -> str",
        (
            "Return the $w word of s; of several, the $tie one. '' without words. Words are separated by one or more spaces.",
        ),
        """
        best = ''
        for w in s.split():
            if best == '' or len(w) $op len(best):
                best = w
        return best
        """,
        TIED,
    ),
    family(
        "change_words",
        "s: words -> str",
        (
            "Words in s are separated by one or more spaces. Write those that $r $w, leave the others as they are, and join all by single spaces.",
        ),
        "return ' '.join($e if $r else w for w in s.split())",
        Cases(
            "w e",
            (
                ("backwards", "w[::-1]"),
                ("in capitals", "w.upper()"),
                ("twice, without a space between,", "w * 2"),
                ("with a capital first letter", "w[0].upper() + w[1:]"),
            ),
        ),
        TEXT,
    ),
    family(
        "drop_words",
        "s: words -> str",
        ("Leave out the words of s that $r, and join the rest by $j. Words are separated by one or more spaces.",),
        "return $j.join(w for w in s.split() if not ($r))",
        TEXT,
        Letter("j", " -/"),
    ),
    family(
        "reorder_words",
        "s: words -> str",
        ("Return the words of s $w, joined by single spaces. Words are separated by one or more spaces.",),
        """
        words = s.split()
        return ' '.join($e)
        """,
        Cases(
            "w e",
            (
                ("in reverse order", "words[::-1]"),
                ("in alphabetical order", "sorted(words)"),
                ("in reverse alphabetical order", "sorted(words, reverse=True)"),
                ("from short to long, equally long ones in their order", "sorted(words, key=len)"),
                ("with the first word moved to the end", "words[1:] + words[:1]"),
                ("with the last word moved to the front", "words[-1:] + words[:-1]"),
                ("without repeated words, the first of equal ones staying", "dict.fromkeys(words)"),
            ),
        ),
    ),
    family(
        "nth_word",
        "s: words, i: small -> str",
        (
            "Return the word of s at index i, counted $w from 0; $m if there is none. Words are separated by one or more spaces.",
        ),
        """
        words = s.split()$turn
        if i < len(words):
            return words[i]
        return $m
        """,
        Cases("w turn", (("from the start", ""), ("from the end", "[::-1]"))),
        Cases("m", (("''",), ("'-'",), ("'?'",))),
    ),
    family(
        "fields",
        "s: text -> $out",
        ("Split s at every $a. $w the parts$o.",),
        "return $f[part for part in s.split($a)$c]$g",
        Letter("a"),
        Cases("out w f g", (("list[str]", "Return", "", ""), ("int", "Count", "len(", ")"))),
        Cases(
            "o c",
            (
                ("", ""),
                (", leaving out empty ones", " if part"),
                (" that have at least $k characters", " if len(part) >= $k"),
                (" that have more than $k characters", " if len(part) > $k"),
            ),
            Int("k", 1, 2),
        ),
    ),
    family(
        "camel",
        "s: words -> str",
        (
            "Join the words of s without spaces; $w starts with a capital letter, and all other letters are small. Words are separated by one or more spaces.",
        ),
        """
        result = ''
        for i, w in enumerate(s.split()):
            w = w.lower()
            if $c:
                w = w[0].upper() + w[1:]
            result += w
        return result
        """,
        Cases(
            "w c",
            (
                ("every word but the first", "i > 0"),
                ("every word", "i >= 0"),
                ("every word of more than $k characters", "len(w) > $k"),
                ("every word but the first that has at least $k characters", "i > 0 and len(w) >= $k"),
                ("every second word, from the second on,", "i % 2 == 1"),
            ),
            Int("k", 1, 3),
        ),
    ),
    family(
        "common_start",
        "s: text, t: text -> int",
        ("How many characters do s and t have in common at the $w$o?",),
        """
        n = 0
        while n < min(len(s), len(t)) and $e:
            n += 1
        return n
        """,
        Cases("w at", (("start", "n"), ("end", "-1 - n"))),
        Cases("o e", (("", "s[$at] == t[$at]"), (", ignoring case", "s[$at].lower() == t[$at].lower()"))),
    ),
    family(
        "compare_texts",
        "s: text, t: text -> bool",
        ("$w?",),
        "return $e",
        Cases(
            "w e",
            (
                ("Do s and t consist of the same characters, equally often", "sorted(s) == sorted(t)"),
                ("Do s and t consist of the same characters, however often", "set(s) == set(t)"),
                ("Are s and t equal, ignoring case", "s.lower() == t.lower()"),
                ("Is t contained in s, but not equal to it", "t in s and t != s"),
                (
                    "Does s start with t and have more than $k further characters",
                    "s.startswith(t) and len(s) - len(t) > $k",
                ),
                (
                    "Does s end with t and have at least $k further characters",
                    "s.endswith(t) and len(s) - len(t) >= $k",
                ),
                ("Is s longer than t by at least $k characters", "len(s) - len(t) >= $k"),
                ("Is s longer than t by more than $k characters", "len(s) - len(t) > $k"),
            ),
            Int("k", 1, 3),
        ),
    ),
    family(
        "pick_text",
        "s: text, t: text -> str",
        ("Return the $w of s and t; if they are equally long, return $o.",),
        """
        if len(s) $op len(t):
            return s
        if len(s) == len(t):
            return $e
        return t
        """,
        Cases("w op", (("longer", ">"), ("shorter", "<"))),
        Cases(
            "o e",
            (
                ("s", "s"),
                ("t", "t"),
                ("s followed by t", "s + t"),
                ("the alphabetically first", "min(s, t)"),
                ("the alphabetically last", "max(s, t)"),
                ("an empty string", "''"),
            ),
        ),
    ),
    family(
        "weave",
        "s: text, t: text -> str",
        ("Take characters of $w in turn, one at a time; $o.",),
        """
        result = ''
        for i in range($n(len(s), len(t))):
            result += $a[i:i + 1] + $b[i:i + 1]
        return result
        """,
        Cases("w a b", (("s and t", "s", "t"), ("t and s", "t", "s"))),
        Cases(
            "o n",
            (
                ("take equally many of both, as many as the shorter has", "min"),
                ("when one is used up, the rest of the other follows", "max"),
            ),
        ),
    ),
    family(
        "compare_by",
        "s: text, t: text -> int",
        ("Compare s and t by $w: return 1 if that of s is larger, -1 if it is smaller, and $o if they are equal.",),
        """
        a = $x
        b = $y
        if a > b:
            return 1
        if a < b:
            return -1
        return $z
        """,
        Cases(
            "w x y",
            (
                ("length", "len(s)", "len(t)"),
                ("their number of $a", "s.count($a)", "t.count($a)"),
                ("their number of different characters", "len(set(s))", "len(set(t))"),
            ),
            Letter("a"),
        ),
        Cases("o z", (("0", "0"), ("2", "2"))),
    ),
)
