"""The answers to requests: pages, their JSON, jobs, and files to download. The table of routes is in `app`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as url_quote

from holdrank.analysis.records import Record
from holdrank.analysis.result import Analysis
from holdrank.status import DRAWS
from holdrank.studio import forms, pages
from holdrank.studio.jobs import Job, Jobs
from holdrank.studio.limits import Limits, StudioError
from holdrank.studio.shelf import Asked, Compared, Opened, Shelf
from holdrank.views.report import FORMS, fingerprint, html
from holdrank.views.svg import PICTURES

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

WRITTEN = {"soc": "text/plain", "csv": "text/csv", "jsonl": "application/jsonl"}
"""Files that votes can be downloaded as, and their type."""

_PAGE = re.compile(r"/(v|c|compare)/[\w-]{1,40}", re.ASCII)


class Studio:
    """The answers to all requests of one run."""

    def __init__(self, limits: Limits, token: str) -> None:
        self.limits, self.token = limits, token

    def open_shelf(self) -> None:
        """Start with an empty shelf; an event loop must be running."""
        self.jobs = Jobs(self.limits)
        self.shelf = Shelf(self.limits, self.jobs)

    # Opening and reading.

    def begin(self, name: str, data: bytes) -> Opened:
        """Open the file of the command line, and start its analysis before any page is loaded."""
        opened = self.shelf.put(name, data)
        self._analyse(opened, patient=True)
        return opened

    async def index(self, request: Request) -> Response:
        """Return the first page."""
        opened = list(self.shelf.opened.values())
        if wants_json(request.url.path, ""):
            found = [{"id": one.id, "name": one.name, "bytes": len(one.data), "url": f"/v/{one.id}"} for one in opened]
            return as_json({"opened": found, "compared": [f"/compare/{id}" for id in self.shelf.compared]})
        rows = [{"opened": one, "headline": pages.headline(one.record, one.job)} for one in reversed(opened)]
        return self._page("index.html", rows=rows, limit=self.limits.upload_text)

    async def open(self, request: Request) -> Response:
        """Accept a file, a text or the example, read it, and start its analysis."""
        values, sent = await self._form(request)
        self.jobs.check_room()
        file = sent.get("file")
        if file is not None:
            opened = self.shelf.put(*file)
        elif values.get("example"):
            opened = self.shelf.put("example.jsonl", example())
        elif values.get("text", "").strip():
            opened = self.shelf.put("pasted votes", values["text"].replace("\r\n", "\n").encode())
        else:
            raise StudioError(
                422, "input", "no file and no text were given", repair="choose a file, or paste some votes"
            )
        await self._read(opened)
        return self._made(request, f"/v/{opened.id}", opened.job)

    async def _read(self, opened: Opened) -> None:
        """Start the analysis of a file, and wait until it is known whether the file can be read."""
        self._analyse(opened)
        assert opened.job is not None
        opened.job.listeners += 1
        try:
            await opened.job.until("votes")
            with suppress(TimeoutError):  # most consensus are found at once, and the page begins with one
                await asyncio.wait_for(opened.job.until("record"), 1.5)
        finally:
            opened.job.listeners -= 1
            opened.job.touch()

    def _analyse(self, opened: Opened, *, patient: bool = False) -> None:
        opened.spec = opened.spec or forms.spec_of({}, self.limits)
        task = {
            "task": "analyse",
            "name": opened.name,
            "reading": opened.reading,
            "spec": opened.spec,
            "seconds": opened.spec["time_limit"],
        }
        fresh = self.jobs.start(task, [opened.data], patient=patient)
        for old in (opened.job, opened.curve):
            if old is not None:
                self.jobs.forget(old)
        opened.job, opened.curve = fresh, None
        opened.drawn.clear()

    async def read_again(self, request: Request) -> Response:
        """Read a file in another way."""
        opened = self.shelf.votes(request.path_params["id"])
        values, _ = await self._form(request)
        reading = forms.reading_of(values)
        self.jobs.check_room()
        opened.reading = reading
        opened.form = {field.name: values.get(field.name, "").strip() for field in forms.FIELDS}
        for one in opened.claims:  # they were about other votes
            self.shelf.asked.pop(one.id, None)
            self.jobs.forget(one.job)
        opened.claims.clear()
        await self._read(opened)
        return self._made(request, f"/v/{opened.id}", opened.job)

    async def analyse(self, request: Request) -> Response:
        """Analyse a file once more, with other settings."""
        opened = self.shelf.votes(request.path_params["id"])
        values, _ = await self._form(request)
        spec = forms.spec_of(values, self.limits)
        self.jobs.check_room()
        opened.spec = spec
        self._analyse(opened)
        return self._made(request, f"/v/{opened.id}", opened.job)

    async def curve(self, request: Request) -> Response:
        """Compute one breakdown curve, distance by distance."""
        opened = self.shelf.votes(request.path_params["id"])
        values, _ = await self._form(request)
        seconds = forms.seconds_of(values, "60", self.limits)
        about = self._about(opened, values.get("of", "strict"))
        task = {**about, "task": "curve", "time_limit": seconds, "seconds": seconds}
        fresh = self.jobs.start(task, [opened.data])
        if opened.curve is not None:
            self.jobs.forget(opened.curve)
        opened.curve = fresh
        return self._made(request, f"/v/{opened.id}#breakdown", fresh)

    def _about(self, opened: Opened, of: str) -> Record:
        """Return the parameters of a job on the strict ranking or the tiers of a file."""
        record = _record(opened)
        tiers = record["tiers"] if of == "tiers" else None
        if of == "tiers" and tiers is None:
            raise StudioError(
                409, "no-tiers", "there are no tiers yet", repair="wait for them, or ask for tiers in Settings"
            )
        return {
            "name": opened.name,
            "reading": opened.reading,
            "rule": record["consensus"]["rule"],
            "theta": None if tiers is None else tiers["theta"],
            "merge": record["spec"]["merge"],
        }

    # Pages.

    async def votes(self, request: Request) -> Response:
        """Return the page of a file."""
        opened = self.shelf.votes(request.path_params["id"])
        for job in opened.jobs:
            job.touch()
        failed = opened.problem if "votes" not in opened.told else None
        if request.url.path.endswith(".json"):
            if failed is not None:
                raise failed
            parts = {name: opened.told.get(name) for name in ("votes", "items", "replay")}
            return as_json({"id": opened.id, "name": opened.name, "reading": opened.reading, **parts,
                          "record": opened.record, "job": pages.working(opened.job),
                          "curve_job": pages.working(opened.curve),
                          "claims": [f"/c/{one.id}" for one in opened.claims]})  # fmt: skip
        shown = await in_thread(pages.votes_page, opened, list(self.shelf.opened.values()))
        return self._page("votes.html", status=failed.status if failed else 200, **shown)

    async def ask(self, request: Request) -> Response:
        """Accept a claim and start testing it."""
        opened = self.shelf.votes(request.path_params["id"])
        values, _ = await self._form(request)
        asked = forms.claim_of(values, opened.told.get("items", []))
        seconds = forms.seconds_of(values, "30", self.limits)
        task = {**self._about(opened, asked["of"]), **asked, "task": "claim", "time_limit": seconds, "seconds": seconds}
        job = self.jobs.start(task, [opened.data])
        claim = Asked(opened, asked["claim"], asked["of"], asked["change"], job)
        self.shelf.ask(claim)
        return self._made(request, f"/c/{claim.id}", job)

    async def claim(self, request: Request) -> Response:
        """Return the page of a claim."""
        asked = self.shelf.claim(request.path_params["id"])
        asked.job.touch()
        failed = asked.job.problem if asked.answer is None else None
        if request.url.path.endswith(".json"):
            if failed is not None:
                raise failed
            return as_json({"id": asked.id, "about": f"/v/{asked.about.id}", "claim": asked.claim, "of": asked.of,
                          "answer": asked.answer, "replay": asked.job.told.get("replay"),
                          "job": pages.working(asked.job)})  # fmt: skip
        shown = await in_thread(pages.claim_page, asked)
        return self._page("claim.html", status=failed.status if failed else 200, **shown)

    async def compare(self, request: Request) -> Response:
        """Accept two files, sent or open, and start comparing them."""
        values, sent = await self._form(request)
        rule = forms.rule_of(values)
        for which in ("old", "new"):
            if which not in sent and not values.get(f"{which}_id"):
                raise StudioError(422, "input", f"the {which} file is missing", repair="choose two files")
        known = {which: self.shelf.votes(values[f"{which}_id"]) for which in ("old", "new") if which not in sent}
        self.jobs.check_room()
        old, new = (self.shelf.put(*sent[which]) if which in sent else known[which] for which in ("old", "new"))
        each = [{"name": one.name, "reading": one.reading} for one in (old, new)]
        task = {"task": "compare", "files": each, "rule": rule, "draws": DRAWS, "seed": 0, "seconds": 120.0}
        job = self.jobs.start(task, [old.data, new.data])
        pair = Compared(old, new, rule, job)
        self.shelf.compare(pair)
        return self._made(request, f"/compare/{pair.id}", job)

    async def comparison(self, request: Request) -> Response:
        """Return the page of a comparison."""
        pair = self.shelf.comparison(request.path_params["id"])
        pair.job.touch()
        found, failed = pair.job.told.get("comparison"), pair.job.problem
        if request.url.path.endswith(".json"):
            if failed is not None:
                raise failed
            return as_json({"id": pair.id, "comparison": found, "job": pages.working(pair.job)})
        rows = [] if found is None else pages.compare_rows(found)
        return self._page("compare.html", status=failed.status if failed else 200, pair=pair, found=found, rows=rows,
                          job=pages.working(pair.job), problem=failed)  # fmt: skip

    async def close(self, request: Request) -> Response:
        """Close a file."""
        opened = self.shelf.votes(request.path_params["id"])
        await self._form(request)
        self.shelf.close(opened)
        return self._made(request, "/", None)

    # Jobs.

    async def job(self, request: Request) -> Response:
        """Return the state of a job."""
        job = self.jobs.get(request.path_params["id"])
        job.touch()
        return as_json(pages.working(job))

    async def events(self, request: Request) -> Response:
        """Return a stream of the states of a job, until it is over."""
        from starlette.responses import StreamingResponse

        job = self.jobs.get(request.path_params["id"])

        async def stream() -> AsyncIterator[str]:
            async for shape in job.follow():
                yield ": still there\n\n" if shape is None else f"data: {json.dumps(pages.working(job))}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def cancel(self, request: Request) -> Response:
        """End a job."""
        job = self.jobs.get(request.path_params["id"])
        values, _ = await self._form(request)
        job.end("cancelled")
        await job.until("nothing")  # until it is over
        back = values.get("back", "/")
        return self._made(request, back if _PAGE.fullmatch(back) else "/", job)

    # Files to download.

    async def picture(self, request: Request) -> Response:
        """Return one picture as a separate file."""
        from starlette.responses import Response

        opened = self.shelf.votes(request.path_params["id"])
        record = _record(opened)
        name = request.path_params["name"]
        picture = next((one for one in PICTURES if one.name == name and pages.has_picture(name, record)), None)
        if picture is None:
            raise StudioError(404, "not-found", "there is no such picture, or it is not ready yet")
        svg = await in_thread(picture.draw, record)
        style = pages.packed("page.css")
        head, end, rest = svg.partition(">")
        alone = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + end
        return Response(
            f"{alone}<style>{style}</style>{rest}",
            media_type="image/svg+xml",
            # A file of its own holds its own style: that one, and no other.
            headers={"content-security-policy": f"default-src 'none'; style-src '{fingerprint(style)}'; sandbox"},
        )

    async def report(self, request: Request) -> Response:
        """Return the report as one file."""
        opened = self.shelf.votes(request.path_params["id"])
        text = await in_thread(html, Analysis(_record(opened)))
        return download(text, "text/html", opened.name, "-report.html")

    async def analysis(self, request: Request) -> Response:
        """Return the record as a file that `Analysis.from_json` reads."""
        opened = self.shelf.votes(request.path_params["id"])
        text = FORMS[".json"](Analysis(_record(opened)))
        return download(text, "application/json", opened.name, "-analysis.json")

    async def attacked(self, request: Request) -> Response:
        """Return the votes after the attack of the headline."""
        opened = self.shelf.votes(request.path_params["id"])
        return await self._attacked(opened.told.get("attacked"), opened.name, request.path_params["to"])

    async def attacked_by_claim(self, request: Request) -> Response:
        """Return the votes after the attack on a claim."""
        asked = self.shelf.claim(request.path_params["id"])
        return await self._attacked(asked.job.told.get("attacked"), asked.about.name, request.path_params["to"])

    async def _attacked(self, text: str | None, name: str, to: str) -> Response:
        if to not in WRITTEN:
            raise StudioError(404, "not-found", f"votes are written as {', '.join(WRITTEN)}")
        if not text:
            raise StudioError(404, "not-found", "there are no attacked votes, or they are not ready yet")
        extension = to
        if to != "jsonl":
            job = self.jobs.start({"task": "write", "to": to, "seconds": 60.0}, [text.encode()])
            job.listeners += 1
            await job.until("text")
            self.jobs.forget(job)
            if "text" not in job.told:
                raise job.problem or StudioError(500, "internal", "the votes could not be written")
            text, extension = job.told["text"], job.told["extension"]
        return download(text, WRITTEN[to], name, f"-attacked.{extension}")

    # What all answers share.

    async def health(self, request: Request) -> Response:  # noqa: ARG002
        """Return that the studio is running, and its load."""
        return as_json({"ok": True, "running": self.jobs.count("running"), "queued": self.jobs.count("queued")})

    async def static(self, request: Request) -> Response:
        """Return a style sheet or a script."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in pages.STATIC:
            raise StudioError(404, "not-found", "there is no such file")
        return Response(pages.packed(name), media_type=pages.STATIC[name][1])

    async def _form(self, request: Request) -> tuple[forms.Values, forms.Uploads]:
        return await forms.read_form(request, self.token, self.limits)

    def _made(self, request: Request, url: str, job: Job | None) -> Response:
        """Answer a form: a browser is redirected, a program gets the address."""
        from starlette.responses import RedirectResponse

        if wants_json("", request.headers.get("accept", "")):
            return as_json({"url": url, "job": pages.working(job)})
        return RedirectResponse(url, 303)

    def _page(self, template: str, status: int = 200, **parts: Any) -> Response:
        from starlette.responses import HTMLResponse

        return HTMLResponse(pages.filled(template, token=self.token, **parts), status)


