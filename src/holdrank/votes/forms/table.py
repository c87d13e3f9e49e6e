"""Tables: cells, columns, line numbers and weights."""

from __future__ import annotations

import difflib
import math
import re
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError, quote, show
from holdrank.votes.forms.vocabulary import BLANKS, VOTER_NAMES, WEIGHT_NAMES, plain

MAX_WEIGHT = 2.0**46
"""Most votes, on one ballot or in all: sums over all places and pairs of 5,000 items then fit into 64 bits."""

MAX_SCORE = 1e290
"""Largest number in a cell: sums of such numbers over all votes are finite."""

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""A number as people write it, in a syntax that DuckDB understands too."""

_LONGEST_POSITION = 9  # digits


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of text with few distinct cells: the distinct cells, and the number of the cell of each row."""

    values: list[str]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def cells(self) -> list[str]:
        """Return the cell of every row."""
        return [self.values[code] for code in self.codes.tolist()]

    def renamed(self, rename: Callable[[str], str]) -> Coded:
        """Return the column with other values; where two become equal, they are one value from then on."""
        numbers: dict[str, int] = {}
        new = [numbers.setdefault(rename(value), len(numbers)) for value in self.values]
        return Coded(list(numbers), np.array(new, dtype=np.int32)[self.codes])


