"""Tables of ballots: one row a voter, one row a mark, or one row a judgement over several items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, UsageError, quote
from holdrank.tables.scores import direction_words, find_key, is_blank_name, item_names, nameless, refuse_text_columns
from holdrank.tables.table import (
    Coded,
    Note,
    Problems,
    RawBallots,
    Ref,
    Table,
    ballot_matrix,
    check_repeated,
    comparison_notes,
    counted,
    dense_ranks,
    find_weight,
    name_notes,
    named_like,
    no_name,
    on_all,
    plural,
    read_weights,
    resolve_unlisted,
    unused_notes,
)
from holdrank.tables.vocabulary import (
    BALLOT_WEIGHT_NAMES,
    BLANKS,
    ITEM_NAMES,
    MARK_NAMES,
    RANK_NAMES,
    SLOT_NAME,
    TASK_NAMES,
    VOTER_NAMES,
    position_of,
    restore_name,
)

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
    return None


def positions(
    table: Table,
    problems: Problems,
    *,
    columns: Sequence[Ref] | None = None,
    weight: Ref | None = None,
    unlisted: str | None = None,
    repeated: str = "refuse",
    blanks: Collection[str] = BLANKS,
) -> RawBallots:
    """Read one voter a row, the columns ``rank1 … rankk`` holding the names of items, best first."""
    used = table.find_all(columns, "columns") if columns is not None else position_columns(table)
    if not used:
        raise InputError(
            "no columns of positions found",
            source=table.source,
            found=", ".join(table.names[:12]),
            expected="columns rank1, rank2, … that hold names of items",
            repair="name the columns, best first, with columns=",
        )
    choices = {"form": "positions", "blanks": ", ".join(blanks) or "empty cells only"}
    weight_column = find_weight(table, weight, choices, BALLOT_WEIGHT_NAMES)
    weights = read_weights(table, weight_column, problems)
    if columns is None:
        table.notes += unused_notes(table, {*used, weight_column})
    return _named_orders(table, problems, used, weights, choices, unlisted, repeated, blanks)


def lists(
    table: Table,
    problems: Problems,
    *,
    voter: Ref | None = None,
    columns: Sequence[Ref] | None = None,
    weight: Ref | None = None,
    unlisted: str | None = None,
    repeated: str = "refuse",
    blanks: Collection[str] = (),
) -> RawBallots:
    """Read one list a row: its name, then items best first; lists may differ in length."""
    choices = {"form": "lists", "blanks": ", ".join(blanks) or "empty cells only"}
    weight_column = find_weight(table, weight, choices, BALLOT_WEIGHT_NAMES)
    if columns is not None:
        used = table.find_all(columns, "columns")
    else:
        name_column = table.find(voter if voter is not None else 1, "voter")
        used = [k for k in range(len(table.names)) if k not in (name_column, weight_column)]
        if voter is None:
            table.notes += unused_notes(table, {*used, weight_column})
    weights = read_weights(table, weight_column, problems)
    return _named_orders(table, problems, used, weights, choices, unlisted, repeated, blanks)


def _named_orders(
    table: Table,
    problems: Problems,
    used: Sequence[int],
    weights: NDArray[np.float64],
    choices: dict[str, str],
    unlisted: str | None,
    repeated: str,
    blanks: Collection[str],
) -> RawBallots:
    """Read cells that hold names in order of preference; equal rows are counted first."""
    check_repeated(repeated)
    ballots = _DistinctRows.of(table, used, weights)
    empty = {"", *blanks}
    bare = [value.strip() for value in ballots.values]
    is_blank = np.array([text in empty for text in bare], dtype=bool)
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
    names = [known[k] for k in order]
    place_of = np.append(np.argsort(order), -1)  # a blank has the number -1, the last of these
    listed = place_of[number][ballots.cells].astype(np.int32)
    void = listed < 0
    repeat, again = _repeats(listed)
    if repeated == "refuse":
        for row in np.flatnonzero(repeat).tolist():
            place = int(again[row].argmax())
            cell = ballots.values[ballots.cells[row, place]]
            problems.add(_repeated_on_ballot(table, int(ballots.first_row[row]), used[place], cell))
    named = ~void & ~again
    marked = named.any(axis=1)
    times = ballots.times

    notes = list(table.notes)
    tokens = {
        bare[code]: 0.0
        for code in _by_first_mention(np.where(is_blank, np.arange(len(bare)), -1), ballots.cells, len(bare))
        if is_blank[code] and bare[code]
    }
    for code in np.flatnonzero(is_blank).tolist():
        if bare[code]:
            tokens[bare[code]] += int(((ballots.cells == code).sum(axis=1) * times).sum())
    if tokens := {token: count for token, count in tokens.items() if count}:
        notes.append(Note(("cells taken as blank",), tokens))
    if gaps := int(times[(np.logical_or.accumulate(void, axis=1) & ~void).any(axis=1)].sum()):
        closed = "a blank above a name; the gap was closed"
        notes.append(counted(gaps, "ballot has", closed, many="ballots have"))
    if doubled := int(times[repeat].sum()):
        kept = "an item more than once; the first mention was kept"
        notes.append(counted(doubled, "ballot names", kept, many="ballots name"))
    if blank := int(times[~marked].sum()):
        notes.append(counted(blank, "ballot", "without any name dropped"))
    mentions = np.zeros(len(names), dtype=np.int64)
    ranks = ballot_matrix(int(marked.sum()), len(names), table.source)
    row_of = np.cumsum(marked) - 1
    places = np.cumsum(named, axis=1, dtype=np.int32)
    step = max(1, _CELLS_AT_A_TIME // max(listed.shape[1], 1))
    for start in range(0, len(listed), step):
        rows, at = np.nonzero(named[start : start + step])
        rows += start
        ranks[row_of[rows], listed[rows, at]] = places[rows, at]
        mentions += np.bincount(listed[rows, at], times[rows], minlength=len(names)).astype(np.int64)
    notes += name_notes(names) + _rare_notes(names, mentions.tolist(), int(times[marked].sum()))
    rule = resolve_unlisted(unlisted, "bottom")
    choices |= {"unlisted": rule, "ties": "one half each way", "direction": "best first", "repeated": repeated}
    return RawBallots(names, ranks, ballots.weights[marked], notes, choices, rule)


@dataclass(slots=True)
class _DistinctRows:
    """Different rows of some columns in the order in which they first appear; `cells` are numbers of `values`."""

    values: list[str]
    cells: NDArray[np.int32]
    weights: NDArray[np.float64]
    times: NDArray[np.int64]
    first_row: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, used: Sequence[int], weights: NDArray[np.float64]) -> _DistinctRows:
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
        rows = zip(*(table.text(k) for k in used), strict=True) if used else iter(())
        for row, (ballot, amount) in enumerate(zip(rows, weights.tolist(), strict=False)):
            tally[ballot] = tally.get(ballot, 0.0) + amount
            times[ballot] = times.get(ballot, 0) + 1
            first_row.setdefault(ballot, row)
        coded = [known.setdefault(cell, len(known)) for ballot in tally for cell in ballot]
        return cls(
            list(known),
            np.array(coded, dtype=np.int32).reshape(len(tally), len(used)),
            np.fromiter(tally.values(), dtype=np.float64, count=len(tally)),
            np.fromiter(times.values(), dtype=np.int64, count=len(tally)),
            np.fromiter(first_row.values(), dtype=np.int64, count=len(tally)),
        )


def _restored(cell: str) -> str:
    """Return the name in a cell without its guard, unless that would leave nothing that can be seen."""
    name = restore_name(cell)
    return name if name.strip() else cell


def _repeats(listed: NDArray[np.int32]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say of each row whether it holds a number from 0 twice, and of each cell whether its number stands before it."""
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


