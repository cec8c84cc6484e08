"""Candidates on tests that came out usable: one program per candidate, and one process more where a form is code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from code_a1.judge.clean import clean_source
from code_a1.judge.forms import VERDICTS, form_program, form_verdict, is_plain, plain_verdict, same_answer
from code_a1.judge.reference import ReferenceSolution, RunAll
from code_a1.mistake_book import TestKey
from code_a1.records import Problem, TestCase, Verdict
from code_a1.sandbox import CheckProgram, codec
from code_a1.sandbox.programs import Call, Outcome, OutcomeKind, Program, ProgramResult

RunChecks = Callable[[Sequence[CheckProgram]], list[Outcome]]


@dataclass(slots=True)
class Trial:
    """One distinct program of one problem, with every test that any of its authors is to be run on."""

    problem: Problem
    code: str
    tests: dict[TestKey, TestCase] = field(default_factory=dict)
    verdicts: dict[TestKey, Verdict] = field(default_factory=dict)
    load: Outcome = field(default_factory=lambda: Outcome(OutcomeKind.VALUE))

    @property
    def loaded(self) -> bool:
        """Whether the program loads and has the entry point."""
        return self.load.kind is OutcomeKind.VALUE


class Trials:
    """Runs trials; what the reference returns is asked where a test's form is more than a comparison."""

    def __init__(self, run_all: RunAll, run_checks: RunChecks, reference: ReferenceSolution) -> None:
        self._run_all = run_all
        self._run_checks = run_checks
        self._reference = reference

    def run(self, trials: Sequence[Trial]) -> None:
        """Fill in `load` and `verdicts` of every trial."""
        results = self._run_all([candidate_program(trial) for trial in trials])
        for trial, result in zip(trials, results, strict=True):
            outcomes = result.outcomes[1:]
            trial.load = load_of(result)
            if not trial.loaded:
                trial.verdicts = dict.fromkeys(trial.tests, VERDICTS[trial.load.kind])
                continue
            asserts = [(key, test) for key, test in trial.tests.items() if test.kind == "assert"]
            for (key, test), outcome in zip(asserts, outcomes, strict=True):
                verdict = _verdict(test, outcome, trial.problem.tolerance)
                if verdict is not None:
                    trial.verdicts[key] = verdict
        self._run_forms(trials, results)
        self._run_check_tests([trial for trial in trials if trial.loaded])

    def _run_forms(self, trials: Sequence[Trial], results: Sequence[ProgramResult]) -> None:
        """Verdicts of forms that are more than a comparison: results equal to the reference's pass, the rest is run."""
        open_: list[tuple[Trial, TestKey, TestCase, Outcome]] = []
        for trial, result in zip(trials, results, strict=True):
            if trial.loaded:
                asserts = [(key, test) for key, test in trial.tests.items() if test.kind == "assert"]
                for (key, test), outcome in zip(asserts, result.outcomes[1:], strict=True):
                    if key not in trial.verdicts:
                        open_.append((trial, key, test, outcome))
        references = self._reference.result_of((trial.problem, test) for trial, _, test, _ in open_)
        programs = []
        tried = []
        for (trial, key, test, outcome), reference in zip(open_, references, strict=True):
            if outcome.payload == reference.payload:
                trial.verdicts[key] = Verdict.PASS
            else:
                programs.append(form_program(test, outcome.values(), clean_source(trial.problem)))
                tried.append((trial, key))
        for (trial, key), result in zip(tried, self._run_all(programs) if programs else (), strict=True):
            trial.verdicts[key] = form_verdict(result.outcomes[0])

    def _run_check_tests(self, trials: Iterable[Trial]) -> None:
        todo = [(trial, key, test) for trial in trials for key, test in trial.tests.items() if test.kind == "check"]
        programs = [check_program(trial.problem, trial.code, test) for trial, _, test in todo]
        for (trial, key, _), outcome in zip(todo, self._run_checks(programs), strict=True):
            trial.verdicts[key] = check_verdict(outcome)


def candidate_program(trial: Trial) -> Program:
    """The candidate, asked first whether it has the entry point at all, then for the calls of its tests."""
    calls = [Call((f"callable({trial.problem.entry_point})",))]
    calls += [Call(t.calls, prelude=t.prelude) for t in trial.tests.values() if t.kind == "assert"]
    return Program(trial.code, tuple(calls), setup=trial.problem.setup)


def load_of(result: ProgramResult) -> Outcome:
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


def check_program(problem: Problem, code: str, test: TestCase, seed: int = 0) -> CheckProgram:
    """The candidate under a `check(candidate)` program."""
    return CheckProgram(code, test.source, problem.entry_point, setup=problem.setup, seed=seed)


def check_verdict(outcome: Outcome) -> Verdict:
    """What came of a `check(candidate)` program."""
    if outcome.kind is OutcomeKind.VALUE:
        return Verdict.PASS
    if outcome.kind is OutcomeKind.RAISED and outcome.detail.startswith("AssertionError"):
        return Verdict.FAIL
    return VERDICTS[outcome.kind]
