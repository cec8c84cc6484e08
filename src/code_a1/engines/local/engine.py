"""One policy in this process, as the `PolicyEngine` that the trainer drives."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from code_a1.config import PolicyConfig
from code_a1.engines.base import Metrics, SampledGroup, SamplingParams, TrainingRow
from code_a1.engines.local.backbone import Backbone, open_backbone
from code_a1.engines.local.loss import policy_loss, supervised_loss
from code_a1.engines.local.optimizer import MasterAdamW
from code_a1.engines.local.packing import Pack, pack
from code_a1.engines.local.sampler import Sampler
from code_a1.engines.local.vllm import VllmSampler, check_agreement
from code_a1.engines.local.weights import load_policy, save_merged, save_policy, weights_of
from code_a1.errors import ModelError, TrainingError
from code_a1.records import Completion, Prompt, Sample

OUT_OF_MEMORY = (
    "out of memory; lower policy.tokens_per_microbatch or policy.sampling_slots, or set "
    "policy.gradient_checkpointing = true"
)


class LocalEngine:
    """A policy on a `Backbone`: with LoRA one adapter of it, else all of its weights.

    `seed` initialises the adapter. Several LoRA policies may be given one `backbone`, each with an `adapter` name of
    its own; the reference policy is then the backbone without adapters. A policy that trains all weights takes its
    frozen reference from `reference`, which is called the first time it is needed. One that is not `trainable` is the
    backbone as it is, and is only sampled from and scored with.
    """

    def __init__(
        self,
        policy: PolicyConfig,
        *,
        seed: int,
        backbone: Backbone | None = None,
        adapter: str = "policy",
        reference: Callable[[], Backbone] | None = None,
        trainable: bool = True,
    ) -> None:
        self.policy = policy
        self.trainable = trainable
        self._seed = seed
        self._backbone = backbone or open_backbone(policy)
        self._adapter = adapter if policy.lora is not None and trainable else None
        if trainable:
            self._optimizer = MasterAdamW(self._trained_parameters(), policy.optimizer)
        self._open_reference = reference or (lambda: open_backbone(policy))
        self._reference: Backbone | None = self._backbone if policy.lora is not None or not trainable else None
        self._vllm: VllmSampler | None = None
        self._counters: dict[str, float] = {}
        self._reset_counters()

    @property
    def context_window(self) -> int:
        """How many tokens prompt and completion may have together."""
        return self._backbone.context_window

    @property
    def backbone(self) -> Backbone:
        """The network that this policy runs on."""
        return self._backbone

    def prompt_length(self, prompt: Prompt) -> int:
        """Tokens of the prompt as `sample` would feed it, chat template included."""
        return len(self._backbone.chat.encode(prompt))

    def completion_of(self, prompt: Prompt, text: str) -> Completion:
        """The completion that `sample` would have returned for this text, the end of the turn included; log-probs 0."""
        chat = self._backbone.chat
        tokens = chat.encode_answer(text)
        return Completion(text, tokens, (0.0,) * len(tokens), chat.encode(prompt), "stop")

    def sample(self, prompts: Sequence[Prompt], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        """Yield a group of `n` completions per prompt as groups finish, decoding `sampling_slots` rows together.

        Raises ModelError, before anything is sampled, for a prompt that leaves no room for a token.
        """
        encoded = [self._backbone.chat.encode(prompt) for prompt in prompts]
        for index, tokens in enumerate(encoded):
            if not 0 < len(tokens) < self.context_window:
                raise ModelError(
                    f"prompt {index} has {len(tokens)} tokens; the model {self.policy.model!r} needs between 1 and "
                    f"{self.context_window - 1}, so that one fits behind it: check `prompt_length` before sampling"
                )
        if n < 1 or params.max_tokens < 1:
            raise ModelError(
                f"cannot sample n = {n} completions of at most {params.max_tokens} tokens: both must be > 0"
            )
        if self.policy.sampler == "vllm":
            return self._run_vllm(encoded, n, params)
        return self._run(Sampler(self._backbone, self._adapter, encoded, n, params, slots=self.policy.sampling_slots))

    def logprobs(self, samples: Sequence[Sample], *, reference: bool = False) -> list[tuple[float, ...]]:
        """Log-probs (T per sample) of each completion, at temperature 1, by the policy or by its frozen reference."""
        backbone, adapter = (self._reference_backbone(), None) if reference else (self._backbone, self._adapter)
        results: list[tuple[float, ...]] = [()] * len(samples)
        kept = [i for i, sample in enumerate(samples) if sample.completion.tokens]
        completions = [samples[i].completion for i in kept]
        with self._clock("score"), _memory_advice(), torch.no_grad(), backbone.role(adapter):
            backbone.model.eval()
            for part in self._packs(completions):
                hidden = _hidden(backbone, part)
                scores = backbone.head.logprobs(hidden, part.targets).tolist()
                start = 0
                for member in part.members:
                    end = start + len(completions[member].tokens)
                    results[kept[member]] = tuple(scores[start:end])
                    start = end
        release_memory()
        return results

    def forward_backward(self, rows: Sequence[TrainingRow]) -> Metrics:
        """Add the gradients of the mean loss over the completion tokens of `rows` to what is accumulated.

        Groups share one copy of their prompt in the forward pass, and rows are packed to `tokens_per_microbatch`; how
        they are packed does not change the gradient. Raises TrainingError where a loss or gradient is not finite.
        """
        rows = [row for row in rows if row.sample.completion.tokens]
        tokens = sum(len(row.sample.completion.tokens) for row in rows)
        totals: dict[str, float] = dict.fromkeys(("loss", "kl", "clip_fraction", "entropy", "ratio_mean"), 0.0)
        self._optimizer.discard()
        with self._clock("train"), _memory_advice(), self._backbone.role(self._adapter), self._training_mode():
            for part in self._packs([row.sample.completion for row in rows]):
                metrics = self._learn(part, [rows[m] for m in part.members], tokens)
                if not math.isfinite(metrics["loss"]):
                    raise TrainingError(f"the loss is {metrics['loss']}")
                totals = {name: totals.get(name, 0.0) + value for name, value in metrics.items()}
            self._optimizer.commit()
        release_memory()
        self._counters["trained_tokens"] += tokens
        return {**totals, "tokens": tokens}

    def optim_step(self, learning_rate: float) -> Metrics:
        """Clip the accumulated gradient, apply it, clear it. Returns `grad_norm` (before clipping)."""
        with self._clock("train"), _memory_advice():
            return {"grad_norm": self._optimizer.step(learning_rate)}

    def sync(self) -> None:
        """Hand the weights to vLLM where it samples, and check; the engine's own sampler reads what is trained."""
        if self._vllm is not None:
            self._vllm.sync()
            check_agreement(self, self._vllm)

    def save(self, path: Path) -> None:
        """Write adapter or full weights, tokenizer and optimizer state into the new folder `path`."""
        save_policy(path, self._backbone, self._adapter, self._optimizer)

    def save_merged(self, path: Path) -> None:
        """Write full weights with the adapter merged in, for use without peft."""
        save_merged(path, self._backbone, self._adapter)

    @contextlib.contextmanager
    def sampling_as(self, path: Path) -> Iterator[None]:
        """Sample as an earlier, saved policy; costs a second copy of the adapter, or of the weights without LoRA."""
        try:
            with weights_of(path, self._backbone, self._adapter):
                self.sync()
                yield
        finally:
            self.sync()

    def load(self, path: Path) -> None:
        """Read back what `save` wrote. Raises CheckpointError if it does not fit."""
        load_policy(path, self._backbone, self._adapter, self._optimizer)

    def close(self) -> None:
        """Free the weights; a backbone that another policy uses lives on."""
        if (vllm := self.__dict__.get("_vllm")) is not None:
            vllm.close()
        for name in ("_backbone", "_reference", "_optimizer", "_open_reference", "_vllm"):
            self.__dict__.pop(name, None)
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def metrics(self) -> Mapping[str, float]:
        """Tokens and speed since the last call (`sampled_tokens`, `sample_tok_s`, …), and peak memory in GB so far."""
        counts = self._counters
        result = {
            "sampled_tokens": counts["sampled_tokens"],
            "sample_tok_s": counts["sampled_tokens"] / counts["sample_s"] if counts["sample_s"] else 0.0,
            "train_tok_s": counts["trained_tokens"] / counts["train_s"] if counts["train_s"] else 0.0,
            "peak_rss_gb": peak_rss_gb(),
        }
        if torch.cuda.is_available():
            result["peak_gpu_gb"] = torch.cuda.max_memory_allocated() / 1e9
        self._reset_counters()
        return result

    def _trained_parameters(self) -> list[torch.nn.Parameter]:
        if self.policy.gradient_checkpointing:
            self._backbone.set_checkpointing()
        if self._adapter is not None and self.policy.lora is not None:
            return self._backbone.add_adapter(self._adapter, self.policy.lora, seed=self._seed)
        return [parameter.requires_grad_() for parameter in self._backbone.model.parameters()]

    def _run(self, sampler: Sampler) -> Iterator[SampledGroup]:
        groups = sampler.run()
        while True:
            with self._clock("sample"), _memory_advice():
                before = sampler.sampled_tokens
                group = next(groups, None)
                self._counters["sampled_tokens"] += sampler.sampled_tokens - before
            if group is None:
                release_memory()
                return
            yield group

    def _run_vllm(self, prompts: Sequence[tuple[int, ...]], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        with self._clock("sample"), _memory_advice():
            if self._vllm is None:
                self._vllm = VllmSampler(
                    self._backbone,
                    self._adapter,
                    slots=self.policy.sampling_slots,
                    memory_share=self.policy.vllm_memory_share,
                    seed=self._seed,
                )
                check_agreement(self, self._vllm)
            groups = list(self._vllm.sample(prompts, n, params))
            self._counters["sampled_tokens"] += sum(len(c.tokens) for group in groups for c in group.completions)
        yield from groups

    def _learn(self, part: Pack, rows: Sequence[TrainingRow], tokens: int) -> dict[str, float]:
        """Forward and backward of one pack; its gradients wait in the optimizer for `commit`."""
        backbone, config = self._backbone, self.policy.loss
        supervised = rows[0].old_logprobs is None
        old = self._column([value for row in rows for value in row.old_logprobs or ()])
        lengths = [len(row.sample.completion.tokens) for row in rows]
        advantages = self._column([row.sample.advantage for row in rows]).repeat_interleave(
            torch.tensor(lengths, device=backbone.device)
        )
        ref: Tensor | None = None
        if config.kl_coef > 0 and not supervised:
            ref = self._column([value for row in rows for value in row.ref_logprobs or ()])
        sampled: Tensor | None = None
        if config.importance_cap > 0:
            sampled = self._column([value for row in rows for value in row.sample.completion.sampling_logprobs])

        def loss_of(logprobs: Tensor, chunk: slice) -> tuple[Tensor, dict[str, Tensor]]:
            if supervised:
                return supervised_loss(logprobs, advantages[chunk], tokens=tokens)
            reference = None if ref is None else ref[chunk]
            drawn = None if sampled is None else sampled[chunk]
            return policy_loss(
                logprobs, old[chunk], reference, advantages[chunk], config, tokens=tokens, sampling_logprobs=drawn
            )

        hidden = _hidden(backbone, part)
        slope, trained, metrics = backbone.head.backward(hidden.detach(), part.targets, loss_of)
        for parameter, gradient in trained:
            self._optimizer.add(parameter, gradient)
        hidden.backward(slope)  # type: ignore[no-untyped-call]
        return {name: float(value) for name, value in metrics.items()} | {"entropy": float(metrics["entropy"]) / tokens}

    def _packs(self, completions: Sequence[Completion]) -> list[Pack]:
        return pack(completions, self.policy.tokens_per_microbatch, self._backbone.device)

    def _column(self, values: Sequence[float]) -> Tensor:
        wide = torch.promote_types(self._backbone.dtype, torch.float32)
        return torch.tensor(values, dtype=wide, device=self._backbone.device)

    def _reference_backbone(self) -> Backbone:
        if self._reference is None:
            self._reference = self._open_reference()
        return self._reference

    @contextlib.contextmanager
    def _training_mode(self) -> Iterator[None]:
        """Train mode only where something needs it: checkpointing, or an adapter's dropout (seeded per pass)."""
        dropout = self.policy.lora is not None and self.policy.lora.dropout > 0
        self._optimizer.passes += 1
        model = self._backbone.model
        with torch.random.fork_rng() if dropout else contextlib.nullcontext():
            if dropout:
                torch.manual_seed(self._seed * 1_000_003 + self._optimizer.passes)
            model.train(dropout or self.policy.gradient_checkpointing)
            try:
                yield
            finally:
                model.eval()

    @contextlib.contextmanager
    def _clock(self, phase: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._counters[f"{phase}_s"] += time.perf_counter() - start

    def _reset_counters(self) -> None:
        self._counters = dict.fromkeys(("sampled_tokens", "trained_tokens", "sample_s", "score_s", "train_s"), 0.0)


def _hidden(backbone: Backbone, part: Pack) -> Tensor:
    """Hidden states (T, W) that predict the completion tokens of a pack."""
    return backbone.hidden(part.input_ids, part.positions, part.plan).flatten(0, 1)[part.sources]


def release_memory() -> None:
    """Give memory that was freed back to the system between phases, where the C library (glibc) can.

    Caches that grew and activations leave holes of megabytes, which the next phase need not find room beside.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def peak_rss_gb() -> float:
    """Peak resident memory of this process so far, in GB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e9 if sys.platform == "darwin" else peak * 1024 / 1e9


@contextlib.contextmanager
def _memory_advice() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # torch.OutOfMemoryError is one; the CPU's allocator raises it plain
        if isinstance(error, torch.OutOfMemoryError):
            raise TrainingError(f"the GPU is {OUT_OF_MEMORY}") from error
        if "DefaultCPUAllocator" in str(error):
            raise TrainingError(f"this machine is {OUT_OF_MEMORY}") from error
        raise
