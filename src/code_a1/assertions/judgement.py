"""What must not happen where the candidate is: judging its results, or reaching beyond the values that are passed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from code_a1.assertions.functions import arguments, returned_expression
from code_a1.assertions.names import free_names
from code_a1.assertions.rejection import RejectedError
from code_a1.assertions.scope import Scope
from code_a1.assertions.unrolling import refuse_large, substitute

JUDGING_CALLS = frozenset(
    {"all", "any", "bool", "callable", "hasattr", "isinstance", "issubclass", "isclose", "allclose", "array_equal"}
)
"""Functions whose value is a judgement about their arguments."""

REACHING_NAMES = frozenset(
    {
        *(
            "__builtins__",
            "__import__",
            "breakpoint",
            "builtins",
            "compile",
            "ctypes",
            "delattr",
            "eval",
            "exec",
            "exit",
        ),
        *("gc", "globals", "importlib", "input", "inspect", "locals", "mock", "monkeypatch", "open", "patch", "quit"),
        *("setattr", "subprocess", "unittest"),
    }
)
REACHING_ATTRIBUTES = frozenset(
    {
        *("__bases__", "__builtins__", "__class__", "__closure__", "__code__", "__defaults__", "__dict__"),
        *("__getattribute__", "__globals__", "__kwdefaults__", "__module__", "__mro__", "__subclasses__"),
        *("__wrapped__", "_getframe", "modules", "setattr", "settrace", "setprofile", "setrecursionlimit"),
    }
)
"""Ways from a value to the code around it: a test could break the candidate with them, or prescribe its results."""

MAX_INLINED = 16
"""Calls of the suite's own predicates that are written out in one assert."""


def judges(node: ast.AST, scope: Scope) -> bool:
    """Whether a statement decides something about what the candidate returned: that must not happen in its process.

    An object of the candidate may agree to every comparison. Only values that have left the process are compared.
    """

    def live(*parts: ast.AST) -> bool:
        return any(scope.is_live(free_names(part)) for part in parts)

    own = _live_inside(node, scope)

    def live_or_own(*parts: ast.AST) -> bool:
        return live(*parts) or any(not own.isdisjoint(free_names(part)) for part in parts)

    for n in ast.walk(node):
        match n:
            case ast.Compare() if live_or_own(n.left, *n.comparators):
                return True
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()) if live_or_own(n):
                return True
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if live_or_own(test):
                return True
            case ast.Try() | ast.With() | ast.AsyncWith() | ast.Match() | ast.Assert() if live_or_own(n):
                return True
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in JUDGING_CALLS:
                if live_or_own(*n.args):
                    return True
    return False


def _live_inside(node: ast.AST, scope: Scope) -> set[str]:
    """Local names of a function that hold what the entry point returned."""
    own: set[str] = set()
    for n in ast.walk(node):
        match n:
            case ast.Assign(targets=targets, value=value) if scope.is_live(free_names(value)) or own & free_names(
                value
            ):
                own |= {t.id for target in targets for t in ast.walk(target) if isinstance(t, ast.Name)}
            case ast.For(target=target, iter=value) if scope.is_live(free_names(value)) or own & free_names(value):
                own |= {t.id for t in ast.walk(target) if isinstance(t, ast.Name)}
    return own


def refuse_reach(nodes: Iterable[ast.AST]) -> None:
    """Raise RejectedError if code that runs with the candidate reaches for more than the values it passes."""
    for node in nodes:
        for n in ast.walk(node):
            match n:
                case ast.Name(id=name) if name in REACHING_NAMES:
                    raise RejectedError(f"{name!r} reaches beyond the values that are passed")
                case ast.Attribute(attr=name) if name in REACHING_ATTRIBUTES:
                    raise RejectedError(f"{name!r} reaches beyond the values that are passed")


def with_predicates(test: ast.expr, scope: Scope) -> ast.expr:
    """The expression with those functions of the suite written out that judge what the entry point returned."""
    for _ in range(MAX_INLINED):
        called = {n.func.id for n in ast.walk(test) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        judging = [
            step.node
            for step in scope.steps
            if isinstance(step.node, ast.FunctionDef)
            and step.node.name in called
            and step.live
            and judges(step.node, scope)
        ]
        inlining = _Inline({node.name: node for node in judging})
        test = inlining.visit(copy.deepcopy(test)) if judging else test
        refuse_large(test)
        if not inlining.changed:
            return test
    return test


class _Inline(ast.NodeTransformer):
    def __init__(self, functions: dict[str, ast.FunctionDef]) -> None:
        self.functions = functions
        self.changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in self.functions:
            return node
        function = self.functions[node.func.id]
        expression, bindings = returned_expression(function), arguments(function, node)
        if expression is None or bindings is None:
            return node
        self.changed = True
        return substitute(expression, bindings)
