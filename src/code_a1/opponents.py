"""Programs that the test policy is shown beside the code policy's own: mutants known to be wrong, and earlier policies.

A tester that only ever meets the present coder learns its habits, and finds little to attack once that coder is good.
The extra programs join the candidates of their problem for everything but learning to write them: they are attacked
and judged, their suites compete for the selection, and the code policy learns from its own alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from code_a1.config import Config
from code_a1.engines.base import PolicyEngine
from code_a1.errors import MissingExtra
from code_a1.mutation import MutantStatus, Subject, make_mutants, run_mutants
from code_a1.records import Candidate, CodeGroup, Completion, Problem, TestCase
from code_a1.rollout import rollout_candidates
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed

MUTANTS_TRIED = 4
"""Mutants made of a reference for each that is shown: some are equivalent, and steps should not all show the same."""

NOBODY = Completion("", (), (), (), "stop")
KnownTests = Mapping[str, Sequence[TestCase]]


class Opponents:
    """Adds the configured shares of opponents to the candidates of a step; adds none by default.

    `own_tests` are the problems' own tests that hold on their references; `checkpoints` lists the folders of earlier
    code policies, oldest first. Raises MissingExtra where mutants are asked for and cosmic-ray is not installed.
    """

    def __init__(
        self, config: Config, sandbox: Sandbox, own_tests: KnownTests, checkpoints: Callable[[], Sequence[Path]]
    ) -> None:
        self._config = config
        self._sandbox = sandbox
        self._own_tests = own_tests
        self._checkpoints = checkpoints
        self._mutants, self._earlier = config.opponents.counts(config.rollout.candidates_per_problem)
        self._wrong: dict[str, tuple[tuple[TestCase, ...], tuple[str, ...]]] = {}
        if self._mutants and find_spec("cosmic_ray") is None:
            raise MissingExtra("cosmic-ray", extra="mutation", purpose="opponents.mutants")

    def join(
        self, policy: PolicyEngine, code_groups: Sequence[CodeGroup], replayed: KnownTests, *, step: int
    ) -> list[CodeGroup]:
        """The groups with opponents behind the code policy's own candidates.

        A mutant is shown if it fails one of its problem's own or `replayed` tests. A problem whose mutants pass them
        all gets none, and before the first checkpoint there is no earlier policy.
        """
        extra_P: list[list[Candidate]] = [[] for _ in code_groups]
        if self._mutants:
            self._add_mutants(code_groups, extra_P, replayed, step)
        if self._earlier:
            self._add_earlier(policy, code_groups, extra_P, step)
        return [_joined(group, extra) for group, extra in zip(code_groups, extra_P, strict=True)]

    def _add_mutants(
        self, groups: Sequence[CodeGroup], extra_P: list[list[Candidate]], replayed: KnownTests, step: int
    ) -> None:
        wrong = self._wrong_mutants([g.problem for g in groups], replayed)
        for group, extra in zip(groups, extra_P, strict=True):
            problem_id = group.problem.problem_id
            rng = random.Random(derive_seed(self._config.seed, step, "mutants", problem_id))  # noqa: S311 - no secret
            shown = rng.sample(wrong[problem_id], min(self._mutants, len(wrong[problem_id])))
            extra += [Candidate(problem_id, 0, source, NOBODY, "mutant") for source in shown]

    def _wrong_mutants(self, problems: Sequence[Problem], replayed: KnownTests) -> dict[str, tuple[str, ...]]:
        """Per problem the mutants that fail one of its tests, found again where the tests have changed.

        So they depend on what is known now and on nothing before it, as they must in a run that is resumed.
        """
        known = {
            p.problem_id: (*self._own_tests.get(p.problem_id, ()), *replayed.get(p.problem_id, ())) for p in problems
        }
        self._wrong = {id_: found for id_, found in self._wrong.items() if known.get(id_) == found[0]}
        new = [p for p in problems if p.problem_id not in self._wrong and known[p.problem_id]]
        limit = MUTANTS_TRIED * self._mutants
        subjects = [
            Subject(
                p,
                make_mutants(p.reference_solution, p.entry_point, limit=limit, seed=self._config.seed),
                known[p.problem_id],
            )
            for p in new
        ]
        for matrix in run_mutants(self._sandbox, subjects):
            killed = (m.source for i, m in enumerate(matrix.subject.mutants) if matrix.status(i) is MutantStatus.KILLED)
            problem_id = matrix.subject.problem.problem_id
            self._wrong[problem_id] = known[problem_id], tuple(killed)
        return {p.problem_id: self._wrong[p.problem_id][1] if p.problem_id in self._wrong else () for p in problems}

    def _add_earlier(
        self, policy: PolicyEngine, groups: Sequence[CodeGroup], extra_P: list[list[Candidate]], step: int
    ) -> None:
        checkpoints = self._checkpoints()
        if not checkpoints:
            return
        seed = derive_seed(self._config.seed, step, "earlier policies")
        sizes = self._config.rollout.model_copy(update={"candidates_per_problem": self._earlier})
        with policy.sampling_as(checkpoints[seed % len(checkpoints)]):
            earlier = rollout_candidates(policy, [g.problem for g in groups], sizes, seed=seed)
        for group, extra in zip(earlier, extra_P, strict=True):
            extra += [replace(candidate, origin="earlier") for candidate in group.candidates]


def _joined(group: CodeGroup, extra: Sequence[Candidate]) -> CodeGroup:
    if group.prompt_too_long or not extra:
        return group
    first = len(group.candidates)
    numbered = tuple(replace(candidate, index=first + i) for i, candidate in enumerate(extra))
    return replace(group, candidates=group.candidates + numbered)
