"""No attack gets a forged answer, a way out, or an effect on the program after it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_a1.errors import CodecError
from code_a1.sandbox import Limits, OutcomeKind, Sandbox, codec

from .attacks import SECRET, Attack, all_attacks, scratch, scripts, suites
from .conftest import program, value

LIMITS = Limits(cpu_s_per_call=0.2, wall_s_per_call=0.6, memory_mb=256, max_reforks=2)
LONGEST_S = 30.0
"""No attack holds a worker longer than its limits and re-forks allow, even on a busy machine."""
ATTACKS = all_attacks()
BEFORE = program("marker = 'THE-PROGRAM-BEFORE-THIS-ONE'\ndef f(x): return 7319452806 - x", "f(1)")
AFTER = program(
    "import math, os, random, string\n"
    "def f(x): return [len(str(x)), math.sqrt(x), string.digits, os.environ.get('POISON'), isinstance(1, int), 1 + 1]\n"
    "r = random.random()",
    "f(16)", "r",
)  # fmt: skip


@pytest.fixture(scope="module", params=["full", "no-namespaces"])
def arena(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """One worker, so that whatever an attack leaves behind meets the program after it."""
    with Sandbox(LIMITS, workers=1, tier=request.param) as sandbox:
        yield sandbox


@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{a.kind}-{a.name}".replace(" ", "_") for a in ATTACKS])
def test_attack_wins_nothing(arena: Sandbox, attack: Attack) -> None:
    started = time.monotonic()
    before, attacked, after = arena.run_all([BEFORE, program(attack.source, *("f(2)", "f(3)")[: attack.calls]), AFTER])
    assert time.monotonic() - started < LONGEST_S
    assert value(before.outcomes[0]) == SECRET - 1
    for outcome in attacked.outcomes:
        assert outcome.kind is not OutcomeKind.SANDBOX_ERROR, outcome.detail
        if outcome.kind is OutcomeKind.VALUE:
            try:
                answer = value(outcome)
            except CodecError:
                pytest.fail("an outcome of kind VALUE does not decode")
            assert not codec.equal(answer, SECRET)
            assert not codec.equal(answer, [SECRET])
            assert answer != "ESCAPED"
    assert value(after.outcomes[0]) == [2, 4.0, "0123456789", None, True, 2]
    assert value(after.outcomes[1]) == 0.8444218515250481  # random.Random(0).random()


def test_the_documentation_counts_every_kind() -> None:
    every = [*ATTACKS, *suites.SUITES, *suites.CANDIDATES, *suites.CHECKS, *scripts.SCRIPTS, *scratch.SCRATCH]
    page = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \|", page, re.MULTILINE)
    assert {kind: int(number) for kind, number in rows} == Counter(attack.kind for attack in every)
    assert f"holds {len(every)} attacks" in page
    assert len(ATTACKS) >= 100
    named = {(attack.kind, attack.name) for attack in every}
    assert len(named) == len(every)
