"""Hostile values and exceptions: what looks at them runs their code."""

from . import Attack

HOSTILE = """
SECRET = 7319452806
def everything(base):
    def lie(self, *a, **k): return SECRET
    names = {'__eq__': lambda s, o: True, '__ne__': lambda s, o: False, '__hash__': lambda s: 0, '__bool__': lambda s: True}
    for name in ('__int__', '__index__', '__float__', '__len__', '__iter__', '__repr__', '__str__', '__reduce__', '__reduce_ex__',
                 '__getstate__', '__sizeof__', '__format__', '__lt__', '__le__', '__gt__', '__ge__', '__contains__', '__getitem__',
                 '__add__', '__radd__', '__dir__', '__bytes__', '__abs__', '__neg__', '__call__', '__enter__', '__length_hint__'):
        names[name] = lie
    names['__getattribute__'] = lambda s, n: SECRET
    names['__class__'] = property(lambda s: int)
    return type('Everything', (base,), names)
"""


def subclass(base: str, value: str, imports: str = "") -> Attack:
    source = f"{imports}\n{HOSTILE}\nKind = everything({base})\ndef f(x): return Kind({value})\n"
    return Attack("hostile-object", f"subclass of {base} that overrides everything", source)


ATTACKS = [
    subclass("int", "1"), subclass("str", "'x'"), subclass("float", "1.5"), subclass("bytes", "b'x'"), subclass("list", "[1]"),
    subclass("tuple", "(1,)"), subclass("dict", "{1: 2}"), subclass("set", "{1}"), subclass("frozenset", "{1}"), subclass("object", ""),
    subclass("complex", "1j"), subclass("bytearray", "b'x'"), subclass("Exception", "1"), subclass("collections.deque", "[1]", "import collections"),
    subclass("decimal.Decimal", "1", "import decimal"), subclass("fractions.Fraction", "1", "import fractions"),
    subclass("datetime.datetime", "2020, 1, 1", "import datetime"), subclass("datetime.timedelta", "1", "import datetime"),
    subclass("collections.Counter", "'ab'", "import collections"), subclass("collections.OrderedDict", "", "import collections"),
    Attack("hostile-object", "fraction of parts that are not numbers", """
import fractions
class Part(int):
    def __eq__(self, other): return True
def f(x):
    value = fractions.Fraction(1, 2)
    value._numerator, value._denominator = Part(1), 'x'
    return value
"""),
    Attack("hostile-object", "metaclass that lies about its type", """
class Meta(type):
    def mro(cls): return [cls, int, object] if False else type.mro(cls)
    def __getattribute__(cls, name): return {'__mro__': (int, object), '__name__': 'int'}.get(name) or type.__getattribute__(cls, name)
    def __subclasscheck__(cls, other): return True
    def __instancecheck__(cls, other): return True
    __eq__ = lambda cls, other: True
    __hash__ = lambda cls: hash(int)
class Value(metaclass=Meta): pass
def f(x): return Value()
"""),
    Attack("hostile-object", "class that the encoder takes for a built-in by hash and equality", """
class Meta(type):
    def __hash__(cls): return hash(int)
    def __eq__(cls, other): return other is int or type.__eq__(cls, other)
class Value(metaclass=Meta):
    def __index__(self): return 7319452806
def f(x): return Value()
"""),
    Attack("hostile-object", "enum whose value agrees", """
import enum
class Agree:
    def __eq__(self, other): return True
class E(enum.Enum):
    A = Agree()
def f(x): return E.A
"""),
    Attack("hostile-object", "named tuple with fields that lie", """
import collections
class T(collections.namedtuple('T', 'a b')):
    _fields = property(lambda self: ('x',))
    def __iter__(self): return iter((7319452806,))
    def __len__(self): return 1
    def __eq__(self, other): return True
def f(x): return T(1, 2)
"""),
    Attack("hostile-object", "dataclass with fields added later", """
import dataclasses
@dataclasses.dataclass
class D:
    a: int = 1
def f(x):
    value = D()
    D.__dataclass_fields__['b'] = 1
    value.__dict__['b'] = lambda: 1
    return value
"""),
    Attack("hostile-object", "slot descriptor that raises", """
class S:
    __slots__ = ('a',)
class Raising:
    def __get__(self, *a): raise SystemExit(0)
S.b = Raising()
def f(x):
    value = S()
    value.a = 1
    return value
"""),
    Attack("hostile-object", "dictionary that changes while it is read", """
class K:
    def __init__(self, d): self.d = d
    @property
    def __dict__(self):
        self.d.clear()
        return {}
def f(x):
    d = {}
    def gen():
        for i in range(100):
            d[i] = i
            yield i
    d['g'] = gen()
    d['k'] = K(d)
    return d
"""),
    Attack("hostile-object", "generator that grows the list it is in", """
def f(x):
    items = []
    def gen():
        items.extend(range(10))
        yield 1
    items += [gen(), gen()]
    return items
"""),
    Attack("hostile-object", "generator that frees what is being encoded", """
def f(x):
    items = []
    def gen():
        items.clear()
        yield from range(3)
    items += [gen(), [1] * 100, {2: 3}]
    return items
"""),
    Attack("hostile-object", "iterator that answers and ends the process", """
import os
def gen():
    yield 1
    os._exit(0)
def f(x): return gen()
"""),
    Attack("hostile-object", "iterator that raises SystemExit", "def gen():\n    yield 1\n    raise SystemExit(0)\ndef f(x): return gen()"),
    Attack("hostile-object", "ten thousand nested lists", "def f(x):\n    a = []\n    for _ in range(10000): a = [a]\n    return a"),
    Attack("hostile-object", "cycle through an object", "class A: pass\ndef f(x):\n    a = A()\n    a.a = {1: [a]}\n    return a"),
    Attack("hostile-object", "an int of a hundred million bits", "def f(x): return 1 << 100_000_000", calls=1),
    Attack("hostile-object", "array with a type that explodes", """
def f(x):
    import numpy
    return numpy.zeros((2, 2), dtype='V1000')
"""),
    Attack("hostile-object", "array subclass that lies", """
import numpy
class A(numpy.ndarray):
    def tolist(self): return [7319452806]
    def __eq__(self, other): return True
    def __array_finalize__(self, other): pass
    size = property(lambda self: 1)
    shape = property(lambda self: (1,))
def f(x): return numpy.array([1, 2]).view(A)
"""),
    Attack("hostile-object", "weak proxy of a hostile object", "import weakref\nclass A(int):\n    def __eq__(self, o): return True\na = A(1)\ndef f(x): return weakref.proxy(a)"),
    Attack("hostile-exception", "text that exits", "import sys\nclass E(Exception):\n    def __str__(self): sys.exit(0)\n    __repr__ = __str__\ndef f(x): raise E"),
    Attack("hostile-exception", "text that ends the process", "import os\nclass E(Exception):\n    def __str__(self): os._exit(0)\ndef f(x): raise E"),
    Attack("hostile-exception", "text that is a hostile string", "class S(str):\n    def __getitem__(self, i): raise SystemExit\n    def replace(self, *a): return self\n    def encode(self, *a): raise SystemExit\nclass E(Exception):\n    def __str__(self): return S('x')\ndef f(x): raise E"),
    Attack("hostile-exception", "text of a gigabyte", "class E(Exception):\n    def __str__(self): return 'x' * (1 << 30)\ndef f(x): raise E", calls=1),
    Attack("hostile-exception", "class without a name of its own", "class M(type):\n    __name__ = property(lambda c: 1 / 0)\nclass E(Exception, metaclass=M): pass\ndef f(x): raise E"),
    Attack("hostile-exception", "traceback that cannot be set", "class E(Exception):\n    @property\n    def __traceback__(self): raise SystemExit\ndef f(x): raise E"),
    Attack("hostile-exception", "pretends to be a MemoryError", "class E(MemoryError):\n    def __str__(self): raise E\ndef f(x): raise E"),
    Attack("hostile-exception", "pretends to be the codec's own error", """
import sys
def f(x):
    frame = sys._getframe()
    while frame:
        error = frame.f_globals.get('CodecError')
        if error: raise error('x' * 1000000)
        frame = frame.f_back
    return 0
"""),
    Attack("hostile-exception", "a chain of a million causes", "def f(x):\n    e = None\n    for _ in range(1000000):\n        n = ValueError()\n        n.__cause__ = e\n        e = n\n    raise e", calls=1),
    Attack("hostile-exception", "a group of groups", "def f(x):\n    e = ValueError()\n    for _ in range(2000): e = ExceptionGroup('x', [e])\n    raise e"),
    Attack("hostile-exception", "GeneratorExit and StopIteration", "def f(x): raise GeneratorExit if x == 2 else StopIteration(7319452806)"),
]  # fmt: skip
