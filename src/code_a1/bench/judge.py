"""`code-a1 bench judge`: the judge against the usual way, one Python process per candidate, in one run.

The usual way runs a program with its tests in a fresh interpreter and reads what it prints; that is what most public
evaluators and reward functions do. It isolates nothing, so its time is a lower bound for them.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from code_a1.bench.workload import Workload, make_workloads
from code_a1.judge import Judge
from code_a1.prompts import parse_suite
from code_a1.records import Candidate, CodeGroup, Completion, Problem, SuiteGroup, TestSuite
from code_a1.sandbox import Sandbox
from code_a1.sandbox.forkserver import SITE_ENVIRONMENT
from code_a1.sandbox.programs import Call, Limits, Program
from code_a1.sandbox.zygote import PRELOADED

TESTS = 10
PAPER = {"problems": 256, "candidates": 8, "suites": 8, "tests": 8, "replayed": 8}
NO_COMPLETION = Completion("", (), (), (), "stop")
LIMITS = Limits(cpu_s_per_call=1.0, wall_s_per_call=10.0)

Progress = Callable[[str], None]


def run(
    problems: Sequence[Problem], *, quick: bool = False, workers: int = 0, on_progress: Progress | None = None
) -> dict[str, float]:
    """Measure and return the figures by name; `quick` uses a small part of the work, for trying the command out."""
    say = on_progress or (lambda _text: None)
    cores = workers or len(os.sched_getaffinity(0))
    with Sandbox(LIMITS, workers=cores) as sandbox:
        say("making programs and calls")
        step = PAPER | ({"problems": 8} if quick else {})
        calls = step["candidates"] * step["suites"] * step["tests"] + step["replayed"]
        loads = make_workloads(sandbox, problems, count=step["problems"], programs=step["candidates"], calls=calls)
        programs = [(load, code) for load in loads for code in load.programs][: 200 if quick else 1000]
        say("one candidate at a time")
        single = _one_at_a_time(programs[: 60 if quick else 300])
        say("throughput")
        ours = _throughput(sandbox, programs)
        say("the usual way")
        usual = _usual_way(programs[: 40 if quick else 200], cores)
        say("the floor of a fork")
        floor = _fork_floor(programs[: 60 if quick else 300])
    say("a step at the paper's size")
    with Sandbox(LIMITS, workers=cores) as sandbox:
        step_s = _paper_step(Judge(sandbox), loads, step)
    return {
        "candidates_per_s_per_core": ours / cores,
        "tests_per_s_per_core": ours * TESTS / cores,
        "baseline_candidates_per_s_per_core": usual / cores,
        "speedup": ours / usual,
        "ms_per_candidate_p50": single,
        "fork_floor_ms": floor,
        "over_fork_floor": single / floor,
        "paper_step_s": step_s * (PAPER["problems"] / step["problems"]),
        "cores": cores,
        "distinct_problems": len({load.problem.reference_solution.rpartition("#")[0] for load in loads}),
    }


def _program(load: Workload, code: str) -> Program:
    return Program(code, tuple(Call(t.calls, prelude=t.prelude) for t in load.tests[:TESTS]), setup=load.problem.setup)


def _one_at_a_time(programs: Sequence[tuple[Workload, str]]) -> float:
    """Median milliseconds from handing one program with 10 calls to one worker until its outcomes are there."""
    with Sandbox(LIMITS, workers=1) as sandbox:
        sandbox.run_all([_program(*programs[0])])
        times = []
        for load, code in programs:
            start = time.perf_counter()
            sandbox.run_all([_program(load, code)])
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def _throughput(sandbox: Sandbox, programs: Sequence[tuple[Workload, str]]) -> float:
    """Candidates per second on all workers, 10 tests each."""
    sandbox.run_all([_program(*p) for p in programs[:20]])
    start = time.perf_counter()
    for _ in sandbox.run(_program(*p) for p in programs):
        pass
    return len(programs) / (time.perf_counter() - start)


def _usual_way(programs: Sequence[tuple[Workload, str]], cores: int) -> float:
    """Candidates per second with one Python process each, as many at a time as there are cores."""

    def run_one(item: tuple[Workload, str]) -> None:
        load, code = item
        lines = [code, load.problem.setup]
        for text in load.asserts[:TESTS]:
            lines += ["try:", f"    {text}", "    print('passed')", "except Exception:", "    print('failed')"]
        script = Path(folder) / f"{abs(hash(code))}.py"
        script.write_text("\n".join(lines), encoding="utf-8")
        with subprocess.Popen(  # noqa: S603 - our own interpreter on programs made from trusted problems
            [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as child:
            try:
                child.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(cores) as pool:
        start = time.perf_counter()
        list(pool.map(run_one, programs))
        return len(programs) / (time.perf_counter() - start)


def _fork_floor(programs: Sequence[tuple[Workload, str]]) -> float:
    """Median milliseconds of fork, the same 10 calls, wait: the same server without isolation or results."""
    jobs = [
        (code, load.problem.setup, [(t.prelude, t.calls[0]) for t in load.tests[:TESTS]]) for load, code in programs
    ]
    done = subprocess.run(  # noqa: S603 - our own interpreter on programs made from trusted problems
        [sys.executable, "-S", "-c", FLOOR, repr(PRELOADED)],
        input=repr(jobs),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=SITE_ENVIRONMENT,
    )
    return float(done.stdout)


FLOOR = """
import os
os.register_at_fork = lambda **hooks: None
import ast, gc, importlib, statistics, sys, time
for name in ast.literal_eval(sys.argv[1]):
    importlib.import_module(name)
