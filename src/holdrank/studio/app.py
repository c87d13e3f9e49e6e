"""The studio as a web application: the table of all requests, and `create_app`, which answers them.

Every page is also available as JSON; all errors have one shape.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from holdrank.errors import HoldrankError, MissingExtraError
from holdrank.studio import forms, pages
from holdrank.studio.guard import HEADERS, Guard
from holdrank.studio.handlers import WRITTEN, Studio, as_json, wants_json
from holdrank.studio.limits import Limits, StudioError
from holdrank.studio.openapi import JOB, PAGE, TEXT, Route, Schema, describe, events_of, json_of
from holdrank.views.svg import PICTURES

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_SVG = {"image/svg+xml": TEXT}
_VOTES = dict.fromkeys(WRITTEN.values(), TEXT)
_STATIC = {kind: TEXT for _, kind in pages.STATIC.values()}
_TO = {"to": WRITTEN}
_PICTURE = {"name": [picture.name for picture in PICTURES]}

ROUTES = (
    Route("GET", "/", Studio.index, PAGE),
    Route("GET", "/index.json", Studio.index, json_of("index")),
    Route("GET", "/healthz", Studio.health, json_of("health")),
    Route("GET", "/static/{name}", Studio.static, _STATIC, choices={"name": pages.STATIC}),
    Route("POST", "/open", Studio.open, form=forms.UPLOAD),
    Route("GET", "/v/{id}.json", Studio.votes, json_of("file"), JOB),
    Route("GET", "/v/{id}", Studio.votes, PAGE, JOB),
    Route("POST", "/v/{id}/read", Studio.read_again, form=forms.READING),
    Route("POST", "/v/{id}/analyse", Studio.analyse, form=forms.SETTINGS),
    Route("POST", "/v/{id}/curve", Studio.curve, problems=(409,), form=forms.CURVE),
    Route("POST", "/v/{id}/claims", Studio.ask, problems=(409,), form=forms.CLAIM),
    Route("POST", "/v/{id}/close", Studio.close, form={}),
    Route("GET", "/v/{id}/pictures/{name}.svg", Studio.picture, _SVG, (409,), choices=_PICTURE),
    Route("GET", "/v/{id}/report.html", Studio.report, PAGE, (409,), download=True),
    Route("GET", "/v/{id}/analysis.json", Studio.analysis, json_of("record"), (409,), download=True),
    Route("GET", "/v/{id}/attacked.{to}", Studio.attacked, _VOTES, JOB, choices=_TO, download=True),
    Route("GET", "/c/{id}.json", Studio.claim, json_of("claim"), JOB),
    Route("GET", "/c/{id}", Studio.claim, PAGE, JOB),
    Route("GET", "/c/{id}/attacked.{to}", Studio.attacked_by_claim, _VOTES, JOB, choices=_TO, download=True),
    Route("POST", "/compare", Studio.compare, problems=(404,), form=forms.PAIR),
    Route("GET", "/compare/{id}.json", Studio.comparison, json_of("comparison"), JOB),
    Route("GET", "/compare/{id}", Studio.comparison, PAGE, JOB),
    Route("GET", "/jobs/{id}.json", Studio.job, json_of("job")),
    Route("GET", "/jobs/{id}/events", Studio.events, events_of("job")),
    Route("POST", "/jobs/{id}/cancel", Studio.cancel, form={"back": forms.TEXT}),
)
"""Every request that is understood. The first that fits answers, so a twin stands before its page."""


@dataclass
class Start:
    """A file to open at the start, read by the studio itself and not named by any request."""

    name: str
    data: bytes
    id: str = ""


def create_app(port: int, limits: Limits | None = None, start: Start | None = None) -> Starlette:
    """Return the application, which answers on this port of this machine only.

    Parameters
    ----------
    port : int
        The port for browsers; requests for any other name or port are refused.
    limits : Limits, optional
    start : Start, optional
        A file to open at once; its `id` is set when the application starts.
    """
    try:
        import python_multipart  # noqa: F401 - the reader of forms
        from starlette import applications, exceptions, middleware, routing
    except ImportError as error:
        raise MissingExtraError("the studio", "starlette, uvicorn and python-multipart", "studio") from error

    limits = limits or Limits()
    studio = Studio(limits, secrets.token_urlsafe(24))

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        studio.open_shelf()
        if start is not None:
            start.id = studio.begin(start.name, start.data).id
        try:
            yield
        finally:
            await studio.jobs.close()

    kinds: list[type[Exception]] = [StudioError, HoldrankError, exceptions.HTTPException, Exception]
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    app = applications.Starlette(
        lifespan=lifespan,
        routes=[routing.Route(route.path, partial(route.handler, studio), methods=[route.method]) for route in ROUTES],
        exception_handlers=dict.fromkeys(kinds, _on_error),
        middleware=[middleware.Middleware(Guard, hosts=hosts, limits=limits, answer=_refusal)],
    )
    app.router.redirect_slashes = False
    app.state.studio = studio
    return app


def description() -> Schema:
    """Return the OpenAPI description of the studio, for tests and programs; it has no address."""
    return describe(ROUTES)


async def _on_error(request: Request, error: Exception) -> Response:
    """Answer a request that failed for any reason."""
    from starlette.exceptions import HTTPException

    if isinstance(error, HoldrankError):
        error = StudioError.of(error)
    elif isinstance(error, HTTPException):
        words = {404: "there is no such page", 405: "this page does not support that request"}
        allowed = (error.headers or {}).get("Allow", "")
        text = words.get(error.status_code, "the request is not valid")
        error = StudioError(error.status_code, "http", text, allowed=allowed)
    elif not isinstance(error, StudioError):
        error = StudioError(500, "internal", f"internal error: {type(error).__name__}", repair="please report it")
    return _refusal(request.scope, error)


def _refusal(scope: Any, problem: StudioError) -> Response:
    """Return a problem as a page or as JSON."""
    from starlette.responses import HTMLResponse

    # An unexpected error is answered outside the guard, so the headers are added here.
    headers = {**HEADERS, **problem.headers}
    accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
    if wants_json(scope["path"], accept):
        return as_json(problem.envelope(), problem.status, headers)
    return HTMLResponse(pages.filled("error.html", problem=problem, token=""), problem.status, headers)
