"""Mutation scores beside cosmic-ray's own runner: the same mutants of real references, with the references' own tests.

    python -m tests.mutation.against_cosmic_ray mbpp.jsonl --references 200 --mutants 10
    python -m tests.mutation.against_cosmic_ray mbpp.jsonl --references 10 --mutants 10 --command "-m pytest -x -q"

prints the figures of docs/mutation.md. Run from the root of the repository, with the extra `mutation`. cosmic-ray runs
its test command once per mutant, in this process's user account and without a sandbox.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cosmic_ray import commands
from cosmic_ray.config import ConfigDict
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

from code_a1.config import ProblemsConfig
from code_a1.judge import Judge
from code_a1.mutation import KillMatrix, Mutant, MutantStatus, Subject, make_mutants, run_mutants
from code_a1.mutation.mutants import _meaning, tidied
from code_a1.problems import load_problems, parse_source
from code_a1.records import Problem
from code_a1.reference_check import check_references
from code_a1.sandbox import Sandbox

TIMEOUT_S = 10.0


@dataclass
class Tally:
    """What was found, and how long each side took."""

    agree: Counter[str] = field(default_factory=Counter)
    timed_out: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    disagree: list[str] = field(default_factory=list)
    equal_scores: int = 0
    references: int = 0
    cosmic_ray_s: float = 0.0
    ours_s: float = 0.0
    cosmic_ray_cpu_s: float = 0.0
    ours_cpu_s: float = 0.0
    """With the start of the workers."""
    quick: int = 0
    """Mutants of references without a mutant that hangs."""
    quick_cpu_s: float = 0.0
    """For those, by workers that are up."""

    @property
    def mutants(self) -> int:
        return self.agree.total() + len(self.timed_out) + len(self.disagree)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems")
    parser.add_argument("--references", type=int, default=200)
    parser.add_argument("--mutants", type=int, default=10, help="per reference, a seeded sample")
    parser.add_argument("--workers", type=int, default=1, help="processes that run mutants here")
    parser.add_argument("--command", default="", help='what runs the tests, e.g. "-m pytest -x -q"; default: a script')
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with Sandbox(workers=options.workers) as sandbox, tempfile.TemporaryDirectory() as folder:
        judge = Judge(sandbox)
        found = load_problems(ProblemsConfig(path=options.problems)).problems
        spread = found[:: max(1, len(found) // (options.references + options.references // 20))]
        checked = check_references(judge, spread)
        problems = [p for p in checked.problems if checked.tests[p.problem_id]][: options.references]
        tally = Tally()
        theirs_P = []
        for number, problem in enumerate(problems):
            found_there = dict(
                run_cosmic_ray(problem, Path(folder) / str(number), options.mutants, options.command, tally)
            )
            theirs_P.append(without_what_is_left_out(problem, found_there, tally))
            print(f"\r{number + 1} of {len(problems)}", end="", file=sys.stderr, flush=True)
        subjects = [
            Subject(problem, tuple(Mutant(source, "", 1) for source in theirs), checked.tests[problem.problem_id])
            for problem, theirs in zip(problems, theirs_P, strict=True)
        ]
        run_mutants(sandbox, subjects[:1])  # the workers are up
        started = time.monotonic()
        matrices = run_mutants(sandbox, subjects)
        tally.ours_s = time.monotonic() - started
    tally.ours_cpu_s = cpu_of(subjects, 1, options.workers)
    quick = [m.subject for m in matrices if not m.score().timed_out]
    tally.quick = sum(len(subject.mutants) for subject in quick)
    tally.quick_cpu_s = (cpu_of(quick, 6, options.workers) - cpu_of(quick, 1, options.workers)) / 5
    for matrix, theirs in zip(matrices, theirs_P, strict=True):
        compare(matrix, theirs, tally)
    print(json.dumps(summary(tally), indent=1))


Killed = dict[str, tuple[bool, str]]
"""Mutated source → whether cosmic-ray counts it as killed, and "timeout" or the end of its output."""


def without_what_is_left_out(problem: Problem, theirs: Killed, tally: Tally) -> Killed:
    """The mutants that `make_mutants` makes too; the others are counted."""
    known = {m.source for m in make_mutants(problem.reference_solution, problem.entry_point, limit=0, seed=0)}
    tally.left_out.update("killed" if killed else "survived" for s, (killed, _) in theirs.items() if s not in known)
    return {source: found for source, found in theirs.items() if source in known}


def compare(matrix: KillMatrix, theirs: Killed, tally: Tally) -> None:
    """One reference on both sides: the same mutants, killed or not by all of its tests together."""
    name = matrix.subject.problem.problem_id
    same = True
    for m, (source, (killed, why)) in enumerate(theirs.items()):
        status = matrix.status(m)
        if status in (MutantStatus.TIMED_OUT, MutantStatus.UNKNOWN) or why == "timeout":
            tally.timed_out.append(f"{name}: here {status}, there {why or killed}")
        elif (status is MutantStatus.KILLED) == killed:
            tally.agree[str(status)] += 1
        else:
            same = False
            tally.disagree.append(f"{name}: here {status}, there killed={killed}\n{source}\n{why}")
    tally.references += 1
    tally.equal_scores += same


def run_cosmic_ray(
    problem: Problem, folder: Path, count: int, command: str, tally: Tally
) -> Iterator[tuple[str, tuple[bool, str]]]:
    """(mutated source, (killed, "timeout" or the end of the output)) as its local distributor finds it."""
    folder.mkdir()
    module = folder / "module.py"
    module.write_text(problem.reference_solution, encoding="utf-8")
    lines = ["from module import *", problem.setup, *problem.reference_tests]
    if command:
        lines = ["from module import *", problem.setup, "def test_it():", *_indented(problem.reference_tests)]
    (folder / "test_it.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = ConfigDict(
        {
            "test-command": f"{sys.executable} {command or '-S'} {folder / 'test_it.py'}",
            "timeout": TIMEOUT_S,
            "distributor": {"name": "local"},
        }
    )
    started, cpu = time.monotonic(), cpu_s()
    with use_db(str(folder / "session.sqlite"), WorkDB.Mode.create) as session:
        commands.init([module], session, {})
        jobs = [item.job_id for item in session.work_items]
        # the session orders jobs by random ids: sorted by what they are, so that the sample is the same every time
        items = sorted(session.work_items, key=lambda i: (i.mutations[0].operator_name, i.mutations[0].occurrence))
        chosen = random.Random(0).sample(items, min(count, len(items)))
        skipped = set(jobs) - {item.job_id for item in chosen}
        session.set_multiple_results(list(skipped), WorkResult(WorkerOutcome.SKIPPED))
        commands.execute(session, config)
        results = {job: result for job, result in session.results if job not in skipped}
    tally.cosmic_ray_s += time.monotonic() - started
    tally.cosmic_ray_cpu_s += cpu_s() - cpu
    for item in chosen:
        [mutation] = item.mutations
        operator = get_operator(mutation.operator_name)()
        source = str(mutate_code(problem.reference_solution, operator, mutation.occurrence))
        with contextlib.suppress(ValueError):  # not Python
            source = tidied(problem.reference_solution, source, _meaning(parse_source(source)))
        output = results[item.job_id].output or ""
        yield source, (results[item.job_id].is_killed, output[-300:])


def cpu_of(subjects: Sequence[Subject], times: int, workers: int) -> float:
    """CPU seconds for running all mutants so often, in workers of their own: they are counted once they have ended."""
    before = cpu_s()
    with Sandbox(workers=workers) as sandbox:
        for _ in range(times):
            run_mutants(sandbox, subjects)
    return cpu_s() - before


def cpu_s() -> float:
    """CPU seconds of this process and of all that it has started and waited for: load changes them little."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _indented(sources: Sequence[str]) -> list[str]:
    return [f"    {line}" for source in sources for line in source.split("\n")] or ["    pass"]


def summary(tally: Tally) -> dict[str, object]:
    """The figures."""
    n = max(1, tally.mutants)
    return {
        "references": tally.references,
        "references with the same kills": tally.equal_scores,
        "mutants": tally.mutants,
        "agree": dict(tally.agree),
        "timed out on either side": tally.timed_out,
        "left out here (no Python, slipped, equal text, unreached)": dict(tally.left_out),
        "disagree": tally.disagree,
        "ms per mutant, cosmic-ray": 1000 * tally.cosmic_ray_s / max(1, n + tally.left_out.total()),
        "ms per mutant, here": 1000 * tally.ours_s / n,
        "CPU ms per mutant, cosmic-ray": 1000 * tally.cosmic_ray_cpu_s / max(1, n + tally.left_out.total()),
        "CPU ms per mutant, here, with the start of workers": 1000 * tally.ours_cpu_s / n,
        "CPU ms per mutant, here, workers up, nothing hangs": 1000 * tally.quick_cpu_s / max(1, tally.quick),
    }


if __name__ == "__main__":
    main()
