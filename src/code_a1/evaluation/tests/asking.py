"""How tests are asked for: one query per test with the earlier ones in the chat, or all in one completion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from code_a1.engines.base import PolicyEngine, SamplingParams
from code_a1.evaluation.tests.preparing import Target
from code_a1.problems import entry_is_class
from code_a1.prompts import STOP, begun_suite, next_test_prompt, parse_suite, test_prompt
from code_a1.records import Completion, Message, Prompt, RejectedTest, TestCase
from code_a1.seeds import derive_seed

PROTOCOLS = ("sequential", "one-completion")


@dataclass(frozen=True, slots=True)
class TestProtocol:
    """How tests are asked for, and what they are measured against. `n` suites of `k` tests are drawn per task."""

    protocol: Literal["sequential", "one-completion"] = "sequential"
    k: int = 5
    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    white_box: bool = True
    candidate: Literal["given", "mutant"] = "given"
    begin_answers: bool = False
    mutants: int = 50
    seed: int = 0

    __test__ = False


@dataclass(frozen=True, slots=True)
class Written:
    """One suite as it was written: at most K tests, and every answer that they come from."""

    tests: tuple[TestCase | RejectedTest, ...]
    completions: tuple[str, ...]
    finish_reasons: tuple[str, ...]


Progress = Callable[[int], None]


def write_suites(
    policy: PolicyEngine, targets: Sequence[Target], protocol: TestProtocol, seed: int, progress: Progress
) -> list[list[Written]]:
    """N suites for every target, in order. A prompt that does not fit the model's window has no answer."""
    if protocol.protocol == "one-completion":
        return _at_once(policy, targets, protocol, seed, progress)
    return _one_by_one(policy, targets, protocol, seed, progress)


def _at_once(
    policy: PolicyEngine, targets: Sequence[Target], protocol: TestProtocol, seed: int, progress: Progress
) -> list[list[Written]]:
    prompts = [_begun(_first_prompt(t, protocol, protocol.k), t, protocol) for t in targets]
    groups = _sample(policy, prompts, protocol.n, protocol, seed, progress)
    return [
        [_suite([c], target, protocol, protocol.k) for c in group or ()]
        or [_suite([], target, protocol, 0)] * protocol.n
        for target, group in zip(targets, groups, strict=True)
    ]


def _one_by_one(
    policy: PolicyEngine, targets: Sequence[Target], protocol: TestProtocol, seed: int, progress: Progress
) -> list[list[Written]]:
    rows = [target for target in targets for _ in range(protocol.n)]
    answers: list[list[Completion]] = [[] for _ in rows]
    for turn in range(protocol.k):
        prompts = [_turn(policy, t, protocol, done) for t, done in zip(rows, answers, strict=True)]
        groups = _sample(policy, prompts, 1, protocol, derive_seed(seed, turn), progress)
        for done, group in zip(answers, groups, strict=True):
            done.extend(group or ())
    suites = [_suite(done, target, protocol, 1) for target, done in zip(rows, answers, strict=True)]
    return [suites[i : i + protocol.n] for i in range(0, len(suites), protocol.n)]


def _turn(policy: PolicyEngine, target: Target, protocol: TestProtocol, done: Sequence[Completion]) -> Prompt:
    """The prompt of the next turn; where the chat outgrows the window, its oldest answers go."""
    first = _first_prompt(target, protocol, 1)
    texts = [_start(target, protocol) + c.text for c in done if c.text.strip()]
    while True:
        prompt = _begun(next_test_prompt(first, texts), target, protocol)
        if not texts or policy.prompt_length(prompt) + protocol.max_tokens <= policy.context_window:
            return prompt
        del texts[0]


def _suite(answers: Sequence[Completion], target: Target, protocol: TestProtocol, per_answer: int) -> Written:
    """The first tests of every answer; what an answer holds beyond them is not looked at."""
    problem, start = target.problem, _start(target, protocol)
    parsed = [
        parse_suite(
            start + c.text, problem.entry_point, entry_is_class=entry_is_class(problem), max_tests=max(64, protocol.k)
        )[:per_answer]
        for c in answers
    ]
    return Written(
        tuple(t for tests in parsed for t in tests),
        tuple(c.text for c in answers),
        tuple(c.finish_reason for c in answers),
    )


def _first_prompt(target: Target, protocol: TestProtocol, k: int) -> Prompt:
    return test_prompt(target.problem, target.shown if protocol.white_box else None, k)


def _start(target: Target, protocol: TestProtocol) -> str:
    return begun_suite(target.problem) if protocol.begin_answers else ""


def _begun(prompt: Prompt, target: Target, protocol: TestProtocol) -> Prompt:
    return (*prompt, Message("assistant", _start(target, protocol))) if protocol.begin_answers else prompt


def _sample(
    policy: PolicyEngine, prompts: Sequence[Prompt], n: int, protocol: TestProtocol, seed: int, progress: Progress
) -> list[tuple[Completion, ...] | None]:
    """A group of n completions per prompt, None where the prompt leaves no room for one."""
    greedy = protocol.temperature == 0
    params = SamplingParams(
        protocol.max_tokens,
        temperature=protocol.temperature,
        top_p=1.0 if greedy else protocol.top_p,
        stop=STOP,
        seed=seed,
    )
    fitting = [i for i, prompt in enumerate(prompts) if policy.prompt_length(prompt) < policy.context_window]
    groups: list[tuple[Completion, ...] | None] = [None] * len(prompts)
    for group in policy.sample([prompts[i] for i in fitting], n, params) if fitting else ():
        groups[fitting[group.index]] = group.completions
        progress(n)
    progress(n * (len(prompts) - len(fitting)))
    return groups
