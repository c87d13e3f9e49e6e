"""Files for DuckDB: their type, their columns, and the database that scans them."""

from __future__ import annotations

import csv
import glob
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any

from holdrank.errors import InputError, LimitError, Message, MissingExtraError, Option, UsageError, quote, show
from holdrank.files import sniff
from holdrank.files.containers import parquet
from holdrank.files.containers.delimited import find_delimiter
from holdrank.files.containers.footers import check_footer
from holdrank.files.containers.parquet import BELIEVERS, identifier, literal
from holdrank.files.containers.source import Source, container, damaged, decode, unreadable
from holdrank.files.json_documents import is_document
from holdrank.files.jsonl import json_objects
from holdrank.files.large.keys import json_keys
from holdrank.status import Step
from holdrank.votes.forms.notes import nested_notes
from holdrank.votes.forms.table import Problems

MEMORY = "1GB"
"""What DuckDB may hold in memory; the rest goes to a folder that is removed afterwards."""

_HEAD = 1 << 20  # bytes that determine the type of a text
_MOST_COLUMNS = 10_000  # that DuckDB is asked for; a query names them all
_MOST_COPIED = 4 << 30  # bytes of text files of which columns are copied: what is not held in memory goes to the disk
_FILE = 1 << 40  # rows of a file at most: the place of a row is its file times this, plus its row


class NotForDuckDB(Exception):  # noqa: N818 - no error: the reader for memory takes over
    """A file, or an option, needs the in-memory reader."""


class UnreadableError(InputError):
    """DuckDB cannot read a file."""


