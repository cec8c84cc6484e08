"""Mutants of a function: programs that differ from it in one place, of which tests should find as many as possible."""

from __future__ import annotations

import ast
import contextlib
import random
from collections.abc import Iterator, Set
from dataclasses import dataclass

from code_a1.errors import ProblemError
from code_a1.mutation.operators import Position, apply, positions
from code_a1.problems import parse_source
from code_a1.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one change: which operator made it, and in which line (from 1)."""

    source: str
    operator: str
    line: int


def make_mutants(source: str, entry_point: str, *, limit: int, seed: int) -> tuple[Mutant, ...]:
    """At most `limit` different mutants of a program, a uniform sample of all that there are; 0 makes them all.

    Only code that the entry point can reach is changed, imports and the main guard never. Left out is what is no
    Python or slipped, and what equals the source or an earlier mutant apart from layout and annotations. The sample
    depends on source, entry point and seed alone; a smaller limit takes the beginning of what a larger one takes.

    Raises:
        ProblemError: the source is not Python.
        MissingExtra: cosmic-ray is not installed.
    """
    try:
        tree = parse_source(source)
    except ValueError as error:
        raise ProblemError(f"cannot make mutants: the source is not Python: {error}") from error
    lines = _reachable_lines(tree, entry_point)
    open_ = [position for position in positions(source) if position.line in lines]
    rng = random.Random(derive_seed(seed, "mutants", source))  # noqa: S311 - a seeded sample, not cryptography
    rng.shuffle(open_)
    candidates = _candidates(source, open_, _names(tree.body) | OPERATORS_NAMES)
    mutants: list[Mutant] = []
    seen = {_meaning(tree)}
    for mutant, meaning in candidates:
        if meaning not in seen:
            seen.add(meaning)
            mutants.append(mutant)
            if len(mutants) == limit:
                break
    return tuple(mutants)


OPERATORS_NAMES = frozenset({"CosmicRayTestingException"})
"""What operators write on purpose: an exception that nobody raises."""


def _candidates(source: str, places: list[Position], names: Set[str]) -> Iterator[tuple[Mutant, str]]:
    """Mutants that are Python with no other names than `names`, each with what it means.

    Where a source has no space after a comparison, cosmic-ray glues: `n ==m` becomes `n ism` or `n is notm`. Every test
    would kill such a slip of the pen.
    """
    for place in places:
        mutated = apply(source, place)
        try:
            tree = parse_source(mutated)
        except ValueError:
            continue
        if _names(tree.body) <= names:
            meaning = _meaning(tree)
            yield Mutant(tidied(source, mutated, meaning), place.operator, place.line), meaning


def tidied(source: str, mutated: str, meaning: str) -> str:
    """The mutated source without the space that cosmic-ray leaves before a change: `f( 2)` for `f(1)`.

    A tester that is shown mutants would learn to look for such spaces.
    """
    at = next((i for i, (a, b) in enumerate(zip(source, mutated, strict=False)) if a != b), len(source))
    closer = mutated[:at] + mutated[at + 1 :]
    if mutated[at : at + 1] == " ":
        with contextlib.suppress(ValueError):
            if _meaning(parse_source(closer)) == meaning:
                return closer
    return mutated


class _WithoutAnnotations(ast.NodeTransformer):
    """Annotations say nothing about what a function returns."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def _meaning(tree: ast.Module) -> str:
    """Equal for programs that differ in layout, comments and annotations alone. Changes the tree."""
    return ast.dump(_WithoutAnnotations().visit(tree))


def _reachable_lines(tree: ast.Module, entry_point: str) -> set[int]:
    """Lines of what the entry point names, directly or through others, and of statements that run when loading."""
    binding: dict[str, list[ast.stmt]] = {}
    reached: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_main_guard(statement):
            continue
        names = _bound_names(statement)
        for name in names:
            binding.setdefault(name, []).append(statement)
        if not names:
            reached.append(statement)
    wanted, seen = [entry_point, *_names(reached)], {entry_point}
    while wanted:
        for statement in binding.pop(wanted.pop(), []):
            reached.append(statement)
            named = _names([statement]) - seen
            seen |= named
            wanted += named
    return {line for s in reached for line in range(_first_line(s), (s.end_lineno or s.lineno) + 1)}


def _bound_names(statement: ast.stmt) -> list[str]:
    """Names that a definition or an assignment binds; none for other statements, which run in any case."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return []


def _names(statements: list[ast.stmt]) -> set[str]:
    return {node.id for s in statements for node in ast.walk(s) if isinstance(node, ast.Name)}


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"
