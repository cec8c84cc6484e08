"""One string or two: parts, ends, repetitions."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import Cases, Int, Letter

FAMILIES = (
    family(
        "before_char",
        "s: text -> str",
        ("Return the part of s $w the $t $a, without it; if $a is not in s, return $o.",),
        """
        if $a not in s:
            return $m
        i = s.$f($a)
        return $e
        """,
        Letter("a"),
        Cases("w e", (("before", "s[:i]"), ("after", "s[i + 1:]"))),
        Cases("t f", (("first", "find"), ("last", "rfind"))),
        Cases("o m", (("all of s", "s"), ("an empty string", "''"))),
    ),
    family(
        "ends_test",
        "s: text -> bool",
        ("Does s $w?",),
        "return $e",
        Cases(
            "w e",
            (
                ("start with $a", "s.startswith($a)"),
                ("end with $a", "s.endswith($a)"),
                ("start with $a and end with $b", "s.startswith($a) and s.endswith($b)"),
                ("start with $a or end with $b", "s.startswith($a) or s.endswith($b)"),
                ("contain both $a and $b", "$a in s and $b in s"),
                ("contain $a but not $b", "$a in s and $b not in s"),
                (
                    "hold an $a before its first $b (False if it lacks one of them)",
                    "$a in s and $b in s and s.find($a) < s.find($b)",
                ),
                ("hold more $a than $b", "s.count($a) > s.count($b)"),
                ("hold at least as many $a as $b", "s.count($a) >= s.count($b)"),
            ),
        ),
        Letter("a b"),
    ),
    family(
        "replace_some",
        "s: text -> str",
        ("Replace the $w $a in s by $b.",),
        "return $e",
        Letter("a b"),
        Cases(
            "w e",
            (
                ("first $k", "s.replace($a, $b, $k)"),
                ("last", "$b.join(s.rsplit($a, 1))"),
                ("first", "s.replace($a, $b, 1)"),
            ),
            Int("k", 2, 3),
        ),
    ),
    family(
        "palindrome",
        "s: text -> bool",
        ("Does s read the same backwards$w? $o.",),
        """
        $prepare
        return $c
        """,
        Cases(
            "w prepare",
            (
                ("", "t = s"),
                (", ignoring case", "t = s.lower()"),
                (", if every $a is left out", "t = s.replace($a, '')"),
                (
                    ", if everything but small letters a to z is left out",
                    "t = ''.join(c for c in s if 'a' <= c <= 'z')",
                ),
            ),
            Letter("a"),
        ),
        Cases(
            "o c",
            (
                ("What is left may be empty: then True", "t == t[::-1]"),
                ("If nothing is left, False", "t != '' and t == t[::-1]"),
                ("If fewer than 2 characters are left, False", "len(t) >= 2 and t == t[::-1]"),
            ),
        ),
    ),
    family(
        "part",
        "s: text -> str",
        ("Return $w of s, or all of s if it is shorter.",),
        "return $e",
        Cases("w e", (("the first $k characters", "s[:$k]"), ("the last $k characters", "s[-$k:]"))),
        Int("k", 1, 6),
    ),
    family(
        "without_part",
        "s: text -> str",
        ("Return s without its $w $k characters, but only if s $o; else return s.",),
        """
        if $c:
            return $e
        return s
        """,
        Cases("w e", (("first", "s[$k:]"), ("last", "s[:-$k]"))),
        Int("k", 1, 3),
        Cases(
            "o c",
            (
                ("starts with $a", "s.startswith($a)"),
                ("ends with $a", "s.endswith($a)"),
                ("has more than $m characters", "len(s) > $m"),
                ("has at least $m characters", "len(s) >= $m"),
            ),
            Letter("a"),
            Int("m", 2, 5),
        ),
    ),
    family(
        "shorten",
        "s: text -> str",
        ("If s is longer than $k characters, cut it to $w $k and put $m «behind|after» them. Otherwise return s.",),
        """
        if len(s) > $k:
            return $e + $m
        return s
        """,
        Int("k", 2, 5),
        Cases("w e", (("the first", "s[:$k]"), ("the last", "s[-$k:]"))),
        Letter("m", ".-+~"),
    ),
    family(
        "shorten_within",
        "s: text -> str",
        ("Shorten s to at most $k characters: if it is longer, its first $j are kept and $m follows them.",),
        """
        if len(s) <= $k:
            return s
        return s[:$j] + $m
        """,
        Cases("k j", (("3", "2"), ("4", "3"), ("5", "4"), ("6", "5"))),
        Letter("m", ".-+~*#"),
    ),
    family(
        "pad_text",
        "s: text -> str",
        ("Pad s with $a on the $w to $k characters; a longer s stays as it is$o.",),
        "return $e",
        Letter("a", "-0x*."),
        Int("k", 3, 6),
        Cases("w e0", (("left", "s.rjust($k, $a)"), ("right", "s.ljust($k, $a)"))),
        Cases("o e", (("", "$e0"), (", and so does an empty s", "$e0 if s else ''"))),
    ),
    family(
        "unique_chars",
        "s: text -> str",
        ("Remove repeated characters from s, $w; of each character the $t copy stays.",),
        """
        kept = ''
        for c in s$turn:
            if c not in kept$e:
                kept += c
        return kept$turn
        """,
        Cases("w e", (("all kinds alike", ""), ("but keep all copies of $a", " or c == $a")), Letter("a")),
        Cases("t turn", (("first", ""), ("last", "[::-1]"))),
    ),
    family(
        "shift_letters",
        "s: text -> str",
        (
            "Replace every $w letter of s by the one $k places $d in the alphabet, wrapping around; other characters stay.",
        ),
        """
        result = ''
        for c in s:
            if $a <= c <= $z:
                c = chr((ord(c) - ord($a) $op $k) % 26 + ord($a))
            result += c
        return result
        """,
        Cases("w a z", (("small", "'a'", "'z'"), ("capital", "'A'", "'Z'"))),
        Int("k", 1, 5),
        Cases("d op", (("later", "+"), ("earlier", "-"))),
    ),
    family(
        "digit_sum_text",
        "s: text -> int",
        ("Add up the digits in s$w; other characters $o.",),
        """
        total = 0
        for c in s:
            if '0' <= c <= '9':
                total += int(c)
            $rest
        return total
        """,
        Cases(
            "w o rest",
            (
                ("", "count 0", "else:\n                total += 0"),
                ("", "count 1 each", "else:\n                total += 1"),
                ("", "end the count", "else:\n                break"),
                ("", "set the sum back to 0", "else:\n                total = 0"),
            ),
        ),
    ),
    family(
        "mask",
        "s: text -> str",
        ("Replace all but the $w $k characters of s by $m. A shorter s stays as it is.",),
        """
        hidden = max(0, len(s) - $k)
        return $e
        """,
        Cases("w e", (("last", "$m * hidden + s[hidden:]"), ("first", "s[:len(s) - hidden] + $m * hidden"))),
        Int("k", 1, 4),
        Letter("m", "*#x."),
    ),
    family(
        "swap_halves",
        "s: text -> str",
        ("Swap the two halves of s. If its length is odd, $w.",),
        """
        h = len(s) // 2
        if len(s) % 2 == 0:
            return s[h:] + s[:h]
        return $e
        """,
        Cases(
            "w e",
            (
                ("the middle character stays in the middle", "s[h + 1:] + s[h] + s[:h]"),
                ("leave out the middle character", "s[h + 1:] + s[:h]"),
                ("the middle character belongs to the first half", "s[h + 1:] + s[:h + 1]"),
                ("return s unchanged", "s"),
            ),
        ),
    ),
    family(
        "same_ends",
        "s: text -> bool",
        ("Do the first and the last character of s $w? $o for an empty s.",),
        """
        if not s:
            return $m
        return $e
        """,
        Cases(
            "w e",
            (
                ("agree", "s[0] == s[-1]"),
                ("differ", "s[0] != s[-1]"),
                ("agree but for case", "s[0].lower() == s[-1].lower()"),
                ("stand in ascending order, equal ones allowed", "s[0] <= s[-1]"),
                ("stand in strictly ascending order", "s[0] < s[-1]"),
            ),
        ),
        Cases("o m", (("False", "False"), ("True", "True"))),
    ),
)
