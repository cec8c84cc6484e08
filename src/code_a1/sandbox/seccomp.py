"""System call filters (classic BPF): what a fork server and its children may ask of the kernel.

Two filters, since installing one takes a while: the long one is installed once, in the fork server; each child adds a
short one, which also takes away what the server itself needs (forking, signals).
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket

from code_a1.sandbox import syscalls
from code_a1.sandbox.syscalls import NUMBERS

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_DENY = 0x00050000
_ARCHITECTURE = 0xC000003E if syscalls.X86_64 else 0xC00000B7
_X32_BIT = 0x40000000
_NEWEST_KNOWN = 470
"""Calls with higher numbers do not exist for programs."""
_NR, _ARCH, _ARGUMENTS = 0, 4, 16
_CLONE_THREAD = 0x00010000
OWN_PID = 0x7FFFFFF1
"""Stands for the process that a filter is installed in; beyond the kernel's largest process id."""

DENIED = (
    # network: sockets that exist (socketpair) still work, for asyncio
    "socket", "connect", "bind", "listen", "accept", "accept4", "sendmmsg", "recvmmsg",
    # other programs, other processes
    "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill",
    "migrate_pages", "move_pages", "setpriority", "sched_setscheduler", "sched_setparam", "sched_setattr",
    "sched_setaffinity", "ioprio_set",
    # files: contents are Landlock's, this is what Landlock leaves open
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat", "utime", "utimes", "futimesat",
    "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
    "removexattrat", "mknod", "mknodat", "symlink", "symlinkat", "name_to_handle_at", "open_by_handle_at", "truncate",
    "file_setattr", "flock", "fanotify_init", "sync", "syncfs",
    # namespaces, mounts, the machine
    "unshare", "setns", "chroot", "pivot_root", "mount", "umount2", "mount_setattr", "open_tree", "open_tree_attr",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup",
    "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname", "iopl", "ioperm",
    "modify_ldt", "syslog", "vhangup", "personality", "memfd_create", "memfd_secret",
    # memory and queues that outlive a process: making them, and using others' (their ids are small numbers)
    "shmget", "shmat", "shmctl", "semget", "semctl", "semop", "semtimedop", "msgget", "msgctl", "msgsnd", "msgrcv",
    "mq_open", "mq_notify", "mq_unlink",
)  # fmt: skip

OF_OWN_FILES = frozenset(
    ("chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat", "truncate")
)
"""What copying and unpacking files takes; allowed where all files but the program's own are on read-only mounts."""


class _Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class _Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction))]


class Filter:
    """A filter being written. Rules are tried in order; what no rule ends is allowed."""

    def __init__(self) -> None:
        self.instructions: list[tuple[int, int, int, int]] = [
            (_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, _ARCHITECTURE), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NR),
        ]  # fmt: skip
        if syscalls.X86_64:
            self.instructions += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL)]

    def fail(self, name: str, error: int = errno.EPERM) -> None:
        """The call fails."""
        if NUMBERS[name] >= 0:
            self.instructions += [(_EQUAL, 0, 1, NUMBERS[name]), (_RETURN, 0, 0, _DENY | error)]

    def fail_above(self, number: int) -> None:
        """Calls with higher numbers do not exist."""
        self.instructions += [(_AT_LEAST, 0, 1, number + 1), (_RETURN, 0, 0, _DENY | errno.ENOSYS)]

    def only_with(self, name: str, argument: int, values: tuple[int, ...]) -> None:
        """The call fails unless the low half of that argument is one of the values."""
        tests = [(_EQUAL, len(values) - i, 0, value & 0xFFFFFFFF) for i, value in enumerate(values)]
        self._on(name, argument, [*tests, (_RETURN, 0, 0, _DENY | errno.EPERM)])

    def not_with(self, name: str, argument: int, values: tuple[int, ...]) -> None:
        """The call fails if the low half of that argument is one of the values."""
        tests = [(_EQUAL, len(values) - 1 - i, 1 if i == len(values) - 1 else 0, v) for i, v in enumerate(values)]
        self._on(name, argument, [*tests, (_RETURN, 0, 0, _DENY | errno.EPERM)])

    def only_with_bits(self, name: str, argument: int, bits: int) -> None:
        """The call fails unless one of the bits is set in that argument."""
        self._on(name, argument, [(_ANY_BIT, 1, 0, bits), (_RETURN, 0, 0, _DENY | errno.EPERM)])

    def not_truncating(self, name: str, argument: int) -> None:
        """Opening fails with O_TRUNC and no right to write: before its version 3, Landlock lets that through."""
        body = [
            (_AND, 0, 0, os.O_ACCMODE | os.O_TRUNC), (_EQUAL, 1, 0, os.O_TRUNC),
            (_EQUAL, 0, 1, os.O_TRUNC | os.O_ACCMODE), (_RETURN, 0, 0, _DENY | errno.EPERM),
        ]  # fmt: skip
        self._on(name, argument, body)

    def _on(self, name: str, argument: int, body: list[tuple[int, int, int, int]]) -> None:
        if NUMBERS[name] < 0:
            return
        load = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
        allow = [(_RETURN, 0, 0, _ALLOW)]
        self.instructions += [(_EQUAL, 0, 2 + len(body), NUMBERS[name]), *load, *body, *allow]

    def build(self) -> Prepared:
        """The finished filter."""
        return Prepared([*self.instructions, (_RETURN, 0, 0, _ALLOW)])


