"""One row of each schema becomes one problem, or says which field is at fault."""

from __future__ import annotations

import pytest

from code_a1.errors import ConfigError
from code_a1.problems.evalplus import read_evalplus
from code_a1.problems.fields import RowError
from code_a1.problems.formats import FORMATS, choose_format, own_row, read_own
from code_a1.problems.mbpp import in_mbpp_split, read_mbpp
from code_a1.records import Problem

OWN: dict[str, object] = {
    "problem_id": "ours/1",
    "statement": "Write a function inc(n) that adds one.",
    "entry_point": "inc",
    "reference_solution": "def inc(n):\n    return n + 1\n",
    "reference_tests": ["assert inc(1) == 2"],
}

MBPP: dict[str, object] = {
    "text": "Write a function to add one.",
    "code": "def half(n):\r\n  return n / 2\r\ndef inc(n):\r\n  return n + 1\r\n",
    "task_id": 700,
    "test_setup_code": "",
    "test_list": ["assert inc(1) == 2", "assert inc(half(2)) == 2"],
    "challenge_test_list": ["assert inc(9) == 10"],
}

PARQUET: dict[str, object] = {
    "prompt": [{"role": "user", "content": "…"}],
    "description": "Add one.",
    "GT_code": "\n\n    return n + math.ceil(0.5)\n\n",
    "problem": 'import math\n\ndef inc(n: int) -> int:\n    """Add one.\n    >>> inc(1)\n    2\n    """\n',
    "test": "def check(candidate):\n    for inp, exp in [[[1], 2]]:\n        assertion(candidate(*inp), exp, 0.0001)\n",
    "data_source": "humanevalplus",
    "extra_info": {
        "function_declaration": "def inc(n)",
        "function_name": "inc",
        "imports": "import math",
        "question_id": "HumanEval/900",
    },
}

HUMAN_EVAL: dict[str, object] = {
    "task_id": "HumanEval/901",
    "prompt": 'from typing import List\n\ndef inc(n: int) -> int:\n    """Add one."""\n',
    "entry_point": "inc",
    "canonical_solution": "    return n + 1\n",
    "test": "METADATA = {}\n\n\ndef check(candidate):\n    assert candidate(1) == 2\n",
}


# ---- our own ---------------------------------------------------------------------------------------------------------


def test_own_row_is_taken_as_it_is() -> None:
    row = OWN | {"setup": "import math", "tolerance": 1e-6}
    assert read_own(row) == Problem(
        problem_id="ours/1",
        statement="Write a function inc(n) that adds one.",
        entry_point="inc",
        reference_solution="def inc(n):\n    return n + 1\n",
        reference_tests=("assert inc(1) == 2",),
        setup="import math",
        tolerance=1e-6,
    )
    assert own_row(read_own(row)) == row


def test_optional_fields_may_be_absent_or_null() -> None:
    row = {k: v for k, v in OWN.items() if k != "reference_tests"} | {"setup": None, "tolerance": None}
    problem = read_own(row)
    assert (problem.reference_tests, problem.setup, problem.tolerance) == ((), "", 0.0)


def test_id_is_an_alias_but_not_a_second_name() -> None:
    row = {k: v for k, v in OWN.items() if k != "problem_id"}
    assert read_own(row | {"id": "ours/2"}).problem_id == "ours/2"
    with pytest.raises(RowError, match="keep one"):
        read_own(OWN | {"id": "ours/2"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"statment": "typo"}, "unknown field 'statment'"),
        ({"statement": None}, "field 'statement' is missing"),
        ({"statement": " \n"}, "statement is empty"),
        ({"statement": 3}, "field 'statement' must be a string, not a number"),
        ({"problem_id": 3}, "field 'problem_id' must be a string"),
        ({"problem_id": ""}, "field 'problem_id'"),
        ({"problem_id": "a\nb"}, "field 'problem_id'"),
        ({"entry_point": "not a name"}, "field 'entry_point'"),
        ({"entry_point": "class"}, "field 'entry_point'"),
        ({"entry_point": "dec"}, r"does not define the entry point 'dec' \(it defines inc\)"),
        ({"reference_solution": "def inc(n:"}, "field 'reference_solution' is not Python: .*line 1"),
        ({"reference_solution": ""}, "it defines nothing"),
        ({"reference_tests": "assert inc(1) == 2"}, "field 'reference_tests' must be a list of strings, not a string"),
        ({"reference_tests": ["assert inc(1) == 2", 5]}, r"field 'reference_tests'\[1\] must be a string"),
        ({"reference_tests": ["assert inc(1) =="]}, r"field 'reference_tests'\[0\] is not Python"),
        ({"reference_tests": [" "]}, r"field 'reference_tests'\[0\] is empty"),
        ({"setup": "import"}, "setup code is not Python"),
        ({"setup": ["import math"]}, "field 'setup' must be a string, not a list"),
        ({"tolerance": "1e-6"}, "field 'tolerance' must be a number, not a string"),
        ({"tolerance": True}, "field 'tolerance' must be a number, not true or false"),
        ({"tolerance": -1}, "finite number of at least 0"),
        ({"tolerance": float("nan")}, "finite number of at least 0"),
    ],
)
def test_a_bad_field_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(RowError, match=message):
        read_own(OWN | change)


