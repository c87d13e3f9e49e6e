"""Parquet files that fit in memory, as tables: through duckdb, or else through pyarrow."""

from __future__ import annotations

import io
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import LimitError, MissingExtraError, show
from holdrank.files.containers.footers import check_footer
from holdrank.files.containers.source import Source, damaged
from holdrank.votes.forms.notes import nested_notes, plural
from holdrank.votes.forms.table import Column, Table, no_rows
from holdrank.votes.forms.vocabulary import NEEDED_NAMES, plain
from holdrank.votes.limits import most_cells

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "UTINYINT",
            "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")  # fmt: skip
"""Types of DuckDB that are numbers."""
_MEMORY = "1GB"  # that DuckDB may take
BELIEVERS = "statistics_propagation,compressed_materialization"
"""Optimisers of DuckDB that believe the bounds which a Parquet file gives its numbers. They squeeze a number that lies
beyond them into fewer bytes: another number, or an error that closes the database."""
_LETTERS_A_CELL = 8  # of the largest file, on average; a choice: names are shorter, and 2**31 letters are enough


def parquet_table(source: Source) -> Table:
    """Return a Parquet file as a table, through duckdb or else pyarrow; numbers stay numbers."""
    try:
        import duckdb
    except ImportError:
        return _by_pyarrow(source)  # which has its own limits for footers

    try:
        check_footer(io.BytesIO(source.data))
    except ValueError as error:
        raise damaged(source.name, "Parquet file", error) from error
    with tempfile.TemporaryDirectory() as folder:
        path = source.path
        if path is None or set("*?[]{}") & set(str(path)):  # duckdb would read those signs as a pattern
            path = Path(folder) / "votes.parquet"
            path.write_bytes(source.data)
        try:
            settings: dict[str, Any] = {"memory_limit": _MEMORY, "disabled_optimizers": BELIEVERS}
            with duckdb.connect(":memory:", config=settings) as connection:
                names, length, arrays, nested = _arrays(connection, path, source)
        except (duckdb.Error, UnicodeError) as error:
            raise damaged(source.name, "Parquet file", error) from error
    if not length:
        raise no_rows(source.name, "there are no rows below the header")
    cells = [_array_column(array) for array in arrays.values()]
    return Table(source.name, names, cells, range(1, length + 1), nested_notes(nested))


def _arrays(connection: Any, path: Path, source: Source) -> tuple[list[str], int, dict[str, Any], list[str]]:
    """Return names, number of rows, columns (numbers, or else text), and the names of columns that are left out."""
    table = f"read_parquet({literal(str(path))}, hive_partitioning = false)"
    columns = connection.execute(f"DESCRIBE FROM {table}").fetchall()
    every = [(str(name), kind_of(str(name), kind)) for name, kind, *_ in columns]
    told = [(name, kind) for name, kind in every if kind != "nested"] or every
    cells = [cell_of(identifier(name), kind) for name, kind in told]
    texts = [cell for cell, (_, kind) in zip(cells, told, strict=True) if kind == "text"]
    # A page of equal cells takes no room in the file, no matter how many they are: ask before they are unpacked.
    rows, least = connection.execute(declared_rows(literal(str(path)))).fetchone()
    if least < 0:
        raise damaged(source.name, "Parquet file", ValueError(f"a group of {least} rows"))
    most = most_cells(len(source.data))
    if rows * len(cells) > most:
        raise _too_many_rows(source, rows, len(cells))
    if texts:
        lengths = " + ".join(f"coalesce(sum(strlen({cell})), 0)" for cell in texts)
        (letters,) = connection.execute(f"SELECT {lengths} FROM {table}").fetchone()
        if letters > _LETTERS_A_CELL * most:
            raise _too_many_rows(source, rows, len(cells))
    listed = ", ".join(f"{cell} AS c{k}" for k, cell in enumerate(cells))
    arrays = connection.execute(f"SELECT {listed} FROM {table}").fetchnumpy()
    nested = sorted({name for name, _ in every} - {name for name, _ in told})
    return [name for name, _ in told], max(map(len, arrays.values()), default=0), arrays, nested


def declared_rows(files: str) -> str:
    """Return the query for the rows that groups of Parquet files declare to have: all of them, and the smallest group.

    DuckDB never returns if a group declares a negative number of rows.
    """
    groups = f"SELECT DISTINCT file_name, row_group_id, row_group_num_rows AS declared FROM parquet_metadata({files})"
    return f"SELECT coalesce(sum(declared), 0), coalesce(min(declared), 0) FROM ({groups})"


def _too_many_rows(source: Source, rows: int, columns: int) -> LimitError:
    return LimitError(
        f"{show(source.name, 200)}: {plural(rows, 'row')} of {plural(columns, 'column')} are too many for a file of "
        f"{len(source.data):,} bytes to be held in memory",
        repair="give its path to count_pairs",
    )


def literal(text: str) -> str:
    """Return text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return the name of a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def kind_of(name: str, kind: str) -> str:
    """Return the kind of a column by its DuckDB type: ``"number"``, ``"flag"``, ``"nested"`` or ``"text"``.

    A flag is true or false. A list or a structure is nested and ignored; in columns of items it is text.
    """
    base = kind.partition("(")[0]
    if (kind.endswith("]") or base in ("STRUCT", "MAP", "UNION")) and plain(name) not in NEEDED_NAMES:
        return "nested"
    return "number" if base in _NUMBERS and "[" not in kind else "flag" if base == "BOOLEAN" else "text"


def cell_of(column: str, kind: str) -> str:
    """Return the expression for a cell of a column of that kind, in SQL."""
    if kind == "nested":  # a conversation, or metadata: ignored
        return "NULL::VARCHAR"
    if kind == "flag":
        return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
    return column if kind == "number" else f"{column}::VARCHAR"


def _array_column(array: Any) -> Column:
    values = np.ma.getdata(array)
    if values.dtype.kind in "iuf":
        return number_column(array)
    masked = np.ma.getmaskarray(array)
    return ["" if hidden else str(cell) for cell, hidden in zip(values.tolist(), masked.tolist(), strict=True)]


def number_column(array: Any) -> NDArray[Any]:
    """Return numbers as DuckDB gives them, masked where there is none, as a column."""
    masked = np.ma.getmaskarray(array)
    values = np.asarray(np.ma.getdata(array))
    return np.where(masked, np.nan, values.astype(np.float64)) if masked.any() else values


def _by_pyarrow(source: Source) -> Table:
    try:
        pyarrow = import_module("pyarrow")
        reader = import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "duckdb", "io") from error
    from holdrank.votes.forms.frames import table_from_frame

    try:
        about = reader.ParquetFile(pyarrow.BufferReader(source.data)).metadata
        if about.num_rows * about.num_columns > most_cells(len(source.data)):
            raise _too_many_rows(source, about.num_rows, about.num_columns)
        table = table_from_frame(reader.read_table(pyarrow.BufferReader(source.data)))
    except (pyarrow.ArrowException, OSError) as error:
        raise damaged(source.name, "Parquet file", error) from error
    if not table.rows:
        raise no_rows(source.name, "there are no rows below the header")
    table.source = source.name
    return table
