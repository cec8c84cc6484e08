"""The judge of a step: suites against the reference, candidates against the tests that came out usable."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from code_a1.assertions import parse_assertions
from code_a1.judge.candidates import Trial, Trials, candidate_program, check_program, check_verdict, load_of
from code_a1.judge.lanes import Lanes
from code_a1.judge.reference import ReferenceSolution
from code_a1.mistake_book import identity
from code_a1.problems import entry_is_class, is_check_program
from code_a1.records import (
    CodeGroup,
    JudgedCandidate,
    JudgedSuite,
    JudgedTest,
    Judgement,
    Problem,
    RejectedTest,
    SuiteGroup,
    TestCase,
    Validity,
    Verdict,
)
from code_a1.sandbox import CheckProgram, Sandbox
from code_a1.sandbox.programs import Limits, Outcome, OutcomeKind, Program, ProgramResult

Progress = Callable[[int], None]
"""Called with the number of programs that have finished since the last call, by one thread at a time."""

_Attacked = tuple[CodeGroup, Sequence[SuiteGroup]]


class Judging:
    """The judgements of a step on their way; see `Judge.begin`."""

    def __init__(self, judge: Judge, lanes: Lanes[_Attacked, Judgement], code_groups: Sequence[CodeGroup]) -> None:
        self._judge = judge
        self._lanes = lanes
        self._code_groups = code_groups
        self._order: dict[int, int] = {}

    @property
    def busy_s(self) -> float:
        """Seconds during which programs were judged, on whichever cores."""
        return self._lanes.busy_s

    def add(self, position: int, attacks: Sequence[SuiteGroup] = ()) -> None:
        """Judge the code group at `position`, against whose candidates these are all the suites there will be."""
        if position in self._order:
            raise ValueError(f"the code group at {position} is being judged already")
        self._order[position] = len(self._order)
        self._lanes.add((self._code_groups[position], attacks))

    def judgements(self, on_progress: Progress | None = None) -> list[Judgement]:
        """Wait for the judgements, in the order of the code groups; those not added have no suites."""
        self._judge.on_progress = on_progress or _ignore
        for position in range(len(self._code_groups)):
            if position not in self._order:
                self.add(position)
        judged = self._lanes.results()
        return [judged[self._order[position]] for position in range(len(self._code_groups))]


class Judge:
    """Runs suites and candidates in a sandbox and says what each test was worth and how each candidate did.

    Deterministic: the same groups and replayed tests give the same judgements, whatever ran before and however many
    workers there are. Candidates of a problem with the same code are run once. `limits` stand in for the sandbox's own.
    Several threads may use one judge.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits | None = None) -> None:
        self._sandbox = sandbox
        self._limits = limits or sandbox.limits
        self.on_progress: Progress = _ignore
        """Told of every program that finishes."""
        self._counting = threading.Lock()
        self._reference = ReferenceSolution(self._run_all, cpu_limit_s=self._limits.cpu_s_per_call)
        self._trials = Trials(self._run_all, self._run_checks, self._reference)
        self.programs_run = 0
        """Programs that the sandbox has run for this judge so far."""
        self.sandbox_errors = 0
        """How many of them failed through no fault of their code."""

    def __call__(
        self,
        code_groups: Sequence[CodeGroup],
        suite_groups: Sequence[SuiteGroup] = (),
        replayed: Mapping[str, Sequence[TestCase]] | None = None,
        on_progress: Progress | None = None,
    ) -> list[Judgement]:
        """Judge the candidates of every problem on the suites written against them and on the replayed tests.

        `suite_groups` name their candidate by problem and index; a candidate without one is run on the replayed tests
        alone. `replayed` maps problem ids to tests with expected values (from the Mistake Book, or `reference_tests`).

        Raises ValueError for suites of a problem that has no code group.
        """
        attacks: dict[str, list[SuiteGroup]] = {}
        for attack in suite_groups:
            attacks.setdefault(attack.problem_id, []).append(attack)
        if unknown := attacks.keys() - {group.problem.problem_id for group in code_groups}:
            raise ValueError(f"suites for problems without candidates: {', '.join(sorted(unknown))}")
        with self.begin(code_groups, replayed) as judging:
            for position, group in enumerate(code_groups):
                judging.add(position, attacks.get(group.problem.problem_id, ()))
            return judging.judgements(on_progress)

    @contextmanager
    def begin(
        self, code_groups: Sequence[CodeGroup], replayed: Mapping[str, Sequence[TestCase]] | None = None
    ) -> Iterator[Judging]:
        """Judge the same while suites are still being written: a problem is judged once all of its suites are there."""
        known = replayed or {}
        lanes: Lanes[_Attacked, Judgement] = Lanes(
            lambda share: self._judge(share, known), share=2 * self._sandbox.workers
        )
        self.on_progress = _ignore
        with self._reference.kept():
            try:
                yield Judging(self, lanes, code_groups)
            finally:
                lanes.close()

    def _judge(self, attacked: Sequence[_Attacked], replayed: Mapping[str, Sequence[TestCase]]) -> list[Judgement]:
        """The judgements of some of a step's problems."""
        flat = [(group.problem, suite) for group, attacks in attacked for attack in attacks for suite in attack.suites]
        judged = iter(self._reference.judge_suites([(problem, suite.tests) for problem, suite in flat]))
        trials: dict[tuple[str, str], Trial] = {}
        suites_of: list[dict[int, list[JudgedSuite]]] = []
        for group, attacks in attacked:
            problem = group.problem
            suites: dict[int, list[JudgedSuite]] = {}
            for attack in attacks:
                own = suites.setdefault(attack.candidate_index, [])
                own += [JudgedSuite(suite, next(judged)) for suite in attack.suites]
            suites_of.append(suites)
            for candidate in group.candidates:
                if candidate.code is None:
                    continue
                trial = trials.setdefault((problem.problem_id, candidate.code), Trial(problem, candidate.code))
                usable = (t.test for s in suites.get(candidate.index, ()) for t in s.usable if t.test is not None)
                for test in (*replayed.get(problem.problem_id, ()), *usable):
                    trial.tests.setdefault(identity(test), test)
        self._trials.run(list(trials.values()))
        return [
            _collect(group, trials, suites, tuple(replayed.get(group.problem.problem_id, ())))
            for (group, _), suites in zip(attacked, suites_of, strict=True)
        ]

    def reference_tests(self, problem: Problem) -> tuple[TestCase | RejectedTest, ...]:
        """The problem's own tests as data: its asserts, or its `check(candidate)` programs as they are."""
        return tuple(test for source in problem.reference_tests for test in _parse_reference_test(source, problem))

    def check_references(
        self, problems: Sequence[Problem], on_progress: Progress | None = None
    ) -> list[tuple[JudgedTest, ...]]:
        """Run every reference on its own tests, twice: per problem each test with its validity.

        A VALID test holds on the reference in both runs and comes back ready to be replayed on candidates.
        """
        self.on_progress = on_progress or _ignore
        tests_P = [self.reference_tests(p) for p in problems]
        asserts_P = [[t for t in tests if not _is_check(t)] for tests in tests_P]
        with self._reference.kept():
            judged_P = self._reference.judge_suites(list(zip(problems, asserts_P, strict=True)), trusted=True)
        checks = [(i, t) for i, tests in enumerate(tests_P) for t in tests if isinstance(t, TestCase) and _is_check(t)]
        programs = [
            check_program(problems[i], problems[i].reference_solution, test, seed)
            for i, test in checks
            for seed in (0, 1)
        ]
        outcomes = iter(self._run_checks(programs))
        checked_P: list[list[JudgedTest]] = [[] for _ in problems]
        for i, test in checks:
            checked_P[i].append(_judged_check(test, next(outcomes), next(outcomes)))
        return [(*judged, *checked) for judged, checked in zip(judged_P, checked_P, strict=True)]

    def answers(self, problem: Problem, tests: Sequence[TestCase]) -> list[tuple[TestCase, tuple[object, ...]]]:
        """What the reference returns for the calls of `tests`; calls that fail or return no plain data are left out."""
        with self._reference.kept():
            results = self._reference.result_of((problem, test) for test in tests)
        return [
            (test, Outcome(OutcomeKind.VALUE, result.payload).values())
            for test, result in zip(tests, results, strict=True)
            if result.failure is None
        ]

    def load_references(self, problems: Sequence[Problem], on_progress: Progress | None = None) -> list[str]:
        """Whether every reference loads and has its entry point: per problem "" or one line that says why not."""
        self.on_progress = on_progress or _ignore
        results = self._run_all([candidate_program(Trial(p, p.reference_solution)) for p in problems])
        return [
            "" if load.kind is OutcomeKind.VALUE else f"{load.kind}: {load.detail}" for load in map(load_of, results)
        ]

    # -- running ------------------------------------------------------------------------------------------------------

    def _run_all(self, programs: Sequence[Program]) -> list[ProgramResult]:
        results: list[ProgramResult | None] = [None] * len(programs)
        for index, result in self._sandbox.run(programs, self._limits):
            results[index] = result
            self._count(result.load)
        return [result for result in results if result is not None]

    def _run_checks(self, programs: Sequence[CheckProgram]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        for index, outcome in self._sandbox.run_checks(programs, self._limits) if programs else ():
            outcomes[index] = outcome
            self._count(outcome)
        return [outcomes[i] for i in range(len(programs))]

    def _count(self, finished: Outcome) -> None:
        with self._counting:
            self.programs_run += 1
            self.sandbox_errors += finished.kind is OutcomeKind.SANDBOX_ERROR
            self.on_progress(1)


def _ignore(_finished: int) -> None:
    """The progress callback of those who gave none."""


def _parse_reference_test(source: str, problem: Problem) -> tuple[TestCase | RejectedTest, ...]:
    if is_check_program(source):
        return (TestCase(source, kind="check"),)
    return parse_assertions(source, problem.entry_point, entry_is_class=entry_is_class(problem), max_tests=10_000)


def _is_check(test: TestCase | RejectedTest) -> bool:
    return isinstance(test, TestCase) and test.kind == "check"


def _collect(
    group: CodeGroup,
    trials: Mapping[tuple[str, str], Trial],
    suites: Mapping[int, Sequence[JudgedSuite]],
    replayed: tuple[TestCase, ...],
) -> Judgement:
    problem_id = group.problem.problem_id
    candidates = []
    for candidate in group.candidates:
        own = suites.get(candidate.index, ())
        if candidate.code is None:
            failed = tuple(Verdict.ERROR for _ in replayed)
            candidates.append(
                JudgedCandidate(candidate, False, failed, tuple(own), load_error="no fenced Python block")
            )
            continue
        trial = trials[problem_id, candidate.code]
        candidates.append(
            JudgedCandidate(
                candidate,
                trial.loaded,
                tuple(trial.verdicts[identity(test)] for test in replayed),
                tuple(_with_verdicts(suite, trial) for suite in own),
                load_error="" if trial.loaded else f"{trial.load.kind}: {trial.load.detail}",
                sandbox_error=trial.load.kind is OutcomeKind.SANDBOX_ERROR,
            )
        )
    return Judgement(group.problem, replayed, tuple(candidates))


def _with_verdicts(suite: JudgedSuite, trial: Trial) -> JudgedSuite:
    tests = tuple(
        JudgedTest(t.source, t.validity, t.test, trial.verdicts[identity(t.test)], t.reason)
        if t.validity.usable and t.test is not None
        else t
        for t in suite.tests
    )
    return replace(suite, tests=tests)


def _judged_check(test: TestCase, first: Outcome, second: Outcome) -> JudgedTest:
    """Validity of a `check(candidate)` program from two runs on the reference."""
    if first.kind is OutcomeKind.VALUE and second.kind is OutcomeKind.VALUE:
        return JudgedTest("check(candidate)", Validity.VALID, test)
    failed = first if first.kind is not OutcomeKind.VALUE else second
    reason = f"{failed.kind}: {failed.detail}"
    if OutcomeKind.SANDBOX_ERROR in (first.kind, second.kind):
        return JudgedTest("check(candidate)", Validity.SANDBOX_ERROR, reason=reason)
    if first.kind is not second.kind:
        return JudgedTest("check(candidate)", Validity.NONDETERMINISTIC, reason=reason)
    wrong = check_verdict(failed) is Verdict.FAIL
    return JudgedTest("check(candidate)", Validity.WRONG_EXPECTATION if wrong else Validity.CALL_FAILED, reason=reason)
