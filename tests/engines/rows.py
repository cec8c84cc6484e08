"""Short ways to write the records that engines take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from code_a1.engines.base import PolicyEngine, SampledGroup, SamplingParams, TrainingRow
from code_a1.records import Completion, Message, Prompt, Sample


def ask(text: str) -> Prompt:
    return (Message("user", text),)


def completion(tokens: Sequence[int], prompt: Sequence[int] = (1, 2), logprob: float = -1.0) -> Completion:
    return Completion("", tuple(tokens), (logprob,) * len(tokens), tuple(prompt), "stop")


def sample(group: str, tokens: int, advantage: float = 1.0, logprob: float = -1.0) -> Sample:
    return Sample(group, completion(range(3, 3 + tokens), logprob=logprob), advantage)


def draw_groups(engine: PolicyEngine, prompts: Iterable[str], n: int, **params: object) -> list[SampledGroup]:
    """Sampled groups in the order of their prompts."""
    settings = SamplingParams(**{"max_tokens": 12, "seed": 1, **params})  # type: ignore[arg-type]
    return sorted(engine.sample([ask(text) for text in prompts], n, settings), key=lambda group: group.index)


def samples_of(groups: Iterable[SampledGroup], advantages: Sequence[float]) -> list[Sample]:
    """Every group's completions with the given advantages."""
    return [
        Sample(f"g{group.index}", completion, advantage)
        for group in groups
        for completion, advantage in zip(group.completions, advantages, strict=True)
    ]


def rows_of(engine: PolicyEngine, samples: Sequence[Sample], *, reference: bool = True) -> list[TrainingRow]:
    old = engine.logprobs(samples)
    ref = engine.logprobs(samples, reference=True) if reference else [None] * len(samples)
    return [TrainingRow(s, o, r) for s, o, r in zip(samples, old, ref, strict=True)]
