"""What the test policy is to learn from: for a prompt, the suites that should have been the answer.

A suite is put together from everything that was sampled about its problem: the calls are the policy's own, the answers
the reference's. Tests that kill the program shown come first, then those that kill mutants which the suite does not
kill yet; a second suite for the same prompt is made of the tests that come next. The prompt asks for as many tests as
there are, so that what is learned keeps to what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from code_a1.config import RolloutConfig
from code_a1.judge.forms import EQUALS
from code_a1.prompts import begun_suite, test_prompt
from code_a1.records import Message, Prompt
from code_a1.suites import TestPool

MAX_CHARACTERS = 300
"""Longer tests are left out: an answer of a few of them would not fit behind the prompt."""


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt with an answer to be learned."""

    problem_id: str
    prompt: Prompt
    answer: str
    """What follows the prompt, without the beginning that the prompt already holds."""
    tests: tuple[str, ...]
    kills_shown: bool
    """Whether one of the tests kills the program that the prompt shows, which the reference never is."""


def make_examples(pool: TestPool, sizes: RolloutConfig, suites: int = 1) -> Iterator[Example]:
    """Up to `suites` examples for every program that was shown, or for none of them under `white_box = false`.

    Nothing where no usable test has the form that the prompt asks for.
    """
    fitting = [t for t, source in enumerate(pool.sources) if _fits(pool, t, source)]
    if not fitting:
        return
    kills = [pool.matrix.killed_by(t) for t in fitting]
    size = min(sizes.tests_per_suite, len(fitting))
    shown = list(enumerate(pool.shown)) if sizes.white_box else [(0, None)]
    for index, program in shown:
        mutant = index - 1 if index else None
        ranked = choose(kills, size * suites, mutant)
        prompt = test_prompt(pool.problem, program, size)
        begun = begun_suite(pool.problem) if sizes.begin_answers else ""
        for start in range(0, len(ranked) - size + 1, size):
            chosen = ranked[start : start + size]
            tests = tuple(pool.sources[fitting[t]] for t in chosen)
            yield Example(
                pool.problem.problem_id,
                (*prompt, Message("assistant", begun)) if begun else prompt,
                "\n".join(["```python", *tests, "```"]).removeprefix(begun),
                tests,
                any(mutant in kills[t] for t in chosen),
            )


def choose(kills: Sequence[frozenset[int]], limit: int, shown: int | None) -> list[int]:
    """At most `limit` tests, the best first: those that kill the mutant shown, then what adds most kills.

    Of equals the one that kills more in all, then the earlier.
    """
    left = list(range(len(kills)))
    killed: set[int] = set()
    chosen: list[int] = []
    while left and len(chosen) < limit:
        best = max(
            left, key=lambda t: (shown in kills[t] and shown not in killed, len(kills[t] - killed), len(kills[t]))
        )
        left.remove(best)
        chosen.append(best)
        killed |= kills[best]
    return chosen


def _fits(pool: TestPool, test: int, source: str) -> bool:
    """Whether a test is one line `assert entry_point(…) == answer`, as the prompt asks for."""
    begins = source.startswith(f"assert {pool.problem.entry_point}(")
    plain = pool.matrix.subject.tests[test].form == EQUALS
    return begins and plain and "\n" not in source and len(source) <= MAX_CHARACTERS
