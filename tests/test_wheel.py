"""The wheel alone, in an environment with nothing else, is a working judge."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_in_an_empty_environment_runs_the_bundled_problems(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, cwd=tmp_path)
    [wheel] = tmp_path.glob("code_a1-*.whl")
    assert wheel.stat().st_size < 12_000_000
    held = {name.removeprefix("code_a1/") for name in zipfile.ZipFile(wheel).namelist()}
    package = ROOT / "src/code_a1"
    lab = [path.relative_to(package).as_posix() for path in (package / "lab/base").glob("*")]
    assert {"problems/lab.jsonl", "problems/lab-heldout.jsonl", "report/page.html", *lab} <= held
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    command = [python.with_name("code-a1"), "problems", "validate", "bundled", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["counts"] == {"ok": 105}
    installed = subprocess.run([python, "-m", "pip", "list"], capture_output=True, text=True, check=True).stdout
    assert not {"torch", "numpy", "transformers"} & set(installed.lower().split())
    train = [python.with_name("code-a1"), "train", str(ROOT / "configs/demo.toml"), "--set", f"run_dir={tmp_path}/run"]
    refused = subprocess.run(train, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert refused.returncode == 3
    assert "pip install 'code-a1[local]'" in refused.stderr
    assert not (tmp_path / "run").exists()