def _repeated_on_ballot(table: Table, row: int, column: int, cell: str) -> InputError:
    return InputError(
        "the ballot names an item twice",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=cell,
        expected="each item at most once on a ballot",
        repair='mend the row, or set repeated="first" to keep the first mention',
    )


def _rare_notes(names: Sequence[str], mentions: Sequence[int], ballots: int) -> list[Note]:
    """Note items on few ballots: a token for write-ins or spoilt marks easily passes for an item."""
    rare = [k for k in range(len(names)) if ballots >= 20 and mentions[k] < ballots / 20]
    if not rare or len(rare) > len(names) / 2:
        return []  # where most items are rare, rarity says nothing
    listing = ", ".join(f"{quote(names[k], 30)} on {mentions[k]:,}" for k in rare[:5])
    more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
    return [on_all(f"rarely named items: {listing}{more} of {ballots:,} ballots; set blanks= if one is no item")]


def item_columns(
    table: Table,
    problems: Problems,
    *,
    scores: bool,
    columns: Sequence[Ref] | None = None,
    voter: Ref | None = None,
    weight: Ref | None = None,
    lower_is_better: bool = False,
    unlisted: str | None = None,
    blanks: Collection[str] = BLANKS,
) -> RawBallots:
    """Read one voter a row and one item a column, the cells ranks (1 is best) or scores (high is best)."""
    what = "a score" if scores else "a rank"
    choices = {"form": "item columns with scores" if scores else "item columns with ranks"}
    weight_column = find_weight(table, weight, choices)
    used = columns_of_items(table, columns, voter, weight_column)
    if columns is None:
        refuse_text_columns(table, used, blanks)
    items = _column_items(table, used)
    values = np.empty((table.rows, len(used)))  # one column after the other: there may be many rows
    for column, k in enumerate(used):
        values[:, column] = table.numbers(k, problems, blanks=blanks, what=what)
    if not scores:
        for row, k in map(np.ndarray.tolist, np.argwhere(values <= 0)):  # one at a time: there may be many
            problems.add(
                InputError(
                    "a rank must be 1 or more",
                    source=table.source,
                    line=table.lines[row],
                    column=table.label(used[k]),
                    found=table.cell(used[k], row),
                    expected="1 for the best, an empty cell for an unlisted item",
                    repair='set format="score-columns" if high is best, or blanks="0" if 0 means unlisted, or add 1 '
                    "to all ranks if they count from 0",
                )
            )
    weights = read_weights(table, weight_column, problems)
    high = scores and not lower_is_better
    ranks = dense_ranks(values, high)
    rule = resolve_unlisted(unlisted, "observed" if scores else "bottom")
    choices |= {
        "unlisted": rule,
        "ties": "one half each way",
        "direction": f"scores: {'high' if high else 'low'} is best" if scores else "ranks: 1 is best",
        "repeated": "refuse",
    }
    notes = [*table.notes, f"cells read as {'scores' if scores else 'ranks'}: {'high' if high else 'low'} is best"]
    notes += name_notes(items)
    times = np.ones(table.rows, dtype=np.int64) if table.times is None else table.times
    listed = (ranks != 0).sum(axis=1)
    holes = int((np.where(listed, len(used) - listed, 0) * times).sum())
    if holes:
        notes.append(counted(holes, "empty cell", "on ballots with marks; the item is unlisted there"))
    tied = (ranks.max(axis=1, initial=0) == 1) & (listed > 1)
    if tied.any():
        rest = "all that they list and so carry no preference"
        notes.append(counted(int(times[tied].sum()), "ballot ties", rest, many="ballots tie"))
    marks = (values if high else -values) if scores else None
    return RawBallots(items, ranks, weights, notes, choices, rule, marks, table.times)


