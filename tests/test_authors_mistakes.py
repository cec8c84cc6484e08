"""What the authors' released code gets wrong (measured on its functions), one test and more per mistake, by number."""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_a1.checkpoint import load_state
from code_a1.config import RewardsConfig
from code_a1.config_file import make_config
from code_a1.engines import ScriptedEngine
from code_a1.judge import Judge
from code_a1.mistake_book import MistakeBook
from code_a1.problems import write_problems
from code_a1.prompts import parse_suite
from code_a1.records import (
    Candidate,
    CodeGroup,
    Completion,
    Judgement,
    Problem,
    SuiteGroup,
    TestSuite,
    Validity,
    Verdict,
)
from code_a1.rewards import score
from code_a1.sandbox import Sandbox, pool
from code_a1.sandbox.programs import Limits
from code_a1.trainer import train

COMPLETION = Completion("", (), (), (), "stop")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Sandbox(Limits(cpu_s_per_call=0.5, wall_s_per_call=5.0), workers=2) as sandbox:
        yield Judge(sandbox)


def problem_of(reference: str, **fields) -> Problem:
    return Problem("p", "A task.", fields.pop("entry_point", "f"), reference, **fields)


def judged(judge: Judge, problem: Problem, codes: list[str | None], *suites: str, replayed=()) -> Judgement:
    """Judge candidates, each attacked by the same suites."""
    candidates = tuple(Candidate("p", i, code, COMPLETION) for i, code in enumerate(codes))
    parsed = []
    for suite in suites:
        text = f"```python\n{suite}\n```"
        completion = Completion(text, (), (), (), "stop")
        parsed.append(TestSuite(parse_suite(text, problem.entry_point), completion))
    groups = [SuiteGroup("p", i, tuple(parsed)) for i, code in enumerate(codes) if code is not None] if suites else []
    [judgement] = judge([CodeGroup(problem, candidates)], groups, {"p": tuple(replayed)})
    return judgement


def outcomes(judgement: Judgement, candidate: int = 0) -> list[tuple[Validity, Verdict | None]]:
    return [(t.validity, t.verdict) for s in judgement.candidates[candidate].suites for t in s.tests]


def remembered(judgement: Judgement) -> tuple:
    """The tests that a book keeps of a step, after it went to disk and came back."""
    with tempfile.TemporaryDirectory() as folder:
        book = MistakeBook(path=Path(folder) / "book.sqlite")
        book.update([judgement], 1)
        book.close()
        again = MistakeBook(path=Path(folder) / "book.sqlite")
        tests = again.replayed_tests("p", 100)
        again.close()
    return tests


DOUBLE = problem_of("def f(x):\n    return 2 * x")
RIGHT, WRONG = "def f(x): return x + x", "def f(x): return x * x"


def test_01_quotes_and_newlines_in_a_stored_test_corrupt_nothing(judge):
    echo = problem_of("def f(s):\n    return [s, s]")
    texts = [
        'a"b',
        "a'b",
        "both ' and \"",
        "line\nline",
        "tab\t",
        "back\\slash",
        '"""',
        "'''",
        "\\n",
        "",
        "\x00",
        "é😀",
        "\ud800",
    ]
    suite = "\n".join(f"assert f({text!r}) == {[text, text]!r}" for text in texts)
    first = judged(judge, echo, ["def f(s): return s"], suite)
    assert outcomes(first) == [(Validity.VALID, Verdict.FAIL)] * len(texts)
    kept = remembered(first)
    assert len(kept) == len(texts)
    again = judged(judge, echo, ["def f(s): return [s] * 2", "def f(s): return []"], replayed=kept)
    assert again.candidates[0].replayed == (Verdict.PASS,) * len(texts)
    assert again.candidates[1].replayed == (Verdict.FAIL,) * len(texts)


def test_02_values_without_a_literal_replay_exactly(judge):
    problem = problem_of(
        "from collections import defaultdict, Counter, deque\nfrom dataclasses import dataclass\nfrom decimal import Decimal\n"
        "@dataclass\nclass P:\n    x: int\n"
        "def f(k):\n    return [defaultdict(int, a=1), float('inf'), float('nan'), P(3), {1, 2}, Counter('ab'), deque([1]), Decimal('1.50'), -0.0, 10**5000][k]"
    )
    suite = "\n".join(f"assert f({k}) == 'something else'" for k in range(10))
    first = judged(judge, problem, ["def f(k): return None"], suite)
    assert outcomes(first) == [(Validity.WRONG_EXPECTATION, Verdict.FAIL)] * 10
    same = problem.reference_solution.replace("[k]", "[int(k)]")
    again = judged(judge, problem, [same, "def f(k): return k"], replayed=remembered(first))
    assert again.candidates[0].replayed == (Verdict.PASS,) * 10
    assert again.candidates[1].replayed == (Verdict.FAIL,) * 10


