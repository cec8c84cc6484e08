"""Check programs and candidates in separate processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_a1.sandbox import CheckProgram, Limits, OutcomeKind, Sandbox

CHECK = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(x=2) == 3\n"

CASES = {
    "right": ("def f(x): return x + 1", CHECK, "VALUE", ""),
    "wrong": ("def f(x): return 2", CHECK, "RAISED", "AssertionError"),
    "by name": ("def f(x): return x + 1", "assert f(1) == 2", "VALUE", ""),
    "stub in the check": ("def f(x): return x + 1", "def f(x): ...\n" + CHECK, "VALUE", ""),
    "wrong signature": ("def f(): return 2", CHECK, "RAISED", "TypeError"),
    "not defined": ("g = 1", CHECK, "RAISED", "NameError: name 'f' is not defined"),
    "does not load": ("def f(:", CHECK, "RAISED", "SyntaxError"),
    "hangs": ("def f(x):\n    while True: pass", CHECK, "TIMEOUT", "CPU limit"),
    "exits": ("import os\ndef f(x): os._exit(0)", CHECK, "CRASH", "status 0"),
    "memory": ("def f(x): return bytearray(1 << 33)", CHECK, "MEMORY", ""),
    "expected exception": (
        "def f(x): raise KeyError('k')",
        "def check(c):\n    try: c(1)\n    except KeyError: return\n    raise AssertionError",
        "VALUE", "",
    ),
    "arguments changed in place": (
        "def f(xs, d): xs.sort(); d['n'] = 1",
        "xs, d = [2, 1], {}\nf(xs, d=d)\nassert (xs, d) == ([1, 2], {'n': 1})",
        "VALUE", "",
    ),
    "state of the candidate lasts": ("n = []\ndef f(): n.append(1); return len(n)", "assert (f(), f()) == (1, 2)", "VALUE", ""),
    "helper of the solution": ("def g(x): return x * 2\ndef f(x): return x", "assert f(g(2)) == 4", "VALUE", ""),
    "the check hangs": ("def f(x): return x", "while True: pass", "TIMEOUT", "CPU limit"),
    "the check is no Python": ("def f(x): return x", "def check(:", "RAISED", "SyntaxError"),
    "function argument": ("def f(g): return g(1)", "assert f(lambda x: x) == 1", "UNREPRESENTABLE", "type 'function'"),
    "function result": ("def f(x): return lambda: x", "assert f(1)() == 1", "UNREPRESENTABLE", "type 'function'"),
    "entry point called check": ("def check(x): return x", "def check(candidate):\n    assert candidate(1) == 1", "VALUE", ""),
    "match objects": ("import re\ndef f(x): return re.match('a', x)", "assert f('a')\nassert not f('b')", "VALUE", ""),
    "generator": ("def f(x):\n    yield from range(x)", "assert list(f(3)) == [0, 1, 2]", "VALUE", ""),
    # forging
    "agreeing object": ("class A:\n    def __eq__(self, o): return True\ndef f(x): return A()", CHECK, "RAISED", "AssertionError"),
    "patched built-ins": ("import builtins\nbuiltins.all = lambda x: True\ndef f(x): return 0", "assert all([f(1) == 2])", "RAISED", "AssertionError"),
    "StopIteration ends the tests": (
        "def f(x): raise StopIteration", "assert all(map(lambda x: f(x) == x, [1, 2]))", "RAISED", "RuntimeError",
    ),
    "patches the check through its modules": (
        "import sys\nfor m in list(sys.modules.values()):\n    if m and hasattr(m, 'check'): m.check = lambda c: None\ndef f(x): return 0",
        CHECK, "RAISED", "AssertionError",
    ),
    "redefines a built-in that the check uses": ("def abs(x): return 0\ndef f(x): return 99", "assert abs(f(1) - 2) < 1e-6", "RAISED", "AssertionError"),
    "raises SystemExit": ("def f(x): raise SystemExit(0)", CHECK, "RAISED", "SystemExit"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_check(sandbox: Sandbox, name: str) -> None:
    source, check, kind, detail = CASES[name]
    entry_point = "check" if "called check" in name else "f"
    outcome = sandbox.run_check(source, "", entry_point, check)
    assert outcome.kind == kind, outcome.detail
    assert detail in outcome.detail
    assert not outcome.shared_process


def test_shared_process_only_where_asked(sandbox: Sandbox) -> None:
    source, check = "def f(g): return g(1)", "def check(c):\n    assert c(lambda x: x) == 1"
    outcome = sandbox.run_check(source, "", "f", check, share_process=True)
    assert (outcome.kind, outcome.shared_process) == (OutcomeKind.VALUE, True)
    outcome = sandbox.run_check("def f(g): return g(2)", "", "f", check, share_process=True)
    assert (outcome.kind, outcome.shared_process) == (OutcomeKind.RAISED, True)
    plain = sandbox.run_check("def f(x): return x + 1", "", "f", CHECK, share_process=True)
    assert (plain.kind, plain.shared_process) == (OutcomeKind.VALUE, False)


def test_many_checks_stream(sandbox: Sandbox) -> None:
    programs = (CheckProgram(f"def f(x): return x + {i % 2 + 1}", CHECK, "f") for i in range(30))
    outcomes = dict(sandbox.run_checks(programs))
    assert [outcomes[i].kind.value for i in range(30)] == ["VALUE", "RAISED"] * 15


def test_references_of_evalplus_pass(shared_data: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(shared_data / "humaneval_plus_mbpp_plus.parquet").to_pylist()
    rows = [row for row in rows if len(row["test"]) < 8000][::12]
    programs = []
    for row in rows:
        extra = row["extra_info"]
        imports = "\n".join(extra["imports"]) if isinstance(extra["imports"], list) else extra["imports"] or ""
        body = row["problem"] + row["GT_code"] if row["data_source"] == "humanevalplus" else row["GT_code"]
        programs.append(CheckProgram(f"{imports}\n{body}", f"{imports}\n{row['test']}", extra["function_name"]))
    with Sandbox(Limits(cpu_s_per_call=10, wall_s_per_call=60)) as sandbox:
        outcomes = dict(sandbox.run_checks(programs))
    failed = {rows[i]["extra_info"]["question_id"]: o.detail for i, o in outcomes.items() if o.kind != "VALUE"}
    assert len(rows) >= 20
    assert failed == {}
