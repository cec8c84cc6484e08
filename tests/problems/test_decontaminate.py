"""Benchmarks are kept out of training, by id and by statement."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from code_a1.config import ProblemsConfig
from code_a1.problems import Benchmark, decontaminate, load_benchmark, load_problems
from code_a1.problems.decontaminate import id_key, statement_key
from code_a1.records import Problem


def problem(problem_id: str, statement: str, entry_point: str = "f") -> Problem:
    return Problem(problem_id, statement, entry_point, f"def {entry_point}(x):\n    return x\n")


@pytest.mark.parametrize(
    ("spelling", "key"),
    [
        ("mbpp/12", "mbpp/12"),
        ("Mbpp/12", "mbpp/12"),
        ("MBPP/012", "mbpp/12"),
        ("mbpp-12", "mbpp/12"),
        ("mbpp_12", "mbpp/12"),
        ("MBPP+/12", "mbpp/12"),
        ("MbppPlus/12", "mbpp/12"),
        ("evalplus/mbpp/12", "mbpp/12"),
        ("HumanEval/0", "humaneval/0"),
        ("human_eval 0", "humaneval/0"),
        ("HumanEvalPlus/7", "humaneval/7"),
        ("bundled/larger", "bundled/larger"),
        ("My-Task 1", "my-task 1"),
        ("12", "12"),
        ("mbppx/12", "mbppx/12"),
    ],
)
def test_spellings_of_a_task_id(spelling: str, key: str) -> None:
    assert id_key(spelling) == key


SAME = "find the longest common run of two lists"


@pytest.mark.parametrize(
    "statement",
    [
        "Write a function to find the longest common run of two lists.",
        "Write a python function to find the longest common run of two lists.\nassert f([1], [1]) == [1]",
        "WRITE A FUNCTION  to find the\n longest common run, of two lists!",
        "Write a function f(a, b) that find the longest common run of two lists",
        "Write a Python function named `f` to find the longest common run of two lists.",
        "Implement the method called f(a, b), which find the longest common run of two lists.",
        "Find the longest common run of two lists.",
        'def f(a, b):\n    """ Find the longest common run of two lists.\n    >>> f([1], [1])\n    [1]\n    """\n',
        'def f(a, b):\n"""\nWrite a function to find the longest common run of two lists.\nassert f(1, 1) == []\n"""',
        "import math\nfrom typing import Any\n\ndef f(a: Any, b):\n    '''Find the longest common run of two lists.'''",
        "Find the longest common run of two lists.\n\nExample:\nf([1], [1]) => [1]\n- f([], []) == []",
        "Find the longest common run of two lists.\n\n>>> f([1], [1])\n[1]\n",
    ],
)
def test_statements_that_say_the_same_have_one_key(statement: str) -> None:
    assert statement_key(problem("x", statement)) == SAME


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Return a + b.", "Return a * b."),
        ("Return the first 3 items.", "Return the first 4 items."),
        ("Return whether a < b.", "Return whether a > b."),
        ("Write a function to add.", "Write a function to subtract."),
    ],
)
def test_statements_that_differ_have_different_keys(left: str, right: str) -> None:
    assert statement_key(problem("x", left)) != statement_key(problem("x", right))


def test_a_statement_of_nothing_but_an_example_keeps_its_words() -> None:
    assert statement_key(problem("x", "f(1) is 2")) == "f 1 is 2"


def test_the_words_of_other_scripts_are_kept() -> None:
    assert statement_key(problem("x", "Écris  la SOMME.")) == "écris la somme"
    assert statement_key(problem("x", "返回 列表")) == "返回 列表"


def test_kept_and_dropped_come_with_reasons_in_order() -> None:
    benchmark = Benchmark.of(
        "plus.parquet",
        [problem("Mbpp/2", "Write a function to share."), problem("Mbpp/3", "def f(x):\n    '''Turn it round.'''")],
    )
    pool = [
        problem("mbpp/1", "Write a function to count."),
        problem("mbpp/2", "Write a function to share tuples."),
        problem("ours/9", "Turn it round!"),
        problem("3", "Another task."),
    ]
    kept, dropped = decontaminate(pool, [Benchmark.of("none.jsonl", []), benchmark])
    assert [p.problem_id for p in kept] == ["mbpp/1", "3"]
    assert [(d.problem_id, d.reason, d.benchmark) for d in dropped] == [
        ("mbpp/2", "is the task Mbpp/2 of plus.parquet", "plus.parquet"),
        ("ours/9", "has the statement of Mbpp/3 of plus.parquet", "plus.parquet"),
    ]


def test_statements_without_words_match_nothing() -> None:
    kept, dropped = decontaminate([problem("a", "???")], [Benchmark.of("b", [problem("c", "!!!")])])
    assert (len(kept), dropped) == (1, ())


# ---- real files ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plus(shared_data: Path) -> Benchmark:
    return load_benchmark(str(shared_data / "humaneval_plus_mbpp_plus.parquet"))


def test_mbpp_train_against_mbpp_plus(shared_data: Path, plus: Benchmark) -> None:
    """MBPP+ holds 108 of the 374 training tasks; one more says the same as a task of its test split."""
    train = load_problems(ProblemsConfig(path=str(shared_data / "mbpp.jsonl"), split="train")).problems
    kept, dropped = decontaminate(train, [plus])
    assert (len(train), len(kept), len(dropped)) == (374, 265, 109)
    by_statement = [d.problem_id for d in dropped if d.reason.startswith("has the statement of MBPP/427")]
    assert by_statement == ["mbpp/928"]
    in_plus = {i for i in range(601, 975) if f"mbpp/{i}" in plus.ids}
    assert len(in_plus) == 108
    assert {d.problem_id for d in dropped} == {f"mbpp/{i}" for i in in_plus} | {"mbpp/928"}


def test_every_real_row_is_read(shared_data: Path) -> None:
    mbpp = load_problems(ProblemsConfig(path=str(shared_data / "mbpp.jsonl")))
    assert [(d.problem_id, d.reason) for d in mbpp.dropped] == [("mbpp/704", "duplicate of mbpp/248")]
    entry = {p.problem_id: p.entry_point for p in mbpp.problems}
    assert len(entry) == 973
    assert (entry["mbpp/601"], entry["mbpp/367"]) == ("max_chain_length", "is_tree_balanced")
    assert [p.problem_id for p in mbpp.problems if p.setup] == ["mbpp/367", "mbpp/927"]
    assert not any("\r" in p.reference_solution for p in mbpp.problems)

    plus = load_problems(ProblemsConfig(path=str(shared_data / "humaneval_plus_mbpp_plus.parquet")))
    assert len(plus.problems) == 542
    assert Counter(p.problem_id.split("/")[0] for p in plus.problems) == {"HumanEval": 164, "MBPP": 378}
    assert plus.dropped == ()
    # two tasks were renamed by EvalPlus, some differ in case; everywhere else both files agree on the entry point
    differ = {
        p.problem_id
        for p in plus.problems
        if (mine := entry.get(id_key(p.problem_id))) and mine.lower() != p.entry_point.lower()
    }
    assert differ == {"MBPP/160", "MBPP/633"}


def test_the_bundled_set_is_in_no_benchmark(shared_data: Path) -> None:
    benchmarks = [
        load_benchmark(str(shared_data / name)) for name in ("mbpp.jsonl", "humaneval_plus_mbpp_plus.parquet")
    ]
    _, dropped = decontaminate(load_problems(ProblemsConfig()).problems, benchmarks)
    assert dropped == ()
