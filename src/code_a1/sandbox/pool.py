"""The pool of workers: hands out programs, gathers results, replaces what dies.

Everything happens in the caller's thread, inside `next()` of the iterator that `run` returns; workers hold a few jobs
each, so that they stay busy between two calls of `next()`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from code_a1.errors import CodecError, SandboxError
from code_a1.sandbox import wire
from code_a1.sandbox.checks import CheckProgram
from code_a1.sandbox.checksession import TOTAL_CPU_LIMITS
from code_a1.sandbox.programs import Call, Limits, Outcome, OutcomeKind, Program, ProgramResult
from code_a1.sandbox.scripts import Script
from code_a1.sandbox.tiers import TierReport, require
from code_a1.sandbox.workerhandle import PendingJob, WorkerClosed, WorkerHandle

if TYPE_CHECKING:
    from code_a1.config import SandboxConfig  # the sandbox is used without configurations, too

JOBS_PER_WORKER = 3
"""Jobs that a worker holds, the running one included."""
MAX_DEATHS = 2
"""Workers that a program may take with it before it is looked into."""
MAX_FAILED_STARTS = 3
"""Workers in a row that may fail to start before the sandbox gives up."""


class _Run:
    """What one call of `run` waits for."""

    __slots__ = ("done", "in_flight")

    def __init__(self) -> None:
        self.done: deque[PendingJob] = deque()
        self.in_flight = 0


class Sandbox:
    """Runs programs that nobody trusts, on all cores.

    `workers` is the number of processes that run programs at the same time, 0 for one per core. `allow_tier` is the
    weakest isolation to accept ("full", "no-namespaces" or "rlimits-only"); the strongest that works is used, unless
    `tier` names one. Raises SandboxUnavailable if this machine offers less.
    """

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        *,
        workers: int = 0,
        allow_tier: str = "no-namespaces",
        tier: str | None = None,
    ) -> None:
        self.limits = limits
        self.tier: TierReport = require(allow_tier, tier)
        self.workers = workers or _cores()
        """Programs that run at the same time."""
        self._workers: list[WorkerHandle] = []
        self._waiting: deque[PendingJob] = deque()
        self._tickets = itertools.count(1)
        self._failed_starts = 0
        self._pid = os.getpid()
        self._closed = False
        self._lock = threading.RLock()
        self._queue = threading.Lock()

    @classmethod
    def of(cls, bounds: SandboxConfig) -> Self:
        """A sandbox as a configuration describes it."""
        limits = Limits(
            cpu_s_per_call=bounds.cpu_s_per_test, wall_s_per_call=bounds.wall_s_per_test, memory_mb=bounds.memory_mb
        )
        return cls(limits, workers=bounds.workers, allow_tier=bounds.allow_tier)

    def run(self, programs: Iterable[Program], limits: Limits | None = None) -> Iterator[tuple[int, ProgramResult]]:
        """Yield (position, result) as programs finish, pulling the iterable as workers become free.

        Which results come first depends on timing; what they are does not. Breaking off the iteration abandons what is
        still running. `limits` stand in for the sandbox's own in this run.
        """
        limits = limits or self.limits

        def describe(ticket: int, program: Program) -> PendingJob:
            longest_s = limits.wall_s_per_call * (2 + len(program.calls))
            return PendingJob(ticket, len(program.calls), wire.pack_program(ticket, program, limits), longest_s)

        for job in self._run(describe, programs):
            assert job.result is not None
            yield job.index, job.result

    def run_all(self, programs: Sequence[Program]) -> list[ProgramResult]:
        """The results in the order of the programs."""
        results = dict(self.run(programs))
        return [results[index] for index in range(len(programs))]

    def run_checks(
        self, programs: Iterable[CheckProgram], limits: Limits | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Like `run`, for whole check programs: yields (position, outcome)."""
        limits = limits or self.limits

        def describe(ticket: int, program: CheckProgram) -> PendingJob:
            longest_s = limits.wall_s_per_call * TOTAL_CPU_LIMITS * 4
            return PendingJob(ticket, 0, wire.pack_check(ticket, program, limits), longest_s)

        for job in self._run(describe, programs):
            assert job.result is not None
            yield job.index, job.result.load

    def run_scripts(self, scripts: Iterable[Script], limits: Limits | None = None) -> Iterator[tuple[int, Outcome]]:
        """Like `run`, for whole programs on standard input: yields (position, outcome)."""
        limits = limits or self.limits

        def describe(ticket: int, script: Script) -> PendingJob:
            return PendingJob(ticket, 0, wire.pack_script(ticket, script, limits), 2 * limits.wall_s_per_call)

        for job in self._run(describe, scripts):
            assert job.result is not None
            yield job.index, job.result.load

    def run_check(
        self, candidate_source: str, setup: str, entry_point: str, check_source: str, *, share_process: bool = False
    ) -> Outcome:
        """The outcome of one check program; see `CheckProgram`."""
        program = CheckProgram(candidate_source, check_source, entry_point, setup, share_process=share_process)
        return next(outcome for _, outcome in self.run_checks([program]))

    def close(self) -> None:
        """End all processes. The sandbox cannot be used afterwards."""
        with self._lock:
            self._closed = True
            workers, self._workers = self._workers, []
            for worker in workers:
                worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_workers", None) and self._pid == os.getpid():  # not in a process forked off this one
            self.close()

    def _run(self, describe: Callable[[int, Any], PendingJob], programs: Iterable[Any]) -> Iterator[PendingJob]:
        """Finished jobs, as they come."""
        jobs = enumerate(programs)
        run = _Run()
        exhausted = False
        try:
            while True:
                with self._turn():
                    while not exhausted and self._has_room():
                        entry = next(jobs, None)
                        if entry is None:
                            exhausted = True
                        else:
                            self._admit(run, describe, *entry)
                    if not run.done and run.in_flight:
                        self._pump()
                    finished = list(run.done)
                    run.done.clear()
                yield from finished
                if exhausted and not run.in_flight and not run.done:
                    return
        finally:
            with self._lock:
                self._abandon(run)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """The lock, for one thread after another: the one that had it last would else take it again before the rest."""
        with self._queue:
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    def _has_room(self) -> bool:
        if self._closed:
            raise SandboxError("the sandbox is closed; make a new one")
        held = len(self._waiting) + sum(len(worker.jobs) for worker in self._workers)
        return held < self.workers * JOBS_PER_WORKER

    def _admit(self, run: _Run, describe: Callable[[int, Any], PendingJob], index: int, program: Any) -> None:
        """Queue a program; one that cannot even be written down has its result at once."""
        ticket = next(self._tickets)
        try:
            job = describe(ticket, program)
        except (CodecError, ValueError, TypeError) as error:
            job = PendingJob(ticket, len(getattr(program, "calls", ())), b"", 0.0)
            detail = f"the program or a binding is not data: {error}"
            job.result = _all(OutcomeKind.UNREPRESENTABLE, detail, job.calls)
        job.run, job.index = run, index
        run.in_flight += 1
        if job.result is None:
            self._waiting.append(job)
        else:
            self._deliver(job)

    def _pump(self) -> None:
        """Hand out waiting jobs, then wait until at least one worker has something to say."""
        self._dispatch()
        poller = select.poll()
        by_descriptor = {}
        for worker in self._workers:
            with contextlib.suppress(WorkerClosed):  # its end is found below
                worker.flush()
            descriptor = worker.socket.fileno()
            by_descriptor[descriptor] = worker
            poller.register(descriptor, select.POLLIN | (select.POLLOUT if worker.outgoing else 0))
        patience = min((worker.seconds_left() for worker in self._workers), default=0.0)
        for descriptor, events in poller.poll(max(0.0, min(patience, 3600.0)) * 1000):
            worker = by_descriptor[descriptor]
            if events & ~select.POLLOUT:
                try:
                    for job in worker.results():
                        self._finish(worker, job)
                except WorkerClosed as error:
                    self._bury(worker, str(error))
        for worker in list(self._workers):
            if worker.seconds_left() <= 0:
                self._bury(worker, "it did not report in time")

    def _dispatch(self) -> None:
        """Give waiting jobs to workers, starting workers while there are more jobs than workers."""
        for worker in list(self._workers):
            if worker.process.poll() is not None and not worker.jobs:
                self._bury(worker, "its process died")
        while self._waiting and len(self._workers) < self.workers and self._start_worker():
            pass
        while self._waiting and self._workers:
            worker = min(self._workers, key=lambda each: len(each.jobs))
            if len(worker.jobs) >= JOBS_PER_WORKER:
                return
            job = self._waiting.popleft()
            if job.deaths or job.errors:
                worker.submit(self._canary())
            worker.submit(job)

    def _start_worker(self) -> bool:
        if self._failed_starts and self._workers and not any(worker.ready for worker in self._workers):
            return False  # wait and see how the one being started fares
        try:
            self._workers.append(WorkerHandle(self.tier.name))
        except OSError as error:
            if not self._workers:
                self._start_failed(str(error))
            return False
        return True

    def _start_failed(self, why: str) -> None:
        """After several workers in a row that did not come up, what waits fails through no fault of its own."""
        self._failed_starts += 1
        if self._failed_starts < MAX_FAILED_STARTS:
            return
        self._failed_starts = 0
        while self._waiting:
            self._resolve(self._waiting.popleft(), OutcomeKind.SANDBOX_ERROR, f"no worker could be started: {why}")

    def _canary(self) -> PendingJob:
        """A harmless job that shows whether a worker is sound, before it gets a job that lost another worker."""
        program = Program("def f():\n    return 1\n", (Call(("f()",)),))
        ticket = next(self._tickets)
        return PendingJob(ticket, 1, wire.pack_program(ticket, program, self.limits), 60.0)

    def _finish(self, worker: WorkerHandle, job: PendingJob) -> None:
        self._failed_starts = 0
        result = job.result
        assert result is not None
        if job.run is None:
            worker.sound = result.load.kind is OutcomeKind.VALUE
            return
        if any(outcome.kind is OutcomeKind.SANDBOX_ERROR for outcome in (result.load, *result.outcomes)):
            job.errors += 1
            if job.errors < MAX_DEATHS:
                self._waiting.append(job)
                return
            if worker.sound:  # it could run a harmless program a moment ago: nobody may mask himself
                detail = f"it failed on {job.errors} workers: {result.load.detail}"
                job.result = _all(OutcomeKind.CRASH, detail, job.calls)
        self._deliver(job)

    def _bury(self, worker: WorkerHandle, why: str) -> None:
        """Replace a dead worker. The job it was at is retried, then blamed if the next one was sound until it came."""
        self._workers.remove(worker)
        worker.kill()
        jobs = list(worker.jobs)
        if not worker.ready:
            self._waiting.extendleft(job for job in reversed(jobs) if job.run is not None)
            self._start_failed(why)
            return
        if jobs:
            head = jobs.pop(0)
            head.deaths += 1
            if head.run is None:
                self._start_failed(f"a worker died at a harmless job: {why}")
            elif head.deaths < MAX_DEATHS or not worker.served:
                jobs.insert(0, head)
            else:
                self._resolve(head, OutcomeKind.CRASH, f"it ended {head.deaths} workers: {why}")
        self._waiting.extendleft(job for job in reversed(jobs) if job.run is not None)

    def _abandon(self, run: _Run) -> None:
        """Forget what a run still has in flight; workers that hold any of it are replaced."""
        if not run.in_flight or self._closed:
            return
        self._waiting = deque(job for job in self._waiting if job.run is not run)
        for worker in list(self._workers):
            if any(job.run is run for job in worker.jobs):
                self._workers.remove(worker)
                worker.kill()
                self._waiting.extendleft(
                    job for job in reversed(worker.jobs) if job.run is not run and job.run is not None
                )
        run.in_flight = 0

    def _resolve(self, job: PendingJob, kind: OutcomeKind, detail: str) -> None:
        if job.run is not None:
            job.result = _all(kind, detail, job.calls)
            self._deliver(job)

    def _deliver(self, job: PendingJob) -> None:
        assert isinstance(job.run, _Run)
        job.run.in_flight -= 1
        job.run.done.append(job)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _all(kind: OutcomeKind, detail: str, calls: int) -> ProgramResult:
    outcome = Outcome(kind, detail=detail)
    return ProgramResult(outcome, (outcome,) * calls)