def columns_of_items(
    table: Table, columns: Sequence[Ref] | None, voter: Ref | None, weight_column: int | None
) -> list[int]:
    """Return the columns that are items: those named, else all that are neither weight nor voter."""
    if columns is not None:
        used = table.find_all(columns, "columns")
    else:
        skip = {weight_column}
        if voter is not None:
            skip.add(table.find(voter, "voter"))
        else:
            skip |= set(named_like(table, VOTER_NAMES))
        used = [k for k in range(len(table.names)) if k not in skip]
    if not used:
        raise InputError(
            "there is no column for an item",
            source=table.source,
            found=", ".join(table.names[:12]),
            expected="one column per item",
            repair="name the columns of the items with columns=",
        )
    return used


def _column_items(table: Table, used: Sequence[int]) -> list[str]:
    """Return the names of the item columns, all there and all different."""
    where: dict[str, int] = {}
    for k in used:
        name = restore_name(table.names[k])
        if not name.strip():
            raise no_name(table, k)
        if where.setdefault(name, k) != k:
            raise InputError(
                f"columns {where[name] + 1} and {k + 1} have the same name",
                source=table.source,
                column=k + 1,
                found=table.names[k],
                expected="a name of its own for each item",
                repair="rename one, or choose columns by position with columns=",
            )
    return list(where)


