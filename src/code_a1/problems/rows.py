"""Where rows come from: JSON Lines, a JSON list, Parquet, or Hugging Face `datasets`. Rows out, in order, with a place.

A line that is no row comes out as a `RowError` in the place of its fields, so that a reader may go on behind it. What
makes the source as a whole unreadable raises `ProblemError`.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from code_a1.errors import MissingExtra, ProblemError
from code_a1.problems.fields import RowError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_BOM = b"\xef\xbb\xbf"


_BULKY = frozenset({"trials", "chosen_trial", "conversation", "conversations", "r1_solution", "context_messages"})
"""Columns that no format reads and that make up nine tenths of KodCode and AceCode: not read."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its place in the source (lines and rows count from 1) and its fields, or why it has none."""

    line: int
    fields: Mapping[str, object] | RowError
    file: str = ""
    """The file that `line` is counted in, where the source has several."""


def _uncounted() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Source:
    """Rows under a name for messages. `split_taken` says that the rows are one split of a dataset already."""

    name: str
    rows: Iterator[Row]
    split_taken: bool = False
    count: Callable[[], int | None] = _uncounted
    """How many rows there are, where that can be told without parsing them."""


def open_rows(path: str, split: str | None = None) -> Source:
    """Rows of a file, a folder or a dataset on the hub.

    Raises:
        ProblemError: nothing of that name, a file of another kind, an empty file, or a dataset that cannot be loaded.
        MissingExtra: Parquet and `datasets` need the extra `datasets`.
    """
    place = Path(path)
    if place.is_dir():
        saved = any((place / name).is_file() for name in ("dataset_dict.json", "state.json"))
        return _dataset_rows(path, split) if saved else _folder_rows(place, split)
    if place.is_file():
        return Source(path, _nonempty(path, _file_rows(place)), count=partial(_count_rows, (place,)))
    if _HUB_ID.fullmatch(path) and not _file_kind(place):
        return _dataset_rows(path, split)
    raise ProblemError(
        f"{path}: no such file or folder. Give a .jsonl or .parquet file, a folder of `datasets`, "
        "the id of a dataset on the Hugging Face hub (owner/name), or one of 'bundled', 'lab', 'lab-heldout'"
    )


def _file_kind(path: Path) -> str:
    """`.jsonl`, `.json` or `.parquet`, looking through `.gz`; "" for anything else."""
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    return suffix.lower() if suffix.lower() in (".jsonl", ".json", ".parquet") else ""


def _file_rows(path: Path) -> Iterator[Row]:
    kind = _file_kind(path)
    if kind == ".parquet":
        return _parquet_rows(path)
    if kind == ".json":
        return _json_rows(path)
    if kind == ".jsonl":
        return _jsonl_rows(path)
    raise ProblemError(f"{path}: not a .jsonl, .json or .parquet file (.gz may follow); rename it or convert it")


def _nonempty(name: str, rows: Iterator[Row]) -> Iterator[Row]:
    """Pass rows on; ProblemError if there are none, or where reading breaks off."""
    empty = True
    try:
        for row in rows:
            empty = False
            yield row
    except (OSError, EOFError, zlib.error) as error:
        raise ProblemError(f"{name}: cannot be read to its end: {error}") from error
    if empty:
        raise ProblemError(f"{name}: holds no rows; give a file with at least one problem")


# ---- folders of files ------------------------------------------------------------------------------------------------

_SHARD = re.compile(r"(.+)-\d{5}-of-\d{5}(?:-[0-9a-f]{16})?")
_SPLITS = ("train", "validation", "test")
_NO_ROWS = ("dataset_info.json", "dataset_infos.json")


def _folder_rows(folder: Path, split: str | None) -> Source:
    """Rows of all data files in a folder, by the order of their names; each row is named by its own file.

    As on the hub, `train-00000-of-00003.parquet`, `train.jsonl` and `train/anything.jsonl` are the split `train`.
    """
    found = [p.relative_to(folder) for p in sorted(folder.rglob("*")) if _file_kind(p) and p.name not in _NO_ROWS]
    files = [p for p in found if not any(part.startswith(".") for part in p.parts) and (folder / p).is_file()]
    if not files:
        python = any(folder.rglob("*.py"))
        hint = "; it has Python modules: `code-a1 problems convert repo` makes problems of their functions"
        raise ProblemError(
            f"{folder}: has no .jsonl, .json or .parquet file and was not written by save_to_disk of `datasets`"
            + (hint if python else "")
        )
    names = dict.fromkeys(name for p in files if (name := _split_of(p)))
    if names:
        _check_split(str(folder), split, names)
    if split in names:
        files = [p for p in files if _split_of(p) == split]
    paths = [folder / p for p in files]
    rows = (Row(row.line, row.fields, str(p)) for p in paths for row in _nonempty(str(p), _file_rows(p)))
    return Source(str(folder), rows, split in names, partial(_count_rows, paths))


def _split_of(path: Path) -> str:
    """The split that a file's name or folder says it holds; "" if neither does."""
    stem = path.name.partition(".")[0]
    if shard := _SHARD.fullmatch(stem):
        return shard[1]
    return next((name for name in (stem, *reversed(path.parts[:-1])) if name in _SPLITS), "")


