"""Which measurements a configuration asks for."""

from __future__ import annotations

from code_a1.config import Config
from code_a1.evaluation.base import Bench
from code_a1.evaluation.heldout import HeldOut
from code_a1.judge import Judge
from code_a1.problems import Benchmark
from code_a1.sandbox import Sandbox


def open_benches(config: Config, judge: Judge, sandbox: Sandbox) -> tuple[tuple[Bench, ...], tuple[Benchmark, ...]]:
    """The measurements, and the problems that training must therefore leave alone. Both are empty without `eval_every`.

    Raises ProblemError where the held-out problems cannot be used.
    """
    if not config.eval_every or config.evaluation.problems is None:
        return (), ()
    held_out = HeldOut.open(config, judge, sandbox)
    return (held_out,), (Benchmark.of("the held-out problems", held_out.problems),)
