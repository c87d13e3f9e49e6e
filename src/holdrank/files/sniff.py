"""What form a file has, told from its text and the names and cells of its table; never a silent guess."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, quote
from holdrank.files.preflib import TYPES
from holdrank.tables.ballots import columns_of_items, long_columns, position_columns, slot_columns
from holdrank.tables.battles import battle_columns, pair_count_columns
from holdrank.tables.table import Problems, Ref, Table, named_like
from holdrank.tables.vocabulary import BLANKS, ITEM_NAMES, WEIGHT_NAMES, plain

_PREFLIB_KEY = re.compile(
    r"#[ \t]*(FILE NAME|TITLE|DATA TYPE|NUMBER (ALTERNATIVES|VOTERS)|ALTERNATIVE NAME [0-9]+):", re.IGNORECASE
)
_WEB_PAGE = re.compile(r"<(!doctype|html|head|body|table|\?xml|!--)", re.IGNORECASE)


def text_form(text: str, extension: str, source: str) -> tuple[str, str]:
    """Return the form of a text and the reason: a PrefLib format, ``order``, ``jsonl``, or ``table``."""
    lines = text[:20_000].lstrip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = lines[0].strip()
    second = lines[1].strip() if len(lines) > 1 else ""
    if _WEB_PAGE.match(first):
        raise InputError(
            "this is a web page or XML, not votes",
            source=source,
            line=1,
            found=first,
            expected="votes as text",
            repair="download the file itself rather than the page that shows it",
        )
    if extension in (".wmd", ".dat"):
        raise InputError(
            f"a {extension} file holds no votes",
            source=source,
            line=1,
            found=first,
            expected="a file of type soc, soi, toc, toi, cat or csv",
            repair="look for the .soc, .soi, .toc, .toi or .cat file of the same data set, or set format=",
        )
    named = extension.lstrip(".") in TYPES
    if first.startswith("#") and (named or any(_PREFLIB_KEY.match(line) for line in lines[:50])):
        return "preflib", "header lines that start with #"
    if re.fullmatch(r"[0-9]+", first) and (named or re.match(r"[0-9]+[ \t]*,", second)):
        return "preflib-old", "the number of items alone on the first line"
    if named:
        return "preflib", f"the extension {extension}"
    if extension == ".order" or (
        re.fullmatch(r"[0-9]+[ \t]+[0-9]+", first) and re.fullmatch(r"0([ \t]+[0-9]+)+", second)
    ):
        return "order", "two numbers on the first line, orders of numbers below"
    if extension in (".jsonl", ".ndjson") or first.startswith(("{", "[")):
        return "jsonl", "JSON objects"
    return "table", "text in columns"


def looks_like_lists(names: Sequence[str]) -> bool:
    """Whether a header reads ``name, 1, 2, …, k``: the sign of one list a row."""
    if len(names) < 3 or plain(names[0]) in WEIGHT_NAMES:
        return False
    return [name.strip() for name in names[1:]] == [str(k) for k in range(1, len(names))]


def named_form(table: Table) -> tuple[str, str] | None:
    """Return the form that the names of the columns tell, and the reason; None if they tell nothing."""
    counts = pair_count_columns(table)
    if counts is not None:
        return "pair-counts", _columns(table, counts)
    battle = battle_columns(table)
    if battle is not None:
        return "battles", _columns(table, [battle.first, battle.second, *battle.result])
    slots = slot_columns(table)
    if slots is not None:
        return "multi-way", _columns(table, [k for slot in slots for k in slot])
    places = position_columns(table)
    if places is not None:
        return "positions", _columns(table, places)
    if looks_like_lists(table.names):
        return "lists", f"columns numbered 1 to {len(table.names) - 1}"
    for scores in (False, True):
        found = long_columns(table, scores)
        if found is not None:
            voter, key, mark = found
            return "long-scores" if scores else "long-ranks", _columns(table, [voter, *key, mark])
    return None


def _columns(table: Table, used: Sequence[int]) -> str:
    names = ", ".join(table.label(k) for k in used[:6])
    return f"columns {names}{', …' if len(used) > 6 else ''}"


def table_form(
    table: Table,
    *,
    columns: Sequence[Ref] | None = None,
    item: Ref | Sequence[Ref] | None = None,
    voter: Ref | None = None,
    weight: Ref | None = None,
    rank: Ref | None = None,
    score: Ref | None = None,
    first: Ref | None = None,
    winner: Ref | None = None,
    blanks: Collection[str] = BLANKS,
) -> tuple[str, str]:
    """Return the form of a table and the reason, or refuse where two are equally plausible."""
    for given, form, option in (
        (winner, "battles", "winner"),
        (first, "battles", "first"),
        (rank, "long-ranks", "rank"),
        (score, "long-scores", "score"),
    ):
        if given is not None:
            return form, f"the option {option}="
    if columns is None and item is None and voter is None:
        told = named_form(table)
        if told is not None:
            return told
    elif item is not None and columns is None:
        for scores, form in ((False, "long-ranks"), (True, "long-scores")):
            if long_columns(table, scores, voter, item) is not None:
                return form, "the option item="
    if item is not None:
        return "score-table", "the option item="
    weights = [table.find(weight, "weight")] if weight is not None else named_like(table, WEIGHT_NAMES)[:1]
    if voter is None and plain(table.names[0]) in ITEM_NAMES:
        return "score-table", f"the first column is called {quote(table.names[0], 30)}"
    used = columns_of_items(table, columns, voter, weights[0] if weights else None)
    if columns is None:
        nameless = next((k for k in used if not table.names[k].strip()), None)
        if nameless is not None:
            raise _no_name(table, nameless)
        text = [k for k in used if not table.is_numeric(k, blanks) and _filled(table, k)]
        if text:
            raise _unclear(table, text[0])
    return _ranks_or_scores(table, used, blanks)


def _filled(table: Table, column: int) -> bool:
    return any(cell.strip() for cell in table.text(column))


def _no_name(table: Table, column: int) -> InputError:
    return InputError(
        f"column {column + 1} has no name",
        source=table.source,
        column=column + 1,
        found=table.names[column],
        expected="a name in the header",
        repair="set header= to the row of the names, or choose columns by position with columns=",
    )


def _unclear(table: Table, text: int) -> InputError:
    """Refuse a table whose names tell nothing and that holds text, with the repair that fits best."""
    cells = table.text(text)
    row = next(k for k, cell in enumerate(cells) if cell.strip() and cell.strip() not in BLANKS)
    if text == 0 and all(table.is_numeric(k) for k in range(1, len(table.names))):
        repair = (
            'set format="score-table" if a row is an item, or voter= and format="rank-columns" '
            'or "score-columns" if a row is a voter'
        )
    else:
        repair = "set format= and name the columns to use, such as columns=, item=, voter=, rank="
    return InputError(
        "the form of the table is not clear: a column holds text, and its name tells nothing",
        source=table.source,
        line=table.lines[row],
        column=table.label(text),
        found=cells[row],
        expected="a form of vote file, such as model_a, model_b, winner or rank1, rank2 or voter, item, rank",
        repair=repair,
    )


def _ranks_or_scores(table: Table, used: Sequence[int], blanks: Collection[str]) -> tuple[str, str]:
    ignore = Problems(strict=False)  # faulty cells are reported by the reader itself
    values = np.column_stack([table.numbers(k, ignore, blanks=blanks) for k in used])
    verdict = rank_evidence(values)
    if verdict == "ranks":
        return "rank-columns", "every row holds ranks from 1"
    if verdict == "scores":
        return "score-columns", "the cells cannot be ranks"
    raise InputError(
        "the cells may be ranks (1 is best) or scores (high is best)",
        source=table.source,
        line=table.lines[0],
        found=", ".join(table.text(k)[0] for k in used[:20]),
        expected="rows that only one of the two readings fits",
        repair='set format="rank-columns" or format="score-columns"',
    )


def rank_evidence(values: NDArray[np.float64]) -> str | None:
    """Return ``"ranks"`` or ``"scores"`` where the rows prove it, else None.

    Ranks: every row is 1..k, with ties numbered as in competitions (1, 1, 3) or by their mean (1.5, 1.5, 3), or
    lacks some of 1..n without ties. Scores: a number below 1, above n or no half, or a full row that is no way to
    number a ranking.

    Examples
    --------
    >>> rank_evidence(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]))
    'ranks'
    >>> rank_evidence(np.array([[0.0, 5.0, 3.0]]))
    'scores'
    >>> rank_evidence(np.array([[1.0, 1.0, 2.0]])) is None
    True
    """
    n = values.shape[1]
    filled = ~np.isnan(values)
    values, filled = values[filled.any(axis=1)], filled[filled.any(axis=1)]
    marks = values[filled]
    if not len(marks):
        return None
    if (marks < 1).any() or (marks > n).any() or (marks * 2 % 1 != 0).any():
        return "scores"
    ordered = np.sort(values, axis=1)
    there = np.sort(~filled, axis=1) == 0
    place = np.broadcast_to(np.arange(1, n + 1), ordered.shape)
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    lowest = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    last = np.ones(ordered.shape, dtype=bool)
    last[:, :-1] = new[:, 1:]
    highest = np.minimum.accumulate(np.where(last, place, n)[:, ::-1], axis=1)[:, ::-1]
    dense = np.cumsum(new, axis=1)

    def fits(ranks: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(((ordered == ranks) | ~there).all(axis=1))

    full = there.all(axis=1)
    sure = fits(lowest.astype(float)) | fits((lowest + highest) / 2)
    holed = ~full & ((new & (ordered % 1 == 0)) | ~there).all(axis=1)
    maybe = sure | holed | fits(dense.astype(float)) | fits(highest.astype(float))
    if (full & ~maybe).any():
        return "scores"
    return "ranks" if sure.any() and (sure | holed).all() else None
