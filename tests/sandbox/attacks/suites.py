"""Attacks by the test's author on right programs, and by wrong programs on tests. For all: `f(x)` is `2 * x`."""

from dataclasses import dataclass

REFERENCE = """
MOD = 7
def helper(x):
    return x
class Kept:
    pass
def f(x):
    "Twice x."
    if x < 0:
        return -2 * -x
    return 2 * x
"""
RIGHT = """
import collections, decimal, functools, heapq, itertools, math, re, string, sys, random, json, operator, copy, bisect
def double(y):
    def deep(n):
        return 0 if n == 0 else 1 + deep(n - 1)
    heap = []
    heapq.heappush(heap, y)
    if deep(300) != 300 or math.sqrt(4) != 2.0 or not isinstance(y, (int, float)) or len(string.digits) != 10:
        return None
    if decimal.Decimal(1) / 3 != decimal.Decimal('0.3333333333333333333333333333') or json.loads('[1]') != [1]:
        return None
    if list(itertools.chain([1], [2])) != [1, 2] or collections.Counter('aa')['a'] != 2 or not re.match('a', 'a'):
        return None
    if sorted([2, 1]) != [1, 2] or max(1, 2) != 2 or bisect.bisect([1], 1) != 1 or copy.deepcopy([1]) != [1]:
        return None
    return functools.reduce(operator.add, [heapq.heappop(heap), sum([y])])
def f(value): return double(value)
"""
"""A right program that shares nothing with the reference, and relies on all that a test could take from it."""


@dataclass(frozen=True)
class SuiteAttack:
    """It has won if `RIGHT` fails a usable test, or if more than `usable` of its tests are usable."""

    kind: str
    name: str
    suite: str
    usable: int = 9


@dataclass(frozen=True)
class CandidateAttack:
    """It has won if any test passes: no right value is ever returned."""

    kind: str
    name: str
    code: str
    suite: str = "assert f(2) == 4\nassert f(3) == 6"


def tells_apart(name: str, argument: str, before: str = "") -> SuiteAttack:
    """A test whose argument may be one on the reference and another one on a candidate."""
    return SuiteAttack("telling-apart", name, f"{before}\nassert f({argument}) == 4")


def sabotage(name: str, *lines: str) -> SuiteAttack:
    """A test that breaks what the candidate uses: as statements before it, and inside the arguments."""
    inside = "\n".join(f"    {line}" for line in lines)
    imports = "\n".join(line for line in lines if line.startswith(("import", "from")))
    text = "\n".join(lines)
    return SuiteAttack(
        "sabotage", name,
        f"{text}\nassert f(2) == 4\n\n{imports}\ndef argument():\n{inside}\n    return 3\nassert f(argument()) == 6\n\n"
        f"class Five(int): pass\ndef five():\n{inside}\n    return Five(5)\nassert f(five()) == 10\n",
    )  # fmt: skip


