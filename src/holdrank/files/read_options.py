"""The options of `read_votes`: the format, and how a file of that format is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from holdrank.errors import Message, Option, UsageError
from holdrank.votes.forms.battle_layouts import OUTCOMES
from holdrank.votes.forms.table_options import TableOptions

FORMATS = {
    "preflib": "PrefLib since 2022: .soc .soi .toc .toi .cat",
    "preflib-old": "PrefLib before 2022",
    "positions": "one row per voter; columns rank1, rank2, … hold item names",
    "rank-columns": "one row per voter, one column per item; cells are ranks, 1 is best",
    "score-columns": "one row per voter, one column per item; cells are scores, higher is better",
    "lists": "one row per list: its name, then items, best first",
    "long-ranks": "one row per mark: voter, item, rank",
    "long-scores": "one row per mark: voter (task), item (model), score",
    "score-table": "one row per item, one column per voter (task); cells are scores",
    "battles": "one row per comparison: two items and the winner",
    "pair-counts": "one row per pair: two items, the wins of each, ties",
    "multi-way": "one row per judgement: system1Id, …, system1rank, …",
    "win-matrix": "names in the first row and column; each cell counts the wins of its row",
    "blt": "OpenSTV and ERS: 'n seats', then one ballot per line, 'weight 3 1 2 0', then names",
    "abif": "lines such as 27:A>B=C",
    "scottish": "Scottish councils: 'n,seats', then one ballot per line, 'count,1,3,2', then candidates",
    "pgn": "chess games with the tags White, Black and Result",
    "lolib": "n, then a matrix of n x n numbers",
    "order": "text of numbers: 'n 1', then one voter per line, '0 k id1 … idk'",
    "jsonl": "one JSON object per line",
}
"""The names that `format=` takes, with what they mean."""

_ITEMS = {"only", "drop"}
_ROWS = {"where", "since", "until"}
_TEXT = {"unlisted", "encoding", *_ITEMS}
_CELLS = {"delimiter", "encoding", "header", "short_rows", "sheet", *_ROWS, *_ITEMS}
_GROUPED = _CELLS | {"by"}
_OPTIONS: dict[str, set[str]] = {
    "preflib": _TEXT | {"categories"},
    "preflib-old": _TEXT,
    "order": _TEXT,
    "jsonl": _TEXT | {"repeated"},
    "positions": _GROUPED | {"unlisted", "columns", "weight", "repeated", "blanks"},
    "rank-columns": _GROUPED | {"unlisted", "columns", "voter", "weight", "blanks"},
    "score-columns": _GROUPED | {"unlisted", "columns", "voter", "weight", "blanks", "lower_is_better"},
    "lists": _GROUPED | {"unlisted", "columns", "voter", "weight", "repeated", "blanks"},
    "long-ranks": _GROUPED | {"unlisted", "voter", "item", "rank", "weight", "repeated", "blanks"},
    "long-scores": _CELLS
    | {"by", "unlisted", "voter", "item", "score", "weight", "repeated", "blanks", "lower_is_better"},
    "score-table": _CELLS | {"unlisted", "item", "columns", "repeated", "blanks", "lower_is_better"},
    "battles": _CELLS
    | {"by", "unlisted", "first", "second", "winner", "weight", "both_bad", "voter", "blank_voters", "map"},
    "pair-counts": _CELLS | {"unlisted", "columns"},
    "win-matrix": _CELLS | {"unlisted", "blanks"},
    "blt": _TEXT,
    "abif": _TEXT,
    "scottish": _TEXT,
    "lolib": _TEXT,
    "pgn": {
        *_ROWS,
        *_ITEMS,
        "encoding",
        "unlisted",
        "first",
        "second",
        "winner",
        "weight",
        "both_bad",
        "voter",
        "blank_voters",
        "map",
        "by",
    },
    "multi-way": _GROUPED | {"unlisted", "weight", "repeated", "blanks"},
}


@dataclass(frozen=True, slots=True)
class ReadOptions(TableOptions):
    """All options of `read_votes` on how a file is read, with their defaults; checked on creation."""

    delimiter: str | None = None
    encoding: str | None = None
    header: int | None = None
    categories: Sequence[str | int] | None = None
    short_rows: str = "refuse"
    sheet: str | int | None = None
    where: Sequence[str] | None = None
    since: str | None = None
    until: str | None = None
    only: Sequence[str] | None = None
    drop: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Refuse values of the wrong type here, where the message can name the option."""
        for name in (
            "delimiter",
            "encoding",
            "unlisted",
            "repeated",
            "both_bad",
            "short_rows",
            "blank_voters",
            "since",
            "until",
        ):
            self._expect(name, isinstance(getattr(self, name), str | None), "text")
        self._expect("header", self.header is None or _whole(self.header), "the number of a row, or 0")
        self._expect("sheet", isinstance(self.sheet, str | None) or _whole(self.sheet), "a name or a number")
        for name in ("voter", "weight", "rank", "score", "first", "second", "winner", "by"):
            value = getattr(self, name)
            self._expect(name, value is None or _is_ref(value), "the name of a column, or its position from 1")
        several = "names of columns, or positions from 1"
        for name, what in (("columns", several), ("item", several), ("categories", "names or numbers of categories")):
            value = getattr(self, name)
            refs = [value] if _is_ref(value) else value
            sound = refs is None or (isinstance(refs, Collection) and all(map(_is_ref, refs)))
            self._expect(name, sound, what)
            if refs is not None:  # one name is a list of one, never a list of letters
                object.__setattr__(self, name, list(refs))
        for name in ("where", "only", "drop"):
            value = getattr(self, name)
            texts = [value] if isinstance(value, str) else value
            sound = texts is None or (isinstance(texts, Collection) and all(isinstance(text, str) for text in texts))
            self._expect(name, sound, "texts")
            if texts is not None:
                object.__setattr__(self, name, tuple(texts))
        if self.map is not None:
            object.__setattr__(self, "map", _meanings(self.map))
        for name in ("blanks", "lower_is_better"):
            value = getattr(self, name)
            sound = value is None or (isinstance(value, Collection) and all(map(_is_ref, value)))
            self._expect(
                name, sound or (name == "lower_is_better" and isinstance(value, bool)), "a collection of names"
            )
            if not isinstance(value, str | bool | None):
                object.__setattr__(self, name, tuple(value))

    @classmethod
    def of(cls, caller: str, options: Mapping[str, Any]) -> ReadOptions:
        """Return the options that `caller` was given by name; refuse those that do not exist."""
        unknown = sorted(options.keys() - {field.name for field in fields(cls)})
        if unknown:
            raise UsageError(Message(f"{caller} has no option ", Option(unknown[0])))
        return cls(**options)

    def _expect(self, name: str, sound: bool, what: str) -> None:
        if not sound:
            raise UsageError(Message(Option(name), f" takes {what}, not {getattr(self, name)!r}"))

    def check(self, form: str) -> None:
        """Refuse an option that does not apply to the format: an option without effect would be misleading."""
        given = {field.name for field in fields(self) if getattr(self, field.name) != field.default}
        stray = sorted(given - _OPTIONS[form])
        if stray:
            raise UsageError(Message(Option(stray[0]), f" does not apply to format {form!r} ({FORMATS[form]})"))
        if form in ("battles", "pair-counts", "pgn", "lolib", "win-matrix") and self.unlisted == "bottom":
            raise UsageError(
                Message(Option("unlisted", "bottom"), f" does not apply to {form}: a comparison has only two items")
            )