# ---- MBPP ------------------------------------------------------------------------------------------------------------


def test_mbpp_row() -> None:
    assert read_mbpp(MBPP) == Problem(
        problem_id="mbpp/700",
        statement="Write a function to add one.\nassert inc(1) == 2",
        entry_point="inc",
        reference_solution="def half(n):\n  return n / 2\ndef inc(n):\n  return n + 1\n",
        reference_tests=("assert inc(1) == 2", "assert inc(half(2)) == 2"),
    )


def test_sanitized_mbpp_row_keeps_its_imports() -> None:
    row = {
        "source_file": "x.ipynb",
        "task_id": 11,
        "prompt": "Add one.",
        "code": "def inc(n):\n    return n + 1",
        "test_imports": ["import math"],
        "test_list": ["assert math.isclose(inc(1), 2)"],
    }
    problem = read_mbpp(row)
    assert (problem.problem_id, problem.entry_point, problem.setup) == ("mbpp/11", "inc", "import math")


def test_mbpp_setup_code_is_kept() -> None:
    assert read_mbpp(MBPP | {"test_setup_code": "root = half(2) \r\n"}).setup == "root = half(2)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task_id": None}, "field 'task_id' is missing"),
        ({"task_id": "x"}, "field 'task_id' must be a number"),
        ({"task_id": 1.5}, "field 'task_id' must be a number"),
        ({"text": None}, "field 'prompt' is missing"),
        ({"text": " "}, "statement is empty"),
        ({"code": "def inc(n)"}, "field 'code' is not Python"),
        ({"test_list": None}, "field 'test_list' is missing"),
        ({"test_list": []}, "field 'test_list' is empty"),
        (
            {"test_list": ["assert other(1) == 2"]},
            r"calls no function or class that 'code' defines \(it defines half, inc\)",
        ),
        ({"test_list": ["assert inc(1) =="]}, r"field 'test_list'\[0\] is not Python"),
    ],
)
def test_a_bad_mbpp_field_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(RowError, match=message):
        read_mbpp(MBPP | change)


@pytest.mark.parametrize(
    ("task_id", "split"),
    [
        (1, "prompt"),
        (10, "prompt"),
        (11, "test"),
        (510, "test"),
        (511, "validation"),
        (600, "validation"),
        (601, "train"),
    ],
)
def test_mbpp_splits(task_id: int, split: str) -> None:
    homes = [name for name in ("prompt", "test", "validation", "train") if in_mbpp_split({"task_id": task_id}, name)]
    assert homes == [split]


def test_an_unknown_mbpp_split_is_refused() -> None:
    with pytest.raises(ConfigError, match="prompt, test, validation, train"):
        in_mbpp_split(MBPP, "dev")


# ---- EvalPlus --------------------------------------------------------------------------------------------------------


def test_evalplus_parquet_row_with_a_body() -> None:
    problem = read_evalplus(PARQUET)
    assert problem.problem_id == "HumanEval/900"
    assert problem.entry_point == "inc"
    assert problem.statement.startswith("import math\n\ndef inc")
    assert problem.setup == "import math"
    assert problem.tolerance == 0.0001
    assert problem.reference_tests == (PARQUET["test"],)
    namespace: dict[str, object] = {}
    exec(problem.reference_solution + "\nanswer = inc(4)", namespace)
    assert namespace["answer"] == 5


