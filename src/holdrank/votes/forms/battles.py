"""Battles and pair counts: rows that compare two items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError, show
from holdrank.rankings import Ints
from holdrank.votes.first_shown import FirstShown
from holdrank.votes.forms.battle_columns import battle_columns, first_columns
from holdrank.votes.forms.notes import comparison_notes, counted, listed_lines, name_notes
from holdrank.votes.forms.outcomes import DistinctBattles, battle_outcomes
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks
from holdrank.votes.forms.table import MAX_WEIGHT, Coded, Problems, Table, by_appearance, find_weight, read_weights
from holdrank.votes.forms.table_options import TableOptions
from holdrank.votes.forms.vocabulary import BLANKS, COUNT_NAMES
from holdrank.votes.forms.voters_and_groups import read_groups, read_voters
from holdrank.votes.groups import Groups
from holdrank.votes.voters import Voters

T = TypeVar("T")

_MOST_LINES = 5  # that a note names


def battles(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read one comparison of two items per row; equal rows are counted first."""
    tally, choices = tally_battles(table, options, problems)
    return tally.ballots(choices)


def tally_battles(
    table: Table, options: TableOptions, problems: Problems, *, whole: bool = True
) -> tuple[PairTally, dict[str, str]]:
    """Count the results of every pair, and record the choices made.

    `whole` says that these are all rows; a part of them may not show whether the winner column holds codes or names.
    """
    both_bad = options.both_bad
    if both_bad not in ("tie", "drop"):
        raise UsageError(f'both_bad is "tie" or "drop", not {both_bad!r}')
    columns = battle_columns(table, options)
    if columns is None:
        raise table.lacks(
            "no battle columns found",
            "columns such as model_a, model_b, winner or home_team, away_team and their scores",
            Message("name the columns with ", Option("first"), ", ", Option("second"), " and ", Option("winner")),
        )
    choices = {"form": "battles", "both bad": both_bad}
    if options.map:
        choices["map"] = ", ".join(f"{show(value, 30)} = {meaning}" for value, meaning in options.map.items())
    weight_column = find_weight(table, options.weight, choices)
    weights = read_weights(table, weight_column, problems)
    voters = read_voters(table, options, choices, problems)
    rows = DistinctBattles(table, columns, weights)
    collected = PairTally(table)
    collected.in_order = columns.how != "won"  # where the winner comes first in the row, the display order is unknown
    bad = missing = skipped = 0.0
    outcomes, note = battle_outcomes(rows, problems, whole, options.map or {})
    for row, outcome in outcomes.items():
        amount = rows.tally[row]
        if outcome == "both bad":
            bad += amount
        if outcome == "missing":
            missing += amount
        elif outcome == "skip":
            skipped += amount
        elif outcome != "both bad" or both_bad == "tie":
            collected.add(row[0], row[1], outcome, amount, rows.line_of, row, problems)
    if voters is not None and options.voter is not None:
        collected.cast = _cast(voters, rows, collected)
        collected.groups = table.label(table.find(options.voter, "voter")), collected.cast
    if options.by is not None:
        column = table.find(options.by, "by")
        groups = read_groups(table, column, choices)
        collected.groups = table.label(column), _cast(groups, rows, collected)
    if bad:
        done = "counted as ties" if both_bad == "tie" else "dropped"
        collected.notes.append(counted(bad, "battle", f"called both items bad and {done}"))
    if missing:
        what = "two scores" if columns.how == "scores" else "a result"
        collected.notes.append(counted(missing, "battle", f"without {what} dropped"))
    if skipped:
        collected.notes.append(counted(skipped, "battle", "skipped because of its result code"))
    if note:
        collected.notes.append(note)
    return collected, choices


def _cast(voters: Coded, rows: DistinctBattles, collected: PairTally) -> Voters:
    """Return who cast the battles that count, given the voter of every row of the table."""
    nothing = (-1, -1, 0)
    results = np.array([collected.result_of(row) or nothing for row in rows.tally], dtype=np.int64).reshape(-1, 3)
    counts = np.flatnonzero(results[rows.place, 0] >= 0)
    codes = voters.codes[counts]
    where, number = by_appearance(codes, len(voters.values))
    names = [voters.values[code] for code in codes[where].tolist()]
    return Voters.of(names, number, results[rows.place[counts]], rows.weights[counts])


OF_PAIRS = {"unlisted": "observed", "ties": "half a vote each way", "direction": "winner above loser"}
"""What is chosen wherever rows compare two items."""


