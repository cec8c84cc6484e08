"""What the reference solution says about generated tests: the validity of each, and the answer that it should have.

The reference runs in processes that hold no candidate; predicted answers and the code around the calls run in clean
processes that hold neither. Everything runs twice, under different hash and random seeds, and what differs between the
two runs is NONDETERMINISTIC. Results are cached per (problem, call) across suites, candidates and steps.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from code_a1.assertions import literal_value
from code_a1.errors import CodecError
from code_a1.judge.arguments import RECORDER, Plan, by_place, is_data, is_settled, plan, same_call
from code_a1.judge.clean import clean_source, self_contained
from code_a1.judge.forms import (
    all_equal,
    answer_of,
    form_program,
    form_verdict,
    is_plain,
    plain_verdict,
    same_answer,
    sentinel_programs,
    show,
)
from code_a1.judge.reach import refusal
from code_a1.judge.settled import Settled, settle
from code_a1.judge.values import NotWritable
from code_a1.problems import entry_is_class
from code_a1.records import JudgedTest, Problem, RejectedTest, TestCase, Validity, Verdict
from code_a1.sandbox import codec
from code_a1.sandbox.programs import Call, Outcome, OutcomeKind, Program, ProgramResult

SEEDS = (0, 1)
"""Verdicts run under the first seed; the second exists to find nondeterminism."""

MAX_ROUNDS = 4
"""How often calls that a hanging neighbour kept from running are tried again."""

RunAll = Callable[[Sequence[Program]], list[ProgramResult]]
Source = tuple[str, str, float]
"""A program that calls are made in: its source, its setup and the tolerance of its results."""


REFERENCE_SHARE = 0.5
"""Share of a candidate's CPU limit that the reference may take for a call: no test is about who is slower by a hair."""


