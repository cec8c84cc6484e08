"""One row of each schema that is converted becomes one problem, or says why it is none."""

from __future__ import annotations

import json

import pytest

from code_a1.problems.acecode import acecode_pass_rate, acecode_versions
from code_a1.problems.competition import competition_difficulty, competition_versions
from code_a1.problems.fields import Fields, RowError, Unsuited
from code_a1.problems.formats import FORMATS, choose_format, looks_like
from code_a1.problems.kodcode import kodcode_difficulty, kodcode_pass_rate, read_kodcode
from code_a1.records import Problem
from dataset_rows import ACECODE, APPS, KODCODE, METHOD

# ---- KodCode ---------------------------------------------------------------------------------------------------------


def test_a_kodcode_row_shows_its_declaration() -> None:
    assert read_kodcode(KODCODE) == Problem(
        problem_id="Prefill_7_I",
        statement="Count how many numbers of a list are even.\nThe list may be empty.\n\ndef count_even(numbers)",
        entry_point="count_even",
        reference_solution=str(KODCODE["solution"]) + "\n",
        reference_tests=("from solution import count_even\n\ndef test_empty():\n    assert count_even([]) == 0",),
    )
    assert (kodcode_difficulty(KODCODE), kodcode_pass_rate(KODCODE)) == ("hard", 0.2)
    assert (kodcode_difficulty({}), kodcode_pass_rate({})) == ("", None)


def test_a_question_that_shows_the_declaration_is_left_alone() -> None:
    question = "def count_even(numbers):\n    '''Count the even ones.'''"
    assert read_kodcode(KODCODE | {"question": question, "style": "complete"}).statement == question


def test_of_several_declared_functions_the_tests_choose() -> None:
    info = [{"function_name": n, "function_declaration": f"def {n}(x):"} for n in ("is_even", "count_even")]
    problem = read_kodcode(KODCODE | {"test_info": info})
    assert problem.entry_point == "count_even"
    assert problem.statement.endswith("\n\ndef is_even(x)\ndef count_even(x)")


@pytest.mark.parametrize("form", ["object", "json"])
def test_test_info_may_be_one_object_or_json(form: str) -> None:
    info = KODCODE["test_info"]
    assert isinstance(info, list)
    value = info[0] if form == "object" else json.dumps(info)
    assert read_kodcode(KODCODE | {"test_info": value}) == read_kodcode(KODCODE)


def test_older_rows_have_test_code_and_no_test_info() -> None:
    row = {k: v for k, v in KODCODE.items() if k not in ("test", "test_info")} | {"test_code": KODCODE["test"]}
    assert read_kodcode(row) == read_kodcode(KODCODE)
    assert looks_like(row) == "kodcode"


def test_a_fenced_solution_is_unwrapped() -> None:
    solution = f"Here it is:\n```python\n{KODCODE['solution']}\n```\nDone."
    assert read_kodcode(KODCODE | {"solution": solution}) == read_kodcode(KODCODE)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"test_info": []}, "no function-level test: test_info names no function"),
        ({"test_info": None}, "no function-level test"),
        ({"style": "online_judge"}, "judged by what it prints"),
        ({"test": '{"stdin": ["1"], "stdout": ["2"]}'}, "judged by what it prints"),
    ],
)
def test_kodcode_rows_without_a_function_are_unsuited(change: Fields, reason: str) -> None:
    with pytest.raises(Unsuited, match=reason) as caught:
        read_kodcode(KODCODE | change)
    assert caught.value.kind == "unsuited"


