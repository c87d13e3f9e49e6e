"""The column that says who cast each battle."""

from __future__ import annotations

from holdrank.errors import Message, Option, UsageError, quote
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.table import Problems, Table, is_blank
from holdrank.votes.forms.table_options import TableOptions
from holdrank.votes.forms.vocabulary import BLANKS

_SEPARATE = Option("blank_voters", "separate")


def read_voters(table: Table, options: TableOptions, choices: dict[str, str], problems: Problems) -> list[str] | None:
    """Return the voter of every row, without outer blanks; None where no column of voters is named.

    A cell that names nobody is refused; with ``blank_voters="separate"`` it is a voter of its own, named by its row.
    """
    if options.blank_voters not in ("refuse", "separate"):
        raise UsageError(f'blank_voters is "refuse" or "separate", not {options.blank_voters!r}')
    if options.voter is None:
        if options.blank_voters != "refuse":
            raise UsageError("blank_voters means nothing without voter", repair="name the column of the voters")
        return None
    column = table.find(options.voter, "voter")
    choices["voter"] = f"column {quote(table.label(column))}"
    names = [cell.strip() for cell in table.text(column)]
    blank = [row for row, name in enumerate(names) if is_blank(name, BLANKS)]
    if not blank:
        return names
    if options.blank_voters == "refuse" or table.times is not None:
        repair = Message("fill the cell, or let each such battle count as a voter of its own: ", _SEPARATE)
        for row in blank:
            problems.add(table.fault("a battle names no voter", "who cast it", repair, row=row, column=column))
        return names
    taken = set(names)
    for row in blank:
        name = f"unnamed, row {table.lines[row]}"
        while name in taken:
            name += "'"
        taken.add(name)
        names[row] = name
    choices["blank voters"] = f"{plural(len(blank), 'battle')} without one, each a voter of its own"
    return names
