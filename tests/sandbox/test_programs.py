"""What a program's calls mean, and how each way of going wrong is reported."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from code_a1.sandbox import Array, Call, Limits, OutcomeKind, Program, ProgramResult, Sandbox, Structure, codec

from .conftest import kinds, program, value

Run = Callable[..., ProgramResult]


def test_values_in_the_order_of_calls(run: Run) -> None:
    result = run("def f(x):\n    return x + 1\n", "f(1)", "f(2)")
    assert result.loaded
    assert [value(outcome) for outcome in result.outcomes] == [2, 3]
    assert all(0 <= outcome.cpu_s < 1 for outcome in result.outcomes)


def test_expressions_bindings_and_prelude(sandbox: Sandbox) -> None:
    call = Call(("f(xs, k)", "xs", "y"), prelude="y = len(xs)", bindings={"xs": [3, 1], "k": {"a": (1,)}})
    [result] = sandbox.run_all([Program("def f(xs, k):\n    xs.append(k['a'])\n    return xs[0]", (call, call))])
    assert [outcome.values() for outcome in result.outcomes] == [(3, [3, 1, (1,)], 2)] * 2


def test_no_call_sees_what_an_earlier_one_left(run: Run) -> None:
    source = (
        "import decimal, sys\nseen = []\n"
        "def f(x):\n"
        "    seen.append(x); sys.setrecursionlimit(5000); decimal.getcontext().prec = 3; sys.stdout = None\n"
        "    return len(seen), str(decimal.Decimal(1) / 3)\n"
        "def g(): return sys.getrecursionlimit(), str(decimal.Decimal(1) / 3)[:12], sys.stdout is None"
    )
    result = run(source, "f(1)", "g()", "f(2)")
    assert value(result.outcomes[0]) == value(result.outcomes[2]) == (1, "0.333")
    assert value(result.outcomes[1]) == (1000, "0.3333333333", False)


def test_source_runs_unmodified_in_a_module_of_its_own(run: Run) -> None:
    source = '''"""Docstring."""
from __future__ import annotations
import asyncio, dataclasses, enum, pickle, sys, typing

class Colour(enum.Enum):
    RED = 1

@dataclasses.dataclass
class Node:
    value: int
    after: Node | None = None

if __name__ == "__main__":
    raise SystemExit("ran as a script")

try:
    import not_there
except ImportError:
    not_there = None

async def wait():
    await asyncio.sleep(0)
    return 7

def f():
    node = pickle.loads(pickle.dumps(Node(1)))
    return node.value, typing.get_type_hints(Node)["value"] is int, asyncio.run(wait()), __name__ in sys.modules
'''
    result = run(source, "f()", "Node(1, Node(2))", "Colour.RED")
    assert value(result.outcomes[0]) == (1, True, 7, True)
    inner = Structure("Node", (("after", None), ("value", 2)))
    assert value(result.outcomes[1]) == Structure("Node", (("after", inner), ("value", 1)))
    assert value(result.outcomes[2]) == Structure("Colour", (("name", "RED"), ("value", 1)), "enum")


def test_setup_runs_after_the_source(run: Run) -> None:
    result = run("class Pair:\n    def __init__(self, a): self.a = a", "p.a", setup="p = Pair(4)")
    assert value(result.outcomes[0]) == 4


def test_seeds_fix_hashes_and_random_numbers(run: Run) -> None:
    source = "import random\nx = random.random()\ndef f(): return x, hash('a'), list({'a', 'b', 'c', 'd', 'e'})"
    first, again, other, other_again = (
        value(run(source, "f()", "f()", seed=seed).outcomes[1]) for seed in (0, 0, 5, 5)
    )
    assert isinstance(first, tuple)
    assert isinstance(other, tuple)
    assert first[0] == 0.8444218515250481  # random.Random(0).random()
    assert other[0] == 0.6229016948897019  # random.Random(5).random()
    assert first == again
    assert other == other_again
    assert first[1] != other[1]


def test_seeds_reach_numpy(run: Run) -> None:
    pytest.importorskip("numpy")
    source = "import numpy as np\nx = np.random.random()\ndef f(): return float(x), np.arange(3)"
    result = run(source, "f()", "f()")
    assert value(result.outcomes[0]) == value(result.outcomes[1])
    assert value(result.outcomes[0]) == (0.5488135039273248, Array("int64", (3,), (0, 1, 2)))


FAULTS = {
    "raises": ("def f(x):\n    if x: raise ValueError('no')\n    return x", "RAISED", "ValueError: no"),
    "sys.exit": ("import sys\ndef f(x):\n    if x: sys.exit(0)\n    return x", "RAISED", "SystemExit: 0"),
    "keyboard interrupt": ("def f(x):\n    if x: raise KeyboardInterrupt\n    return x", "RAISED", "KeyboardInterrupt: "),
    "stop iteration": ("def f(x):\n    if x: raise StopIteration\n    return x", "RAISED", "StopIteration: "),
    "recursion": ("def f(x): return f(x) if x else x", "RAISED", "RecursionError"),
    "no stdin": ("def f(x): return input() if x else x", "RAISED", "EOFError"),
    "os._exit": ("import os\ndef f(x): return os._exit(3) if x else x", "CRASH", "exited with status 3"),
    "own signal": ("import os, signal\ndef f(x): return os.kill(os.getpid(), signal.SIGTERM) if x else x", "CRASH", "SIGTERM"),
    "segmentation fault": ("import ctypes\ndef f(x): return ctypes.string_at(0) if x else x", "CRASH", "SIGSEGV"),
    "C stack overflow": (
        "def f(x):\n    a = ()\n    for _ in range(x * 1_000_000): a = (a,)\n    return hash(a) if x else x", "CRASH", "SIGSEGV",
    ),
    "memory": ("def f(x): return len(bytearray(x << 32))", "MEMORY", "MemoryError"),
    "spin": ("def f(x):\n    while x:\n        try:\n            while True: pass\n        except BaseException: pass\n    return x",
             "TIMEOUT", "over the CPU limit of 1 s"),
    "sleep": ("import time\ndef f(x):\n    time.sleep(100 * x)\n    return x", "TIMEOUT", "over the wall-clock limit of 5 s"),
    "too large": ("def f(x): return 'x' * (x << 26) if x else x", "OUTPUT_LIMIT", "4194304 bytes"),
    "function": ("def f(x): return f if x else x", "UNREPRESENTABLE", "type 'function'"),
    "cycle": ("def f(x):\n    a = []\n    a.append(a)\n    return a if x else x", "UNREPRESENTABLE", "cyclic"),
    "not an expression": ("def f(x): return x\ndel f\nf = 3", "RAISED", "TypeError: 'int' object is not callable"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_its_own_call_only(run: Run, name: str) -> None:
    source, kind, detail = FAULTS[name]
    result = run(source, "f(0)", "f(1)", "f(0)")
    if name == "not an expression":
        assert kinds(result) == ["RAISED"] * 3
    else:
        assert kinds(result) == ["VALUE", kind, "VALUE"]
        assert value(result.outcomes[2]) == 0
    assert detail in result.outcomes[1].detail


LOAD_FAULTS = {
    "syntax error": ("def f(:", "RAISED", "SyntaxError"),
    "NUL byte": ("x = '\0'", "RAISED", "null bytes"),
    "lone surrogate": ("x = '\ud800'", "RAISED", "UnicodeEncodeError"),
    "raises": ("raise RuntimeError('at import')", "RAISED", "RuntimeError: at import"),
    "exits": ("import os\nos._exit(0)", "CRASH", "exited with status 0"),
    "spins": ("while True: pass", "TIMEOUT", "CPU limit"),
    "memory": ("x = bytearray(1 << 33)", "MEMORY", "MemoryError"),
    "missing module": ("import not_there", "RAISED", "ModuleNotFoundError"),
    "deeply nested": ("x = " + "(" * 5000 + ")" * 5000, "RAISED", "SyntaxError"),
}


@pytest.mark.parametrize("name", LOAD_FAULTS)
def test_a_failed_load_is_every_outcome(run: Run, name: str) -> None:
    source, kind, detail = LOAD_FAULTS[name]
    result = run(source, "1", "2")
    assert not result.loaded
    assert (result.load.kind, kinds(result)) == (kind, [kind, kind])
    assert detail in result.load.detail
    assert result.load.cpu_s <= 1.5  # tried once


def test_output_is_dropped(run: Run) -> None:
    source = "import sys\ndef f(x):\n    sys.stdout.write('x' * 10_000_000); print('y' * 10, file=sys.stderr); return x"
    assert value(run(source, "f(3)").outcomes[0]) == 3


def test_refork_cap_leaves_the_rest_unrun(run: Run) -> None:
    result = run("import os\ndef f(x): os._exit(1)", *["f(1)"] * 6)
    assert kinds(result) == ["CRASH"] * 4 + ["NOT_RUN"] * 2
    assert "lost its process" in result.outcomes[-1].detail


def test_threads_and_standard_library_work(run: Run) -> None:
    source = (
        "import threading, concurrent.futures, queue, colorsys, zoneinfo\n"
        "def f():\n    with concurrent.futures.ThreadPoolExecutor(4) as pool:\n        return sum(pool.map(lambda x: x * x, range(10)))"
    )
    assert value(run(source, "f()").outcomes[0]) == 285


def test_huge_integers_and_floats_cross(run: Run) -> None:
    result = run("def f(n): return 7 ** n, float('nan'), -0.0", "f(20000)")
    number, nan, zero = value(result.outcomes[0])  # type: ignore[misc]
    assert number == 7**20000
    assert nan != nan
    assert str(zero) == "-0.0"


def test_numpy_works_under_the_memory_limit(run: Run) -> None:
    pytest.importorskip("numpy")
    result = run("import numpy as np\ndef f(): return np.linalg.inv(np.eye(2) * 2), np.float32(1.5)", "f()")
    assert value(result.outcomes[0]) == (Array("float64", (2, 2), (0.5, 0.0, 0.0, 0.5)), 1.5)


def test_bindings_come_back_to_life(sandbox: Sandbox) -> None:
    pytest.importorskip("numpy")
    array = codec.decode(codec.encode(__import__("numpy").arange(4).reshape(2, 2)))
    bindings = {"_0": array, "it": iter([1, 2]), "s": Structure("S", (("x", 5),))}
    call = Call(("(_0 + 1).sum().item()", "list(it)", "s.x", "s == s"), bindings=bindings)
    [result] = sandbox.run_all([Program("import numpy", (call,))])
    assert result.outcomes[0].values() == (10, [1, 2], 5, True)


def test_bindings_that_are_not_data(sandbox: Sandbox) -> None:
    [result] = sandbox.run_all([Program("", (Call(("f",), bindings={"f": len}),))])
    assert kinds(result) == [OutcomeKind.UNREPRESENTABLE]


def test_ten_megabytes_of_source(sandbox: Sandbox) -> None:
    text = "x = 1\n" + "# " + "y" * (10 << 20) + "\ndef f(): return x\n"
    code = "\n".join(f"def f{i}(): return {i}" for i in range(400_000))
    comment, heavy = sandbox.run_all([program(text, "f()"), program(code, "f1()")])
    assert value(comment.outcomes[0]) == 1
    assert heavy.load.kind in ("TIMEOUT", "MEMORY")


def test_ten_thousand_calls(run: Run) -> None:
    result = run("def f(x): return x", *[f"f({i})" for i in range(10_000)])
    assert [value(outcome) for outcome in result.outcomes] == list(range(10_000))


def test_outcome_without_value_has_no_values(run: Run) -> None:
    [outcome] = run("", "1 / 0").outcomes
    with pytest.raises(codec.CodecError):
        outcome.values()


def test_results_of_a_program_are_bounded_together() -> None:
    with Sandbox(Limits(result_bytes=1000), workers=1) as sandbox:
        [result] = sandbox.run_all([program("def f(): return 'x' * 900", *["f()"] * 20)])
    assert kinds(result) == ["VALUE"] * 17 + ["OUTPUT_LIMIT"] * 3


MIXED = """
import os, time
def f(kind):
    if kind == "raise": raise ValueError("no")
    if kind == "exit": os._exit(3)
    if kind == "spin":
        while True: pass
    if kind == "large": return "x" * (5 << 20)
    if kind == "odd": return lambda: 0
    if kind == "busy":
        end = time.process_time() + 0.4
        while time.process_time() < end: pass
    return kind
