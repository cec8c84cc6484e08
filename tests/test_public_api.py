from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import code_a1

ROOT = Path(__file__).parents[1]


def test_the_public_names_are_these():
    assert code_a1.__all__ == sorted(code_a1.__all__, key=lambda n: (n[0].islower(), n))
    assert set(code_a1.__all__) == {
        *("Candidate", "CodeA1Error", "CodeGroup", "Completion", "Config", "Judge", "Judgement", "MistakeBook"),
        *("PolicyEngine", "Problem", "RunDir", "Sandbox", "ScriptedEngine", "SuiteGroup", "TestCase", "TestSuite"),
        *("Validity", "Verdict", "load_config", "load_problems", "make_config", "read_rows", "score", "train"),
        "write_problems",
    }
    for name in code_a1.__all__:
        assert getattr(code_a1, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        code_a1.nothing  # noqa: B018


def test_layers_hold():
    lint = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lint.returncode == 0, lint.stdout
    assert "1 kept, 0 broken" in lint.stdout
