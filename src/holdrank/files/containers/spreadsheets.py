"""Sheets of an .xlsx file: the few parts of the archive that hold cells, read piece by piece.

The file is untrusted: neither the declared size of a sheet nor the order of its rows is relied on. At most one raw
piece of a part is held in memory, and equal cells are stored once.
"""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, NamedTuple, cast
from xml.etree.ElementTree import Element, XMLPullParser
from xml.parsers import expat

from holdrank.errors import HoldrankError, InputError, LimitError, MissingExtraError, quote, show
from holdrank.files.containers.source import Source, damaged
from holdrank.votes.forms.notes import plural
from holdrank.votes.limits import most_cells

MOST_ROWS, MOST_COLUMNS = 2**20, 2**14  # of any sheet
_MOST_STYLES = 2**16
_LONGEST_CODE = 255  # characters of the format of a number
_PIECES = 64  # limits how often a very long word is scanned
_LEAST_PIECE = 1 << 16  # bytes
_COORDINATE = re.compile(r"([A-Z]{1,3})([0-9]{1,9})")
_WORKBOOK = re.compile(r"application/vnd\.(openxmlformats|ms-excel).*(sheet|template)\.(macroEnabled\.)?main\+xml")
_LARGEST_BOOK = 2**31  # bytes of a spreadsheet once unpacked
_SMALL_BOOK = 2**23  # bytes that any spreadsheet may have once unpacked
_DENSEST_BOOK = 50  # bytes once unpacked for every byte before; three times what sheets of equal rows come to
_STRINGS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"

Rows = list[list[str]]


def xlsx_rows(source: Source, sheet: str | int | None) -> tuple[Rows, list[int], list[str]]:
    """Return the cells of a worksheet as text, the row number of each row, and notes."""
    if not find_spec("openpyxl"):
        raise MissingExtraError("reading a spreadsheet", "openpyxl", "io")
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            most = min(_LARGEST_BOOK, max(_SMALL_BOOK, _DENSEST_BOOK * len(source.data)))
            if size > most:
                raise LimitError(f"{source.name}: the spreadsheet unpacks to {size:,} bytes", repair="save it as CSV")
            if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
                raise ValueError("it uses an unsupported compression")
            return sheet_rows(archive, source.name, sheet, len(source.data))
    except HoldrankError:
        raise
    except (  # errors of the parsers of ZIP, XML, numbers and dates; not our own bugs, nor a lack of memory
        *(zipfile.BadZipFile, zlib.error, struct.error, SyntaxError, LookupError, ArithmeticError, ValueError),
        *(OSError, EOFError, RuntimeError),
    ) as error:
        raise damaged(source.name, "spreadsheet", error) from error


def sheet_rows(
    archive: zipfile.ZipFile, source: str, sheet: str | int | None, size: int
) -> tuple[Rows, list[int], list[str]]:
    """Return the cells of a sheet as text, the number of each row, and notes; `size` is that of the file in bytes."""
    book = _Book(archive, source)
    name, notes = _choose(book, sheet)
    cells = _Cells(book)
    rows: Rows = []
    lines: list[int] = []
    width = 0
    for number, row in cells.rows(book.sheets[name]):
        last = max((column for column, text in row.items() if text), default=0)
        if not last:
            continue
        width = max(width, last)
        if (len(rows) + 1) * width > most_cells(size):
            raise LimitError(
                f"{show(source, 200)}: the sheet is almost empty, but its table has {len(rows) + 1:,} rows and "
                f"{width:,} columns",
                repair="delete stray cells, or save it as CSV",
            )
        rows.append([row.get(column, "") for column in range(1, last + 1)])
        lines.append(number)
    for padded in rows:  # a sheet has no ragged rows
        padded.extend([""] * (width - len(padded)))
    if cells.dates:
        dates = plural(cells.dates, "cell is a date", "cells are dates")
        notes.append(f"{dates}; the spreadsheet may have turned names into dates")
    return rows, lines, notes


