"""Candidates by the code policy, then suites by the test policy against each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from code_a1.config import RolloutConfig
from code_a1.engines.base import PolicyEngine, SamplingParams
from code_a1.problems import entry_is_class, parse_source
from code_a1.prompts import STOP, begun_code, begun_suite, code_prompt, parse_code, parse_suite, test_prompt
from code_a1.records import Candidate, CodeGroup, Completion, Message, Problem, Prompt, SuiteGroup, TestSuite

Progress = Callable[[int], None]
"""Called with the number of completions that have come in since the last call."""


def rollout_candidates(
    policy: PolicyEngine,
    problems: Sequence[Problem],
    config: RolloutConfig,
    *,
    seed: int,
    on_progress: Progress | None = None,
) -> list[CodeGroup]:
    """Sample M candidates for every problem, in the problems' order.

    A problem whose prompt is over the limit keeps its place as a group without candidates.
    """
    begun = [begun_code(problem) if config.begin_answers else "" for problem in problems]
    prompts = [_begin(code_prompt(problem), start) for problem, start in zip(problems, begun, strict=True)]
    limit = min(config.max_code_prompt_tokens, policy.context_window - 1)
    params = _params(config, config.max_code_tokens, seed)
    groups = dict(_stream(policy, prompts, config.candidates_per_problem, limit, params, on_progress))
    return [
        CodeGroup(
            problem,
            tuple(
                Candidate(problem.problem_id, i, parse_code(start + c.text), c) for i, c in enumerate(completions or ())
            ),
            prompt_too_long=completions is None,
        )
        for problem, start, completions in zip(problems, begun, (groups[i] for i in range(len(prompts))), strict=True)
    ]


def rollout_suites(
    policy: PolicyEngine | None,
    code_groups: Sequence[CodeGroup],
    config: RolloutConfig,
    *,
    seed: int,
    on_progress: Progress | None = None,
) -> list[SuiteGroup]:
    """Sample N suites against every candidate that can be attacked, in the candidates' order; none without a policy.

    A candidate without code, or whose code does not compile, fails every test anyway: nothing is sampled for it. One
    whose prompt is over the limit keeps its place as a group without suites.
    """
    attacks = dict(stream_suites(policy, code_groups, config, seed=seed, on_progress=on_progress))
    return [attack for position in range(len(code_groups)) for attack in attacks[position]]


def stream_suites(
    policy: PolicyEngine | None,
    code_groups: Sequence[CodeGroup],
    config: RolloutConfig,
    *,
    seed: int,
    on_progress: Progress | None = None,
) -> Iterator[tuple[int, list[SuiteGroup]]]:
    """The same as they come: yields the position of a code group once the suites against all its candidates are there.

    What is sampled does not depend on when it is asked for.
    """
    targets = [
        (position, group.problem, candidate)
        for position, group in enumerate(code_groups)
        for candidate in group.candidates
        if policy is not None and candidate.code is not None and compiles(candidate.code)
    ]
    awaited = Counter(position for position, _, _ in targets)
    for position in range(len(code_groups)):
        if not awaited[position]:
            yield position, []
    if policy is None:
        return
    begun = [begun_suite(problem) if config.begin_answers else "" for _, problem, _ in targets]
    prompts = [
        _begin(
            test_prompt(
                problem, candidate.code if config.white_box else None, config.tests_per_suite, config.predict_answer
            ),
            start,
        )
        for (_, problem, candidate), start in zip(targets, begun, strict=True)
    ]
    limit = min(config.max_test_prompt_tokens, policy.context_window - 1)
    params = _params(config, config.max_test_tokens, seed)
    written: dict[int, dict[int, SuiteGroup]] = {}
    for index, completions in _stream(policy, prompts, config.suites_per_candidate, limit, params, on_progress):
        position, problem, candidate = targets[index]
        attacks = written.setdefault(position, {})
        attacks[index] = _suite_group(problem, candidate, begun[index], completions, config)
        if len(attacks) == awaited[position]:
            yield position, [attacks[i] for i in sorted(attacks)]


def _suite_group(
    problem: Problem, candidate: Candidate, start: str, completions: Sequence[Completion] | None, config: RolloutConfig
) -> SuiteGroup:
    return SuiteGroup(
        problem.problem_id,
        candidate.index,
        tuple(
            TestSuite(
                parse_suite(
                    start + c.text,
                    problem.entry_point,
                    entry_is_class=entry_is_class(problem),
                    max_tests=config.max_tests_per_suite,
                    predict_answer=config.predict_answer,
                ),
                c,
            )
            for c in completions or ()
        ),
        prompt_too_long=completions is None,
    )


def _begin(prompt: Prompt, start: str) -> Prompt:
    return (*prompt, Message("assistant", start)) if start else prompt


def compiles(code: str) -> bool:
    """Whether a program is Python at all; reads it, runs nothing."""
    try:
        parse_source(code)
    except ValueError:
        return False
    return True


def _params(config: RolloutConfig, max_tokens: int, seed: int) -> SamplingParams:
    return SamplingParams(max_tokens, temperature=config.temperature, top_p=config.top_p, stop=STOP, seed=seed)


def _stream(
    policy: PolicyEngine,
    prompts: Sequence[Prompt],
    n: int,
    limit: int,
    params: SamplingParams,
    on_progress: Progress | None,
) -> Iterator[tuple[int, tuple[Completion, ...] | None]]:
    """The index of each prompt with its n completions, or with None where it has more than `limit` tokens."""
    fitting = []
    for i, prompt in enumerate(prompts):
        if policy.prompt_length(prompt) <= limit:
            fitting.append(i)
        else:
            yield i, None
    for group in policy.sample([prompts[i] for i in fitting], n, params):
        if on_progress is not None:
            on_progress(len(group.completions))
        yield fitting[group.index], group.completions
