"""Continuous batched decoding: rows leave as they finish, waiting ones enter, a group's prompt is computed once.

Of a prompt that begins like the one before it (test prompts against the candidates of a problem), only the rest is.
Every row draws from its own stream of random numbers, fixed by (seed, prompt, sample), so that its tokens do not depend
on its neighbours beyond the rounding of batched matrix products. R live rows, row r in slot r of the cache; K key-value
heads, S cached positions, D head size, V vocabulary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from code_a1.engines.base import SampledGroup, SamplingParams
from code_a1.engines.local.attention import causal, fold_mask, grouped
from code_a1.engines.local.backbone import Backbone
from code_a1.engines.local.chat import StopStrings
from code_a1.records import Completion, FinishReason

GROWTH = 128  # positions by which the cache grows at least
MIN_SHARED = 32  # tokens that two prompts must begin with alike for the second to take over what is known
BLOCK = 512  # tokens whose probabilities are summed together in a draw


@dataclass
class Row:
    """One completion being written."""

    prompt: int
    sample: int
    limit: int
    draws: np.ndarray
    """One uniform number per token of the completion."""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


class Cache:
    """Keys and values of the live rows, per layer (slots, K, S, D), left-aligned; grows as rows grow."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def reserve(self, length: int) -> None:
        """Make room for `length` positions."""
        if length <= self.keys[0].shape[2]:
            return
        length = max(length, self.keys[0].shape[2] * 5 // 4) + GROWTH
        for store in (self.keys, self.values):
            for layer, old in enumerate(store):
                # zeros, not empty: masked positions enter products, and 0 * NaN is NaN
                store[layer] = old.new_zeros(*old.shape[:2], length, old.shape[3])
                store[layer][:, :, : old.shape[2]] = old

    def fill(self, slots: slice, prefix: list[tuple[Tensor, Tensor]]) -> None:
        """Copy a prompt's keys and values, per layer (1, K, P, D), into slots."""
        length = prefix[0][0].shape[2]
        if not self.keys:
            self.keys = [self._empty(keys, length + GROWTH) for keys, _ in prefix]
            self.values = [self._empty(values, length + GROWTH) for _, values in prefix]
        self.reserve(length + 1)
        for layer, (keys, values) in enumerate(prefix):
            self.keys[layer][slots, :, :length] = keys
            self.values[layer][slots, :, :length] = values

    def _empty(self, like: Tensor, length: int) -> Tensor:
        _, heads, _, size = like.shape
        return like.new_zeros(self.slots, heads, length, size)

    def move(self, source: int, target: int, length: int) -> None:
        """Copy a row into another slot."""
        for store in (self.keys, self.values):
            for layer in store:
                layer[target, :, :length] = layer[source, :, :length]


class PrefillPlan:
    """A prompt, or what follows the part of it whose keys and values are known; keeps all of them, per layer."""

    def __init__(self, known: list[tuple[Tensor, Tensor]] | None = None) -> None:
        self.known = known
        self.prefix: list[tuple[Tensor, Tensor]] = []
        self._mask: Tensor | None = None

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
        """Causal attention."""
        if self.known is None:
            self.prefix.append((key, value))
            return causal(query, key, value, scale)
        new = key.shape[2]
        key, value = (torch.cat(pair, dim=2) for pair in zip(self.known[layer], (key, value), strict=True))
        self.prefix.append((key, value))
        if self._mask is None:  # the same in every layer
            seen = torch.ones(new, key.shape[2], dtype=torch.bool, device=key.device).tril(key.shape[2] - new)
            self._mask = fold_mask(seen, query, key)
        return grouped(query, key, value, self._mask, scale)


class DecodePlan:
    """One new token per live row, written into the cache and attending to its row's part of it."""

    def __init__(self, cache: Cache, lengths: Tensor) -> None:
        self.cache = cache
        self.lengths = lengths
        self.rows = torch.arange(len(lengths), device=lengths.device)
        self.longest = int(lengths.max()) + 1
        self._mask: Tensor | None = None

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
        """(R, H, 1, D) → (R, H, 1, D)."""
        keys, values = self.cache.keys[layer], self.cache.values[layer]
        keys[self.rows, :, self.lengths] = key[:, :, 0]
        values[self.rows, :, self.lengths] = value[:, :, 0]
        if self._mask is None:  # the same in every layer
            seen = torch.arange(self.longest, device=self.lengths.device) <= self.lengths[:, None]
            self._mask = fold_mask(seen[:, None, None], query, key)
        live = slice(0, len(self.lengths))
        return grouped(query, keys[live, :, : self.longest], values[live, :, : self.longest], self._mask, scale)


class Sampler:
    """Draws n completions for each of several prompts, given as token ids."""

    def __init__(
        self,
        backbone: Backbone,
        adapter: str | None,
        prompts: Sequence[tuple[int, ...]],
        n: int,
        params: SamplingParams,
        *,
        slots: int,
    ) -> None:
        self.backbone = backbone
        self.adapter = adapter
        self.prompts = prompts
        self.n = n
        self.params = params
        self.slots = max(1, min(slots, len(prompts) * n))
        self.stops = StopStrings(backbone.chat, params.stop)
        self.cache = Cache(self.slots)
        self.rows: list[Row] = []
        self.waiting: deque[Row] = deque()
        self.next_prompt = 0
        self.first_logits: Tensor | None = None
        self.prefix: list[tuple[Tensor, Tensor]] = []
        self.finished: dict[int, dict[int, Completion]] = {}
        self.sampled_tokens = 0

    def run(self) -> Iterator[SampledGroup]:
        """Yield groups as they finish; prompts are admitted in order, as slots fall free."""
        while True:
            self._admit()
            yield from self._complete_groups()
            if self.rows:
                self._decode()
                yield from self._complete_groups()
            elif self.next_prompt == len(self.prompts) and not self.waiting:
                return

    def limit(self, prompt: int, sample: int) -> int:
        """The most tokens that a completion may have."""
        del sample
        return min(self.params.max_tokens, self.backbone.context_window - len(self.prompts[prompt]))

    @torch.no_grad()
    def _admit(self) -> None:
        """Fill free slots: open the next prompt when the last one's rows have all entered."""
        while len(self.rows) < self.slots:
            if not self.waiting:
                if self.next_prompt == len(self.prompts):
                    return
                self._open_prompt(self.next_prompt)
                self.next_prompt += 1
            free = self.slots - len(self.rows)
            entering = [self.waiting.popleft() for _ in range(min(free, len(self.waiting)))]
            assert self.first_logits is not None
            self._draw(self.first_logits.expand(len(entering), -1), entering)
            going_on = [row for row in entering if not self._finish(row)]
            if going_on:
                first = len(self.rows)
                self.cache.fill(slice(first, first + len(going_on)), self.prefix)
                self.rows += going_on

    def _open_prompt(self, index: int) -> None:
        """Compute a prompt's keys and values, but for the beginning that it shares with the prompt before it."""
        ids = self.prompts[index]
        device = self.backbone.device
        start = _common_start(self.prompts[index - 1], ids) if index else 0
        if start < MIN_SHARED:
            start, plan = 0, PrefillPlan()
        else:
            plan = PrefillPlan([(keys[:, :, :start], values[:, :, :start]) for keys, values in self.prefix])
        with self.backbone.role(self.adapter):
            hidden = self.backbone.hidden(
                torch.tensor([ids[start:]], device=device), torch.arange(start, len(ids), device=device)[None], plan
            )
        self.prefix = plan.prefix
        self.first_logits = self.backbone.head.logits(hidden[:, -1])
        for sample in range(self.n):
            limit = self.limit(index, sample)
            stream = np.random.default_rng((self.params.seed, index, sample))
            self.waiting.append(Row(index, sample, limit, stream.random(limit)))

    @torch.no_grad()
    def _decode(self) -> None:
        """One more token for every live row; those that end make room."""
        device = self.backbone.device
        # The last token drawn is not in the cache yet: it is fed now, at the position after all others.
        lengths = torch.tensor([self._length(row) for row in self.rows], device=device)
        self.cache.reserve(int(lengths.max()) + 1)
        last = torch.tensor([[row.tokens[-1]] for row in self.rows], device=device)
        with self.backbone.role(self.adapter):
            hidden = self.backbone.hidden(last, lengths[:, None], DecodePlan(self.cache, lengths))
        self._draw(self.backbone.head.logits(hidden[:, 0]), self.rows)
        for slot in reversed(range(len(self.rows))):
            if self._finish(self.rows[slot]):
                self._free(slot)

    def _free(self, slot: int) -> None:
        """Take a row out; the last one moves into its slot, so that live rows stay contiguous."""
        last = self.rows.pop()
        if slot < len(self.rows):
            self.cache.move(len(self.rows), slot, self._length(last))
            self.rows[slot] = last

    def _length(self, row: Row) -> int:
        """Positions of a row in the cache."""
        return len(self.prompts[row.prompt]) + len(row.tokens) - 1

    def _draw(self, logits: Tensor, rows: Sequence[Row]) -> None:
        """Append a token and its log-prob to every row, given logits (R, V)."""
        uniform = [row.draws[len(row.tokens)] for row in rows]
        tokens, logprobs = draw(logits, torch.tensor(uniform, device=logits.device), self.params)
        self.sampled_tokens += len(rows)
        for row, token, logprob in zip(rows, tokens.tolist(), logprobs.tolist(), strict=True):
            row.tokens.append(token)
            row.logprobs.append(logprob)

    def _finish(self, row: Row) -> bool:
        """Whether the row has ended; if so its completion is kept."""
        chat = self.backbone.chat
        ended = row.tokens[-1] in chat.eos_ids
        stopped = ended or self.stops.hit(row.tokens)
        if not stopped and len(row.tokens) < row.limit:
            return False
        text = self.stops.cut(chat.decode(row.tokens[:-1] if ended else row.tokens))
        reason: FinishReason = "stop" if stopped else "length"
        completion = Completion(text, tuple(row.tokens), tuple(row.logprobs), self.prompts[row.prompt], reason)
        self.finished.setdefault(row.prompt, {})[row.sample] = completion
        return True

    def _complete_groups(self) -> Iterator[SampledGroup]:
        for prompt in [index for index, done in self.finished.items() if len(done) == self.n]:
            done = self.finished.pop(prompt)
            yield SampledGroup(prompt, tuple(done[sample] for sample in range(self.n)))


def _common_start(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts begin with alike; at most all but the last, whose hidden state is needed."""
    most = min(len(one), len(other) - 1)
    return next((i for i in range(most) if one[i] != other[i]), most)


def draw(logits: Tensor, uniform: Tensor, params: SamplingParams) -> tuple[Tensor, Tensor]:
    """Draw a token per row by inverting the cumulative distribution at `uniform` (R,), each in [0, 1).

    Returns tokens (R,) and their log-probs (R,) under the distribution drawn from: temperature and filters included,
    so 0 where the temperature is 0 and the most likely token is certain.
    """
    if params.temperature == 0:
        tokens = logits.argmax(-1)
        return tokens, torch.zeros_like(tokens, dtype=logits.dtype)
    logits = logits / params.temperature if params.temperature != 1 else logits
    if params.top_k or params.top_p < 1:
        logits = _filter(logits.log_softmax(-1), params.top_k, params.top_p)
    # In place, and summed in blocks first: over 150,000 tokens every pass counts, and a float32 running sum would lose
    # rare tokens. The block is found among the float64 sums of blocks, the token within its block.
    top = logits.amax(-1, keepdim=True)
    rows, size = logits.shape
    weights = logits.new_zeros(rows, -(-size // BLOCK), BLOCK)
    torch.sub(logits, top, out=weights.view(rows, -1)[:, :size]).exp_()
    sums = weights.sum(-1).cumsum(-1, dtype=torch.float64)
    total = sums[:, -1:]
    threshold = uniform.double()[:, None] * total
    block = _first_above(sums, threshold)
    before = torch.where(block > 0, sums.gather(-1, (block - 1).clamp_min(0)), 0.0)
    inside = weights.gather(1, block[..., None].expand(-1, -1, BLOCK))[:, 0].cumsum(-1, dtype=torch.float64) + before
    tokens = block * BLOCK + _first_above(inside, threshold)
    return tokens[:, 0], (logits.gather(-1, tokens) - top - total.log().to(logits.dtype))[:, 0]


def _first_above(cumulative: Tensor, threshold: Tensor) -> Tensor:
    """Per row the first place (R, 1) at which a cumulative sum (R, S) exceeds a threshold (R, 1) below its total."""
    # Rounding must not carry a draw to the total itself, beyond the last entry with any weight.
    total = cumulative[:, -1:]
    bounded = torch.minimum(threshold, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative.contiguous(), bounded, right=True)


def _filter(logprobs: Tensor, top_k: int, top_p: float) -> Tensor:
    """Keep the `top_k` most likely tokens, and of these the fewest whose share reaches `top_p` (of all, with k = 0)."""
    ordered, order = logprobs.sort(dim=-1, descending=True, stable=True)
    if top_k:
        ordered[:, top_k:] = -torch.inf
    probs = ordered.softmax(-1)
    before = probs.cumsum(-1) - probs
    ordered[before >= top_p] = -torch.inf
    return torch.full_like(logprobs, -torch.inf).scatter(-1, order, ordered)
