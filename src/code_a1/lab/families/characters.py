"""Characters of a string: those that have a property, and how they follow each other."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import CHARACTER, LIMIT, Cases, Int, Letter, Pick, Rising, character_property

FAMILIES = (
    family(
        "count_chars",
        "s: text -> int",
        ("«Count|Return the number of» characters of s that are $q.", "How many characters of s are $q?"),
        """
        n = 0
        for c in s:
            if $q:
                n += 1
        return n
        """,
        CHARACTER,
    ),
    family(
        "keep_chars",
        "s: text -> str",
        ("Keep only the characters of s that are $q.", "Remove from s everything that is not $q."),
        "return ''.join(c for c in s if $q)",
        CHARACTER,
    ),
    family(
        "replace_chars",
        "s: text -> str",
        ("Replace every character of s that is $q by $e.",),
        "return ''.join($e if $q else c for c in s)",
        CHARACTER,
        Pick(
            "e",
            (
                ("$z", "$z"),
                ("'-'", "'-'"),
                ("two copies of it", "c * 2"),
                ("its capital form", "c.upper()"),
                ("its small form", "c.lower()"),
                ("'*'", "'*'"),
            ),
            Letter("z", "xyz"),
        ),
    ),
    family(
        "find_char",
        "s: text -> int",
        ("Return the index of the $w character of s that is $q, or $m if there is none.",),
        """
        found = $m
        for i, c in enumerate(s):
            if $q:
                $do
        return found
        """,
        CHARACTER,
        Cases("w do", (("first", "return i"), ("last", "found = i"))),
        Cases("m", (("-1",), ("len(s)",))),
    ),
    family(
        "all_chars",
        "s: text -> bool",
        ("Are all characters of s $q? For an empty s, $o.",),
        "return ${e}«all|any»($q for c in s)",
        CHARACTER,
        Cases("o e", (("the answer is True", ""), ("the answer is False", "s != '' and "))),
    ),
    family(
        "longest_run",
        "s: text -> int",
        ("How long is the longest run of neighbouring characters in s that are all $q?",),
        """
        best = 0
        run = 0
        for c in s:
            if $q:
                run += 1
                best = max(best, run)
            else:
                run = 0
        return best
        """,
        CHARACTER,
    ),
    family(
        "strip_chars",
        "s: text -> str",
        ("Remove characters that are $q from the $w of s, until one comes that is not.",),
        """
        for i, c in enumerate(s$turn):
            if not ($q):
                return $e
        return ''
        """,
        CHARACTER,
        Cases("w turn e", (("start", "", "s[i:]"), ("end", "[::-1]", "s[:len(s) - i]"))),
    ),
    family(
        "squeeze_text",
        "s: text -> str",
        ("Collapse runs of equal neighbouring characters in s that are $q to one.",),
        """
        result = ''
        for c in s:
            if result and result[-1] == c and ($q):
                continue
            result += c
        return result
        """,
        CHARACTER,
    ),
    family(
        "most_common_char",
        "s: text -> str",
        ("Which character that is $q occurs most often in s? Of several, the $w. '' if there is none.",),
        """
        best = ''
        for c in sorted(set(s)):
            if ($q) and (best == '' or s.count(c) $op s.count(best)):
                best = c
        return best
        """,
        CHARACTER,
        Cases("w op", (("smallest in character order", ">"), ("largest in character order", ">="))),
    ),
    family(
        "sort_chars",
        "s: text -> str",
        ("Sort the characters of s that are $q in $w character order$o.",),
        "return ''.join(sorted($e$r))",
        CHARACTER,
        Cases("w r", (("ascending", ""), ("descending", ", reverse=True"))),
        Cases("o e", (("", "[c for c in s if $q]"), (", each character once", "{c for c in s if $q}"))),
    ),
    family(
        "common_chars",
        "s: text, t: text -> $out",
        ("$w the characters of s that are $c in t and are $q.",),
        "return $e",
        Cases(
            "out w e",
            (
                ("str", "In their order and with repetitions, return", "''.join(c for c in s if c $op t and ($q))"),
                ("int", "Count, with repetitions,", "len([c for c in s if c $op t and ($q)])"),
                ("int", "Count, each character once,", "len({c for c in s if c $op t and ($q)})"),
            ),
        ),
        Cases("c op", (("also", "in"), ("not", "not in"))),
        CHARACTER,
    ),
    family(
        "score_chars",
        "s: text -> int",
        (
            "Score s: $x for each character that is $q, otherwise $y for each that is $r, otherwise 0. Return the total.",
        ),
        """
        score = 0
        for c in s:
            if $q:
                score += $x
            elif $r:
                score += $y
        return score
        """,
        CHARACTER,
        character_property("r", inner="r"),
        Rising("y x", 1, 6),
    ),
    family(
        "valid_name",
        "s: text -> bool",
        ("Does s have $cmp $k characters, and is the first one $q? An empty s is not valid.",),
        """
        if not s:
            return False
        c = s[0]
        return len(s) $cmp $k and ($q)
        """,
        LIMIT,
        Int("k", 2, 5),
        CHARACTER,
    ),
    family(
        "run_lengths",
        "s: text -> str",
        ("Write every run of equal characters in s as $w; for instance 'aab' becomes $x.",),
        """
        result = ''
        i = 0
        while i < len(s):
            j = i
            while j < len(s) and s[j] == s[i]:
                j += 1
            result += $e
            i = j
        return result
        """,
        Cases(
            "w x e",
            (
                ("the character and the length of the run", "'a2b1'", "s[i] + str(j - i)"),
                ("the length of the run and the character", "'2a1b'", "str(j - i) + s[i]"),
                (
                    "the character, followed by the length of the run if that is more than 1",
                    "'a2b'",
                    "s[i] + (str(j - i) if j - i > 1 else '')",
                ),
                ("the length of the run alone", "'21'", "str(j - i)"),
            ),
        ),
    ),
    family(
        "count_changes",
        "s: text -> int",
        ("How often is a character of s $w the one right before it?",),
        """
        n = 0
        for a, b in zip(s, s[1:]):
            if $c:
                n += 1
        return n
        """,
        Cases(
            "w c",
            (
                ("equal to", "a == b"),
                ("different from", "a != b"),
                ("greater than", "b > a"),
                ("less than", "b < a"),
                ("the same letter as, but for case,", "a.lower() == b.lower()"),
                ("a capital letter A to Z, unlike", "'A' <= b <= 'Z' and not 'A' <= a <= 'Z'"),
            ),
        ),
    ),
    family(
        "count_part",
        "s: text -> int",
        ("How often does $w occur in s, where occurrences may overlap?",),
        """
        n = 0
        for i in range(len(s)):
            if s[i:].startswith($e):
                n += 1
        return n
        """,
        Cases(
            "w e",
            (
                ("$a twice in a row", "$a * 2"),
                ("$a followed by $b", "$a + $b"),
                ("$a three times in a row", "$a * 3"),
                ("$a, then $b, then $a", "$a + $b + $a"),
            ),
        ),
        Letter("a b"),
    ),
    family(
        "compare_chars",
        "s: text, t: text -> int",
        ("At how many indices that both have do s and t hold $w?",),
        """
        n = 0
        for a, b in zip(s, t):
            if $c:
                n += 1
        return n
        """,
        Cases(
            "w c",
            (
                ("equal characters", "a == b"),
                ("different characters", "a != b"),
                ("the same letter, ignoring case,", "a.lower() == b.lower()"),
                ("characters of which that of s is greater", "a > b"),
                ("characters of which that of s is not greater", "a <= b"),
            ),
        ),
    ),
    family(
        "depth",
        "s: text -> int",
        ("Read s from left to right: $a goes up one level, $b goes down one, but never below 0. Return the $w.",),
        """
        level = 0
        best = 0
        for c in s:
            if c == $a:
                level += 1
            elif c == $b and level > 0:
                level -= 1
            best = max(best, level)
        return $e
        """,
        Letter("a b"),
        Cases(
            "w e",
            (("highest level", "best"), ("last level", "level"), ("highest level minus the last one", "best - level")),
        ),
    ),
)
