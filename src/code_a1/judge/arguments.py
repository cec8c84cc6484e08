"""Arguments as data: what a test computes before its call runs where neither a candidate nor the reference is.

`f(os.getpid() % 2)` could be one call on the reference and another on a candidate, `f(case["in"])` would bring
`case["out"]` along, and `f(slow())` would spend a candidate's time. So everything but literals is evaluated once, in a
clean process, and the call is written out with what came of it: `f(1)`. In-place changes are carried back to where the
test looks at them. Where arguments are no plain data (functions, instances), the call stays as it is, and
`code_a1.judge.reach` says whether that is allowed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from code_a1.assertions.names import BUILTINS, bound_names, free_names
from code_a1.assertions.parsing import parse_expression, parse_module, to_text
from code_a1.assertions.unrolling import substitute
from code_a1.judge.values import NotWritable, in_place, is_mutable, written
from code_a1.records import TestCase
from code_a1.sandbox.programs import Call

_STRINGS = re.compile(r"""\bb?'(?:[^'\\]|\\.)*'|\bb?"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_ATOMS = re.compile(r"\b(?:True|False|None|set\(\)|float\(0\)|0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?j?)(?!\w)")
_KEYWORDS = re.compile(r"(?<=[(\s])[A-Za-z_]\w*=(?!=)")
_NOT_DATA = re.compile(r"[^\s,\[\](){}:0-]|--|[\])}0]\s*[\[(]|[\])}0]\s+-")
"""After literals became zeros: a sign of anything but displays, or a call, a subscript or a subtraction."""

RECORDER = """
def _record_(*calls):
    plain = {"NoneType", "bool", "int", "float", "complex", "str", "bytes", "ellipsis", "range", "Decimal", "Fraction",
             "date", "datetime", "time", "timedelta", "timezone"}
    containers = {"list", "set", "dict", "bytearray", "deque", "Counter", "OrderedDict", "tuple", "frozenset"}
    seen = set()
    todo = [value for args, kwargs in calls for value in (*args, *kwargs.values())]
    while todo:
        value = todo.pop()
        kind = type(value).__name__
        if type(value).__module__ not in ("builtins", "collections", "decimal", "fractions", "datetime"):
            raise TypeError("an argument that is no plain data")
        if kind in plain:
            continue
        if kind not in containers:
            raise TypeError("an argument that is no plain data")
        if kind not in ("tuple", "frozenset"):
            if id(value) in seen:
                raise TypeError("two arguments share an object")
            seen.add(id(value))
        todo += [*value, *value.values()] if isinstance(value, dict) else value
    return calls
"""
"""Returns the arguments of calls, or raises TypeError where writing them out would change what the test means."""


