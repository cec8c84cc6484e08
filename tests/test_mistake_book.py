from __future__ import annotations

import json
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_a1.errors import CheckpointError
from code_a1.mistake_book import BookChange, MistakeBook, from_json, to_json
from code_a1.records import TestCase

GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "golden/mistake_book.jsonl").read_text().splitlines()]


def case(source: str) -> TestCase:
    call, _, answer = source.removeprefix("assert ").partition(" == ")
    return TestCase(source, (call,), "_0 == expected", answer)


def sources(tests) -> list[str]:
    return [t.source for t in tests]


def test_the_golden_file_is_whole():
    assert len(GOLDEN) == 40


@pytest.mark.parametrize("sequence", GOLDEN, ids=range(len(GOLDEN)))
def test_golden_sequences_come_out_equal(sequence):
    book = MistakeBook(max_tests_per_problem=0)
    for op in sequence["ops"]:
        problem_id = op["problem_id"]
        assert sources(book.replayed_tests(problem_id, 8)) == op["replayed_before"]
        book.record(problem_id, map(case, op["passed_replayed"]), map(case, op["new_failures"]))
        assert sources(book.replayed_tests(problem_id, 8)) == op["replayed_after"]
    final = {p: {t.source: n for t, n in book.counts(p).items()} for p in sequence["final"]}
    assert final == sequence["final"]
    for problem_id, tests in sequence["final"].items():  # listed by count and age
        assert sources(book.replayed_tests(problem_id, 10**6)) == list(tests)
    assert len(book) == sum(map(len, sequence["final"].values()))


A, B, C = case("assert f(1) == 1"), case("assert f(2) == 2"), case("assert f(3) == 3")


def test_top_k_is_by_count_and_ties_go_to_the_older():
    book = MistakeBook()
    assert book.record("p", [], [A, B, C, C]) == BookChange(added=3)
    assert book.replayed_tests("p", 2) == (C, A)
    assert book.replayed_tests("p", 0) == ()
    assert book.replayed_tests("q", 2) == ()


def test_passes_are_counted_before_failures_and_never_below_zero():
    book = MistakeBook()
    book.record("p", [], [A])
    assert book.record("p", [A, A, A], [A]) == BookChange(added=1, removed=1)
    assert book.counts("p") == {A: 1}
    assert book.record("p", [A], []) == BookChange(removed=1)
    assert len(book) == 0


def test_the_lowest_count_and_then_the_oldest_is_evicted():
    book = MistakeBook(max_tests_per_problem=2)
    book.record("p", [], [A, B, B])
    assert book.record("p", [], [C]) == BookChange(added=1, evicted=1)
    assert book.counts("p") == {B: 2, C: 1}


AWKWARD = TestCase('assert f("a") == 1', ('f("a\\"\\n")',), "_0 == expected", "'\"'", "x = 1", "y = 2", b"\x00\xff")
CHECK = TestCase("def check(c): assert c(1)", kind="check")
NO_ANSWER = TestCase("f(1)", ("f(1)",))
TWO_CALLS = TestCase("assert f(1) < f(2)", ("f(1)", "f(2)"), "_0 < _1")


def test_tests_survive_the_file_exactly(tmp_path):
    tests = [A, AWKWARD, CHECK, NO_ANSWER, TWO_CALLS]
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book:
        book.record("p\ud800\0", [], [*tests, CHECK])
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book:
        assert book.counts("p\ud800\0") == {A: 1, AWKWARD: 1, CHECK: 2, NO_ANSWER: 1, TWO_CALLS: 1}
        assert list(book.counts("p\ud800\0")) == tests
        assert len(book) == 5
        assert list(book.rows()) == [("p\ud800\0", t, 2 if t is CHECK else 1) for t in tests]


def test_a_foreign_row_is_refused():
    with pytest.raises(CheckpointError, match="not a stored test"):
        from_json({"source": "x", "colour": "red"})


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([A, B, C])), max_size=30), st.integers(0, 2))
def test_size_is_always_the_number_of_tests_held(operations, cap):
    book = MistakeBook(max_tests_per_problem=cap)
    for passed, test in operations:
        book.record("p", [test] if passed else [], [] if passed else [test])
        assert len(book) == len(book.counts("p")) <= (cap or 3)
        assert all(n > 0 for n in book.counts("p").values())


@given(st.text(), st.binary())
def test_any_test_survives_json(text, value):
    test = TestCase(text, (text,), text, text or None, text, "", value)
    assert from_json(json.loads(json.dumps(to_json(test)))) == test


@given(st.text(), st.lists(st.text(), max_size=3), st.none() | st.text(), st.none() | st.binary())
def test_any_test_survives_a_page(text, calls, expected, value):
    test = TestCase(text, tuple(calls), text, expected, text, "", value)
    book = MistakeBook()
    book.record("p", [], [test])
    assert book.replayed_tests("p", 1) == (test,)


def test_a_book_may_be_collected_in_another_thread(tmp_path):
    """Threads of the judge collect garbage, too; what fails in a destructor, pytest reports as an error of this test."""
    books = [MistakeBook(path=tmp_path / "book.sqlite"), MistakeBook()]
    thread = threading.Thread(target=books.clear)
    thread.start()
    thread.join()
    assert not books