def test_03_verdicts_are_not_read_from_the_candidates_output(judge):
    forger = (
        "def f(x):\n"
        "    for i in range(1, 13): print(f'test_{i} PASS', f'_{i}', '[PASSED]', 'ok', flush=True)\n"
        "    return -1 if x == 1 else 2 * x"
    )
    judgement = judged(judge, DOUBLE, [forger], "\n".join(f"assert f({i}) == {2 * i}" for i in range(1, 13)))
    assert [v for _, v in outcomes(judgement)] == [Verdict.FAIL] + [Verdict.PASS] * 11  # _1 is not found in _10


def test_04_candidate_and_reference_share_nothing(judge):
    stack = problem_of(
        "import math\nSIZE = 3\nclass Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, x):\n        self.items.append(math.floor(x) + SIZE)\n        return len(self.items)",
        entry_point="Stack",
    )
    suite = "assert Stack().push(1) == 1\ns = Stack()\ns.push(2)\nassert s.push(2) == 2"
    nothing, agreeing, relying, right = (
        "pass",
        "class A:\n    __eq__ = lambda s, o: True\nclass Stack:\n    def push(self, x): return A()",
        "class Stack:\n    def push(self, x): return math.floor(1) * SIZE",
        "class Stack:\n    def __init__(self): self.n = 0\n    def push(self, x):\n        self.n += 1\n        return self.n",
    )
    judgement = judged(judge, stack, [nothing, agreeing, relying, right], suite)
    assert not judgement.candidates[0].loaded
    assert [v for _, v in outcomes(judgement, 0)] == [Verdict.ERROR] * 2
    assert [v for _, v in outcomes(judgement, 1)] == [Verdict.FAIL] * 2
    assert [v for _, v in outcomes(judgement, 2)] == [Verdict.ERROR] * 2
    assert outcomes(judgement, 3) == [(Validity.VALID, Verdict.PASS)] * 2


def test_04_expected_values_are_not_there_to_be_read(judge):
    thief = (
        "import gc, sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n"
        "        for scope in (frame.f_locals, frame.f_globals):\n            for name in ('expected', 'want', 'answers'):\n"
        "                if name in scope: return scope[name][x] if name == 'answers' else scope[name]\n"
        "        frame = frame.f_back\n    return None"
    )
    suite = "want = 4\nassert f(2) == want\nanswers = {3: 6}\nassert f(3) == answers[3]\nexpected = 8\nassert f(4) == expected"
    judgement = judged(judge, DOUBLE, [thief], suite)
    assert outcomes(judgement) == [(Validity.VALID, Verdict.FAIL)] * 3


def test_05_one_hang_costs_its_own_test_and_no_other(judge):
    code = "def f(x):\n    while x == 2: pass\n    return x + x"
    suite = "\n".join(f"assert f({i}) == {2 * i}" for i in range(1, 6))
    judgement = judged(judge, DOUBLE, [code], suite)
    assert [v for _, v in outcomes(judgement)] == [Verdict.PASS, Verdict.TIMEOUT, *[Verdict.PASS] * 3]
    assert [t.calls for t in remembered(judgement)] == [("f(2)",)]


def test_05_tests_that_never_ran_earn_nothing_and_are_not_remembered(judge):
    suite = "\n".join(f"assert f({i}) == {2 * i}" for i in range(14))
    judgement = judged(judge, DOUBLE, ["import os\ndef f(x): os._exit(1)"], suite)
    verdicts = [v for _, v in outcomes(judgement)]
    ran = verdicts.count(Verdict.CRASH)
    assert verdicts == [Verdict.CRASH] * ran + [Verdict.NOT_RUN] * (14 - ran)
    assert 8 <= ran < 14
    assert len(remembered(judgement)) == ran
    [[code_reward]], [[[suite_reward]]] = score([judgement], RewardsConfig(), 14)
    assert code_reward == 0
    assert suite_reward.adversarial == pytest.approx(ran / 14)


def test_06_a_candidates_imports_say_nothing_about_the_tests(judge):
    unknown = "import no_such_package\ndef f(x): return 2 * x"
    optional = "try:\n    import no_such_package as np\nexcept ImportError:\n    np = None\ndef f(x): return 2 * x"
    judgement = judged(judge, DOUBLE, [unknown, optional], "assert f(1) == 2\nassert f(2) == 4")
    assert outcomes(judgement, 0) == [(Validity.VALID, Verdict.ERROR)] * 2
    assert "no_such_package" in judgement.candidates[0].load_error
    assert outcomes(judgement, 1) == [(Validity.VALID, Verdict.PASS)] * 2
    _, [[[against_unloaded], [against_loaded]]] = score([judgement], RewardsConfig(), 2)
    assert (against_unloaded.reward, against_loaded.reward) == (0, 0.5)  # α·Val for the tests, nothing to be had beyond


