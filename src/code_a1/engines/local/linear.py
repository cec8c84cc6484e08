"""Linear layers on x86 CPUs: float32 products by oneDNN where torch would call MKL.

A decoding step multiplies a few dozen rows with every weight of the model, which come from memory. On AMD processors
MKL does that at a quarter to a half of oneDNN's speed (docs/results/engine.md has the figures); large products gain
less. A model whose weights stay in the processor's cache gains nothing: there a call of oneDNN costs more than it
saves. The operator is one that torch's compiler emits; it takes the weights as they are, so that nothing is copied.
"""

from __future__ import annotations

import platform
from typing import Any

import torch
from torch import Tensor, nn


def _operator() -> Any:
    """OneDNN's linear layer; None where this build of torch, or this machine, lacks it."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return None
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None)


_LINEAR = _operator()

IN_CACHE = 64 << 20
"""Bytes of weights up to which a model is left as it is."""


class OneDnnLinear(nn.Linear):
    """`nn.Linear` with float32 products by oneDNN; inputs (…, I), outputs (…, O)."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - as in the base class
        """The same affine map, summed in another order."""
        if input.dtype is not torch.float32 or self.weight.dtype is not torch.float32 or not input.numel():
            return super().forward(input)
        out: Tensor = _Product.apply(input, self.weight, self.bias)  # type: ignore[no-untyped-call]
        return out


class _Product(torch.autograd.Function):
    """The affine map with its gradients: those of the weights only where they are trained."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        trained = weight.requires_grad
        ctx.save_for_backward(x if trained else None, weight)
        ctx.shape = x.shape
        out: Tensor = _LINEAR(x.contiguous(), weight, bias, "none", [], "")
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        for_x, for_weight, for_bias = ctx.needs_input_grad
        rows = grad.reshape(-1, grad.shape[-1])
        grad_x = (rows @ weight).view(ctx.shape) if for_x else None
        grad_weight = rows.T @ x.reshape(-1, x.shape[-1]) if for_weight else None
        return grad_x, grad_weight, rows.sum(0) if for_bias else None


def use_onednn(model: nn.Module, *, above: int = IN_CACHE) -> None:
    """Turn linear layers of a float32 model on the CPU into `OneDnnLinear`, if they hold more bytes than `above`."""
    layers = [
        module
        for module in model.modules()
        if type(module) is nn.Linear and module.weight.dtype is torch.float32 and module.weight.device.type == "cpu"
    ]
    if _LINEAR is None or sum(layer.weight.nbytes for layer in layers) <= above:
        return
    for layer in layers:
        layer.__class__ = OneDnnLinear
