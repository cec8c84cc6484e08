"""Candidates by the code policy, then suites by the test policy against each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from code_a1.config import RolloutConfig
from code_a1.engines.base import PolicyEngine, SamplingParams
from code_a1.problems import entry_is_class, parse_source
from code_a1.prompts import STOP, code_prompt, parse_code, parse_suite, test_prompt
from code_a1.records import Candidate, CodeGroup, Completion, Problem, Prompt, SuiteGroup, TestSuite

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
    prompts = [code_prompt(problem) for problem in problems]
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
            tuple(Candidate(problem.problem_id, i, parse_code(c.text), c) for i, c in enumerate(completions or ())),
            prompt_too_long=completions is None,
        )
        for problem, completions in zip(problems, groups, strict=True)
    ]


def rollout_suites(
    policy: PolicyEngine,
    code_groups: Sequence[CodeGroup],
    config: RolloutConfig,
    *,
    seed: int,
    on_progress: Progress | None = None,
) -> list[SuiteGroup]:
    """Sample N suites against every candidate that can be attacked, in the candidates' order.

    A candidate without code, or whose code does not compile, fails every test anyway: nothing is sampled for it. One
    whose prompt is over the limit keeps its place as a group without suites.
    """
    targets = [(g.problem, c) for g in code_groups for c in g.candidates if c.code is not None and compiles(c.code)]
    prompts = [
        test_prompt(problem, candidate.code if config.white_box else None, config.tests_per_suite)
        for problem, candidate in targets
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
                        c.text,
                        problem.entry_point,
                        entry_is_class=entry_is_class(problem),
                        max_tests=config.max_tests_per_suite,
                    ),
                    c,
                )
                for c in completions or ()
            ),
            prompt_too_long=completions is None,
        )
        for (problem, candidate), completions in zip(targets, groups, strict=True)
    ]


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
