"""Answers that a program knows by heart: inputs that it compares with literals, to return a literal."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from code_a1.assertions.literals import node_value
from code_a1.diversity import is_boundary

Case = Mapping[str, object]
"""Parameters with the literal values for which an answer is returned by heart; others may have any value."""

SMALL = 3
"""Integers up to this are where recursion ends and loops begin: a program may know them."""


def cases_by_heart(code: str, entry_point: str) -> tuple[list[str], list[Case]]:
    """The parameters of the entry point, and the inputs that it has an answer for by heart, base cases aside.

    Found are `if x == 17: return 3` (also with `and`, `in` and conditional expressions), `match`, and dictionaries of
    literals that are looked up by parameters. Empty where the code is no Python or has no such function.
    """
    function = find_function(code, entry_point)
    if function is None:
        return [], []
    names = parameters(function)
    cases = [case for case in _cases(function, set(names)) if not all(map(_small, case.values()))]
    return names, cases


def find_function(code: str, name: str) -> ast.FunctionDef | None:
    """The function (or method) of this name, None where there is none or the code does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name), None)


def parameters(function: ast.FunctionDef) -> list[str]:
    """Names of the positional parameters, `self` left out."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] == ["self"] else names


def literal_arguments(source: str, entry_point: str, names: Sequence[str]) -> Iterator[dict[str, object]]:
    """For every call of the entry point in a test, its arguments by parameter; those that are no literals left out."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point:
            given = [*zip(names, node.args, strict=False), *((k.arg or "", k.value) for k in node.keywords)]
            yield {name: value for name, argument in given for value in _literal(argument)}


def knows(cases: Sequence[Case], arguments: Mapping[str, object]) -> bool:
    """Whether one of the cases is met by these arguments."""
    return any(
        all(name in arguments and _same(arguments[name], value) for name, value in case.items()) for case in cases
    )


def _cases(function: ast.FunctionDef, names: set[str]) -> Iterator[Case]:
    tables = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(function):
        by_heart = (isinstance(node, ast.If) and _returns_literal(node.body[0])) or (
            isinstance(node, ast.IfExp) and _is_literal(node.body)
        )
        if by_heart and isinstance(node, ast.If | ast.IfExp):
            yield from _compared(node.test, names)
        elif isinstance(node, ast.Match):
            yield from _matched(node, names)
        elif isinstance(node, ast.Subscript):
            yield from _looked_up(node.value, node.slice, tables, names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            yield from _looked_up(node.func.value, node.args[0] if node.args else node, tables, names)


def _compared(test: ast.expr, names: set[str]) -> Iterator[Case]:
    """Cases of a condition: `x == 5`, `x == 5 and y == 6`, `(x, y) == (5, 6)`, `x in (5, 6)`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        parts = [list(_compared(value, names)) for value in test.values]
        if all(len(part) == 1 for part in parts):
            yield {name: value for part in parts for name, value in part[0].items()}
        return
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _compared(value, names)
        return
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return
    left, right = test.left, test.comparators[0]
    if isinstance(test.ops[0], ast.Eq):
        if not _is_input(left, names):
            left, right = right, left
        yield from _bound(left, right, names)
    elif isinstance(test.ops[0], ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set):
        for element in right.elts:
            yield from _bound(left, element, names)


def _matched(node: ast.Match, names: set[str]) -> Iterator[Case]:
    for case in node.cases:
        if isinstance(case.pattern, ast.MatchValue) and case.body and _returns_literal(case.body[0]):
            yield from _bound(node.subject, case.pattern.value, names)


def _looked_up(table: ast.expr, key: ast.AST, tables: Mapping[str, ast.Dict], names: set[str]) -> Iterator[Case]:
    found = tables.get(table.id) if isinstance(table, ast.Name) else table
    if isinstance(found, ast.Dict) and isinstance(key, ast.expr) and all(map(_is_literal, found.values)):
        for entry in found.keys:
            if entry is not None:
                yield from _bound(key, entry, names)


def _bound(target: ast.expr, value: ast.expr, names: set[str]) -> Iterator[Case]:
    if not _is_input(target, names):
        return
    for literal in _literal(value):
        if isinstance(target, ast.Name):
            yield {target.id: literal}
        elif isinstance(target, ast.Tuple) and isinstance(literal, tuple) and len(literal) == len(target.elts):
            yield {e.id: v for e, v in zip(target.elts, literal, strict=True) if isinstance(e, ast.Name)}


def _is_input(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(_is_input(element, names) for element in node.elts)
    return isinstance(node, ast.Name) and node.id in names


def _returns_literal(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) and statement.value is not None and _is_literal(statement.value)


def _is_literal(node: ast.expr) -> bool:
    return bool(list(_literal(node)))


def _literal(node: ast.expr) -> Iterator[object]:
    """The value of a literal, or nothing."""
    try:
        yield node_value(node)
    except ValueError:
        return


def _small(value: object) -> bool:
    return is_boundary(value) or isinstance(value, bool) or (isinstance(value, int) and abs(value) <= SMALL)


def _same(a: object, b: object) -> bool:
    return type(a) is type(b) and a == b
