"""100,000 completions that nobody would write on purpose, through parser, judge, rewards and book."""

from __future__ import annotations

import gc
import random
import string
from collections.abc import Iterator
from contextlib import closing

import pytest

from code_a1.bench.book import resident_mb
from code_a1.config import RewardsConfig
from code_a1.judge import Judge
from code_a1.mistake_book import MistakeBook
from code_a1.prompts import parse_code, parse_suite
from code_a1.records import Candidate, CodeGroup, Completion, Problem, SuiteGroup, TestSuite
from code_a1.rewards import score
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Limits

CANDIDATES, SUITES, TESTS, PROBLEMS = 4, 4, 8, 25
PER_STEP = PROBLEMS * CANDIDATES * (1 + SUITES)

PIECES = [
    *(
        "```python\n",
        "```",
        "```py\n",
        "~~~\n",
        "\n\n",
        "    ",
        "\t",
        "\\",
        "\x00",
        "\ud800",
        "\u202e",
        "é",
        "𝔣",
        '"',
        "'''",
    ),
    *(
        "assert f(1) == 2",
        "assert f(2) == 4\n",
        "assert f(x) == y",
        "assert f(1) == f(1)",
        "assert f(1) == float('nan')",
    ),
    *(
        "assert not f([",
        "assert f(*[3]) == 6",
        "assert f(10**9) > 0",
        "assert f(-1) in {-2}",
        "assert (f(1), f(2)) == (2, 4)",
    ),
    *(
        "assert f('" + "a" * 3000 + "') == 1",
        "assert f(" + "(" * 200 + ")" * 200 + ")",
        "assert f(1) == " + "-" * 500 + "1",
    ),
    *(
        "def f(x):\n    return 2 * x\n",
        "def f(x): return x * x\n",
        "def f(x):\n    return f(x)\n",
        "f = lambda x: x + x\n",
    ),
    *(
        "def f(x):\n    raise SystemExit\n",
        "import os\nos._exit(1)\n",
        "raise KeyboardInterrupt\n",
        "print('PASS' * 1000)\n",
    ),
    *(
        "class E:\n    def __eq__(self, o): return True\ndef f(x): return E()\n",
        "def f(x): return object()\n",
        "f = 5\n",
    ),
    *(
        "def f(x):\n    l = []; l.append(l); return l\n",
        "def f(x): return '\\ud800' * x\n",
        "def f(x): return {1.5: {2: x}}\n",
    ),
    *(
        "import unittest\n",
        "from f import *\n",
        "with open('/etc/passwd') as h: pass\n",
        "if x: pass\n",
        "lambda: (yield)\n",
    ),
]
"""What completions are put together from."""


def completion(rng: random.Random) -> Completion:
    kind = rng.random()
    if kind < 0.2:
        text = "".join(rng.choices(string.printable, k=rng.randrange(200)))
    elif kind < 0.25:
        text = bytes(rng.randrange(256) for _ in range(rng.randrange(300))).decode("latin-1")
    else:
        text = "".join(rng.choices(PIECES, k=rng.randrange(1, 7)))
        if rng.random() < 0.7:
            text = f"```python\n{text}\n```"
    return Completion(text, (1,) * (len(text) % 50), (0.0,) * (len(text) % 50), (), "stop")


def step(rng: random.Random, judge: Judge, book: MistakeBook, number: int) -> int:
    """One step of such completions; returns how many tests were usable."""
    problems = [Problem(f"p{i}", "Return twice x.", "f", "def f(x):\n    return 2 * x\n") for i in range(PROBLEMS)]
    code_groups, suite_groups = [], []
    for problem in problems:
        candidates = tuple(
            Candidate(problem.problem_id, m, parse_code(c.text), c)
            for m, c in ((m, completion(rng)) for m in range(CANDIDATES))
        )
        code_groups.append(CodeGroup(problem, candidates))
        for candidate in candidates:
            suites = tuple(TestSuite(parse_suite(c.text, "f"), c) for c in (completion(rng) for _ in range(SUITES)))
            suite_groups.append(SuiteGroup(problem.problem_id, candidate.index, suites))
    judgements = judge(code_groups, suite_groups, book.replay(problems, TESTS))
    code, tests = score(judgements, RewardsConfig(), TESTS)
    assert all(r is None or 0 <= r <= 1 for row in code for r in row)
    assert all(r is None or -1 <= r.reward <= 1 for rows in tests for row in rows for r in row)
    book.update(judgements, number)
    return sum(len(s.usable) for j in judgements for c in j.candidates for s in c.suites)


def run(steps: int, book: MistakeBook) -> Iterator[tuple[int, float]]:
    """Usable tests and resident memory in MB after each step."""
    rng = random.Random(steps)
    limits = Limits(cpu_s_per_call=0.5, wall_s_per_call=5.0, memory_mb=256)
    with Sandbox(limits) as sandbox:
        judge = Judge(sandbox)
        for number in range(1, steps + 1):
            usable = step(rng, judge, book, number)
            gc.collect()
            yield usable, resident_mb()


def test_a_thousand_adversarial_completions_are_data(tmp_path):
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book:
        usable = [found for found, _ in run(2, book)]
        assert min(usable) > 0
        assert 0 < len(book) <= PROBLEMS * 64


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_are_data_and_nothing_grows(tmp_path):
    steps = 100_000 // PER_STEP
    with closing(MistakeBook(path=tmp_path / "book.sqlite")) as book:
        memory = [resident for _, resident in run(steps, book)]
    # half of it warms up: caches have bounds, and are filled by then
    assert max(memory[-10:]) - memory[steps // 2] < 30, memory