def test_evalplus_parquet_row_with_a_whole_solution() -> None:
    row = PARQUET | {
        "GT_code": "\ndef inc(n):\n    return n + 1\n",
        "problem": 'def inc(n):\n"""\nAdd one.\nassert inc(1) == 2\n"""',
        "test": "def check(inc):\n    assertion(inc(*inp), exp, 0)\n",
    }
    problem = read_evalplus(row)
    assert problem.reference_solution == "def inc(n):\n    return n + 1\n"
    assert problem.tolerance == 1e-6


def test_the_entry_point_is_what_the_check_calls() -> None:
    """MBPP+ rows with helper functions name the first one; the loop of the check calls the right one."""
    extra = {"function_name": "helper", "imports": "", "question_id": "MBPP/6"}
    row = PARQUET | {
        "GT_code": "def helper(n):\n    return n\ndef inc(n):\n    return helper(n) + 1\n",
        "problem": "def helper(n):\n\ndef inc(n):\n…",
        "test": "def check(helper):\n    for inp, exp in [[[1], 2]]:\n        assertion(inc(*inp), exp, 0)\n",
        "extra_info": extra,
    }
    problem = read_evalplus(row)
    assert problem.entry_point == "inc"
    assert problem.reference_tests[0].startswith("def check(inc):\n")


def test_human_eval_row() -> None:
    problem = read_evalplus(HUMAN_EVAL)
    assert problem.problem_id == "HumanEval/901"
    assert problem.setup == "from typing import List"
    assert problem.reference_solution.endswith('"""Add one."""\n    return n + 1\n')
    assert problem.reference_tests == (HUMAN_EVAL["test"],)


def test_evalplus_jsonl_without_answers_has_no_reference_tests() -> None:
    row = {k: v for k, v in HUMAN_EVAL.items() if k != "test"} | {
        "base_input": [[1]],
        "plus_input": [[2]],
        "atol": 0.001,
        "contract": "",
    }
    problem = read_evalplus(row)
    assert (problem.reference_tests, problem.tolerance) == ((), 0.001)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (PARQUET | {"extra_info": "x"}, "field 'extra_info' must be an object"),
        (PARQUET | {"extra_info": {"question_id": "HumanEval/1"}}, "field 'function_name' is missing"),
        (PARQUET | {"test": "assert inc(1) == 2"}, r"field 'test' must be a program that defines check"),
        (PARQUET | {"GT_code": "    return ("}, "field 'GT_code' is not Python"),
        (HUMAN_EVAL | {"entry_point": "dec"}, "field 'canonical_solution' does not define the entry point 'dec'"),
        (HUMAN_EVAL | {"canonical_solution": None}, "field 'canonical_solution' is missing"),
    ],
)
def test_a_bad_evalplus_field_is_named(row: dict[str, object], message: str) -> None:
    with pytest.raises(RowError, match=message):
        read_evalplus(row)


# ---- which format ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "name"), [(OWN, "code-a1"), (MBPP, "mbpp"), (PARQUET, "evalplus"), (HUMAN_EVAL, "evalplus")]
)
def test_the_first_row_gives_the_format_away(row: dict[str, object], name: str) -> None:
    assert choose_format("auto", row) is FORMATS[name]
    assert choose_format(name, row) is FORMATS[name]


def test_a_wrong_format_is_refused_with_the_right_one() -> None:
    with pytest.raises(RowError, match=r"looks like mbpp, not evalplus: set problems\.format to 'mbpp' or 'auto'"):
        choose_format("evalplus", MBPP)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ConfigError, match="auto, code-a1, evalplus, mbpp"):
        choose_format("csv", OWN)


def test_unknown_fields_are_listed_with_what_is_known() -> None:
    with pytest.raises(RowError, match=r"these fields \(a, b\)\. Known are code-a1: problem_id"):
        choose_format("auto", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"func_name": "f", "code": "", "prompt": "", "task_id": 1, "test_list": []}, "UnLeakedTestBench"),
        (
            {"question_id": "x", "question": "q", "solution": "s", "test": "t"},
            "kodcode, which is converted before use: code-a1 problems convert kodcode",
        ),
    ],
)
def test_known_foreign_schemas_are_called_by_name(row: dict[str, object], name: str) -> None:
    with pytest.raises(RowError, match=f"looks like {name}"):
        choose_format("auto", row)
