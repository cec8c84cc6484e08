"""A folder of Python modules with pytest tests → problems: functions that tests call, docstrings as statements.

A function becomes a problem if it stands at the top level of a module, has a docstring, needs no other module of the
project, and has tests that can be read as data. What it needs of its own module is carried along in the reference;
what its signature and its tests need besides goes into `setup` and is shown in the statement. Nothing is imported or
run here.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from code_a1.assertions import parse_assertions, to_source
from code_a1.assertions.names import free_names
from code_a1.errors import ProblemError
from code_a1.problems.fields import RowError, Unsuited
from code_a1.problems.modules import Function, Module, Project, import_root
from code_a1.problems.rows import Row, Source
from code_a1.records import RejectedTest

_SKIPPED = frozenset({"venv", "env", "site-packages", "node_modules", "__pycache__", "build", "dist"})
_TEST_FOLDERS = frozenset({"test", "tests", "testing"})
MAX_TESTS = 200
"""Tests that are taken for one function."""


@dataclass
class _TestFile:
    """A file of tests: its tree with the fixtures of conftest.py, and what its names mean in the project."""

    module: Module
    body: list[ast.stmt]
    names: dict[str, tuple[Module, str]] = field(default_factory=dict)
    """Local name → the module and the name in it that it stands for; "" for the module itself."""
    called: set[tuple[str, str]] = field(default_factory=set)
    """Path of the module and name of everything in the project that is called."""
    local: dict[str, list[ast.stmt]] = field(default_factory=dict)
    """The body as `_Local` writes it for the module of each path."""


def repository_rows(folder: Path) -> Source:
    """A row in our schema for every function that tests call, or why it is none; files that are not Python are named.

    Raises ProblemError for a folder without modules or without tests.
    """
    if not folder.is_dir():
        raise ProblemError(f"{folder}: no such folder; the format 'repo' takes a folder of Python modules with tests")
    folder = folder.resolve()
    root = import_root(folder)
    modules: list[Module] = []
    broken: list[Row] = []
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if _SKIPPED.isdisjoint(relative.parts) and not any(part.startswith(".") for part in relative.parts):
            try:
                modules.append(Module.read(path, root))
            except (OSError, ValueError) as error:
                broken.append(Row(1, RowError(f"is not Python that can be read: {error}"), str(path)))
    tests = [m for m in modules if _is_test(m.path)]
    if not tests:
        found = f"{len(modules)} Python files" if modules else "no Python file"
        raise ProblemError(f"{folder}: has {found} but no tests (test_*.py or *_test.py) that could be read")
    return Source(str(folder), _rows(folder, modules, tests, broken))


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_") or path.stem.endswith("_test")


def _rows(folder: Path, modules: Sequence[Module], tests: Sequence[Module], broken: Sequence[Row]) -> Iterator[Row]:
    project = Project(m for m in modules if not _is_test(m.path))
    files = [_read_tests(test, modules, project) for test in tests]
    yield from broken
    found = False
    for module in modules:
        if _is_test(module.path) or module.path.name == "conftest.py" or not _TEST_FOLDERS.isdisjoint(module.parts):
            continue
        for name, function in module.functions.items():
            callers = [file for file in files if (str(module.path), name) in file.called]
            if callers:
                found = True
                try:
                    fields: dict[str, object] | RowError = _problem_row(folder, project, module, function, callers)
                except RowError as error:
                    fields = error
                yield Row(function.lineno, fields, str(module.path))
    if not found:
        raise ProblemError(f"{folder}: its {len(tests)} test files call no top-level function of its modules by name")


def _read_tests(test: Module, modules: Sequence[Module], project: Project) -> _TestFile:
    above = [m for m in modules if m.path.name == "conftest.py" and m.path.parent in test.path.parents]
    file = _TestFile(test, [s for m in (*above, test) for s in m.tree.body])
    for source in (*above, test):
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                file.names |= {local: (home, name) for local, home, name in project.imported(node, source)}
    calls = [n.func for s in file.body for n in ast.walk(s) if isinstance(n, ast.Call)]
    meant = (_meaning(call, file) for call in calls)
    file.called |= {(str(home.path), name) for home, name in filter(None, meant)}
    return file


def _dotted(node: ast.expr) -> str:
    """`a.b.c` of a chain of attributes, "" of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := _dotted(node.value)):
        return f"{base}.{node.attr}"
    return ""


