"""Replies of the studio: what they are made of, and the names of what is sent and taken away."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import PurePath
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as url_quote

from holdrank.studio.jobs import Job

if TYPE_CHECKING:
    from fastapi.responses import Response
    from starlette.datastructures import UploadFile

STATIC = {
    "page.css": ("views/static", "text/css"),
    "holdrank.js": ("views/static", "text/javascript"),
    "studio.css": ("studio/static", "text/css"),
    "studio.js": ("studio/static", "text/javascript"),
}
"""Style sheets and scripts: where they lie in the package, and their type."""

WRITTEN = {"soc": "text/plain", "csv": "text/csv", "jsonl": "application/jsonl"}
"""Files that votes can be taken away as, and their type."""


def wants_json(path: str, accept: str) -> bool:
    """Whether whoever asks is a program: by the name of the page, or by what it takes."""
    return path.endswith(".json") or ("application/json" in accept and "text/html" not in accept)


def seen(*jobs: Job) -> None:
    """Note that somebody asked after jobs."""
    for job in jobs:
        job.seen = monotonic()


def as_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return data as an answer, in ASCII: a name may hold half of a character, which no other encoding can hold."""
    from fastapi.responses import Response

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Response(text, status, dict(headers or {}), "application/json")


async def in_thread(work: Callable[..., Any], *args: Any) -> Any:
    """Run what takes its time without holding up other answers."""
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(work, *args)


def packed(name: str) -> str:
    """Return a style sheet or a script of the package."""
    return files("holdrank").joinpath(f"{STATIC[name][0]}/{name}").read_text("utf-8")


def file_name(file: UploadFile) -> str:
    """Return the last part of the name that a client gives: a label, never a path."""
    return PurePath((file.filename or "").replace("\\", "/")).name[:200] or "votes"


def download(text: str, kind: str, name: str, ending: str) -> Response:
    """Return a file to take away, named after the file that it is about.

    The name is made of letters, digits, points and joints, does not begin with one of the latter, and has our ending
    last: no system takes it for a device, an option, a hidden file or another kind of file.
    """
    from fastapi.responses import Response

    stem = "".join(sign if sign.isalnum() or sign in " .-_()" else "-" for sign in PurePath(name).stem)
    stem = stem[:80].strip(" .-_") or "votes"
    plain = "".join(sign if sign.isascii() and sign not in " ()." else "-" for sign in stem)
    full = url_quote(f"{stem}{ending}", safe="")
    header = f"attachment; filename=\"{plain}{ending}\"; filename*=UTF-8''{full}"
    return Response(text.encode("utf-8", "backslashreplace"), media_type=kind, headers={"content-disposition": header})


def example() -> bytes:
    """Return generated votes, for whoever has none at hand: 500 ballots over eight trees, always the same."""
    from holdrank.votes.models import example_votes

    votes = example_votes()
    lines = [json.dumps({"items": list(votes.items), "unlisted": votes.unlisted})]
    for ranks, weight in zip(votes.ranks.tolist(), votes.weights.tolist(), strict=True):
        order = [item for _, item in sorted(zip(ranks, votes.items, strict=True))]
        lines.append(json.dumps({"order": order, "weight": int(weight)}))
    return ("\n".join(lines) + "\n").encode()
