"""Attention with a plan: one function registered with transformers, and the plans that say who attends to whom.

B rows, H query heads, K key-value heads, T new positions, S positions in all, D head size. Without a plan attention is
causal within each row, which is also right for rows padded at the end.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from code_a1.errors import ModelError

NAME = "code_a1"


class Plan(Protocol):
    """How the positions of a forward pass attend; called once per layer."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
        """(B, H, T, D), (B, K, T, D), (B, K, T, D) → (B, H, T, D)."""
        ...


def planned_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    scaling: float | None = None,
    plan: Plan | None = None,
    **extra: Any,
) -> tuple[Tensor, None]:
    """What transformers calls in every attention layer; `plan` comes with the call of the model.

    Raises ModelError for a model whose attention has terms that the plans do not know, rather than leave them out.
    """
    unknown = [name for name in ("softcap", "s_aux", "position_bias") if extra.get(name) is not None]
    if unknown:
        raise ModelError(f"the model's attention uses {', '.join(unknown)}, which the local engine does not support")
    del attention_mask  # transformers builds none for an attention that it does not know
    if plan is None:
        out = causal(query, key, value, scaling)
    else:
        out = plan.attend(module.layer_idx, query, key, value, scaling)
    return out.transpose(1, 2), None


AttentionInterface.register(NAME, planned_attention)


def causal(query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
    """Every position attends to itself and to those before it in its row."""
    return scaled_dot_product_attention(query, key, value, is_causal=True, scale=scale, enable_gqa=True)


def grouped(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float | None) -> Tensor:
    """Masked attention in which the query heads of one key-value head are laid out as further positions.

    Keys and values are then used as they are, never repeated for every query head. `mask` comes from `fold_mask`.
    """
    rows, heads, new, size = query.shape
    kv_heads = key.shape[1]
    folded = query.reshape(rows, kv_heads, heads // kv_heads * new, size)
    out = scaled_dot_product_attention(folded, key, value, attn_mask=mask, scale=scale)
    return out.reshape(rows, heads, new, size)


def fold_mask(mask: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """A mask (…, T, S), True where a position may look, as `grouped` takes it: one copy per query head of a group.

    Additive and of the query's type, so that attention neither converts it in every layer nor keeps a copy per layer.
    """
    repeated = mask.repeat(*(1,) * (mask.dim() - 2), query.shape[1] // key.shape[1], 1)
    return torch.zeros_like(repeated, dtype=query.dtype).masked_fill_(~repeated, -torch.inf)


class SharedPromptPlan:
    """One row in which groups follow each other: a prompt, then completions that see the prompt and themselves.

    `spans` holds for every group the span of its prompt and the spans of its completions, in the order of the row.
    """

    def __init__(self, spans: list[tuple[slice, list[slice]]], device: torch.device) -> None:
        self.spans = spans
        self.device = device
        self._masks: list[list[Tensor]] = []

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
        """Attend piece by piece, so that no completion is ever compared with another."""
        del layer
        if not self._masks:  # the same in every layer
            self._masks = [
                [fold_mask(_suffix_mask(prompt, own, self.device), query, key) for own in completions]
                for prompt, completions in self.spans
            ]
        parts = []
        for (prompt, completions), masks in zip(self.spans, self._masks, strict=True):
            k, v = key[:, :, prompt], value[:, :, prompt]
            parts.append(causal(query[:, :, prompt], k, v, scale))
            for own, mask in zip(completions, masks, strict=True):
                keys = torch.cat([k, key[:, :, own]], dim=2)
                values = torch.cat([v, value[:, :, own]], dim=2)
                parts.append(grouped(query[:, :, own], keys, values, mask, scale))
        return torch.cat(parts, dim=2)


def _suffix_mask(prompt: slice, own: slice, device: torch.device) -> Tensor:
    """(T, P + T): the whole prompt, and the completion up to the position itself."""
    before, new = prompt.stop - prompt.start, own.stop - own.start
    return torch.ones(new, before + new, dtype=torch.bool, device=device).tril(before)
