"""The pool: order, back-pressure, dead workers, clean ends."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_a1.errors import SandboxError
from code_a1.sandbox import Limits, OutcomeKind, Program, Sandbox

from .conftest import LIMITS, kinds, program, value

GOOD = program("def f(x): return x * 2", "f(21)")


def descendants(pid: int | None = None) -> set[int]:
    """Process ids below this process."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, todo = set(), [pid or os.getpid()]
    while todo:
        above = todo.pop()
        below = [child for child, parent in parents.items() if parent == above]
        found.update(below)
        todo += below
    return found


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_results_stream_and_keep_their_places(sandbox: Sandbox) -> None:
    programs = [program(f"def f(): return {i}", "f()") for i in range(50)]
    streamed = dict(sandbox.run(programs))
    assert [value(streamed[i].outcomes[0]) for i in range(50)] == list(range(50))
    assert [value(r.outcomes[0]) for r in sandbox.run_all(programs)] == list(range(50))
    assert sandbox.run_all([]) == []


def test_programs_are_pulled_as_workers_become_free(sandbox: Sandbox) -> None:
    pulled = 0

    def endless() -> Iterator[Program]:
        nonlocal pulled
        while True:
            pulled += 1
            yield GOOD

    results = sandbox.run(endless())
    for seen in range(1, 21):
        next(results)
        assert pulled <= seen + 12
    results.close()
    assert value(sandbox.run_all([GOOD])[0].outcomes[0]) == 42


def test_usable_after_an_exception_in_the_consumer_or_the_source(sandbox: Sandbox) -> None:
    def consume() -> None:
        for _ in sandbox.run([GOOD] * 20):
            raise KeyError

    with pytest.raises(KeyError):
        consume()

    def broken() -> Iterator[Program]:
        yield GOOD
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(sandbox.run(broken()))
    assert kinds(sandbox.run_all([GOOD])[0]) == ["VALUE"]


def test_runs_may_be_nested(sandbox: Sandbox) -> None:
    total = 0
    for _, outer in sandbox.run([program(f"def f(): return {i}", "f()") for i in range(8)]):
        [inner] = sandbox.run_all([program("def g(x): return x + 1", f"g({value(outer.outcomes[0])})")])
        total += value(inner.outcomes[0])  # type: ignore[operator]
    assert total == sum(range(1, 9))


def test_number_of_workers_does_not_change_results() -> None:
    programs = [
        program("import random\ndef f(x): return random.random(), hash(str(x))", f"f({i})", seed=i % 2)
        for i in range(12)
    ]
    results = []
    for workers in (1, 3):
        with Sandbox(LIMITS, workers=workers) as pool:
            results.append([value(result.outcomes[0]) for result in pool.run_all(programs)])
    assert results[0] == results[1]


def test_survives_workers_killed_in_mid_job() -> None:
    slow = program("import time\ndef f(x):\n    time.sleep(0.4)\n    return x", "f(1)")
    with Sandbox(LIMITS, workers=2) as pool:
        pool.run_all([GOOD] * 4)
        results = pool.run([slow] * 6)
        done = [next(results)]
        os.kill(pool._workers[0].process.pid, signal.SIGKILL)
        done += list(results)
        assert sorted(index for index, _ in done) == list(range(6))
        assert all(kinds(result) == ["VALUE"] for _, result in done)


def test_survives_a_killed_fork_server() -> None:
    with Sandbox(LIMITS, workers=1) as pool:
        pool.run_all([GOOD])
        for pid in descendants(pool._workers[0].process.pid):
            with contextlib.suppress(ProcessLookupError):  # the death of one ends others
                os.kill(pid, signal.SIGKILL)
        assert kinds(pool.run_all([GOOD])[0]) == ["VALUE"]


