"""Qwen2-shaped models with random weights and a byte tokenizer: speed and memory without a download."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from code_a1.engines.local.models import cache_folder, quiet_transformers
from code_a1.errors import ModelError

SHAPES: dict[str, dict[str, Any]] = {
    "random-qwen2-5m": {
        "vocab_size": 8192,
        "hidden_size": 256,
        "intermediate_size": 768,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    "random-qwen2-1.5b": {
        "vocab_size": 151936,
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
    },
}
"""Keys of the configuration by name; the second is Qwen2.5-Coder-1.5B's shape."""

EOS = "<|im_end|>"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def random_model(name: str) -> Path:
    """The folder of the model of shape `name`, made on first use, kept in the cache. Raises ModelError if unknown."""
    if name not in SHAPES:
        raise ModelError(f"no random model {name!r}; there are {', '.join(SHAPES)}")
    target = cache_folder() / "random" / name
    if not (target / "config.json").is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
        try:
            _build(scratch, SHAPES[name])
            # Another process may have been quicker: then its folder, which is the same, serves.
            with contextlib.suppress(OSError):
                scratch.rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target


def _build(folder: Path, shape: dict[str, Any]) -> None:
    tokenizer = _byte_tokenizer()
    config = transformers.Qwen2Config(
        **shape,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        pad_token_id=None,
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.random.fork_rng(), torch.device(device), quiet_transformers():
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _byte_tokenizer() -> Any:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={char: i for i, char in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=EOS)
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    fast.chat_template = TEMPLATE
    return fast
