"""Suites put together to be learned from: which tests, in which order, behind which prompt."""

from code_a1.config import RolloutConfig
from code_a1.mutation import KillMatrix, Mutant, MutantStatus, Subject
from code_a1.prompts import begun_suite, test_prompt
from code_a1.records import Message, Problem, TestCase
from code_a1.sft.examples import choose, make_examples
from code_a1.suites import TestPool

PROBLEM = Problem("p", "Return n + 1.", "inc", "def inc(n):\n    return n + 1\n")
SHOWN = (PROBLEM.reference_solution, "def inc(n):\n    return n - 1\n", "def inc(n):\n    return n * 1\n")


def pool_of(*tests: tuple[str, str], forms: dict[str, str] | None = None) -> TestPool:
    """A pool of (source, mutants killed): `ab` kills mutants 0 and 1 of three."""
    cases = tuple(TestCase(source, ("inc(1)",), (forms or {}).get(source, "_0 == expected")) for source, _ in tests)
    mutants = tuple(Mutant(source, "by hand", 2) for source in (*SHOWN[1:], "def inc(n):\n    return n\n"))
    statuses = tuple(
        tuple(MutantStatus.KILLED if mark in kills else MutantStatus.SURVIVED for _, kills in tests) for mark in "abc"
    )
    matrix = KillMatrix(Subject(PROBLEM, mutants, cases), statuses, (True,) * len(tests))
    return TestPool(PROBLEM, SHOWN, (), 0, tuple(s for s, _ in tests), (True,) * len(tests), matrix)


def test_the_shown_program_is_killed_first_then_what_is_not_killed_yet():
    kills = [frozenset(k) for k in ({1}, {0, 2}, {0, 1}, {2}, ())]
    assert choose(kills, 3, None) == [1, 2, 0]  # 0 and 2 first; then 1, by the test that kills more in all
    assert choose(kills, 3, 1) == [2, 1, 0]  # of two that kill mutant 1 the one that kills more
    assert choose(kills, 9, 2) == [1, 2, 0, 3, 4]
    assert choose([], 3, None) == []


def test_every_program_shown_has_its_example_and_the_prompt_asks_for_what_there_is():
    pool = pool_of(("assert inc(1) == 2", "a"), ("assert inc(0) == 1", "bc"), ("assert inc(5) == 6", ""))
    sizes = RolloutConfig(tests_per_suite=2)
    reference, first, second = make_examples(pool, sizes)
    assert reference.tests == ("assert inc(0) == 1", "assert inc(1) == 2")
    assert reference.answer == "```python\nassert inc(0) == 1\nassert inc(1) == 2\n```"
    assert reference.prompt == test_prompt(PROBLEM, SHOWN[0], 2)
    assert not reference.kills_shown
    assert (first.tests[0], first.kills_shown) == ("assert inc(1) == 2", True)
    assert first.prompt == test_prompt(PROBLEM, SHOWN[1], 2)
    assert (second.tests[0], second.kills_shown) == ("assert inc(0) == 1", True)
    # three tests, asked for eight: the prompt says three
    assert next(make_examples(pool, RolloutConfig())).prompt == test_prompt(PROBLEM, SHOWN[0], 3)


def test_a_begun_answer_goes_on_where_the_prompt_ends():
    pool = pool_of(("assert inc(1) == 2", "a"))
    example = next(make_examples(pool, RolloutConfig(begin_answers=True)))
    assert example.prompt == (*test_prompt(PROBLEM, SHOWN[0], 1), Message("assistant", begun_suite(PROBLEM)))
    assert begun_suite(PROBLEM) + example.answer == "```python\nassert inc(1) == 2\n```"
    assert example.answer == "1) == 2\n```"


def test_black_box_prompts_show_no_program():
    pool = pool_of(("assert inc(1) == 2", "a"))
    [example] = make_examples(pool, RolloutConfig(white_box=False))
    assert example.prompt == test_prompt(PROBLEM, None, 1)


def test_only_lines_of_the_form_that_is_asked_for_are_taught():
    forms = {"assert inc(2) > 1": "_0 > expected", "assert inc(3) is 4": "_0 is expected"}
    rejected = ("x = 1\nassert inc(x) == 2", "assert 2 == inc(1)", f"assert inc(1) == {'1' * 300}", *forms)
    pool = pool_of(*((source, "abc") for source in rejected), forms=forms)
    assert list(make_examples(pool, RolloutConfig())) == []
    kept = pool_of(*((source, "abc") for source in rejected), ("assert inc(1) == 2", ""), forms=forms)
    assert {e.tests for e in make_examples(kept, RolloutConfig())} == {("assert inc(1) == 2",)}


def test_further_suites_for_a_prompt_share_no_test_and_are_as_long_as_the_first():
    tests = [
        ("assert inc(1) == 2", "a"),
        ("assert inc(0) == 1", "bc"),
        *((f"assert inc({n}) == {n + 1}", "") for n in (5, 6, 7)),
    ]
    pool = pool_of(*tests)
    of_reference = list(make_examples(pool, RolloutConfig(tests_per_suite=2), suites=3))[:2]
    assert [e.tests for e in of_reference] == [
        ("assert inc(0) == 1", "assert inc(1) == 2"),
        ("assert inc(5) == 6", "assert inc(6) == 7"),  # the fifth test does not fill a suite of two
    ]
    assert of_reference[0].prompt == of_reference[1].prompt
    examples = list(make_examples(pool, RolloutConfig(tests_per_suite=2), suites=3))
    assert [e.kills_shown for e in examples] == [False, False, True, False, True, False]
