"""Judging by calls and by standard streams: every test is its own process, the first failure ends a program's turn."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from code_a1.evaluation.code.tasks import CallTests, Judged, StreamTests
from code_a1.judge.forms import VERDICTS
from code_a1.problems.entry_points import parse_source
from code_a1.records import Verdict
from code_a1.sandbox import Call, Limits, Outcome, OutcomeKind, Program, Sandbox, Script, codec

CPU_S = 6.0
"""CPU seconds for one test, as LiveCodeBench grants."""
OUTPUT_BYTES = 32 << 20
MEMORY_MB = 4096
LONGEST_NUMBER = 400
"""Longer tokens are compared as text alone."""

IMPORTS = """\
from string import *; from re import *; from datetime import *; from collections import *; from heapq import *
from bisect import *; from copy import *; from math import *; from random import *; from statistics import *
from itertools import *; from functools import *; from operator import *; from io import *; from sys import *
from json import *; from builtins import *; from typing import *
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools
import operator, io, sys, json
"""
"""What LiveCodeBench's programs may take for granted."""


def with_imports(program: str) -> str:
    """The program behind the imports that its platform offers; `from __future__` stays in front."""
    try:
        body = parse_source(program).body
    except ValueError:
        return program  # it does not compile with them either
    ends = [n.end_lineno or 0 for n in body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    lines = program.split("\n")
    at = max(ends, default=0)
    return "\n".join([*lines[:at], IMPORTS + "\n".join(lines[at:])])


class CallJudge:
    """Judges programs by `CallTests`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def __call__(self, items: Sequence[tuple[CallTests, str]]) -> list[Judged]:
        """The verdict of every (tests, program), in order."""
        programs = [
            Program(
                with_imports(program),
                tuple(Call((f"{tests.function}(*__given)",), bindings={"__given": given}) for given in tests.arguments),
            )
            for tests, program in items
        ]
        limits = _limits(self._sandbox, max_reforks=0)
        found = dict(self._sandbox.run(programs, limits)) if programs else {}
        return [
            first_failure(
                (found[i].outcomes if found[i].loaded else [found[i].load]),
                [_equal_to(value) for value in tests.expected],
            )
            for i, (tests, _) in enumerate(items)
        ]


class StreamJudge:
    """Judges programs by `StreamTests`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def __call__(self, items: Sequence[tuple[StreamTests, str]]) -> list[Judged]:
        """The verdict of every (tests, program), in order. Tests come in rounds: one, then two more, then four, …."""
        verdicts = [Judged(Verdict.PASS)] * len(items)
        open_ = list(range(len(items)))
        start, size = 0, 1
        while open_:
            asked = [(i, t) for i in open_ for t in range(start, min(start + size, len(items[i][0].inputs)))]
            if not asked:
                break
            for i, judged in self._round(items, asked):
                if verdicts[i].passed:
                    verdicts[i] = judged
            open_ = [i for i in open_ if verdicts[i].passed]
            start, size = start + size, 2 * size
        return verdicts

    def _round(
        self, items: Sequence[tuple[StreamTests, str]], asked: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[int, Judged]]:
        scripts = [
            Script(with_imports(items[i][1]), items[i][0].inputs[t].encode("utf-8", "surrogatepass")) for i, t in asked
        ]
        found = dict(self._sandbox.run_scripts(scripts, _limits(self._sandbox, max_reforks=0)))
        for place, (i, t) in enumerate(asked):
            tests = items[i][0]
            yield i, judge_output(found[place], tests.outputs[t], exact=tests.exact, test=t)


def judge_output(outcome: Outcome, expected: str, *, exact: bool, test: int = 0) -> Judged:
    """PASS where a script ended well and printed all of what is expected, and nothing else."""
    if outcome.kind is not OutcomeKind.VALUE:
        return Judged(VERDICTS[outcome.kind], f"test {test}: {outcome.detail}")
    (printed,) = outcome.values()
    assert isinstance(printed, bytes)
    wanted = expected.encode("utf-8", "surrogatepass")
    if printed == wanted if exact else same_tokens(printed, wanted):
        return Judged(Verdict.PASS)
    return Judged(Verdict.FAIL, f"test {test}: printed {printed[:80]!r}, expected {wanted[:80]!r}")


def same_tokens(printed: bytes, wanted: bytes) -> bool:
    """Whether both are the same words between white space, where numbers count by value (`1.50` is `1.5`)."""
    ours, theirs = printed.split(), wanted.split()
    return len(ours) == len(theirs) and all(a == b or _same_number(a, b) for a, b in zip(ours, theirs, strict=True))


def _same_number(a: bytes, b: bytes) -> bool:
    if max(len(a), len(b)) > LONGEST_NUMBER or b"_" in a:
        return False
    try:
        x, y = Decimal(a.decode("ascii")), Decimal(b.decode("ascii"))
    except (InvalidOperation, UnicodeDecodeError):
        return False
    return x.is_finite() and y.is_finite() and x == y


class _equal_to:  # noqa: N801 - reads as what it is in a list of expectations
    """Holds of a call's result, a tuple counting as the list that JSON has for it."""

    def __init__(self, expected: object) -> None:
        self.expected = expected

    def __call__(self, outcome: Outcome) -> bool:
        (value,) = outcome.values()
        return codec.equal(list(value) if type(value) is tuple else value, self.expected)


def first_failure(outcomes: Sequence[Outcome], expected: Sequence[_equal_to]) -> Judged:
    """PASS if every outcome is a value that is as expected; else what the first other one is."""
    for test, outcome in enumerate(outcomes):
        if outcome.kind is not OutcomeKind.VALUE:
            return Judged(VERDICTS[outcome.kind], f"test {test}: {outcome.detail}")
        if not expected[test](outcome):
            return Judged(Verdict.FAIL, f"test {test}: another result")
    return Judged(Verdict.PASS)


def _limits(sandbox: Sandbox, max_reforks: int) -> Limits:
    own = sandbox.limits
    return Limits(CPU_S, max(own.wall_s_per_call, 5 * CPU_S), max(own.memory_mb, MEMORY_MB), OUTPUT_BYTES, max_reforks)
