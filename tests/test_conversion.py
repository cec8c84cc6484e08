"""`code-a1 problems convert`: what is written holds, what is not written is named."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_a1.cli import main
from code_a1.config import ProblemsConfig
from code_a1.problems import load_problems
from code_a1.records import Problem
from code_a1.sandbox import Sandbox
from dataset_rows import ACECODE, APPS, KODCODE, kodcode_rows


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


@pytest.fixture(autouse=True)
def _one_sandbox_for_all(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting its workers is most of what a small conversion takes."""
    monkeypatch.setattr("code_a1.cli.convert.Sandbox", lambda **_: contextlib.nullcontext(sandbox))


def jsonl(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def convert(*arguments: object, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str], str]:
    """Exit code, lines of stdout, stderr."""
    with pytest.raises(SystemExit) as caught:
        main(["problems", "convert", *map(str, arguments)])
    captured = capsys.readouterr()
    return int(caught.value.code or 0), captured.out.splitlines(), captured.err


def written(path: Path) -> dict[str, Problem]:
    return {p.problem_id: p for p in load_problems(ProblemsConfig(path=str(path), format="code-a1")).problems}


TESTS = """
import pytest
from solution import count_even

@pytest.fixture
def numbers():
    return [2, 3, 4]

def test_empty():
    '''An empty list.'''
    assert count_even([]) == 0, "empty"

def test_fixture(numbers):
    result = count_even(numbers)
    assert result == 2

@pytest.mark.parametrize("given, wanted", [([1], 0), ([0, -2], 2)])
def test_many(given, wanted):
    assert count_even(given) == wanted

def test_same_again():
    assert count_even([1]) == 0

def test_raises():
    with pytest.raises(TypeError):
        count_even(None)

def test_of_something_else():
    assert 1 == 1

def test_random():
    import random
    assert count_even([random.random()]) == 0
"""


def kodcode(number: int, **change: object) -> dict[str, object]:
    """A row whose solution and statement are its own."""
    solution = f"{KODCODE['solution']}\n\nVERSION = {number}\n"
    return KODCODE | {"question_id": f"row_{number}", "solution": solution, "test": TESTS} | change


def test_pytest_files_become_single_asserts_that_were_run(tmp_path, capsys) -> None:
    rows = [
        kodcode(1),
        kodcode(2, test="from solution import count_even\ndef test_a():\n    assert count_even([2]) == 2\n"),
        kodcode(3, solution="import random\ndef count_even(numbers):\n    return random.random()\n"),
        kodcode(4, test_info=[]),
        kodcode(1),
        kodcode(5, solution=kodcode(1)["solution"]),
        "{cut off",
        kodcode(6, question=None),
        kodcode(7, test="from solution import count_even\ndef test_a():\n    print(count_even([]))\n"),
        kodcode(8, gpt_difficulty="easy"),
    ]
    source, out = jsonl(tmp_path / "rows.jsonl", *rows), tmp_path / "out.jsonl"
    code, lines, stderr = convert("kodcode", source, "-o", out, "--difficulty", "HARD", "--json", capsys=capsys)
    assert (code, stderr) == (0, "")
    (problem,) = written(out).values()
    assert problem.problem_id == "row_1"
    assert problem.reference_tests == (
        "assert count_even([]) == 0",
        "def fixture_numbers():\n    return [2, 3, 4]\nnumbers = fixture_numbers()\nassert count_even(numbers) == 2",
        "assert count_even([1]) == 0",
        "assert count_even([0, -2]) == 2",
    )
    assert json.loads(lines[-1]) == {
        "rows": 10,
        "written": 1,
        "tests": 4,
        "tests_left_out": {"MALFORMED": 1, "OFF_TARGET": 1, "NONDETERMINISTIC": 1},
        "left_out": {
            "no problem of a function": 1,
            "repetition": 1,
            "other difficulty": 1,
            "reference fails its tests": 1,
            "nondeterministic": 1,
            "too few tests": 1,
        },
        "broken": {"duplicate id": 1, "unreadable row": 2},
        "format": "kodcode",
        "output": str(out),
    }
    listed = "\n".join(lines)
    for text in (
        f"{source}:4: no function-level test",
        f"{source}:5: id 'row_1' is taken by line 1",
        "row_5: repetition: duplicate of row_1",
        f"{source}:7: is not JSON",
        f"{source}:8: field 'question' is missing",
        "row_2: reference fails its tests: 1 of 1 tests, such as 'assert count_even([2]) == 2': WRONG_EXPECTATION the r",
        "row_3: nondeterministic: ",
        "row_7: too few tests: 0 tests that can be judged, 1 are asked for",
    ):
        assert text in listed
    assert "row_8" not in listed


