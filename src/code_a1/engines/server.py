"""A policy behind an OpenAI-compatible server (vLLM, llama.cpp, SGLang, Ollama, …): sampled from, never trained.

Standard library only. Servers differ in what they honour: one that answers with a single choice is asked again until
there are n, and seeds are sent for those that take them. Log-probs and tokens are not asked for, so that completions
have none.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from code_a1.engines.base import Metrics, SampledGroup, SamplingParams, TrainingRow
from code_a1.errors import ModelError
from code_a1.records import Completion, FinishReason, Prompt, Sample

RETRIED = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
"""HTTP states that pass; so do broken connections."""


class ServerEngine:
    """Samples from `POST {url}/chat/completions`, `concurrency` requests at a time.

    `url` is the base that the server documents, such as `http://localhost:8000/v1`. `key` is sent as a bearer token.
    What passes by itself (too many requests, a restart) is tried `attempts` times, a little later each time.
    """

    trainable = False
    context_window = 1 << 30
    """The server knows; it refuses what is too long."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        concurrency: int = 8,
        timeout_s: float = 600.0,
        attempts: int = 6,
        pause_s: float = 1.0,
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ModelError(f"{url}: not the address of a server; give one like http://localhost:8000/v1")
        self._url = url.rstrip("/") + "/chat/completions"
        self._model = model
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._concurrency, self._timeout_s, self._attempts, self._pause_s = concurrency, timeout_s, attempts, pause_s
        self._sampled_tokens = 0.0

    def prompt_length(self, prompt: Prompt) -> int:
        """0: the server counts."""
        return 0

    def completion_of(self, prompt: Prompt, text: str) -> Completion:
        """The text, without tokens."""
        return Completion(text, (), (), (), "stop")

    def sample(self, prompts: Sequence[Prompt], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        """Yield groups as the server completes them. Raises ModelError where it refuses, or cannot be reached."""
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="server")
        try:
            asked = {pool.submit(self._group, i, prompt, n, params): i for i, prompt in enumerate(prompts)}
            for future in as_completed(asked):
                yield SampledGroup(asked[future], future.result())
        finally:
            pool.shutdown(cancel_futures=True)

    def metrics(self) -> Mapping[str, float]:
        """`sampled_tokens` since the last call, as the server counts them."""
        tokens, self._sampled_tokens = self._sampled_tokens, 0.0
        return {"sampled_tokens": tokens}

    def close(self) -> None:
        """Nothing is held open."""

    # -- asking --------------------------------------------------------------------------------------------------------

    def _group(self, index: int, prompt: Prompt, n: int, params: SamplingParams) -> tuple[Completion, ...]:
        found: list[Completion] = []
        while len(found) < n:
            missing = n - len(found)
            # a seed of its own for every request, or a server without `n` would answer the same again
            seed = (params.seed + 1_000_003 * index + len(found)) % (1 << 31)
            choices = self._choices(self._request(prompt, missing, params, seed))
            found += choices[:missing]
        return tuple(found)

    def _request(self, prompt: Prompt, n: int, params: SamplingParams, seed: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in prompt],
            "max_tokens": params.max_tokens,
            "temperature": params.temperature,
            "top_p": params.top_p,
            "seed": seed,
        }
        return body | ({"n": n} if n > 1 else {}) | ({"stop": list(params.stop)} if params.stop else {})

    def _choices(self, body: Mapping[str, Any]) -> list[Completion]:
        answer = self._post(json.dumps(body).encode())
        try:
            usage = answer.get("usage") or {}
            self._sampled_tokens += float(usage.get("completion_tokens") or 0)
            found = [_completion(choice) for choice in answer["choices"]]
        except (AttributeError, KeyError, TypeError) as error:
            raise ModelError(f"{self._url}: not an answer of the chat completions API: {str(answer)[:200]}") from error
        if not found:
            raise ModelError(f"{self._url}: the server answered without a choice for the model {self._model!r}")
        return found

    def _post(self, body: bytes) -> Any:
        for attempt in range(1, self._attempts + 1):
            request = urllib.request.Request(self._url, body, self._headers)  # noqa: S310 - http and https only
            try:
                with urllib.request.urlopen(request, timeout=self._timeout_s) as response:  # noqa: S310
                    return json.loads(response.read())
            except urllib.error.HTTPError as error:
                with error:
                    said = error.read(2000).decode("utf-8", "replace")
                if error.code not in RETRIED or attempt == self._attempts:
                    raise ModelError(f"{self._url} refuses the model {self._model!r}: {error.code} {said}") from error
                time.sleep(_wait(error.headers.get("Retry-After"), attempt, self._pause_s))
            except (OSError, ValueError) as error:
                if attempt == self._attempts:
                    raise ModelError(
                        f"{self._url} does not answer ({error}); is the server running, and its address right?"
                    ) from error
                time.sleep(_wait(None, attempt, self._pause_s))
        raise AssertionError("the last attempt returns or raises")

    # -- what a policy behind a server does not do ---------------------------------------------------------------------

    def logprobs(self, samples: Sequence[Sample], *, reference: bool = False) -> list[tuple[float, ...]]:
        """Raise ModelError, as all that training needs."""
        raise self._never()

    def forward_backward(self, rows: Sequence[TrainingRow]) -> Metrics:
        """Raise ModelError."""
        raise self._never()

    def optim_step(self, learning_rate: float) -> Metrics:
        """Raise ModelError."""
        raise self._never()

    def sync(self) -> None:
        """Raise ModelError."""
        raise self._never()

    def save(self, path: Path) -> None:
        """Raise ModelError."""
        raise self._never()

    def load(self, path: Path) -> None:
        """Raise ModelError."""
        raise self._never()

    def sampling_as(self, path: Path) -> AbstractContextManager[None]:
        """Raise ModelError."""
        raise self._never()

    def _never(self) -> ModelError:
        return ModelError(f"the policy behind {self._url} is only sampled from: train with engine = 'local'")


def _completion(choice: Mapping[str, Any]) -> Completion:
    """One choice; a server that says nothing, or null, said the empty text."""
    text = choice["message"].get("content") or ""
    reason: FinishReason = "length" if choice.get("finish_reason") == "length" else "stop"
    return Completion(str(text), (), (), (), reason)


def _wait(asked: str | None, attempt: int, pause_s: float) -> float:
    """Seconds until the next attempt: what the server asks for, else doubling."""
    try:
        return min(float(asked or ""), 60.0)
    except ValueError:
        return min(pause_s * 2.0 ** (attempt - 1), 60.0)
