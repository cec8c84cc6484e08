"""Assert statements in all the forms that people and models write → `TestCase`, and back.

- `parsing`: text → statements; broken asserts are kept as such
- `script`, with `functions`, `frameworks` and `unrolling`: functions, classes, loops → straight-line code
- `plain`: the common case, read at once
- `analysis`, with `observations`, `judgement`, `scope` and `names`: one assert and what stands before it → `TestCase`
- `source`: `TestCase` → Python again
"""

from __future__ import annotations

from code_a1.assertions.literals import literal_value
from code_a1.assertions.parsing import read_pieces
from code_a1.assertions.script import Script
from code_a1.assertions.source import call_key, to_source
from code_a1.records import RejectedTest, TestCase

__all__ = ["call_key", "literal_value", "parse_assertions", "to_source"]

MAX_TESTS = 64
"""Tests that are read of one suite unless told otherwise."""


def parse_assertions(
    source: str, entry_point: str, *, entry_is_class: bool = False, max_tests: int = MAX_TESTS
) -> tuple[TestCase | RejectedTest, ...]:
    """The first `max_tests` tests that the text holds, in the order in which they run. Never raises.

    What is accepted, and what each form means, is in `docs/tests-format.md`.
    """
    script = Script(entry_point, entry_is_class=entry_is_class, max_tests=max_tests)
    return script.run(read_pieces(source))
