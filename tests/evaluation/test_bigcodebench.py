"""BigCodeBench: rows in its schema, both prompts, unittest cases that replace what the solution imports."""

from __future__ import annotations

import json

import pytest

from code_a1.errors import ProblemError
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.records import Verdict
from code_a1.sandbox import Limits, Sandbox

P, F, E = Verdict.PASS, Verdict.FAIL, Verdict.ERROR
ROW = {
    "task_id": "BigCodeBench/900",
    "complete_prompt": 'import random\n\ndef task_func(n):\n    """Return n random digits as text."""\n',
    "instruct_prompt": "Return n random digits as text. Begin with:\n```\nimport random\ndef task_func(n):\n```",
    "canonical_solution": "    return ''.join(str(random.randint(0, 9)) for _ in range(n))",
    "code_prompt": "import random\ndef task_func(n):\n",
    "test": "import unittest\nfrom unittest.mock import patch\n\nclass TestCases(unittest.TestCase):\n"
    "    def setUp(self):\n        self.n = 4\n"
    "    def test_length(self):\n        self.assertEqual(len(task_func(self.n)), 4)\n"
    "    @patch('random.randint', return_value=7)\n"
    "    def test_source(self, mocked):\n        self.assertEqual(task_func(3), '777')\n"
    "    def test_error(self):\n        with self.assertRaises(TypeError):\n            task_func('x')\n",
    "entry_point": "task_func",
    "doc_struct": "{}",
    "libs": "['random']",
}  # fmt: skip


@pytest.fixture(scope="module")
def judge():
    with Sandbox(Limits(), workers=1) as sandbox:
        yield BenchJudge(sandbox)


def open_row(tmp_path, name="bigcodebench", **changes):
    path = tmp_path / "bcb.jsonl"
    path.write_text(json.dumps(ROW | changes) + "\n")
    [bench] = open_benchmarks([f"{name}={path}"])
    return bench.tasks[0]


def test_cases_judge(tmp_path, judge):
    task = open_row(tmp_path)
    assert judge.prepare([task]) == {}
    programs = [
        "import random\ndef task_func(n): return ''.join(str(random.randint(0, 9)) for _ in range(n))",
        "from random import randint\ndef task_func(n): return ''.join(str(randint(0, 9)) for _ in range(n))",
        "def task_func(n): return '7' * n",  # all that the cases ask for
        "def task_func(n): return '8' * n",
        "def task_func(n): return ''.join(str(random.randint(0, 9)) for _ in range(n))",
        "def task_func(n): exit(0)",
        "def other(n): return ''",
        "import os\nos._exit(0)",
        "class TestCases: pass\ndef task_func(n): return ''",
    ]
    found = [j.verdict for j in judge([(task, p) for p in programs])]
    assert found == [P, F, P, F, F, F, F, Verdict.CRASH, F]


def test_cases_may_write_files_that_are_gone_afterwards(tmp_path, judge):
    solution = "    with open('out.txt', 'w') as file:\n        file.write(str(n))\n    return os.listdir('.')"
    test = (
        "import os, unittest\nclass TestCases(unittest.TestCase):\n"
        "    def tearDown(self):\n        os.remove('out.txt')\n"
        "    def test_file(self):\n        self.assertEqual(task_func(5), ['out.txt'])\n"
        "        self.assertEqual(open('out.txt').read(), '5')\n"
    )
    task = open_row(tmp_path, complete_prompt="import os\ndef task_func(n):\n", canonical_solution=solution, test=test)
    assert judge.prepare([task]) == {}
    leaves = "import os\ndef task_func(n):\n    open('other.txt', 'w').close()\n" + solution
    assert [j.verdict for j in judge([(task, leaves), (task, task.tests.reference)])] == [F, P]


def test_both_prompts_come_from_the_same_rows(tmp_path):
    complete, instruct = open_row(tmp_path), open_row(tmp_path, "bigcodebench-instruct")
    assert '"""Return n random digits as text."""' in complete.prompt[-1].content
    assert instruct.prompt[-1].content.startswith("Return n random digits as text. Begin with:")
    assert complete.tests == instruct.tests


def test_a_task_whose_library_is_missing_is_left_out(tmp_path, judge):
    task = open_row(tmp_path, test="import nothing_of_the_kind\n" + ROW["test"])
    [reason] = judge.prepare([task]).values()
    assert "ModuleNotFoundError: No module named 'nothing_of_the_kind'" in reason


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": "x = 1"}, "field 'test' must define a class TestCases"),
        ({"test": "class ("}, "field 'test' is not Python"),
        ({"canonical_solution": None}, "field 'canonical_solution' is missing"),
        ({"canonical_solution": "  return ("}, "'complete_prompt' and 'canonical_solution' together is not Python"),
    ],
)
def test_a_bad_row_is_named(tmp_path, changes, message):
    with pytest.raises(ProblemError, match=message):
        open_row(tmp_path, **changes)
