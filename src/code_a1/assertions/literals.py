"""The value of a literal answer, without running code."""

from __future__ import annotations

import ast

from code_a1.assertions.parsing import parse_expression

MAX_LITERAL_CHARS = 100_000
"""Longer answers are left to the sandbox."""

FLOATS = frozenset({"inf", "+inf", "-inf", "infinity", "-infinity", "nan", "-nan"})


def literal_value(source: str) -> object:
    """The value of `source` if it is made of constants and displays, `set()`, `frozenset(…)`, `float("inf")` included.

    Raises ValueError for everything else; the judge evaluates that in a sandboxed process.
    """
    if len(source) > MAX_LITERAL_CHARS:
        raise ValueError(f"longer than {MAX_LITERAL_CHARS} characters")
    try:
        return node_value(parse_expression(source))
    except SyntaxError as error:
        raise ValueError(f"not a literal: {error}") from error


def node_value(node: ast.expr) -> object:
    """`literal_value` of an expression that is parsed already."""
    try:
        return _value(node)
    except (TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"not a literal: {error}") from error


def _value(node: ast.expr) -> object:  # noqa: PLR0911  (one line per kind of node)
    match node:
        case ast.Constant(value=value):
            if value is not Ellipsis:
                return value
        case ast.Tuple(elts=elts):
            return tuple(_value(e) for e in elts)
        case ast.List(elts=elts):
            return [_value(e) for e in elts]
        case ast.Set(elts=elts):
            return {_value(e) for e in elts}
        case ast.Dict(keys=keys, values=values):
            return {_value(_present(k)): _value(v) for k, v in zip(keys, values, strict=True)}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            number = _number(operand)
            return -number if isinstance(op, ast.USub) else +number
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=ast.Constant(value=complex(imag=imag))):
            return _number(left) + complex(0, imag) if isinstance(op, ast.Add) else _number(left) - complex(0, imag)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _called(name, [_value(a) for a in args])
    raise ValueError(f"not a literal: {type(node).__name__}")


def _present(key: ast.expr | None) -> ast.expr:
    if key is None:
        raise ValueError("not a literal: dictionary unpacking")
    return key


def _number(node: ast.expr) -> int | float | complex:
    value = _value(node)
    if isinstance(value, int | float | complex):
        return value
    raise ValueError("not a literal: a sign before something that is no number")


def _called(name: str, args: list[object]) -> object:
    """The few calls that stand where Python has no literal."""
    match name, args:
        case "set", []:
            return set()
        case "frozenset", []:
            return frozenset()
        case (("set" | "frozenset"), [list() | tuple() | set() | frozenset() as elements]):
            return set(elements) if name == "set" else frozenset(elements)
        case "float", [str(text)] if text.strip().lower() in FLOATS:
            return float(text)
    raise ValueError(f"not a literal: a call of {name}")