def is_data(call: str, entry_point: str) -> bool:
    """Whether the text is a call of the entry point on literals; False where it takes a closer look to say."""
    if not (call.startswith(entry_point) and call[len(entry_point) : len(entry_point) + 1] == "(" and call[-1] == ")"):
        return False
    inside = _ATOMS.sub("0", _KEYWORDS.sub("", _STRINGS.sub("0", call[len(entry_point) :])))
    return _NOT_DATA.search(inside) is None


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be recorded of one test, and how its parts are put together again.

    `ignored` calls stand in the prelude: what they return does not matter.
    """

    test: TestCase
    prelude: str
    calls: tuple[ast.Call, ...]
    ignored: int
    observations: tuple[tuple[int, str], ...]
    simple: bool
    """The test can stay as it is: nothing but literals gets names, and those are arguments."""

    def recording(self) -> Call:
        """The arguments of all calls, evaluated in order."""
        parts = [
            to_text(ast.Call(parse_expression("lambda *a, **k: (a, k)"), call.args, call.keywords))
            for call in self.calls
        ]
        return Call((f"_record_({', '.join(parts)})",), prelude=self.prelude)

    def frozen(self, recorded: Sequence[Any]) -> TestCase:
        """The test with the recorded arguments. Raises NotWritable where it has to stay as it is."""
        writing = _Writing(bool(self.observations))
        texts = [writing.call(call, args, kwargs) for call, (args, kwargs) in zip(self.calls, recorded, strict=True)]
        results = texts[self.ignored :]
        if not self.observations and not self.ignored:
            return replace(self.test, calls=tuple(results), prelude=writing.prelude())
        if len(texts) > 1 and writing.variables:
            raise NotWritable("several calls, and something that they change")
        ran = [f"({text}, None)[1]" for text in texts[: self.ignored]]
        return self._observed(writing, [*ran, *results])

    def _observed(self, writing: _Writing, calls: list[str]) -> TestCase:
        """What the test looks at is made anew beside its form, and what the call changed of it is put there."""
        test = self.test
        seen = dict(self.observations)
        names: dict[str, ast.expr] = {}
        results = iter(range(self.ignored, len(calls)))
        for i in range(len(test.calls)):
            names[f"_{i}"] = parse_expression(seen[i]) if i in seen else ast.Name(f"_{next(results)}", ast.Load())
        before = [test.form_prelude, self.prelude] if self.prelude not in test.form_prelude else [test.form_prelude]
        before += writing.computed
        before += [in_place(path, f"_{len(calls) + n}", value) for n, (path, _, value) in enumerate(writing.variables)]
        return replace(
            test,
            calls=(*calls, *(name for _, name, _ in writing.variables)),
            prelude=writing.prelude(),
            form=to_text(substitute(parse_expression(test.form), names)),
            form_prelude="\n".join(filter(None, before)),
        )


class _Writing:
    """Writes calls with values for arguments; what can change, and is looked at afterwards, becomes a variable."""

    def __init__(self, observed: bool) -> None:
        self.observed = observed
        self.modules: set[str] = set()
        self.variables: list[tuple[str, str, Any]] = []
        self.assigned: list[str] = []
        self.computed: list[str] = []
        """Arguments whose evaluation may have changed what is looked at."""

    def call(self, call: ast.Call, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
        if starred and self.observed and any(map(is_mutable, (*args, *kwargs.values()))):
            raise NotWritable("unpacked arguments that may change")
        nodes = dict(zip(range(len(args)), call.args, strict=False)) if not starred else {}
        named = {k.arg: k.value for k in call.keywords if k.arg is not None} if not starred else {}
        parts = [self._argument(value, nodes.get(i)) for i, value in enumerate(args)]
        parts += [f"{name}={self._argument(value, named.get(name))}" for name, value in kwargs.items()]
        return f"{to_text(call.func)}({', '.join(parts)})"

    def _argument(self, value: Any, node: ast.expr | None) -> str:
        text = written(value, self.modules)
        if not self.observed or node is None:
            return text
        if not (_is_path(node) or _is_literal(node)):
            self.computed.append(to_text(node))
        if not is_mutable(value):
            return text
        if not _is_path(node):
            if any(isinstance(n, ast.Name) for n in ast.walk(node)):
                raise NotWritable("an argument whose changes cannot be followed")
            return text
        name = f"_a{len(self.variables)}"
        self.variables.append((to_text(node), name, value))
        self.assigned.append(f"{name} = {text}")
        return name

    def prelude(self) -> str:
        return "\n".join([*(f"import {module}" for module in sorted(self.modules)), *self.assigned])


def _is_path(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Subscript(value=value, slice=ast.Constant()) | ast.Attribute(value=value):
            return _is_path(value)
        case _:
            return False


def is_settled(test: TestCase, entry_point: str) -> bool:
    """Whether nothing but literals reaches the calls, told in a hurry."""
    return test.kind != "assert" or (not test.prelude and all(is_data(call, entry_point) for call in test.calls))


def plan(test: TestCase, entry_point: str) -> Plan | None:
    """How to write out the arguments of a test that is not settled; None where there is no way to do it."""
    try:
        statements = parse_module(test.prelude)
        nodes = [parse_expression(call) for call in test.calls]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    count = len(statements)
    statements, nodes = _without_aliases(statements, nodes, entry_point)
    renamed = len(statements) < count
    before, ignored = _without_calls(statements, entry_point)
    calls = [node for node in nodes if isinstance(node, ast.Call) and _is_call(node, entry_point)]
    observations = [(i, to_text(node)) for i, node in enumerate(nodes) if not _is_call(node, entry_point)]
    if _mentions(before, entry_point) or _mentions([n for n in nodes if n not in calls], entry_point):
        return None
    known = bound_names(before) | BUILTINS
    if not (calls or ignored) or any(free_names(n) - known for n in nodes if n not in calls):
        return None
    prelude = "\n".join(map(to_text, before))
    all_calls = (*ignored, *calls)
    simple = not renamed and _is_simple(before, all_calls, observations)
    return Plan(test, prelude, all_calls, len(ignored), tuple(observations), simple)


def _without_aliases(
    statements: list[ast.stmt], nodes: list[ast.expr], entry_point: str
) -> tuple[list[ast.stmt], list[ast.expr]]:
    """The same with the entry point under its own name, where the test gave it another one for good."""
    bound = Counter(name for statement in statements for name in bound_names([statement]))
    aliases: dict[str, ast.expr] = {}
    kept: list[ast.stmt] = []
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=value)) if bound[name] == 1:
                if value == entry_point or value in aliases:
                    aliases[name] = ast.Name(entry_point, ast.Load())
                    continue
        kept.append(statement)
    return [substitute(s, aliases) for s in kept], [substitute(n, aliases) for n in nodes]


def _without_calls(statements: list[ast.stmt], entry_point: str) -> tuple[list[ast.stmt], list[ast.Call]]:
    """The statements, and the calls of the entry point that stand behind them, as statements of their own."""
    before = list(statements)
    calls: list[ast.Call] = []
    while before and isinstance(last := before[-1], ast.Expr) and isinstance(last.value, ast.Call):
        if not _is_call(last.value, entry_point):
            break
        calls.insert(0, last.value)
        before.pop()
    return before, calls


def _is_call(node: ast.expr, entry_point: str) -> bool:
    """Whether it is a call of the entry point whose arguments do not mention the entry point."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == entry_point
        and not _mentions([*node.args, *(k.value for k in node.keywords)], entry_point)
    )


