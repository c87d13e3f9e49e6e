"""Score tables: one row an item, one column a voter, cells numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, UsageError, quote
from holdrank.tables.table import (
    Coded,
    Problems,
    RawBallots,
    Ref,
    Table,
    check_repeated,
    dense_ranks,
    listed_lines,
    name_notes,
    no_name,
    plural,
    resolve_unlisted,
)
from holdrank.tables.vocabulary import BLANKS, SUMMARY_NAMES


def score_table(
    table: Table,
    problems: Problems,
    *,
    item: Ref | Sequence[Ref] | None = None,
    voters: Sequence[Ref] | None = None,
    numbering: Collection[int] = (),
    lower_is_better: Collection[Ref] | bool = (),
    unlisted: str | None = None,
    repeated: str = "refuse",
    blanks: Collection[str] = BLANKS,
) -> RawBallots:
    """Read one item a row: a column with its name, the others one voter (task, judge) each, cells scores.

    The columns `numbering` merely number the rows and do not vote.
    """
    key = find_key(table, item if item is not None else 1)
    if item is None:
        _refuse_measurements(table, key[0])
    which = "voters" if table.frame else "columns"
    others = [k for k in range(len(table.names)) if k not in key and k not in numbering]
    used = others if voters is None else table.find_all(voters, which)
    if not used:
        raise InputError(
            "there is no column of scores",
            source=table.source,
            found=", ".join(table.names[:12]),
            expected="a column of items and at least one of scores",
            repair=f"name the columns of the voters with {which}=",
        )
    if voters is None:
        refuse_text_columns(table, used, blanks)
    lower = lower_columns(table, lower_is_better, used)
    items, keep = _distinct_items(table, key, repeated, problems)
    notes = list(table.notes)
    if len(keep) < table.rows:
        dropped = [table.lines[row] for row in sorted(set(range(table.rows)) - set(keep))]
        repeats = plural(len(dropped), "row repeats", "rows repeat")
        notes.append(f"{repeats} an item; the first row of each was kept{listed_lines(dropped)}")
    scores = np.full((len(used), len(items)), np.nan)
    for row, k in enumerate(used):
        values = table.numbers(k, problems, blanks=blanks, what="a score")[keep]
        scores[row] = -values if k in lower else values
    notes += name_notes(items) + score_notes(table, scores, used, voters is None, lower)
    resolved = resolve_unlisted(unlisted, "observed")
    choices = {
        "form": "score table",
        "unlisted": resolved,
        "ties": "one half each way",
        "direction": direction_words(table, lower, used),
        "repeated": repeated,
    }
    return RawBallots(items, dense_ranks(scores, True), np.ones(len(used)), notes, choices, resolved, scores)


def _refuse_measurements(table: Table, column: int) -> None:
    """Refuse a first column of measurements: it is no list of names, so the names stand elsewhere.

    In a frame they often are its index, which is not read: there any numbers are refused, elsewhere fractions.
    """
    cells = table.columns[column]
    if isinstance(cells, list | Coded) or not len(cells):
        return
    strange = np.nan_to_num(cells) % 1 != 0
    if table.frame:
        strange = np.ones(len(cells), dtype=bool)
    if strange.any():
        index = "; an index is not read: frame.reset_index() makes it a column" if table.frame else ""
        raise InputError(
            "the first column holds numbers, not names of items",
            source=table.source,
            column=table.label(column),
            found=table.text(column)[int(np.flatnonzero(strange)[0])],
            expected="the names of the items in the first column",
            repair=f"name the column of the items with item={index}",
        )


def find_key(table: Table, item: Ref | Sequence[Ref]) -> list[int]:
    """Return the columns that together name an item."""
    key = table.find_all(item, "item")
    if not key:
        raise UsageError("item names no column")
    return key


def item_names(table: Table, key: Sequence[int]) -> list[str]:
    """Return the name of the item of every row; the parts of a longer key are joined with ``" | "``."""
    if len(key) == 1:
        return table.text(key[0])
    return [" | ".join(parts) for parts in zip(*(table.text(k) for k in key), strict=True)]


def is_blank_name(name: str) -> bool:
    """Whether a name, perhaps joined of several parts, holds nothing that can be seen."""
    return not name.replace("|", "").strip()


def _distinct_items(table: Table, key: Sequence[int], repeated: str, problems: Problems) -> tuple[list[str], list[int]]:
    """Return the names and the rows to keep."""
    check_repeated(repeated)
    first_line: dict[str, int] = {}
    keep = []
    for row, name in enumerate(item_names(table, key)):
        line = table.lines[row]
        if is_blank_name(name):
            problems.add(nameless(table, key, row))
        elif name not in first_line:
            first_line[name] = line
            keep.append(row)
        elif repeated == "refuse":
            problems.add(
                InputError(
                    f"the item stands on two rows (first on line {first_line[name]})",
                    source=table.source,
                    line=line,
                    column=table.label(key[0]),
                    found=name,
                    expected="each item once",
                    repair='delete a row, or set repeated="first" to keep the first',
                )
            )
    return list(first_line), keep


def nameless(table: Table, key: Sequence[int], row: int) -> InputError:
    """Return the error for a row whose item has no name."""
    return InputError(
        "an item has no name",
        source=table.source,
        line=table.lines[row],
        column=table.label(key[0]),
        found="",
        expected="the name of an item",
        repair="fill the cell, or delete the row",
    )


def refuse_text_columns(table: Table, used: Sequence[int], blanks: Collection[str]) -> None:
    """Refuse a column that holds text where scores or ranks should be: it is no voter and no item."""
    for k in used:
        if not table.names[k].strip():
            raise no_name(table, k)
    for k in used:
        if not isinstance(table.columns[k], list | Coded) or table.is_numeric(k, blanks):
            continue
        for row, cell in enumerate(table.text(k)):
            text = cell.strip()
            if text and text not in blanks and text.lower() != "nan" and not _loose_number(text):
                raise InputError(
                    "the column holds text, not numbers",
                    source=table.source,
                    line=table.lines[row],
                    column=table.label(k),
                    found=cell,
                    expected="a number or an empty cell",
                    repair="name the columns to use with voters="
                    if table.frame
                    else "name the columns to use with columns=, or set blanks= if the text means nothing",
                )


def _loose_number(text: str) -> bool:
    """Whether a cell is a number gone wrong (``91.2%``, ``inf``): then the cell is at fault."""
    infinite = text.lower().lstrip("+-") in ("inf", "infinity")
    return infinite or (len(text) < 20 and re.search(r"[0-9]", text) is not None)


def lower_columns(table: Table, lower: Collection[Ref] | bool, used: Sequence[int]) -> set[int]:
    """Return the columns where a low score is good."""
    if isinstance(lower, bool):
        return set(used) if lower else set()
    return set(table.find_all(lower, "higher_is_better" if table.frame else "lower_is_better"))


def direction_words(table: Table, lower: Collection[int], used: Sequence[int]) -> str:
    """Return the direction of the scores in words."""
    low = [k for k in used if k in lower]
    if not low:
        return "scores: high is best"
    if len(low) == len(used):
        return "scores: low is best"
    return f"scores: high is best, but low in {', '.join(quote(table.label(k), 40) for k in low[:8])}"


def score_notes(
    table: Table, scores: NDArray[np.float64], used: Sequence[int], unnamed: bool, lower: Collection[int]
) -> list[str]:
    """Return notes on missing cells and on columns that look like summaries rather than voters."""
    notes = []
    missing = int(np.isnan(scores).sum())
    if missing:
        notes.append(f"{plural(missing, 'cell')} without a score; the item is unlisted for that voter")
    first_words = {k: re.split(r"[^a-z]", table.names[k].strip().lower())[0] for k in used}
    summaries = [k for k in used if unnamed and first_words[k] in SUMMARY_NAMES]
    if summaries:
        names = ", ".join(quote(table.names[k], 40) for k in summaries)
        notes.append(f"{names} may be no voter but a summary, and yet counts as one; name the columns to use")
    stray = [table.label(k) for k in lower if k not in used]
    if stray:
        notes.append(f"low is best was set for {quote(stray[0], 40)}, a column that is not used")
    return notes
