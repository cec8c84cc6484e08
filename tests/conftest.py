"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("CODE_A1_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with MBPP, EvalPlus and ULT files beside the checkout; tests on real data skip where it is absent."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("real data not found: no folder 'data' in $CODE_A1_SHARED or in ../shared beside the checkout")
    return folder
