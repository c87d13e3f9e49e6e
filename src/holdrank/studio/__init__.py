"""The studio: a local web application for vote files on this machine. `serve` starts it.

A request passes through `guard` (access control), `app` (the table of all requests), `handlers` (the answers), `forms`
(form input), `jobs` (a process for long work, see `worker` and `tasks`), `shelf` (open files) and `pages` (what is
shown). `limits` holds all limits; `openapi` describes the table for programs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from socket import AF_INET, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from typing import TYPE_CHECKING, Any

from holdrank.errors import LimitError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from holdrank.studio.limits import Limits


def serve(file: str | None, port: int = 0, *, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Run the studio on this machine until Ctrl-C.

    Parameters
    ----------
    file : str or None
        A vote file to open.
    port : int
        The port; 0 for any free one.
    browser : bool
        Whether to open a browser.
    say : callable
        Called with the address.
    """
    from holdrank.studio.app import Start, create_app
    from holdrank.studio.limits import Limits

    limits, start = Limits(), None
    if file is not None:
        start = Start("standard input" if file == "-" else Path(file).name, _content(file, limits))
    with _listening(port) as door:
        port = door.getsockname()[1]
        app = create_app(port, limits, start=start)
        address = f"http://127.0.0.1:{port}/"

        def ready() -> None:
            page = address if start is None else f"{address}v/{start.id}"
            say(f"holdrank studio: {page}  (Ctrl-C ends it)")
            if browser:
                import webbrowser

                webbrowser.open(page)

        with suppress(KeyboardInterrupt):  # the usual end
            asyncio.run(_answering(app, door, ready))


def _content(file: str, limits: Limits) -> bytes:
    """Return the bytes of a file that is not too large for pages."""
    from holdrank.files.containers.source import open_source
    from holdrank.studio.limits import StudioError, check_size

    data = open_source(file).data
    try:
        check_size(data, limits)
    except StudioError as problem:
        raise LimitError(problem.message, repair=problem.repair) from problem
    return data


def _listening(port: int) -> socket:
    """Return a socket that only this machine can reach."""
    door = socket(AF_INET, SOCK_STREAM)
    try:
        door.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        door.close()
        raise UsageError(
            f"port {port} is not available: {error}", repair="leave the port out, or choose another"
        ) from error
    return door


async def _answering(app: Any, door: socket, ready: Callable[[], None]) -> None:
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtraError("the studio", "uvicorn", "studio") from error
    from holdrank.studio.guard import connection_class

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    # Requests of strangers are not logged to the terminal.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        app,
        http=connection_class(app.state.studio.limits),
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,  # streams of events would keep the server waiting for their end
    )
    await Server(config).serve(sockets=[door])
