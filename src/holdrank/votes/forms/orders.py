"""Ballots whose cells are names: one voter per row, items best first, in columns of positions or in lists."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, quote
from holdrank.votes.forms.notes import Note, counted, name_notes, on_all
from holdrank.votes.forms.raw import RanksInPieces, RawBallots
from holdrank.votes.forms.table import Coded, Problems, Table, find_weight, read_weights, unused_notes
from holdrank.votes.forms.table_options import TableOptions, ballot_choices
from holdrank.votes.forms.vocabulary import (
    BALLOT_WEIGHT_NAMES,
    BLANKS,
    CONTEST_CHOICE,
    ORDINALS,
    position_of,
    restore_name,
)
from holdrank.votes.forms.voters_and_groups import grouped_rows
from holdrank.votes.groups import Groups

_ROWS_AT_A_TIME = 1 << 12
_CELLS_AT_A_TIME = 1 << 20


def position_columns(table: Table) -> list[int] | None:
    """Return the columns ``rank1 … rankk`` in order; None unless the numbers run from 1 without a gap."""
    found: dict[str, dict[int, int]] = {}
    for k, name in enumerate(table.names):
        told = position_of(name)
        if told and found.setdefault(told[0], {}).setdefault(told[1], k) != k:
            return None
    for places in found.values():
        if sorted(places) == list(range(1, len(places) + 1)):
            return [places[place] for place in sorted(places)]
    contests = _contests(table)
    if len(contests) > 1:
        first, columns = next(iter(contests.items()))
        raise table.fault(
            f"{len(contests)} contests in this file: {', '.join(quote(name, 30) for name in list(contests)[:6])}",
            "the choices of one contest",
            Message(
                "name the columns of one, best first, such as those of ", quote(first, 30), ": ", Option("columns")
            ),
            column=columns[0],
        )
    return next(iter(contests.values()), None)


def _contests(table: Table) -> dict[str, list[int]]:
    """Return the columns of choices of every contest, as cast vote records name them: Mayor 1st Choice, and so on."""
    found: dict[str, dict[int, int]] = {}
    for k, name in enumerate(table.names):
        match = CONTEST_CHOICE.fullmatch(name.strip())
        if match:
            place = int(match[2]) if match[2] else ORDINALS.index(match[3].lower()) + 1
            found.setdefault(match[1].strip(" -:,(["), {}).setdefault(place, k)
    whole = {name: places for name, places in found.items() if sorted(places) == [*range(1, len(places) + 1)]}
    return {name: [places[place] for place in sorted(places)] for name, places in whole.items() if len(places) > 1}


def positions(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read one voter per row, the columns ``rank1 … rankk`` holding the names of items, best first."""
    used = position_columns(table) if options.columns is None else table.find_all(options.columns, "columns")
    if not used:
        raise table.lacks(
            "no rank columns found",
            "columns rank1, rank2, … that hold names of items",
            Message("name the columns, best first, with ", Option("columns")),
        )
    blanks = options.blanks_or(BLANKS)
    choices = {"form": "positions", "blanks": ", ".join(blanks) or "empty cells only"}
    weight_column = find_weight(table, options.weight, choices, BALLOT_WEIGHT_NAMES)
    weights = read_weights(table, weight_column, problems)
    if options.columns is None:
        by = {table.find(options.by, "by")} if options.by is not None else set()
        table.notes += unused_notes(table, {*used, weight_column, *by})
    labels = grouped_rows(table, options, choices)
    return _named_orders(table, options, problems, used, weights, blanks, choices, labels)


