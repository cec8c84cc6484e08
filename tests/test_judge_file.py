from __future__ import annotations

import json
from pathlib import Path

import pytest

from code_a1.errors import ProblemError
from code_a1.judge import Judge
from code_a1.judge_file import judge_file, read_candidates
from code_a1.records import Problem
from code_a1.sandbox import Sandbox

INC = Problem("inc", "s", "inc", "def inc(n):\n    return n + 1\n", ("assert inc(1) == 2", "assert inc(-1) == 0"))
CHECKED = Problem(
    "dec", "s", "dec", "def dec(n):\n    return n - 1\n", ("def check(candidate):\n    assert candidate(1) == 0\n",)
)
PROBLEMS = {p.problem_id: p for p in (INC, CHECKED)}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_verdicts_come_in_the_order_of_the_rows_and_the_counts_add_up(tmp_path):
    source = written(
        tmp_path / "c.jsonl",
        {"problem_id": "inc", "code": "def inc(n): return n + 1"},
        {"problem_id": "dec", "code": "def dec(n): return n - 1", "id": "d"},
        {
            "problem_id": "inc",
            "code": "def inc(n): return 2",
            "tests": ["assert inc(1) == 2", "assert inc(5) == 7", "assert 1"],
        },
        {"problem_id": "inc", "code": "def inc(n): return 2"},
        {"problem_id": "dec", "code": "def dec(n): return n"},
        {"problem_id": "inc", "code": ""},
        {"problem_id": "inc", "code": "def inc(n): return n + 1", "tests": []},
    )
    with Sandbox(workers=2, allow_tier="rlimits-only") as sandbox:
        seen: list[int] = []
        output = tmp_path / "v.jsonl"
        counts = judge_file(Judge(sandbox), read_candidates(source, PROBLEMS), output, on_progress=seen.append)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(r["id"], r["passed"], r["total"], r["loaded"]) for r in rows] == [
        ("1", 2, 2, True),
        ("d", 1, 1, True),
        ("3", 1, 2, True),  # inc(5) == 7 is corrected to 6, which a constant 2 fails
        ("4", 1, 2, True),
        ("5", 0, 1, True),
        ("6", 0, 2, False),
        ("7", 0, 0, True),
    ]
    assert [v["validity"] for v in rows[2]["verdicts"]] == ["VALID", "WRONG_EXPECTATION", "OFF_TARGET"]
    assert "NameError" in rows[5]["load_error"]
    assert sum(seen) == counts.candidates == 7
    assert (counts.passed_all, counts.not_loaded, counts.without_tests) == (2, 1, 1)
    assert {str(k): n for k, n in counts.verdicts.items()} == {"PASS": 5, "FAIL": 3, "ERROR": 2}
    assert [p.name for p in tmp_path.iterdir() if "partial" in p.name] == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"problem_id": "inc"}, "field 'code'"),
        ({"code": "x = 1"}, "field 'problem_id'"),
        ({"problem_id": "nobody", "code": ""}, "'nobody' is not in the problems' file"),
        ({"problem_id": "inc", "code": "", "test": []}, "field 'test' is unknown"),
        ({"problem_id": "inc", "code": "", "tests": "assert 1"}, "field 'tests'"),
        ("{not json", "not JSON"),
        ("[1]", "must be one JSON object"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_by_file_and_line(tmp_path, row, message):
    path = written(tmp_path / "c.jsonl", {"problem_id": "inc", "code": ""}, row)
    with pytest.raises(ProblemError, match=r"c\.jsonl:2: ") as error:
        list(read_candidates(path, PROBLEMS))
    assert message in str(error.value)