@dataclass(frozen=True, slots=True)
class Scan:
    """Files of one kind with the same columns, or some rows of one such file.

    Parameters
    ----------
    source : str
        What to call them: the pattern, or the path.
    kind : {"parquet", "csv", "json"}
    files : tuple of str
    names : tuple of str
        Of the columns.
    types : tuple of str
        ``"number"``, ``"text"``, ``"flag"`` (true or false) or ``"json"`` (text that is JSON), for each column.
    delimiter : str
        Of CSV files.
    notes : tuple of str
        Notes on what was assumed.
    rows : (int, int) or None
        The first row, and the one after the last, of a single Parquet file.
    spilled : bool
        Whether this is a copy of some columns, under the names c0, c1, … and with the place of each row.
    stamps : tuple of tuple of int
        Values that identify each file, to detect changes.
    where : tuple of (int, str)
        Columns, and the conditions on them in SQL that rows must meet.
    """

    source: str
    kind: str
    files: tuple[str, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]
    delimiter: str = ","
    notes: tuple[str, ...] = ()
    rows: tuple[int, int] | None = None
    spilled: bool = False
    stamps: tuple[tuple[int, ...], ...] = ()
    where: tuple[tuple[int, str], ...] = ()

    def part(self, file: str, rows: tuple[int, int] | None = None) -> Scan:
        """Return one of the files, or some rows of it."""
        return replace(self, files=(file,), rows=rows)

    def relation(self, used: Sequence[int], place: bool = True) -> str:
        """Return a query for the columns c0, c1, … by their number, and the place of each row as `spot`."""
        if self.where:
            inner = replace(self, where=()).relation(self._with_conditions(used), place)
            listed = ", ".join([*(f"c{k}" for k in used), *(["spot"] if place else [])]) or "1"
            return f"SELECT {listed} FROM ({inner}) WHERE {' AND '.join(f'({said})' for _, said in self.where)}"
        return self._rows(used, [f"file_index::BIGINT * {_FILE} + row_number() OVER () - 1 AS spot"] if place else [])

    @property
    def is_copied(self) -> bool:
        """Whether rows are counted from a copy of their columns."""
        return self.kind != "parquet" and sum(map(os.path.getsize, self.files)) <= _MOST_COPIED

    def copy(self, used: Sequence[int]) -> tuple[str, str]:
        """Return a query that makes the table `copied` of text files, and one for its rows, as `relation` gives them.

        Rows that are numbered while they are read go through one thread; a table is filled by all, and numbers its
        rows in the order of the files.
        """
        table = self._rows(self._with_conditions(used), ["file_index AS file"])
        spot = f"file::BIGINT * {_FILE} + rowid AS spot"
        rows = f"SELECT {', '.join([*(f'c{k}' for k in used), spot])} FROM copied"
        if self.where:
            rows += f" WHERE {' AND '.join(f'({said})' for _, said in self.where)}"
        return f"CREATE TEMP TABLE copied AS {table}", rows

    def _with_conditions(self, used: Sequence[int]) -> list[int]:
        return [*dict.fromkeys([*used, *(k for k, _ in self.where)])]

    def _rows(self, used: Sequence[int], place: Sequence[str]) -> str:
        """Return a query for columns of all rows, and the expression for the place of each."""
        files = listing(self.files)
        if self.kind == "parquet":
            cells = [f"{parquet.cell_of(identifier(self.names[k]), self.types[k])} AS c{k}" for k in used]
            if place:
                place = [f"file_index::BIGINT * {_FILE} + file_row_number AS spot"]
            if self.spilled:
                cells, place = [f"c{k}" for k in used], ["spot"] if place else []
            tail = f"FROM read_parquet({files}, union_by_name = true, hive_partitioning = false)"
            if self.rows is not None:
                tail += f" WHERE file_row_number >= {self.rows[0]} AND file_row_number < {self.rows[1]}"
        elif self.kind == "csv":
            cells = [f"coalesce(c{k}, '') AS c{k}" for k in used]
            columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(self.names)))
            tail = (
                f"FROM read_csv({files}, auto_detect = false, header = true, delim = {literal(self.delimiter)}, "
                f"quote = '\"', escape = '\"', strict_mode = true, hive_partitioning = false, columns = {{{columns}}})"
            )
        else:
            cells = [f"{identifier(self.names[k])}::VARCHAR AS c{k}" for k in used]
            asked = [self.names[k] for k in used] or self.names[:1]  # unused keys are not decoded
            columns = ", ".join(f"{literal(key)}: 'JSON'" for key in dict.fromkeys(asked))
            tail = (
                f"FROM read_json({files}, format = 'newline_delimited', hive_partitioning = false, "
                f"columns = {{{columns}}})"
            )
        return f"SELECT {', '.join([*cells, *place]) or 1} {tail}"

    def text_of(self, k: int) -> str:
        """Return the expression for the text of a cell, without outer blanks."""
        cell = f"c{k} ->> '$'" if self.types[k] == "json" else f"c{k}::VARCHAR"
        return f"trim(coalesce({cell}, ''), ' \t\n\r\f\v')"


def stamp_of(file: str) -> tuple[int, ...]:
    """Return values that identify a file, to detect changes."""
    known = os.stat(file)
    return known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns


def listing(files: Sequence[str]) -> str:
    """Return names of files as SQL takes them: a list, in which signs that would make a pattern mean themselves."""
    return f"[{', '.join(literal(glob.escape(file)) for file in files)}]"


def matching(source: str | os.PathLike[str]) -> list[str]:
    """Return the files that a path or pattern means, by name."""
    text = os.fspath(source)
    if not sniff.is_pattern(source):
        return [text]
    found = sorted(file for file in glob.glob(text, recursive=True) if os.path.isfile(file))
    if not found:
        raise InputError(
            "no file matches the pattern",
            source=text,
            expected="at least one matching file",
            repair="check the path, and quote the pattern so that the shell does not expand it",
        )
    return found


