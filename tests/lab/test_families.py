"""Families: what they draw, and that a statement says one thing."""

from __future__ import annotations

import ast
import re
from random import Random

import pytest

from code_a1.lab.families import FAMILIES, TOPICS
from code_a1.lab.family import draw, family
from code_a1.lab.slots import Cases, Int, Letter, Pick, Rising, fill_code, fill_words

AT_LEAST = family(
    "at_least",
    "xs: ints, n: count -> int",
    ("«Count|Tally» what is $w in xs.",),
    """
    n = «0|1»
    for x in xs:
        if x «>=|>|<» $k:
            n += 1
    return n«| + 1»
    """,
    Pick("w", (("at least $k", "$k"),), Int("k", 7, 7)),
)


def test_the_first_alternatives_make_the_reference_and_each_other_one_a_bug():
    instance = draw(AT_LEAST, Random(0))
    assert instance.reference == (
        "def at_least(xs: list[int], n: int) -> int:\n    n = 0\n    for x in xs:\n        if x >= 7:\n"
        "            n += 1\n    return n"
    )
    right = instance.reference
    assert instance.declared == (
        right.replace("n = 0", "n = 1"),
        right.replace(">=", ">"),
        right.replace(">=", "<"),
        right.replace("return n", "return n + 1"),
    )
    # how a problem is told depends on its parameters alone
    assert {draw(AT_LEAST, Random(seed)).statement for seed in range(20)} == {instance.statement}
    assert "at least 7 in xs." in instance.statement
    assert instance.statement.endswith(" n is never negative.")


def test_parameters_under_one_condition_share_a_sentence():
    triangle = next(f for f in FAMILIES if f.name == "triangle")
    assert draw(triangle, Random(1)).statement.endswith(" a, b and c are at least 1.")


def test_slots_fill_words_and_code():
    rng = Random(0)
    parts = Rising("a b c", 0, 8, gap=3).draw(rng)
    numbers = [int(parts[name].code) for name in "abc"]
    assert numbers[0] >= 0
    assert numbers[2] <= 8
    assert numbers[1] - numbers[0] >= 3
    assert numbers[2] - numbers[1] >= 3
    only = Cases("w op", (("more than $k", ">"),), Int("k", 5, 5)).draw(rng)
    assert fill_words("is x $w?", only) == "is x more than 5?"
    assert fill_code("x $op $k", only) == "x > 5"
    assert {part.code for part in Letter("a b", "xy").draw(rng).values()} == {"'x'", "'y'"}
    with pytest.raises(KeyError, match="missing"):
        fill_code("$missing", parts)


def test_a_part_of_several_terms_keeps_together():
    parts = Pick("p", (("odd or small", "x % 2 == 1 or x < $k"),), Int("k", 3, 3)).draw(Random(0))
    parts |= Cases("v end f", (("x % 3", " + 1", "max"),)).draw(Random(0))
    filled = fill_code("lambda x, n: -$v if $p and x != n$end else $f(x, $k)", parts)
    assert filled == "lambda x, n: -(x % 3) if (x % 2 == 1 or x < 3) and x != n + 1 else max(x, 3)"


def test_an_unknown_domain_is_named():
    with pytest.raises(ValueError, match="family f: no domain 'number'; there are int, "):
        family("f", "x: number -> int", ("Return x.",), "return x")


def test_there_are_more_than_200_families_each_with_a_name_of_its_own():
    assert len(FAMILIES) == sum(map(len, TOPICS.values()))
    assert len({f.name for f in FAMILIES}) == len(FAMILIES) > 200


@pytest.mark.parametrize("of", FAMILIES, ids=lambda f: f.name)
def test_a_statement_has_one_meaning_and_mentions_every_parameter(of):
    meanings: dict[str, str] = {}
    rng = Random(of.name)
    for _ in range(25):
        instance = draw(of, rng)
        assert meanings.setdefault(instance.statement, instance.reference) == instance.reference
        definition = ast.parse(instance.reference).body[0]
        assert isinstance(definition, ast.FunctionDef)
        assert definition.name == of.name
        words = re.findall(r"\w+", instance.statement)
        assert not [a.arg for a in definition.args.args if a.arg not in words], instance.statement
        assert "$" not in instance.statement + instance.reference
        assert "  " not in instance.statement
        assert instance.reference not in instance.declared


def test_the_set_tells_its_tasks_in_many_ways():
    rng = Random(0)
    told = [draw(of, rng).statement for of in FAMILIES for _ in range(3)]
    openings = {statement.split()[0] for statement in told}
    assert len(openings) > 30
    assert 0.1 < sum("?" in s for s in told) / len(told) < 0.6
