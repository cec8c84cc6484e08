"""Random models of a few thousand parameters with a byte-level tokenizer, saved as a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

EOS, PAD = "<|im_end|>", "<|endoftext|>"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CONFIGS: dict[str, tuple[type[transformers.PretrainedConfig], type[transformers.PreTrainedModel]]] = {
    "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
    "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
    "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    "mistral": (transformers.MistralConfig, transformers.MistralForCausalLM),
    "gemma2": (transformers.Gemma2Config, transformers.Gemma2ForCausalLM),
}


def byte_tokenizer(template: str | None = TEMPLATE) -> transformers.PreTrainedTokenizerFast:
    """256 byte tokens and three special ones; `template` None leaves out the chat template."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={char: i for i, char in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=EOS, pad_token=PAD)
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    fast.chat_template = template
    return fast


def build_tiny_model(
    folder: Path,
    *,
    kind: str = "llama",
    seed: int = 0,
    template: str | None = TEMPLATE,
    **overrides: Any,
) -> Path:
    """Save a random model of shape `kind` and its tokenizer into `folder`; `overrides` are keys of its config."""
    tokenizer = byte_tokenizer(template)
    config_class, model_class = CONFIGS[kind]
    settings: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 512,
        "initializer_range": 0.2,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": True,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = model_class(config_class(**(settings | overrides)))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
