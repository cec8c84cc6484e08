"""HumanEval+ and MBPP+ in every shape that their rows come in, with small rows of our own."""

from __future__ import annotations

import json

import pytest

from code_a1.errors import ProblemError
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.evaluation.code.tasks import InputTests
from code_a1.records import Verdict
from code_a1.sandbox import Sandbox

ASSERTION = """import numpy as np

def assertion(out, exp, atol):
    if out != exp and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert out == exp

"""
PARQUET = {
    "prompt": [{"role": "user", "content": "Complete it."}],
    "description": "d",
    "GT_code": "\n    return x / 2\n",
    "problem": 'def half(x):\n    """Return half of x."""\n',
    "test": ASSERTION + "def check(candidate):\n    inputs = [[1], [3], [4]]\n    results = [0.5, 1.5, 2.0]\n"
    "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 1e-06)\n",
    "data_source": "humanevalplus",
    "extra_info": {"function_declaration": "def half(x):", "function_name": "half", "imports": "", "question_id": "HumanEval/900"},
}  # fmt: skip
OWN = {
    "task_id": "Mbpp/901",
    "prompt": '"""\nWrite a function to swap pairs.\nassert swap([(1, 2)]) == [(2, 1)]\n"""\n',
    "entry_point": "swap",
    "canonical_solution": "def swap(pairs):\n    return [p[::-1] for p in pairs]\n",
    "base_input": [[[[1, 2], [3, 4]]]],
    "plus_input": [[[]], [[[5, 5]]]],
    "atol": 0,
    "assertion": "assert swap([(1, 2)]) == [(2, 1)]",
}
HUB = {
    "task_id": 902,
    "code": "def twice(x):\n    return x + x\n",
    "prompt": "Write a function to double.",
    "test_imports": [],
    "test_list": ["assert twice(2) == 4"],
    "test": ASSERTION + "inputs = [[2], ['a']]\nresults = [4, 'aa']\n"
    "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(twice(*inp), exp, 0)\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def judge():
    with Sandbox(workers=1) as sandbox:
        yield BenchJudge(sandbox)


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def verdicts(judge, task, *programs):
    assert judge.prepare([task]) == {}
    return [judged.verdict for judged in judge([(task, program) for program in programs])]


def test_parquet_rows_are_judged_by_their_check_on_recorded_outputs(tmp_path, judge):
    [bench] = open_benchmarks([write(tmp_path / "e.jsonl", PARQUET)])
    [task] = bench.tasks
    assert (bench.name, task.task_id, task.entry_point) == ("humaneval+", "HumanEval/900", "half")
    assert task.prompt[0].content == "Complete it."
    assert isinstance(task.tests, InputTests)
    assert task.tests.inputs_source == "[[1], [3], [4]]"
    found = verdicts(
        judge, task,
        "def half(x): return x / 2",
        "def half(x): return x * 0.5 + 1e-9",  # within the row's tolerance
        "def half(x): return x // 2",
        "def half(x): raise ValueError('no')",
        "def half(x):\n    while True: pass",
        "def half(x):\n    class E:\n        def __eq__(self, o): return True\n        __ne__ = lambda s, o: False\n    return E()",
        "def halve(x): return x / 2",
        "def half(x): exit(0)",
    )  # fmt: skip
    P, F, E, T = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.TIMEOUT
    assert found == [P, P, F, E, T, F, E, E]


def test_evalplus_own_rows_get_their_types_back_and_are_judged_by_the_reference(tmp_path, judge):
    [bench] = open_benchmarks([f"mbpp+={write(tmp_path / 'm.jsonl', OWN)}"])
    [task] = bench.tasks
    assert isinstance(task.tests, InputTests)
    assert list(task.tests.inputs) == [[[(1, 2), (3, 4)]], [[]], [[(5, 5)]]]
    found = verdicts(
        judge, task,
        "def swap(pairs): return [(b, a) for a, b in pairs]",
        "def swap(pairs): return [[b, a] for a, b in pairs]",
        "def swap(pairs): return pairs",
    )  # fmt: skip
    assert found == [Verdict.PASS, Verdict.FAIL, Verdict.FAIL]


@pytest.mark.parametrize(
    ("name", "reference", "other"),
    [
        ("Diff", "def Diff(a):\n    return [1, 2, 2]\n", "def Diff(a): return [2, 1]"),
        ("check_str", "def check_str(a):\n    return True\n", "def check_str(a): return 'a match'"),
        ("sum_div", "def sum_div(a):\n    return 7\n", "def sum_div(a): return 0"),
        ("surface_Area", "def surface_Area(b, h):\n    return 33\n", "def surface_Area(b, h): return 39"),  # 9 + 2*3*√(2.25+23.04)
        ("digit_distance_nums", "def digit_distance_nums(a, b):\n    return 0\n", "def digit_distance_nums(a, b): return 5"),  # 013 and 106
    ],
)  # fmt: skip
def test_evalplus_special_answers(tmp_path, judge, name, reference, other):
    two = name in ("surface_Area", "digit_distance_nums")
    inputs = [[3, 4.8]] if name == "surface_Area" else [[13, 106]] if two else [[4]]
    row = OWN | {"entry_point": name, "canonical_solution": reference, "base_input": inputs, "plus_input": [], "assertion": "assert True"}  # fmt: skip
    [bench] = open_benchmarks([f"mbpp+={write(tmp_path / 'm.jsonl', row)}"])
    wrong = other.rpartition("return")[0] + "return 'x'" if name != "check_str" else "def check_str(a): return None"
    assert verdicts(judge, bench.tasks[0], other, wrong) == [Verdict.PASS, Verdict.FAIL]


def test_the_hubs_mbpp_rows_are_scripts(tmp_path, judge):
    [bench] = open_benchmarks([write(tmp_path / "hub.jsonl", HUB)])
    [task] = bench.tasks
    assert (bench.name, task.task_id, task.entry_point) == ("mbpp+", "MBPP/902", "twice")
    assert isinstance(task.tests, InputTests)
    found = verdicts(judge, task, "def twice(x): return 2 * x", "def twice(x): return x")
    assert found == [Verdict.PASS, Verdict.FAIL]


def test_a_reference_that_its_check_refuses_is_left_out(tmp_path, judge):
    [bench] = open_benchmarks([write(tmp_path / "e.jsonl", PARQUET | {"GT_code": "\n    return x\n"})])
    [reason] = judge.prepare(bench.tasks).values()
    assert "refuses its own reference" in reason


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({k: v for k, v in PARQUET.items() if k != "test"}, r"e.jsonl:1: field 'test' is missing"),
        (PARQUET | {"data_source": "x"}, "field 'data_source' must be one of"),
        (OWN | {"base_input": 3}, "field 'base_input' must be a list of lists"),
        (OWN | {"base_input": [], "plus_input": []}, "hold no input"),
        (PARQUET | {"prompt": []}, "field 'prompt' must be a list of chat messages"),
    ],
)
def test_a_bad_row_is_named(tmp_path, row, message):
    with pytest.raises(ProblemError, match=message):
        open_benchmarks([write(tmp_path / "e.jsonl", row)])


