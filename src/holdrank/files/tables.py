"""From a table to ballots: which form it has, and the reader of that form."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from holdrank.errors import HoldrankError, quote
from holdrank.files.filters import kept_battles, kept_rows
from holdrank.files.read_options import ReadOptions
from holdrank.files.table_form import item_column, table_form
from holdrank.votes.ballots.ranks import ballot_matrix
from holdrank.votes.forms.battle_columns import battle_columns
from holdrank.votes.forms.battles import battles, pair_counts, win_matrix
from holdrank.votes.forms.marks import item_columns, long_marks, multi_way
from holdrank.votes.forms.orders import lists, positions
from holdrank.votes.forms.raw import RawBallots
from holdrank.votes.forms.scores import score_table
from holdrank.votes.forms.table import Problems, Table
from holdrank.votes.forms.vocabulary import BLANKS

_TABLE_READERS: dict[str, Callable[[Table, ReadOptions, Problems], RawBallots]] = {
    "positions": positions,
    "lists": lists,
    "rank-columns": partial(item_columns, scores=False),
    "score-columns": partial(item_columns, scores=True),
    "long-ranks": partial(long_marks, scores=False),
    "long-scores": partial(long_marks, scores=True),
    "battles": battles,
    "pair-counts": pair_counts,
    "multi-way": multi_way,
    "win-matrix": win_matrix,
}


_LINK = re.compile(r"\s*(?:<a\s[^>]*>([^<]+)</a>|\[([^\]]+)\]\([^)\s]*\))\s*", re.IGNORECASE)


def without_links(table: Table, column: int) -> Table:
    """Return the table with links (HTML or Markdown) replaced by their text, where all names are links."""
    found = [_LINK.fullmatch(cell) for cell in table.text(column)]
    if not found or not all(found):
        return table
    names = [(match[1] or match[2]).strip() for match in found if match is not None]
    columns = [names if k == column else cells for k, cells in enumerate(table.columns)]
    notes = [*table.notes, f"links in {quote(table.label(column), 40)} replaced by their text"]
    return replace(table, columns=columns, notes=notes)


def _form(table: Table, options: ReadOptions) -> tuple[str, str]:
    """Return the format of a table and the reason for it; a grouping column is not part of the format."""
    if options.by is not None:
        column = table.find(options.by, "by")
        rest = [k for k in range(len(table.names)) if k != column]
        bare = replace(
            table, names=[table.names[k] for k in rest], columns=[table.columns[k] for k in rest], _plain=None
        )
        try:
            form, reason = table_form(bare, options)
        except HoldrankError:  # the column has another role too
            return table_form(table, options)
        if form != "score-table":
            return form, reason
    return table_form(table, options)


def of_table(table: Table, format: str | None, options: ReadOptions, problems: Problems) -> tuple[str, str, RawBallots]:
    """Return the form of a table, the reason for it, and the ballots."""
    if not table.rows:  # every row was faulty and has been reported
        return "", "", RawBallots([], ballot_matrix(0, 0), np.zeros(0), [], {}, "")
    table, said = kept_rows(table, options)
    form, reason = (format, "as set") if format else _form(table, options)
    options.check(form)
    columns = battle_columns(table, options) if form == "battles" else None
    if columns is not None:
        table, more = kept_battles(table, columns, options)
        said |= more
    if form != "score-table":
        raw = _TABLE_READERS[form](table, options, problems)
        raw.choices.update(said)
        return form, reason, raw
    told = format is not None or options.item is not None
    names = None if told else item_column(table, options.blanks_or(BLANKS))
    table = without_links(table, names or 0) if options.item is None else table
    raw = score_table(table, options, problems, numbering=names or 0)
    raw.choices.update(said)
    return form, reason, raw
