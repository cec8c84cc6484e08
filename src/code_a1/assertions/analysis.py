"""One assert with the statements before it → `TestCase`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from code_a1.assertions.judgement import judges, refuse_reach, with_predicates
from code_a1.assertions.names import free_names, is_immutable_literal, is_literal
from code_a1.assertions.observations import Extraction
from code_a1.assertions.parsing import compiles, to_text
from code_a1.assertions.rejection import RejectedError
from code_a1.assertions.scope import Scope, Step, source_of
from code_a1.assertions.unrolling import refuse_large, substitute
from code_a1.records import TestCase, Validity

MAX_TEST_CHARS = 100_000
"""Characters of one test's statements and calls together."""

MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Is: ast.Is,
    ast.IsNot: ast.IsNot,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
"""The operator that means the same with its sides exchanged."""
NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
"""The operator that holds for data exactly where the other does not (`<` has none: of 1 and nan none is smaller)."""


def read_test(test: ast.expr, source: str, scope: Scope, *, entry_is_class: bool) -> tuple[TestCase, list[ast.expr]]:
    """The test, and what it evaluates besides the statements of the scope. Raises RejectedError with the reason."""
    _refuse(test)
    if scope.shadowed:
        raise RejectedError("the suite defines the entry point itself", Validity.OFF_TARGET)
    scope.import_common(test)
    test = with_predicates(test, scope)
    lifted = _liftable(test, scope, entry_is_class=entry_is_class)
    values: dict[str, ast.expr] = {}
    extraction = Extraction(scope, entry_is_class, values)
    for step in lifted:
        name = step.assigned_name
        assert name is not None
        values[name] = extraction.lift(step.node.value)  # type: ignore[attr-defined]
        refuse_large(values[name])
    n_lifted = len(extraction.calls)
    form = extraction.lift(test)
    if not extraction.hit:
        raise RejectedError("it never calls the entry point", Validity.OFF_TARGET)
    form, expected = _normalised(form, len(extraction.calls))
    # beside an expected answer the form holds nothing but `_0` and `expected`
    form_steps, written = _inlined_form(form if expected is None else expected, scope)
    steps, calls = _inlined_calls(extraction.calls, scope, lifted)
    refuse_reach([*calls, *source_of(steps)])
    case = TestCase(
        source=source,
        calls=tuple(to_text(call) for call in calls),
        form=to_text(form if expected is not None else written),
        expected=to_text(written) if expected is not None else None,
        prelude=_program(steps),
        form_prelude=_program(form_steps),
    )
    _check(case)
    return case, extraction.calls[n_lifted:]


def _check(case: TestCase) -> None:
    """Raise RejectedError for a test that is too large or that Python would not run."""
    if len(case.prelude) + len(case.form_prelude) + sum(map(len, case.calls)) > MAX_TEST_CHARS:
        raise RejectedError(f"it needs more than {MAX_TEST_CHARS} characters of statements before it")
    expressions = [*case.calls, case.form] if case.expected is None else [*case.calls, case.form, case.expected]
    if not all(compiles(e, "eval") for e in expressions):
        raise RejectedError("Python does not accept its expressions")
    if not all(compiles(p, "exec") for p in (case.prelude, case.form_prelude) if p):
        raise RejectedError("Python does not accept the statements before it")


def _refuse(test: ast.expr) -> None:
    """What has no meaning outside its place: assignments, suspended execution, tuples that are always true."""
    if isinstance(test, ast.Tuple):
        raise RejectedError("a tuple is always true" if test.elts else "an empty tuple is always false")
    for node in ast.walk(test):
        match node:
            case ast.NamedExpr():
                raise RejectedError("it assigns a name inside the assert")
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                raise RejectedError("it awaits or yields inside the assert")
            case ast.Name(id=name) if name.startswith("_") and name[1:].isdecimal():
                raise RejectedError(f"the name {name} is taken")


def _liftable(test: ast.expr, scope: Scope, *, entry_is_class: bool) -> list[Step]:
    """Assignments `name = value` whose value can be taken into the assert, so that results are judged there.

    Not if the name is needed in the candidate's process, or if a statement that stays there could tell the difference.
    """
    used = free_names(test)
    steps = scope.slice(used)
    pinned = _pinned(test, scope, entry_is_class)
    if entry_is_class:
        pinned |= scope.instances
    lifted: list[Step] = []
    kept: list[Step] = []
    for step in reversed(steps):
        name = step.assigned_name
        movable = step.live and name in used and name not in pinned
        movable = movable and not any(k.live or name in k.uses for k in kept)
        if movable and not _interferes(scope.steps_after(step), step, lifted):
            value = step.node.value  # type: ignore[attr-defined]
            lifted.append(step)
            used |= free_names(value)
            pinned |= _pinned(value, scope, entry_is_class)
        else:
            kept.append(step)
            if step.live:
                pinned |= step.uses
                if judges(step.node, scope):
                    raise RejectedError(f"{_one_line(step.node)!r} judges the result before the assert")
    return lifted[::-1]


