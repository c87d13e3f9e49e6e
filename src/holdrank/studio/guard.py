"""The door: who may ask, how much they may send, and what browsers may do with the answer.

Pages of other sites can make a browser send requests to this machine. They are refused by the name they ask for (Host),
by where they come from (Origin, Sec-Fetch-Site) and, for whatever changes something, by a token that only our own pages
hold.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

from holdrank.studio.problems import Limits, StudioError, too_large

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
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


class Guard:
    """Middleware that refuses strangers and puts the headers on every answer."""

    def __init__(self, app: Application, hosts: Iterable[str], limits: Limits, answer: Callable[..., Any]) -> None:
        self.app, self.hosts, self.limits, self.answer = app, frozenset(hosts), limits, answer

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
        await self.app(scope, self._counted(receive), with_headers)

    def _refusal(self, scope: Scope) -> StudioError | None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return StudioError(421, "host", "this name is not the studio's", repair=f"open http://{min(self.hosts)}/")
        site = headers.get("sec-fetch-site", "none")
        to_read = scope["method"] in ("GET", "HEAD")
        visits = to_read and headers.get("sec-fetch-mode") == "navigate"
        if site not in ("same-origin", "none") and not visits:
            return _stranger()
        if not to_read:
            if scope["method"] != "POST":
                return StudioError(405, "method", "the studio answers GET and POST only")
            if "origin" in headers and headers["origin"] != f"http://{host}":
                return _stranger()
        size = headers.get("content-length", "0")
        if not size.isdecimal() or int(size) > self.limits.upload + 4096:
            return too_large(self.limits)
        return None

    def _counted(self, receive: Receive) -> Receive:
        """Return `receive`, which stops when more comes than is allowed: a length may be missing or a lie."""
        seen = 0

        async def counting() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.limits.upload + 4096:
                raise too_large(self.limits)
            return message

        return counting


def _stranger() -> StudioError:
    return StudioError(403, "origin", "this request comes from another site", repair="use the studio's own pages")


def check_token(given: str, token: str) -> None:
    """Refuse a request without the token of this start."""
    if not secrets.compare_digest(given.encode(), token.encode()):
        raise StudioError(
            403, "token", "the page is from another start of the studio", repair="load the page again and repeat it"
        )
