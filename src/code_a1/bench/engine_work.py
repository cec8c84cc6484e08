"""The work that `code_a1.bench.engine` times, in processes that have torch: each function prepares it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers
from torch import Tensor

from code_a1.bench.engine_workload import Workload, policy_of, prompt_ids, row_lengths, sampling_params, training_rows
from code_a1.engines.local.backbone import open_backbone, pick_device, pick_dtype
from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.local.models import load_model, resolve
from code_a1.engines.local.packing import Pack
from code_a1.engines.local.sampler import Sampler
from code_a1.records import Completion


class ForcedSampler(Sampler):
    """Ends every row at a length fixed beforehand."""

    lengths: Sequence[Sequence[int]]

    def limit(self, prompt: int, sample: int) -> int:
        """The row's own length."""
        return self.lengths[prompt][sample]


class PaddedEngine(LocalEngine):
    """Trains on padded rows, every one with its own copy of the prompt: what sharing is compared with."""

    def _packs(self, completions: Sequence[Completion]) -> list[Pack]:
        device = self.backbone.device
        rows = [torch.tensor(c.prompt_tokens + c.tokens[:-1], device=device) for c in completions]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        width = ids.shape[1]
        sources = [
            row * width + len(c.prompt_tokens) - 1 + offset
            for row, c in enumerate(completions)
            for offset in range(len(c.tokens))
        ]
        return [
            Pack(
                members=tuple(range(len(completions))),
                input_ids=ids,
                positions=torch.arange(width, device=device).expand_as(ids),
                sources=torch.tensor(sources, device=device),
                targets=torch.tensor([token for c in completions for token in c.tokens], device=device),
                plan=None,
            )
        ]


def prepare_sample(workload: Workload) -> Callable[[], int]:
    """Our sampler on all prompts."""
    backbone = open_backbone(policy_of(workload))
    backbone.chat.eos_ids = frozenset()
    prompts = prompt_ids(workload, backbone.model.config.vocab_size)

    def work() -> int:
        sampler = ForcedSampler(backbone, None, prompts, workload.rows, sampling_params(workload), slots=workload.slots)
        sampler.lengths = row_lengths(workload)
        return sum(len(c.tokens) for group in sampler.run() for c in group.completions)

    return work


def prepare_hf_generate(workload: Workload) -> Callable[[], int]:
    """`generate` on batches of as many rows as there are slots; a batch lasts as long as its longest row."""
    policy = policy_of(workload)
    device = pick_device(policy.device)
    model = load_model(resolve(policy.model), pick_dtype(policy.dtype, device)).to(device)  # as transformers has it
    model.set_attn_implementation("sdpa")
    prompts = prompt_ids(workload, model.config.vocab_size)
    lengths = row_lengths(workload)
    together = max(1, workload.slots // workload.rows)
    config = transformers.GenerationConfig(
        max_new_tokens=workload.max_tokens,
        do_sample=True,
        top_k=0,
        num_return_sequences=workload.rows,
        pad_token_id=0,
        eos_token_id=None,
    )
    model.generation_config = config

    def work() -> int:
        torch.manual_seed(workload.seed)
        for start in range(0, len(prompts), together):
            part = slice(start, start + together)
            limits = torch.tensor([length for rows in lengths[part] for length in rows], device=device)
            ids = torch.tensor(prompts[part], device=device)
            stop = _ForcedLengths(workload.prompt_tokens, limits)
            with torch.no_grad():
                model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    stopping_criteria=transformers.StoppingCriteriaList([stop]),
                )
        return sum(map(sum, lengths))

    return work


def prepare_train(workload: Workload, engine_class: type[LocalEngine] = LocalEngine) -> Callable[[], int]:
    """Forward and backward of one group with a shared prompt."""
    engine = engine_class(policy_of(workload), seed=workload.seed)
    rows = training_rows(workload, engine.backbone.model.config.vocab_size)

    def work() -> int:
        return int(engine.forward_backward(rows)["tokens"])

    return work


def prepare_padded_train(workload: Workload) -> Callable[[], int]:
    """Forward and backward of the same group as padded rows."""
    return prepare_train(workload, PaddedEngine)


class _ForcedLengths(transformers.StoppingCriteria):  # type: ignore[misc]
    """Ends each row of a batch at its own length."""

    def __init__(self, prompt_tokens: int, limits: Tensor) -> None:
        self.prompt_tokens = prompt_tokens
        self.limits = limits

    def __call__(self, input_ids: Tensor, scores: Any, **extra: Any) -> Tensor:
        """Which rows are done."""
        del scores, extra
        return input_ids.shape[1] - self.prompt_tokens >= self.limits
