"""Both policies on held-out problems: programs against the problems' own tests, suites against mutants.

The test policy is shown one wrong program per problem, a mutant of the reference, the same in every evaluation; its
suite then has to kill mutants of that reference, by its VALID tests alone. Equivalent mutants are not sorted out: they
lower everybody's score alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from code_a1.config import Config
from code_a1.engines.base import PolicyEngine
from code_a1.errors import ProblemError
from code_a1.evaluation.base import Players, Progress
from code_a1.judge import Judge
from code_a1.metrics import mean, passes_all
from code_a1.mistake_book import NOT_A_FAILURE, identity
from code_a1.mutation import Mutant, MutantStatus, Subject, make_mutants, run_mutants
from code_a1.problems import load_problems
from code_a1.records import Candidate, CodeGroup, Completion, JudgedSuite, JudgedTest, Problem, TestCase, Validity
from code_a1.reference_check import check_references
from code_a1.rollout import rollout_candidates, rollout_suites
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Target:
    """One held-out problem with its own tests, mutants of its reference, and the wrong program that testers see."""

    problem: Problem
    tests: tuple[TestCase, ...]
    mutants: tuple[Mutant, ...]
    shown: str


class HeldOut:
    """pass@1 of programs; validity, kills of the shown program and mutation score of suites."""

    name = "heldout"

    def __init__(self, config: Config, judge: Judge, sandbox: Sandbox, targets: Sequence[Target]) -> None:
        self._judge = judge
        self._sandbox = sandbox
        self._targets = tuple(targets)
        self._seed = derive_seed(config.seed, "evaluation")
        wanted = config.evaluation
        self._sizes = config.rollout.model_copy(
            update={
                "candidates_per_problem": wanted.samples_per_problem,
                "suites_per_candidate": wanted.suites_per_problem,
                "temperature": wanted.temperature,
                "top_p": 1.0,
            }
        )

    @classmethod
    def open(cls, config: Config, judge: Judge, sandbox: Sandbox) -> HeldOut:
        """Read `evaluation.problems`, check the references and make mutants of them.

        Raises:
            ProblemError: none of the problems has a reference that holds on at least one test of its own.
            MissingExtra: the package that makes mutants is not installed.
        """
        assert config.evaluation.problems is not None
        found = load_problems(config.evaluation.problems)
        checked = check_references(judge, found.problems)
        problems = [p for p in checked.problems if checked.tests[p.problem_id]]
        if not problems:
            raise ProblemError(
                f"{found.source}: none of {len(found.problems)} held-out problems has a reference that holds on tests "
                "of its own, which pass@1 is measured by; `code-a1 problems validate` says what is wrong with each"
            )
        limit = config.evaluation.mutants_per_problem
        mutants = [make_mutants(p.reference_solution, p.entry_point, limit=limit, seed=config.seed) for p in problems]
        tests = [checked.tests[p.problem_id] for p in problems]
        matrices = run_mutants(sandbox, [Subject(*item) for item in zip(problems, mutants, tests, strict=True)])
        targets = []
        for problem, own, made, matrix in zip(problems, tests, mutants, matrices, strict=True):
            wrong = (m.source for i, m in enumerate(made) if matrix.status(i) is MutantStatus.KILLED)
            targets.append(Target(problem, own, made, next(wrong, problem.reference_solution)))
        return cls(config, judge, sandbox, targets)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems that are measured on."""
        return tuple(target.problem for target in self._targets)

    def __call__(self, players: Players, on_progress: Progress | None = None) -> dict[str, float]:
        """Measure the roles that are played; see docs/metrics.md for what each key means."""
        metrics: dict[str, float] = {"problems": len(self._targets)}
        if "code" in players:
            metrics |= {f"code/{key}": value for key, value in self._programs(players["code"], on_progress).items()}
        if "test" in players:
            metrics |= {f"test/{key}": value for key, value in self._suites(players["test"], on_progress).items()}
        return metrics

    def _programs(self, policy: PolicyEngine, on_progress: Progress | None) -> dict[str, float]:
        groups = rollout_candidates(policy, self.problems, self._sizes, seed=self._seed)
        known = {t.problem.problem_id: t.tests for t in self._targets}
        judged = self._judge(groups, (), known, on_progress)
        candidates = [c for j in judged for c in j.candidates if not c.masked]
        return {
            "pass@1": mean(passes_all(c) is True for c in candidates),
            "loaded": mean(c.loaded for c in candidates),
        }

    def _suites(self, policy: PolicyEngine, on_progress: Progress | None) -> dict[str, float]:
        groups = [CodeGroup(t.problem, (Candidate(t.problem.problem_id, 0, t.shown, _NOBODY),)) for t in self._targets]
        attacks = rollout_suites(policy, groups, self._sizes, seed=self._seed)
        judged = self._judge(groups, attacks, None, on_progress)
        suites_P = [[s for s in j.candidates[0].suites if not s.masked] for j in judged]
        tests = [t for suites in suites_P for s in suites for t in s.tests]
        return {
            "validity": mean(t.validity is Validity.VALID for t in tests),
            "tests_per_suite": mean(len(s.tests) for suites in suites_P for s in suites),
            "usable_per_suite": mean(len(s.usable) for suites in suites_P for s in suites),
            "kills_shown": mean(
                any(t.verdict not in NOT_A_FAILURE for t in _valid(s)) for suites in suites_P for s in suites
            ),
            "mutation_score": mean(self._mutation_scores(suites_P, on_progress)),
        }

    def _mutation_scores(self, suites_P: Sequence[Sequence[JudgedSuite]], on_progress: Progress | None) -> list[float]:
        """Of every suite against mutants; a suite without a valid test kills nothing."""
        columns_P = [{identity(t.test): t.test for s in suites for t in _valid(s) if t.test} for suites in suites_P]
        subjects = [
            Subject(target.problem, target.mutants, tuple(columns.values()))
            for target, columns in zip(self._targets, columns_P, strict=True)
        ]
        scores = []
        matrices = run_mutants(self._sandbox, subjects, on_progress=on_progress)
        for matrix, suites, columns in zip(matrices, suites_P, columns_P, strict=True):
            place = {key: i for i, key in enumerate(columns)}
            for suite in suites:
                score = matrix.score([place[identity(t.test)] for t in _valid(suite) if t.test]).value
                if score is not None:
                    scores.append(score)
        return scores


_NOBODY = Completion("", (), (), (), "stop")


def _valid(suite: JudgedSuite) -> list[JudgedTest]:
    return [t for t in suite.tests if t.validity is Validity.VALID]