def _meanings(given: object) -> dict[str, str]:
    """Return the meanings of result codes, from a mapping or from texts such as ``won=first``."""
    texts = [given] if isinstance(given, str) else given
    pairs: dict[str, str] = {}
    if isinstance(texts, Mapping):
        pairs = {str(value): str(meaning) for value, meaning in texts.items()}
    else:
        codes = list(texts) if isinstance(texts, Collection) else [given]
        for code in codes:
            if not (isinstance(code, str) and "=" in code):
                raise UsageError(Message(Option("map"), f" takes codes such as 'won=first', not {code!r}"))
            value, _, meaning = code.rpartition("=")
            pairs[value] = meaning
    strange = next((meaning for meaning in pairs.values() if meaning not in OUTCOMES), None)
    if strange is not None:
        raise UsageError(Message(Option("map"), f" takes one of {', '.join(OUTCOMES)}, not {strange!r}"))
    return {value.strip(): meaning for value, meaning in pairs.items()}


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_ref(value: object) -> bool:
    return isinstance(value, str) or _whole(value)


def check_format(format: str | None) -> None:
    """Refuse an unknown format."""
    if format is not None and not (isinstance(format, str) and format in FORMATS):
        raise UsageError(f"unknown format {format!r}; the formats are {', '.join(FORMATS)}")
