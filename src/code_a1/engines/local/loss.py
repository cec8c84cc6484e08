"""The one loss of every engine: clipped policy gradient with dual clip, token mean, and the k3 estimate of the KL.

Algorithm, step 10. T completion tokens, in any order: the loss is a mean over tokens, not over sequences. Beside it the
supervised loss, for completions that are given and not sampled.
"""

from __future__ import annotations

import torch
from torch import Tensor

from code_a1.config import LossConfig

# exp(20) is 5e8: beyond it clipping has long removed the gradient, and float32 would soon overflow.
MAX_LOG_RATIO = 20.0


def policy_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    ref_logprobs: Tensor | None,
    advantages: Tensor,
    config: LossConfig,
    *,
    tokens: int | None = None,
    sampling_logprobs: Tensor | None = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss and metrics of T tokens, all arguments of shape (T,); only `logprobs` carries a gradient.

    Sums are divided by `tokens`, or by T without it; so chunks of a minibatch, each divided by the tokens of the whole,
    add up to the minibatch's loss and metrics.

    `sampling_logprobs` are those of a sampler that computes differently from the trainer (another engine, or bfloat16).
    Where `config.importance_cap` is above 0, each token's surrogate is weighted by how much likelier the policy before
    the step finds it than the sampler did, at most the cap (truncated importance sampling); the KL term is not.

    Returns:
        The scalar loss, and detached means: `loss`, `kl` (in nats per token), `clip_fraction` (tokens whose gradient
        the ratio clip or the dual clip removed), `ratio_mean`, and with weights `importance_weight` and
        `importance_truncated` (the share of tokens at the cap).
    """
    count = tokens or logprobs.numel()
    ratio = (logprobs - old_logprobs).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
    plain = -advantages * ratio
    clipped = -advantages * ratio.clamp(1 - config.clip_low, 1 + config.clip_high)
    surrogate = torch.maximum(plain, clipped)
    bound = -advantages * config.dual_clip
    dual = (advantages < 0) & (surrogate > bound)
    terms = torch.where(dual, bound, surrogate)
    corrections: dict[str, Tensor] = {}
    if sampling_logprobs is not None and config.importance_cap > 0:
        weight = (old_logprobs - sampling_logprobs).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
        truncated = weight > config.importance_cap
        weight = weight.clamp(max=config.importance_cap)
        terms = terms * weight
        corrections = {
            "importance_weight": weight.sum() / count,
            "importance_truncated": truncated.to(terms.dtype).sum() / count,
        }
    loss = terms.sum() / count
    kl = torch.zeros_like(loss)
    if ref_logprobs is not None:
        distance = (ref_logprobs - logprobs).clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)
        kl = (distance.exp() - distance - 1).sum() / count
        loss = loss + config.kl_coef * kl
    removed = (clipped > plain) | dual
    metrics = {
        "loss": loss,
        "kl": kl,
        "clip_fraction": removed.to(loss.dtype).sum() / count,
        "ratio_mean": ratio.sum() / count,
        **corrections,
    }
    return loss, {name: value.detach() for name, value in metrics.items()}


def supervised_loss(
    logprobs: Tensor, weights: Tensor, *, tokens: int | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Negative log-likelihood of T tokens, each times its weight, divided as `policy_loss` does; same metrics."""
    count = tokens or logprobs.numel()
    loss = -(weights * logprobs).sum() / count
    nothing = torch.zeros_like(loss)
    share = torch.full_like(loss, logprobs.numel() / count)
    metrics = {"loss": loss, "kl": nothing, "clip_fraction": nothing, "ratio_mean": share}
    return loss, {name: value.detach() for name, value in metrics.items()}
