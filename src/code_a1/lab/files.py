"""Files of lab problems: the project's own JSON Lines, and beside it what the lab knows about each problem's bugs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from code_a1.errors import ProblemError
from code_a1.lab.problems import LabProblem
from code_a1.problems import write_problems

Tests = Literal["hidden", "typical"]


def write_lab_problems(path: str | Path, problems: Sequence[LabProblem], *, tests: Tests = "hidden") -> None:
    """Write problems for `train`, `problems validate` and whatever else reads our format.

    `tests` says which tests become `reference_tests`: the strong hidden ones, or the few typical ones that miss bugs.
    Raises ProblemError if the file cannot be written.
    """
    weak = tests == "typical"
    write_problems(path, [replace(p.problem, reference_tests=p.typical_tests) if weak else p.problem for p in problems])


def write_bugs(path: str | Path, problems: Iterable[LabProblem]) -> None:
    """Write the bugs of every problem, one JSON object a line.

    Fields: `problem_id`, `family`, `split`, and `bugs`, each with `source`, `kind`, `subtle` (it passes the typical
    tests) and `failed` (hidden tests that it fails). Raises ProblemError if the file cannot be written.
    """
    try:
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            for p in problems:
                bugs = [{"source": b.source, "kind": b.kind, "subtle": b.subtle, "failed": b.failed} for b in p.bugs]
                row = {"problem_id": p.problem.problem_id, "family": p.family, "split": p.split, "bugs": bugs}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    except OSError as error:
        raise ProblemError(f"{path}: cannot be written: {error}") from error