def test_a_test_whose_helper_asserts_is_left_out(tmp_path, capsys) -> None:
    tests = """
from solution import count_even

def checked(xs):
    assert xs
    return count_even(xs)

def test_helper():
    assert checked([2]) == 1

def test_plain():
    assert count_even([2]) == 1
"""
    out = tmp_path / "out.jsonl"
    convert("kodcode", jsonl(tmp_path / "rows.jsonl", kodcode(1, test=tests)), "-o", out, capsys=capsys)
    assert written(out)["row_1"].reference_tests == ("assert count_even([2]) == 1",)


def test_strict_ends_with_1_after_a_broken_row_alone(tmp_path, capsys) -> None:
    failing = kodcode(2, test="from solution import count_even\ndef test_a():\n    assert count_even([2]) == 2\n")
    out = tmp_path / "out.jsonl"
    whole = jsonl(tmp_path / "whole.jsonl", kodcode(1), failing, kodcode(3, style="online_judge"))
    assert convert("kodcode", whole, "-o", out, "--strict", capsys=capsys)[0] == 0
    broken = jsonl(tmp_path / "broken.jsonl", kodcode(1), kodcode(2, solution="def ("))
    assert convert("kodcode", broken, "-o", out, capsys=capsys)[0] == 0
    code, lines, _ = convert("auto", broken, "-o", out, "--strict", capsys=capsys)
    assert code == 1
    assert any(line.startswith(f"{broken}:2: field 'solution' is not Python") for line in lines)
    assert list(written(out)) == ["row_1"]


def test_limit_stops_early_and_pass_rates_select(tmp_path, capsys) -> None:
    rows = [kodcode(n, gpt_pass_percentage=n / 10) for n in range(8)]
    rows[3] |= {"gpt_pass_percentage": None}
    source, out = jsonl(tmp_path / "rows.jsonl", *rows), tmp_path / "out.jsonl"
    assert convert("kodcode", source, "-o", out, "--limit", "3", capsys=capsys)[0] == 0
    assert list(written(out)) == ["row_0", "row_1", "row_2"]
    convert("kodcode", source, "-o", out, "--min-pass-rate", "0.2", "--max-pass-rate", "0.5", capsys=capsys)
    assert list(written(out)) == ["row_2", "row_4", "row_5"]


def test_what_was_left_out_may_go_to_a_file(tmp_path, capsys) -> None:
    source = jsonl(
        tmp_path / "rows.jsonl", kodcode(1), kodcode(2, test_info=[]), "[]", kodcode(3, solution=kodcode(1)["solution"])
    )
    left = tmp_path / "left.jsonl"
    _, lines, _ = convert("kodcode", source, "-o", tmp_path / "out.jsonl", "--dropped", left, capsys=capsys)
    assert [line for line in lines if line.startswith(str(source))] == [
        f"{source}:3: must be one JSON object, not list (a file with one list of problems is named .json)"
    ]
    first, second, third = map(json.loads, left.read_text().splitlines())
    assert (first["line"], first["kind"]) == (2, "unsuited")
    assert (second["line"], second["kind"]) == (3, "unreadable row")
    assert third == {"problem_id": "row_3", "reason": "repetition: duplicate of row_1", "benchmark": ""}


