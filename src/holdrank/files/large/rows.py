"""From rows on disk to a small table: equal rows counted by DuckDB, text coded, weights summed exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from holdrank.errors import InputError, Message, Option, UsageError
from holdrank.files.containers.parquet import declared_rows, literal, number_column
from holdrank.files.jsonl import check_head, json_text, json_value
from holdrank.files.large.scan import Database, NotForDuckDB, Scan, listing
from holdrank.files.read_options import ReadOptions
from holdrank.files.table_form import table_form
from holdrank.files.tables import of_table
from holdrank.status import Step
from holdrank.votes.forms.battle_columns import battle_columns
from holdrank.votes.forms.battles import pair_count_columns
from holdrank.votes.forms.marks import columns_of_items, slot_columns
from holdrank.votes.forms.notes import nested_notes
from holdrank.votes.forms.orders import position_columns
from holdrank.votes.forms.table import (
    MAX_WEIGHT,
    NUMBER,
    Coded,
    Column,
    Problems,
    Table,
    no_rows,
    read_weights,
    weight_column,
)
from holdrank.votes.forms.vocabulary import BALLOT_WEIGHT_NAMES, BLANKS, NEEDED_NAMES, VOTER_NAMES, WEIGHT_NAMES, plain

MOST_CELLS = {"rank-columns": 1 << 26, "positions": 1 << 26, "score-columns": 1 << 23, "multi-way": 1 << 23,
              "jsonl": 1 << 22}  # fmt: skip
"""Cells of distinct ballots that fit in memory, by form; some are read by loops that want fewer."""
COUNTED = ("battles", "pair-counts")
"""Forms whose rows compare two items: they end in counts of pairs, no matter how many rows there are."""
_MOST_BATTLES = 20_000_000  # different rows; a loop visits each
_HEAD = 10_000  # rows that determine the format
_CELLS_AT_A_TIME = 1 << 24  # of rows that are not counted before they are read
_UNIT = 2**75  # weights are summed as whole numbers of 1 / _UNIT: exact in any order, on any number of threads
_LEAST_WEIGHT = 2.0**-36  # of those above 0, so that rounding to a unit changes none by more than 2**-40 of it
_ROWS_OF_A_PART = 1 << 22


@dataclass(frozen=True, slots=True)
class Layout:
    """The form of the rows, the reason for it, and the columns that matter.

    Parameters
    ----------
    form, reason : str
    used : tuple of int
        Columns that are read.
    weight : int or None
        The column of the weights.
    apart : bool
        Whether rows of weight 0 are counted separately: some formats report how many there are.
    spare : tuple of int
        Unused columns of numbers, which a note lists.
    head : mapping or None
        The line of JSON that declares the items.
    notes : tuple of str
        Notes on the first rows.
    chosen : mapping
        Conditions on rows, in words.
    """

    form: str
    reason: str
    used: tuple[int, ...]
    weight: int | None = None
    apart: bool = False
    spare: tuple[int, ...] = ()
    head: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)


def expect_plain(options: ReadOptions) -> None:
    """Leave options that DuckDB does not support to the in-memory reader."""
    o = options
    utf8 = o.encoding is None or o.encoding.lower().replace("-", "") in ("utf8", "ascii")
    strange = {"encoding": not utf8, "header": o.header not in (None, 1), "short_rows": o.short_rows != "refuse"}
    strange |= {name: bool(getattr(o, name)) for name in ("since", "until", "only", "drop", "by")}
    for option, is_strange in strange.items():
        if is_strange:
            raise NotForDuckDB(Message(Option(option), " applies only to a single file that fits in memory"))
    if o.sheet is not None:
        raise NotForDuckDB(Message(Option("sheet"), " applies only to spreadsheets"))


def layout_of(db: Database, scan: Scan, format: str | None, options: ReadOptions) -> Layout:
    """Return what to read, from the names of the columns and the first rows."""
    o = options
    if scan.kind == "json" and {"order", "ranks"} & set(scan.names):
        if format not in (None, "jsonl"):
            raise UsageError(
                f"the format {format!r} is a table, but the lines of {scan.source} are ballots",
                repair=Message("leave ", Option("format"), " out"),
            )
        o.check("jsonl")
        used = [k for k, key in enumerate(scan.names) if plain(key) not in VOTER_NAMES]
        return Layout("jsonl", "JSON objects", tuple(used), head=_declared(db, scan))
    if format in ("jsonl", "preflib", "preflib-old", "order", "blt", "abif", "scottish", "pgn", "lolib"):
        raise NotForDuckDB(f"the format {format} is read only from a single file, in memory")
    head = fetch(db, scan, range(len(scan.names)), limit=_HEAD)
    if not head.rows:
        what = f"no row matches where {'; '.join(o.where)}" if o.where else "there are no rows below the header"
        raise no_rows(scan.source, what)
    form, reason = (format, "as set") if format else table_form(head, o)
    o.check(form)
    found = _columns(head, form, o)
    if form in (*COUNTED, *MOST_CELLS) and not found:
        of_table(head, form, o, Problems())  # says which columns are missing
    if not found:
        raise NotForDuckDB(f"the format {form} is read only from a single file, in memory")
    used, weight = found
    if len({*used, weight}) <= len(used):
        raise NotForDuckDB("a column with two roles works only in a single file that fits in memory")
    others = [k for k in range(len(scan.names)) if k not in (*used, weight)]
    spare = _numeric(db, scan, others) if form == "positions" and o.columns is None else []
    notes = tuple(note for note in head.notes if note not in scan.notes)
    return Layout(form, reason, tuple(used), weight, form not in (*COUNTED, "positions"), tuple(spare), notes=notes)


def _declared(db: Database, scan: Scan) -> Mapping[str, Any] | None:
    """Return the line that declares the items of all ballots, if there is one."""
    if "items" not in scan.names:
        return None
    keys = [k for k, key in enumerate(scan.names) if key in ("items", "unlisted")]
    at = scan.names.index("items")
    query = f"SELECT {', '.join(f'c{k}' for k in keys)}, min(spot) FROM ({scan.relation(keys)}) WHERE c{at} IS NOT NULL"
    found = db.rows(f"{query} GROUP BY ALL ORDER BY ALL", scan.source, "looking for items")
    heads = []
    for row in found:
        try:
            heads.append({scan.names[k]: json_value(text) for k, text in zip(keys, row, strict=False) if text})
        except ValueError as error:
            raise no_json(scan.source, row[-1], error) from error
    if any(head != heads[0] for head in heads):
        raise InputError(
            "the files declare different items",
            source=scan.source,
            line=found[1][-1],
            found=str(heads[1]),
            expected=str(heads[0]),
            repair="declare the same items in all files, or count the files separately and add the counts",
        )
    check_head(heads[0], found[0][-1], scan.source)
    return heads[0]


def _columns(head: Table, form: str, o: ReadOptions) -> tuple[list[int], int | None] | None:
    """Return the columns that a form reads, and that of the weights; None if they are not there."""
    if form == "battles":
        battle = battle_columns(head, o)
        if battle is None:
            return None
        voter = [] if o.voter is None else [head.find(o.voter, "voter")]
        return [battle.first, battle.second, *battle.result, *voter], weight_column(head, o.weight, WEIGHT_NAMES)
    if form == "pair-counts":
        counts = pair_count_columns(head) if o.columns is None else head.find_all(o.columns, "columns")
        return (counts, None) if counts else None
    if form == "positions":
        places = position_columns(head) if o.columns is None else head.find_all(o.columns, "columns")
        return (places, weight_column(head, o.weight, BALLOT_WEIGHT_NAMES)) if places else None
    if form in ("rank-columns", "score-columns"):
        weight = weight_column(head, o.weight, WEIGHT_NAMES)
        return columns_of_items(head, o.columns, o.voter, weight), weight
    if form == "multi-way":
        slots = slot_columns(head)
        cells = [k for slot in slots or () for k in slot]
        return (cells, weight_column(head, o.weight, BALLOT_WEIGHT_NAMES)) if cells else None
    return None


def fits(db: Database, scan: Scan, layout: Layout) -> bool:
    """Whether the distinct ballots fit in memory; always, where rows compare two items."""
    if layout.form in COUNTED:
        return True
    most = MOST_CELLS[layout.form] // max(len(layout.used), 1)
    if row_count(db, scan) <= most:
        return True
    cells = ", ".join(f"c{k}" for k in layout.used)
    query = f"SELECT approx_count_distinct(hash({cells})) FROM ({scan.relation(layout.used, place=False)})"
    found: int = db.rows(query, scan.source, "looking for equal ballots")[0][0]
    return found <= most


def row_count(db: Database, scan: Scan) -> int:
    """Return the number of rows."""
    if scan.rows is not None:
        return scan.rows[1] - scan.rows[0]
    query = f"SELECT count(*) FROM ({scan.relation([], place=False)})"
    if scan.kind == "parquet":
        query = declared_rows(listing(scan.files))
    found: int = db.rows(query, scan.source, "counting rows")[0][0]
    return found


def distinct_rows(db: Database, scan: Scan, layout: Layout) -> Table:
    """Return the different rows, in the order in which they first appear, with how often each is there."""
    table = fetch(db, scan, layout.used, layout=layout)
    if layout.form in COUNTED and table.rows > _MOST_BATTLES:
        raise NotForDuckDB(f"{table.rows:,} different rows are too many")
    return table


def pieces(db: Database, scan: Scan, layout: Layout) -> Iterator[tuple[Scan, Table]]:
    """Yield all rows, some at a time, where they are too different to be counted first; and where they stand."""
    copy = scan if scan.kind == "parquet" else _spilled(db, scan, layout)
    parts = parts_of(db, copy, max(1, _CELLS_AT_A_TIME // max(len(layout.used), 1)))
    for done, part in enumerate(parts):
        db.tell(Step("parts counted", done, len(parts)))
        yield scan if copy.spilled else part, fetch(db, part, layout.used, layout=layout, grouped=False)


def parts_of(db: Database, scan: Scan, rows: int = _ROWS_OF_A_PART) -> list[Scan]:
    """Return the files one by one, Parquet files in ranges of rows."""
    if scan.kind != "parquet":
        return [scan.part(file) for file in scan.files]
    out = []
    for file in scan.files:
        whole = scan.part(file)
        start, stop = scan.rows or (0, row_count(db, whole))
        out += [whole.part(file, (at, min(at + rows, stop))) for at in range(start, stop, rows)]
    return out


def _spilled(db: Database, scan: Scan, layout: Layout) -> Scan:
    """Write the columns in use to a Parquet file in the folder of the database: its rows can be had in ranges."""
    path = db.folder / "rows.parquet"
    used = [*layout.used, *([] if layout.weight is None else [layout.weight])]
    query = f"COPY ({scan.relation(used)}) TO '{path.as_posix()}' (FORMAT parquet, ROW_GROUP_SIZE 122880)"
    db.run(query, scan.source, "sorting rows")
    return replace(scan, kind="parquet", files=(str(path),), spilled=True, where=())


def fetch(
    db: Database,
    scan: Scan,
    used: Sequence[int],
    *,
    layout: Layout | None = None,
    grouped: bool = True,
    limit: int | None = None,
) -> Table:
    """Return rows as a table of all columns, of which only those in use hold anything.

    With a `limit` the first rows as they are; else equal ones as one row (`grouped`), or each by itself.
    """
    weight = None if layout is None else layout.weight
    cells = ", ".join(f"c{k}" for k in used)
    asked = [*used, *([] if weight is None or weight in used else [weight])]
    grouped = grouped and limit is None
    relation = scan.relation(asked)
    if grouped and scan.is_copied and layout is not None and layout.form in COUNTED:
        copy, relation = scan.copy(asked)
        db.run("DROP TABLE IF EXISTS copied")
        db.run(copy, scan.source, "reading rows")
    number, sound = ("1::DOUBLE", "true") if weight is None else _weight(scan, weight)
    if limit is not None:
        query = f"SELECT {cells}, 1 AS times, 1::DOUBLE AS heavy, 0 AS faulty, spot FROM ({relation}) LIMIT {limit}"
    elif grouped:
        whole = f"sum(CASE WHEN {sound} THEN ({number} * {_UNIT}::DOUBLE)::HUGEINT ELSE 0 END)"
        heavy = "count(*)::DOUBLE" if weight is None else f"{whole}::DOUBLE / {_UNIT}::DOUBLE"
        zero = f", {number} = 0" if weight is not None and layout is not None and layout.apart else ""
        least = f"min({number}) FILTER ({number} > 0) AS least"
        query = (
            f"SELECT {cells}, count(*) AS times, {heavy} AS heavy, count(*) FILTER (NOT {sound}) AS faulty, {least}, "
            f"min(spot) AS spot FROM ({relation}) GROUP BY {cells}{zero}"
        )
    else:
        query = f"SELECT {cells}, 1 AS times, {number} AS heavy, (NOT {sound})::INT AS faulty, spot FROM ({relation})"
    db.run("DROP TABLE IF EXISTS held")
    db.run(f"CREATE TEMP TABLE held AS {query}", scan.source, "counting rows" if grouped else "")
    try:
        if weight is not None and db.rows("SELECT coalesce(sum(faulty), 0) FROM held")[0][0]:
            _refuse_weight(db, scan, weight, relation, sound)
        if weight is not None and grouped:
            least = db.rows("SELECT min(least) FROM held")[0][0]
            if least is not None and least < _LEAST_WEIGHT:
                raise NotForDuckDB(f"a weight of {least:g} is too small to be summed exactly")
        arrays, values = _arrays(db, scan, used)
    finally:
        db.run("DROP TABLE IF EXISTS held; DROP TABLE IF EXISTS copied")
    spots = arrays.pop("spot")
    columns: list[Column] = [Coded([""], np.zeros(len(spots), dtype=np.int32))] * len(scan.names)
    raw = layout is not None and layout.form == "jsonl"
    nested: list[str] = []
    for k in used:
        if (
            limit is not None
            and scan.types[k] == "json"
            and plain(scan.names[k]) not in NEEDED_NAMES
            and _is_nested(values[k])
        ):
            nested.append(scan.names[k])
            continue
        columns[k] = _column(scan, k, arrays.pop(f"c{k}"), values.get(k), spots, raw)
    if weight is not None and weight not in used:
        columns[weight] = arrays["heavy"]
    for k in () if layout is None else layout.spare:
        columns[k] = np.zeros(len(spots))
    lines = cast("Sequence[int]", spots)
    times = arrays["times"].astype(np.int64)
    notes = [*scan.notes, *(nested_notes(sorted(nested)) if layout is None else layout.notes)]
    return Table(scan.source, list(scan.names), columns, lines, notes, False, None if limit else times)


def _is_nested(words: Sequence[str]) -> bool:
    """Whether all JSON values of a column are lists or objects."""
    filled = [word for word in words if word != "null"]
    return bool(filled) and all(word.startswith(("[", "{")) for word in filled)


def _weight(scan: Scan, k: int) -> tuple[str, str]:
    """Return the weight of a row as an expression, and whether it is sound as another."""
    if scan.types[k] == "number":
        number = f"c{k}::DOUBLE"
    else:
        text = scan.text_of(k)
        number = f"CASE WHEN regexp_full_match({text}, '{NUMBER.pattern}') THEN TRY_CAST({text} AS DOUBLE) END"
    # NaN is above all numbers in DuckDB, so that the upper limit refuses it too.
    return f"({number})", f"coalesce(({number}) BETWEEN 0 AND {MAX_WEIGHT:.0f}, false)"


def _refuse_weight(db: Database, scan: Scan, k: int, relation: str, sound: str) -> None:
    """Raise the error of the reader of weights for the first invalid weight."""
    query = f"SELECT c{k}::VARCHAR, spot FROM ({relation}) WHERE NOT {sound} ORDER BY spot LIMIT 1"
    cell, spot = db.rows(query, scan.source)[0]
    text = "" if cell is None else _decoded(scan, k, cell, lambda: spot) if scan.types[k] == "json" else str(cell)
    columns: list[Column] = [[text] for _ in scan.names]
    table = Table(scan.source, list(scan.names), columns, [spot])
    read_weights(table, k, Problems())
    repair = "correct the cell, or delete the row"
    raise table.fault(
        "the weight of a ballot is not a plain number", "a number from 0 to 2**46", repair, row=0, column=k
    )


def _arrays(db: Database, scan: Scan, used: Sequence[int]) -> tuple[dict[str, Any], dict[int, list[str]]]:
    """Return the table `held` as arrays, in the order of its rows, and the texts that the codes of each column mean."""
    cells = []
    values: dict[int, list[str]] = {}
    for k in used:
        if scan.types[k] == "number":
            cells.append(f"c{k}")
            continue
        db.run(f"DROP TYPE IF EXISTS words{k}")
        db.run(f"CREATE TYPE words{k} AS ENUM (SELECT DISTINCT c{k} FROM held WHERE c{k} IS NOT NULL)", scan.source)
        values[k] = db.rows(f"SELECT enum_range(NULL::words{k})")[0][0]
        cells.append(f"enum_code(c{k}::words{k})::INTEGER AS c{k}")
    query = f"SELECT {', '.join(cells)}, times, heavy, spot FROM held ORDER BY spot"
    arrays: dict[str, Any] = db.run(query, scan.source).fetchnumpy()
    for k in values:
        db.run(f"DROP TYPE words{k}")
    for name in ("times", "heavy", "spot"):
        arrays[name] = np.ma.getdata(arrays[name])
    return arrays, values


def _column(scan: Scan, k: int, array: Any, values: list[str] | None, spots: NDArray[np.int64], raw: bool) -> Column:
    if values is None:
        return number_column(array)
    masked = np.ma.getmaskarray(array)
    codes = np.ma.getdata(array).astype(np.int32)
    words = list(values)
    if masked.any():
        codes[masked] = len(words)
        words.append("")
    if scan.types[k] == "json" and not raw:
        plain_words = [word for word in words if word and word[0] not in '"[{']
        known = dict(zip(plain_words, map(json_text, _all_values(plain_words)), strict=False))
        words = [known[word] if word in known else
                 _decoded(scan, k, word, lambda code=code: int(spots[(codes == code).argmax()]))  # type: ignore[misc]
                 for code, word in enumerate(words)]  # fmt: skip
    return Coded(words, codes)


def _all_values(words: Sequence[str]) -> list[Any]:
    """Return the values of numbers and similar types at once, because there may be many; None if one cannot be read."""
    try:
        return cast("list[Any]", json_value(f"[{','.join(words)}]"))
    except ValueError:
        return []


def _decoded(scan: Scan, k: int, word: str, place: Callable[[], int]) -> str:
    """Return the text of a JSON value, as the reader of JSON Lines does."""
    if not word:
        return ""
    if word[0] == '"' and "\\" not in word:  # most are plain text, and there may be many
        return word[1:-1]
    try:
        value = json_value(word)
    except ValueError as error:
        raise no_json(scan.source, place(), error) from error
    problem = "a value is itself a list or an object" if isinstance(value, list | dict) else ""
    text = json_text(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        problem = "a text holds half of a surrogate pair, which can be neither printed nor written"
    if problem:
        raise InputError(
            problem,
            source=scan.source,
            line=place(),
            column=scan.names[k],
            found=word,
            expected='plain values, or a ballot {"order": [...]}',
            repair="write the value as text or number",
        )
    return text


def no_json(source: str, line: int, error: ValueError) -> InputError:
    """Return the error for a value that DuckDB takes for JSON and Python does not."""
    return InputError(
        f"a value cannot be read ({error})",
        source=source,
        line=line,
        expected="text, numbers, and lists of them",
        repair="correct the line, or delete it",
    )


def _numeric(db: Database, scan: Scan, spare: Sequence[int]) -> list[int]:
    """Return which of the columns hold numbers and blanks only."""
    found = [k for k in spare if scan.types[k] == "number"]
    text = [k for k in spare if scan.types[k] != "number"]
    if text:
        # `Table.is_numeric` uses the usual blanks, not those of the caller.
        blanks = ", ".join(map(literal, ("", *BLANKS)))
        number = NUMBER.pattern
        checks = [
            f"bool_and(regexp_full_match({t}, '{number}')) FILTER ({t} NOT IN ({blanks}) AND lower({t}) <> 'nan')"
            for t in map(scan.text_of, text)
        ]
        query = f"SELECT {', '.join(checks)} FROM ({scan.relation(text, place=False)})"
        answers = db.rows(query, scan.source, "looking at other columns")[0]
        found += [k for k, answer in zip(text, answers, strict=True) if answer]
    return found
