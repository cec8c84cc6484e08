"""Which of N programs to take, from nothing but what they do: pure functions of recorded behaviour.

The agreement rule is that of CodeT (Chen et al. 2022): programs that pass the same tests stand together, and a group is
worth the number of its programs times the number of tests that they pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

FAILED = -1
"""In the place of an output: the call returned nothing that is data."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one program did. Programs with the same text share one."""

    passed: frozenset[int] = frozenset()
    """Places of the tests that it passes, predicted answers and all."""
    outputs: tuple[int, ...] = ()
    """Per test, which result its calls had: equal numbers for equal results of the same test, or `FAILED`."""
    loaded: bool = False


def choose_by_tests(programs: Sequence[Behaviour], tests: Sequence[int]) -> int:
    """The place of the program that the tests choose; `tests` are the places of those that may be looked at.

    Of groups of equal worth the one that passes more tests wins, then the one whose first program comes earlier; of a
    group the first program is taken. Where no program passes any test, all predicted answers may be wrong: then the
    programs' own agreement decides, as `choose_by_output` has it.
    """
    passed = [program.passed & frozenset(tests) for program in programs]
    if not any(passed):
        return choose_by_output(programs, tests)
    size = Counter(passed)
    return max(range(len(programs)), key=lambda i: (size[passed[i]] * len(passed[i]), len(passed[i]), -i))


def choose_by_output(programs: Sequence[Behaviour], tests: Sequence[int]) -> int:
    """Majority vote: the first program of the largest group that returns the same for every call of the tests.

    What is asserted about the calls plays no part. Programs that return nothing for any call do not vote. Of groups of
    equal size the earlier wins; without votes the first program that loads is taken, or the first of all.
    """
    outputs = [tuple(program.outputs[t] for t in tests) if program.loaded else () for program in programs]
    votes = [i for i, row in enumerate(outputs) if any(output != FAILED for output in row)]
    if not votes:
        return next((i for i, program in enumerate(programs) if program.loaded), 0)
    size = Counter(outputs[i] for i in votes)
    return max(votes, key=lambda i: (size[outputs[i]], -i))
