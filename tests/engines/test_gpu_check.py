"""`scripts/gpu_check.sh`: its table on a CPU, in small sizes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from code_a1.bench import gpu_check

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CODE_A1_CACHE", str(tmp_path))


def test_parity_compares_two_engines_on_the_same_rows():
    rows = {name: (value, holds) for name, value, _, holds in gpu_check.parity("cpu")}
    assert rows["log-probs, GPU against CPU"] == (0.0, True)
    assert rows["loss, GPU against CPU"] == (0.0, True)
    assert rows["gradient norm, relative"] == (0.0, True)
    assert rows["completions with the same tokens"] == (1.0, True)


def test_a_check_that_does_not_hold_is_an_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(gpu_check, "parity", lambda device: iter([("log-probs", 0.5, "< 1e-3", False)]))
    monkeypatch.setattr(gpu_check, "pair", lambda *arguments: iter([("speed", 10.0, "", None)]))
    monkeypatch.setattr(gpu_check, "five_steps", lambda *arguments: iter([("steps", 5, "= 5", True)]))
    assert gpu_check.main(["--dry", "--json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["log-probs", "0.5", "<", "1e-3", "FAILS"]
    assert json.loads(lines[-1]) == {"log-probs": 0.5, "speed": 10.0, "steps": 5}


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu_check.main([]) == 3
    assert "--dry" in capsys.readouterr().err


@pytest.mark.slow
def test_the_script_runs_dry():
    done = subprocess.run(
        [str(ROOT / "scripts" / "gpu_check.sh"), "--dry", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHON": sys.executable},
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["run: steps completed"] == 5
    assert figures["random-qwen2-5m code: sampled tokens per second"] > 0
