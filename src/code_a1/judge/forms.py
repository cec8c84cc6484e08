"""What must hold of the results of a test's calls.

Most tests compare one result with one value; those comparisons are made here, in the trusted process, on decoded plain
data. Every other form is untrusted code: it is turned into a program for the sandbox, with the results as its data.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence

from code_a1.records import TestCase, Verdict
from code_a1.sandbox import codec
from code_a1.sandbox.programs import Call, Outcome, OutcomeKind, Program

EQUALS = "_0 == expected"

VERDICTS = {
    OutcomeKind.RAISED: Verdict.ERROR,
    OutcomeKind.TIMEOUT: Verdict.TIMEOUT,
    OutcomeKind.CRASH: Verdict.CRASH,
    OutcomeKind.MEMORY: Verdict.MEMORY,
    OutcomeKind.OUTPUT_LIMIT: Verdict.OUTPUT_LIMIT,
    OutcomeKind.UNREPRESENTABLE: Verdict.FAIL,  # the reference's value is data, so a value that is not differs from it
    OutcomeKind.NOT_RUN: Verdict.NOT_RUN,
    OutcomeKind.SANDBOX_ERROR: Verdict.SANDBOX_ERROR,
}
"""The verdict of a call that returned no value."""


def _is(value: object, expected: object, tolerance: float) -> bool:
    """Identity does not survive a pipe; for the singletons it is type and value, for other values likewise."""
    return type(value) is type(expected) and codec.equal(value, expected, tolerance)


PLAIN_FORMS: dict[str, Callable[[object, object, float], bool]] = {
    EQUALS: codec.equal,
    "_0 != expected": lambda value, expected, tolerance: not codec.equal(value, expected, tolerance),
    "_0 is expected": _is,
    "_0 is not expected": lambda value, expected, tolerance: not _is(value, expected, tolerance),
    "_0 < expected": lambda value, expected, _: bool(operator.lt(value, expected)),  # type: ignore[arg-type]
    "_0 <= expected": lambda value, expected, _: bool(operator.le(value, expected)),  # type: ignore[arg-type]
    "_0 > expected": lambda value, expected, _: bool(operator.gt(value, expected)),  # type: ignore[arg-type]
    "_0 >= expected": lambda value, expected, _: bool(operator.ge(value, expected)),  # type: ignore[arg-type]
    "_0 in expected": lambda value, expected, _: bool(value in expected),  # type: ignore[operator]
    "_0 not in expected": lambda value, expected, _: bool(value not in expected),  # type: ignore[operator]
    "expected in _0": lambda value, expected, _: bool(expected in value),  # type: ignore[operator]
    "expected not in _0": lambda value, expected, _: bool(expected not in value),  # type: ignore[operator]
    "_0": lambda value, _expected, _: bool(value),
    "not _0": lambda value, _expected, _: not value,
}
"""Forms that are decided on plain data, with no code of the test's author run."""


def all_equal(n_calls: int) -> str:
    """The form of a test whose calls must return exactly the expected values."""
    return EQUALS if n_calls == 1 else f"({', '.join(f'_{i}' for i in range(n_calls))}) == expected"


def is_plain(test: TestCase) -> bool:
    """Whether the test's form is decided in the trusted process."""
    return test.form in PLAIN_FORMS or test.form == all_equal(len(test.calls))


_ONE_VALUE = codec.encode((None,))[:-1]
"""How the encoded results of one call begin; its value follows."""


def same_answer(test: TestCase, payload: bytes, expected_value: bytes | None) -> bool:
    """Whether the bytes alone show that `_0 == expected` holds: most answers are right, and need no decoding."""
    return test.form == EQUALS and expected_value is not None and payload == _ONE_VALUE + expected_value


def answer_of(test: TestCase, payload: bytes) -> bytes:
    """The encoded answer in the encoded results of the test's calls: the one result, or the tuple of several."""
    return payload[len(_ONE_VALUE) :] if len(test.calls) == 1 else payload


def plain_verdict(test: TestCase, values: Sequence[object], expected: object, tolerance: float) -> Verdict:
    """PASS or FAIL, or ERROR where the comparison itself raises, as it would in Python (`None < 3`)."""
    value = values[0] if len(values) == 1 else tuple(values)
    try:
        holds = PLAIN_FORMS.get(test.form, codec.equal)(value, expected, tolerance)
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        return Verdict.ERROR
    return Verdict.PASS if holds else Verdict.FAIL


def show(values: Sequence[object], limit: int = 200) -> str:
    """Values for people, cut to `limit` characters."""
    try:
        text = ", ".join(map(repr, values))
    except ValueError:  # an int with more digits than str() converts
        return "a value too long to print"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def form_program(test: TestCase, values: Sequence[object], clean_source: str, seed: int = 0) -> Program:
    """The test's form over `values`, as a program of its own in a process that holds no candidate and no reference."""
    return Program(clean_source, (_form_call(test, values),), seed=seed)


def _form_call(test: TestCase, values: Sequence[object]) -> Call:
    bindings = {f"_{i}": value for i, value in enumerate(values)}
    if test.expected_value is not None:
        bindings["expected"] = codec.decode(test.expected_value)
    return Call((f"True if ({test.form}) else False",), prelude=test.form_prelude, bindings=bindings)


def form_verdict(outcome: Outcome) -> Verdict:
    """What the outcome of a `form_program` call says about the values that it was given."""
    if outcome.kind is not OutcomeKind.VALUE:
        return VERDICTS[outcome.kind]
    return Verdict.PASS if outcome.values() == (True,) else Verdict.FAIL


SENTINELS: tuple[tuple[object, ...], ...] = (
    (None, False, ""),
    ("code-a1", "a1-code", "other"),
    (-7919, 104729, 0.5),
    ([None], [[]], {}),
)


def sentinels(test: TestCase) -> Iterator[tuple[object, ...]]:
    """Made-up results, equal where the calls are equal, that a test with any meaning rejects at least once.

    `assert f(2) == f(2)` and `assert f(2) or True` hold whatever the program returns: they would earn validity without
    predicting anything.
    """
    position = {call: i for i, call in enumerate(dict.fromkeys(test.calls))}
    for alphabet in SENTINELS:
        yield tuple(alphabet[position[call] % len(alphabet)] for call in test.calls)


def sentinel_programs(test: TestCase, clean_source: str) -> list[Program]:
    """One program per row of sentinels; a form that holds for every row is vacuous."""
    return [form_program(test, row, clean_source) for row in sentinels(test)]