class PairTally:
    """Weighted results of pairs, whichever item was named first (the same pair reversed is the same pair)."""

    def __init__(self, table: Table) -> None:
        self.source = table.source
        self.numbers: dict[str, int] = {}
        self.weights: dict[tuple[int, int, int], float] = {}
        self.selves = 0.0
        self._self_lines: list[int] = []
        self._says_lines = table.times is None  # notes on parts of a file are added up
        self.notes = list(table.notes)
        self.in_order = False  # whether the item named first was shown first
        self._shown: dict[tuple[int, int, int], float] = {}
        self.cast: Voters | None = None
        self.groups: tuple[str, Voters] | None = None
        self._key_of: dict[Any, tuple[int, int, int]] = {}

    def add(
        self,
        a: str,
        b: str,
        outcome: str,
        amount: float,
        line_of: Callable[[T], int],
        row: T,
        problems: Problems,
    ) -> None:
        """Add a result of two items, or refuse one without a name, on the line that is then looked up."""
        if not a.strip() or not b.strip():
            problems.add(
                InputError(
                    "an item has no name",
                    source=self.source,
                    line=line_of(row),
                    found=f"{a}, {b}",
                    expected="the names of two items",
                    repair="fill the cell, or delete the row",
                )
            )
            return
        i = self.numbers.setdefault(a, len(self.numbers))
        j = self.numbers.setdefault(b, len(self.numbers))
        if i == j:
            self.selves += amount
            if self._says_lines and len(self._self_lines) <= _MOST_LINES:
                self._self_lines.append(line_of(row))
            return
        better = {"first": -1, "second": 1}.get(outcome, 0)
        key = (i, j, better) if i < j else (j, i, -better)
        self.weights[key] = self.weights.get(key, 0.0) + amount
        self._key_of[row] = key
        if self.in_order:
            self._shown[i, j, better] = self._shown.get((i, j, better), 0.0) + amount

    def result_of(self, row: T) -> tuple[int, int, int] | None:
        """Return the two items of a row that was added, and which of them is better; None if it does not count."""
        return self._key_of.get(row)

    def wins(self) -> NDArray[np.float64]:
        """Return W, W[i, j] = wins of item i against j, a tie counting half for each."""
        W = np.zeros((len(self.numbers), len(self.numbers)))
        results, weight = self._results()
        i, j, better = results.T
        np.add.at(W, (i, j), weight * (1 - better) / 2)
        np.add.at(W, (j, i), weight * (1 + better) / 2)
        return W

    def said(self) -> list[str]:
        """Return what was dropped or assumed."""
        if not self.selves:
            return list(self.notes)
        where = listed_lines(self._self_lines)
        return [*self.notes, counted(self.selves, "comparison", f"of an item against itself dropped{where}")]

    def ballots(self, choices: dict[str, str]) -> RawBallots:
        """Return a ballot over two items for every result."""
        results, weight = self._results()
        raw = ballots_of_results(list(self.numbers), results, weight, self.source)
        groups = None if self.groups is None else groups_of_battles(*self.groups, results)
        shown = FirstShown.of(self._shown) if self._shown else None
        notes = self.said() + raw.notes
        return replace(
            raw, notes=notes, choices=choices | raw.choices, cast=self.cast, groups=groups, first_shown=shown
        )

    def _results(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return rows of two items and which of them is better (-1 the first, 0 none), and the weights."""
        results = np.array(list(self.weights), dtype=np.int64).reshape(-1, 3)
        return results, np.fromiter(self.weights.values(), dtype=np.float64, count=len(self.weights))


def ballots_of_results(items: list[str], results: Ints, weight: NDArray[np.float64], source: str = "") -> RawBallots:
    """Return a ballot over two items for every result: two items and which of them is better (-1 the first, 0 none)."""
    i, j, better = results.T
    row = np.tile(np.arange(len(weight)), 2)
    rank = np.concatenate([1 + (better > 0), 1 + (better < 0)])
    ranks = ranks_of_marks((len(weight), len(items)), row, np.concatenate([i, j]), rank, source)
    notes: list[str] = [*name_notes(items), *comparison_notes(len(items), i, j)]
    return RawBallots(items, ranks, weight, notes, dict(OF_PAIRS), "observed")


def groups_of_battles(of: str, voters: Voters, results: Ints) -> Groups:
    """Return the battles of voters as groups of ballots, where every result is a ballot."""
    values = np.concatenate((results, voters.results))
    values[:, 2] += 1  # better is -1, 0 or 1
    keys = np.ravel_multi_index(tuple(values.T), (int(values[:, :2].max(initial=0)) + 1,) * 2 + (3,))
    order = np.argsort(keys[: len(results)])
    ballot = order[np.searchsorted(keys[: len(results)], keys[len(results) :], sorter=order)]
    return Groups.make(of, voters.names, voters.voter, ballot=ballot, weight=voters.weight)


def pair_count_columns(table: Table) -> list[int] | None:
    """Return the columns of two items, their wins and perhaps ties, known by name; None for any other table."""
    known = first_columns(table)
    for names in COUNT_NAMES:
        if all(name in known for name in names):
            ties = [known[name] for name in ("ties", "tie", "draws") if name in known]
            return [known[name] for name in names] + ties[:1]
    return None


def pair_counts(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read one pair of items per row: the two items, the wins of each and perhaps the ties."""
    tally, choices = tally_pair_counts(table, options, problems)
    return tally.ballots(choices)


def tally_pair_counts(table: Table, options: TableOptions, problems: Problems) -> tuple[PairTally, dict[str, str]]:
    """Add up the counts of every pair, and record the choices made."""
    used = pair_count_columns(table) if options.columns is None else table.find_all(options.columns, "columns")
    if used is None or len(used) not in (4, 5):
        raise table.lacks(
            "no pair-count columns found",
            "i, j, wins_i, wins_j and perhaps ties",
            Message("name the four or five columns, in this order, with ", Option("columns")),
        )
    counts = np.column_stack([table.numbers(k, problems, blanks=(), what="a count") for k in used[2:]])
    if table.times is not None:
        counts *= table.times[:, None]
    tally = PairTally(table)
    firsts, seconds = table.text(used[0]), table.text(used[1])
    for row, (a, b) in enumerate(zip(firsts, seconds, strict=True)):
        if not (counts[row] >= 0).all() or (counts[row] > MAX_WEIGHT).any():
            problem = "a count is missing, negative or too large"
            found = ", ".join(table.cell(k, row) for k in used[2:])
            repair = "write 0 where nothing was counted"
            problems.add(table.fault(problem, "numbers from 0 to 2**46", repair, row=row, found=found))
            continue
        for outcome, amount in zip(("first", "second", "tie"), counts[row].tolist(), strict=False):
            tally.add(a, b, outcome, amount, table.lines.__getitem__, row, problems)
    return tally, {"form": "pair counts", "weight": "the counts"}


def is_win_matrix(table: Table) -> bool:
    """Whether the columns have the names of the rows: every cell then compares two of them."""
    names = [cell.strip() for cell in table.text(0)]
    columns = [name.strip() for name in table.names[1:]]
    if len(names) < 2 or len(set(names)) < len(names) or set(names) != set(columns) or len(columns) != len(names):
        return False
    return not table.is_numeric(0, ()) and all(
        table.is_numeric(k) for k in range(1, len(table.names)) if _any(table, k)
    )


def _any(table: Table, column: int) -> bool:
    return any(cell.strip() for cell in table.text(column))


def win_matrix(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read names in the first row and the first column; a cell says how often its row won against its column."""
    blanks = options.blanks_or(BLANKS)
    names = [cell.strip() for cell in table.text(0)]
    columns = [name.strip() for name in table.names[1:]]
    if not is_win_matrix(table):
        raise table.lacks(
            "the row names and the column names differ",
            "the same names in the first row and in the first column",
            "write one row per pair with the columns i, j, wins_i, wins_j",
        )
    order = [columns.index(name) + 1 for name in names]
    wins = np.column_stack([table.numbers(k, problems, blanks=blanks, what="a number of wins") for k in order])
    wins = np.where(np.isnan(wins), 0.0, wins)
    np.fill_diagonal(wins, 0.0)
    for i, j in np.argwhere(~((wins >= 0) & (wins <= MAX_WEIGHT))).tolist():
        problem, repair = "a number of wins is negative or too large", "write 0 where nothing was counted"
        problems.add(table.fault(problem, "numbers from 0 to 2**46", repair, row=i, column=order[j]))
    if (wins % 1 != 0).any() and wins.max() <= 1:
        i, j = (int(k) for k in np.argwhere(wins % 1 != 0)[0])
        raise table.fault(
            "the cells are win rates, which do not say how many battles there were",
            "numbers of wins",
            "multiply each rate by the number of battles of its pair",
            row=i,
            column=order[j],
        )
    return ballots_of_matrix(names, wins, table, "win matrix")


def ballots_of_matrix(items: Sequence[str], wins: NDArray[np.float64], table: Table, form: str) -> RawBallots:
    """Return the ballots of a matrix of wins, the diagonal left out."""
    tally = PairTally(table)
    for name in items:
        tally.numbers.setdefault(name, len(tally.numbers))
    for i, j in np.argwhere(wins).tolist():
        if i != j:
            tally.weights[(i, j, -1) if i < j else (j, i, 1)] = float(wins[i, j])
    return tally.ballots({"form": form, "weight": "the counts"})
