"""A run that nothing happened to."""

from __future__ import annotations

import pytest

from code_a1.trainer import train
from test_trainer import config_of, scripted


@pytest.fixture(scope="session")
def left_alone(tmp_path_factory):
    """The folder of a run of four steps with a checkpoint every two; tests only read it."""
    return train(config_of(tmp_path_factory.mktemp("alone"), steps=4, save_every=2), policies=scripted())
