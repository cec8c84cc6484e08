from collections.abc import Iterator

import pytest

from code_a1.judge import Judge
from code_a1.mutation import Mutant, MutantStatus, Subject, make_mutants, mutant_limits, run_mutants
from code_a1.records import Problem, TestCase
from code_a1.sandbox import Limits, Sandbox

LIMITS = Limits(cpu_s_per_call=0.4, wall_s_per_call=5.0, memory_mb=256)
KILLED, SURVIVED, TIMED_OUT, UNKNOWN = MutantStatus


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, workers=2, allow_tier="rlimits-only") as shared:
        yield shared


def subject_of(
    sandbox: Sandbox, reference: str, tests: tuple[str, ...], mutants: tuple[str, ...], problem_id: str = "p"
) -> Subject:
    problem = Problem(problem_id, "A task.", "f", reference, tests)
    judged = Judge(sandbox).check_references([problem])[0]
    cases = tuple(t.test for t in judged if isinstance(t.test, TestCase))
    assert len(cases) == len(tests)
    return Subject(problem, tuple(Mutant(source, "by hand", 1) for source in mutants), cases)


REFERENCE = "def f(n):\n    return abs(n) + 1\n"


def test_every_kind_of_end_has_its_status(sandbox):
    bodies = (
        "return abs(n) + 1",
        "return n + 1",
        "return abs(n) + 1 / 0",
        "while n < 0: pass\n    return abs(n) + 1",
        "import os; os._exit(0)",
        "return bytearray(2 ** 34)",
        "raise SystemExit(0)",
        "import math",
    )
    mutants = (*(f"def f(n):\n    {body}\n" for body in bodies), "def f(n): return undefined\nundefined_too")
    subject = subject_of(sandbox, REFERENCE, ("assert f(2) == 3", "assert f(-2) == 3"), mutants)
    [matrix] = run_mutants(sandbox, [subject])
    assert matrix.holds == (True, True)
    assert matrix.statuses == (
        (SURVIVED, SURVIVED),
        (SURVIVED, KILLED),
        (KILLED, KILLED),
        (SURVIVED, TIMED_OUT),
        (KILLED, KILLED),
        (KILLED, KILLED),
        (KILLED, KILLED),
        (KILLED, KILLED),
        (KILLED, KILLED),
    )
    assert matrix.killed_by(0) == {2, 4, 5, 6, 7, 8}
    assert matrix.killed_by(1) == {1, 2, 4, 5, 6, 7, 8}
    assert matrix.undetected() == {0}
    both = matrix.score()
    assert (both.killed, both.survived, both.timed_out, both.unknown) == (7, 1, 1, 0)
    assert both.value == 7 / 8
    # the loop does not count against the suite, nor for it; left out as equivalent, the survivor does not either
    assert matrix.score(equivalent=matrix.undetected()).value == 1.0
    assert matrix.score(equivalent=matrix.undetected()).equivalent == 1
    # the first test alone never reaches the loop, which therefore survives it, and does not see the sign either
    first = matrix.score([0])
    assert (first.killed, first.survived, first.timed_out) == (6, 3, 0)
    assert matrix.score([]).value == 0.0


def test_a_loop_is_never_a_kill_and_ends_the_mutants_run(sandbox):
    tests = tuple(f"assert f({n}) == {n + 1}" for n in range(8))
    loop = "def f(n):\n    while True: pass\n"
    [matrix] = run_mutants(sandbox, [subject_of(sandbox, REFERENCE, tests, (loop,))])
    # the first process and two more may be lost
    assert matrix.statuses == ((TIMED_OUT,) * 3 + (UNKNOWN,) * 5,)
    assert matrix.status(0) is TIMED_OUT
    assert matrix.score().value is None
    assert matrix.score().timed_out == 1


