"""LiveCodeBench: rows in its schema, functions and programs on standard streams, windows of dates."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from datetime import date

import pytest

from code_a1.errors import ProblemError
from code_a1.evaluation.code.judging import BenchJudge
from code_a1.evaluation.code.programs import same_tokens, with_imports
from code_a1.evaluation.code.reading import Window, open_benchmarks
from code_a1.evaluation.code.tasks import CallTests, StreamTests, Task
from code_a1.records import Verdict
from code_a1.sandbox import Sandbox

P, F, E, T = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.TIMEOUT


def packed(cases) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases)))).decode()


def case(given: str, expected: str, kind: str = "stdin"):
    return {"input": given, "output": expected, "testtype": kind}


STREAM = {
    "question_title": "Sum", "question_content": "Print the sum of each line.", "platform": "atcoder",
    "question_id": "abc1_a", "contest_id": "abc1", "contest_date": "2024-05-04T00:00:00", "starter_code": "",
    "difficulty": "easy", "public_test_cases": json.dumps([case("1 2\n", "3\n")]),
    "private_test_cases": packed([case("1 2\n3 4\n", "3\n7\n"), case("", "")]), "metadata": "{}",
}  # fmt: skip
FUNCTION = STREAM | {
    "question_id": "3000", "contest_date": "2024-09-01T00:00:00", "platform": "leetcode",
    "starter_code": "class Solution:\n    def pairs(self, xs: List[int], k: int) -> List[int]:\n        ",
    "public_test_cases": json.dumps([case("[1, 2, 3]\n2", "[2, 4, 6]", "functional")]),
    "private_test_cases": json.dumps([case("[]\n1", "[]", "functional")]),
    "metadata": json.dumps({"func_name": "pairs"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def judge():
    with Sandbox(workers=2) as sandbox:
        yield BenchJudge(sandbox)


def open_rows(tmp_path, *rows, **window):
    path = tmp_path / "lcb.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_benchmarks([f"livecodebench={path}"], window=Window(**window))[0].tasks


def verdicts(judge, task, *programs):
    return [judged.verdict for judged in judge([(task, program) for program in programs])]


def test_programs_on_standard_streams(tmp_path, judge):
    [task] = open_rows(tmp_path, STREAM)
    assert task.tests == StreamTests(("1 2\n", "1 2\n3 4\n", ""), ("3\n", "3\n7\n", ""))
    assert task.entry_point == ""
    found = verdicts(
        judge, task,
        "import sys\nfor l in sys.stdin: print(sum(map(int, l.split())))",
        "for line in stdin:\n    print(sum(map(int, line.split())))",  # what the platform imports is there
        "print(sum(map(int, input().split())))",  # a correct prefix of the second test
        "import sys\nfor l in sys.stdin: print(sum(map(int, l.split())))\nprint('done')",
        "import sys\nfor l in sys.stdin: print(sum(map(int, l.split())))\nsys.exit(1)",
        "while True: pass",
    )  # fmt: skip
    assert found == [P, P, F, F, E, T]


def test_functions_of_a_class(tmp_path, judge):
    [task] = open_rows(tmp_path, FUNCTION)
    assert task.tests == CallTests("Solution().pairs", (([1, 2, 3], 2), ([], 1)), ([2, 4, 6], []))
    assert "def pairs(self" in task.prompt[-1].content
    head = "class Solution:\n    def pairs(self, xs: List[int], k: int) -> List[int]:\n        "
    found = verdicts(
        judge, task,
        head + "return [x * k for x in xs]",
        "from __future__ import annotations\n" + head + "return tuple(x * k for x in xs)",
        head + "return xs",
        head + "return [x * k for x in xs] or None",
        "def pairs(xs, k): return [x * k for x in xs]",
        head + "print([2, 4, 6])",
    )  # fmt: skip
    assert found == [P, P, F, F, E, F]


def test_windows_are_of_whole_days(tmp_path):
    def ids(**window):
        return [t.task_id for t in open_rows(tmp_path, STREAM, FUNCTION, **window)]

    assert ids() == ["abc1_a", "3000"]
    assert ids(since=date(2024, 5, 4), until=date(2024, 5, 4)) == ["abc1_a"]
    assert ids(since=date(2024, 5, 5)) == ["3000"]
    with pytest.raises(ProblemError, match="holds no task of livecodebench in the window"):
        ids(until=date(2024, 5, 3))


class Evil:
    def __reduce__(self):
        return (print, ("ran",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"private_test_cases": base64.b64encode(zlib.compress(pickle.dumps(Evil()))).decode()},
            "asks for builtins.print",
        ),
        ({"private_test_cases": "%%"}, "neither JSON nor packed as LiveCodeBench packs it"),
        ({"contest_date": "yesterday"}, "field 'contest_date' must begin with a date"),
        ({"public_test_cases": "[]", "private_test_cases": None}, "hold no test"),
        ({"public_test_cases": json.dumps([case("1", "1", "other")])}, "must be functional or stdin"),
        ({"public_test_cases": json.dumps([{"input": "1"}])}, "field 'testtype' is missing"),
    ],
)
def test_a_bad_row_is_named(tmp_path, change, message, capsys):
    with pytest.raises(ProblemError, match=message):
        open_rows(tmp_path, STREAM | change, since=date(2000, 1, 1))
    assert "ran" not in capsys.readouterr().out


def test_a_function_without_a_name_or_with_bad_arguments_is_named(tmp_path):
    with pytest.raises(ProblemError, match="field 'func_name' is missing"):
        open_rows(tmp_path, FUNCTION | {"metadata": "{}"})
    with pytest.raises(ProblemError, match="field 'input' is not JSON"):
        open_rows(tmp_path, FUNCTION | {"public_test_cases": json.dumps([case("[1,", "1", "functional")])})


@pytest.mark.parametrize(
    ("printed", "wanted", "same"),
    [
        (b"1 2\n3\n", b"1 2 3", True),
        (b"1.50", b"1.5", True),
        (b"1e3 -0", b"1000 0", True),
        (b"1 2", b"1 2 3", False),
        (b"1 2 3", b"1 2", False),
        (b"1_0", b"10", False),
        (b"nan", b"NaN", False),
        (b"inf", b"Infinity", False),
        (b"Yes", b"YES", False),
        (b"0.1", b"0.10000000001", False),
        (b"\xff", b"1", False),
        (b"", b"", True),
    ],
)
def test_tokens(printed, wanted, same):
    assert same_tokens(printed, wanted) is same


SEVERAL = "5\n1 2 3\nlast line"
PROGRAMS = [
    ("input and iteration", "n = input()\nimport sys\nrest = [l.strip() for l in sys.stdin]\nprint(n, *rest)", P),
    ("bytes", "import sys\nd = sys.stdin.buffer.read().split()\nprint(d[0].decode(), *[x.decode() for x in d[1:]])", P),
    ("buffered lines, then the rest", "import sys\na = sys.stdin.buffer.readline()\nb = sys.stdin.buffer.read()\nsys.stdout.buffer.write(a + b)", P),
    ("os.read by size", "import os\nd = os.read(0, os.fstat(0).st_size)\nos.write(1, d)", P),
    ("open(0)", "print(open(0).read())", P),
    ("readlines", "import sys\nprint(''.join(sys.stdin.readlines()))", P),
    ("main guard", "def main():\n    import sys\n    print(sys.stdin.read())\nif __name__ == '__main__':\n    main()", P),
    ("unjoined thread", "import sys, threading, time\ndef run():\n    time.sleep(0.05)\n    print(sys.stdin.read())\nthreading.Thread(target=run).start()", P),
    ("thread with a large stack", "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(1 << 26)\ndef f(n): return f(n - 1) if n else sys.stdin.read()\nt = threading.Thread(target=lambda: print(f(20000)))\nt.start()\nt.join()", P),
    ("exit handler", "import atexit, sys\nout = []\natexit.register(lambda: sys.stdout.write(''.join(out)))\nout.append(sys.stdin.read())", P),
    ("exit()", "print(open(0).read())\nexit()", P),
    ("os._exit after a flush", "import os, sys\nprint(sys.stdin.read(), flush=True)\nos._exit(0)", P),
    ("end of input", "try:\n    while True: print(input())\nexcept EOFError: pass", P),
    ("an own stream", "import io, sys\nsys.stdout = io.StringIO()\nprint(sys.stdin.read())\nsys.__stdout__.write(sys.stdout.getvalue())", P),
    ("a correct prefix", "print('5')", F),
    ("a correct prefix, then a crash", "import sys\nprint(sys.stdin.read(), flush=True)\n1 / 0", E),
    ("debug output", "import sys\nd = sys.stdin.read()\nprint('got', d)", F),
    ("on standard error alone", "import sys\nsys.stderr.write(sys.stdin.read())", F),
    ("os._exit before a flush", "import os, sys\nprint(sys.stdin.read())\nos._exit(0)", F),
    ("daemon thread", "import sys, threading, time\ndef run():\n    time.sleep(5)\n    print(sys.stdin.read())\nthreading.Thread(target=run, daemon=True).start()", F),
    ("without its main guard", "if __name__ == 'solution':\n    print(open(0).read())", F),
    ("status 3", "import sys\nprint(sys.stdin.read())\nsys.exit(3)", E),
    ("does not compile", "print(", E),
]  # fmt: skip


def test_programs_of_every_kind_get_the_verdict_that_they_deserve(judge):
    task = Task("t", (), "", StreamTests((SEVERAL,), (SEVERAL,)))
    found = verdicts(judge, task, *[source for _, source, _ in PROGRAMS])
    assert {name: v for (name, _, _), v in zip(PROGRAMS, found, strict=True)} == {name: v for name, _, v in PROGRAMS}


def test_exact_comparison_minds_every_byte(judge):
    task = Task("t", (), "", StreamTests(("a b\n",), ("a b\n",), exact=True))
    echo = "import sys\nsys.stdout.write(sys.stdin.read(){})"
    assert verdicts(judge, task, echo.format(""), echo.format(" + ' '"), echo.format(".strip()")) == [P, F, F]


def test_outputs_are_compared_in_full(judge):
    lines = "".join(f"{i}\n" for i in range(200_000))
    task = Task("t", (), "", StreamTests(("200000",), (lines,)))
    all_but_the_last = "n = int(input())\nfor i in range(n - 1): print(i)\n"
    assert verdicts(judge, task, all_but_the_last + "print(n - 1)", all_but_the_last + "print(n)") == [P, F]


def test_imports_come_after_those_of_the_future():
    program = '"""Doc."""\nfrom __future__ import annotations\n@cache\ndef f(): pass'
    lines = with_imports(program).split("\n")
    assert lines[2].startswith("from string import")
    assert lines[-2:] == ["@cache", "def f(): pass"]
    compile("\n".join(lines), "p", "exec")
    assert with_imports("x = 1").startswith("from string import")
    assert with_imports("x = (") == "x = ("
