"""Everything open in one run of the studio: files, claims about them, comparisons; all in memory."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, TypeVar

from holdrank.analysis.records import Record
from holdrank.studio.jobs import Job, Jobs
from holdrank.studio.limits import Limits, StudioError, check_size


def _new_id() -> str:
    return secrets.token_urlsafe(9)


@dataclass(eq=False)
class Opened:
    """A file, how it is read, and its results."""

    name: str
    data: bytes
    reading: dict[str, Any] = field(default_factory=dict)
    form: dict[str, str] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=_new_id)
    job: Job | None = None
    curve: Job | None = None
    claims: list[Asked] = field(default_factory=list)
    drawn: dict[str, tuple[Record, str, str]] = field(default_factory=dict)  # pictures, and what they show

    @property
    def size(self) -> int:
        """Approximate bytes of the file, of its results, and of its pictures."""
        return len(self.data) + sum(job.size for job in self.jobs) + sum(len(svg) for _, svg, _ in self.drawn.values())

    @property
    def told(self) -> Record:
        """The results of the analysis so far."""
        return {} if self.job is None else self.job.told

    @property
    def problem(self) -> StudioError | None:
        """The error of reading or analysing, if any; a time limit is not an error if there are results."""
        if self.job is None or (self.job.state == "out of time" and "record" in self.told):
            return None
        return self.job.problem

    @property
    def record(self) -> Record | None:
        """The record so far, with the requested curve instead of the shorter one."""
        record: Record | None = self.told.get("record")
        drawn = None if self.curve is None else self.curve.told.get("curve")
        if record is None or drawn is None:
            return record
        others = [curve for curve in record["curves"] if curve["statistic"] != drawn["statistic"]]
        return {**record, "curves": [drawn, *others]}

    @property
    def jobs(self) -> list[Job]:
        """All jobs that are about this file."""
        return [job for job in (self.job, self.curve, *(claim.job for claim in self.claims)) if job is not None]

    @property
    def content(self) -> int:
        """A number that changes with what pages show."""
        return sum(job.content + (100_000 if job.over else 0) for job in self.jobs)


@dataclass(eq=False)
class Asked:
    """A claim about a file, and the job that answers it."""

    about: Opened
    claim: str
    of: str
    change: str
    job: Job
    id: str = field(default_factory=_new_id)

    @property
    def answer(self) -> Record | None:
        """Whether it holds, and the smallest attack; None until it is known."""
        answer: Record | None = self.job.told.get("answer")
        return answer


@dataclass(eq=False)
class Compared:
    """Two files side by side, and the job that compares them."""

    old: Opened
    new: Opened
    rule: str
    job: Job
    id: str = field(default_factory=_new_id)


class Shelf:
    """Everything that is open, oldest first."""

    def __init__(self, limits: Limits, jobs: Jobs) -> None:
        self.limits, self.jobs = limits, jobs
        self.opened: dict[str, Opened] = {}
        self.asked: dict[str, Asked] = {}
        self.compared: dict[str, Compared] = {}

    def put(self, name: str, data: bytes) -> Opened:
        """Store a file; the oldest are dropped if there is no room."""
        check_size(data, self.limits)
        for old in list(self.opened.values()):
            room = sum(one.size for one in self.opened.values()) + len(data) <= self.limits.kept
            if room and len(self.opened) < self.limits.files:
                break
            self.close(old)
        opened = Opened(name, data)
        self.opened[opened.id] = opened
        return opened

    def ask(self, claim: Asked) -> None:
        """Store a claim; the oldest ones about the same file are dropped if there are too many."""
        claims = claim.about.claims
        while len(claims) >= self.limits.claims:
            old = claims.pop(0)
            self.asked.pop(old.id, None)
            self.jobs.forget(old.job)
        claims.append(claim)
        self.asked[claim.id] = claim

    def compare(self, pair: Compared) -> None:
        """Store a comparison; the oldest ones are dropped if there are too many."""
        while len(self.compared) >= self.limits.comparisons:
            old = self.compared.pop(next(iter(self.compared)))
            self.jobs.forget(old.job)
        self.compared[pair.id] = pair

    def close(self, opened: Opened) -> None:
        """Drop a file and everything about it."""
        self.opened.pop(opened.id, None)
        for one in opened.claims:
            self.asked.pop(one.id, None)
        for pair in [pair for pair in self.compared.values() if opened in (pair.old, pair.new)]:
            self.compared.pop(pair.id)
            self.jobs.forget(pair.job)
        for job in opened.jobs:
            self.jobs.forget(job)

    def votes(self, id: str) -> Opened:
        """Return a file; refuses unknown names."""
        return _find(self.opened, id)

    def claim(self, id: str) -> Asked:
        """Return a claim; refuses unknown names."""
        return _find(self.asked, id)

    def comparison(self, id: str) -> Compared:
        """Return a comparison; refuses unknown names."""
        return _find(self.compared, id)


T = TypeVar("T")


def _find(shelf: dict[str, T], id: str) -> T:
    try:
        return shelf[id]
    except KeyError:
        raise StudioError(
            404,
            "not-found",
            "this file is not open, or no longer open",
            repair="open the file again from the first page",
        ) from None