def _interferes(later: list[Step], step: Step, lifted: list[Step]) -> bool:
    """Whether a step that stays in place changes what the moved one reads, or its result."""
    read = step.uses | step.binds
    return any(not read.isdisjoint(s.binds | s.changes) for s in later if s not in lifted)


def _pinned(node: ast.expr, scope: Scope, entry_is_class: bool) -> set[str]:
    """Names that observations of the expression read, other than as the whole observation."""
    probe = Extraction(scope, entry_is_class)
    found: set[str] = set()
    queue: list[ast.AST] = [node]
    while queue:
        current = queue.pop()
        if isinstance(current, ast.expr) and not isinstance(current, ast.Name) and probe.is_observation(current):
            found |= free_names(current)
        else:
            queue += ast.iter_child_nodes(current)
    return found


def _normalised(form: ast.expr, n_calls: int) -> tuple[ast.expr, ast.expr | None]:
    """Form and expected answer: a comparison of the one result with something else has both, anything else a form."""
    match form:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[op], comparators=[right])) if (
            type(op) in NEGATED
        ):
            return _normalised(ast.Compare(left, [NEGATED[type(op)]()], [right]), n_calls)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if n_calls == 1:
            expected = ast.Name("expected", ast.Load())
            if _is_result(left) and "_0" not in free_names(right):
                return ast.Compare(left, [op], [expected]), right
            if _is_result(right) and "_0" not in free_names(left):
                if type(op) in MIRRORED:
                    return ast.Compare(right, [MIRRORED[type(op)]()], [expected]), left
                return ast.Compare(expected, [op], [right]), left
    return form, None


def _is_result(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "_0"


def _inlined_form(node: ast.expr, scope: Scope) -> tuple[list[Step], ast.expr]:
    """What the expression needs before it, after names that stand for literals were replaced by them."""
    values: dict[str, ast.expr] = {}
    for name in sorted(free_names(node) & scope.bound):
        literal = scope.literal(name)
        if literal is not None and (_occurrences(name, [node]) == 1 or _is_short(literal)):
            values[name] = literal
    node = substitute(node, values)
    return scope.slice(free_names(node)), node


def _inlined_calls(
    calls: Sequence[ast.expr], scope: Scope, lifted: Sequence[Step]
) -> tuple[list[Step], list[ast.expr]]:
    """The prelude of the calls, after names that stand for literals were replaced by them: one call, one spelling."""
    names = {name for call in calls for name in free_names(call)}
    steps = scope.slice(names, without=lifted)
    values: dict[str, ast.expr] = {}
    for step in steps:
        name = step.assigned_name
        others = [s for s in steps if s is not step]
        if name is None or name not in names or any(name in s.uses | s.binds | s.changes for s in others):
            continue
        value = step.node.value  # type: ignore[attr-defined]
        once = _occurrences(name, calls) == 1 and not any(_repeats(call) for call in calls)
        if is_literal(value) and (once or (is_immutable_literal(value) and _is_short(value))):
            values[name] = value
    kept = [s for s in steps if s.assigned_name not in values]
    return kept, [substitute(call, values) for call in calls]


def _occurrences(name: str, nodes: Sequence[ast.AST]) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for node in nodes for n in ast.walk(node))


def _is_short(node: ast.expr) -> bool:
    """Whether a constant may be written out wherever its name stands."""
    if not isinstance(node, ast.Constant):
        return False
    if isinstance(node.value, int):
        return node.value.bit_length() <= 256
    return not isinstance(node.value, str | bytes) or len(node.value) <= 100


def _repeats(node: ast.expr) -> bool:
    """Whether a part of the expression is evaluated more than once, or later."""
    return any(isinstance(n, ast.Lambda | ast.comprehension) for n in ast.walk(node))


def _program(steps: list[Step]) -> str:
    return "\n".join(to_text(node) for node in source_of(steps))


def _one_line(node: ast.AST) -> str:
    return to_text(node).partition("\n")[0][:80]
