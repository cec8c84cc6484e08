"""One evaluation from start to end: block after block into a folder, then the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from code_a1.engines.base import PolicyEngine
from code_a1.evaluation.code.folder import EvalFolder
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.measure import Protocol, Watching, blocks, measure
from code_a1.evaluation.code.summary import summarise
from code_a1.evaluation.code.tasks import Benchmark, TaskResult
from code_a1.report.view import View
from code_a1.sandbox import Sandbox


def settings_of(model: str, benches: Sequence[Benchmark], protocol: Protocol) -> dict[str, Any]:
    """What results depend on: all of it has to be the same for an evaluation to be resumed."""
    held = {bench.name: {"tasks": len(bench.tasks), "fingerprint": bench.fingerprint()} for bench in benches}
    return {"model": model, "benchmarks": held, **asdict(protocol)}


def evaluate_code(
    policy: PolicyEngine,
    sandbox: Sandbox,
    benches: Sequence[Benchmark],
    protocol: Protocol,
    output: Path,
    model: str,
    view: View | None = None,
) -> dict[str, Any]:
    """Evaluate a policy, resuming what `output` holds already; the summary, which is written there too.

    Raises:
        RunDirError: the folder cannot be used; for an evaluation under other settings, the differences are named.
        ModelError: the model cannot be asked.
    """
    view = view or View()
    folder = EvalFolder.start(output, settings_of(model, benches, protocol))
    done = folder.results()
    judge = BenchJudge(sandbox)
    for bench in benches:
        known = done.setdefault(bench.name, {})
        answers = len(bench.tasks) * (protocol.n + protocol.greedy)
        view.phase(f"{bench.name}", answers)
        for number, tasks in blocks(bench, protocol):
            if not all(task.task_id in known for task in tasks):
                results = measure(policy, judge, bench.name, number, tasks, protocol, Watching(view.advance))
                folder.append(results)
                known |= {result.task_id: result for result in results}
            else:
                view.advance(len(tasks) * (protocol.n + protocol.greedy))
    summary = summarise(_ordered(benches, done), protocol.n)
    folder.write_summary(summary)
    return summary


def _ordered(benches: Sequence[Benchmark], done: Mapping[str, Mapping[str, TaskResult]]) -> dict[str, list[TaskResult]]:
    return {bench.name: [done[bench.name][task.task_id] for task in bench.tasks] for bench in benches}
