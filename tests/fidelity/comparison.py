"""The judge beside the plain run: what real asserts are worth, and what mutants of real references get.

    python -m tests.fidelity.comparison DATA_FOLDER [--mutants 2000]

prints the figures of docs/results/fidelity.md. DATA_FOLDER holds mbpp.jsonl, ult_lite_public.json and
humaneval_plus_mbpp_plus.parquet.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from code_a1.config import ProblemsConfig
from code_a1.judge import Judge
from code_a1.mutation import make_mutants
from code_a1.problems import load_problems
from code_a1.records import Candidate, CodeGroup, Completion, Problem, Validity, Verdict
from code_a1.sandbox import Limits, Sandbox

LIMITS = Limits(cpu_s_per_call=10.0, wall_s_per_call=40.0, memory_mb=4096)
"""Generous: what is compared is meaning."""
MUTANT_LIMITS = Limits(cpu_s_per_call=1.0, wall_s_per_call=40.0, memory_mb=4096)
"""One in twenty mutants never ends, on every test."""
CHECK_LIMITS = Limits(cpu_s_per_call=15.0, wall_s_per_call=60.0, memory_mb=4096)
NO_COMPLETION = Completion("", (), (), (), "stop")


@dataclass
class Comparison:
    """How many verdicts agree, and a line about each that does not."""

    total: int = 0
    agreed: int = 0
    differences: list[str] = field(default_factory=list)
    verdicts: collections.Counter[str] = field(default_factory=collections.Counter)

    def add(self, where: str, ours: str, plain: str) -> None:
        """Count one verdict."""
        self.total += 1
        self.verdicts[plain] += 1
        self.agreed += ours == plain
        if ours != plain:
            self.differences.append(f"{where}: {ours} here, {plain} in plain Python")


def plain_verdicts(jobs: Sequence[tuple[str, str, Sequence[str]]], limits: Limits) -> list[list[str]]:
    """Verdicts of (source, setup, tests) jobs in plain Python, under the same limit of CPU time."""
    lines = "".join(json.dumps({"source": s, "setup": u, "tests": list(t)}) + "\n" for s, u, t in jobs)
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("plain_run.py")), str(limits.cpu_s_per_call)],
        input=lines, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "0", "PATH": ""},
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def ult_problems(path: Path) -> list[Problem]:
    """UnLeakedTestBench's functions as problems."""
    return [
        Problem(row["task_id"], row["prompt"], row["func_name"], row["code"], tuple(_tests(row["test_list"])))
        for row in json.loads(path.read_text())
    ]


def _tests(written: str | list[str]) -> list[str]:
    return ast.literal_eval(written) if isinstance(written, str) else written


def compare_references(judge: Judge, problems: Sequence[Problem]) -> Comparison:
    """Asserts that hold in plain Python against those that are VALID on the reference (duplicates count as such)."""
    comparison = Comparison()
    plain_P = plain_verdicts([(p.reference_solution, p.setup, p.reference_tests) for p in problems], LIMITS)
    for problem, plain in zip(problems, plain_P, strict=True):
        # one at a time: each assert then has its own verdict, and none is a duplicate of another
        alone = [
            Problem(
                f"{problem.problem_id}/{i}", "", problem.entry_point, problem.reference_solution, (test,), problem.setup
            )
            for i, test in enumerate(problem.reference_tests)
        ]
        for judged, verdict, only in zip(judge.check_references(alone), plain, alone, strict=True):
            if verdict != "PASS":
                continue  # the plain run is the measure only of what holds in it
            good = len(judged) == 1 and judged[0].validity is Validity.VALID
            reason = "; ".join(f"{t.validity} {t.reason}" for t in judged)
            if good and judged[0].test is not None:
                group = CodeGroup(only, (Candidate(only.problem_id, 0, only.reference_solution, NO_COMPLETION),))
                [judgement] = judge([group], (), {only.problem_id: [judged[0].test]})
                reason = f"VALID, but {judgement.candidates[0].replayed[0]} on its own reference"
                good = judgement.candidates[0].replayed[0] is Verdict.PASS
            comparison.add(f"{only.problem_id} {only.reference_tests[0][:100]!r}", "PASS" if good else reason, "PASS")
    return comparison


