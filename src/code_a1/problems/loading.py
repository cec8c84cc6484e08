"""From a source of rows to problems, and back to a file."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from code_a1.config import ProblemsConfig
from code_a1.errors import ConfigError, ProblemError
from code_a1.problems.decontaminate import Benchmark, Dropped, decontaminate, statement_key
from code_a1.problems.fields import Fields, RowError, RowFault, Unsuited
from code_a1.problems.formats import REPOSITORY, Format, choose_format, looks_like, own_row
from code_a1.problems.repository import repository_rows
from code_a1.problems.rows import Source, open_rows
from code_a1.records import Problem

BUNDLED = Path(__file__).with_name("bundled.jsonl")
"""The problems that come with the package, easy ones first."""

PACKAGED = {"bundled": BUNDLED} | {name: BUNDLED.with_name(f"{name}.jsonl") for name in ("lab", "lab-heldout")}
"""Files in the package by the name that stands for them; `lab` and `lab-heldout` were written by `code-a1 lab problems`
(docs/lab.md)."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that is no problem: where it stands (lines and rows count from 1) and what to do about it.

    `kind` groups the reasons for counting.
    """

    file: str
    line: int
    reason: str
    kind: RowFault = "unreadable row"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """Problems in the order of their source, and what was left out of them."""

    problems: tuple[Problem, ...]
    source: str
    format: str
    dropped: tuple[Dropped, ...] = ()


def load_problems(config: ProblemsConfig) -> ProblemSet:
    """Read, deduplicate and decontaminate problems, then apply `limit`. Nothing is run.

    Raises:
        ProblemError: the first bad row, an unreadable source, or a set in which nothing is left.
        ConfigError: a split that the format does not have.
        MissingExtra: Parquet and `datasets` need the extra `datasets`.
    """
    name = config.path
    reading = Reading(_open(config.path, config.split), config.format, config.split)
    problems: list[Problem] = []
    for item in reading:
        if isinstance(item, BadRow):
            raise ProblemError(str(item))
        problems.append(item)
    if not problems:
        raise ProblemError(f"{name}: no row is in the split {config.split!r}; leave problems.split out to use all")
    repeats = Repeats()
    dropped = tuple(hit for problem in problems if (hit := repeats.of(problem)) is not None)
    repeated = {hit.problem_id for hit in dropped}
    kept = tuple(problem for problem in problems if problem.problem_id not in repeated)
    if config.decontaminate:
        kept, contaminated = decontaminate(kept, [load_benchmark(path) for path in config.decontaminate])
        dropped += contaminated
    if not kept:
        raise ProblemError(f"{name}: all {len(problems)} problems were dropped, the first for: {dropped[0].reason}")
    kept = kept[: config.limit] if config.limit else kept
    return ProblemSet(kept, name, reading.format_name, dropped)


def load_benchmark(path: str, ngram: int = 0) -> Benchmark:
    """Read every problem of a benchmark file in any format; `ngram` as in `Benchmark`. Raises like `load_problems`.

    A row that is whole but no problem of ours (it reads standard input, say) counts by its question.
    """
    problems = []
    for row in open_reading(path, "auto").rows():
        bad = row if isinstance(row, BadRow) else None
        if isinstance(row, ReadRow):
            try:
                problems.append(row.format.read(row.fields))
            except Unsuited:
                problems.append(Problem(f"{row.file}:{row.line}", str(row.fields.get("question", "")), "", ""))
            except RowError as error:
                bad = row.bad(error)
        if bad is not None:
            raise ProblemError(f"benchmark {bad}")
    return Benchmark.of(Path(path).name, problems, ngram)


def read_rows(path: str | Path, format: str = "auto", split: str | None = None) -> Iterator[Problem | BadRow]:  # noqa: A002
    """Each row of a source in turn, as a problem or as what is wrong with it; a bad row does not stop the reading.

    `path`, `format` and `split` are those of `ProblemsConfig`. An id that an earlier row has makes a row bad.

    Raises:
        ProblemError: the source as a whole cannot be read.
        ConfigError: a format or split that does not exist.
        MissingExtra: Parquet and `datasets` need the extra `datasets`.
    """
    return iter(Reading(_open(str(path), split), format, split))


def write_problems(path: str | Path, problems: Iterable[Problem]) -> None:
    """Write problems in our schema, one JSON object per line; reading gives back equal records.

    The file appears whole or not at all. Raises ProblemError if it cannot be written.
    """
    target = Path(path)
    scratch = None
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=target.name, suffix=".tmp", delete=False
        ) as file:
            scratch = Path(file.name)
            for problem in problems:
                file.write(json.dumps(own_row(problem), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        scratch.chmod(0o644)  # temporary files are private; this one is a document
        scratch.replace(target)
    except (OSError, UnicodeEncodeError) as error:
        raise ProblemError(f"{target}: cannot be written: {error}") from error
    finally:
        if scratch is not None:
            scratch.unlink(missing_ok=True)


def open_reading(path: str, format: str, split: str | None = None) -> Reading:  # noqa: A002
    """Rows of a source in any format, those included that are only converted; `repo` is a folder of Python modules.

    Raises like `read_rows`; ConfigError also for a split of a repository.
    """
    if format != "repo":
        return Reading(_open(path, split), format, split, converting=True)
    if split is not None:
        raise ConfigError(f"split {split!r}: a folder of Python modules has no splits")
    return Reading(repository_rows(Path(path)), REPOSITORY, None)


def _open(path: str, split: str | None) -> Source:
    return open_rows(str(PACKAGED.get(path, path)), split)


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A well-formed row in a known format, before anybody asks whether it is a problem."""

    file: str
    line: int
    format: Format
    fields: Fields

    def bad(self, error: RowError) -> BadRow:
        """The row as one that is no problem."""
        return BadRow(self.file, self.line, str(error), error.kind)


