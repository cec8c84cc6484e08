"""`code-a1 eval tests`: every number of two small functions worked out by hand, and what testers and functions do wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from code_a1.cli import main
from code_a1.engines import ScriptedEngine
from code_a1.errors import ProblemError, RunDirError
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.evaluation.compare import compare, difference, notes, read_run
from code_a1.evaluation.tests.asking import TestProtocol
from code_a1.evaluation.tests.covering import Covered, covered
from code_a1.evaluation.tests.results import from_row, to_row
from code_a1.evaluation.tests.run import evaluate_tests
from code_a1.evaluation.tests.summary import mul, summary_table
from code_a1.problems import write_problems
from code_a1.records import Problem
from code_a1.sandbox import Sandbox

GRADE = 'def grade(x):\n    if x > 3:\n        return "high"\n    return "low"\n'
LARGER = "def larger(a, b):\n    return a if a > b else b\n"
SOUND = [("grade", GRADE), ("larger", LARGER)]
GRADES = ["grade(9) == 'high'", "grade(1) == 'low'", "grade(9) == 'high'", "grade(3) == 'high'"]
LARGERS = ["larger(1, 2) == 2", "larger(5, 3) == 5", "larger(2, 1) == 2", "larger(0, 9) == 9", "larger(7, 8) == 8"]


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as shared:
        yield shared


def ult(path, functions, probes=()):
    rows = [
        {"func_name": name, "code": code, "prompt": f"About {name}.", "task_id": str(i), "test_list": list(probes)}
        for i, (name, code) in enumerate(functions)
    ]
    path.write_text(json.dumps(rows))
    return open_benchmarks([f"ult={path}"], untested=True)


def block(*lines: str) -> str:
    return "```python\n" + "\n".join(lines) + "\n```"


def one_by_one(prompt, _index, _seed):
    """A test a turn; for `grade` the third is the first again, the fourth is wrong, the fifth is prose."""
    turn = (len(prompt) - 2) // 2
    wanted = GRADES if "grade" in prompt[1].content else LARGERS
    return block(f"assert {wanted[turn]}") if turn < len(wanted) else "I am done."


def all_at_once(prompt, _index, _seed):
    wanted = GRADES if "grade" in prompt[1].content else LARGERS
    return block(*(f"assert {test}" for test in wanted))


def values(summary, bench="ult"):
    return {name: numbers[0] for name, numbers in summary["benchmarks"][bench]["metrics"].items()}


EXPECTED = {
    "pass@5": (3 / 5 + 1) / 2,
    # larger: >= survives, of 8; it is the one suite that passes whole
    "mut@5": 7 / 8,
    # grade: 9 kills <, not, <= and ==, 1 kills != as well; >=, 2 and 4 in place of 3 survive, of 8
    "mut@5 all": (5 / 8 + 7 / 8) / 2,
    "mul": (3 / 5 + 1) / 2 * 7 / 8,
    "line@5": 1,
    "branch@5": 1,
    "whole suite passes": 1 / 2,
    "kills the program shown": 0,
    "validity/VALID": (2 / 5 + 1) / 2,
    "validity/DUPLICATE": (1 / 5) / 2,
    "validity/WRONG_EXPECTATION": (1 / 5) / 2,
    "validity/MISSING": (1 / 5) / 2,
    "validity/CALL_FAILED": 0,
    "calls/distinct": (3 / 4 + 1) / 2,
    "calls/boundary": (1 / 4 + 3 / 10) / 2,  # 1; and 1, 1, 0 of ten
}


@pytest.mark.parametrize(("protocol", "script"), [("sequential", one_by_one), ("one-completion", all_at_once)])
def test_both_protocols_come_to_the_numbers_worked_out_by_hand(tmp_path, sandbox, protocol, script):
    engine = ScriptedEngine(script)
    summary = evaluate_tests(
        engine, sandbox, ult(tmp_path / "u.json", SOUND), TestProtocol(protocol), tmp_path / "o", "script"
    )
    found = values(summary)
    assert {name: found[name] for name in EXPECTED} == pytest.approx(EXPECTED)
    bench = summary["benchmarks"]["ult"]
    assert bench["mutants"] == {
        **{"made": 16, "equivalent": 0, "killed": 12, "survived": 4, "timed_out": 0, "unknown": 0}
    }
    assert bench["tasks"] == {"mut@5": 1, "mut@5 all": 2, "branch@5": 1}  # a conditional expression is no branch
    assert bench["metrics"]["pass@5"][1:] == [0.6, 1.0]
    table = summary_table("t", summary, 5, buggy=False)
    cells = dict(zip(table.columns[0]._cells, table.columns[1]._cells, strict=True))
    assert cells["mut@5"] == "87.50 [87.50, 87.50] of 1"
    assert "kills the program shown" not in cells
    assert len(engine.requests) == (5 if protocol == "sequential" else 1)
    assert all(request.params.temperature == 0 for request in engine.requests)


def test_a_turn_shows_the_earlier_answers_and_the_white_box_the_code(tmp_path, sandbox):
    engine = ScriptedEngine(one_by_one)
    benches = ult(tmp_path / "u.json", SOUND)
    evaluate_tests(engine, sandbox, benches, TestProtocol(k=3), tmp_path / "o", "script")
    third = engine.requests[2].prompts[0]
    assert [m.role for m in third] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [third[2].content, third[4].content] == [block(f"assert {test}") for test in GRADES[:2]]
    assert GRADE in third[1].content
    assert "Write 1 test " in third[1].content
    black = ScriptedEngine(one_by_one)
    evaluate_tests(black, sandbox, benches, TestProtocol(k=3, white_box=False), tmp_path / "b", "script")
    assert "x > 3" not in black.requests[0].prompts[0][1].content
    assert "def grade(x):" in black.requests[0].prompts[0][1].content  # the signature is part of the task


def test_a_chat_that_outgrows_the_window_loses_its_oldest_answers(tmp_path, sandbox):
    room = ScriptedEngine(one_by_one)
    benches = ult(tmp_path / "u.json", [("larger", LARGER)])
    evaluate_tests(room, sandbox, benches, TestProtocol(max_tokens=60), tmp_path / "o", "script")
    longest = max(room.prompt_length(prompt) for request in room.requests for prompt in request.prompts)
    narrow = ScriptedEngine(lambda *_: block("assert larger(1, 2) == 2"), context_window=longest - 1 + 60)
    evaluate_tests(narrow, sandbox, benches, TestProtocol(max_tokens=60), tmp_path / "n", "script")
    assert [len(request.prompts[0]) for request in narrow.requests] == [2, 4, 6, 8, 8]
    none = ScriptedEngine(one_by_one, context_window=20)
    summary = evaluate_tests(none, sandbox, benches, TestProtocol(), tmp_path / "x", "script")
    assert none.requests == []
    assert (values(summary)["pass@5"], values(summary)["validity/MISSING"]) == (0, 1)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("First I would look at the borders.", {"pass@5": 0, "validity/MISSING": 1, "mut@5 all": 0, "line@5": 0}),
        ("", {"pass@5": 0, "validity/MISSING": 1, "mut@5 all": 0, "whole suite passes": 0}),
        (
            block(*["assert grade(9) == 'high'"] * 9),  # passes each time, kills what one kills: 4 of 8; 2 lines of 3
            {
                "pass@5": 1,
                "validity/VALID": 0.2,
                "validity/DUPLICATE": 0.8,
                "calls/distinct": 0.2,
                "mut@5": 0.5,
                "mul": 0.5,
                "line@5": 2 / 3,
                "branch@5": 0.5,
            },
        ),
        (block("assert grade(1) == [", "assert other(3) == 3"), {"pass@5": 0, "validity/MISSING": 3 / 5}),
    ],
    ids=["prose", "nothing", "one test again and again", "no tests"],
)
def test_testers_of_every_kind_are_scored(tmp_path, sandbox, answer, expected):
    benches = ult(tmp_path / "u.json", [("grade", GRADE)])
    protocol = TestProtocol("one-completion")
    found = values(evaluate_tests(ScriptedEngine([answer]), sandbox, benches, protocol, tmp_path / "o", "script"))
    assert {name: found.get(name) for name in expected} == pytest.approx(expected)


def test_tests_that_never_end_cost_their_own_verdicts(tmp_path, sandbox):
    code = "def down(n):\n    while n != 0:\n        n -= 1\n    return n\n"
    answer = block("assert down(-1) == 0", "assert down(2) == 0", "assert down(-5) == 0")
    benches = ult(tmp_path / "u.json", [("down", code)])
    protocol = TestProtocol("one-completion", k=3, mutants=4)
    summary = evaluate_tests(ScriptedEngine([answer]), sandbox, benches, protocol, tmp_path / "o", "script")
    found = values(summary)
    assert (found["pass@3"], found["validity/CALL_FAILED"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert summary["benchmarks"]["ult"]["mutants"]["timed_out"] >= 1  # n += 1 in place of n -= 1, or the like
    row = json.loads((tmp_path / "o/results.jsonl").read_text())
    assert row["suites"][0]["tests"][0]["reason"].startswith("TIMEOUT")


def test_flaws_of_the_given_code_are_reported_for_the_task(tmp_path, sandbox):
    functions = [
        ("tidy", "def tidy(s):\n    return len(re.sub(' +', ' ', s)) + 1\n"),
        ("made", "def made(x):\n    return bunch(x)\n"),
        ("broken", "def broken(x)\n    return x\n"),
        ("absent", "def absent(x):\n    import no_such_package\n    return x\n"),
        ("reads", "def reads(p):\n    return open(p).read()\n"),
        ("fails", "LIMIT = 1 / 0\ndef fails(x):\n    return x\n"),
        ("elsewhere", "def another(x):\n    return x\n"),
        ("same", "def same(x):\n    return x\n"),
    ]
    right = {"tidy": "assert tidy('a  b') == 4", "same": "assert same(1) == 1"}

    def script(prompt, _index, _seed):
        return block(next(test for name, test in right.items() if f"`{name}`" in prompt[1].content))

    benches = ult(tmp_path / "u.json", functions)
    engine = ScriptedEngine(script)
    protocol = TestProtocol("one-completion", k=1)
    summary = evaluate_tests(engine, sandbox, benches, protocol, tmp_path / "o", "script")
    bench = summary["benchmarks"]["ult"]
    assert len(engine.requests[0].prompts) == 2  # nobody is asked about what cannot be tested
    assert bench["added_imports"] == {"ULT/0": ["import re"]}
    reasons = bench["left_out"]
    assert sorted(reasons) == [f"ULT/{i}" for i in range(1, 7)]
    for number, reason in enumerate(
        [
            "names that nothing defines: bunch",
            "is not Python",
            "packages that are not installed: no_such_package",
            "reaches out of its process: open",
            "does not load: RAISED: ZeroDivisionError",
            "does not load: RAISED: NameError",
        ],
        start=1,
    ):
        assert reason in reasons[f"ULT/{number}"]
    assert bench["without_mutants"] == ["ULT/7"]
    assert values(summary)["pass@1"] == 1
    assert bench["tasks"]["mut@1 all"] == 1


def test_a_benchmark_of_which_nothing_can_be_tested_has_no_numbers(tmp_path, sandbox):
    benches = ult(tmp_path / "u.json", [("reads", "def reads(p):\n    return open(p).read()\n")])
    engine = ScriptedEngine(["x"])
    summary = evaluate_tests(engine, sandbox, benches, TestProtocol(), tmp_path / "o", "script")
    assert engine.requests == []
    assert summary["benchmarks"]["ult"]["metrics"] == {"mul": [None, None, None]}
    table = summary_table("t", summary, 5, buggy=False)
    assert dict(zip(table.columns[0]._cells, table.columns[1]._cells, strict=True))["left out"] == "1"


def test_mutants_that_the_benchmark_lets_pass_are_nobodys_to_kill(tmp_path, sandbox):
    own = Problem(
        "clip",
        "At most 3.",
        "clip",
        "def clip(x):\n    if x > 3:\n        x = 3\n    return x\n",
        tuple(f"assert clip({x}) == {min(x, 3)}" for x in (1, 3, 4, 5)),
    )
    write_problems(tmp_path / "own.jsonl", [own])
    benches = open_benchmarks([str(tmp_path / "own.jsonl")], untested=True)
    answer = block("assert clip(5) == 3")
    protocol = TestProtocol("one-completion", k=1)
    summary = evaluate_tests(ScriptedEngine([answer]), sandbox, benches, protocol, tmp_path / "o", "script")
    mutants = summary["benchmarks"]["own"]["mutants"]
    assert (mutants["made"], mutants["equivalent"]) == (10, 2)  # >= 3 and > 2 are the same on whole numbers
    assert (mutants["killed"], mutants["survived"]) == (6, 2)  # != 3 and > 4 are right about 5


def test_a_buggy_variant_can_be_what_the_tester_sees(tmp_path, sandbox):
    engine = ScriptedEngine(all_at_once)
    benches = ult(tmp_path / "u.json", SOUND, ["assert grade(9) == 'nonsense'", "assert larger(5, 3) == 0"])
    summary = evaluate_tests(
        engine, sandbox, benches, TestProtocol("one-completion", candidate="mutant"), tmp_path / "o", "script"
    )
    found = values(summary)
    assert {name: found[name] for name in EXPECTED} == pytest.approx(EXPECTED | {"kills the program shown": 1})
    rows = [json.loads(line) for line in (tmp_path / "o/results.jsonl").read_text().splitlines()]
    assert [row["shown"] in prompt[1].content for row, prompt in zip(rows, engine.requests[0].prompts, strict=True)]
    namespace: dict = {}
    exec(rows[0]["shown"], namespace)
    assert namespace["grade"](9) == "low"  # one that the probe tells from the given code
    assert rows[0]["suites"][0]["tests"][0]["kills_shown"]


def test_a_broken_off_evaluation_ends_as_if_it_had_not_been(tmp_path, sandbox):
    benches = ult(tmp_path / "u.json", SOUND)
    protocol = TestProtocol("one-completion", n=32, temperature=0.5, mutants=2)  # one task a block

    class Breaks(ScriptedEngine):
        def sample(self, prompts, n, params):
            if self.requests:
                raise KeyboardInterrupt
            return super().sample(prompts, n, params)

    whole = evaluate_tests(ScriptedEngine(all_at_once), sandbox, benches, protocol, tmp_path / "whole", "script")
    with pytest.raises(KeyboardInterrupt):
        evaluate_tests(Breaks(all_at_once), sandbox, benches, protocol, tmp_path / "o", "script")
    results = tmp_path / "o/results.jsonl"
    [line] = results.read_text().splitlines()
    assert json.loads(json.dumps(to_row(from_row(json.loads(line))))) == json.loads(line)
    results.write_text(line + '\n{"bench": "ul')
    rest = ScriptedEngine(all_at_once)
    assert evaluate_tests(rest, sandbox, benches, protocol, tmp_path / "o", "script") == whole
    assert len(rest.requests) == 1
    assert results.read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()
    other = TestProtocol("one-completion", n=32, temperature=0.5, mutants=2, white_box=False)
    with pytest.raises(RunDirError, match=r"other settings \(white_box: true there, false asked for"):
        evaluate_tests(rest, sandbox, benches, other, tmp_path / "o", "script")


def test_coverage_is_what_coverage_py_measures_by_itself(tmp_path):
    """The same arcs as `coverage run` writes, and the same counts as `coverage json` gives."""
    source = (
        "import math\nK = 2\ndef helper(x):\n    return x * K\n\ndef f(x):\n    total = 0\n    for i in range(x):\n"
        "        if i % 2:\n            total += helper(i)\n        elif i > 5:\n            break\n    return total\n"
    )
    (tmp_path / "mod.py").write_text(source)
    (tmp_path / "use.py").write_text("import mod\nmod.f(4)\n")

    def run(*words):
        return subprocess.run([sys.executable, "-m", "coverage", *words], cwd=tmp_path, check=True, capture_output=True)

    run("run", "--branch", "--include=mod.py", "use.py")
    run("json", "-o", "r.json")
    [file] = json.loads((tmp_path / "r.json").read_text())["files"].values()
    theirs = [file["functions"][name]["summary"] for name in ("helper", "f")]
    with Sandbox(workers=1) as sandbox:
        write_problems(tmp_path / "own.jsonl", [Problem("p", "s", "f", source)])
        benches = open_benchmarks([str(tmp_path / "own.jsonl")], untested=True)
        protocol = TestProtocol("one-completion", k=1, mutants=1)
        engine = ScriptedEngine([block("assert f(4) == 8")])
        evaluate_tests(engine, sandbox, benches, protocol, tmp_path / "o", "script")
    [suite] = json.loads((tmp_path / "o/results.jsonl").read_text())["suites"]
    assert suite["lines"] == [sum(s[key] for s in theirs) for key in ("covered_lines", "num_statements")] == [7, 8]
    assert suite["branches"] == [sum(s[key] for s in theirs) for key in ("covered_branches", "num_branches")]
    assert covered(source, ()) == Covered(0, 8, 0, suite["branches"][1])


def test_mul_is_a_product_of_means_and_is_compared_by_pairs(tmp_path, sandbox):
    nan = float("nan")
    assert mul([(1.0, 0.5), (0.5, nan), (0.0, nan)]) == 0.25
    assert mul([(0.5, nan)]) == 0
    benches = ult(tmp_path / "u.json", SOUND)
    protocol = TestProtocol("one-completion")
    evaluate_tests(ScriptedEngine(all_at_once), sandbox, benches, protocol, tmp_path / "good", "good")
    evaluate_tests(ScriptedEngine(["no"]), sandbox, benches, protocol, tmp_path / "bad", "bad")
    bad, good = read_run(tmp_path / "bad"), read_run(tmp_path / "good")
    found = difference(bad.cells["ult", "mul"], good.cells["ult", "mul"])
    assert found.value == pytest.approx(0.7)
    assert found.low == pytest.approx(0)  # a resample may hold grade alone, whose suite does not pass whole
    assert found.high == pytest.approx(0.875)
    assert list(good.cells) == [
        ("ult", metric) for metric in ("pass@5", "mut@5", "mut@5 all", "line@5", "branch@5", "mul")
    ]
    assert notes([bad, good]) == []
    black = TestProtocol("one-completion", white_box=False)
    evaluate_tests(ScriptedEngine(["no"]), sandbox, benches, black, tmp_path / "black", "bad")
    [note] = notes([good, read_run(tmp_path / "black")])
    assert note == "black: was asked in another way than good; their numbers are not comparable"
    rows = compare([bad, good], "markdown").splitlines()[2:]
    assert rows[1].startswith("| good (one-completion, white-box, given code) | 80.00 [60.00, 100.00] (+80.00")


def test_the_command_as_a_user_runs_it(tmp_path, capsys):
    ult(tmp_path / "u.json", [*SOUND, ("made", "def made(x):\n    return bunch(x)\n")])
    (tmp_path / "answers.jsonl").write_text(json.dumps(block("assert larger(1, 2) == 2")) + "\n")
    words = f"--model {tmp_path}/answers.jsonl --engine scripted --bench ult={tmp_path}/u.json --k 1 --workers 1"
    main(["eval", "tests", *words.split(), "--protocol", "one-completion", "-o", str(tmp_path / "o"), "--json"])
    out = capsys.readouterr()
    found = json.loads(out.out.splitlines()[-1])
    assert found["benchmarks"]["ult"]["metrics"]["pass@1"][0] == 0.5  # grade is asked about larger: not its test
    assert "one-completion, white-box, given code" in " ".join(out.out.split())
    assert "left out of ult: ULT/2: the given code uses names that nothing defines: bunch" in out.err
    assert json.loads((tmp_path / "o/eval.json").read_text())["kind"] == "tests"
    with pytest.raises(SystemExit) as exit_:
        main(["eval", "tests", *words.split(), "--black-box", "--candidate", "mutant"])
    assert exit_.value.code == 2
    assert "shows nothing" in capsys.readouterr().err


def test_benchmarks_that_testers_cannot_be_measured_on_are_named(tmp_path, sandbox):
    with pytest.raises(ProblemError, match=r"no data of the benchmark ult: there is no file .*ult\.parquet"):
        open_benchmarks(["ult"], folder=tmp_path, untested=True)
    ult(tmp_path / "u.json", SOUND)
    with pytest.raises(ProblemError, match="nothing says which programs are right there: `code-a1 eval tests`"):
        open_benchmarks([f"ult={tmp_path}/u.json"])
    [found] = open_benchmarks([str(tmp_path / "u.json")], untested=True)  # told by its first row
    assert (found.name, len(found.tasks)) == ("ult", 2)
    (tmp_path / "u.json").write_text(json.dumps([{"func_name": "f", "code": 3}]))
    with pytest.raises(ProblemError, match=r"u\.json:1: field 'code' must be a string"):
        open_benchmarks([f"ult={tmp_path}/u.json"], untested=True)
    rows = [{"question_id": "a", "question_title": "t", "question_content": "c", "platform": "p", "starter_code": ""}]
    rows[0] |= {"public_test_cases": "[]", "private_test_cases": "[]", "metadata": "{}", "contest_date": "2024-01-01"}
    rows[0] |= {"difficulty": "easy", "contest_id": "x"}
    rows[0]["public_test_cases"] = json.dumps([{"input": "1", "output": "1", "testtype": "stdin"}])
    (tmp_path / "l.jsonl").write_text(json.dumps(rows[0]) + "\n")
    streams = open_benchmarks([str(tmp_path / "l.jsonl")])
    with pytest.raises(ProblemError, match="task a has no reference function that tests could be run on"):
        evaluate_tests(ScriptedEngine(["x"]), sandbox, streams, TestProtocol(), tmp_path / "o", "script")


def test_the_public_half_of_the_benchmark_can_be_used(shared_data, sandbox, tmp_path):
    path = shared_data / "ult_lite_public.json"
    [bench] = open_benchmarks([f"ult={path}"], limit=3, seed=2, untested=True)
    tests = {task.entry_point: task.tests.probes for task in bench.tasks}

    def script(prompt, _index, _seed):
        return block(*next(of for name, of in tests.items() if f"`{name}`" in prompt[1].content))

    protocol = TestProtocol("one-completion", mutants=3)
    summary = evaluate_tests(ScriptedEngine(script), sandbox, [bench], protocol, tmp_path / "o", "its own tests")
    assert summary["benchmarks"]["ult"]["suites"] == 3
    assert values(summary)["pass@5"] < 0.5  # 48 of its 500 tests hold on its code
