"""Candidates by the code policy, then suites by the test policy against each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    groups = _sample(
        policy,
        prompts,
        config.candidates_per_problem,
        limit,
        _params(config, config.max_code_tokens, seed),
        on_progress,
    )
    return [
        CodeGroup(
            problem,
            tuple(
                Candidate(problem.problem_id, i, parse_code(start + c.text), c) for i, c in enumerate(completions or ())
            ),
            prompt_too_long=completions is None,
        )
        for problem, start, completions in zip(problems, begun, groups, strict=True)
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
    if policy is None:
        return []
    targets = [(g.problem, c) for g in code_groups for c in g.candidates if c.code is not None and compiles(c.code)]
    begun = [begun_suite(problem) if config.begin_answers else "" for problem, _ in targets]
    prompts = [
        _begin(
            test_prompt(
                problem, candidate.code if config.white_box else None, config.tests_per_suite, config.predict_answer
            ),
            start,
        )
        for (problem, candidate), start in zip(targets, begun, strict=True)
    ]
    limit = min(config.max_test_prompt_tokens, policy.context_window - 1)
    groups = _sample(
        policy, prompts, config.suites_per_candidate, limit, _params(config, config.max_test_tokens, seed), on_progress
    )
    return [
        SuiteGroup(
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
        for (problem, candidate), start, completions in zip(targets, begun, groups, strict=True)
    ]


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


def _sample(
    policy: PolicyEngine,
    prompts: Sequence[Prompt],
    n: int,
    limit: int,
    params: SamplingParams,
    on_progress: Progress | None,
) -> list[tuple[Completion, ...] | None]:
    """A group of n completions per prompt, None where the prompt has more than `limit` tokens."""
    fitting = [i for i, prompt in enumerate(prompts) if policy.prompt_length(prompt) <= limit]
    groups: list[tuple[Completion, ...] | None] = [None] * len(prompts)
    for group in policy.sample([prompts[i] for i in fitting], n, params):
        groups[fitting[group.index]] = group.completions
        if on_progress is not None:
            on_progress(len(group.completions))
    return groups