class Reading:
    """One pass over a source. `format_name` is known once the first well-formed row has been seen."""

    def __init__(self, source: Source, asked: str | Format, split: str | None, *, converting: bool = False) -> None:
        self.source = source
        self._asked = asked if isinstance(asked, str) else asked.name
        self._split = None if source.split_taken else split
        self._converting = converting
        self._format = None if isinstance(asked, str) else asked

    @property
    def format_name(self) -> str:
        """The format that was found, or asked for as long as none was found."""
        return self._format.name if self._format else self._asked

    @property
    def format_found(self) -> bool:
        """Whether the format has been settled."""
        return self._format is not None

    def rows(self) -> Iterator[ReadRow | BadRow]:
        """Every row of the split, or why it is none."""
        for row in self.source.rows:
            file = row.file or self.source.name
            try:
                if isinstance(row.fields, RowError):
                    raise row.fields
                _refuse_surrogates(row.fields)
                format_ = self._format_of(row.fields)
                if self._split is None or format_.in_split is None or format_.in_split(row.fields, self._split):
                    yield ReadRow(file, row.line, format_, row.fields)
            except RowError as error:
                yield BadRow(file, row.line, str(error), error.kind)

    def __iter__(self) -> Iterator[Problem | BadRow]:
        ids = TakenIds()
        for row in self.rows():
            if isinstance(row, BadRow):
                yield row
                continue
            try:
                problem = row.format.read(row.fields)
                ids.take(problem.problem_id, row)
            except RowError as error:
                yield row.bad(error)
                continue
            yield problem

    def _format_of(self, fields: Fields) -> Format:
        """The format of the first well-formed row; a later one that is plainly of another is an error of that row."""
        if self._format is None:
            self._format = choose_format(self._asked, fields, converting=self._converting)
            if self._split is not None and self._format.in_split is None:
                raise ConfigError(f"split {self._split!r}: a file in the format {self._format.name} has no splits")
        elif self._converting and looks_like(fields) not in (None, self._format.name):
            raise RowError(
                f"looks like {looks_like(fields)}, not {self._format.name} like the rows before", "other format"
            )
        return self._format


class TakenIds:
    """The ids of a source so far; each may stand once."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, int]] = {}

    def take(self, problem_id: str, row: ReadRow) -> None:
        """Raise RowError if an earlier row has the id."""
        file, line = self._first.setdefault(problem_id, (row.file, row.line))
        if (file, line) != (row.file, row.line):
            at = f"line {line}" if file == row.file else f"{file}:{line}"
            raise RowError(f"id '{problem_id}' is taken by {at}: remove or rename one", "duplicate id")


def _refuse_surrogates(value: object, where: str = "") -> None:
    r"""Raise RowError for text that UTF-8 cannot carry: JSON's "\ud800" is legal and would fail at the first write."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            at = error.start + 1
            raise RowError(f"field '{where}' holds a lone surrogate (character {at}): remove it") from error
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_surrogates(key, "(a name)")
            _refuse_surrogates(item, where or str(key))
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_surrogates(item, where)


class Repeats:
    """Finds problems whose statement, entry point and solution an earlier one has; ids are unique already."""

    def __init__(self) -> None:
        self._seen: dict[bytes, str] = {}

    def of(self, problem: Problem) -> Dropped | None:
        """Why the problem is a repetition; None the first time."""
        key = (statement_key(problem), problem.entry_point, problem.reference_solution.strip())
        first = self._seen.setdefault(hashlib.sha256("\0".join(key).encode()).digest(), problem.problem_id)
        return None if first == problem.problem_id else Dropped(problem.problem_id, f"duplicate of {first}")
