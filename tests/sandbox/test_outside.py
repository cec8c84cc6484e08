"""What programs could reach outside if they got there: real sockets, files, memory, queues and processes of ours."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_a1.sandbox import CheckProgram, Limits, OutcomeKind, Sandbox

from .conftest import program, value

LIMITS = Limits(cpu_s_per_call=1.0, wall_s_per_call=2.0, memory_mb=512, max_reforks=2)
LIBC = ctypes.CDLL(None, use_errno=True)
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="interfaces of the Linux kernel")


@pytest.fixture(scope="module", params=["full", "no-namespaces"])
def arena(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(LIMITS, workers=1, tier=request.param) as sandbox:
        yield sandbox


def tried(sandbox: Sandbox, source: str) -> list[object]:
    """What `f(1)` gives: the names of what worked."""
    [result] = sandbox.run_all([program(source, "f(1)")])
    found = value(result.outcomes[0])
    assert isinstance(found, list)
    return found


@needs_linux
def test_unix_sockets_outside_hear_nothing(arena: Sandbox, tmp_path: Path) -> None:
    heard = []
    ears = []
    for address in (f"\0code-a1-test-{os.getpid()}", str(tmp_path / "ear")):
        ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        ear.bind(address)
        ear.settimeout(0.05)
        ears.append((ear, address))
    for place in (tmp_path, *tmp_path.parents):
        if place.stat().st_uid == os.getuid() and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o011)
    (tmp_path / "ear").chmod(0o777)
    source = f"""
import socket
def f(x):
    done = []
    for address in {[address for _, address in ears]!r}:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for name, act in (('sendto', lambda: a.sendto(b'x', address)), ('connect', lambda: a.connect(address)),
                          ('sendmsg', lambda: a.sendmsg([b'x'], [], 0, address))):
            try: act()
            except OSError: continue
            done.append(name)
    return done
"""
    assert tried(arena, source) == []
    for ear, _ in ears:
        try:
            heard.append(ear.recv(10))
        except TimeoutError:
            continue
        finally:
            ear.close()
    assert heard == []


@needs_linux
def test_system_v_objects_outside_stay_as_they_are(arena: Sandbox) -> None:
    LIBC.shmat.restype = ctypes.c_void_p
    memory, queue = LIBC.shmget(0, 4096, 0o1666), LIBC.msgget(0, 0o1666)
    if memory < 0 or queue < 0:
        pytest.skip("System V objects cannot be made here")
    try:
        address = LIBC.shmat(memory, None, 0)
        ctypes.memmove(address, b"untouched", 9)
        source = f"""
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_long
def f(x):
    done = []
    address = libc.shmat({memory}, None, 0)
    if address != -1:
        ctypes.memmove(address, b'touched!!', 9); done.append('shmat')
    if libc.msgsnd({queue}, ctypes.create_string_buffer(b'\\1' * 16), 8, 0o4000) == 0: done.append('msgsnd')
    if libc.shmctl({memory}, 0, None) == 0: done.append('shmctl')
    if libc.msgctl({queue}, 0, None) == 0: done.append('msgctl')
    return done
"""
        assert tried(arena, source) == []
        assert ctypes.string_at(address, 9) == b"untouched"
        assert LIBC.msgrcv(queue, ctypes.create_string_buffer(64), 16, 0, 0o4000) == -1
        LIBC.shmdt(ctypes.c_void_p(address))
    finally:
        LIBC.shmctl(memory, 0, None)
        LIBC.msgctl(queue, 0, None)


@needs_linux
def test_files_outside_can_be_neither_read_nor_changed(arena: Sandbox, tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("as it was")
    target.chmod(0o666)
    source = f"""
import os
path = {str(target)!r}
def f(x):
    done = []
    for name, act in (('read', lambda: open(path).read()), ('write', lambda: open(path, 'w')), ('truncate', lambda: os.truncate(path, 0)),
                      ('O_TRUNC', lambda: os.open(path, os.O_RDONLY | os.O_TRUNC)), ('unlink', lambda: os.unlink(path)),
                      ('rename', lambda: os.rename(path, path + 'x')), ('link', lambda: os.link(path, path + 'y')),
                      ('chmod', lambda: os.chmod(path, 0)), ('utime', lambda: os.utime(path)), ('mkdir', lambda: os.mkdir(path + 'z')),
                      ('setxattr', lambda: os.setxattr(path, 'user.x', b'x')), ('list', lambda: os.listdir(os.path.dirname(path)))):
        try: act()
        except OSError: continue
        done.append(name)
    return done
"""
    before = target.stat()
    assert tried(arena, source) == []
    assert target.read_text() == "as it was"
    assert target.stat() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["target.txt"]


@needs_linux
def test_processes_outside_get_no_signal(arena: Sandbox) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    heard = []
    previous = signal.signal(signal.SIGUSR1, lambda *_: heard.append("SIGUSR1"))
    try:
        source = f"""
import os, signal
def f(x):
    done = []
    for pid in ({bystander.pid}, {os.getpid()}, -{bystander.pid}, -1, 0, 1, os.getppid()):
        for act in (os.kill, os.killpg):
            try: act(pid, signal.SIGUSR1)
            except (OSError, OverflowError): continue
            done.append(pid)
    return done
"""
        assert tried(arena, source) == []
        assert bystander.poll() is None
        assert heard == []
    finally:
        signal.signal(signal.SIGUSR1, previous)
        bystander.kill()
        bystander.wait()


def test_nothing_that_a_program_starts_is_left(arena: Sandbox) -> None:
    bomb = """
