"""A private folder to write to, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from code_a1.sandbox import Limits, OutcomeKind, Sandbox

from .attacks import Attack
from .attacks.scratch import SCRATCH
from .conftest import program, value

LIMITS = Limits(cpu_s_per_call=3.0, wall_s_per_call=20.0, memory_mb=256, max_reforks=1)
WRITER = replace(
    program(
        "import os, shutil, tempfile\n"
        "def f(x):\n"
        "    found = os.listdir('.')\n"
        "    with open('a.txt', 'w') as file: file.write('text')\n"
        "    shutil.copy2('a.txt', 'b.txt')\n"
        "    os.makedirs('d/e')\n"
        "    shutil.move('b.txt', 'd/e/c.txt')\n"
        "    with tempfile.TemporaryDirectory() as folder: open(folder + '/x', 'w').close()\n"
        "    return found, os.getcwd(), sorted(os.listdir('.')), open('/tmp/d/e/c.txt').read()",
        "f(1)",
    ),
    scratch=True,
)
WRITTEN = ([], "/tmp", ["a.txt", "d"], "text")


@pytest.fixture(scope="module")
def arena() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, workers=1, tier="full") as sandbox:
        yield sandbox


@pytest.mark.parametrize("attack", SCRATCH, ids=[a.name.replace(" ", "_") for a in SCRATCH])
def test_scratch_attack_wins_nothing(arena: Sandbox, attack: Attack) -> None:
    calls = ("f(2)", "f(3)")[: attack.calls]
    before, attacked, after = arena.run_all([WRITER, replace(program(attack.source, *calls), scratch=True), WRITER])
    assert value(before.outcomes[0]) == WRITTEN
    for outcome in attacked.outcomes:
        assert outcome.kind in (OutcomeKind.VALUE, OutcomeKind.TIMEOUT), outcome.detail
        if outcome.kind is OutcomeKind.VALUE:
            assert value(outcome) == 0
    assert value(after.outcomes[0]) == WRITTEN


@pytest.mark.parametrize("tier", ["full", "no-namespaces"])
def test_nothing_is_written_without_it_or_where_the_tier_has_none(tier: str) -> None:
    source = "def f(x):\n    try: open('/tmp/x', 'w')\n    except OSError: return 'refused'"
    plain = program(source, "f(1)")
    asked = [plain] if tier == "full" else [plain, replace(plain, scratch=True)]
    with Sandbox(LIMITS, workers=1, tier=tier) as sandbox:
        assert {value(result.outcomes[0]) for result in sandbox.run_all(asked)} == {"refused"}
