"""Programs that may write into a private folder: out of it, beyond its size, into the next program's."""

from . import Attack

ATTEMPT = """
import os, stat
def attempts(*works):
    for work in works:
        try: work()
        except Exception: continue
        return "ESCAPED"
    return 0
"""

SCRATCH = [
    Attack("scratch", "files elsewhere", ATTEMPT + """
def f(x):
    places = ("/", "/usr", "/dev", "/lib", "/etc", "/proc", "/sys", "/tmp/..", "/usr/lib", "/dev/shm", "/var/tmp")
    return attempts(*[lambda p=p: open(p + "/code-a1-written", "w") for p in places])
"""),
    Attack("scratch", "modes and times elsewhere", ATTEMPT + """
def f(x):
    return attempts(*[lambda p=p: os.chmod(p, 0o777) for p in ("/", "/usr", "/usr/bin", "/dev/null", "/dev/zero")],
                    *[lambda p=p: os.utime(p) for p in ("/usr", "/dev/urandom", os.__file__)],
                    lambda: os.truncate(os.__file__, 0))
"""),
    Attack("scratch", "ways out by links, devices and sockets", ATTEMPT + """
def f(x):
    import socket
    def read_through(): os.link("/usr/bin/env", "env")
    def bound(): socket.socket(socket.AF_UNIX).bind("s")
    return attempts(lambda: os.symlink("/", "root"), read_through, bound, lambda: os.mkfifo("fifo"),
                    lambda: os.mknod("null", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))
"""),
    Attack("scratch", "runs what it wrote", ATTEMPT + """
def f(x):
    with open("run", "w") as file: file.write("#!/bin/sh\\nexit 0\\n")
    os.chmod("run", 0o4755)
    return attempts(lambda: os.execv("/tmp/run", ["run"]), lambda: os.posix_spawn("/tmp/run", ["run"], {}))
"""),
    Attack("scratch", "mounts over it", ATTEMPT + """
def f(x):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs("m", exist_ok=True)
    def mount():
        if libc.mount(b"none", b"/tmp/m", b"tmpfs", 0, None): raise OSError
    def remount():
        if libc.mount(b"none", b"/usr", None, 32, None): raise OSError
    return attempts(mount, remount)
"""),
    Attack("scratch", "fills it", """
def f(x):
    written = 0
    try:
        for n in range(1000):
            with open(f"file-{n}", "wb") as file: written += file.write(b"x" * (1 << 20))
    except OSError: return 0
    return "ESCAPED" if written > 70 << 20 else 0
"""),
    Attack("scratch", "a million files", """
def f(x):
    try:
        for n in range(1_000_000): open(f"f{n}", "w").close()
    except OSError: return 0
    return "ESCAPED"
""", calls=1),
    Attack("scratch", "folders without end, that nobody may enter", """
import os
def f(x):
    try:
        for n in range(100_000):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    except OSError: pass
    for _ in range(50):
        os.chdir("..")
        os.chmod("d" * 200, 0)
    return 0
""", calls=1),
    Attack("scratch", "leaves something for the program after it", """
import os
def f(x):
    for place in ("/tmp/left", "/tmp/sitecustomize.py", "/tmp/random.py", "left"):
        open(place, "w").write("raise SystemExit")
    return 0
"""),
    Attack("scratch", "finds what the program before it left", """
import os
def f(x): return "ESCAPED" if os.listdir("/tmp") else 0
""", calls=1),
]  # fmt: skip
