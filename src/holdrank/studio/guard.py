"""Access control: who may connect, how much they may send, and what browsers may do with the answer.

Connections have separate limits, and on Linux the kernel reports their owner.

Pages of other sites can make a browser send requests to this machine. They are refused by the requested name (Host), by
their origin (Origin, Sec-Fetch-Site) and, for requests that change something, by a token that only our own pages have.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import socket
import struct
import sys
from asyncio import TimerHandle, Transport
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from holdrank.studio.limits import Limits, StudioError, busy, too_large

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Address: TypeAlias = tuple[str, int]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # Not no-referrer: browsers would then hide the origin of our own forms.
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


# A second one of these would let two readers of a request understand two things.
_ONCE = ("host", "origin", "content-length", "content-type", "transfer-encoding", "x-holdrank-token")
_ENVELOPE = 4096  # bytes of a form around its file
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_PLAIN_FORM = 2**20  # bytes of a form without files, which is read in one piece

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAPPED = "0000000000000000FFFF0000"  # before an address of four bytes that stands in a table of sixteen


# Requests.


class Guard:
    """Middleware that refuses strangers and adds the headers to every answer."""

    def __init__(self, app: Application, hosts: Iterable[str], limits: Limits, answer: Callable[..., Any]) -> None:
        self.app, self.hosts, self.limits, self.answer = app, frozenset(hosts), limits, answer
        self.arriving = 0  # bytes of all requests that are being read or answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # nothing here speaks web sockets

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there),
                ]
            await send(message)

        problem = self._refusal(scope)
        if problem is not None:
            await self.answer(scope, problem)(scope, receive, with_headers)
            return
        body = _Body(self, receive, self._most(scope))
        try:
            await self.app(scope, body.receive, with_headers)
        finally:
            self.arriving -= body.seen

    def _refusal(self, scope: Scope) -> StudioError | None:
        """Return why a request is refused; the sender is checked before the content."""
        known = scope.get("state", {}).get("refusal")
        if known is not None:  # by the state of the connection
            return known  # type: ignore[no-any-return]
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        headers = dict(pairs)
        names = [name for name, _ in pairs]
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return StudioError(
                421, "host", "the studio does not answer to this host name", repair=f"open http://{min(self.hosts)}/"
            )
        if any(names.count(name) > 1 for name in _ONCE) or {"content-length", "transfer-encoding"} <= set(names):
            return StudioError(400, "headers", "the headers of the request contradict each other")
        if not scope["path"].startswith("/"):
            return StudioError(400, "target", "the address of the request is not a path of the studio")
        if headers.get("origin", f"http://{host}") != f"http://{host}" or not self._from_here(scope, headers):
            return _stranger()
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return StudioError(405, "method", "the studio answers GET and POST only")
        if scope["method"] == "POST":
            return self._refused_form(scope, headers)
        return None

    def _from_here(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether the request comes from a page of the studio, a program, or a followed link."""
        if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
            return True
        # A link on another site may lead here, but its frames, pictures and scripts may not.
        visits = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
        return visits and scope["method"] in ("GET", "HEAD")

    def _most(self, scope: Scope) -> int:
        """Return how many bytes the body of a request may have."""
        kind = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
        return _PLAIN_FORM if _kind_of(kind) == _FORMS[1] else self.limits.upload + _ENVELOPE

    def _refused_form(self, scope: Scope, headers: dict[str, str]) -> StudioError | None:
        """Return why the body of a request is not read: only forms are, in UTF-8 and not too long."""
        size, kind = headers.get("content-length", "0"), headers.get("content-type", "")
        if not size.isascii() or not size.isdecimal() or int(size[:20]) > self._most(scope):
            return too_large(self.limits)
        # Any other encoding would let a form spell what no page can show.
        options = re.sub(r'[\s"]', "", kind.lower())
        other = options.count("charset") != len(re.findall("charset=utf-8(?:;|$)", options))
        empty = not kind and size == "0" and "transfer-encoding" not in headers
        if other or not (_kind_of(kind) in _FORMS or empty):
            return StudioError(415, "form", "the studio reads forms in UTF-8 only", repair="send a form")
        return None


class _Body:
    """The body of one request, which is cut off if it is too long or too slow: its declared length may be false."""

    def __init__(self, guard: Guard, receive: Receive, most: int) -> None:
        self.guard, self.source, self.limits, self.most = guard, receive, guard.limits, most
        self.seen, self.whole, self.ends = 0, False, monotonic() + guard.limits.sending

    async def receive(self) -> Message:
        """See ASGI."""
        if self.whole:  # what comes now is the end of the connection, which may take its time
            return await self.source()
        try:
            message = await asyncio.wait_for(self.source(), min(self.limits.pause, self.ends - monotonic()))
        except TimeoutError:
            words = "the request timed out"
            raise StudioError(408, "slow", words, repair="send it again") from None
        size = len(message.get("body", b""))
        self.seen += size
        self.guard.arriving += size
        self.whole = not message.get("more_body", False)
        if self.seen > self.most:
            raise too_large(self.limits)
        if self.guard.arriving > self.limits.arriving:
            raise busy("too much is being sent at once")
        return message


def _kind_of(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _stranger() -> StudioError:
    return StudioError(403, "origin", "this request comes from another site", repair="use the studio's own pages")


def check_token(given: str, token: str) -> None:
    """Refuse a request without the token of this run."""
    if not secrets.compare_digest(given.encode(), token.encode()):
        raise StudioError(
            403, "token", "the page is from an earlier run of the studio", repair="load the page again and repeat it"
        )


# Connections.


def connection_class(limits: Limits) -> type[Any]:
    """Return the class of connections for the server: it speaks plain HTTP/1.1 and keeps these limits.

    A problem with a connection is written to the state of its requests, where the guard finds it, so that all refusals
    have the same form.
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
                words = "this studio belongs to another user"
                refusal = StudioError(403, "user", words, repair="start your own studio")
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
            problem = StudioError(400, "headers", "the request cannot be parsed")
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
    """Return the user at the other end of a connection within this machine, as reported by the kernel.

    None if the kernel does not report it; -1 for an end that is closed or hidden.
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
