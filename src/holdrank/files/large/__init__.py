"""Votes larger than memory, counted by DuckDB in one process or in parts on several machines.

Equal rows are counted first, so that the table for the readers in `votes/forms` is small and is read like any other
file, with the same rules and notes. Battles become counts of pairs. Ballots stay distinct ballots if these fit in
memory, and otherwise become counts of pairs too. A file may also be counted in parts whose counts are added
(`count_pairs`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from holdrank.errors import Message, MissingExtraError, Option, UsageError
from holdrank.files.filters import sql_conditions, where_in_words
from holdrank.files.jsonl import ballots_of, json_value
from holdrank.files.large.digests import Digests
from holdrank.files.large.rows import (
    COUNTED,
    Layout,
    distinct_rows,
    expect_plain,
    fits,
    layout_of,
    no_json,
    parts_of,
    pieces,
)
from holdrank.files.large.scan import Database, NotForDuckDB, Scan, UnreadableError, located, open_scan
from holdrank.files.read_options import ReadOptions, check_format
from holdrank.files.sniff import is_pattern
from holdrank.files.table_form import table_form
from holdrank.files.tables import of_table
from holdrank.parallel.executors import connect
from holdrank.parallel.spread import expect_executor, spread
from holdrank.parallel.workers import Parcel
from holdrank.status import Clock, Step
from holdrank.votes.forms.battles import OF_PAIRS, tally_battles, tally_pair_counts
from holdrank.votes.forms.raw import RawBallots
from holdrank.votes.forms.table import Coded, Problems, Table, no_marks
from holdrank.votes.pairs import PairCounts
from holdrank.votes.provenance import Reading
from holdrank.votes.votes import Votes

__all__ = ["PairCounts", "count_pairs", "read_large"]

_CELLS = 1 << 24  # of ballots that are laid out and counted at a time
_CELLS_TO_TELL = 1 << 20  # of rows that are examined together to distinguish ranks from scores
_MOST_IN_MEMORY = 1 << 30  # bytes of a file
_MEMORY_OF_A_PART = "512MB"

Source = str | os.PathLike[str]
Report = Callable[[Step], None]


def count_pairs(
    sources: Source | Iterable[Source],
    *,
    format: str | None = None,
    scheduler: str | None = None,
    progress: Report | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> PairCounts:
    """Count how often each item is preferred to each other item, in files of any size.

    Parameters
    ----------
    sources : path, pattern or several of them
        Parquet, CSV or JSON Lines; ``"votes/*.parquet"`` is all files that match.
    format : str, optional
        As for `read_votes`; on an executor, auto-detected from the first rows.
    scheduler : str, optional
        Address of a Dask scheduler (extra ``cluster``), whose workers see the files under the same paths.
    progress : callable, optional
        Called with a `Step` from time to time, to show progress.
    executor : Executor, optional
        Any executor whose workers see the files, such as ``hr.clusters.local(4)`` gives.
    **options
        All others of `read_votes`.

    Returns
    -------
    PairCounts

    Notes
    -----
    On an executor every file is a task; large Parquet files are cut into ranges of rows. Counts are added in the order
    of the files, so that the result does not depend on the number of workers. A part of a file may not show whether a
    winner column holds codes or names of items; if the two readings disagree, it is refused.

    Examples
    --------
    ``count_pairs("battles/*.parquet")`` in this process, ``count_pairs("battles/*.parquet", scheduler="tcp://…:8786")``
    on a cluster.
    """
    check_format(format)
    chosen = ReadOptions.of("count_pairs", options)
    if scheduler is not None and executor is not None:
        raise UsageError("give a scheduler or an executor, not both")
    expect_executor(executor)
    many = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not many:
        raise UsageError("there is no source to count")
    with ExitStack() as stack:
        if scheduler is not None:
            executor = stack.enter_context(connect(scheduler))
        counted = [_count(source, format, chosen, executor, progress) for source in many]
    found = reduce(add, counted)
    if not found.total:
        raise no_marks(found.reading.source)
    return found


def read_large(
    source: Source, format: str | None, options: ReadOptions, progress: Report | None = None
) -> Votes | None:
    """Return the votes of files that need not fit in memory; None if the in-memory reader can read them.

    The votes hold distinct ballots if these fit, else every comparison as a ballot over two items.
    """
    try:
        with Database(progress) as db:
            scan, layout = _opened(db, source, format, options)
            with Digests(scan) as digests:
                if not fits(db, scan, layout):
                    counts = _counts_of_scan(db, scan, layout, options)
                    if not counts.total:
                        raise no_marks(scan.source)
                    return _with_reading(counts, scan, layout, digests).as_votes()
                with located(scan):
                    table = distinct_rows(db, scan, layout)
                db.close()  # which gives its memory back
                with located(scan):
                    raw = _raw(table, layout, options)
                    if not raw.ranks.any():
                        raise no_marks(scan.source)
                    return Votes.from_raw(raw, _reading(scan, layout, raw.choices, digests))
    except NotForDuckDB as reason:
        if is_pattern(source):
            raise _refused(source, reason, "read the files one by one") from reason
        return None
    except (MissingExtraError, UnreadableError) as error:
        # The usual reader accepts more, or names the faulty line; but its input must fit in memory.
        if is_pattern(source) or (isinstance(error, UnreadableError) and os.path.getsize(source) > _MOST_IN_MEMORY):
            raise
        return None


def _refused(source: Source, reason: NotForDuckDB, repair: str) -> UsageError:
    """Return the error for files that only DuckDB could count, but cannot."""
    return UsageError(Message(f"{os.fspath(source)}: ", *reason.args), repair=repair)


def _opened(db: Database, source: Source, format: str | None, options: ReadOptions) -> tuple[Scan, Layout]:
    expect_plain(options)
    scan = open_scan(source, db, delimiter=options.delimiter, format=format)
    if options.where:
        found = sql_conditions(scan.names, scan.text_of, options)
        scan = replace(scan, where=tuple(found.items()))
    with located(scan):
        layout = layout_of(db, scan, format, options)
    return scan, replace(layout, chosen=where_in_words(options))


def _count(
    source: Source, format: str | None, options: ReadOptions, executor: Executor | None, progress: Report | None
) -> PairCounts:
    """Return the counts of one source, here or in parts on an executor."""
    try:
        with Database(progress) as db:
            scan, layout = _opened(db, source, format, options)
            if executor is None:
                with Digests(scan) as digests:
                    return _with_reading(_counts_of_scan(db, scan, layout, options), scan, layout, digests)
            parts = parts_of(db, scan)
    except NotForDuckDB as reason:
        raise _refused(source, reason, "read it with read_votes, and count with PairCounts.from_votes") from reason
    work = {str(k): (part,) for k, part in enumerate(parts)}
    found: dict[str, PairCounts] = {}
    with Clock() as clock, Digests(scan) as digests:
        for key, counts in spread(_count_part, work, Parcel((layout, options)), clock, executor=executor):
            found[key] = counts
            if progress is not None:
                progress(Step("parts counted", len(found), len(parts)))
        if len(found) < len(parts):
            raise KeyboardInterrupt
        return _with_reading(reduce(add, [found[key] for key in work]), scan, layout, digests)


def _count_part(parcel: Parcel[tuple[Layout, ReadOptions]], part: Scan, clock: Clock) -> tuple[PairCounts, bool]:  # noqa: ARG001
    """Count one part, in a worker, on one thread: the other workers use the others."""
    layout, options = parcel.value
    try:
        with Database(memory=_MEMORY_OF_A_PART, threads=1) as db:
            return _counts_of_scan(db, part, layout, options, whole=False), True
    except NotForDuckDB as reason:
        raise UsageError(f"{part.source}: {reason}") from reason


def _counts_of_scan(db: Database, scan: Scan, layout: Layout, options: ReadOptions, whole: bool = True) -> PairCounts:
    """Return the counts of files, or of a part of one; those of no votes at all are counts of 0 votes."""
    if fits(db, scan, layout):
        with located(scan):
            return _counts_of_table(distinct_rows(db, scan, layout), layout, options, whole)
    counts = None
    for where, table in pieces(db, scan, layout):
        with located(where):
            more = _counts_of_table(table, layout, options, whole)
        counts = more if counts is None else counts + more
    assert counts is not None  # what does not fit is not empty
    return counts


def _counts_of_table(table: Table, layout: Layout, options: ReadOptions, whole: bool) -> PairCounts:
    if layout.form in COUNTED:
        if layout.form == "battles":
            tally, choices = tally_battles(table, options, Problems(), whole=whole)
        else:
            tally, choices = tally_pair_counts(table, options, Problems())
        return PairCounts.from_tally(tally, Reading(choices=choices | OF_PAIRS))
    counts: list[PairCounts] = []
    for piece in _some_at_a_time(table, _width(table, layout)):
        raw = _raw(piece, layout, options)
        counts.append(PairCounts.from_raw(raw, Reading(choices=raw.choices)))
    rule = options.unlisted_or("bottom" if layout.form in ("positions", "rank-columns") else "observed")
    return reduce(add, counts) if counts else PairCounts.of_nobody(rule)


def _width(table: Table, layout: Layout) -> int:
    """Return a guess at the number of items: as many as there are columns of items, or different names."""
    if layout.form in ("rank-columns", "score-columns"):
        return len(layout.used)
    columns = [table.columns[k] for k in layout.used]
    return max([len(column.values) for column in columns if isinstance(column, Coded)] or [len(layout.used)])


def _some_at_a_time(table: Table, width: int, cells: int = _CELLS) -> Iterator[Table]:
    rows = max(1, cells // max(width, 1))
    for start in range(0, table.rows, rows):
        yield table.rows_from(start, start + rows)


def _raw(table: Table, layout: Layout, options: ReadOptions) -> RawBallots:
    """Return the ballots of a table, read as the readers of files do."""
    if layout.form == "jsonl":
        return _json_ballots(table, layout, options)
    if layout.form in ("rank-columns", "score-columns") and layout.reason != "as set":
        # The format comes from the first rows. All other rows must fit it, as they would in memory.
        for piece in _some_at_a_time(table, len(layout.used), _CELLS_TO_TELL):
            found, _ = table_form(piece, options)
            if found != layout.form:
                raise piece.fault(
                    f"the first rows are read as {layout.form}, but here the rows look like {found}",
                    "rows that fit only one of the two readings",
                    Message("set ", Option("format", "rank-columns"), " or ", Option("format", "score-columns")),
                    row=0,
                )
    return of_table(table, layout.form, replace(options, where=None), Problems())[2]


def _json_ballots(table: Table, layout: Layout, options: ReadOptions) -> RawBallots:
    """Return the ballots of JSON objects, of which one may declare the items."""
    known: dict[str, Any] = {}

    def value(text: str) -> Any:
        if text not in known:
            known[text] = json_value(text)
        return known[text]

    keys = [(table.names[k], table.text(k)) for k in layout.used]
    head = dict(layout.head or {})
    objects: list[tuple[int, dict[str, Any]]] = []
    kept: list[int] = []
    for row in range(table.rows):
        try:
            record = {key: value(cells[row]) for key, cells in keys if cells[row]}
        except ValueError as error:  # a number with thousands of digits, or a list as deep
            raise no_json(table.source, int(table.lines[row]), error) from error
        if head and record == head:
            continue
        objects.append((int(table.lines[row]), record))
        kept.append(row)
    times = None if table.times is None else table.times[kept]
    return ballots_of(objects, head, table.source, options, Problems(), times)


def _reading(scan: Scan, layout: Layout, choices: dict[str, str], digests: Digests) -> Reading:
    chosen = {"format": f"{layout.form} ({layout.reason})", **choices, **layout.chosen}
    if len(scan.files) > 1:
        chosen["files"] = f"{len(scan.files):,}, from {scan.files[0]} to {scan.files[-1]}"
    return Reading(scan.source, digests.sha256(), layout.form, chosen)


def _with_reading(counts: PairCounts, scan: Scan, layout: Layout, digests: Digests) -> PairCounts:
    return counts.with_reading(_reading(scan, layout, dict(counts.reading.choices), digests))
