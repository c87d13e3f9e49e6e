"""Score tables: one row per item, one column per voter, cells numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError, quote
from holdrank.votes.ballots.ranks import ranks_of_values
from holdrank.votes.forms.notes import listed_lines, name_notes, plural
from holdrank.votes.forms.raw import RawBallots
from holdrank.votes.forms.table import Coded, Problems, Ref, Table, is_blank, no_name
from holdrank.votes.forms.table_options import TableOptions, ballot_choices
from holdrank.votes.forms.vocabulary import BLANKS, SUMMARY_NAMES
from holdrank.votes.groups import Groups


def score_table(table: Table, options: TableOptions, problems: Problems, *, numbering: int = 0) -> RawBallots:
    """Read one item per row: a column with its name, the others one voter (task, judge) each, cells scores.

    The first `numbering` columns only number the rows and do not vote; the names follow them.
    """
    key = find_key(table, numbering + 1 if options.item is None else options.item)
    if options.item is None and not numbering:
        _refuse_measurements(table, key[0])
    which = "voters" if table.frame else "columns"
    others = [k for k in range(numbering, len(table.names)) if k not in key]
    used = others if options.columns is None else table.find_all(options.columns, which)
    if not used:
        raise table.lacks(
            "there is no column of scores",
            "a column of items and at least one of scores",
            Message("name the voter columns with ", Option(which)),
        )
    blanks = options.blanks_or(BLANKS)
    if options.columns is None:
        refuse_text_columns(table, used, blanks)
    lower = _lower_columns(table, options.lower_is_better, used)
    items, keep = _distinct_items(table, key, options.keeps_first, problems)
    notes = list(table.notes)
    if len(keep) < table.rows:
        dropped = [table.lines[row] for row in sorted(set(range(table.rows)) - set(keep))]
        repeats = plural(len(dropped), "row repeats", "rows repeat")
        notes.append(f"{repeats} an item; the first row was kept{listed_lines(dropped)}")
    scores = np.full((len(used), len(items)), np.nan)
    for row, k in enumerate(used):
        values = table.numbers(k, problems, blanks=blanks, what="a score")[keep]
        scores[row] = -values if k in lower else values
    notes += name_notes(items) + _score_notes(table, scores, used, options.columns is None, lower)
    rule = options.unlisted_or("observed")
    direction = direction_words([table.label(k) for k in used], [row for row, k in enumerate(used) if k in lower])
    choices = {"form": "score table", **ballot_choices(rule, direction, options.repeated)}
    ones = np.ones(len(used))
    groups = Groups.of_labels("column", [table.label(k) for k in used], ones)
    return RawBallots(items, ranks_of_values(scores, True), ones, notes, choices, rule, scores, groups=groups)


def _refuse_measurements(table: Table, column: int) -> None:
    """Refuse a first column of measurements: it does not hold names, so the names are elsewhere.

    In a frame they are often in its index, which is not read: there any numbers are refused, elsewhere only fractions.
    """
    cells = table.columns[column]
    if isinstance(cells, list | Coded) or not len(cells):
        return
    strange = np.nan_to_num(cells) % 1 != 0
    if table.frame:
        strange = np.ones(len(cells), dtype=bool)
    if strange.any():
        index = ", or make it the index: frame.set_index(column)" if table.frame else ""
        raise table.fault(
            "the first column holds numbers, not names of items",
            "the names of the items in the first column",
            Message("name the column of the items with ", Option("item"), index),
            column=column,
            found=table.cell(column, int(np.flatnonzero(strange)[0])),
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
    """Whether a name, perhaps joined from several parts, holds nothing visible."""
    return not name.replace("|", "").strip()


def _distinct_items(
    table: Table, key: Sequence[int], keeps_first: bool, problems: Problems
) -> tuple[list[str], list[int]]:
    """Return the names and the rows to keep."""
    first_line: dict[str, int] = {}
    keep = []
    for row, name in enumerate(item_names(table, key)):
        if is_blank_name(name):
            problems.add(nameless(table, key, row))
        elif name not in first_line:
            first_line[name] = table.lines[row]
            keep.append(row)
        elif not keeps_first:
            problem = f"the item is on two rows (first on line {first_line[name]})"
            repair = Message("delete a row, or set ", Option("repeated", "first"), " to keep the first")
            problems.add(table.fault(problem, "each item once", repair, row=row, column=key[0], found=name))
    return list(first_line), keep


def nameless(table: Table, key: Sequence[int], row: int) -> InputError:
    """Return the error for a row whose item has no name."""
    repair = "fill the cell, or delete the row"
    return table.fault("an item has no name", "the name of an item", repair, row=row, column=key[0], found="")


def refuse_text_columns(table: Table, used: Sequence[int], blanks: Collection[str]) -> None:
    """Refuse a column that holds text where scores or ranks should be: it is neither a voter nor an item."""
    for k in used:
        if not table.names[k].strip():
            raise no_name(table, k)
    for k in used:
        if not isinstance(table.columns[k], list | Coded) or table.is_numeric(k, blanks):
            continue
        for row, cell in enumerate(table.text(k)):
            text = cell.strip()
            if not is_blank(text, blanks) and not _loose_number(text):
                repair = Message("name the columns to use with ", Option("voters" if table.frame else "columns"))
                if not table.frame:
                    repair = Message(repair, ", or set ", Option("blanks"), " if it marks a missing value")
                problem, expected = "the column holds text, not numbers", "a number or an empty cell"
                raise table.fault(problem, expected, repair, row=row, column=k)


def _loose_number(text: str) -> bool:
    """Whether a cell is a malformed number (``91.2%``, ``inf``): then the error names the cell."""
    infinite = text.lower().lstrip("+-") in ("inf", "infinity")
    return infinite or (len(text) < 20 and re.search(r"[0-9]", text) is not None)


def _lower_columns(table: Table, lower: Collection[Ref] | bool, used: Sequence[int]) -> set[int]:
    """Return the columns where a low score is good."""
    if isinstance(lower, bool):
        return set(used) if lower else set()
    return set(table.find_all(lower, "higher_is_better" if table.frame else "lower_is_better"))


def direction_words(voters: Sequence[str], low: Collection[int]) -> str:
    """Return the direction of the scores in words: lower is better for some of the voters, by their places."""
    names = [voter for place, voter in enumerate(voters) if place in low]
    if not names:
        return "scores: higher is better"
    if len(names) == len(voters):
        return "scores: lower is better"
    return f"scores: higher is better, except in {', '.join(quote(name, 40) for name in names[:8])}"


def _score_notes(
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
        notes.append(f"{names} may be a summary, not a voter, but counts as a voter; name the columns to use")
    stray = [table.label(k) for k in lower if k not in used]
    if stray:
        notes.append(f"lower is better was set for {quote(stray[0], 40)}, but that column is not used")
    return notes
