"""The attacks again, started by an ordinary user whose own files, processes and memory they are after."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import code_a1

from .attacks import all_attacks
from .test_tiers import public_folder, system_python

__all__ = ["public_folder"]


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become an ordinary user")
@pytest.mark.parametrize("tier", ["full", "no-namespaces"])
def test_no_attack_wins_anything_from_an_ordinary_user(public_folder: Path, tier: str) -> None:
    package, here = public_folder / "package", Path(__file__).parent
    shutil.copytree(Path(code_a1.__file__).parent / "sandbox", package / "code_a1" / "sandbox")
    for name in ("__init__.py", "errors.py"):
        shutil.copy(Path(code_a1.__file__).parent / name, package / "code_a1" / name)
    shutil.copytree(here / "attacks", package / "attacks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(here / "user_driver.py", package / "user_driver.py")
    for place in (package, *package.rglob("*")):
        place.chmod(0o755)
    done = subprocess.run(
        [system_python(), str(package / "user_driver.py"), tier],
        env={"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}, cwd="/",
        user=54321, group=54321, extra_groups=[], capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if "does not work here: namespaces" in done.stderr:
        pytest.skip("this machine does not let ordinary users make namespaces")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"uid": 54321, "attacks": len(all_attacks()), "won": []}
