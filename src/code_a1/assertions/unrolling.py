"""Loops and comprehensions over literals, written out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import TypeVar

from code_a1.assertions.names import COMPREHENSIONS, FUNCTIONS, bound_names, is_immutable_literal, parameters
from code_a1.assertions.rejection import RejectedError
from code_a1.assertions.scope import Scope

T = TypeVar("T", bound=ast.AST)

MAX_NODES = 10_000
"""Nodes of a syntax tree beyond which names are not replaced by what they stand for more than once."""
MAX_UNROLLED = 64
"""Elements of a loop or comprehension that are written out; a loop's further ones are left off."""


def iteration_values(iterable: ast.expr, scope: Scope) -> list[ast.expr] | None:
    """The values that a loop over `iterable` runs through, `MAX_UNROLLED + 1` at most; None if they are no literals."""
    values: list[ast.expr] | None = None
    match iterable:
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            values = None if any(isinstance(e, ast.Starred) for e in elts) else elts
        case ast.Dict(keys=keys) if None not in keys:
            values = [k for k in keys if k is not None]
        case ast.Constant(value=str(text)):
            values = [ast.Constant(c) for c in text[: MAX_UNROLLED + 1]]
        case ast.Name(id=name):
            literal = scope.literal(name)
            values = iteration_values(literal, scope) if literal is not None else None
        case ast.Call(func=ast.Attribute(value=value, attr="items" | "values" | "keys" as attr), args=[], keywords=[]):
            values = _of_dict(value, attr, scope)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name not in scope.bound:
            values = _of_builtin(name, args, scope)
    return values[: MAX_UNROLLED + 1] if values is not None else None


def _of_dict(node: ast.expr, attr: str, scope: Scope) -> list[ast.expr] | None:
    literal = scope.literal(node.id) if isinstance(node, ast.Name) else node
    if not isinstance(literal, ast.Dict) or None in literal.keys:
        return None
    keys = [k for k in literal.keys if k is not None]
    if attr == "keys":
        return keys
    if attr == "values":
        return literal.values
    return [_tuple(pair) for pair in zip(keys, literal.values, strict=True)]


def _of_builtin(name: str, args: list[ast.expr], scope: Scope) -> list[ast.expr] | None:  # noqa: PLR0911  (by name)
    if name == "range":
        numbers = [n for a in args if (n := _integer(a, scope)) is not None]
        if not 1 <= len(args) == len(numbers) <= 3 or (len(numbers) == 3 and numbers[2] == 0):
            return None
        return [_number(n) for n in range(*numbers)[: MAX_UNROLLED + 1]]
    columns = [iteration_values(a, scope) for a in args]
    rows = [c for c in columns if c is not None]
    if name == "zip" and rows and len(rows) == len(columns):
        return [_tuple(row) for row in zip(*rows, strict=False)]
    if name == "enumerate" and len(args) in (1, 2) and columns[0] is not None:
        start = _integer(args[1], scope) if len(args) == 2 else 0
        return None if start is None else [_tuple((_number(i), v)) for i, v in enumerate(columns[0], start)]
    if name in ("list", "tuple", "iter") and len(args) == 1:
        return columns[0]
    if name == "reversed" and len(args) == 1 and columns[0] is not None and len(columns[0]) <= MAX_UNROLLED:
        return columns[0][::-1]
    return None


def _integer(node: ast.expr, scope: Scope) -> int | None:
    match node:
        case ast.Name(id=name) if (literal := scope.literal(name)) is not None and not isinstance(literal, ast.Name):
            return _integer(literal, scope)
        case ast.Constant(value=int(number)) if abs(number) < 1 << 62:
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            positive = _integer(operand, scope)
            return None if positive is None else -positive
        case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]):
            values = iteration_values(argument, scope)
            return len(values) if values is not None and len(values) <= MAX_UNROLLED else None
        case _:
            return None


def _number(n: int) -> ast.expr:
    return ast.Constant(n) if n >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-n))


def _tuple(elements: tuple[ast.expr, ...]) -> ast.expr:
    return ast.Tuple(list(elements), ast.Load())


def match_target(target: ast.expr, value: ast.expr) -> dict[str, ast.expr] | None:
    """Names of a loop's target with the part of `value` that each is bound to, or None if it cannot be told."""
    match target, value:
        case ast.Name(id=name), _:
            return {name: value}
        case ((ast.Tuple(elts=names) | ast.List(elts=names)), (ast.Tuple(elts=parts) | ast.List(elts=parts))):
            if len(names) != len(parts) or any(isinstance(e, ast.Starred) for e in (*names, *parts)):
                return None
            found: dict[str, ast.expr] = {}
            for inner_target, part in zip(names, parts, strict=True):
                inner = match_target(inner_target, part)
                if inner is None or inner.keys() & found.keys():
                    return None
                found |= inner
            return found
        case _:
            return None


def select_parts(body: list[ast.stmt], name: str, value: ast.expr) -> list[ast.stmt]:
    """The body with `name[key]` replaced by that part of a literal: `case["input"]` of a table of cases.

    A part that can be changed is replaced only where it is the only one of its kind.
    """
    parts: dict[object, ast.expr] = {}
    match value:
        case ast.Dict(keys=keys, values=values):
            parts = {k.value: v for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant)}
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = dict(enumerate(elts))
    selecting = _Select(name, parts)
    for statement in body:
        selecting.visit(statement)
    selecting.replacing = not selecting.changed
    return [selecting.visit(copy.deepcopy(statement)) for statement in body]


class _Select(ast.NodeTransformer):
    """Counts the selections first, and then replaces them."""

    def __init__(self, name: str, parts: Mapping[object, ast.expr]) -> None:
        self.name = name
        self.parts = parts
        self.counts: dict[object, int] = {}
        self.changed = False
        self.replacing = False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if name == self.name:
                if key not in self.parts:
                    return node
                self.changed = self.changed or not isinstance(node.ctx, ast.Load)
                if not self.replacing:
                    self.counts[key] = self.counts.get(key, 0) + 1
                elif self.counts[key] == 1 or is_immutable_literal(self.parts[key]):
                    return copy.deepcopy(self.parts[key])
        return node


class _Substitute(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self.values:
            return copy.deepcopy(self.values[node.id])
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        own: set[str] = set()
        if isinstance(node, FUNCTIONS):
            own = set(parameters(node)) | bound_names(node.body if isinstance(node.body, list) else ())
        elif isinstance(node, COMPREHENSIONS):
            own = bound_names(generator.target for generator in node.generators)
        hidden = own & self.values.keys()
        if not hidden:
            return super().generic_visit(node)
        rest = {name: value for name, value in self.values.items() if name not in hidden}
        return _Substitute(rest).generic_visit(node) if rest else node


def refuse_large(tree: ast.AST) -> None:
    """Raise RejectedError for a tree that substitution has blown up."""
    if _size(tree) > MAX_NODES:
        raise RejectedError("it becomes too large when it is written out")


def _size(tree: ast.AST) -> int:
    return sum(1 for _ in ast.walk(tree))


def substitute(tree: T, values: Mapping[str, ast.expr]) -> T:
    """A copy of the tree with the names it reads replaced, except where an inner scope binds them."""
    if not values:
        return tree
    sizes = {name: _size(value) for name, value in values.items()}
    written = sum(sizes.get(n.id, 0) for n in ast.walk(tree) if isinstance(n, ast.Name))
    if written > max(MAX_NODES, sum(sizes.values())):
        raise RejectedError("it becomes too large when it is written out")
    replaced: T = _Substitute(values).visit(copy.deepcopy(tree))
    return replaced
