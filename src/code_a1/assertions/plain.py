"""The common case read fast: `assert entry_point(literals) == literal` needs no analysis at all.

A step of the authors' size brings 131,072 tests; this reads one in the time that parsing it takes.
"""

from __future__ import annotations

import ast

from code_a1.assertions.parsing import MAX_DEPTH, MAX_INT_BITS
from code_a1.records import TestCase

OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}


class _NotPlainError(Exception):
    """The tree holds more than constants and displays."""


def plain_test(node: ast.Assert, entry_point: str) -> TestCase | None:
    """The test, if one call on literals is compared with a literal; exactly what `read_test` would make of it."""
    test = node.test
    if type(test) is not ast.Compare or len(test.ops) != 1:
        return None
    call, operator = test.left, test.ops[0]
    if type(call) is not ast.Call or type(call.func) is not ast.Name or call.func.id != entry_point:
        return None
    try:
        arguments = [literal_text(a) for a in call.args]
        arguments += [f"{_keyword(k)}={literal_text(k.value)}" for k in call.keywords]
        expected = literal_text(test.comparators[0])
    except _NotPlainError:
        return None
    symbol = OPERATORS.get(type(operator))
    if symbol is None:
        if expected not in ("None", "True", "False"):
            return None
        symbol = "is" if type(operator) is ast.Is else "is not"
    written = f"{entry_point}({', '.join(arguments)})"
    return TestCase(
        source=f"assert {written} {symbol} {expected}",
        calls=(written,),
        form=f"_0 {symbol} expected",
        expected=expected,
    )


def _keyword(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise _NotPlainError
    return keyword.arg


def literal_text(node: ast.expr, level: int = 0) -> str:
    """What `ast.unparse` writes for a literal, about ten times as fast."""
    kind = type(node)
    if level > MAX_DEPTH:
        raise _NotPlainError
    if kind is ast.Constant:
        return _constant(node)  # type: ignore[arg-type]
    if kind is ast.List:
        return f"[{', '.join([literal_text(e, level + 1) for e in node.elts])}]"  # type: ignore[attr-defined]
    if kind is ast.Tuple:
        elements = [literal_text(e, level + 1) for e in node.elts]  # type: ignore[attr-defined]
        return f"({elements[0]},)" if len(elements) == 1 else f"({', '.join(elements)})"
    if kind is ast.UnaryOp and type(node.op) is ast.USub and type(node.operand) is ast.Constant:  # type: ignore[attr-defined]
        return f"-{_constant(node.operand)}"  # type: ignore[attr-defined]
    if kind is ast.Dict:
        keys = [_key(k, level + 1) for k in node.keys]  # type: ignore[attr-defined]
        values = [literal_text(v, level + 1) for v in node.values]  # type: ignore[attr-defined]
        return f"{{{', '.join([f'{k}: {v}' for k, v in zip(keys, values, strict=True)])}}}"
    if kind is ast.Set:
        return f"{{{', '.join([literal_text(e, level + 1) for e in node.elts])}}}"  # type: ignore[attr-defined]
    raise _NotPlainError


def _key(node: ast.expr | None, level: int) -> str:
    if node is None:
        raise _NotPlainError
    return literal_text(node, level)


def _constant(node: ast.Constant) -> str:
    value = node.value
    kind = type(value)
    if kind is int:
        if value.bit_length() > MAX_INT_BITS:  # type: ignore[union-attr]
            raise _NotPlainError
    elif kind is float:
        if value in (float("inf"), float("-inf")):  # 1e999; its repr is a name
            raise _NotPlainError
    elif node.kind is not None or kind not in (str, bool, type(None), bytes):
        raise _NotPlainError
    return repr(value)
