"""Straight-line code out of functions and loops: names get their values; methods and coroutines become functions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping

from code_a1.assertions.names import bound_names, free_names, is_immutable_literal, parameters
from code_a1.assertions.unrolling import match_target, select_parts, substitute

Function = ast.FunctionDef | ast.AsyncFunctionDef

TEST_CASE_METHODS = frozenset({"subTest", "fail", "skipTest"})


def assignment(name: str, value: ast.expr) -> ast.Assign:
    """The statement `name = value`."""
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)


def call_of(name: str, **keywords: ast.expr) -> ast.Call:
    """The expression `name(key=value, …)`."""
    return ast.Call(ast.Name(name, ast.Load()), [], [ast.keyword(k, v) for k, v in keywords.items()])


def required_parameters(node: Function) -> list[str]:
    """Names of the parameters that have no default."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    plain = positional[: len(positional) - len(args.defaults)]
    keyword_only = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return [a.arg for a in plain] + [a.arg for a, default in keyword_only if default is None]


def arguments(node: Function, call: ast.Call) -> dict[str, ast.expr] | None:
    """Parameters with what the call gives them; None if that takes more than matching positions and names."""
    args = node.args
    if args.vararg or args.kwarg or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    positional = [a.arg for a in (*args.posonlyargs, *args.args)]
    defaults = dict(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True))
    defaults |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
    if len(call.args) > len(positional) or any(k.arg is None for k in call.keywords):
        return None
    given = dict(zip(positional, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    bindings = defaults | given
    return bindings if bindings.keys() == set(parameters(node)) else None


def with_arguments(node: Function, bindings: Mapping[str, ast.expr]) -> list[ast.stmt]:
    """The body with its parameters bound: constants and other names are put in place, anything else is assigned."""
    rebound = bound_names(node.body)
    constants = {n for n, v in bindings.items() if is_immutable_literal(v) and n not in rebound}
    hidden = rebound | {n for n, v in bindings.items() if n not in constants and not isinstance(v, ast.Name)}
    names_only = {n for n, v in bindings.items() if isinstance(v, ast.Name) and v.id not in hidden and n not in rebound}
    replaced = {n: v for n, v in bindings.items() if n in constants | names_only}
    assigned = {n: v for n, v in bindings.items() if n not in replaced}
    body = [substitute(statement, replaced) for statement in node.body]
    if any(free_names(v) & assigned.keys() for v in assigned.values()):  # all at once, as a call binds them
        names: list[ast.expr] = [ast.Name(n, ast.Store()) for n in assigned]
        values = ast.Tuple(list(assigned.values()), ast.Load())
        return [ast.Assign([ast.Tuple(names, ast.Store())], values, lineno=1), *body]
    return [*(assignment(name, value) for name, value in assigned.items()), *body]


def iteration_body(node: ast.For, value: ast.expr) -> list[ast.stmt]:
    """The body of one iteration: constants are put in place of their variables, other values are assigned."""
    bindings = match_target(node.target, value)
    if bindings is None:
        return [ast.Assign([node.target], value, lineno=1), *node.body]
    rebound = bound_names(node.body)
    constants = {n: v for n, v in bindings.items() if is_immutable_literal(v) and n not in rebound}
    assigned = {n: v for n, v in bindings.items() if n not in constants}
    body = [substitute(statement, constants) for statement in node.body]
    for name, part in assigned.items():
        if name not in rebound:
            body = select_parts(body, name, part)
    return [*(assignment(name, part) for name, part in assigned.items()), *body]


def split_assignment(node: ast.Assign) -> list[ast.stmt]:
    """`a, b = 1, 2` and `a = b = 0` as one statement per name, where that means the same."""
    match node:
        case ast.Assign(targets=[ast.Tuple() as target], value=ast.Tuple() as value):
            bindings = match_target(target, value)
            if bindings is not None and not free_names(value) & bindings.keys():
                return [assignment(name, part) for name, part in bindings.items()]
        case ast.Assign(targets=[_, _, *_] as targets, value=value) if is_immutable_literal(value):
            return [ast.Assign([target], value, lineno=1) for target in targets]
    return [node]


def parametrized(node: Function) -> tuple[list[str], ast.expr] | None:
    """Names and table of `@pytest.mark.parametrize("a, b", [...])`."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(text)), table, *_]):
                return [n.strip() for n in text.split(",") if n.strip()], table
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.List(elts=elts) | ast.Tuple(elts=elts), table, *_]
            ):
                texts = [e.value for e in elts if isinstance(e, ast.Constant)]
                return [text for text in texts if isinstance(text, str)], table
    return None


def table_row(value: ast.expr, n_names: int) -> list[ast.expr] | None:
    """The values of one row of a parameter table, `pytest.param(...)` included."""
    match value:
        case ast.Call(func=ast.Attribute(attr="param"), args=args):
            row = list(args)
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if n_names > 1:
            row = list(elts)
        case _:
            row = [value]
    return row if len(row) == n_names else None


def is_fixture(node: ast.AST) -> bool:
    """Whether the function is a pytest fixture that takes no other and returns its value."""
    return (
        isinstance(node, ast.FunctionDef)
        and any("fixture" in ast.unparse(d) for d in node.decorator_list)
        and not parameters(node)
        and isinstance(node.body[-1], ast.Return)
    )


def returned_expression(node: Function) -> ast.expr | None:
    """What a function returns, over its parameters, if it does nothing but compute that."""
    values: dict[str, ast.expr] = {}
    body = node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in values:
                values[name] = substitute(value, values)
            case ast.Return(value=ast.expr() as value):
                return substitute(value, values)
            case _:
                return None
    return None


class _SelfToNames(ast.NodeTransformer):
    def __init__(self, owners: Iterable[str]) -> None:
        self.owners = frozenset(owners)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.owners:
            return node
        if node.attr.startswith("assert") or node.attr in TEST_CASE_METHODS:
            return node
        return ast.Name(f"self_{node.attr}", node.ctx)


def without_self(method: Function, class_name: str) -> Function:
    """The method as a function, named `self_…` unless it is a test: attributes of `self` become variables `self_…`."""
    function = copy.deepcopy(method)
    owners = {class_name}
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
    function.decorator_list = [d for d in function.decorator_list if not isinstance(d, ast.Name)]
    if not function.name.startswith("test"):
        function.name = f"self_{function.name}"
    args = function.args
    if args.args and not args.posonlyargs and not static:
        owners.add(args.args.pop(0).arg)
        del args.defaults[: len(args.defaults) - len(args.args)]
    function.body = [_SelfToNames(owners).visit(s) for s in function.body]
    return function


class _Awaited(ast.NodeTransformer):
    """`await f(2)` → `asyncio.run(f(2))`: outside the event loop of the suite each coroutine gets one of its own."""

    def visit_Await(self, node: ast.Await) -> ast.AST:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio"))):
                return node  # gather, wait_for and the like need the loop that is running
            case _:
                run = ast.Attribute(ast.Name("asyncio", ast.Load()), "run", ast.Load())
                return ast.Call(run, [node.value], [])


def without_await(node: Function) -> Function:
    """A coroutine function's body as that of a plain function."""
    if isinstance(node, ast.FunctionDef):
        return node
    function = copy.deepcopy(node)
    function.body = [_Awaited().visit(s) for s in function.body]
    return function


def without_modules(node: ast.stmt, modules: Iterable[str]) -> ast.stmt:
    """`solution.f` → `f`, for modules that are the suite's idea of where the solution lives."""
    rewritten: ast.stmt = _AttributesToNames(modules).visit(node)
    return rewritten


class _AttributesToNames(ast.NodeTransformer):
    def __init__(self, modules: Iterable[str]) -> None:
        self.modules = frozenset(modules)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.modules:
            return ast.Name(node.attr, node.ctx)
        return node
