"""Which measurements a configuration asks for."""

from __future__ import annotations

from code_a1.config import Config
from code_a1.evaluation.base import Bench
from code_a1.evaluation.code.bench import open_code_benches
from code_a1.evaluation.heldout import HeldOut
from code_a1.judge import Judge
from code_a1.problems import Benchmark
from code_a1.sandbox import Sandbox


def open_benches(config: Config, judge: Judge, sandbox: Sandbox) -> tuple[tuple[Bench, ...], tuple[Benchmark, ...]]:
    """The measurements, and the problems that training must therefore leave alone. Both are empty without `eval_every`.

    Raises ProblemError where held-out problems or a benchmark cannot be used.
    """
    if not config.eval_every:
        return (), ()
    benches: list[Bench] = []
    held_out: list[Benchmark] = []
    if config.evaluation.problems is not None:
        own = HeldOut.open(config, judge, sandbox)
        benches.append(own)
        held_out.append(Benchmark.of("the held-out problems", own.problems))
    if config.evaluation.benches:
        of_code = open_code_benches(config, sandbox)
        benches += of_code
        held_out += [bench.problems() for bench in of_code]
    return tuple(benches), tuple(held_out)
