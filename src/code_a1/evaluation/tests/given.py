"""What a given function needs that it does not bring: imports that were forgotten, names, files, packages.

Functions cut out of repositories often lack their imports. That is the benchmark's flaw and never the tester's: what
has one likely meaning is put in front of the code, anything else takes the task out, by name. Nothing here runs code.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from code_a1.assertions.names import COMMON_IMPORTS
from code_a1.problems import parse_source

_MODULE_NAMES = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__", "__annotations__"}
OUTSIDE_CALLS = frozenset({"open", "input", "breakpoint"})
OUTSIDE_MODULES = {
    "os": frozenset(
        {
            *("chdir", "chmod", "execv", "fork", "getcwd", "kill", "link", "listdir", "makedirs", "mkdir", "open"),
            *("popen", "remove", "rename", "replace", "rmdir", "scandir", "stat", "symlink", "system", "unlink"),
            *("walk", "path.exists", "path.getmtime", "path.getsize", "path.isdir", "path.isfile"),
        }
    ),
    "io": frozenset({"open"}),
    "codecs": frozenset({"open"}),
    "numpy": frozenset({"fromfile", "genfromtxt", "load", "loadtxt", "save", "savetxt"}),
    "pandas": frozenset({"read_csv", "read_excel", "read_json", "read_parquet", "read_pickle", "read_sql"}),
    "sys": frozenset({"stdin.read", "stdin.readline", "stdin.readlines"}),
}
"""What reaches out of a function, by module."""
ONLY_OUTSIDE = frozenset(
    {
        *("fileinput", "ftplib", "getpass", "glob", "gzip.open", "http.client", "paramiko", "requests", "shutil"),
        *("smtplib", "socket", "subprocess", "telnetlib", "tempfile", "urllib.request", "urllib2"),
    }
)
"""Modules whose functions all reach out."""
OUTSIDE_METHODS = frozenset({"read_bytes", "read_text", "write_bytes", "write_text"})


@dataclass(frozen=True, slots=True)
class Given:
    """What is to be known about a given function before anybody tests it."""

    source: str
    """The code, with the imports that it forgot in front."""
    added: tuple[str, ...] = ()
    """Those imports."""
    modules: tuple[str, ...] = ()
    """Modules that it imports, wherever it does."""
    left_out: str = ""
    """Why it cannot be tested here, as far as reading it tells; empty if it can."""


def read_given(source: str) -> Given:
    """Look at a function's source; what does not compile has the reason in `left_out`."""
    try:
        tree = parse_source(source)
        missing = undefined_names(source)
    except ValueError as error:
        return Given(source, left_out=f"the given code is not Python: {error}")
    added: list[str] = []
    unknown: list[str] = []
    for name in sorted(missing):
        found = _import_of(name, source)
        (added if found else unknown).append(found or name)
    if unknown:
        names = ", ".join(unknown)
        return Given(source, left_out=f"the given code uses names that nothing defines: {names}")
    if added:
        source = _with_imports(source, tree, added)
        tree = parse_source(source)
    outside = next(_outside(tree), None)
    why = "" if outside is None else f"the given code reaches out of its process: {outside}"
    return Given(source, tuple(added), tuple(_modules(tree)), why)


def undefined_names(source: str) -> set[str]:
    """Names that functions or the module itself read as globals, and that neither the module nor Python defines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        top = symtable.symtable(source, "<given>", "exec")
    defined, read = set(_MODULE_NAMES), set[str]()
    pending = [top]
    while pending:
        table = pending.pop()
        at_top = table is top
        for symbol in table.get_symbols():
            name = symbol.get_name()
            binds = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
            if binds and (at_top or symbol.is_declared_global()):
                defined.add(name)
            if symbol.is_referenced() and (at_top or symbol.is_global()):
                read.add(name)
        pending += table.get_children()
    star = any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(parse_source(source)))
    return set() if star else read - defined


def _import_of(name: str, source: str) -> str:
    """The import that is meant by a name, or "" if that cannot be told."""
    if name == "datetime" and not any(f"datetime.{member}" in source for member in ("datetime", "date(", "timedelta")):
        return "from datetime import datetime"
    if name in COMMON_IMPORTS:
        return COMMON_IMPORTS[name]
    return f"import {name}" if name in sys.stdlib_module_names else ""


def _with_imports(source: str, tree: ast.Module, added: Sequence[str]) -> str:
    """The source with lines in front, but behind its `from __future__` imports, which come first in every program."""
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    after = (future[-1].end_lineno or 0) if future else 0
    lines = source.split("\n")
    return "\n".join([*lines[:after], *added, *lines[after:]])


def _modules(tree: ast.Module) -> dict[str, None]:
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found[node.module] = None
    return found


def _outside(tree: ast.Module) -> Iterator[str]:
    """Calls that reach files, the network, other processes or people, as `open (line 3)`."""
    meaning = _imported(tree)
    own = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        head, *rest = _dotted(node.func)
        called = ".".join([meaning.get(head, head), *rest])
        bare = not rest and head in OUTSIDE_CALLS and head not in own and head not in meaning
        method = isinstance(node.func, ast.Attribute) and node.func.attr in OUTSIDE_METHODS
        if bare or method or (head in meaning and _reaches_out(called)):
            yield f"{called or ast.unparse(node.func)[:40]} (line {node.lineno})"


def _reaches_out(called: str) -> bool:
    if any(called == name or called.startswith(f"{name}.") for name in ONLY_OUTSIDE):
        return True
    module, _, rest = called.partition(".")
    return rest in OUTSIDE_MODULES.get(module, ())


def _imported(tree: ast.Module) -> dict[str, str]:
    """What imported names stand for: `np` → `numpy`, `join` → `os.path.join`."""
    meaning: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                meaning[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom) and node.module:
            meaning |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return meaning


def _dotted(node: ast.expr) -> list[str]:
    """`os.path.exists` as its parts; [""] for what is no dotted name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else [""]
