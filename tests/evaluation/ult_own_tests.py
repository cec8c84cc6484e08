"""What the tests that come with UnLeakedTestBench's rows are worth on the rows' own code.

    python -m tests.evaluation.ult_own_tests ult.json OUTPUT

A tester from a script that answers with `test_list`: no model is asked. Prints the table of docs/results/eval-tests.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from code_a1.engines import ScriptedEngine
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.evaluation.code.tasks import ProblemTests
from code_a1.evaluation.tests.asking import TestProtocol
from code_a1.evaluation.tests.run import evaluate_tests
from code_a1.evaluation.tests.summary import summary_table
from code_a1.sandbox import Sandbox


def main(file: str, output: str) -> None:
    """Evaluate and print."""
    [bench] = open_benchmarks([f"ult={file}"], untested=True)
    own = {t.entry_point: t.tests.probes for t in bench.tasks if isinstance(t.tests, ProblemTests)}

    def answer(prompt, _index, _seed):
        name = prompt[1].content.rsplit("tests for `", 1)[1].partition("`")[0]
        return "\n".join(["```python", *own[name], "```"])

    with Sandbox() as sandbox:
        protocol = TestProtocol("one-completion", mutants=20)
        summary = evaluate_tests(ScriptedEngine(answer), sandbox, [bench], protocol, Path(output), "test_list")
    Console(width=100).print(summary_table("test_list", summary, protocol.k, buggy=False))
    for task_id, reason in summary["benchmarks"][bench.name]["left_out"].items():
        print(f"left out: {task_id}: {reason}")
    for task_id, imports in summary["benchmarks"][bench.name]["added_imports"].items():
        print(f"supplied: {task_id}: {'; '.join(imports)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
