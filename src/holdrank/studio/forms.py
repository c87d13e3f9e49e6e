"""Forms of the studio: which fields they have, how they are read, and what they mean.

A form says how a file is read, what is analysed, or what is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from holdrank.analysis.spec import Spec
from holdrank.errors import UsageError, quote
from holdrank.files.read_options import FORMATS
from holdrank.rules.registry import AUTO, expect_rule, rules
from holdrank.status import DRAWS
from holdrank.studio.guard import check_token
from holdrank.studio.limits import LABELS, Limits, StudioError

if TYPE_CHECKING:
    from starlette.requests import Request

Values = Mapping[str, str]
Uploads = Mapping[str, tuple[str, bytes]]  # a name and the bytes of each file
Choice = tuple[str, str]
Fields = Mapping[str, tuple[str, ...] | None]
"""The fields of a form: the choices of each, none for any text, and `FILE` for a file."""

TEXT: tuple[str, ...] = ()
FILE = None

_UNLISTED = [("", "default of the format"), ("bottom", "tied below all listed ones"), ("observed", "not compared")]
_DELIMITERS = [("", "auto-detected"), (",", "comma"), (";", "semicolon"), ("tab", "tab"), ("|", "pipe")]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form; without choices it takes text."""

    name: str
    hint: str = ""
    choices: tuple[Choice, ...] = ()
    more: bool = False

    @property
    def label(self) -> str:
        """The label of the field."""
        return LABELS[self.name]


FIELDS = (
    Field("format", choices=(("", "auto-detected"), *((name, f"{name}: {text}") for name, text in FORMATS.items()))),
    Field("lower_is_better", "all, or columns (voters, tasks) separated by commas"),
    Field("unlisted", choices=tuple(_UNLISTED)),
    Field("delimiter", choices=tuple(_DELIMITERS)),
    Field("columns", "names or numbers from 1, separated by commas"),
    Field("item", more=True),
    Field("voter", more=True),
    Field("weight", more=True),
    Field("rank", more=True),
    Field("score", more=True),
    Field("first", more=True),
    Field("second", more=True),
    Field("winner", more=True),
    Field("header", "a number; 0 for none", more=True),
    Field("blanks", "texts that mark a missing value, separated by commas", more=True),
    Field("repeated", choices=(("", "refuse"), ("first", "keep the first")), more=True),
    Field("both_bad", choices=(("", "a tie"), ("drop", "leave out")), more=True),
    Field("short_rows", choices=(("", "refuse"), ("fill", "fill with blanks")), more=True),
    Field("categories", "of a .cat file, best first", more=True),
    Field("encoding", "such as latin-1", more=True),
    Field("sheet", "of a workbook: name or number", more=True),
)

OF = ("strict", "tiers")
CHANGES = ("replace", "drop", "add")
RULES = (AUTO, *(rule.name for rule in rules()))

UPLOAD: Fields = {"file": FILE, "text": TEXT, "example": TEXT}
READING: Fields = {field.name: tuple(value for value, _ in field.choices) for field in FIELDS}
SETTINGS: Fields = {
    "rule": RULES,
    "tiers": TEXT,
    "merge": ("downward", "naive", "smith"),
    "k": TEXT,
    "budget": TEXT,
    "draws": TEXT,
    "seed": TEXT,
    "time_limit": TEXT,
}
CLAIM: Fields = {
    "kind": ("text", "above", "top"),
    "claim": TEXT,
    "first": TEXT,
    "second": TEXT,
    "k": TEXT,
    "of": OF,
    "change": CHANGES,
    "time_limit": TEXT,
}
CURVE: Fields = {"of": OF, "time_limit": TEXT}
PAIR: Fields = {"old": FILE, "new": FILE, "old_id": TEXT, "new_id": TEXT, "rule": RULES}


async def read_form(request: Request, token: str, limits: Limits) -> tuple[Values, Uploads]:
    """Return the fields and the files of a form; refuse one without the token of this run."""
    from python_multipart.exceptions import FormParserError
    from starlette.exceptions import HTTPException
    from starlette.formparsers import MultiPartException
    from starlette.requests import ClientDisconnect

    values: dict[str, str] = {}
    sent: dict[str, tuple[str, bytes]] = {}
    try:
        async with request.form(max_files=2, max_fields=60, max_part_size=limits.upload) as form:
            given = request.headers.get("x-holdrank-token") or form.get("token", "")
            check_token(given if isinstance(given, str) else "", token)
            for name, value in form.multi_items():
                if isinstance(value, str):
                    values[name] = value
                elif value.filename:
                    sent[name] = (_label(value.filename), await value.read())
    except (HTTPException, MultiPartException, FormParserError, ClientDisconnect, UnicodeError) as error:
        raise StudioError(400, "form", "the form cannot be read", repair="load the page again and repeat it") from error
    return values, sent