def long_columns(
    table: Table,
    scores: bool,
    voter: Ref | None = None,
    item: Ref | Sequence[Ref] | None = None,
    mark: Ref | None = None,
) -> tuple[int, list[int], int] | None:
    """Return the columns (voter, item, mark) of a long table, named or known by name; None if one is lacking."""

    def pick(ref: Ref | None, names: Collection[str], what: str) -> int | None:
        if ref is not None:
            return table.find(ref, what)
        hits = named_like(table, names)
        return hits[0] if len(hits) == 1 else None

    voter_names = (VOTER_NAMES | TASK_NAMES if scores else VOTER_NAMES) - {"#"}  # it numbers rows
    mark_column = pick(mark, MARK_NAMES if scores else RANK_NAMES, "score" if scores else "rank")
    voter_column = pick(voter, voter_names, "voter")
    if item is not None:
        key: list[int] | None = find_key(table, item)
    else:
        hits = named_like(table, ITEM_NAMES)
        key = hits if len(hits) == 1 else None
    if mark_column is None or voter_column is None or key is None:
        return None
    return voter_column, key, mark_column


def long_marks(
    table: Table,
    problems: Problems,
    *,
    scores: bool,
    voter: Ref | None = None,
    item: Ref | Sequence[Ref] | None = None,
    mark: Ref | None = None,
    weight: Ref | None = None,
    lower_is_better: Collection[str] | bool = (),
    unlisted: str | None = None,
    repeated: str = "refuse",
    blanks: Collection[str] = BLANKS,
) -> RawBallots:
    """Read one mark a row: a voter, an item, and its rank or score."""
    check_repeated(repeated)
    found = long_columns(table, scores, voter, item, mark)
    if found is None:
        word = "score" if scores else "rank"
        raise InputError(
            f"the columns of voter, item and {word} are not clear",
            source=table.source,
            found=", ".join(table.names[:12]),
            expected=f"columns called voter, item and {word}",
            repair=f"name them with voter=, item= and {word}=",
        )
    voter_column, key, mark_column = found
    choices = {"form": "long scores" if scores else "long ranks"}
    weight_column = find_weight(table, weight, choices)
    row_weights = read_weights(table, weight_column, problems)
    values = table.numbers(mark_column, problems, blanks=blanks, what="a score" if scores else "a rank")
    names = item_names(table, key)
    voters: dict[str, int] = {}
    items: dict[str, int] = {}
    marks: dict[tuple[int, int], tuple[float, int]] = {}
    weights: list[float] = []
    missing = merged = 0
    for row, (who, name) in enumerate(zip(table.text(voter_column), names, strict=True)):
        if is_blank_name(name):
            problems.add(nameless(table, key, row))
            continue
        if not who.strip():
            problems.add(_no_voter(table, voter_column, row))
            continue
        if not scores and values[row] <= 0:
            problems.add(_low_rank(table, mark_column, row))
            continue
        v = voters.setdefault(who, len(voters))
        i = items.setdefault(name, len(items))
        if v == len(weights):
            weights.append(row_weights[row])
        elif row_weights[row] != weights[v]:
            problems.add(_uneven_weight(table, weight_column or 0, row, weights[v]))
        if values[row] != values[row]:
            missing += 1
            continue
        known = marks.setdefault((v, i), (values[row], row))
        if known[1] == row:
            continue
        if known[0] != values[row] and repeated == "refuse":
            problems.add(_two_marks(table, mark_column, row, table.lines[known[1]], who, name))
        merged += 1
    notes = list(table.notes)
    if merged:
        notes.append(f"{plural(merged, 'row repeats', 'rows repeat')} a voter and item; the first was kept")
    if missing:
        notes.append(f"{plural(missing, 'row')} without a {'score' if scores else 'rank'}; the item is unlisted there")
    low = _low_voters(voters, lower_is_better, table)
    pairs = np.array(list(marks), dtype=np.int64).reshape(-1, 2)
    amounts = np.array([value for value, _ in marks.values()], dtype=np.float64)
    if scores:
        amounts = np.where(np.isin(pairs[:, 0], low), amounts, -amounts)
    ranks = ballot_matrix(len(voters), len(items), table.source)
    ranks[pairs[:, 0], pairs[:, 1]] = _ranks_within(pairs[:, 0], amounts)
    scored = None
    if scores:
        scored = np.full(ranks.shape, np.nan)
        scored[pairs[:, 0], pairs[:, 1]] = -amounts
    rule = resolve_unlisted(unlisted, "observed" if scores else "bottom")
    choices |= {
        "unlisted": rule,
        "ties": "one half each way",
        "direction": _direction(scores, low, voters),
        "repeated": repeated,
    }
    skip = {voter_column, mark_column, weight_column, *key}
    notes += name_notes(list(items)) + _attribute_notes(table, names, skip)
    return RawBallots(list(items), ranks, np.array(weights, dtype=np.float64), notes, choices, rule, scored)


