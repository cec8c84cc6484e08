"""A trained policy as a model of its own: full weights in Hugging Face format, without peft or this package."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import torch

from code_a1.engines.local.models import load_model, load_tokenizer, quiet_transformers, resolve
from code_a1.errors import CheckpointError, ModelError


def export_merged(policy: Path, out: Path, *, dtype: str) -> None:
    """Write a saved policy (adapter or full weights) into the new folder `out`, an adapter merged in.

    Adding is done in float32, and rounded to `dtype` (`bfloat16`, `float32`) once.

    Raises:
        CheckpointError: `out` exists, or cannot be written.
        ModelError: the policy, or the model that its adapter belongs to, cannot be read.
        MissingExtra: merging an adapter needs peft.
    """
    if out.exists():
        raise CheckpointError(f"{out} exists already; a model is exported into a new folder")
    source = resolve(str(policy))
    model, tokenizer = load_model(source, torch.float32), load_tokenizer(source)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            with quiet_transformers():
                model.to(getattr(torch, dtype)).save_pretrained(scratch)
                tokenizer.save_pretrained(scratch)
            scratch.chmod(0o755)
            scratch.rename(out)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise CheckpointError(f"cannot write {out}: {error}") from error


def push_to_hub(folder: Path, repo_id: str) -> str:
    """Upload an exported model to the Hugging Face hub, as a private repository if it is new; returns its address.

    Raises ModelError where the hub refuses or cannot be reached.
    """
    import huggingface_hub  # noqa: PLC0415 - comes with transformers; loaded only to upload

    try:
        api = huggingface_hub.HfApi()
        address = api.create_repo(repo_id, private=True, exist_ok=True)
        api.upload_folder(folder_path=folder, repo_id=repo_id)
    except Exception as error:  # the hub's client raises errors of many libraries
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"{folder} was written but not uploaded to {repo_id!r}: {reason}; log in with `hf auth login`, or set "
            "HF_TOKEN to a token that may write there"
        ) from error
    return str(address)
