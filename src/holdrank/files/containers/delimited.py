"""Rows of text: the delimiter of a file, its CSV rows, and the table of the rows."""

from __future__ import annotations

import csv
import io
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from holdrank.errors import InputError, LimitError, Message, Option, UsageError, show
from holdrank.files.containers.spreadsheets import Rows
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.table import Problems, Table, no_rows
from holdrank.votes.limits import most_cells

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}

LARGEST_CELL = 2**31 - 1
"""Characters of a CSV cell. The csv module knows one limit for the whole process, set here once, on import."""
csv.field_size_limit(max(csv.field_size_limit(), min(LARGEST_CELL, sys.maxsize)))

_MOST_COLUMNS = 100_000
# Each chunk is turned into columns before the next is read, so that few lists are alive.
_CHUNK = 4096  # rows
_CHARACTERS = 1 << 18  # of a chunk without quotes


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows, and the line on which each starts."""

    rows: Rows
    starts: Sequence[int]

    def row(self, k: int) -> list[str]:
        """Return the cells of one row."""
        return self.rows[k]

    def below(self, k: int) -> Chunk:
        """Return the rows from this one on."""
        return Chunk(self.rows[k:], self.starts[k:])

    def columns(self, width: int) -> list[Sequence[str]] | None:
        """Return the cells by columns; None if a row has more or fewer cells."""
        return list(zip(*self.rows, strict=True)) if set(map(len, self.rows)) == {width} else None


@dataclass(frozen=True, slots=True)
class PlainChunk:
    """Some lines without quotes: each is a row, and is split at every delimiter."""

    lines: list[str]
    starts: Sequence[int]
    delimiter: str

    @property
    def rows(self) -> Rows:
        """The cells of every row."""
        return [line.split(self.delimiter) for line in self.lines]

    def row(self, k: int) -> list[str]:
        """Return the cells of one row."""
        return self.lines[k].split(self.delimiter)

    def below(self, k: int) -> PlainChunk:
        """Return the rows from this one on."""
        return PlainChunk(self.lines[k:], self.starts[k:], self.delimiter)

    def columns(self, width: int) -> list[Sequence[str]] | None:
        """Return the cells by columns, split all at once; None if a row has more or fewer cells."""
        if {line.count(self.delimiter) for line in self.lines} != {width - 1}:
            return None
        cells = self.delimiter.join(self.lines).split(self.delimiter)
        return [cells[k::width] for k in range(width)]


Chunks = Iterable[Chunk | PlainChunk]


def find_delimiter(text: str, source: str, delimiter: str | None) -> tuple[str, list[str]]:
    """Return the delimiter set, or the one under which the header has several cells and most rows as many."""
    if delimiter is not None:
        if len(delimiter) != 1 or delimiter in '\r\n"':
            raise UsageError(f"delimiter is one character, not {delimiter!r}")
        return delimiter, []
    lines = io.StringIO(text, newline="")
    scores: dict[str, tuple[float, int]] = {}
    for sign in DELIMITERS:
        if sign not in text:
            continue
        lines.seek(0)
        try:
            counts = [len(row) for row in islice(csv.reader(lines, delimiter=sign, strict=True), 60) if row]
        except csv.Error:
            continue
        if counts and counts[0] > 1:
            agreeing = sum(count == counts[0] for count in counts)
            scores[sign] = (agreeing / len(counts), counts[0])
    if not scores:
        return ",", []
    best = max(scores.values())
    winners = [sign for sign, score in scores.items() if score == best]
    if len(winners) > 1:
        names = " and ".join(DELIMITERS[sign] for sign in winners)
        raise InputError(
            f"the delimiter may be {names}: both split the rows evenly",
            source=source,
            line=1,
            found=_line(lines, 1),
            expected="one delimiter",
            repair=Message("set ", Option("delimiter", ","), ", or the other one"),
        )
    found = winners[0]
    if found == ",":
        return found, []
    return found, [f"delimiter detected: {DELIMITERS[found]}; name another if that is wrong"]


def csv_chunks(text: str, source: str, delimiter: str, problems: Problems) -> Iterator[Chunk | PlainChunk]:
    """Yield some thousand rows at a time; blank lines are left out."""
    if '"' not in text:
        yield from _plain_chunks(text, delimiter)
        return
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    start = 1
    done = False
    while not done:
        rows: Rows = []
        starts: list[int] = []
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    starts.append(start)
                start = reader.line_num + 1
                if len(rows) == _CHUNK:
                    break
            else:
                done = True
        except csv.Error as error:
            done = True
            problems.add(
                InputError(
                    f"malformed quoting ({show(str(error))})",
                    source=source,
                    line=start,
                    found=_line(lines, start),
                    expected='quotes around a whole cell, and "" for a quote inside',
                    repair="close the quoted cell, or double the quotes inside it",
                )
            )
        if rows:
            yield Chunk(rows, starts)


def _plain_chunks(text: str, delimiter: str) -> Iterator[PlainChunk]:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    at, line = 0, 1
    while at < len(text):
        end = text.find("\n", at + _CHARACTERS)
        end = len(text) if end < 0 else end
        lines = text[at:end].split("\n")
        starts: Sequence[int] = range(line, line + len(lines))
        at, line = end + 1, line + len(lines)
        if "" in lines:
            starts = [start for start, cells in zip(starts, lines, strict=True) if cells]
            lines = [cells for cells in lines if cells]
        if lines:
            yield PlainChunk(lines, starts, delimiter)


def _line(lines: io.StringIO, number: int) -> str:
    lines.seek(0)
    return next(islice(lines, number - 1, None), "").rstrip("\r\n")


def table_from_chunks(
    chunks: Chunks,
    source: str,
    problems: Problems,
    *,
    header: int | None = None,
    short_rows: str = "refuse",
    ragged: Callable[[Sequence[str]], bool] = lambda _: False,
    delimiter: str = ",",
) -> Table:
    """Return the rows below the header as a table; every row must have as many cells as the header.

    `ragged` says for a header whether rows may be shorter; with ``short_rows="fill"`` they always may, and missing
    cells count as blank.
    """
    if short_rows not in ("refuse", "fill"):
        raise UsageError(f'short_rows is "refuse" or "fill", not {short_rows!r}')
    if header is not None and header < 0:
        raise UsageError("header is the number of the header row, counted from 1, or 0 for none")
    skip = 1 if header is None else header
    chunks = iter(chunks)
    rest: list[Chunk | PlainChunk] = []
    if skip == 0:  # the width is known only when all rows are
        everything = list(chunks)
        chunks = iter(everything)
        widest = max((len(row) for chunk in everything for row in chunk.rows), default=0)
        names = [f"column {k + 1}" for k in range(widest)]
    else:
        names, rest = _take_header(chunks, skip, source)
    width = len(names)
    if width > _MOST_COLUMNS:
        raise LimitError(
            f"{show(source, 200)}: {width:,} columns are more than {_MOST_COLUMNS:,}",
            repair=Message(
                "check ", Option("delimiter"), ", or use the long format, one row per mark: voter, item, rank"
            ),
        )
    lenient = ragged(names) or skip == 0
    columns: list[list[str]] = [[] for _ in names]
    lines = array("q")
    filled = faulty = there = lacking = 0
    for chunk in chain(rest, chunks):
        by_columns, starts = chunk.columns(width), chunk.starts
        if by_columns is None:
            rows = chunk.rows
            there += sum(map(len, rows))
            lacking += sum(width - len(row) for row in rows if len(row) < width)
            if lacking > most_cells(there) and (lenient or short_rows == "fill"):
                raise LimitError(
                    f"{show(source, 200)}: the header has {width:,} cells, and most rows have few",
                    repair="shorten the header, or use the long format, one row per mark: voter, item, rank",
                )
            kept: Rows = []
            kept_lines: list[int] = []
            for row, line in zip(rows, starts, strict=True):
                if len(row) < width and (lenient or short_rows == "fill"):
                    filled += not lenient
                    row = row + [""] * (width - len(row))
                elif len(row) != width:
                    problems.add(_wrong_width(source, line, row, width, delimiter))
                    faulty += 1
                    continue
                kept.append(row)
                kept_lines.append(line)
            by_columns, starts = list(zip(*kept, strict=True)), kept_lines
        for column, cells in zip(columns, by_columns, strict=False):
            column.extend(cells)
        lines.extend(starts)
    if not lines and not faulty and not problems.total:
        raise no_rows(source, "there are no rows below the header")
    notes = [f"{plural(filled, 'short row')} filled with blanks"] if filled else []
    return Table(source, names, list(columns), lines, notes)


def _take_header(
    chunks: Iterator[Chunk | PlainChunk], skip: int, source: str
) -> tuple[list[str], list[Chunk | PlainChunk]]:
    """Return the row that holds the names, and the rows read after it."""
    seen = 0
    for chunk in chunks:
        rows = len(chunk.starts)
        if seen + rows >= skip:
            at = skip - seen
            return chunk.row(at - 1), [chunk.below(at)]
        seen += rows
    raise no_rows(source, "there are no rows below the header" if seen else "the file is empty")


def _wrong_width(source: str, line: int, row: list[str], width: int, delimiter: str) -> InputError:
    if len(row) > width:
        repair = Message("quote cells that hold the delimiter (a decimal comma?), or set ", Option("delimiter"))
    else:
        repair = Message("complete the row, or set ", Option("short_rows", "fill"), " to treat the rest as missing")
    return InputError(
        f"the row has {plural(len(row), 'cell')}, the header {width}",
        source=source,
        line=line,
        found=delimiter.join(row[:12]),
        expected=plural(width, "cell"),
        repair=repair,
    )
