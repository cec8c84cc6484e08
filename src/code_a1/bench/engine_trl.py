"""The training workload through TRL's GRPOTrainer, where TRL is installed: compared with in figures and in speed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from code_a1.bench.engine_workload import Workload, policy_of, training_rows
from code_a1.config import LossConfig
from code_a1.engines.base import TrainingRow
from code_a1.engines.local.backbone import pick_device, pick_dtype
from code_a1.engines.local.models import load_model, load_tokenizer, quiet_transformers, resolve
from code_a1.errors import MissingExtra


def open_trainer(model: Any, tokenizer: Any, *, rows: int, loss: LossConfig) -> Any:
    """A GRPOTrainer with our loss: token mean, clip-higher, dual clip as `delta`, k3; no gradient checkpointing.

    Raises MissingExtra where TRL is not installed.
    """
    if find_spec("trl") is None:
        raise MissingExtra("trl", extra="local", purpose="comparing with TRL (beside code-a1, a package of its own)")
    import datasets  # noqa: PLC0415 - comes with TRL
    import trl  # noqa: PLC0415 - optional

    with quiet_transformers():
        config = trl.GRPOConfig(
            output_dir=tempfile.mkdtemp(prefix="code-a1-trl-"),
            per_device_train_batch_size=rows,
            num_generations=rows,
            max_steps=1,
            loss_type="bnpo",
            epsilon=loss.clip_low,
            epsilon_high=loss.clip_high,
            delta=loss.dual_clip,
            beta=loss.kl_coef,
            use_bias_correction_kl=False,
            use_cpu=not torch.cuda.is_available(),
            bf16=False,
            gradient_checkpointing=False,
            report_to=[],
            save_strategy="no",
        )
        trainer = trl.GRPOTrainer(
            model=model,
            reward_funcs=lambda completions, **_: [0.0] * len(completions),
            args=config,
            train_dataset=datasets.Dataset.from_list([{"prompt": "x"}] * rows),
            processing_class=tokenizer,
        )
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.train()
    return trainer


def batch_of(rows: Sequence[TrainingRow], device: torch.device) -> dict[str, Tensor]:
    """Rows of prompts of one length, as the trainer takes them: padded completions (B, T) with a mask."""
    completions = [row.sample.completion for row in rows]

    def padded(columns: Sequence[Sequence[float]]) -> Tensor:
        return pad_sequence([torch.tensor(column) for column in columns], batch_first=True).to(device)

    prompts = torch.tensor([c.prompt_tokens for c in completions], device=device)
    batch = {
        "prompt_ids": prompts,
        "prompt_mask": torch.ones_like(prompts),
        "completion_ids": padded([c.tokens for c in completions]),
        "completion_mask": padded([[1] * len(c.tokens) for c in completions]),
        "advantages": torch.tensor([row.sample.advantage for row in rows], device=device),
        "old_per_token_logps": padded([row.old_logprobs or () for row in rows]),
    }
    if all(row.ref_logprobs is not None for row in rows):
        batch["ref_per_token_logps"] = padded([row.ref_logprobs or () for row in rows])
    return batch


def loss_of(trainer: Any, batch: dict[str, Tensor]) -> Tensor:
    """TRL's loss of a batch, with its graph."""
    with trainer.compute_loss_context_manager():
        loss: Tensor = trainer._compute_loss(trainer.model, batch)
    return loss


def prepare_trl_train(workload: Workload) -> Callable[[], int]:
    """Forward and backward of the group that `prepare_train` has, through TRL."""
    policy = policy_of(workload)
    device = pick_device(policy.device)
    source = resolve(policy.model)
    model = load_model(source, pick_dtype(policy.dtype, device)).to(device)
    model.set_attn_implementation("sdpa")
    rows = training_rows(workload, model.config.vocab_size)
    trainer = open_trainer(model, load_tokenizer(source), rows=len(rows), loss=policy.loss)
    batch = batch_of(rows, device)

    def work() -> int:
        trainer.model.zero_grad(set_to_none=True)
        trainer.accelerator.backward(loss_of(trainer, batch))
        return sum(len(row.sample.completion.tokens) for row in rows)

    return work
