"""A policy that answers from a script: for tests, and for dry runs of everything around the model, without torch."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from code_a1.engines.base import Metrics, SampledGroup, SamplingParams, TrainingRow
from code_a1.engines.plain_prompt import render_plain
from code_a1.errors import CheckpointError, ModelError
from code_a1.records import Completion, FinishReason, Prompt, Sample

Answers = Sequence[str] | Callable[[Prompt, int, int], str]
STATE_FILE = "scripted.json"


@dataclass(frozen=True, slots=True)
class Request:
    """One call of `sample`, as it was asked."""

    prompts: tuple[Prompt, ...]
    n: int
    params: SamplingParams
    sampled_as: Path | None = None
    """The saved policy that was sampled as, None for the present one."""


@dataclass
class ScriptedEngine:
    """Answer from a list or a function; record what was asked and what was trained on.

    A list is handed out in order, one text per completion, over all calls of `sample`, and starts again at its end. A
    function gets the prompt, the index of the completion within its group, and the seed of the call.

    Tokens are the UTF-8 bytes of the text (lone surrogates are kept by `surrogatepass`), and every log-prob is 0, since
    a script leaves nothing to chance; a text longer than `max_tokens` bytes is cut there, as a model's would be.
    """

    answers: Answers
    context_window: int = 1 << 20
    trainable: bool = True
    requests: list[Request] = field(default_factory=list)
    """Every call of `sample`."""
    updates: list[list[TrainingRow]] = field(default_factory=list)
    """The rows of every optimizer step so far, in order."""
    learning_rates: list[float] = field(default_factory=list)
    """The learning rate of every optimizer step so far."""
    syncs: int = 0
    """How often the sampler was told to take over the weights."""
    closed: bool = False
    _answered: int = 0
    _sampled_as: Path | None = None
    _accumulated: list[TrainingRow] = field(default_factory=list)
    _sampled_tokens: int = 0

    def __post_init__(self) -> None:
        if not callable(self.answers) and not self.answers:
            raise ModelError("a scripted policy needs at least one answer")

    def prompt_length(self, prompt: Prompt) -> int:
        """Bytes of the prompt as plain text."""
        return len(_encode(render_plain(prompt)))

    def completion_of(self, prompt: Prompt, text: str) -> Completion:
        """The text as a script would have given it."""
        return _completion(prompt, text, sys.maxsize, ())

    def sample(self, prompts: Sequence[Prompt], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        """Yield the groups in the order of their prompts; the answers are fixed when the call is made."""
        self.requests.append(Request(tuple(prompts), n, params, self._sampled_as))
        groups = [self._group(index, prompt, n, params) for index, prompt in enumerate(prompts)]
        return iter(groups)

    def logprobs(self, samples: Sequence[Sample], *, reference: bool = False) -> list[tuple[float, ...]]:
        """Zeros: a script does not learn, so that it always equals its reference."""
        del reference
        return [(0.0,) * len(sample.completion.tokens) for sample in samples]

    def forward_backward(self, rows: Sequence[TrainingRow]) -> Metrics:
        """Remember the rows; the loss is that of a policy whose ratios are all 1: minus the mean advantage."""
        self._accumulated += rows
        tokens = sum(len(row.sample.completion.tokens) for row in rows)
        weighted = sum(row.sample.advantage * len(row.sample.completion.tokens) for row in rows)
        return {
            "loss": -weighted / tokens,
            "kl": 0.0,
            "clip_fraction": 0.0,
            "entropy": 0.0,
            "ratio_mean": 1.0,
            "tokens": tokens,
        }

    def optim_step(self, learning_rate: float) -> Metrics:
        """Move the remembered rows to `updates`."""
        self.updates.append(self._accumulated)
        self.learning_rates.append(learning_rate)
        self._accumulated = []
        return {"grad_norm": 0.0}

    def sync(self) -> None:
        """Count the call."""
        self.syncs += 1

    def save(self, path: Path) -> None:
        """Write how far the script has been read and how many updates were made."""
        path.mkdir(parents=True)
        state = {"answered": self._answered, "updates": len(self.updates), "syncs": self.syncs}
        (path / STATE_FILE).write_text(json.dumps(state), encoding="utf-8")

    @contextmanager
    def sampling_as(self, path: Path) -> Iterator[None]:
        """Read the script from where it was when `path` was saved, then go on where it is now."""
        answered = self._answered
        self._answered, _, _ = _read_state(path)
        self._sampled_as = path
        try:
            yield
        finally:
            self._answered, self._sampled_as = answered, None

    def load(self, path: Path) -> None:
        """Go on where the saved script was; updates made before it are kept as empty entries."""
        answered, updates, syncs = _read_state(path)
        self._answered, self.syncs = answered, syncs
        self.updates = [[] for _ in range(updates)]
        self.learning_rates = [0.0] * updates
        self._accumulated = []

    def close(self) -> None:
        """Note that the engine was closed."""
        self.closed = True

    def metrics(self) -> Mapping[str, float]:
        """`sampled_tokens` since the last call."""
        tokens, self._sampled_tokens = self._sampled_tokens, 0
        return {"sampled_tokens": tokens}

    def _group(self, index: int, prompt: Prompt, n: int, params: SamplingParams) -> SampledGroup:
        room = self.context_window - self.prompt_length(prompt)
        if room < 1:
            raise ModelError(
                f"prompt {index} has {self.prompt_length(prompt)} tokens, which leaves no room for a completion in the "
                f"window of {self.context_window}; check `prompt_length` first"
            )
        texts = [self._answer(prompt, i, params.seed) for i in range(n)]
        limit = min(room, params.max_tokens)
        completions = tuple(_completion(prompt, text, limit, params.stop) for text in texts)
        self._sampled_tokens += sum(len(completion.tokens) for completion in completions)
        return SampledGroup(index, completions)

    def _answer(self, prompt: Prompt, index: int, seed: int) -> str:
        self._answered += 1
        if callable(self.answers):
            return self.answers(prompt, index, seed)
        return self.answers[(self._answered - 1) % len(self.answers)]


def _read_state(path: Path) -> tuple[int, int, int]:
    """Answers given, updates made and syncs at the time of saving."""
    file = path / STATE_FILE
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
        return int(state["answered"]), int(state["updates"]), int(state["syncs"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{file} is not a checkpoint of a scripted policy: {error}") from error


def _completion(prompt: Prompt, text: str, limit: int, stop: Sequence[str]) -> Completion:
    ends = [text.index(mark) + len(mark) for mark in stop if mark and mark in text]
    text = text[: min(ends)] if ends else text
    tokens = _encode(text)
    reason: FinishReason = "stop"
    if len(tokens) > limit:
        tokens, reason = tokens[:limit], "length"
        text = tokens.decode("utf-8", errors="replace")
    return Completion(text, tuple(tokens), (0.0,) * len(tokens), tuple(_encode(render_plain(prompt))), reason)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")