def test_07_asserts_about_nothing_and_about_chance_are_no_attacks(judge):
    suite = (
        "import random, time\nassert 1 == 1\nassert sorted([2, 1]) == [1, 2]\nassert callable(f)\n"
        "assert f(random.random()) == 1\nassert f(time.time_ns()) == 1\nassert f(2) == random.random()\n"
    )
    judgement = judged(judge, DOUBLE, [WRONG], suite)
    validities = [v for v, _ in outcomes(judgement)]
    assert set(validities[:3]) <= {Validity.OFF_TARGET, Validity.MALFORMED}
    assert validities[3:] == [Validity.NONDETERMINISTIC] * 3
    _, [[[reward]]] = score([judgement], RewardsConfig(), 6)
    assert reward.reward == 0


@pytest.mark.parametrize(
    ("test", "passes", "fails"),
    [
        ("assert f(2) != 5", "return 4", "return 5"),
        ("assert f(2) < 5", "return -9", "return 5"),
        ("assert f(2) > 3", "return 9", "return 3"),
        ("assert 3 <= f(2) <= 4", "return 3", "return 5"),
        ("assert f(2) in (3, 4)", "return 3", "return 5"),
        ("assert f(0) is not None", "return 1", "return None"),
        ("assert not f(0)", "return []", "return 1"),
        ("assert 4 == f(2)", "return 4", "return 5"),
        ("import math\nassert math.isclose(f(2), 4, abs_tol=0.5)", "return 4.4", "return 4.6"),
        ("assert abs(f(2) - 4) < 1e-6", "return 4.0000001", "return 4.1"),
        ("assert f(2) == 4 or f(2) == 5", "return 5", "return 6"),
        ("assert isinstance(f(2), int) and f(2) % 2 == 0", "return 6", "return 7"),
    ],
)
def test_08_every_form_keeps_its_meaning(judge, test, passes, fails):
    judgement = judged(judge, DOUBLE, [f"def f(x): {passes}", f"def f(x): {fails}"], test)
    assert outcomes(judgement, 0) == [(Validity.VALID, Verdict.PASS)]
    assert outcomes(judgement, 1) == [(Validity.VALID, Verdict.FAIL)]


# -- whole runs --------------------------------------------------------------------------------------------------------

PROBLEM = Problem(
    "double", "Return twice x.", "double", "def double(x):\n    return 2 * x\n", ("assert double(1) == 2",)
)


def block(*lines: str) -> str:
    return "```python\n" + "\n".join(lines) + "\n```\n"


def config_of(tmp_path, *problems: Problem, **changes):
    path = tmp_path / "problems.jsonl"
    write_problems(path, problems or (PROBLEM,))
    rollout = {
        "problems_per_step": 1, "candidates_per_problem": 2, "suites_per_candidate": 2, "tests_per_suite": 2,
        "max_code_tokens": 500, "max_test_tokens": 500,
    }  # fmt: skip
    settings = {
        "steps": 2,
        "run_dir": str(tmp_path / "run"),
        "problems": {"path": str(path)},
        "sandbox": {"workers": 1},
        "policy": {"optimizer": {"warmup_steps": 0, "schedule": "constant", "minibatches": 1}},
        "rollout": rollout | changes.pop("rollout", {}),
    }
    return make_config(settings | changes)


def write_code(_prompt, index: int, _seed: int) -> str:
    return block(("def double(x): return x + x", "def double(x): return x * x")[index])


def write_suite(_prompt, index: int, _seed: int) -> str:
    return block("assert double(3) == 6", "assert double(2) == 4" if index else "assert double(5) == 10")


def test_09_an_empty_completion_is_a_candidate_without_code_and_a_suite_without_tests(tmp_path):
    run_dir = train(config_of(tmp_path), policies=(ScriptedEngine([""]), ScriptedEngine([""])))
    first, second = run_dir.metrics()
    assert first["code/reward_mean"] == second["code/reward_mean"] == 0
    assert [e["event"] for e in run_dir.events()][-1] == "finished"


