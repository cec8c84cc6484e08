"""Runs suites twice on trusted solutions: as plain Python, and as the calls and forms that they were parsed into."""

from __future__ import annotations

import ast
import copy

from code_a1.records import TestCase


def plain_outcomes(suite: str, solution: str) -> list[bool]:
    """Whether each assert of a straight-line suite holds in plain Python, up to the first that raises something else."""
    namespace: dict[str, object] = {}
    exec(solution, namespace)
    outcomes: list[bool] = []
    for node in ast.parse(suite).body:
        source = ast.unparse(node)
        if not isinstance(node, ast.Assert):
            exec(source, namespace)
            continue
        try:
            exec(source, namespace)
        except AssertionError:
            outcomes.append(False)
        except Exception:
            return [*outcomes, False]
        else:
            outcomes.append(True)
    return outcomes


def parsed_outcome(test: TestCase, solution: str) -> bool:
    """Whether a parsed test holds: calls where the solution is, the form over copies of their results elsewhere."""
    namespace: dict[str, object] = {}
    exec(solution, namespace)
    elsewhere: dict[str, object] = {}
    try:
        exec(test.prelude, namespace)
        results = copy.deepcopy([eval(call, namespace) for call in test.calls])
        exec(test.form_prelude, elsewhere)
        expected = {} if test.expected is None else {"expected": eval(test.expected, elsewhere)}
        named = {f"_{i}": result for i, result in enumerate(results)}
        return bool(eval(test.form, {**elsewhere, **named, **expected}))
    except Exception:
        return False