def by_appearance(codes: NDArray[np.integer[Any]], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each code appears first, in that order, and all codes numbered anew in that order.

    Codes are at least 0 and below `most`.
    """
    first = np.full(most, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several values for one place, the last one stays
    where = np.sort(first[first < len(codes)])
    number = np.empty(most, dtype=np.intp)
    number[codes[where]] = np.arange(len(where))
    return where, number[codes]


Column = list[str] | NDArray[Any] | Coded
Ref = str | int
"""How a caller names a column: by its name, or by its position counted from 1."""


@dataclass(slots=True)
class Problems:
    """Collects faults from parsers: raises the first if `strict`, else counts them and keeps the first 20."""

    strict: bool = True
    kept: list[InputError] = field(default_factory=list)
    total: int = 0

    def add(self, error: InputError) -> None:
        """Raise `error`, or record it and let the parser continue."""
        if self.strict:
            raise error
        self.total += 1
        # Parsers may read a file several times; problems are listed from the top.
        insort(self.kept, error, key=lambda found: found.line or 0)
        del self.kept[20:]


@dataclass(slots=True)
class Table:
    """Named columns of equal length; a column is a list of text, coded text or an array of numbers (NaN = missing)."""

    source: str
    names: list[str]
    columns: list[Column]
    lines: Sequence[int]
    notes: list[str] = field(default_factory=list)
    frame: bool = False
    """Whether this is a data frame: its readers have other arguments than those of files."""
    times: NDArray[np.int64] | None = None
    """How many rows of the source each row stands for, all of them alike; weights are then summed over them."""
    _plain: list[str] | None = None
    _numeric: dict[tuple[int, frozenset[str]], bool] = field(default_factory=dict, init=False)

    @property
    def plain_names(self) -> list[str]:
        """The names of the columns in the form that is compared with known names."""
        if self._plain is None:  # asked for by every form that is tried
            self._plain = [plain(name) for name in self.names]
        return self._plain

    @property
    def rows(self) -> int:
        """Number of rows below the header."""
        return len(self.lines)

    def rows_from(self, start: int, stop: int) -> Table:
        """Return some of the rows, as a table that shares the cells."""
        columns = [_some(column, start, stop) for column in self.columns]
        times = None if self.times is None else self.times[start:stop]
        return Table(self.source, self.names, columns, self.lines[start:stop], list(self.notes), self.frame, times)

    def only_rows(self, rows: NDArray[np.intp]) -> Table:
        """Return the rows at these places."""
        at = rows.tolist()
        columns: list[Column] = []
        for column in self.columns:
            if isinstance(column, Coded):
                columns.append(Coded(column.values, column.codes[rows]))
            else:
                columns.append([column[k] for k in at] if isinstance(column, list) else column[rows])
        times = None if self.times is None else self.times[rows]
        lines = [self.lines[k] for k in at]
        return Table(self.source, self.names, columns, lines, list(self.notes), self.frame, times)

    def find(self, ref: Ref, what: str) -> int:
        """Return the index of the column a caller means, by name or by position from 1.

        A name that two columns share is refused: positions are unambiguous.
        """
        if isinstance(ref, bool) or not isinstance(ref, str | int | np.integer):
            raise UsageError(f"{what} takes the name of a column, or its position counted from 1, not {ref!r}")
        width = len(self.names)
        if isinstance(ref, str):
            hits = [k for k, name in enumerate(self.names) if name == ref]
            if len(hits) > 1:
                places = " and ".join(str(k + 1) for k in hits[:5])
                raise self.fault(
                    Message("the column name for ", Option(what), f" is ambiguous: columns {places} share it"),
                    "a name that one column has",
                    f"give the position instead, such as {hits[0] + 1}",
                    found=ref,
                )
            if hits:
                return hits[0]
            if not ref.isdecimal() or len(ref) > _LONGEST_POSITION:
                known = ", ".join(quote(name, 30) for name in self.names[:12])
                expected = f"one of {known}{', …' if width > 12 else ''}"
                near = difflib.get_close_matches(ref, self.names, n=1)
                guess = f"did you mean {quote(near[0], 30)}? Or " if near else ""
                repair = f"{guess}name a column of the header, or give its position counted from 1"
                raise self.fault(Message("there is no such column for ", Option(what)), expected, repair, found=ref)
            ref = int(ref)
        if not 1 <= ref <= width:
            expected = f"a position from 1 to {width}"
            problem = Message("there is no such column for ", Option(what))
            raise self.fault(problem, expected, "columns count from 1", found=str(ref))
        return int(ref) - 1

    def find_all(self, refs: Ref | Iterable[Ref], what: str) -> list[int]:
        """Return the columns for one reference or several."""
        if isinstance(refs, str | int | np.integer):
            refs = [refs]
        elif not isinstance(refs, Iterable):
            raise UsageError(f"{what} takes names or positions of columns, not {refs!r}")
        return [self.find(ref, what) for ref in refs]

    def label(self, index: int) -> str:
        """Return what to call a column in a message."""
        return self.names[index] if self.names[index].strip() else f"#{index + 1}"

    def fault(
        self,
        problem: str,
        expected: str,
        repair: str,
        *,
        row: int | None = None,
        column: int | None = None,
        found: str | None = None,
    ) -> InputError:
        """Return the error for a row, a column or a cell.

        By default, `found` is the cell, or the first cell of the column.
        """
        if found is None and column is not None:
            found = self.cell(column, row or 0)
        return InputError(
            problem,
            source=self.source,
            line=None if row is None else self.lines[row],
            column=None if column is None else self.label(column),
            found=found,
            expected=expected,
            repair=repair,
        )

    def lacks(self, problem: str, expected: str, repair: str) -> InputError:
        """Return the error for a table without the columns that its form needs."""
        return self.fault(problem, expected, repair, found=", ".join(self.names[:12]))

    def name_fault(self, problem: str, index: int, expected: str, repair: str) -> InputError:
        """Return the error for the name of a column, which is named by its position."""
        found = self.names[index]
        return InputError(problem, source=self.source, column=index + 1, found=found, expected=expected, repair=repair)

    def text(self, index: int) -> list[str]:
        """Return a column as text; whole numbers are written without a fraction, missing ones as nothing."""
        return _texts(self.columns[index])

    def coded(self, index: int) -> Coded:
        """Return a column as text: its distinct cells, and the number of the cell of each row."""
        column = self.columns[index]
        if isinstance(column, Coded):
            return column
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__  # what is new gets the next number, without a call for what is not
        cells = _texts(column)
        codes = np.fromiter(map(numbers.__getitem__, cells), dtype=np.int32, count=len(cells))
        return Coded(list(numbers), codes)

    def cell(self, index: int, row: int) -> str:
        """Return one cell as `text` would, without converting the whole column."""
        return _texts(_some(self.columns[index], row, row + 1))[0]

    def is_numeric(self, index: int, blanks: Collection[str] = BLANKS) -> bool:
        """Whether every filled cell of the column is a number, and one is filled."""
        key = index, frozenset(blanks)
        if key not in self._numeric:  # asked for by several forms that are tried
            self._numeric[key] = self._all_numbers(self.columns[index], blanks)
        return self._numeric[key]

    @staticmethod
    def _all_numbers(column: Column, blanks: Collection[str]) -> bool:
        if not isinstance(column, list | Coded):
            return True
        cells = set(map(str.strip, column if isinstance(column, list) else column.values))
        cells = {cell for cell in cells if not is_blank(cell, blanks)}
        return bool(cells) and all(map(NUMBER.fullmatch, cells))

    def numbers(
        self, index: int, problems: Problems, *, blanks: Collection[str] = BLANKS, what: str = "a number"
    ) -> NDArray[np.float64]:
        """Return a column as floats, NaN where the cell is blank; refuse cells that are neither number nor blank."""
        column = self.columns[index]
        if isinstance(column, Coded):
            _, rows = np.unique(column.codes, return_index=True)
            read = np.full(len(column.values), np.nan)
            for row in np.sort(rows).tolist():
                code = column.codes[row]
                read[code] = self._number(index, row, column.values[code], problems, blanks, what)
            return read[column.codes]
        if not isinstance(column, list):
            values = np.asarray(column, dtype=np.float64)
            for row in np.flatnonzero(np.abs(values) > MAX_SCORE).tolist():
                problems.add(self._too_large(index, row, str(values[row]), what))
            return values
        known = {cell: _value(cell.strip(), blanks) for cell in set(column)}
        if None not in known.values():
            return np.fromiter(map(known.__getitem__, column), dtype=np.float64, count=len(column))
        return np.array(
            [
                self._number(index, row, cell, problems, blanks, what) if known[cell] is None else known[cell]
                for row, cell in enumerate(column)  # so that each faulty cell is reported, in order
            ],
            dtype=np.float64,
        )

    def _number(self, index: int, row: int, cell: str, problems: Problems, blanks: Collection[str], what: str) -> float:
        text = cell.strip()
        value = _value(text, blanks)
        if value is not None:
            return value
        if text.lower().lstrip("+-") in ("inf", "infinity") or NUMBER.fullmatch(text):
            problems.add(self._too_large(index, row, text, what))
        else:
            expected = f"{what} such as 12 or 0.5, or an empty cell"
            problems.add(self.fault(f"the cell is not {what}", expected, self._mend(text), row=row, column=index))
        return np.nan

    def _mend(self, text: str) -> str:
        """Return how to fix a cell that is not a number; treating a mistyped number as a blank would lose it."""
        digits = re.search(r"[0-9]+(?:[.,][0-9]+)*", text)
        if digits is not None:
            number = digits[0].replace(",", ".") if digits[0].count(",") == 1 and "." not in digits[0] else digits[0]
            number = number.replace(",", "") if is_number(number.replace(",", "")) else "12 or 0.5"
            return f"write plain numbers with a decimal point, such as {number}"
        if self.frame:
            return "correct the cell, or name the columns to use with voters="
        columns, blanks = Option("columns"), Option("blanks", show(text))
        return Message(
            "correct the cell, name the columns to use with ",
            columns,
            ", or set ",
            blanks,
            " if it marks a missing value",
        )

    def _too_large(self, index: int, row: int, found: str, what: str) -> InputError:
        problem = f"{what} must be finite" if np.isinf(float(found)) else f"{what} is too large"
        expected = f"{what} that is finite, and at most {MAX_SCORE:g} in size"
        repair = "leave the cell empty if there is no value"
        return self.fault(problem, expected, repair, row=row, column=index, found=found)


def _value(text: str, blanks: Collection[str]) -> float | None:
    """Return the number in a stripped cell, NaN if it is blank, None if it is neither or too large."""
    if is_blank(text, blanks):
        return math.nan
    if NUMBER.fullmatch(text) and abs(value := float(text)) <= MAX_SCORE:
        return value
    return None


def _texts(column: Column) -> list[str]:
    if isinstance(column, list):
        return column
    if isinstance(column, Coded):
        return column.cells()
    if column.dtype.kind in "iub":
        return [str(int(value)) for value in column]
    return [
        "" if value != value else str(int(value)) if value.is_integer() else repr(value) for value in column.tolist()
    ]


def _some(column: Column, start: int, stop: int) -> Column:
    return Coded(column.values, column.codes[start:stop]) if isinstance(column, Coded) else column[start:stop]


def named_like(table: Table, names: Collection[str]) -> list[int]:
    """Return the columns whose name, ignoring case and separators, is one of `names`."""
    return [k for k, name in enumerate(table.plain_names) if name in names]


def is_blank(text: str, blanks: Collection[str]) -> bool:
    """Whether a stripped cell marks a missing number."""
    return not text or text in blanks or text.lower() == "nan"


def is_number(text: str) -> bool:
    """Whether a cell is a plain decimal number; stricter than `float`, which takes ``1_0`` as well."""
    return NUMBER.fullmatch(text) is not None


def read_weights(table: Table, index: int | None, problems: Problems) -> NDArray[np.float64]:
    """Return the weight of every row: ones, or a column of finite numbers that are not negative."""
    if index is None:
        return np.ones(table.rows) if table.times is None else table.times.astype(np.float64)
    weights = table.numbers(index, problems, blanks=(), what="a weight")
    bad = ~((weights >= 0) & (weights <= MAX_WEIGHT))
    if not bad.any():
        return weights
    cells = table.text(index)
    for row in np.flatnonzero(bad).tolist():
        found = cells[row].strip()
        if np.isnan(weights[row]) and found and found.lower() != "nan":
            continue  # `numbers` has reported it
        problem = "the weight of a ballot is missing, negative or too large"
        repair = "correct the cell, or delete the row"
        problems.add(table.fault(problem, "a number from 0 to 2**46", repair, row=row, column=index))
    weights[bad] = 0.0
    return weights


def weight_column(table: Table, weight: Ref | None, names: Collection[str] = WEIGHT_NAMES) -> int | None:
    """Return the weight column: the one named, else the one called weight, count, votes or the like, else none."""
    if weight is not None:
        return table.find(weight, "weight")
    hits = named_like(table, names)
    if len(hits) > 1:
        repair = Message("set ", Option("weight", show(table.names[hits[0]], 30)), ", or the other one")
        found = ", ".join(table.names[k] for k in hits)
        problem = "more than one column may hold weights"
        raise table.fault(problem, "one column of weights", repair, found=found)
    return hits[0] if hits else None


def find_weight(
    table: Table, weight: Ref | None, choices: dict[str, str], names: Collection[str] = WEIGHT_NAMES
) -> int | None:
    """Return `weight_column` and record it in `choices`."""
    index = weight_column(table, weight, names)
    choices["weight"] = "1 per row" if index is None else f"column {quote(table.label(index))}"
    return index


def no_name(table: Table, column: int) -> InputError:
    """Return the error for a column without a name where it would be an item or a voter."""
    header, columns = Option("header"), Option("columns")
    elsewhere = Message("set ", header, " to the row of the names, or choose columns by position with ", columns)
    repair = "name the column" if table.frame else elsewhere
    return table.name_fault(f"column {column + 1} has no name", column, "a name in the header", repair)


def unused_notes(table: Table, used: Collection[int | None]) -> list[str]:
    """Return a note on unused columns of numbers: one of them may hold weights."""
    spare = [
        k
        for k in range(len(table.names))
        if k not in used and plain(table.names[k]) not in VOTER_NAMES and table.is_numeric(k)
    ]
    if not spare:
        return []
    listing = ", ".join(quote(table.label(k), 40) for k in spare[:5])
    more = f" and {len(spare) - 5} more" if len(spare) > 5 else ""
    one = len(spare) == 1
    return [
        f"{'column' if one else 'columns'} {listing}{more} {'is' if one else 'are'} not used; "
        "if one holds weights, name it as the weight column"
    ]


def no_rows(source: str, what: str) -> InputError:
    """Return the error for a source that holds no row of data."""
    return InputError(
        what,
        source=source,
        found="",
        expected="at least one row of votes below the header",
        repair="check that this is the right file",
    )


def no_marks(source: str, items: int | None = None) -> InputError:
    """Return the error for votes without any mark."""
    return InputError(
        "no ballot has a mark: nothing to aggregate",
        source=source,
        found=None if items is None else f"{items} items",
        expected="at least one ballot that ranks at least one item",
        repair="check that the right file and columns were read",
    )
