"""A small whole run, for tests that kill it: policies that learn for real and answer from a script.

What they answer depends on their weights, so that a weight that was not restored to the bit shows in everything after.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from code_a1.config import Config
from code_a1.config_file import make_config
from code_a1.engines.base import SampledGroup, SamplingParams
from code_a1.engines.local.engine import LocalEngine
from code_a1.mistake_book import MistakeBook
from code_a1.problems import write_problems
from code_a1.records import Problem, Prompt
from code_a1.report.view import View
from code_a1.run_dir import RunDir
from code_a1.trainer import train

RIGHT = {"double": "2 * x", "square": "x * x", "next": "x + 1", "negate": "-x", "half": "x // 2"}
WRONG = ("x + x", "x * x", "x", "x + 2", "x - 1")
PROBLEMS = [
    Problem(
        name, f"Return {name} of x.", name, f"def {name}(x):\n    return {body}\n", (f"assert {name}(1) == {value}",)
    )
    for (name, body), value in zip(RIGHT.items(), (2, 1, 2, -1, 0), strict=True)
]
WALL_CLOCK = ("time/", "judge/candidates_per_s")
WALL_CLOCK_ENDS = ("_tok_s", "peak_rss_gb", "peak_gpu_gb")


class Taught(LocalEngine):
    """Learns as its model does; answers with programs or suites that its weights choose."""

    def sample(self, prompts: Sequence[Prompt], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        weights = [p.detach().numpy().tobytes() for p in self._optimizer.parameters]
        state = hashlib.sha256(b"".join(weights) + str(params.seed).encode()).digest()
        for index, prompt in enumerate(prompts):
            name = next(p.entry_point for p in PROBLEMS if p.statement in prompt[-1].content)
            texts = [self._answer(name, state[(index * n + i) % 32], i) for i in range(n)]
            yield SampledGroup(index, tuple(self.completion_of(prompt, text) for text in texts))

    def _answer(self, name: str, chance: int, i: int) -> str:
        if self._seed == 1:
            body = RIGHT[name] if chance % 3 == 0 else WRONG[(chance + i) % len(WRONG)]
            return f"```python\ndef {name}(x):\n    return {body}\n```"
        tests = "\n".join(
            f"assert {name}({x}) == {eval(RIGHT[name], {'x': x}) + (x == 7)}" for x in (chance % 11, 3 + chance % 5)
        )
        return f"```python\n{tests}\n```"


class Announcing(View):
    """Says through a pipe which phase begins."""

    def __init__(self, phases: Connection | None) -> None:
        self.phases = phases

    def phase(self, name: str, total: int | None) -> None:
        if self.phases is not None:
            self.phases.send(name)


def config_of(folder: Path, model: str, steps: int, **changes: Any) -> Config:
    problems = folder / "problems.jsonl"
    if not problems.exists():
        write_problems(problems, PROBLEMS)
    policy = {
        "model": model,
        "dtype": "float32",
        "device": "cpu",
        "lora": {"rank": 2, "alpha": 4, "dropout": 0.1},
        "optimizer": {"lr": 1e-2, "warmup_steps": 2, "minibatches": 2},
    }
    rollout = {
        "problems_per_step": 2,
        "candidates_per_problem": 3,
        "suites_per_candidate": 2,
        "tests_per_suite": 2,
        "max_code_tokens": 200,
        "max_test_tokens": 200,
    }
    settings: dict[str, Any] = {
        "steps": steps,
        "save_every": 1,
        "run_dir": str(folder / "run"),
        "problems": {"path": str(problems), "validate_references": False},
        "sandbox": {"workers": 1},
        "checkpoints": {"keep_last": 3},
        "curriculum": {"skip_solved_after": 2},
        "opponents": {"earlier": 0.25},
        "policy": policy,
        "rollout": rollout,
    }
    return make_config(settings | changes)


def run(folder: Path, model: str, steps: int, phases: Connection | None = None) -> None:
    """Begin the run or go on with it."""
    torch.set_num_threads(1)
    config = config_of(folder, model, steps)
    policies = Taught(config.code_policy, seed=1), Taught(config.test_policy, seed=2)
    train(config, Announcing(phases), policies, resume=True)


def timeless(rows: Iterator[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Metrics, those of the wall clock aside."""
    return [
        {k: v for k, v in row.items() if not k.startswith(WALL_CLOCK) and not k.endswith(WALL_CLOCK_ENDS)}
        for row in rows
    ]


def outcome(folder: Path, steps: int) -> dict[str, Any]:
    """Everything that a run leaves, as far as it may be compared with another's: weights and rollouts by checksum."""
    run_dir = RunDir.open(folder / "run")
    last = run_dir.checkpoint_path(steps)
    state = json.loads((last / "state.json").read_text())
    state["config"].pop("run_dir")
    state["config"]["problems"].pop("path")
    sums = json.loads((last / "checksums.json").read_text())
    book = MistakeBook(path=run_dir.book_path)
    result = {
        "metrics": timeless(run_dir.metrics()),
        "weights": {name: value for name, value in sums.items() if name != "state.json"},
        "state": state,
        "book": list(book.rows()),
        "book state": book.state_dict(),
        "checkpoints": list(run_dir.checkpoints()),
        "rollouts": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in run_dir.path.glob("rollouts/*")
        },
    }
    book.close()
    return result
