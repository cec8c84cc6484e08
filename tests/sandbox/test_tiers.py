"""Tiers: probed by doing, refused when too weak, and holding for root and for ordinary users."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import code_a1
from code_a1.errors import SandboxUnavailable
from code_a1.sandbox import Sandbox, TierReport, probe, tiers

from .conftest import LIMITS, kinds, program, value

INSIDE = """
def f():
    import ctypes, os
    status = {}
    capabilities = (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    ctypes.CDLL(None).syscall(125 if os.uname().machine == 'x86_64' else 90, header, capabilities)
    descriptors = []
    for fd in range(100):
        try: os.fstat(fd)
        except OSError: continue
        descriptors.append(fd)
    return os.getuid(), list(capabilities), descriptors, sorted(os.environ), os.getpid()
"""


@pytest.mark.parametrize("tier", ["full", "no-namespaces", "rlimits-only"])
def test_every_tier_runs_programs(tier: str) -> None:
    with Sandbox(LIMITS, workers=1, allow_tier=tier, tier=tier) as sandbox:
        result, spin, numpy = sandbox.run_all(
            [
                program(INSIDE, "f()"),
                program("def f():\n    while True: pass", "f()"),
                program("import numpy, colorsys\nx = 1", "x"),
            ]
        )
    uid, capabilities, descriptors, environment, pid = value(result.outcomes[0])  # type: ignore[misc]
    assert descriptors == [0, 1, 2, 3]
    assert not {"USER", "LOGNAME", "PWD", "SSH_AUTH_SOCK"} & set(environment)
    assert kinds(spin) == ["TIMEOUT"]
    assert numpy.loaded
    if tier == "full":
        assert pid < 1000  # a process namespace of its own
    if tier != "rlimits-only":
        assert uid != 0
        assert all(word in (0, 1 << 2) for word in capabilities)  # at most: reading Python in a private home folder


def test_probe_remembers_and_describes() -> None:
    report = probe()
    assert report is probe()
    assert report.name in tiers.TIERS
    assert report.tried[-1] == f"{report.name}: works"
    assert tiers.MEANING[report.name] in report.describe()


def test_too_weak_a_tier_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SandboxUnavailable, match="'rlimits-only', and 'no-namespaces' is the weakest"):
        Sandbox(LIMITS, tier="rlimits-only")
    weak = TierReport("no-namespaces", ("full: namespaces: Operation not permitted",), tiers.ADVICE["no-namespaces"])
    monkeypatch.setattr(tiers, "probe", lambda: weak)
    with pytest.raises(SandboxUnavailable, match=r"(?s)Operation not permitted.*unprivileged_userns_clone"):
        Sandbox(LIMITS, allow_tier="full")
    assert Sandbox(LIMITS, allow_tier="no-namespaces").tier == weak
    with pytest.raises(SandboxUnavailable, match="must be one of"):
        Sandbox(LIMITS, allow_tier="strong")


def test_a_tier_that_lets_anything_through_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "_ATTEMPTS", "def attempts(): return ['opened a network socket']")
    assert tiers.try_tier("full") == "a program inside opened a network socket"


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user may read; pytest closes its own to others whenever a session starts."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def system_python() -> str:
    for candidate in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if shutil.which(candidate):
            version = subprocess.run(
                [candidate, "-c", "import sys; print(sys.version_info >= (3, 11))"],
                capture_output=True,
                text=True,
                check=False,
            )
            if version.stdout.strip() == "True":
                return candidate
    pytest.skip("no Python 3.11 that every user may read")


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become an ordinary user")
@pytest.mark.parametrize("tier", ["full", "no-namespaces"])
def test_works_for_an_ordinary_user(public_folder: Path, tier: str) -> None:
    package = public_folder / "package"
    shutil.copytree(Path(code_a1.__file__).parent / "sandbox", package / "code_a1" / "sandbox")
    for name in ("__init__.py", "errors.py"):
        shutil.copy(Path(code_a1.__file__).parent / name, package / "code_a1" / name)
    for folder in (package, *package.rglob("*")):
        folder.chmod(0o755)
    script = (
        "from code_a1.sandbox import *\n"
        f"with Sandbox(tier={tier!r}, workers=1) as sandbox:\n"
        "    [result] = sandbox.run_all([Program('import os, fractions\\ndef f(x): return x + 1, os.getuid()', (Call(('f(1)',)),))])\n"
        "print(result.outcomes[0].values())"
    )
    done = subprocess.run(
        [system_python(), "-c", script], env={"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}, cwd="/",
        user=54321, group=54321, extra_groups=[], capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if "does not work here: namespaces" in done.stderr:
        pytest.skip("this machine does not let ordinary users make namespaces")
    assert done.stderr == ""
    assert done.stdout.strip() == "((2, 54321),)"


def test_importing_is_cheap() -> None:
    code = "import sys, code_a1.sandbox; print(sorted({'numpy', 'torch', 'subprocess', 'ctypes', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to take /proc away")
def test_without_proc() -> None:
    """A verdict from a lower tier, or a clear error; never a hang."""
    script = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.unshare(0x20000) == 0\n"
        "assert libc.mount(b'none', b'/', None, 0x44000, None) == 0\n"
        "assert libc.mount(b'none', b'/proc', b'tmpfs', 0, None) == 0\n"
        "from code_a1.sandbox import *\n"
        "with Sandbox(Limits(), workers=1) as sandbox:\n"
        "    [result] = sandbox.run_all([Program('def f(x): return x + 1', (Call(('f(1)',)),))])\n"
        "print(sandbox.tier.name in ('full', 'no-namespaces'), result.outcomes[0].values())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    if "AssertionError" in done.stderr:
        pytest.skip("no rights to unmount anything here")
    assert done.stdout.strip() == "True (2,)", done.stderr
