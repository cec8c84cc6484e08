"""One module of a project as text and syntax tree: what a function of it needs, and what its imports mean."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from code_a1.assertions.names import bound_names, changed_names, free_names
from code_a1.problems.entry_points import parse_source

MAX_HOPS = 8
"""Packages through which a name is followed to where it is defined."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file of Python. `parts` is its dotted name from the folder on that `read` was given: ("src", "pkg", "text")."""

    path: Path
    parts: tuple[str, ...]
    source: str
    tree: ast.Module

    @classmethod
    def read(cls, path: Path, folder: Path) -> Module:
        """Raises OSError, and ValueError for a file that is not UTF-8 or not Python."""
        source = path.read_text(encoding="utf-8-sig")
        parts = path.relative_to(folder).with_suffix("").parts
        return cls(path, parts[:-1] if parts[-1] == "__init__" else parts, source, parse_source(source))

    @property
    def package(self) -> tuple[str, ...]:
        """What relative imports start from."""
        return self.parts if self.path.name == "__init__.py" else self.parts[:-1]

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Top-level functions by name; the last definition of a name counts."""
        return {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}

    @cached_property
    def bindings(self) -> dict[str, list[ast.stmt]]:
        """Top-level statements by each name that they bind or change in place."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.tree.body:
            for name in bound_names([statement]) | changed_names(statement):
                found.setdefault(name, []).append(statement)
        return found

    def needed_by(self, names: Iterable[str]) -> list[ast.stmt]:
        """Top-level statements that the names come from, directly and through others, in order."""
        wanted = [name for name in names if name in self.bindings]
        seen = set(wanted)
        future = [s for s in self.tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
        needed = {id(statement) for statement in future if wanted}
        while wanted:
            for statement in self.bindings[wanted.pop()]:
                if id(statement) not in needed:
                    needed.add(id(statement))
                    more = (free_names(statement) & self.bindings.keys()) - seen
                    seen |= more
                    wanted += more
        return [s for s in self.tree.body if id(s) in needed]

    def text_of(self, statements: Iterable[ast.stmt]) -> str:
        """The statements as they are written, decorators included; a blank line where something was left out."""
        lines = self.source.splitlines()
        taken: list[str] = []
        last = 0
        for statement in statements:
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            if last and first > last + 1:
                taken += [""] * min(2, first - last - 1)
            taken += lines[max(first - 1, last) : statement.end_lineno]
            last = max(last, statement.end_lineno or first)
        return "\n".join(taken) + "\n" if taken else ""

    def head_of(self, function: Function) -> str:
        """The function as a task: its first lines and its docstring as written, without decorators; "" without one."""
        first = function.body[0]
        if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and ast.get_docstring(function)):
            return ""
        return "\n".join(self.source.splitlines()[function.lineno - 1 : first.end_lineno]) + "\n"


def _packages_above(path: Path) -> int:
    """How many folders with an `__init__.py` a file lies in; its name begins with the outermost, or further out."""
    folders = [folder for folder in path.parents if folder.name]
    outside = (i for i, folder in enumerate(folders) if not (folder / "__init__.py").exists())
    return next(outside, len(folders)) - (path.name == "__init__.py")


def import_root(folder: Path) -> Path:
    """The folder that names of packages start from: above `folder` where that is a package itself."""
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


class Project:
    """The modules of a project, found by the names under which they are imported."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._by_name: dict[tuple[str, ...], Module] = {}
        for module in sorted(modules, key=lambda m: (len(m.parts), m.parts)):  # the shortest path wins a name
            for start in range(max(1, len(module.parts) - _packages_above(module.path))):
                self._by_name.setdefault(module.parts[start:], module)

    def find(self, name: str, importer: Module, level: int = 0) -> Module | None:
        """The module that `import name`, or `from ..name` with a level, means in `importer`."""
        parts = tuple(name.split(".")) if name else ()
        if level:
            package = importer.package
            parts = package[: len(package) - level + 1] + parts
        return self._by_name.get(parts) if parts else None

    def imported(self, node: ast.Import | ast.ImportFrom, importer: Module) -> Iterator[tuple[str, Module, str]]:
        """What an import binds of the project: the local name, the module, and the name in it ("" is the module)."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                module = self.find(alias.name, importer)
                if module is not None:
                    yield alias.asname or alias.name, module, ""
                continue
            base = f"{node.module}." if node.module else ""
            module = self.find(base + alias.name, importer, node.level)
            origin = self.find(node.module or "", importer, node.level)
            if module is not None and module is not origin:
                yield alias.asname or alias.name, module, ""
            elif origin is not None:
                home, name = self._origin(origin, alias.name)
                yield alias.asname or alias.name, home, name

    def _origin(self, module: Module, name: str, depth: int = 0) -> tuple[Module, str]:
        """Where a name comes from that a package passes on from one of its modules."""
        passed_on = [n for n in module.tree.body if isinstance(n, ast.ImportFrom)] if depth < MAX_HOPS else []
        for node in passed_on:
            if any((alias.asname or alias.name) == name for alias in node.names):
                for local, home, original in self.imported(node, module):
                    if local == name and original and home is not module:
                        return self._origin(home, original, depth + 1)
            star = self.find(node.module or "", module, node.level) if node.names[0].name == "*" else None
            if star is not None and star is not module:
                home, original = self._origin(star, name, depth + 1)
                if original in home.bindings:
                    return home, original
        return module, name

    def is_own(self, node: ast.AST, importer: Module) -> bool:
        """Whether a node is an import of something of this project."""
        if isinstance(node, ast.ImportFrom):
            return node.level > 0 or any(True for _ in self.imported(node, importer))
        return isinstance(node, ast.Import) and any(True for _ in self.imported(node, importer))
