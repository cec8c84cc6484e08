"""What a solution defines, and which of it the tests are about. Source in, names out; nothing here runs code."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from code_a1.records import Problem


@lru_cache(maxsize=32)
def parse_source(source: str) -> ast.Module:
    """Parse Python source. The tree is shared by those who ask for the same text one after the other: read it only.

    Raises:
        ValueError: the text is not Python, with one line that says where; whatever the parser itself raises.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a "\d" in somebody's string is not our business
        try:
            tree = ast.parse(source)
            compile(tree, "<source>", "exec", dont_inherit=True)  # finds more: a return outside a function
        except SyntaxError as error:
            raise ValueError(f"{error.msg} (line {error.lineno})") from error
        except (RecursionError, MemoryError) as error:
            raise ValueError("nested too deeply for the Python parser") from error
    return tree


@dataclass(frozen=True, slots=True)
class Defined:
    """Names that a module binds at its top level, branches included, in order of appearance."""

    functions: tuple[str, ...]
    classes: tuple[str, ...]
    assigned: tuple[str, ...]
    """Variables: a lambda, a partial, an alias."""
    imported: tuple[str, ...]
    star: bool
    """Whether a `from … import *` may bind anything."""

    @property
    def own(self) -> tuple[str, ...]:
        """What can be an entry point that tests name: everything but imports."""
        return self.functions + self.classes + self.assigned

    def __contains__(self, name: str) -> bool:
        return self.star or name in self.own or name in self.imported


def defined_names(tree: ast.Module) -> Defined:
    """Names bound at the top level of `tree`; bodies of functions and classes are not entered."""
    functions: list[str] = []
    classes: list[str] = []
    assigned: list[str] = []
    imported: list[str] = []
    for node in _top_level(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.append(node.name)
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imported += [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned.append(node.id)
    return Defined(tuple(functions), tuple(classes), tuple(assigned), tuple(imported), star="*" in imported)


def _top_level(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes of the module's own scope in order of writing. No recursion: `1 + 1 + …` nests as deep as it is long."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending += reversed(list(ast.iter_child_nodes(node)))


_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def entry_point_of(tests: Iterable[str], defined: Defined) -> str | None:
    """The name among `defined` that the tests are about, or None if they call none of them.

    It is the one that most tests call outermost: in `assert longest([Pair(1, 2)]) == 1` the call of `Pair` only builds
    an argument, while `set(…)`, `not …` or `math.isclose(…)` around a call are looked through. Where several are called
    equally often a function goes before a class, then the one written first. Without any call, a name that is only
    passed on counts (`assert list(map(square, xs)) == …`).
    """
    return _most_called([parse_source(test) for test in tests], defined)


def entry_point_of_program(source: str, defined: Defined) -> str | None:
    """The same for a file of tests, of which each function or class counts as one test."""
    return _most_called(parse_source(source).body, defined)


def _most_called(trees: Sequence[ast.AST], defined: Defined) -> str | None:
    for names_in in (_outermost_calls, _mentions):
        count: dict[str, int] = {}
        for tree in trees:
            for name in dict.fromkeys(names_in(tree, frozenset(defined.own))):
                count[name] = count.get(name, 0) + 1
        if count:
            # max keeps the first of equals, and a dict its order of insertion: the order of writing
            return max(count, key=lambda name: (count[name], name not in defined.classes))
    return None


def _outermost_calls(tree: ast.AST, names: frozenset[str]) -> Iterator[str]:
    """Called names in order of writing, except those inside the arguments of another such call."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node.func.id
        else:
            pending += reversed(list(ast.iter_child_nodes(node)))


def _mentions(tree: ast.AST, names: frozenset[str]) -> Iterator[str]:
    for child in ast.walk(tree):
        if isinstance(child, ast.Name) and child.id in names:
            yield child.id


def declaration_of(tree: ast.Module, name: str) -> str:
    """The first line of a top-level function without its colon, as `def f(a: int, b=0) -> str`; "" if there is none."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            return f"{keyword} {name}({ast.unparse(node.args)}){returns}"
    return ""


@lru_cache(maxsize=4096)
def entry_is_class(problem: Problem) -> bool:
    """Whether the entry point is a class, so that tests are about its instances' methods."""
    try:
        return problem.entry_point in defined_names(parse_source(problem.reference_solution)).classes
    except ValueError:
        return False


@lru_cache(maxsize=4096)
def is_check_program(source: str) -> bool:
    """Whether a test is a whole program that defines `check(candidate)`, as HumanEval and EvalPlus write it."""
    try:
        functions = [node for node in parse_source(source).body if isinstance(node, ast.FunctionDef)]
    except ValueError:
        return False
    return any(f.name == "check" and len(f.args.posonlyargs + f.args.args) == 1 for f in functions)
