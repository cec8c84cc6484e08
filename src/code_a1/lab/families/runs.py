"""Lists and a property of their elements: runs, prefixes, scores, combinations."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import LIMIT, NUMBER, SIMPLE, Cases, Int, Pick, number_property, simple_property

FAMILIES = (
    family(
        "at_least_some",
        "xs: ints -> bool",
        ("Are $cmp $k elements of xs $p?", "Return whether $cmp $k of the elements of xs are $p."),
        """
        n = 0
        for x in xs:
            if $p:
                n += 1
        return n $cmp $k
        """,
        NUMBER,
        LIMIT,
        Int("k", 1, 3),
    ),
    family(
        "take_while",
        "xs: ints -> list[int]",
        (
            "Return the elements of xs before the first one that is $p.",
            "Take elements of xs up to the first that is $p, without it.",
        ),
        """
        taken = []
        for x in xs:
            if $p:
                «break|continue»
            taken.append(x)
        return taken
        """,
        NUMBER,
    ),
    family(
        "take_through",
        "xs: ints -> list[int]",
        ("Return the elements of xs up to and including the first one that is $p; all of xs if there is none.",),
        """
        taken = []
        for x in xs:
            taken.append(x)
            if $p:
                «break|continue»
        return taken
        """,
        NUMBER,
    ),
    family(
        "drop_while",
        "xs: ints -> list[int]",
        ("Return xs from its first element that is $p on; an empty list if there is none.",),
        """
        for i, x in enumerate(xs):
            if $p:
                return xs[«i|i + 1»:]
        return []
        """,
        NUMBER,
    ),
    family(
        "longest_run_if",
        "xs: ints -> int",
        ("«Return|Find» the length of the longest run of neighbours in xs that are all $p.",),
        """
        best = 0
        run = 0
        for x in xs:
            if $p:
                run += 1
                best = max(best, run)
            else:
                run = «0|1»
        return best
        """,
        NUMBER,
    ),
    family(
        "count_runs_if",
        "xs: ints -> int",
        ("How many unbroken runs of elements that are $p does xs have?",),
        """
        runs = 0
        inside = False
        for x in xs:
            if $p:
                if not inside:
                    runs += 1
                inside = True
            else:
                inside = False
        return runs
        """,
        NUMBER,
    ),
    family(
        "majority_is",
        "xs: ints -> bool",
        ("Are $share of the elements of xs $p?", "Return whether $share of xs are $p."),
        """
        n = sum(1 for x in xs if $p)
        return n * 2 $share len(xs)
        """,
        NUMBER,
        Pick(
            "share", (("more than half", ">"), ("at least half", ">="), ("less than half", "<"), ("at most half", "<="))
        ),
    ),
    family(
        "split_if",
        "xs: ints -> list[int]",
        ("Move the elements of xs that are $p to the $end, keeping the order within both groups.",),
        """
        some = [x for x in xs if $p]
        rest = [x for x in xs if not ($p)]
        return $join
        """,
        NUMBER,
        Cases("end join", (("front", "some + rest"), ("back", "rest + some"))),
    ),
    family(
        "sum_before",
        "xs: ints -> int",
        ("«Sum|Add up» the elements of xs before the first one that is $p; all of them if there is none.",),
        """
        total = 0
        for x in xs:
            if $p:
                «break|continue»
            total += x
        return total
        """,
        NUMBER,
    ),
    family(
        "count_after",
        "xs: ints -> int",
        ("How many elements follow the last element of xs that is $p? Without any, «return|the answer is» $none.",),
        """
        for i in range(len(xs) - 1, -1, -1):
            x = xs[i]
            if $p:
                return len(xs) - 1 - i
        return $none
        """,
        NUMBER,
        Pick("none", (("-1", "-1"), ("the number of all elements", "len(xs)"), ("0", "0"))),
    ),
    family(
        "trim_ends",
        "xs: ints -> list[int]",
        ("Remove elements that are $p from both ends of xs, but not from between.",),
        """
        start = 0
        end = len(xs)
        while start < end:
            x = xs[start]
            if not ($p):
                break
            start += 1
        while start < end:
            x = xs[end - 1]
            if not ($p):
                break
            end -= 1
        return xs[start:end]
        """,
        NUMBER,
    ),
    family(
        "signed_sum",
        "xs: ints -> int",
        ("Add the elements of xs that are $p and subtract all others.",),
        """
        total = 0
        for x in xs:
            if $p:
                total += x
            else:
                total -= x
        return total
        """,
        NUMBER,
    ),
    family(
        "score_list",
        "xs: ints -> int",
        ("Score xs: $a for each element that is $p, otherwise $b for each that is $o, otherwise 0. Return the total.",),
        """
        score = 0
        for x in xs:
            if $p:
                score += $a
            «elif|if» $o:
                score += $b
        return score
        """,
        NUMBER,
        number_property("o", inner="o"),
        Int("a", 3, 9),
        Pick("b", (("1", "1"), ("2", "2"), ("-1", "-1"))),
    ),
    family(
        "keep_both",
        "xs: ints -> list[int]",
        ("Keep the elements of xs that are $p «and|and also» $o.",),
        "return [x for x in xs if ($p) and ($o)]",
        SIMPLE,
        simple_property("o", inner="o"),
    ),
    family(
        "count_either",
        "xs: ints -> int",
        ("Count the elements of xs that are $p, or $o, or both.",),
        """
        n = 0
        for x in xs:
            if ($p) or ($o):
                n += 1
        return n
        """,
        SIMPLE,
        simple_property("o", inner="o"),
    ),
    family(
        "more_of",
        "xs: ints -> bool",
        ("Does xs hold more elements that are $p than elements that are $o?",),
        """
        a = sum(1 for x in xs if $p)
        b = sum(1 for x in xs if $o)
        return a > b
        """,
        NUMBER,
        number_property("o", inner="o"),
    ),
    family(
        "follow_if",
        "xs: ints -> list[int]",
        ("Return the elements of xs that come right after an element that is $p.",),
        """
        result = []
        for i in range(1, len(xs)):
            x = xs[i - 1]
            if $p:
                result.append(xs[i])
        return result
        """,
        NUMBER,
    ),
    family(
        "sum_limited",
        "xs: ints -> int",
        ("Sum the $tie $k elements of xs that are $p; all of them if there are fewer.",),
        """
        found = [x for x in xs if $p]
        return sum(found[$cut])
        """,
        NUMBER,
        Cases(
            "tie k cut",
            (("first", "two", ":2"), ("first", "three", ":3"), ("last", "two", "-2:"), ("last", "three", "-3:")),
        ),
    ),
)
