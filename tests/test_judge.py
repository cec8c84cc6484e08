"""The judge on real processes: every validity class, every verdict, and who is blamed for what."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from code_a1.judge import Judge
from code_a1.prompts import parse_suite
from code_a1.records import (
    Candidate,
    CodeGroup,
    Completion,
    JudgedCandidate,
    Problem,
    SuiteGroup,
    TestSuite,
    Validity,
    Verdict,
)
from code_a1.reference_check import Status, report_references
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Limits

COMPLETION = Completion("", (), (), (), "stop")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Sandbox(Limits(cpu_s_per_call=0.5, wall_s_per_call=5.0), workers=2, allow_tier="rlimits-only") as sandbox:
        yield Judge(sandbox)


def problem_of(reference: str, entry_point: str = "f", **fields) -> Problem:
    return Problem("p", "A task.", entry_point, reference, **fields)


def judged(judge: Judge, problem: Problem, codes: list[str | None], *suites: str) -> list[JudgedCandidate]:
    """Judge candidates, each attacked by the same suites."""
    candidates = tuple(Candidate("p", i, code, COMPLETION) for i, code in enumerate(codes))
    parsed = tuple(TestSuite(parse_suite(f"```python\n{s}\n```", problem.entry_point), COMPLETION) for s in suites)
    groups = [SuiteGroup("p", i, parsed) for i, code in enumerate(codes) if code is not None]
    [judgement] = judge([CodeGroup(problem, candidates)], groups)
    return list(judgement.candidates)


def outcomes(candidate: JudgedCandidate) -> list[tuple[Validity, Verdict | None]]:
    return [(t.validity, t.verdict) for s in candidate.suites for t in s.tests]


DOUBLE = problem_of("def f(x):\n    return 2 * x")


def test_every_validity_class_of_a_generated_test(judge):
    problem = problem_of(
        """
import random, time
def f(x):
    if x == "hang":
        while True: pass
    if x == "dice":
        return random.random()
    if x == "order":
        return list({"a", "b", "c", "d", "e"})
    if x == "object":
        return f
    return 2 * x
"""
    )
    [candidate] = judged(
        judge,
        problem,
        ["def f(x): return x + x"],
        "assert f(1) == 2\n"
        "assert f(2) == 5\n"
        "assert f(None) == 1\n"
        "assert f('hang') == 1\n"
        "assert f(1) == 2\n"
        "assert f('dice') == 1\n"
        "assert f('order') == ['a']\n"
        "assert 1 == 1\n"
        "assert f('object') == 1\n"
        "assert f(3) ==\n"
        "assert f(4) == 1 / 0\n"
        "assert f(5) == f(5)\n"
        "assert f(6) or True",
    )
    assert outcomes(candidate) == [
        (Validity.VALID, Verdict.PASS),
        (Validity.WRONG_EXPECTATION, Verdict.PASS),
        (Validity.CALL_FAILED, None),
        (Validity.CALL_FAILED, None),
        (Validity.DUPLICATE, None),
        (Validity.NONDETERMINISTIC, None),
        (Validity.NONDETERMINISTIC, None),
        (Validity.OFF_TARGET, None),
        (Validity.UNREPRESENTABLE, None),
        (Validity.MALFORMED, None),
        (Validity.MALFORMED, None),
        (Validity.MALFORMED, None),  # holds whatever f returns
        (Validity.MALFORMED, None),
    ]


def test_every_verdict_and_only_its_own_test_pays(judge):
    candidate = """
import os
def f(x):
    if x == 2:
        return 5
    if x == 3:
        raise SystemExit(0)
    if x == 4:
        while True: pass
    if x == 5:
        os._exit(0)
    if x == 6:
        return bytearray(3 << 30)
    if x == 7:
        return [0] * (1 << 23)
    if x == 8:
        return f
    return x + x