class Database:
    """A separate DuckDB with a memory limit and a folder for the rest; a context manager."""

    def __init__(
        self, progress: Callable[[Step], None] | None = None, *, memory: str = MEMORY, threads: int | None = None
    ) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise MissingExtraError("counting large vote files", "duckdb", "io") from error
        self._duckdb = duckdb
        self._progress = progress
        self.folder = Path(tempfile.mkdtemp(prefix="holdrank-"))
        settings: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": str(self.folder / "spill"),
            "disabled_optimizers": BELIEVERS,
        }
        if threads is not None:
            settings["threads"] = threads
        try:
            self._connection = duckdb.connect(":memory:", config=settings)
            self._connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        except duckdb.Error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give memory and folder back."""
        self._connection.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, step: Step) -> None:
        """Report progress."""
        if self._progress is not None:
            self._progress(step)

    def run(self, query: str, source: str = "", step: str = "") -> Any:
        """Run a query and return its result; an `InputError` reports a faulty file."""
        try:
            if step and self._progress is not None:
                return self._watched(query, step)
            return self._connection.execute(query)
        except self._duckdb.OutOfMemoryException as error:
            raise LimitError(
                f"{show(source, 200)}: DuckDB needs more memory or disk than it may use ({_first_line(error)})",
                repair="free some, or count the files separately and add the counts",
            ) from error
        except self._duckdb.OutOfRangeException as error:  # of the sums of weights: nothing else is added up
            raise InputError(
                "more votes than can be counted exactly",
                source=source,
                expected="at most 2**46, about 7e13",
                repair="divide all counts by the same number",
            ) from error
        except self._duckdb.Error as error:
            raise UnreadableError(
                f"DuckDB cannot read it: {_first_line(error)}",
                source=source,
                expected="valid Parquet, CSV in UTF-8 or JSON Lines, with the same columns in all files",
                repair="correct the file; holdrank validate on that file gives details",
            ) from error

    def rows(self, query: str, source: str = "", step: str = "") -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        found: list[tuple[Any, ...]] = self.run(query, source, step).fetchall()
        return found

    def _watched(self, query: str, step: str) -> Any:
        """Run a query in a thread, and report its progress from this one."""
        answer: list[Any] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                answer.append(self._connection.execute(query))
            except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
                failure.append(error)

        thread = Thread(target=work, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.2)
                done = self._connection.query_progress()
                if self._progress is not None and thread.is_alive() and 0 <= done <= 100:
                    self._progress(Step(f"{step}, %", int(done), 100))
        except BaseException:
            self._connection.interrupt()
            thread.join()
            raise
        if failure:
            raise failure[0]
        return answer[0]


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return show("; ".join(lines[:3]), 240)


@contextmanager
def located(scan: Scan) -> Iterator[None]:
    """Convert the place of a row, in errors, to the file and the line."""
    try:
        yield
    except InputError as error:
        if error.line is None:
            raise
        file, row = divmod(int(error.line), _FILE)
        line = row + 1
        if scan.kind != "parquet":  # rows are numbered through all files, and a header is not a row
            before = scan.files[:file]
            if before:
                with Database() as db:
                    line -= db.rows(f"SELECT count(*) FROM ({replace(scan, files=before, where=()).relation([])})")[0][
                        0
                    ]
            line += scan.kind == "csv"
        raise error.at(scan.files[file], line) from error


def open_scan(
    source: str | os.PathLike[str], db: Database, *, delimiter: str | None = None, format: str | None = None
) -> Scan:
    """Return the files of a path or pattern and their columns; raise `NotForDuckDB` where DuckDB cannot read them."""
    files = matching(source)
    stamps = []
    kind = ""
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sign = ","
    for number, file in enumerate(files):
        head = _head(file)
        stamps.append(stamp_of(file))
        found, text = _kind_of(head, format)
        if number == 0:
            kind = found
        elif found != kind:
            raise _unlike(file, f"a {found} file", files[0], f"{kind} files only")
        if kind == "parquet":
            mine, kinds = _parquet_columns(file, db)
            notes = tuple(nested_notes(sorted(name for name, k in zip(mine, kinds, strict=True) if k == "nested")))
        elif kind == "csv":
            if number == 0:
                sign, said = find_delimiter(text, file, delimiter)
                notes = tuple(said)
            if text.lstrip(" \t")[:1] in ("\r", "\n"):
                raise NotForDuckDB("the file begins with an empty line")  # where DuckDB looks for the header
            mine = _csv_header(text, sign)
            _refuse_long_lines(file)
            kinds = ("text",) * len(mine)
        else:
            mine, kinds = (), ()  # detected for all files at once
        if number == 0:
            names, types = mine, kinds
        elif sorted(mine) != sorted(names) or (kind == "csv" and mine != names):
            raise _unlike(file, ", ".join(mine[:12]), files[0], f"the columns {', '.join(names[:12])}")
    if kind == "json":
        if delimiter is not None:
            raise UsageError(Message(Option("delimiter"), " does not apply to JSON Lines"))
        names = json_keys(db.rows, f"read_ndjson_objects({listing(files)})", len(files) == 1, os.fspath(source))
        types = ("json",) * len(names)
    elif kind == "parquet" and delimiter is not None:
        raise UsageError(Message(Option("delimiter"), " applies only to CSV files"))
    if len(names) > _MOST_COLUMNS:
        raise NotForDuckDB(f"{len(names):,} columns are too many")
    folded = [column.casefold() for column in names]
    if kind != "csv" and len(set(folded)) < len(folded):
        raise NotForDuckDB("DuckDB cannot distinguish columns whose names differ only by case")
    return Scan(os.fspath(source), kind, tuple(files), names, types, sign, notes, stamps=tuple(stamps))


def _kind_of(head: Source, format: str | None) -> tuple[str, str]:
    """Return ``"parquet"``, ``"csv"`` or ``"json"`` by the beginning of a file, and that beginning if it is text."""
    kind = container(head)
    if kind == "xlsx":
        raise NotForDuckDB("spreadsheets are read only from a single file, in memory")
    if kind == "parquet":
        return kind, ""
    text = decode(head, None)
    form = sniff.text_form(text, head.extension, head.name)[0] if format is None else "table"
    if sniff.is_json_lines(text, head.extension):
        if is_document(text):
            raise NotForDuckDB("a JSON document is read only from a single file, in memory")
        return "json", text
    if form == "jsonl":
        if len(text.lstrip().splitlines()) < 2:
            raise NotForDuckDB("the first line of the file is not plain")  # or this is not all of it
        next(json_objects(text, head.name, Problems()), None)  # says what is wrong with the first line
        return "json", text
    if form != "table":
        raise NotForDuckDB(f"the format {form} is read only from a single file, in memory")
    return "csv", text


def _unlike(file: str, found: str, first: str, expected: str) -> InputError:
    return InputError(
        "the files differ",
        source=file,
        found=found,
        expected=f"{expected}, as in {quote(first, 200)}",
        repair="give files of one format with the same columns, or count the files separately and add the counts",
    )


def _head(file: str) -> Source:
    """Return the beginning of a file, cut after its last whole line."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(_HEAD)
            more = bool(opened.read(1))
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error
    if more and not data.startswith(b"PAR1"):
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1] or data
    return Source(file, data, Path(file).suffix.lower(), Path(file))