SUITES = [
    tells_apart("process id", "os.getpid() % 3", "import os"),
    tells_apart("process id under another name", "p() % 3", "from os import getpid as p"),
    tells_apart("parent's id", "os.getppid() % 3", "import os"),
    tells_apart("time in seconds", "int(time.time())", "import time"),
    tells_apart("time in minutes", "time.time() // 60", "import time"),
    tells_apart("today", "datetime.date.today().day", "import datetime"),
    tells_apart("CPU time", "int(time.process_time() * 1000)", "import time"),
    tells_apart("speed", "sum(range(100000)) * 0 + int(time.perf_counter() - t > 0.001)", "import time\nt = time.perf_counter()"),
    tells_apart("address of a new object", "id(object()) % 64"),
    tells_apart("address of the function", "id(f) % 64"),
    tells_apart("hash of an object", "hash(object()) % 7"),
    tells_apart("hash of a string", "hash('a') % 7"),
    tells_apart("random number", "random.randint(1, 5)", "import random"),
    tells_apart("random bytes", "os.urandom(1)[0]", "import os"),
    tells_apart("unique id", "uuid.uuid4().int % 5", "import uuid"),
    tells_apart("secret number", "secrets.randbelow(5)", "import secrets"),
    tells_apart("environment", "len(os.environ)", "import os"),
    tells_apart("names around it", "len(dir())"),
    tells_apart("variables around it", "len(vars())"),
    tells_apart("globals", "len(globals())"),
    tells_apart("locals", "len(locals())"),
    tells_apart("globals through eval", "eval('len(globals())')"),
    tells_apart("function's name", "len(f.__name__)"),
    tells_apart("function's documentation", "len(f.__doc__ or '')"),
    tells_apart("function's code", "f.__code__.co_stacksize"),
    tells_apart("function's code by getattr", "getattr(f, '__co' + 'de__').co_stacksize"),
    tells_apart("function's code by attrgetter", "g('__code__.co_stacksize')(f)", "from operator import attrgetter as g"),
    tells_apart("function's code by format", "len('{0.__code__}'.format(f))"),
    tells_apart("function as text", "len(str(f))"),
    tells_apart("function in an f-string", "len(f'{f}')"),
    tells_apart("function's type", "f if type(f) is str else 2"),
    tells_apart("signature", "len(str(s(f)))", "from inspect import signature as s"),
    tells_apart("source", "len(i.getsource(f))", "import inspect as i"),
    tells_apart("defaults", "len(f.__defaults__ or ())"),
    tells_apart("annotations", "len(f.__annotations__)"),
    tells_apart("names of its parameters", "f.__code__.co_varnames.index('x') + 2"),
    tells_apart("frames", "len(s._getframe().f_globals)", "import sys as s"),
    tells_apart("frames by inspect", "len(c().f_globals)", "from inspect import currentframe as c"),
    tells_apart("modules", "len(s.modules)", "import sys as s"),
    tells_apart("main module", "len(dir(__import__('solution')))"),
    tells_apart("import of the solution", "len(vars(i('solution')))", "from importlib import import_module as i"),
    tells_apart("objects of the collector", "len(g.get_objects()) % 5", "import gc as g"),
    tells_apart("reference count", "s.getrefcount(f) % 5", "import sys as s"),
    tells_apart("size of the function", "s.getsizeof(f) % 5", "import sys as s"),
    tells_apart("memory in use", "r.getrusage(0).ru_maxrss % 5", "import resource as r"),
    tells_apart("disassembly", "len(list(d.get_instructions(f)))", "import dis as d"),
    tells_apart("threads", "t.active_count() + 1", "import threading as t"),
    tells_apart("traceback", "len(t.format_stack())", "import traceback as t"),
    tells_apart("pickle of the function", "len(p.dumps(f))", "import pickle as p"),
    tells_apart("a lambda that looks", "(lambda: f.__globals__)()"),
    tells_apart("recursion depth that is left", "d(0) % 5", "def d(n):\n    try:\n        return d(n + 1)\n    except RecursionError:\n        return n"),
    tells_apart("count of calls kept in a module", "len(keyword.kwlist)", "import keyword\nkeyword.kwlist.append('x')"),
    tells_apart("count of calls kept in an attribute", "m.count", "import math as m\nm.count = getattr(m, 'count', 1) + 1"),
    tells_apart("files", "len(os.listdir('/'))", "import os"),
    tells_apart("an instance that knows the process", "Odd(2)", "import os\nclass Odd(int):\n    def __rmul__(self, n): return n * os.getpid()\n    def __add__(self, n): return 5"),
    tells_apart("operators of an instance", "Odd(2)", "class Odd(int):\n    def __rmul__(self, n): return 4\n    def __add__(self, n): return 5\n    __radd__ = __lt__ = __add__"),
    SuiteAttack("borrowing", "the reference's helper", "assert f(helper(2)) == 4", 0),
    SuiteAttack("borrowing", "the reference's constant", "assert f(MOD) == 14\nx = MOD\nassert f(x) == 14", 0),
    SuiteAttack("borrowing", "the reference's class", "k = Kept()\nk.x = 2\nassert f(k.x) == 4\nassert f(len([Kept()])) == 2", 0),
    SuiteAttack("borrowing", "the reference as its own answer", "assert f(2) == globals()['f'](2)\nassert f(3) == eval('f(3)')\nassert f(4) == __import__('solution').f(4)", 0),
    SuiteAttack("borrowing", "the answer through frames", "import sys\nassert f(2) == sys._getframe(1).f_globals['f'](2)", 0),
    SuiteAttack("borrowing", "the answer through the collector", "import gc\nassert f(2) == [o for o in gc.get_objects() if getattr(o, '__name__', '') == 'f'][0](2)", 0),
    sabotage("mathematics", "import math", "math.sqrt = None"),
    sabotage("mathematics through its dictionary", "import math as m", "m.__dict__['sqrt'] = None"),
    sabotage("built-ins", "import builtins as b", "b.sum = b.len = b.sorted = None"),
    sabotage("built-ins by setattr", "import builtins", "setattr(builtins, 'isinstance', None)"),
    sabotage("built-ins under another name", "from builtins import setattr as s, __dict__ as d", "d['max'] = None"),
    sabotage("constants", "import string", "string.digits = ''"),
    sabotage("collections", "import collections", "collections.Counter.__getitem__ = lambda s, k: 0"),
    sabotage("heaps", "import heapq", "heapq.heappush = print"),
    sabotage("module table", "import sys", "sys.modules['functools'].reduce = None"),
    sabotage("recursion limit", "import sys", "sys.setrecursionlimit(120)"),
    sabotage("recursion limit by name", "from sys import setrecursionlimit as s", "s(120)"),
    sabotage("decimal precision", "import decimal", "decimal.getcontext().prec = 2"),
    sabotage("trace function", "import sys", "sys.settrace(lambda *a: 1 / 0)"),
    sabotage("alarm", "import signal", "signal.setitimer(signal.ITIMER_REAL, 0.01)"),
    sabotage("threads that spin", "import threading", "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"),
    sabotage("memory limit", "import resource", "resource.setrlimit(resource.RLIMIT_AS, (1, 1))"),
    sabotage("end of the process", "import os", "os._exit(0)"),
    sabotage("warnings as errors", "import warnings", "warnings.simplefilter('error')"),
    sabotage("closed streams", "import sys", "sys.stdout.close()"),
    sabotage("memory by address", "import ctypes", "ctypes.memset(id(f), 0, 64)"),
    sabotage("parser of JSON", "import json", "json.loads = None"),
    sabotage("import system", "import sys", "sys.meta_path.clear(); sys.path.clear()"),
    sabotage("audit hook", "import sys", "sys.addaudithook(lambda *a: 1 / 0)"),
    sabotage("exit handler", "import atexit", "atexit.register(lambda: 1 / 0)"),
    sabotage("keeps what is passed", "import copy", "copy.deepcopy = lambda x: x"),
    SuiteAttack("exhaustion", "CPU time nearly up", "x = sum(range(5_000_000)) * 0 + 2\nassert f(x) == 4\nassert f(sum(range(5_000_000)) * 0 + 3) == 6"),
    SuiteAttack("exhaustion", "memory nearly up", "hoard = [0] * (25 << 20)\nx = len(hoard) * 0 + 2\nassert f(x) == 4"),
    SuiteAttack("exhaustion", "an argument that takes time wherever it is looked at", "class Slow(int):\n    def __index__(self): return sum(range(10 ** 7))\n    def __lt__(self, other): return sum(range(10 ** 7)) < 0\nassert f(Slow(2)) == 4"),
    SuiteAttack("exhaustion", "arguments that hang", "while True: pass\nassert f(2) == 4\nassert f([x for x in iter(int, 1)]) == 4"),
    SuiteAttack("exhaustion", "recursion nearly up", "def deep(n): return f(2) if n == 0 else deep(n - 1)\nassert deep(900) == 4"),
    SuiteAttack("exhaustion", "recursion nearly up in a lambda", "assert (lambda g: g(g, 900))(lambda g, n: f(2) if n == 0 else g(g, n - 1)) == 4"),
    SuiteAttack("exhaustion", "answer that explodes", "assert f(2) == 10 ** 10 ** 10\nassert f(3) == [0] * 10 ** 12", 0),
    SuiteAttack("exhaustion", "answer that hangs", "assert f(2) == [x for x in iter(int, 1)]", 0),
    SuiteAttack("exhaustion", "answer of ten million digits", "assert f(2) == 7 ** 12_000_000", 0),
    SuiteAttack("exhaustion", "form that hangs unless the values are the reference's", "assert f(2) == 4 or [None for _ in iter(int, 1)]"),
    SuiteAttack("exhaustion", "form that ends the process", "import os\nassert f(2) == 4 or os._exit(0)"),
    SuiteAttack("exhaustion", "ten thousand tests", "\n".join(f"assert f({i}) == {2 * i}" for i in range(10000)), 64),
    SuiteAttack("exhaustion", "argument of ten megabytes", f"assert f(len('{'x' * 10_000_000}') * 0 + 2) == 4"),
    SuiteAttack("exhaustion", "deep expression", "assert f(" + "(" * 5000 + "2" + ")" * 5000 + ") == 4"),
    SuiteAttack("exhaustion", "long sum", "assert f(" + "+".join(["0"] * 50000) + "+2) == 4"),
    SuiteAttack("agreeing-object", "answer that equals everything", "class Any:\n    def __eq__(self, other): return True\nassert f(2) == Any()\nassert f(3) in [Any()]\nfrom unittest.mock import ANY\nassert f(4) == ANY"),
    SuiteAttack("agreeing-object", "number that equals everything", "class Any(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\nassert f(2) == Any(5)"),
    SuiteAttack("tautology", "or True", "assert f(2) == 4 or True\nassert True or f(2)\nassert f(2) or not f(2)", 0),
    SuiteAttack("tautology", "compares a call with itself", "assert f(2) == f(2)\nassert f(2) is f(2) or f(2) == f(2)\nassert not f(2) != f(2)\nassert f(2) in [f(2)]", 0),
    SuiteAttack("tautology", "of what is always so", "assert isinstance(f(2), object)\nassert len([f(2)]) == 1\nassert [f(2)]\nassert str(f(2)) == str(f(2))\nassert hasattr(f(2), '__class__')\nassert type(f(2)) is type(f(2))", 1),
    SuiteAttack("tautology", "never looks", "f(2)\nassert True\nassert 1 == 1\nassert (f(2), 4)\nassert callable(f)\nassert f\nassert f is not None", 0),
    SuiteAttack("tautology", "swallows what is raised", "try:\n    assert f(2) == 5\nexcept AssertionError:\n    pass\nassert True", 1),
    SuiteAttack("duplicate", "by layout", "assert f(3) == 6\nassert f( 3 )==6\nassert (f((3))) == (6)\nassert 6 == f(3)\nassert f(3) ==6, 'message'", 1),
    SuiteAttack("duplicate", "by name of the parameter", "assert f(3) == 6\nassert f(x=3) == 6\nassert f(*[3]) == 6\nassert f(**{'x': 3}) == 6", 1),
    SuiteAttack("duplicate", "by arithmetic", "assert f(3) == 6\nassert f(1 + 2) == 6\nassert f(int('3')) == 6\nassert f(len('abc')) == 6\nassert f(0x3) == 6\nassert f(+3) == 6\nassert f(-(-3)) == 6\nassert f(3 if True else 4) == 6", 1),
    SuiteAttack("duplicate", "by variables", "assert f(3) == 6\nx = 3\nassert f(x) == 6\ny = x\nassert f(y) == 6\nz = [3]\nassert f(z[0]) == 6\nassert f({'a': 3}['a']) == 6", 1),
    SuiteAttack("duplicate", "by another name of the function", "assert f(3) == 6\ng = f\nassert g(3) == 6\nh = g\nassert h(3) == 6", 1),
    SuiteAttack("duplicate", "by the form", "assert f(3) == 6\nassert f(3) > 5\nassert f(3) in (6,)\nassert f(3) + 1 == 7\nassert str(f(3)) == '6'\nassert not f(3) != 6\nassert abs(f(3) - 6) < 1\nassert f(3) == 6 and f(3) == 6", 1),
]  # fmt: skip

