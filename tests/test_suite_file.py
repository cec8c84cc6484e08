import json

import pytest

from code_a1.errors import ProblemError
from code_a1.suite_file import ProblemSuite, read_suite_rows, read_suites, write_suites


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "suites.jsonl"
    rows = [
        ProblemSuite("add", ("assert add(1, 2) == 3", "x = 'a\\n\"b'\nassert add(x, '') == x"), 4, 5),
        ProblemSuite("none", ()),
    ]
    write_suites(path, rows)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {
            "problem_id": "add",
            "tests": ["assert add(1, 2) == 3", "x = 'a\\n\"b'\nassert add(x, '') == x"],
            "killed": 4,
            "mutants": 5,
        },
        {"problem_id": "none", "tests": []},
    ]
    assert read_suites(path) == {"add": rows[0].tests, "none": ()}
    assert list(read_suite_rows(path)) == rows


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"problem_id": "a"}', "field 'tests' is missing"),
        ('{"tests": []}', "field 'problem_id' is missing"),
        ('{"problem_id": "a", "tests": "assert f(1)"}', "must be a list of strings, not a string"),
        ('{"problem_id": "a", "tests": ["assert f(1"]}', "field 'tests'[0] is not Python"),
        ('{"problem_id": "a", "tests": ["assert f(1)", " "]}', "field 'tests'[1] is empty"),
        ('{"problem_id": "a", "tests": [], "killed": -1}', "at least 0, not -1"),
        ('{"problem_id": "a", "tests": [], "mutants": true}', "at least 0, not True"),
        ('{"problem_id": "a", "tests": [], "score": 1}', "field 'score' is unknown"),
        ('{"problem_id": "first", "tests": []}', "stands in line 1 already"),
        ("[1]", "must be one JSON object"),
        ("{", "is not JSON"),
    ],
)
def test_a_bad_row_is_named_with_file_and_line(tmp_path, line, complaint):
    path = tmp_path / "suites.jsonl"
    path.write_text('{"problem_id": "first", "tests": []}\n' + line + "\n")
    with pytest.raises(ProblemError) as error:
        read_suites(path)
    assert str(error.value).startswith(f"{path}:2: ")
    assert complaint in str(error.value)


def test_no_file_and_an_empty_file_are_refused(tmp_path):
    with pytest.raises(ProblemError, match="no such file"):
        read_suites(tmp_path / "absent.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ProblemError, match="holds no rows"):
        read_suites(tmp_path / "empty.jsonl")
