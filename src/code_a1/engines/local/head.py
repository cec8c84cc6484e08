"""The output layer in chunks: log-probs and their gradient without ever holding the logits of a batch.

T tokens, V vocabulary, W width of the hidden states. The loss is elementwise in the log-probs, so the gradient of a
chunk's logits is known as soon as its log-probs are: logits live for one chunk, forward and backward together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from code_a1.engines.local.linear import OneDnnLinear
from code_a1.errors import ModelError

LOGITS_PER_CHUNK = 1 << 24  # 64 MiB in float32

ChunkLoss = Callable[[Tensor, slice], tuple[Tensor, dict[str, Tensor]]]


class Head:
    """The output layer of a model."""

    def __init__(self, layer: nn.Module) -> None:
        if not isinstance(layer, nn.Linear) or type(layer) not in (nn.Linear, OneDnnLinear):
            raise ModelError(
                f"the model's output layer is a {type(layer).__name__}, not a plain linear layer; leave it out of "
                "lora.target_modules, or use a model that has one"
            )
        self.layer = layer

    def logits(self, hidden: Tensor) -> Tensor:
        """(…, W) → (…, V), in at least float32."""
        logits: Tensor = self.layer(hidden)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    @torch.no_grad()
    def logprobs(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Log-probs (T,) of the targets (T,) given hidden states (T, W)."""
        parts = []
        for chunk in self._chunks(len(targets)):
            logits = self.logits(hidden[chunk])
            parts.append(_pick(logits, targets[chunk]) - logits.logsumexp(-1))
        return torch.cat(parts)

    @torch.no_grad()
    def backward(
        self, hidden: Tensor, targets: Tensor, loss_of: ChunkLoss
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]], dict[str, Tensor]]:
        """Gradient of a loss of log-probs.

        `loss_of(logprobs of a chunk, its slice)` returns the chunk's share of the loss and of the metrics.

        Returns:
            The gradient for the hidden states (T, W); the trained parameters of the layer, each with its gradient in at
            least float32; and the metrics summed over the chunks, with the sum of the entropies as `entropy`.
        """
        weight: Tensor = self.layer.weight
        wide = torch.promote_types(weight.dtype, torch.float32)
        grad_hidden = torch.empty_like(hidden)
        trained: list[tuple[Tensor, Tensor]] = [
            (p, torch.zeros_like(p, dtype=wide)) for p in self.layer.parameters() if p.requires_grad
        ]
        totals: dict[str, Tensor] = {}
        for chunk in self._chunks(len(targets)):
            logits = self.logits(hidden[chunk])
            norm = logits.logsumexp(-1)
            probs = (logits - norm[:, None]).exp_()
            entropy = (norm - torch.einsum("tv,tv->t", probs, logits)).sum()
            with torch.enable_grad():
                logprobs = (_pick(logits, targets[chunk]) - norm).requires_grad_()
                loss, metrics = loss_of(logprobs, chunk)
                (slope,) = torch.autograd.grad(loss, logprobs)
            # d logprob / d logits = one-hot - probs
            grad = probs.mul_(-slope[:, None]).scatter_add_(1, targets[chunk, None], slope[:, None])
            grad_hidden[chunk] = grad.to(weight.dtype) @ weight
            for parameter, summed in trained:
                summed.add_(grad.T @ hidden[chunk].to(wide) if parameter is weight else grad.sum(0))
            for name, value in {**metrics, "entropy": entropy}.items():
                totals[name] = totals[name] + value if name in totals else value
        return grad_hidden, trained, totals

    def _chunks(self, count: int) -> Iterator[slice]:
        size = max(16, LOGITS_PER_CHUNK // self.layer.out_features)
        return (slice(start, start + size) for start in range(0, count, size))


def _pick(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.gather(-1, targets[:, None])[:, 0]