def _check_split(source: str, split: str | None, names: Collection[str]) -> None:
    """Raise ProblemError unless one split is asked for that exists, or none and there is only one."""
    if split in names or (split is None and len(names) == 1):
        return
    wrong = "has several splits" if split is None else f"has no split '{split}'"
    raise ProblemError(f"{source}: {wrong}; set problems.split to one of {', '.join(names)}")


def _count_rows(files: Sequence[Path]) -> int | None:
    """Rows of files together; None where one would have to be unpacked or parsed to tell."""
    total = 0
    for path in files:
        if path.suffix == ".jsonl":
            block = b"\n"
            with path.open("rb") as file:
                while more := file.read(1 << 20):
                    block = more
                    total += block.count(b"\n")
            total += not block.endswith(b"\n")  # the last line need not end
        elif path.suffix == ".parquet":
            try:
                import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, and an optional extra

                total += pq.read_metadata(path).num_rows
            except (ImportError, OSError, ValueError):
                return None  # reading the rows tells what is wrong
        else:
            return None
    return total


# ---- JSON ------------------------------------------------------------------------------------------------------------


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            yield Row(line, _json_fields(raw, first=line == 1))


def _json_fields(raw: bytes, *, first: bool) -> Mapping[str, object] | RowError:
    if first and raw.startswith(_BOM):
        return RowError("starts with a byte order mark: save the file as UTF-8 without BOM")
    if not raw.strip():
        return RowError("is blank: remove the line")
    value = _json_value(raw)
    if isinstance(value, (RowError, dict)):
        return value
    hint = " (a file with one list of problems is named .json)" if isinstance(value, list) else ""
    return RowError(f"must be one JSON object, not {type(value).__name__}{hint}")


def _json_value(raw: bytes) -> Any:
    """The value, or a RowError in its place."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return RowError(f"is not UTF-8 (byte {error.start + 1} of the line): convert the file to UTF-8")
    try:
        return json.loads(text, object_pairs_hook=_unique_keys)
    except RowError as error:
        return error
    except json.JSONDecodeError as error:
        return RowError(f"is not JSON: {error.msg} at column {error.colno}")
    except (ValueError, RecursionError) as error:
        return RowError(f"is not JSON that can be read: {error}")


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for key, value in pairs:
        if key in fields:
            raise RowError(f"field '{key}' appears twice: keep one")
        fields[key] = value
    return fields


def _json_rows(path: Path) -> Iterator[Row]:
    """Rows of a file that holds one list of objects; the place is the position in the list."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    value = RowError("starts with a byte order mark") if raw.startswith(_BOM) else _json_value(raw)
    if isinstance(value, RowError):
        raise ProblemError(f"{path}: {value}. A file with one object per line is named .jsonl")
    if not isinstance(value, list):
        raise ProblemError(f"{path}: must hold one list of objects. A file with one object per line is named .jsonl")
    for line, item in enumerate(value, start=1):
        yield Row(line, item if isinstance(item, dict) else RowError("must be a JSON object"))


# ---- Parquet and datasets --------------------------------------------------------------------------------------------


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - heavy, and an optional extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", extra="datasets", purpose="reading Parquet") from error
    line = 0
    try:
        with pq.ParquetFile(path) as file:
            columns = [name for name in file.schema_arrow.names if name not in _BULKY]
            for batch in file.iter_batches(batch_size=64, columns=columns):
                for fields in batch.to_pylist():
                    line += 1
                    yield Row(line, fields)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ProblemError(f"{path}: not a readable Parquet file (after row {line}): {error}") from error


def _dataset_rows(path: str, split: str | None) -> Source:
    dataset, split_taken = _load_dataset(path, split)
    dataset = dataset.remove_columns([name for name in dataset.column_names if name in _BULKY])
    rows = (Row(line, dict(fields)) for line, fields in enumerate(dataset, start=1))
    return Source(path, _nonempty(path, rows), split_taken, partial(len, dataset))


def _load_dataset(path: str, split: str | None) -> tuple[Any, bool]:
    """The rows of one split, and whether `split` picked them."""
    try:
        import datasets  # noqa: PLC0415 - heavy, and an optional extra
    except ModuleNotFoundError as error:
        raise MissingExtra("datasets", extra="datasets", purpose=f"loading the dataset '{path}'") from error
    saved = Path(path).is_dir()
    try:
        loaded = datasets.load_from_disk(path) if saved else datasets.load_dataset(path)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise ProblemError(_load_failure(path, saved, error)) from error
    if not isinstance(loaded, Mapping):
        return loaded, False
    if split is None and len(loaded) == 1:
        return next(iter(loaded.values())), False
    _check_split(path, split, loaded)
    return loaded[split], True


def _load_failure(path: str, is_folder: bool, error: Exception) -> str:
    cause = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
    if is_folder:
        return (
            f"{path}: not a dataset that `datasets` can load ({cause}). Write it again with save_to_disk, "
            "or give a folder with .jsonl or .parquet files"
        )
    return (
        f"{path}: no such file or folder here, and the Hugging Face hub did not give a dataset of that name ({cause}). "
        "Check the id; without a network, download the dataset elsewhere, write it with save_to_disk, and set "
        "problems.path to that folder"
    )
