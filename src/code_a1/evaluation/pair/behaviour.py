"""What programs do when tests call them, without any reference: results as data, and which tests hold of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from code_a1.assertions import literal_value
from code_a1.errors import CodecError
from code_a1.evaluation.pair.choosing import FAILED, Behaviour
from code_a1.judge.forms import form_program, form_verdict, is_plain, plain_verdict, same_answer
from code_a1.records import TestCase, Verdict
from code_a1.sandbox import Call, Outcome, OutcomeKind, Program, Sandbox, codec
from code_a1.sandbox.programs import Limits

CPU_S_PER_CALL = 2.0


@dataclass(frozen=True, slots=True)
class Asked:
    """The distinct programs of one task, and the tests that they are to be run on, with answers as data."""

    programs: tuple[str, ...]
    tests: tuple[TestCase, ...]
    entry_point: str
    tolerance: float = 0.0


def with_answers(sandbox: Sandbox, tests: Sequence[TestCase]) -> list[TestCase | None]:
    """The tests with their predicted answers as data; None where the answer has no value, so that nothing is predicted.

    What is no literal is evaluated in a process that holds no program.
    """
    done: list[TestCase | None] = list(tests)
    open_: list[int] = []
    for i, test in enumerate(tests):
        if test.expected is not None:
            try:
                done[i] = replace(test, expected_value=codec.encode(literal_value(test.expected)))
            except (ValueError, CodecError):
                open_.append(i)
    programs = [Program("", (Call((str(tests[i].expected),), prelude=tests[i].form_prelude),)) for i in open_]
    results = dict(sandbox.run(programs, _limits(sandbox))) if programs else {}
    for place, i in enumerate(open_):
        outcome = results[place].outcomes[0]
        done[i] = None
        if outcome.kind is OutcomeKind.VALUE:
            done[i] = replace(tests[i], expected_value=codec.encode(outcome.values()[0]))
    return done


def behaviours(sandbox: Sandbox, asked_T: Sequence[Asked]) -> list[list[Behaviour]]:
    """What every program of every task does on the task's tests, in order.

    A call that fails, hangs or returns no data passes no test.
    """
    jobs = [(asked, program) for asked in asked_T for program in asked.programs]
    programs = [
        Program(source, (Call((f"callable({asked.entry_point})",)), *(Call(t.calls, t.prelude) for t in asked.tests)))
        for asked, source in jobs
    ]
    results = dict(sandbox.run(programs, _limits(sandbox))) if programs else {}
    loaded = [results[i].loaded and _is_true(results[i].outcomes[0]) for i in range(len(jobs))]
    outcomes = [results[i].outcomes[1:] for i in range(len(jobs))]
    passed = _passed(sandbox, [asked for asked, _ in jobs], outcomes, loaded)
    numbers: dict[tuple[int, int, bytes], int] = {}
    found: list[list[Behaviour]] = []
    at = 0
    for number, asked in enumerate(asked_T):
        found.append([])
        for _ in asked.programs:
            row = tuple(
                numbers.setdefault((number, t, outcome.payload), len(numbers))
                if outcome.kind is OutcomeKind.VALUE
                else FAILED
                for t, outcome in enumerate(outcomes[at])
            )
            found[-1].append(Behaviour(passed[at], row, True) if loaded[at] else Behaviour())
            at += 1
    return found


def _passed(
    sandbox: Sandbox, asked: Sequence[Asked], outcomes: Sequence[Sequence[Outcome]], loaded: Sequence[bool]
) -> list[frozenset[int]]:
    """Places of the tests that hold of what each program returned; forms that are more than a comparison are run."""
    passed: list[set[int]] = [set() for _ in asked]
    open_: list[tuple[int, int]] = []
    programs: list[Program] = []
    for i, (task, row) in enumerate(zip(asked, outcomes, strict=True)):
        for t, (test, outcome) in enumerate(zip(task.tests, row, strict=True) if loaded[i] else ()):
            if outcome.kind is not OutcomeKind.VALUE:
                continue
            if same_answer(test, outcome.payload, test.expected_value):
                passed[i].add(t)
            elif is_plain(test):
                expected = codec.decode(test.expected_value) if test.expected_value is not None else None
                if plain_verdict(test, outcome.values(), expected, task.tolerance) is Verdict.PASS:
                    passed[i].add(t)
            else:
                open_.append((i, t))
                programs.append(form_program(test, outcome.values(), ""))
    results = dict(sandbox.run(programs, _limits(sandbox))) if programs else {}
    for place, (i, t) in enumerate(open_):
        if form_verdict(results[place].outcomes[0]) is Verdict.PASS:
            passed[i].add(t)
    return [frozenset(tests) for tests in passed]


def _is_true(outcome: Outcome) -> bool:
    return outcome.kind is OutcomeKind.VALUE and outcome.values() == (True,)


def _limits(sandbox: Sandbox) -> Limits:
    return replace(sandbox.limits, cpu_s_per_call=min(CPU_S_PER_CALL, sandbox.limits.cpu_s_per_call))
