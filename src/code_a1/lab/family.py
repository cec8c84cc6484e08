"""A family: one kind of problem with its parameters, written as data.

    family(
        "count_if",
        "xs: ints -> int",
        ("Count the elements of xs that are $p.", "How many elements of xs are $p?"),
        '''
        n = 0
        for x in xs:
            if $p:
                n += 1
        return n
        ''',
        NUMBER,
    )

Parameters stand in the signature under the name of a domain (`code_a1.lab.domains`). In statements and bodies
`«first|second|…»` are alternatives. Those of a statement are other ways to say the same. Of a body the first is right
and every other one is a bug that somebody might write there; an alternative may be empty and may span lines. The
bugs that any program invites (boundaries, comparisons, initial values, …) need no notation: `code_a1.lab.bugs`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from random import Random

from code_a1.lab.domains import DOMAINS, Domain
from code_a1.lab.phrasing import rephrase
from code_a1.lab.slots import Slot, draw_all, fill_code, fill_words
from code_a1.seeds import derive_seed

ALTERNATIVES = re.compile(r"«([^«»]*)»")


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of problem; `name` is also the entry point of all its problems."""

    name: str
    parameters: tuple[tuple[str, Domain], ...]
    returns: str
    """The return annotation; it may name slots."""
    statements: tuple[str, ...]
    body: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """A family with its parameters drawn: a problem before anything has been run."""

    family: Family
    statement: str
    reference: str
    declared: tuple[str, ...]
    """Programs with one wrong alternative of the body each."""


def family(name: str, signature: str, statements: tuple[str, ...], body: str, *slots: Slot) -> Family:
    """Declare a family; `signature` reads `xs: ints, n: count -> int`.

    Raises ValueError for a domain that does not exist.
    """
    given, _, returns = signature.partition("->")
    parameters = []
    for parameter in given.split(","):
        variable, _, domain = parameter.partition(":")
        if domain.strip() not in DOMAINS:
            raise ValueError(f"family {name}: no domain {domain.strip()!r}; there are {', '.join(DOMAINS)}")
        parameters.append((variable.strip(), DOMAINS[domain.strip()]))
    return Family(name, tuple(parameters), returns.strip(), statements, textwrap.dedent(body).strip("\n"), slots)


def draw(of: Family, rng: Random) -> Instance:
    """One problem of a family: `rng` chooses the parameters, and these alone decide how the problem is told."""
    parts = draw_all(of.slots, rng)
    returns = fill_code(of.returns, parts)
    programs = [_program(of, returns, fill_code(body, parts)) for body in _readings(of.body)]
    phrasing = Random(derive_seed(0, "phrasing", programs[0]))  # noqa: S311 - not cryptography
    told = ALTERNATIVES.sub(lambda match: phrasing.choice(match[1].split("|")), phrasing.choice(of.statements))
    asked = rephrase(_capital(fill_words(told, parts), of), phrasing)
    statement = " ".join([asked, *_notes(of)])
    return Instance(of, statement, programs[0], tuple(dict.fromkeys(programs[1:])))


def _capital(text: str, of: Family) -> str:
    """The text with a capital first letter, unless it begins with the name of a parameter."""
    return text if text.split(maxsplit=1)[0] in [name for name, _ in of.parameters] else text[0].upper() + text[1:]


def _notes(of: Family) -> list[str]:
    """What holds of the parameters, in one sentence for all of which the same holds."""
    names: dict[str, list[str]] = {}
    for name, domain in of.parameters:
        if domain.note:
            names.setdefault(domain.note, []).append(name)
    return [
        f"{alike[0]} is {note}." if len(alike) == 1 else f"{', '.join(alike[:-1])} and {alike[-1]} are {note}."
        for note, alike in names.items()
    ]


def _readings(body: str) -> list[str]:
    """The right reading of a body, then every reading with one wrong alternative."""
    groups = [match[1].split("|") for match in ALTERNATIVES.finditer(body)]
    right = [group[0] for group in groups]
    choices = [right]
    for at, group in enumerate(groups):
        choices += [[*right[:at], wrong, *right[at + 1 :]] for wrong in group[1:]]
    return [_fill_in(body, chosen) for chosen in choices]


def _fill_in(body: str, chosen: list[str]) -> str:
    rest = iter(chosen)
    return ALTERNATIVES.sub(lambda _: next(rest), body)


def _program(of: Family, returns: str, body: str) -> str:
    """The whole function, formatted as Python's own unparser does. Raises SyntaxError for a body that is no code."""
    parameters = ", ".join(f"{name}: {domain.annotation}" for name, domain in of.parameters)
    source = f"def {of.name}({parameters}) -> {returns}:\n{textwrap.indent(body, '    ')}\n"
    try:
        return ast.unparse(ast.parse(source))
    except SyntaxError as error:
        raise SyntaxError(f"family {of.name}: {error}\n{source}") from error