"""
KINDS = ["a", "raise", "b", "exit", "c", "spin", "d", "large", "odd", "busy", "e"]


def test_a_trusted_program_gets_the_same_outcomes_as_any_other(sandbox: Sandbox) -> None:
    calls = tuple(Call((f"f({kind!r})",)) for kind in KINDS)
    plain, trusted = sandbox.run_all([Program(MIXED, calls), Program(MIXED, calls, trusted=True)])
    expected = ["VALUE", "RAISED", "VALUE", "CRASH", "VALUE", "TIMEOUT", "VALUE", "OUTPUT_LIMIT", "UNREPRESENTABLE"]
    assert kinds(trusted) == [*expected, "VALUE", "VALUE"] == kinds(plain)
    assert [o.payload for o in trusted.outcomes] == [o.payload for o in plain.outcomes]
    assert [o.detail for o in trusted.outcomes] == [o.detail for o in plain.outcomes]


def test_the_time_of_a_trusted_programs_calls_is_told_apart(sandbox: Sandbox) -> None:
    calls = tuple(Call((f"f({kind!r})",)) for kind in ["a", "busy", "b", "busy", "c"])
    [result] = sandbox.run_all([Program(MIXED, calls, trusted=True)])
    slow = [o.cpu_s > 0.35 for o in result.outcomes]
    assert slow == [False, True, False, True, False]


def test_many_calls_that_are_slow_together_are_not_late(sandbox: Sandbox) -> None:
    # 8 x 0.4 s in a row is over the limit of one call; each is not
    [result] = sandbox.run_all([Program(MIXED, tuple(Call(("f('busy')",)) for _ in range(8)), trusted=True)])
    assert kinds(result) == ["VALUE"] * 8


def test_a_trusted_program_keeps_its_cap_of_reforks(sandbox: Sandbox) -> None:
    calls = tuple(Call(("f('exit')",)) for _ in range(6))
    plain, trusted = sandbox.run_all([Program(MIXED, calls), Program(MIXED, calls, trusted=True)])
    assert kinds(trusted) == kinds(plain) == ["CRASH"] * 4 + ["NOT_RUN"] * 2


WORDS = """
import builtins, decimal, random
def f(step):
    if step == 0:
        builtins.len = lambda _: 7
        decimal.getcontext().prec = 3
        random.random()
    return len([1]), str(decimal.Decimal(1) / 7), random.random()
"""


def test_what_a_call_changes_in_shared_places_is_put_back_for_the_next(
    run: Callable[..., ProgramResult],
) -> None:
    result = run(WORDS, "f(0)", "f(1)", "f(1)")
    first, second, third = (value(outcome) for outcome in result.outcomes)
    assert first[0] == 7  # type: ignore[index]
    assert second == third == value(run(WORDS, "f(1)").outcomes[0])
    assert second[0] == 1  # type: ignore[index]
    assert second[1] == "0.1428571428571428571428571429"  # type: ignore[index]


def test_what_a_test_changes_in_shared_places_is_put_back_for_the_next(sandbox: Sandbox) -> None:
    calls = (
        Call(("f(2)",), prelude="import builtins; builtins.abs = lambda _: 0"),
        Call(("abs(-3)",)),
        Call(("__import__('random').random()",)),
        Call(("__import__('random').random()",)),
    )
    [result] = sandbox.run_all([Program("def f(x): return abs(x)", calls)])
    answers = [value(outcome) for outcome in result.outcomes]
    assert answers[:2] == [0, 3]
    assert answers[2] == answers[3]
