"""Problems: load and convert them, name what is wrong with them, keep benchmarks out of them, draw them for a step.

Formats, schema and the bundled set are described in docs/problems.md. Nothing here runs a solution; packages that not
every user has (`datasets`, `pyarrow`) are imported only when a source needs them.
"""

from __future__ import annotations

from code_a1.problems.decontaminate import Benchmark, Dropped, decontaminate
from code_a1.problems.entry_points import entry_is_class, is_check_program, parse_source
from code_a1.problems.loading import (
    BUNDLED,
    PACKAGED,
    BadRow,
    ProblemSet,
    load_benchmark,
    load_problems,
    read_rows,
    write_problems,
)
from code_a1.problems.sampler import ProblemSampler

__all__ = [
    "BUNDLED",
    "PACKAGED",
    "BadRow",
    "Benchmark",
    "Dropped",
    "ProblemSampler",
    "ProblemSet",
    "decontaminate",
    "entry_is_class",
    "is_check_program",
    "load_benchmark",
    "load_problems",
    "parse_source",
    "read_rows",
    "write_problems",
]
