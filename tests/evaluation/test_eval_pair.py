"""`code-a1 eval pair`: the rule by hand, the five ways of choosing, and that no reference plays a part in the choice."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from code_a1.cli import main
from code_a1.engines import ScriptedEngine
from code_a1.errors import RunDirError
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.evaluation.compare import read_run
from code_a1.evaluation.pair.behaviour import Asked, behaviours, with_answers
from code_a1.evaluation.pair.choosing import FAILED, Behaviour, choose_by_output, choose_by_tests
from code_a1.evaluation.pair.measure import PairProtocol
from code_a1.evaluation.pair.results import PairResult, from_row, to_row
from code_a1.evaluation.pair.run import evaluate_pair
from code_a1.evaluation.pair.summary import by_size, choices, summarise, summary_table
from code_a1.problems import write_problems
from code_a1.prompts import parse_suite
from code_a1.records import Problem
from code_a1.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as shared:
        yield shared


def does(passed=(), outputs=(), loaded=True) -> Behaviour:
    return Behaviour(frozenset(passed), tuple(outputs), loaded)


# -- the rule ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("programs", "tests", "chosen"),
    [
        # two programs that pass tests 0 and 1 (2 * 2) against one that passes three (1 * 3)
        ([does({0, 1, 2}), does({0, 1}), does({0, 1})], (0, 1, 2, 3), 1),
        # 1 * 4 against 2 * 2: more tests win the tie
        ([does({0, 1}), does({0, 1}), does({0, 1, 2, 3})], (0, 1, 2, 3), 2),
        # 1 * 2 each: the earlier
        ([does({2, 3}), does({0, 1})], (0, 1, 2, 3), 0),
        # tests that may not be looked at do not count
        ([does({2, 3}), does({0})], (0, 1), 1),
        # nobody passes anything: what they return decides, 7 twice
        ([does((), [5]), does((), [7]), does((), [7])], (0,), 1),
        # no tests at all: the first that loads
        ([does(loaded=False), does((), ()), does((), ())], (), 1),
        ([does(loaded=False), does(loaded=False)], (), 0),
    ],
)
def test_what_tests_choose(programs, tests, chosen):
    assert choose_by_tests(programs, tests) == chosen


@pytest.mark.parametrize(
    ("programs", "chosen"),
    [
        ([does((), [1, 2]), does((), [1, 3]), does((), [1, 3])], 1),
        ([does((), [1, 2]), does((), [3, 4])], 0),
        # failing everywhere is no vote, however many agree on it
        ([does((), [FAILED, FAILED]), does((), [FAILED, FAILED]), does((), [1, FAILED])], 2),
        ([does(loaded=False), does((), [FAILED, FAILED])], 1),
    ],
)
def test_what_a_majority_chooses(programs, chosen):
    assert choose_by_output(programs, (0, 1)) == chosen


def result(right, behaviours, suites, name="t") -> PairResult:
    n = len(right)
    return PairResult("b", name, "", ("p",) * n, tuple(right), ("t",) * 9, tuple(suites), tuple(behaviours), ("",) * n)


MIXED = result(
    [False, True, True, False],
    [does({0}, [1, 1, 3]), does({0, 1}, [1, 2, 4]), does({0, 1}, [1, 2, 4]), does({0, 2}, [1, 5, 9])],
    [(0,), (1,), (0, 1), (2,)],
)


def test_all_five_ways_of_choosing_on_one_task():
    assert choices(MIXED, range(4), 5) == {
        **{"chosen by tests": 1, "random choice": 0.5, "majority by output": 1, "first sample": 0, "oracle": 1}
    }
    # without the pair that agrees: 0, 1 and 3 with their own tests 0, 1 and 2; {0, 1} and {0, 2} tie, 1 comes first
    assert choices(MIXED, (0, 1, 3), 5)["chosen by tests"] == 1
    assert choices(MIXED, (0, 3), 1) == {
        **{"chosen by tests": 0, "random choice": 0, "majority by output": 0, "first sample": 0, "oracle": 0}
    }


def test_fewer_programs_and_tests_are_subsets_of_what_was_drawn():
    rows = by_size([MIXED, result([True] * 4, [does({0}, [1])] * 4, [(0,)] * 4, "u")], 4, 2)
    assert [(row["n"], row["tests"]) for row in rows] == [(n, t) for n in (1, 2, 4) for t in (1, 2)]
    last = rows[-1]
    assert (last["chosen by tests"], last["oracle"], last["first sample"]) == (1, 1, 0.5)
    alone = rows[0]
    ways = ("chosen by tests", "random choice", "majority by output", "first sample", "oracle")
    assert len({alone[way] for way in ways}) == 1  # of one program there is nothing to choose
    assert 0.6 < alone["oracle"] < 0.9  # (1 + share of two in four) / 2, from 32 draws
    assert rows == by_size([MIXED, result([True] * 4, [does({0}, [1])] * 4, [(0,)] * 4, "u")], 4, 2)


def test_the_summary_counts_what_can_be_decided():
    hopeless = result([False] * 4, [does((), [1])] * 4, [(0,)] * 4, "hopeless")
    ours = result([True, None, True, True], [does()] * 4, [()] * 4, "ours")
    summary = summarise({"b": [MIXED, hopeless, ours, PairResult("b", "gone", "no reference")]}, 4, 2)
    bench = summary["benchmarks"]["b"]
    assert (bench["problems"], bench["masked"], bench["decidable"], bench["no_test_passed"]) == (2, 1, 1, 1)
    assert bench["left_out"] == {"gone": "no reference"}
    assert bench["metrics"]["chosen by tests"] == [0.5, 0.0, 1.0]
    assert bench["by_tests_minus"]["first sample"] == [0.5, 0.0, 1.0]
    assert bench["by_tests_minus"]["oracle"] == [0, 0, 0]
    table = summary_table("t", summary)
    assert table.columns[1]._cells[0] == "50.00 [0.00, 100.00]"


def test_results_come_back_as_they_were_written():
    assert from_row(json.loads(json.dumps(to_row(MIXED)))) == MIXED


# -- what programs do --------------------------------------------------------------------------------------------------


def test_programs_are_run_on_calls_and_judged_by_predicted_answers(sandbox):
    suite = parse_suite(
        "```python\nassert f(2) == 4\nassert f(3) == 3 ** 2\nassert f(0) == [\nassert 0 < f(1) < 2\n"
        "assert f(5) == 1 / 0\nassert f(1) != 1\n```",
        "f",
    )
    tests = with_answers(sandbox, [t for t in suite if hasattr(t, "calls")])
    known = [t for t in tests if t is not None]
    assert [t.source for t in known] == [
        "assert f(2) == 4",
        "assert f(3) == 3 ** 2",
        "assert 0 < f(1) < 2",
        "assert f(1) != 1",
    ]
    programs = (
        "def f(x):\n    return x * x\n",
        "def f(x):\n    return x + 2 if x > 1 else 9\n",
        "def f(x):\n    while x == 2:\n        pass\n    return open('/etc/passwd')\n",
        "def g(x):\n    return 1\n",
        "import os\nos._exit(0)\n",
        "class Agrees:\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return Agrees()\n",
    )
    [found] = behaviours(sandbox, [Asked(programs, tuple(known), "f")])
    assert [sorted(b.passed) for b in found] == [[0, 1, 2], [0, 3], [], [], [], [3]]
    assert [b.loaded for b in found] == [True, True, True, False, False, True]
    assert found[0].outputs[0] == found[1].outputs[0] != FAILED
    assert len({found[0].outputs[1], found[1].outputs[1], FAILED}) == 3
    assert found[2].outputs == (FAILED,) * 4


# -- a whole evaluation ------------------------------------------------------------------------------------------------

DOUBLE = Problem(
    "double", "Return twice x.", "double", "def double(x):\n    return 2 * x\n", ("assert double(3) == 6", "assert double(-1) == -2")
)  # fmt: skip
PROGRAMS = [
    "def double(x):\n    return x * x",
    "def double(x):\n    return x + x",
    "def double(x):\n    return x ** 3",
    "def double(x):\n    return 2 * x",
]


def block(*lines: str) -> str:
    return "```python\n" + "\n".join(lines) + "\n```"


def coder(_prompt, index, _seed):
    return block(PROGRAMS[index % 4])


def attacker(prompt, _index, _seed):
    """Against the square a test that only the square passes, against everything else a right one and a common one."""
    if "x * x" in prompt[1].content:
        return block("assert double(3) == 9")
    return block("assert double(3) == 6", "assert double(2) == 4")


def benches(tmp_path, problem=DOUBLE):
    write_problems(tmp_path / "own.jsonl", [problem])
    return open_benchmarks([str(tmp_path / "own.jsonl")])


MODELS = {"code": "c", "test": "t"}


def test_best_of_four_by_generated_tests(tmp_path, sandbox):
    engines = ScriptedEngine(coder), ScriptedEngine(attacker)
    summary = evaluate_pair(*engines, sandbox, benches(tmp_path), PairProtocol(n=4, k=2), tmp_path / "o", MODELS)
    metrics = {way: numbers[0] for way, numbers in summary["benchmarks"]["own"]["metrics"].items()}
    # the square passes ==9 and ==4 (1 * 2), the two doubles ==6 and ==4 (2 * 2)
    assert metrics == {
        **{"chosen by tests": 1, "random choice": 0.5, "majority by output": 1, "first sample": 0, "oracle": 1}
    }
    row = json.loads((tmp_path / "o/results.jsonl").read_text())
    assert row["tests"] == ["assert double(3) == 9", "assert double(3) == 6", "assert double(2) == 4"]
    assert row["suites"] == [[0], [1, 2], [1, 2], [1, 2]]
    assert [b["passed"] for b in row["behaviours"]] == [[0, 2], [1, 2], [], [1, 2]]
    assert row["right"] == [False, True, False, True]
    assert [PROGRAMS[i] in p[1].content for i, p in enumerate(engines[1].requests[0].prompts)] == [True] * 4
    assert list(read_run(tmp_path / "o").cells) == [("own", way) for way in metrics]


def test_nothing_of_the_reference_decides(tmp_path, sandbox):
    """With another reference, and tests of it that call other programs right, everything but `right` is the same."""
    other = replace(
        DOUBLE, reference_solution="def double(x):\n    return x * x\n", reference_tests=("assert double(3) == 9",)
    )
    rows = []
    for name, problem in (("a", DOUBLE), ("b", other)):
        engines = ScriptedEngine(coder), ScriptedEngine(attacker)
        evaluate_pair(*engines, sandbox, benches(tmp_path, problem), PairProtocol(n=4), tmp_path / name, MODELS)
        rows.append(json.loads((tmp_path / name / "results.jsonl").read_text()))
    assert [row.pop("right") for row in rows] == [[False, True, False, True], [True, False, False, False]]
    assert rows[0] == rows[1]


def test_testers_and_coders_that_answer_nothing_leave_the_first_sample(tmp_path, sandbox):
    prose = ScriptedEngine(["I would rather not."])
    summary = evaluate_pair(
        ScriptedEngine(coder), prose, sandbox, benches(tmp_path), PairProtocol(n=4), tmp_path / "o", MODELS
    )
    bench = summary["benchmarks"]["own"]
    assert (bench["tests"], bench["without_tests"], bench["metrics"]["chosen by tests"][0]) == (0, 1, 0)
    silent = evaluate_pair(
        prose, ScriptedEngine(attacker), sandbox, benches(tmp_path), PairProtocol(n=2), tmp_path / "s", MODELS
    )
    assert silent["benchmarks"]["own"]["no_program"] == 2
    assert silent["benchmarks"]["own"]["metrics"]["oracle"][0] == 0


def test_a_black_box_tester_writes_its_suites_from_the_description(tmp_path, sandbox):
    blind = ScriptedEngine(attacker)
    protocol = PairProtocol(n=4, white_box=False)
    evaluate_pair(ScriptedEngine(coder), blind, sandbox, benches(tmp_path), protocol, tmp_path / "o", MODELS)
    prompts = blind.requests[0].prompts
    assert len(prompts) == 4
    assert not any(program in prompt[1].content for prompt in prompts for program in PROGRAMS)


def test_a_pair_goes_on_where_it_was_broken_off_and_refuses_other_settings(tmp_path, sandbox):
    protocol = PairProtocol(n=32, k=2)  # one task a block
    more = [replace(DOUBLE, problem_id=f"p{i}", statement=f"Twice, {i}.") for i in range(2)]
    write_problems(tmp_path / "two.jsonl", more)
    two = open_benchmarks([str(tmp_path / "two.jsonl")])

    class Breaks(ScriptedEngine):
        def sample(self, prompts, n, params):
            if self.requests:
                raise KeyboardInterrupt
            return super().sample(prompts, n, params)

    whole = evaluate_pair(
        ScriptedEngine(coder), ScriptedEngine(attacker), sandbox, two, protocol, tmp_path / "w", MODELS
    )
    with pytest.raises(KeyboardInterrupt):
        evaluate_pair(ScriptedEngine(coder), Breaks(attacker), sandbox, two, protocol, tmp_path / "o", MODELS)
    rest = ScriptedEngine(coder), ScriptedEngine(attacker)
    assert evaluate_pair(*rest, sandbox, two, protocol, tmp_path / "o", MODELS) == whole
    assert (tmp_path / "o/results.jsonl").read_bytes() == (tmp_path / "w/results.jsonl").read_bytes()
    with pytest.raises(RunDirError, match=r"other settings \(models.test: \"t\" there, \"u\" asked for"):
        evaluate_pair(*rest, sandbox, two, protocol, tmp_path / "o", {"code": "c", "test": "u"})


def test_the_command_as_a_user_runs_it(tmp_path, capsys):
    benches(tmp_path)
    for name, answers in (("code", [block(p) for p in PROGRAMS]), ("test", [block("assert double(3) == 6")])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    words = f"--code {tmp_path}/code.jsonl --test {tmp_path}/test.jsonl --engine scripted --n 4 --workers 1 --json"
    main(["eval", "pair", *words.split(), "--bench", str(tmp_path / "own.jsonl"), "-o", str(tmp_path / "o")])
    out = capsys.readouterr().out
    found = json.loads(out.splitlines()[-1])["benchmarks"]["own"]
    assert found["metrics"]["chosen by tests"][0] == 1
    assert "share right (percent) by programs and tests per suite" in " ".join(out.split())
    main(["compare", str(tmp_path / "o"), "--format", "csv"])
    assert "o,own,random choice,0.5," in capsys.readouterr().out