def _mentions(nodes: Sequence[ast.AST], name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for node in nodes for n in ast.walk(node))


def _is_simple(before: list[ast.stmt], calls: Sequence[ast.Call], observations: list[tuple[int, str]]) -> bool:
    """Whether literals get names, and nothing else: each is an argument as a whole, so there is nothing to hide."""
    named: set[str] = set()
    for statement in before:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_literal(value):
                named.add(name)
            case _:
                return False
    passed: set[str] = set()
    if any(k.arg is None for call in calls for k in call.keywords):
        return False
    for call in calls:
        for argument in (*call.args, *(k.value for k in call.keywords)):
            if isinstance(argument, ast.Name):
                passed.add(argument.id)
            elif not _is_literal(argument):
                return False
    return named == passed and all(text in named for _, text in observations)


def _is_literal(node: ast.expr) -> bool:
    """Whether it is a literal, and written as literals are."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return not any(
        isinstance(n, ast.BinOp) or (isinstance(n, ast.UnaryOp) and not _is_negative(n)) for n in ast.walk(node)
    )


def _is_negative(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)


@lru_cache(maxsize=4096)
def _parameters(source: str, entry_point: str) -> tuple[tuple[str, str | None], ...] | None:
    """Names and literal defaults of the function's parameters; None where it has others than plain ones."""
    try:
        body = parse_module(source)
    except SyntaxError:
        return None
    found: ast.arguments | None = None
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry_point:
            found = node.args
    if found is None or found.vararg or found.kwarg or found.kwonlyargs:
        return None
    names = [argument.arg for argument in (*found.posonlyargs, *found.args)]
    defaults = [to_text(d) if _is_literal(d) else None for d in found.defaults]
    return tuple(zip(names, [None] * (len(names) - len(defaults)) + defaults, strict=True))


def same_call(test: TestCase, source: str, entry_point: str) -> tuple[object, ...]:
    """A key that is equal for tests that call the function of `source` alike, however they are written.

    Keywords take their places, defaults are filled in, and how often a call is repeated does not count.
    """
    if test.prelude:
        return (test.prelude, test.calls)
    parameters = _parameters(source, entry_point)
    defaults = bool(parameters and parameters[-1][1] is not None)
    keys = {_bound(call, parameters) if parameters and (defaults or "=" in call) else call for call in test.calls}
    return tuple(sorted(keys))


@lru_cache(maxsize=2048)
def by_place(call: str, source: str, entry_point: str, told: str) -> str:
    """The call with keywords in their places, where nothing that was `told` says what the parameters are called."""
    parameters = _parameters(source, entry_point)
    try:
        node = parse_expression(call)
    except SyntaxError:
        return call
    if parameters is None or not isinstance(node, ast.Call) or not node.keywords:
        return call
    rest = [name for name, _ in parameters][len(node.args) :]
    values = {k.arg: k.value for k in node.keywords}
    if list(values) != rest[: len(values)] and sorted(map(str, values)) != sorted(rest[: len(values)]):
        return call
    if all(re.search(rf"\b{re.escape(name)}\b", told) for name in values if name):
        return call
    node.args += [values[name] for name in rest[: len(values)]]
    node.keywords = []
    return to_text(node)


@lru_cache(maxsize=2048)
def _bound(call: str, parameters: tuple[tuple[str, str | None], ...]) -> str:
    try:
        node = parse_expression(call)
    except SyntaxError:
        return call
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return call
    names = [name for name, _ in parameters]
    values: dict[str, str] = {name: text for name, text in parameters if text is not None}
    given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
    if len(node.args) > len(names) or any(name not in names for name, _ in given):
        return call
    values |= {str(name): to_text(value) for name, value in given}
    return f"{to_text(node.func)}({', '.join(values.get(name, '') for name in names)})"
