"""Whole programs on standard streams: forged ends, the input file, the pipe, the channel, never ending.

A script has won if it prints "ESCAPED" or what an earlier script was given to read, if it counts as ended well though
it must not (`fails`), or if the script after it is harmed.
"""

from dataclasses import dataclass

BEFORE_INPUT = b"INPUT-OF-THE-SCRIPT-BEFORE"
TRY = """
import os, sys
def attempt(work):
    try: work()
    except Exception: return
    print("ESCAPED", flush=True)
"""


@dataclass(frozen=True)
class ScriptAttack:
    kind: str
    name: str
    source: str
    fails: bool = False


def _attack(name: str, source: str, *, fails: bool = False) -> ScriptAttack:
    return ScriptAttack("script", name, TRY + source, fails)


SCRIPTS = [
    _attack("a record of success in the channel, then status 1", """
import struct
for nonce in (bytes(8), b"\\xff" * 8): os.write(3, struct.pack("<8sBII", nonce, 0, 0, 5) + b"t\\0\\0\\0\\0")
sys.exit(1)
""", fails=True),
    _attack("closes the channel and goes on", "os.close(3)\nwhile True: pass", fails=True),
    _attack("floods the channel", "while True: os.write(3, b'x' * 65536)", fails=True),
    _attack("shuts the channel down and sleeps", """
import socket, time
socket.socket(1, 1, 0, fileno=3).shutdown(socket.SHUT_RDWR)
time.sleep(60)
""", fails=True),
    _attack("puts standard output in the place of the channel", "os.dup2(1, 3)\nwhile True: pass", fails=True),
    _attack("writes into its input file", "attempt(lambda: os.write(0, b'other'))"),
    _attack("truncates its input file", "attempt(lambda: os.ftruncate(0, 0))"),
    _attack("opens its input file for writing", """
for path in ("/proc/self/fd/0", "/dev/fd/0", "/dev/stdin"): attempt(lambda: os.open(path, os.O_RDWR))
"""),
    _attack("locks and leases its input file", """
import fcntl
attempt(lambda: fcntl.flock(0, fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt(lambda: fcntl.fcntl(0, fcntl.F_SETLEASE, fcntl.F_WRLCK))
attempt(lambda: fcntl.fcntl(1, fcntl.F_SETOWN, os.getpid()))
"""),
    _attack("changes its input file's mode, owner and times", """
attempt(lambda: os.fchmod(0, 0o777))
attempt(lambda: os.fchown(0, 0, 0))
attempt(lambda: os.utime(0))
"""),
    _attack("maps its input file shared and writes", """
import mmap
attempt(lambda: mmap.mmap(0, 1, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE).write(b"x"))
"""),
    _attack("looks for other descriptors", """
for number in range(4, 256): attempt(lambda: os.fstat(number))
"""),
    _attack("passes its descriptors on, or asks for more", """
import array, socket
channel = socket.socket(1, 1, 0, fileno=os.dup(3))
channel.setblocking(False)
attempt(lambda: socket.send_fds(channel, [b"x"], [0, 1]))
attempt(lambda: socket.recv_fds(channel, 1, 4))
"""),
    _attack("looks for the input of the script before in memory", """
import gc
for thing in gc.get_objects():
    if isinstance(thing, (bytes, str)) and "INPUT-OF-THE-SCRIPT" + "-BEFORE" in str(thing): print("ESCAPED")
"""),
    _attack("a large pipe, without blocking, with signals", """
import fcntl
try: fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
except OSError: pass
fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
while True:
    try: os.write(1, b"y" * 65536)
    except BlockingIOError: pass
""", fails=True),
    _attack("prints without end and without a line end", "while True: sys.stdout.write('z' * 100000)", fails=True),
    _attack("closes standard output and spins", "os.close(1)\nwhile True: pass", fails=True),
    _attack("a thread that never ends", """
import threading
def spin():
    while True: pass
threading.Thread(target=spin).start()
""", fails=True),
    _attack("a thread that sleeps for ever behind a pool", """
import concurrent.futures, time
concurrent.futures.ThreadPoolExecutor().submit(time.sleep, 1000)
""", fails=True),
    _attack("an exit handler that never ends", """
import atexit
def spin():
    while True: pass
atexit.register(spin)
""", fails=True),
    _attack("a finalizer that never ends", """
class Spin:
    def __del__(self):
        while True: pass
kept = Spin()
""", fails=True),
    _attack("kills itself", "print('x', flush=True)\nos.kill(os.getpid(), 9)", fails=True),
    _attack("a status that only looks like 0", """
class Code(int):
    def __and__(self, other): return 0
    __rand__ = __and__
sys.exit(Code(3))
"""),
    _attack("an exception whose text never ends", """
class Endless(Exception):
    def __str__(self):
        while True: pass
raise Endless
""", fails=True),
    _attack("forks to outlive its end", "attempt(lambda: os.fork() or os._exit(0))"),
    _attack("writes a file for the script after it", "attempt(lambda: open('/tmp/for-the-next', 'w').write('x'))"),
]  # fmt: skip
