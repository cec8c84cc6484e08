"""A suite as a script: which asserts run, in which order, after which statements.

Functions named `test…`, methods of test classes, checkers that are called with arguments, loops over literals and
`pytest.mark.parametrize` are written out, so that what remains is straight-line code before each assert.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterable, Sequence

from code_a1.assertions.analysis import read_test
from code_a1.assertions.names import bound_names, free_names, is_immutable_literal, parameters
from code_a1.assertions.observations import RejectedError
from code_a1.assertions.parsing import MAX_DEPTH, Broken, Piece, is_too_deep, to_text
from code_a1.assertions.plain import plain_test
from code_a1.assertions.scope import Scope
from code_a1.assertions.unittests import asserted_expression, is_assertion_method
from code_a1.assertions.unrolling import iteration_values, match_target, substitute
from code_a1.records import RejectedTest, TestCase

MAX_STATEMENTS = 20_000
"""Statements that are run through, loops written out, before the rest of a suite is left unread."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class _FullError(Exception):
    """Enough tests have been read."""


class Script:
    """Runs through the statements of a suite and collects its tests."""

    def __init__(self, entry_point: str, *, entry_is_class: bool, max_tests: int) -> None:
        self.entry_point = entry_point
        self.entry_is_class = entry_is_class
        self.max_tests = max_tests
        self.tests: list[TestCase | RejectedTest] = []
        self._statements = 0
        self._checkers: dict[str, Function] = {}
        self._called: set[str] = set()
        self._calling: list[str] = []

    def run(self, pieces: Sequence[Piece]) -> tuple[TestCase | RejectedTest, ...]:
        """The tests, in the order in which they run."""
        statements = [p for p in pieces if isinstance(p, ast.stmt)]
        others = [s for s in statements if not isinstance(s, ast.Assert)]
        scope = Scope(self.entry_point, bound_names(others) - {self.entry_point})
        try:
            self._register_checkers(others)
            for piece in pieces:
                if isinstance(piece, Broken):
                    self._reject(piece.text, RejectedError(piece.reason))
                else:
                    self._statement(piece, scope)
        except _FullError:
            pass
        return tuple(self.tests)

    # -- results ------------------------------------------------------------------------------------------------------

    def _collect(self, test: TestCase | RejectedTest) -> None:
        if len(self.tests) >= self.max_tests:
            raise _FullError
        self.tests.append(test)
        if len(self.tests) >= self.max_tests:
            raise _FullError

    def _reject(self, source: str, error: RejectedError) -> None:
        self._collect(RejectedTest(source, error.validity, error.reason))

    def _reject_all(self, node: ast.stmt, reason: str) -> None:
        """Reject every assertion inside a statement that gives it a meaning that cannot be kept."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assert) or _asserted_call(inner):
                self._reject(_shown(inner), RejectedError(reason))

    def _assert_statement(self, node: ast.Assert, scope: Scope) -> None:
        plain = None if self.entry_is_class or scope.shadowed else plain_test(node, self.entry_point)
        if plain is not None:
            self._collect(plain)
        elif is_too_deep(node):
            self._reject("assert …", RejectedError(f"it is nested more than {MAX_DEPTH} levels deep"))
        else:
            self._assert(node.test, node, scope)

    def _assert(self, test: ast.expr, shown: ast.AST, scope: Scope) -> None:
        source = _shown(shown)
        try:
            case, calls = read_test(test, source, scope, entry_is_class=self.entry_is_class)
        except RejectedError as error:
            self._reject(source, error)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            self._reject(source, RejectedError(f"it cannot be written as source again ({type(error).__name__})"))
        else:
            self._collect(case)
            scope.add_calls(calls)

    # -- statements ---------------------------------------------------------------------------------------------------

    def _block(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            if isinstance(statement, ast.Return):
                break
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        self._statements += 1
        if self._statements > MAX_STATEMENTS:
            raise _FullError
        if isinstance(node, ast.Assert):
            self._assert_statement(node, scope)
            return
        if is_too_deep(node):
            self._reject_all(node, "it stands in a statement that is nested too deeply")
            return
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.Expr(value=ast.Call() as call):
                self._call(node, call, scope)
            case ast.Import() | ast.ImportFrom():
                self._import(node, scope)
            case ast.Assign():
                for part in _split(node):
                    scope.add(part)
            case ast.Expr() | ast.Pass() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                self._compound(node, scope)

    def _compound(self, node: ast.stmt, scope: Scope) -> None:
        if not _holds_asserts(node, self._checkers):
            scope.add(node)
            return
        match node:
            case ast.For() if not node.orelse or not _holds_asserts(node, self._checkers, parts=node.orelse):
                self._loop(node, scope)
            case ast.If(test=test) if _is_main_guard(test):
                self._block(node.body, scope)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="subTest")))]):
                self._block(node.body, scope)
            case _:
                self._reject_all(node, f"it stands inside a {type(node).__name__.lower()} statement")

    def _loop(self, node: ast.For, scope: Scope) -> None:
        values = iteration_values(node.iter, scope)
        if values is None:
            self._reject_all(node, "it stands in a loop whose values are not literals")
            return
        if any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(node)):
            self._reject_all(node, "it stands in a loop with break or continue")
            return
        for value in values:
            self._block(self._bound_body(node.body, node.target, value, scope), scope)

    def _bound_body(self, body: Sequence[ast.stmt], target: ast.expr, value: ast.expr, scope: Scope) -> list[ast.stmt]:
        """The body of one iteration: constants are put in place of their variables, other values are assigned."""
        bindings = match_target(target, value)
        if bindings is None:
            scope.add(ast.Assign([target], value))
            return list(body)
        rebound = bound_names(body)
        constants = {n: v for n, v in bindings.items() if is_immutable_literal(v) and n not in rebound}
        for name, part in bindings.items():
            if name not in constants:
                scope.add(_assignment(name, part))
        return [substitute(statement, constants) for statement in body]

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Imports of the solution itself, under whatever module name the suite made up, bind what is there already."""
        if isinstance(node, ast.Import):
            kept = [a for a in node.names if _is_importable(a.name)]
            if kept:
                scope.add(ast.Import(kept))
            return
        if node.module == "__future__" or (node.level == 0 and _is_importable(node.module or "")):
            if node.module != "__future__":
                scope.add(node)
            return
        for alias in node.names:
            if alias.asname not in (None, alias.name):
                scope.add(_assignment(alias.asname or "", ast.Name(alias.name, ast.Load())))

    def _call(self, node: ast.stmt, call: ast.Call, scope: Scope) -> None:
        if is_assertion_method(call):
            expression = asserted_expression(call)
            if expression is None:
                self._reject(_shown(node), RejectedError("this assertion method is not supported"))
            else:
                self._assert(expression, node, scope)
            return
        match call.func:
            case ast.Name(id=name) if name in self._checkers:
                if call.args or call.keywords or _required(self._checkers[name]):  # else it ran where it is defined
                    self._inline(self._checkers[name], call, scope)
            case ast.Name(id="print"):
                pass
            case _:
                scope.add(node)

    # -- functions and classes ----------------------------------------------------------------------------------------

    def _register_checkers(self, statements: Iterable[ast.stmt]) -> None:
        """Functions that hold asserts and take arguments: their asserts run where they are called."""
        nodes = [n for s in statements for n in ast.walk(s)]
        functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        for _ in range(2):  # a checker may call another
            for function in functions:
                if _holds_asserts(function, self._checkers, parts=function.body):
                    self._checkers[function.name] = function
        self._called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}

    def _function(self, node: Function, scope: Scope) -> None:
        if node.name not in self._checkers or self._checkers[node.name] is not node:
            scope.add(node)
            return
        required = _required(node)
        table = _parametrized(node)
        if table is not None:
            self._parametrize(node, *table, scope)
        elif not required:
            self._inline(node, ast.Call(ast.Name(node.name), [], []), scope)
        elif required == ["candidate"] and node.name not in self._called:
            argument = ast.Name(self.entry_point, ast.Load())
            self._inline(node, ast.Call(ast.Name(node.name), [argument], []), scope)
        elif node.name not in self._called:
            self._reject_all(node, f"it stands in {node.name}, whose parameters {', '.join(required)} nothing gives")

    def _inline(self, node: Function, call: ast.Call, scope: Scope) -> None:
        """Run a function's body with its parameters bound."""
        if node.name in self._calling or len(self._calling) > 8:
            self._reject_all(node, "it stands in a function that calls itself")
            return
        bindings = _arguments(node, call)
        if bindings is None:
            self._reject_all(node, f"the arguments of {node.name} cannot be told")
            return
        inner = scope.child(bound_names(node.body))
        body = self._with_arguments(node, bindings, inner)
        self._calling.append(node.name)
        try:
            self._block(body, inner)
        finally:
            self._calling.pop()

    def _with_arguments(self, node: Function, bindings: dict[str, ast.expr], scope: Scope) -> list[ast.stmt]:
        rebound = bound_names(node.body)
        replaced = {
            name: value
            for name, value in bindings.items()
            if name not in rebound and (is_immutable_literal(value) or isinstance(value, ast.Name))
        }
        if any(isinstance(v, ast.Name) and v.id in rebound for v in replaced.values()):
            replaced = {n: v for n, v in replaced.items() if is_immutable_literal(v)}
        assigned = {n: v for n, v in bindings.items() if n not in replaced}
        if any(free_names(v) & assigned.keys() for v in assigned.values()):
            names: list[ast.expr] = [ast.Name(n, ast.Store()) for n in assigned]
            scope.add(ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(list(assigned.values()), ast.Load())))
        else:
            for name, value in assigned.items():
                scope.add(_assignment(name, value))
        return [substitute(statement, replaced) for statement in node.body]

    def _parametrize(self, node: Function, names: list[str], table: ast.expr, scope: Scope) -> None:
        values = iteration_values(table, scope)
        if values is None or sorted(names) != sorted(_required(node)):
            self._reject_all(node, "its parameters are not literals")
            return
        for value in values:
            row = _row(value, len(names))
            if row is None:
                self._reject_all(node, "a row of its parameters does not fit")
                return
            keywords = [ast.keyword(name, part) for name, part in zip(names, row, strict=True)]
            self._inline(node, ast.Call(ast.Name(node.name), [], keywords), scope)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        if not any(_holds_asserts(m, self._checkers, parts=m.body) for m in methods):
            scope.add(node)
            return
        inner = scope.child()
        renamed = {m.name: _without_self(m) for m in methods}
        for statement in node.body:
            if isinstance(statement, ast.Assign):
                inner.add(_SelfToNames.of(statement, ()))
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        inner.add(_assignment(f"self_{target.id}", ast.Name(target.id, ast.Load())))
        for method in methods:
            if not _holds_asserts(method, self._checkers, parts=method.body) and method.name not in SET_UP:
                inner.add(renamed[method.name])
        before = [s for name in SET_UP if name in renamed for s in renamed[name].body]
        for method in methods:
            if method.name.startswith("test"):
                function = renamed[method.name]
                function.body = [*copy.deepcopy(before), *function.body]
                self._checkers[function.name] = function
                self._function(function, inner)


