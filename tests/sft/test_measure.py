import math

from code_a1.mutation import KillMatrix, Mutant, MutantStatus, Subject
from code_a1.records import JudgedTest, Problem, Validity
from code_a1.sft.measure import bootstrap, pool_metrics, share
from code_a1.suites import TestPool

V = Validity
KILLED, SURVIVED, TIMED_OUT, _ = MutantStatus


def pool_of(
    name: str, sampled: list[Validity], statuses: tuple[tuple[MutantStatus, ...], ...], predicted: tuple[bool, ...]
):
    problem = Problem(name, "A task.", "f", "def f(): pass")
    subject = Subject(problem, tuple(Mutant("", "by hand", 1) for _ in statuses), ())
    matrix = KillMatrix(subject, statuses, (True,) * len(predicted))
    sources = tuple(f"assert f() == {i}" for i in range(len(predicted)))
    return TestPool(problem, (), tuple(JudgedTest("", v) for v in sampled), 2, sources, predicted, matrix)


def test_shares_are_over_all_tests_and_the_mutation_score_over_problems():
    pools = [
        # the right test kills one mutant of two; the repaired one, which kills both, is the reference's merit
        pool_of(
            "a", [V.VALID, V.WRONG_EXPECTATION, V.MALFORMED], ((KILLED, KILLED), (SURVIVED, KILLED)), (True, False)
        ),
        pool_of("b", [V.CALL_FAILED], ((), ()), ()),
        pool_of("c", [], ((TIMED_OUT,),), (True,)),
    ]
    metrics = pool_metrics(pools, "eval")
    assert metrics["eval/problems"] == 3
    assert metrics["eval/suites"] == 6
    assert metrics["eval/tests"] == 4
    assert metrics["eval/distinct_usable"] == 3
    assert metrics["eval/validity"] == 1 / 4
    assert metrics["eval/usable"] == 2 / 4
    assert metrics["eval/mutation_score"] == (0.5 + 0.0) / 2  # c has no decided mutant
    assert metrics["eval/validity/MALFORMED"] == 1 / 4
    assert metrics["eval/validity_low"] == 0.0  # resamples without a
    assert metrics["eval/validity_high"] == 1 / 3  # resamples of a alone


def test_the_bootstrap_resamples_problems_not_tests():
    # two problems of 100 tests, one all right and one all wrong: half of the resamples hold one of them twice
    assert bootstrap([(100.0, 100.0), (0.0, 100.0)]) == (0.0, 1.0)
    # many equal problems leave no doubt
    assert bootstrap([(1.0, 2.0)] * 50) == (0.5, 0.5)
    # 400 problems of one test, half right: about ± 1.96 · sqrt(0.25 / 400) = ± 0.049
    low, high = bootstrap([(1.0, 1.0), (0.0, 1.0)] * 200)
    assert 0.44 < low < 0.46
    assert 0.54 < high < 0.56
    assert bootstrap([(1.0, 1.0), (0.0, 1.0)] * 200) == (low, high)


def test_nothing_has_no_share():
    assert math.isnan(share([]))
    assert math.isnan(bootstrap([])[0])
    assert math.isnan(bootstrap([(0.0, 0.0)])[1])