class Prepared:
    """A filter ready to be installed; where it holds `OWN_PID`, `install` puts in the id of the process."""

    def __init__(self, rows: list[tuple[int, int, int, int]]) -> None:
        self._instructions = (_Instruction * len(rows))(*[_Instruction(*row) for row in rows])
        self._places = [place for place, row in enumerate(rows) if row[0] == _EQUAL and row[3] == OWN_PID]
        self._program = _Program(len(rows), self._instructions)
        self._call = syscalls.prepare("seccomp", 1, 0, ctypes.byref(self._program))

    def install(self, pid: int = 0) -> None:
        """Install the filter for this thread and all that it starts; needs NO_NEW_PRIVS. Raises OSError."""
        for place in self._places:
            self._instructions[place].k = pid
        self._call()


def server_filter(*, own_files: bool = False) -> Prepared:
    """What neither a fork server nor a child needs; modes and times where they have files of their own alone."""
    rules = Filter()
    rules.fail_above(_NEWEST_KNOWN)
    for name in DENIED:
        if not (own_files and name in OF_OWN_FILES):
            rules.fail(name)
    # ENOSYS and not EPERM: the C library then falls back to clone, whose flags can be read here.
    rules.fail("clone3", errno.ENOSYS)
    rules.fail("openat2", errno.ENOSYS)  # its flags cannot be read here
    rules.not_truncating("open", 1)
    rules.not_truncating("openat", 2)
    rules.only_with("socketpair", 0, (socket.AF_UNIX,))
    rules.only_with("sendto", 5, (0,))  # with an address, a datagram of a socketpair reaches any Unix socket
    return rules.build()


def child_filter() -> Prepared:
    """What a child does not need beyond that. Written before the fork, since every step after it costs page faults."""
    rules = Filter()
    rules.only_with_bits("clone", 0, _CLONE_THREAD)
    for name in ("fork", "vfork", "sendmsg"):
        rules.fail(name)
    rules.only_with("kill", 0, (OWN_PID,))
    rules.only_with("tgkill", 0, (OWN_PID,))
    rules.only_with("prlimit64", 0, (0, OWN_PID))
    rules.not_with("prctl", 0, (1, 36))  # parent-death signal, subreaper
    rules.not_with("fcntl", 1, (8, 10, 15))  # F_SETOWN, F_SETSIG, F_SETOWN_EX: signals to others
    # a terminal? its size, bytes to read, close on exec, blocking: others change files even where one may only read
    rules.only_with("ioctl", 1, (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5450, 0x5451, 0x5421))
    return rules.build()
