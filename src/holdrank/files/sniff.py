"""What form a file has, told from its text and the names and cells of its table; never a silent guess."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, quote, show
from holdrank.files.preflib import TYPES
from holdrank.tables.ballots import columns_of_items, long_columns, position_columns, slot_columns
from holdrank.tables.battles import battle_columns, pair_count_columns
from holdrank.tables.scores import find_key
from holdrank.tables.table import Problems, Ref, Table, is_number, no_name, weight_column
from holdrank.tables.vocabulary import (
    BLANKS,
    FIRST_ITEM_NAMES,
    ITEM_NAMES,
    LOW_WORDS,
    NO_ITEM_NAMES,
    NO_SCORE_NAMES,
    NUMBERING_NAMES,
    VAGUE_ITEM_NAMES,
    WEIGHT_NAMES,
    plain,
)

LARGE_TEXT = 16 << 20
LARGE_PARQUET = 2 << 20
"""Bytes from which a file is counted by DuckDB: above, that is sooner done than holding its rows in memory."""

_PREFLIB_KEY = re.compile(
    r"#[ \t]*(FILE NAME|TITLE|DATA TYPE|NUMBER (ALTERNATIVES|VOTERS)|ALTERNATIVE NAME [0-9]+):", re.IGNORECASE
)
_MOST_COLUMNS = 2000  # beyond, no column is tried as one that is no item
_SAMPLE = 256  # rows that are looked at before all others
_MOST_VOTERS = 64  # beyond, no column is tried as one that is no voter
_WEB_PAGE = re.compile(r"<(!doctype|html|head|body|table|\?xml|!--)", re.IGNORECASE)


def is_pattern(source: object) -> bool:
    """Whether a source is a pattern for the names of files, rather than the name of one."""
    return (
        isinstance(source, str | os.PathLike)
        and isinstance(text := os.fspath(source), str)
        and bool(set("*?[") & set(text))
        and not os.path.lexists(text)
    )


def is_large(source: object) -> bool:
    """Whether votes should be counted by DuckDB: a pattern for several files, or one large file."""
    if is_pattern(source):
        return True
    if not isinstance(source, str | os.PathLike) or source == "-":
        return False
    try:
        size = os.stat(source).st_size
        if size < min(LARGE_TEXT, LARGE_PARQUET):
            return False
        with open(source, "rb") as file:
            return size >= (LARGE_PARQUET if file.read(4) == b"PAR1" else LARGE_TEXT)
    except (OSError, ValueError):
        return False  # the reader says what is wrong


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


def is_json_lines(text: str, extension: str) -> bool:
    """Whether a text is made of JSON objects, by its name or by its first line."""
    if extension in (".jsonl", ".ndjson"):
        return True
    first = text.lstrip()[:1]
    if first != "{":
        return False
    import json

    try:
        return isinstance(json.loads(text.lstrip().replace("\r", "\n").split("\n", 1)[0]), dict)
    except (ValueError, RecursionError):
        return False


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
            names = table.text(voter) if table.rows else []  # a writer asks about a header alone
            if len(names) > 1 and len(set(names)) == len(names) and all(name.strip() for name in names):
                raise InputError(
                    "no voter gives more than one mark, so nothing is compared",
                    source=table.source,
                    line=table.lines[1],
                    column=table.label(voter),
                    found=names[1],
                    expected="the same voter on several rows",
                    repair="name the column of the voter with voter=, or set format= if a row is something else",
                )
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
    directed: bool = False,
) -> tuple[str, str]:
    """Return the form of a table and the reason, or refuse where two are equally plausible.

    `directed` says that the caller has told where low scores are good: then the cells of a score table are scores.
    """
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
        key = find_key(table, item)
        _check_voters(table, key, columns, blanks, directed)
        if not directed:
            _check_score_table(table, key, columns, blanks, shape_known=True)
        return "score-table", "the option item="
    names = item_column(table, blanks) if voter is None else None
    if names is not None:
        _check_voters(table, range(names + 1), columns, blanks, directed)
        if not directed:
            ranked = any(plain(table.names[k]) == "rank" for k in range(names))  # people are numbered, not ranked
            _check_score_table(table, range(names + 1), columns, blanks, shape_known=ranked, numbered=names > 0)
        which = "first column is" if names == 0 else "column of the items is"
        return "score-table", f"the {which} called {quote(table.names[names], 30)}"
    weights = weight_column(table, weight)
    used = columns_of_items(table, columns, voter, weights)
    if columns is None:
        nameless = next((k for k in used if not table.names[k].strip()), None)
        if nameless is not None:
            raise no_name(table, nameless)
        text = [k for k in used if not table.is_numeric(k, blanks) and _filled(table, k)]
        if text:
            raise _unclear(table, text[0], blanks)
        odd = next((k for k in used if plain(table.names[k]) in NO_SCORE_NAMES), None)
        return _ranks_or_scores(table, used, used, blanks, odd)
    # The columns left out tell as much: three of a voter's four ranks look like anything.
    every = [k for k in columns_of_items(table, None, voter, weights) if table.names[k].strip() and k not in used]
    return _ranks_or_scores(table, used, [*used, *(k for k in every if table.is_numeric(k, blanks))], blanks)


def item_column(table: Table, blanks: Collection[str] = BLANKS) -> int | None:
    """Return the column whose name says that a row is an item: the first, but for columns that number the rows."""
    for k, name in enumerate(map(plain, table.names)):
        if name in (FIRST_ITEM_NAMES if k == 0 else ITEM_NAMES):
            return k
        if k == 0 and name in VAGUE_ITEM_NAMES and _names_before_decimals(table, blanks):
            return 0
        if name not in NUMBERING_NAMES or not table.is_numeric(k, blanks):
            return None
    return None


def _names_before_decimals(table: Table, blanks: Collection[str]) -> bool:
    """Whether the first column holds text, all different, and the others numbers, not all of them whole."""
    others = range(1, len(table.names))
    names = table.text(0)
    if not others or table.is_numeric(0, ()) or not all(map(str.strip, names)) or len(set(names)) < len(names):
        return False
    if not all(table.is_numeric(k, blanks) and table.names[k].strip() for k in others):
        return False
    values = _matrix(table, others, blanks)
    return bool((values[~np.isnan(values)] % 1 != 0).any())


def _unlike_the_others(table: Table, used: Sequence[int], blanks: Collection[str]) -> int | None:
    """Return a column of numbers that hardly are scores of an item, such as a running number or a year."""
    values = _matrix(table, used, blanks)
    rows, width = values.shape
    if rows < 2 or width < 3:
        return None
    ordered = np.sort(values, axis=0)
    repeats = (ordered[1:] == ordered[:-1]).any(axis=0)
    if rows >= 5 and repeats.sum() == width - 1:
        lone = int(np.flatnonzero(~repeats)[0])
        if (values[:, lone] % 1 == 0).all():
            return used[lone]
    full = ~np.isnan(values).any(axis=0)
    lows = np.where(full, np.where(full, values, 0).min(axis=0), -np.inf)
    lone = int(lows.argmax())
    rest = np.delete(values, lone, axis=1)
    # Far above the scale of all others: a favourite of everybody stands at the top of the same scale.
    if not np.isnan(rest).all() and lows[lone] / 2 > max(np.nanmax(rest), 0):
        return used[lone]
    return None


def _check_voters(
    table: Table, key: Sequence[int], columns: Sequence[Ref] | None, blanks: Collection[str], directed: bool
) -> None:
    """Refuse columns of a score table that would be voters only for want of a better reading."""
    if columns is not None:
        return
    used = [k for k in range(len(table.names)) if k not in key and table.is_numeric(k, blanks)]
    if not directed:
        low = next((k for k in used if LOW_WORDS & set(plain(table.names[k]).split("_"))), None)
        if low is not None:
            raise InputError(
                "low numbers may be the good ones in a column, and high ones would win",
                source=table.source,
                column=table.label(low),
                found=table.text(low)[0],
                expected="columns whose direction is known",
                repair=f'set lower_is_better="{show(table.names[low], 30)}" if low is good there, or name the columns '
                "of the voters with columns=",
            )
    odd = next((k for k in used if plain(table.names[k]) in NO_ITEM_NAMES - LOW_WORDS), None)
    if odd is not None:
        raise InputError(
            "a column may be no voter, and its numbers would be scores",
            source=table.source,
            column=table.label(odd),
            found=table.text(odd)[0],
            expected="columns of voters",
            repair="name the columns of the voters with columns=",
        )
    names = {cell.strip() for cell in table.text(key[-1])}
    if len(used) > 1 and names == {table.names[k].strip() for k in used}:
        raise InputError(
            "the columns have the names of the items: this is a table of wins, not of scores",
            source=table.source,
            found=", ".join(table.names[k] for k in used[:12]),
            expected="one voter a column",
            repair="write one pair a row with the columns i, j, wins_i, wins_j, or name the columns with columns= "
            "if they are voters",
        )


def _filled(table: Table, column: int) -> bool:
    return any(cell.strip() for cell in table.text(column))


def _unclear(table: Table, text: int, blanks: Collection[str]) -> InputError:
    """Refuse a table whose names tell nothing and that holds text, with the repair that fits best."""
    cells = table.text(text)
    bare = [cell.strip() for cell in cells]
    filled = [k for k, cell in enumerate(bare) if cell and cell not in blanks and cell.lower() != "nan"]
    row = next((k for k in filled if not is_number(bare[k])), filled[0] if filled else 0)
    if text == 0 and all(table.is_numeric(k) for k in range(1, len(table.names))):
        repair = (
            'set format="score-table" if a row is an item, or voter= and format="rank-columns" '
            'or format="score-columns" if a row is a voter'
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


def _matrix(table: Table, used: Sequence[int], blanks: Collection[str]) -> NDArray[np.float64]:
    ignore = Problems(strict=False)  # faulty cells are reported by the reader itself
    values = np.column_stack([table.numbers(k, ignore, blanks=blanks) for k in used])
    return np.where(np.isfinite(values), values, np.nan)


def _ranks_or_scores(
    table: Table, used: Sequence[int], every: Sequence[int], blanks: Collection[str], odd: int | None = None
) -> tuple[str, str]:
    """Tell ranks from scores by the columns in use; what all columns say must agree.

    The column `odd` has a name that no item has; among ranks it is one all the same, for it holds ranks.
    """
    verdict = rank_evidence(_matrix(table, used, blanks))
    if len(every) > len(used) and verdict != rank_evidence(_matrix(table, every, blanks)):
        verdict = None
    if verdict == "ranks":
        return "rank-columns", "every row holds ranks from 1"
    if verdict == "scores":
        if odd is None and len(every) == len(used):
            odd = _unlike_the_others(table, used, blanks)
        if odd is None:
            return "score-columns", "the cells cannot be ranks"
        raise InputError(
            "a column may be no item, and its numbers would be scores",
            source=table.source,
            column=table.label(odd),
            found=table.text(odd)[0],
            expected="columns of items",
            repair='name the columns of the items with columns=, and set format="score-columns" or '
            'format="rank-columns"',
        )
    values = _matrix(table, every, blanks)
    forms = 'set format="rank-columns" or format="score-columns"'
    if odd is not None or (not may_be_ranks(values) and may_be_ranks(values, spare=True)):
        forms = f"name the columns of the items with columns=, for one may be no item, and {forms}"
    raise InputError(
        "the cells may be ranks (1 is best) or scores (high is best)",
        source=table.source,
        line=table.lines[0],
        found=", ".join(table.text(k)[0] for k in used[:20]),
        expected="rows that only one of the two readings fits",
        repair=forms,
    )


def _check_score_table(
    table: Table,
    key: Sequence[int],
    columns: Sequence[Ref] | None,
    blanks: Collection[str],
    *,
    shape_known: bool,
    numbered: bool = False,
) -> None:
    """Refuse a table of items whose cells may as well be ranks, down its columns or (unless known) along its rows.

    Numbers that merely differ prove nothing here, as they do on ballots: benchmark scores seldom repeat.
    With `numbered` the last column of `key` names the items, and those before it number the rows.
    """
    used = (
        [k for k in range(len(table.names)) if k not in key] if columns is None else table.find_all(columns, "columns")
    )
    used = [k for k in used if _filled(table, k)]
    if not used or not all(table.is_numeric(k, blanks) and table.names[k].strip() for k in used):
        return  # the reader says what is wrong
    values = _matrix(table, used, blanks)
    marks = values[~np.isnan(values)]
    people = not shape_known and len(used) > 1 and plain(table.names[key[-1]]) == "name"
    people = people and bool(((marks % 1 == 0) & (marks >= 0) & (marks <= 10)).all())
    if np.isin(marks, (0, 1)).all() and not people:
        return  # passed or failed: high is best
    # One column may be something else: a total, a year.
    parts = [np.delete(values, k, axis=1) for k in range(len(used))] if 2 < len(used) <= _MOST_VOTERS else []
    down = any(may_be_ranks(part.T, strict=True) for part in (values, *parts)) or _parts_of_rankings(values)
    along = not shape_known and len(used) > 1 and may_be_ranks(values, strict=True)
    low = ", and lower_is_better=True if low is best"
    table_of = 'format="score-table"'
    if numbered:
        table_of = f'item="{show(table.names[key[-1]], 30)}", columns= and {table_of}'
    voter = f'voter="{show(table.names[key[-1]], 30)}"' if not numbered else "columns="
    if along:
        raise InputError(
            "a row may be an item with its scores, or a voter with ranks",
            source=table.source,
            line=table.lines[0],
            found=", ".join(table.text(k)[0] for k in (*key, *used[:20])),
            expected="rows that only one of the two readings fits",
            repair=f"set {table_of} if a row is an item{low if down else ''}, or "
            f'{voter} and format="rank-columns" if a row is a voter',
        )
    if down:
        raise InputError(
            "the columns may hold ranks (1 is best) or scores (high is best)",
            source=table.source,
            column=table.label(used[0]),
            found=", ".join(table.text(used[0])[:20]),
            expected="columns that only one of the two readings fits",
            repair=f"set {table_of}{low}",
        )
    if people:
        raise InputError(
            "a row may be a thing with the marks that people gave it, or a person with marks for things",
            source=table.source,
            line=table.lines[0],
            column=table.label(key[-1]),
            found=table.text(key[-1])[0],
            expected="a first column whose name tells what a row is, such as item or voter",
            repair=f'set {table_of} if a row is an item, or {voter} and format="score-columns" if a row is a voter',
        )


def _parts_of_rankings(values: NDArray[np.float64]) -> bool:
    """Whether the columns look like rankings of which the table shows a part: no repeats, mostly from 1."""
    if values.shape[1] < 2 or values.shape[0] < 3 or not _all_differ(values.T):
        return False
    return bool(2 * (np.nanmin(values, axis=0) == 1).sum() > values.shape[1])


def rank_evidence(values: NDArray[np.float64]) -> str | None:
    """Return ``"ranks"`` or ``"scores"`` where the rows prove it, else None.

    Ranks: every row is 1..k, with ties numbered as in competitions (1, 1, 3) or by their mean (1.5, 1.5, 3), or
    lacks some of 1..n without ties. Scores: rows that are no way to number a ranking, not even (`may_be_ranks`)
    if ranks count from 0, if the lowest or highest number means "unlisted", or if one column is no item; and some
    row repeats a number, for whole numbers that all differ may be ranks of which the table shows a part. Nothing
    but 0 and 1 over three items or more are scores too: whether or not an item was chosen.

    Examples
    --------
    >>> rank_evidence(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]))
    'ranks'
    >>> rank_evidence(np.array([[5.0, 5.0, 4.0, 0.0]])), rank_evidence(np.array([[0.25, 0.5]]))
    ('scores', 'scores')
    >>> [rank_evidence(np.array([row])) for row in ([1.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2001.0, 1.0, 2.0])]
    [None, None, None]
    """
    values = values[~np.isnan(values).all(axis=1)]
    if not len(values):
        return None
    full = ~np.isnan(values).any(axis=1)
    sure, holed, loose = _rank_rows(values)
    if sure.any() and (sure | holed).all():
        return "ranks"
    marks = values[~np.isnan(values)]
    if values.shape[1] > 2 and np.isin(marks, (0, 1)).all():
        return "scores"
    inside = (marks >= 1) & (marks <= values.shape[1]) & (marks % 0.5 == 0)
    if inside.all() and not (full & ~(sure | holed | loose)).any():
        return None
    if _all_differ(values) or _all_differ(_without(values, low=True, high=False)) or may_be_ranks(values, spare=True):
        return None
    return "scores"


def may_be_ranks(values: NDArray[np.float64], *, spare: bool = False, strict: bool = False) -> bool:
    """Whether all rows may be ranks, however they are numbered; with `spare` one column may be no item.

    Ties may have any usual number (1, 1, 2 as well), ranks may count from 0, and the lowest number, if below 1, and
    the highest, if above n, may stand for "unlisted". Where other signs speak for scores, be `strict`: some row
    must then rank two items, and two items are too few to see a number that stands for "unlisted".

    Examples
    --------
    >>> may_be_ranks(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])), may_be_ranks(np.array([[1.0, 99.0, 99.0]]))
    (True, True)
    >>> may_be_ranks(np.array([[5.0, 5.0, 4.0, 0.0]]))
    False
    """
    least = 2 if strict else 1
    signs = (
        ((False, False),)
        if strict and values.shape[1] < 3
        else ((False, False), (True, False), (False, True), (True, True))
    )
    for low, high in signs:
        bare = _without(values, low=low, high=high)
        for ranks, enough in ((bare, least), (bare + 1, 2)):  # from 1, or from 0: a lone 0 tells nothing
            if _fits(ranks, enough) or (spare and not high and _fits_without_one(ranks)):
                return True
    return False


def _without(values: NDArray[np.float64], *, low: bool, high: bool) -> NDArray[np.float64]:
    """Take the lowest number for a blank if it is below 1, and the highest if it is above n; both are whole."""
    marks = values[~np.isnan(values)]
    out = values.copy()
    if low and len(marks) and marks.min() < 1 and marks.min() % 1 == 0:
        out[values == marks.min()] = np.nan
    if high and len(marks) and marks.max() > values.shape[1] and marks.max() % 1 == 0:
        out[values == marks.max()] = np.nan
    return out


def _all_differ(values: NDArray[np.float64]) -> bool:
    """Whether the marks are whole numbers and no row repeats one."""
    ordered = np.sort(values, axis=1)
    return bool((ordered[~np.isnan(ordered)] % 1 == 0).all() and (ordered[:, 1:] != ordered[:, :-1]).all())


def _fits(values: NDArray[np.float64], least: int) -> bool:
    """Whether all rows are rankings, and one without holes ranks at least so many items."""
    if len(values) > _SAMPLE and len(_misfits(values[:_SAMPLE])):
        return False
    values = values[~np.isnan(values).all(axis=1)]
    sure, holed, loose = _rank_rows(values)
    many = (~np.isnan(values)).sum(axis=1) >= least
    return bool(((sure | loose) & many).any() and (sure | holed | loose).all())


def _misfits(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows that are no rankings, blank ones aside."""
    sure, holed, loose = _rank_rows(values)
    return np.flatnonzero(~(sure | holed | loose | np.isnan(values).all(axis=1)))