CASE = "data = {'in': 2, 'out': 4}\nassert f(data['in']) == data['out']"
LISTS = "data = {'in': [3, 1], 'out': [1, 3]}\nassert f(data['in']) == data['out']"

CANDIDATES = [
    CandidateAttack("reading-answers", "table of cases in the caller's globals", "import sys\ndef f(x):\n    return sys._getframe(1).f_globals['data']['out']", CASE),
    CandidateAttack("reading-answers", "changes the table that it is compared with", "import sys\ndef f(x):\n    sys._getframe(1).f_globals['data']['out'] = -1\n    return -1", CASE),
    CandidateAttack("reading-answers", "searches all dictionaries for the table", "import gc\ndef f(x):\n    for d in gc.get_objects():\n        if isinstance(d, dict) and 'out' in d: return d['out']\n    return -1", CASE),
    CandidateAttack("reading-answers", "variable beside the argument", "import sys\ndef f(x):\n    return sys._getframe(1).f_globals.get('b', -1)", "def case(): return 2, 4\na, b = case()\nassert f(a) == b"),
    CandidateAttack("reading-answers", "attribute beside the argument", "import sys\ndef f(x):\n    return sys._getframe(1).f_globals['T'].y", "class T:\n    x = 2\n    y = 4\nassert f(T.x) == T.y"),
    CandidateAttack("reading-answers", "constants of the code that calls it", "import sys\ndef f(x):\n    c = [v for v in sys._getframe(1).f_code.co_consts if isinstance(v, int) and v != x]\n    return c[0] if c else -1", "assert f(2) == 4"),
    CandidateAttack("reading-answers", "text of the test", "import gc\ndef f(x):\n    for s in gc.get_objects():\n        if isinstance(s, (list, tuple)):\n            for v in s:\n                if isinstance(v, str) and v.startswith('assert f'): return int(v.split('==')[1])\n    return -1"),
    CandidateAttack("reading-answers", "files of the judge and of problem sets", "import glob\ndef f(x):\n    for p in glob.glob('/**/bundled.jsonl', recursive=False) + glob.glob('/proc/*/cmdline'):\n        try: return 4 if open(p).read() else -1\n        except OSError: pass\n    return -1"),
    CandidateAttack("agreeing-object", "object equal to everything", "class A:\n    def __eq__(s, o): return True\n    __hash__ = lambda s: 0\ndef f(x): return A()"),
    CandidateAttack("agreeing-object", "number equal to everything", "class A(int):\n    def __eq__(s, o): return True\n    __ne__ = lambda s, o: False\n    __hash__ = lambda s: 0\ndef f(x): return A(7)"),
    CandidateAttack("agreeing-object", "number that hashes and compares like any key", "class A(int):\n    __eq__ = lambda s, o: True\n    __hash__ = lambda s: hash(4)\ndef f(x): return A(7)", "assert f(2) in {4}\nassert f(2) in {4: 1}\nassert f(2) in (4, 6)"),
    CandidateAttack("agreeing-object", "always within the tolerance", "class A(float):\n    __sub__ = __rsub__ = __abs__ = lambda s, *o: 0.0\ndef f(x): return A(9)", "import math\nassert abs(f(2) - 4) < 1e-6\nassert math.isclose(f(2), 4)\nassert round(f(2)) == 4"),
    CandidateAttack("agreeing-object", "always in order", "class A:\n    __lt__ = __gt__ = __le__ = __ge__ = lambda s, o: True\ndef f(x): return A()", "assert f(2) > 3\nassert f(2) < 5\nassert 3 < f(2) < 5\nassert f(2) >= 4"),
    CandidateAttack("agreeing-object", "has every length, item and text", "class A(str):\n    __len__ = lambda s: 1\n    __getitem__ = lambda s, i: '4'\n    __str__ = lambda s: '4'\n    __eq__ = lambda s, o: True\n    __hash__ = lambda s: hash('4')\ndef f(x): return A('no')", "assert str(f(2)) == '4'\nassert str(f(2))[0] == '4'\nassert repr(f(2)) == '4'"),
    CandidateAttack("agreeing-object", "nan", "def f(x): return float('nan')", "assert f(2) == 4\nassert f(2) >= 4\nassert abs(f(2) - 4) < 1\nassert f(2) in [4]"),
    CandidateAttack("agreeing-object", "record that carries its own class name", "class int:\n    def __init__(self): self.value = 4\ndef f(x): return int()"),
    CandidateAttack("printing", "markers and results on every stream", "import sys\ndef f(x):\n    for s in (sys.stdout, sys.stderr): print('PASS', 'OK', 4, '{\"passed\": true}', file=s, flush=True)"),
    CandidateAttack("early-exit", "exits with success", "import sys\ndef f(x): sys.exit(0)"),
    CandidateAttack("early-exit", "ends the process with success", "import os\ndef f(x): os._exit(0)"),
    CandidateAttack("early-exit", "ends it while it is loaded", "import os\nos._exit(0)\ndef f(x): return 4"),
    CandidateAttack("early-exit", "raises an AssertionError of its own", "def f(x): raise AssertionError('PASS')"),
    CandidateAttack("early-exit", "tells that it loaded and goes on for ever", "import os, sys\nfrom struct import pack\nframe = sys._getframe()\nwhile frame:\n    for v in list(frame.f_locals.values()):\n        n = getattr(v, 'nonce', None)\n        if isinstance(n, bytes): os.write(3, pack('<8sBII', n, 0, 0, 0))\n    frame = frame.f_back\nwhile True: pass"),
    CandidateAttack("checks", "patches assert's exception", "import builtins\nbuiltins.AssertionError = type('E', (Exception,), {})\ndef f(x): return 5"),
    CandidateAttack("lying", "numbers of other types", "def f(x): return str(2 * x)"),
    CandidateAttack("lying", "all answers at once", "def f(x): return [4, 6]"),
    CandidateAttack("lying", "generator of the answer", "def f(x): yield 2 * x"),
    CandidateAttack("lying", "coroutine of the answer", "async def f(x): return 2 * x"),
    CandidateAttack("lying", "array of the answer", "import numpy\ndef f(x): return numpy.array([2 * x])"),
    CandidateAttack("lying", "exception that carries the answer", "def f(x): return ValueError(2 * x)"),
    CandidateAttack("in-place", "rebinds what the test looks at", "import sys\ndef f(xs):\n    g = sys._getframe(1).f_globals\n    for n in ('data', 'xs', '_a0'):\n        if n in g: g[n] = {'in': [1, 3], 'out': [1, 3]}\n    return g", LISTS),
]  # fmt: skip

