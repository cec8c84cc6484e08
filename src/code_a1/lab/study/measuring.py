"""What the study measures of a finished arm, all arms alike: held-out problems, old failures, choices by a pair."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from code_a1.config import Config
from code_a1.engines.base import PolicyEngine
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.evaluation.heldout import HeldOut
from code_a1.evaluation.pair.measure import PairProtocol
from code_a1.evaluation.pair.run import evaluate_pair
from code_a1.evaluation.pair.summary import BY_TESTS
from code_a1.fixed_tests import KnownTests, judge_asserts
from code_a1.judge import Judge
from code_a1.metrics import mean
from code_a1.problems import load_problems
from code_a1.records import Validity, Verdict
from code_a1.rollout import rollout_candidates
from code_a1.run_dir import RunDir
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed

PAIR_PROGRAMS, PAIR_PROBLEMS = 8, 60
"""Programs to choose from, and the problems that choices are measured on."""


def measure_roles(config: Config, models: Mapping[str, Path | str]) -> dict[str, float]:
    """Held-out problems of the configuration, for the roles that have a model."""
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox.of(config.sandbox))
        bench = HeldOut.open(config, Judge(sandbox), sandbox)
        return bench({role: _open(config, role, model, stack) for role, model in models.items()})


def measure_old_failures(config: Config, run: RunDir, model: Path | str) -> dict[str, float]:
    """The share that new programs pass of the valid tests that programs of the run's first half failed.

    One program per problem that has such tests; mean over problems.
    """
    failed = old_failures(run, until=config.steps // 2)
    found = [p for p in load_problems(config.problems).problems if p.problem_id in failed]
    if not found:
        return {}
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox.of(config.sandbox))
        judge = Judge(sandbox)
        judged_P = judge_asserts(judge, [(p, failed[p.problem_id]) for p in found])
        known: KnownTests = {
            p.problem_id: tuple(t.test for t in judged if t.validity is Validity.VALID and t.test is not None)
            for p, judged in zip(found, judged_P, strict=True)
        }
        coder = _open(config, "code", model, stack)
        sizes = config.rollout.model_copy(update={"candidates_per_problem": 1})
        groups = rollout_candidates(coder, found, sizes, seed=derive_seed(config.seed, "old failures"))
        shares = [
            sum(verdict is Verdict.PASS for verdict in candidate.replayed) / len(candidate.replayed)
            for judgement in judge(groups, (), known)
            for candidate in judgement.candidates
            if candidate.replayed and not candidate.masked
        ]
    return {"code/old_failures_passed": mean(shares), "code/old_failures": sum(map(len, known.values()))}


def old_failures(run: RunDir, until: int) -> dict[str, tuple[str, ...]]:
    """Valid tests that a program of the first `until` steps failed, by problem, each once."""
    failed: dict[str, dict[str, None]] = {}
    for step in range(1, until + 1):
        for row in run.rollouts(step):
            for suite in row["suites"]:
                for test in suite["tests"]:
                    if test["validity"] == Validity.VALID and test["verdict"] == Verdict.FAIL:
                        failed.setdefault(row["problem_id"], {})[test["test"]] = None
    return {problem_id: tuple(tests) for problem_id, tests in failed.items()}


def measure_pairs(config: Config, models: Mapping[str, Path | str], output: Path) -> dict[str, float]:
    """Share of right choices by every pair of base and trained, `pair/CODER+TESTER`; `output` keeps the evaluations.

    `pair/tester_gain` is what the trained tester adds to the base's where both choose among the trained coder's
    programs.
    """
    assert config.evaluation.problems is not None
    source, sizes = config.evaluation.problems.path, config.rollout
    limit = min(PAIR_PROBLEMS, config.evaluation.problems.limit or PAIR_PROBLEMS)
    benches = open_benchmarks([source], limit=limit, seed=0)
    protocol = PairProtocol(
        PAIR_PROGRAMS,
        sizes.tests_per_suite,
        temperature=1.0,
        max_tokens=sizes.max_code_tokens,
        max_test_tokens=sizes.max_test_tokens,
        seed=config.seed,
    )
    base = {"code": config.code_policy.model, "test": config.test_policy.model}
    found: dict[str, float] = {}
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox.of(config.sandbox))
        states: dict[str, Mapping[str, Path | str]] = {"base": base, "trained": models}
        players = {(role, state): _open(config, role, states[state][role], stack) for role in base for state in states}
        for coder in states:
            for tester in states:
                name = f"{coder}+{tester}"
                summary = evaluate_pair(
                    players["code", coder],
                    players["test", tester],
                    sandbox,
                    benches,
                    protocol,
                    output / name,
                    {"code": coder, "test": tester},
                )
                found[f"pair/{name}"] = summary["average"][BY_TESTS][0]
    return found | {"pair/tester_gain": found["pair/trained+trained"] - found["pair/trained+base"]}


def _open(config: Config, role: str, model: Path | str, stack: ExitStack) -> PolicyEngine:
    from code_a1.engines.local.engine import LocalEngine  # noqa: PLC0415 - torch is loaded only where it is used

    settings = config.code_policy if role == "code" else config.test_policy
    policy = LocalEngine(settings.model_copy(update={"model": str(model)}), seed=config.seed, trainable=False)
    stack.callback(policy.close)
    return policy
