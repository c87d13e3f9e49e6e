"""Battles and pair counts: rows that compare two items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, UsageError, quote
from holdrank.tables.table import (
    MAX_WEIGHT,
    Problems,
    RawBallots,
    Ref,
    Table,
    ballot_matrix,
    comparison_notes,
    counted,
    find_weight,
    is_number,
    name_notes,
    plural,
    read_weights,
)
from holdrank.tables.vocabulary import (
    BLANKS,
    COUNT_NAMES,
    FLAG_NAMES,
    PAIR_NAMES,
    SCORED_PAIR_NAMES,
    WINNER_CODES,
    WON_NAMES,
    code,
)

LineOf = Callable[..., int]
"""Where a row stands in the source; looked up only when something is wrong with it."""


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


def battle_columns(
    table: Table, first: Ref | None = None, second: Ref | None = None, winner: Ref | None = None
) -> BattleColumns | None:
    """Return the columns of a battle file, named by the caller or known by name; None if it is no such."""
    known = _first_columns(table)
    if (first is None) != (second is None):
        raise UsageError("first and second name the two items of a battle: give both, or none")
    if first is None or second is None:
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
    return _battle_result(table, known, table.find(first, "first"), table.find(second, "second"), winner)


def _first_columns(table: Table) -> dict[str, int]:
    """Return where each name stands first, names compared plainly."""
    return {name: k for k, name in reversed(list(enumerate(table.plain_names)))}


def _battle_result(
    table: Table, known: Mapping[str, int], first: int, second: int, winner: Ref | None
) -> BattleColumns | None:
    if winner is not None:
        return BattleColumns(first, second, winner=table.find(winner, "winner"))
    if "winner" in known:
        return BattleColumns(first, second, winner=known["winner"])
    for a, b in FLAG_NAMES:
        if a in known and b in known:
            tie = (known["winner_tie"],) if "winner_tie" in known else ()
            return BattleColumns(first, second, flags=(known[a], known[b], *tie))
    return None


def battles(
    table: Table,
    problems: Problems,
    *,
    first: Ref | None = None,
    second: Ref | None = None,
    winner: Ref | None = None,
    weight: Ref | None = None,
    both_bad: str = "tie",
) -> RawBallots:
    """Read one comparison of two items a row; equal rows are counted before anything is looked at."""
    tally, choices = tally_battles(
        table, problems, first=first, second=second, winner=winner, weight=weight, both_bad=both_bad
    )
    return tally.ballots(choices)


def tally_battles(
    table: Table,
    problems: Problems,
    *,
    first: Ref | None = None,
    second: Ref | None = None,
    winner: Ref | None = None,
    weight: Ref | None = None,
    both_bad: str = "tie",
    whole: bool = True,
) -> tuple[PairTally, dict[str, str]]:
    """Count the results of every pair, and say what was chosen on the way.

    `whole` says that these are all rows; some of them cannot tell whether the winner column holds codes or names.
    """
    if both_bad not in ("tie", "drop"):
        raise UsageError(f'both_bad is "tie" or "drop", not {both_bad!r}')
    columns = battle_columns(table, first, second, winner)
    if columns is None:
        raise InputError(
            "no columns of battles found",
            source=table.source,
            found=", ".join(table.names[:12]),
            expected="columns such as model_a, model_b, winner or home_team, away_team and their scores",
            repair="name the columns with first=, second= and winner=",
        )
    choices = {"form": "battles", "both bad": both_bad}
    weight_column = find_weight(table, weight, choices)
    weights = read_weights(table, weight_column, problems)
    used = (columns.first, columns.second, *columns.result)
    tally: dict[tuple[str, ...], float] = {}
    rows = zip(*(table.text(k) for k in used), strict=True)
    if weight_column is None and table.times is None:
        tally.update(Counter(rows))
    else:
        for row, amount in zip(rows, weights.tolist(), strict=True):
            tally[row] = tally.get(row, 0.0) + amount

    first_line: dict[tuple[str, ...], int] = {}

    def line_of(row: tuple[str, ...]) -> int:
        """Find where a distinct row stands first; only asked when something is wrong with one."""
        if not first_line:
            for line, cells in zip(table.lines, zip(*(table.text(k) for k in used), strict=True), strict=True):
                first_line.setdefault(cells, line)
        return first_line[row]

    outcomes = _battle_outcomes(table, columns, tally, line_of, problems, whole)
    collected = PairTally(table)
    bad = missing = 0.0
    for row, outcome in outcomes.items():
        amount = tally[row]
        if outcome == "missing":
            missing += amount
        elif outcome == "both bad" and both_bad == "drop":
            bad += amount
        else:
            collected.add(row[0], row[1], outcome, amount, line_of, row, problems)
        if outcome == "both bad" and both_bad == "tie":
            bad += amount
    if bad:
        done = "counted as ties" if both_bad == "tie" else "dropped"
        collected.notes.append(counted(bad, "battle", f"called both items bad; {done}"))
    if missing:
        collected.notes.append(counted(missing, "battle", "without two scores dropped"))
    return collected, choices


def _battle_outcomes(
    table: Table,
    columns: BattleColumns,
    rows: Mapping[tuple[str, ...], float],
    line_of: LineOf,
    problems: Problems,
    whole: bool,
) -> dict[tuple[str, ...], str]:
    """Return for every distinct row who won: first, second, tie, both bad or missing."""
    if columns.winner is not None:
        return _coded_outcomes(table, columns, rows, line_of, problems, whole)
    if not columns.result:
        return dict.fromkeys(rows, "first")
    out: dict[tuple[str, ...], str] = {}
    for row in rows:
        cells = [cell.strip() for cell in row[2:]]
        if columns.scores is not None:
            if any(not cell or cell in BLANKS or cell.lower() == "nan" for cell in cells):
                out[row] = "missing"
            elif all(is_number(cell) for cell in cells):
                x, y = map(float, cells)
                out[row] = "first" if x > y else "second" if y > x else "tie"
            else:
                problems.add(
                    InputError(
                        "the two scores of a battle are not numbers",
                        source=table.source,
                        line=line_of(row),
                        found=" and ".join(cells),
                        expected="two numbers to compare",
                        repair="mend the cells, or leave them empty if there is no result",
                    )
                )
            continue
        flags = [{"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}.get(c.lower()) for c in cells]
        if None in flags or sum(flag or 0 for flag in flags) != 1:
            problems.add(
                InputError(
                    "exactly one of the winner columns must be 1",
                    source=table.source,
                    line=line_of(row),
                    column=table.label(columns.flags[0]),
                    found=", ".join(cells),
                    expected=f"one 1 among {', '.join(quote(table.label(k), 30) for k in columns.flags)}",
                    repair="mend the row",
                )
            )
            continue
        out[row] = ("first", "second", "tie")[flags.index(1)]
    return out


def _coded_outcomes(
    table: Table,
    columns: BattleColumns,
    rows: Mapping[tuple[str, ...], float],
    line_of: LineOf,
    problems: Problems,
    whole: bool,
) -> dict[tuple[str, ...], str]:
    """Read the winner column, which holds codes or names; refuse where the two readings disagree."""
    codes: dict[str, str] = {}
    for meaning, words in WINNER_CODES.items():
        codes.update(dict.fromkeys(words, meaning))
    codes.setdefault(code(table.names[columns.first]), "first")
    codes.setdefault(code(table.names[columns.second]), "second")

    coded: dict[tuple[str, ...], str | None] = {}
    named: dict[tuple[str, ...], str | None] = {}
    for row in rows:
        a, b, cell = row
        coded[row] = codes.get(code(cell))
        named[row] = "first" if cell == a else "second" if cell == b else None
    # The column speaks one language: if codes alone explain every row they are meant, else names are.
    all_codes = all(coded.values())
    all_names = all(named[row] or coded[row] in ("tie", "both bad") for row in rows)
    out: dict[tuple[str, ...], str] = {}
    unknown: dict[str, float] = {}
    for row, amount in rows.items():
        by_code, by_name = coded[row], named[row]
        unsure = all_codes == all_names or not whole
        if by_code and by_name and by_code != by_name and unsure and row[0] != row[1]:
            problems.add(
                InputError(
                    "the winner is both a code and the name of an item, and the two disagree",
                    source=table.source,
                    line=line_of(row),
                    column=table.label(columns.winner or 0),
                    found=row[2],
                    expected="model_a, model_b or tie",
                    repair="write the winner as model_a, model_b or tie",
                )
            )
            continue
        verdict = (by_code or by_name) if all_codes else (by_name or by_code)
        if verdict is None:
            unknown[row[2]] = unknown.get(row[2], 0.0) + amount
        else:
            out[row] = verdict
    if unknown:
        _refuse_winners(table, columns, rows, unknown, line_of, problems)
    return out


def _refuse_winners(
    table: Table,
    columns: BattleColumns,
    rows: Mapping[tuple[str, ...], float],
    unknown: Mapping[str, float],
    line_of: LineOf,
    problems: Problems,
) -> None:
    ranked = sorted(unknown.items(), key=lambda pair: (-pair[1], pair[0]))
    listing = ", ".join(f"{quote(value, 30)} {plural(count, 'time')}" for value, count in ranked[:10])
    problems.add(
        InputError(
            f"{plural(len(ranked), 'value')} in the winner column cannot be read: {listing}",
            source=table.source,
            line=line_of(next(row for row in rows if row[2] == ranked[0][0])),
            column=table.label(columns.winner or 0),
            found=ranked[0][0],
            expected="model_a, model_b, tie, both_bad (or left, right, 1, 2, draw), or the winner's name",
            repair="replace those values, or delete their rows",
        )
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

    def add(
        self,
        a: str,
        b: str,
        outcome: str,
        amount: float,
        line_of: LineOf,
        row: tuple[str, ...] | int,
        problems: Problems,
    ) -> None:
        """Add a result of two items, or refuse one without a name."""
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

    def wins(self) -> NDArray[np.float64]:
        """Return W, W[i, j] = wins of item i against j, a tie counting half for each."""
        W = np.zeros((len(self.numbers), len(self.numbers)))
        if self.weights:
            i, j, better = np.array(list(self.weights), dtype=np.int64).T
            weight = np.fromiter(self.weights.values(), dtype=np.float64, count=len(self.weights))
            np.add.at(W, (i, j), weight * (1 - better) / 2)
            np.add.at(W, (j, i), weight * (1 + better) / 2)
        return W

    def said(self) -> list[str]:
        """Return what was dropped or assumed on the way."""
        dropped = [counted(self.selves, "comparison", "of an item with itself dropped")] if self.selves else []
        return [*self.notes, *dropped]

    def ballots(self, choices: dict[str, str]) -> RawBallots:
        """Return a ballot over two items for every result."""
        self.notes = self.said()
        ranks = ballot_matrix(len(self.weights), len(self.numbers), self.source)
        for row, (i, j, better) in enumerate(self.weights):
            ranks[row, i] = 2 if better > 0 else 1
            ranks[row, j] = 2 if better < 0 else 1
        items = list(self.numbers)
        self.notes += name_notes(items)
        pairs = np.array(list(self.weights), dtype=np.int64).reshape(-1, 3)
        self.notes += comparison_notes(len(items), pairs[:, 0], pairs[:, 1])
        choices |= OF_PAIRS
        weights = np.fromiter(self.weights.values(), dtype=np.float64, count=len(self.weights))
        return RawBallots(items, ranks, weights, self.notes, choices, "observed")


def pair_count_columns(table: Table) -> list[int] | None:
    """Return the columns of two items, their wins and perhaps ties, known by name; None if it is no such."""
    known = _first_columns(table)
    for names in COUNT_NAMES:
        if all(name in known for name in names):
            ties = [known[name] for name in ("ties", "tie", "draws") if name in known]
            return [known[name] for name in names] + ties[:1]
    return None


def pair_counts(table: Table, problems: Problems, *, columns: Sequence[Ref] | None = None) -> RawBallots:
    """Read one pair of items a row: the two items, the wins of each and perhaps the ties."""
    tally, choices = tally_pair_counts(table, problems, columns=columns)
    return tally.ballots(choices)


def tally_pair_counts(
    table: Table, problems: Problems, *, columns: Sequence[Ref] | None = None
) -> tuple[PairTally, dict[str, str]]:
    """Add up the counts of every pair, and say what was chosen on the way."""
    if columns is not None:
        used: list[int] | None = table.find_all(columns, "columns")
    else:
        used = pair_count_columns(table)
    if used is None or len(used) not in (4, 5):
        raise InputError(
            "no columns of pair counts found",
            source=table.source,
            found=", ".join(table.names[:12]),
            expected="i, j, wins_i, wins_j and perhaps ties",
            repair="name the four or five columns in this order with columns=",
        )
    counts = np.column_stack([table.numbers(k, problems, blanks=(), what="a count") for k in used[2:]])
    if table.times is not None:
        counts *= table.times[:, None]
    tally = PairTally(table)
    firsts, seconds = table.text(used[0]), table.text(used[1])
    for row, (a, b) in enumerate(zip(firsts, seconds, strict=True)):
        if not (counts[row] >= 0).all() or (counts[row] > MAX_WEIGHT).any():
            problems.add(
                InputError(
                    "a count is missing, negative or too large",
                    source=table.source,
                    line=table.lines[row],
                    found=", ".join(table.cell(k, row) for k in used[2:]),
                    expected="numbers from 0 to 2**46",
                    repair="write 0 where nothing was counted",
                )
            )
            continue
        for outcome, amount in zip(("first", "second", "tie"), counts[row].tolist(), strict=False):
            tally.add(a, b, outcome, amount, table.lines.__getitem__, row, problems)
    return tally, {"form": "pair counts", "weight": "the counts"}