# ---- other formats ---------------------------------------------------------------------------------------------------


def test_answers_of_apps_are_read_as_the_solution_means_them(tmp_path, capsys) -> None:
    wrong_first = json.dumps(["def swap(pair):\n    return pair\n", *json.loads(str(APPS["solutions"]))])
    source = jsonl(tmp_path / "apps.jsonl", APPS | {"solutions": wrong_first})
    out = tmp_path / "out.jsonl"
    assert convert("apps", source, "-o", out, "--difficulty", "interview", capsys=capsys)[0] == 0
    problem = written(out)["apps/2641"]
    assert problem.reference_tests == ("assert swap([1, 2]) == [2, 1]", "assert swap([3, 3]) == [3, 3]")
    assert problem.reference_solution.startswith("from typing import List\n")


def test_a_row_without_a_version_that_holds_is_left_out(tmp_path, capsys) -> None:
    rows = [APPS | {"solutions": json.dumps(["def swap(pair):\n    return 0\n"])}, APPS | {"problem_id": 1}]
    out = tmp_path / "out.jsonl"
    _, lines, _ = convert("apps", jsonl(tmp_path / "apps.jsonl", *rows), "-o", out, capsys=capsys)
    assert list(written(out)) == ["apps/1"]
    assert any(line.startswith("apps/2641: reference fails its tests: 2 of 2 tests") for line in lines)


def test_acecode_takes_the_next_completion_where_one_fails(tmp_path, capsys) -> None:
    tests = ["assert last([1, 2]) == 2", "assert last([]) is None"]
    claimed = [
        {"completion": c, "pass_rate": 1.0}
        for c in ("def last(xs): return xs[-1]", "def last(xs):\n    return xs[-1] if xs else None")
    ]
    source = jsonl(tmp_path / "ace.json", "[" + json.dumps(ACECODE | {"inferences": claimed}) + "]")
    out = tmp_path / "out.jsonl"
    assert convert("acecode", source, "-o", out, capsys=capsys)[0] == 0
    problem = written(out)["oss_12"]
    assert (problem.reference_tests, problem.reference_solution) == (tuple(tests), claimed[1]["completion"] + "\n")


MBPP = {
    "task_id": 601,
    "text": "Write a function to add one to every number of a list and give back the list in the same order as before.",
    "code": "def grow(xs):\r\n  return [x + 1 for x in xs]",
    "test_list": ["assert grow([1]) == [2]", "assert grow([]) == []"],
}


def test_benchmarks_are_kept_out_by_id_statement_and_words(tmp_path, capsys) -> None:
    longer = MBPP["text"].replace("Write", "Think twice, and then write") + " Use a loop."
    other = "Write a function to take one from each number in a list and give back the list in another order."
    rows = [
        MBPP,
        MBPP | {"task_id": 602, "code": "def grow(xs):\n  return [1 + x for x in xs]"},
        MBPP | {"task_id": 603, "text": longer},
        MBPP | {"task_id": 604, "text": other, "code": "def grow(xs):\n  return [1 + x for x in xs]"},
    ]
    source = jsonl(tmp_path / "mbpp.jsonl", *rows)
    benchmark = jsonl(tmp_path / "bench.jsonl", MBPP)
    out = tmp_path / "out.jsonl"
    _, lines, _ = convert("mbpp", source, "-o", out, "--split", "train", "--decontaminate", benchmark, capsys=capsys)
    assert list(written(out)) == ["mbpp/604"]
    assert lines[:3] == [
        "mbpp/601: contaminated: is the task mbpp/601 of bench.jsonl",
        "mbpp/602: contaminated: has the statement of mbpp/601 of bench.jsonl",
        'mbpp/603: contaminated: shares 10 words with mbpp/601 of bench.jsonl: "add one to every number of a list and give"',
    ]
    convert("mbpp", source, "-o", out, "--decontaminate", benchmark, "--ngram", "0", capsys=capsys)
    assert list(written(out)) == ["mbpp/603", "mbpp/604"]


