"""Whole numbers and conditions on them: choices, grades, tariffs, limits."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import NUMBER, SIMPLE, Cases, Int, Pick, Rising, number_property, simple_property

RESULT = (
    ("x", "x"),
    ("$c", "$c"),
    ("0", "0"),
    ("x plus $c", "x + $c"),
    ("x minus $c", "x - $c"),
    ("x times $t", "x * $t"),
    ("the negative of x", "-x"),
    ("the absolute value of x", "abs(x)"),
    ("x divided by $t, rounded down", "x // $t"),
    ("the square of x", "x * x"),
)
SOME = Pick("e", RESULT, Int("c", 1, 9), Int("t", 2, 4))
OTHER = Pick("o", RESULT[::-1], Int("c", 1, 9), Int("t", 2, 4))

FAMILIES = (
    family("is_it", "x: int -> bool", ("Is x $p?", "Return whether x is $p."), "return $p", NUMBER),
    family(
        "is_both",
        "x: int -> bool",
        ("Is x $p and also $o?", "Return True if x is both $p and $o, else False."),
        "return ($p) and ($o)",
        SIMPLE,
        simple_property("o", inner="o"),
    ),
    family(
        "is_one_of_two",
        "x: int -> bool",
        ("Is x exactly one of these, $p or $o?", "Return True if x is $p or $o but not both, else False."),
        "return ($p) «!=|or» ($o)",
        SIMPLE,
        simple_property("o", inner="o"),
    ),
    family(
        "choose",
        "x: int -> int",
        ("Return $e if x is $p, otherwise $o.", "If x is $p, the result is $e, else it is $o."),
        """
        if $p:
            return $e
        return $o
        """,
        NUMBER,
        SOME,
        OTHER,
    ),
    family(
        "choose_of_three",
        "x: int -> int",
        ("If x is $p return $a; if not, but x is $q, return $b; otherwise return $o.",),
        """
        if $p:
            return $a
        if $q:
            return $b
        return $o
        """,
        NUMBER,
        number_property("q", inner="q"),
        Int("a", 1, 5),
        Int("b", 6, 9),
        OTHER,
    ),
    family(
        "grade",
        "x: int -> str",
        (
            "Return $s if x is $w $b, $m if it is $w $a, else $t.",
            "Grade x: $s for $w $b, $m for $w $a, $t for the rest.",
        ),
        """
        if x $op $b:
            return $s
        if x $op $a:
            return $m
        return $t
        """,
        Rising("a b", 0, 20, gap=2),
        Cases("w op", (("at least", ">="), ("above", ">"))),
        Cases("s m t", (("'A'", "'B'", "'C'"), ("'high'", "'mid'", "'low'"), ("'hot'", "'warm'", "'cold'"))),
    ),
    family(
        "size_class",
        "x: int -> int",
        ("Return 1 if x is $w $a, 2 if it is $w $b, 3 if it is $w $c, else 4.",),
        """
        for number, limit in enumerate([$a, $b, $c], «1|0»):
            if x $op limit:
                return number
        return «4|3»
        """,
        Rising("a b c", 0, 20, gap=2),
        Cases("w op", (("at most", "<="), ("less than", "<"))),
    ),
    family(
        "price",
        "n: count -> int",
        ("Each of the first $k items costs $a, every further item $b. Return the price of n items.",),
        """
        if n <= $k:
            return n * $a
        return $k * $a + (n - $k) * $b
        """,
        Int("k", 3, 9),
        Rising("b a", 1, 9),
    ),
    family(
        "discount",
        "n: count -> int",
        (
            "An item costs $a. From $k items on, each costs $b instead, the first ones too. Return the price of n items.",
        ),
        """
        if n >= $k:
            return n * $b
        return n * $a
        """,
        Int("k", 3, 9),
        Rising("b a", 1, 9),
    ),
    family(
        "shipping",
        "total: count -> int",
        ("Shipping costs $f, and nothing if total is $w $k. Return total with shipping.",),
        """
        if total $op $k:
            return total
        return total + $f
        """,
        Int("f", 2, 9),
        Int("k", 10, 40),
        Cases("w op", (("at least", ">="), ("more than", ">"))),
    ),
    family(
        "shipping_unless_empty",
        "total: count -> int",
        ("Add a fee of $f to total, but not if total is 0 and not if it is $w $k. Return the sum.",),
        """
        if total == 0 or total $op $k:
            return total
        return total + $f
        """,
        Int("f", 2, 9),
        Int("k", 10, 40),
        Cases("w op", (("at least", ">="), ("more than", ">"))),
    ),
    family(
        "pay",
        "hours: count -> int",
        ("Hours up to $k are paid $a each, further hours $b each. A day without hours pays $z. Return the pay.",),
        """
        if hours == 0:
            return $z
        extra = max(0, hours - $k)
        return (hours - extra) * $a + extra * $b
        """,
        Int("k", 5, 9),
        Rising("a b", 2, 9),
        Pick("z", (("1", "1"), ("nothing", "0"))),
    ),
    family(
        "clamp",
        "x: int -> int",
        ("Clamp x to the range from $a to $b.", "Limit x: never below $a and never above $b."),
        """
        if x < $a:
            return $a
        if x > $b:
            return $b
        return x
        """,
        Rising("a b", -5, 15, gap=3),
    ),
    family(
        "outside_by",
        "x: int -> int",
        ("By how much does x lie outside the range from $a to $b? Inside, bounds included, the answer is 0.",),
        """
        if x < $a:
            return $a - x
        if x > $b:
            return x - $b
        return 0
        """,
        Rising("a b", -5, 15, gap=3),
    ),
    family(
        "sign_code",
        "x: int -> int",
        ("Return $a if x is positive, $b if it is negative and $c if it is 0.",),
        """
        if x > 0:
            return $a
        if x < 0:
            return $b
        return $c
        """,
        Cases("a b c", (("1", "-1", "0"), ("1", "2", "0"), ("2", "0", "1"), ("-1", "1", "0"), ("3", "1", "2"))),
    ),
    family(
        "differ",
        "a: int, b: int -> bool",
        ("Do a and b differ by $w $k?", "Return whether the difference of a and b, without its sign, is $w $k."),
        "return abs(a - b) $op $k",
        Cases(
            "w op", (("more than", ">"), ("at least", ">="), ("less than", "<"), ("at most", "<="), ("exactly", "=="))
        ),
        Int("k", 1, 9),
    ),
    family(
        "capped_sum",
        "a: int, b: int -> int",
        ("Return a plus b, but $w $k.", "Add a and b; the result is $w $k."),
        "return $f(a + b, $k)",
        Cases("w f", (("at most", "min"), ("at least", "max"))),
        Int("k", 5, 25),
    ),
    family(
        "clock",
        "h: count -> str",
        (
            "Hours count from 0 and start again after 24. Return $a if hour h is at least $x and less than $y then, else $b.",
        ),
        """
        hour = h % 24
        if $x <= hour < $y:
            return $a
        return $b
        """,
        Rising("x y", 5, 22, gap=3),
        Cases("a b", (("'day'", "'night'"), ("'open'", "'closed'"))),
    ),
    family(
        "minutes",
        "h: count, m: count -> int",
        ("Return the minutes from $k o'clock to h hours and m minutes; $w if that time is before $k o'clock.",),
        """
        minutes = (h - $k) * 60 + m
        if minutes < 0:
            return $e
        return minutes
        """,
        Int("k", 5, 12),
        Cases("w e", (("0", "0"), ("-1", "-1"))),
    ),
    family(
        "points",
        "win: flag, n: count -> int",
        ("Return $a points for a win (win is True), else 0, plus $b for n $w $k.",),
        """
        points = 0
        if win:
            points = $a
        if n $op $k:
            points += $b
        return points
        """,
        Rising("b a", 1, 9),
        Cases("w op", (("of at least", ">="), ("greater than", ">"), ("of at most", "<="))),
        Int("k", 3, 12),
    ),
)
