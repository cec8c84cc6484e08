"""The straight-line statements that stand before an assert, and the slice of them that it depends on."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from code_a1.assertions.names import (
    BUILTINS,
    COMMON_IMPORTS,
    bound_names,
    changed_names,
    exposed_names,
    free_names,
    is_immutable_literal,
    is_literal,
)

STATEFUL_MODULES = frozenset({"random", "np", "numpy"})
"""Modules whose functions leave something behind that later calls depend on (`random.seed`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A statement with what it reads, binds and may change in place.

    `replaces` says that the statement gives its names new values whatever they held. `live` says that it must run where
    the candidate is: it reads the entry point, a name that only the solution can define, or what came from either.
    """

    node: ast.stmt
    uses: frozenset[str]
    binds: frozenset[str]
    changes: frozenset[str]
    replaces: bool
    live: bool

    @property
    def assigned_name(self) -> str | None:
        """The name, if the statement is `name = value`."""
        match self.node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name
            case _:
                return None


class Scope:
    """What has run before a point of the suite.

    `live` names hold values that exist only where the candidate is; `hits` are those that come from the entry point;
    `frozen` names hold constants and modules, which no call can change. `declared` are names that the suite binds
    somewhere, so that a function may use them before.
    """

    def __init__(self, entry_point: str, declared: Collection[str] = ()) -> None:
        self.entry_point = entry_point
        self.declared = frozenset(declared)
        self.steps: list[Step] = []
        self.live: set[str] = set()
        self.hits: set[str] = set()
        self.frozen: set[str] = set()
        self.bound: set[str] = set()
        self.instances: set[str] = set()
        self.entry_changed = False
        self._aliases: dict[str, frozenset[str]] = {}

    def child(self, declared: Iterable[str] = ()) -> Scope:
        """A scope that continues here without affecting this one, such as a function's."""
        scope = Scope(self.entry_point, self.declared.union(declared))
        scope.steps = list(self.steps)
        for name in ("live", "hits", "frozen", "bound", "instances"):
            setattr(scope, name, set(getattr(self, name)))
        scope.entry_changed = self.entry_changed
        scope._aliases = dict(self._aliases)
        return scope

    @property
    def shadowed(self) -> bool:
        """Whether the suite gave the entry point's name a meaning of its own."""
        return self.entry_point in self.bound

    def add(self, node: ast.stmt) -> None:
        """Append a statement."""
        self.import_common(node)
        uses = free_names(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            uses.discard(node.name)  # it may call itself
        binds = bound_names([node])
        self._note_aliases(node, binds)
        changes = self.with_aliases(changed_names(node) - self.frozen)
        live = self.is_live(uses)
        step = Step(node, frozenset(uses), frozenset(binds), frozenset(changes), _replaces(node), live)
        self.steps.append(step)
        self._propagate(step)

    def add_calls(self, calls: Iterable[ast.expr]) -> None:
        """Append what an assert evaluated, for the sake of what it may have changed."""
        for call in calls:
            if changed_names(call) - self.frozen:
                self.add(ast.Expr(call))

    def import_common(self, node: ast.AST) -> None:
        """Import what the node uses, the suite forgot to import and has only one likely meaning."""
        for name in sorted(self.unknown(free_names(node)) & COMMON_IMPORTS.keys()):
            self.add(ast.parse(COMMON_IMPORTS[name]).body[0])

    def unknown(self, names: Iterable[str]) -> set[str]:
        """Names that nothing in the suite defines: only the solution can."""
        return set(names) - BUILTINS - self.bound - self.declared - {self.entry_point}

    def is_live(self, names: Collection[str]) -> bool:
        """Whether an expression over `names` must be evaluated where the candidate is."""
        return self.entry_point in names or not self.live.isdisjoint(names) or bool(self.unknown(names))

    def is_hit(self, names: Collection[str]) -> bool:
        """Whether an expression over `names` depends on the entry point."""
        return self.entry_point in names or not self.hits.isdisjoint(names)

    def changed_by(self, node: ast.AST) -> set[str]:
        """Names of the suite whose objects the node may change in place."""
        return self.with_aliases(changed_names(node) - self.frozen) & self.bound

    def steps_after(self, step: Step) -> list[Step]:
        """What runs between a step and this point."""
        return self.steps[self.steps.index(step) + 1 :]

    def slice(self, names: Collection[str], without: Collection[Step] = ()) -> list[Step]:
        """The steps that the values of `names` depend on, in order; what a function reads may be bound after it."""
        late: set[str] = set()
        while True:
            needed = late.union(names)
            picked: list[Step] = []
            for step in reversed(self.steps):
                if step in without or (needed.isdisjoint(step.binds) and needed.isdisjoint(step.changes)):
                    continue
                picked.append(step)
                if step.replaces:
                    needed -= step.binds
                needed |= step.uses
            found = {name for step in picked if _runs_later(step.node) for name in step.uses}
            if found <= late:
                return picked[::-1]
            late |= found

    def literal(self, name: str) -> ast.expr | None:
        """The literal that `name` stands for, if one assignment and nothing else made it."""
        steps = self.slice([name])
        if len(steps) == 1 and steps[0].assigned_name == name:
            value = steps[0].node.value  # type: ignore[attr-defined]
            if is_literal(value):
                return value  # type: ignore[no-any-return]
        return None

    def _propagate(self, step: Step) -> None:
        reached = step.binds | step.changes
        if step.live:
            self.live |= reached
        elif step.replaces:
            self.live -= step.binds
        if self.is_hit(step.uses):
            self.hits |= reached
        elif step.replaces:
            self.hits -= step.binds
        self.entry_changed = self.entry_changed or self.entry_point in step.changes
        self.frozen -= step.binds
        self.bound |= step.binds
        match step.node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_immutable_literal(value):
                self.frozen.add(name)
            case ast.Import() | ast.ImportFrom():
                self.frozen |= step.binds - STATEFUL_MODULES
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=self.entry_point))):
                self.instances.add(name)

    def with_aliases(self, names: set[str]) -> set[str]:
        """The names, and all others that may stand for the same objects or for parts of them."""
        found, queue = set(names), list(names)
        while queue:
            new = self._aliases.get(queue.pop(), frozenset()) - found
            found |= new
            queue += new
        return found

    def _note_aliases(self, node: ast.stmt, binds: set[str]) -> None:
        """Note that after `b = a`, `b = [a]` or `for b in a` a change of one is a change of the other."""
        same = exposed_names(node.value) if isinstance(node, ast.Assign) else set()  # `a = a`
        for name in binds - same if _replaces(node) else ():
            for other in self._aliases.pop(name, frozenset()):
                self._aliases[other] -= {name}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        for inner in ast.walk(node):
            match inner:
                case ast.Assign(targets=targets, value=value):
                    bound = bound_names(targets)
                case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.For(target=target, iter=value):
                    bound = bound_names([target])
                case _:
                    continue
            shared = exposed_names(value) - self.frozen - bound
            for name in bound:
                for other in shared:
                    self._aliases[name] = self._aliases.get(name, frozenset()) | {other}
                    self._aliases[other] = self._aliases.get(other, frozenset()) | {name}


def _replaces(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=targets):
            return all(isinstance(t, ast.Name | ast.Tuple | ast.List) for t in targets)
        case ast.AnnAssign(value=value):
            return value is not None and isinstance(node.target, ast.Name)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return True
        case _:
            return False


def _runs_later(node: ast.stmt) -> bool:
    """Whether the statement defines code that reads its names when it is called."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return True
    return any(isinstance(n, ast.Lambda) for n in ast.walk(node))


def source_of(steps: Sequence[Step]) -> list[ast.stmt]:
    """The statements of a slice."""
    return [step.node for step in steps]