def _parquet_columns(file: str, db: Database) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        with open(file, "rb") as opened:
            check_footer(opened)
    except ValueError as error:
        raise damaged(file, "Parquet file", error) from error
    columns = db.rows(f"DESCRIBE SELECT * FROM read_parquet({listing([file])}, hive_partitioning = false)", file)
    if (least := db.rows(parquet.declared_rows(listing([file])), file)[0][1]) < 0:
        raise damaged(file, "Parquet file", ValueError(f"a group of {least} rows"))
    names = tuple(str(column) for column, *_ in columns)
    return names, tuple(parquet.kind_of(name, kind) for name, (_, kind, *_) in zip(names, columns, strict=True))


def _csv_header(text: str, delimiter: str) -> tuple[str, ...]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return tuple(next(row for row in rows if row))
    except (csv.Error, StopIteration) as error:
        raise NotForDuckDB("the header of the file is not plain") from error


def _refuse_long_lines(file: str) -> None:
    """Refuse a file with lines of megabytes: DuckDB refuses some of them, and drops others silently."""
    with open(file, "rb") as opened:
        while len(block := opened.read(_HEAD)) == _HEAD:
            if b"\n" not in block and b"\r" not in block:
                raise UnreadableError(
                    "a line is longer than a megabyte",
                    source=file,
                    expected="lines of ordinary length",
                    repair="check that this is the right file",
                )
