"""Battles and pair counts: rows that compare two items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError, quote
from holdrank.rankings import Ints
from holdrank.votes.forms.notes import comparison_notes, counted, name_notes, plural
from holdrank.votes.forms.raw import RawBallots, ranks_of_marks
from holdrank.votes.forms.table import MAX_WEIGHT, Problems, Ref, Table, find_weight, is_blank, is_number, read_weights
from holdrank.votes.forms.table_options import DEFAULTS, TableOptions
from holdrank.votes.forms.vocabulary import (
    BLANKS,
    COUNT_NAMES,
    FLAG_NAMES,
    PAIR_NAMES,
    SCORED_PAIR_NAMES,
    TIE_FLAG_NAME,
    WINNER_CODES,
    WINNER_NAMES,
    WON_NAMES,
    code,
)
from holdrank.votes.forms.voter_column import read_voters
from holdrank.votes.voters import Voters

T = TypeVar("T")

_FLAGS = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}

Row = tuple[str, ...]
"""The cells of a battle: two items, and what tells the result."""


@dataclass(frozen=True, slots=True)
class BattleColumns:
    """Which columns hold the two items and the result: a winner code, one-hot flags, or two scores.

    Without any of these the first item won.
    """

    first: int
    second: int
    winner: int | None = None
    flags: tuple[int, ...] = ()
    scores: tuple[int, int] | None = None

    @property
    def result(self) -> tuple[int, ...]:
        """The columns that tell the result."""
        if self.winner is not None:
            return (self.winner,)
        return self.scores or self.flags


def battle_columns(table: Table, options: TableOptions = DEFAULTS) -> BattleColumns | None:
    """Return the columns of a battle file, named by the caller or known by name; None if it is no such."""
    known = _first_columns(table)
    first, second, winner = options.first, options.second, options.winner
    if (first is None) != (second is None):
        raise UsageError("first and second name the two items of a battle: give both, or none")
    if first is not None and second is not None:
        return _battle_result(table, known, table.find(first, "first"), table.find(second, "second"), winner)
    for a, b, x, y in SCORED_PAIR_NAMES:
        if winner is None and {a, b, x, y} <= known.keys():
            return BattleColumns(known[a], known[b], scores=(known[x], known[y]))
    for a, b in PAIR_NAMES:
        if a in known and b in known:
            found = _battle_result(table, known, known[a], known[b], winner)
            if found is not None:
                return found
    for a, b in WON_NAMES:
        if winner is None and a in known and b in known:
            return BattleColumns(known[a], known[b])
    return None


def _first_columns(table: Table) -> dict[str, int]:
    """Return where each name stands first, names compared plainly."""
    return {name: k for k, name in reversed(list(enumerate(table.plain_names)))}


def _battle_result(
    table: Table, known: Mapping[str, int], first: int, second: int, winner: Ref | None
) -> BattleColumns | None:
    if winner is not None:
        return BattleColumns(first, second, winner=table.find(winner, "winner"))
    for name in WINNER_NAMES:
        if name in known:
            return BattleColumns(first, second, winner=known[name])
    for a, b in FLAG_NAMES:
        if a in known and b in known:
            tie = (known[TIE_FLAG_NAME],) if TIE_FLAG_NAME in known else ()
            return BattleColumns(first, second, flags=(known[a], known[b], *tie))
    return None


def battles(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read one comparison of two items a row; equal rows are counted before anything is looked at."""
    tally, choices = tally_battles(table, options, problems)
    return tally.ballots(choices)


def tally_battles(
    table: Table, options: TableOptions, problems: Problems, *, whole: bool = True
) -> tuple[PairTally, dict[str, str]]:
    """Count the results of every pair, and say what was chosen on the way.

    `whole` says that these are all rows; some of them cannot tell whether the winner column holds codes or names.
    """
    both_bad = options.both_bad
    if both_bad not in ("tie", "drop"):
        raise UsageError(f'both_bad is "tie" or "drop", not {both_bad!r}')
    columns = battle_columns(table, options)
    if columns is None:
        raise table.lacks(
            "no columns of battles found",
            "columns such as model_a, model_b, winner or home_team, away_team and their scores",
            Message("name the columns with ", Option("first"), ", ", Option("second"), " and ", Option("winner")),
        )
    choices = {"form": "battles", "both bad": both_bad}
    weight_column = find_weight(table, options.weight, choices)
    weights = read_weights(table, weight_column, problems)
    voters = read_voters(table, options, choices, problems)
    rows = _DistinctBattles(table, columns, None if weight_column is None and table.times is None else weights, voters)
    collected = PairTally(table)
    bad = missing = 0.0
    for row, outcome in _battle_outcomes(rows, problems, whole).items():
        amount = rows.tally[row]
        if outcome == "both bad":
            bad += amount
        if outcome == "missing":
            missing += amount
        elif outcome != "both bad" or both_bad == "tie":
            collected.add(row[0], row[1], outcome, amount, rows.line_of, row, problems)
    if voters is not None:
        collected.cast = _cast(rows, collected)
    if bad:
        done = "counted as ties" if both_bad == "tie" else "dropped"
        collected.notes.append(counted(bad, "battle", f"called both items bad; {done}"))
    if missing:
        collected.notes.append(counted(missing, "battle", "without two scores dropped"))
    return collected, choices