SET_UP = ("setUpClass", "setup_class", "setUp", "setup_method")


class _SelfToNames(ast.NodeTransformer):
    """Turns attributes of `self` into variables: `self.x` → `self_x`; assertion methods stay."""

    def __init__(self, owners: Iterable[str]) -> None:
        self.owners = frozenset(owners)

    @classmethod
    def of(cls, node: ast.stmt, owners: Iterable[str]) -> ast.stmt:
        rewritten: ast.stmt = cls(owners).visit(copy.deepcopy(node))
        return rewritten

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.owners and not _is_unittest(node.attr):
            return ast.Name(f"self_{node.attr}", node.ctx)
        return node


def _is_unittest(attr: str) -> bool:
    return attr.startswith("assert") or attr in ("subTest", "fail", "skipTest")


def _without_self(method: Function) -> Function:
    """The method as a function: without its first parameter, attributes of which become variables."""
    function = copy.deepcopy(method)
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
    function.decorator_list = [d for d in function.decorator_list if not isinstance(d, ast.Name)]
    if not function.name.startswith("test"):
        function.name = f"self_{function.name}"
    if static or not function.args.args:
        return function
    owner = function.args.args.pop(0).arg
    function.body = [_SelfToNames.of(s, {owner}) for s in function.body]
    return function


