"""Line and branch coverage of the given code by tests, as coverage.py measures it.

Tests run in the sandbox under coverage.py's tracer, which yields pairs of lines; what these pairs come to is worked out
by coverage.py here, over the text of the code. Counted are the bodies of functions: whatever is at the top level runs
when the code is loaded, and says nothing about tests.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_a1.errors import MissingExtra
from code_a1.records import Problem, TestCase
from code_a1.sandbox import Call, OutcomeKind, Program, Sandbox
from code_a1.sandbox.programs import Limits

Arcs = frozenset[tuple[int, int]]
"""Pairs of lines that ran one after the other; negative ones are entries and exits."""

_FILE = "/given.py"
_TRACED = f"""
def __arcs(source, setup, prelude, calls):
    import coverage
    tracer = coverage.Coverage(data_file=None, branch=True, config_file=False, include=[{_FILE!r}], messages=False)
    space = {{"__name__": "solution"}}
    tracer.start()
    try:
        for text, name in ((source, {_FILE!r}), (setup, "<setup>"), (prelude, "<prelude>")):
            exec(compile(text, name, "exec", 0, True), space)
        for text in calls:
            eval(compile(text.strip(), "<call>", "eval", 0, True), space)
    finally:
        tracer.stop()
    return sorted(tracer.get_data().arcs({_FILE!r}) or ())
"""


@dataclass(frozen=True, slots=True)
class Covered:
    """Counts over the bodies of the code's functions."""

    lines: int
    all_lines: int
    branches: int
    all_branches: int


def require_coverage() -> Any:
    """The package coverage.py. Raises MissingExtra."""
    try:
        import coverage  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError as error:
        raise MissingExtra("coverage", extra="evaluation", purpose="measuring coverage") from error
    return coverage


def trace(
    sandbox: Sandbox, items: Sequence[tuple[Problem, Sequence[TestCase]]], limits: Limits | None = None
) -> list[list[Arcs]]:
    """What every test runs through in the code of its problem; nothing for a test that cannot be run under a tracer."""
    programs = [
        Program(
            _TRACED,
            tuple(
                Call(
                    ("__arcs(__source, __setup, __prelude, __calls)",),
                    bindings={
                        "__source": problem.reference_solution,
                        "__setup": problem.setup,
                        "__prelude": test.prelude,
                        "__calls": list(test.calls),
                    },
                )
                for test in tests
            ),
        )
        for problem, tests in items
    ]
    results = dict(sandbox.run(programs, limits)) if programs else {}
    return [
        [
            _arcs(outcome.values()[0]) if outcome.kind is OutcomeKind.VALUE else frozenset()
            for outcome in results[i].outcomes
        ]
        for i in range(len(programs))
    ]


def covered(source: str, arcs: Iterable[tuple[int, int]]) -> Covered:
    """What the arcs cover of a program's functions. Raises MissingExtra."""
    coverage = require_coverage()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the parser thinks of the given code's style
        module, report = Path(folder) / "given.py", Path(folder) / "report.json"
        module.write_text(source, encoding="utf-8", errors="backslashreplace")
        measured = coverage.Coverage(data_file=None, branch=True, config_file=False, messages=False)
        measured.get_data().add_arcs({str(module): sorted(arcs)})
        measured.json_report(morfs=[str(module)], outfile=str(report))
        [file] = json.loads(report.read_text(encoding="utf-8"))["files"].values()
    bodies = [body["summary"] for name, body in file["functions"].items() if name] or [file["summary"]]
    return Covered(
        sum(body["covered_lines"] for body in bodies),
        sum(body["num_statements"] for body in bodies),
        sum(body["covered_branches"] for body in bodies),
        sum(body["num_branches"] for body in bodies),
    )


def _arcs(value: object) -> Arcs:
    """The pairs, if they are what they should be: the code under test had its hands on them."""
    if not isinstance(value, list):
        return frozenset()
    pairs = (pair for pair in value if isinstance(pair, tuple) and len(pair) == 2)
    return frozenset((a, b) for a, b in pairs if type(a) is int and type(b) is int)
