"""One loaded language model: its weights, and the adapters of the policies that share them.

A `Backbone` answers two questions, hidden states and logits, for whichever role is active: an adapter, or none, which
is the reference policy. All switching of adapters happens here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn

from code_a1.config import LoraConfig, PolicyConfig
from code_a1.engines.local import attention
from code_a1.engines.local.chat import Chat
from code_a1.engines.local.head import Head
from code_a1.engines.local.linear import use_onednn
from code_a1.engines.local.models import Source, load_model, load_tokenizer, quiet_transformers, resolve
from code_a1.errors import ConfigError, MissingExtra, ModelError

# Terms in the logits that `Head` does not compute, with the value that switches each off.
LOGIT_TERMS = {"final_logit_softcapping": None, "logits_scaling": 1.0, "logit_scale": 1.0}


class Backbone:
    """A causal language model on one device, possibly under several LoRA adapters."""

    def __init__(self, source: Source, *, dtype: torch.dtype, device: torch.device) -> None:
        self.source = source
        self.device = device
        self.model = load_model(source, dtype).to(device)
        use_onednn(self.model)
        self.tokenizer = load_tokenizer(source)
        self.chat = Chat(self.tokenizer, _eos_ids(self.model))
        self.decoder = self.model.get_decoder()
        self.head = Head(self.model.get_output_embeddings())
        self.context_window = _context_window(self.model.config, self.tokenizer)
        self.model.requires_grad_(False)
        self._peft: Any = None
        self._role: str | None = None
        self._check_support()

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights."""
        dtype: torch.dtype = self.model.dtype
        return dtype

    def add_adapter(self, name: str, lora: LoraConfig, *, seed: int) -> list[nn.Parameter]:
        """Add a LoRA adapter in float32, initialised by `seed`, and return its parameters."""
        if find_spec("peft") is None:
            raise MissingExtra("peft", extra="local", purpose="a policy with [policy.lora]")
        import peft  # noqa: PLC0415 - optional

        target = lora.target_modules if isinstance(lora.target_modules, str) else list(lora.target_modules)
        config = peft.LoraConfig(
            r=lora.rank,
            lora_alpha=lora.alpha,
            lora_dropout=lora.dropout,
            target_modules=target,
            task_type="CAUSAL_LM",
        )
        with torch.random.fork_rng(devices=[]), quiet_transformers():
            torch.manual_seed(seed)
            try:
                if self._peft is None:
                    self._peft = peft.get_peft_model(self.model, config, adapter_name=name)
                else:
                    self._peft.add_adapter(name, config)
            except ValueError as error:
                raise ConfigError(f"lora.target_modules = {lora.target_modules!r}: {error}") from error
        self.head = Head(self.model.get_output_embeddings())
        self._role = None
        with self.role(name):
            parameters = [p for p in self.model.parameters() if p.requires_grad]
        for parameter in parameters:
            parameter.data = parameter.data.to(torch.promote_types(parameter.dtype, torch.float32))
        return parameters

    @property
    def peft_model(self) -> Any:
        """The peft wrapper of the model; there is one once an adapter was added."""
        return self._peft

    @contextlib.contextmanager
    def role(self, adapter: str | None) -> Iterator[None]:
        """Compute as the policy of `adapter`; None is the plain model, which under LoRA is the reference policy.

        Policies take turns on the same weights, so every forward pass says for whom it is.
        """
        if self._peft is None or adapter is None:
            with self._peft.disable_adapter() if self._peft is not None else contextlib.nullcontext():
                yield
            return
        if self._role != adapter:
            self._peft.set_adapter(adapter)
            self._role = adapter
        yield

    def hidden(self, input_ids: Tensor, positions: Tensor, plan: attention.Plan | None = None) -> Tensor:
        """Final hidden states (B, T, W) of input ids (B, T) at positions (B, T)."""
        out = self.decoder(input_ids=input_ids, position_ids=positions, use_cache=False, plan=plan)
        states: Tensor = out.last_hidden_state
        return states

    def set_checkpointing(self) -> None:
        """Recompute activations in the backward pass."""
        newer = getattr(self.model, "activation_checkpointing_enable", None)  # the name since transformers 5.2x
        (newer or self.model.gradient_checkpointing_enable)({"use_reentrant": False})

    def _check_support(self) -> None:
        """Compare our forward pass with the model's own on a few tokens: what we do not support must not run wrong."""
        config = self.model.config
        terms = [name for name, off in LOGIT_TERMS.items() if getattr(config, name, off) not in (off, None)]
        if terms:
            raise ModelError(f"model {self.source.name!r}: its logits use {', '.join(terms)}, which is not supported")
        ids = torch.arange(1, 9, device=self.device)[None] % config.vocab_size
        positions = torch.arange(8, device=self.device)[None]
        with torch.no_grad():
            # With the kernels that ours calls: in bfloat16 eager attention alone moves SmolLM2's logits by half.
            with contextlib.suppress(ValueError, ImportError):
                self.model.set_attn_implementation("sdpa")
            expected = self.model(input_ids=ids, use_cache=False).logits.float()
            try:
                self.model.set_attn_implementation(attention.NAME)
                got = self.head.logits(self.hidden(ids, positions)).float()
            except (ValueError, TypeError) as error:
                raise ModelError(f"model {self.source.name!r} ({config.model_type}): {error}") from error
        distance = float((got - expected).norm() / expected.norm().clamp_min(1e-12))
        if not distance < (0.05 if self.dtype.itemsize == 2 else 1e-3):
            raise ModelError(
                f"model {self.source.name!r}: the architecture {config.model_type!r} computes something that the local "
                "engine does not know (its logits differ); use a plain decoder such as Llama, Qwen2 or Qwen3"
            )


