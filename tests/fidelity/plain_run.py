"""A plain, trusted, unsandboxed run of programs and their asserts: the yardstick for the judge's verdicts.

    python -m tests.fidelity.plain_run < jobs.jsonl > verdicts.jsonl

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

TEST_SECONDS = 10
"""Wall clock of one test."""


class _Late(BaseException):
    pass


def _on_alarm(_number: int, _frame: object) -> None:
    raise _Late


def run_test(source: str, setup: str, test: str) -> str:
    """The verdict of one assert."""
    random.seed(0)
    namespace: dict[str, object] = {"__name__": "solution"}
    signal.alarm(TEST_SECONDS)
    try:
        exec(compile(source, "solution", "exec"), namespace)
        exec(compile(setup, "setup", "exec"), namespace)
        exec(compile(test, "test", "exec"), namespace)
    except _Late:
        return "TIMEOUT"
    except AssertionError as error:
        # an assert of the program's own is an error of the program
        in_test = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        frame = error.__traceback__.tb_next if in_test else None
        return "FAIL" if frame is not None and frame.tb_next is None else "ERROR"
    except MemoryError:
        return "MEMORY"
    except BaseException:  # whatever ends the test
        return "ERROR"
    finally:
        signal.alarm(0)
    return "PASS"


def main() -> None:
    """Answer every job of standard input."""
    signal.signal(signal.SIGALRM, _on_alarm)
    null = os.open(os.devnull, os.O_RDWR)
    for line in sys.stdin:
        job = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(null, 1)
            os.dup2(null, 2)
            for test in job["tests"]:
                os.write(write, run_test(job["source"], job["setup"], test).encode() + b"\n")
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as lines:
            verdicts = lines.read().split()
        os.waitpid(child, 0)
        print(json.dumps(verdicts + ["CRASH"] * (len(job["tests"]) - len(verdicts))), flush=True)


if __name__ == "__main__":
    main()
