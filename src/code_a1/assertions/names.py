"""Which names a piece of syntax reads, binds and may change in place: the facts that dependence is computed from.

All three err towards more names: a statement too many in a prelude does no harm, a missing one changes the meaning.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}

PURE_CALLS = frozenset(
    {
        *("abs", "all", "any", "ascii", "bin", "bool", "bytes", "bytearray", "callable", "chr", "complex", "dict"),
        *("divmod", "enumerate", "filter", "float", "format", "frozenset", "getattr", "hasattr", "hash", "hex", "id"),
        *("int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "object", "oct", "ord"),
        *("pow", "print", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "super"),
        *("tuple", "type", "vars", "zip"),
    }
)
"""Built-in functions that leave their arguments as they are."""

COMMON_MODULES = (
    *("math", "cmath", "re", "itertools", "functools", "collections", "operator", "random", "string", "datetime"),
    *("decimal", "fractions", "statistics", "copy", "json", "heapq", "bisect", "asyncio", "typing", "sys", "os"),
)
COMMON_MEMBERS = {
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"),
    "typing": ("Any", "Callable", "Dict", "List", "Optional", "Set", "Tuple", "Union"),
    "fractions": ("Fraction",),
    "decimal": ("Decimal",),
    "math": ("inf", "isclose", "nan"),
    "functools": ("reduce",),
}
COMMON_IMPORTS = {
    **{module: f"import {module}" for module in COMMON_MODULES},
    **{name: f"from {module} import {name}" for module, names in COMMON_MEMBERS.items() for name in names},
    "np": "import numpy as np",
    "numpy": "import numpy",
}
"""Names that suites use without an import, and the import that is meant."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def parameters(function: FunctionNode) -> list[str]:
    """Names of all parameters, in order."""
    args = function.args
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [a.arg for a in (*named, *(x for x in (args.vararg, args.kwarg) if x is not None))]


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that the nodes bind in their own scope, however deep in loops and branches."""
    found: set[str] = set()
    queue = list(nodes)
    while queue:
        node = queue.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
                queue += node.decorator_list
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                found |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
                continue
            case ast.alias():
                found.add(node.asname or node.name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
        queue += ast.iter_child_nodes(node)
    return found


def free_names(node: ast.AST) -> set[str]:
    """Names that the node reads from outside itself: bound names of functions and comprehensions do not count."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Store) else {node.id}
    if isinstance(node, FUNCTIONS):
        body = node.body if isinstance(node.body, list) else [node.body]
        outer = {name for n in body for name in _declared_global(n)}
        own = (set(parameters(node)) | bound_names(body)) - outer
        outside = [node.args, *(node.decorator_list if not isinstance(node, ast.Lambda) else ())]
        return (_union(body) - own) | _union(outside)
    if isinstance(node, COMPREHENSIONS):
        own = bound_names(generator.target for generator in node.generators)
        return _union(ast.iter_child_nodes(node)) - own
    if isinstance(node, ast.ClassDef):
        outside = [*node.bases, *node.keywords, *node.decorator_list]
        return (_union(node.body) - bound_names(node.body)) | _union(outside)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | free_names(node.value)
    return _union(ast.iter_child_nodes(node))


def _union(nodes: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        found |= free_names(node)
    return found


def _declared_global(node: ast.AST) -> set[str]:
    return {name for n in ast.walk(node) if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}


def root_name(node: ast.AST) -> str | None:
    """The name that a chain of attributes, subscripts and calls starts from."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def exposed_names(node: ast.AST) -> set[str]:  # noqa: PLR0911  (one line per kind of node)
    """Names whose object the value of the expression is, or holds: what a function that gets it could change."""
    match node:
        case ast.Name():
            return {node.id}
        case ast.Attribute() | ast.Subscript() | ast.Starred() | ast.Await() | ast.keyword():
            return exposed_names(node.value)
        case ast.NamedExpr():
            return {node.target.id} | exposed_names(node.value)
        case ast.Call(func=ast.Name(id=name)) if name in PURE_CALLS:
            return set()
        case ast.List() | ast.Tuple() | ast.Set():
            return set().union(*map(exposed_names, node.elts))
        case ast.Dict():
            return set().union(*map(exposed_names, node.values))
        case ast.IfExp():
            return exposed_names(node.body) | exposed_names(node.orelse)
        case ast.BoolOp():
            return set().union(*map(exposed_names, node.values))
        case ast.Call():
            return _exposed_by_call(node)
        case _:
            return set()


def _exposed_by_call(call: ast.Call) -> set[str]:
    receiver = exposed_names(call.func.value) if isinstance(call.func, ast.Attribute) else set()
    return receiver.union(*(exposed_names(a) for a in call.args), *(exposed_names(k.value) for k in call.keywords))


def changed_names(node: ast.AST) -> set[str]:
    """Names whose object the node may change in place: receivers and arguments of calls, targets of item assignment."""
    found: set[str] = set()
    queue: list[ast.AST] = [node]
    while queue:
        current = queue.pop()
        match current:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                queue += current.decorator_list
                continue
            case ast.Lambda():
                continue
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                if (root := root_name(current)) is not None:
                    found.add(root)
            case ast.Call(func=ast.Name(id=name)) if name in PURE_CALLS:
                pass
            case ast.Call():
                found |= _exposed_by_call(current)
            case ast.AugAssign(target=ast.Name(id=name)):
                found.add(name)
        queue += ast.iter_child_nodes(current)
    return found


def is_immutable_literal(node: ast.AST) -> bool:
    """Whether the expression is a constant, or a tuple of constants: nothing that a call could change."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
            return is_immutable_literal(operand)
        case ast.BinOp(left=left, right=right):
            return is_immutable_literal(left) and is_immutable_literal(right)
        case ast.Tuple(elts=elts):
            return all(map(is_immutable_literal, elts))
        case _:
            return False


def is_literal(node: ast.AST) -> bool:
    """Whether the expression is made of constants and displays alone."""
    match node:
        case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts):
            return all(map(is_literal, elts))
        case ast.Dict(keys=keys, values=values):
            return all(k is not None and is_literal(k) for k in keys) and all(map(is_literal, values))
        case _:
            return is_immutable_literal(node)
