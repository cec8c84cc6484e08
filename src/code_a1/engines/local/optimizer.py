"""AdamW over float32 master weights, with gradients accumulated in float32 whatever type the model computes in.

A gradient is taken out of autograd as soon as it is complete, added to a float32 buffer, and its own memory freed. What
a forward-backward collects stays apart until it has proved finite, so that a bad minibatch leaves no trace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from code_a1.config import OptimizerConfig
from code_a1.errors import CheckpointError, TrainingError


class MasterAdamW:
    """The trained parameters of one policy with their optimizer. One at a time may collect gradients of a parameter."""

    def __init__(self, parameters: Sequence[nn.Parameter], config: OptimizerConfig) -> None:
        self.parameters = list(parameters)
        self.max_norm = config.grad_norm
        self.passes = 0
        """How many forward-backward passes there were: what dropout is seeded by."""
        self._masters = [_wide(parameter.detach()) for parameter in self.parameters]
        self._adamw = torch.optim.AdamW(
            self._masters, lr=config.lr, betas=config.betas, weight_decay=config.weight_decay, fused=True
        )
        self._fresh: list[Tensor | None] = [None] * len(self.parameters)
        self._sums: list[Tensor | None] = [None] * len(self.parameters)
        self._index = {id(parameter): i for i, parameter in enumerate(self.parameters)}
        for parameter in self.parameters:
            parameter.register_post_accumulate_grad_hook(self._take)  # type: ignore[no-untyped-call]

    def add(self, parameter: Tensor, gradient: Tensor) -> None:
        """Add to the gradients collected since the last `commit` or `discard`."""
        index = self._index[id(parameter)]
        held = self._fresh[index]
        self._fresh[index] = _wide(gradient) if held is None else held.add_(gradient)

    def commit(self) -> None:
        """Keep what was collected. Raises TrainingError, keeping nothing of it, where a gradient is not finite."""
        fresh, self._fresh = self._fresh, [None] * len(self.parameters)
        if not math.isfinite(_norm(fresh)):
            raise TrainingError("a gradient is not finite")
        for index, gradient in enumerate(fresh):
            held = self._sums[index]
            self._sums[index] = gradient if held is None or gradient is None else held.add_(gradient)

    def discard(self) -> None:
        """Forget what was collected since the last commit."""
        self._fresh = [None] * len(self.parameters)

    def step(self, learning_rate: float) -> float:
        """Clip the committed gradient to the maximal norm, apply it, clear it; return the norm before clipping."""
        sums, self._sums = self._sums, [None] * len(self.parameters)
        norm = _norm(sums)
        if not math.isfinite(norm):
            raise TrainingError("the norm of the accumulated gradient is not finite")
        scale = min(1.0, self.max_norm / (norm + 1e-6))
        for master, gradient in zip(self._masters, sums, strict=True):
            master.grad = None if gradient is None else gradient.mul_(scale)
        self._adamw.param_groups[0]["lr"] = learning_rate
        self._adamw.step()
        self._adamw.zero_grad(set_to_none=True)
        self._write_back()
        return norm

    def state_dict(self) -> dict[str, Tensor]:
        """Moments, the master weights where they are more precise than the model's, and the number of passes."""
        state = {"passes": torch.tensor([self.passes])}
        for index, moments in self._adamw.state_dict()["state"].items():
            state |= {f"{index}.{name}": value for name, value in moments.items()}
        return state | {f"{index}.master": self._masters[index] for index in self._separate()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Take over a saved state; the model's weights must have been loaded before.

        Raises CheckpointError, with nothing changed, where it belongs to other parameters or another dtype.
        """
        masters = {i: state[f"{i}.master"] for i in range(len(self._masters)) if f"{i}.master" in state}
        moments: dict[int, dict[str, Tensor]] = {}
        for key, value in state.items():
            place, _, name = key.partition(".")
            if name and name != "master":
                moments.setdefault(int(place), {})[name] = value
        shapes = {i: master.shape for i, master in enumerate(self._masters)}
        if (
            "passes" not in state
            or {i: m.shape for i, m in masters.items()} != {i: shapes[i] for i in self._separate()}
            or any(m["exp_avg"].shape != shapes.get(i) for i, m in moments.items())
        ):
            raise CheckpointError("the optimizer state was saved for other parameters or another dtype")
        self._adamw.load_state_dict({**self._adamw.state_dict(), "state": moments})
        for index in self._separate():
            self._masters[index].copy_(masters[index])
        self.passes = int(state["passes"])
        self._fresh = [None] * len(self.parameters)
        self._sums = [None] * len(self.parameters)

    def _separate(self) -> list[int]:
        """Which parameters have a master of their own, being less precise than float32."""
        pairs = zip(self._masters, self.parameters, strict=True)
        return [i for i, (master, parameter) in enumerate(pairs) if master.dtype != parameter.dtype]

    def _take(self, parameter: Tensor) -> None:
        assert parameter.grad is not None
        self.add(parameter, parameter.grad)
        parameter.grad = None

    def _write_back(self) -> None:
        for index in self._separate():
            self.parameters[index].data.copy_(self._masters[index])


def _wide(tensor: Tensor) -> Tensor:
    """The tensor in at least float32: itself where it is that already."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _norm(gradients: Sequence[Tensor | None]) -> float:
    """Euclidean norm over all gradients together."""
    norms = [torch.linalg.vector_norm(g) for g in gradients if g is not None]
    return float(torch.linalg.vector_norm(torch.stack(norms))) if norms else 0.0
