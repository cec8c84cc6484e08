"""One evaluation of a tester from start to end: block after block into a folder, then the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from code_a1.engines.base import PolicyEngine
from code_a1.evaluation.code.folder import EvalFolder
from code_a1.evaluation.code.tasks import Benchmark, Task
from code_a1.evaluation.tests.asking import TestProtocol
from code_a1.evaluation.tests.covering import require_coverage
from code_a1.evaluation.tests.measure import SuiteMeter
from code_a1.evaluation.tests.preparing import require_testable
from code_a1.evaluation.tests.results import from_row, to_row
from code_a1.evaluation.tests.summary import summarise
from code_a1.mutation import require_operators
from code_a1.report.view import View
from code_a1.sandbox import Sandbox

KIND = "tests"
SUITES_PER_BLOCK = 32
"""Suites sampled and judged together, and kept or lost together."""


def evaluate_tests(
    policy: PolicyEngine,
    sandbox: Sandbox,
    benches: Sequence[Benchmark],
    protocol: TestProtocol,
    output: Path,
    model: str,
    view: View | None = None,
) -> dict[str, Any]:
    """Evaluate a tester, resuming what `output` holds already; the summary, which is written there too.

    Raises:
        ProblemError: a benchmark whose tasks have no reference function.
        MissingExtra: cosmic-ray or coverage.py is not installed.
        RunDirError: the folder cannot be used; for an evaluation under other settings, the differences are named.
        ModelError: the model cannot be asked.
    """
    view = view or View()
    require_testable(benches)
    require_operators()
    require_coverage()
    held = {bench.name: {"tasks": len(bench.tasks), "fingerprint": bench.fingerprint()} for bench in benches}
    folder = EvalFolder.start(output, {"kind": KIND, "model": model, "benchmarks": held, **asdict(protocol)})
    done = folder.read(from_row)
    meter = SuiteMeter(sandbox, protocol)
    answers = protocol.n * (protocol.k if protocol.protocol == "sequential" else 1)
    for bench in benches:
        known = done.setdefault(bench.name, {})
        view.phase(bench.name, len(bench.tasks) * answers)
        for number, tasks in blocks(bench, protocol.n):
            if all(task.task_id in known for task in tasks):
                view.advance(len(tasks) * answers)
                continue
            results = meter(policy, bench.name, number, tasks, view.advance)
            view.advance(sum(bool(result.left_out) for result in results) * answers)
            folder.append_rows([to_row(result) for result in results])
            known |= {result.task_id: result for result in results}
    ordered = {bench.name: [done[bench.name][task.task_id] for task in bench.tasks] for bench in benches}
    summary = summarise(ordered, protocol.k)
    folder.write_summary(summary)
    return summary


def blocks(bench: Benchmark, n: int) -> Iterator[tuple[int, tuple[Task, ...]]]:
    """The blocks of a benchmark with their numbers; the same for every run under the same protocol."""
    size = max(1, SUITES_PER_BLOCK // n)
    for start in range(0, len(bench.tasks), size):
        yield start // size, bench.tasks[start : start + size]
