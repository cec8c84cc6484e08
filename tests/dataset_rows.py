"""Rows of the datasets that are converted: one of each, and files in the shape of KodCode-V1 of any length.

    python tests/dataset_rows.py 10000 OUT.jsonl        (or OUT.parquet)

In the files solutions and asserts are those of the bundled problems under new names; the tests are pytest files as KodCode has them:
one function per assert, some with variables, parametrize, loops, approx, fixtures or an expected exception.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from code_a1.config import ProblemsConfig
from code_a1.problems import load_problems
from code_a1.problems.entry_points import declaration_of, defined_names
from code_a1.records import Problem

KODCODE: dict[str, object] = {
    "version": "v1.0",
    "style": "instruct",
    "subset": "Prefill",
    "question_id": "Prefill_7_I",
    "question": "Count how many numbers of a list are even.\r\nThe list may be empty.",
    "solution": "def is_even(n):\n    return n % 2 == 0\n\ndef count_even(numbers):\n    return sum(map(is_even, numbers))",
    "test": "from solution import count_even\n\ndef test_empty():\n    assert count_even([]) == 0\n",
    "test_info": [
        {
            "docstring": "",
            "function_declaration": "def count_even(numbers):",
            "function_name": "count_even",
            "parameter_list": "(numbers)",
        }
    ],
    "gpt_pass_sequence": [1, 0],
    "gpt_difficulty": "hard",
    "gpt_pass_percentage": 0.2,
}

ACECODE: dict[str, object] = {
    "id": "oss_12",
    "source": "oss",
    "question": "Implement `last(xs)`, which returns the last element of a list, or None of an empty one.",
    "test_cases": ["assert last([1, 2]) == 2", "assert last([]) is None"],
    "inferences": [
        {"model_name": "a", "completion_id": 0, "completion": "def last(xs):\n    return xs[-1]\n", "pass_rate": 0.5},
        {
            "model_name": "b",
            "completion_id": 0,
            "completion": "Sure!\n```python\ndef last(xs):\n    return xs[-1] if xs else None\n```",
            "pass_rate": 1.0,
        },
        {"model_name": "b", "completion_id": 1, "completion": "def last(xs):\n    return xs.pop()\n", "pass_rate": 1},
    ],
}

METHOD = "class Solution:\n    def swap(self, pair: List[int]) -> List[int]:\n        return [pair[1], pair[0]]\n"
APPS: dict[str, object] = {
    "problem_id": 2641,
    "question": "Swap the two numbers of a pair.",
    "solutions": json.dumps(["print 'python 2'", METHOD, "def swap(pair):\n    return deque(pair[::-1])\n"]),
    "input_output": json.dumps({"fn_name": "swap", "inputs": [[[1, 2]], [[3, 3]]], "outputs": [[[2, 1]], [[3, 3]]]}),
    "difficulty": "interview",
    "url": "https://example.org/swap",
    "starter_code": "class Solution:\n    def swap(self, pair: List[int]) -> List[int]:\n        ",
}


# ---- files of KodCode ------------------------------------------------------------------------------------------------

LEVELS = ("easy", "medium", "hard")


def kodcode_rows(count: int) -> Iterator[dict[str, object]]:
    """Rows that all convert: as many as asked for, each with an id, a statement and a function name of its own."""
    bases = [p for p in load_problems(ProblemsConfig()).problems if _is_function(p)]
    for number in range(count):
        yield _row(bases[number % len(bases)], number)


def _is_function(problem: Problem) -> bool:
    return problem.entry_point in defined_names(ast.parse(problem.reference_solution)).functions


def _row(base: Problem, number: int) -> dict[str, object]:
    name = f"{base.entry_point}_{number}"

    def renamed(text: str) -> str:
        return re.sub(rf"\b{re.escape(base.entry_point)}\b", name, text)

    solution = renamed(base.reference_solution)
    declaration = declaration_of(ast.parse(solution), name) + ":"
    passed = number % 11 / 10
    return {
        "version": "v1.0",
        "style": "instruct",
        "subset": "Prefill",
        "question_id": f"Prefill_{number}_I",
        "question": f"{renamed(base.statement)} This is variant {number}.",
        "solution": solution,
        "test": _pytest_file(name, [renamed(test) for test in base.reference_tests], number),
        "test_info": [
            {
                "docstring": "",
                "function_declaration": declaration,
                "function_name": name,
                "parameter_list": declaration[declaration.index("(") : declaration.rindex(")") + 1],
            }
        ],
        "gpt_pass_sequence": [int(i < number % 11) for i in range(10)],
        "gpt_pass_trial_num": number % 11,
        "gpt_difficulty": LEVELS[number % 3],
        "gpt_pass_percentage": passed,
        "trials": {
            f"trial_gpt4o_{i}": {"solution_code": solution, "test_code": "", "test_result": "1"} for i in range(10)
        },
        "chosen_trial": "trial_gpt4o_0",
        "metadata": {"original_instruction": "", "prompt_id": number, "row_id": number, "seed_ids": ""},
        "benchmark_similarity": 0.5,
        "filter_reason": "",
    }


def _pytest_file(name: str, tests: list[str], number: int) -> str:
    lines = ["import pytest", f"from solution import {name}", ""]
    for i, test in enumerate(tests):
        lines += [*_test_function(i, ast.parse(test).body, form=(number + i) % 6), ""]
    if number % 4 == 0:
        lines += [
            "def test_wrong_number_of_arguments():",
            "    with pytest.raises(TypeError):",
            f"        {name}(1, 2, 3, 4, 5, 6)",
        ]
    return "\n".join(lines) + "\n"


def _test_function(i: int, body: list[ast.stmt], form: int) -> list[str]:
    first = body[0]
    if len(body) == 1 and isinstance(first, ast.Assert) and isinstance(first.test, ast.Compare):
        call, answer = ast.unparse(first.test.left), ast.unparse(first.test.comparators[0])
        if isinstance(first.test.ops[0], ast.Eq) and len(first.test.ops) == 1 and form < 2:
            if form == 0:
                return [
                    f"def test_case_{i}():",
                    f"    result = {call}",
                    f"    expected = {answer}",
                    "    assert result == expected",
                ]
            decorator = f"@pytest.mark.parametrize('expected', [{answer}])"
            return [decorator, f"def test_case_{i}(expected):", f"    assert {call} == expected"]
    statements = [line for statement in body for line in ast.unparse(statement).splitlines()]
    return [f"def test_case_{i}():", f'    """Case {i}."""', *(f"    {line}" for line in statements)]


def main(count: int, path: Path) -> None:
    rows = list(kodcode_rows(count))
    if path.suffix == ".parquet":
        import pyarrow as pa  # noqa: PLC0415 - an optional extra
        import pyarrow.parquet as pq  # noqa: PLC0415

        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
