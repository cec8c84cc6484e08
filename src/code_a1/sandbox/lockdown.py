"""Giving up privileges: what a fork server enters once, and what each of its children enters after the fork."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import sys
from pathlib import Path

from code_a1.sandbox import landlock, namespaces, seccomp, syscalls

PAGE = resource.getpagesize()
FALLBACK_VM_BYTES = 512 << 20
"""Assumed size of the server where /proc cannot be read."""
FIRST_OWN_UID, OWN_UIDS = 61184, 4000
"""Range of user ids for servers that start as root (systemd's for dynamic users)."""
MAX_FILE_BYTES = 1 << 20
MAX_SCRATCH_BYTES = 64 << 20
"""Everything in a private folder together, and so a file in it."""
MAX_DESCRIPTORS = 256
STACK_BYTES = 16 << 20
"""The main thread's stack: the same on every machine, so that deep recursion in C ends the same way."""
MAX_TASKS = 256
"""Processes and threads of an own user id."""
_KEEP_CAPABILITIES, _NO_NEW_PRIVILEGES, _PARENT_DEATH_SIGNAL, _SUBREAPER = 8, 38, 1, 36
_DAC_READ_SEARCH = 1 << 2


class IsolationFailed(RuntimeError):
    """A part of the tier cannot be had on this machine; the message says which."""


def vm_bytes() -> int:
    """Address space of this process, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
    except (OSError, ValueError, IndexError):
        return FALLBACK_VM_BYTES


class Isolation:
    """What the server has entered, and how its children go on from there."""

    def __init__(self, *, filtered: bool, first_process: bool, own_uid: bool) -> None:
        self.filtered = filtered
        self.first_process = first_process
        self.own_uid = own_uid
        self.base_bytes = FALLBACK_VM_BYTES
        self.child_filter = seccomp.child_filter() if filtered else None

    def private_descriptor(self, channel: int, number: int) -> None:
        """In the child: leave nothing open but the standard streams and `channel`, moved to `number`."""
        if channel != number:
            os.dup2(channel, number)
        os.closerange(number + 1, MAX_DESCRIPTORS)

    def confine(self, memory_mb: int, cpu_s: float) -> None:
        """In the child, before the program: give up what only the server needs."""
        os.setsid()
        if not self.first_process and sys.platform == "linux":
            _die_with_parent()
        set_limit = resource.setrlimit
        seconds, bytes_ = math.ceil(cpu_s), self.base_bytes + (memory_mb << 20)
        with contextlib.suppress(ValueError):  # macOS has no such limit
            set_limit(resource.RLIMIT_AS, (bytes_, bytes_))
        set_limit(resource.RLIMIT_CPU, (seconds, seconds))
        if self.child_filter is not None:
            self.child_filter.install(os.getpid())

    def limit_all(self, file_bytes: int = MAX_FILE_BYTES) -> None:
        """In the server: the limits that it shares with its children."""
        limits = [
            (resource.RLIMIT_FSIZE, file_bytes),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, MAX_DESCRIPTORS),
            (resource.RLIMIT_STACK, STACK_BYTES),
        ]
        if self.own_uid:
            limits.append((resource.RLIMIT_NPROC, MAX_TASKS))
        for which, wanted in limits:
            _, hard = resource.getrlimit(which)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(which, (value, value))

    def kill_and_reap(self, children: list[int]) -> list[tuple[int, int]]:
        """In the server: nothing that the children started survives. Wait status and peak memory in bytes of each."""
        if self.first_process and os.getpid() == 1:  # outside its own namespace this would kill everything
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            for child in children:
                for kill in (os.killpg, os.kill):
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        kill(child, signal.SIGKILL)
        ended = []
        for child in children:
            _, status, usage = os.wait4(child, 0)
            ended.append((status, usage.ru_maxrss * 1024))
        self.reap_others()
        return ended

    def reap_others(self) -> None:
        """Kill and reap what the children left behind; without filters they could fork."""
        with contextlib.suppress(ChildProcessError):
            while True:
                if not (self.filtered or self.first_process):
                    for orphan in adopted():
                        with contextlib.suppress(ProcessLookupError, PermissionError):
                            os.kill(orphan, signal.SIGKILL)
                os.waitpid(-1, 0)


def adopted() -> list[int]:
    """Children of this process that it did not fork: orphans of its children."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def enter(tier: str, site: list[str], source_root: str, *, scratch: bool = False) -> Isolation:
    """Enter the tier; returns in the process that is to serve. Raises IsolationFailed.

    Programs may not read this package, wherever it is installed: the bundled problems hold their solutions.
    With `scratch` they may write into a private `/tmp`, where the tier has one.
    """
    base_bytes = vm_bytes()
    _first_to_be_killed()
    folders = namespaces.readable_folders(site)
    hidden = [os.path.realpath(os.path.join(source_root, "code_a1"))]  # noqa: PTH118
    if tier == "full":
        isolation = _enter_full(folders, hidden, scratch=scratch)
    elif tier == "no-namespaces":
        isolation = _enter_without_namespaces(folders, hidden)
    else:
        isolation = _enter_limits_only(folders)
    isolation.base_bytes = base_bytes
    isolation.limit_all(MAX_SCRATCH_BYTES if scratch and tier == "full" else MAX_FILE_BYTES)
    return isolation


def _enter_full(folders: list[str], hidden: list[str], *, scratch: bool) -> Isolation:
    root = os.getuid() == 0
    with _explained("namespaces"):
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        if root:
            try:
                namespaces.enter_as_root()
            except PermissionError:
                root = False
        if not root:
            namespaces.enter_as_user()
    with _explained("a private root folder"):
        namespaces.private_root(folders, hidden, scratch_bytes=MAX_SCRATCH_BYTES if scratch else 0)
    own_uid = root and _become_nobody(readable=True)
    if own_uid:
        with contextlib.suppress(OSError):  # limits per user are then counted for the whole machine
            namespaces.enter_user_namespace(os.dup(proc))
    os.close(proc)
    _fork_first_process()
    _drop_privileges(0)
    if landlock.version():  # the private root holds without it
        with _explained("Landlock"):
            landlock.restrict(["/"], namespaces.DEVICES, writable=[namespaces.SCRATCH] if scratch else [])
    if scratch:
        os.chdir(namespaces.SCRATCH)
    _filter(own_files=scratch)
    return Isolation(filtered=True, first_process=True, own_uid=True)


def _enter_without_namespaces(folders: list[str], hidden: list[str]) -> Isolation:
    kept = 0
    own_uid = False
    if os.getuid() == 0:
        readable = all(_others_may_read(folder) for folder in folders)
        own_uid = _become_nobody(readable=readable)
        kept = 0 if readable or not own_uid else _DAC_READ_SEARCH
    _drop_privileges(kept)
    _die_with_parent()
    with _explained("Landlock"):
        landlock.restrict(folders, namespaces.DEVICES, hidden)
    _filter()
    return Isolation(filtered=True, first_process=False, own_uid=own_uid)


def _enter_limits_only(folders: list[str]) -> Isolation:
    """Limits and process groups; on Linux also whatever else happens to work, which is not relied upon."""
    own_uid = filtered = False
    if sys.platform == "linux":
        if os.getuid() == 0 and all(_others_may_read(folder) for folder in folders):
            own_uid = _become_nobody(readable=True)
        with contextlib.suppress(IsolationFailed):
            _drop_privileges(0)
        _die_with_parent()
        with contextlib.suppress(OSError):
            syscalls.prctl(_SUBREAPER, 1)
        with contextlib.suppress(IsolationFailed):
            _filter()
            filtered = True
    return Isolation(filtered=filtered, first_process=False, own_uid=own_uid)


def _first_to_be_killed() -> None:
    """Where the machine's memory runs out, the kernel should take a program and not its judge."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _become_nobody(*, readable: bool) -> bool:
    """Take an unprivileged user id that no other server has; False where there is none to take."""
    uid = FIRST_OWN_UID + os.getpid() % OWN_UIDS
    if not readable:
        syscalls.prctl(_KEEP_CAPABILITIES, 1)
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:  # a container that maps few ids: its root is an ordinary user already
        return False
    return True


def _others_may_read(folder: str) -> bool:
    path = Path(folder)
    return all(place.stat().st_mode & 0o001 for place in (path, *path.parents) if place.is_dir())


def _fork_first_process() -> None:
    """Go on as process 1 of the new namespace; the process outside waits for its end."""
    child = os.fork()
    if child:
        with contextlib.suppress(OSError):
            os.closerange(3, MAX_DESCRIPTORS)
            os.waitpid(child, 0)
        os._exit(0)
    _die_with_parent()


def _die_with_parent() -> None:
    """End when the process that started this one ends."""
    syscalls.prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _drop_privileges(kept: int) -> None:
    with _explained("giving up privileges"):
        if os.geteuid() == 0 or kept or os.getpid() == 1:
            syscalls.set_capabilities(kept)
        syscalls.prctl(_NO_NEW_PRIVILEGES, 1)


def _filter(*, own_files: bool = False) -> None:
    with _explained("seccomp"):
        if not syscalls.AVAILABLE:
            raise OSError("filters are written for Linux on x86-64 and aarch64 only")
        seccomp.server_filter(own_files=own_files).install()


@contextlib.contextmanager
def _explained(part: str):  # type: ignore[no-untyped-def]
    try:
        yield
    except OSError as error:
        raise IsolationFailed(f"{part}: {error}") from error