def test_tests_of_a_class_are_unsuited() -> None:
    row = {k: v for k, v in KODCODE.items() if k != "test_info"}
    row |= {"solution": "class Bag:\n    def size(self):\n        return 0\n"}
    row |= {"test": "from solution import Bag\ndef test_size():\n    assert Bag().size() == 0\n"}
    with pytest.raises(Unsuited, match="about the class Bag"):
        read_kodcode(row)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"question_id": None}, "field 'question_id' is missing"),
        ({"question": 3}, "field 'question' must be a string, not a number"),
        ({"question": "", "test_info": [{"function_name": "count_even"}]}, "the statement is empty"),
        ({"solution": "def count_even(:"}, "field 'solution' is not Python: .*line 1"),
        ({"test": "def test_x(:"}, "field 'test' is not Python"),
        ({"test": None}, "field 'test_code' is missing"),
        ({"test_info": "[{"}, "field 'test_info' is not JSON"),
        ({"test_info": 5}, "field 'test_info' must be a list"),
        ({"test_info": ["f"]}, "field 'test_info' must be a list of objects"),
        (
            {"test_info": [{"function_name": "other"}]},
            r"none of the functions in 'test_info' \(other\); it defines is_ev",
        ),
    ],
)
def test_broken_kodcode_rows(change: Fields, reason: str) -> None:
    with pytest.raises(RowError, match=reason) as caught:
        read_kodcode(KODCODE | change)
    assert caught.value.kind != "unsuited"


# ---- AceCode ---------------------------------------------------------------------------------------------------------


def test_completions_that_pass_every_test_are_the_references_of_acecode() -> None:
    first, second = acecode_versions(ACECODE)
    assert first == Problem(
        problem_id="oss_12",
        statement=str(ACECODE["question"]),
        entry_point="last",
        reference_solution="def last(xs):\n    return xs[-1] if xs else None\n",
        reference_tests=("assert last([1, 2]) == 2", "assert last([]) is None"),
    )
    assert second.reference_solution == "def last(xs):\n    return xs.pop()\n"
    assert acecode_pass_rate(ACECODE) == pytest.approx(2.5 / 3)


def test_a_question_without_the_name_ends_with_a_test() -> None:
    problem = next(acecode_versions(ACECODE | {"question": "Return the end of a list."}))
    assert problem.statement == "Return the end of a list.\nassert last([1, 2]) == 2"


@pytest.mark.parametrize("inferences", [[], None, [{"completion": "def last(xs): ...", "pass_rate": 0.9}]])
def test_without_a_passing_completion_there_is_no_reference(inferences: object) -> None:
    with pytest.raises(Unsuited, match="no reference: the best of [01] recorded completions passes (0|90)%"):
        next(acecode_versions(ACECODE | {"inferences": inferences}))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"test_cases": []}, "field 'test_cases' is empty"),
        ({"test_cases": ["assert last("]}, r"field 'test_cases'\[0\] is not Python"),
        ({"test_cases": "assert last([]) is None"}, "field 'test_cases' must be a list of strings"),
        ({"test_cases": ["assert first([1]) == 1"]}, "calls nothing that the completion defines"),
        ({"inferences": [{"completion": "x"}]}, "field 'inferences' must be a list of objects"),
        ({"inferences": [{"completion": "no code", "pass_rate": 1.0}]}, "field 'inferences'.* is not Python"),
        ({"id": 12}, "field 'id' must be a string"),
        ({"question": ""}, "the statement is empty"),
    ],
)
def test_broken_acecode_rows(change: Fields, reason: str) -> None:
    with pytest.raises(RowError, match=reason) as caught:
        next(acecode_versions(ACECODE | change))
    assert caught.value.kind != "unsuited"


# ---- APPS and TACO ---------------------------------------------------------------------------------------------------

WRAPPED = "\n\ndef swap(*args):\n    return Solution().swap(*args)\n"


def versions(row: Fields, dataset: str = "apps") -> list[Problem]:
    return list(competition_versions(row, dataset=dataset))


def test_an_apps_row_becomes_a_function_with_its_imports() -> None:
    first = versions(APPS)[0]
    assert first == Problem(
        problem_id="apps/2641",
        statement=(
            "Swap the two numbers of a pair.\n\nfrom typing import List\ndef swap(pair: List[int]) -> List[int]"
        ),
        entry_point="swap",
        reference_solution=f"from typing import List\n\n\n{METHOD}{WRAPPED}",
        reference_tests=("assert swap([1, 2]) == [[2, 1]]", "assert swap([3, 3]) == [[3, 3]]"),
    )
    assert competition_difficulty(APPS) == "interview"


