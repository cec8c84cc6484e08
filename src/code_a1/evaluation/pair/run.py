"""One evaluation of a pair from start to end: block after block into a folder, then the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from code_a1.engines.base import PolicyEngine
from code_a1.evaluation.code.folder import EvalFolder
from code_a1.evaluation.code.tasks import Benchmark
from code_a1.evaluation.pair.measure import PairMeter, PairProtocol
from code_a1.evaluation.pair.results import from_row, to_row
from code_a1.evaluation.pair.summary import summarise
from code_a1.evaluation.tests.preparing import require_testable
from code_a1.evaluation.tests.run import blocks
from code_a1.report.view import View
from code_a1.sandbox import Sandbox

KIND = "pair"


def evaluate_pair(
    coder: PolicyEngine,
    tester: PolicyEngine,
    sandbox: Sandbox,
    benches: Sequence[Benchmark],
    protocol: PairProtocol,
    output: Path,
    models: Mapping[str, str],
    view: View | None = None,
) -> dict[str, Any]:
    """Evaluate a coder with a tester, resuming what `output` holds already; the summary, which is written there too.

    `models` names both, by the roles `code` and `test`.

    Raises:
        ProblemError: a benchmark whose tasks have no function to call.
        RunDirError: the folder cannot be used; for an evaluation under other settings, the differences are named.
        ModelError: a model cannot be asked.
    """
    view = view or View()
    require_testable(benches)
    held = {bench.name: {"tasks": len(bench.tasks), "fingerprint": bench.fingerprint()} for bench in benches}
    settings = {"kind": KIND, "models": dict(models), "benchmarks": held, **asdict(protocol)}
    folder = EvalFolder.start(output, settings)
    done = folder.read(from_row)
    meter = PairMeter(sandbox, protocol)
    for bench in benches:
        known = done.setdefault(bench.name, {})
        answers = 2 * protocol.n
        view.phase(bench.name, len(bench.tasks) * answers)
        for number, tasks in blocks(bench, protocol.n):
            if all(task.task_id in known for task in tasks):
                view.advance(len(tasks) * answers)
                continue
            results = meter(coder, tester, bench.name, number, tasks, view.advance)
            view.advance(sum(bool(result.left_out) for result in results) * answers)
            folder.append_rows([to_row(result) for result in results])
            known |= {result.task_id: result for result in results}
    ordered = {bench.name: [done[bench.name][task.task_id] for task in bench.tasks] for bench in benches}
    summary = summarise(ordered, protocol.n, protocol.k)
    folder.write_summary(summary)
    return summary
