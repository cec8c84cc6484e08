"""Both policies, the Mistake Book, the sampler's position and the step, written as one folder.

    checkpoints/step-000020/
        state.json      step, sampler, mistake book, format
        code/  test/    what each engine saves: weights or adapter in Hugging Face format, optimizer

The folder is written under another name and renamed when it is complete, so that a checkpoint that can be seen is
whole. Seeds are derived from the run's seed and the step (`code_a1.seeds`), so no generator's state has to be kept.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from code_a1.engines.base import PolicyEngine
from code_a1.errors import CheckpointError
from code_a1.mistake_book import MistakeBook

FORMAT = 1


def save_checkpoint(
    path: Path, *, step: int, policies: Mapping[str, PolicyEngine], book: MistakeBook, sampler: Mapping[str, Any]
) -> None:
    """Write the state after `step` steps into the new folder `path`. Raises CheckpointError naming what failed."""
    partial = path.with_name(path.name + ".partial")
    try:
        if path.exists():
            raise CheckpointError(f"checkpoint {path} exists already")
        shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed while writing
        partial.mkdir(parents=True)
        for role, policy in policies.items():
            policy.save(partial / role)
        state = {"format": FORMAT, "step": step, "sampler": dict(sampler), "mistake_book": book.state_dict()}
        with (partial / "state.json").open("w", encoding="utf-8") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except CheckpointError:
        raise
    except OSError as error:
        raise CheckpointError(f"cannot write checkpoint {path}: {error}; earlier checkpoints are untouched") from error


def load_state(path: Path) -> dict[str, Any]:
    """Read `state.json` of a checkpoint. Raises CheckpointError if it is missing, damaged or of another format."""
    try:
        state = json.loads((path / "state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"no checkpoint at {path}: {error}") from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise CheckpointError(f"checkpoint {path} is not of format {FORMAT}, which this version reads")
    return state
