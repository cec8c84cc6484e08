"""Lay samples out for the training forward: groups share one copy of their prompt, rows are filled to a token budget.

T completion tokens of a pack in all, L positions of its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from code_a1.engines.local.attention import Plan, SharedPromptPlan
from code_a1.records import Completion


@dataclass(frozen=True)
class Pack:
    """One forward pass. The last token of a completion is only predicted, never fed."""

    members: tuple[int, ...]
    """Which completions it holds: indices into what `pack` was given, in the order of `targets`."""
    input_ids: Tensor
    """(1, L), or (B, L) where rows are not packed."""
    positions: Tensor
    """Likewise: a completion's go on from its prompt's."""
    sources: Tensor
    """(T,): the position (counted through all rows) whose hidden state predicts each completion token."""
    targets: Tensor
    """(T,): the completion tokens."""
    plan: Plan | None


def pack(completions: Sequence[Completion], budget: int, device: torch.device) -> list[Pack]:
    """Pack completions (each of at least one token) into rows of at most `budget` positions.

    Completions of one prompt stay together where they fit; a group larger than the budget is split, and its prompt
    computed once per part. A completion that exceeds the budget on its own gets a row to itself.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, completion in enumerate(completions):
        groups.setdefault(completion.prompt_tokens, []).append(index)
    rows: list[list[list[int]]] = []
    room = 0
    for part in _parts(completions, list(groups.values()), budget):
        size = _size(completions, part)
        if size > room or not rows:
            rows.append([])
            room = budget
        rows[-1].append(part)
        room -= size
    return [_lay_out(completions, parts, device) for parts in rows]


def _parts(completions: Sequence[Completion], groups: list[list[int]], budget: int) -> list[list[int]]:
    """Groups, those above the budget cut into pieces; large ones first, so that small ones fill the gaps."""
    parts = []
    for group in groups:
        part: list[int] = []
        for index in group:
            if part and _size(completions, [*part, index]) > budget:
                parts.append(part)
                part = []
            part.append(index)
        parts.append(part)
    return parts


def _size(completions: Sequence[Completion], part: Sequence[int]) -> int:
    return len(completions[part[0]].prompt_tokens) + sum(len(completions[i].tokens) - 1 for i in part)


def _lay_out(completions: Sequence[Completion], parts: list[list[int]], device: torch.device) -> Pack:
    ids: list[int] = []
    positions: list[int] = []
    sources: list[int] = []
    targets: list[int] = []
    spans: list[tuple[slice, list[slice]]] = []
    for part in parts:
        prompt = completions[part[0]].prompt_tokens
        start, end = len(ids), len(ids) + len(prompt)
        ids += prompt
        positions += range(len(prompt))
        own_spans = []
        for index in part:
            tokens = completions[index].tokens
            first = len(ids)
            ids += tokens[:-1]
            positions += range(len(prompt), len(prompt) + len(tokens) - 1)
            sources += [end - 1, *range(first, len(ids))]
            targets += tokens
            if len(ids) > first:
                own_spans.append(slice(first, len(ids)))
        spans.append((slice(start, end), own_spans))
    return Pack(
        members=tuple(index for part in parts for index in part),
        input_ids=torch.tensor([ids], device=device),
        positions=torch.tensor([positions], device=device),
        sources=torch.tensor(sources, device=device),
        targets=torch.tensor(targets, device=device),
        plan=SharedPromptPlan(spans, device),
    )
