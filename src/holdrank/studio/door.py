"""Connections: how many there may be, whose they may be, and how long the head of a request may take to arrive."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from asyncio import TimerHandle, Transport
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdrank.studio.guard import HEADERS
from holdrank.studio.problems import Limits, StudioError, busy

Address = tuple[str, int]

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAPPED = "0000000000000000FFFF0000"  # before an address of four bytes that stands in a table of sixteen


def connection_class(limits: Limits) -> type[Any]:
    """Return the class of connections for the server: it speaks plain HTTP/1.1 and keeps these limits.

    What is wrong with a connection is written into the state of its requests, where the guard finds it: so every
    refusal has the same form.
    """
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    most = min(limits.connections, _files_at_once() // 4)

    class Connection(H11Protocol):
        _late: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > 2 * most:
                transport.abort()
                return
            refusal = None
            if is_stranger(transport):
                words = "the studio answers whoever started it, and you are logged in as somebody else"
                refusal = StudioError(403, "user", words, repair="start a studio of your own")
            elif len(self.connections) > most:
                refusal = busy("there are too many connections", "connections")
            if refusal is not None:
                self.app_state = {**self.app_state, "refusal": refusal}
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - what is wrong is for us, not for them
            problem = StudioError(400, "headers", "this is no request that can be read")
            body = json.dumps(problem.envelope()).encode()
            head = {**HEADERS, **problem.headers, "content-type": "application/json", "content-length": str(len(body))}
            headers = [(name.encode(), value.encode()) for name, value in head.items()]
            with suppress(h11.LocalProtocolError):  # an answer to what came before is under way
                answer = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
                for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
                    self.transport.write(self.conn.send(event) or b"")
            self.transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._forgive()

        def _watch(self) -> None:
            """Wait for the head of a request, but not for ever."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._forgive()
            elif self._late is None:
                self._late = self.loop.call_later(limits.arrival, self.transport.abort)

        def _forgive(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

    return Connection


def _files_at_once() -> int:
    """Return how many files and connections this process may have open."""
    try:
        import resource
    except ImportError:
        return 2048
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 2048 if most == resource.RLIM_INFINITY else most


def is_stranger(transport: Transport) -> bool:
    """Whether another user of this machine holds the other end; root may do anything anyway."""
    if sys.platform != "linux":
        return False
    there, here = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
    owner = owner_of(there, here)
    return owner is not None and owner not in (0, os.getuid())


def owner_of(there: Address, here: Address) -> int | None:
    """Return the user who holds the other end of a connection within this machine, as the kernel tells it.

    None where the kernel tells nothing. An end that is gone, or hides, belongs to nobody: -1.
    """
    mine, theirs = _in_table(here), _in_table(there)
    known = False
    for table in _TABLES:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, remote, _, _, _, _, owner, *_ = line.split()
            ends = local.removeprefix(_MAPPED), remote.removeprefix(_MAPPED)
            if ends == (theirs, mine):
                return int(owner)
            known = known or ends == (mine, theirs)
    return -1 if known else None


def _in_table(address: Address) -> str:
    """Return an address as the kernel writes it.

    Examples
    --------
    >>> _in_table(("127.0.0.1", 80)) == ("0100007F:0050" if sys.byteorder == "little" else "7F000001:0050")
    True
    """
    (number,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{number:08X}:{address[1]:04X}"
