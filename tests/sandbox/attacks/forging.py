"""Answers that were never computed: agreeing objects, forged records, values found elsewhere."""

from . import Attack

ATTACKS = [
    Attack("agreeing-object", "eq always true", """
class Agree:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
def f(x): return Agree()
"""),
    Attack("agreeing-object", "int subclass that agrees", """
class Agree(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def f(x): return Agree(1)
"""),
    Attack("agreeing-object", "list subclass that lies when iterated", """
class Liar(list):
    def __iter__(self): return iter([7319452806])
    def __len__(self): return 1
    def __eq__(self, other): return True
def f(x): return Liar([1])
"""),
    Attack("agreeing-object", "class with a metaclass that agrees", """
class Meta(type):
    def __eq__(cls, other): return True
    __hash__ = type.__hash__
    def __instancecheck__(cls, other): return True
class Agree(metaclass=Meta): pass
def f(x): return Agree()
"""),
    Attack("agreeing-object", "dict view that lies", """
class D(dict):
    def items(self): return [('a', 7319452806)]
    def __eq__(self, other): return True
def f(x): return D()
"""),
    Attack("forged-record", "writes to every descriptor", """
import os
def f(x):
    for fd in range(64):
        try: os.write(fd, b'\\x00' * 8 + b'\\x00' + b'\\x00' * 8)
        except OSError: pass
    return 0
"""),
    Attack("forged-record", "valid-looking record with a guessed nonce", """
import os, struct
payload = b't' + struct.pack('<I', 1) + b'i' + struct.pack('<q', 7319452806)
def f(x):
    record = struct.pack('<8sBII', b'\\0' * 8, 0, 0, len(payload)) + payload
    os.write(3, record * 5)
    return 0
"""),
    Attack("forged-record", "records written at import", """
import os, struct
payload = b't' + struct.pack('<I', 1) + b'i' + struct.pack('<q', 7319452806)
os.write(3, (struct.pack('<8sBII', b'\\0' * 8, 0, 0, len(payload)) + payload) * 3)
def f(x): return 0
"""),
    Attack("forged-record", "takes the nonce from the frames, then answers twice", """
import os, struct, sys
def f(x):
    frame = sys._getframe()
    nonces = []
    while frame:
        for value in list(frame.f_locals.values()):
            nonce = value if isinstance(value, bytes) and len(value) == 8 else getattr(value, 'nonce', None)
            if isinstance(nonce, bytes): nonces.append(nonce)
        frame = frame.f_back
    payload = b't' + struct.pack('<I', 1) + b'i' + struct.pack('<q', 1)
    for nonce in nonces:
        os.write(3, struct.pack('<8sBII', nonce, 0, 0, len(payload)) + payload)
    return 1
"""),
    Attack("forged-record", "a thread that answers the next call", """
import os, struct, threading, time
def spam():
    payload = b't' + struct.pack('<I', 1) + b'i' + struct.pack('<q', 7319452806)
    for _ in range(200):
        try: os.write(3, struct.pack('<8sBII', os.urandom(8), 0, 0, len(payload)) + payload)
        except OSError: return
        time.sleep(0.001)
def f(x):
    threading.Thread(target=spam, daemon=True).start()
    time.sleep(0.02)
    return 0
"""),
    Attack("forged-record", "a record that promises four gigabytes", """
import os, struct
def f(x):
    os.write(3, struct.pack('<8sBII', b'\\0' * 8, 0, 0xffffffff, 0xffffffff))
    return 0
"""),
    Attack("forged-record", "markers on stdout and stderr", """
import sys
def f(x):
    for stream in (sys.stdout, sys.stderr, sys.__stdout__):
        print('PASS', 7319452806, '\\x01_1 _10 [\\"ok\\", 7319452806]', file=stream, flush=True)
    return 0
"""),
    Attack("peeking", "searches the garbage collector's objects", """
import gc
def f(x):
    for thing in gc.get_objects():
        if isinstance(thing, (list, tuple, dict)) and len(thing) < 1000:
            for value in list(thing.values() if isinstance(thing, dict) else thing):
                if type(value) is int and str(value)[::-1] == '6082549137': return value
    return 0
"""),
    Attack("peeking", "searches frames", """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            if type(value) is int and str(value)[::-1] == '6082549137': return value
        frame = frame.f_back
    return 0
"""),
    Attack("peeking", "reads /proc and the environment", """
import glob, os
def f(x):
    seen = ' '.join(os.environ.values())
    for path in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline') + ['/proc/self/mem', '/proc/1/maps']:
        try: seen += open(path, 'rb').read(100000).decode('latin1'); return 'ESCAPED'
        except OSError: pass
    return 7319452806 if '7319452806' in seen else 0
"""),
    Attack("peeking", "imports the judge", """
def f(x):
    try:
        import code_a1
        return 'ESCAPED'
    except ImportError:
        return 0
"""),
    Attack("peeking", "looks for the text of the program before it", """
def f(x):
    marker = b'THE-PROGRAM-' + b'BEFORE-THIS-ONE'
    import gc
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            for value in list(thing.values()):
                if isinstance(value, (str, bytes)) and len(value) < 100000:
                    text = value.encode('utf-8', 'replace') if isinstance(value, str) else value
                    if marker in text and b'gc.get_objects' not in text: return 'ESCAPED'
    return 0
"""),
    Attack("early-exit", "os._exit(0)", "import os\ndef f(x): os._exit(0)"),
    Attack("early-exit", "os._exit(0) at import", "import os\nos._exit(0)"),
    Attack("early-exit", "sys.exit(0)", "import sys\ndef f(x): sys.exit(0)"),
    Attack("early-exit", "raises SystemExit at import", "raise SystemExit(0)"),
    Attack("early-exit", "raises KeyboardInterrupt", "def f(x): raise KeyboardInterrupt"),
    Attack("early-exit", "raises its own BaseException", """
class Quiet(BaseException):
    def __str__(self): raise Quiet
    __repr__ = __str__
def f(x): raise Quiet
"""),
    Attack("early-exit", "raises an exception whose text never ends", """
class Slow(Exception):
    def __str__(self):
        while True: pass
def f(x): raise Slow
""", calls=1),
    Attack("early-exit", "atexit hook with a record", """
import atexit, os
atexit.register(lambda: os.write(3, b'x' * 17))
def f(x): return 0
"""),
    Attack("closed-channel", "closes the result descriptor", "import os\ndef f(x):\n    os.close(3)\n    return 0"),
    Attack("closed-channel", "puts /dev/null in its place", """
import os
def f(x):
    os.dup2(os.open('/dev/null', os.O_RDWR), 3)
    return 0
"""),
    Attack("closed-channel", "reads the next call away", """
import os, threading
def f(x):
    threading.Thread(target=os.read, args=(3, 100000), daemon=True).start()
    return 0
"""),
    Attack("lying-codec", "structure that names itself int", """
class int:
    def __init__(self): self.value = 7319452806
def f(x): return int()
"""),
    Attack("lying-codec", "patches the encoder through its frames", """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        for name, value in list(frame.f_globals.items()):
            if name in ('RECORD', 'codec', '_VALUE', 'CHANNEL'):
                frame.f_globals[name] = None
        frame = frame.f_back
    return 0
"""),
    Attack("lying-codec", "endless iterator", "import itertools\ndef f(x): return itertools.count()", calls=1),
    Attack("lying-codec", "cycle", "def f(x):\n    a = []\n    a.append(a)\n    return a"),
    Attack("lying-codec", "doubling structure", """
def f(x):
    a = [0]
    for _ in range(60): a = [a, a]
    return a
""", calls=1),
    Attack("lying-codec", "colliding keys", "def f(x): return {i * (2 ** 61 - 1) for i in range(1, 3000)}"),
]  # fmt: skip