jobs = ast.literal_eval(sys.stdin.read())
null = os.open("/dev/null", os.O_RDWR)
gc.collect(); gc.freeze()
times = []
for code, setup, calls in jobs:
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.dup2(null, 1); os.dup2(null, 2)
        compiled = compile(code + chr(10) + setup, "solution", "exec")
        for prelude, call in calls:
            try:
                space = {"__name__": "solution"}
                exec(compiled, space)
                exec(prelude, space)
                eval(call, space)
            except BaseException:
                pass
        os._exit(0)
    os.waitpid(child, 0)
    times.append(time.perf_counter() - start)
print(statistics.median(times) * 1e3)
"""


def _paper_step(judge: Judge, loads: Sequence[Workload], size: dict[str, int]) -> float:
    """Seconds from the suites' text to the last verdict of a whole step, with cold caches."""
    code_groups, texts, replayed = [], [], {}
    per_candidate = size["suites"] * size["tests"]
    for load in loads:
        candidates = tuple(
            Candidate(load.problem.problem_id, m, code, NO_COMPLETION) for m, code in enumerate(load.programs)
        )
        code_groups.append(CodeGroup(load.problem, candidates))
        replayed[load.problem.problem_id] = load.tests[-size["replayed"] :]
        for m in range(size["candidates"]):
            asserts = load.asserts[m * per_candidate : (m + 1) * per_candidate]
            suites = [asserts[i : i + size["tests"]] for i in range(0, per_candidate, size["tests"])]
            texts.append((load.problem, m, ["```python\n" + "\n".join(suite) + "\n```" for suite in suites]))
    start = time.perf_counter()
    suite_groups = [
        SuiteGroup(
            problem.problem_id,
            m,
            tuple(TestSuite(parse_suite(text, problem.entry_point), NO_COMPLETION) for text in suites),
        )
        for problem, m, suites in texts
    ]
    judgements = judge(code_groups, suite_groups, replayed)
    elapsed = time.perf_counter() - start
    ran = sum(len(c.replayed) + sum(len(s.usable) for s in c.suites) for j in judgements for c in j.candidates)
    expected = len(loads) * size["candidates"] * (per_candidate + size["replayed"])
    if ran < 0.99 * expected:
        raise AssertionError(f"the step ran {ran} tests, not the {expected} that it should measure")
    return elapsed