def _cell_text(cell: object) -> str:
    """Return a typed cell as text: whole numbers without a fraction, dates as ISO dates, nothing as nothing."""
    if cell is None or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _choose(book: _Book, sheet: str | int | None) -> tuple[str, list[str]]:
    names = list(book.sheets)
    if sheet is None and names:
        others = f"read sheet {quote(names[0], 40)}, the first of {len(names)}; name another sheet to read that one"
        return names[0], [others] if len(names) > 1 else []
    if isinstance(sheet, str) and sheet in names:
        return sheet, []
    if re.fullmatch("[0-9]{1,9}", str(sheet)) and 1 <= int(str(sheet)) <= len(names):
        return names[int(str(sheet)) - 1], []
    raise InputError(
        "there is no such sheet" if names else "there is no sheet",
        source=book.source,
        found=None if sheet is None else str(sheet),
        expected=f"one of {', '.join(quote(name, 30) for name in names[:12])}" if names else "a sheet with votes",
        repair="give the name of a sheet, or its number counted from 1"
        if names
        else "save it again, or save it as CSV",
    )


class _Book:
    """The parts of a workbook: where its sheets and texts are, and which styles are those of dates."""

    def __init__(self, archive: zipfile.ZipFile, source: str) -> None:
        self.archive, self.source = archive, source
        self.names = set(archive.namelist())
        path, self.strings = "xl/workbook.xml", ""
        for part in self.elements("[Content_Types].xml", {"Override"}):
            kind, name = part.element.get("ContentType", ""), part.element.get("PartName", "").lstrip("/")
            if _WORKBOOK.fullmatch(kind):
                path = name
            elif kind == _STRINGS:
                self.strings = name
        folder, file = posixpath.split(path)
        targets: dict[str, str] = {}
        for part in self.elements(f"{folder}/_rels/{file}.rels", {"Relationship"}):
            target = part.element.get("Target", "")
            joined = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            targets[part.element.get("Id", "")] = joined
        self.sheets: dict[str, str] = {}
        self.from_1904 = False
        for part in self.elements(path, {"sheet", "workbookPr"}):
            if part.tag == "workbookPr":
                self.from_1904 = part.element.get("date1904") in ("1", "true")
                continue
            target = next((targets.get(value, "") for key, value in part.element.items() if key.endswith("}id")), "")
            if target in self.names:
                self.sheets.setdefault(part.element.get("name", ""), target)

    def elements(self, name: str, wanted: Collection[str]) -> Iterator[_Part]:
        """Yield the elements of a part of the archive that have one of these tags; namespaces do not matter."""
        reader: XMLPullParser[Element] = XMLPullParser(events=("start", "end"))
        path: list[Element] = []
        held: Element | None = None
        for piece in self._pieces(name):
            reader.feed(piece)
            for event, element in cast("Iterator[tuple[str, Element]]", reader.read_events()):
                if held is not None:
                    if element is held:  # what is inside comes with it
                        yield _Part(_local(element.tag), element, _local(path[-1].tag) if path else "")
                        held = None
                        _forget(path)
                elif event == "end":
                    path.pop()
                    _forget(path)
                elif _local(element.tag) in wanted:
                    held = element
                else:
                    path.append(element)
            if held is not None and len(held) > MOST_COLUMNS:
                raise ValueError(f"more than {MOST_COLUMNS:,} pieces in a text")
        reader.close()

    def rows(self, name: str) -> Iterator[tuple[str | None, list[_Cell]]]:
        """Yield the rows of a sheet: the row number in the file, and the cells."""
        reader = _RowReader()
        for piece in self._pieces(name):
            yield from reader.read(piece)
        yield from reader.read(b"", last=True)

    def _pieces(self, name: str) -> Iterator[bytes]:
        """Yield a part of the archive piece by piece."""
        text = self.archive.read(name)
        if b"<!ENTITY" in text.replace(b"\0", b""):  # in one byte a character, or two
            raise InputError(
                "the spreadsheet declares XML entities, which real spreadsheets do not",
                source=self.source,
                expected="a plain spreadsheet",
                repair="save it again, or save it as CSV",
            )
        step = max(_LEAST_PIECE, len(text) // _PIECES)
        for at in range(0, len(text), step):
            yield text[at : at + step]

    def date_styles(self) -> tuple[set[int], set[int]]:
        """Return the styles that show a number as a date or time, and as a time span."""
        from openpyxl.styles import numbers

        if "xl/styles.xml" not in self.names:
            return set(), set()
        codes: dict[str, str] = {str(key): code for key, code in numbers.BUILTIN_FORMATS.items()}
        dates: set[int] = set()
        spans: set[int] = set()
        count = 0
        for part in self.elements("xl/styles.xml", {"numFmt", "xf"}):
            if part.tag == "numFmt":
                codes[part.element.get("numFmtId", "")] = part.element.get("formatCode", "")[:_LONGEST_CODE]
            elif part.parent == "cellXfs" and count < _MOST_STYLES:
                code = codes.get(part.element.get("numFmtId", "0"), "General")
                if numbers.is_date_format(code):
                    dates.add(count)
                if numbers.is_timedelta_format(code):
                    spans.add(count)
                count += 1
        return dates, spans


@dataclass(frozen=True, slots=True)
class _Part:
    """An element, its tag without the namespace, and that of the element around it."""

    tag: str
    element: Element
    parent: str


class _Cell(NamedTuple):
    """A cell as it is written: attributes, and the text of its value or, if it is inline, of its pieces."""

    place: str | None
    kind: str
    style: str | None
    text: str | None


class _RowReader:
    """The rows of a sheet from its text, piece by piece; there are too many cells to make a tree of each.

    A cell is ``<c><v>5</v></c>``, or a text in pieces, ``<c t="inlineStr"><is><t>a</t><r><t>b</t></r></is></c>``. All
    other content of a cell is ignored, and so is text after an element.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[str | None, list[_Cell]]] = []
        self._number: str | None = None
        self._cells: list[_Cell] = []
        self._cell: dict[str, str] = {}
        self._inline = False  # whether the cell is a text in pieces
        self._has_value = False
        self._direct: list[str] = []  # text of the value, or of pieces outside of runs
        self._runs: list[str] = []  # of pieces in runs
        self._heard: list[str] | None = None  # where text goes that comes now
        self._inside = ""  # what in the cell is open, if it counts: "v", "is", or "r" in it
        self._depth = 0  # of the open element: 0 outside of rows, 1 per row, 2 a cell, 3 its value, 4 a piece or a run
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def read(self, piece: bytes, last: bool = False) -> list[tuple[str | None, list[_Cell]]]:
        """Return the rows that end in a piece."""
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as error:
            raise ValueError(str(error)) from error
        rows, self._rows = self._rows, []
        return rows

    def _refuse(self, *_: object) -> None:
        raise ValueError("it declares a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        depth = self._depth
        if not depth:
            if _local(name) == "row":
                self._depth, self._number, self._cells = 1, attributes.get("r"), []
            return
        self._depth, self._heard = depth + 1, None
        if depth == 1:
            self._cell, self._has_value, self._direct, self._runs = attributes, False, [], []
            self._inline = attributes.get("t") == "inlineStr"
            if len(self._cells) > MOST_COLUMNS:
                raise ValueError(f"more than {MOST_COLUMNS:,} cells in a row")
        elif depth == 2:
            if self._has_value or _local(name) != ("is" if self._inline else "v"):
                self._inside = ""  # only the first value counts
                return
            self._has_value = True
            self._inside = "is" if self._inline else "v"
            self._heard = None if self._inline else self._direct
        elif depth == 3 and self._inside == "is":
            tag = _local(name)
            if tag == "t":
                self._heard = self._direct
            elif tag == "r":
                self._inside = "r"
        elif depth == 4 and self._inside == "r" and _local(name) == "t":
            self._heard = self._runs

    def _end(self, name: str) -> None:  # noqa: ARG002 - expat says it
        depth = self._depth
        if not depth:
            return
        self._depth, self._heard = depth - 1, None
        if depth == 1:
            self._rows.append((self._number, self._cells))
        elif depth == 2:
            found = self._cell
            text = "".join(self._direct + self._runs) if self._has_value else None
            self._cells.append(_Cell(found.get("r"), found.get("t", "n"), found.get("s"), text))
        elif depth == 4 and self._inside == "r":
            self._inside = "is"

    def _text(self, text: str) -> None:
        if self._heard is not None:
            self._heard.append(text)


@dataclass(slots=True)
class _Cells:
    """Cells as text; equal ones are the same object."""

    book: _Book
    dates: int = 0
    known: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    """Of numbers without a style, as they are written: most cells of most sheets."""

    def rows(self, name: str) -> Iterator[tuple[int, dict[int, str]]]:
        """Yield the number of every row of a sheet, and its cells by their column, counted from 1."""
        strings = self._strings()
        dates, spans = self.book.date_styles()
        number = 0
        for given, cells in self.book.rows(name):
            before, number = number, number + 1 if given is None else int(given)
            if not before < number <= MOST_ROWS:
                raise ValueError(f"row {number} after row {before}")
            row: dict[int, str] = {}
            column = 0
            for cell in cells:
                place, kind, style, written = cell
                column = column + 1 if place is None else _column(place)
                if column > MOST_COLUMNS:
                    raise ValueError(f"column {column:,}")
                is_plain = kind == "n" and style is None
                if is_plain and written in self.numbers:
                    row[column] = self.numbers[written]
                    continue
                value = self._value(cell, strings, dates, spans)
                if value is not None:
                    is_date = hasattr(value, "isoformat")
                    self.dates += is_date
                    text = _cell_text(value)
                    row[column] = self.known.setdefault(text, text)
                    if is_plain and not is_date and written is not None:
                        self.numbers[written] = row[column]
            yield number, row

    def _strings(self) -> list[str]:
        """Return the texts that cells refer to by number."""
        if self.book.strings not in self.book.names:
            return []
        texts = (_text_of(part.element) for part in self.book.elements(self.book.strings, {"si"}))
        return [self.known.setdefault(text, text) for text in texts]

    def _value(self, cell: _Cell, strings: list[str], dates: set[int], spans: set[int]) -> Any:
        _, kind, style, text = cell
        if kind == "inlineStr":
            return None if text is None else _unescaped(text)
        if not text:
            return None
        if kind == "s":
            if not 0 <= int(text) < len(strings):
                raise ValueError(f"there is no text {int(text)}")
            return strings[int(text)]
        if kind == "b":
            return bool(int(text))
        if kind == "d":
            from openpyxl.utils.datetime import from_ISO8601

            return from_ISO8601(text)
        if kind != "n":
            return text
        value = float(text) if set(".eE") & set(text) else int(text)
        look = 0 if style is None else int(style)
        return self._date(value, look in spans) if look in dates else value

    def _date(self, value: float, is_span: bool) -> Any:
        from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

        try:
            return from_excel(value, MAC_EPOCH if self.book.from_1904 else WINDOWS_EPOCH, timedelta=is_span)
        except (OverflowError, ValueError):
            return "#VALUE!"  # as programs show a number that is not a date


def _column(place: str) -> int:
    """Return the number of a column from the place of a cell, such as 28 from AB7."""
    match = _COORDINATE.fullmatch(place)
    if match is None:
        raise ValueError(f"{quote(place, 30)} is not a cell reference")
    number = 0
    for letter in match[1]:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _forget(path: list[Element]) -> None:
    """Free the content of the last of these elements, which has been read."""
    if path:
        del path[-1][:]


def _text_of(element: Element) -> str:
    """Return a text, of one piece or of pieces with their own fonts; how it is pronounced is left out."""
    if not len(element):
        return ""
    runs = [element, *(inner for inner in element if _local(inner.tag) == "r")]
    found = [inner.text or "" for run in runs for inner in run if _local(inner.tag) == "t"]
    return _unescaped("".join(found))


def _unescaped(text: str) -> str:
    return text.replace("x005F_", "")  # an escaped underscore
