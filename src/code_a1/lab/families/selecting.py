"""Elements of a list that have a property: counting, keeping, finding them."""

from __future__ import annotations

from code_a1.lab.family import family
from code_a1.lab.slots import NOTHING, NUMBER, Cases, Int, Pick

FAMILIES = (
    family(
        "count_if",
        "xs: ints -> int",
        ("«Count|Return the number of» the elements of xs that are $p.", "How many elements of xs are $p?"),
        """
        n = 0
        for x in xs:
            if $p:
                n += 1
        return n
        """,
        NUMBER,
    ),
    family(
        "sum_if",
        "xs: ints -> int",
        ("«Sum|Add up» the elements of xs that are $p.", "Return the total of the elements of xs that are $p."),
        """
        total = 0
        for x in xs:
            if $p:
                total += x
        return total
        """,
        NUMBER,
    ),
    family(
        "multiply_if",
        "xs: ints -> int",
        ("Multiply the elements of xs that are $p. Without any, «return|the result is» $empty.",),
        """
        found = [x for x in xs if $p]
        if not found:
            return $empty
        result = 1
        for x in found:
            result *= «x|found[0]»
        return result
        """,
        NUMBER,
        Pick("empty", (("1", "1"), ("0", "0"), ("None", "None"))),
    ),
    family(
        "keep_if",
        "xs: ints -> list[int]",
        (
            "«Keep|Return» only the elements of xs that are $p, in «their|the given» order.",
            "Filter xs: keep what is $p.",
        ),
        "return [x for x in xs if $p]",
        NUMBER,
    ),
    family(
        "drop_if",
        "xs: ints -> list[int]",
        ("«Remove|Drop» the elements of xs that are $p.", "Return xs without the elements that are $p."),
        "return [x for x in xs if not ($p)]",
        NUMBER,
    ),
    family(
        "pick_first",
        "xs: ints -> int | None",
        ("«Return|Find» the $tie element of xs that is $p, or $none if there is none.",),
        """
        found = [x for x in xs if $p]
        if not found:
            return $none
        return found[$at]
        """,
        NUMBER,
        NOTHING,
        Cases("tie at", (("first", "0"), ("last", "-1"))),
    ),
    family(
        "index_of_first",
        "xs: ints -> int",
        ("Return the index of the first element of xs that is $p, or $none if there is none.",),
        """
        for i, x in enumerate(xs«|, 1»):
            if $p:
                return i
        return $none
        """,
        NUMBER,
        Pick("none", (("-1", "-1"), ("len(xs)", "len(xs)"))),
    ),
    family(
        "index_of_last",
        "xs: ints -> int",
        ("Return the index of the last element of xs that is $p, or -1 if there is none.",),
        """
        found = -1
        for i, x in enumerate(xs):
            if $p:
                «found = i|return i»
        return found
        """,
        NUMBER,
    ),
    family(
        "positions",
        "xs: ints -> list[int]",
        ("«List|Return» the indices of the elements of xs that are $p.", "At which indices of xs are elements $p?"),
        "return [i for i, x in enumerate(xs«|, 1») if $p]",
        NUMBER,
    ),
    family(
        "any_is",
        "xs: ints -> bool",
        ("Is any element of xs $p?", "Return whether xs holds an element that is $p."),
        "return any($p for x in xs)",
        NUMBER,
    ),
    family(
        "all_are",
        "xs: ints -> bool",
        (
            "Are all elements of xs $p? (True if xs is empty.)",
            "Return whether every element of xs is $p (an empty list counts as True).",
        ),
        "return «|len(xs) > 0 and »all($p for x in xs)",
        NUMBER,
    ),
    family(
        "none_are",
        "xs: ints -> bool",
        ("Is no element of xs $p?", "Return True if none of the elements of xs is $p, else False."),
        """
        for x in xs:
            if $p:
                return False
        return True
        """,
        NUMBER,
    ),
    family(
        "largest_if",
        "xs: ints -> int | None",
        ("«Return|Find» the largest element of xs that is $p, or None if there is none.",),
        """
        best = None
        for x in xs:
            if $p:
                if best is None or x > best:
                    best = x
        return best
        """,
        NUMBER,
    ),
    family(
        "smallest_if",
        "xs: ints -> int | None",
        ("«Return|Find» the smallest element of xs that is $p, or $none if there is none.",),
        """
        found = [x for x in xs if $p]
        if not found:
            return $none
        return min(found)
        """,
        NUMBER,
        NOTHING,
    ),
    family(
        "replace_if",
        "xs: ints -> list[int]",
        ("In xs, replace every element that is $p by $e.", "Return xs with $e in place of each element that is $p."),
        "return [$e if $p else x for x in xs]",
        NUMBER,
        Pick(
            "e",
            (
                ("$v", "$v"),
                ("its negation", "-x"),
                ("its double", "x * 2"),
                ("its square", "x * x"),
                ("itself plus $v", "x + $v"),
                ("itself minus $v", "x - $v"),
                ("its absolute value plus 1", "abs(x) + 1"),
            ),
            Int("v", 1, 9),
        ),
    ),
    family(
        "mean_if",
        "xs: ints -> int | None",
        ("Return the mean of the elements of xs that are $p, rounded down, or $none if there are none.",),
        """
        found = [x for x in xs if $p]
        if not found:
            return $none
        return sum(found) // len(«found|xs»)
        """,
        NUMBER,
        NOTHING,
    ),
    family(
        "distinct_if",
        "xs: ints -> int",
        ("How many different values that are $p does xs hold?", "Count the distinct elements of xs that are $p."),
        "return len(set(x for x in xs if $p))",
        NUMBER,
    ),
    family(
        "spread_if",
        "xs: ints -> int | None",
        ("Return the largest minus the smallest of the elements of xs that are $p, or $none if there are none.",),
        """
        found = [x for x in xs if $p]
        if not found:
            return $none
        return max(found) - min(found)
        """,
        NUMBER,
        NOTHING,
    ),
    family(
        "pick_second",
        "xs: ints -> int | None",
        ("Return the $nth element of xs that is $p, or $none if there are not so many.",),
        """
        found = [x for x in xs if $p]
        if len(found) < $nth:
            return $none
        return found[«$nth - 1|$nth|-$nth»]
        """,
        NUMBER,
        NOTHING,
        Pick("nth", (("second", "2"), ("third", "3"), ("second", "2"))),
    ),
    family(
        "remove_one",
        "xs: ints -> list[int]",
        ("Remove «only|just» the $tie element of xs that is $p; without any, return xs unchanged.",),
        """
        for i in $order:
            x = xs[i]
            if $p:
                return xs[:i] + xs[i + 1:]
        return xs
        """,
        NUMBER,
        Cases("tie order", (("first", "range(len(xs))"), ("last", "range(len(xs) - 1, -1, -1)"))),
    ),
)
