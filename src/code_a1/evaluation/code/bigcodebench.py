"""BigCodeBench (Zhuo et al. 2024) as tasks: one function with many libraries, judged by unittest cases."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from code_a1.evaluation.code.tasks import Judged, Task, UnitTests
from code_a1.judge.forms import VERDICTS
from code_a1.problems.entry_points import parse_source
from code_a1.problems.fields import Fields, RowError, check_python, text_field, unix_lines
from code_a1.prompts import CODE_SYSTEM, fenced
from code_a1.records import Message, Prompt, Verdict
from code_a1.sandbox import Call, Limits, Outcome, OutcomeKind, Program, Sandbox

NAMES = ("bigcodebench", "bigcodebench-instruct")
"""The benchmark by its two prompts: complete the code, or follow the instruction."""
CPU_S = 30.0
"""CPU seconds for all cases of a task, the imports included; BigCodeBench's own limit is of wall-clock time."""
MEMORY_MB = 8192

_RUN = """
def __run_cases():
    import unittest
    class Record(unittest.TestResult):
        passed = ()
        def addSuccess(self, case):
            super().addSuccess(case)
            self.passed += (case.id().rpartition(".")[2],)
    result = Record()
    unittest.TestLoader().loadTestsFromTestCase(TestCases).run(result)
    problems = [text.strip().rpartition("\\n")[2][:200] for _, text in [*result.errors, *result.failures]]
    return list(result.passed), problems
"""
_BEFORE = 'import os as __os\n__os.environ["MPLBACKEND"] = "Agg"\ndel __os\n'


def is_bigcodebench_row(row: Fields) -> bool:
    """Whether the row has the fields that no other benchmark has."""
    return {"complete_prompt", "instruct_prompt"} <= row.keys()


def bigcodebench_task(row: Fields, *, instruct: bool) -> Task:
    """One row as a task. Raises RowError naming the field at fault."""
    entry_point = text_field(row, "entry_point")
    complete = unix_lines(text_field(row, "complete_prompt"))
    test = unix_lines(text_field(row, "test"))
    reference = complete.rstrip("\n") + "\n" + unix_lines(text_field(row, "canonical_solution"))
    check_python(reference, "fields 'complete_prompt' and 'canonical_solution' together")
    if not case_names(test):
        raise RowError("field 'test' must define a class TestCases with methods test…")
    if instruct:
        prompt = _prompt(unix_lines(text_field(row, "instruct_prompt")).strip())
    else:
        prompt = _prompt(f"Complete this code; keep its imports and its signature:\n\n{fenced(complete)}")
    return Task(text_field(row, "task_id"), prompt, entry_point, UnitTests(test, reference))


def _prompt(what: str) -> Prompt:
    rules = "Answer with one ```python code block that holds the whole program, its imports included."
    return (Message("system", CODE_SYSTEM), Message("user", f"{what}\n\n{rules}"))


def case_names(test: str) -> frozenset[str]:
    """The test methods that the class `TestCases` of a module has itself. Raises RowError if it is no Python."""
    try:
        body = parse_source(test).body
    except ValueError as error:
        raise RowError(f"field 'test' is not Python: {error}") from error
    classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == "TestCases"]
    return frozenset(
        node.name
        for cls in classes[-1:]
        for node in cls.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")
    )


class UnitJudge:
    """Judges programs by `UnitTests`.

    Less trust than elsewhere: cases look at the solution's objects and replace what it imports, so that both share one
    process. What comes back is data, and has to name every case of the task as passed; still, a program that is out to
    forge may claim what it likes.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def __call__(self, items: Sequence[tuple[UnitTests, str]]) -> list[Judged]:
        """The verdict of every (tests, program), in order."""
        own = self._sandbox.limits
        limits = Limits(CPU_S, max(own.wall_s_per_call, 4 * CPU_S), max(own.memory_mb, MEMORY_MB), max_reforks=0)
        programs = [
            Program(program, (Call(("__run_cases()",)),), setup=_BEFORE + tests.source + _RUN, scratch=True)
            for tests, program in items
        ]
        found = dict(self._sandbox.run(programs, limits)) if programs else {}
        return [
            _judged(found[i].outcomes[0] if found[i].loaded else found[i].load, case_names(tests.source))
            for i, (tests, _) in enumerate(items)
        ]


def _judged(outcome: Outcome, names: frozenset[str]) -> Judged:
    if outcome.kind is not OutcomeKind.VALUE:
        return Judged(VERDICTS[outcome.kind], outcome.detail)
    match outcome.values():
        case ((list() as passed, list() as problems),):
            missing = sorted(names - {name for name in passed if isinstance(name, str)})
            if not missing and not problems:
                return Judged(Verdict.PASS)
            said = next((text for text in problems if isinstance(text, str)), "")
            return Judged(Verdict.FAIL, f"{len(missing)} of {len(names)} cases: {said}")
    return Judged(Verdict.FAIL, "what came back is no result of cases")
