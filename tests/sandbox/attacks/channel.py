"""The result channel: nonces taken and used, frames for calls to come, answers that never end."""

from . import Attack

THIEF = """
import ctypes, gc, os, struct, sys, threading, time
def payload_of(number): return b't' + struct.pack('<I', 1) + b'i' + struct.pack('<q', number)
def record(nonce, payload, kind=0, detail=b''):
    return struct.pack('<8sBII', nonce, kind, len(detail), len(payload)) + detail + payload
def nonces():
    found = []
    frame = sys._getframe()
    while frame:
        found += [v for v in list(frame.f_locals.values()) if isinstance(v, bytes) and len(v) == 8]
        found += [getattr(v, 'nonce', None) for v in list(frame.f_locals.values())]
        frame = frame.f_back
    for thing in gc.get_objects():
        found.append(getattr(thing, 'nonce', None) if type(thing).__name__ in ('Message', 'Link') else None)
    return [n for n in dict.fromkeys(found) if isinstance(n, bytes) and len(n) == 8]
"""

ATTACKS = [
    Attack("nonce-theft", "answers in place of the runner, then ends", THIEF + """
def f(x):
    for nonce in nonces(): os.write(3, record(nonce, payload_of(1)))
    os._exit(0)
"""),
    Attack("nonce-theft", "adds the stolen nonce's secret of the next call", THIEF + """
def f(x):
    for nonce in nonces():
        following = (int.from_bytes(nonce, 'little') + 1) % (1 << 64)
        os.write(3, record(following.to_bytes(8, 'little'), payload_of(7319452806)))
    return 0
"""),
    Attack("nonce-theft", "scans its memory for the nonce of the call before", THIEF + """
old = []
def f(x):
    import builtins
    kept = builtins.__dict__.setdefault('kept', [])
    for nonce in kept: os.write(3, record(nonce, payload_of(7319452806)))
    kept += nonces()
    return 0
"""),
    Attack("nonce-theft", "keeps old nonces in a module and repeats them", THIEF + """
import string
def f(x):
    for nonce in getattr(string, 'kept', []): os.write(3, record(nonce, payload_of(7319452806)))
    string.kept = getattr(string, 'kept', []) + nonces()
    return 0
"""),
    Attack("nonce-theft", "record of every kind that only the outside may use", THIEF + """
def f(x):
    for nonce in nonces():
        for kind in (2, 3, 7, 8, 9, 127, 255): os.write(3, record(nonce, payload_of(7319452806), kind))
    return 0
"""),
    Attack("nonce-theft", "malformed payload under the right nonce", THIEF + """
def f(x):
    for nonce in nonces(): os.write(3, record(nonce, b't\\xff\\xff\\xff\\xff' + b'i' * 100))
    time.sleep(0.05)
    return 0
"""),
    Attack("nonce-theft", "payload of more values than were asked for", THIEF + """
def f(x):
    two = b't' + struct.pack('<I', 2) + (b'i' + struct.pack('<q', 7319452806)) * 2
    for nonce in nonces(): os.write(3, record(nonce, two))
    time.sleep(0.05)
    return 0
"""),
    Attack("nonce-theft", "a value in place of the answer to loading", THIEF + """
for nonce in nonces(): os.write(3, record(nonce, payload_of(1)))
def f(x): return 0
"""),
    Attack("next-call", "a thread reads the next call and answers it with its own nonce", THIEF + """
def impostor():
    try:
        while True:
            message = os.read(3, 65536)
            if len(message) < 12: return
            os.write(3, record(message[4:12], payload_of(len(message))))
    except OSError: pass
def f(x):
    threading.Thread(target=impostor, daemon=True).start()
    time.sleep(0.01)
    return 0
"""),
    Attack("next-call", "a thread outlives its call and changes the next result", THIEF + """
def late():
    time.sleep(0.02)
    for frame in list(sys._current_frames().values()):
        while frame:
            for name in ('values', 'payload'):
                if name in frame.f_locals:
                    frame.f_locals[name] = [1]
                    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
            frame = frame.f_back
def f(x):
    threading.Thread(target=late, daemon=True).start()
    time.sleep(0.03)
    return 0
"""),
    Attack("next-call", "bytes behind its answer wait for the next call", THIEF + """
def f(x):
    def later():
        time.sleep(0.005)
        os.write(3, record(b'\\0' * 8, payload_of(7319452806)) * 3)
    threading.Thread(target=later, daemon=True).start()
    return 0
"""),
    Attack("next-call", "replaces the channel by a pair of its own", THIEF + """
import socket
def f(x):
    a, b = socket.socketpair()
    os.dup2(a.fileno(), 3)
    b.send(struct.pack('<I', 8) + b'\\0' * 8)
    return 0
"""),
    Attack("next-call", "moves the channel and closes its number", "import os\ndef f(x):\n    os.dup2(3, 9)\n    os.close(3)\n    os.write(9, b'x' * 40)\n    return 0"),
    Attack("next-call", "shuts one direction down", "import socket\ns = socket.socket(fileno=3)\ndef f(x):\n    s.shutdown(socket.SHUT_RD)\n    return 0"),
    Attack("next-call", "shuts the other direction down", "import socket\ns = socket.socket(fileno=3)\ndef f(x):\n    s.shutdown(socket.SHUT_WR)\n    return 0"),
    Attack("next-call", "makes the channel non-blocking", "import os\nos.set_blocking(3, False)\ndef f(x): return 'x' * 3000000"),
    Attack("next-call", "shrinks the channel's buffers", "import socket\ns = socket.socket(fileno=3)\ns.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)\ns.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)\ns.detach()\ndef f(x): return 'x' * 100000"),
    Attack("drip", "a result that comes byte by byte", THIEF + """
def f(x):
    for nonce in nonces()[:1]:
        os.write(3, record(nonce, b'x' * 1000000)[:17])
        while True:
            os.write(3, b'x')
            time.sleep(0.05)
""", calls=1),
    Attack("drip", "a header that comes byte by byte", THIEF + """
def f(x):
    for byte in record(nonces()[0], payload_of(1)):
        os.write(3, bytes([byte]))
        time.sleep(0.15)
    return 0
""", calls=1),
    Attack("drip", "stops itself", "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSTOP)", calls=1),
    Attack("drip", "leaves its main thread and goes on in another", """
import ctypes, platform, threading, time
def f(x):
    threading.Thread(target=time.sleep, args=(100,)).start()
    ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)
""", calls=1),
]  # fmt: skip
