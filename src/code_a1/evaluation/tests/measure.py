"""Ask, judge, run on mutants, trace: a block of tasks at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from code_a1.diversity import KINDS, arguments_of, call_key, statement_calls
from code_a1.engines.base import PolicyEngine
from code_a1.evaluation.code.statistics import mean
from code_a1.evaluation.code.tasks import Task
from code_a1.evaluation.tests.asking import Progress, TestProtocol, Written, write_suites
from code_a1.evaluation.tests.covering import Arcs, covered, trace
from code_a1.evaluation.tests.preparing import NO_COMPLETION, Preparer, Target
from code_a1.evaluation.tests.results import SuiteResult, TestResult, TestTaskResult
from code_a1.judge import Judge
from code_a1.mistake_book import NOT_A_FAILURE, TestKey, identity
from code_a1.mutation import KillMatrix, Subject, run_mutants
from code_a1.records import Candidate, CodeGroup, JudgedSuite, SuiteGroup, TestCase, TestSuite, Validity
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Limits
from code_a1.seeds import derive_seed

CPU_S_PER_TEST = 2.0
"""A test that takes longer on the given code counts as one that does not end."""
TRACED = 10.0
"""How much slower code may be under a tracer."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A suite after judging: as a whole, and every test of it by itself."""

    written: Written
    whole: JudgedSuite
    alone: tuple[JudgedSuite, ...]

    @property
    def passing(self) -> list[TestCase]:
        """The tests that pass on the given code, each once."""
        found = {identity(t.test): t.test for s in self.alone for t in s.tests if _valid(t.validity) and t.test}
        return list(found.values())

    @property
    def masked(self) -> bool:
        """Whether a failure of ours touched it."""
        return self.whole.masked or any(suite.masked for suite in self.alone)


class SuiteMeter:
    """Measures suites of one evaluation; what it finds out about tasks does not depend on the tester."""

    def __init__(self, sandbox: Sandbox, protocol: TestProtocol) -> None:
        self._sandbox = sandbox
        self._protocol = protocol
        self._limits = _limits(sandbox.limits)
        self._judge = Judge(sandbox, self._limits)
        buggy = protocol.candidate == "mutant"
        self._prepare = Preparer(sandbox, self._judge, mutants=protocol.mutants, seed=protocol.seed, buggy=buggy)

    def __call__(
        self, policy: PolicyEngine, bench: str, block: int, tasks: Sequence[Task], progress: Progress
    ) -> list[TestTaskResult]:
        """The results of one block, in the order of its tasks."""
        targets = self._prepare(tasks)
        asked = [t for t in targets if not t.left_out]
        seed = derive_seed(self._protocol.seed, bench, block)
        written = write_suites(policy, asked, self._protocol, seed, progress)
        judged = self._judge_all(asked, written)
        subjects = [Subject(t.problem, t.mutants, _distinct(suites)) for t, suites in zip(asked, judged, strict=True)]
        matrices = run_mutants(self._sandbox, subjects)
        arcs = trace(self._sandbox, [(s.problem, s.tests) for s in subjects], _limits(self._sandbox.limits, TRACED))
        found = {
            t.task.task_id: _result(bench, t, suites, matrix, traced)
            for t, suites, matrix, traced in zip(asked, judged, matrices, arcs, strict=True)
        }
        for target in targets:
            if target.left_out:
                found[target.task.task_id] = TestTaskResult(
                    bench, target.task.task_id, target.left_out, added_imports=target.added
                )
        return [found[task.task_id] for task in tasks]

    def _judge_all(self, targets: Sequence[Target], written: Sequence[Sequence[Written]]) -> list[list[Judged]]:
        """Every suite as a whole, which tells duplicates, and every test alone, beside the program that was shown."""
        groups, attacks = [], []
        for target, suites in zip(targets, written, strict=True):
            problem_id = target.problem.problem_id
            groups.append(CodeGroup(target.problem, (Candidate(problem_id, 0, target.shown, NO_COMPLETION),)))
            parts = [part for suite in suites for part in (suite.tests, *((test,) for test in suite.tests))]
            attacks.append(SuiteGroup(problem_id, 0, tuple(TestSuite(part, NO_COMPLETION) for part in parts)))
        judgements = self._judge(groups, attacks) if groups else []
        found = []
        for judgement, suites in zip(judgements, written, strict=True):
            parts_left = iter(judgement.candidates[0].suites)
            found.append([Judged(s, next(parts_left), tuple(next(parts_left) for _ in s.tests)) for s in suites])
        return found


def _limits(limits: Limits, slower: float = 1.0) -> Limits:
    return replace(limits, cpu_s_per_call=slower * min(CPU_S_PER_TEST, limits.cpu_s_per_call))


def _valid(validity: Validity) -> bool:
    return validity is Validity.VALID


def _distinct(suites: Sequence[Judged]) -> tuple[TestCase, ...]:
    """Passing tests of all suites of a task, each once: the columns of its matrix."""
    return tuple({identity(test): test for suite in suites for test in suite.passing}.values())


def _result(
    bench: str, target: Target, suites: Sequence[Judged], matrix: KillMatrix, traced: Sequence[Arcs]
) -> TestTaskResult:
    place = {identity(test): i for i, test in enumerate(matrix.subject.tests)}
    return TestTaskResult(
        bench,
        target.task.task_id,
        added_imports=target.added,
        mutants=len(target.mutants),
        equivalent=len(target.equivalent),
        shown="" if target.shown == target.problem.reference_solution else target.shown,
        suites=tuple(_suite_result(target, suite, matrix, traced, place) for suite in suites),
        diversity=_diversity(target, suites),
    )


def _suite_result(
    target: Target, suite: Judged, matrix: KillMatrix, traced: Sequence[Arcs], place: dict[TestKey, int]
) -> SuiteResult:
    columns = [place[identity(test)] for test in suite.passing]
    score = matrix.score(columns, equivalent=target.equivalent)
    reached = covered(target.problem.reference_solution, {arc for i in columns for arc in traced[i]})
    tests = []
    for judged, alone in zip(suite.whole.tests, suite.alone, strict=True):
        [by_itself] = alone.tests
        passes = _valid(by_itself.validity)
        kills = passes and by_itself.verdict not in NOT_A_FAILURE
        tests.append(TestResult(judged.source, judged.validity, passes, judged.reason, kills))
    return SuiteResult(
        tuple(tests),
        suite.written.completions,
        suite.written.finish_reasons,
        score.killed,
        score.survived,
        score.timed_out,
        score.unknown,
        (reached.lines, reached.all_lines),
        (reached.branches, reached.all_branches),
        suite.masked,
    )


def _diversity(target: Target, suites: Sequence[Judged]) -> dict[str, float | None]:
    """How varied the calls are: over everything that is a test at all, right or wrong, repeated or not."""
    problem = target.problem
    tests_S = [[t for t in suite.written.tests if isinstance(t, TestCase)] for suite in suites]
    keys = [call_key(test) for tests in tests_S for test in tests]
    stated = statement_calls(problem.statement, problem.entry_point)
    arguments = [
        a for tests in tests_S for t in tests for call in t.calls for a in arguments_of(call, problem.entry_point)
    ]
    found = {
        "distinct": mean([len({call_key(t) for t in tests}) / len(tests) for tests in tests_S if tests]),
        "in_statement": mean([float(not stated.isdisjoint(key)) for key in keys]),
        "boundary": mean([float(a.boundary) for a in arguments]),
        **{f"type/{kind}": mean([float(a.kind == kind) for a in arguments]) for kind in KINDS},
    }
    return {key: None if math.isnan(value) else value for key, value in found.items()}
