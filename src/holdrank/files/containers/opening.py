"""What a file is made of: bytes, text, CSV rows, spreadsheets; each ends in text or in a `Table`."""

from __future__ import annotations

import csv
import difflib
import hashlib
import io
import os
import struct
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from holdrank.errors import HoldrankError, InputError, LimitError, MissingExtraError, UsageError, quote, reason, show
from holdrank.files.containers.spreadsheets import Rows, sheet_rows
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.table import Problems, Table, no_rows
from holdrank.votes.limits import most_cells

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_TEXT_EXTENSIONS = frozenset({".csv", ".tsv", ".txt", ".soc", ".soi", ".toc", ".toi", ".cat", ".jsonl", ".order"})
_LARGEST_SHEET = 2**31  # bytes of a spreadsheet once unpacked
_SMALL_SHEET = 2**23  # bytes that any spreadsheet may have once unpacked
_DENSEST_SHEET = 50  # bytes once unpacked for every byte before; three times what sheets of equal rows come to

LARGEST_CELL = 2**31 - 1
"""Characters of a CSV cell. The csv module knows one limit for the whole process, set here once, on import."""
csv.field_size_limit(max(csv.field_size_limit(), min(LARGEST_CELL, sys.maxsize)))

_MOST_COLUMNS = 100_000

_UNPACK = "unpack it first"
_EXPORT = "export the votes from it as CSV"
_SHOWN = "find the votes that it shows, and save them as CSV"
_MAGIC = (
    (b"PAR1", "parquet", ""),
    (b"PK\x03\x04", "zip", _UNPACK),
    (b"PK\x05\x06", "zip", _UNPACK),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet in the old Excel format (.xls)", "save it as .xlsx or as CSV"),
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"%PDF-", "a PDF document", _SHOWN),
    (b"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (b"\x89PNG", "a PNG image", _SHOWN),
    (b"\xff\xd8\xff", "a JPEG image", _SHOWN),
    (b"GIF8", "a GIF image", _SHOWN),
)

Chunk = tuple[Rows, list[int] | range]
_CHUNK = 4096  # rows; each is turned into columns before the next is read, so that few lists are alive


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file, its name for messages, and what its name ends in."""

    name: str
    data: bytes
    extension: str
    path: Path | None

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def open_source(source: str | os.PathLike[str] | BinaryIO) -> Source:
    """Return the bytes of a path, of standard input (``"-"``), or of a binary file object."""
    if isinstance(source, str) and source == "-":
        return Source("standard input", sys.stdin.buffer.read(), "", None)
    if isinstance(source, str | os.PathLike):
        try:
            path = Path(source)
            return Source(str(path), path.read_bytes(), path.suffix.lower(), path)
        except (OSError, ValueError) as error:
            raise unreadable(os.fspath(source), error) from error
    if not hasattr(source, "read"):
        raise UsageError(f"source is a path, '-' or a binary file, not a {type(source).__name__}")
    data = source.read()
    if not isinstance(data, bytes | bytearray):
        raise UsageError("source gives text; open the file in binary mode (mode 'rb')")
    name = getattr(source, "name", None)
    name = name if isinstance(name, str) else "binary file"
    return Source(name, bytes(data), Path(name).suffix.lower(), None)


def unreadable(path: str, error: OSError | ValueError) -> InputError:
    """Return the error for a file that cannot be opened or read; a name with a NUL in it is a `ValueError`."""
    return InputError(
        f"the file cannot be read: {reason(error)}",
        source=path,
        expected="a file that exists and may be read",
        repair=_near(path) or "check the path",
    )


def _near(path: str) -> str:
    """Return a hint at a file of nearly that name, if there is one beside it."""
    folder, name = os.path.split(path)
    try:
        near = difflib.get_close_matches(name, os.listdir(folder or "."), n=1, cutoff=0.75)
    except (OSError, ValueError):
        return ""
    return f"did you mean {quote(near[0])}?" if near and near[0] != name else ""


def container(source: Source) -> str:
    """Return ``"text"``, ``"xlsx"`` or ``"parquet"`` by the first bytes; refuse anything else by what it is."""
    if not source.data.strip():
        raise _empty(source)
    kind, repair = next(
        ((kind, repair) for magic, kind, repair in _MAGIC if source.data.startswith(magic)), ("text", "")
    )
    if kind == "zip":
        kind = "xlsx" if b"xl/workbook" in source.data else "a ZIP archive"
    if kind == "text":
        if source.extension in (".xlsx", ".parquet"):
            raise _not_what_it_says(
                source,
                f"no {source.extension[1:]} file",
                "the file that its name promises",
                "rename it, such as to .csv",
            )
        return kind
    if kind in ("xlsx", "parquet"):
        if source.extension in _TEXT_EXTENSIONS:
            what = "an Excel workbook" if kind == "xlsx" else "a Parquet file"
            repair = f"rename it to .{kind}, or save it as CSV"
            raise _not_what_it_says(source, what, f"text, as {source.extension} says", repair)
        return kind
    raise _not_what_it_says(source, kind, "votes as text, a spreadsheet (.xlsx) or Parquet", repair)


def _empty(source: Source) -> InputError:
    return InputError(
        "the file is empty",
        source=source.name,
        found="",
        expected="votes",
        repair="check that the right file was saved",
    )


def _not_what_it_says(source: Source, what: str, expected: str, repair: str) -> InputError:
    found = source.data[:8].decode("latin-1")
    return InputError(f"this is {what}", source=source.name, found=found, expected=expected, repair=repair)


def decode(source: Source, encoding: str | None) -> str:
    """Return the text: UTF-8 unless an encoding is named; nothing is ever replaced in silence."""
    name = encoding or "utf-8"
    try:
        text = source.data.decode(name)
        if encoding is not None:
            text.encode("utf-8")  # some encodings, such as unicode_escape, bring halves of character pairs
    except LookupError as error:
        raise UsageError(f"there is no encoding called {name!r}; such as utf-8, latin-1, cp1252") from error
    except UnicodeError as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else 0
        wide = source.data[:2] in (b"\xff\xfe", b"\xfe\xff")
        byte = f"byte 0x{source.data[at]:02x} at offset {at}" if at < len(source.data) else f"offset {at}"
        raise InputError(
            f"the text is not {name}",
            source=source.name,
            line=source.data.count(b"\n", 0, at) + 1,
            found=byte,
            expected=f"text in {name}",
            repair=f'name the encoding, such as encoding="{"utf-16" if wide else "latin-1"}"',
        ) from error
    text = text.removeprefix("\ufeff")
    if not text or text.isspace():
        raise _empty(source)
    return text


def line_feeds(text: str) -> str:
    """Return a text in which a line feed ends every line, whatever did before."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def split_lines(text: str) -> list[str]:
    r"""Return the lines of `text`, whatever ends them; unlike `str.splitlines` only at CR and LF.

    Examples
    --------
    >>> split_lines("a\r\nb\rc\x0bd")
    ['a', 'b', 'c\x0bd']
    """
    return line_feeds(text).split("\n")


