"""Bugs that any program invites: one small wrong change each, with the kind of mistake that it is.

Not a general mutation tool: what is changed is what people get wrong in short functions, and every kind is named, so
that a study can say which mistakes a tester finds.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Literal

Kind = Literal["boundary", "comparison", "initial value", "missed case", "wrong order", "logic"]
"""`logic` is what families declare themselves and what fits nowhere else."""

KINDS: tuple[Kind, ...] = ("boundary", "comparison", "initial value", "missed case", "wrong order", "logic")

Change = Callable[[ast.AST], None]
"""Alters a node of a copy of the tree."""

BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
REVERSED = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPPOSITE = {
    "max": "min",
    "min": "max",
    "any": "all",
    "all": "any",
    "find": "rfind",
    "rfind": "find",
    "startswith": "endswith",
    "endswith": "startswith",
    "upper": "lower",
    "lower": "upper",
    "lstrip": "rstrip",
    "rstrip": "lstrip",
    "ljust": "rjust",
    "rjust": "ljust",
    "keys": "values",
    "values": "keys",
}
FORGOTTEN = frozenset({"abs", "set", "lower", "strip"})
"""Calls that are left out by mistake: `abs(x)` becomes x, `s.lower()` becomes s, `set(xs)` becomes list(xs)."""


def spontaneous_bugs(source: str) -> dict[str, Kind]:
    """Programs that differ from `source` by one likely mistake, in the order of the places where it is made.

    They are not run: some may be equivalent to the original, some may never end.
    """
    tree = ast.parse(source)
    factors = _factors(tree)
    found: dict[str, Kind] = {}
    for index, node in enumerate(ast.walk(tree)):
        for kind, change in _changes(node) if node not in factors else ():
            changed = ast.parse(source)
            change(next(itertools.islice(ast.walk(changed), index, None)))
            text = ast.unparse(changed)
            if text != source:
                found.setdefault(text, kind)
    return found


def _factors(tree: ast.AST) -> set[ast.AST]:
    """Numbers that something is multiplied with or divided by: nobody is one off with those."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Mult | ast.FloorDiv | ast.Mod):
            found.update(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.Constant))
    return found


def _changes(node: ast.AST) -> Iterator[tuple[Kind, Change]]:
    if isinstance(node, ast.Compare):
        yield from _comparisons(node)
    elif isinstance(node, ast.BoolOp):
        yield "comparison", _set(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
        yield from _initial_values(node.value.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 1000:
        yield "boundary", _set(value=node.value + 1)
        if node.value > 0:
            yield "boundary", _set(value=node.value - 1)
    elif isinstance(node, ast.BinOp):
        yield from _operations(node)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield "logic", _set(op=ast.Sub())
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.Subscript):
        yield from _subscripts(node)
    yield from _guards(node)


def _comparisons(node: ast.Compare) -> Iterator[tuple[Kind, Change]]:
    for at, operator in enumerate(node.ops):
        if type(operator) in BOUNDARY:
            yield "boundary", _replace("ops", at, BOUNDARY[type(operator)]())
        if type(operator) in REVERSED:
            yield "comparison", _replace("ops", at, REVERSED[type(operator)]())


def _initial_values(value: object) -> Iterator[tuple[Kind, Change]]:
    wrong = {None: 0, 0: 1, 1: 0, -1: 0}
    if value is True or value is False:
        yield "initial value", _set(value=ast.Constant(not value))
    elif value is None or (isinstance(value, int) and value in wrong):
        yield "initial value", _set(value=ast.Constant(wrong[value]))


def _operations(node: ast.BinOp) -> Iterator[tuple[Kind, Change]]:
    if isinstance(node.op, ast.Sub):
        yield "wrong order", _set(left=node.right, right=node.left)
        yield "logic", _set(op=ast.Add())
    elif isinstance(node.op, ast.Add):
        yield "wrong order", _set(left=node.right, right=node.left)
    elif isinstance(node.op, ast.FloorDiv):
        yield "logic", _set(op=ast.Mod())
    elif isinstance(node.op, ast.Mod):
        yield "logic", _set(op=ast.FloorDiv())


def _calls(node: ast.Call) -> Iterator[tuple[Kind, Change]]:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    field = "id" if isinstance(node.func, ast.Name) else "attr"
    if name in OPPOSITE:
        yield "comparison", lambda n: setattr(n.func, field, OPPOSITE[name])  # type: ignore[attr-defined]
    if name in FORGOTTEN:
        if isinstance(node.func, ast.Attribute) and not node.args:
            kept = node.func.value
            yield "missed case", lambda n: _become_call(n, "str", kept)
        elif isinstance(node.func, ast.Name) and len(node.args) == 1:
            yield "missed case", lambda n: setattr(n.func, "id", "list" if name == "set" else "int")  # type: ignore[attr-defined]
    if name in {"sorted", "sort"}:
        backwards = any(k.arg == "reverse" for k in node.keywords)
        rest = [k for k in node.keywords if k.arg != "reverse"]
        turned = rest if backwards else [*rest, ast.keyword("reverse", ast.Constant(True))]
        yield "wrong order", _set(keywords=turned)
        if any(k.arg == "key" for k in node.keywords):
            yield "wrong order", _set(keywords=[k for k in node.keywords if k.arg != "key"])
    if name == "range" and len(node.args) >= 1:
        at = min(1, len(node.args) - 1)
        for step in (1, -1):
            longer = ast.BinOp(node.args[at], ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))
            yield "boundary", _replace("args", at, longer)


def _subscripts(node: ast.Subscript) -> Iterator[tuple[Kind, Change]]:
    if isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        yield "wrong order", _set(slice=ast.UnaryOp(ast.USub(), ast.Constant(1)))
    elif isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.operand, ast.Constant):
        yield "wrong order", _set(slice=ast.Constant(0))
    elif isinstance(node.slice, ast.Slice) and isinstance(node.slice.step, ast.UnaryOp):
        yield "wrong order", _set(slice=ast.Slice(node.slice.lower, node.slice.upper, None))


def _guards(node: ast.AST) -> Iterator[tuple[Kind, Change]]:
    """An `if` that leaves early is forgotten; so is a condition that an `if` has an `else` for."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return
    for at, statement in enumerate(body):
        if not isinstance(statement, ast.If):
            continue
        if statement.orelse:
            yield "missed case", _splice("body", at, statement.orelse)
        elif len(body) > 1:
            yield "missed case", _splice("body", at, [])


def _set(**fields: object) -> Change:
    def change(node: ast.AST) -> None:
        for name, value in fields.items():
            setattr(node, name, copy.deepcopy(value))

    return change


def _replace(field: str, at: int, value: ast.AST) -> Change:
    def change(node: ast.AST) -> None:
        getattr(node, field)[at] = copy.deepcopy(value)

    return change


def _splice(field: str, at: int, instead: list[ast.stmt]) -> Change:
    def change(node: ast.AST) -> None:
        getattr(node, field)[at : at + 1] = copy.deepcopy(instead)

    return change


def _become_call(node: ast.AST, name: str, argument: ast.expr) -> None:
    assert isinstance(node, ast.Call)
    node.func, node.args = ast.Name(name, ast.Load()), [copy.deepcopy(argument)]
