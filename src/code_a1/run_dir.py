"""The run folder's contract: the only thing that training and everything that looks at training share.

config.toml         the resolved configuration; `code-a1 train RUN/config.toml` repeats the run
metrics.jsonl       one object per step, keys like "code/reward_mean"
events.jsonl        what happened beside the steps: problems left out, checkpoints, the end
rollouts/           step-000001.jsonl …: one object per candidate, with its suites and verdicts
checkpoints/        step-000020/ …: see `code_a1.checkpoint`
"""

from __future__ import annotations

import json
import math
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

    @classmethod
    def create(cls, config: Config) -> RunDir:
        """Make the folder that `config.run_dir` names and write the resolved configuration into it.

        Raises RunDirError if the folder exists or cannot be made.
        """
        path = config.run_dir
        try:
            path.mkdir(parents=True)
            (path / "rollouts").mkdir()
            (path / "checkpoints").mkdir()
            (path / "config.toml").write_text(tomli_w.dumps(config.to_toml_dict()), encoding="utf-8")
        except FileExistsError:
            raise _exists(path) from None
        except OSError as error:
            raise RunDirError(
                f"cannot write the run folder {path}: {error}; choose another with --set run_dir=…"
            ) from error
        return cls(path)

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

    @property
    def config_path(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.toml"

    @property
    def metrics_path(self) -> Path:
        """One JSON object per step."""
        return self.path / "metrics.jsonl"

    def checkpoint_path(self, step: int) -> Path:
        """The folder of the checkpoint after `step` steps."""
        return self.path / "checkpoints" / f"step-{step:06d}"

    def rollouts_path(self, step: int) -> Path:
        """The rollouts of step number `step`, counted from 1."""
        return self.path / "rollouts" / f"step-{step:06d}.jsonl"

    def log_metrics(self, step: int, metrics: Mapping[str, float]) -> None:
        """Append a step's metrics; values that are not finite are written as null."""
        finite = {k: (v if math.isfinite(v) else None) for k, v in metrics.items()}
        self._append(self.metrics_path, {"step": step, **finite})

    def log_rollouts(self, step: int, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write the rollouts of a step, all at once or not at all."""
        path = self.rollouts_path(step)
        partial = path.with_suffix(".partial")
        with partial.open("w", encoding="utf-8", errors="surrogatepass") as lines:
            for row in rows:
                lines.write(json.dumps({"step": step, **row}) + "\n")
        partial.replace(path)

    def log_event(self, kind: str, **details: Any) -> None:
        """Append something that happened, with the time in UTC."""
        row = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "event": kind, **details}
        self._append(self.path / "events.jsonl", row)

    def metrics(self) -> Iterator[dict[str, Any]]:
        """The metrics written so far, step by step."""
        return self._rows(self.metrics_path)

    def rollouts(self, step: int) -> Iterator[dict[str, Any]]:
        """The rollouts of step number `step`."""
        return self._rows(self.rollouts_path(step))

    def events(self) -> Iterator[dict[str, Any]]:
        """The events written so far."""
        return self._rows(self.path / "events.jsonl")

    def _append(self, path: Path, row: Mapping[str, Any]) -> None:
        with path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")

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


def _exists(path: Path) -> RunDirError:
    return RunDirError(
        f"run folder {path} exists already and is never overwritten: choose another with --set run_dir=…, "
        "or move it away"
    )


def expand(template: str, config: Config) -> str:
    """Fill `{mode}`, `{seed}` and `{time}` into a run folder's name."""
    time = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    for key, value in {"mode": config.mode, "seed": config.seed, "time": time}.items():
        template = template.replace(f"{{{key}}}", str(value))
    return template
