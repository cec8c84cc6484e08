"""The interpreter itself: hooks, finalizers, signals, imports, and objects that everybody shares."""

from . import Attack

ATTACKS = [
    Attack("hooks", "audit hook that ends the process on the runner's calls", "import sys, os\ndef f(x):\n    sys.addaudithook(lambda name, args: os._exit(0) if name in ('compile', 'exec') else None)\n    return 0"),
    Attack("hooks", "monitoring callbacks", "import sys\ndef f(x):\n    m = sys.monitoring\n    m.use_tool_id(3, 'x')\n    m.register_callback(3, m.events.PY_START, lambda *a: 1 / 0)\n    m.set_events(3, m.events.PY_START)\n    return 0"),
    Attack("hooks", "trace function in all threads", "import threading, sys\ndef f(x):\n    threading.settrace_all_threads(lambda *a: 1 / 0) if hasattr(threading, 'settrace_all_threads') else sys.settrace(lambda *a: 1 / 0)\n    return 0"),
    Attack("hooks", "display, exception and unraisable hooks", "import sys, os\nsys.excepthook = sys.unraisablehook = sys.displayhook = lambda *a: os._exit(0)\nclass D:\n    def __del__(self): 1 / 0\ndef f(x):\n    D()\n    return 0"),
    Attack("hooks", "replaces the functions that the runner has bound", """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        for name in ('_write', '_read', '_loads', '_eval', '_exec', '_compile', '_len', '_tuple', 'send', 'describe', 'answer'):
            if name in frame.f_globals: frame.f_globals[name] = lambda *a, **k: 0
        frame = frame.f_back
    return 0
"""),
    Attack("hooks", "replaces the runner's code in place", """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_globals.values()):
            if type(value).__name__ == 'function' and value.__name__ in ('send', 'receive', 'clip', 'describe'):
                value.__code__ = (lambda *a, **k: b'').__code__
        frame = frame.f_back
    return 0
"""),
    Attack("hooks", "writes the encoder's table", """
import gc
def f(x):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and int in thing and list in thing and callable(thing[int]):
            thing[int] = lambda encoder, value: encoder.out.extend(b'i' + (7319452806).to_bytes(8, 'little'))
    return 0 if x != 2 else None
"""),
    Attack("lifecycle", "finalizer that writes records", "import os\nclass D:\n    def __del__(self): os.write(3, b'x' * 17)\ndef f(x):\n    d = D()\n    d.d = d\n    return 0"),
    Attack("lifecycle", "finalizer of the result that never ends", "class D(list):\n    def __del__(self):\n        while True: pass\ndef f(x): return D([1])", calls=1),
    Attack("lifecycle", "exit handlers, forever", "import atexit, threading, time\natexit.register(lambda: time.sleep(1000))\nthreading._register_atexit(lambda: time.sleep(1000)) if hasattr(threading, '_register_atexit') else None\ndef f(x): return 0"),
    Attack("lifecycle", "weak reference callbacks", "import os, weakref\nclass A: pass\nkept = []\ndef f(x):\n    a = A()\n    kept.append(weakref.ref(a, lambda r: os.write(3, b'y' * 17)))\n    return 0"),
    Attack("lifecycle", "resurrects itself on every collection", "import gc\nclass D:\n    def __del__(self):\n        global d\n        d = self\nd = D()\ndef f(x):\n    global d\n    del d\n    gc.collect()\n    gc.set_threshold(1)\n    return 0"),
    Attack("lifecycle", "threads that never end", "import threading, time\ndef f(x):\n    for _ in range(20): threading.Thread(target=time.sleep, args=(1000,)).start()\n    return 0"),
    Attack("lifecycle", "a pool of workers that is never closed", "from concurrent.futures import ThreadPoolExecutor\nimport time\npool = ThreadPoolExecutor(8)\ndef f(x):\n    for _ in range(8): pool.submit(time.sleep, 1000)\n    return 0"),
    Attack("imports", "finder that breaks every import", "import sys\nclass F:\n    def find_spec(self, *a): raise SystemExit(0)\nsys.meta_path.insert(0, F())\nsys.path_hooks.clear()\ndef f(x): return 0"),
    Attack("imports", "modules in disguise", "import sys, types\nfor name in ('codec', 'code_a1', 'code_a1.sandbox', 'marshal', 'struct'):\n    sys.modules[name] = types.ModuleType(name)\ndef f(x): return 0"),
    Attack("imports", "its own __main__ and solution", "import sys, types\nsys.modules['__main__'] = sys.modules['solution'] = types.ModuleType('m')\ndef f(x): return 0"),
    Attack("imports", "import lock held by a thread", "import _imp, threading, time\ndef hold():\n    _imp.acquire_lock()\n    time.sleep(1000)\ndef f(x):\n    threading.Thread(target=hold, daemon=True).start()\n    time.sleep(0.01)\n    return 0"),
    Attack("signal-handlers", "handler for every signal, timer that fires all the time", """
import signal
def handler(number, frame): raise BaseException
for number in range(1, 65):
    try: signal.signal(number, handler)
    except (OSError, ValueError): pass
def f(x):
    for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF): signal.setitimer(timer, 0.001, 0.0005)
    return 0
"""),
    Attack("signal-handlers", "segmentation fault that returns", "import faulthandler, signal, ctypes\nsignal.signal(signal.SIGSEGV, lambda *a: None)\ndef f(x): return ctypes.string_at(1)", calls=1),
    Attack("signal-handlers", "CPU limit with a handler", "import resource, signal\nsignal.signal(signal.SIGXCPU, lambda *a: None)\ndef f(x):\n    resource.setrlimit(resource.RLIMIT_CPU, (1, resource.getrlimit(resource.RLIMIT_CPU)[1]))\n    while True: pass", calls=1),
    Attack("signal-handlers", "alternate stack, and recursion on it", "import faulthandler\nfaulthandler.enable()\nimport sys\nsys.setrecursionlimit(10 ** 9)\ndef f(x):\n    def g(n): return [g(n + 1)]\n    return g(0)", calls=1),
    Attack("signal-handlers", "blocks all signals", "import signal, time\ndef f(x):\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    return 0"),
    Attack("signal-handlers", "wakeup descriptor is the channel", "import os, signal\ndef f(x):\n    os.set_blocking(3, False)\n    signal.signal(signal.SIGALRM, lambda *a: None)\n    signal.set_wakeup_fd(3)\n    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)\n    for _ in range(10000): pass\n    return 0"),
    Attack("limits", "no descriptors left for itself", "import resource\ndef f(x):\n    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\n    return 0"),
    Attack("limits", "no memory left for the answer", "import resource\ndef f(x):\n    resource.setrlimit(resource.RLIMIT_AS, (1, 1))\n    return [0] * 100000"),
    Attack("limits", "no stack", "import resource\ndef f(x):\n    resource.setrlimit(resource.RLIMIT_STACK, (0, 0))\n    return 0"),
    Attack("limits", "CPU limit of zero, to be killed by somebody else", "import resource\ndef f(x):\n    resource.setrlimit(resource.RLIMIT_CPU, (0, 0))\n    while True: pass", calls=1),
    Attack("limits", "locks all of its memory", "import ctypes\ndef f(x):\n    ctypes.CDLL(None).mlockall(3)\n    return 0"),
    Attack("limits", "pipes full of data", "import os\ndef f(x):\n    n = 0\n    try:\n        while True:\n            r, w = os.pipe()\n            os.set_blocking(w, False)\n            os.write(w, b'x' * 65536); n += 1\n    except OSError: return 'limited'", calls=1),
    Attack("limits", "timers without number", "import ctypes\nlibc = ctypes.CDLL(None)\ndef f(x):\n    t = ctypes.c_void_p()\n    for _ in range(100000):\n        if libc.timer_create(0, None, ctypes.byref(t)): break\n    return 0", calls=1),
    Attack("limits", "maps and protects without end", "import mmap\ndef f(x):\n    kept = []\n    try:\n        for _ in range(100000): kept.append(mmap.mmap(-1, 4096, prot=7))\n    except OSError: pass\n    return 0", calls=1),
    Attack("poison", "interned strings and small integers", "import ctypes, sys\ndef f(x):\n    ctypes.memmove(id('f') + 40, b'z', 1)\n    return 0"),
    Attack("poison", "method tables of built-in types", "import ctypes, gc\ndef f(x):\n    for d in gc.get_referents(int.__dict__):\n        if isinstance(d, dict): d['__add__'] = None; d['x'] = 1\n    return 0"),
    Attack("poison", "the type of a live object", "import ctypes\ndef f(x):\n    a = [1]\n    ctypes.c_void_p.from_address(id(a) + 8).value = id(dict)\n    return a"),
    Attack("poison", "True becomes False", "import ctypes\ndef f(x):\n    ctypes.memmove(id(True) + 16, id(False) + 16, 12)\n    return 0"),
    Attack("poison", "frozen objects of the fork server", "import gc\ndef f(x):\n    gc.unfreeze()\n    for thing in gc.get_objects():\n        if isinstance(thing, list):\n            try: thing.clear()\n            except Exception: pass\n    return 0"),
    Attack("peeking", "the stack above it for anything that it was not given", """
import ctypes, sys
def f(x):
    frame, seen = sys._getframe(1), []
    while frame:
        seen += [repr(v)[:200] for v in list(frame.f_locals.values())]
        frame = frame.f_back
    return 'ESCAPED' if any('expected' in s or '7319452806' in s and 'def f' not in s for s in seen) else 0
"""),
    Attack("peeking", "descriptors that it inherited", """
import os, stat
def f(x):
    found = []
    for fd in range(256):
        try: mode = os.fstat(fd).st_mode
        except OSError: continue
        if not stat.S_ISCHR(mode) and fd != 3: found.append(fd)
    return 'ESCAPED' if found else 0
"""),
    Attack("peeking", "who is at the other end of its channel", "import socket, struct, os\ndef f(x):\n    s = socket.socket(fileno=os.dup(3))\n    try:\n        pid = struct.unpack('iii', s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]\n        os.kill(pid, 0)\n    except OSError: return 0\n    return 'ESCAPED' if pid not in (0, os.getpid()) else 0"),
    Attack("peeking", "a handle on the process at the other end", "import socket, os\ndef f(x):\n    s = socket.socket(fileno=os.dup(3))\n    try: fd = int.from_bytes(s.getsockopt(socket.SOL_SOCKET, 77, 4), 'little')\n    except OSError: return 0\n    try: import signal; signal.pidfd_send_signal(fd, 0)\n    except OSError: return 0\n    return 'ESCAPED'"),
    Attack("peeking", "memory of the fork server's past", """
import ctypes, gc
def f(x):
    gc.unfreeze() if hasattr(gc, 'unfreeze') else None
    needle = '-'.join(['THE', 'PROGRAM', 'BEFORE', 'THIS', 'ONE'])
    for thing in gc.get_objects():
        try:
            for v in (thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()):
                if isinstance(v, (str, bytes)) and (needle if isinstance(v, str) else needle.encode()) in v: return 'ESCAPED'
        except Exception: pass
    return 0
"""),
    Attack("peeking", "names of hosts, users and folders", "import os, pwd, socket\ndef f(x):\n    for look in (lambda: pwd.getpwuid(os.getuid()), lambda: open('/etc/hostname').read(), lambda: os.listdir('/proc')):\n        try: look()\n        except (OSError, KeyError): continue\n        return 'ESCAPED'\n    return 0"),
]  # fmt: skip