"""
    [result] = judged(judge, DOUBLE, [candidate], "\n".join(f"assert f({x}) == {2 * x}" for x in range(1, 10)))
    assert [verdict for _, verdict in outcomes(result)] == [
        Verdict.PASS,
        Verdict.FAIL,
        Verdict.ERROR,
        Verdict.TIMEOUT,
        Verdict.CRASH,
        Verdict.MEMORY,
        Verdict.OUTPUT_LIMIT,
        Verdict.FAIL,
        Verdict.PASS,
    ]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (None, "no fenced Python block"),
        ("def f(x) return", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("def g(x): return 1", "NameError"),
        ("f = 3", "not callable"),
        ("raise SystemExit", "SystemExit"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
    ],
)
def test_a_candidate_that_does_not_load_fails_everything_and_says_why(judge, code, error):
    [result] = judged(judge, DOUBLE, [code], "assert f(1) == 2")
    assert not result.loaded
    assert error in result.load_error
    assert all(verdict is Verdict.ERROR for _, verdict in outcomes(result))


@pytest.mark.parametrize(
    ("test", "right", "wrong"),
    [
        ("assert f(2) != 5", Verdict.PASS, Verdict.PASS),
        ("assert f(2) > 3", Verdict.PASS, Verdict.FAIL),
        ("assert 3 < f(2)", Verdict.PASS, Verdict.FAIL),
        ("assert f(2) in (4, 6)", Verdict.PASS, Verdict.FAIL),
        ("assert f(0) is not None", Verdict.PASS, Verdict.PASS),
        ("assert not f(0)", Verdict.PASS, Verdict.FAIL),
        ("assert f(2)", Verdict.PASS, Verdict.PASS),
        ("assert 4 == f(2)", Verdict.PASS, Verdict.FAIL),
        ("import math\nassert math.isclose(f(2), 4.0)", Verdict.PASS, Verdict.FAIL),
        ("assert abs(f(2) - 4) < 1e-6", Verdict.PASS, Verdict.FAIL),
        ("assert 3 < f(2) < 5", Verdict.PASS, Verdict.FAIL),
        ("assert f(2) == 4 and f(3) == 6", Verdict.PASS, Verdict.FAIL),
        ("assert f(1) + f(2) == f(3)", Verdict.PASS, Verdict.FAIL),
        ("assert str(f(2)) == '4'", Verdict.PASS, Verdict.FAIL),
        ("x = 2\nassert f(x) == 2 ** x", Verdict.PASS, Verdict.FAIL),
    ],
)
def test_forms_keep_their_meaning(judge, test, right, wrong):
    one, two = judged(judge, DOUBLE, ["def f(x): return x + x", "def f(x): return x + 1"], test)
    assert outcomes(one) == [(Validity.VALID, right)]
    assert outcomes(two) == [(Validity.VALID, wrong)]


def test_a_wrong_expectation_of_any_form_becomes_the_references_answer(judge):
    one, two = judged(
        judge,
        DOUBLE,
        ["def f(x): return x + x", "def f(x): return x"],
        "assert f(2) > 99\nassert f(1) == f(3)\nassert abs(f(4)) < 1",
    )
    assert [v for v, _ in outcomes(one)] == [Validity.WRONG_EXPECTATION] * 3
    assert [v for _, v in outcomes(one)] == [Verdict.PASS] * 3
    assert [v for _, v in outcomes(two)] == [Verdict.FAIL] * 3


# -- forgeries by either side ------------------------------------------------------------------------------------------


def test_objects_that_agree_with_everything_are_compared_as_what_they_are(judge):
    always = "class A(int):\n    def __eq__(s, o): return True\n    def __hash__(s): return 0\ndef f(x): return A(7)"
    strange = "class B:\n    def __eq__(s, o): return True\ndef f(x): return B()"
    for result in judged(judge, DOUBLE, [always, strange], "assert f(2) == 4"):
        assert [v for _, v in outcomes(result)] == [Verdict.FAIL]


def test_nothing_of_the_judge_is_there_to_read_or_to_print_to(judge):
    snoop = """
