"""The Mistake Book as a file: going back, forgetting, taking over from other runs, failing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from code_a1.book_file import read_book, write_book
from code_a1.book_store import BookStore
from code_a1.cli import cli
from code_a1.errors import CheckpointError, ConfigError, RunDirError
from code_a1.mistake_book import MistakeBook
from code_a1.records import (
    Candidate,
    Completion,
    JudgedCandidate,
    JudgedSuite,
    JudgedTest,
    Judgement,
    Problem,
    TestCase,
    TestSuite,
    Validity,
    Verdict,
)
from code_a1.trainer import train
from test_trainer import PROBLEM, config_of, scripted

NOBODY = Completion("", (), (), (), "stop")


def case(i: int) -> TestCase:
    return TestCase(f"assert f({i}) == {i}", (f"f({i})",), "_0 == expected", str(i))


def failures(problem_id: str, *tests: int) -> Judgement:
    """One candidate that fails these tests."""
    judged = tuple(JudgedTest("", Validity.VALID, case(i), Verdict.FAIL) for i in tests)
    candidate = JudgedCandidate(
        Candidate(problem_id, 0, "", NOBODY), True, suites=(JudgedSuite(TestSuite((), NOBODY), judged),)
    )
    return Judgement(Problem(problem_id, "", "f", ""), (), (candidate,))


def pages_held(store: BookStore) -> list[tuple[str, int]]:
    query = "SELECT problem_id, step FROM pages ORDER BY problem_id, step"
    return [(key.decode(), step) for key, step in store._db.execute(query)]


def test_going_back_drops_what_later_steps_wrote(tmp_path):
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book:
        book.update([failures("p", 1, 2), failures("q", 3)], 1)
        saved = book.state_dict()
        book.keep_for(1, 1)
        book.update([failures("p", 1, 4)], 2)
        book.update([], 3)
        later = book.state_dict()
        assert (len(book), book.step, later["size"]) == (4, 3, 4)
        assert book.counts("p", step=1) == {case(1): 1, case(2): 1}
        book.load_state_dict(json.loads(json.dumps(saved)))
        assert (len(book), book.step) == (3, 1)
        assert book.counts("p") == {case(1): 1, case(2): 1}
        book.update([failures("p", 1, 4)], 2)
        book.update([], 3)
        assert book.state_dict() == later  # the same again is the same


def test_a_book_that_was_never_in_that_state_is_refused(tmp_path):
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book, closing(MistakeBook()) as other:
        book.update([failures("p", 1)], 1)
        other.update([failures("p", 2)], 1)
        with pytest.raises(CheckpointError, match="should hold 1 tests after step 1, and went back to 1 after step 1"):
            other.load_state_dict(book.state_dict())
        with pytest.raises(CheckpointError, match="and went back to 1 after step 1"):
            book.load_state_dict({"step": 5, "size": 9, "digest": "x"})
        with pytest.raises(RunDirError, match="step 0 cannot be written after step 1"):
            book.update([], 0)


def test_pages_that_no_checkpoint_sees_are_forgotten():
    store = MistakeBook()
    for step in (1, 2, 3):
        store.update([failures("p", step)], step)
    assert pages_held(store.store) == [("p", 3)]  # no checkpoint so far
    store.keep_for(3, 3)
    store.update([failures("p", 4)], 4)
    store.update([failures("p", 5)], 5)
    assert pages_held(store.store) == [("p", 3), ("p", 5)]
    store.keep_for(3, 5)
    store.update([failures("p", 6)], 6)
    assert pages_held(store.store) == [("p", 3), ("p", 5), ("p", 6)]
    store.keep_for(5, 6)  # the checkpoint of step 3 is gone
    store.update([failures("p", 7)], 7)
    assert pages_held(store.store) == [("p", 5), ("p", 6), ("p", 7)]
    assert [row[0] for row in store.store._db.execute("SELECT step FROM steps ORDER BY step")] == [5, 6, 7]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("pq"), st.integers(0, 4), st.booleans()), min_size=1, max_size=25))
def test_every_checkpoint_that_is_kept_can_be_gone_back_to(steps):
    """A checkpoint at some steps, the last two kept; after each step both give back what was there."""
    book = MistakeBook(max_tests_per_problem=3)
    kept: list[tuple[int, dict, dict]] = []
    for step, (problem_id, test, save) in enumerate(steps, start=1):
        book.update([failures(problem_id, test)], step)
        if save:
            kept = [*kept[-1:], (step, book.state_dict(), {p: book.counts(p) for p in "pq"})]
            book.keep_for(kept[0][0], kept[-1][0])
    for _, state, counts in reversed(kept):
        book.load_state_dict(state)
        assert {p: book.counts(p) for p in "pq"} == counts


def test_a_full_disk_leaves_the_last_step_whole(tmp_path):
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book:
        book.update([failures("p", 1)], 1)
        state = book.state_dict()
        pages = book.store._db.execute("PRAGMA page_count").fetchone()[0]
        book.store._db.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to be full
        many = [failures(f"problem {i}", *range(i, i + 200)) for i in range(40)]
        with pytest.raises(RunDirError, match="database or disk is full; what was written before is untouched"):
            book.update(many, 2)
        assert book.state_dict() == state
        assert book.counts("p") == {case(1): 1}
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book:
        assert book.state_dict() == state
        book.update(many, 2)
        assert len(book) == 1 + 40 * 64


def test_what_is_no_book_is_refused(tmp_path):
    path = tmp_path / "book.sqlite"
    path.write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(RunDirError, match="file is not a database"):
        MistakeBook(path=path)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as db:
        db.execute("PRAGMA user_version = 7")
    with pytest.raises(RunDirError, match="of format 7; this version reads format 1"):
        MistakeBook(path=other)


def test_a_reader_sees_a_book_that_is_being_written(tmp_path):
    path = tmp_path / "book.sqlite"
    with closing(MistakeBook(path=path)) as book:
        book.update([failures("p", 1)], 1)
        with closing(MistakeBook(path=path, read_only=True)) as reader:
            book.update([failures("p", 2)], 2)
            assert reader.counts("p", step=2) == {case(1): 1, case(2): 1}
            with pytest.raises(RunDirError, match="readonly"):
                reader.update([failures("p", 3)], 3)


def test_export_and_import_come_out_equal(tmp_path):
    with closing(MistakeBook()) as book, closing(MistakeBook()) as copy, closing(MistakeBook(2)) as small:
        book.update([failures("p", 1, 2, 2, 3, 3), failures("q", 4)], 1)
        assert write_book(tmp_path / "book.jsonl", book.rows()) == 4
        rows = list(read_book(tmp_path / "book.jsonl"))
        assert rows == list(book.rows()) == [("p", case(1), 1), ("p", case(2), 2), ("p", case(3), 2), ("q", case(4), 1)]
        copy.add(rows)
        assert list(copy.rows()) == rows
        assert small.add(rows) == 3
        assert small.counts("p") == {case(2): 2, case(3): 2}
        assert list(read_book(tmp_path / "book.jsonl", {"q"})) == rows[3:]
    bad = tmp_path / "bad.jsonl"
    bad.write_text(
        (tmp_path / "book.jsonl").read_text().splitlines()[0] + '\n{"problem_id": "p", "count": 0, "test": {}}\n'
    )
    with pytest.raises(CheckpointError, match=r"bad.jsonl, line 2: not a test of a Mistake Book: problem_id must be"):
        list(read_book(bad))


def test_a_run_begins_with_the_book_of_another_and_the_command_shows_it(tmp_path):
    first = train(config_of(tmp_path), policies=scripted())
    run = CliRunner().invoke
    shown = run(cli, ["runs", "book", str(first.path)])
    assert shown.output.splitlines() == [
        "double: 2 tests",
        "     3 × assert double(3) == 6",
        "     1 × assert double(1) == 2",
    ]
    assert run(cli, ["runs", "book", str(first.path), "--problem", "nobody"]).output.strip() == "no tests"
    exported = tmp_path / "book.jsonl"
    done = run(cli, ["runs", "book", str(first.path), "--export", str(exported), "--json"])
    assert json.loads(done.stdout.splitlines()[-1]) == {"tests": 2, "step": 2}
    exported.write_text(exported.read_text() + exported.read_text().replace('"double"', '"unknown"', 2))
    for number, source in enumerate((first.path, exported)):
        config = config_of(
            tmp_path,
            PROBLEM,
            steps=1,
            run_dir=str(tmp_path / f"next{number}"),
            mistake_book={"start_from": str(source)},
        )
        [row] = train(config, policies=scripted()).metrics()
        assert row["book/replayed"] == 2  # in its first step
        assert row["code/pass_replayed"] == 0.5
    config = config_of(tmp_path, run_dir=str(tmp_path / "none"), mistake_book={"start_from": "nowhere"})
    with pytest.raises(ConfigError, match="mistake_book.start_from = 'nowhere': there is no such"):
        train(config, policies=scripted())
    assert not (tmp_path / "none").exists()
    missing = run(cli, ["runs", "book", str(tmp_path / "none")])
    assert isinstance(missing.exception, RunDirError | SystemExit)


def test_the_bench_of_the_book_gives_its_figures(tmp_path):
    done = CliRunner().invoke(
        cli, ["bench", "book", "--problems", "300", "--steps", "3", "--folder", str(tmp_path), "--json"]
    )
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout.splitlines()[-1])
    assert {"step_ms_p50", "rss_growth_mb", "open_s"} <= figures.keys()
    assert (figures["problems"], figures["tests"]) == (300, 20)
    assert 0 < figures["step_ms_p50"] <= figures["step_ms_max"]
    assert list(tmp_path.iterdir()) == []