def test_every_solution_is_tried_with_every_reading_of_the_answers() -> None:
    found = [
        (v.reference_solution.partition("\n")[0], v.reference_tests[0].partition("== ")[2]) for v in versions(APPS)
    ]
    answers = ["[[2, 1]]", "[2, 1]", "([2, 1],)", "(2, 1)"]
    assert found == [
        *(("from typing import List", a) for a in answers),
        *(("from collections import deque", a) for a in answers),
    ]


def test_equal_readings_are_tried_once() -> None:
    cases = {"fn_name": "swap", "inputs": [["ab"]], "outputs": ["ba"]}
    assert len(versions(APPS | {"input_output": json.dumps(cases)})) == 2


def test_taco_ids_come_from_the_text() -> None:
    row = {k: v for k, v in APPS.items() if k != "problem_id"} | {"raw_tags": "[]", "skill_types": "[]"}
    one, other = versions(row, "taco")[0], versions(row | {"question": "Swap."}, "taco")[0]
    assert one.problem_id.startswith("taco/")
    assert one.problem_id == versions(row, "taco")[0].problem_id != other.problem_id
    assert versions(row | {"id": 5}, "taco")[0].problem_id == "taco/5"


def test_a_plain_function_is_shown_as_its_solution_has_it() -> None:
    row = APPS | {"starter_code": "", "solutions": json.dumps(["def swap(a, b=1):\n    return b\n"])}
    assert versions(row)[0].statement == "Swap the two numbers of a pair.\n\ndef swap(a, b=1)"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"input_output": json.dumps({"inputs": ["1\n"], "outputs": ["2\n"]})}, "reads standard input"),
        ({"input_output": ""}, "reads standard input"),
        ({"solutions": ""}, "no reference: the row has no solution"),
        ({"solutions": None}, "no reference"),
        ({"input_output": json.dumps({"fn_name": "swap", "inputs": ["N = 5"], "outputs": ["1"]})}, "text to be parsed"),
        ({"input_output": json.dumps({"fn_name": "swap", "inputs": [], "outputs": []})}, "no tests"),
    ],
)
def test_apps_rows_without_a_function_are_unsuited(change: Fields, reason: str) -> None:
    with pytest.raises(Unsuited, match=reason):
        versions(APPS | change)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"input_output": "{"}, "field 'input_output' is not JSON"),
        ({"input_output": "[]"}, "field 'input_output' must be an object as JSON"),
        ({"input_output": json.dumps({"fn_name": "a b"})}, "fn_name must be the name of a function, not 'a b'"),
        ({"input_output": json.dumps({"fn_name": "swap", "inputs": [[1]], "outputs": []})}, "two lists of one length"),
        ({"solutions": "{}"}, "field 'solutions' must be a list as JSON"),
        ({"solutions": json.dumps(["print 1", "def other(): ...", 3])}, "none of the 3 solutions is Python 3 that def"),
        ({"question": None}, "field 'question' is missing"),
        ({"question": " "}, "the statement is empty"),
    ],
)
def test_broken_apps_rows(change: Fields, reason: str) -> None:
    with pytest.raises(RowError, match=reason) as caught:
        versions(APPS | change)
    assert caught.value.kind != "unsuited"


# ---- which is which --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "name"),
    [(KODCODE, "kodcode"), (ACECODE, "acecode"), (APPS, "apps"), (APPS | {"raw_tags": "[]"}, "taco")],
)
def test_formats_that_are_converted_first(row: Fields, name: str) -> None:
    assert choose_format("auto", row, converting=True) is FORMATS[name]
    assert choose_format(name, row, converting=True) is FORMATS[name]
    with pytest.raises(RowError, match=f"looks like {name}, which is converted before use: code-a1 problems convert"):
        choose_format("auto", row)
    other = "mbpp" if name != "mbpp" else "apps"
    with pytest.raises(RowError, match=f"looks like {name}, not {other}: code-a1 problems convert {name}"):
        choose_format(other, row, converting=True)


def test_a_row_that_shares_no_field_with_the_format_says_what_it_has() -> None:
    with pytest.raises(RowError, match=r"has none of the fields of kodcode .*its fields are a, b") as caught:
        choose_format("kodcode", {"a": 1, "b": 2}, converting=True)
    assert caught.value.kind == "other format"
