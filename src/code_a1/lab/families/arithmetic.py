"""Whole numbers: rounding, digits, divisors, loops over a range."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import Cases, Int, Rising

FAMILIES = (
    family(
        "middle",
        "a: int, b: int, c: int -> int",
        ("Return the $w of a, b and c.",),
        "return sorted([a, b, c])[$at]",
        Cases("w at", (("median", "1"), ("smallest", "0"), ("largest", "2"))),
    ),
    family(
        "all_differ",
        "a: int, b: int, c: int -> bool",
        ("Are $w of a, b and c $what?",),
        "return len({a, b, c}) $op",
        Cases(
            "w what op",
            (
                ("all", "different", "== 3"),
                ("all", "equal", "== 1"),
                ("exactly two", "equal", "== 2"),
                ("at least two", "equal", "< 3"),
            ),
        ),
    ),
    family(
        "triangle",
        "a: positive, b: positive, c: positive -> bool",
        ("Is the longest of a, b and c $w than the other two together?",),
        """
        longest = max(a, b, c)
        return longest $op a + b + c - longest
        """,
        Cases("w op", (("shorter", "<"), ("not longer", "<="), ("longer", ">"), ("not shorter", ">="))),
    ),
    family(
        "round_to",
        "x: int -> int",
        ("Round x $w to a multiple of $k.",),
        "return $e",
        Int("k", 3, 9),
        Cases("w e", (("down", "x // $k * $k"), ("up", "-(-x // $k) * $k")), Int("k", 3, 9)),
    ),
    family(
        "round_half",
        "n: count -> int",
        ("Round n to the nearest multiple of $k; halfway between two, round $w.",),
        """
        rest = n % $k
        if rest $op $h:
            return n - rest + $k
        return n - rest
        """,
        Cases("w op", (("up", ">="), ("down", ">"))),
        Cases("k h", (("10", "5"), ("4", "2"), ("6", "3"), ("8", "4"), ("20", "10"))),
    ),
    family(
        "boxes",
        "n: count -> int",
        ("A box holds $k items. How many boxes are $w?",),
        "return $e",
        Cases("w e", (("needed for n items", "(n + $k - 1) // $k"), ("full once n items are packed", "n // $k"))),
        Int("k", 3, 9),
    ),
    family(
        "leftover",
        "n: count -> int",
        ("How many items are in the last box, if n items are packed into boxes of $k? 0 if n is 0.",),
        """
        if n == 0:
            return 0
        return n % $k or $k
        """,
        Int("k", 3, 9),
    ),
    family(
        "sum_range",
        "n: count -> int",
        ("Sum the whole numbers from $a to n, $w.",),
        """
        total = 0
        for i in range($a, n$end):
            total += i
        return total
        """,
        Int("a", 0, 5),
        Cases("w end", (("n included", " + 1"), ("n excluded", ""))),
    ),
    family(
        "list_multiples",
        "n: count -> list[int]",
        ("List the positive multiples of $k that are $w n, in $d order.",),
        "return list(range($k, n$end, $k))$turn",
        Int("k", 2, 6),
        Cases("w end", (("at most", " + 1"), ("less than", ""))),
        Cases("d turn", (("ascending", ""), ("descending", "[::-1]"))),
    ),
    family(
        "countdown",
        "n: count -> list[int]",
        ("Count down from n in steps of $s, as long as the number is $w $k, and return the list.",),
        "return list(range(n, $k$end, -$s))",
        Int("k", 0, 5),
        Cases("w end", (("greater than", ""), ("at least", " - 1"))),
        Int("s", 1, 3),
    ),
    family(
        "count_divisible",
        "n: count -> int",
        ("How many numbers from 1 to n, n included, are divisible by $a $w $b?",),
        "return sum(1 for i in range(1, n + 1) if i % $a == 0 $op i % $b == 0)",
        Rising("a b", 2, 6),
        Cases("w op", (("or by", "or"), ("and by", "and"))),
    ),
    family(
        "digit_total",
        "n: count -> int",
        ("«Add|Sum» the decimal digits of n that are $w.",),
        """
        total = 0
        while n > 0:
            d = n % 10
            if $c:
                total += d
            n //= 10
        return total
        """,
        Cases(
            "w c",
            (
                ("even", "d % 2 == 0"),
                ("odd", "d % 2 == 1"),
                ("greater than $k", "d > $k"),
                ("at least $k", "d >= $k"),
                ("at most $k", "d <= $k"),
            ),
            Int("k", 2, 7),
        ),
    ),
    family(
        "digit_count",
        "n: count -> int",
        ("How many decimal digits of n are $w? (0 has the one digit 0.)",),
        "return sum(1 for d in str(n) if $c)",
        Cases(
            "w c",
            (
                ("equal to $k", "int(d) == $k"),
                ("greater than $k", "int(d) > $k"),
                ("at most $k", "int(d) <= $k"),
                ("different from $k", "int(d) != $k"),
            ),
            Int("k", 0, 8),
        ),
    ),
    family(
        "digit_extreme",
        "n: count -> int",
        ("Return the $w decimal digit of n.",),
        "return $e",
        Cases(
            "w e",
            (
                ("largest", "max(int(d) for d in str(n))"),
                ("smallest", "min(int(d) for d in str(n))"),
                ("first", "int(str(n)[0])"),
                ("last", "n % 10"),
                ("second to last (0 if there is only one)", "n // 10 % 10"),
            ),
        ),
    ),
    family(
        "digits_ordered",
        "n: count -> bool",
        ("Do the decimal digits of n $w from left to right? A single digit counts as True.",),
        """
        s = str(n)
        for i in range(len(s) - 1):
            if not s[i] $op s[i + 1]:
                return False
        return True
        """,
        Cases(
            "w op",
            (
                ("always rise", "<"),
                ("never fall", "<="),
                ("always fall", ">"),
                ("never rise", ">="),
                ("always change", "!="),
            ),
        ),
    ),
    family(
        "is_prime",
        "n: count -> bool",
        ("Is n a prime number $w $k?",),
        """
        if n < 2 or not n $op $k:
            return False
        for d in range(2, n):
            if n % d == 0:
                return False
        return True
        """,
        Cases("w op", (("greater than", ">"), ("less than", "<"), ("of at least", ">="), ("of at most", "<="))),
        Int("k", 3, 23),
    ),
    family(
        "divisors",
        "n: positive -> list[int]",
        ("List the divisors of n in ascending order, $w.",),
        "return [d for d in range($a, n$b) if n % d == 0]",
        Cases(
            "w a b",
            (
                ("1 and n included", "1", " + 1"),
                ("without n itself", "1", ""),
                ("without 1 and n", "2", ""),
                ("without 1", "2", " + 1"),
            ),
        ),
    ),
    family(
        "halvings",
        "n: count -> int",
        ("How often must n be $w (rounded down) until it is $c $k?",),
        """
        times = 0
        while not n $op $k:
            n //= $d
            times += 1
        return times
        """,
        Cases("w d", (("halved", "2"), ("divided by 3", "3"))),
        Cases("c op", (("less than", "<"), ("at most", "<="))),
        Int("k", 1, 6),
    ),
    family(
        "growth",
        "n: positive -> int",
        ("A colony of n cells $w every day. After how many days are there $c $k?",),
        """
        days = 0
        while not n $op $k:
            n = $e
            days += 1
        return days
        """,
        Cases("w e", (("doubles", "n * 2"), ("triples", "n * 3"), ("doubles and then gains 1", "n * 2 + 1"))),
        Cases("c op", (("more than", ">"), ("at least", ">="))),
        Int("k", 8, 60),
    ),
    family(
        "ring",
        "i: int -> int",
        (
            "A ring has $k places, numbered from 0. Which place is $s steps $w place i? Any whole number i is allowed and wraps around.",
        ),
        "return (i $op $s) % $k«| + 1»",
        Int("k", 4, 9),
        Int("s", 1, 3),
        Cases("w op", (("after", "+"), ("before", "-"))),
    ),
)
