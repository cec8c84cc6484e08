"""Candidates without end: memory, descriptors and processes stay flat, and verdicts do not change, under load too.

    python -m tests.sandbox.soak 100000 [--load 4]

`--load` burns so many processes beside the sandbox from half-way on. Prints one line per 5,000 candidates and fails with
exit code 1 if something grew, was left behind or flipped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from code_a1.sandbox import Call, Limits, Program, Sandbox

LIMITS = Limits(cpu_s_per_call=0.5, wall_s_per_call=30.0, memory_mb=256, max_reforks=2)
SOURCES = (
    "def f(x):\n    return sorted(x)",
    "def f(x):\n    return [x] * 3",
    "import os\ndef f(x):\n    os._exit(1)",
    "def f(x):\n    raise ValueError(x)",
    "def f(:",
    "import threading\ndef f(x):\n    threading.Thread(target=print).start()\n    return {1: x}",
    "import sys\ndef f(x):\n    sys.stdout.write('a' * 100_000)\n    return len(x)",
    "def f(x):\n    return f(x)",
    "def f(x):\n    return open('/etc/hostname', 'w')",
    "def f(x):\n    return lambda: x",
    "import time\nend = time.process_time() + 0.03\nwhile time.process_time() < end: pass\ndef f(x): return 1",
)
HANG = "def f(x):\n    while True: pass"
HANG_EVERY = 500
"""A hang takes its whole limit of CPU time; that many of them would be all that is measured."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the sandbox holds: its processes, their memory and descriptors, and the caller's own."""

    processes: int
    rss_mb: float
    descriptors: int
    own_rss_mb: float
    own_descriptors: int


def steady_footprint(looks: int = 8) -> Footprint:
    """The smallest of several looks: a child that happens to be alive at one of them has not been left behind."""
    found = []
    for _ in range(looks):
        found.append(footprint())
        time.sleep(0.02)
    return min(found, key=lambda each: (each.processes, each.rss_mb))


def footprint() -> Footprint:
    """One look at /proc."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if b"code_a1.sandbox" in (folder / "cmdline").read_bytes() and _ours(folder):
                    found.append((_rss_mb(folder), len(list((folder / "fd").iterdir()))))
            except OSError:
                continue  # it has ended
    own = Path("/proc/self")
    return Footprint(
        len(found), sum(r for r, _ in found), sum(d for _, d in found), _rss_mb(own), len(list((own / "fd").iterdir()))
    )


def _ours(folder: Path) -> bool:
    """Whether the process descends from this one."""
    pid = int(folder.name)
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False


def _rss_mb(folder: Path) -> float:
    return int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def programs(count: int) -> Iterator[Program]:
    """Distinct programs, of each kind in turn, with three calls."""
    for i in range(count):
        source = HANG if i % HANG_EVERY == HANG_EVERY - 1 else SOURCES[i % len(SOURCES)]
        yield Program(f"{source}\n# {i}", tuple(Call((f"f([3, 1, {j}])",)) for j in range(3)))


def soak(count: int, load: int = 0, every: int = 5000, say: Callable[[str], None] = print) -> list[str]:
    """Run `count` candidates; what went wrong, in words."""
    wrong: list[str] = []
    first: dict[int, tuple[str, ...]] = {}
    flips = done = 0
    burners: list[subprocess.Popen[bytes]] = []
    early = None
    start = time.monotonic()
    try:
        with Sandbox(LIMITS) as sandbox:
            for index, result in sandbox.run(programs(count)):
                kind = -1 if index % HANG_EVERY == HANG_EVERY - 1 else index % len(SOURCES)
                outcome = tuple(f"{o.kind}{o.payload!r}" for o in result.outcomes)
                flips += first.setdefault(kind, outcome) != outcome
                done += 1
                if done == count // 2:
                    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
                if done % every == 0:
                    now = steady_footprint()
                    early = early or now
                    rate = done / (time.monotonic() - start)
                    say(f"{done:7} candidates, {rate:5.0f}/s, flips {flips}, {len(burners)} burners, {now}")
        late = footprint()
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    if flips:
        wrong.append(f"{flips} verdicts differ from those of the first candidate of the same kind")
    if late.processes:
        wrong.append(f"{late.processes} processes are left")
    if early is not None:
        grown = (now.rss_mb - early.rss_mb, now.own_rss_mb - early.own_rss_mb)
        if max(grown) > 10:
            wrong.append(f"memory grew by {max(grown):.1f} MB")
        # one server more may be up at one look than at the other
        if now.descriptors > early.descriptors + 12 or now.own_descriptors > early.own_descriptors:
            wrong.append(f"descriptors: {early} at first, {now} at last")
    return wrong


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--load", type=int, default=0)
    asked = parser.parse_args()
    wrong = soak(asked.count, asked.load)
    print("\n".join(wrong) or "flat, nothing left, no flips")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
