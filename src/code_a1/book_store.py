"""Where the Mistake Book lies: one SQLite file that can go back to any step a checkpoint was taken at.

A page is the text of one problem's tests. A step that touches a problem writes a new page under its own number and
leaves the old one, so that going back to step S is to drop what later steps wrote: there are never two truths. Pages
that no checkpoint can ask for are dropped when their problem is written next. The entry of every step also chains a
digest over all that was written so far, by which a checkpoint knows whether the file is the one it belongs to.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from code_a1.errors import RunDirError

FORMAT = 1

_SCHEMA = """
CREATE TABLE pages (problem_id BLOB NOT NULL, step INTEGER NOT NULL, tests BLOB NOT NULL,
                    PRIMARY KEY (problem_id, step));
CREATE INDEX pages_by_step ON pages (step);
CREATE TABLE steps (step INTEGER PRIMARY KEY, size INTEGER NOT NULL, digest TEXT NOT NULL);
INSERT INTO steps VALUES (0, 0, '');
"""

# Superseded, and written after the latest checkpoint or before the newest that the earliest checkpoint sees.
_DROP_PAGES = """
DELETE FROM pages WHERE problem_id IN ({0}) AND step < ? AND (step > ? OR step < (
    SELECT max(step) FROM pages AS seen WHERE seen.problem_id = pages.problem_id AND seen.step <= ?))"""
_DROP_STEPS = """
DELETE FROM steps WHERE step < ? AND (step > ? OR step < (SELECT max(step) FROM steps WHERE step <= ?))"""

# Of the columns not grouped by, SQLite gives those of the row with the maximum. The plus keeps it from taking the index
# by step, which would lead to everything that was ever written.
_READ = "SELECT problem_id, tests, max(step) FROM pages WHERE +step <= ? AND problem_id IN ({0}) GROUP BY problem_id"
_READ_ALL = "SELECT problem_id, tests, max(step) FROM pages WHERE +step <= ? GROUP BY problem_id ORDER BY problem_id"

KEYS_AT_ONCE = 512
"""Problems that are looked up together."""
LONG = 16384
"""Characters from which on a page is compressed: a shorter one is read and written sooner as it is."""
WAL_PAGES = 8000
"""Pages of 4 KiB that the write-ahead log may hold before they are moved into the file: some fifteen large steps."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of the book after a step: its size in tests, and the digest of everything written so far."""

    step: int
    size: int
    digest: str


