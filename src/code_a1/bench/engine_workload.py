"""What the engine's benchmark measures: sizes, prompts, forced lengths, rows to train on; torch-free."""

from __future__ import annotations

import random
from dataclasses import dataclass

from code_a1.config import LoraConfig, PolicyConfig
from code_a1.engines.base import SamplingParams, TrainingRow
from code_a1.records import Completion, Sample


@dataclass(frozen=True, slots=True)
class Workload:
    """What is measured; lengths are in tokens."""

    model: str
    dtype: str = "bfloat16"
    lora_rank: int = 0
    """0 trains all weights."""
    prompts: int = 16
    rows: int = 8
    prompt_tokens: int = 105
    max_tokens: int = 128
    slots: int = 64
    train_rows: int = 8
    train_prompt_tokens: int = 400
    train_completion_tokens: tuple[int, int] = (60, 180)
    threads: int = 0
    """0 leaves torch's choice."""
    seed: int = 0


def policy_of(workload: Workload) -> PolicyConfig:
    """The policy that is measured: everything of the training workload in one forward pass."""
    return PolicyConfig.model_validate(
        {
            "model": workload.model,
            "dtype": workload.dtype,
            "lora": LoraConfig(rank=workload.lora_rank) if workload.lora_rank else None,
            "tokens_per_microbatch": 1 << 20,
            "sampling_slots": workload.slots,
        }
    )


def sampling_params(workload: Workload) -> SamplingParams:
    """Temperature 1, nothing filtered."""
    return SamplingParams(max_tokens=workload.max_tokens, seed=workload.seed)


def prompt_ids(workload: Workload, vocabulary: int) -> list[tuple[int, ...]]:
    """Random prompts, all of one length."""
    rng = random.Random(workload.seed)  # noqa: S311 - not cryptography
    return [tuple(rng.choices(range(vocabulary), k=workload.prompt_tokens)) for _ in range(workload.prompts)]


def row_lengths(workload: Workload) -> list[list[int]]:
    """Forced completion lengths per prompt and row: many short, few at the limit, 0.4 of it in the mean."""
    rng = random.Random(workload.seed + 1)  # noqa: S311 - not cryptography
    count = (workload.prompts, workload.rows)
    draw = [[rng.betavariate(0.8, 1.2) for _ in range(count[1])] for _ in range(count[0])]
    return [[max(1, round(share * workload.max_tokens)) for share in rows] for rows in draw]


def training_rows(workload: Workload, vocabulary: int) -> list[TrainingRow]:
    """One group: a random prompt, completions of lengths spread evenly, advantages of both signs."""
    rng = random.Random(workload.seed + 2)  # noqa: S311 - not cryptography
    prompt = tuple(rng.choices(range(vocabulary), k=workload.train_prompt_tokens))
    low, high = workload.train_completion_tokens
    rows = []
    for index in range(workload.train_rows):
        length = low + (high - low) * index // max(1, workload.train_rows - 1)
        scores = (-5.0,) * length
        completion = Completion("", tuple(rng.choices(range(vocabulary), k=length)), scores, prompt, "length")
        rows.append(TrainingRow(Sample("group", completion, (-1.0) ** index), scores, scores))
    return rows
