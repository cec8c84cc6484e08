"""Which parts of an expression must be evaluated where the candidate is, and what is left of it without them."""

from __future__ import annotations

import ast
import copy
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from code_a1.assertions.names import (
    BUILTINS,
    COMPREHENSIONS,
    bound_names,
    free_names,
    parameters,
    root_name,
)
from code_a1.assertions.rejection import RejectedError
from code_a1.assertions.scope import Scope
from code_a1.assertions.unrolling import MAX_UNROLLED, iteration_values, match_target, substitute
from code_a1.records import Validity

DATA_ATTRIBUTES = frozenset(
    name
    for kind in (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, range, Counter, deque, datetime)
    for name in dir(kind)
) | {"shape", "dtype", "ndim", "size", "all", "any", "sum", "tolist"}
"""Attributes of plain values and arrays. Any other attribute belongs to a class of the solution: it is read there."""

ITERATOR_CALLS = frozenset({"map", "filter", "zip", "enumerate", "reversed", "iter"})
RUNNERS = frozenset({"run", "run_until_complete"})
INSTANCE_CALLS = frozenset(
    {
        *("abs", "bool", "bytes", "complex", "dict", "float", "format", "hasattr", "hash", "int", "isinstance", "iter"),
        *("len", "list", "repr", "round", "set", "sorted", "str", "sum", "tuple"),
    }
)
"""Built-in functions that ask an instance: for a class under test, they are calls of its methods."""

HIGHER_ORDER = frozenset({"filter", "map", "max", "min", "sorted"})
"""The built-in functions that call a function they are given."""


REFERRING = (ast.Compare, ast.BoolOp, ast.IfExp, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.Lambda)
"""Expressions whose parts are still the objects themselves; others compute a value of their own at once."""


class _DependentError(RejectedError):
    """An observation reads a variable of a comprehension or lambda around it."""


