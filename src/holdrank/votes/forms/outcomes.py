"""The winner of each battle, from the cells of its row: a code, a name, flags or two scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, quote, show
from holdrank.votes.forms.battle_columns import BattleColumns
from holdrank.votes.forms.battle_layouts import BLANK_IS_TIE, LANGUAGE_OF, LANGUAGES
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.table import Coded, Problems, Table, by_appearance, is_blank, is_number
from holdrank.votes.forms.vocabulary import BLANKS, code, plain

Row = tuple[str, ...]
"""The cells of a battle: two items, and the result."""

_FLAGS = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0, "": 0}
_MOST_LISTED = 10
_MOST_KEYS = 1 << 22  # of rows that are numbered without sorting them


class DistinctBattles:
    """Distinct rows of battles, in the order in which they appear, with their weights.

    Attributes
    ----------
    tally : dict
        The distinct rows, and the weight of each.
    place : array of int
        For every row of the table, which of the distinct rows it is.
    weights : array of float
        The weight of every row of the table.
    """

    def __init__(self, table: Table, columns: BattleColumns, weights: NDArray[np.float64]) -> None:
        self.table, self.columns, self.weights = table, columns, weights
        self._first_line: dict[Row, int] = {}
        used = [table.coded(k) for k in (columns.first, columns.second, *columns.result)]
        where, self.place = _distinct(used)
        rows = zip(*([column.values[code] for code in column.codes[where].tolist()] for column in used), strict=True)
        sums = np.bincount(self.place, weights=weights, minlength=len(where))
        self.tally: dict[Row, float] = dict(zip(rows, sums.tolist(), strict=True))

    def _rows(self) -> Iterator[Row]:
        used = (self.columns.first, self.columns.second, *self.columns.result)
        return zip(*(self.table.text(k) for k in used), strict=True)

    def line_of(self, row: Row) -> int:
        """Return the line where a row first appears; used only for errors."""
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


def _distinct(columns: Sequence[Coded]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each distinct row appears first, in that order, and which of them each row is."""
    key, most = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        key, most = key * len(column.values) + column.codes, most * len(column.values)
        if most > _MOST_KEYS:  # as are those of scores, which rarely repeat
            values, key = np.unique(key, return_inverse=True)
            most = len(values)
    return by_appearance(key, most)


def battle_outcomes(
    rows: DistinctBattles, problems: Problems, whole: bool, chosen: Mapping[str, str]
) -> tuple[dict[Row, str], str]:
    """Return the outcome of every distinct row: first, second, tie, both bad, missing or skip; and a note, if any.

    `chosen` says what some codes mean; `whole` that these are all rows of the file.
    """
    columns = rows.columns
    if columns.how == "winner":
        return _coded_outcomes(rows, problems, whole, chosen)
    if columns.how == "won":
        return dict.fromkeys(rows.tally, "first"), ""
    out: dict[Row, str] = {}
    for row in rows.tally:
        cells = [cell.strip() for cell in row[2:]]
        outcome = _by_flags(cells) if columns.how == "flags" else _by_scores(cells)
        if outcome is not None:
            out[row] = outcome
        elif columns.how == "flags":
            names = ", ".join(quote(rows.table.label(k), 30) for k in columns.result)
            problem, found = "exactly one of the winner columns must be 1", ", ".join(cells)
            problems.add(rows.fault(problem, row, found, f"one 1 among {names}", "correct the row", columns.result[0]))
        else:
            problem, found = "the two scores of a battle are not numbers", " and ".join(cells)
            repair = "correct the cells, or leave them empty if there is no result"
            problems.add(rows.fault(problem, row, found, "two numbers to compare", repair))
    return out, ""


def _by_scores(cells: Sequence[str]) -> str | None:
    """Return the winner by two scores; None if they are not numbers."""
    if any(is_blank(cell, BLANKS) for cell in cells):
        return "missing"
    if not all(map(is_number, cells)):
        return None
    x, y = map(float, cells)
    return "first" if x > y else "second" if y > x else "tie"


def _by_flags(cells: Sequence[str]) -> str | None:
    """Return the winner by flags; None unless exactly one is set."""
    flags = [_FLAGS.get(cell.lower()) for cell in cells]
    if None in flags or flags.count(1) != 1:
        return None
    return ("first", "second", "tie")[flags.index(1)]


