"""The bundled problems: enough of them, well formed, and every reference passes its own tests, whatever the seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import code_a1.problems
from code_a1.problems import BUNDLED, read_rows
from code_a1.problems.formats import OWN_FIELDS
from code_a1.records import Problem

PROBLEMS = [p for p in read_rows(BUNDLED) if isinstance(p, Problem)]

# Our own code, so plain exec will do; a fresh namespace for every test, as the judge gives.
RUN_ALL = """
import json, sys
failures = []
for line in open(sys.argv[1], encoding="utf-8"):
    row = json.loads(line)
    for test in row["reference_tests"]:
        namespace = {}
        exec(row["reference_solution"], namespace)
        try:
            exec(test, namespace)
        except Exception as error:
            failures.append((row["problem_id"], test, repr(error)))
print(json.dumps(failures))
"""


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_every_reference_passes_its_own_tests(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, str(BUNDLED)],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []


def test_the_set_is_large_enough_and_whole() -> None:
    assert len(PROBLEMS) == len(BUNDLED.read_text(encoding="utf-8").splitlines()) == 105
    assert len({p.statement for p in PROBLEMS}) == len({p.entry_point for p in PROBLEMS}) == 105


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.problem_id)
def test_a_bundled_problem_is_well_formed(problem: Problem) -> None:
    assert problem.problem_id.startswith("bundled/")
    assert f"{problem.entry_point}(" in problem.statement or f"class {problem.entry_point} " in problem.statement
    assert 5 <= len(problem.reference_tests) <= 8
    assert len(set(problem.reference_tests)) == len(problem.reference_tests)
    for test in problem.reference_tests:
        assert problem.entry_point + "(" in test
        assert test.splitlines()[-1].startswith("assert ")


def test_the_format_is_documented_field_by_field() -> None:
    for line in BUNDLED.read_text(encoding="utf-8").splitlines():
        assert set(json.loads(line)) <= set(OWN_FIELDS)


def test_the_public_names_are_pinned() -> None:
    assert code_a1.problems.__all__ == [
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
