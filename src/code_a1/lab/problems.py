"""Problems of the lab: a reference with bugs, typical inputs that miss some of them, and hidden inputs that do not.

A problem is a function of its family and parameters alone, so that an id means the same problem under every seed; a
seed decides which problems are drawn, in which order. Three splits never share a problem: whole families are held out,
and of the other families every eighth problem.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from code_a1.errors import ConfigError
from code_a1.lab.bugs import Kind, spontaneous_bugs
from code_a1.lab.domains import Near
from code_a1.lab.execution import Failed, LabProgram, Result
from code_a1.lab.families import FAMILIES
from code_a1.lab.family import Family, Instance, draw
from code_a1.records import Problem
from code_a1.seeds import derive_seed

Split = Literal["train", "heldout-problems", "heldout-families"]
SPLITS: tuple[Split, ...] = ("train", "heldout-problems", "heldout-families")

HELD_OUT = 8
"""One family in about so many is held out, and one problem in about so many of the others."""

TYPICAL = 4
"""Typical inputs per problem: what somebody tries who does not look for trouble."""

HIDDEN = 20
"""Hidden tests per problem, the typical ones included; more where bugs need more."""

MAX_BUGS = 10
"""Bugs kept per problem."""

LONGEST = 60
"""Characters of an answer in source form; an input with a longer one makes no test."""

POOL = 80
"""Inputs among which hidden ones are looked for."""

TRIES = 12
"""Draws without anything new after which a family counts as used up."""

Arguments = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Bug:
    """A wrong program for a problem: it differs from the reference on at least one hidden test."""

    source: str
    kind: Kind
    subtle: bool
    """It passes every typical test."""
    failed: int
    """How many of the hidden tests it fails."""


@dataclass(frozen=True, slots=True)
class LabProblem:
    """A problem, with what the lab knows about it beyond the record that everybody uses.

    `problem.reference_tests` are the hidden tests; the typical ones are the first of them.
    """

    problem: Problem
    family: str
    split: Split
    inputs: tuple[Arguments, ...]
    """Arguments of the hidden tests."""
    answers: tuple[object, ...]
    bugs: tuple[Bug, ...]

    @property
    def typical_tests(self) -> tuple[str, ...]:
        """The tests that a weak suite has."""
        return self.problem.reference_tests[:TYPICAL]


def generate(
    n: int, *, seed: int, split: Split | None = None, families: Sequence[Family] = FAMILIES
) -> Iterator[LabProblem]:
    """Yield `n` distinct problems, families taking turns as long as each has new ones; `split` None takes all splits.

    Raises ConfigError if the families have no `n` problems.
    """
    rng = Random(derive_seed(seed, "lab problems"))  # noqa: S311 - a seeded draw, not cryptography
    open_families = [of for of in families if _has(of, split)]
    seen: set[str] = set()
    count = 0
    while count < n:
        if not open_families:
            raise ConfigError(f"only {count} problems of {n} exist in the split {split or 'all'}: ask for fewer")
        rng.shuffle(open_families)
        used_up = []
        for of in open_families:
            instance = _new_instance(of, rng, seen, split)
            if instance is None:
                used_up.append(of)
                continue
            seen.add(instance.reference)
            made = make_problem(instance)
            if made is not None:
                count += 1
                yield made
            if count == n:
                return
        open_families = [of for of in open_families if of not in used_up]


def split_of(of: Family, reference: str) -> Split:
    """Where a problem belongs; a family is held out whole or not at all."""
    if derive_seed(0, "lab family", of.name) % HELD_OUT == 0:
        return "heldout-families"
    return "heldout-problems" if derive_seed(0, "lab problem", reference) % HELD_OUT == 0 else "train"


def _has(of: Family, split: Split | None) -> bool:
    return split is None or (split == "heldout-families") == (split_of(of, "") == "heldout-families")


def _new_instance(of: Family, rng: Random, seen: set[str], split: Split | None) -> Instance | None:
    # a split of one problem in eight needs the more draws
    for _ in range(TRIES * (HELD_OUT if split == "heldout-problems" else 1)):
        instance = draw(of, rng)
        if instance.reference not in seen and split in (None, split_of(of, instance.reference)):
            return instance
    return None


def make_problem(instance: Instance) -> LabProblem | None:
    """Find inputs and bugs for an instance; None where no bug shows on any input, so that there is nothing to test."""
    of, source = instance.family, instance.reference
    rng = Random(derive_seed(0, "lab inputs", source))  # noqa: S311 - not cryptography
    reference = LabProgram(source, of.name)
    typical, edges = _inputs(instance, rng)
    pool = typical + edges
    results = [reference(arguments) for arguments in pool]
    kept = [i for i, result in enumerate(results) if not isinstance(result, Failed) and len(repr(result)) <= LONGEST]
    pool, right = [pool[i] for i in kept], [results[i] for i in kept]
    failures = _failures(instance, pool, right)
    if not failures:
        return None
    chosen = _choose(len(pool), [fails for _, _, fails in failures])
    bugs = [
        Bug(text, kind, not fails & set(range(TYPICAL)), len(fails & set(chosen))) for text, kind, fails in failures
    ]
    inputs, answers = tuple(pool[i] for i in chosen), tuple(right[i] for i in chosen)
    problem = Problem(
        problem_id=f"lab/{of.name}/{derive_seed(0, source, instance.statement):016x}"[: len(of.name) + 15],
        statement=instance.statement,
        entry_point=of.name,
        reference_solution=source + "\n",
        reference_tests=tuple(test_source(of.name, a, v) for a, v in zip(inputs, answers, strict=True)),
    )
    return LabProblem(problem, of.name, split_of(of, source), inputs, answers, _select(bugs, rng))


def test_source(entry_point: str, arguments: Arguments, answer: object) -> str:
    """One assert as the test policy is asked to write it."""
    return f"assert {entry_point}({', '.join(map(repr, arguments))}) == {answer!r}"


test_source.__test__ = False  # type: ignore[attr-defined]  # pytest collects functions named test_*; this one is no test


def near_constants(source: str) -> Near:
    """The numbers and letters of a program, with the sign that they have in it."""
    numbers: list[int] = []
    letters: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            numbers += [-node.operand.value] if type(node.operand.value) is int else []
        elif isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 100:
            numbers.append(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            letters += node.value
    return Near(tuple(dict.fromkeys(numbers)), tuple(dict.fromkeys(letters)))


def _inputs(instance: Instance, rng: Random) -> tuple[list[Arguments], list[Arguments]]:
    """Distinct typical inputs, and distinct edge inputs that are none of them."""
    domains = [domain for _, domain in instance.family.parameters]
    near = near_constants(instance.reference)
    typical = _distinct((tuple(d.typical(rng) for d in domains) for _ in range(4 * TYPICAL)), set())[:TYPICAL]
    taken = {repr(arguments) for arguments in typical}
    edges = (
        tuple(d.edge(rng, near) if rng.random() < 0.8 else d.typical(rng) for d in domains) for _ in range(2 * POOL)
    )
    return typical, _distinct(edges, taken)[:POOL]


def _distinct(inputs: Iterable[Arguments], taken: set[str]) -> list[Arguments]:
    found: list[Arguments] = []
    for arguments in inputs:
        text = repr(arguments)
        if text not in taken:
            taken.add(text)
            found.append(arguments)
    return found


def _failures(
    instance: Instance, pool: Sequence[Arguments], right: Sequence[Result]
) -> list[tuple[str, Kind, set[int]]]:
    """Every bug that shows: its source, its kind, and the inputs of the pool on which it is wrong."""
    spontaneous = spontaneous_bugs(instance.reference)
    candidates = {text: spontaneous.get(text, "logic") for text in instance.declared} | spontaneous
    found = []
    for text, kind in candidates.items():
        program = LabProgram(text, instance.family.name)
        fails = {
            i for i, (arguments, answer) in enumerate(zip(pool, right, strict=True)) if program(arguments) != answer
        }
        if fails:
            found.append((text, kind, fails))
    return found


def _choose(size: int, failures: Sequence[set[int]]) -> list[int]:
    """Inputs for the hidden tests: the typical ones, one for every bug not yet shown, then further ones in order."""
    chosen = list(range(min(TYPICAL, size)))
    for fails in sorted(failures, key=len):
        if not fails.intersection(chosen):
            chosen.append(min(fails))
    rest = [i for i in range(size) if i not in chosen]
    return chosen + rest[: max(0, HIDDEN - len(chosen))]


def _select(bugs: list[Bug], rng: Random) -> tuple[Bug, ...]:
    """At most `MAX_BUGS`, as many subtle ones among them as may make half."""
    rng.shuffle(bugs)
    subtle = [bug for bug in bugs if bug.subtle]
    open_ = [bug for bug in bugs if not bug.subtle]
    taken = subtle[: max(MAX_BUGS // 2, MAX_BUGS - len(open_))]
    return tuple(taken + open_[: MAX_BUGS - len(taken)])