@dataclass
class Extraction:
    """Pulls the observations out of expressions, in the order of evaluation.

    `calls` are the observations; in what `lift` returns, the i-th is written `_i`. `values` are names whose values were
    lifted before, as expressions over those.
    """

    scope: Scope
    entry_is_class: bool
    values: Mapping[str, ast.expr] = field(default_factory=dict)
    calls: list[ast.expr] = field(default_factory=list)
    hit: bool = False
    _names: dict[str, int] = field(default_factory=dict)
    _bound: list[set[str]] = field(default_factory=list)
    _touched: set[str] = field(default_factory=set)
    _changing: set[str] = field(default_factory=set)
    _derived: int = 0

    def lift(self, node: ast.expr) -> ast.expr:
        """The expression over `_i`. Raises RejectedError where it cannot be written so."""
        return self._visit(node)

    # -- what is an observation ---------------------------------------------------------------------------------------

    def is_observation(self, node: ast.expr) -> bool:  # noqa: PLR0911  (one line per kind of node)
        """Whether the expression as a whole must be evaluated where the candidate is."""
        match node:
            case ast.Name(id=name):
                return self._is_live(name)
            case ast.Call():
                return self._is_observed_call(node)
            case ast.Attribute(value=value, attr=attr):
                if isinstance(value, ast.Name) and value.id == self.scope.entry_point:
                    return True
                if self.entry_is_class or attr not in DATA_ATTRIBUTES:
                    return self.is_observation(_stem(value))
                return False
            case ast.Subscript(value=value):
                return self.entry_is_class and self.is_observation(value)
            case ast.Compare(left=left, ops=ops, comparators=[right]):
                return self._is_observed_comparison(left, ops[0], right)
            case ast.BinOp(left=left, right=right):
                return self._is_instance(left) or self._is_instance(right)
            case _:
                return False

    def _is_live(self, name: str) -> bool:
        if any(name in bound for bound in self._bound) or name in self.values:
            return False
        # `f(xs) == xs` compares with what the call made of the list, but in `sorted(xs) == f(xs)` it is sorted before
        changed = name in self._touched or (name in self._changing and not self._derived)
        return changed or self.scope.is_live((name,))

    def _is_observed_call(self, call: ast.Call) -> bool:
        arguments = [*call.args, *(k.value for k in call.keywords)]
        match call.func:
            case ast.Name(id="next" | "islice") if call.args and self.is_observation(call.args[0]):
                return True  # it advances the iterator, which only the process that holds it can do
            case ast.Name(id="list") if len(call.args) == 1 and _is_iterator(call.args[0]):
                return self.is_observation(call.args[0])
            case ast.Name(id=name) if self.entry_is_class and name in INSTANCE_CALLS and name not in self.scope.bound:
                return any(self._is_instance(a) for a in call.args)
            case ast.Attribute(attr=attr) if attr in RUNNERS and any(self._mentions_hit(a) for a in arguments):
                return True
        if self.is_observation(call.func):
            return True
        built_in = isinstance(call.func, ast.Name) and call.func.id in BUILTINS - self.scope.bound - HIGHER_ORDER
        return not built_in and any(self._is_function(a) for a in arguments)

    def _is_observed_comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        """Identity does not survive the way out of a process, nor do the operators of a class under test."""
        if isinstance(op, ast.Is | ast.IsNot):
            singleton = any(isinstance(side, ast.Constant) and not _is_number(side.value) for side in (left, right))
            return not singleton and (self._mentions_live(left) or self._mentions_live(right))
        return self._is_instance(left) or self._is_instance(right)

    def _is_instance(self, node: ast.expr) -> bool:
        """Whether the value is an instance of the class under test."""
        if not self.entry_is_class:
            return False
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name == self.scope.entry_point
            case ast.Name(id=name):
                return name in self.scope.instances
            case ast.BinOp(left=left, right=right):
                return self._is_instance(left) or self._is_instance(right)
            case _:
                return False

    def _is_function(self, node: ast.expr) -> bool:
        """Whether the argument is the entry point itself, or a function of the suite that calls it."""
        if not isinstance(node, ast.Name):
            return False
        if node.id == self.scope.entry_point:
            return True
        return self._is_live(node.id) and any(
            isinstance(step.node, ast.FunctionDef) and step.node.name == node.id for step in self.scope.steps
        )

    def _mentions_live(self, node: ast.expr) -> bool:
        return any(self._is_live(name) for name in free_names(node))

    def _mentions_hit(self, node: ast.expr) -> bool:
        return self.scope.is_hit(free_names(node))

    # -- rewriting ----------------------------------------------------------------------------------------------------

    def _visit(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name) and node.id in self.values and not any(node.id in b for b in self._bound):
            return substitute(node, self.values)
        if self.is_observation(node):
            return self._observe(node)
        if isinstance(node, COMPREHENSIONS):
            return self._comprehension(node)
        if isinstance(node, ast.Lambda):
            return self._inside(node, set(parameters(node)))
        return self._children(node)

    def _children(self, node: ast.expr) -> ast.expr:
        rewritten = copy.copy(node)
        derives = not isinstance(node, REFERRING)
        outer = self._changing
        if isinstance(node, ast.Compare):
            self._changing = outer | self._changed_inside(node)
        self._derived += derives
        for name, value in ast.iter_fields(node):
            setattr(rewritten, name, self._field(value))
        self._derived -= derives
        self._changing = outer
        return rewritten

    def _field(self, value: object) -> object:
        if isinstance(value, ast.expr):
            return self._visit(value)
        if isinstance(value, list):
            return [self._field(v) for v in value]
        if isinstance(value, ast.comprehension) and self._is_instance(value.iter):
            listed = ast.Call(ast.Name("list", ast.Load()), [value.iter], [])
            value = ast.comprehension(value.target, listed, value.ifs, value.is_async)
        if isinstance(value, ast.keyword | ast.comprehension | ast.arguments):
            part = copy.copy(value)
            for name, inner in ast.iter_fields(value):
                setattr(part, name, self._field(inner))
            return part
        return value

    def _observe(self, node: ast.expr) -> ast.expr:
        names = free_names(node)
        if any(names & bound for bound in self._bound):
            raise _DependentError("a call depends on a variable of the expression around it")
        if isinstance(node, ast.Name):
            if node.id == self.scope.entry_point:
                raise RejectedError("it mentions the entry point without calling it", Validity.OFF_TARGET)
            if node.id in self._names:
                return _placeholder(self._names[node.id])
            self._names[node.id] = len(self.calls)
        self._refuse_strangers(node)
        self.hit = self.hit or self._calls_entry_point(node) or not (self._touched | self._changing).isdisjoint(names)
        self._touched |= self.scope.changed_by(node)
        self.calls.append(node)
        placeholder = _placeholder(len(self.calls) - 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ITERATOR_CALLS:
            self.calls[-1] = ast.Call(ast.Name("list", ast.Load()), [node], [])  # an iterator is no data
        return placeholder

    def _calls_entry_point(self, node: ast.expr) -> bool:
        """Whether the observation comes from a call of the entry point, rather than from asking what it is."""
        if not self.scope.hits.isdisjoint(free_names(node)):
            return True
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        if self.entry_is_class and any(root_name(c) == self.scope.entry_point for c in calls):
            return True
        arguments = [a for c in calls for a in (c.func, *c.args, *(k.value for k in c.keywords))]
        return any(isinstance(a, ast.Name) and a.id == self.scope.entry_point for a in arguments)

    def _changed_inside(self, node: ast.expr) -> set[str]:
        """Names that the calls of the entry point in the expression get as arguments and could change in place."""
        found: set[str] = set()
        queue: list[ast.AST] = [node]
        while queue:
            current = queue.pop()
            if isinstance(current, ast.Call) and self._mentions_hit(current) and self.is_observation(current):
                found |= self.scope.changed_by(current)
            else:
                queue += ast.iter_child_nodes(current)
        return found

    def _refuse_strangers(self, node: ast.expr) -> None:
        """A function that only the solution can define must not stand around a call: it would judge its own result."""
        match node:
            case ast.Call(func=ast.Name(id=name)) if self.scope.unknown([name]):
                if any(self._mentions_hit(a) for a in [*node.args, *(k.value for k in node.keywords)]):
                    raise RejectedError(f"nothing defines the function {name!r}")

    def _inside(self, node: ast.expr, names: set[str]) -> ast.expr:
        self._bound.append(names)
        try:
            return self._children(node)
        finally:
            self._bound.pop()

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
        before = len(self.calls), dict(self._names)
        try:
            return self._inside(node, bound_names(generator.target for generator in node.generators))
        except _DependentError:
            del self.calls[before[0] :]
            self._names = before[1]
        return self._visit(_written_out(node, self.scope))


def _stem(node: ast.expr) -> ast.expr:
    """What attributes and subscripts are read from."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node


def _is_iterator(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("filter", "map")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex | str | bytes) and not isinstance(value, bool)


def _placeholder(index: int) -> ast.expr:
    return ast.Name(f"_{index}", ast.Load())


def _written_out(node: ast.expr, scope: Scope) -> ast.expr:
    """A comprehension over literals as a display of its elements."""
    assert isinstance(node, COMPREHENSIONS)
    results = [ast.Tuple([node.key, node.value]) if isinstance(node, ast.DictComp) else node.elt]
    for at, generator in reversed(list(enumerate(node.generators))):
        if generator.ifs or generator.is_async:
            raise RejectedError("a call depends on a comprehension with a condition")
        if bound_names(g.target for g in node.generators[:at]) & free_names(generator.iter):
            raise RejectedError("a call depends on nested loops of one comprehension")
        values = iteration_values(generator.iter, scope)
        if values is None or len(values) * len(results) > MAX_UNROLLED:
            raise RejectedError(f"a call depends on a comprehension over other than at most {MAX_UNROLLED} literals")
        bindings = [match_target(generator.target, value) for value in values]
        if None in bindings:
            raise RejectedError("a call depends on a comprehension whose values do not fit its variables")
        results = [substitute(result, b) for b in bindings if b is not None for result in results]
    match node:
        case ast.SetComp():
            return ast.Set(results) if results else ast.Call(ast.Name("set", ast.Load()), [], [])
        case ast.DictComp():
            pairs = [r.elts for r in results if isinstance(r, ast.Tuple)]
            return ast.Dict([k for k, _ in pairs], [v for _, v in pairs])
        case _:
            return ast.List(results, ast.Load())
