"""The mutation operators: those of cosmic-ray, used as a library and otherwise as they are.

cosmic-ray (MIT) documents its operators as a plug-in interface: an operator yields positions in a parso tree, and a
position is named by the operator and its number, counted over the module. The pair (operator, number) means the same
mutant here and in cosmic-ray's own runner. What needs arguments (`VariableReplacer`, `VariableInserter`) is left out,
as cosmic-ray does without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from code_a1.errors import MissingExtra


@dataclass(frozen=True, slots=True)
class Position:
    """One place where one operator can change a source; lines count from 1."""

    operator: str
    occurrence: int
    line: int


def positions(source: str) -> Iterator[Position]:
    """Every change that every operator can make, in the order of the operators. Raises MissingExtra."""
    operators = _operators()
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415 - an optional extra, and there if the operators are

    nodes = list(ast_nodes(get_ast(source)))
    for name, operator in operators.items():
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, ((line, _), _) in enumerate(places):
            yield Position(name, occurrence, line)


def require_operators() -> None:
    """Raise MissingExtra now rather than at the first mutant."""
    _operators()


def apply(source: str, position: Position) -> str:
    """The source with one change made. It need not be Python any more: some operators put words together."""
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415 - an optional extra

    mutated = mutate_code(source, _operators()[position.operator], position.occurrence)
    return source if mutated is None else str(mutated)


@lru_cache(maxsize=1)
def _operators() -> dict[str, Any]:
    try:
        from cosmic_ray.operators.provider import OperatorProvider  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError as error:
        raise MissingExtra("cosmic-ray", extra="mutation", purpose="making mutants") from error
    provider = OperatorProvider()
    return {name: provider[name]() for name in provider if not provider[name].arguments()}