def test_any_format_may_be_the_benchmark(tmp_path, capsys) -> None:
    stdin = APPS | {"question": KODCODE["question"], "input_output": "{}"}
    source = jsonl(tmp_path / "rows.jsonl", kodcode(1), kodcode(2, question="Something else entirely."))
    benchmark = jsonl(tmp_path / "bench.jsonl", stdin)
    out = tmp_path / "out.jsonl"
    _, lines, _ = convert("kodcode", source, "-o", out, "--decontaminate", benchmark, capsys=capsys)
    assert list(written(out)) == ["row_2"]
    assert lines[0].startswith("row_1: contaminated: ")


def test_a_folder_of_files_names_each_row_by_its_file(tmp_path, capsys) -> None:
    folder = tmp_path / "data"
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    shards = {0: [kodcode(1) | {"trials": {"x": 1}}], 1: [kodcode(2) | {"trials": None}, kodcode(3, solution="def (")]}
    folder.mkdir()
    for number, rows in shards.items():
        pq.write_table(pa.Table.from_pylist(rows), folder / f"train-0000{number}-of-00002.parquet")
    jsonl(folder / "use_with_caution-00000-of-00001.jsonl", kodcode(4))
    out = tmp_path / "out.jsonl"
    code, lines, _ = convert("kodcode", folder, "-o", out, "--split", "train", "--strict", capsys=capsys)
    assert code == 1
    assert list(written(out)) == ["row_1", "row_2"]
    assert lines[0].startswith(f"{folder}/train-00001-of-00002.parquet:2: field 'solution' is not Python")
    with pytest.raises(SystemExit, match="2"):
        main(["problems", "convert", "kodcode", str(folder), "-o", str(out)])
    assert "has several splits; set problems.split to one of train, use_with_caution" in capsys.readouterr().err


def test_a_hub_name_goes_to_datasets(tmp_path, capsys, monkeypatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)
    rows = datasets.Dataset.from_list([kodcode(1, trials="big")])
    monkeypatch.setattr(datasets, "load_dataset", lambda path: datasets.DatasetDict({"train": rows, "x": rows}))
    assert convert("kodcode", "KodCode/KodCode-V1", "--split", "train", "-o", "out.jsonl", capsys=capsys)[0] == 0
    assert list(written(Path("out.jsonl"))) == ["row_1"]


def test_a_project_with_tests(tmp_path, capsys) -> None:
    (tmp_path / "proj" / "tests").mkdir(parents=True)
    (tmp_path / "proj" / "words.py").write_text(
        'SEP = ","\n\n\ndef split(text):\n    """Split a text at commas."""\n    return text.split(SEP)\n\n\n'
        'def wrong(x):\n    """Add one."""\n    return x\n'
    )
    (tmp_path / "proj" / "tests" / "test_words.py").write_text(
        "import words\nfrom words import split as s\n\ndef test_split():\n    assert s('a,b') == ['a', 'b']\n"
        "    assert words.split('') == ['']\n\ndef test_wrong():\n    assert words.wrong(1) == 2\n"
    )
    out = tmp_path / "out.jsonl"
    code, lines, _ = convert("repo", tmp_path / "proj", "-o", out, "--json", capsys=capsys)
    assert code == 0
    assert written(out) == {
        "proj/words.py:split": Problem(
            "proj/words.py:split",
            'def split(text):\n    """Split a text at commas."""\n',
            "split",
            'SEP = ","\n\n\ndef split(text):\n    """Split a text at commas."""\n    return text.split(SEP)\n',
            ("assert split('a,b') == ['a', 'b']", "assert split('') == ['']"),
        )
    }
    assert json.loads(lines[-1])["left_out"] == {"reference fails its tests": 1}


