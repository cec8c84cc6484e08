"""The work of `code-a1 lab …`."""

from __future__ import annotations

import json
from typing import cast

import click

from code_a1.lab.files import Tests, write_bugs, write_lab_problems
from code_a1.lab.problems import LabProblem, Split, generate

EVERY = 500
"""Problems between two lines of progress."""


def write_generated(
    count: int, output: str, *, seed: int, split: str, tests: str, bugs: str | None, as_json: bool
) -> None:
    """Generate problems, write the files, and say what is in them."""
    made: list[LabProblem] = []
    for problem in generate(count, seed=seed, split=None if split == "all" else cast("Split", split)):
        made.append(problem)
        if len(made) % EVERY == 0:
            click.echo(f"… {len(made)} of {count} problems", err=True)
    write_lab_problems(output, made, tests=cast("Tests", tests))
    if bugs:
        write_bugs(bugs, made)
    every_bug = [bug for problem in made for bug in problem.bugs]
    figures = {
        "problems": len(made),
        "families": len({problem.family for problem in made}),
        "tests": sum(len(problem.inputs if tests == "hidden" else problem.typical_tests) for problem in made),
        "bugs": len(every_bug),
        "subtle_bugs": sum(bug.subtle for bug in every_bug),
    }
    click.echo(
        f"{output}: {figures['problems']} problems of {figures['families']} families, {figures['tests']} tests; "
        f"{figures['bugs']} bugs, {figures['subtle_bugs']} of which pass the typical tests"
    )
    if as_json:
        click.echo(json.dumps(figures))
