"""A few thousand candidates in a row, half of them on a machine with twice as much to do as it has cores."""

from __future__ import annotations

import os
import sys

import pytest

from .soak import programs, soak


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_nothing_grows_is_left_behind_or_flips() -> None:
    assert soak(3000, load=2 * (os.cpu_count() or 1), every=500, say=lambda _line: None) == []


def test_the_programs_differ_and_are_of_every_kind() -> None:
    made = list(programs(1000))
    assert len({p.source for p in made}) == 1000
    assert sum("while True" in p.source for p in made) == 2