def _label(file_name: str) -> str:
    """Return the last part of the name that a client gives a file: a label, never a path."""
    return PurePath(file_name.replace("\\", "/")).name[:200] or "votes"


def reading_of(values: Values) -> dict[str, Any]:
    r"""Return the arguments of `read_votes` that a form sets; empty fields are auto-detected.

    Examples
    --------
    >>> reading_of({"format": "score-table", "lower_is_better": "all", "columns": "a, 3", "delimiter": "tab"})
    {'format': 'score-table', 'lower_is_better': True, 'delimiter': '\t', 'columns': ['a', '3']}
    """
    found: dict[str, Any] = {}
    for field in FIELDS:
        text = values.get(field.name, "").strip()
        if not text:
            continue
        if field.choices and text not in (READING[field.name] or ()):
            raise UsageError(f"“{field.label}” cannot be {quote(text)}")
        if field.name in ("columns", "categories", "blanks", "lower_is_better"):
            found[field.name] = [part.strip() for part in text.split(",")]
        elif field.name == "item":
            parts = [part.strip() for part in text.split("|")]
            found["item"] = parts if len(parts) > 1 else text
        elif field.name == "header":
            found["header"] = _whole(text, field.label, 0)
        else:
            found[field.name] = "\t" if text == "tab" else text
    if found.get("lower_is_better") == ["all"]:
        found["lower_is_better"] = True
    return found


def spec_of(values: Values, limits: Limits) -> dict[str, Any]:
    """Return the checked settings of an analysis, as the arguments of `Spec`.

    Examples
    --------
    >>> spec_of({"tiers": "0.05", "budget": "2", "k": "3"}, Limits())["budget"]
    0.02
    """
    tiers = values.get("tiers", "auto").strip() or "auto"
    k, budget = values.get("k", "").strip(), values.get("budget", "").strip()
    spec: dict[str, Any] = {
        "rule": values.get("rule", AUTO),
        "theta": None if tiers == "none" else tiers if tiers == "auto" else _number(tiers, "Threshold"),
        "merge": values.get("merge", "downward"),
        "k": _whole(k, "Cut", 1) if k else None,
        "budget": _number(budget, "Votes that may change") / 100 if budget else None,
        "draws": _whole(values.get("draws", "").strip() or str(DRAWS), "Draws", 0),
        "seed": _whole(values.get("seed", "").strip() or "0", "Seed", 0),
        "time_limit": seconds_of(values, "40", limits),
    }
    if spec["draws"] > 20_000:
        raise UsageError("“Draws” takes at most 20,000")
    Spec(**spec)  # refuses invalid values
    return spec


def claim_of(values: Values, items: Sequence[str]) -> dict[str, Any]:
    """Return a claim as text, its subject, and the type of change.

    A pair is chosen by the numbers of its items, because a form may not return every name unchanged.

    Examples
    --------
    >>> found = claim_of({"kind": "above", "first": "1", "second": "0"}, ["a", "b"])
    >>> found["claim"], found["pair"]
    ('b above a', [1, 0])
    """
    kind = values.get("kind", "text")
    pair = None
    if kind == "above":
        pair = [_whole(values.get(name, "").strip(), "Pair", 0) for name in ("first", "second")]
        if max(pair) >= len(items):
            raise UsageError(f"there are only {len(items)} items; load the page again and choose two")
        claim = f"{items[pair[0]]} above {items[pair[1]]}"
    elif kind == "top":
        claim = f"top {_whole(values.get('k', '').strip() or '1', 'Places', 1)}"
    else:
        claim = values.get("claim", "").strip()
    change = values.get("change", "replace")
    if change not in CHANGES:
        raise UsageError(f"votes can be replaced, dropped or added, not {quote(change)}")
    of = values.get("of", "strict")
    if of not in OF:
        raise UsageError(f"a claim is about the strict ranking or the tiers, not {quote(of)}")
    if not claim:
        raise UsageError("there is no claim; write one, such as 'A above B'")
    return {"claim": claim, "pair": pair, "change": change, "of": of}


def seconds_of(values: Values, default: str, limits: Limits) -> float:
    """Return the time limit of a job: the requested one, but at most that of all jobs."""
    return min(_number(values.get("time_limit", "").strip() or default, "Seconds"), limits.seconds)


def rule_of(values: Values) -> str:
    """Return the name of a rule; refuses unknown ones."""
    rule = values.get("rule", AUTO)
    expect_rule(rule)
    return rule


def _number(text: str, label: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"“{label}” takes a number, not {quote(text)}") from None
    if not 0 <= value < 1e9:
        raise UsageError(f"“{label}” takes a number, 0 or more, not {quote(text)}")
    return value


def _whole(text: str, label: str, least: int) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or int(text) < least:
        raise UsageError(f"“{label}” takes a whole number, {least} or more, not {quote(text)}")
    return int(text)