# ---- wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kodcode", "mbpp.jsonl"], "mbpp.jsonl:1: looks like mbpp, not kodcode: code-a1 problems convert mbpp"),
        (["mbpp", "kod.jsonl"], "looks like kodcode, not mbpp: code-a1 problems convert kodcode"),
        (["kodcode", "other.jsonl"], "has none of the fields of kodcode"),
        (["auto", "other.jsonl"], "no known format has these fields (a). Known are kodcode: question_id"),
        (["csv", "kod.jsonl"], "the formats are auto, kodcode, acecode, taco, apps, code-a1, evalplus, mbpp"),
        (["kodcode", "gone.jsonl"], "gone.jsonl: no such file or folder"),
        (["kodcode", "empty.jsonl"], "empty.jsonl: holds no rows"),
        (["repo", "kod.jsonl"], "kod.jsonl: no such folder; the format 'repo' takes a folder"),
        (["kodcode", "kod.jsonl", "--split", "train"], "a file in the format kodcode has no splits"),
        (["mbpp", "mbpp.jsonl", "--difficulty", "hard"], "rows in the format mbpp have no difficulty"),
        (["mbpp", "mbpp.jsonl", "--max-pass-rate", "0.5"], "rows in the format mbpp have no pass rate"),
        (["kodcode", "kod.jsonl", "--min-pass-rate", "0.6", "--max-pass-rate", "0.5"], "0.6 is more than"),
        (["kodcode", "kod.jsonl", "--difficulty", "hrad"], "(1 other difficulty); nothing was written. Difficulties in it: 'hard' 1"),
        (["kodcode", "kod.jsonl", "--decontaminate", "gone.jsonl"], "gone.jsonl: no such file"),
        (["kodcode", "kod.jsonl", "-o", "kod.jsonl"], "kod.jsonl: is the file that is read"),
        (["kodcode", "kod.jsonl", "-o", "no/folder/x.jsonl"], "no/folder/x.jsonl: cannot be written"),
        (["kodcode", "kod.jsonl", "--dropped", "no/folder/x.jsonl"], "no/folder/x.jsonl: cannot be written"),
    ],
)  # fmt: skip
def test_wrong_use_ends_with_2_and_says_what_to_do(arguments, message, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl(Path("kod.jsonl"), kodcode(1))
    jsonl(Path("mbpp.jsonl"), MBPP)
    jsonl(Path("other.jsonl"), {"a": 1})
    Path("empty.jsonl").write_text("")
    before = Path("kod.jsonl").read_text()
    arguments = arguments if "-o" in arguments else [*arguments, "-o", "out.jsonl"]
    code, _, stderr = convert(*arguments, capsys=capsys)
    assert code == 2
    assert message in " ".join(stderr.split())
    assert not Path("out.jsonl").exists()
    assert Path("kod.jsonl").read_text() == before


def test_rows_of_another_format_further_down_are_broken(tmp_path, capsys) -> None:
    source, out = jsonl(tmp_path / "rows.jsonl", kodcode(1), MBPP, kodcode(2)), tmp_path / "out.jsonl"
    code, lines, _ = convert("kodcode", source, "-o", out, "--strict", capsys=capsys)
    assert code == 1
    assert f"{source}:2: looks like mbpp, not kodcode like the rows before" in lines
    assert list(written(out)) == ["row_1", "row_2"]


# ---- the generator of the measured file ------------------------------------------------------------------------------


def test_every_row_of_the_generator_converts(tmp_path, capsys) -> None:
    source, out = jsonl(tmp_path / "rows.jsonl", *kodcode_rows(40)), tmp_path / "out.jsonl"
    code, lines, _ = convert("kodcode", source, "-o", out, "--strict", "--json", capsys=capsys)
    summary = json.loads(lines[-1])
    assert (code, summary["rows"], summary["written"], summary["left_out"]) == (0, 40, 40, {})
    assert summary["tests_left_out"] == {"MALFORMED": 10}
    again = tmp_path / "again.jsonl"
    convert("code-a1", out, "-o", again, "--strict", capsys=capsys)
    assert again.read_text() == out.read_text()