def open_backbone(policy: PolicyConfig) -> Backbone:
    """Load the model of a policy as its configuration says."""
    device = pick_device(policy.device)
    return Backbone(resolve(policy.model), dtype=pick_dtype(policy.dtype, device), device=device)


def pick_device(name: str) -> torch.device:
    """`auto` is the first GPU where there is one. Raises ConfigError for a device that torch cannot use here."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device = {name!r} cannot be used here ({reason}); 'auto' or 'cpu' always can") from error
    return device


def pick_dtype(name: str, device: torch.device) -> torch.dtype:
    """The type to compute in: float32 for `bfloat16` on a CPU without instructions for it, where it is 7x faster."""
    if name == "bfloat16" and device.type == "cpu" and not _cpu_has_bfloat16():
        return torch.float32
    return {"bfloat16": torch.bfloat16, "float32": torch.float32}[name]


def _cpu_has_bfloat16() -> bool:
    probes = ("_is_avx512_bf16_supported", "_is_amx_tile_supported", "_is_arm_bf16_supported")
    return any(getattr(torch.cpu, probe, bool)() for probe in probes)


def _eos_ids(model: Any) -> set[int]:
    """Every end-of-sequence id that the model's configs name."""
    ids: set[int] = set()
    for config in (model.generation_config, model.config):
        named = getattr(config, "eos_token_id", None)
        ids.update(named if isinstance(named, list | tuple) else [] if named is None else [named])
    return ids


def _context_window(config: Any, tokenizer: Any) -> int:
    """Positions that the model was made for.

    A model with a sliding window attends to everything as long as a sequence fits into the window, so its window is the
    limit: within it the plain causal mask is exact.
    """
    limits = [config.max_position_embeddings, tokenizer.model_max_length]
    kinds = set(getattr(config, "layer_types", None) or ())
    unknown = kinds - {"full_attention", "sliding_attention"}
    if unknown:
        raise ModelError(f"the model's layers of type {', '.join(sorted(unknown))} are not supported")
    window = getattr(config, "sliding_window", None)
    if window and (not kinds or "sliding_attention" in kinds):
        limits.append(window)
    return int(min(limits))
