"""Sources of rows: what is read, what is refused, and how the message says where."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from code_a1.config import ProblemsConfig
from code_a1.errors import ConfigError, MissingExtra, ProblemError
from code_a1.problems import BUNDLED, BadRow, load_problems, read_rows, write_problems
from code_a1.problems.rows import open_rows
from code_a1.records import Problem


def row(name: str = "inc", **change: object) -> dict[str, object]:
    return {
        "problem_id": name,
        "statement": f"Write a function {name}(n) that adds one, as {name} does.",
        "entry_point": name,
        "reference_solution": f"def {name}(n):\n    return n + 1\n",
        "reference_tests": [f"assert {name}(1) == 2"],
    } | change


def mbpp_row(task_id: int, name: str = "inc") -> dict[str, object]:
    return {
        "text": f"Write a function to {name} a number.",
        "code": f"def {name}(n):\n    return n + {task_id}",
        "task_id": task_id,
        "test_setup_code": "",
        "test_list": [f"assert {name}(0) == {task_id}"],
        "challenge_test_list": [],
    }


def jsonl(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def load(path: Path, **config: object) -> tuple[str, ...]:
    problems = load_problems(ProblemsConfig(path=str(path), **config)).problems  # type: ignore[arg-type]
    return tuple(p.problem_id for p in problems)


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_the_bundled_set_is_the_default() -> None:
    bundled = load_problems(ProblemsConfig())
    assert (bundled.source, bundled.format, bundled.dropped) == ("bundled", "code-a1", ())
    assert len(bundled.problems) == 105


def test_limit_keeps_the_first_ones(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "p.jsonl", row("a"), row("b"), row("c"))
    assert load(path, limit=2) == ("a", "b")
    assert load(path) == ("a", "b", "c")


def test_a_split_of_mbpp_rows(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "mbpp.jsonl", mbpp_row(600, "f"), mbpp_row(601, "g"), mbpp_row(974, "h"))
    assert load(path, split="train") == ("mbpp/601", "mbpp/974")
    assert load(path, split="validation") == ("mbpp/600",)
    with pytest.raises(ProblemError, match="no row is in the split 'prompt'"):
        load(path, split="prompt")
    with pytest.raises(ConfigError, match="splits of MBPP"):
        load(path, split="dev")


def test_our_own_files_have_no_splits(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="code-a1 has no splits"):
        load(jsonl(tmp_path / "p.jsonl", row()), split="train")


def test_a_json_list_and_gzip(tmp_path: Path) -> None:
    listed = tmp_path / "p.json"
    listed.write_text(json.dumps([row("a"), row("b")]))
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress((json.dumps(row("z")) + "\n").encode()))
    assert load(listed) == ("a", "b")
    assert load(packed) == ("z",)
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(ProblemError, match=r"p\.jsonl\.gz: cannot be read to its end"):
        load(packed)


def test_windows_line_ends_and_a_missing_last_newline_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(json.dumps(row("a")).encode() + b"\r\n" + json.dumps(row("b")).encode())
    assert load(path) == ("a", "b")


def test_duplicates_under_another_id_are_dropped_and_named(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "p.jsonl", row("inc"), row("inc", problem_id="again"), row("other"))
    loaded = load_problems(ProblemsConfig(path=str(path)))
    assert [p.problem_id for p in loaded.problems] == ["inc", "other"]
    assert [(d.problem_id, d.reason) for d in loaded.dropped] == [("again", "duplicate of inc")]


def test_decontamination_is_counted_and_may_not_leave_nothing(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "mbpp.jsonl", mbpp_row(601, "f"), mbpp_row(602, "g"))
    benchmark = jsonl(tmp_path / "bench.jsonl", row("inc", problem_id="Mbpp/602"))
    loaded = load_problems(ProblemsConfig(path=str(path), decontaminate=(str(benchmark),)))
    assert [p.problem_id for p in loaded.problems] == ["mbpp/601"]
    assert [(d.problem_id, d.benchmark) for d in loaded.dropped] == [("mbpp/602", "bench.jsonl")]
    with pytest.raises(ProblemError, match="all 2 problems were dropped"):
        load_problems(ProblemsConfig(path=str(path), decontaminate=(str(path),)))


def test_a_bad_benchmark_is_an_error(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "p.jsonl", row())
    with pytest.raises(ProblemError, match=r"gone\.jsonl: no such file"):
        load(path, decontaminate=(str(tmp_path / "gone.jsonl"),))
    broken = jsonl(tmp_path / "broken.jsonl", row(entry_point="nope"))
    with pytest.raises(ProblemError, match=r"benchmark .*broken\.jsonl:1: "):
        load(path, decontaminate=(str(broken),))


# ---- bad rows --------------------------------------------------------------------------------------------------------

GOOD = json.dumps(row("good")).encode()

BAD_LINES = {
    "cut off": (GOOD[:40], "is not JSON: .* at column"),
    "no object": (b"[1]", r"must be one JSON object, not list .*\.json"),
    "a string": (b'"x"', "must be one JSON object, not str"),
    "blank": (b"", "is blank: remove the line"),
    "spaces": (b"  ", "is blank: remove the line"),
    "latin-1": (b'{"problem_id": "caf\xe9"}', r"is not UTF-8 \(byte 20 of the line\)"),
    "surrogate": (
        json.dumps(row("s", statement="a\ud800b")).encode(),
        r"'statement' holds a lone surrogate \(character 2\)",
    ),
    "surrogate in a list": (
        json.dumps(row("s", reference_tests=["'\udfff'"])).encode(),
        "'reference_tests' holds a lone",
    ),
    "surrogate in a key": (json.dumps(row("s") | {"\ud800": 1}).encode(), "lone surrogate"),
    "twice": (b'{"problem_id": "a", "problem_id": "b"}', "field 'problem_id' appears twice"),
    "huge number": (b'{"problem_id": ' + b"1" * 5000 + b"}", "is not JSON that can be read"),
    "deep": (b'{"a":' * 100_000, "is not JSON"),
    "other schema": (json.dumps(mbpp_row(3)).encode(), "unknown field 'text'"),
    "same id": (GOOD, "id 'good' is taken by line 1"),
    "missing": (b'{"problem_id": "x"}', "field 'statement' is missing"),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_a_bad_line_is_named_and_reading_goes_on(tmp_path: Path, case: str) -> None:
    line, message = BAD_LINES[case]
    path = tmp_path / "p.jsonl"
    path.write_bytes(GOOD + b"\n" + line + b"\n" + json.dumps(row("after")).encode() + b"\n")
    first, bad, last = read_rows(path)
    assert isinstance(first, Problem)
    assert isinstance(last, Problem)
    assert (first.problem_id, last.problem_id) == ("good", "after")
    assert isinstance(bad, BadRow)
    assert (bad.file, bad.line) == (str(path), 2)
    assert bad.kind == ("duplicate id" if case == "same id" else "unreadable row")
    with pytest.raises(ProblemError, match=rf"p\.jsonl:2: .*{message}"):
        load(path)


def test_a_bad_first_row_does_not_hide_the_format(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"{\n" + json.dumps(mbpp_row(7)).encode() + b"\n")
    bad, good = read_rows(path)
    assert isinstance(bad, BadRow)
    assert isinstance(good, Problem)
    assert good.problem_id == "mbpp/7"


def test_a_missing_entry_point_is_counted_apart(tmp_path: Path) -> None:
    ours = jsonl(tmp_path / "p.jsonl", row("inc", entry_point="dec"))
    mbpp = jsonl(tmp_path / "mbpp.jsonl", mbpp_row(3) | {"test_list": ["assert dec(0) == 3"]})
    assert [r.kind for path in (ours, mbpp) for r in read_rows(path) if isinstance(r, BadRow)] == ["no entry point"] * 2


def test_a_byte_order_mark_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD + b"\n")
    with pytest.raises(ProblemError, match=r"p\.jsonl:1: starts with a byte order mark: save the file as UTF-8"):
        load(path)


def test_line_separators_of_unicode_do_not_split_lines(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(row(statement="one\u2028two\x85three"), ensure_ascii=False) + "\n", encoding="utf-8")
    (problem,) = read_rows(path)
    assert isinstance(problem, Problem)
    assert problem.statement == "one\u2028two\x85three"


def test_a_wrong_explicit_format_says_what_it_looks_like(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match=r"p\.jsonl:1: looks like mbpp, not code-a1"):
        load(jsonl(tmp_path / "p.jsonl", mbpp_row(1)), format="code-a1")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", b"", "holds no rows"),
        ("empty.json", b"[]", "holds no rows"),
        ("object.json", b"{}", r"must hold one list of objects.*named \.jsonl"),
        ("lines.json", b"{}\n{}\n", r"is not JSON.*named \.jsonl"),
        ("scalars.json", b"[1]", r"scalars\.json:1: must be a JSON object"),
        ("table.csv", b"a,b\n", r"not a \.jsonl, \.json or \.parquet file"),
        ("broken.parquet", b"PAR1 not really", "not a readable Parquet file"),
        ("empty.parquet", b"", "not a readable Parquet file"),
    ],
)
def test_a_file_that_is_no_problem_file(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ProblemError, match=message):
        load(path)


@pytest.mark.parametrize("path", ["gone.jsonl", "no/such/folder/p.parquet", "bundeld", "a/b.jsonl", ""])
def test_a_path_that_is_not_there(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if path == "":
        path = "x y"
    with pytest.raises(ProblemError, match="no such file or folder"):
        load_problems(ProblemsConfig(path=path))


# ---- Parquet and datasets --------------------------------------------------------------------------------------------


def parquet_row(number: int) -> dict[str, object]:
    return {
        "GT_code": "    return n + 1\n",
        "problem": f'def inc(n):\n    """Add one, number {number}."""\n',
        "test": "def check(candidate):\n    assert candidate(1) == 2\n",
        "data_source": "humanevalplus" if number < 5 else "mbppplus",
        "extra_info": {"function_name": "inc", "imports": "", "question_id": f"HumanEval/{number}"},
    }


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    path = tmp_path / "plus.parquet"
    pq.write_table(pa.Table.from_pylist([parquet_row(1), parquet_row(9)]), path)
    assert load(path) == ("HumanEval/1", "HumanEval/9")
    assert load(path, split="mbppplus") == ("HumanEval/9",)
    with pytest.raises(ConfigError, match="humanevalplus and mbppplus"):
        load(path, split="train")
    pq.write_table(pa.Table.from_pylist([parquet_row(1), parquet_row(2) | {"test": None}]), path)
    with pytest.raises(ProblemError, match=r"plus\.parquet:2: field 'test' is missing"):
        load(path)


def test_parquet_in_our_schema_with_null_fields(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    path = tmp_path / "ours.parquet"
    pq.write_table(pa.Table.from_pylist([row("a", setup="x = 1"), row("b", setup=None)]), path)
    assert load(path) == ("a", "b")


def test_a_folder_of_save_to_disk(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [mbpp_row(601, "f"), mbpp_row(5, "g")]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "flat")
    assert load(tmp_path / "flat") == ("mbpp/601", "mbpp/5")
    assert load(tmp_path / "flat", split="train") == ("mbpp/601",)
    both = datasets.DatasetDict(
        {"train": datasets.Dataset.from_list(rows), "test": datasets.Dataset.from_list(rows[:1])}
    )
    both.save_to_disk(tmp_path / "split")
    assert load(tmp_path / "split", split="train") == ("mbpp/601", "mbpp/5")
    with pytest.raises(ProblemError, match=r"has several splits; set problems\.split to one of train, test"):
        load(tmp_path / "split")
    with pytest.raises(ProblemError, match="has no split 'dev'"):
        load(tmp_path / "split", split="dev")


def test_a_folder_with_data_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "own").mkdir()
    jsonl(tmp_path / "own" / "train.jsonl", row("a"), row("b"))
    assert load(tmp_path / "own") == ("a", "b")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(ProblemError, match="has no .jsonl, .json or .parquet file and was not written by save_to_disk"):
        load(tmp_path / "nothing")


def test_a_hub_id_goes_to_datasets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    def load_dataset(path: str) -> object:
        asked.append(path)
        return datasets.DatasetDict({"test": datasets.Dataset.from_list([mbpp_row(12)])})

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    loaded = load_problems(ProblemsConfig(path="owner/mbpp", split="test"))
    assert ([p.problem_id for p in loaded.problems], loaded.source, asked) == (
        ["mbpp/12"],
        "owner/mbpp",
        ["owner/mbpp"],
    )


def test_an_unreachable_hub_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)

    def load_dataset(path: str) -> object:
        raise ConnectionError(f"Couldn't reach '{path}' on the Hub")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(ProblemError, match=r"owner/mbpp: no such file .*Couldn't reach.*save_to_disk"):
        load_problems(ProblemsConfig(path="owner/mbpp"))


@pytest.mark.parametrize(("package", "path"), [("pyarrow", "p.parquet"), ("datasets", "owner/mbpp")])
def test_a_missing_package_names_the_extra(
    package: str, path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"'{package}': pip install 'code-a1\[datasets\]'"):
        load_problems(ProblemsConfig(path=path))


def test_importing_and_loading_the_bundled_set_needs_no_heavy_package() -> None:
    code = (
        "import sys; from code_a1.config import ProblemsConfig; from code_a1.problems import load_problems; "
        "load_problems(ProblemsConfig()); "
        "print([m for m in ('torch', 'datasets', 'pyarrow', 'numpy', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- writing ---------------------------------------------------------------------------------------------------------

AWKWARD = Problem(
    problem_id="ours/ä b",
    statement='Line\nTab\t"quotes" \\ back\u2028sep \U0001f600',
    entry_point="f",
    reference_solution="def f(x):\r\n    return '\\n'\r\n",
    reference_tests=("assert f(1) == '\\n'", "x = 'é'\nassert f(x) == \"\\n\""),
    setup="import math\n",
    tolerance=0.1 + 0.2,
)


def test_written_problems_read_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    problems = [AWKWARD, *load_problems(ProblemsConfig(limit=3)).problems]
    write_problems(path, problems)
    assert list(read_rows(path)) == problems
    assert len(path.read_bytes().split(b"\n")) == 5
    again = tmp_path / "again.jsonl"
    write_problems(again, [p for p in read_rows(path) if isinstance(p, Problem)])
    assert again.read_bytes() == path.read_bytes()


def test_the_bundled_file_is_in_its_written_form(tmp_path: Path) -> None:
    write_problems(tmp_path / "p.jsonl", [p for p in read_rows(BUNDLED) if isinstance(p, Problem)])
    assert (tmp_path / "p.jsonl").read_bytes() == BUNDLED.read_bytes()


def test_a_failed_write_leaves_the_old_file_and_no_scratch(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write_problems(path, [AWKWARD])
    before = path.read_bytes()
    unwritable = Problem("x", "lone \ud800", "f", "def f(): pass")
    with pytest.raises(ProblemError, match=r"p\.jsonl: cannot be written"):
        write_problems(path, [AWKWARD, unwritable])
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["p.jsonl"]
    with pytest.raises(ProblemError, match="cannot be written"):
        write_problems(tmp_path / "no" / "folder" / "p.jsonl", [AWKWARD])


# ---- how many rows there are -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "count"),
    [(b"", 0), (b"{}", 1), (b"{}\n", 1), (b"{}\n{}", 2), (b"{}\n\n{}\n", 3), (b"x" * (1 << 20) + b"\n", 1)],
)
def test_lines_are_counted_without_reading_them(tmp_path: Path, content: bytes, count: int) -> None:
    (tmp_path / "p.jsonl").write_bytes(content)
    assert open_rows(str(tmp_path / "p.jsonl")).count() == count
    (tmp_path / "p.json").write_bytes(b"[]")
    assert open_rows(str(tmp_path / "p.json")).count() is None


def test_rows_of_parquet_and_of_folders_are_counted(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    pq.write_table(pa.Table.from_pylist([row("a"), row("b")]), tmp_path / "a.parquet")
    jsonl(tmp_path / "b.jsonl", row("c"))
    assert open_rows(str(tmp_path / "a.parquet")).count() == 2
    assert open_rows(str(tmp_path)).count() == 3
    assert load(tmp_path) == ("a", "b", "c")
    (tmp_path / "c.parquet").write_bytes(b"no")
    assert open_rows(str(tmp_path)).count() is None