class ReferenceSolution:
    """Judges tests on the references of their problems; holds the cache and nothing else."""

    def __init__(
        self,
        run_all: RunAll,
        *,
        cpu_limit_s: float = math.inf,
        cached_results: int = 200_000,
        cached_bytes: int = 256 << 20,
    ) -> None:
        self._run_all = run_all
        self._cpu_limit_s = REFERENCE_SHARE * cpu_limit_s
        self._cache: OrderedDict[Hashable, Settled] = OrderedDict()
        self._lock = threading.Lock()
        self._users = 0
        self._cached_results = cached_results
        self._cached_bytes = cached_bytes

    def judge_suites(
        self, suites: Sequence[tuple[Problem, Sequence[TestCase | RejectedTest]]], *, trusted: bool = False
    ) -> list[tuple[JudgedTest, ...]]:
        """Validity of every test of every suite, and what a candidate is to be run on; no verdicts yet.

        The tests of a problem itself are `trusted` not to be written against a candidate.
        """
        prepared = [
            [self_contained(t, problem) if isinstance(t, TestCase) else t for t in tests] for problem, tests in suites
        ]
        prepared = self._with_data([(p, row) for (p, _), row in zip(suites, prepared, strict=True)], trusted)
        tests = [
            (problem, test)
            for (problem, _), row in zip(suites, prepared, strict=True)
            for test in row
            if isinstance(test, TestCase)
        ]
        self._run_calls(tests)
        self._run_expectations(tests)
        self._run_forms(tests)
        return [self._judge_suite(problem, row) for (problem, _), row in zip(suites, prepared, strict=True)]

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Nothing is forgotten within the block: what is judged there relies on it. Afterwards the oldest results go.

        Threads may be in such blocks at the same time; the last to leave forgets.
        """
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._shrink()

    def _shrink(self) -> None:
        for key in [k for k, settled in self._cache.items() if settled.failure is Validity.SANDBOX_ERROR]:
            del self._cache[key]  # it was our fault, and may go better the next time
        held = sum(len(settled.payload) for settled in self._cache.values())
        while len(self._cache) > self._cached_results or held > self._cached_bytes:
            _, oldest = self._cache.popitem(last=False)
            held -= len(oldest.payload)

    def result_of(self, tests: Iterable[tuple[Problem, TestCase]]) -> list[Settled]:
        """What the reference returns for the calls of tests that are known to be usable."""
        wanted = list(tests)
        self._run_calls(wanted)
        return [self._cache[self._call_key(problem, test)] for problem, test in wanted]

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _with_data(
        self, suites: Sequence[tuple[Problem, Sequence[TestCase | RejectedTest]]], trusted: bool
    ) -> list[list[TestCase | RejectedTest]]:
        """The tests with the arguments of their calls written out, or rejected; see `code_a1.judge.arguments`."""
        wanted: dict[Source, dict[Hashable, Call]] = {}
        plans: dict[tuple[str, TestCase], Plan | None] = {}
        for problem, row in suites:
            for test in row:
                if isinstance(test, RejectedTest) or is_settled(test, problem.entry_point):
                    continue
                planned = plans[problem.entry_point, test] = plan(test, problem.entry_point)
                if planned is None or planned.simple:
                    continue
                key = self._arguments_key(problem, planned)
                if key in self._cache:
                    continue
                source = clean_source(problem) + RECORDER
                if refusal(test, problem, entry_is_class=False):  # it may change what others see: its own process
                    source += f"# {_digest(test.prelude, *test.calls)}"
                wanted.setdefault((source, "", 0.0), {})[key] = planned.recording()
        self._settle_calls(wanted)
        prepared: list[list[TestCase | RejectedTest]] = []
        for problem, row in suites:
            prepared.append([])
            for test in row:
                done: TestCase | RejectedTest = test
                if isinstance(test, TestCase) and (problem.entry_point, test) in plans:
                    done = self._one_with_data(problem, test, plans[problem.entry_point, test], trusted=trusted)
                prepared[-1].append(_by_place(done, problem))
        return prepared

    def _one_with_data(
        self, problem: Problem, test: TestCase, planned: Plan | None, *, trusted: bool
    ) -> TestCase | RejectedTest:
        if planned is not None:
            if planned.simple:
                return test
            recorded = self._cache[self._arguments_key(problem, planned)]
            if recorded.failure is None:
                (calls,) = Outcome(OutcomeKind.VALUE, recorded.payload).values()
                with contextlib.suppress(NotWritable, SyntaxError):
                    return planned.frozen(calls)  # type: ignore[arg-type]
            elif not recorded.reason.startswith("RAISED") and recorded.failure is not Validity.UNREPRESENTABLE:
                return RejectedTest(test.source, recorded.failure, f"its arguments: {recorded.reason}")
        reason = "" if trusted else refusal(test, problem, entry_is_class=entry_is_class(problem))
        return RejectedTest(test.source, Validity.MALFORMED, reason) if reason else test

    # -- one suite, everything cached ---------------------------------------------------------------------------------

    def _judge_suite(self, problem: Problem, tests: Sequence[TestCase | RejectedTest]) -> tuple[JudgedTest, ...]:
        seen: set[Hashable] = set()
        judged = []
        for test in tests:
            if isinstance(test, RejectedTest):
                judged.append(JudgedTest(test.source, test.validity, reason=test.reason))
                continue
            result = self._judge_test(problem, test)
            key = same_call(result.test or test, problem.reference_solution, problem.entry_point)
            if result.validity.usable and key in seen:
                result = JudgedTest(test.source, Validity.DUPLICATE, reason="the same call stands earlier in the suite")
            seen.add(key)
            judged.append(result)
        return tuple(judged)

    def _judge_test(self, problem: Problem, test: TestCase) -> JudgedTest:
        called = self._cache[self._call_key(problem, test)]
        if called.failure is not None:
            return JudgedTest(test.source, called.failure, reason=called.reason)
        if not test.form:  # no answer was predicted: the reference's is filled in
            test = repaired(test, called.payload)
        if test.expected is not None:
            expected = self._cache[self._expected_key(problem, test)]
            if expected.failure is not None:
                return JudgedTest(test.source, _of_test_code(expected.failure), reason=f"answer: {expected.reason}")
            test = _with_answer(test, expected.payload)
        if same_answer(test, called.payload, test.expected_value):
            holds = True
        elif is_plain(test):
            value = codec.decode(test.expected_value) if test.expected_value is not None else None
            verdict = plain_verdict(test, called.values(), value, problem.tolerance)
            if verdict is Verdict.ERROR:
                return JudgedTest(test.source, Validity.CALL_FAILED, reason="the comparison raises on the reference")
            holds = verdict is Verdict.PASS
        else:
            formed = self._cache[self._form_key(problem, test)]
            if formed.failure is not None:
                return JudgedTest(test.source, _of_test_code(formed.failure), reason=formed.reason)
            holds = formed.payload == _TRUE
        if holds:
            return JudgedTest(test.source, Validity.VALID, test)
        reason = f"the reference: {show(called.values())}"
        return JudgedTest(test.source, Validity.WRONG_EXPECTATION, repaired(test, called.payload), reason=reason)

    # -- three waves of programs, each of what the cache lacks --------------------------------------------------------

    def _run_calls(self, tests: Sequence[tuple[Problem, TestCase]]) -> None:
        """Every distinct call on the reference of its problem, all calls of a problem in one program per seed."""
        wanted: dict[Source, dict[Hashable, Call]] = {}
        for problem, test in tests:
            key = self._call_key(problem, test)
            if key not in self._cache:
                source = (problem.reference_solution, problem.setup, problem.tolerance)
                wanted.setdefault(source, {})[key] = Call(test.calls, prelude=test.prelude)
        self._settle_calls(wanted)

    def _settle_calls(self, wanted: dict[Source, dict[Hashable, Call]]) -> None:
        for round_ in range(MAX_ROUNDS):
            if not wanted:
                return
            programs = [
                Program(source, tuple(calls.values()), setup=setup, seed=seed, trusted=True)
                for (source, setup, _), calls in wanted.items()
                for seed in SEEDS
            ]
            results = iter(self._run_all(programs))
            left: dict[Source, dict[Hashable, Call]] = {}
            for program, calls in wanted.items():
                pairs = zip(next(results).outcomes, next(results).outcomes, strict=True)
                for (key, call), (first, second) in zip(calls.items(), pairs, strict=True):
                    not_run = OutcomeKind.NOT_RUN in (first.kind, second.kind)
                    if not_run and round_ + 1 < MAX_ROUNDS:
                        left.setdefault(program, {})[key] = call
                    else:
                        self._cache[key] = settle(first, second, program[2], self._cpu_limit_s)
            wanted = left

    def _run_expectations(self, tests: Sequence[tuple[Problem, TestCase]]) -> None:
        """Every predicted answer: a literal is read here, anything else is evaluated in a clean process of its own."""
        wanted: dict[Hashable, Call] = {}
        sources: dict[Hashable, str] = {}
        for problem, test in tests:
            if test.expected is None or self._cache[self._call_key(problem, test)].failure is not None:
                continue
            key = self._expected_key(problem, test)
            if key in self._cache or key in wanted:
                continue
            try:
                self._cache[key] = Settled(payload=codec.encode(literal_value(test.expected)))
            except (ValueError, CodecError):
                wanted[key] = Call((test.expected,), prelude=test.form_prelude)
                sources[key] = clean_source(problem)
        programs = [Program(sources[key], (call,), seed=seed) for key, call in wanted.items() for seed in SEEDS]
        results = iter(self._run_all(programs)) if programs else iter(())
        for key in wanted:
            settled = settle(next(results).outcomes[0], next(results).outcomes[0])
            if settled.failure is None:  # the payload is a tuple of one value; what is kept is that value
                (value,) = Outcome(OutcomeKind.VALUE, settled.payload).values()
                settled = Settled(payload=codec.encode(value))
            self._cache[key] = settled

    def _run_forms(self, tests: Sequence[tuple[Problem, TestCase]]) -> None:
        """Every form that is more than a comparison with a value: on the reference's results, and on made-up ones."""
        wanted: dict[Hashable, list[Program]] = {}
        for problem, test in tests:
            called = self._cache[self._call_key(problem, test)]
            key = self._form_key(problem, test)
            if is_plain(test) or not test.form or called.failure is not None or key in self._cache or key in wanted:
                continue
            values = called.values()
            source = clean_source(problem)
            wanted[key] = [form_program(test, values, source, seed) for seed in SEEDS]
            wanted[key] += sentinel_programs(test, source)
        results = iter(self._run_all([p for programs in wanted.values() for p in programs])) if wanted else iter(())
        for key, programs in wanted.items():
            first, second, *made_up = [next(results).outcomes[0] for _ in programs]
            settled = settle(first, second)
            if settled.payload == _TRUE and all(form_verdict(o) is Verdict.PASS for o in made_up):
                settled = Settled(failure=Validity.MALFORMED, reason="it holds whatever the call returns")
            self._cache[key] = settled

    # -- keys ---------------------------------------------------------------------------------------------------------

    def _call_key(self, problem: Problem, test: TestCase) -> Hashable:
        return ("call", _digest(problem.reference_solution, problem.setup), test.prelude, test.calls)

    def _arguments_key(self, problem: Problem, planned: Plan) -> Hashable:
        return ("arguments", clean_source(problem), planned.prelude, planned.recording().expressions)

    def _expected_key(self, problem: Problem, test: TestCase) -> Hashable:
        return ("expected", clean_source(problem), test.form_prelude, test.expected)

    def _form_key(self, problem: Problem, test: TestCase) -> Hashable:
        return ("form", self._call_key(problem, test), test.form_prelude, test.form, test.expected)


