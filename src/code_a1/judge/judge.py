"""The judge of a step: suites against the reference, candidates against the tests that came out usable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from code_a1.assertions import parse_assertions
from code_a1.judge.clean import clean_source
from code_a1.judge.forms import VERDICTS, form_program, form_verdict, is_plain, plain_verdict, same_answer
from code_a1.judge.reference import ReferenceSolution
from code_a1.mistake_book import TestKey, identity
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
from code_a1.sandbox import CheckProgram, Sandbox, codec
from code_a1.sandbox.programs import Call, Limits, Outcome, OutcomeKind, Program, ProgramResult

Progress = Callable[[int], None]
"""Called with the number of programs that have finished since the last call."""


@dataclass(slots=True)
class _Job:
    """One distinct program of one problem, with every test that any of its authors is to be run on."""

    problem: Problem
    code: str
    tests: dict[TestKey, TestCase] = field(default_factory=dict)
    verdicts: dict[TestKey, Verdict] = field(default_factory=dict)
    load: Outcome = field(default_factory=lambda: Outcome(OutcomeKind.VALUE))

    @property
    def loaded(self) -> bool:
        return self.load.kind is OutcomeKind.VALUE


class Judge:
    """Runs suites and candidates in a sandbox and says what each test was worth and how each candidate did.

    Deterministic: the same groups and replayed tests give the same judgements, whatever ran before and however many
    workers there are. Candidates of a problem with the same code are run once. `limits` stand in for the sandbox's own.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits | None = None) -> None:
        self._sandbox = sandbox
        self._limits = limits or sandbox.limits
        self._on_progress: Progress = _ignore
        self._reference = ReferenceSolution(self._run_all, cpu_limit_s=self._limits.cpu_s_per_call)
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
        """
        self._on_progress = on_progress or _ignore
        problems = {group.problem.problem_id: group.problem for group in code_groups}
        flat = [(g, suite) for g in suite_groups for suite in g.suites]
        judged = self._reference.judge_suites([(problems[g.problem_id], suite.tests) for g, suite in flat])
        suites: dict[tuple[str, int], list[JudgedSuite]] = {}
        for (attack, suite), tests in zip(flat, judged, strict=True):
            suites.setdefault((attack.problem_id, attack.candidate_index), []).append(JudgedSuite(suite, tests))

        replayed = replayed or {}
        jobs: dict[tuple[str, str], _Job] = {}
        for group in code_groups:
            problem = group.problem
            for candidate in group.candidates:
                if candidate.code is None:
                    continue
                job = jobs.setdefault((problem.problem_id, candidate.code), _Job(problem, candidate.code))
                own = suites.get((problem.problem_id, candidate.index), ())
                usable = (t.test for suite in own for t in suite.usable if t.test is not None)
                for test in (*replayed.get(problem.problem_id, ()), *usable):
                    job.tests.setdefault(identity(test), test)
        self._run_jobs(list(jobs.values()))
        return [
            self._collect(group, jobs, suites, tuple(replayed.get(group.problem.problem_id, ())))
            for group in code_groups
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
        self._on_progress = on_progress or _ignore
        tests_P = [self.reference_tests(p) for p in problems]
        asserts_P = [[t for t in tests if not _is_check(t)] for tests in tests_P]
        judged_P = self._reference.judge_suites(list(zip(problems, asserts_P, strict=True)), trusted=True)
        checks = [(i, t) for i, tests in enumerate(tests_P) for t in tests if isinstance(t, TestCase) and _is_check(t)]
        programs = [
            _check_program(problems[i], problems[i].reference_solution, test, seed)
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
        results = self._reference.result_of((problem, test) for test in tests)
        return [
            (test, Outcome(OutcomeKind.VALUE, result.payload).values())
            for test, result in zip(tests, results, strict=True)
            if result.failure is None
        ]

    def load_references(self, problems: Sequence[Problem], on_progress: Progress | None = None) -> list[str]:
        """Whether every reference loads and has its entry point: per problem "" or one line that says why not."""
        self._on_progress = on_progress or _ignore
        results = self._run_all([_candidate_program(_Job(p, p.reference_solution)) for p in problems])
        return [
            "" if load.kind is OutcomeKind.VALUE else f"{load.kind}: {load.detail}" for load in map(_load_of, results)
        ]

    # -- running ------------------------------------------------------------------------------------------------------

    def _run_all(self, programs: Sequence[Program]) -> list[ProgramResult]:
        results: list[ProgramResult | None] = [None] * len(programs)
        for index, result in self._sandbox.run(programs, self._limits):
            results[index] = result
            self.programs_run += 1
            self.sandbox_errors += result.load.kind is OutcomeKind.SANDBOX_ERROR
            self._on_progress(1)
        return [result for result in results if result is not None]

    def _run_checks(self, programs: Sequence[CheckProgram]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        for index, outcome in self._sandbox.run_checks(programs, self._limits) if programs else ():
            outcomes[index] = outcome
            self.programs_run += 1
            self.sandbox_errors += outcome.kind is OutcomeKind.SANDBOX_ERROR
            self._on_progress(1)
        return [outcomes[i] for i in range(len(programs))]

    def _run_jobs(self, jobs: Sequence[_Job]) -> None:
        """Fill in `load` and `verdicts` of every job."""
        results = self._run_all([_candidate_program(job) for job in jobs])
        for job, result in zip(jobs, results, strict=True):
            outcomes = result.outcomes[1:]
            job.load = _load_of(result)
            if not job.loaded:
                job.verdicts = dict.fromkeys(job.tests, VERDICTS[job.load.kind])
                continue
            asserts = [(key, test) for key, test in job.tests.items() if test.kind == "assert"]
            for (key, test), outcome in zip(asserts, outcomes, strict=True):
                verdict = _verdict(test, outcome, job.problem.tolerance)
                if verdict is not None:
                    job.verdicts[key] = verdict
        self._run_forms(jobs, results)
        self._run_check_tests([job for job in jobs if job.loaded])

    def _run_forms(self, jobs: Sequence[_Job], results: Sequence[ProgramResult]) -> None:
        """Verdicts of forms that are more than a comparison: results equal to the reference's pass, the rest is run."""
        open_: list[tuple[_Job, TestKey, TestCase, Outcome]] = []
        for job, result in zip(jobs, results, strict=True):
            if job.loaded:
                asserts = [(key, test) for key, test in job.tests.items() if test.kind == "assert"]
                for (key, test), outcome in zip(asserts, result.outcomes[1:], strict=True):
                    if key not in job.verdicts:
                        open_.append((job, key, test, outcome))
        references = self._reference.result_of((job.problem, test) for job, _, test, _ in open_)
        programs = []
        tried = []
        for (job, key, test, outcome), reference in zip(open_, references, strict=True):
            if outcome.payload == reference.payload:
                job.verdicts[key] = Verdict.PASS
            else:
                programs.append(form_program(test, outcome.values(), clean_source(job.problem)))
                tried.append((job, key))
        for (job, key), result in zip(tried, self._run_all(programs) if programs else (), strict=True):
            job.verdicts[key] = form_verdict(result.outcomes[0])

    def _run_check_tests(self, jobs: Iterable[_Job]) -> None:
        todo = [(job, key, test) for job in jobs for key, test in job.tests.items() if test.kind == "check"]
        programs = [_check_program(job.problem, job.code, test) for job, _, test in todo]
        for (job, key, _), outcome in zip(todo, self._run_checks(programs), strict=True):
            job.verdicts[key] = _check_verdict(outcome)

    # -- collecting ---------------------------------------------------------------------------------------------------

    def _collect(
        self,
        group: CodeGroup,
        jobs: Mapping[tuple[str, str], _Job],
        suites: Mapping[tuple[str, int], Sequence[JudgedSuite]],
        replayed: tuple[TestCase, ...],
    ) -> Judgement:
        problem_id = group.problem.problem_id
        candidates = []
        for candidate in group.candidates:
            own = suites.get((problem_id, candidate.index), ())
            if candidate.code is None:
                failed = tuple(Verdict.ERROR for _ in replayed)
                candidates.append(
                    JudgedCandidate(candidate, False, failed, tuple(own), load_error="no fenced Python block")
                )
                continue
            job = jobs[problem_id, candidate.code]
            candidates.append(
                JudgedCandidate(
                    candidate,
                    job.loaded,
                    tuple(job.verdicts[identity(test)] for test in replayed),
                    tuple(_with_verdicts(suite, job) for suite in own),
                    load_error="" if job.loaded else f"{job.load.kind}: {job.load.detail}",
                    sandbox_error=job.load.kind is OutcomeKind.SANDBOX_ERROR,
                )
            )
        return Judgement(group.problem, replayed, tuple(candidates))


