"""Between text and tokens: prompts through the model's chat template, completions back to text, where to stop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from code_a1.engines.plain_prompt import render_plain, split_answer
from code_a1.errors import ModelError
from code_a1.records import Message, Prompt

# Instruction-tuned models end a turn with one of these, and not every generation config lists it.
TURN_ENDS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<end_of_turn>", "<|end|>")


class Chat:
    """A tokenizer with what this project needs of it."""

    def __init__(self, tokenizer: Any, eos_ids: Iterable[int]) -> None:
        self.tokenizer = tokenizer
        specials = dict(tokenizer.get_added_vocab())
        ends = {specials[mark] for mark in TURN_ENDS if mark in specials}
        own = tokenizer.eos_token_id
        self.eos_ids = frozenset(eos_ids) | ends | ({own} if own is not None else frozenset())
        """Any of these ends a completion."""
        self._specials = sorted(specials, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, self._specials)) or "(?!)")

    def encode(self, prompt: Prompt) -> tuple[int, ...]:
        """Tokens of a prompt: by the chat template, or as plain text under role headers for a model without one."""
        if not self.tokenizer.chat_template:
            return tuple(self._encode_rendered(render_plain(self._masked(prompt)), first=True))
        asked, begun = split_answer(self._masked(prompt))
        return tuple(self._encode_rendered(self._render(asked) + begun))

    def encode_answer(self, text: str) -> tuple[int, ...]:
        """Tokens of a whole completion, with the one that ends it; what spells out a special token is plain text."""
        ids = self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        own = self.tokenizer.eos_token_id
        return (*ids, *([own] if own is not None else sorted(self.eos_ids)[:1]))

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of a completion, special tokens left out; bytes that are not UTF-8 become U+FFFD."""
        text: str = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def _masked(self, prompt: Prompt) -> Prompt:
        """Messages with placeholders where their content spells out a special token.

        A test prompt quotes what the other policy wrote; without this, a candidate that contains the end-of-turn mark
        could close the message that quotes it and go on as somebody else.
        """
        if not any(mark in message.content for message in prompt for mark in self._specials):
            return prompt
        return tuple(Message(m.role, self._special.sub(self._placeholder, m.content)) for m in prompt)

    def _placeholder(self, match: re.Match[str]) -> str:
        return f"\ue000{self._specials.index(match.group()):04d}\ue001"

    def _encode_rendered(self, text: str, *, first: bool = False) -> list[int]:
        """Tokens of a rendered prompt; `first` adds the token that the tokenizer puts before every text, if any."""
        ids: list[int] = []
        for index, piece in enumerate(re.split("\ue000(\\d{4})\ue001", text)):
            if index % 2 and int(piece) < len(self._specials):
                ids += self.tokenizer.encode(
                    self._specials[int(piece)], add_special_tokens=False, split_special_tokens=True
                )
            elif piece:
                ids += self.tokenizer.encode(piece, add_special_tokens=first and index == 0)
        return ids

    def _render(self, prompt: Prompt) -> str:
        try:
            return self._apply(prompt)
        except Exception as error:  # templates are programs of the model's authors and raise what they like
            if prompt and prompt[0].role == "system" and len(prompt) > 1:
                # Some templates refuse a system message: then it opens the first user message.
                merged = Message(prompt[1].role, f"{prompt[0].content}\n\n{prompt[1].content}")
                return self._render((merged, *prompt[2:]))
            raise ModelError(f"the model's chat template cannot render the prompt: {error}") from error

    def _apply(self, prompt: Prompt) -> str:
        messages = [{"role": message.role, "content": message.content} for message in prompt]
        text: str = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return text


class StopStrings:
    """Looks for stop strings at the end of what has been decoded so far."""

    def __init__(self, chat: Chat, stop: Sequence[str]) -> None:
        self.chat = chat
        self.stop = tuple(mark for mark in stop if mark)
        # A token adds at least one byte: this many cover the longest mark and a character cut at the window's start.
        self.window = max((len(mark.encode("utf-8", "replace")) for mark in self.stop), default=0) + 4

    def hit(self, tokens: Sequence[int]) -> bool:
        """Whether the last token completed a stop string."""
        if not self.stop:
            return False
        tail = self.chat.decode(tokens[-self.window :])
        return any(mark in tail for mark in self.stop)

    def cut(self, text: str) -> str:
        """The text up to and including the stop string that ends first."""
        ends = [text.index(mark) + len(mark) for mark in self.stop if mark in text]
        return text[: min(ends)] if ends else text