def compare_mutants(judge: Judge, problems: Sequence[Problem], count: int, seed: int = 0) -> Comparison:
    """Verdicts of mutants of the references on the references' own asserts, here and in plain Python."""
    checked = dict(zip(problems, judge.check_references(problems), strict=True))
    order = [p for p in problems if any(t.validity is Validity.VALID for t in checked[p])]
    random.Random(seed).shuffle(order)
    per_problem = -(-count // len(order))
    chosen: list[tuple[Problem, str]] = []
    for problem in order:
        mutants = make_mutants(problem.reference_solution, problem.entry_point, limit=per_problem, seed=seed)
        chosen += [(problem, mutant.source) for mutant in mutants]
    while len(chosen) < count:  # some functions have fewer places to change: take more from others
        per_problem *= 2
        chosen = [
            (p, m.source)
            for p in order
            for m in make_mutants(p.reference_solution, p.entry_point, limit=per_problem, seed=seed)
        ]
    chosen = chosen[:count]
    tests = {p: [t.test for t in checked[p] if t.validity is Validity.VALID and t.test is not None] for p in order}
    plain = plain_verdicts([(source, p.setup, [t.source for t in tests[p]]) for p, source in chosen], MUTANT_LIMITS)
    comparison = Comparison()
    by_problem: dict[Problem, list[int]] = {}
    for i, (problem, _) in enumerate(chosen):
        by_problem.setdefault(problem, []).append(i)
    groups = [
        CodeGroup(p, tuple(Candidate(p.problem_id, m, chosen[i][1], NO_COMPLETION) for m, i in enumerate(places)))
        for p, places in by_problem.items()
    ]
    judgements = judge(groups, (), {p.problem_id: tests[p] for p in by_problem})
    for judgement, places in zip(judgements, by_problem.values(), strict=True):
        for judged, i in zip(judgement.candidates, places, strict=True):
            problem, _ = chosen[i]
            for ours, theirs, test in zip(judged.replayed, plain[i], tests[problem], strict=True):
                comparison.add(f"{problem.problem_id} mutant {i} {test.source[:80]!r}", str(ours), theirs)
    return comparison


def checked_references(judge: Judge, problems: Sequence[Problem]) -> Comparison:
    """References with `check(candidate)` tests: each that does not pass here, with the reason."""
    comparison = Comparison()
    for problem, judged in zip(problems, judge.check_references(problems), strict=True):
        bad = [t for t in judged if t.validity is not Validity.VALID]
        comparison.add(problem.problem_id, f"{bad[0].validity} {bad[0].reason}" if bad else "PASS", "PASS")
    return comparison


def _report(title: str, comparison: Comparison) -> None:
    share = comparison.agreed / max(comparison.total, 1)
    print(f"{title}: {comparison.agreed} of {comparison.total} ({share:.2%}); plain: {dict(comparison.verdicts)}")
    for line in comparison.differences:
        print(f"  {line}")
    sys.stdout.flush()


def main() -> None:
    """Print all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mutants", type=int, default=2000)
    asked = parser.parse_args()
    mbpp = load_problems(ProblemsConfig(path=str(asked.folder / "mbpp.jsonl"))).problems
    with Sandbox(LIMITS) as sandbox:
        judge = Judge(sandbox)
        _report("MBPP asserts", compare_references(judge, mbpp))
        _report("ULT asserts", compare_references(judge, ult_problems(asked.folder / "ult_lite_public.json")))
    with Sandbox(MUTANT_LIMITS) as sandbox:
        judge = Judge(sandbox)
        _report(f"{asked.mutants} mutants of MBPP references", compare_mutants(judge, mbpp, asked.mutants))
    plus = load_problems(ProblemsConfig(path=str(asked.folder / "humaneval_plus_mbpp_plus.parquet"))).problems
    with Sandbox(CHECK_LIMITS) as sandbox:
        _report("EvalPlus references", checked_references(Judge(sandbox), plus))


if __name__ == "__main__":
    main()
