"""Using up what others need: time, memory, threads, descriptors, output."""

from . import Attack

ATTACKS = [
    Attack("time", "spin", "def f(x):\n    while True: pass", calls=1),
    Attack("time", "spin that swallows everything", """
def f(x):
    while True:
        try:
            while True: pass
        except BaseException: pass
""", calls=1),
    Attack("time", "hang in C", "def f(x): return sum(range(10 ** 15))", calls=1),
    Attack("time", "catastrophic regular expression", "import re\ndef f(x): return re.match(r'(a+)+$', 'a' * 60 + 'b')", calls=1),
    Attack("time", "ignores signals", """
import signal
for s in range(1, 64):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
def f(x):
    while True: pass
""", calls=1),
    Attack("time", "hang at import", "while True: pass", calls=1),
    Attack("time", "hangs in the encoder", """
def gen():
    while True: pass
    yield
def f(x): return gen()
""", calls=1),
    Attack("time", "a thread spins on", """
import threading
def spin():
    while True: pass
def f(x):
    threading.Thread(target=spin, daemon=True).start()
    return 0
""", calls=1),
    Attack("memory", "one big block", "def f(x): return len(bytearray(8 << 30))", calls=1),
    Attack("memory", "many small blocks", "def f(x):\n    a = []\n    while True: a.append(bytearray(1 << 20))", calls=1),
    Attack("memory", "swallows MemoryError", """
def f(x):
    a = []
    while True:
        try:
            while True: a.append(bytearray(1 << 24))
        except MemoryError: pass
""", calls=1),
    Attack("memory", "maps without touching", "import mmap\ndef f(x): return len(mmap.mmap(-1, 8 << 30))", calls=1),
    Attack("threads", "thread bomb", """
import threading, time
def f(x):
    n = 0
    try:
        while n < 100000:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(); n += 1
    except RuntimeError: return 'limited'
    return 'ESCAPED'
"""),
    Attack("descriptors", "opens everything", """
import os
def f(x):
    n = 0
    try:
        while n < 100000: os.open('/dev/null', 0); n += 1
    except OSError: return 'limited'
    return 'ESCAPED'
"""),
    Attack("output", "100 MB without a newline", """
import sys
def f(x):
    for _ in range(100): sys.stdout.write('x' * (1 << 20))
    sys.stdout.flush()
    return 0
"""),
    Attack("output", "result too large", "def f(x): return 'x' * (64 << 20)"),
    Attack("recursion", "Python recursion", "def f(x): return f(x)", calls=1),
    Attack("recursion", "recursion without a limit", "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(x): return f(x)", calls=1),
    Attack("recursion", "C stack", """
def f(x):
    a = ()
    for _ in range(1_000_000): a = (a,)
    return hash(a)
"""),
    Attack("recursion", "null pointer", "import ctypes\ndef f(x): return ctypes.string_at(0)", calls=1),
    Attack("recursion", "aborts", "import os\ndef f(x): os.abort()", calls=1),
]  # fmt: skip
