"""`read_votes` and `validate`: the only reader of vote files.

Every file takes the same steps: bytes to text or table (`containers`), detection of the format (`sniff`, `table_form`),
ballots (`preflib`, `jsonl`, `votes/forms`), and `Votes`. Every choice is recorded in ``votes.reading.choices``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from holdrank.errors import InputError, Message, Option, UsageError
from holdrank.files import sniff
from holdrank.files.containers.delimited import Chunk, Chunks, csv_chunks, find_delimiter, table_from_chunks
from holdrank.files.containers.parquet import parquet_table
from holdrank.files.containers.source import Source, container, decode, open_source
from holdrank.files.containers.spreadsheets import xlsx_rows
from holdrank.files.filters import kept_items
from holdrank.files.jsonl import read_jsonl
from holdrank.files.order import read_order
from holdrank.files.preflib.old import read_old_preflib
from holdrank.files.preflib.reader import read_preflib
from holdrank.files.read_options import ReadOptions, check_format
from holdrank.files.table_form import looks_like_lists
from holdrank.files.tables import of_table
from holdrank.files.text_layouts import LAYOUTS
from holdrank.status import Shown, Step
from holdrank.votes.forms.frames import is_frame, table_from_frame, with_names
from holdrank.votes.forms.raw import RawBallots
from holdrank.votes.forms.table import Problems, Ref, Table, no_marks
from holdrank.votes.provenance import Reading
from holdrank.votes.votes import Votes

_TEXT_READERS: dict[str, Callable[[str, Source, ReadOptions, Problems], RawBallots | Table]] = {
    "preflib": read_preflib,
    "preflib-old": read_old_preflib,
    "order": read_order,
    **{layout.format: layout.read for layout in LAYOUTS},
}
_BALLOTS_OF_TEXT = (*_TEXT_READERS, "jsonl")


@dataclass(frozen=True, slots=True)
class Validation(Shown):
    """The result of `validate`.

    Attributes
    ----------
    problems : tuple of InputError
        The first 20 problems.
    total : int
        Number of problems.
    votes : Votes or None
        The votes, if there are no problems.
    """

    problems: tuple[InputError, ...]
    total: int
    votes: Votes | None


def read_votes(
    source: str | os.PathLike[str] | BinaryIO | Any,
    *,
    format: str | None = None,
    unlisted: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: int | None = None,
    columns: Sequence[Ref] | None = None,
    item: Ref | Sequence[Ref] | None = None,
    voter: Ref | None = None,
    weight: Ref | None = None,
    rank: Ref | None = None,
    score: Ref | None = None,
    first: Ref | None = None,
    second: Ref | None = None,
    winner: Ref | None = None,
    lower_is_better: Collection[str] | bool = (),
    blanks: Collection[str] | None = None,
    repeated: str = "refuse",
    both_bad: str = "tie",
    blank_voters: str = "refuse",
    map: Mapping[str, str] | Collection[str] | None = None,
    categories: Sequence[str | int] | None = None,
    short_rows: str = "refuse",
    sheet: str | int | None = None,
    where: Sequence[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    only: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    by: Ref | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Votes:
    r"""Read votes from a file or data frame; the format is auto-detected.

    `notes` and `reading` of the result say what was assumed.

    Parameters
    ----------
    source : path, "-", binary file or data frame
        Data frames of pandas, polars, pyarrow and others are read like tables in files; a pandas index of names is read
        as a column.

        PrefLib, CSV (comma, semicolon, tab or pipe), JSON Lines, Parquet or .xlsx; ``"-"`` is standard input. A pattern
        such as ``"votes/*.parquet"`` means all matching files, which must have the same columns; DuckDB counts these,
        and large files, which need not fit in memory (see :doc:`/how-to/big-votes`).
    format : str, optional
        One of `FORMATS`; auto-detected by default. If two formats are equally plausible, the file is refused, and the
        message names this option.
    unlisted : {"bottom", "observed"}, optional
        Items that a ballot leaves out: tied below all others, or not compared. By default bottom for ballots,
        observed for battles, scores and judgements.
    delimiter, encoding : str, optional
        For CSV files; by default the delimiter is auto-detected, and the encoding is UTF-8.
    header : int, optional
        Number of the row that holds the names of the columns, counted from 1; 0 = there is none.
    columns : str, int or sequence of them, optional
        The columns to use, by name or by position from 1: items, positions, voters of a score table, or for pair
        counts the two items, their wins and the ties.
    item, voter, weight, rank, score, first, second, winner : str or int, optional
        The columns with these roles; `item` may be several, joined with ``" | "``.
    lower_is_better : collection of str, or bool
        Where lower scores are better: columns of a score table, voters of long scores, or True for all.
    blanks : collection of str, optional
        Cells that mark a missing value, instead of the usual ones (see `holdrank.votes.forms.BLANKS`).
    repeated : {"refuse", "first"}
        What to do with an item named twice on a ballot, or on two rows of a score table: refuse the file, or use the
        first.
    both_bad : {"tie", "drop"}
        Battles that call both items bad: count them as ties, or drop them.
    blank_voters : {"refuse", "separate"}
        Battles without a voter, where `voter` is set: refuse them, or count each as a separate voter.
    map : mapping or collection of str, optional
        Meanings of result codes: ``{"won": "first"}`` or ``["won=first"]``; first, second, tie or skip.
    categories : sequence of str or int, optional
        Categories of a .cat file, best first; items in those left out are unlisted.
    short_rows : {"refuse", "fill"}
        Rows with too few cells: refuse the file, or fill them with blanks.
    sheet : str or int, optional
        Name or number (from 1) of the sheet of a spreadsheet.
    where : str or sequence of str, optional
        Rows to keep, such as ``"language=en"`` or ``"anony!=False"``. All conditions must hold; several values of one
        column are alternatives.
    since, until : str, optional
        First and last time of the rows to keep, such as ``"2024-05-31"``; a date stands for its whole day, in UTC. The
        column is found by its name: tstamp, timestamp, date and others.
    only, drop : str or sequence of str, optional
        Items to keep, or to leave out; battles with an item that is left out do not count.
    by : str or int, optional
        The column that groups the rows, such as a language or a judge; `leave_one_out` then leaves out each group in
        turn. Rows with a blank cell form one group.
    progress : callable, optional
        Called with a `Step` now and then while large files are counted.

    Returns
    -------
    Votes

    Raises
    ------
    InputError
        If the file is not valid; with the line, what was found, what was expected and how to fix it.

    Examples
    --------
    >>> import io
    >>> votes = read_votes(io.BytesIO(b"model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"))
    >>> votes.items, votes.unlisted
    (('x', 'y', 'z'), 'observed')
    >>> votes.reading.choices["format"]
    'battles (columns model_a, model_b, winner)'
    """
    options = ReadOptions(
        unlisted=unlisted, delimiter=delimiter, encoding=encoding, header=header, columns=columns, item=item,
        voter=voter, weight=weight, rank=rank, score=score, first=first, second=second, winner=winner,
        lower_is_better=lower_is_better, blanks=blanks, repeated=repeated, both_bad=both_bad,
        blank_voters=blank_voters, map=map,  # type: ignore[arg-type]
        categories=categories, short_rows=short_rows, sheet=sheet, where=where, since=since, until=until,
        only=only, drop=drop, by=by,
    )  # fmt: skip
    if is_frame(source):
        return _read_frame(source, format, options)
    if sniff.is_large(source):
        votes = _read_large(source, format, options, progress)
        if votes is not None:
            return votes
    votes = _read(source, format, options, Problems())
    assert votes is not None  # a strict reader raises instead
    return votes


def validate(source: str | os.PathLike[str] | BinaryIO, *, format: str | None = None, **options: object) -> Validation:
    r"""Check a file and list all its problems, not only the first; takes the options of `read_votes`.

    Examples
    --------
    >>> import io
    >>> found = validate(io.BytesIO(b"rank1,rank2\nx,x\ny,y\nx,y\n"), repeated="refuse")
    >>> found.total, [problem.line for problem in found.problems], found.votes
    (2, [2, 3], None)
    """
    chosen = ReadOptions.of("validate", options)
    problems = Problems(strict=False)
    votes = None
    try:
        if sniff.is_pattern(source):
            votes = _read_large(source, format, chosen)
        votes = votes or _read(source, format, chosen, problems)
    except InputError as error:
        problems.add(error)
    return Validation(tuple(problems.kept), problems.total, votes if not problems.total else None)


def _read_large(
    source: Any, format: str | None, options: ReadOptions, progress: Callable[[Step], None] | None = None
) -> Votes | None:
    """Return the votes of files that need not fit in memory; None where the usual reader is needed."""
    check_format(format)
    from holdrank.files.large import read_large  # here, because DuckDB is needed for large files only

    return read_large(source, format, options, progress)


def _read(
    source: str | os.PathLike[str] | BinaryIO, format: str | None, options: ReadOptions, problems: Problems
) -> Votes | None:
    check_format(format)
    opened = open_source(source)
    form, reason, raw = _raw_ballots(opened, format, options, problems)
    if problems.total:
        return None
    if not raw.ranks.any():
        raise no_marks(opened.name, len(raw.items))
    choices = {"format": f"{form} ({reason})", **raw.choices}
    votes = Votes.from_raw(raw, Reading(opened.name, opened.sha256, form, choices, raw.title))
    return kept_items(votes, options)


def _read_frame(frame: Any, format: str | None, options: ReadOptions) -> Votes:
    """Return the votes of a data frame."""
    check_format(format)
    if format in _BALLOTS_OF_TEXT:
        raise UsageError(f"the format {format!r} is text, but the source is a data frame")
    for option in ("delimiter", "encoding", "header", "sheet"):
        if getattr(options, option) is not None:
            raise UsageError(Message(Option(option), " does not apply to data frames"))
    table = replace(table_from_frame(with_names(frame)), frame=False)  # its options are those of files
    form, reason, raw = of_table(table, format, options, Problems())
    if not raw.ranks.any():
        raise no_marks(table.source, len(raw.items))
    choices = {"format": f"{form} ({reason})", **raw.choices}
    return kept_items(Votes.from_raw(raw, Reading(format=form, choices=choices)), options)


def _raw_ballots(
    source: Source, format: str | None, options: ReadOptions, problems: Problems
) -> tuple[str, str, RawBallots]:
    """Return the form, the reason for it, and the ballots."""
    kind = container(source)
    if kind != "text" and format in _BALLOTS_OF_TEXT:
        raise UsageError(f"the format {format!r} is text, but {source.name} is {kind}")
    if kind != "xlsx" and options.sheet is not None:
        raise UsageError(Message(Option("sheet"), " applies only to spreadsheets (.xlsx)"))
    if kind != "text" and options.delimiter is not None:
        raise UsageError(Message(Option("delimiter"), " applies only to CSV files"))
    if kind == "parquet":
        return of_table(parquet_table(source), format, options, problems)
    if kind == "xlsx":
        rows, lines, notes = xlsx_rows(source, options.sheet)
        return _of_rows([Chunk(rows, lines)], notes, ",", source.name, format, options, problems)

    text = decode(source, options.encoding)
    if format in _BALLOTS_OF_TEXT:
        return _of_text(text, source, format, "as set", options, problems)
    if format is None:
        form, reason = sniff.text_form(text, source.extension, source.name)
        if form in _BALLOTS_OF_TEXT:
            return _of_text(text, source, form, reason, options, problems)
    elif sniff.is_json_lines(text, source.extension):
        return _of_json(text, source.name, format, "as set", options, problems)
    delimiter, notes = find_delimiter(text, source.name, options.delimiter)
    chunks = csv_chunks(text, source.name, delimiter, problems)
    return _of_rows(chunks, notes, delimiter, source.name, format, options, problems)


def _of_text(
    text: str, source: Source, form: str, reason: str, options: ReadOptions, problems: Problems
) -> tuple[str, str, RawBallots]:
    if form == "jsonl":
        return _of_json(text, source.name, None, reason, options, problems)
    options.check(form)
    found = _TEXT_READERS[form](text, source, options, problems)
    if isinstance(found, RawBallots):
        return form, reason, found
    return form, reason, of_table(found, "battles", options, problems)[2]


def _of_json(
    text: str, name: str, format: str | None, reason: str, options: ReadOptions, problems: Problems
) -> tuple[str, str, RawBallots]:
    """Read lines of ballots, or of records that make a table of the form `format`."""
    for option in ("delimiter", "header"):
        if getattr(options, option) is not None:
            raise UsageError(Message(Option(option), " does not apply to JSON Lines"))
    found = read_jsonl(text, name, options, problems)
    if isinstance(found, Table):
        return of_table(found, format, options, problems)
    if format is not None:
        raise UsageError(
            f"the format {format!r} is a table, but the lines of {name} are ballots",
            repair=Message("leave ", Option("format"), " out"),
        )
    options.check("jsonl")
    return "jsonl", reason, found


def _of_rows(
    chunks: Chunks,
    notes: list[str],
    delimiter: str,
    name: str,
    format: str | None,
    options: ReadOptions,
    problems: Problems,
) -> tuple[str, str, RawBallots]:
    table = table_from_chunks(
        chunks,
        name,
        problems,
        header=options.header,
        short_rows=options.short_rows,
        ragged=lambda names: format == "lists" or (format is None and looks_like_lists(names)),
        delimiter=delimiter,
    )
    table.notes += notes
    return of_table(table, format, options, problems)
