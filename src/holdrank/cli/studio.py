"""The command `studio`: pages in the browser."""

from __future__ import annotations

import click

from holdrank.cli.printing import complain


@click.command()
@click.argument("file", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; a free one if not given.")
@click.option("--no-browser", is_flag=True, help="Open no browser; print the address only.")
def studio(file: str | None, port: int, no_browser: bool) -> None:
    """Look at votes in the browser.

    Opens FILE, or a page that takes files, on this machine only. Ctrl-C ends it; nothing is kept.
    """
    from holdrank.studio import serve

    serve(file, port, browser=not no_browser, say=complain)
