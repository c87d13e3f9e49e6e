"""The columns that say who cast each battle, and which group each row belongs to."""

from __future__ import annotations

import numpy as np

from holdrank.errors import Message, Option, UsageError, quote
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.table import Coded, Problems, Ref, Table, is_blank
from holdrank.votes.forms.table_options import TableOptions
from holdrank.votes.forms.vocabulary import BLANKS

_SEPARATE = Option("blank_voters", "separate")
NO_GROUP = "(blank)"
"""The group of rows whose cell is blank."""


def read_voters(table: Table, options: TableOptions, choices: dict[str, str], problems: Problems) -> Coded | None:
    """Return the voter of every row, without outer blanks; None where no column of voters is named.

    A blank cell is refused; with ``blank_voters="separate"`` it is a separate voter, named by its row.
    """
    if options.blank_voters not in ("refuse", "separate"):
        raise UsageError(f'blank_voters is "refuse" or "separate", not {options.blank_voters!r}')
    if options.voter is None:
        if options.blank_voters != "refuse":
            raise UsageError("blank_voters needs voter", repair="name the voter column")
        return None
    column = table.find(options.voter, "voter")
    choices["voter"] = f"column {quote(table.label(column))}"
    voters = table.coded(column).renamed(str.strip)
    blank = _blank_rows(voters)
    if not blank:
        return voters
    if options.blank_voters == "refuse" or table.times is not None:
        repair = Message("fill the cell, or count each such battle as a separate voter: ", _SEPARATE)
        for row in blank:
            problems.add(table.fault("a battle has no voter", "who cast it", repair, row=row, column=column))
        return voters
    names, codes = list(voters.values), voters.codes.copy()
    taken = set(names)
    for row in blank:
        name = f"unnamed, row {table.lines[row]}"
        while name in taken:
            name += "'"
        taken.add(name)
        codes[row] = len(names)
        names.append(name)
    choices["blank voters"] = f"{plural(len(blank), 'battle')} without one, each a separate voter"
    return Coded(names, codes)


def _blank_rows(column: Coded) -> list[int]:
    blank = np.array([is_blank(value, BLANKS) for value in column.values], dtype=bool)
    return [int(row) for row in np.flatnonzero(blank[column.codes])]


def read_groups(table: Table, column: int, choices: dict[str, str]) -> Coded:
    """Return the group that a column gives to every row; rows with a blank cell are a group together."""
    choices["by"] = f"column {quote(table.label(column))}"
    groups = table.coded(column).renamed(str.strip)
    blank = len(_blank_rows(groups))
    if blank:
        choices["by"] += f", blank in {plural(blank, 'row')}"
    return groups.renamed(lambda name: NO_GROUP if is_blank(name, BLANKS) else name)


def grouped_rows(
    table: Table, options: TableOptions, choices: dict[str, str], voter: Ref | None = None
) -> tuple[str, list[str]] | None:
    """Return the kind of the groups and the group of every row: those of `by`, else the voters, if named."""
    ref = voter if options.by is None else options.by
    if ref is None or table.times is not None:
        return None
    column = table.find(ref, "by")
    return table.label(column), read_groups(table, column, choices if options.by is not None else {}).cells()
