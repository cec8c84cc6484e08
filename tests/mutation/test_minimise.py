from code_a1.mutation import minimise


def sets(*kills: str) -> list[frozenset[int]]:
    return [frozenset(map(ord, each)) for each in kills]


def test_the_tests_that_are_needed_stay_in_their_order():
    # "abc" kills most, "d" is killed by the second alone; the rest adds nothing
    assert minimise(sets("a", "d", "abc", "bc", "")) == [1, 2]


def test_of_equals_the_earlier_stays_and_greed_is_not_optimal():
    assert minimise(sets("ab", "ab", "ba")) == [0]
    # the smallest cover is the first two; greed takes the four first
    assert minimise(sets("abc", "def", "bcde")) == [0, 1, 2]


def test_extra_tests_are_those_that_kill_most():
    kills = sets("a", "abcd", "", "abc", "ab")
    assert minimise(kills) == [1]
    assert minimise(kills, extra=2) == [1, 3, 4]
    assert minimise(kills, extra=9) == [0, 1, 2, 3, 4]


def test_without_a_kill_only_extras_stay():
    assert minimise(sets("", "", "")) == []
    assert minimise(sets("", "", ""), extra=2) == [0, 1]
    assert minimise([]) == []
