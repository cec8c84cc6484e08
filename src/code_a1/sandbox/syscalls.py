"""System calls without a wrapper in the standard library, by number, for x86-64 and aarch64."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Callable

AVAILABLE = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
X86_64 = platform.machine() == "x86_64"
_COLUMN = 0 if X86_64 else 1

# name: (x86-64, aarch64); -1 where the architecture has no such call. From the kernel's syscall_64.tbl and
# asm-generic/unistd.h.
NUMBERS: dict[str, int] = {
    name: numbers[_COLUMN]
    for name, numbers in {
        "accept": (43, 202), "accept4": (288, 242), "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171),
        "bind": (49, 200), "bpf": (321, 280), "capset": (126, 91), "chmod": (90, -1), "chown": (92, -1),
        "chroot": (161, 51), "clock_adjtime": (305, 266), "clock_settime": (227, 112), "clone": (56, 220),
        "clone3": (435, 435), "close_range": (436, 436), "connect": (42, 203), "delete_module": (176, 106),
        "execve": (59, 221), "execveat": (322, 281), "fanotify_init": (300, 262), "fchmod": (91, 52),
        "fchmodat": (268, 53), "fchmodat2": (452, 452), "fchown": (93, 55), "fchownat": (260, 54), "fcntl": (72, 25),
        "file_setattr": (469, 469), "finit_module": (313, 273), "flock": (73, 32), "fork": (57, -1),
        "fremovexattr": (199, 16), "fsconfig": (431, 431), "fsetxattr": (190, 7), "fsmount": (432, 432),
        "fsopen": (430, 430), "fspick": (433, 433), "futimesat": (261, -1), "init_module": (175, 105),
        "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "ioctl": (16, 29),
        "ioperm": (173, -1), "iopl": (172, -1), "ioprio_set": (251, 30), "kcmp": (312, 272),
        "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "kill": (62, 129),
        "landlock_add_rule": (445, 445), "landlock_create_ruleset": (444, 444), "landlock_restrict_self": (446, 446),
        "lchown": (94, -1), "listen": (50, 201), "lremovexattr": (198, 15), "lsetxattr": (189, 6),
        "memfd_create": (319, 279), "memfd_secret": (447, 447), "migrate_pages": (256, 238), "mknod": (133, -1),
        "mknodat": (259, 33), "modify_ldt": (154, -1), "mount": (165, 40), "mount_setattr": (442, 442),
        "move_mount": (429, 429), "move_pages": (279, 239), "mq_notify": (244, 184), "mq_open": (240, 180),
        "mq_unlink": (241, 181), "msgctl": (71, 187), "msgget": (68, 186), "msgrcv": (70, 188), "msgsnd": (69, 189),
        "name_to_handle_at": (303, 264), "open": (2, -1), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
        "open_tree_attr": (467, 467), "openat": (257, 56), "openat2": (437, 437), "perf_event_open": (298, 241),
        "personality": (135, 92), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
        "pivot_root": (155, 41), "prctl": (157, 167), "prlimit64": (302, 261), "process_madvise": (440, 440),
        "process_mrelease": (448, 448), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
        "ptrace": (101, 117), "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142),
        "recvmmsg": (299, 243), "removexattr": (197, 14), "removexattrat": (466, 466), "request_key": (249, 218),
        "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "sched_setaffinity": (203, 122),
        "sched_setattr": (314, 274), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
        "seccomp": (317, 277), "semctl": (66, 191), "semget": (64, 190), "semop": (65, 193), "semtimedop": (220, 192),
        "sendmmsg": (307, 269), "sendmsg": (46, 211), "sendto": (44, 206), "setdomainname": (171, 162),
        "sethostname": (170, 161), "setns": (308, 268), "setpriority": (141, 140), "settimeofday": (164, 170),
        "setxattr": (188, 5), "setxattrat": (463, 463), "shmat": (30, 196), "shmctl": (31, 195), "shmget": (29, 194),
        "socket": (41, 198), "socketpair": (53, 199), "swapoff": (168, 225), "swapon": (167, 224), "symlink": (88, -1),
        "symlinkat": (266, 36), "sync": (162, 81), "syncfs": (306, 267), "syslog": (103, 116), "tgkill": (234, 131),
        "tkill": (200, 130), "truncate": (76, 45), "umount2": (166, 39), "unshare": (272, 97),
        "userfaultfd": (323, 282), "utime": (132, -1), "utimensat": (280, 88), "utimes": (235, -1), "vfork": (58, -1),
        "vhangup": (153, 58),
    }.items()
}  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True) if AVAILABLE else None


def call(name: str, *arguments: object) -> int:
    """Make the system call; OSError where it fails, with the call's name."""
    if _libc is None or NUMBERS[name] < 0:
        raise OSError(errno.ENOSYS, f"{name}: not on this system")
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = int(_libc.syscall(ctypes.c_long(NUMBERS[name]), *converted))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prepare(name: str, *arguments: object) -> Callable[[], None]:
    """The system call as a function without arguments, everything about it converted already."""
    if _libc is None or NUMBERS[name] < 0:
        raise OSError(errno.ENOSYS, f"{name}: not on this system")
    function = _libc.syscall
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in (NUMBERS[name], *arguments)]

    def make() -> None:
        if function(*converted) < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")

    return make


def prctl(option: int, value: int, *rest: int) -> None:
    """`prctl` with integer arguments; OSError where it fails."""
    call("prctl", option, value, *(rest or (0, 0, 0)))


class _CapHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _CapData(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


def set_capabilities(mask: int) -> None:
    """Keep the capabilities in `mask` (the first 32) as effective and permitted, and drop all others for good."""
    header, sets = _CapHeader(0x20080522, 0), (_CapData * 2)()
    sets[0].effective = sets[0].permitted = mask
    call("capset", ctypes.byref(header), ctypes.byref(sets))