def test_a_name_without_data_says_what_to_put_where(tmp_path, monkeypatch):
    def offline(path, split=None):
        raise ProblemError(f"{path}: no network")

    monkeypatch.setattr("code_a1.evaluation.code.reading.open_rows", offline)
    with pytest.raises(
        ProblemError, match=r"put its file at .*humaneval\+\.parquet, or name it: --bench humaneval\+=FILE"
    ):
        open_benchmarks(["humaneval+"], folder=tmp_path)
    with pytest.raises(ProblemError, match="no such file, which is to hold"):
        open_benchmarks(["mbpp+=nothing.jsonl"])


def test_a_limit_draws_the_same_tasks_every_time(tmp_path):
    rows = [PARQUET | {"extra_info": PARQUET["extra_info"] | {"question_id": f"HumanEval/{i}"}} for i in range(20)]
    path = write(tmp_path / "e.jsonl", *rows)
    [[first], [second], [other]] = [open_benchmarks([path], limit=5, seed=seed) for seed in (1, 1, 2)]
    ids = [[t.task_id for t in b.tasks] for b in (first, second, other)]
    assert ids[0] == ids[1] != ids[2]
    assert [int(i.split("/")[1]) for i in ids[0]] == sorted(int(i.split("/")[1]) for i in ids[0])
    assert first.fingerprint() == second.fingerprint() != other.fingerprint()


def test_all_real_rows_are_taken_apart(shared_data):
    benches = open_benchmarks([str(shared_data / "humaneval_plus_mbpp_plus.parquet")])
    assert [(b.name, len(b.tasks)) for b in benches] == [("humaneval+", 164), ("mbpp+", 378)]
    assert all(isinstance(t.tests, InputTests) for b in benches for t in b.tasks)


def test_programs_that_are_wrong_late_fail_as_those_that_are_wrong_early(tmp_path, judge):
    many = ASSERTION + (
        "def check(candidate):\n"
        f"    inputs = {[[i] for i in range(20)]}\n    results = {[i / 2 for i in range(20)]}\n"
        "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)\n"
    )
    [bench] = open_benchmarks([write(tmp_path / "e.jsonl", PARQUET | {"test": many})])
    found = verdicts(
        judge, bench.tasks[0],
        "def half(x): return x / 2 if x else 1",
        "def half(x): return x / 2 if x < 19 else 1",
        "def half(x): return x / 2 if x < 19 else 1 / 0",
        "def half(x): return x / 2 + 0",
        "def half(x): return x // 2 if x % 2 == 0 else x / 2",  # 2 is 2.0
    )  # fmt: skip
    assert found == [Verdict.FAIL, Verdict.FAIL, Verdict.ERROR, Verdict.PASS, Verdict.PASS]
