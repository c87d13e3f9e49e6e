"""Ballots whose cells are numbers: one voter per row, one mark per row, or one judgement over several items per row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError, quote
from holdrank.votes.ballots.ranks import ranks_of_values, ranks_within
from holdrank.votes.forms.notes import comparison_notes, counted, name_notes, plural
from holdrank.votes.forms.orders import named_twice
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks, with_scores
from holdrank.votes.forms.scores import (
    direction_words,
    find_key,
    is_blank_name,
    item_names,
    nameless,
    refuse_text_columns,
)
from holdrank.votes.forms.table import Problems, Ref, Table, find_weight, named_like, no_name, read_weights
from holdrank.votes.forms.table_options import DEFAULTS, TableOptions, ballot_choices
from holdrank.votes.forms.vocabulary import (
    BALLOT_WEIGHT_NAMES,
    BLANKS,
    JUDGED_NAMES,
    JURY_NAMES,
    MARK_NAMES,
    RANK_NAMES,
    SLOT_NAME,
    TASK_NAMES,
    VOTER_NAMES,
    restore_name,
)
from holdrank.votes.forms.voters_and_groups import grouped_rows, read_groups
from holdrank.votes.groups import Groups

_NOT_A_RANK = Message(
    "set ",
    Option("format", "long-scores"),
    " if higher is better, or ",
    Option("blanks"),
    " if it marks a missing value",
)


def item_columns(table: Table, options: TableOptions, problems: Problems, *, scores: bool) -> RawBallots:
    """Read one voter per row and one item per column, the cells ranks (1 is best) or scores (higher is better)."""
    if not isinstance(options.lower_is_better, bool) and options.lower_is_better:
        raise UsageError(
            "score columns have one direction for all items",
            repair=Message("set ", Option("lower_is_better", True)),
        )
    blanks = options.blanks_or(BLANKS)
    choices = {"form": "item columns with scores" if scores else "item columns with ranks"}
    weight_column = find_weight(table, options.weight, choices)
    used = columns_of_items(table, options.columns, options.voter, weight_column, options.by)
    if options.columns is None:
        refuse_text_columns(table, used, blanks)
    items = _column_items(table, used)
    values = np.empty((table.rows, len(used)))  # one column after the other: there may be many rows
    for column, k in enumerate(used):
        values[:, column] = table.numbers(k, problems, blanks=blanks, what="a score" if scores else "a rank")
    if not scores:
        repair = Message(
            "set ",
            Option("format", "score-columns"),
            " if higher is better, or ",
            Option("blanks", "0"),
            " if 0 means unlisted; or add 1 to all ranks if they count from 0",
        )
        for row, k in map(np.ndarray.tolist, np.argwhere(values <= 0)):  # one at a time: there may be many
            problems.add(_low_rank(table, row, used[k], repair))
    weights = read_weights(table, weight_column, problems)
    high = scores and not options.lower_is_better
    ranks = ranks_of_values(values, high)
    rule = options.unlisted_or("observed" if scores else "bottom")
    best = f"{'higher' if high else 'lower'} is better"
    choices |= ballot_choices(rule, f"scores: {best}" if scores else "ranks: 1 is best")
    notes = [*table.notes, f"cells read as {'scores' if scores else 'ranks'}: {best}", *name_notes(items)]
    times = np.ones(table.rows, dtype=np.int64) if table.times is None else table.times
    listed = (ranks != 0).sum(axis=1)
    holes = int((np.where(listed, len(used) - listed, 0) * times).sum())
    if holes:
        notes.append(counted(holes, "empty cell", "on ballots with marks; the item is unlisted there"))
    tied = (ranks.max(axis=1, initial=0) == 1) & (listed > 1)
    if tied.any():
        rest = "all that they list, and so express no preference"
        notes.append(counted(int(times[tied].sum()), "ballot ties", rest, many="ballots tie"))
    marks = (values if high else -values) if scores else None
    labels = grouped_rows(table, options, choices, options.voter)
    groups = None if labels is None else Groups.of_labels(*labels, weights)
    return RawBallots(items, ranks, weights, notes, choices, rule, marks, table.times, groups=groups)


def columns_of_items(
    table: Table, columns: Sequence[Ref] | None, voter: Ref | None, weight_column: int | None, by: Ref | None = None
) -> list[int]:
    """Return the columns that are items: those named, else all that are neither weight nor voter nor group."""
    if columns is not None:
        used = table.find_all(columns, "columns")
    else:
        skip = {weight_column, None if by is None else table.find(by, "by")}
        if voter is not None:
            skip.add(table.find(voter, "voter"))
        else:
            skip |= set(named_like(table, VOTER_NAMES))
        used = [k for k in range(len(table.names)) if k not in skip]
    if not used:
        raise table.lacks(
            "there is no item column",
            "one column per item",
            Message("name the item columns with ", Option("columns")),
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
            raise table.name_fault(
                f"columns {where[name] + 1} and {k + 1} have the same name",
                k,
                "a different name for each item",
                Message("rename one, or choose columns by position with ", Option("columns")),
            )
    return list(where)


def long_columns(table: Table, scores: bool, options: TableOptions = DEFAULTS) -> tuple[int, list[int], int] | None:
    """Return the columns (voter, item, mark) of a long table, named or known by name; None if one is lacking."""

    def pick(ref: Ref | None, names: Collection[str], what: str) -> int | None:
        if ref is not None:
            return table.find(ref, what)
        hits = named_like(table, names)
        return hits[0] if len(hits) == 1 else None

    voter_names = (JURY_NAMES | TASK_NAMES if scores else JURY_NAMES) - {"#"}  # it numbers rows
    if named_like(table, voter_names - JUDGED_NAMES):  # next to a voter, a submission is what is judged
        voter_names -= JUDGED_NAMES
    mark_column = pick(options.score, MARK_NAMES, "score") if scores else pick(options.rank, RANK_NAMES, "rank")
    voter_column = pick(options.voter, voter_names, "voter")
    if options.item is not None:
        key: list[int] | None = find_key(table, options.item)
    else:
        hits = [k for k in named_like(table, JUDGED_NAMES) if k != voter_column]
        key = hits if len(hits) == 1 else None
    if mark_column is None or voter_column is None or key is None:
        return None
    return voter_column, key, mark_column


def long_marks(table: Table, options: TableOptions, problems: Problems, *, scores: bool) -> RawBallots:
    """Read one mark per row: a voter, an item, and its rank or score."""
    keeps_first = options.keeps_first
    word = "score" if scores else "rank"
    found = long_columns(table, scores, options)
    if found is None:
        raise table.lacks(
            f"cannot tell which columns hold the voter, the item and the {word}",
            f"columns called voter, item and {word}",
            Message("name them with ", Option("voter"), ", ", Option("item"), " and ", Option(word)),
        )
    voter_column, key, mark_column = found
    choices = {"form": f"long {word}s"}
    weight_column = find_weight(table, options.weight, choices)
    row_weights = read_weights(table, weight_column, problems)
    values = table.numbers(mark_column, problems, blanks=options.blanks_or(BLANKS), what=f"a {word}")
    names = item_names(table, key)
    marks = _LongMarks(table, found, weight_column, problems)
    for row, (who, name) in enumerate(zip(table.text(voter_column), names, strict=True)):
        if marks.has_names(row, who, name) and (scores or marks.has_rank(row, values[row])):
            marks.add(row, who, name, values[row], row_weights[row], keeps_first)
    notes = [*table.notes, *marks.notes(word)]
    voters, items = list(marks.voters), list(marks.items)
    low = _low_voters(marks.voters, options.lower_is_better, table)
    voter_at, item_at = np.array(list(marks.found), dtype=np.int64).reshape(-1, 2).T
    amounts = np.array([value for value, _ in marks.found.values()], dtype=np.float64)
    if scores:
        amounts = np.where(np.isin(voter_at, low), amounts, -amounts)
    within = ranks_within(voter_at, amounts)
    ranks, scored = ranks_of_marks((len(voters), len(items)), voter_at, item_at, within, table.source), None
    if scores:
        ranks, scored = with_scores(ranks, voter_at, item_at, -amounts)
    rule = options.unlisted_or("observed" if scores else "bottom")
    direction = direction_words(voters, low) if scores else "ranks: 1 is best"
    choices |= ballot_choices(rule, direction, options.repeated)
    skip = {voter_column, mark_column, weight_column, *key}
    notes += name_notes(items) + _attribute_notes(table, names, skip)
    weights = np.array(marks.weights, dtype=np.float64)
    of, labels = table.label(voter_column), voters
    if options.by is not None:
        column = table.find(options.by, "by")
        of, labels = table.label(column), _groups_of_voters(table, column, voter_column, voters, choices)
    groups = Groups.of_labels(of, labels, weights)
    return RawBallots(items, ranks, weights, notes, choices, rule, scored, groups=groups)


def _groups_of_voters(
    table: Table, column: int, voter_column: int, voters: Sequence[str], choices: dict[str, str]
) -> list[str]:
    """Return the group of every voter of a long table; all rows of a voter must name the same one."""
    group_of: dict[str, str] = {}
    names = read_groups(table, column, choices).cells()
    for row, (who, name) in enumerate(zip(table.text(voter_column), names, strict=True)):
        if group_of.setdefault(who, name) != name:
            raise table.fault(
                f"{quote(who, 30)} is in two groups, {quote(group_of[who], 30)} and {quote(name, 30)}",
                f"one {quote(table.label(column), 30)} for all rows of a {quote(table.label(voter_column), 30)}",
                Message("correct the cell, or name another column with ", Option("by")),
                row=row,
                column=column,
            )
    return [group_of[who] for who in voters]


class _LongMarks:
    """The marks of a long table, row after row, with checks of each row."""

    def __init__(
        self, table: Table, columns: tuple[int, list[int], int], weight_column: int | None, problems: Problems
    ) -> None:
        self._table, self._weight_column, self._problems = table, weight_column, problems
        self._voter_column, self._key, self._mark_column = columns
        self.voters: dict[str, int] = {}
        self.items: dict[str, int] = {}
        self.found: dict[tuple[int, int], tuple[float, int]] = {}  # value and row by voter and item
        self.weights: list[float] = []
        self._missing = self._merged = 0

    def has_names(self, row: int, who: str, name: str) -> bool:
        """Whether a row names an item and a voter."""
        if is_blank_name(name):
            self._problems.add(nameless(self._table, self._key, row))
            return False
        if not who.strip():
            expected = "the voter or task of the mark"
            repair = "fill the cell, or delete the row"
            self._fault("a mark has no voter", expected, repair, row, self._voter_column)
            return False
        return True

    def has_rank(self, row: int, value: float) -> bool:
        """Whether a rank is one, or missing."""
        if value <= 0:
            self._problems.add(_low_rank(self._table, row, self._mark_column))
        return not value <= 0

    def add(self, row: int, who: str, name: str, value: float, weight: float, keeps_first: bool) -> None:
        """Add the mark of a row, which may be missing, or repeat an earlier one."""
        v = self.voters.setdefault(who, len(self.voters))
        i = self.items.setdefault(name, len(self.items))
        if v == len(self.weights):
            self.weights.append(weight)
        elif weight != self.weights[v]:
            problem = f"the voter had weight {self.weights[v]:g} on an earlier row"
            expected = "the same weight on all rows of a voter"
            repair = "correct the cell, or rename the column if it does not hold weights"
            self._fault(problem, expected, repair, row, self._weight_column)
        if value != value:
            self._missing += 1
            return
        known, first_row = self.found.setdefault((v, i), (value, row))
        if first_row == row:
            return
        if known != value and not keeps_first:
            first = f"first on line {self._table.lines[first_row]}"
            problem = f"voter {quote(who, 30)} marks {quote(name, 30)} twice, with different marks ({first})"
            expected = "one mark per voter and item"
            repair = Message("delete a row, or set ", Option("repeated", "first"), " to keep the first")
            self._fault(problem, expected, repair, row, self._mark_column)
        self._merged += 1

    def notes(self, word: str) -> list[str]:
        """Return what was merged, and what is missing."""
        notes = []
        if self._merged:
            repeats = plural(self._merged, "row repeats", "rows repeat")
            notes.append(f"{repeats} a voter and item; the first mark was kept")
        if self._missing:
            notes.append(f"{plural(self._missing, 'row')} without a {word}; the item is unlisted there")
        return notes

    def _fault(self, problem: str, expected: str, repair: str, row: int, column: int | None) -> None:
        self._problems.add(self._table.fault(problem, expected, repair, row=row, column=column))


def _low_voters(voters: dict[str, int], lower: Collection[Ref] | bool, table: Table) -> list[int]:
    if isinstance(lower, bool):
        return list(voters.values()) if lower else []
    names = [lower] if isinstance(lower, str) else lower
    unknown = [name for name in names if name not in voters]
    if unknown:
        raise UsageError(
            f"lower_is_better names {quote(str(unknown[0]))}, which is not a voter in {table.source or 'the table'}"
        )
    return [voters[str(name)] for name in names]


def _low_rank(table: Table, row: int, column: int, repair: str = _NOT_A_RANK) -> InputError:
    expected = "1 for the best, an empty cell for an unlisted item"
    return table.fault("a rank must be 1 or more", expected, repair, row=row, column=column)


def _attribute_notes(table: Table, names: Sequence[str], skip: Collection[int | None]) -> list[str]:
    """Return notes on items whose rows disagree in a column that is otherwise a property of the item."""
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
                f"such as {quote(min(differ), 40)}; each counts as one item"
            )
    return notes


def slot_columns(table: Table) -> list[tuple[int, int]] | None:
    """Return the pairs of columns ``system1Id, system1rank`` and so on; None if there are fewer than two."""
    ids: dict[tuple[str, int], int] = {}
    ranks: dict[tuple[str, int], int] = {}
    for k, name in enumerate(table.plain_names):
        match = SLOT_NAME.fullmatch(name)
        if match:
            (ranks if match[3] == "rank" else ids).setdefault((match[1], int(match[2])), k)
    slots = [(ids[slot], ranks[slot]) for slot in sorted(ids) if slot in ranks]
    return slots if len(slots) > 1 and len(slots) == len(ranks) else None


def multi_way(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read one judgement per row: ``system1Id … system5Id`` and their ranks, equal ranks tied."""
    keeps_first = options.keeps_first
    slots = slot_columns(table)
    if slots is None:
        raise table.lacks(
            "no columns of items and their ranks found",
            "system1Id, system2Id, … and system1rank, system2rank, …",
            "name the columns like this in the header",
        )
    choices = {"form": "multi-way rank rows"}
    weights = read_weights(table, find_weight(table, options.weight, choices, BALLOT_WEIGHT_NAMES), problems)
    blanks = options.blanks_or(BLANKS)
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
                problems.add(_low_rank(table, row, slots[slot][1]))
                continue
            item = items.setdefault(cells[row], len(items))
            if marks[row] != marks[row]:
                unmarked += times[row]
            elif item not in ballot:
                ballot[item] = float(marks[row])
            elif keeps_first:
                twice = True
            else:
                problems.add(named_twice(table, row, slots[slot][0]))
        doubled += twice * times[row]
        row_at += [row] * len(ballot)
        item_at += ballot
        value_at += ballot.values()
    rows, columns = np.array(row_at, dtype=np.int64), np.array(item_at, dtype=np.int64)
    within = ranks_within(rows, np.array(value_at, dtype=np.float64))
    ranks = ranks_of_marks((table.rows, len(items)), rows, columns, within, table.source)
    notes = list(table.notes)
    if unmarked:
        notes.append(counted(unmarked, "item", "on a row without a rank; it is unlisted there"))
    if doubled:
        kept = "an item more than once; the first was kept"
        notes.append(counted(doubled, "row names", kept, many="rows name"))
    rule = options.unlisted_or("observed")
    notes += name_notes(list(items))
    if rule == "observed":
        next_on_row = rows[1:] == rows[:-1]
        neighbours = columns[:-1][next_on_row], columns[1:][next_on_row]  # enough to find the connected items
        notes += comparison_notes(len(items), *neighbours, _compared(rows, columns, table.rows, len(items)))
    choices |= ballot_choices(rule, "ranks: 1 is best", options.repeated)
    labels = grouped_rows(table, options, choices)
    groups = None if labels is None else Groups.of_labels(*labels, weights)
    return RawBallots(list(items), ranks, weights, notes, choices, rule, times=table.times, groups=groups)


def _compared(rows: NDArray[np.int64], columns: NDArray[np.int64], m: int, n: int) -> int:
    """Return how many pairs of n items share at least one of m rows, without storing the pairs."""
    sizes = np.bincount(rows, minlength=m)
    if sizes.max(initial=0) == n:
        return n * (n - 1) // 2
    place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
    on_row = np.full((m, int(sizes.max(initial=0))), n, dtype=np.int32)  # n: none
    on_row[rows, place] = columns
    by_item = np.argsort(columns, kind="stable")
    ends = np.cumsum(np.bincount(columns, minlength=n))
    total = 0
    for item, end in enumerate(ends.tolist()):
        met = np.zeros(n + 1, dtype=bool)
        met[on_row[rows[by_item[ends[item - 1] if item else 0 : end]]]] = True
        total += int(np.count_nonzero(met[item + 1 : n]))
    return total