def _fits_without_one(values: NDArray[np.float64]) -> bool:
    """Whether the rows fit once some column is left out; a row that does not fit says which it may be."""
    n = values.shape[1]
    candidates = list(range(n)) if 2 < n <= _MOST_COLUMNS else []
    while candidates:
        rest = np.delete(values[:_SAMPLE], candidates[0], axis=1)
        wrong = _misfits(rest)
        if not len(wrong):
            rest = np.delete(values, candidates[0], axis=1)
            if _fits(rest, 2):
                return True
            wrong = _misfits(rest)
        if not len(wrong):
            candidates.pop(0)
            continue
        row = values[wrong[0]]
        unfit = set(_misfits(np.array([np.delete(row, k) for k in candidates])).tolist())
        candidates = [k for place, k in enumerate(candidates) if place not in unfit]
    return False


def _rank_rows(values: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Say of each row whether it is a ranking: surely, with holes in its numbers, or with ties numbered loosely.

    Surely: 1..k with ties as in competitions or by their mean. With holes: a part of 1..n, no ties. Loosely: 1..k
    with ties numbered 1, 1, 2 or 2, 2, 3.
    """
    n = values.shape[1]
    filled = ~np.isnan(values)
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

    sure = fits(lowest.astype(float)) | fits((lowest + highest) / 2)
    possible = (ordered >= 1) & (ordered <= n) & (ordered % 1 == 0)
    holed = ~there.all(axis=1) & ((new & possible) | ~there).all(axis=1)
    loose = fits(dense.astype(float)) | fits(highest.astype(float))
    return sure, holed, loose
