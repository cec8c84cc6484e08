"""Rows of APPS (Hendrycks et al. 2021) and TACO (Li et al. 2023) that ask for a function.

Most of their problems read standard input and are left out. The others name a function (`fn_name`) and give arguments
and answers as JSON, which knows neither tuples nor keys other than strings, and whose answers are sometimes wrapped in
a list: what is meant shows only when a solution runs. So a row has several versions, the literal one first.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from code_a1.assertions.names import BUILTINS, COMMON_IMPORTS, free_names
from code_a1.problems.entry_points import declaration_of, defined_names, parse_source
from code_a1.problems.fields import Fields, RowError, Unsuited, checked, text_field, unix_lines
from code_a1.records import Problem

MAX_SOLUTIONS = 3
"""Solutions of a row that may become its reference, each in every reading of the answers."""

_MEMBERS = {
    "heapq": ("heapify", "heappop", "heappush", "heappushpop", "heapreplace", "nlargest", "nsmallest"),
    "bisect": ("bisect_left", "bisect_right", "insort"),
    "itertools": (
        "accumulate",
        "chain",
        "combinations",
        "count",
        "cycle",
        "groupby",
        "permutations",
        "product",
        "repeat",
    ),
    "functools": ("cache", "cmp_to_key", "lru_cache", "partial"),
    "math": ("ceil", "factorial", "floor", "gcd", "log", "log2", "pi", "sqrt"),
    "string": ("ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation"),
}
_IMPORTS = COMMON_IMPORTS | {
    name: f"from {module} import {name}" for module, names in _MEMBERS.items() for name in names
}
"""Names that the sites of these problems provide without an import."""


def competition_versions(row: Fields, *, dataset: str) -> Iterator[Problem]:
    """Versions of one row: up to three of its solutions, and for each the possible readings of the answers.

    Raises Unsuited for problems of standard input, without solutions, or with arguments that are text to be parsed.
    """
    question = unix_lines(text_field(row, "question")).strip()
    cases = _json_field(row, "input_output", dict)
    name = cases.get("fn_name")
    if not name:
        raise Unsuited("reads standard input: names no function")
    if not isinstance(name, str) or not name.isidentifier():
        raise RowError(f"field 'input_output': fn_name must be the name of a function, not {name!r}")
    arguments, answers = _cases(cases)
    solutions = _json_field(row, "solutions", list)
    if not solutions:
        raise Unsuited("no reference: the row has no solution")
    whole = [w for s in solutions if isinstance(s, str) and (w := _whole(unix_lines(s), name)) is not None]
    if not whole:
        raise RowError(f"none of the {len(solutions)} solutions is Python 3 that defines {name}", "no entry point")
    starter = unix_lines(text_field(row, "starter_code", default=""))
    statement = f"{question}\n\n{_declaration(starter, whole[0], name)}" if question else ""
    for solution in islice(whole, MAX_SOLUTIONS):
        written: set[tuple[str, ...]] = set()
        for reading in _READINGS:
            tests = tuple(f"assert {name}({a}) == {reading(b)!r}" for a, b in zip(arguments, answers, strict=True))
            if tests not in written:
                written.add(tests)
                problem = Problem(_problem_id(row, dataset), statement, name, solution, tests)
                yield checked(problem, solution_field="solutions", tests_field="input_output")


def competition_difficulty(row: Fields) -> str:
    """APPS: introductory, interview, competition. TACO: EASY to VERY_HARD, UNKNOWN_DIFFICULTY."""
    return text_field(row, "difficulty", default="")


def _problem_id(row: Fields, dataset: str) -> str:
    """The row's own id; TACO has none, so there it comes from the text and stays the same in any order of rows."""
    for field in ("problem_id", "id"):
        if row.get(field) is not None:
            return f"{dataset}/{row[field]}"
    text = "\0".join(str(row.get(field)) for field in ("question", "url", "name", "starter_code", "input_output"))
    return f"{dataset}/{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _json_field(row: Fields, name: str, kind: type) -> Any:
    """A field that holds JSON as text, or already the value; empty or missing text is an empty value."""
    value = row.get(name)
    if value is None or value == "":
        return kind()
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise RowError(f"field '{name}' is not JSON: {error}") from error
    if not isinstance(value, kind):
        raise RowError(f"field '{name}' must be {'an object' if kind is dict else 'a list'} as JSON")
    return value


def _cases(cases: Mapping[str, Any]) -> tuple[list[str], list[object]]:
    """Arguments as source and answers as values, one of each for every test."""
    inputs, outputs = cases.get("inputs"), cases.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise RowError("field 'input_output' must have two lists of one length, inputs and outputs")
    if not inputs:
        raise Unsuited("no tests: input_output is empty")
    if not all(isinstance(item, list) for item in inputs):
        raise Unsuited("arguments are text to be parsed, not values")
    return [", ".join(map(repr, item)) for item in inputs], outputs


def _first(answer: object) -> object:
    return answer[0] if isinstance(answer, list) and len(answer) == 1 else answer


def _tuples(answer: object) -> object:
    return tuple(answer) if isinstance(answer, list) else answer


_READINGS: Sequence[Callable[[object], object]] = (
    lambda answer: answer,
    _first,
    _tuples,
    lambda answer: _tuples(_first(answer)),
)


def _whole(solution: str, name: str) -> str | None:
    """A solution that stands alone and has the function at its top level; None if it cannot be made one.

    A method of `class Solution` gets a function that calls it; names that the site provides get their imports.
    """
    try:
        tree = parse_source(solution)
    except ValueError:
        return None
    defined = defined_names(tree)
    source = solution.strip("\n") + "\n"
    if name not in defined.own:
        methods = {
            item.name
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name == "Solution"
            for item in node.body
            if isinstance(item, ast.FunctionDef)
        }
        if name not in methods:
            return None
        source += f"\n\ndef {name}(*args):\n    return Solution().{name}(*args)\n"
    missing = sorted(n for n in free_names(tree) - BUILTINS if n not in defined and n in _IMPORTS)
    imports = "".join(f"{_IMPORTS[n]}\n" for n in missing)
    return f"{imports}\n\n{source}" if imports else source


def _declaration(starter: str, solution: str, name: str) -> str:
    """The function to write, never as a method: from the starter code, or else from a solution."""
    for source in (f"{starter.rstrip()} pass", f"{starter.rstrip()}\n        pass", solution):
        try:
            tree = copy.deepcopy(parse_source(source))
        except ValueError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                node.args.args = [a for a in node.args.args if a.arg != "self"]
                text = declaration_of(ast.Module([node], []), name)
                named = sorted(
                    n for n in free_names(node.args) | free_names(node.returns or node.args) if n in _IMPORTS
                )
                return "".join(f"{_IMPORTS[n]}\n" for n in named) + text
    return f"def {name}(…)"
