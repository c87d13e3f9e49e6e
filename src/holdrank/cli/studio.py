"""The command `studio`: pages in the browser."""

from __future__ import annotations

import click

from holdrank.cli.printing import complain


@click.command()
@click.argument("file", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port; a free one by default.")
@click.option("--no-browser", is_flag=True, help="Print the address, and do not open a browser.")
def studio(file: str | None, port: int, no_browser: bool) -> None:
    """Explore votes in the browser.

    Opens FILE, or a page to choose files. The studio serves this machine only and stores nothing. Ctrl-C stops it.
    """
    from holdrank.studio import serve

    serve(file, port, browser=not no_browser, say=complain)