# ---------------------------------------------------------------------------------------------------------- CSV


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
            f"the delimiter may be {names}: both cut the rows evenly",
            source=source,
            line=1,
            found=_line(lines, 1),
            expected="one delimiter",
            repair='set delimiter=, such as delimiter=","',
        )
    found = winners[0]
    if found == ",":
        return found, []
    return found, [f"the delimiter is taken to be a {DELIMITERS[found]}; set delimiter= if that is wrong"]


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
                    f"the quotes of a row are wrong ({show(str(error))})",
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

    `ragged` says of a header whether rows may be shorter; with ``short_rows="fill"`` they always may, and the
    rest of them counts as missing.
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
            f"{show(source, 200)}: {width:,} columns are more than {_MOST_COLUMNS:,}; to repair: check delimiter=, or "
            "write one mark a row: voter, item, rank"
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
                    f"{show(source, 200)}: the header has {width:,} cells, and most rows have few; to repair: shorten "
                    "the header, or write one mark a row: voter, item, rank"
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
    notes = [f"{plural(filled, 'short row')} filled with missing cells"] if filled else []
    return Table(source, names, list(columns), lines, notes)


def _take_header(chunks: Iterator[Chunk], skip: int, source: str) -> tuple[list[str], list[Chunk]]:
    """Return the row that holds the names, and what was read beyond it."""
    seen = 0
    for rows, starts in chunks:
        if seen + len(rows) >= skip:
            at = skip - seen
            return rows[at - 1], [(rows[at:], starts[at:])]
        seen += len(rows)
    raise no_rows(source, "there are no rows below the header" if seen else "the file is empty")


def _wrong_width(source: str, line: int, row: list[str], width: int, delimiter: str) -> InputError:
    if len(row) > width:
        repair = "quote cells that hold the delimiter (a decimal comma?), or set delimiter="
    else:
        repair = 'complete the row, or set short_rows="fill" to take the rest as missing'
    return InputError(
        f"the row has {plural(len(row), 'cell')}, the header {width}",
        source=source,
        line=line,
        found=delimiter.join(row[:12]),
        expected=plural(width, "cell"),
        repair=repair,
    )


# -------------------------------------------------------------------------------------------------- spreadsheets


def xlsx_rows(source: Source, sheet: str | int | None) -> tuple[Rows, list[int], list[str]]:
    """Return the cells of a worksheet as text, the row number of each row, and notes."""
    if not find_spec("openpyxl"):
        raise MissingExtraError("reading a spreadsheet", "openpyxl", "io")
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            most = min(_LARGEST_SHEET, max(_SMALL_SHEET, _DENSEST_SHEET * len(source.data)))
            if size > most:
                raise LimitError(f"{source.name}: the spreadsheet unpacks to {size:,} bytes; to repair: save it as CSV")
            if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
                raise ValueError("it is packed in a way that spreadsheets are not")
            return sheet_rows(archive, source.name, sheet, len(source.data))
    except HoldrankError:
        raise
    except (  # what the parsers of ZIP, XML, numbers and dates stumble with; not our own slips, nor a lack of memory
        *(zipfile.BadZipFile, zlib.error, struct.error, SyntaxError, LookupError, ArithmeticError, ValueError),
        *(OSError, EOFError, RuntimeError),
    ) as error:
        raise damaged(source.name, "spreadsheet", error) from error


def damaged(source: str, what: str, error: Exception) -> InputError:
    """Return the error for bytes that are not what they begin as."""
    return InputError(
        f"the {what} cannot be read ({type(error).__name__})",
        source=source,
        found=str(error),
        expected=f"a sound {what}",
        repair="save it again, or save it as CSV",
    )
