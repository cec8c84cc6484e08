"""Work for the judge's benchmark: as many distinct programs and distinct calls as wanted, made from a few problems."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from code_a1.assertions import parse_assertions
from code_a1.errors import ProblemError
from code_a1.judge import Judge
from code_a1.judge.forms import show
from code_a1.problems import entry_is_class
from code_a1.records import Problem, TestCase, Validity
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Call, OutcomeKind, Program

MAX_SOURCE = 300
"""Longest call, in characters: what a test policy would write."""

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True, slots=True)
class Workload:
    """One problem with distinct programs for it and distinct asserts that hold on its reference."""

    problem: Problem
    programs: tuple[str, ...]
    asserts: tuple[str, ...]
    tests: tuple[TestCase, ...]
    """The same asserts, validated, with expected values."""


def make_workloads(
    sandbox: Sandbox, problems: Sequence[Problem], *, count: int, programs: int, calls: int, seed: int = 0
) -> list[Workload]:
    """`count` workloads of `programs` programs and `calls` asserts each; a problem is used again under another id.

    Calls vary the literals of the problem's own asserts; those on which the reference raises are thrown away, and so
    are programs that hang, whose time would be that of the limits. Problems whose arguments do not vary enough are left
    out. Raises ProblemError if none is left.
    """
    judge = Judge(sandbox)
    rng = random.Random(seed)  # noqa: S311 - a seeded choice, not cryptography
    usable: list[tuple[Problem, list[str], list[TestCase]]] = []
    for problem in problems:
        if entry_is_class(problem):
            continue
        found = _asserts(judge, problem, calls, rng)
        if len(found) >= calls:
            usable.append((problem, [text for text, _ in found[:calls]], [test for _, test in found[:calls]]))
        if len(usable) == count:
            break
    if not usable:
        raise ProblemError(f"no problem has arguments that can be varied into {calls} distinct calls")
    uses = -(-count // len(usable))
    made = [
        _without_hangs(sandbox, list(_programs(problem.reference_solution, 2 * uses * programs, rng)), problem, tests)
        for problem, _, tests in usable
    ]
    workloads = []
    for i in range(count):
        problem, asserts, tests = usable[i % len(usable)]
        own = made[i % len(usable)][i // len(usable) * programs :][:programs]
        named = Problem(
            f"{problem.problem_id}#{i}",
            problem.statement,
            problem.entry_point,
            # another text is another program to every cache
            f"{problem.reference_solution.rstrip()}\n# {i}\n",
            setup=problem.setup,
        )
        workloads.append(Workload(named, tuple(own), tuple(asserts), tuple(tests)))
    return workloads


def _asserts(judge: Judge, problem: Problem, wanted: int, rng: random.Random) -> list[tuple[str, TestCase]]:
    """Asserts with the reference's answers, for calls that it answers with plain data quickly enough."""
    own = [
        t for s in problem.reference_tests for t in parse_assertions(s, problem.entry_point) if isinstance(t, TestCase)
    ]
    seeds = [ast.parse(t.calls[0], mode="eval") for t in own if len(t.calls) == 1 and not t.prelude]
    if not seeds:
        return []
    calls: dict[str, None] = {}
    for _ in range(wanted * 12):
        call = ast.unparse(_vary(copy.deepcopy(rng.choice(seeds)), rng))
        if len(call) <= MAX_SOURCE:
            calls[call] = None
        if len(calls) >= wanted * 1.6:
            break
    guesses = [TestCase(f"assert {c} == None", (c,), "_0 == expected", "None") for c in calls]
    answered = judge.answers(problem, guesses)
    found = []
    for test, values in answered:
        text = f"assert {test.calls[0]} == {show(values, 10_000)}"
        (parsed,) = parse_assertions(text, problem.entry_point) or (None,)
        if isinstance(parsed, TestCase):
            found.append((text, parsed))
    validated = judge.check_references(
        [Problem(problem.problem_id, "", problem.entry_point, problem.reference_solution, tuple(t for t, _ in found))]
    )[0]
    return [(t.source, t.test) for t in validated if t.validity is Validity.VALID and t.test is not None]


class _Varier(ast.NodeTransformer):
    """Changes some of the literals of a call; keeps their types, so that most calls still make sense."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        if isinstance(value, bool) or value is None or self.rng.random() < 0.3:
            return node
        if isinstance(value, int):
            return ast.Constant(
                max(0, value + self.rng.randint(-9, 60)) if value >= 0 else value - self.rng.randint(0, 60)
            )
        if isinstance(value, float):
            return ast.Constant(round(value + self.rng.uniform(0, 50), 2))
        if isinstance(value, str):
            letters = list(value + self.rng.choice(["", *value, "a", "b", "z"]))
            self.rng.shuffle(letters)
            return ast.Constant("".join(letters))
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        elements = [*node.elts, *(copy.deepcopy(e) for e in self.rng.sample(node.elts, min(1, len(node.elts))))]
        return self.generic_visit(ast.List(elements, ast.Load()))


def _vary(call: ast.Expression, rng: random.Random) -> ast.AST:
    if isinstance(call.body, ast.Call):
        call.body.args = [_Varier(rng).visit(arg) for arg in call.body.args]
    return ast.fix_missing_locations(call)


def _without_hangs(sandbox: Sandbox, programs: Sequence[str], problem: Problem, tests: Sequence[TestCase]) -> list[str]:
    """The programs that answer or fail, rather than run into a limit; copies of the reference fill up the number."""
    calls = tuple(Call(t.calls) for t in tests[:20])
    results = sandbox.run_all([Program(code, calls, setup=problem.setup) for code in programs])
    slow = {OutcomeKind.TIMEOUT, OutcomeKind.MEMORY, OutcomeKind.NOT_RUN, OutcomeKind.CRASH}
    kept = [code for code, r in zip(programs, results, strict=True) if not slow & {o.kind for o in r.outcomes}]
    return kept + [f"{problem.reference_solution}\n# copy {i}\n" for i in range(len(programs) // 2 - len(kept))]


def _programs(reference: str, wanted: int, rng: random.Random) -> Iterator[str]:
    """Distinct programs: the reference with one operator swapped or one number changed, told apart by a comment."""
    for i in range(wanted):
        tree = ast.parse(reference)
        sites = [
            n for n in ast.walk(tree) if type(n) in SWAPPED or (isinstance(n, ast.Constant) and type(n.value) is int)
        ]
        if i and sites:
            _swap(tree, rng.choice(sites))
        yield f"{ast.unparse(tree)}\n# program {i}\n"


def _swap(tree: ast.AST, site: ast.AST) -> None:
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if value is site:
                setattr(node, name, _other(site))
            elif isinstance(value, list) and any(v is site for v in value):
                setattr(node, name, [_other(site) if v is site else v for v in value])


def _other(site: ast.AST) -> ast.AST:
    if isinstance(site, ast.Constant) and isinstance(site.value, int):
        return ast.copy_location(ast.Constant(site.value + 1), site)
    return SWAPPED[type(site)]()
