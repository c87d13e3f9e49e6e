"""Rows of text: the delimiter of a file, its CSV rows, and the table of the rows."""

from __future__ import annotations

import csv
import io
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
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
_CHUNK = 4096  # rows; each is turned into columns before the next is read, so that few lists are alive

Chunk = tuple[Rows, list[int] | range]


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


def csv_chunks(text: str, source: str, delimiter: str, problems: Problems) -> Iterator[Chunk]:
    """Yield some thousand rows at a time, with the line each starts on; blank lines are left out."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    quoted = '"' in text  # without quotes every row is one line, which saves counting
    start = 1
    done = False
    while not done:
        rows: Rows = []
        counted: list[int] = []
        starts: list[int] | range = counted
        try:
            if quoted:
                for row in reader:
                    if row:
                        rows.append(row)
                        counted.append(start)
                    start = reader.line_num + 1
                    if len(rows) == _CHUNK:
                        break
                else:
                    done = True
            else:
                rows = list(islice(reader, _CHUNK))
                done = not rows
                starts = range(start, start + len(rows))
                start += len(rows)
                if [] in rows:
                    starts = [line for line, row in zip(starts, rows, strict=True) if row]
                    rows = [row for row in rows if row]
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
            yield rows, starts


def _line(lines: io.StringIO, number: int) -> str:
    lines.seek(0)
    return next(islice(lines, number - 1, None), "").rstrip("\r\n")


def table_from_chunks(
    chunks: Iterable[Chunk],
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
    if skip == 0:  # the width is known only when all rows are
        everything = list(chunks)
        chunks = iter(everything)
        names = [f"column {k + 1}" for k in range(max((len(row) for rows, _ in everything for row in rows), default=0))]
        rest: list[Chunk] = []
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
    for rows, starts in chain(rest, chunks):
        if any(len(row) != width for row in rows):
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
            rows, starts = kept, kept_lines
        for column, cells in zip(columns, zip(*rows, strict=True), strict=False):
            column.extend(cells)
        lines.extend(starts)
    if not lines and not faulty and not problems.total:
        raise no_rows(source, "there are no rows below the header")
    notes = [f"{plural(filled, 'short row')} filled with blanks"] if filled else []
    return Table(source, names, list(columns), lines, notes)


def _take_header(chunks: Iterator[Chunk], skip: int, source: str) -> tuple[list[str], list[Chunk]]:
    """Return the row that holds the names, and the rows read after it."""
    seen = 0
    for rows, starts in chunks:
        if seen + len(rows) >= skip:
            at = skip - seen
            return rows[at - 1], [(rows[at:], starts[at:])]
        seen += len(rows)
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
