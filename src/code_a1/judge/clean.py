"""The process that holds neither a candidate nor the reference: what test code finds there."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache

from code_a1.records import Problem, TestCase


@lru_cache(maxsize=4096)
def imports_of(source: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The top-level imports of a program: each statement with the names that it binds."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = []
    for node in body:
        if isinstance(node, ast.Import):
            names = frozenset(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            names = frozenset(alias.asname or alias.name for alias in node.names)
        else:
            continue
        found.append((ast.unparse(node), names))
    return tuple(found)


def clean_source(problem: Problem) -> str:
    """What test code may take for granted where no solution is: the imports of the reference and of the setup."""
    return "\n".join(line for source in (problem.reference_solution, problem.setup) for line, _ in imports_of(source))


@lru_cache(maxsize=65536)
def _names_in(source: str, mode: str) -> frozenset[str]:
    try:
        tree = ast.parse(source, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def self_contained(test: TestCase, problem: Problem) -> TestCase:
    """The test with those imports of the reference that its calls rely on.

    A test that says `f(deque([1]))` runs on the reference, which imports deque, and would be an error of a candidate
    that has no need to.
    """
    imports = imports_of(problem.reference_solution)
    if not imports or test.kind == "check":
        return test
    used = frozenset().union(_names_in(test.prelude, "exec"), *(_names_in(call, "eval") for call in test.calls))
    lines = [line for line, names in imports if names & used and line not in test.prelude]
    return replace(test, prelude="\n".join([*lines, test.prelude] if test.prelude else lines)) if lines else test
