"""The nouns of an evaluation: a task is a prompt and a way to tell right programs from wrong ones."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from code_a1.records import Problem, Prompt, Verdict


class Tests(Protocol):
    """What a task's programs are judged by; each class has its judge in `code_a1.evaluation.code.judging`."""

    def text(self) -> str:
        """Everything that a verdict may depend on, for fingerprints."""
        ...


@dataclass(frozen=True, slots=True)
class ProblemTests:
    """The problem's own tests, in whatever form it has them.

    `probes` are asserts whose calls are worth a try and whose answers nobody vouches for.
    """

    problem: Problem
    probes: tuple[str, ...] = ()

    def text(self) -> str:
        """The problem, field by field."""
        return repr((self.problem, self.probes)) if self.probes else repr(self.problem)


@dataclass(frozen=True, slots=True)
class InputTests:
    """Inputs for the entry point, and a program that says whether what it returned for them is right.

    A candidate runs on all inputs in one process and returns its outputs as data. `check_source` defines
    `check(candidate)`, which calls its argument once for each of `inputs`, in their order, and looks at each output by
    itself; it runs in a process that holds no candidate and is handed the recorded outputs. It finds the inputs, or
    some of them, under the name `inputs`, and the answers under the name `results`.

    `inputs_source` and `results_source` are expressions for the list of argument lists and for the answers, in the
    names that `head` defines. Without the first, `inputs` holds them as data; without the second, the answers are the
    reference's. `whole_check` is a check that brings its own inputs, for outputs that are too large to be recorded.
    """

    problem: Problem
    check_source: str
    head: str = ""
    inputs_source: str = ""
    results_source: str = ""
    inputs: Sequence[Sequence[object]] = ()
    whole_check: str = ""

    def text(self) -> str:
        """Everything."""
        return repr((self.problem, self.check_source, self.head, self.inputs_source, self.results_source, self.inputs))


@dataclass(frozen=True, slots=True)
class CallTests:
    """Calls of a function or of a method of `Solution`, with the values that they must return (LiveCodeBench)."""

    function: str
    arguments: tuple[tuple[object, ...], ...]
    expected: tuple[object, ...]

    def text(self) -> str:
        """Everything."""
        return repr((self.function, self.arguments, self.expected))


@dataclass(frozen=True, slots=True)
class StreamTests:
    """Whole programs: standard inputs, and what must be printed for them.

    `exact` compares the output as it is, line ends and all; otherwise tokens are compared, numbers by value.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    exact: bool = False

    def text(self) -> str:
        """Everything."""
        return repr((self.inputs, self.outputs, self.exact))


@dataclass(frozen=True, slots=True)
class UnitTests:
    """A module of unittest cases that finds the solution's names among its own (BigCodeBench)."""

    source: str
    reference: str

    def text(self) -> str:
        """Everything."""
        return repr((self.source, self.reference))


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One question of a benchmark. `entry_point` is the name to define, empty for programs that read standard input.

    Two tasks are equal if they are the same object: ids may recur in another benchmark.
    """

    task_id: str
    prompt: Prompt
    entry_point: str
    tests: Tests


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Tasks under the name that their metrics get; `source` is where they were read."""

    name: str
    tasks: tuple[Task, ...]
    source: str

    def fingerprint(self) -> str:
        """Changes whenever a prompt, a test or the order of tasks does."""
        digest = hashlib.sha256()
        for task in self.tasks:
            digest.update(repr((task.task_id, task.prompt, task.entry_point)).encode("utf-8", "surrogatepass"))
            digest.update(task.tests.text().encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one program."""

    verdict: Verdict
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether every test of the task holds."""
        return self.verdict is Verdict.PASS


@dataclass(frozen=True, slots=True)
class SampleResult:
    """One completion, the program in it, and what became of that."""

    completion: str
    program: str | None
    removed: tuple[str, ...]
    finish_reason: str
    judged: Judged


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Everything that was found out about one task. A task that was `left_out` has the reason and no samples."""

    bench: str
    task_id: str
    samples: tuple[SampleResult, ...] = ()
    greedy: SampleResult | None = None
    left_out: str = ""

    def counts(self) -> tuple[int, int]:
        """Samples that were judged, and how many of them are right; our own failures count as neither."""
        judged = [s.judged for s in self.samples if s.judged.verdict is not Verdict.SANDBOX_ERROR]
        return len(judged), sum(j.passed for j in judged)
