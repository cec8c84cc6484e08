"""What a test may do where the candidate is, when its arguments are no plain data and have to be made there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from code_a1.assertions.names import BUILTINS, bound_names, root_name
from code_a1.assertions.parsing import parse_module, to_text
from code_a1.records import Problem, TestCase

REACHING_MODULES = frozenset(
    {
        *("_thread", "ast", "asyncio.subprocess", "atexit", "builtins", "code", "codeop", "concurrent", "copyreg"),
        *("ctypes", "dis", "faulthandler", "fcntl", "gc", "importlib", "inspect", "linecache", "marshal", "mmap"),
        *("multiprocessing", "os", "pathlib", "pdb", "pickle", "pkgutil", "platform", "posix", "pwd", "resource"),
        *("runpy", "secrets", "select", "shutil", "signal", "site", "socket", "subprocess", "sys", "sysconfig"),
        *("tempfile", "threading", "time", "timeit", "trace", "traceback", "tracemalloc", "uuid", "weakref"),
    }
)
"""Modules that tell one process from another, or change it."""
HARMLESS = frozenset(
    {"os.path", "os.sep", "os.linesep", "sys.maxsize", "sys.maxunicode", "sys.float_info", "sys.stdout", "sys.stdin"}
)
REACHING_NAMES = frozenset({"attrgetter", "dir", "getattr", "help", "id", "methodcaller", "vars"})
CLOCKS = frozenset({"now", "today", "utcnow"})
MUTATORS = frozenset(
    {
        *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse"),
        *("setdefault", "sort", "update"),
    }
)
LOOKS = frozenset(
    {"repr", "str", "hash", "type", "print", "callable", "hasattr", "isinstance", "format", "len", "bool"}
)
PROTOCOL = frozenset(
    {
        *("__call__", "__contains__", "__enter__", "__eq__", "__exit__", "__ge__", "__getitem__", "__gt__", "__hash__"),
        *("__init__", "__iter__", "__le__", "__len__", "__lt__", "__ne__", "__new__", "__next__", "__post_init__"),
        *("__repr__", "__setitem__", "__str__"),
    }
)
"""Methods that instances may need to be arguments at all."""
_DUNDER = re.compile(r"__\w+__")


def refusal(test: TestCase, problem: Problem, *, entry_is_class: bool) -> str:
    """Why the test may not run with a candidate; empty where it may."""
    try:
        nodes = [*parse_module(test.prelude), *(node for call in test.calls for node in parse_module(call.strip()))]
    except SyntaxError:
        return ""
    imports = [n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
    imported = frozenset(bound_names(imports))
    for node in nodes:
        looking = () if entry_is_class else _looking(node, problem.entry_point)
        for reason in (*_reaching(node, imported), *looking):
            return f"{reason} reaches beyond the values that are passed"
    borrowed = _borrowed(nodes, problem)
    return f"{borrowed!r} is defined by the reference alone" if borrowed else ""


def _reaching(tree: ast.AST, imported: frozenset[str]) -> Iterator[str]:
    """What in the code tells one process from another, or changes what others use."""
    formats = any(isinstance(n, ast.Attribute) and n.attr in ("format", "format_map") for n in ast.walk(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (repr(a.name) for a in names if _is_reaching(a))
            case ast.ImportFrom(module=str(module), names=names) if module.partition(".")[0] in REACHING_MODULES:
                yield from (repr(f"{module}.{a.name}") for a in names if f"{module}.{a.name}" not in HARMLESS)
            case ast.Name(id=name) | ast.alias(name=name) if name in REACHING_NAMES:
                yield repr(name)
            case ast.ClassDef(body=body):
                yield from (f"a class with its own {name!r}" for name in map(_method, body) if _is_operator(name))
            case ast.Attribute(attr=attr) if attr in CLOCKS or attr in REACHING_NAMES:
                yield repr(attr)
            case ast.Attribute(value=ast.Name(id="os" | "sys")) if to_text(node) not in HARMLESS:
                yield repr(to_text(node))
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                if root_name(node) in imported and to_text(node) not in HARMLESS:
                    yield f"changing {to_text(node)!r}"
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in MUTATORS:
                if root_name(value) in imported:
                    yield f"changing {to_text(value)!r}"
            case ast.Constant(value=str(text)) if formats and _DUNDER.search(text):
                yield repr(text)


def _looking(tree: ast.AST, entry_point: str) -> Iterator[str]:
    """What in the code looks at the function under test, and not at what it returns."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if name == entry_point:
                yield repr(to_text(node))
            case ast.Call(func=ast.Name(id=name), args=args) if name in LOOKS:
                if any(isinstance(a, ast.Name) and a.id == entry_point for a in args):
                    yield f"{name}({entry_point})"
            case ast.FormattedValue(value=ast.Name(id=name)) if name == entry_point:
                yield f"{name} as text"
            case ast.Compare(left=left, comparators=others):
                if any(isinstance(n, ast.Name) and n.id == entry_point for n in (left, *others)):
                    yield f"comparing {entry_point}"


def _method(member: ast.stmt) -> str:
    return member.name if isinstance(member, ast.FunctionDef) else ""


def _is_operator(name: str) -> bool:
    """Whether a method makes equal computations differ: `2 * x` and `x + x`."""
    return bool(_DUNDER.fullmatch(name)) and name not in PROTOCOL


def _is_reaching(alias: ast.alias) -> bool:
    if alias.name in ("os", "sys"):  # what is read of them is looked at, if it is written like that
        return alias.asname is not None
    return alias.name.partition(".")[0] in REACHING_MODULES and alias.name not in HARMLESS


def _borrowed(nodes: list[ast.stmt], problem: Problem) -> str:
    """A name that only the reference defines, and that nothing tells those who write candidates."""
    read = {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    own = set(_all_bound(nodes)) | BUILTINS | {problem.entry_point}
    try:
        reference = bound_names(parse_module(problem.reference_solution))
        given = bound_names(parse_module(problem.setup))
    except SyntaxError:
        return ""
    told = "\n".join((problem.statement, problem.setup, *problem.reference_tests))
    for name in sorted((read - own - given) & reference):
        if not re.search(rf"\b{re.escape(name)}\b", told):
            return name
    return ""


def _all_bound(nodes: list[ast.stmt]) -> Iterator[str]:
    yield from bound_names(nodes)
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.arg):
                yield n.arg
            elif isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
                yield n.id