import gc, sys, os
def f(x):
    print("PASS", flush=True)
    for fd in range(3, 64):
        try: os.write(fd, b"PASS" * 8)
        except OSError: pass
    found = [o for o in gc.get_objects() if isinstance(o, dict) and "expected" in o]
    return found[0]["expected"] if found else None
"""
    [result] = judged(judge, DOUBLE, [snoop], "assert f(2) == 4\nassert f(3) == 6")
    assert Verdict.PASS not in [v for _, v in outcomes(result)]


def test_the_tester_cannot_borrow_the_references_answer(judge):
    [result] = judged(
        judge,
        DOUBLE,
        ["def f(x): return x + x"],
        "assert f(2) == globals()['f'](2)\nassert f(3) == eval('f(3)')\nassert f(4) == __import__('sys')._getframe(1).f_globals['f'](4)",
    )
    assert all(v is Validity.MALFORMED for v, _ in outcomes(result))


def test_a_random_or_clock_dependent_test_is_no_attack(judge):
    [result] = judged(
        judge,
        DOUBLE,
        ["def f(x): return x + x"],
        "import random, time\nassert f(random.randint(0, 10**9)) == 4\nassert f(2) == random.random()\n"
        "assert f(time.time_ns()) == 4",
    )
    assert [v for v, _ in outcomes(result)] == [Validity.NONDETERMINISTIC] * 3


# -- whose state, whose fault ------------------------------------------------------------------------------------------


def test_a_test_never_sees_what_an_earlier_one_left_behind(judge):
    counting = problem_of("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)")
    [same] = judged(
        judge, counting, [counting.reference_solution], "assert f(1) == 1\nassert f(2) == 1\nassert f(3) == 1"
    )
    assert outcomes(same) == [(Validity.VALID, Verdict.PASS)] * 3


def test_a_suite_cannot_break_a_program_by_naming_its_variables_like_the_programs_own(judge):
    helped = "def helper(x): return x\ndef f(x): return helper(x) + helper(x)"
    [result] = judged(judge, DOUBLE, [helped], "helper = 3\nassert f(helper) == 6\nf_ = 1\nassert f(f_) == 2")
    assert outcomes(result) == [(Validity.VALID, Verdict.PASS)] * 2


def test_arguments_are_fresh_and_in_place_changes_can_be_asked_for(judge):
    sorter = problem_of("def f(xs):\n    xs.sort()")
    good, bad = judged(
        judge,
        sorter,
        ["def f(xs): xs[:] = sorted(xs)", "def f(xs): return sorted(xs)"],
        "xs = [3, 1]\nf(xs)\nassert xs == [1, 3]\nassert f([2, 1]) is None",
    )
    assert outcomes(good) == [(Validity.VALID, Verdict.PASS)] * 2
    assert [v for _, v in outcomes(bad)] == [Verdict.FAIL, Verdict.FAIL]


def test_imports_that_only_the_reference_makes_do_not_fail_a_candidate(judge):
    problem = problem_of("from collections import deque\ndef f(xs):\n    return len(deque(xs))")
    [result] = judged(judge, problem, ["def f(xs): return len(xs)"], "assert f(deque([1, 2])) == 2")
    assert outcomes(result) == [(Validity.VALID, Verdict.PASS)]


def test_a_hanging_test_on_the_reference_does_not_hide_its_neighbours(judge):
    problem = problem_of("def f(x):\n    while x < 0: pass\n    return x")
    hanging = "\n".join(f"assert f({-i}) == 0" for i in range(1, 12))
    [result] = judged(judge, problem, [problem.reference_solution], f"{hanging}\nassert f(5) == 5")
    assert [v for v, _ in outcomes(result)] == [Validity.CALL_FAILED] * 11 + [Validity.VALID]


def test_what_lies_beyond_the_cap_of_reforks_is_not_run_and_pays_nobody(judge):
    [result] = judged(
        judge,
        DOUBLE,
        ["import os\ndef f(x): os._exit(1)"],
        "\n".join(f"assert f({i}) == {2 * i}" for i in range(12)),
    )
    verdicts = [v for _, v in outcomes(result)]
    assert verdicts.count(Verdict.CRASH) >= 8
    assert set(verdicts[9:]) == {Verdict.NOT_RUN}


def test_identical_candidates_are_run_once(judge):
    code = "def f(x): return x + x"
    before = judge.programs_run
    one, two, three = judged(judge, problem_of("def f(x):\n    return x * 2"), [code, code, code], "assert f(7) == 14")
    assert outcomes(one) == outcomes(two) == outcomes(three) == [(Validity.VALID, Verdict.PASS)]
    assert judge.programs_run - before == 3  # the reference under two seeds, the candidate once


def test_judging_is_deterministic_and_does_not_depend_on_the_number_of_workers():
    suites = ["assert f(2) == 4\nassert f(3) == 5", "assert f(0) == 0\nassert f('a') == 'aa'"]
    codes = ["def f(x): return x + x", "def f(x): return x * 3", "def f(x): return hash(str(x))", "def f(x)"]
    results = []
    for workers in (1, 2, 3):
        with Sandbox(workers=workers, allow_tier="rlimits-only") as sandbox:
            results.append(judged(Judge(sandbox), DOUBLE, codes, *suites))
    assert results[0] == results[1] == results[2]


# -- references --------------------------------------------------------------------------------------------------------


def test_references_are_reported_one_by_one(judge):
    check = "def check(candidate):\n    for x in range(3):\n        assert candidate(x) == {}\n"
    problems = [
        Problem("ok", "s", "f", "def f(x): return x", ("assert f(1) == 1",)),
        Problem("checked", "s", "f", "def f(x): return x", (check.format("x"),)),
        Problem("check fails", "s", "f", "def f(x): return x", (check.format("x + 1"),)),
        Problem("failing", "s", "f", "def f(x): return x", ("assert f(1) == 1", "assert f(1.5) == 2")),
        Problem(
            "random", "s", "f", "import random\ndef f(): return random.random()", ("assert f() < 2", "assert f() == 1")
        ),
        Problem("nameless", "s", "g", "def f(x): return x", ()),
        Problem("ok", "s", "f", "def f(x): return x", ()),
    ]
    reports = report_references(judge, problems)
    assert [r.status for r in reports] == [
        Status.OK,
        Status.OK,
        Status.FAILING,
        Status.FAILING,
        Status.NONDETERMINISTIC,
        Status.NO_ENTRY_POINT,
        Status.DUPLICATE_ID,
    ]
    assert [len(r.tests) for r in reports] == [1, 1, 0, 1, 0, 0, 0]
    assert "1 of 2 tests, such as 'assert f(1.5) == 2'" in reports[3].reason


def test_check_programs_judge_candidates_without_sharing_their_process(judge):
    check = "def check(candidate):\n    secret = [41, 4242]\n    assert candidate(1) == 1\n"
    problem = problem_of("def f(x): return x", reference_tests=(check,))
    tests = list(judge.reference_tests(problem))
    # right only where the check's own list is to be found; it makes no such list itself
    thief = """
import gc
def f(x):
    pairs = [o for o in gc.get_objects() if type(o) is list and len(o) == 2 and all(type(v) is int for v in o)]
    return 1 if any(a * 100 + b == 8342 for a, b in pairs) else 0
"""
    codes = ["def f(x): return x", "def f(x): return 2", "def f(x): raise KeyError(x)", thief]
    group = CodeGroup(problem, tuple(Candidate("p", i, c, COMPLETION) for i, c in enumerate(codes)))
    [judgement] = judge([group], replayed={"p": tests})
    assert [c.replayed[0] for c in judgement.candidates][:3] == [Verdict.PASS, Verdict.FAIL, Verdict.ERROR]
    assert judgement.candidates[3].replayed[0] is Verdict.FAIL
    shared: dict[str, object] = {}
    exec(thief + check, shared)
    shared["check"](shared["f"])  # the theft works where the process is shared, so the verdict above says something