def lists(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read one list per row: its name, then items best first; lists may differ in length."""
    blanks = options.blanks_or(())
    choices = {"form": "lists", "blanks": ", ".join(blanks) or "empty cells only"}
    weight_column = find_weight(table, options.weight, choices, BALLOT_WEIGHT_NAMES)
    name_column = None
    if options.columns is not None:
        used = table.find_all(options.columns, "columns")
    else:
        name_column = table.find(1 if options.voter is None else options.voter, "voter")
        by = None if options.by is None else table.find(options.by, "by")
        used = [k for k in range(len(table.names)) if k not in (name_column, weight_column, by)]
        if options.voter is None:
            table.notes += unused_notes(table, {*used, weight_column})
    weights = read_weights(table, weight_column, problems)
    labels = grouped_rows(table, options, choices, None if name_column is None else name_column + 1)
    return _named_orders(table, options, problems, used, weights, blanks, choices, labels)


def _named_orders(
    table: Table,
    options: TableOptions,
    problems: Problems,
    used: Sequence[int],
    weights: NDArray[np.float64],
    blanks: Collection[str],
    choices: dict[str, str],
    labels: tuple[str, list[str]] | None,
) -> RawBallots:
    """Read cells that hold names in order of preference; equal rows are counted first."""
    keeps_first = options.keeps_first
    ballots = _DistinctRows.of(table, used, weights, None if labels is None else labels[1])
    bare = [value.strip() for value in ballots.values]
    is_blank = np.array([not text or text in blanks for text in bare], dtype=bool)
    names, listed = _items_of_cells(ballots, is_blank)
    void = listed < 0
    repeat, again = _repeats(listed)
    if not keeps_first:
        for row in np.flatnonzero(repeat).tolist():
            place = int(again[row].argmax())
            problems.add(named_twice(table, int(ballots.first_row[row]), used[place]))
    named = ~void & ~again
    marked = named.any(axis=1)
    times = ballots.times
    notes = [*table.notes, *_blank_notes(ballots, bare, is_blank)]
    if gaps := int(times[(np.logical_or.accumulate(void, axis=1) & ~void).any(axis=1)].sum()):
        closed = "a blank above a name; the gap was closed"
        notes.append(counted(gaps, "ballot has", closed, many="ballots have"))
    if doubled := int(times[repeat].sum()):
        kept = "an item more than once; the first mention was kept"
        notes.append(counted(doubled, "ballot names", kept, many="ballots name"))
    if blank := int(times[~marked].sum()):
        notes.append(counted(blank, "ballot", "without any name dropped"))

    mentions = np.zeros(len(names), dtype=np.int64)
    ranks = RanksInPieces((int(marked.sum()), len(names)), int(named.sum()), table.source)
    row_of = np.cumsum(marked) - 1
    places = np.cumsum(named, axis=1, dtype=np.int32)
    step = max(1, _CELLS_AT_A_TIME // max(listed.shape[1], 1))
    for start in range(0, len(listed), step):
        rows, at = np.nonzero(named[start : start + step])
        rows += start
        ranks.add(row_of[rows], listed[rows, at], places[rows, at])
        mentions += np.bincount(listed[rows, at], times[rows], minlength=len(names)).astype(np.int64)
    notes += name_notes(names) + _rare_notes(names, mentions.tolist(), int(times[marked].sum()))
    rule = options.unlisted_or("bottom")
    choices |= ballot_choices(rule, "best first", options.repeated)
    groups = None
    if labels is not None:
        of_ballot = [ballots.labels[k] for k in np.flatnonzero(marked).tolist()]
        groups = Groups.of_labels(labels[0], of_ballot, ballots.weights[marked])
    return RawBallots(names, ranks.whole(), ballots.weights[marked], notes, choices, rule, groups=groups)


@dataclass(slots=True)
class _DistinctRows:
    """Different rows of some columns in the order in which they first appear; `cells` are numbers of `values`."""

    values: list[str]
    cells: NDArray[np.int32]
    weights: NDArray[np.float64]
    times: NDArray[np.int64]
    first_row: NDArray[np.int64]
    labels: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, table: Table, used: Sequence[int], weights: NDArray[np.float64], labels: Sequence[str] | None = None
    ) -> _DistinctRows:
        """Count equal rows; those with different labels, if there are labels, stay apart."""
        known: dict[str, int] = {}
        if table.times is not None:  # counted already
            cells = np.empty((table.rows, len(used)), dtype=np.int32)
            for place, k in enumerate(used):
                column = table.columns[k]
                if isinstance(column, Coded):
                    codes = [known.setdefault(value, len(known)) for value in column.values]
                    cells[:, place] = np.array(codes, dtype=np.int32)[column.codes]
                else:
                    cells[:, place] = [known.setdefault(cell, len(known)) for cell in table.text(k)]
            return cls(list(known), cells, weights, table.times, np.arange(table.rows))
        tally: dict[tuple[str, ...], float] = {}
        times: dict[tuple[str, ...], int] = {}
        first_row: dict[tuple[str, ...], int] = {}
        columns = [table.text(k) for k in used] + ([] if labels is None else [labels])
        rows: Iterator[tuple[str, ...]] = zip(*columns, strict=True) if used else iter(())
        for row, (ballot, amount) in enumerate(zip(rows, weights.tolist(), strict=False)):
            tally[ballot] = tally.get(ballot, 0.0) + amount
            times[ballot] = times.get(ballot, 0) + 1
            first_row.setdefault(ballot, row)
        coded = [known.setdefault(cell, len(known)) for ballot in tally for cell in ballot[: len(used)]]
        return cls(
            list(known),
            np.array(coded, dtype=np.int32).reshape(len(tally), len(used)),
            np.fromiter(tally.values(), dtype=np.float64, count=len(tally)),
            np.fromiter(times.values(), dtype=np.int64, count=len(tally)),
            np.fromiter(first_row.values(), dtype=np.int64, count=len(tally)),
            [] if labels is None else [ballot[-1] for ballot in tally],
        )


def _items_of_cells(ballots: _DistinctRows, is_blank: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the names of the items, in the order of their first mention, and the item of every cell; -1 = none."""
    numbers: dict[str, int] = {}
    number = np.array(
        [
            -1 if void else numbers.setdefault(_restored(value), len(numbers))
            for value, void in zip(ballots.values, is_blank, strict=True)
        ],
        dtype=np.int32,
    )
    order = _by_first_mention(number, ballots.cells, len(numbers))
    known = list(numbers)
    place_of = np.append(np.argsort(order), -1)  # a blank has the number -1, the last of these
    return [known[k] for k in order], place_of[number][ballots.cells].astype(np.int32)


def _blank_notes(ballots: _DistinctRows, bare: Sequence[str], is_blank: NDArray[np.bool_]) -> list[Note]:
    """Return a note on how often each token was read as blank, in the order of first mention."""
    codes = _by_first_mention(np.where(is_blank, np.arange(len(bare)), -1), ballots.cells, len(bare))
    tokens: dict[str, float] = {}
    for code in codes:
        if is_blank[code] and bare[code]:
            count = int(((ballots.cells == code).sum(axis=1) * ballots.times).sum())
            tokens[bare[code]] = tokens.get(bare[code], 0.0) + count
    tokens = {token: count for token, count in tokens.items() if count}
    return [Note(("cells read as blank",), tokens)] if tokens else []


def _restored(cell: str) -> str:
    """Return the name in a cell without its guard, unless nothing visible would be left."""
    name = restore_name(cell)
    return name if name.strip() else cell


def _repeats(listed: NDArray[np.int32]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each row repeats a number from 0, and whether each cell repeats an earlier one of its row."""
    again = np.zeros(listed.shape, dtype=bool)
    ordered = np.sort(listed, axis=1)
    repeat = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if repeat.any():
        some = listed[repeat]
        order = np.argsort(some, axis=1, kind="stable")
        ordered = np.take_along_axis(some, order, axis=1)
        twice = np.zeros(some.shape, dtype=bool)
        twice[:, 1:] = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        marks = np.zeros(some.shape, dtype=bool)
        np.put_along_axis(marks, order, twice, axis=1)
        again[repeat] = marks
    return repeat, again


def _by_first_mention(number: NDArray[Any], cells: NDArray[np.int32], count: int) -> list[int]:
    """Return numbers below `count` in the order in which cells first have them; those without a cell come last."""
    order: dict[int, None] = {}
    wanted = len(np.unique(number[number >= 0]))
    for start in range(0, len(cells), _ROWS_AT_A_TIME):
        if len(order) == wanted:  # all are there after few rows
            break
        block = number[cells[start : start + _ROWS_AT_A_TIME]].ravel()
        found, at = np.unique(block, return_index=True)
        order |= dict.fromkeys(k for k in found[np.argsort(at)].tolist() if k >= 0 and k not in order)
    return [*order, *(k for k in range(count) if k not in order)]


def named_twice(table: Table, row: int, column: int) -> InputError:
    """Return the error for a ballot that names an item a second time."""
    return table.fault(
        "the ballot names an item twice",
        "each item at most once on a ballot",
        Message("correct the row, or set ", Option("repeated", "first"), " to keep the first mention"),
        row=row,
        column=column,
    )


def _rare_notes(names: Sequence[str], mentions: Sequence[int], ballots: int) -> list[Note]:
    """Return a note on items on few ballots: a token for write-ins or spoilt marks is easily read as an item."""
    rare = [k for k in range(len(names)) if ballots >= 20 and mentions[k] < ballots / 20]
    if not rare or len(rare) > len(names) / 2:
        return []  # where most items are rare, rarity is no sign of an error
    listing = ", ".join(f"{quote(names[k], 30)} on {mentions[k]:,}" for k in rare[:5])
    more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
    return [
        on_all(
            f"rarely named items: {listing}{more} of {ballots:,} ballots; if one is not an item, declare it as a blank"
        )
    ]
