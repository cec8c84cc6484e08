"""Everything about a task that does not depend on the tester: its code, mutants, and the program that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from code_a1.assertions import parse_assertions
from code_a1.errors import ProblemError
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.tasks import Benchmark, InputTests, ProblemTests, Task
from code_a1.evaluation.tests.given import Given, read_given
from code_a1.judge import Judge
from code_a1.mutation import Mutant, MutantStatus, Subject, make_mutants, run_mutants
from code_a1.problems import entry_is_class
from code_a1.records import (
    Candidate,
    CodeGroup,
    Completion,
    Problem,
    RejectedTest,
    SuiteGroup,
    TestCase,
    TestSuite,
    Verdict,
)
from code_a1.sandbox import Call, OutcomeKind, Program, Sandbox

NO_COMPLETION = Completion("", (), (), (), "stop")
SHOWN = frozenset({Verdict.FAIL, Verdict.ERROR})
"""How a mutant that is shown to the tester fails the benchmark's own tests: by what it returns or raises."""


@dataclass(frozen=True, slots=True)
class Target:
    """One task as testers meet it, or the reason why it is `left_out`."""

    task: Task
    problem: Problem
    """With the imports in front of its code that the code forgot."""
    added: tuple[str, ...] = ()
    """Those imports."""
    mutants: tuple[Mutant, ...] = ()
    equivalent: frozenset[int] = frozenset()
    """Mutants that pass the benchmark's own tests; nobody is asked to kill them."""
    shown: str = ""
    """The program that white-box testers see: the given code, or a buggy variant of it."""
    left_out: str = ""


def require_testable(benches: Sequence[Benchmark]) -> None:
    """Raise ProblemError for tasks that have no reference to measure tests by, or too few names to call."""
    for bench in benches:
        for task in bench.tasks:
            if not isinstance(task.tests, (InputTests, ProblemTests)):
                raise ProblemError(
                    f"{bench.name}: task {task.task_id} has no reference function that tests could be run on; testers "
                    "are measured on ult, humaneval+, mbpp+ and files of problems"
                )


def problem_of(task: Task) -> Problem:
    """The problem of a task that has one (`require_testable`), under the task's id."""
    assert isinstance(task.tests, (InputTests, ProblemTests))
    return replace(task.tests.problem, problem_id=task.task_id)