_TRUE = codec.encode((True,))


def _by_place(test: TestCase | RejectedTest, problem: Problem) -> TestCase | RejectedTest:
    if isinstance(test, RejectedTest) or not any("=" in call for call in test.calls):
        return test
    told = "\n".join((problem.statement, problem.setup, *problem.reference_tests))
    source, name = problem.reference_solution, problem.entry_point
    calls = tuple(by_place(call, source, name, told) if is_data(call, name) else call for call in test.calls)
    return replace(test, calls=calls)


def _of_test_code(failure: Validity) -> Validity:
    """A failure of the code around the calls: what raises there is no assertion."""
    return Validity.MALFORMED if failure is Validity.CALL_FAILED else failure


def repaired(test: TestCase, payload: bytes) -> TestCase:
    """The test with the reference's answer in place of the predicted one: its calls must return these values."""
    return replace(test, form=all_equal(len(test.calls)), expected_value=answer_of(test, payload), expected=None)


def _with_answer(test: TestCase, value: bytes) -> TestCase:
    """What `dataclasses.replace` would give, at a tenth of its price: this runs for every test of a step."""
    return TestCase(
        test.source, test.calls, test.form, test.expected, test.prelude, test.form_prelude, value, test.kind
    )


@lru_cache(maxsize=8192)
def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
