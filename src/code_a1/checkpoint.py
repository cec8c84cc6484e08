"""Both policies, the sampler's position, the step and which state of the Mistake Book goes with them: one folder.

    checkpoints/step-000020/
        state.json      format, step, sampler, mistake book, digest of the configuration, score
        code/  test/    what each engine saves: weights or adapter in Hugging Face format, optimizer
        checksums.json  SHA-256 of every other file

The folder is written under another name, brought to the disk file by file, and renamed when it is whole; what is read
back is checked against the checksums. The book's tests stay in the run's `mistake_book.sqlite`, which can go back to
every checkpoint (`code_a1.book_store`). Seeds are derived from the run's seed and the step (`code_a1.seeds`), so no
generator's state has to be kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from code_a1.engines.base import PolicyEngine
from code_a1.errors import CheckpointError
from code_a1.mistake_book import MistakeBook

FORMAT = 2
STATE_FILE = "state.json"
CHECKSUM_FILE = "checksums.json"


def save_checkpoint(
    path: Path,
    *,
    step: int,
    policies: Mapping[str, PolicyEngine],
    book: MistakeBook,
    sampler: Mapping[str, Any],
    **more: Any,
) -> None:
    """Write the state after `step` steps, and `more` that is JSON, into the new folder `path`.

    Raises CheckpointError naming what failed; nothing of the attempt is left, and earlier checkpoints are untouched.
    """
    if path.exists():
        raise CheckpointError(f"checkpoint {path} exists already")
    partial = path.with_name(path.name + ".partial")
    state = {"format": FORMAT, "step": step, "sampler": dict(sampler), "mistake_book": book.state_dict(), **more}
    try:
        shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed while writing
        partial.mkdir(parents=True)
        for role, policy in policies.items():
            policy.save(partial / role)
        _write_json(partial / STATE_FILE, state)
        book.sync()
        sums = {name: _bring_to_disk(partial / name) for name in _files(partial)}
        _write_json(partial / CHECKSUM_FILE, sums)
        for folder in {(partial / name).parent for name in sums} | {partial}:
            _sync_folder(folder)
        partial.rename(path)
        _sync_folder(path.parent)
    except Exception as error:  # the libraries that write weights have errors of their own for a disk that is full
        shutil.rmtree(partial, ignore_errors=True)  # it takes the room that is missing
        raise CheckpointError(
            f"cannot write checkpoint {path}: {error}; earlier checkpoints are untouched: make room or mend the disk, "
            "then resume"
        ) from error


def load_state(path: Path) -> dict[str, Any]:
    """Read `state.json` of a checkpoint whose files are all what was written.

    Raises CheckpointError naming the file that is missing, was added or changed, and for another format.
    """
    sums, state = _read_json(path, CHECKSUM_FILE), _read_json(path, STATE_FILE)
    if state.get("format") != FORMAT:
        raise CheckpointError(
            f"checkpoint {path} is of format {state.get('format')!r}; this version reads format {FORMAT}. The policies "
            "in it can still be used as models; to go on with the run takes the version that wrote it"
        )
    try:
        found = {name: _checksum(path / name) for name in _files(path) if name != CHECKSUM_FILE}
    except OSError as error:
        raise CheckpointError(f"checkpoint {path} cannot be read: {error}") from error
    for name in sorted(sums.keys() | found.keys()):
        if sums.get(name) != found.get(name):
            what = "is missing" if name not in found else "was added" if name not in sums else "is damaged"
            raise CheckpointError(f"checkpoint {path}: {name} {what}")
    return state


def read_score(path: Path) -> float | None:
    """What a checkpoint was given to be ranked by, None where nothing or where it cannot be read."""
    try:
        score = _read_json(path, STATE_FILE).get("score")
    except CheckpointError:
        return None
    return float(score) if isinstance(score, int | float) else None


def remove_checkpoint(path: Path) -> None:
    """Delete a checkpoint so that a half-deleted one is never taken for whole."""
    doomed = path.with_name(path.name + ".partial")
    shutil.rmtree(doomed, ignore_errors=True)
    path.rename(doomed)
    shutil.rmtree(doomed)


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _bring_to_disk(path: Path) -> str:
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return _checksum(path)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())


def _read_json(folder: Path, name: str) -> dict[str, Any]:
    try:
        value = json.loads((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        older = name == CHECKSUM_FILE and (folder / STATE_FILE).is_file()
        why = f"it has no {name}" + (" (an earlier version wrote it)" if older else "")
        raise CheckpointError(f"no whole checkpoint at {folder}: {why}") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"checkpoint {folder}: {name} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"checkpoint {folder}: {name} is damaged: it holds no object")
    return value
