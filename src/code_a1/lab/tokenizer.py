"""The tokenizer of the lab's model: byte-level BPE in which the fixed sentences of our prompts are one token each.

A test prompt has some 1,300 characters that are the same for every problem. Split as other text is, they would be most
of what a tiny model reads. So every constant piece of `code_a1.prompts` is a word of the vocabulary: prompts go through
unchanged, nothing is left out of them, and a reader of a few hundred tokens has room for the task. A prompt with other
sentences is still read, piece by piece; the model has merely never seen those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from code_a1.prompts import code_prompt, test_prompt
from code_a1.records import Problem, Prompt

END, PAD, SYSTEM, USER, ASSISTANT = "<|im_end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>"

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""The chat template: a mark before every message, none after it; the end mark ends answers alone."""

PIECES = (
    r"```python\n|\n?```| ?\d|[A-Za-z0-9 .](?=[abcdexyzABCDEXYZ0-9 .]*')| ?_?[A-Za-z]+|[\[\](){},]+"
    r"| (?:[=<>!+*/%-]=?|->)|\n *|[^\sA-Za-z\d]| +"
)
"""Digits singly, likewise the letters of strings that stand in tests (up to the closing quote); otherwise words with
the space or underscore before them, brackets together, line ends with the indentation after them."""

VOCABULARY = 1280

CONTEXT_WINDOW = 640
"""Positions; a test prompt of the lab takes about 130 tokens, the longest some 350."""

_MARKS = ("STATEMENT", "def ENTRYPOINT():", "ENTRYPOINT", "PROGRAM", "97531")


def fixed_pieces() -> list[str]:
    """The constant pieces of both roles' prompts, found by rendering them with marks where problems differ."""
    problem = Problem("marks", "STATEMENT", "ENTRYPOINT", "def ENTRYPOINT():\n    pass")
    prompts: list[Prompt] = [code_prompt(problem)]
    prompts += [
        test_prompt(problem, code, 97531, predict_answer=predict)
        for code in ("PROGRAM", None)
        for predict in (True, False)
    ]
    between = re.compile("|".join(map(re.escape, _MARKS)))
    found = (piece for prompt in prompts for message in prompt for piece in between.split(message.content))
    # a piece of a few characters may stand anywhere in other text: it is left to the merges
    return sorted({piece for piece in found if len(piece) > 5}, key=lambda piece: (-len(piece), piece))


def train_tokenizer(texts: Iterable[str]) -> Any:
    """A transformers tokenizer whose merges are learned from `texts`; needs the extra `local`."""
    import tokenizers  # noqa: PLC0415 - optional
    import transformers  # noqa: PLC0415 - optional

    specials = [END, PAD, SYSTEM, USER, ASSISTANT]
    fixed = fixed_pieces()
    learning = _byte_level(tokenizers, tokenizers.models.BPE(), PIECES)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(fixed),
        special_tokens=specials,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learning.train_from_iterator(texts, trainer)
    model = _with_words(tokenizers, learning, fixed)
    whole = _byte_level(tokenizers, model, "|".join([*map(re.escape, fixed), PIECES]))
    whole.add_special_tokens(specials)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=whole, eos_token=END, pad_token=PAD, model_max_length=CONTEXT_WINDOW
    )
    fast.chat_template = TEMPLATE
    return fast


def _byte_level(tokenizers: Any, model: Any, pieces: str) -> Any:
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(pieces), "isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _with_words(tokenizers: Any, trained: Any, words: list[str]) -> Any:
    """The trained merges with whole words beside them: a piece that is in the vocabulary is taken as it is."""
    import json  # noqa: PLC0415 - beside the only use

    state = json.loads(trained.to_str())["model"]
    vocabulary: dict[str, int] = dict(state["vocab"])
    alphabet = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for word in words:
        [(text, _)] = alphabet.pre_tokenize_str(word)
        vocabulary.setdefault(text, len(vocabulary))
    merges = [tuple(pair) for pair in state["merges"]]
    return tokenizers.models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True)
