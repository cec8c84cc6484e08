"""Tests that cost their author little: the candidate's own code as the answer, trivial arguments, the same again."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping, Sequence

from code_a1.audit.programs import find_function, parameters
from code_a1.diversity import arguments_of

BLOCK = re.compile(r"```(?:python|py)?\n(.*?)(?:```|\Z)", re.DOTALL)


def restates(completion: str, tests: Sequence[str], code: str, entry_point: str) -> bool:
    """Whether a suite gets its answers from the candidate: a copy of its function, or its formula written out."""
    function = find_function(code, entry_point)
    if function is None:
        return False
    blocks = BLOCK.findall(completion) or [completion]
    own = _body(function)
    copied = any(_body(other) == own for block in blocks for other in _functions(block))
    return copied or any(_is_formula(test, function, entry_point) for test in tests)


def trivial(calls: Sequence[str], entry_point: str) -> bool:
    """Whether all arguments of a test's calls are boundary values; a test without arguments is not."""
    arguments = [argument for call in calls for argument in arguments_of(call, entry_point)]
    return bool(arguments) and all(argument.boundary for argument in arguments)


def calls_in(source: str, entry_point: str) -> tuple[str, ...]:
    """The calls of the entry point in a test, written one way."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(
        ast.unparse(node)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point
    )


def suite_key(tests: Sequence[str], entry_point: str) -> str:
    """What makes two suites the same: their tests in any order, whatever the function is called."""
    return "\n".join(sorted(re.sub(rf"\b{re.escape(entry_point)}\b", "f", test) for test in tests))


def _functions(code: str) -> list[ast.FunctionDef]:
    try:
        return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _body(function: ast.FunctionDef) -> str:
    """A function's body, docstring aside, with its parameters and itself under names of their own."""
    names = {name: f"_{i}" for i, name in enumerate(parameters(function))} | {function.name: "_f"}
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return "\n".join(ast.dump(_renamed(statement, names)) for statement in body)


def _renamed(node: ast.AST, names: Mapping[str, str]) -> ast.AST:
    node = copy.deepcopy(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in names:
            inner.id = names[inner.id]
    return node


def _is_formula(test: str, function: ast.FunctionDef, entry_point: str) -> bool:
    """Whether a test compares a call with the expression that the candidate returns for it, arguments put in."""
    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None or isinstance(last.value, ast.Constant | ast.Name):
        return False
    try:
        statement = ast.parse(test).body[-1]
    except (SyntaxError, ValueError, RecursionError, MemoryError, IndexError):
        return False
    if not (isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare)):
        return False
    sides = [statement.test.left, *statement.test.comparators]
    names = parameters(function)
    for call in sides:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == entry_point:
            formula = ast.dump(_Filled(dict(zip(names, call.args, strict=False))).visit(copy.deepcopy(last.value)))
            if any(ast.dump(side) == formula for side in sides if side is not call):
                return True
    return False


class _Filled(ast.NodeTransformer):
    """Arguments in the place of parameters."""

    def __init__(self, arguments: Mapping[str, ast.expr]) -> None:
        self.arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.arguments.get(node.id, node)
