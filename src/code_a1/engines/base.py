"""What every engine offers: sampling and learning for one policy, nothing about problems, tests or rewards.

A controller drives two of these. Engines differ in where the weights live (this process, a GPU, a cluster); the trainer
does not know which it has. The protocol follows the shape of the Tinker API: sample, logprobs, forward_backward,
optim_step, sync, save, load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from code_a1.records import Completion, Prompt, Sample

Metrics = dict[str, float]


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How to draw completions. `temperature` 0 is greedy; `top_p` 1 and `top_k` 0 switch those filters off.

    Generation ends at the end-of-sequence token, at the first of `stop` strings (kept in the text), or after
    `max_tokens`. `seed` and the positions of prompt and sample alone determine the draw.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    stop: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SampledGroup:
    """All n completions of the prompt at `index` of the `sample` call, in the order of their seeds."""

    index: int
    completions: tuple[Completion, ...]


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A sample with the log-probs that the loss needs; each sequence has the completion's length T."""

    sample: Sample
    old_logprobs: tuple[float, ...] | None
    """Under the policy before the step's first update: the denominator of the ratio. None in every row of a call asks
    for the supervised loss: the negative log-likelihood of the completion, weighted by the advantage."""
    ref_logprobs: tuple[float, ...] | None
    """Under the frozen reference policy; None where the KL coefficient is 0."""


class PolicyEngine(Protocol):
    """One policy: sampled from, trained, saved. Implementations: `scripted`, `local`, `ray`."""

    trainable: bool
    """Whether the policy learns; a frozen one is only sampled from, and what learning and saving need is not there."""

    @property
    def context_window(self) -> int:
        """How many tokens prompt and completion may have together."""
        ...

    def prompt_length(self, prompt: Prompt) -> int:
        """Tokens of the prompt as `sample` would feed it, chat template included."""
        ...

    def completion_of(self, prompt: Prompt, text: str) -> Completion:
        """The completion that `sample` would have returned had the policy answered `text` and ended there.

        Its log-probs are 0: nobody drew it.
        """
        ...

    def sample(self, prompts: Sequence[Prompt], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        """Yield a group of `n` completions for every prompt, as groups finish (the order may differ from the input's).

        Raises ModelError for a prompt that leaves no room for a single token: callers check `prompt_length` first.
        """
        ...

    def logprobs(self, samples: Sequence[Sample], *, reference: bool = False) -> list[tuple[float, ...]]:
        """Log-probs (T per sample) of each completion under the current weights, or under the reference policy."""
        ...

    def forward_backward(self, rows: Sequence[TrainingRow]) -> Metrics:
        """Add the gradients of the mean loss over the completion tokens of `rows` to what is accumulated.

        Returns token means: `loss`, `kl`, `clip_fraction`, `entropy`, `ratio_mean`, and the count `tokens`.
        Raises TrainingError where loss or gradient is not finite, before anything is accumulated.
        """
        ...

    def optim_step(self, learning_rate: float) -> Metrics:
        """Clip the accumulated gradient, apply it, clear it. Returns `grad_norm` (before clipping)."""
        ...

    def sync(self) -> None:
        """Make the sampler see the current weights."""
        ...

    def save(self, path: Path) -> None:
        """Write weights (or the adapter) and optimizer state into the new folder `path`."""
        ...

    def load(self, path: Path) -> None:
        """Read back what `save` wrote. Raises CheckpointError if it does not fit."""
        ...

    def sampling_as(self, path: Path) -> AbstractContextManager[None]:
        """Within the block, `sample` answers as the policy that `save` wrote to `path` did; after it all is as before.

        Raises CheckpointError if it does not fit.
        """
        ...

    def close(self) -> None:
        """Free memory, processes and files. Calling it twice is allowed."""
        ...

    def metrics(self) -> Mapping[str, float]:
        """Counters since the last call, such as sampled tokens per second and peak memory."""
        ...