def _meaning(node: ast.expr, file: _TestFile) -> tuple[Module, str] | None:
    """The module and name that an expression of a test file refers to; None for anything outside the project."""
    if isinstance(node, ast.Name):
        return file.names.get(node.id)
    if isinstance(node, ast.Attribute):
        home, name = file.names.get(_dotted(node.value), (None, "?"))
        return (home, node.attr) if home is not None and not name else None
    return None


def _about(body: Sequence[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements without the tests that mention the name neither themselves nor through helpers and fixtures."""
    used = {s.name: {n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in body if isinstance(s, _DEFINITIONS)}
    for s in body:
        if isinstance(s, _DEFINITIONS):
            used[s.name] |= {n.arg for n in ast.walk(s) if isinstance(n, ast.arg)}
    about = {name}
    while more := {definition for definition, names in used.items() if names & about} - about:
        about |= more
    return [s for s in body if not (isinstance(s, _DEFINITIONS) and _is_test_name(s.name) and s.name not in about)]


_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _is_test_name(name: str) -> bool:
    return name.lower().startswith("test")


class _Local(ast.NodeTransformer):
    """Names of one module as if the tests stood in it; imports of the project go, those of others stay."""

    def __init__(self, file: _TestFile, module: Module, project: Project) -> None:
        self._file, self._module, self._project = file, module, project

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._local(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        found = self._local(node)
        return self.generic_visit(node) if found is node else found  # type: ignore[return-value]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        return self._without_own(node)

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        return self._without_own(node)

    def _local(self, node: ast.Name | ast.Attribute) -> ast.expr:
        found = _meaning(node, self._file)
        if found is None or found[0] is not self._module or not found[1]:
            return node
        return ast.copy_location(ast.Name(found[1], node.ctx), node)

    def _without_own(self, node: ast.Import | ast.ImportFrom) -> ast.stmt:
        homes = [home for _, home, _ in self._project.imported(node, self._file.module)]
        gone = homes and all(home is self._module for home in homes) and len(homes) == len(node.names)
        return ast.copy_location(ast.Pass(), node) if gone else node


def _problem_row(
    folder: Path, project: Project, module: Module, function: Function, files: Sequence[_TestFile]
) -> dict[str, object]:
    """The function in our schema. Raises Unsuited with the reason why it is no problem."""
    name = function.name
    head = module.head_of(function)
    if not head:
        raise Unsuited(f"{name} has no docstring to make a statement of")
    reference = module.needed_by([name])
    _refuse_own_imports(reference, project, module, name)
    tests, rejected = _tests_of(name, project, module, files)
    if not tests:
        raise Unsuited(f"no test of {name} can be judged by calls and values: {rejected}")
    told = {n for test in tests for s in ast.parse(test).body for n in free_names(s)}
    told |= free_names(function.args) | (free_names(function.returns) if function.returns else set())
    given = [s for s in module.needed_by(sorted(told - {name})) if s is not function]
    _refuse_own_imports(given, project, module, name)
    setup = module.text_of(given)
    return {
        "problem_id": f"{folder.name}/{module.path.relative_to(folder).as_posix()}:{name}",
        "statement": f"{setup}\n\n{head}" if setup else head,
        "entry_point": name,
        "reference_solution": module.text_of(reference),
        "reference_tests": list(tests),
        "setup": setup,
    }


def _refuse_own_imports(statements: Sequence[ast.stmt], project: Project, module: Module, name: str) -> None:
    for statement in statements:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in _dotted(statement.test):
            continue  # annotations alone need it
        own = next((n for n in ast.walk(statement) if project.is_own(n, module)), None)
        if own is not None:
            raise Unsuited(f"{name} needs another module of the project: {ast.unparse(own)}")


def _tests_of(name: str, project: Project, module: Module, files: Sequence[_TestFile]) -> tuple[list[str], str]:
    """Tests that call the function, each standing alone, and why the first of the others could not be taken."""
    found: dict[str, None] = {}
    reason = "no assert depends on a call of it"
    for file in files:
        body = file.local.get(str(module.path))
        if body is None:
            local = _Local(file, module, project)
            body = [ast.fix_missing_locations(local.visit(copy.deepcopy(statement))) for statement in file.body]
            file.local[str(module.path)] = body
        text = ast.unparse(ast.Module(_about(body, name), []))
        for test in parse_assertions(text, name, max_tests=10_000):
            if isinstance(test, RejectedTest):
                reason = test.reason if "call" not in test.reason else reason
                continue
            source = to_source(test)
            if any(project.is_own(node, file.module) for node in ast.walk(ast.parse(source))):
                reason = "its tests need another module of the project"
            else:
                found.setdefault(source)
    return list(found)[:MAX_TESTS], reason
