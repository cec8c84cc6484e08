"""The generator: what a set holds, how it splits, and that the sandbox says the same as the generator."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from code_a1.cli import main
from code_a1.errors import ConfigError, ProblemError
from code_a1.judge import Judge
from code_a1.lab.families import FAMILIES
from code_a1.lab.family import draw
from code_a1.lab.files import write_bugs, write_lab_problems
from code_a1.lab.problems import HIDDEN, MAX_BUGS, TYPICAL, generate, make_problem, near_constants, split_of
from code_a1.problems import read_rows
from code_a1.records import Candidate, CodeGroup, Completion, Validity, Verdict
from code_a1.sandbox import Sandbox


@pytest.fixture(scope="module")
def some():
    """One problem of every family, all splits."""
    return list(generate(len(FAMILIES), seed=7))


def test_families_take_turns(some):
    assert len({p.family for p in some}) >= len(FAMILIES) - 5
    assert len({p.problem.problem_id for p in some}) == len({p.problem.reference_solution for p in some}) == len(some)


def test_a_seed_chooses_problems_and_nothing_else():
    first, again, other = (list(generate(40, seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    by_id = {p.problem.problem_id: p for p in generate(40, seed=2, families=FAMILIES[40:42])}
    shared = [p for p in generate(40, seed=1, families=FAMILIES[40:42]) if p.problem.problem_id in by_id]
    assert shared
    assert all(by_id[p.problem.problem_id] == p for p in shared)


def test_splits_share_no_problem_and_held_out_families_share_no_family():
    sets = {
        split: list(generate(30, seed=0, split=split)) for split in ("train", "heldout-problems", "heldout-families")
    }
    for split, problems in sets.items():
        assert {p.split for p in problems} == {split}
    families = {split: {p.family for p in problems} for split, problems in sets.items()}
    assert not families["heldout-families"] & (families["train"] | families["heldout-problems"])
    held_out = [f for f in FAMILIES if split_of(f, "") == "heldout-families"]
    assert 15 <= len(held_out) <= 45
    of = next(f for f in FAMILIES if f.name == "count_if")
    shares = [split_of(of, f"program {i}") for i in range(800)]
    assert 70 <= shares.count("heldout-problems") <= 130
    assert shares.count("train") == 800 - shares.count("heldout-problems")


def test_a_family_without_new_problems_ends_the_set():
    closest = [f for f in FAMILIES if f.name == "closest"]  # two parameters' worth
    assert len(list(generate(2, seed=0, families=closest))) == 2
    with pytest.raises(ConfigError, match="only 2 problems of 3 exist in the split all: ask for fewer"):
        list(generate(3, seed=0, families=closest))


def test_every_bug_shows_and_a_stated_share_passes_typical_tests(some):
    bugs = [bug for p in some for bug in p.bugs]
    assert all(0 < bug.failed <= len(p.inputs) for p in some for bug in p.bugs)
    assert all(1 <= len(p.bugs) <= MAX_BUGS for p in some)
    assert all(len(p.problem.reference_tests) >= HIDDEN / 2 for p in some)
    assert all(len(p.typical_tests) == TYPICAL for p in some if len(p.inputs) > TYPICAL)
    # docs/lab.md: about three bugs in ten pass the typical tests
    assert 0.25 < sum(bug.subtle for bug in bugs) / len(bugs) < 0.4
    assert {bug.kind for bug in bugs} == {
        "boundary",
        "comparison",
        "initial value",
        "missed case",
        "wrong order",
        "logic",
    }


def test_constants_are_found_with_their_sign():
    near = near_constants("def f(x):\n    return -7 <= x < 12 and x != 'ab' or x == 5000")
    assert near.numbers == (-7, 12, 7)
    assert near.letters == ("a", "b")


def candidate(problem, index, code):
    return Candidate(problem.problem_id, index, code, Completion("", (), (), (), "stop"))


def test_the_judge_agrees_with_the_generator_on_references_and_bugs(some):
    chosen = Random(3).sample(some, 20)
    problems = [p.problem for p in chosen]
    with Sandbox() as sandbox:
        judge = Judge(sandbox)
        judged = judge.check_references(problems)
        assert {t.validity for row in judged for t in row} == {Validity.VALID}
        tests = {p.problem_id: [t.test for t in row] for p, row in zip(problems, judged, strict=True)}
        groups = [
            CodeGroup(p.problem, tuple(candidate(p.problem, i, bug.source) for i, bug in enumerate(p.bugs)))
            for p in chosen
        ]
        judgements = judge(groups, replayed=tests)
    for p, judgement in zip(chosen, judgements, strict=True):
        for bug, result in zip(p.bugs, judgement.candidates, strict=True):
            passed = [verdict is Verdict.PASS for verdict in result.replayed]
            assert passed.count(False) == bug.failed, (p.problem, bug)
            assert all(passed[:TYPICAL]) == bug.subtle


def test_files_are_our_own_format(some, tmp_path):
    write_lab_problems(tmp_path / "hidden.jsonl", some[:20])
    assert list(read_rows(tmp_path / "hidden.jsonl")) == [p.problem for p in some[:20]]
    write_lab_problems(tmp_path / "typical.jsonl", some[:20], tests="typical")
    [weak, *_] = read_rows(tmp_path / "typical.jsonl")
    assert weak == replace(some[0].problem, reference_tests=some[0].problem.reference_tests[:TYPICAL])
    write_bugs(tmp_path / "bugs.jsonl", some[:20])
    rows = [json.loads(line) for line in (tmp_path / "bugs.jsonl").read_text().splitlines()]
    assert [row["problem_id"] for row in rows] == [p.problem.problem_id for p in some[:20]]
    assert rows[0]["bugs"][0] == {
        "source": some[0].bugs[0].source,
        "kind": some[0].bugs[0].kind,
        "subtle": some[0].bugs[0].subtle,
        "failed": some[0].bugs[0].failed,
    }
    with pytest.raises(ProblemError, match="cannot be written"):
        write_bugs(tmp_path / "no" / "bugs.jsonl", some[:1])


def test_an_instance_on_which_no_bug_shows_is_no_problem():
    reverse = draw(next(f for f in FAMILIES if f.name == "fields"), Random(0))
    plain = replace(reverse, reference="def fields(s: str) -> str:\n    return s", declared=())
    assert make_problem(plain) is None


def test_the_command_writes_both_files_and_says_what_is_in_them(tmp_path, capsys):
    out, bugs = tmp_path / "p.jsonl", tmp_path / "b.jsonl"
    main(["lab", "problems", "-n", "12", "-o", str(out), "--bugs", str(bugs), "--tests", "typical", "--json"])
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["problems"] == len(list(read_rows(out))) == 12
    assert figures["tests"] == 12 * TYPICAL
    assert figures["bugs"] == sum(len(json.loads(line)["bugs"]) for line in bugs.read_text().splitlines())
    with pytest.raises(SystemExit) as stopped:
        main(["lab", "problems", "-n", "9999999", "-o", str(tmp_path / "x.jsonl"), "--split", "nothing"])
    assert stopped.value.code == 2
