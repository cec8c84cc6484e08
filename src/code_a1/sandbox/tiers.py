"""How well untrusted code can be isolated on this machine: found out by doing, never by asking.

A tier counts only if a worker enters it and a program inside then fails at everything that it must not be able to do.
"""

from __future__ import annotations

import functools
import select
import sys
import time
from dataclasses import dataclass

from code_a1.errors import SandboxUnavailable
from code_a1.sandbox import wire
from code_a1.sandbox.programs import Call, Limits, OutcomeKind, Program, ProgramResult
from code_a1.sandbox.workerhandle import PendingJob, WorkerClosed, WorkerHandle

TIERS = ("full", "no-namespaces", "rlimits-only")
"""Strongest first."""
MEANING = {
    "full": "own namespaces (user, process, network, mount, IPC, host name), private read-only root, seccomp, Landlock",
    "no-namespaces": "seccomp, Landlock and limits, in the namespaces of the caller",
    "rlimits-only": "resource limits and process groups only: no protection against hostile code",
}
PROBE_TIMEOUT_S = 60.0

ADVICE = {
    "full": "",
    "no-namespaces": (
        "for the tier 'full' allow unprivileged user namespaces: on the host, sysctl "
        "kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), "
        "user.max_user_namespaces > 0; in Docker, --security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined, or --cap-add SYS_ADMIN as root"
    ),
    "rlimits-only": (
        "use Linux 5.13 or newer on x86-64 or aarch64 with Landlock in its list of LSMs (lsm=…,landlock), or run in a "
        "container on such a machine; to accept this tier anyway, allow_tier = \"rlimits-only\""
    ),
}  # fmt: skip

_ATTEMPTS = """
def attempts():
    import colorsys, ctypes, os, socket
    libc = ctypes.CDLL(None)
    tries = {
        "opened a network socket": lambda: socket.socket(),
        "started a process": lambda: os.fork() or os._exit(0),
        "signalled another process": lambda: os.kill(os.getppid(), 0),
        "read the list of accounts": lambda: open("/etc/passwd").read(),
        "looked into /proc": lambda: os.listdir("/proc/1"),
        "wrote a file": lambda: open("/tmp/code-a1-probe", "w"),
        "changed a file's mode": lambda: os.chmod("/usr", 0o755),
        "entered a namespace": lambda: libc.unshare(0x10000000) and 1 / 0,
    }
    done = []
    for name, attempt in tries.items():
        try:
            attempt()
        except (OSError, ZeroDivisionError):
            continue
        done.append(name)
    return done
"""
"""Run inside a tier. Importing colorsys shows that the standard library can still be read."""


@dataclass(frozen=True, slots=True)
class TierReport:
    """What was found. `tried` has one line per tier that was looked at; `advice` says how to get a better one."""

    name: str
    tried: tuple[str, ...] = ()
    advice: str = ""

    def describe(self) -> str:
        """Lines for people: what the tier means, what was tried, how to get a better one."""
        lines = [MEANING.get(self.name, ""), *self.tried, self.advice]
        return "\n".join(f"            {line}" for line in lines if line)


@functools.cache
def probe() -> TierReport:
    """Find the strongest tier that works here; takes a second at first, then remembers."""
    if sys.platform == "win32":
        return TierReport("none", advice="programs cannot be run on Windows: use WSL 2 or a Linux container")
    tried = []
    for name in TIERS if sys.platform == "linux" else TIERS[2:]:
        failure = try_tier(name)
        tried.append(f"{name}: {failure or 'works'}")
        if failure is None:
            return TierReport(name, tuple(tried), ADVICE[name])
    return TierReport("none", tuple(tried), "no worker could be started; see above")


def require(allow_tier: str, tier: str | None = None) -> TierReport:
    """The tier found, or the one named by `tier`. Raises SandboxUnavailable if it is weaker than `allow_tier`."""
    for name in (allow_tier, tier or "full"):
        if name not in TIERS:
            raise SandboxUnavailable(f"a sandbox tier must be one of {', '.join(TIERS)}, not {name!r}")
    report = probe() if tier is None else _named(tier)
    if report.name not in TIERS or TIERS.index(report.name) > TIERS.index(allow_tier):
        raise SandboxUnavailable(
            f"this machine offers the sandbox tier {report.name!r}, "
            f"and {allow_tier!r} is the weakest that is allowed:\n{report.describe()}"
        )
    return report


def _named(tier: str) -> TierReport:
    failure = try_tier(tier)
    if failure is not None:
        raise SandboxUnavailable(f"the sandbox tier {tier!r} does not work here: {failure}")
    return TierReport(tier, (f"{tier}: works (named by the caller)",), ADVICE[tier])


def try_tier(name: str) -> str | None:
    """Enter a tier and try to break out; what failed or what got through, None if the tier holds."""
    try:
        worker = WorkerHandle(name)
    except OSError as error:
        return str(error)
    try:
        result = _run_one(worker, Program(_ATTEMPTS, (Call(("attempts()",)),)))
    except WorkerClosed as closed:
        return str(closed)
    finally:
        worker.kill()
    outcome = result.outcomes[0]
    if outcome.kind is not OutcomeKind.VALUE:
        return f"a harmless program ended with {outcome.kind}: {outcome.detail}"
    (done,) = outcome.values()
    if done and name != "rlimits-only":
        return f"a program inside {', '.join(done) if isinstance(done, list) else 'answered nonsense'}"
    return None


def _run_one(worker: WorkerHandle, program: Program) -> ProgramResult:
    """Run one program on a worker of its own."""
    worker.submit(PendingJob(0, 1, wire.pack_program(0, program, Limits()), PROBE_TIMEOUT_S))
    poller = select.poll()
    poller.register(worker.socket, select.POLLIN)
    deadline = time.monotonic() + PROBE_TIMEOUT_S
    while time.monotonic() < deadline:
        worker.flush()
        poller.poll(1000)
        for job in worker.results():
            assert job.result is not None
            return job.result
    raise WorkerClosed("it did not answer in time")