def _direction(scores: bool, low: Sequence[int], voters: dict[str, int]) -> str:
    if not scores:
        return "ranks: 1 is best"
    bare = Table("", list(voters), [], ())
    return direction_words(bare, low, range(len(voters)))


def _low_voters(voters: dict[str, int], lower: Collection[str] | bool, table: Table) -> list[int]:
    if isinstance(lower, bool):
        return list(voters.values()) if lower else []
    names = [lower] if isinstance(lower, str) else lower
    unknown = [name for name in names if name not in voters]
    if unknown:
        raise UsageError(
            f"lower_is_better names {quote(str(unknown[0]))}, which is no voter of {table.source or 'the table'}"
        )
    return [voters[name] for name in names]


def _ranks_within(group: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return dense ranks of the values, low first, separately within each group."""
    order = np.lexsort((values, group))
    g, v = group[order], values[order]
    new_group = np.diff(g, prepend=-1) != 0
    step = new_group.copy()
    step[1:] |= v[1:] != v[:-1]
    climb = np.cumsum(step)
    base = np.maximum.accumulate(np.where(new_group, climb - 1, 0))
    out = np.empty(len(values), dtype=np.int32)
    out[order] = climb - base
    return out


def _no_voter(table: Table, column: int, row: int) -> InputError:
    return InputError(
        "a mark has no voter",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=table.cell(column, row),
        expected="the voter, or task, that the mark belongs to",
        repair="fill the cell, or delete the row",
    )


def _low_rank(table: Table, column: int, row: int) -> InputError:
    return InputError(
        "a rank must be 1 or more",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=table.cell(column, row),
        expected="1 for the best, an empty cell for an unlisted item",
        repair='set format="long-scores" if high is best, or blanks= if the cell means nothing',
    )


def _uneven_weight(table: Table, column: int, row: int, weight: float) -> InputError:
    return InputError(
        f"the voter had weight {weight:g} on an earlier row",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=table.cell(column, row),
        expected="the same weight on all rows of a voter",
        repair="mend the cell, or rename the column if it holds no weights",
    )


def _two_marks(table: Table, column: int, row: int, earlier: int, who: str, name: str) -> InputError:
    return InputError(
        f"voter {quote(who, 30)} marks {quote(name, 30)} twice, and differently (first on line {earlier})",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=table.cell(column, row),
        expected="one mark for a voter and an item",
        repair='delete a row, or set repeated="first" to keep the first',
    )


def _attribute_notes(table: Table, names: Sequence[str], skip: Collection[int | None]) -> list[str]:
    """Note items whose rows disagree in a column that is otherwise a property of the item."""
    notes = []
    times = Counter(names)
    repeated = {name for name, count in times.items() if count > 1}
    for k in range(len(table.names)):
        if k in skip:
            continue
        seen: dict[str, set[str]] = {name: set() for name in repeated}
        for name, cell in zip(names, table.text(k), strict=True):
            if name in repeated:
                seen[name].add(cell)
        differ = [name for name, cells in seen.items() if len(cells) > 1]
        # A column in which most items vary belongs to the voter or the mark, not to the item.
        if differ and len(differ) <= len(repeated) / 5:
            notes.append(
                f"{plural(len(differ), 'item has', 'items have')} more than one {quote(table.label(k), 30)}, "
                f"such as {quote(min(differ), 40)}; taken as one item each"
            )
    return notes


def slot_columns(table: Table) -> list[tuple[int, int]] | None:
    """Return the pairs of columns ``system1Id, system1rank`` and so on; None if there are no two."""
    ids: dict[tuple[str, int], int] = {}
    ranks: dict[tuple[str, int], int] = {}
    for k, name in enumerate(table.plain_names):
        match = SLOT_NAME.fullmatch(name)
        if match:
            (ranks if match[3] == "rank" else ids).setdefault((match[1], int(match[2])), k)
    slots = [(ids[slot], ranks[slot]) for slot in sorted(ids) if slot in ranks]
    return slots if len(slots) > 1 and len(slots) == len(ranks) else None


def multi_way(
    table: Table,
    problems: Problems,
    *,
    weight: Ref | None = None,
    unlisted: str | None = None,
    repeated: str = "refuse",
    blanks: Collection[str] = BLANKS,
) -> RawBallots:
    """Read one judgement a row: ``system1Id … system5Id`` and their ranks, equal ranks tied."""
    check_repeated(repeated)
    slots = slot_columns(table)
    if slots is None:
        raise InputError(
            "no columns of items and their ranks found",
            source=table.source,
            found=", ".join(table.names[:12]),
            expected="system1Id, system2Id, … and system1rank, system2rank, …",
            repair="name the columns so in the header",
        )
    choices = {"form": "multi-way rank rows"}
    weights = read_weights(table, find_weight(table, weight, choices, BALLOT_WEIGHT_NAMES), problems)
    names = [table.text(a) for a, _ in slots]
    values = [table.numbers(b, problems, blanks=blanks, what="a rank") for _, b in slots]
    items: dict[str, int] = {}
    row_at: list[int] = []
    item_at: list[int] = []
    value_at: list[float] = []
    doubled = unmarked = 0
    times = [1] * table.rows if table.times is None else table.times.tolist()
    for row in range(table.rows):
        ballot: dict[int, float] = {}
        twice = False
        for slot, (cells, marks) in enumerate(zip(names, values, strict=True)):
            if not cells[row].strip():
                continue
            if marks[row] <= 0:
                problems.add(_low_rank(table, slots[slot][1], row))
                continue
            item = items.setdefault(cells[row], len(items))
            if marks[row] != marks[row]:
                unmarked += times[row]
            elif item not in ballot:
                ballot[item] = float(marks[row])
            elif repeated == "first":
                twice = True
            else:
                problems.add(_repeated_on_ballot(table, row, slots[slot][0], cells[row]))
        doubled += twice * times[row]
        row_at += [row] * len(ballot)
        item_at += ballot
        value_at += ballot.values()
    ranks = ballot_matrix(table.rows, len(items), table.source)
    rows, columns = np.array(row_at, dtype=np.int64), np.array(item_at, dtype=np.int64)
    ranks[rows, columns] = _ranks_within(rows, np.array(value_at, dtype=np.float64))
    notes = list(table.notes)
    if unmarked:
        notes.append(counted(unmarked, "item", "on a row without a rank; unlisted there"))
    if doubled:
        kept = "an item more than once; the first was kept"
        notes.append(counted(doubled, "row names", kept, many="rows name"))
    rule = resolve_unlisted(unlisted, "observed")
    notes += name_notes(list(items))
    if rule == "observed":
        next_on_row = rows[1:] == rows[:-1]
        neighbours = columns[:-1][next_on_row], columns[1:][next_on_row]  # enough to tell who is joined with whom
        notes += comparison_notes(len(items), *neighbours, _compared(rows, columns, table.rows, len(items)))
    choices |= {"unlisted": rule, "ties": "one half each way", "direction": "ranks: 1 is best", "repeated": repeated}
    return RawBallots(list(items), ranks, weights, notes, choices, rule, times=table.times)


def _compared(rows: NDArray[np.int64], columns: NDArray[np.int64], m: int, n: int) -> int:
    """Return how many pairs of n items stand together on some of m rows; they are not held, for there may be many."""
    sizes = np.bincount(rows, minlength=m)
    if sizes.max(initial=0) == n:
        return n * (n - 1) // 2
    place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
    on_row = np.full((m, int(sizes.max(initial=0))), n, dtype=np.int32)  # n: nobody
    on_row[rows, place] = columns
    by_item = np.argsort(columns, kind="stable")
    ends = np.cumsum(np.bincount(columns, minlength=n))
    total = 0
    for item, end in enumerate(ends.tolist()):
        met = np.zeros(n + 1, dtype=bool)
        met[on_row[rows[by_item[ends[item - 1] if item else 0 : end]]]] = True
        total += int(np.count_nonzero(met[item + 1 : n]))
    return total