def test_a_program_that_takes_workers_with_it_crashes() -> None:
    """Stand-in for a program that kills its worker: whoever is seen to run it is killed from outside, twice."""
    with Sandbox(LIMITS, workers=1) as pool:
        pool.run_all([GOOD])
        killed: list[int] = []

        def kill_whoever_runs_it() -> None:
            while len(killed) < 2:
                time.sleep(0.01)
                for worker in list(pool._workers):
                    head = next(iter(worker.jobs), None)
                    if (
                        head
                        and head.run is not None
                        and head.index == 0
                        and worker.process.pid not in killed
                        and worker.ready
                    ):
                        time.sleep(0.3)  # the job itself takes a second
                        killed.append(worker.process.pid)
                        worker.process.kill()

        watcher = threading.Thread(target=kill_whoever_runs_it, daemon=True)
        watcher.start()
        slow = program("import time\ndef f(x):\n    time.sleep(1)\n    return x", "f(1)")
        results = dict(pool.run([slow, GOOD]))
        watcher.join(10)
    assert len(killed) == 2
    assert kinds(results[0]) == [OutcomeKind.CRASH]
    assert "ended 2 workers" in results[0].load.detail
    assert kinds(results[1]) == ["VALUE"]


def test_nothing_is_left_behind() -> None:
    before, open_before = descendants(), open_descriptors()
    pool = Sandbox(LIMITS, workers=2)
    pool.run_all([GOOD] * 10)
    inside = descendants() - before
    assert len(inside) >= 4
    pool.close()
    pool.close()
    deadline = time.monotonic() + 5
    while inside & descendants() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not inside & descendants()
    assert open_descriptors() == open_before
    with pytest.raises(SandboxError, match="closed"):
        pool.run_all([GOOD])


def test_descriptors_processes_and_memory_stay_flat() -> None:
    mixed = [
        GOOD, program("import os\ndef f(x): os._exit(1)", "f(1)"), program("def f(:", "f(1)"),
        program("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\ndef f(x): return x", "f(1)"),
    ]  # fmt: skip
    with Sandbox(LIMITS, workers=1) as pool:
        pool.run_all(mixed * 10)
        worker = pool._workers[0].process.pid

        def state() -> tuple[int, int, int, int]:
            pages = int(Path(f"/proc/{worker}/statm").read_text().split()[1])
            return len(list(Path(f"/proc/{worker}/fd").iterdir())), len(descendants(worker)), open_descriptors(), pages

        time.sleep(0.2)
        first = state()
        results = pool.run_all(mixed * 100)
        time.sleep(0.2)
        last = state()
    assert first[:3] == last[:3]
    assert last[3] - first[3] < 500  # 4 KiB pages
    assert [kinds(result)[0] for result in results] == ["VALUE", "CRASH", "RAISED", "VALUE"] * 100


def test_workers_end_with_their_caller() -> None:
    script = textwrap.dedent(
        """
        import os, sys
        from code_a1.sandbox import Call, Limits, Program, Sandbox
        pool = Sandbox(Limits(), workers=1)
        good = Program("def f(): return 1", (Call(("f()",)),))
        pool.run_all([good])
        next(iter(()), None)
        hang = Program("import time\\ndef f(): time.sleep(60)", (Call(("f()",)),))
        runs = pool.run([good, hang, hang])
        next(runs)
        print(pool._workers[0].process.pid, flush=True)
        os._exit(0)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    worker = int(done.stdout)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()
    assert done.stderr == ""


def test_no_free_descriptors() -> None:
    with Sandbox(LIMITS, workers=1) as pool:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        held = []
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            starved = pool.run_all([GOOD])
        finally:
            for descriptor in held:
                os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert kinds(starved[0]) == [OutcomeKind.SANDBOX_ERROR]
        assert "no worker could be started" in starved[0].load.detail
        assert kinds(pool.run_all([GOOD])[0]) == ["VALUE"]


def test_verdicts_hold_under_load() -> None:
    """CPU clocks decide: a program that needs 0.3 s of its 1 s passes on a machine with twice as many spinners as cores."""
    work = program(
        "import time\ndef f():\n    end = time.process_time() + 0.3\n    while time.process_time() < end: pass\n    return 1",
        "f()",
    )
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        with Sandbox(Limits(cpu_s_per_call=1.0, wall_s_per_call=60)) as pool:
            results = pool.run_all([work] * 6)
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    assert [kinds(result)[0] for result in results] == ["VALUE"] * 6
