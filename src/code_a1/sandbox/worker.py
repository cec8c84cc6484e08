"""The trusted process beside the fork servers, one per core: takes jobs, feeds children, watches clocks, reports.

It is exec'ed clean, single-threaded, and never runs untrusted code; it reads what children write with fixed structs and
the bounded codec. Fork servers are started when first needed, one for each hash seed, with and without numpy,
and one for every program that writes files.
"""

from __future__ import annotations

import contextlib
import select
import signal
import socket
from collections import OrderedDict

from code_a1.sandbox import wire
from code_a1.sandbox.checksession import CheckSession
from code_a1.sandbox.forkserver import ForkServerClosed, ForkServerHandle
from code_a1.sandbox.programs import Outcome, OutcomeKind
from code_a1.sandbox.scriptsession import ScriptSession
from code_a1.sandbox.session import ProgramSession

MAX_SERVERS = 4
"""Fork servers kept by one worker; the one unused for longest makes room."""
NUMPY_USERS = (b"numpy", b"pandas", b"scipy", b"sklearn")


class Worker:
    """Runs jobs one after another."""

    def __init__(self, upstream: socket.socket, tier: str, source_root: str, site: list[str]) -> None:
        self.upstream = upstream
        self.tier = tier
        self.source_root = source_root
        self.site = site
        self.servers: OrderedDict[tuple[int, bool, bool], ForkServerHandle] = OrderedDict()

    def serve(self) -> None:
        """Answer jobs until the caller is gone."""
        while (body := self.receive()) is not None:
            job = wire.unpack_job(body)
            self.upstream.sendall(wire.pack_result(job.ticket, self.run(job)))

    def receive(self) -> bytes | None:
        """The next frame, None at the end."""
        head = self.upstream.recv(wire.FRAME.size, socket.MSG_WAITALL)
        if len(head) < wire.FRAME.size:
            return None
        (size,) = wire.FRAME.unpack(head)
        body = bytearray(size)
        view, have = memoryview(body), 0
        while have < size:
            count = self.upstream.recv_into(view[have:], size - have)
            if not count:
                return None
            have += count
        return bytes(body)

    def run(self, job: wire.Job) -> list[Outcome]:
        """Outcomes of the load and of the calls."""
        text = b"\n".join(
            [*(part.encode("utf-8", "surrogatepass") for part in (job.source, job.setup, job.check)), *job.calls]
        )
        with_numpy = any(name in text for name in NUMPY_USERS)
        try:
            server = self.server(job.seed, with_numpy, scratch=job.scratch)
            session = ScriptSession if job.stdin is not None else CheckSession if job.check else ProgramSession
            return session(server, job, self.caller_is_gone).run()
        except OSError as error:
            return [Outcome(OutcomeKind.SANDBOX_ERROR, detail=f"the worker could not run it: {error}")] * (
                1 + len(job.calls)
            )
        finally:
            if job.scratch and (used := self.servers.pop((job.seed, with_numpy, True), None)) is not None:
                used.close()  # what the program wrote goes with the server's namespaces

    def server(self, seed: int, with_numpy: bool, *, scratch: bool = False) -> ForkServerHandle:
        """The fork server of that kind, started if need be."""
        key = (seed, with_numpy, scratch)
        if key not in self.servers:
            while len(self.servers) >= MAX_SERVERS:
                self.servers.popitem(last=False)[1].close()
            self.servers[key] = ForkServerHandle(
                seed, with_numpy, self.tier, self.source_root, self.site, scratch=scratch
            )
        self.servers.move_to_end(key)
        return self.servers[key]

    def caller_is_gone(self) -> bool:
        """Whether the caller closed its end, so that nobody waits for the job any more."""
        poller = select.poll()
        poller.register(self.upstream, select.POLLRDHUP if hasattr(select, "POLLRDHUP") else select.POLLHUP)
        return bool(poller.poll(0))

    def close(self) -> None:
        """End the fork servers."""
        for server in self.servers.values():
            server.close()


def main(upstream_fd: int, tier: str, source_root: str, site: list[str]) -> None:
    """Entry of the exec'ed process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    upstream = socket.socket(fileno=upstream_fd)
    worker = Worker(upstream, tier, source_root, site)
    try:
        worker.server(0, with_numpy=False)  # the one that most programs need; others start when asked for
        upstream.sendall(wire.pack_result(wire.READY, []))
        worker.serve()
    except ForkServerClosed as error:
        # The caller starts a fresh worker and sends the job there.
        with contextlib.suppress(OSError):
            upstream.sendall(wire.pack_result(wire.DYING, [Outcome(OutcomeKind.SANDBOX_ERROR, detail=str(error))]))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the caller is gone
    finally:
        worker.close()
