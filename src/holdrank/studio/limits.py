"""Errors of the studio, in one shape for pages and for JSON, and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from holdrank.errors import HoldrankError, LimitError, MissingExtraError, Option, UsageError, in_spelling

Shape: TypeAlias = dict[str, str]

# The options of readers as the form of the studio labels them.
LABELS = {
    "format": "Form",
    "unlisted": "Unlisted items",
    "delimiter": "Delimiter",
    "encoding": "Encoding",
    "header": "Row of the header",
    "columns": "Columns",
    "item": "Item column",
    "voter": "Voter column",
    "weight": "Weight column",
    "rank": "Rank column",
    "score": "Score column",
    "first": "First item",
    "second": "Second item",
    "winner": "Winner",
    "lower_is_better": "Lower is better",
    "blanks": "Blanks",
    "repeated": "Named twice",
    "both_bad": "Both bad",
    "categories": "Categories",
    "short_rows": "Short rows",
    "sheet": "Sheet",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run of the studio.

    Attributes
    ----------
    upload : int
        Bytes of one request.
    rows : int
        Lines of one file.
    items : int
        Items of one file; pages with more would not be useful.
    kept : int
        Bytes of files and results kept in memory; the oldest are dropped first.
    memory : int
        Bytes of address space of one job.
    seconds : float
        Largest time limit of one job.
    margin : float
        Seconds beyond the time limit, for reading and writing, before a job is killed.
    running, queued : int
        Number of running and of queued jobs.
    patience : float
        Seconds for which a job continues without listeners, such as while a page is reloaded.
    files, claims, comparisons : int
        Number of open files, of claims about one of them, and of comparisons; the oldest are dropped first.
    connections : int
        Number of connections served; some more are asked to retry, all others are closed.
    arrival : float
        Seconds until the head of a request must be there.
    pause, sending : float
        Seconds between two parts of a form, and for all of it.
    arriving : int
        Bytes of all forms that are being read at one time.
    """

    upload: int = 50 * 2**20
    rows: int = 2_000_000
    items: int = 400
    kept: int = 300 * 2**20
    memory: int = 4 * 2**30
    seconds: float = 300.0
    margin: float = 30.0
    running: int = 2
    queued: int = 8
    patience: float = 10.0
    files: int = 60
    claims: int = 60
    comparisons: int = 30
    connections: int = 256
    arrival: float = 10.0
    pause: float = 15.0
    sending: float = 120.0
    arriving: int = 200 * 2**20

    @property
    def upload_text(self) -> str:
        """The largest upload, as people read it."""
        return f"{self.upload / 2**20:.3g} MB"


class StudioError(Exception):
    """An error answer: an HTTP status, a code for programs, and a message."""

    def __init__(
        self, status: int, code: str, message: str, *, place: str = "", repair: str = "", allowed: str = ""
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.place, self.repair = status, code, message, place, repair
        self.allowed = allowed or "GET, HEAD, POST"

    def shape(self) -> Shape:
        """Return the one shape of errors, without its envelope."""
        return {"code": self.code, "message": self.message, "place": self.place, "repair": self.repair}

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer: when to retry, allowed methods, the end of a connection."""
        found = {405: {"allow": self.allowed}, 503: {"retry-after": "5"}}.get(self.status, {})
        return {**found, "connection": "close"} if self.code in ("connections", "headers", "slow") else found

    def envelope(self) -> dict[str, Shape]:
        """Return the JSON of the answer."""
        return {"error": self.shape()}

    @classmethod
    def of_shape(cls, shape: Shape) -> StudioError:
        """Return the error that a worker has sent."""
        return cls(_STATUS.get(shape["code"], 500), **shape)

    @classmethod
    def of(cls, error: HoldrankError) -> StudioError:
        """Convert an error of the library: its place, its message, its fix.

        Examples
        --------
        >>> from holdrank.errors import InputError, Message
        >>> repair = Message("set ", Option("delimiter"))
        >>> error = InputError("the delimiter is unclear", source="a.csv", line=1, repair=repair)
        >>> StudioError.of(error).shape()
        {'code': 'input', 'message': 'the delimiter is unclear', 'place': 'a.csv, line 1', 'repair': 'set “Delimiter”'}
        """
        kinds = ((UsageError, "usage"), (LimitError, "limit"), (MissingExtraError, "missing-extra"))
        code = next((name for kind, name in kinds if isinstance(error, kind)), "input")
        message = "; ".join(filter(None, (in_spelling(error.problem, as_label), error.clues)))
        return cls(_STATUS[code], code, message, place=error.place, repair=in_spelling(error.repair, as_label))


_STATUS = {
    "input": 422,
    "usage": 422,
    "limit": 413,
    "missing-extra": 501,
    "memory": 507,
    "time": 504,
    "internal": 500,
}


def as_label(option: Option) -> str:
    """Return an option of a reader as the form of the studio labels it.

    Examples
    --------
    >>> as_label(Option("format", "battles")), as_label(Option("lower_is_better", True))
    ('“Form” to battles', '“Lower is better” to all')
    """
    if option.name not in LABELS:
        return str(option)
    value = "all" if option.value is True else option.value
    return f"“{LABELS[option.name]}”" if value is None else f"“{LABELS[option.name]}” to {value}"


_SMALLER = "merge equal ballots into a weight column, or use the command line, which has no such limit"


def too_large(limits: Limits) -> StudioError:
    """Return the refusal of a file that is too large."""
    return StudioError(413, "limit", f"the studio takes files of up to {limits.upload_text}", repair=_SMALLER)


def busy(why: str, code: str = "busy") -> StudioError:
    """Return the refusal of a request that can be repeated in a moment."""
    return StudioError(503, code, why, repair="try again in a few seconds")


def check_size(data: bytes, limits: Limits) -> None:
    """Refuse a file that is too large or too long."""
    if len(data) > limits.upload:
        raise too_large(limits)
    rows = data.count(b"\n")
    if rows > limits.rows:
        words = f"the file has {rows:,} lines, and the studio reads up to {limits.rows:,}"
        raise StudioError(413, "limit", words, repair=_SMALLER)
