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
from code_a1.assertions.frameworks import APPROXIMATELY, asserted_expression, is_assertion, without_approx
from code_a1.assertions.functions import (
    Function,
    arguments,
    assignment,
    call_of,
    is_fixture,
    iteration_body,
    parametrized,
    required_parameters,
    split_assignment,
    table_row,
    with_arguments,
    without_await,
    without_modules,
    without_self,
)
from code_a1.assertions.names import bound_names, free_names
from code_a1.assertions.parsing import MAX_DEPTH, Broken, Piece, is_too_deep, to_text
from code_a1.assertions.plain import plain_test
from code_a1.assertions.rejection import RejectedError
from code_a1.assertions.scope import Scope
from code_a1.assertions.unrolling import iteration_values
from code_a1.records import RejectedTest, TestCase

MAX_STATEMENTS = 5_000
"""Statements beside plain asserts that are run through, loops written out, before the rest is left unread."""
MAX_CALL_DEPTH = 8
"""Checkers that call checkers."""

SET_UP = ("setUpClass", "setup_class", "setUp", "setup_method")
OTHER_PACKAGES = frozenset({"hypothesis", "numpy", "pandas", "pytest", "scipy", "sympy"})


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
        self._later: list[ast.stmt] = []
        self._checkers: dict[str, Function] = {}
        self._fixtures: dict[str, str] = {}
        self._called: set[str] = set()
        self._calling: list[str] = []
        self._modules: set[str] = set()

    def run(self, pieces: Sequence[Piece]) -> tuple[TestCase | RejectedTest, ...]:
        """The tests, in the order in which they run."""
        statements = [p for p in pieces if isinstance(p, ast.stmt) and not isinstance(p, ast.Assert)]
        scope = Scope(self.entry_point, bound_names(statements) - {self.entry_point})
        self._later = [
            s for s in statements if isinstance(s, ast.Assign | ast.Import | ast.ImportFrom | ast.FunctionDef)
        ]
        try:
            self._register_functions(statements)
            for piece in pieces:
                if isinstance(piece, Broken):
                    self._reject(piece.text, piece.reason)
                else:
                    self._statement(piece, scope)
        except _FullError:
            pass
        return tuple(self.tests)

    # -- results ------------------------------------------------------------------------------------------------------

    def _collect(self, test: TestCase | RejectedTest) -> None:
        if len(self.tests) < self.max_tests:
            self.tests.append(test)
        if len(self.tests) >= self.max_tests:
            raise _FullError

    def _reject(self, source: str, reason: str) -> None:
        error = RejectedError(reason)
        self._collect(RejectedTest(source, error.validity, error.reason))

    def _reject_all(self, node: ast.stmt, reason: str) -> None:
        """Reject every assertion inside a statement that gives it a meaning that cannot be kept."""
        for inner in ast.walk(node):
            if _is_assertion(inner):
                self._reject(_shown(inner), reason)

    def _assert_statement(self, node: ast.Assert, scope: Scope) -> None:
        is_plain = not (self.entry_is_class or scope.shadowed or scope.entry_changed)
        plain = plain_test(node, self.entry_point) if is_plain else None
        if plain is not None:
            self._collect(plain)
        elif is_too_deep(node):
            self._reject("assert …", f"it is nested more than {MAX_DEPTH} levels deep")
        else:
            self._assert(node.test, node, scope)

    def _assert(self, test: ast.expr, shown: ast.AST, scope: Scope) -> None:
        self._count_statement()
        source = _shown(shown)
        approximate = without_approx(test)
        if approximate is not None:
            scope.add(ast.parse(APPROXIMATELY).body[0])
        try:
            case, calls = read_test(approximate or test, source, scope, entry_is_class=self.entry_is_class)
        except RejectedError as error:
            self._collect(RejectedTest(source, error.validity, error.reason))
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            self._reject(source, f"it cannot be written as source again ({type(error).__name__})")
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
        if self._modules:
            node = without_modules(node, self._modules)
        if isinstance(node, ast.Assert):
            self._assert_statement(node, scope)
            return
        self._count_statement()
        if is_too_deep(node):
            self._reject_all(node, "it stands in a statement that is nested too deeply")
            return
        try:
            self._other_statement(node, scope)
        except RejectedError as error:
            self._reject_all(node, error.reason)

    def _count_statement(self) -> None:
        self._statements += 1
        if self._statements > MAX_STATEMENTS:
            raise _FullError

    def _other_statement(self, node: ast.stmt, scope: Scope) -> None:
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
                for part in split_assignment(node):
                    scope.add(part)
            case ast.Expr(value=ast.Await()):
                scope.add(node)
            case ast.Expr() | ast.Pass() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                self._compound(node, scope)

    def _compound(self, node: ast.stmt, scope: Scope) -> None:
        if not self._holds_asserts([node]):
            scope.add(node)
            return
        match node:
            case ast.For() if not self._holds_asserts(node.orelse):
                self._loop(node, scope)
            case ast.If(test=ast.Compare() as test) if "__name__" in free_names(test):
                self._block(node.body, scope)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="subTest")))]):
                self._block(node.body, scope)
            case _:
                self._reject_all(node, f"its meaning depends on the {type(node).__name__.lower()} statement around it")

    def _loop(self, node: ast.For, scope: Scope) -> None:
        values = iteration_values(node.iter, scope)
        if values is None:
            self._reject_all(node, "it stands in a loop whose values are not literals")
        elif any(isinstance(n, ast.Break | ast.Continue) for n in ast.walk(node)):
            self._reject_all(node, "it stands in a loop with break or continue")
        else:
            for value in values:
                self._block(iteration_body(node, value), scope)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Imports of the solution, under whatever module name the suite made up, bind what is there already."""
        if isinstance(node, ast.Import):
            known = [a for a in node.names if _is_importable(a.name)]
            self._modules |= {a.asname or a.name for a in node.names if not _is_importable(a.name)}
            if known:
                scope.add(ast.Import(known))
        elif node.level == 0 and node.module is not None and _is_importable(node.module):
            if node.module != "__future__":
                scope.add(node)
        else:
            for alias in node.names:
                if alias.asname not in (None, alias.name):
                    scope.add(assignment(alias.asname or "", ast.Name(alias.name, ast.Load())))

    def _call(self, node: ast.stmt, call: ast.Call, scope: Scope) -> None:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if is_assertion(call) and name not in scope.declared:
            expression = asserted_expression(call)
            if expression is None:
                self._reject(_shown(node), "this assertion is not supported")
            else:
                self._assert(expression, node, scope)
        elif name in self._checkers:
            if call.args or call.keywords or required_parameters(self._checkers[name]):
                self._inline(self._checkers[name], call, scope)  # without arguments it ran where it is defined
        elif name != "print":
            scope.add(node)

    # -- functions and classes ----------------------------------------------------------------------------------------

    def _register_functions(self, statements: Iterable[ast.stmt]) -> None:
        """Find the checkers: functions that hold asserts, or call one that does. Their asserts run where they run."""
        nodes = [n for s in statements for n in ast.walk(s)]
        functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        for _ in range(MAX_CALL_DEPTH):
            found = [f for f in functions if f.name not in self._checkers and self._holds_asserts(f.body)]
            self._checkers |= {f.name: f for f in found}
            if not found:
                break
        self._fixtures = {f.name: f"fixture_{f.name}" for f in functions if is_fixture(f)}
        self._called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}

    def _holds_asserts(self, statements: Iterable[ast.stmt]) -> bool:
        return any(_is_assertion(n) or self._is_checker_call(n) for s in statements for n in ast.walk(s))

    def _is_checker_call(self, node: ast.AST) -> bool:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
                return name in self._checkers
            case _:
                return False

    def _function(self, node: Function, scope: Scope) -> None:
        if node.name in self._fixtures:
            scope.add(ast.FunctionDef(self._fixtures[node.name], node.args, node.body, [], None, lineno=1))
            return
        if node.name not in self._checkers or node.name == self.entry_point:
            scope.add(node)
            return
        self._checkers[node.name] = node
        required = required_parameters(node)
        table = parametrized(node)
        if table is not None:
            self._parametrize(node, *table, scope)
        elif not required:
            self._inline(node, call_of(node.name), scope)
        elif required == ["candidate"] and node.name not in self._called:
            self._inline(node, call_of(node.name, candidate=ast.Name(self.entry_point, ast.Load())), scope)
        elif all(name in self._fixtures for name in required):
            self._inline(node, call_of(node.name, **{n: call_of(self._fixtures[n]) for n in required}), scope)
        elif node.name not in self._called:
            self._reject_all(node, f"nothing gives the parameters of {node.name}: {', '.join(required)}")

    def _inline(self, node: Function, call: ast.Call, scope: Scope) -> None:
        """Run a function's body with its parameters bound."""
        if not call.args and not call.keywords and self._plain_body(node, scope):
            return
        bindings = arguments(node, call)
        if node.name in self._calling or len(self._calling) >= MAX_CALL_DEPTH:
            self._reject_all(node, f"{node.name} calls itself")
        elif bindings is None:
            self._reject_all(node, f"the arguments of {node.name} cannot be told")
        else:
            inner = scope.child(bound_names(node.body))
            if not self._calling:
                self._define_later_names(node, inner)
            self._calling.append(node.name)
            self._block(with_arguments(without_await(node), bindings), inner)
            self._calling.pop()

    def _plain_body(self, node: Function, scope: Scope) -> bool:
        """Take the tests of a function that holds plain asserts alone, as most files of tests have them."""
        if self.entry_is_class or scope.shadowed or scope.entry_changed or required_parameters(node):
            return False
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        asserts = [s for s in body if isinstance(s, ast.Assert)]
        plain = [test for s in asserts if (test := plain_test(s, self.entry_point)) is not None]
        if len(plain) < len(body):
            return False
        for test in plain:
            self._collect(test)
        return True

    def _define_later_names(self, node: Function, scope: Scope) -> None:
        """A function may use what the module defines after it."""
        missing = (free_names(node) & scope.declared) - scope.bound
        for statement in self._later if missing else ():
            names = bound_names([statement])
            if not names & scope.bound and not names & self._checkers.keys():
                scope.add(statement)

    def _parametrize(self, node: Function, names: list[str], table: ast.expr, scope: Scope) -> None:
        values = iteration_values(table, scope)
        if values is None or sorted(names) != sorted(required_parameters(node)):
            self._reject_all(node, "its parameters are not literals")
            return
        for value in values:
            row = table_row(value, len(names))
            if row is None:
                self._reject_all(node, "a row of its parameters does not fit")
                return
            self._inline(node, call_of(node.name, **dict(zip(names, row, strict=True))), scope)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        if node.name == self.entry_point or not any(self._holds_asserts(m.body) for m in methods):
            scope.add(node)
            return
        inner = scope.child(bound_names(node.body))
        functions = {m.name: without_self(m, node.name) for m in methods}
        for statement in node.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                inner.add(statement)
                for name in sorted(bound_names([statement])):
                    inner.add(assignment(f"self_{name}", ast.Name(name, ast.Load())))
        set_up = [s for name in SET_UP if name in functions for s in functions[name].body]
        for name, function in functions.items():
            if self._holds_asserts(function.body) or name.startswith("test"):
                self._checkers[function.name] = function
            elif name not in SET_UP:
                inner.add(function)
        for name, function in functions.items():
            if name.startswith("test"):
                function.body = [*copy.deepcopy(set_up), *function.body]
                self._function(function, inner)


def _is_assertion(node: ast.AST) -> bool:
    match node:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call() as call) | ast.withitem(context_expr=ast.Call() as call):
            return is_assertion(call)
        case _:
            return False


def _shown(node: ast.AST) -> str:
    try:
        return to_text(node)
    except (ValueError, RecursionError, MemoryError):
        return "assert …"


def _is_importable(module: str) -> bool:
    """Whether the module is one that a machine has, rather than the suite's idea of the solution's file name."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in OTHER_PACKAGES
