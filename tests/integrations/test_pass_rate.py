"""Rewards for other trainers: what an answer is worth, and what happens when it cannot be judged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from code_a1.config import SandboxConfig
from code_a1.errors import ProblemError, SandboxError
from code_a1.integrations.pass_rate import PassRate, without_gaps
from code_a1.integrations.trl import RewardFunction
from code_a1.records import Problem
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Outcome, OutcomeKind, ProgramResult

CONFIG = SandboxConfig(workers=2, allow_tier="rlimits-only", cpu_s_per_test=0.5, wall_s_per_test=5.0)
DOUBLE = Problem(
    "double",
    "Return twice x.",
    "double",
    "def double(x):\n    return 2 * x",
    ("assert double(1) == 2", "assert double(2) == 4", "assert double(-3) == -6", "assert double(0) == 0"),
)
CHECKED = Problem(
    "square",
    "Return the square of x.",
    "square",
    "def square(x):\n    return x * x",
    ("def check(candidate):\n    assert candidate(3) == 9\n    assert candidate(-2) == 4",),
)


def fenced(code: str) -> str:
    return f"Here it is.\n```python\n{code}\n```"


@pytest.fixture(scope="module")
def rate() -> Iterator[PassRate]:
    rate = PassRate([DOUBLE, CHECKED], config=CONFIG)
    yield rate
    rate.close()


ANSWERS = {
    fenced("def double(x):\n    return x + x"): 1.0,
    fenced("def double(x):\n    return x + 2"): 0.25,  # right for 2 alone
    fenced("def double(x):\n    return abs(2 * x)"): 0.75,
    fenced("def double(x):\n    while x < 0: pass\n    return 2 * x"): 0.75,
    fenced("def other(x):\n    return 2 * x"): 0.0,
    fenced("def double(x:"): 0.0,
    "I cannot do that.": 0.0,
    "": 0.0,
    fenced("import os\nos._exit(0)"): 0.0,
    fenced("class Yes:\n    def __eq__(self, other): return True\ndef double(x): return Yes()"): 0.0,
}


def test_the_reward_is_the_share_of_tests_that_pass(rate):
    assert rate.score(["double"] * len(ANSWERS), list(ANSWERS)) == list(ANSWERS.values())


def test_whole_check_programs_count_as_one_test_and_problems_may_be_mixed(rate):
    right, half = fenced("def square(x):\n    return x ** 2"), fenced("def square(x):\n    return 3 * x")
    ids = ["square", "double", "square"]
    assert rate.score(ids, [right, fenced("def double(x):\n    return 2 * x"), half]) == [1.0, 1.0, 0.0]


def test_all_or_nothing():
    rate = PassRate([DOUBLE], all_or_nothing=True, config=CONFIG)
    assert rate.score(["double"] * len(ANSWERS), list(ANSWERS)) == [float(r == 1.0) for r in ANSWERS.values()]
    rate.close()
    assert rate.score(["double"], [next(iter(ANSWERS))]) == [1.0]  # opens again
    rate.close()


def test_threads_share_one_sandbox(rate):
    with ThreadPoolExecutor(6) as threads:
        rewards = list(threads.map(lambda answer: rate.score(["double"], [answer]), list(ANSWERS) * 2))
    assert rewards == [[reward] for reward in ANSWERS.values()] * 2


def test_problems_that_teach_noise_are_left_out_by_name():
    wrong = Problem("wrong", "…", "f", "def f(x):\n    return x", ("assert f(1) == 2",))
    bare = Problem("bare", "…", "f", "def f(x):\n    return x")
    rate = PassRate([DOUBLE, wrong, bare], config=CONFIG)
    assert [p.problem_id for p in rate.problems] == ["double"]
    assert [d.problem_id for d in rate.dropped] == ["wrong", "bare"]
    with pytest.raises(ProblemError, match="'wrong' cannot be judged.*assert f"):
        rate.score(["wrong"], [""])
    with pytest.raises(ProblemError, match="'nobody' is unknown"):
        rate.score(["nobody"], [""])
    rate.add([wrong, DOUBLE])  # known, both of them: nothing is run or listed again
    assert len(rate.dropped) == 2
    with pytest.raises(ProblemError, match="other contents"):
        rate.add([Problem("double", "…", "double", "def double(x):\n    return 3 * x")])
    rate.close()
    with pytest.raises(ProblemError, match="no problem can be judged.*'bare': no reference tests"):
        PassRate([bare], config=CONFIG)


class Broken(Sandbox):
    """Fails for programs that contain a word, as if the machine had."""

    def run(self, programs, limits=None):
        programs = list(programs)
        for index, result in super().run(programs, limits):
            if "UNLUCKY" in programs[index].source:
                lost = Outcome(OutcomeKind.SANDBOX_ERROR, detail="a worker died")
                yield index, ProgramResult(lost, (lost,) * len(programs[index].calls))
            else:
                yield index, result


def test_a_failing_sandbox_is_no_wrong_answer(monkeypatch):
    monkeypatch.setattr("code_a1.integrations.pass_rate.Sandbox", Broken)
    rate = PassRate([DOUBLE], config=CONFIG)
    right, unlucky = fenced("def double(x):\n    return 2 * x"), fenced("def double(x):\n    return 2 * x  # UNLUCKY")
    answers = [right] * 5 + [unlucky] + [fenced("def double(x):\n    return 1")] * 4
    assert rate.score(["double"] * 10, answers) == [1.0] * 5 + [None] + [0.0] * 4
    with pytest.raises(SandboxError, match="3 of 10 answers could not be judged"):
        rate.score(["double"] * 10, [unlucky] * 3 + answers[:5] + [right] * 2)
    rate.close()


def test_what_could_not_be_judged_moves_nothing():
    ids = ["a", "a", "a", "b", "b", "c"]
    assert without_gaps(ids, [1.0, None, 0.5, 0.0, 0.0, None]) == [1.0, 0.75, 0.5, 0.0, 0.0, None]


def test_a_fork_opens_its_own_sandbox_and_leaves_the_parents_alone(rate):
    answer = next(iter(ANSWERS))
    assert rate.score(["double"], [answer]) == [1.0]
    child = os.fork()
    if child == 0:
        try:
            code = 0 if rate.score(["double"], [answer]) == [1.0] else 1
            rate.close()
        except BaseException:
            code = 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert rate.score(["double"], [answer]) == [1.0]


def test_the_trl_function_takes_texts_and_conversations():
    rewards = RewardFunction([DOUBLE], config=CONFIG)
    assert rewards.__name__ == "pass_rate"
    right, wrong = fenced("def double(x):\n    return 2 * x"), fenced("def double(x):\n    return 1")
    columns = {"prompts": [[], []], "completion_ids": [[1], [2]], "trainer_state": object(), "log_metric": print}
    assert rewards(completions=[right, wrong], problem_id=["double"] * 2, **columns) == [1.0, 0.0]
    chats = [
        [{"role": "assistant", "content": right}],
        [{"role": "assistant", "content": [{"type": "text", "text": wrong}]}],
    ]
    assert rewards(completions=chats, problem_id=["double"] * 2, **columns) == [1.0, 0.0]
    with pytest.raises(ProblemError, match="no column 'problem_id'"):
        rewards(completions=[right], **columns)
    rewards.close()


def test_the_trl_data_set_holds_prompts_and_ids():
    pytest.importorskip("datasets")
    rewards = RewardFunction([DOUBLE, CHECKED], config=CONFIG)
    first, second = rewards.dataset()
    assert (first["problem_id"], second["problem_id"]) == ("double", "square")
    assert [m["role"] for m in first["prompt"]][-1] == "user"
    assert "Return twice x." in first["prompt"][-1]["content"]
    rewards.close()