def _holds_asserts(node: ast.AST, checkers: Iterable[str], parts: Sequence[ast.stmt] | None = None) -> bool:
    names = set(checkers)
    for part in [node] if parts is None else parts:
        for inner in ast.walk(part):
            if isinstance(inner, ast.Assert) or _asserted_call(inner):
                return True
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Call):
                func = inner.value.func
                if isinstance(func, ast.Name) and func.id in names:
                    return True
    return False


def _asserted_call(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Expr | ast.withitem)):
        return False
    call = node.value if isinstance(node, ast.Expr) else node.context_expr
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr == "raises":
        return True
    return is_assertion_method(call)


def _shown(node: ast.AST) -> str:
    try:
        return to_text(node)
    except (ValueError, RecursionError, MemoryError):
        return "assert …"


def _assignment(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _split(node: ast.Assign) -> list[ast.stmt]:
    """`a, b = 1, 2` as two statements where that means the same."""
    match node:
        case ast.Assign(targets=[ast.Tuple() as target], value=ast.Tuple() as value):
            bindings = match_target(target, value)
            if bindings is not None and not free_names(value) & bindings.keys():
                return [_assignment(name, part) for name, part in bindings.items()]
    return [node]


def _is_main_guard(test: ast.expr) -> bool:
    return "__name__" in free_names(test) and isinstance(test, ast.Compare)


def _is_importable(module: str) -> bool:
    """Whether the module is one that a machine has, rather than the suite's idea of the solution's file name."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in ("numpy", "pandas", "pytest", "hypothesis", "scipy", "sympy")


def _required(node: Function) -> list[str]:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    plain = positional[: len(positional) - len(args.defaults)]
    return [a.arg for a in plain] + [
        a.arg for a, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None
    ]


def _arguments(node: Function, call: ast.Call) -> dict[str, ast.expr] | None:
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


def _parametrized(node: Function) -> tuple[list[str], ast.expr] | None:
    """Names and table of `@pytest.mark.parametrize("a, b", [...])`."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, table, *_]):
                match names:
                    case ast.Constant(value=str(text)):
                        return [n.strip() for n in text.split(",") if n.strip()], table
                    case ast.List(elts=elts) | ast.Tuple(elts=elts):
                        texts = [e.value for e in elts if isinstance(e, ast.Constant)]
                        return [text for text in texts if isinstance(text, str)], table
    return None


def _row(value: ast.expr, n_names: int) -> list[ast.expr] | None:
    """The values of one row of a parameter table, `pytest.param(...)` included."""
    match value:
        case ast.Call(func=ast.Attribute(attr="param"), args=args):
            row = list(args)
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if n_names > 1:
            row = list(elts)
        case _:
            row = [value]
    return row if len(row) == n_names else None