import threading, time
def f(x):
    for _ in range(10): threading.Thread(target=time.sleep, args=(1000,)).start()
    return [threading.active_count()]
"""
    assert tried(arena, bomb) == [11]
    assert tried(arena, "import threading\ndef f(x): return [threading.active_count()]") == [1]
    deadline = time.monotonic() + 10
    while (left := _tasks_of(arena)) > 12 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left <= 12, f"{left} tasks are left of a worker, its fork server and one child kept ready"


def _tasks_of(sandbox: Sandbox) -> int:
    """Threads of the worker and of everything beneath it."""
    todo, count = [worker.process.pid for worker in sandbox._workers], 0
    while todo:
        pid = todo.pop()
        try:
            tasks = [task.name for task in Path(f"/proc/{pid}/task").iterdir()]
            for task in tasks:
                todo += [int(child) for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
        except OSError:
            continue
        count += len(tasks)
    return count


def test_concurrent_programs_do_not_meet() -> None:
    """Attackers on one worker, sound programs on the other, at the same time: every sound answer stands."""
    attacker = program(
        "import os, threading\n"
        "def spam():\n"
        "    while True:\n"
        "        for fd in range(3, 20):\n"
        "            try: os.write(fd, b'x' * 64)\n"
        "            except OSError: pass\n"
        "def f(x):\n"
        "    for _ in range(8): threading.Thread(target=spam, daemon=True).start()\n"
        "    for pid in range(1, 400):\n"
        "        try: os.kill(pid, 9)\n"
        "        except OSError: pass\n"
        "    return 1", "f(1)",
    )  # fmt: skip
    sound = [program(f"def f(x): return x + {i}", "f(1)", "f(2)") for i in range(40)]
    with Sandbox(LIMITS, workers=2) as sandbox:
        mixed = [p for pair in zip(sound, [attacker] * 40, strict=True) for p in pair]
        results = sandbox.run_all(mixed)
        assert [[value(o) for o in r.outcomes] for r in results[::2]] == [[1 + i, 2 + i] for i in range(40)]
        assert all(r.outcomes[0].kind is not OutcomeKind.SANDBOX_ERROR for r in results)


def test_nobody_masks_himself_by_using_up_what_a_fork_needs() -> None:
    """Threads of a candidate count against the limit that forking the check's process meets."""
    hoarder = (
        "import threading, time\ndef hoard():\n    try:\n        while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
        "    except RuntimeError: pass\nhoard()\ndef f(x): return 1\n"
    )
    check = "def check(candidate):\n    assert candidate(1) == 2\n"
    with Sandbox(LIMITS, workers=1) as sandbox:
        [(_, outcome)] = sandbox.run_checks([CheckProgram(hoarder, check, "f")])
        assert outcome.kind in (OutcomeKind.RAISED, OutcomeKind.MEMORY, OutcomeKind.CRASH)
        [(_, after)] = sandbox.run_checks([CheckProgram("def f(x): return 2", check, "f")])
        assert after.kind is OutcomeKind.VALUE


def test_an_error_of_ours_that_follows_a_program_to_a_sound_worker_is_its_crash(monkeypatch) -> None:
    with Sandbox(LIMITS, workers=1) as sandbox:
        finish = Sandbox._finish

        def failing(self, worker, job):
            if job.run is not None and b"# unlucky" in job.body:
                error = job.result.load.__class__(OutcomeKind.SANDBOX_ERROR, detail="no fork")
                job.result = job.result.__class__(error, (error,))
            finish(self, worker, job)

        monkeypatch.setattr(Sandbox, "_finish", failing)
        unlucky, lucky = sandbox.run_all(
            [program("# unlucky\ndef f(x): return 1", "f(1)"), program("def f(x): return 1", "f(1)")]
        )
        assert unlucky.outcomes[0].kind is OutcomeKind.CRASH
        assert "no fork" in unlucky.outcomes[0].detail
        assert value(lucky.outcomes[0]) == 1


@needs_linux
@pytest.mark.parametrize("tier", ["full", "no-namespaces"])
def test_an_installed_package_hides_its_problems_and_their_solutions(tmp_path: Path, tier: str) -> None:
    """As installed from a wheel: among the packages that programs may read, but not itself."""
    site = tmp_path / "site-packages"
    package = Path(__file__).parents[2] / "src" / "code_a1"
    shutil.copytree(package, site / "code_a1", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "other_package").mkdir()
    (site / "other_package" / "__init__.py").write_text("value = 7\n")
    for place in (site, *site.parents):
        if place.stat().st_uid == os.getuid() and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o055)
    attack = f"""
import os, sys
def f(x):
    import other_package
    found = []
    for root in [{str(site)!r}, *sys.path]:
        for name in ('problems/bundled.jsonl', '__init__.py'):
            try: found.append(open(os.path.join(root, 'code_a1', name)).read(20))
            except OSError: pass
    try: import code_a1.records; found.append('imported')
    except (ImportError, OSError): pass
    return [other_package.value, *found]
"""
    script = f"""
import sys
sys.path.insert(0, {str(site)!r})
import code_a1
assert code_a1.__file__.startswith({str(site)!r}), code_a1.__file__
from code_a1.sandbox import Call, Program, Sandbox
with Sandbox(workers=1, tier={tier!r}) as sandbox:
    [result] = sandbox.run_all([Program({attack!r}, (Call(("f(1)",)),))])
outcome = result.outcomes[0]
print(outcome.kind, outcome.detail, outcome.values() if outcome.kind == "VALUE" else "")
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip().endswith("([7],)"), ran.stdout