class _DistinctBattles:
    """Distinct rows of battles, with their weights (one each by default)."""

    def __init__(
        self,
        table: Table,
        columns: BattleColumns,
        weights: NDArray[np.float64] | None,
        voters: Sequence[str] | None = None,
    ) -> None:
        self.table, self.columns = table, columns
        self.cast: dict[tuple[str, Row], float] = {}
        self._first_line: dict[Row, int] = {}
        tally: dict[Row, float] = {}
        if weights is None:
            tally.update(Counter(self._rows()))
        else:
            for row, amount in zip(self._rows(), weights.tolist(), strict=True):
                tally[row] = tally.get(row, 0.0) + amount
        self.tally = tally
        if voters is not None:
            amounts = repeat(1.0) if weights is None else weights.tolist()
            for voter, row, amount in zip(voters, self._rows(), amounts, strict=False):
                self.cast[voter, row] = self.cast.get((voter, row), 0.0) + amount

    def _rows(self) -> Iterator[Row]:
        used = (self.columns.first, self.columns.second, *self.columns.result)
        return zip(*(self.table.text(k) for k in used), strict=True)

    def line_of(self, row: Row) -> int:
        """Return where a row stands first; looked up only when something is wrong with one."""
        if not self._first_line:
            for line, cells in zip(self.table.lines, self._rows(), strict=True):
                self._first_line.setdefault(cells, line)
        return self._first_line[row]

    def fault(
        self, problem: str, row: Row, found: str, expected: str, repair: str, column: int | None = None
    ) -> InputError:
        """Return the error for a row, or for one of its cells."""
        return InputError(
            problem,
            source=self.table.source,
            line=self.line_of(row),
            column=None if column is None else self.table.label(column),
            found=found,
            expected=expected,
            repair=repair,
        )


def _cast(rows: _DistinctBattles, collected: PairTally) -> Voters:
    """Return who cast the battles that count."""
    numbers: dict[str, int] = {}
    entries: list[tuple[int, int, int, int]] = []
    amounts: list[float] = []
    for (voter, row), amount in rows.cast.items():
        result = collected.result_of(row)
        if result is not None:
            entries.append((numbers.setdefault(voter, len(numbers)), *result))
            amounts.append(amount)
    table = np.array(entries, dtype=np.int64).reshape(-1, 4)
    return Voters.of(list(numbers), table[:, 0], table[:, 1:], np.array(amounts))


def _battle_outcomes(rows: _DistinctBattles, problems: Problems, whole: bool) -> dict[Row, str]:
    """Return for every distinct row who won: first, second, tie, both bad or missing."""
    columns = rows.columns
    if columns.winner is not None:
        return _coded_outcomes(rows, columns.winner, problems, whole)
    if not columns.result:
        return dict.fromkeys(rows.tally, "first")
    out: dict[Row, str] = {}
    for row in rows.tally:
        cells = [cell.strip() for cell in row[2:]]
        outcome = _by_flags(cells) if columns.scores is None else _by_scores(cells)
        if outcome is not None:
            out[row] = outcome
        elif columns.scores is None:
            names = ", ".join(quote(rows.table.label(k), 30) for k in columns.flags)
            problem, found = "exactly one of the winner columns must be 1", ", ".join(cells)
            problems.add(rows.fault(problem, row, found, f"one 1 among {names}", "mend the row", columns.flags[0]))
        else:
            problem, found = "the two scores of a battle are not numbers", " and ".join(cells)
            repair = "mend the cells, or leave them empty if there is no result"
            problems.add(rows.fault(problem, row, found, "two numbers to compare", repair))
    return out


def _by_scores(cells: Sequence[str]) -> str | None:
    """Return who won by two scores; None if they are no numbers."""
    if any(is_blank(cell, BLANKS) for cell in cells):
        return "missing"
    if not all(map(is_number, cells)):
        return None
    x, y = map(float, cells)
    return "first" if x > y else "second" if y > x else "tie"


def _by_flags(cells: Sequence[str]) -> str | None:
    """Return who won by flags, of which one must be set; None if not."""
    flags = [_FLAGS.get(cell.lower()) for cell in cells]
    if None in flags or flags.count(1) != 1:
        return None
    return ("first", "second", "tie")[flags.index(1)]