class Preparer:
    """Prepares tasks: reads their code, makes mutants, finds out which of them nobody can kill.

    `mutants` caps the mutants of a task; with `buggy` the tester is shown one of them in place of the given code.
    """

    def __init__(self, sandbox: Sandbox, judge: Judge, *, mutants: int, seed: int, buggy: bool) -> None:
        self._sandbox = sandbox
        self._judge = judge
        self._bench_judge = BenchJudge(sandbox)
        self._mutants, self._seed, self._buggy = mutants, seed, buggy
        self._absent: dict[str, bool] = {}

    def __call__(self, tasks: Sequence[Task]) -> list[Target]:
        """The targets in the order of the tasks."""
        targets = [self._read(task) for task in tasks]
        targets = self._without_unloadable(targets)
        targets = [self._with_mutants(t) for t in targets]
        targets = self._with_equivalents(targets)
        return self._with_shown(targets)

    def _read(self, task: Task) -> Target:
        problem = problem_of(task)
        given = read_given(problem.reference_solution)
        left_out = given.left_out or self._absent_package(given)
        if given.added and not left_out:
            problem = replace(problem, reference_solution=given.source)
            assert isinstance(task.tests, (InputTests, ProblemTests))
            tests = replace(task.tests, problem=replace(task.tests.problem, reference_solution=given.source))
            task = Task(task.task_id, task.prompt, task.entry_point, tests)
        return Target(task, problem, given.added, left_out=left_out)

    def _absent_package(self, given: Given) -> str:
        """Which module of the code cannot be imported in the sandbox, in words; empty if all can."""
        new = [module for module in given.modules if module not in self._absent]
        programs = [Program("", (Call((f"__import__({module!r}) is not None",)),)) for module in new]
        for module, result in zip(new, self._sandbox.run_all(programs), strict=True):
            outcome = result.outcomes[0]
            missing = outcome.detail.startswith(("ModuleNotFoundError", "ImportError"))
            self._absent[module] = outcome.kind is OutcomeKind.RAISED and missing
        absent = [module for module in given.modules if self._absent[module]]
        return f"the given code needs packages that are not installed: {', '.join(absent)}" if absent else ""

    def _without_unloadable(self, targets: Sequence[Target]) -> list[Target]:
        problems = [t.problem for t in targets if not t.left_out]
        errors = iter(self._judge.load_references(problems) if problems else ())
        return [
            replace(t, left_out=f"the given code does not load: {why}")
            if not t.left_out and (why := next(errors))
            else t
            for t in targets
        ]

    def _with_mutants(self, target: Target) -> Target:
        if target.left_out:
            return target
        problem = target.problem
        made = make_mutants(problem.reference_solution, problem.entry_point, limit=self._mutants, seed=self._seed)
        if self._buggy and not made:
            return replace(target, left_out="the given code has no mutants, so that there is no buggy variant to show")
        return replace(target, mutants=made, shown=problem.reference_solution)

    def _with_equivalents(self, targets: Sequence[Target]) -> list[Target]:
        """Which mutants the benchmark's own tests let pass, where it has some."""
        tested = [t.task for t in targets if not t.left_out and _has_tests(t.task)]
        reasons = self._bench_judge.prepare(tested) if tested else {}
        kept = [replace(t, left_out=reasons[t.task]) if t.task in reasons else t for t in targets]
        items = [(t.task, m.source) for t in kept if not t.left_out and _has_tests(t.task) for m in t.mutants]
        verdicts = iter(self._bench_judge(items) if items else ())
        found = []
        for target in kept:
            if not target.left_out and _has_tests(target.task):
                judged = [next(verdicts).verdict for _ in target.mutants]
                passing = frozenset(i for i, verdict in enumerate(judged) if verdict is Verdict.PASS)
                wrong = next((i for i, verdict in enumerate(judged) if verdict in SHOWN), None)
                target = replace(target, equivalent=passing)  # noqa: PLW2901
                if self._buggy and wrong is not None:
                    target = replace(target, shown=target.mutants[wrong].source)  # noqa: PLW2901
            found.append(target)
        return found

    def _with_shown(self, targets: Sequence[Target]) -> list[Target]:
        """For tasks without tests: the first mutant that a probe tells from the given code, else the first mutant."""
        if not self._buggy:
            return list(targets)
        open_ = [t for t in targets if not t.left_out and not _has_tests(t.task)]
        tests_T = self._probes(open_)
        subjects = [Subject(t.problem, t.mutants, tests) for t, tests in zip(open_, tests_T, strict=True)]
        chosen: dict[str, str] = {}
        for target, matrix in zip(open_, run_mutants(self._sandbox, subjects), strict=True):
            killed = (i for i in range(len(target.mutants)) if matrix.status(i) is MutantStatus.KILLED)
            chosen[target.problem.problem_id] = target.mutants[next(killed, 0)].source
        shown = [replace(t, shown=chosen.get(t.problem.problem_id, t.shown)) for t in targets]
        unknown = [t for t in shown if not t.left_out and t.shown == t.problem.reference_solution]
        why = "no mutant of the given code fails the benchmark's own tests, so that there is no buggy variant to show"
        return [replace(t, left_out=why) if t in unknown else t for t in shown]

    def _probes(self, targets: Sequence[Target]) -> list[tuple[TestCase, ...]]:
        """The probes' calls with the answers of the given code."""
        groups, attacks = [], []
        for target in targets:
            problem = target.problem
            groups.append(CodeGroup(problem, (Candidate(problem.problem_id, 0, None, NO_COMPLETION),)))
            attacks.append(SuiteGroup(problem.problem_id, 0, (TestSuite(_probe_tests(target), NO_COMPLETION),)))
        judgements = self._judge(groups, attacks) if groups else []
        return [
            tuple(t.test for t in j.candidates[0].suites[0].tests if t.validity.usable and t.test is not None)
            for j in judgements
        ]


def _probe_tests(target: Target) -> tuple[TestCase | RejectedTest, ...]:
    """The calls of the probes, their answers left to the given code."""
    assert isinstance(target.task.tests, (InputTests, ProblemTests))
    probes = target.task.tests.probes if isinstance(target.task.tests, ProblemTests) else ()
    name, is_class = target.problem.entry_point, entry_is_class(target.problem)
    parsed = [t for source in probes for t in parse_assertions(source, name, entry_is_class=is_class)]
    return tuple(replace(t, form="", form_prelude="", expected=None) if isinstance(t, TestCase) else t for t in parsed)


def _has_tests(task: Task) -> bool:
    """Whether the benchmark has tests of its own for the task."""
    return isinstance(task.tests, InputTests) or bool(problem_of(task).reference_tests)
