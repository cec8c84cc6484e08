"""Whole programs on standard streams: what attacks them, and what harmless ones are given."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from code_a1.sandbox import Limits, OutcomeKind, Sandbox, Script

from .attacks.scripts import BEFORE_INPUT, SCRIPTS, ScriptAttack

LIMITS = Limits(cpu_s_per_call=0.3, wall_s_per_call=1.5, memory_mb=256, result_bytes=1 << 20)
LONGEST_S = 30.0
ECHO = "import sys\nprint(sys.argv, sys.stdin.read())"


@pytest.fixture(scope="module", params=["full", "no-namespaces"])
def arena(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One worker, so that whatever an attack leaves behind meets the script after it."""
    with Sandbox(LIMITS, workers=1, tier=request.param) as sandbox:
        yield sandbox


def run(sandbox: Sandbox, *scripts: Script) -> list:
    found = dict(sandbox.run_scripts(scripts))
    return [found[i] for i in range(len(scripts))]


@pytest.mark.parametrize("attack", SCRIPTS, ids=[a.name.replace(" ", "_") for a in SCRIPTS])
def test_script_attack_wins_nothing(arena: Sandbox, attack: ScriptAttack) -> None:
    started = time.monotonic()
    harmless = Script(ECHO, BEFORE_INPUT)
    before, attacked, after = run(arena, harmless, Script(attack.source, b"own input"), Script(ECHO, b"1 2"))
    assert time.monotonic() - started < LONGEST_S
    assert before.values() == (b"['solution.py'] " + BEFORE_INPUT + b"\n",)
    assert attacked.kind is not OutcomeKind.SANDBOX_ERROR, attacked.detail
    assert not (attack.fails and attacked.kind is OutcomeKind.VALUE)
    if attacked.kind is OutcomeKind.VALUE:
        assert b"ESCAPED" not in attacked.values()[0]
        assert BEFORE_INPUT not in attacked.values()[0]
    assert after.values() == (b"['solution.py'] 1 2\n",)


def test_outcomes_are_seen_from_outside(arena: Sandbox) -> None:
    ended = run(
        arena,
        Script("print(1)"),
        Script("print(1)\nraise SystemExit"),
        Script("import sys\nsys.exit('a message')"),
        Script("raise ValueError('no')"),
        Script("import os\nos.abort()"),
        Script("x = bytearray(1 << 30)"),
        Script("print('x' * (2 << 20))"),
        Script("import os\nos.close(1)\nprint(1)"),
        Script("import time\ntime.sleep(20)"),
    )
    kinds = [outcome.kind.value for outcome in ended]
    assert kinds == ["VALUE", "VALUE", "RAISED", "RAISED", "CRASH", "MEMORY", "OUTPUT_LIMIT", "RAISED", "TIMEOUT"]
    assert ended[3].detail == "exited with status 1: ValueError: no"
    assert ended[4].detail == "killed by SIGABRT"
    assert ended[7].detail.startswith("exited with status 120")
    assert 0 < ended[0].cpu_s < 0.3


def test_input_is_a_file_of_any_size(arena: Sandbox) -> None:
    large = b"0123456789abcdef" * (1 << 18)  # 4 MiB, more than a pipe holds
    source = "import os, sys\nassert sys.stdin.seekable()\nprint(os.fstat(0).st_size, len(sys.stdin.buffer.read()))"
    [outcome] = run(arena, Script(source, large))
    assert outcome.values() == (b"4194304 4194304\n",)


def test_text_is_utf_8_and_carries_any_bytes(arena: Sandbox) -> None:
    [outcome] = run(arena, Script("print(input() + 'é')", "ü".encode() + b"\xff"))
    assert outcome.values() == ("ü".encode() + b"\xff" + "é\n".encode(),)
