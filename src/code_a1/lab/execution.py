"""Run the lab's own programs in this process, with bounded work: references and bugs made from them, nothing else.

What a model wrote never comes here: that is the sandbox's business. These programs consist of our own templates; all
that can go wrong with one is that a bug makes it raise or loop. Work is bounded by counting turns of loops, so that
results do not depend on the machine.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_TURNS = 1000
"""Turns of loops in one call; references take a few hundred."""

MAX_LENGTH = 400
"""Characters of a result in source form; longer ones count as failures."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that gave no result. Two failures are equal, whatever raised them."""


Result = object
"""A value, or `Failed()`."""


class _TooLong(Exception):
    pass


class _Counter:
    """What the programs call at every turn of a loop."""

    def __init__(self) -> None:
        self.turns = 0

    def __call__(self) -> None:
        self.turns += 1
        if self.turns > MAX_TURNS:
            raise _TooLong


class _CountTurns(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> ast.AST:
        return self._counted(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._counted(node)

    def _counted(self, node: ast.For | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body[:0] = ast.parse("_turn()").body
        return node


class LabProgram:
    """A program of the lab, compiled, to be called on many inputs."""

    def __init__(self, source: str, entry_point: str) -> None:
        self._counter = _Counter()
        tree = _CountTurns().visit(ast.parse(source))
        namespace: dict[str, object] = {"_turn": self._counter}
        exec(compile(tree, "<lab>", "exec"), namespace)  # noqa: S102 - our own templates, see above
        self._function: Callable[..., object] = namespace[entry_point]  # type: ignore[assignment]

    def __call__(self, arguments: Sequence[object]) -> Result:
        """The result on copies of the arguments, or `Failed()`."""
        self._counter.turns = 0
        try:
            value = self._function(*map(_copy, arguments))
        except (_TooLong, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, NameError):
            return Failed()
        return value if len(repr(value)) <= MAX_LENGTH else Failed()


def _copy(value: object) -> object:
    """A copy of a domain's value, so that a program that changes its arguments changes nobody else's."""
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return dict(value) if isinstance(value, dict) else value
