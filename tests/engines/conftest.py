"""Fixtures for engines: tiny models, built once per session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from code_a1.config import PolicyConfig

TORCH_FREE = {"test_update.py", "test_scripted.py"}
HAS_TORCH = find_spec("torch") is not None and find_spec("transformers") is not None
collect_ignore = (
    [] if HAS_TORCH else [p.name for p in Path(__file__).parent.glob("test_*.py") if p.name not in TORCH_FREE]
)

if HAS_TORCH:
    import torch

    from engines.tiny import build_tiny_model


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny matrices gain nothing from more threads, and lose a lot where other processes use the cores."""
    if not HAS_TORCH:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`tiny("qwen2", …)`: the folder of a random model of that shape, built at the first call."""
    built: dict[str, Path] = {}

    def build(kind: str = "llama", **overrides: Any) -> Path:
        key = repr((kind, sorted(overrides.items())))
        if key not in built:
            built[key] = build_tiny_model(tmp_path_factory.mktemp("models") / kind, kind=kind, **overrides)
        return built[key]

    return build


@pytest.fixture
def policy(tiny: Callable[..., Path]) -> Callable[..., PolicyConfig]:
    """A float32 CPU policy on a tiny model; `lora` and further keys of the config change it."""

    def make(
        kind: str = "llama", *, lora: bool | dict[str, Any] = False, model: Path | None = None, **keys: Any
    ) -> PolicyConfig:
        raw: dict[str, Any] = {
            "model": str(model or tiny(kind)),
            "dtype": "float32",
            "device": "cpu",
            "optimizer": {"lr": 1e-2, "warmup_steps": 0, "schedule": "constant", "minibatches": 1},
            "lora": {"rank": 4, "alpha": 8} if lora is True else lora or None,
        }
        return PolicyConfig.model_validate(raw | keys)

    return make
