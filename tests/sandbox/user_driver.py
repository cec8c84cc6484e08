"""Runs every attack as whoever started it, with what that user owns as the target; prints one line of JSON.

Standard library only, and no test framework: it is started by `test_attacks_as_user` under another user id.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from attacks import SECRET, all_attacks

from code_a1.sandbox import Call, Limits, Program, Sandbox

LIMITS = Limits(cpu_s_per_call=0.25, wall_s_per_call=1.0, memory_mb=256, max_reforks=2)

OUTSIDE = """
import ctypes, os, socket
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_long
path, pid, memory, uid = {path!r}, {pid}, {memory}, {uid}
def f(x):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    done = []
    tries = {{
        'read': lambda: open(path).read(), 'write': lambda: open(path, 'a'), 'truncate': lambda: os.truncate(path, 0),
        'open and truncate': lambda: os.open(path, os.O_TRUNC), 'unlink': lambda: os.unlink(path), 'chmod': lambda: os.chmod(path, 0),
        'rename': lambda: os.rename(path, path + 'x'), 'link': lambda: os.link(path, path + 'x'), 'utime': lambda: os.utime(path),
        'kill': lambda: os.kill(pid, 9), 'stop': lambda: os.kill(pid, 19), 'send': lambda: a.sendto(b'x', path + '.socket'),
        'limit': lambda: __import__('resource').prlimit(pid, 0, (1, 1)), 'nice': lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        'open its memory': lambda: open(f'/proc/{{pid}}/mem'), 'read its environment': lambda: open(f'/proc/{{pid}}/environ').read(),
        'attach memory': lambda: libc.shmat(memory, None, 0) == -1 and 1 / 0, 'remove memory': lambda: libc.shmctl(memory, 0, None) and 1 / 0,
        'trace': lambda: libc.ptrace(16, pid, 0, 0) and 1 / 0, 'affinity': lambda: os.sched_setaffinity(pid, [0]),
    }}
    for name, act in tries.items():
        try: act()
        except (OSError, ZeroDivisionError): continue
        done.append(name)
    return done
"""


def outside(sandbox: Sandbox) -> list[str]:
    """What a program could do to a file, a process and shared memory of the same user."""
    libc = ctypes.CDLL(None)
    memory = libc.shmget(0, 4096, 0o1600)
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mine.txt")
        path.write_text("mine")
        source = OUTSIDE.format(path=str(path), pid=bystander.pid, memory=memory, uid=os.getuid())
        [result] = sandbox.run_all([Program(source, (Call(("f(1)",)),))])
        done = (
            list(result.outcomes[0].values()[0]) if result.outcomes[0].kind == "VALUE" else [result.outcomes[0].detail]
        )
        if path.read_text() != "mine" or bystander.poll() is not None:
            done.append("harm was done")
    bystander.kill()
    bystander.wait()
    libc.shmctl(memory, 0, None)
    return done


def main(tier: str) -> None:
    won = []
    attacks = all_attacks()
    with Sandbox(LIMITS, workers=1, tier=tier) as sandbox:
        harmless = Program("def f(x): return x + 1", (Call(("f(1)",)),))
        programs = []
        for attack in attacks:
            programs += [Program(attack.source, tuple(Call((f"f({x})",)) for x in (2, 3)[: attack.calls])), harmless]
        results = sandbox.run_all(programs)
        for attack, result, after in zip(attacks, results[::2], results[1::2], strict=True):
            values = [o.values() for o in result.outcomes if o.kind == "VALUE"]
            errors = any(o.kind == "SANDBOX_ERROR" for o in result.outcomes)
            if errors or any(v in (("ESCAPED",), (SECRET,)) for v in values) or after.outcomes[0].values() != (2,):
                won.append(f"{attack.kind}: {attack.name}")
        won += [f"outside: {name}" for name in outside(sandbox)]
    print(json.dumps({"uid": os.getuid(), "attacks": len(attacks), "won": won}))


main(sys.argv[1])
