"""Changing what others use: built-ins, modules, streams, state that a later program might see."""

from . import Attack

ATTACKS = [
    Attack("monkeypatch", "built-ins", """
import builtins
for name in ('len', 'isinstance', 'type', 'tuple', 'print', 'getattr', '__import__', 'compile', 'eval', 'exec'):
    setattr(builtins, name, lambda *a, **k: 7319452806)
def f(x): return 0
"""),
    Attack("monkeypatch", "struct, marshal and os", """
import marshal, os, struct
struct.Struct = struct.pack = marshal.dumps = os.write = os.read = lambda *a, **k: b''
def f(x): return 0
"""),
    Attack("monkeypatch", "removes all modules", """
import sys
def f(x):
    sys.modules.clear()
    return 0
"""),
    Attack("monkeypatch", "trace and profile functions", """
import sys
def tracer(frame, event, arg):
    for name in list(frame.f_locals):
        if name in ('payload', 'code', 'values'): frame.f_locals[name] = b''
    return tracer
def f(x):
    sys.settrace(tracer); sys.setprofile(tracer)
    return 0
"""),
    Attack("monkeypatch", "audit hook that raises", """
import sys
def f(x):
    def hook(*a): raise RuntimeError
    sys.addaudithook(hook)
    return 0
"""),
    Attack("monkeypatch", "replaces the streams", """
import sys
class Stream:
    closed = True
    def __getattr__(self, name): raise SystemExit
sys.stdout = sys.stderr = sys.stdin = Stream()
def f(x): return 0
"""),
    Attack("monkeypatch", "signal handler that raises anywhere", """
import signal
def handler(*a): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
def f(x):
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
    return 0
"""),
    Attack("monkeypatch", "recursion limit of one", "import sys\ndef f(x):\n    sys.setrecursionlimit(60)\n    return 0"),
    Attack("monkeypatch", "garbage collector callbacks", """
import gc
def f(x):
    gc.callbacks.append(lambda *a: 1 / 0)
    gc.set_threshold(1)
    return 0
"""),
    Attack("poison", "leaves state in modules", """
import math, os, random, string
math.sqrt = None; random.random = None; string.digits = 'poisoned'; os.environ['POISON'] = '1'
def f(x): return 0
"""),
    Attack("poison", "frees what it does not own", """
import ctypes
def f(x):
    ctypes.memset(id(None), 0, 16)
    return 0
"""),
    Attack("poison", "overwrites small integers", """
import ctypes
def f(x):
    ctypes.memmove(id(1) + 24, id(2) + 24, 4)
    return 0
"""),
]  # fmt: skip