CHECKS = [
    CandidateAttack("checks", "agrees to everything", "class A:\n    __eq__ = lambda s, o: True\n    __bool__ = lambda s: True\ndef f(x): return A()"),
    CandidateAttack("checks", "stops the iteration", "def f(x): raise StopIteration"),
    CandidateAttack("checks", "stops the iteration of generators", "def f(x): raise StopAsyncIteration"),
    CandidateAttack("checks", "exits", "def f(x): raise SystemExit(0)"),
    CandidateAttack("checks", "leaves the process", "import os\ndef f(x): os._exit(0)"),
    CandidateAttack("checks", "interrupts", "def f(x): raise KeyboardInterrupt"),
    CandidateAttack("checks", "exception of the test framework", "import unittest\ndef f(x): raise unittest.SkipTest('skipped')"),
    CandidateAttack("checks", "looks for the check in its frames", "import sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n        if 'expected' in frame.f_locals: return frame.f_locals['expected']\n        frame = frame.f_back\n    return -1"),
    CandidateAttack("checks", "looks for the check among all objects", "import gc\ndef f(x):\n    for o in gc.get_objects():\n        if isinstance(o, dict) and 'expected' in o: return o['expected']\n    return -1"),
    CandidateAttack("checks", "defines check itself", "def check(candidate): pass\ndef f(x): return -1"),
    CandidateAttack("checks", "patches what the check uses", "import builtins, math\nbuiltins.all = builtins.any = lambda *a: True\nbuiltins.abs = lambda x: 0\nmath.isclose = lambda *a, **k: True\ndef f(x): return -1"),
    CandidateAttack("checks", "says that the check is through", "import os, sys\nfrom struct import pack\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n        for v in list(frame.f_locals.values()):\n            n = getattr(v, 'nonce', None)\n            if isinstance(n, bytes): os.write(3, pack('<8sBII', n, 0, 0, 0))\n        frame = frame.f_back\n    return -1"),
    CandidateAttack("checks", "asks the check for a call, as the check does", "import os, sys\nfrom struct import pack\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n        for v in list(frame.f_locals.values()):\n            n = getattr(v, 'nonce', None)\n            if isinstance(n, bytes): os.write(3, pack('<8sBII', n, 255, 0, 1) + b'N')\n        frame = frame.f_back\n    return -1"),
    CandidateAttack("checks", "changes the arguments into the answer", "def f(x):\n    return -1"),
    CandidateAttack("checks", "hangs", "def f(x):\n    while True: pass"),
    CandidateAttack("checks", "does not cross", "def f(x): return f"),
    CandidateAttack("checks", "array of nothing", "import numpy\ndef f(x): return numpy.array([])"),
    CandidateAttack("checks", "array of a type that explodes", "import numpy\ndef f(x): return numpy.zeros(1, dtype='V100000000')"),
]  # fmt: skip
