"""Filters on the rows and items of a file: conditions on columns, a time span, and items to keep or drop."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError, quote, show
from holdrank.files.containers.parquet import literal
from holdrank.files.read_options import ReadOptions
from holdrank.votes.forms.battle_columns import BattleColumns, first_columns
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.table import Table
from holdrank.votes.votes import Votes

TIME_NAMES = ("tstamp", "timestamp", "time", "date", "datetime", "created_at", "utcdate", "utc_date", "day")
"""Columns that say when a row was made, in the order in which they are searched for."""
BATTLE_FORMS = ("battles", "pgn")
_CONDITION = re.compile(r"\s*(.+?)\s*(!=|=)\s*(.*?)\s*", re.DOTALL)
_MILLISECONDS = 1e11  # seconds of a time beyond the year 5000
_WORDS = {"true": "1", "false": "0"}


def filters_rows(options: ReadOptions) -> bool:
    """Whether some rows are to be left out."""
    return bool(options.where or options.since is not None or options.until is not None)


def kept_rows(table: Table, options: ReadOptions) -> tuple[Table, dict[str, str]]:
    """Return the rows that meet all conditions, and these as text; several values of one column are alternatives."""
    if not filters_rows(options):
        return table, {}
    keep = np.ones(table.rows, dtype=bool)
    said: dict[str, str] = {}
    wanted, unwanted = conditions(table, options)
    for column, values in wanted.items():
        keep &= _is_one_of(table, column, values)
    for column, values in unwanted.items():
        keep &= ~_is_one_of(table, column, values)
    said |= where_in_words(options)
    if options.since is not None or options.until is not None:
        column = _time_column(table)
        times = np.array([_cell_time(table, column, row, cell) for row, cell in enumerate(table.text(column))])
        if options.since is not None:
            keep &= times >= _given_time(options.since, "since")
            said["since"] = f"{options.since} (column {quote(table.label(column), 30)})"
        if options.until is not None:
            keep &= times < _given_time(options.until, "until", end=True)
            said["until"] = f"{options.until} (column {quote(table.label(column), 30)})"
    rows = np.flatnonzero(keep)
    if not len(rows):
        raise _none_left(table, said, [*wanted])
    said["rows kept"] = f"{len(rows):,} of {table.rows:,}"
    return table.only_rows(rows), said


def conditions(table: Table, options: ReadOptions) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """Return the values that columns must have, and those that they must not have."""
    wanted: dict[int, list[str]] = {}
    unwanted: dict[int, list[str]] = {}
    for condition in options.where or ():
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise UsageError(Message(Option("where"), f" takes a condition such as language=en, not {condition!r}"))
        (wanted if match[2] == "=" else unwanted).setdefault(table.find(match[1], "where"), []).append(match[3])
    return wanted, unwanted


def where_in_words(options: ReadOptions) -> dict[str, str]:
    """Return the conditions as `reading.choices` keeps them."""
    return {"where": "; ".join(show(one.strip(), 60) for one in options.where)} if options.where else {}


def sql_conditions(names: Sequence[str], text_of: Callable[[int], str], options: ReadOptions) -> dict[int, str]:
    """Return the conditions on each column in SQL, where a cell without outer blanks is `text_of` its column."""
    found: dict[int, str] = {}
    for chosen, sign in zip(conditions(Table("", list(names), [], ()), options), ("IN", "NOT IN"), strict=True):
        for column, values in chosen.items():
            text = text_of(column)
            cell = f"CASE lower({text}) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {text} END"
            listed = ", ".join(literal(_plain(value)) for value in values)
            before = f"{found[column]} AND " if column in found else ""
            found[column] = f"{before}{cell} {sign} ({listed})"
    return found


def _plain(cell: str) -> str:
    bare = cell.strip()
    return _WORDS.get(bare.casefold(), bare)


def _is_one_of(table: Table, column: int, values: Collection[str]) -> NDArray[np.bool_]:
    plain = {_plain(value) for value in values}
    return np.array([_plain(cell) in plain for cell in table.text(column)], dtype=bool)


def _none_left(table: Table, said: Mapping[str, str], columns: Sequence[int]) -> InputError:
    there = ""
    if columns:
        common = Counter(table.text(columns[0])).most_common(6)
        listing = ", ".join(f"{quote(value, 30)} {plural(count, 'time')}" for value, count in common)
        there = f"; in {quote(table.label(columns[0]), 30)} there are {listing}"
    return table.fault(
        f"no row matches {', '.join(f'{key} {what}' for key, what in said.items())}{there}",
        "conditions that at least one row meets",
        Message("change ", Option("where"), ", ", Option("since"), " or ", Option("until")),
        found=f"{table.rows:,} rows",
    )


def _time_column(table: Table) -> int:
    known = first_columns(table)
    column = next((known[name] for name in TIME_NAMES if name in known), None)
    if column is None:
        raise table.lacks(
            "no column holds dates",
            f"a column called {', '.join(TIME_NAMES[:5])} or similar",
            Message("rename the column, or leave ", Option("since"), " and ", Option("until"), " out"),
        )
    return column


def _seconds(text: str) -> float | None:
    """Return the seconds since 1970 for a text: such a number, or an ISO 8601 date and time."""
    bare = text.strip()
    try:
        number = float(bare)
    except ValueError:
        pass
    else:
        return (number / 1000 if number > _MILLISECONDS else number) if len(bare) > 8 else None
    iso = re.sub(r"(?<=\d)[./](?=\d)", "-", bare[:10]) + bare[10:].replace(" UTC", "").replace("Z", "+00:00")
    try:
        when = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _given_time(text: str, option: str, *, end: bool = False) -> float:
    when = _seconds(text)
    if when is None:
        raise UsageError(Message(Option(option), f" takes a date such as 2024-05-31, not {text!r}"))
    day = end and len(text.strip()) == len("2024-05-31")
    return when + (timedelta(days=1).total_seconds() if day else 1e-6 if end else 0)


def _cell_time(table: Table, column: int, row: int, cell: str) -> float:
    when = _seconds(cell)
    if when is None:
        expected = "a date such as 2024-05-31, or seconds since 1970"
        repair = Message("write dates as year-month-day, or leave ", Option("since"), " and ", Option("until"), " out")
        raise table.fault("the cell is not a date", expected, repair, row=row, column=column)
    return when


def kept_battles(table: Table, columns: BattleColumns, options: ReadOptions) -> tuple[Table, dict[str, str]]:
    """Return the battles between items to keep, and these items as text."""
    if not options.only and not options.drop:
        return table, {}
    firsts, seconds = table.text(columns.first), table.text(columns.second)
    wanted = _wanted(list(dict.fromkeys([*firsts, *seconds])), options)
    rows = np.flatnonzero([a in wanted and b in wanted for a, b in zip(firsts, seconds, strict=True)])
    if not len(rows):
        raise UsageError(Message(Option("only"), " and ", Option("drop"), " leave no battles"))
    return table.only_rows(rows), _items_in_words(options)


def kept_items(votes: Votes, options: ReadOptions) -> Votes:
    """Return the votes over the items to keep, and record that in their `reading`; battles were filtered before."""
    if (not options.only and not options.drop) or votes.reading.format in BATTLE_FORMS:
        return votes
    wanted = _wanted(votes.items, options)
    kept = votes.only([item for item in votes.items if item in wanted])
    if votes.observed:  # a ballot on one item compares nothing
        kept = kept.with_weights(np.where(kept.ballots.listed > 1, kept.weights, 0.0))
    reading = replace(votes.reading, choices={**votes.reading.choices, **_items_in_words(options)})
    return replace(kept, notes=votes.notes).with_reading(reading)


def _wanted(items: Sequence[str], options: ReadOptions) -> set[str]:
    """Return the items to keep; refuse unknown names, and filters that leave no item."""
    for option, names in (("only", options.only), ("drop", options.drop)):
        for name in names or ():
            if name not in items:
                near = difflib.get_close_matches(name, items, n=1, cutoff=0.6)
                repair = f"did you mean {quote(near[0])}?" if near else f"the items are {_some(items)}"
                raise UsageError(Message(Option(option), f": there is no item {quote(name, 40)}"), repair=repair)
    wanted = set(options.only or items) - set(options.drop or ())
    if not wanted:
        raise UsageError(Message(Option("only"), " and ", Option("drop"), " leave no items"))
    return wanted


def _items_in_words(options: ReadOptions) -> dict[str, str]:
    return {option: _some(list(names)) for option in ("only", "drop") if (names := getattr(options, option))}


def _some(names: Sequence[str]) -> str:
    return ", ".join(show(name, 40) for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