def _ignore(_finished: int) -> None:
    """The progress callback of those who gave none."""


def _parse_reference_test(source: str, problem: Problem) -> tuple[TestCase | RejectedTest, ...]:
    if is_check_program(source):
        return (TestCase(source, kind="check"),)
    return parse_assertions(source, problem.entry_point, entry_is_class=entry_is_class(problem), max_tests=10_000)


def _is_check(test: TestCase | RejectedTest) -> bool:
    return isinstance(test, TestCase) and test.kind == "check"


def _candidate_program(job: _Job) -> Program:
    """The candidate, asked first whether it has the entry point at all, then for the calls of its tests."""
    calls = [Call((f"callable({job.problem.entry_point})",))]
    calls += [Call(t.calls, prelude=t.prelude) for t in job.tests.values() if t.kind == "assert"]
    return Program(job.code, tuple(calls), setup=job.problem.setup)


def _load_of(result: ProgramResult) -> Outcome:
    """How loading went, the look for the entry point included."""
    if not result.loaded:
        return result.load
    entry = result.outcomes[0]
    if entry.kind is OutcomeKind.VALUE and entry.values() != (True,):
        return Outcome(OutcomeKind.RAISED, detail="TypeError: the entry point is not callable")
    return entry


def _verdict(test: TestCase, outcome: Outcome, tolerance: float) -> Verdict | None:
    """The verdict of one call, None where the test's form has to be run in the sandbox."""
    if outcome.kind is not OutcomeKind.VALUE:
        return VERDICTS[outcome.kind]
    if same_answer(test, outcome.payload, test.expected_value):
        return Verdict.PASS
    if not is_plain(test):
        return None
    expected = codec.decode(test.expected_value) if test.expected_value is not None else None
    return plain_verdict(test, outcome.values(), expected, tolerance)


def _with_verdicts(suite: JudgedSuite, job: _Job) -> JudgedSuite:
    tests = tuple(
        JudgedTest(t.source, t.validity, t.test, job.verdicts[identity(t.test)], t.reason)
        if t.validity.usable and t.test is not None
        else t
        for t in suite.tests
    )
    return replace(suite, tests=tests)


def _check_program(problem: Problem, code: str, test: TestCase, seed: int = 0) -> CheckProgram:
    return CheckProgram(code, test.source, problem.entry_point, setup=problem.setup, seed=seed)


def _check_verdict(outcome: Outcome) -> Verdict:
    if outcome.kind is OutcomeKind.VALUE:
        return Verdict.PASS
    if outcome.kind is OutcomeKind.RAISED and outcome.detail.startswith("AssertionError"):
        return Verdict.FAIL
    return VERDICTS[outcome.kind]


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
    wrong = _check_verdict(failed) is Verdict.FAIL
    return JudgedTest("check(candidate)", Validity.WRONG_EXPECTATION if wrong else Validity.CALL_FAILED, reason=reason)
