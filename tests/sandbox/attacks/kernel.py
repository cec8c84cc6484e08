"""Interfaces by number: ways around what the standard library offers. Each `f` returns "ESCAPED" if it got anywhere."""

from . import Attack
from .escapes import LIBC, escape

RAW = LIBC + "import errno, platform\nx86 = platform.machine() == 'x86_64'\ndef nr(a, b): return a if x86 else b\n"
RAW += "def refused(result):\n    if result < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS): raise OSError\n"


def call(kind: str, name: str, x86: int, arm: int, arguments: str = "0, 0, 0, 0, 0, 0") -> Attack:
    """A system call that must be refused before the kernel looks at its arguments."""
    return escape(kind, name, f"refused(libc.syscall(nr({x86}, {arm}), {arguments}))", RAW)


ATTACKS = [
    escape("network", "datagram of a socketpair to an abstract address", "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'x', '\\0nobody-there')\n", "import socket"),
    escape("network", "socketpair of another family", "socket.socketpair(30, socket.SOCK_SEQPACKET)", "import socket"),
    escape("network", "descriptor passed over a socketpair", "a, b = socket.socketpair()\nsocket.send_fds(a, [b'x'], [3])", "import socket"),
    escape("network", "asyncio server", "if not asyncio.run(asyncio.start_server(print, '127.0.0.1', 0)).sockets: raise OSError", "import asyncio"),
    call("ipc", "attaches to System V memory by its id", 30, 196),
    call("ipc", "removes System V memory by its id", 31, 195),
    call("ipc", "sends to a message queue by its id", 69, 189),
    call("ipc", "removes a message queue by its id", 71, 187),
    call("ipc", "makes a message queue", 68, 186, "0, 0o1666"),
    call("ipc", "makes semaphores", 64, 190, "0, 1, 0o1666"),
    call("ipc", "operates semaphores by their id", 65, 193),
    call("ipc", "opens a POSIX queue", 240, 180, "b'attack', 0o102, 0o666, 0"),
    call("ipc", "unlinks a POSIX queue", 241, 181, "b'attack'"),
    escape("ipc", "named shared memory", "shared_memory.SharedMemory('attack', create=True, size=10)", "from multiprocessing import shared_memory"),
    escape("ipc", "lock on a library as a signal to others", "fcntl.flock(os.open(os.__file__, 0), fcntl.LOCK_EX)", "import fcntl, os"),
    escape("ipc", "adds a key", "need(libc.syscall(nr(248, 217), b'user', b'attack', b'x', 1, -3) >= 0)", RAW),
    escape("ipc", "asks for a key", "need(libc.syscall(nr(249, 218), b'user', b'attack', 0, -3) >= 0)", RAW),
    escape("files", "opens a library for reading and truncates it", "os.open(os.__file__, os.O_RDONLY | os.O_TRUNC)"),
    escape("files", "opens with the mode that is neither", "os.open(os.__file__, 3 | os.O_TRUNC)"),
    call("files", "openat2", 437, 437, "-100, b'/etc/passwd', ctypes.create_string_buffer(24), 24"),
    call("files", "changes attributes by path", 469, 469),
    escape("files", "changes a file's flags through a reader's descriptor", "fcntl.ioctl(os.open(os.__file__, 0), 0x40086602, b'\\0' * 8)", "import fcntl, os"),
    escape("files", "seals a file for good through a reader's descriptor", "fcntl.ioctl(os.open(os.__file__, 0), 0x40806685, b'\\0' * 128)", "import fcntl, os"),
    escape("files", "lease on a library", "fcntl.fcntl(os.open(os.__file__, 0), 1024, 0)", "import fcntl, os"),
    escape("files", "temporary file without a name", "os.open('/tmp', os.O_TMPFILE | os.O_RDWR)"),
    escape("files", "device node", "os.mknod('/tmp/attack', 0o20666, os.makedev(1, 1))"),
    escape("files", "FIFO", "os.mkfifo('/tmp/attack')"),
    escape("files", "watches a folder outside", "libc.inotify_init.restype = ctypes.c_int\nfd = libc.inotify_init()\nneed(libc.inotify_add_watch(fd, b'/home', 0x100) >= 0 and os.path.exists('/home'))\nos.listdir('/home')", RAW),
    escape("files", "memory of its own process as a file", "open('/proc/self/mem', 'rb')"),
    escape("files", "extended attribute", "os.setxattr(os.__file__, 'user.x', b'x')"),
    call("kernel", "syncs all disks of the machine", 306, 267, "os.open(os.__file__, 0)"),
    call("kernel", "userfaultfd", 323, 282),
    call("kernel", "secret memory", 447, 447),
    call("kernel", "memory file by number", 319, 279, "b'x', 0"),
    call("kernel", "executes a memory file", 322, 281, "-1, b'', 0, 0, 0x1000"),
    call("kernel", "changes its personality", 135, 92, "0x0040000"),
    call("kernel", "joins a namespace", 308, 268, "0, 0"),
    call("kernel", "clones the mount tree", 428, 428, "-100, b'/', 1"),
    call("kernel", "new file system", 430, 430, "b'tmpfs', 0"),
    call("kernel", "reads kernel messages", 103, 116, "3, 0, 0"),
    call("kernel", "loads a module", 313, 273, "3, b'', 0"),
    call("kernel", "fanotify", 300, 262),
    call("kernel", "compares itself with its parent", 312, 272, "os.getpid(), os.getppid(), 1, 0, 0"),
    call("kernel", "takes a descriptor of its parent", 438, 438),
    call("kernel", "io_uring by registering", 427, 427),
    call("kernel", "a call that nobody knows", 1000, 1000),
    call("kernel", "moves its parent to another core", 203, 122, "os.getppid(), 8, ctypes.create_string_buffer(b'\\1' * 8)"),
    escape("kernel", "raises its own priority", "os.setpriority(0, 0, -5)"),
    escape("kernel", "real-time scheduling", "os.sched_setscheduler(0, 1, os.sched_param(1))"),
    escape("kernel", "thread that enters a namespace as it starts", "need(libc.syscall(nr(56, 220), 0x10000000 | 0x10000 | 0x800 | 0x100, 0, 0, 0, 0) > 0)", RAW),
    escape("kernel", "raises its limit of descriptors", "resource.setrlimit(resource.RLIMIT_NOFILE, (100000, 100000))", "import resource"),
    escape("kernel", "raises its limit of file sizes", "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))", "import resource"),
    escape("kernel", "core dumps", "resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))", "import resource"),
    Attack("kernel", "calls of the x32 interface", RAW + "def f(x):\n    if x86 and libc.syscall(0x40000000 | 39) > 0: return 'ESCAPED'\n    return 0\n", needs_filter=True),
    Attack("kernel", "calls of the 32-bit interface", RAW + """
import mmap
def f(x):
    if not x86: return 0
    # mov eax, 20 (getpid of i386); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')
    entry = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    return 'ESCAPED' if entry() > 0 else 0
""", needs_filter=True),
    Attack("kernel", "a filter of its own that lies about every call", RAW + """
import struct
def f(x):
    rows = struct.pack('<HBBI', 6, 0, 0, 0x00050000)
    memory = ctypes.create_string_buffer(rows)
    program = ctypes.create_string_buffer(struct.pack('<HxxxxxxQ', 1, ctypes.addressof(memory)))
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, ctypes.byref(program), 0, 0)
    return 0
"""),
    Attack("kernel", "every call number with zeros", RAW + """
def f(x):
    # all that the standard library does not need, but for those that end or stop the process, or wait
    waiting = {nr(0, 63), nr(3, 57), nr(7, 73), nr(15, 139), nr(22, 59), nr(23, 72), nr(34, -1), nr(35, 101), nr(60, 93),
               nr(61, 260), nr(231, 94), nr(232, 22), nr(128, 137), nr(130, 133), nr(202, 98), nr(230, 115), nr(11, 215),
               nr(12, 214), nr(20, 66), nr(1, 64), nr(33, -1), nr(436, 436), nr(281, 22), nr(271, 73), nr(270, 72),
               nr(441, 441), nr(247, 95), nr(292, 24), nr(13, 134), nr(14, 135), nr(127, 136), nr(131, 132), nr(158, -1),
               nr(218, 96), nr(273, 99), nr(334, 293), nr(74, 82), nr(75, 83), nr(112, 157), nr(9, 222), nr(25, 216)}
    before = os.getpid()
    for number in range(500):
        if number not in waiting: libc.syscall(number, 0, 0, 0, 0, 0, 0)
    return 0 if os.getpid() == before else 'ESCAPED'
""", needs_filter=True, calls=1),
]  # fmt: skip
