"""A benchmark of programs as one of the measurements that the trainer takes every `eval_every` steps."""

from __future__ import annotations

from code_a1.config import Config
from code_a1.evaluation.base import Players, Progress
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.measure import Protocol, Watching, blocks, measure
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.evaluation.code.statistics import mean
from code_a1.evaluation.code.summary import task_values
from code_a1.evaluation.code.tasks import Benchmark, InputTests, ProblemTests
from code_a1.problems import Benchmark as ProblemBenchmark
from code_a1.records import Problem
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed


class CodeBench:
    """pass@k of the code policy on one benchmark."""

    def __init__(self, bench: Benchmark, protocol: Protocol, judge: BenchJudge) -> None:
        self.name = bench.name
        self._bench = bench
        self._protocol = protocol
        self._judge = judge

    def __call__(self, players: Players, on_progress: Progress | None = None) -> dict[str, float]:
        """`problems`, and `code/` with pass@k, or with the greedy answer's share as pass@1 where nothing is drawn."""
        policy = players["code"]
        watching = Watching() if on_progress is None else Watching(judged=on_progress)
        results = [
            result
            for number, tasks in blocks(self._bench, self._protocol)
            for result in measure(policy, self._judge, self.name, number, tasks, self._protocol, watching)
        ]
        values = task_values(results, self._protocol.n)
        if not self._protocol.n:
            values = {"pass@1": values.get("greedy", {})}
        metrics = {f"code/{name}": mean(list(by_task.values())) for name, by_task in values.items() if "@" in name}
        return {"problems": float(sum(not result.left_out for result in results)), **metrics}

    def problems(self) -> ProblemBenchmark:
        """What training has to leave alone."""
        problems = [
            task.tests.problem
            if isinstance(task.tests, (InputTests, ProblemTests))
            else Problem(task.task_id, task.prompt[-1].content, task.entry_point, "")
            for task in self._bench.tasks
        ]
        return ProblemBenchmark.of(self.name, problems)


def open_code_benches(config: Config, sandbox: Sandbox) -> list[CodeBench]:
    """The benchmarks of `evaluation.benches`, with its sizes. Raises ProblemError where one cannot be used."""
    wanted = config.evaluation
    greedy = wanted.temperature == 0
    protocol = Protocol(
        0 if greedy else wanted.samples_per_problem,
        wanted.temperature,
        1.0,
        config.rollout.max_code_tokens,
        greedy,
        derive_seed(config.seed, "evaluation"),
    )
    judge = BenchJudge(sandbox)
    benches = open_benchmarks(wanted.benches, limit=wanted.bench_limit, seed=config.seed)
    return [CodeBench(bench, protocol, judge) for bench in benches]
