"""From a source of rows to problems, and back to a file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from code_a1.config import ProblemsConfig
from code_a1.errors import ConfigError, ProblemError
from code_a1.problems.decontaminate import Benchmark, Dropped, decontaminate, statement_key
from code_a1.problems.fields import RowError, RowFault
from code_a1.problems.formats import Format, choose_format, own_row
from code_a1.problems.rows import Source, open_rows
from code_a1.records import Problem

BUNDLED = Path(__file__).with_name("bundled.jsonl")
"""The problems that come with the package, easy ones first."""


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
    name = "bundled" if config.path == "bundled" else config.path
    reading = _Reading(_open(config.path, config.split), config.format, config.split)
    problems: list[Problem] = []
    for item in reading:
        if isinstance(item, BadRow):
            raise ProblemError(str(item))
        problems.append(item)
    if not problems:
        raise ProblemError(f"{name}: no row is in the split {config.split!r}; leave problems.split out to use all")
    kept, dropped = _without_duplicates(problems)
    if config.decontaminate:
        kept, contaminated = decontaminate(kept, [load_benchmark(path) for path in config.decontaminate])
        dropped += contaminated
    if not kept:
        raise ProblemError(f"{name}: all {len(problems)} problems were dropped, the first for: {dropped[0].reason}")
    kept = kept[: config.limit] if config.limit else kept
    return ProblemSet(kept, name, reading.format_name, dropped)


def load_benchmark(path: str) -> Benchmark:
    """Read every problem of a benchmark file in any readable format. Raises like `load_problems`."""
    problems = []
    for item in read_rows(path):
        if isinstance(item, BadRow):
            raise ProblemError(f"benchmark {item}")
        problems.append(item)
    return Benchmark.of(Path(path).name, problems)


def read_rows(path: str | Path, format: str = "auto", split: str | None = None) -> Iterator[Problem | BadRow]:  # noqa: A002
    """Each row of a source in turn, as a problem or as what is wrong with it; a bad row does not stop the reading.

    `path`, `format` and `split` are those of `ProblemsConfig`. An id that an earlier row has makes a row bad.

    Raises:
        ProblemError: the source as a whole cannot be read.
        ConfigError: a format or split that does not exist.
        MissingExtra: Parquet and `datasets` need the extra `datasets`.
    """
    return iter(_Reading(_open(str(path), split), format, split))


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


def _open(path: str, split: str | None) -> Source:
    return open_rows(str(BUNDLED), split) if path == "bundled" else open_rows(path, split)


class _Reading:
    """One pass over a source. `format_name` is known once the first well-formed row has been seen."""

    def __init__(self, source: Source, asked: str, split: str | None) -> None:
        self._source = source
        self._asked = asked
        self._split = None if source.split_taken else split
        self._format: Format | None = None

    @property
    def format_name(self) -> str:
        return self._format.name if self._format else self._asked

    def __iter__(self) -> Iterator[Problem | BadRow]:
        first_line: dict[str, int] = {}
        for row in self._source.rows:
            try:
                problem = self._read(row.fields)
                if problem is None:
                    continue
                if problem.problem_id in first_line:
                    at = first_line[problem.problem_id]
                    reason = f"id '{problem.problem_id}' is taken by line {at}: remove or rename one"
                    raise RowError(reason, "duplicate id")
            except RowError as error:
                yield BadRow(self._source.name, row.line, str(error), error.kind)
                continue
            first_line[problem.problem_id] = row.line
            yield problem

    def _read(self, fields: Mapping[str, object] | RowError) -> Problem | None:
        """The problem of one row; None outside the split that was asked for."""
        if isinstance(fields, RowError):
            raise fields
        _refuse_surrogates(fields)
        if self._format is None:
            self._format = choose_format(self._asked, fields)
            if self._split is not None and self._format.in_split is None:
                raise ConfigError(
                    f"problems.split = {self._split!r}: a file in the format {self._format.name} has no splits"
                )
        in_split = self._format.in_split
        if self._split is not None and in_split is not None and not in_split(fields, self._split):
            return None
        return self._format.read(fields)


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


def _without_duplicates(problems: Iterable[Problem]) -> tuple[tuple[Problem, ...], tuple[Dropped, ...]]:
    """Drop a problem whose statement, entry point and solution an earlier one has; ids are unique already."""
    seen: dict[tuple[str, str, str], str] = {}
    kept: list[Problem] = []
    dropped: list[Dropped] = []
    for problem in problems:
        key = (statement_key(problem), problem.entry_point, problem.reference_solution.strip())
        if key in seen:
            dropped.append(Dropped(problem.problem_id, f"duplicate of {seen[key]}"))
        else:
            seen[key] = problem.problem_id
            kept.append(problem)
    return tuple(kept), tuple(dropped)