def _coded_outcomes(
    rows: DistinctBattles, problems: Problems, whole: bool, chosen: Mapping[str, str]
) -> tuple[dict[Row, str], str]:
    """Read the winner column, which holds codes or names; refuse where the two readings disagree."""
    told = {row: meaning for row in rows.tally if (meaning := _told(rows, row, chosen)) is not None}
    open_rows = [row for row in rows.tally if row not in told]
    cells = {row[2] for row in open_rows}
    codes, note = _codes(rows, cells)
    code_of = {cell: codes.get(code(cell)) for cell in cells}
    coded = {row: code_of[row[2]] for row in open_rows}
    named = {row: "first" if row[2] == row[0] else "second" if row[2] == row[1] else None for row in open_rows}
    # The column uses one language: codes if they explain every row, else names.
    all_codes = all(coded.values())
    all_names = all(named[row] or coded[row] in ("tie", "both bad", "skip") for row in open_rows)
    unsure = all_codes == all_names or not whole
    out: dict[Row, str] = dict(told)
    unknown: dict[str, float] = {}
    for row in open_rows:
        by_code, by_name = coded[row], named[row]
        if by_code and by_name and by_code != by_name and unsure and row[0] != row[1]:
            problem = "the winner is both a code and an item name, and the two disagree"
            repair = "write the winner as model_a, model_b or tie"
            problems.add(rows.fault(problem, row, row[2], "model_a, model_b or tie", repair, rows.columns.result[0]))
            continue
        verdict = (by_code or by_name) if all_codes else (by_name or by_code)
        if verdict is None:
            unknown[row[2]] = unknown.get(row[2], 0.0) + rows.tally[row]
        else:
            out[row] = verdict
    if unknown:
        problems.add(_unknown_winners(rows, unknown, {row: coded[row] or named[row] for row in open_rows}))
    return out, note


def _told(rows: DistinctBattles, row: Row, chosen: Mapping[str, str]) -> str | None:
    """Return the outcome that a row states explicitly: by a code that the caller explained, or by a flag column."""
    cell = row[2].strip()
    if cell in chosen:
        return chosen[cell]
    if cell or plain(rows.table.names[rows.columns.result[0]]) not in BLANK_IS_TIE:
        return None
    return "tie" if len(row) < 4 or _FLAGS.get(row[3].strip().lower()) == 1 else "missing"


def _codes(rows: DistinctBattles, cells: set[str]) -> tuple[Mapping[str, str], str]:
    """Return the codes of the language that explains all cells of the winner column, and a note on it, if any.

    The usual codes are tried first. If no language explains all cells, the one that explains most is used, so that a
    message lists the unknown values; if two explain them in different ways, the usual one is used.
    """
    table, columns = rows.table, rows.columns
    usual = dict(LANGUAGES["usual"])
    usual.setdefault(code(table.names[columns.first]), "first")
    usual.setdefault(code(table.names[columns.second]), "second")
    named = LANGUAGE_OF.get(plain(table.names[columns.result[0]]))
    words = {code(cell) for cell in cells}
    if named is not None and words <= LANGUAGES[named].keys():
        return LANGUAGES[named], ""
    if words <= usual.keys():
        return usual, ""
    scale = _scale(words)
    if words <= scale.keys():
        between = sum(rows.tally[row] for row in rows.tally if code(row[2]) not in ("1", "1.5", "2", "1.0", "2.0"))
        note = (
            f"{plural(between, 'preference')} between 1 and 2 counted as a win for the nearer item" if between else ""
        )
        return scale, note
    fitting = [language for language in LANGUAGES.values() if words <= language.keys()]
    if fitting and all(language[word] == fitting[0][word] for language in fitting for word in words):
        return fitting[0], ""
    if fitting:
        return usual, ""
    nearest = max((usual, scale, *LANGUAGES.values()), key=lambda language: len(words & language.keys()))
    return (LANGUAGES[named] if named is not None else nearest), ""


def _scale(words: set[str]) -> dict[str, str]:
    """Return the outcomes of preferences from 1 (the first) to 2 (the second), for the words that are such numbers."""
    numbers = [word for word in words if is_number(word) and 1 <= float(word) <= 2]
    return {word: "first" if float(word) < 1.5 else "second" if float(word) > 1.5 else "tie" for word in numbers}


def _unknown_winners(
    rows: DistinctBattles, unknown: Mapping[str, float], meanings: Mapping[Row, str | None]
) -> InputError:
    """Return the error for values of the winner column that are neither codes nor names, commonest first."""
    ranked = sorted(unknown.items(), key=lambda pair: (-pair[1], pair[0]))
    listing = _tallied(ranked[:_MOST_LISTED])
    more = f" and {len(ranked) - _MOST_LISTED} more" if len(ranked) > _MOST_LISTED else ""
    read: dict[str, float] = {}
    for row, meaning in meanings.items():
        if meaning is not None:
            read[row[2]] = read.get(row[2], 0.0) + rows.tally[row]
    known = _tallied(sorted(read.items(), key=lambda pair: (-pair[1], pair[0]))[:4])
    beside = f"; beside {known}" if known else ""
    commonest = ranked[0][0]
    return rows.fault(
        f"{plural(len(ranked), 'value')} in the winner column cannot be read: {listing}{more}{beside}",
        next(row for row in rows.tally if row[2] == commonest),
        commonest,
        "model_a, model_b, tie, both_bad (or left, right, 1, 2, draw), or the winner's name",
        Message(
            "give the meaning of each with ", Option("map", f"{show(commonest, 30)}=first"), " (or second, tie, skip)"
        ),
        rows.columns.result[0],
    )


def _tallied(values: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{quote(value, 30)} {plural(count, 'time')}" for value, count in values)
