"""Tables of ballots: one row a voter, one row a mark, or one row a judgement over several items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, UsageError, quote
from holdrank.tables.scores import direction_words, find_key, item_names, nameless, refuse_text_columns
from holdrank.tables.table import (
    Problems,
    RawBallots,
    Ref,
    Table,
    ballot_matrix,
    check_repeated,
    comparison_notes,
    dense_ranks,
    find_weight,
    name_notes,
    named_like,
    no_name,
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
    plain,
    position_of,
    restore_name,
)


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
    cells = [table.text(k) for k in used]
    tally: dict[tuple[str, ...], float] = {}
    times: dict[tuple[str, ...], int] = {}
    first_row: dict[tuple[str, ...], int] = {}
    rows = zip(*cells, strict=True) if cells else iter(())
    for row, (ballot, amount) in enumerate(zip(rows, weights.tolist(), strict=False)):
        tally[ballot] = tally.get(ballot, 0.0) + amount
        times[ballot] = times.get(ballot, 0) + 1
        first_row.setdefault(ballot, row)

    empty = {"", *blanks}
    items: dict[str, int] = {}
    orders: list[list[int]] = []
    amounts: list[float] = []
    tokens: Counter[str] = Counter()
    mentions: Counter[int] = Counter()
    blank = gaps = doubled = total = 0
    for ballot, amount in tally.items():
        count = times[ballot]
        order: list[int] = []
        gap = hole = repeat = False
        for place, cell in enumerate(ballot):
            text = cell.strip()
            if text in empty:
                gap = True
                tokens[text] += count
                continue
            hole = hole or gap
            item = items.setdefault(restore_name(cell), len(items))
            if item not in order:
                order.append(item)
            elif repeated == "first":
                repeat = True
            else:
                repeat = True
                problems.add(_repeated_on_ballot(table, first_row[ballot], used[place], cell))
                break
        if repeat and repeated == "refuse":
            continue
        doubled += count * repeat
        gaps += count * hole
        if not order:
            blank += count
            continue
        total += count
        for item in order:
            mentions[item] += count
        orders.append(order)
        amounts.append(amount)

    notes = list(table.notes)
    marked = {token: count for token, count in tokens.items() if token}
    if marked:
        listing = ", ".join(f"{quote(token, 30)} {plural(count, 'time')}" for token, count in marked.items())
        notes.append(f"cells taken as blank: {listing}")
    if gaps:
        notes.append(f"{plural(gaps, 'ballot has', 'ballots have')} a blank above a name; the gap was closed")
    if doubled:
        notes.append(
            f"{plural(doubled, 'ballot names', 'ballots name')} an item more than once; the first mention was kept"
        )
    if blank:
        notes.append(f"{plural(blank, 'ballot')} without any name dropped")
    names = list(items)
    notes += name_notes(names) + _rare_notes(names, mentions, total)
    ranks = ballot_matrix(len(orders), len(names), table.source)
    for row, order in enumerate(orders):
        ranks[row, order] = np.arange(1, len(order) + 1)
    rule = resolve_unlisted(unlisted, "bottom")
    choices |= {"unlisted": rule, "ties": "one half each way", "direction": "best first", "repeated": repeated}
    return RawBallots(names, ranks, np.array(amounts, dtype=np.float64), notes, choices, rule)


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


def _rare_notes(names: Sequence[str], mentions: Counter[int], ballots: int) -> list[str]:
    """Note items on few ballots: a token for write-ins or spoilt marks easily passes for an item."""
    rare = [k for k in range(len(names)) if ballots >= 20 and mentions[k] < ballots / 20]
    if not rare or len(rare) > len(names) / 2:
        return []  # where most items are rare, rarity says nothing
    listing = ", ".join(f"{quote(names[k], 30)} on {mentions[k]:,}" for k in rare[:5])
    more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
    return [f"rarely named items: {listing}{more} of {ballots:,} ballots; set blanks= if one is no item"]


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
    values = np.column_stack([table.numbers(k, problems, blanks=blanks, what=what) for k in used])
    if not scores:
        for row, k in np.argwhere(values <= 0).tolist():
            problems.add(
                InputError(
                    "a rank must be 1 or more",
                    source=table.source,
                    line=table.lines[row],
                    column=table.label(used[k]),
                    found=table.text(used[k])[row],
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
    filled = ranks != 0
    holes = int((~filled & filled.any(axis=1, keepdims=True)).sum())
    if holes:
        notes.append(f"{plural(holes, 'empty cell')} on ballots with marks; the item is unlisted there")
    tied = (ranks.max(axis=1, initial=0) == 1) & (filled.sum(axis=1) > 1)
    if tied.any():
        notes.append(
            f"{plural(int(tied.sum()), 'ballot ties', 'ballots tie')} all that they list and so carry no preference"
        )
    marks = (values if high else -values) if scores else None
    return RawBallots(items, ranks, weights, notes, choices, rule, marks)


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
        if not name.strip(" |"):
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
        found=table.text(column)[row],
        expected="the voter, or task, that the mark belongs to",
        repair="fill the cell, or delete the row",
    )


def _low_rank(table: Table, column: int, row: int) -> InputError:
    return InputError(
        "a rank must be 1 or more",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=table.text(column)[row],
        expected="1 for the best, an empty cell for an unlisted item",
        repair='set format="long-scores" if high is best, or blanks= if the cell means nothing',
    )


def _uneven_weight(table: Table, column: int, row: int, weight: float) -> InputError:
    return InputError(
        f"the voter had weight {weight:g} on an earlier row",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=table.text(column)[row],
        expected="the same weight on all rows of a voter",
        repair="mend the cell, or rename the column if it holds no weights",
    )


def _two_marks(table: Table, column: int, row: int, earlier: int, who: str, name: str) -> InputError:
    return InputError(
        f"voter {quote(who, 30)} marks {quote(name, 30)} twice, and differently (first on line {earlier})",
        source=table.source,
        line=table.lines[row],
        column=table.label(column),
        found=table.text(column)[row],
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
    for k, name in enumerate(table.names):
        match = SLOT_NAME.fullmatch(plain(name))
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
                unmarked += 1
            elif item not in ballot:
                ballot[item] = float(marks[row])
            elif repeated == "first":
                twice = True
            else:
                problems.add(_repeated_on_ballot(table, row, slots[slot][0], cells[row]))
        doubled += twice
        row_at += [row] * len(ballot)
        item_at += ballot
        value_at += ballot.values()
    ranks = ballot_matrix(table.rows, len(items), table.source)
    rows, columns = np.array(row_at, dtype=np.int64), np.array(item_at, dtype=np.int64)
    ranks[rows, columns] = _ranks_within(rows, np.array(value_at, dtype=np.float64))
    notes = list(table.notes)
    if unmarked:
        notes.append(f"{plural(unmarked, 'item')} on a row without a rank; unlisted there")
    if doubled:
        notes.append(f"{plural(doubled, 'row names', 'rows name')} an item more than once; the first was kept")
    rule = resolve_unlisted(unlisted, "observed")
    notes += name_notes(list(items))
    if rule == "observed":
        pairs: set[tuple[int, int]] = set()
        for line in ranks:
            pairs.update(combinations(np.flatnonzero(line).tolist(), 2))
        notes += comparison_notes(len(items), pairs)
    choices |= {"unlisted": rule, "ties": "one half each way", "direction": "ranks: 1 is best", "repeated": repeated}
    return RawBallots(list(items), ranks, weights, notes, choices, rule)
