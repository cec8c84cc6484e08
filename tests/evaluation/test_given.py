"""What a given function needs that it does not bring."""

from __future__ import annotations

import pytest

from code_a1.evaluation.tests.given import read_given, undefined_names


def test_forgotten_imports_with_one_meaning_are_put_in_front():
    given = read_given(
        "def f(s):\n    return re.sub('a', 'b', s) + str(math.pi) + str(Counter(s)) + str(np.array(s))\n"
    )
    assert given.added == ("from collections import Counter", "import math", "import numpy as np", "import re")
    assert given.source.startswith("from collections import Counter\nimport math\nimport numpy as np\nimport re\ndef f")
    assert given.left_out == ""
    assert set(given.modules) == {"collections", "math", "numpy", "re"}


def test_imports_go_behind_those_from_the_future():
    given = read_given('"""Doc."""\nfrom __future__ import annotations\ndef f(x):\n    return math.floor(x), Any\n')
    assert given.source.split("\n")[1:4] == [
        "from __future__ import annotations",
        "from typing import Any",
        "import math",
    ]


@pytest.mark.parametrize(
    ("source", "import_"),
    [
        ("def f(x):\n    return datetime.now() - x\n", "from datetime import datetime"),
        ("def f(x):\n    return datetime.timedelta(days=x)\n", "import datetime"),
        ("def f(x):\n    return zlib.crc32(x)\n", "import zlib"),
    ],
)
def test_the_import_is_the_one_that_is_meant(source, import_):
    assert read_given(source).added == (import_,)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    y = [i for i in x if i]\n    return y, len(x), __name__\n",
        "def f(x):\n    global seen\n    seen = x\n    return seen\n",
        "import os.path as p\nK = 3\nclass A:\n    z = K\n    def m(self):\n        return p, A, self.z\ndef f(x):\n    return A().m()\n",
        "from tools import *\ndef f(x):\n    return whatever(x)\n",
        "def f(x):\n    try:\n        return x\n    except ValueError as e:\n        return e\n",
        "def f(x):\n    def g(y):\n        return h(y)\n    def h(y):\n        return x\n    return g(x)\n",
    ],
)
def test_names_that_are_defined_somewhere_are_no_flaw(source):
    assert undefined_names(source) == set()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(x)\n    return x\n", "is not Python: expected ':' (line 1)"),
        ("def f(x):\n    return bunch(xrange(x))\n", "uses names that nothing defines: bunch, xrange"),
        ("def f(p):\n    return open(p).read()\n", "reaches out of its process: open (line 2)"),
        ("def f(p):\n    return os.listdir(p)\n", "reaches out of its process: os.listdir (line 3)"),
        ("from os import path\ndef f(p):\n    return path.exists(p)\n", "os.path.exists (line 3)"),
        (
            "import pathlib\ndef f(p):\n    return pathlib.Path(p).read_text()\n",
            "reaches out of its process: pathlib.Path",
        ),
        ("import numpy as np\ndef f(p):\n    return np.loadtxt(p)\n", "numpy.loadtxt (line 3)"),
        ("import urllib.request as r\ndef f(u):\n    return r.urlopen(u)\n", "urllib.request.urlopen (line 3)"),
        ("def f():\n    return int(input())\n", "input (line 2)"),
    ],
)
def test_what_cannot_be_tested_here_says_why(source, reason):
    assert reason in read_given(source).left_out


@pytest.mark.parametrize(
    "source",
    [
        "import os\ndef f(p):\n    return os.path.join(p, 'a')\n",
        "def open(x):\n    return x\ndef f(p):\n    return open(p)\n",
        "def f(door):\n    return door.open()\n",
        "import sys\ndef f(p):\n    return sys.maxsize - p\n",
    ],
)
def test_what_only_looks_like_reaching_out_stays(source):
    assert read_given(source).left_out == ""