def _coded_outcomes(rows: _DistinctBattles, winner: int, problems: Problems, whole: bool) -> dict[Row, str]:
    """Read the winner column, which holds codes or names; refuse where the two readings disagree."""
    table, columns = rows.table, rows.columns
    codes = {word: meaning for meaning, words in WINNER_CODES.items() for word in words}
    codes.setdefault(code(table.names[columns.first]), "first")
    codes.setdefault(code(table.names[columns.second]), "second")

    coded: dict[Row, str | None] = {}
    named: dict[Row, str | None] = {}
    for row in rows.tally:
        a, b, cell = row
        coded[row] = codes.get(code(cell))
        named[row] = "first" if cell == a else "second" if cell == b else None
    # The column speaks one language: if codes alone explain every row they are meant, else names are.
    all_codes = all(coded.values())
    all_names = all(named[row] or coded[row] in ("tie", "both bad") for row in rows.tally)
    unsure = all_codes == all_names or not whole
    out: dict[Row, str] = {}
    unknown: dict[str, float] = {}
    for row, amount in rows.tally.items():
        by_code, by_name = coded[row], named[row]
        if by_code and by_name and by_code != by_name and unsure and row[0] != row[1]:
            problem = "the winner is both a code and the name of an item, and the two disagree"
            repair = "write the winner as model_a, model_b or tie"
            problems.add(rows.fault(problem, row, row[2], "model_a, model_b or tie", repair, winner))
            continue
        verdict = (by_code or by_name) if all_codes else (by_name or by_code)
        if verdict is None:
            unknown[row[2]] = unknown.get(row[2], 0.0) + amount
        else:
            out[row] = verdict
    if unknown:
        problems.add(_unknown_winners(rows, winner, unknown))
    return out


def _unknown_winners(rows: _DistinctBattles, winner: int, unknown: Mapping[str, float]) -> InputError:
    """Return the error for values of the winner column that are neither codes nor names, commonest first."""
    ranked = sorted(unknown.items(), key=lambda pair: (-pair[1], pair[0]))
    listing = ", ".join(f"{quote(value, 30)} {plural(count, 'time')}" for value, count in ranked[:10])
    commonest = ranked[0][0]
    return rows.fault(
        f"{plural(len(ranked), 'value')} in the winner column cannot be read: {listing}",
        next(row for row in rows.tally if row[2] == commonest),
        commonest,
        "model_a, model_b, tie, both_bad (or left, right, 1, 2, draw), or the winner's name",
        "replace those values, or delete their rows",
        winner,
    )


OF_PAIRS = {"unlisted": "observed", "ties": "one half each way", "direction": "winner above loser"}
"""What is chosen wherever rows compare two items."""


class PairTally:
    """Weighted results of pairs, whichever item was named first (the same pair reversed is the same pair)."""

    def __init__(self, table: Table) -> None:
        self.source = table.source
        self.numbers: dict[str, int] = {}
        self.weights: dict[tuple[int, int, int], float] = {}
        self.selves = 0.0
        self.notes = list(table.notes)
        self.cast: Voters | None = None
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
            return
        better = {"first": -1, "second": 1}.get(outcome, 0)
        key = (i, j, better) if i < j else (j, i, -better)
        self.weights[key] = self.weights.get(key, 0.0) + amount
        self._key_of[row] = key

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
        """Return what was dropped or assumed on the way."""
        dropped = [counted(self.selves, "comparison", "of an item with itself dropped")] if self.selves else []
        return [*self.notes, *dropped]

    def ballots(self, choices: dict[str, str]) -> RawBallots:
        """Return a ballot over two items for every result."""
        results, weight = self._results()
        raw = ballots_of_results(list(self.numbers), results, weight, self.source)
        return replace(raw, notes=self.said() + raw.notes, choices=choices | raw.choices, cast=self.cast)

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


def pair_count_columns(table: Table) -> list[int] | None:
    """Return the columns of two items, their wins and perhaps ties, known by name; None if it is no such."""
    known = _first_columns(table)
    for names in COUNT_NAMES:
        if all(name in known for name in names):
            ties = [known[name] for name in ("ties", "tie", "draws") if name in known]
            return [known[name] for name in names] + ties[:1]
    return None


def pair_counts(table: Table, options: TableOptions, problems: Problems) -> RawBallots:
    """Read one pair of items a row: the two items, the wins of each and perhaps the ties."""
    tally, choices = tally_pair_counts(table, options, problems)
    return tally.ballots(choices)


def tally_pair_counts(table: Table, options: TableOptions, problems: Problems) -> tuple[PairTally, dict[str, str]]:
    """Add up the counts of every pair, and say what was chosen on the way."""
    used = pair_count_columns(table) if options.columns is None else table.find_all(options.columns, "columns")
    if used is None or len(used) not in (4, 5):
        raise table.lacks(
            "no columns of pair counts found",
            "i, j, wins_i, wins_j and perhaps ties",
            Message("name the four or five columns in this order with ", Option("columns")),
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
