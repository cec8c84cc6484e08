"""The policies of a run in one process, on as few copies of the weights as their configurations allow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from code_a1.config import PolicyConfig
from code_a1.engines.local.backbone import Backbone, open_backbone, pick_device, pick_dtype
from code_a1.engines.local.engine import LocalEngine


class Weights:
    """Frozen copies of models, each loaded once: LoRA policies and reference policies share them."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, str, str], Backbone] = {}

    def frozen(self, policy: PolicyConfig) -> Backbone:
        """The untrained weights of a policy's model; adapters may be added to them."""
        device = pick_device(policy.device)
        key = (policy.model, str(pick_dtype(policy.dtype, device)), str(device))
        if key not in self._loaded:
            self._loaded[key] = open_backbone(policy)
        return self._loaded[key]

    def lazily(self, policy: PolicyConfig) -> Callable[[], Backbone]:
        """`frozen`, to be called when it is needed."""
        return lambda: self.frozen(policy)


def open_local(
    policies: Mapping[str, PolicyConfig], *, seed: int, frozen: Collection[str] = ()
) -> dict[str, LocalEngine]:
    """Open policies by role: with LoRA on one model, one copy of its weights serves all of them and their references.

    A policy that trains all weights has its own copy; where its loss needs a reference policy, the frozen copy is
    loaded when first asked for, and shared likewise. A policy whose role is in `frozen` is that copy.
    """
    weights = Weights()
    return {
        role: _open(policy, weights, role, seed=2 * seed + (role == "test"), frozen=role in frozen)
        for role, policy in policies.items()
    }


def _open(policy: PolicyConfig, weights: Weights, name: str, *, seed: int, frozen: bool) -> LocalEngine:
    if frozen:
        return LocalEngine(policy, seed=seed, backbone=weights.frozen(policy), trainable=False)
    if policy.lora is None:
        return LocalEngine(policy, seed=seed, reference=weights.lazily(policy))
    return LocalEngine(policy, seed=seed, backbone=weights.frozen(policy), adapter=name)
