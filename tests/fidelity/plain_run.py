"""A plain, trusted, unsandboxed run of programs and their asserts: the yardstick for the judge's verdicts.

    python -m tests.fidelity.plain_run SECONDS < jobs.jsonl > verdicts.jsonl

A job is one line, {"source", "setup", "tests": [assert statement, …]}; its answer is one line, a list with "PASS", "FAIL",
"ERROR", "TIMEOUT" or "CRASH" per test. Each job has a process of its own in which source and setup run once for every
test. For programs made from trusted problems only: nothing keeps them from anything.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys


class _Late(BaseException):
    pass


def _on_alarm(_number: int, _frame: object) -> None:
    raise _Late


def run_test(source: str, setup: str, test: str, seconds: float) -> str:
    """The verdict of one assert that may use so many seconds of CPU time, loading the program included."""
    random.seed(0)
    namespace: dict[str, object] = {"__name__": "solution"}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        exec(compile(source, "solution", "exec"), namespace)
        exec(compile(setup, "setup", "exec"), namespace)
        exec(compile(test, "test", "exec"), namespace)
    except _Late:
        return "TIMEOUT"
    except AssertionError as error:
        frame = error.__traceback__ and error.__traceback__.tb_next
        own = frame is not None and frame.tb_next is None and frame.tb_frame.f_code.co_filename == "test"
        return "FAIL" if own else "ERROR"  # an assert inside the program is an error of the program
    except MemoryError:
        return "MEMORY"
    except BaseException:  # whatever ends the test
        return "ERROR"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "PASS"


def main() -> None:
    """Answer every job of standard input."""
    signal.signal(signal.SIGPROF, _on_alarm)
    seconds = float(sys.argv[1])
    null = os.open(os.devnull, os.O_RDWR)
    for line in sys.stdin:
        job = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(null, 1)
            os.dup2(null, 2)
            for test in job["tests"]:
                os.write(write, run_test(job["source"], job["setup"], test, seconds).encode() + b"\n")
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as lines:
            verdicts = lines.read().split()
        os.waitpid(child, 0)
        print(json.dumps(verdicts + ["CRASH"] * (len(job["tests"]) - len(verdicts))), flush=True)


if __name__ == "__main__":
    main()
