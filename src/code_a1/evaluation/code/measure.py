"""Sample, read, judge: a block of tasks at a time, every draw fixed by the seed and the task's place alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from code_a1.engines.base import PolicyEngine, SamplingParams
from code_a1.evaluation.code.completions import program_of
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.tasks import Benchmark, Judged, SampleResult, Task, TaskResult
from code_a1.prompts import STOP
from code_a1.records import Completion, Verdict
from code_a1.seeds import derive_seed

ROWS = 256
"""Completions sampled together, so that a batch is worth its while: tasks of a block are so many by n."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How completions are drawn. n 0 draws none, so that only the greedy answers are taken."""

    n: int = 1
    temperature: float = 0.7
    top_p: float = 1.0
    max_tokens: int = 1024
    greedy: bool = False
    seed: int = 0

    @property
    def tasks_per_block(self) -> int:
        """Tasks that are sampled and judged together, and kept or lost together."""
        return max(1, ROWS // max(self.n, 1))


@dataclass(frozen=True, slots=True)
class Watching:
    """Told how far a measurement is: samples drawn and programs judged since the last call."""

    sampled: Callable[[int], None] = lambda _: None
    judged: Callable[[int], None] = lambda _: None


def blocks(bench: Benchmark, protocol: Protocol) -> Iterator[tuple[int, tuple[Task, ...]]]:
    """The blocks of a benchmark with their numbers; the same for every run under the same protocol."""
    size = protocol.tasks_per_block
    for start in range(0, len(bench.tasks), size):
        yield start // size, bench.tasks[start : start + size]


def measure(
    policy: PolicyEngine,
    judge: BenchJudge,
    bench: str,
    block: int,
    tasks: Sequence[Task],
    protocol: Protocol,
    watching: Watching = Watching(),
) -> list[TaskResult]:
    """The results of one block, in the order of its tasks."""
    left_out = judge.prepare(tasks)
    asked = [task for task in tasks if task not in left_out]
    sampled: list[tuple[Task, list[Answer], list[Answer]]] = []
    drawn = draw(policy, asked, protocol.n, protocol, derive_seed(protocol.seed, bench, block), watching)
    greedy = draw(policy, asked, 1 if protocol.greedy else 0, protocol, None, watching)
    for task, some, best in zip(asked, drawn, greedy, strict=True):
        sampled.append((task, some, best))
    programs = [(task, a.program) for task, some, best in sampled for a in (*some, *best) if a.program is not None]
    verdicts = dict(zip(programs, judge(programs), strict=True))
    watching.judged(len(programs))
    results = {task: TaskResult(bench, task.task_id, left_out=reason) for task, reason in left_out.items()}
    for task, some, best in sampled:
        samples = tuple(a.result(verdicts.get((task, a.program or ""))) for a in some)
        at_best = [a.result(verdicts.get((task, a.program or ""))) for a in best]
        results[task] = TaskResult(bench, task.task_id, samples, at_best[0] if at_best else None)
    return [results[task] for task in tasks]


@dataclass(frozen=True, slots=True)
class Answer:
    """One completion before judging: the program in it, or `why_none`."""

    completion: str
    program: str | None
    removed: tuple[str, ...]
    finish_reason: str
    why_none: str = ""

    def result(self, judged: Judged | None) -> SampleResult:
        """The sample with its verdict; without a program it is an error."""
        judged = judged if self.program is not None and judged else Judged(Verdict.ERROR, self.why_none)
        return SampleResult(self.completion, self.program, self.removed, self.finish_reason, judged)


def draw(
    policy: PolicyEngine,
    tasks: Sequence[Task],
    n: int,
    protocol: Protocol,
    seed: int | None,
    watching: Watching,
) -> list[list[Answer]]:
    """N answers for every task; greedy ones where there is no seed."""
    answers: list[list[Answer]] = [[] for _ in tasks]
    if not n:
        return answers
    params = SamplingParams(
        protocol.max_tokens,
        temperature=protocol.temperature if seed is not None else 0.0,
        top_p=protocol.top_p if seed is not None else 1.0,
        stop=STOP,
        seed=seed or 0,
    )
    lengths = [policy.prompt_length(task.prompt) for task in tasks]
    fitting = [i for i, length in enumerate(lengths) if length < policy.context_window]
    for i in set(range(len(tasks))) - set(fitting):
        why = f"the prompt has {lengths[i]} tokens, and the model's window {policy.context_window}"
        answers[i] = [Answer("", None, (), "length", why)] * n
    for group in policy.sample([tasks[i].prompt for i in fitting], n, params) if fitting else ():
        place = fitting[group.index]
        answers[place] = [_answer(tasks[place], completion) for completion in group.completions]
        watching.sampled(n)
    return answers


def _answer(task: Task, completion: Completion) -> Answer:
    program, removed = program_of(completion.text, task.entry_point)
    why = "the model answered nothing" if not completion.text.strip() else "no program in the answer"
    return Answer(completion.text, program, removed, completion.finish_reason, why)
