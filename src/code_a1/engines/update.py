"""The update of one training step: the same few lines for every engine, torch-free.

Old and reference log-probs are taken once, before the first optimizer step; the samples are then split into minibatches
of whole groups (rows of a group share their prompt, which engines compute once), and each minibatch is one
forward-backward and one optimizer step. Algorithm, step 10.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence

from code_a1.config import LossConfig, OptimizerConfig
from code_a1.engines.base import Metrics, PolicyEngine, TrainingRow
from code_a1.errors import TrainingError
from code_a1.records import Sample

TOKEN_MEANS = ("loss", "kl", "clip_fraction", "entropy", "ratio_mean", "importance_weight", "importance_truncated")


def learning_rate(optimizer: OptimizerConfig, step: int, steps: int) -> float:
    """Learning rate of the training step `step`, counted from 0, in a run of `steps`.

    Linear warm-up over `warmup_steps` (the first step already moves: lr / warmup_steps), then constant, or a cosine
    that reaches 0 as the last step ends, so that no step is wasted on a learning rate of 0.
    """
    if step < optimizer.warmup_steps:
        return optimizer.lr * (step + 1) / optimizer.warmup_steps
    if optimizer.schedule == "constant":
        return optimizer.lr
    progress = (step - optimizer.warmup_steps) / max(1, steps - optimizer.warmup_steps)
    return optimizer.lr * 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))


def split_minibatches(samples: Sequence[Sample], count: int, *, seed: str) -> list[list[Sample]]:
    """Split into at most `count` minibatches of about equally many completion tokens, whole groups kept together.

    Groups are shuffled by `seed`, then the longest goes first to the minibatch with the fewest tokens. There are fewer
    minibatches than `count` where there are fewer groups.
    """
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(sample.group, []).append(sample)
    order = list(groups.values())
    rng = random.Random(seed)  # noqa: S311 - a seeded shuffle, not cryptography
    rng.shuffle(order)
    order.sort(key=_completion_tokens, reverse=True)
    batches: list[list[Sample]] = [[] for _ in range(min(count, len(order)))]
    loads = [0] * len(batches)
    for group in order:
        lightest = min(range(len(batches)), key=lambda i: (loads[i], len(batches[i])))
        batches[lightest] += group
        loads[lightest] += _completion_tokens(group)
    rng.shuffle(batches)
    return batches


def update(
    engine: PolicyEngine,
    samples: Sequence[Sample],
    optimizer: OptimizerConfig,
    loss: LossConfig | None,
    *,
    step: int,
    steps: int,
    seed: int,
) -> Metrics:
    """Train `engine` on the samples of one step and make its sampler see the result; `loss` None is supervised.

    Completions without a token carry nothing to learn from: they are skipped and counted. Without any sample no
    optimizer step is taken, and only the counts and the learning rate are returned.

    Returns:
        Token-weighted means `loss`, `kl`, `clip_fraction`, `entropy`, `ratio_mean`; `grad_norm` (mean over the
        minibatches), `learning_rate`, and the counts `samples`, `empty_completions`, `tokens`, `minibatches`. Where the
        old log-probs were recomputed, `sampler_logprob_gap`: how far, in nats per token, the sampler's were from them.

    Raises:
        TrainingError: a loss, log-prob or gradient is not finite; the optimizer has not seen it. Names step and
            minibatch.
    """
    trained = [sample for sample in samples if sample.completion.tokens]
    metrics: Metrics = {
        "samples": len(trained),
        "empty_completions": len(samples) - len(trained),
        "tokens": _completion_tokens(trained),
        "minibatches": 0,
        "learning_rate": learning_rate(optimizer, step, steps),
    }
    if not trained:
        return metrics
    batches = split_minibatches(trained, optimizer.minibatches, seed=f"{seed}/{step}")
    ordered = [sample for batch in batches for sample in batch]
    rows = iter(_training_rows(engine, ordered, loss, metrics, step))
    parts = []
    for number, batch in enumerate(batches, start=1):
        where = f"step {step}, minibatch {number} of {len(batches)}"
        parts.append(_learn(engine, [next(rows) for _ in batch], metrics["learning_rate"], where))
    engine.sync()
    return metrics | {"minibatches": len(batches)} | _summary(parts)


def _training_rows(
    engine: PolicyEngine, samples: Sequence[Sample], loss: LossConfig | None, metrics: Metrics, step: int
) -> list[TrainingRow]:
    """Attach the log-probs that the loss compares with, all taken before the first optimizer step."""
    if loss is None:
        return [TrainingRow(sample, None, None) for sample in samples]
    sampled = [sample.completion.sampling_logprobs for sample in samples]
    old: Sequence[tuple[float, ...]] = sampled
    if loss.old_logprobs == "recompute":
        old = engine.logprobs(samples)
        gaps = [abs(a - b) for x, y in zip(sampled, old, strict=True) for a, b in zip(x, y, strict=True)]
        metrics["sampler_logprob_gap"] = sum(gaps) / len(gaps)
    reference: Sequence[tuple[float, ...] | None] = [None] * len(samples)
    if loss.kl_coef > 0:
        reference = engine.logprobs(samples, reference=True)
    for kind, sequences in (("old", old), ("reference", reference)):
        if not all(map(math.isfinite, (value for row in sequences if row for value in row))):
            raise TrainingError(f"step {step}: a log-prob of the {kind} policy is not finite; {_REMEDY}")
    return [TrainingRow(s, o, r) for s, o, r in zip(samples, old, reference, strict=True)]


_REMEDY = "nothing was updated in this minibatch: resume from the last checkpoint with a lower learning rate"


def _learn(engine: PolicyEngine, rows: Sequence[TrainingRow], rate: float, where: str) -> Metrics:
    """One minibatch; an error, or a number that is not finite, is reported with its place in the run."""
    try:
        metrics = engine.forward_backward(rows)
        bad = [f"{name} = {value}" for name, value in metrics.items() if not math.isfinite(value)]
        if bad:
            raise TrainingError(f"not finite: {', '.join(bad)}; {_REMEDY}")
        return {**metrics, **engine.optim_step(rate)}
    except TrainingError as error:
        raise TrainingError(f"{where}: {error}") from error


def _summary(parts: Sequence[Mapping[str, float]]) -> Metrics:
    """Combine the minibatches: means weighted by tokens, the plain mean of the gradient norms."""
    tokens = sum(part["tokens"] for part in parts)
    means = {
        name: sum(part[name] * part["tokens"] for part in parts) / tokens for name in TOKEN_MEANS if name in parts[0]
    }
    return means | {"grad_norm": sum(part["grad_norm"] for part in parts) / len(parts)}


def _completion_tokens(samples: Iterable[Sample]) -> int:
    return sum(len(sample.completion.tokens) for sample in samples)
