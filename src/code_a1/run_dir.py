"""The run folder's contract: the only thing that training and everything that looks at training share.

config.toml         the resolved configuration; `code-a1 train RUN/config.toml` repeats the run
metrics.jsonl       one object per step, keys like "code/reward_mean"
events.jsonl        what happened beside the steps: problems left out, checkpoints, the end
rollouts/           step-000001.jsonl …: one object per candidate, with its suites and verdicts
checkpoints/        step-000020/ …: see `code_a1.checkpoint`
mistake_book.sqlite the tests that candidates failed: see `code_a1.book_store`
lock                held by the process that trains into the folder
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import math
import os
import re
import shutil
import socket
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomli_w

from code_a1.config import Config
from code_a1.errors import RunDirError


class RunDir:
    """One run's folder. Lines are flushed as they are written; a run folder is never overwritten."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @classmethod
    def create(cls, config: Config) -> RunDir:
        """Make the folder that `config.run_dir` names, locked, with the resolved configuration in it.

        It appears whole: a run folder has a configuration, whenever its process was killed. Raises RunDirError if the
        folder exists or cannot be made.
        """
        path = config.run_dir
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        run_dir = cls(partial)
        try:
            partial.mkdir(parents=True)
            (partial / "rollouts").mkdir()
            (partial / "checkpoints").mkdir()
            run_dir.write_config(config)
            run_dir.lock()
            if path.exists():
                raise _exists(path)
            partial.rename(path)
        except RunDirError:
            run_dir.discard()
            raise
        except OSError as error:
            run_dir.discard()
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):  # somebody else was faster
                raise _exists(path) from None
            raise RunDirError(
                f"cannot write the run folder {path}: {error}; choose another with --set run_dir=…"
            ) from error
        run_dir.path = path
        return run_dir

    @classmethod
    def reserve(cls, config: Config) -> Config:
        """The configuration with the placeholders of `run_dir` filled in.

        Raises RunDirError if that folder exists: better now than after the models are loaded.
        """
        path = Path(expand(str(config.run_dir), config))
        if path.exists():
            raise _exists(path)
        return config.model_copy(update={"run_dir": path})

    @classmethod
    def open(cls, path: Path) -> RunDir:
        """Open an existing run folder. Raises RunDirError if it is none."""
        if not (path / "config.toml").is_file():
            raise RunDirError(f"{path} is not a run folder: it has no config.toml")
        return cls(path)

    def lock(self) -> None:
        """Keep other processes from training into this folder until `unlock`, or until this process ends somehow.

        Raises RunDirError naming the process that has it, and where the folder cannot be written.
        """
        try:
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunDirError(f"cannot write the run folder {self.path}: {error}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(lock, 200).decode(errors="replace").strip() or "another process"
            os.close(lock)
            raise RunDirError(
                f"run folder {self.path} is in use by {holder}: two processes would overwrite each other's work. End "
                "that one first, or choose another folder with --set run_dir=…"
            ) from None
        os.truncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        self._lock = lock

    def unlock(self) -> None:
        """Let others train into the folder. Calling it twice is allowed."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def discard(self) -> None:
        """Remove a folder that did not come to be a run's."""
        self.unlock()
        shutil.rmtree(self.path, ignore_errors=True)

    def write_config(self, config: Config) -> None:
        """Write the resolved configuration, whole or not at all."""
        partial = self.path / "config.toml.partial"
        partial.write_text(tomli_w.dumps(config.to_toml_dict()), encoding="utf-8")
        partial.replace(self.config_path)

    @property
    def config_path(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.toml"

    @property
    def metrics_path(self) -> Path:
        """One JSON object per step."""
        return self.path / "metrics.jsonl"

    @property
    def book_path(self) -> Path:
        """The Mistake Book."""
        return self.path / "mistake_book.sqlite"

    def checkpoint_path(self, step: int) -> Path:
        """The folder of the checkpoint after `step` steps."""
        return self.path / "checkpoints" / f"step-{step:06d}"

    def checkpoints(self) -> dict[int, Path]:
        """The folders of all checkpoints by their step, earliest first; those that were not finished are left out."""
        found = ((re.fullmatch(r"step-(\d{6,})", p.name), p) for p in self.path.glob("checkpoints/step-*"))
        return dict(sorted((int(match[1]), path) for match, path in found if match))

    def rollouts_path(self, step: int) -> Path:
        """The rollouts of step number `step`, counted from 1."""
        return self.path / "rollouts" / f"step-{step:06d}.jsonl"

    def log_metrics(self, step: int, metrics: Mapping[str, float]) -> None:
        """Append a step's metrics; values that are not finite are written as null."""
        finite = {k: (v if math.isfinite(v) else None) for k, v in metrics.items()}
        self._append(self.metrics_path, {"step": step, **finite})

    def log_rollouts(self, step: int, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write the rollouts of a step, all at once or not at all. Raises RunDirError where that fails."""
        path = self.rollouts_path(step)
        partial = path.with_suffix(".partial")
        try:
            with partial.open("w", encoding="utf-8", errors="surrogatepass") as lines:
                for row in rows:
                    lines.write(json.dumps({"step": step, **row}) + "\n")
            partial.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise _unwritable(path, error) from error

    def log_event(self, kind: str, **details: Any) -> None:
        """Append something that happened, with the time in UTC."""
        row = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "event": kind, **details}
        self._append(self.path / "events.jsonl", row)

    def sync(self) -> None:
        """Return when the metrics and events logged so far are on the disk. Raises RunDirError where that fails."""
        for path in (self.metrics_path, self.path / "events.jsonl"):
            try:
                with path.open("rb") as file:
                    os.fsync(file.fileno())
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _unwritable(path, error) from error

    def metrics(self) -> Iterator[dict[str, Any]]:
        """The metrics written so far, step by step."""
        return self._rows(self.metrics_path)

    def rollouts(self, step: int) -> Iterator[dict[str, Any]]:
        """The rollouts of step number `step`."""
        return self._rows(self.rollouts_path(step))

    def events(self) -> Iterator[dict[str, Any]]:
        """The events written so far."""
        return self._rows(self.path / "events.jsonl")

    def forget_after(self, step: int) -> None:
        """Take back what was logged after `step` steps, and a last line that was not finished; events stay.

        -1 takes back everything, also what was measured before the first step.
        """
        for path in (self.metrics_path, self.path / "events.jsonl"):
            if not path.is_file():
                continue
            lines = path.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if line.endswith(b"\n")]
            if path == self.metrics_path:
                kept = [line for line in kept if json.loads(line)["step"] <= step]
            if kept != lines:
                partial = path.with_suffix(".partial")
                partial.write_bytes(b"".join(kept))
                partial.replace(path)
        for path in self.path.glob("rollouts/step-*"):
            if not re.fullmatch(r"step-\d+\.jsonl", path.name) or int(path.stem.removeprefix("step-")) > step:
                path.unlink()

    def _append(self, path: Path, row: Mapping[str, Any]) -> None:
        """A whole line or none: what a full disk has taken half of is taken back."""
        line = (json.dumps(row) + "\n").encode()
        before = path.stat().st_size if path.is_file() else 0
        try:
            with path.open("ab", buffering=0) as file:
                if file.write(line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.truncate(path, before)
            raise _unwritable(path, error) from error

    def _rows(self, path: Path) -> Iterator[dict[str, Any]]:
        if not path.is_file():
            return
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise RunDirError(
                        f"{path}, line {number}: not JSON ({error}); was the run killed while writing?"
                    ) from error


def _unwritable(path: Path, error: OSError) -> RunDirError:
    return RunDirError(
        f"cannot write {path}: {error}; what was written before is untouched: make room or mend the disk, then resume"
    )


def _exists(path: Path) -> RunDirError:
    return RunDirError(
        f"run folder {path} exists already and is never overwritten: go on with it with --resume, choose another with "
        "--set run_dir=…, or move it away"
    )


def expand(template: str, config: Config) -> str:
    """Fill `{mode}`, `{seed}` and `{time}` into a run folder's name."""
    time = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    for key, value in {"mode": config.mode, "seed": config.seed, "time": time}.items():
        template = template.replace(f"{{{key}}}", str(value))
    return template