def test_a_kill_outweighs_a_timeout_of_another_test(sandbox):
    loop = "def f(n):\n    while n == 0: pass\n    return 0\n"
    [matrix] = run_mutants(sandbox, [subject_of(sandbox, REFERENCE, ("assert f(0) == 1", "assert f(1) == 2"), (loop,))])
    assert matrix.statuses == ((TIMED_OUT, KILLED),)
    assert matrix.status(0) is KILLED
    assert matrix.status(0, [0]) is TIMED_OUT


def test_a_test_that_the_reference_itself_does_not_pass_in_time_says_nothing(sandbox):
    slow = "def f(n):\n    while n == 9: pass\n    return n\n"
    problem = Problem("p", "A task.", "f", slow)
    known = subject_of(sandbox, "def f(n):\n    return n\n", ("assert f(9) == 9", "assert f(1) == 1"), ()).tests
    [matrix] = run_mutants(sandbox, [Subject(problem, (Mutant("def f(n): return 0", "by hand", 1),), known)])
    assert matrix.holds == (False, True)
    assert matrix.statuses == ((UNKNOWN, KILLED),)


def test_forms_and_check_programs_kill_as_asserts_do(sandbox):
    check = "def check(candidate):\n    assert candidate(-4) == 5\n    assert candidate(3) == 4\n"
    tests = ("assert abs(f(-1) - 2) < 1e-6", check)
    mutants = (
        "def f(n):\n    return abs(n) + 1.0000001\n",
        "def f(n):\n    return n + 1\n",
        REFERENCE + "# as it was\n",
    )
    [matrix] = run_mutants(sandbox, [subject_of(sandbox, REFERENCE, tests, mutants)])
    assert matrix.statuses == ((SURVIVED, KILLED), (KILLED, KILLED), (SURVIVED, SURVIVED))


def test_subjects_keep_their_order_and_one_without_tests_or_mutants_its_place(sandbox):
    wrong = ("def f(n): return 0",)
    subjects = [
        subject_of(sandbox, REFERENCE, (), wrong, "no tests"),
        subject_of(sandbox, REFERENCE, ("assert f(1) == 2",), wrong, "both"),
        subject_of(sandbox, REFERENCE, ("assert f(1) == 2",), (), "no mutants"),
    ]
    seen: list[int] = []
    matrices = run_mutants(sandbox, subjects, on_progress=seen.append)
    assert [m.subject.problem.problem_id for m in matrices] == ["no tests", "both", "no mutants"]
    assert [m.statuses for m in matrices] == [((),), ((KILLED,),), ()]
    assert [m.score().value for m in matrices] == [0.0, 1.0, None]
    assert sum(seen) == 3  # two references and one mutant: what has no tests is not run
    with pytest.raises(ValueError, match="about the same problem"):
        run_mutants(sandbox, [subjects[1], subjects[1]])


def test_limits_of_mutants_are_never_wider_than_the_sandboxs():
    assert mutant_limits(Limits()) == Limits(cpu_s_per_call=1.0, wall_s_per_call=10.0, max_reforks=2)
    tight = Limits(cpu_s_per_call=0.1, wall_s_per_call=1.0, max_reforks=0, memory_mb=64)
    assert mutant_limits(tight) == tight


def test_operators_and_sandbox_together(sandbox):
    source = "def f(n):\n    return n > 3\n"
    mutants = make_mutants(source, "f", limit=0, seed=0)
    subject = subject_of(sandbox, source, ("assert f(3) == False", "assert f(4) == True"), ())
    [matrix] = run_mutants(sandbox, [Subject(subject.problem, mutants, subject.tests)])
    survivors = {mutants[m].source.split("return ")[1].strip() for m in matrix.undetected()}
    # of ==, !=, <, <=, >= and 3 ± 1 these two tests cannot tell one from the right program
    assert survivors == {"n != 3"}
    assert len(mutants) == 7
    first_alone = matrix.score([0])
    # at 3: `== 3`, `<= 3`, `>= 3` and `> 2` return True
    assert (first_alone.killed, first_alone.survived) == (4, 3)