class BookStore:
    """Pages by problem and step. `path` None keeps them in memory. Raises RunDirError naming file and trouble."""

    def __init__(self, path: Path | None = None, *, read_only: bool = False) -> None:
        self.path = path
        self.checkpoints = (0, 0)
        """The earliest and the latest step that may be gone back to."""
        with self._explained():
            self._db = _connect(path, read_only)
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0 and not read_only:
                self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;")
            found = self._db.execute("PRAGMA user_version").fetchone()[0]
            if found != FORMAT:
                raise RunDirError(f"mistake book {path} is of format {found}; this version reads format {FORMAT}")
            self.last = self._mark()

    def read(self, problem_ids: Sequence[str], step: int | None = None) -> dict[str, str]:
        """The pages of some problems, or as they were after `step`; those that hold nothing are left out."""
        limit = self.last.step if step is None else step
        pages: dict[str, str] = {}
        for start in range(0, len(problem_ids), KEYS_AT_ONCE):
            keys = {_key(problem_id): problem_id for problem_id in problem_ids[start : start + KEYS_AT_ONCE]}
            with self._explained():
                rows = self._db.execute(_READ.format(",".join("?" * len(keys))), (limit, *keys)).fetchall()
                pages |= {keys[key]: page for key, packed, _ in rows if (page := _unpack(packed))}
        return pages

    def write(self, step: int, pages: Mapping[str, str], size: int) -> None:
        """Add the pages of a step, and the size of the book with them: all or nothing."""
        if step < self.last.step:
            raise RunDirError(f"mistake book {self.path}: step {step} cannot be written after step {self.last.step}")
        chain = hashlib.blake2b(self.last.digest.encode(), digest_size=16)
        rows = []
        for problem_id, page in pages.items():
            chain.update(f"\0{problem_id!a}\0{page}".encode())
            rows.append((_key(problem_id), step, _pack(page)))
        mark = Mark(step, size, chain.hexdigest())
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", rows)
            db.execute("INSERT OR REPLACE INTO steps VALUES (?, ?, ?)", (mark.step, mark.size, mark.digest))
            earliest, latest = self.checkpoints
            for start in range(0, len(rows), KEYS_AT_ONCE):
                keys = [row[0] for row in rows[start : start + KEYS_AT_ONCE]]
                db.execute(_DROP_PAGES.format(",".join("?" * len(keys))), (*keys, step, latest, earliest))
            db.execute(_DROP_STEPS, (step, latest, earliest))
        self.last = mark

    def go_back(self, step: int) -> None:
        """Drop what was written after `step`; -1 empties the book."""
        with self._transaction() as db:
            db.execute("DELETE FROM pages WHERE step > ?", (step,))
            db.execute("DELETE FROM steps WHERE step > ?", (step,))
            if step < 0:
                db.execute("INSERT INTO steps VALUES (0, 0, '')")
        with self._explained():
            self.last = self._mark()

    def pages(self, step: int | None = None) -> Iterator[tuple[str, str]]:
        """(problem id, page) of every problem that holds a test, or held one after `step`, in the order of the ids."""
        limit = self.last.step if step is None else step
        with self._explained():
            for key, packed, _ in self._db.execute(_READ_ALL, (limit,)):
                if page := _unpack(packed):
                    yield key.decode("utf-8", errors="surrogatepass"), page

    def sync(self) -> None:
        """Return when everything written is on the disk, whatever happens to the machine then."""
        with self._explained():
            self._db.execute("PRAGMA wal_checkpoint(FULL)")

    def close(self) -> None:
        """Close the file. Calling it twice is allowed."""
        self._db.close()

    def __del__(self) -> None:
        if (db := getattr(self, "_db", None)) is not None:
            db.close()

    def _mark(self) -> Mark:
        row = self._db.execute("SELECT step, size, digest FROM steps ORDER BY step DESC LIMIT 1").fetchone()
        if row is None:
            raise RunDirError(f"mistake book {self.path} holds no step at all: it was not written by this program")
        return Mark(*row)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._explained():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                if self._db.in_transaction:  # a full disk has rolled it back already
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, zlib.error) as error:
            raise RunDirError(
                f"mistake book {self.path or 'in memory'}: {error}; what was written before is untouched"
            ) from error


def _connect(path: Path | None, read_only: bool) -> sqlite3.Connection:
    if path is None:
        return _open(":memory:")
    if not read_only:
        db = _open(str(path))
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # consistent after any crash; `sync` says when it must be durable
        db.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        return db
    address = f"file:{quote(str(path.absolute()))}"
    try:
        db = _open(f"{address}?mode=ro", uri=True)
        db.execute("SELECT 1 FROM steps").fetchone()
    except sqlite3.OperationalError:  # on a medium that nobody can write, and so nobody else is writing
        db = _open(f"{address}?immutable=1", uri=True)
    return db


def _open(address: str, *, uri: bool = False) -> sqlite3.Connection:
    # One thread uses a book, but the one in which it is collected as garbage may be another.
    return sqlite3.connect(address, isolation_level=None, check_same_thread=False, uri=uri)


def _key(problem_id: str) -> bytes:
    """Ids are keys as bytes: SQLite takes no lone surrogates in text."""
    return problem_id.encode("utf-8", errors="surrogatepass")


def _pack(page: str) -> str | bytes:
    return page if len(page) < LONG else zlib.compress(page.encode("ascii"), 1)


def _unpack(packed: str | bytes) -> str:
    return packed if isinstance(packed, str) else zlib.decompress(packed).decode("ascii")
