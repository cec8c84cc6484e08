"""Policies as Hugging Face folders: an adapter or full weights, with tokenizer and optimizer state."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from code_a1.engines.local.backbone import Backbone
from code_a1.engines.local.models import OWN_FILE, Source, load_model, quiet_transformers
from code_a1.engines.local.optimizer import MasterAdamW
from code_a1.errors import CheckpointError, ModelError

ADAPTER_FILE = "adapter_model.safetensors"
OPTIMIZER_FILE = "optimizer.safetensors"


def save_policy(path: Path, backbone: Backbone, adapter: str | None, optimizer: MasterAdamW) -> None:
    """Write a new folder in one rename, so that it is whole or not there."""
    if path.exists():
        raise CheckpointError(f"{path} exists already; a policy is saved into a new folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    try:
        if adapter is None:
            with quiet_transformers():
                backbone.model.save_pretrained(scratch)
        else:
            _save_adapter(scratch, backbone, adapter)
        backbone.tokenizer.save_pretrained(scratch)
        save_file(optimizer.state_dict(), scratch / OPTIMIZER_FILE)
        scratch.chmod(0o755)
        scratch.rename(path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def merged_weights(backbone: Backbone, adapter: str | None) -> Iterator[tuple[str, Tensor]]:
    """Full weights under the model's own names, the adapter's update added; what it does not touch is not copied."""
    layers = {name: module for name, module in backbone.model.named_modules() if hasattr(module, "base_layer")}
    for name, tensor in backbone.model.state_dict().items():
        owner = next((layer for layer in layers if name.startswith(f"{layer}.")), None)
        if owner is None:
            yield name, tensor
        elif name.startswith(f"{owner}.base_layer."):
            own = name.removeprefix(f"{owner}.base_layer.")
            update = layers[owner].get_delta_weight(adapter) if own == "weight" and adapter else 0.0
            yield f"{owner}.{own}", (tensor.float() + update).to(tensor.dtype)


def save_merged(path: Path, backbone: Backbone, adapter: str | None) -> None:
    """Write full weights, the adapter's update added, that need neither peft nor the base model."""
    with quiet_transformers():
        backbone.model.save_pretrained(path, state_dict=dict(merged_weights(backbone, adapter)))
    backbone.tokenizer.save_pretrained(path)


def load_policy(path: Path, backbone: Backbone, adapter: str | None, optimizer: MasterAdamW) -> None:
    """Take over the weights and the optimizer state of a saved policy.

    Raises CheckpointError, with nothing changed in the weights, where the folder is incomplete or of another model.
    """
    try:
        weights = _saved_adapter(path, backbone, adapter) if adapter is not None else _saved_weights(path, backbone)
        state = load_file(path / OPTIMIZER_FILE, device=str(backbone.device))
        with torch.no_grad():
            for target, saved in weights:
                target.copy_(saved)
        optimizer.load_state_dict(state)
    except (OSError, ValueError, RuntimeError, KeyError, ModelError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{path} cannot be loaded: {error}") from error
    except Exception as error:  # a corrupt file: safetensors has an error class of its own
        raise CheckpointError(f"{path} is corrupt: {error}") from error


@contextlib.contextmanager
def weights_of(path: Path, backbone: Backbone, adapter: str | None) -> Iterator[None]:
    """Within the block the weights are those of a saved policy; after it they are what they were, bit for bit."""
    try:
        weights = _saved_adapter(path, backbone, adapter) if adapter is not None else _saved_weights(path, backbone)
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{path} cannot be loaded: {error}") from error
    kept = [live.clone() for live, _ in weights]
    with torch.no_grad():
        for live, saved in weights:
            live.copy_(saved)
    try:
        yield
    finally:
        with torch.no_grad():
            for (live, _), own in zip(weights, kept, strict=True):
                live.copy_(own)


def _save_adapter(folder: Path, backbone: Backbone, adapter: str) -> None:
    weights = {name: tensor.contiguous() for name, tensor in _adapter_weights(backbone, adapter).items()}
    save_file(weights, folder / ADAPTER_FILE, metadata={"format": "pt"})
    source = backbone.source
    config = backbone.peft_model.peft_config[adapter]
    config.base_model_name_or_path = str(source.adapters[-1]) if source.adapters else source.location
    config.save_pretrained(folder)
    (folder / OWN_FILE).write_text(json.dumps({"model": source.name}) + "\n", encoding="utf-8")


def _adapter_weights(backbone: Backbone, adapter: str) -> dict[str, Tensor]:
    """The live tensors of an adapter, under the names that peft writes."""
    import peft  # noqa: PLC0415 - optional

    weights: dict[str, Tensor] = peft.get_peft_model_state_dict(backbone.peft_model, adapter_name=adapter)
    return weights


def _saved_adapter(path: Path, backbone: Backbone, adapter: str) -> list[tuple[Tensor, Tensor]]:
    return _pairs(path, _adapter_weights(backbone, adapter), load_file(path / ADAPTER_FILE))


def _saved_weights(path: Path, backbone: Backbone) -> list[tuple[Tensor, Tensor]]:
    saved: Any = load_model(Source(str(path), str(path)), backbone.dtype)
    return _pairs(path, backbone.model.state_dict(), saved.state_dict())


def _pairs(path: Path, live: dict[str, Tensor], saved: dict[str, Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Each live tensor with the saved one that replaces it."""
    odd = sorted(live.keys() ^ saved.keys()) or [name for name in live if live[name].shape != saved[name].shape]
    if odd:
        raise CheckpointError(f"{path} holds another model or other adapters: {odd[0]!r} does not fit")
    return [(live[name], saved[name]) for name in live]
