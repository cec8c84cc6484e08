"""What the lab's model is warm-started on: answers of both roles, with some of the mistakes that they are to unlearn.

Functions go by other names in every lesson. A model that always sees `score_list` under one kind of statement learns
the name by heart and never to copy it from the prompt; then it can do nothing with a function of another name.

Programs are references, and in a stated share bugs, subtle ones first: a policy that has learned from these is often
wrong in ways that a chosen input shows. Suites are written against such programs; most of their inputs are typical,
some lie at edges, some are chosen because the program shown fails on them, and a stated share of the answers is wrong,
half of those because they are what the program returns.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from keyword import kwlist
from random import Random

from code_a1.lab.execution import Failed, LabProgram, Result
from code_a1.lab.families import FAMILIES
from code_a1.lab.problems import Arguments, LabProblem, test_source
from code_a1.prompts import code_prompt, fenced, test_prompt
from code_a1.records import Problem, Prompt

LONGEST_TEST = 90
"""Characters of one assert; longer ones would make most of what the model reads."""


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of what is shown to the model. The defaults are the recipe of the base model."""

    wrong_programs: float = 0.2
    """Answers of the code role that are bugs."""
    shown_wrong: float = 0.6
    """Programs shown to the test role that are bugs."""
    wrong_answers: float = 0.06
    """Asserts whose answer is wrong."""
    edge_inputs: float = 0.3
    """Inputs taken from the hidden tests instead of typical ones."""
    killing_inputs: float = 0.25
    """Inputs on which the program shown is wrong, where it is."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A prompt with answers to be learned."""

    prompt: Prompt
    answers: tuple[str, ...]


class Teacher:
    """Writes lessons for one problem; calls of its programs are made once."""

    def __init__(self, problem: LabProblem, mix: Mix, *, tests_per_suite: int) -> None:
        self._problem = problem
        self._mix = mix
        self._k = tests_per_suite
        family = next(f for f in FAMILIES if f.name == problem.family)
        self._domains = [domain for _, domain in family.parameters]
        self._wrong_on: dict[str, tuple[Arguments, ...]] = {}

    @cached_property
    def _reference(self) -> LabProgram:
        return LabProgram(self._problem.problem.reference_solution, self._problem.family)

    def code_lesson(self, rng: Random, answers: int, name: str = "") -> Lesson:
        """The code role's prompt with `answers` programs; the function is called `name`, or as in the problem."""
        programs = [self._program(rng, self._mix.wrong_programs) for _ in range(answers)]
        return Lesson(code_prompt(self._called(name)), tuple(fenced(self._calling(p, name)) for p in programs))

    def test_lesson(self, rng: Random, answers: int, name: str = "") -> Lesson:
        """The test role's prompt, showing one program, with `answers` suites; likewise."""
        shown = self._program(rng, self._mix.shown_wrong)
        prompt = test_prompt(self._called(name), self._calling(shown, name), self._k)
        suites = ["\n".join(self._suite(rng, shown)) for _ in range(answers)]
        return Lesson(prompt, tuple(fenced(self._calling(suite, name)) for suite in suites))

    def _called(self, name: str) -> Problem:
        problem = self._problem.problem
        if not name:
            return problem
        return replace(problem, entry_point=name, reference_solution=self._calling(problem.reference_solution, name))

    def _calling(self, source: str, name: str) -> str:
        """The source with the function under the other name, where it is defined and where it is called."""
        return re.sub(rf"\b{self._problem.family}(?=\()", name, source) if name else source

    def _program(self, rng: Random, wrong: float) -> str:
        if rng.random() >= wrong:
            return self._problem.problem.reference_solution.strip()
        return rng.choices(self._problem.bugs, [3 if bug.subtle else 1 for bug in self._problem.bugs])[0].source

    def _suite(self, rng: Random, shown: str) -> list[str]:
        lines: dict[str, str] = {}
        for _ in range(8 * self._k):
            arguments = self._arguments(rng, shown)
            answer = self._reference(arguments)
            source = test_source(self._problem.family, arguments, answer)
            if isinstance(answer, Failed) or len(source) > LONGEST_TEST:
                continue
            if rng.random() < self._mix.wrong_answers:
                source = test_source(self._problem.family, arguments, self._mistaken(rng, shown, arguments, answer))
            lines.setdefault(repr(arguments), source)
            if len(lines) == self._k:
                break
        return list(lines.values())

    def _arguments(self, rng: Random, shown: str) -> Arguments:
        draw = rng.random()
        if draw < self._mix.killing_inputs and self._killing(shown):
            return rng.choice(self._killing(shown))
        if draw < self._mix.killing_inputs + self._mix.edge_inputs:
            return rng.choice(self._problem.inputs)
        return tuple(domain.typical(rng) for domain in self._domains)

    def _killing(self, shown: str) -> tuple[Arguments, ...]:
        """Hidden inputs on which the program shown is wrong."""
        if shown not in self._wrong_on:
            program = LabProgram(shown, self._problem.family)
            pairs = zip(self._problem.inputs, self._problem.answers, strict=True)
            self._wrong_on[shown] = tuple(arguments for arguments, answer in pairs if program(arguments) != answer)
        return self._wrong_on[shown]

    def _mistaken(self, rng: Random, shown: str, arguments: Arguments, answer: Result) -> Result:
        """The answer of the program shown, if it is wrong, or something like the right answer."""
        if rng.random() < 0.5:
            other = LabProgram(shown, self._problem.family)(arguments)
            if not isinstance(other, Failed) and other != answer:
                return other
        return near_miss(answer, rng)


WORDS = tuple(sorted({word for family in FAMILIES for word in family.name.split("_")} - {*kwlist, *dir(builtins)}))
"""What names are made of."""


def random_name(rng: Random) -> str:
    """One to three words with underscores between them."""
    return "_".join(rng.choices(WORDS, k=rng.choice((1, 2, 2, 2, 3))))


def near_miss(value: object, rng: Random) -> object:
    """A wrong value of the same kind, close to the right one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((1, -1, 2, -2))
    if isinstance(value, str | list) and value:
        return rng.choice((value[:-1], value[1:]))
    if isinstance(value, Mapping) and value:
        return dict(list(value.items())[:-1])
    # nothing is near to nothing
    return {"str": "a", "list": [0], "dict": {"a": 1}}.get(type(value).__name__, 0)
