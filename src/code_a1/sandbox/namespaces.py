"""Namespaces of a fork server, and a root folder of its own with only what Python needs, all of it read-only."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from code_a1.sandbox import syscalls

_NEW_MOUNT, _NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_DETACH = 2
_AT_RECURSIVE = 0x8000
_AT_FDCWD = -100
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
SCRATCH = "/tmp"  # noqa: S108 - of a private root
_SYSTEM = (
    "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/nix/store", "/gnu/store",
)  # fmt: skip


def readable_folders(site: Iterable[str]) -> list[str]:
    """What programs may read: the system's libraries, Python itself and the installed packages."""
    wanted = [*_SYSTEM, sys.base_prefix, sys.base_exec_prefix, *site]
    folders: list[str] = []
    for path in wanted:
        if os.path.lexists(path) and not any(_within(path, other) for other in folders):
            folders.append(path)
    return folders


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def enter_as_root() -> None:
    """Unshare everything but the user namespace, with the rights of root. Raises OSError."""
    syscalls.call("unshare", _NEW_MOUNT | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NET)


def enter_as_user() -> None:
    """Unshare everything, the user namespace included, keeping the own ids. Raises OSError."""
    uid, gid = os.getuid(), os.getgid()
    syscalls.call("unshare", _NEW_USER | _NEW_MOUNT | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NET)
    map_ids(os.open("/proc", os.O_PATH | os.O_DIRECTORY), uid, gid)


def enter_user_namespace(proc: int) -> None:
    """A user namespace on top of the others, so that limits per user are counted here alone. Raises OSError."""
    uid, gid = os.getuid(), os.getgid()
    syscalls.prctl(4, 1)  # dumpable again after the change of ids, or the maps belong to root
    syscalls.call("unshare", _NEW_USER)
    map_ids(proc, uid, gid)


def map_ids(proc: int, uid: int, gid: int) -> None:
    """Write the maps of a new user namespace; `proc` is a descriptor of /proc, which is closed."""
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            descriptor = os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
    finally:
        os.close(proc)


def private_root(folders: Iterable[str], hidden: Iterable[str] = (), *, scratch_bytes: int = 0) -> None:
    """Make a root folder that holds only `folders` and four devices, read-only; `hidden` ones are empty in it.

    With `scratch_bytes`, `/tmp` is a folder in memory of that size, which everybody inside may write to.

    Raises OSError.
    """
    _mount("none", "/", None, _REC | _PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "size=1m,mode=0755")  # noqa: S108 - any folder will do
    os.chdir("/tmp")  # noqa: S108
    os.mkdir("old", 0o700)  # noqa: PTH102
    syscalls.call("pivot_root", b".", b"old")
    os.chdir("/")
    for folder in folders:
        _bring(folder)
    for device in DEVICES:
        if Path("/old" + device).exists():
            _bind(device)
            if scratch_bytes:  # where modes and times can be changed, not those of the machine's devices
                _read_only(device, devices=True)
    for path in hidden:
        if Path(path).is_dir():
            _mount("none", path, "tmpfs", _RDONLY | _NOSUID | _NODEV, "size=4k,mode=0755")
    Path("/tmp").mkdir(exist_ok=True)  # noqa: S108 - exists for those who ask, and is read-only too
    if scratch_bytes:
        _mount("tmpfs", SCRATCH, "tmpfs", _NOSUID | _NODEV, f"size={scratch_bytes},nr_inodes=4096,mode=1777")
    syscalls.call("umount2", b"/old", _DETACH)
    os.rmdir("/old")  # noqa: PTH106
    _mount("none", "/", None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)


def _bring(path: str) -> None:
    """A folder, file or symbolic link of the old root at the same place in the new one."""
    old = Path("/old" + path)
    if old.is_symlink():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        target = str(old.readlink())
        with contextlib.suppress(FileExistsError):
            Path(path).symlink_to(target)
        absolute = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120
        if not absolute.startswith("/usr/") and not Path(absolute).exists():
            _bring(absolute)
    elif old.exists():
        _bind(path)
        _read_only(path)


def _bind(path: str) -> None:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    if Path("/old" + path).is_dir():
        place.mkdir(exist_ok=True)
    else:
        place.touch()
    _mount("/old" + path, path, None, _BIND | _REC)


class _Attributes(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint64) for n in ("set", "clear", "propagation", "user_ns")]


def _read_only(path: str, *, devices: bool = False) -> None:
    """Nothing about the files can be changed; device files still do what they are for, if `devices`."""
    flags = _RDONLY | _NOSUID | (0 if devices else _NODEV)
    attributes = _Attributes(flags)
    try:
        syscalls.call("mount_setattr", _AT_FDCWD, path.encode(), _AT_RECURSIVE, ctypes.byref(attributes), 32)
    except OSError:  # before Linux 5.12
        _mount("none", path, None, _REMOUNT | _BIND | flags | _kept_flags(path))


def _kept_flags(path: str) -> int:
    """Flags that the owner of the mount locked: a remount has to repeat them."""
    return os.statvfs(path).f_flag & (8 | 1024 | 2048 | (1 << 21))  # noexec, noatime, nodiratime, relatime


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, options)]
    syscalls.call("mount", texts[0], texts[1], texts[2], flags, texts[3])
