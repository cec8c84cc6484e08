"""Sample N programs and their tests, see what the programs do, and only then look at which are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from code_a1.engines.base import PolicyEngine, SamplingParams
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.measure import Answer, Protocol, Watching, draw
from code_a1.evaluation.code.tasks import Task
from code_a1.evaluation.pair.behaviour import Asked, behaviours, with_answers
from code_a1.evaluation.pair.choosing import Behaviour
from code_a1.evaluation.pair.results import PairResult
from code_a1.evaluation.tests.preparing import problem_of
from code_a1.mistake_book import identity
from code_a1.problems import entry_is_class
from code_a1.prompts import STOP, begun_suite, parse_suite, test_prompt
from code_a1.records import Message, Prompt, TestCase, Verdict
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class PairProtocol:
    """N programs per task and as many suites of `k` tests: one against each program, or all from the description."""

    n: int = 8
    k: int = 5
    temperature: float = 0.8
    top_p: float = 1.0
    max_tokens: int = 1024
    max_test_tokens: int = 512
    white_box: bool = True
    begin_answers: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Drawn:
    """One task with its programs and the tests that were written."""

    task: Task
    answers: Sequence[Answer]
    tests: tuple[TestCase, ...]
    suites: tuple[tuple[int, ...], ...]
    written: tuple[str, ...]


class PairMeter:
    """Measures a coder and a tester together."""

    def __init__(self, sandbox: Sandbox, protocol: PairProtocol) -> None:
        self._sandbox = sandbox
        self._protocol = protocol
        self._judge = BenchJudge(sandbox)

    def __call__(
        self,
        coder: PolicyEngine,
        tester: PolicyEngine,
        bench: str,
        block: int,
        tasks: Sequence[Task],
        progress: Progress,
    ) -> list[PairResult]:
        """The results of one block, in the order of its tasks."""
        how = self._protocol
        left_out = self._judge.prepare(tasks)
        asked = [task for task in tasks if task not in left_out]
        sampling = Protocol(how.n, how.temperature, how.top_p, how.max_tokens, False, how.seed)
        seed = derive_seed(how.seed, bench, block)
        answers_T = draw(coder, asked, how.n, sampling, derive_seed(seed, "code"), Watching(progress))
        drawn = self._suites(tester, asked, answers_T, derive_seed(seed, "test"), progress)
        distinct = [_programs(d.answers) for d in drawn]
        wanted = [
            Asked(programs, d.tests, d.task.entry_point, problem_of(d.task).tolerance)
            for programs, d in zip(distinct, drawn, strict=True)
        ]
        behaviours_T = behaviours(self._sandbox, wanted)
        items = [(d.task, program) for programs, d in zip(distinct, drawn, strict=True) for program in programs]
        judged = dict(zip(items, self._judge(items), strict=True)) if items else {}
        found = {task: PairResult(bench, task.task_id, reason) for task, reason in left_out.items()}
        for d, programs, done in zip(drawn, distinct, behaviours_T, strict=True):
            verdicts = {program: judged[d.task, program].verdict for program in programs}
            right = {p: None if v is Verdict.SANDBOX_ERROR else v is Verdict.PASS for p, v in verdicts.items()}
            found[d.task] = _result(bench, d, dict(zip(programs, done, strict=True)), right)
        return [found[task] for task in tasks]

    def _suites(
        self,
        tester: PolicyEngine,
        tasks: Sequence[Task],
        answers_T: Sequence[Sequence[Answer]],
        seed: int,
        progress: Progress,
    ) -> list[_Drawn]:
        """One suite against every program; N from the description where the tester is not to see programs."""
        how = self._protocol
        prompts: list[tuple[int, int, Prompt]] = []
        for place, (task, answers) in enumerate(zip(tasks, answers_T, strict=True)):
            for i, answer in enumerate(answers):
                if answer.program is not None or not how.white_box:
                    prompts.append((place, i, self._prompt(task, answer)))
        fitting = [p for p in prompts if tester.prompt_length(p[2]) < tester.context_window]
        params = SamplingParams(how.max_test_tokens, temperature=how.temperature, top_p=how.top_p, stop=STOP, seed=seed)
        texts: list[list[str]] = [[""] * len(answers) for answers in answers_T]
        for group in tester.sample([prompt for _, _, prompt in fitting], 1, params) if fitting else ():
            place, i, _ = fitting[group.index]
            texts[place][i] = self._begun(tasks[place]) + group.completions[0].text
            progress(1)
        progress(sum(map(len, texts)) - len(fitting))
        return [self._read(*row) for row in zip(tasks, answers_T, texts, strict=True)]

    def _prompt(self, task: Task, answer: Answer) -> Prompt:
        prompt = test_prompt(problem_of(task), answer.program if self._protocol.white_box else None, self._protocol.k)
        begun = self._begun(task)
        return (*prompt, Message("assistant", begun)) if begun else prompt

    def _begun(self, task: Task) -> str:
        return begun_suite(problem_of(task)) if self._protocol.begin_answers else ""

    def _read(self, task: Task, answers: Sequence[Answer], texts: Sequence[str]) -> _Drawn:
        """The first K tests of every suite, equal ones once, as far as they predict an answer."""
        problem, k = problem_of(task), self._protocol.k
        is_class = entry_is_class(problem)
        parsed = [
            parse_suite(text, problem.entry_point, entry_is_class=is_class, max_tests=max(64, k))[:k] for text in texts
        ]
        pool = {identity(t): t for suite in parsed for t in suite if isinstance(t, TestCase)}
        answered = with_answers(self._sandbox, list(pool.values()))
        kept = {key: test for key, test in zip(pool, answered, strict=True) if test is not None}
        place = {key: i for i, key in enumerate(kept)}
        suites = tuple(
            tuple(place[identity(t)] for t in suite if isinstance(t, TestCase) and identity(t) in place)
            for suite in parsed
        )
        return _Drawn(task, answers, tuple(kept.values()), suites, tuple(texts))


def _programs(answers: Sequence[Answer]) -> tuple[str, ...]:
    """The distinct programs of a task."""
    return tuple(dict.fromkeys(a.program for a in answers if a.program is not None))


def _result(bench: str, drawn: _Drawn, done: dict[str, Behaviour], right: dict[str, bool | None]) -> PairResult:
    programs = [answer.program for answer in drawn.answers]
    return PairResult(
        bench,
        drawn.task.task_id,
        programs=tuple(programs),
        right=tuple(False if p is None else right[p] for p in programs),
        tests=tuple(test.source for test in drawn.tests),
        suites=drawn.suites,
        behaviours=tuple(Behaviour() if p is None else done[p] for p in programs),
        completions=tuple(answer.completion for answer in drawn.answers),
        test_completions=drawn.written,
    )
