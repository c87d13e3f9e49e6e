"""The studio as a web application: `create_app`. Every page has a twin in JSON; every error has one shape."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdrank.errors import HoldrankError, MissingExtraError
from holdrank.studio import pages
from holdrank.studio.answers import Studio
from holdrank.studio.description import described
from holdrank.studio.guard import Guard
from holdrank.studio.problems import Limits, StudioError
from holdrank.studio.replies import as_json, wants_json

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.requests import Request
    from fastapi.responses import Response


@dataclass
class Start:
    """A file to begin with, read by the studio itself and not named by any request."""

    name: str
    data: bytes
    id: str = ""


def create_app(port: int, limits: Limits | None = None, start: Start | None = None) -> FastAPI:
    """Return the application, which answers on this port of this machine only.

    Parameters
    ----------
    port : int
        The port that browsers ask; requests for any other name or port are refused.
    limits : Limits, optional
    start : Start, optional
        A file to open at once; its `id` is set when the application starts.
    """
    try:
        import python_multipart  # noqa: F401 - the reader of forms
        from fastapi import FastAPI
    except ImportError as error:
        raise MissingExtraError("the studio", "fastapi, uvicorn and python-multipart", "studio") from error
    from fastapi.responses import HTMLResponse
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.routing import Route

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

    def answer(scope: Any, problem: StudioError) -> Response:
        accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
        if wants_json(scope["path"], accept):
            return as_json(problem.envelope(), problem.status, problem.headers)
        page = pages.filled("error.html", problem=problem, token="")
        return HTMLResponse(page, problem.status, problem.headers)

    async def on_problem(request: Request, error: Exception) -> Response:
        if isinstance(error, HoldrankError):
            error = StudioError.of(error)
        elif isinstance(error, HTTPException):
            words = {404: "there is no such page", 405: "the page cannot be asked so"}
            allowed = (error.headers or {}).get("Allow", "")
            text = words.get(error.status_code, "the request was not understood")
            error = StudioError(error.status_code, "http", text, allowed=allowed)
        elif not isinstance(error, StudioError):
            error = StudioError(500, "internal", f"internal error: {type(error).__name__}", repair="please report it")
        return answer(request.scope, error)

    kinds: list[type[Exception]] = [StudioError, HoldrankError, HTTPException, Exception]
    app = FastAPI(
        title="holdrank studio",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        routes=[Route(path, handler, methods=[method]) for method, path, handler in studio.routes()],
        exception_handlers=dict.fromkeys(kinds, on_problem),
        middleware=[Middleware(Guard, hosts=[f"127.0.0.1:{port}", f"localhost:{port}"], limits=limits, answer=answer)],
    )
    app.openapi = described  # type: ignore[method-assign]  # for tests and programs; it has no address
    app.state.studio = studio
    return app
