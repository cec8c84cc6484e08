"""Every kind of tests has its judge; a bench is judged by asking each for its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from code_a1.evaluation.code.bigcodebench import UnitJudge
from code_a1.evaluation.code.inputs import InputJudge, Prepared
from code_a1.evaluation.code.programs import CallJudge, StreamJudge
from code_a1.evaluation.code.tasks import CallTests, InputTests, Judged, ProblemTests, StreamTests, Task, UnitTests
from code_a1.judge import Judge
from code_a1.records import Candidate, CodeGroup, Completion, Problem, TestCase, Verdict
from code_a1.reference_check import check_references
from code_a1.sandbox import Sandbox

_NO_COMPLETION = Completion("", (), (), (), "stop")


class BenchJudge:
    """Judges programs of tasks. What a task's reference has to say is found out once, when it is first prepared."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._by_input = InputJudge(sandbox)
        self._by_problem = Judge(sandbox)
        self._by_call = CallJudge(sandbox)
        self._by_stream = StreamJudge(sandbox)
        self._by_unit = UnitJudge(sandbox)
        self._sound: set[Task] = set()
        self._inputs: dict[Task, Prepared] = {}
        self._known: dict[Task, tuple[TestCase, ...]] = {}
        self._left_out: dict[Task, str] = {}

    def prepare(self, tasks: Sequence[Task]) -> dict[Task, str]:
        """Check the references of the tasks; those that cannot be judged, with the reason."""
        done = (self._inputs, self._known, self._left_out, self._sound)
        new = [t for t in tasks if not any(t in known for known in done)]
        by_unit = [(t, t.tests) for t in new if isinstance(t.tests, UnitTests)]
        for (task, _), judged in zip(by_unit, self._by_unit([(x, x.reference) for _, x in by_unit]), strict=True):
            if judged.passed:
                self._sound.add(task)
            else:
                self._left_out[task] = f"its reference fails here: {judged.verdict} {judged.detail}"
        by_input = [(t, t.tests) for t in new if isinstance(t.tests, InputTests)]
        for (task, _), prepared in zip(by_input, self._by_input.prepare([x for _, x in by_input]), strict=True):
            if prepared.left_out:
                self._left_out[task] = prepared.left_out
            else:
                self._inputs[task] = prepared
        self._prepare_problems([(t, t.tests.problem) for t in new if isinstance(t.tests, ProblemTests)])
        return {t: self._left_out[t] for t in tasks if t in self._left_out}

    def __call__(self, programs: Sequence[tuple[Task, str]]) -> list[Judged]:
        """Verdicts in the order of the programs; equal programs of a task are run once. The tasks are prepared."""
        distinct = list(dict.fromkeys(programs))
        found: dict[tuple[Task, str], Judged] = {}
        items = [item for item in distinct if item[0] in self._inputs]
        if items:
            asked = [(_inputs_of(task), self._inputs[task], program) for task, program in items]
            found |= zip(items, self._by_input(asked), strict=True)
        calls = [(task.tests, program) for task, program in distinct if isinstance(task.tests, CallTests)]
        streams = [(task.tests, program) for task, program in distinct if isinstance(task.tests, StreamTests)]
        units = [(task.tests, program) for task, program in distinct if isinstance(task.tests, UnitTests)]
        for kind, verdicts in (
            (CallTests, self._by_call(calls)),
            (StreamTests, self._by_stream(streams)),
            (UnitTests, self._by_unit(units)),
        ):
            found |= zip([item for item in distinct if isinstance(item[0].tests, kind)], verdicts, strict=True)
        found |= self._judge_problems([item for item in distinct if item[0] in self._known])
        return [found[item] for item in programs]

    def _prepare_problems(self, items: Sequence[tuple[Task, Problem]]) -> None:
        """Problems by their own tests: those that hold on the reference judge."""
        if not items:
            return
        own = {_unique(i, problem): task for i, (task, problem) in enumerate(items)}
        checked = check_references(self._by_problem, list(own))
        reasons = {d.problem_id: d.reason for d in checked.dropped}
        for problem, task in own.items():
            tests = checked.tests.get(problem.problem_id, ())
            if tests:
                self._known[task] = tests
            else:
                self._left_out[task] = reasons.get(problem.problem_id, "no test of it holds on its reference")

    def _judge_problems(self, items: Sequence[tuple[Task, str]]) -> dict[tuple[Task, str], Judged]:
        by_task: dict[Task, list[str]] = {}
        for task, program in items:
            by_task.setdefault(task, []).append(program)
        groups = []
        known: dict[str, tuple[TestCase, ...]] = {}
        for i, (task, some) in enumerate(by_task.items()):
            assert isinstance(task.tests, ProblemTests)
            problem = _unique(i, task.tests.problem)
            candidates = tuple(Candidate(problem.problem_id, j, p, _NO_COMPLETION) for j, p in enumerate(some))
            groups.append(CodeGroup(problem, candidates))
            known[problem.problem_id] = self._known[task]
        judgements = self._by_problem(groups, (), known) if groups else []
        found = {}
        for judgement, (task, some) in zip(judgements, by_task.items(), strict=True):
            for candidate, program in zip(judgement.candidates, some, strict=True):
                found[task, program] = _summed_up(candidate.replayed, candidate.load_error, judgement.replayed)
        return found


def _inputs_of(task: Task) -> InputTests:
    assert isinstance(task.tests, InputTests)
    return task.tests


def _unique(index: int, problem: Problem) -> Problem:
    """The problem under an id of its own: two benchmarks may use the same ids."""
    return replace(problem, problem_id=f"{index}/{problem.problem_id}")


def _summed_up(verdicts: Sequence[Verdict], load_error: str, tests: Sequence[TestCase]) -> Judged:
    """One verdict for all tests: PASS if all are, our own failure if there is one, else the first failure."""
    if Verdict.SANDBOX_ERROR in verdicts:
        return Judged(Verdict.SANDBOX_ERROR, load_error)
    for verdict, test in zip(verdicts, tests, strict=True):
        if verdict is not Verdict.PASS:
            return Judged(verdict, load_error or test.source[:200])
    return Judged(Verdict.PASS)