def _record(opened: Opened) -> Record:
    """Return the record of a file; refuse one that is not analysed yet."""
    record = opened.record
    if record is None:
        raise StudioError(409, "too-early", "the votes are not analysed yet", repair="wait for the consensus")
    return record


# What answers are made of.


def wants_json(path: str, accept: str) -> bool:
    """Whether the client is a program, judging by the name of the page or the accepted content types."""
    return path.endswith(".json") or ("application/json" in accept and "text/html" not in accept)


def as_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return data as an answer, in ASCII: a name may hold half of a surrogate, which no other encoding can hold."""
    from starlette.responses import Response

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Response(text, status, dict(headers or {}), "application/json")


async def in_thread(work: Callable[..., Any], *args: Any) -> Any:
    """Run slow code without blocking other answers."""
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(work, *args)


def download(text: str, kind: str, name: str, ending: str) -> Response:
    """Return a file to download, named after the vote file.

    The name consists of letters, digits, dots and separators, does not begin with one of the latter, and ends in our
    extension: no system treats it as a device, an option, a hidden file or another type of file.
    """
    from starlette.responses import Response

    stem = "".join(sign if sign.isalnum() or sign in " .-_()" else "-" for sign in PurePath(name).stem)
    stem = stem[:80].strip(" .-_") or "votes"
    plain = "".join(sign if sign.isascii() and sign not in " ()." else "-" for sign in stem)
    full = url_quote(f"{stem}{ending}", safe="")
    header = f"attachment; filename=\"{plain}{ending}\"; filename*=UTF-8''{full}"
    return Response(text.encode("utf-8", "backslashreplace"), media_type=kind, headers={"content-disposition": header})


def example() -> bytes:
    """Return generated example votes: 500 ballots over eight trees, always the same."""
    from holdrank.votes.models import example_votes

    votes = example_votes()
    lines = [json.dumps({"items": list(votes.items), "unlisted": votes.unlisted})]
    for ranks, weight in zip(votes.ranks.tolist(), votes.weights.tolist(), strict=True):
        order = [item for _, item in sorted(zip(ranks, votes.items, strict=True))]
        lines.append(json.dumps({"order": order, "weight": int(weight)}))
    return ("\n".join(lines) + "\n").encode()
