"""A run that nothing happened to."""

from __future__ import annotations

import pytest

from code_a1.trainer import train
from test_trainer import config_of, scripted


@pytest.fixture
def left_alone(tmp_path):
    (tmp_path / "alone").mkdir()
    return train(config_of(tmp_path / "alone", steps=4, save_every=2), policies=scripted())