def test_09_an_over_long_prompt_drops_its_candidate_and_is_counted(tmp_path):
    def long_code(_prompt, index, _seed):
        return block("def double(x): return x + x", f"# {'long ' * 60}" if index else "#")

    config = config_of(tmp_path, steps=1, rollout={"max_test_prompt_tokens": 1900})
    tests = ScriptedEngine(write_suite)
    limit = tests.prompt_length
    [row] = train(config, policies=(ScriptedEngine(long_code), tests)).metrics()
    asked = [p for request in tests.requests for p in request.prompts]
    assert row["test/prompts_too_long"] == 2 - len(asked)
    assert all(limit(prompt) <= 1900 for prompt in asked)
    assert row["test/suites"] == 2 * len(asked)


def test_10_a_dead_sandbox_masks_and_is_noticed_at_once(judge, monkeypatch):
    def no_worker(_tier):
        raise OSError("out of processes")

    monkeypatch.setattr(pool, "WorkerHandle", no_worker)
    with Sandbox(workers=1, tier=judge._sandbox.tier.name) as dead:
        broken = Judge(dead)
        judgement = judged(broken, DOUBLE, [RIGHT, WRONG], "assert f(1) == 2")
    assert broken.sandbox_errors > 0
    assert {v for v, _ in outcomes(judgement)} == {Validity.SANDBOX_ERROR}
    code, tests = score([judgement], RewardsConfig(), 1)
    assert code == [[None, None]]  # masked, not 0
    assert tests == [[[None], [None]]]
    assert remembered(judgement) == ()


def test_11_one_checkpoint_holds_the_book_and_the_state_of_chance_and_names_no_host(tmp_path):
    run_dir = train(config_of(tmp_path), policies=(ScriptedEngine(write_code), ScriptedEngine(write_suite)))
    checkpoint = run_dir.checkpoint_path(2)
    state = load_state(checkpoint)
    assert state["step"] == 2
    text = json.dumps(state)
    assert socket.gethostname() not in text
    book = MistakeBook(path=run_dir.book_path)
    assert book.state_dict() == state["mistake_book"]
    assert {t.source: n for t, n in book.counts("double").items()}[
        "assert double(3) == 6"
    ] == 3  # +2, then -1 by a pass, then +2
    assert {"code", "test", "state.json"} <= {p.name for p in checkpoint.iterdir()}
    # the same run again: what chance decided comes from the seed alone
    again = train(
        config_of(tmp_path, run_dir=str(tmp_path / "again")),
        policies=(ScriptedEngine(write_code), ScriptedEngine(write_suite)),
    )
    assert load_state(again.checkpoint_path(2))["mistake_book"] == state["mistake_book"]


def test_12_state_does_not_leak_from_test_to_test(judge):
    counter = problem_of(
        "import random\nseen = []\ndef f(x, cache={}):\n    seen.append(x)\n    cache[x] = cache.get(x, 0) + 1\n    f.n = getattr(f, 'n', 0) + 1\n"
        "    return [len(seen), len(cache), f.n]"
    )
    suite = "\n".join(f"assert f({i}) == [1, 1, 1]" for i in range(8))
    judgement = judged(judge, counter, [counter.reference_solution, "# same\n" + counter.reference_solution], suite)
    assert outcomes(judgement, 0) == outcomes(judgement, 1) == [(Validity.VALID, Verdict.PASS)] * 8


def test_13_each_side_is_asked_for_its_own_and_trained_on_its_own(tmp_path):
    code, tests = ScriptedEngine(write_code), ScriptedEngine(write_suite)
    train(config_of(tmp_path), policies=(code, tests))
    assert {request.n for request in code.requests} == {2}
    assert not any("x * x" in m.content for r in code.requests for p in r.prompts for m in p)
    assert any("x * x" in m.content for r in tests.requests for p in r.prompts for m in p)
    rows = {
        name: [row.sample.completion.text for u in e.updates for row in u]
        for name, e in (("code", code), ("test", tests))
    }
    assert rows["code"]
    assert all("def double" in text for text in rows["code"])
    assert all("assert double" in text for text in rows["test"])


def test_14_tests_in_other_scripts_are_not_punished(judge):
    shout = problem_of("def f(s):\n    return s + '!'")
    judgement = judged(
        judge,
        shout,
        ["def f(s): return s"],
        "assert f('héllo wörld') == 'héllo wörld!'\nassert f('你好😀') == '你好😀!'",
    )
    assert outcomes(judgement) == [(Validity.VALID, Verdict.FAIL)] * 2
    _, [[[reward]]] = score([judgement], RewardsConfig(), 2)
    assert (reward.penalty, reward.reward) == (0, 1.0)
    _, [[[released]]] = score([judgement], RewardsConfig(unprintable="non-ascii"), 2)
    assert released.penalty > 0  # what the released code does, for who asks for it


def test_every_number_has_a_test():
    numbers = {int(name[5:7]) for name in globals() if name.startswith("test_") and name[5:7].isdigit()}
    assert numbers == set(range(1, 15))
