"""Ways out: network, files, processes, signals, kernel interfaces. Each `f` returns "ESCAPED" if it got anywhere."""

from . import Attack


def escape(kind: str, name: str, action: str, imports: str = "import os") -> Attack:
    """An attack that has won if `action` raises nothing."""
    body = "\n        ".join(action.strip().splitlines())
    source = f"{imports}\ndef f(x):\n    try:\n        {body}\n    except (OSError, ImportError, ValueError):\n        return 'held'\n    return 'ESCAPED'\n"
    return Attack(kind, name, source, needs_filter=True)


LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\ndef need(ok):\n    if not ok: raise OSError(ctypes.get_errno())\n"

ATTACKS = [
    escape("network", "TCP socket", "socket.socket()", "import socket"),
    escape("network", "UDP socket", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "import socket"),
    escape("network", "abstract unix socket", "socket.socket(socket.AF_UNIX).connect('\\0/tmp/.X11-unix/X0')", "import socket"),
    escape("network", "name lookup", "socket.getaddrinfo('example.com', 80)", "import socket"),
    escape("network", "fetch", "urllib.request.urlopen('http://127.0.0.1:80', timeout=1)", "import urllib.request"),
    escape("network", "raw netlink socket", "socket.socket(16, 3, 0)", "import socket"),
    escape("files", "reads the password file", "open('/etc/shadow').read()"),
    escape("files", "lists a home folder", "os.listdir('/home')"),
    escape("files", "writes to the temporary folder", "open('/tmp/attack', 'w').write('x')"),
    escape("files", "writes to the current folder", "open('attack', 'w').write('x')"),
    escape("files", "writes to shared memory", "open('/dev/shm/attack', 'w').write('x')"),
    escape("files", "makes a folder", "os.mkdir('/tmp/attack')"),
    escape("files", "removes the standard library", "os.remove(os.__file__)"),
    escape("files", "renames the standard library", "os.rename(os.__file__, os.__file__ + 'x')"),
    escape("files", "truncates the standard library", "os.truncate(os.__file__, 0)"),
    escape("files", "changes a mode", "os.chmod(os.__file__, 0o777)"),
    escape("files", "changes an owner", "os.chown(os.__file__, os.getuid(), os.getgid())"),
    escape("files", "changes a time stamp", "os.utime(os.__file__, (0, 0))"),
    escape("files", "makes a link", "os.link(os.__file__, '/tmp/attack')"),
    escape("files", "makes a symbolic link", "os.symlink('/etc', '/tmp/attack')"),
    escape("files", "anonymous memory file", "os.memfd_create('x')"),
    escape("files", "reads a disk", "open('/dev/vda', 'rb').read(1)"),
    escape("files", "reads kernel messages", "open('/dev/kmsg').read(1)"),
    escape("files", "walks up from its root", "os.listdir('/../../proc/1')"),
    escape("files", "opens by handle", "need(libc.syscall(304, -100, 0, 0) >= 0)", LIBC),
    escape("processes", "fork", "os.fork() or os._exit(0)"),
    escape("processes", "posix_spawn", "os.posix_spawn('/bin/true', ['true'], {})"),
    escape("processes", "subprocess", "subprocess.run(['ls'])", "import subprocess"),
    escape("processes", "os.system", "if os.system('true'): raise OSError"),
    escape("processes", "exec", "os.execv('/bin/true', ['true'])"),
    escape("processes", "multiprocessing", "multiprocessing.get_context('fork').Process(target=print).start()", "import multiprocessing"),
    escape("processes", "vfork by number", "need(libc.syscall(58) >= 0)", LIBC),
    escape("processes", "clone without a thread", "need(libc.syscall(56, 17, 0, 0, 0, 0) >= 0)", LIBC),
    escape("processes", "clone3 by number", "need(libc.syscall(435, 0, 0) >= 0)", LIBC),
    escape("signals", "kills its parent", "os.kill(os.getppid(), 9)"),
    escape("signals", "kills everything", "os.kill(-1, 9)"),
    escape("signals", "kills process 1", "os.kill(1, 9)"),
    escape("signals", "kills its group", "os.killpg(0, 0)"),
    escape("signals", "stops its parent", "os.kill(os.getppid(), 19)"),
    escape("signals", "signals by pidfd", "os.pidfd_open(os.getppid())"),
    escape("signals", "asks for signals to its parent", "fcntl.fcntl(3, fcntl.F_SETOWN, os.getppid())", "import fcntl, os"),
    escape("kernel", "ptrace", "need(libc.ptrace(16, os.getppid(), 0, 0) == 0)", LIBC),
    escape("kernel", "reads another process's memory", "need(libc.process_vm_readv(os.getppid(), 0, 0, 0, 0, 0) == 0)", LIBC),
    escape("kernel", "user namespace", "need(libc.unshare(0x10000000) == 0)", LIBC),
    escape("kernel", "mount", "need(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0)", LIBC),
    escape("kernel", "chroot", "os.chroot('/')"),
    escape("kernel", "io_uring", "need(libc.syscall(425, 1, 0) >= 0)", LIBC),
    escape("kernel", "bpf", "need(libc.syscall(321, 0, 0, 0) >= 0)", LIBC),
    escape("kernel", "perf_event_open", "need(libc.syscall(298, 0, 0, 0, 0, 0) >= 0)", LIBC),
    escape("kernel", "keyring", "need(libc.syscall(250, 0, -3, 1) >= 0)", LIBC),
    escape("kernel", "System V shared memory", "need(libc.shmget(0, 4096, 0o1600) >= 0)", LIBC),
    escape("kernel", "sets the clock", "need(libc.settimeofday(None, None) == 0)", LIBC),
    escape("kernel", "becomes root", "os.setuid(0)\nif os.getuid() or open('/etc/shadow'): raise OSError"),
    escape("kernel", "raises its limits", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "import resource"),
    escape("kernel", "limits its parent", "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))", "import os, resource"),
    escape("kernel", "outlives its parent", "need(libc.prctl(1, 0) == 0)", LIBC),
]  # fmt: skip
