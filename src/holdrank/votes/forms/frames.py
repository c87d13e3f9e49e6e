"""Data frames of battles and of scores, from any library that narwhals supports."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from holdrank.errors import UsageError
from holdrank.votes.forms.battle_columns import battle_columns
from holdrank.votes.forms.battles import battles
from holdrank.votes.forms.notes import plural
from holdrank.votes.forms.raw import RawBallots
from holdrank.votes.forms.scores import score_table
from holdrank.votes.forms.table import Column, Problems, Ref, Table, find_weight, read_weights
from holdrank.votes.forms.table_options import TableOptions
from holdrank.votes.forms.voters_and_groups import read_voters

FRAME = "data frame (rows count from 1)"


def table_from_frame(frame: Any) -> Table:
    """Return the columns of any frame that narwhals supports; numbers stay numbers, nulls become missing."""
    native = _eager(frame)
    columns = [_frame_column(native[name]) for name in native.columns]
    return Table(FRAME, list(native.columns), columns, range(1, len(native) + 1), frame=True)


def is_frame(source: Any) -> bool:
    """Whether a source is a data frame, eager or lazy, of a library that narwhals supports."""
    if isinstance(source, str | bytes) or hasattr(source, "read"):
        return False
    import narwhals.stable.v1 as nw

    return isinstance(nw.from_native(source, pass_through=True), nw.DataFrame | nw.LazyFrame)


def with_names(frame: Any) -> Any:
    """Return a frame of pandas whose index holds names with these as its first column; others as they are."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index") or getattr(index, "nlevels", 1) > 1:
        return frame
    if not len(index) or not all(isinstance(name, str) for name in index):
        return frame
    taken = set(map(str, frame.columns))
    name = index.name if isinstance(index.name, str) and index.name not in taken else "item"
    while name in taken:
        name += "'"
    return frame.rename_axis(index=name).reset_index()


def _eager(frame: Any) -> Any:
    import narwhals.stable.v1 as nw
    from narwhals.exceptions import DuplicateError

    names = "the columns of the frame need distinct text names"
    try:
        native = nw.from_native(frame)
    except DuplicateError as error:
        raise UsageError(names) from error
    except TypeError as error:
        raise UsageError(
            f"a {type(frame).__name__} is not a data frame; give a pandas, polars or pyarrow one"
        ) from error
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if not all(isinstance(name, str) for name in native.columns) or len(set(native.columns)) < len(native.columns):
        raise UsageError(names)
    return native


def _frame_column(series: Any) -> Column:
    """Return a column as numbers where it has numbers, else as text; nulls of any kind are missing."""
    dtype = series.dtype
    nulls = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if dtype.is_numeric():
        if not nulls.any():
            values = np.asarray(series.to_numpy())
            return values if dtype.is_integer() else values.astype(np.float64)
        values = np.asarray(series.fill_null(0).to_numpy(), dtype=np.float64)
        return np.where(nulls, np.nan, values)
    return ["" if null else str(value) for value, null in zip(series.to_list(), nulls.tolist(), strict=True)]


def battles_from_frame(
    frame: Any,
    *,
    first: str | None = None,
    second: str | None = None,
    winner: str | None = None,
    weight: str | None = None,
    voter: str | Sequence[Any] | None = None,
    both_bad: str = "tie",
    blank_voters: str = "refuse",
    by: str | None = None,
) -> RawBallots:
    """Return the ballots of a frame of battles, one comparison per row.

    The frame's own engine counts equal rows first, so that millions of rows are fast.

    Parameters
    ----------
    frame : pandas, polars, pyarrow or other frame that narwhals supports first, second, winner, weight : str, optional
        Names of the columns; by default the usual names are used.
    voter : str or sequence, optional
        The voter of each battle: the name of a column, or one name for each row.
    both_bad : {"tie", "drop"}
        Whether battles that call both items bad count as ties or are dropped.
    blank_voters : {"refuse", "separate"}
        Whether battles without a voter are refused or count as a separate voter each.
    by : str, optional
        The column that says which group each battle belongs to, for `leave_one_out`.
    """
    import narwhals.stable.v1 as nw

    native = _eager(frame)
    names = list(native.columns)
    bare = Table(FRAME, names, [[] for _ in names], (), frame=True)
    options = TableOptions(first=first, second=second, winner=winner, both_bad=both_bad)
    columns = battle_columns(bare, options)
    if columns is None:
        return battles(bare, options, Problems())  # refuses, and says which columns it looked for
    choices: dict[str, str] = {}
    weight_column = find_weight(bare, weight, choices)
    used = [columns.first, columns.second, *columns.result]
    keys = [f"key {k}" for k in range(len(used))]
    amounts = None if weight_column is None else _frame_column(native[names[weight_column]])
    people, label = _voters(native, bare, voter, blank_voters, choices)
    groups = None if by is None else _cells(native, bare, by)
    native = native.select(*(_plain_text(nw, native, names[k]).alias(key) for k, key in zip(used, keys, strict=True)))
    native = native.with_row_index("row")
    if weight_column is not None and amounts is not None:
        # Weights may be text or decimals: they are numbers before any engine adds them up.
        table = Table(FRAME, [names[weight_column]], [amounts], range(1, len(native) + 1), frame=True)
        weights = read_weights(table, 0, Problems())
        engine = nw.get_native_namespace(native)
        native = native.with_columns(nw.new_series("weight", weights, nw.Float64, native_namespace=engine))
    if people is not None:
        engine = nw.get_native_namespace(native)
        keys.append("voter")
        native = native.with_columns(nw.new_series("voter", people, nw.String, native_namespace=engine))
    if groups is not None:
        engine = nw.get_native_namespace(native)
        keys.append("group")
        native = native.with_columns(nw.new_series("group", groups, nw.String, native_namespace=engine))
    total = nw.len() if weight_column is None else nw.col("weight").sum()
    grouped = native.group_by(keys, drop_null_keys=False).agg(nw.col("row").min(), total.alias("total"))
    grouped = grouped.sort("row")  # engines return groups in any order; we use the order of first appearance
    cells = [_frame_column(grouped[name]) for name in (*keys, "total")]
    lines = [int(row) + 1 for row in grouped["row"].to_list()]
    extra = [*([label] if people is not None else []), *([by] if by is not None else [])]
    header = [*(names[k] for k in used), *extra, "weight"]
    table = Table(FRAME, header, cells, lines, frame=True)
    named: dict[str, Any] = {"first": 1, "second": 2, "winner": 3} if columns.winner is not None else {}
    if people is not None:
        named["voter"] = len(used) + 1
    if by is not None:
        named["by"] = len(used) + len(extra)
    raw = battles(table, TableOptions(weight=len(header), both_bad=both_bad, **named), Problems())
    raw.choices.update(choices)
    return raw


def _voters(
    native: Any, bare: Table, voter: str | Sequence[Any] | None, blank_voters: str, choices: dict[str, str]
) -> tuple[list[str] | None, str]:
    """Return the voter of each battle of a frame, if given, and the name of the column."""
    if voter is None or isinstance(voter, str):
        column = None if voter is None else bare.find(voter, "voter")
        cells = [] if column is None else _frame_column(native[bare.names[column]])
        label = "" if column is None else bare.names[column]
    else:
        given = list(voter)
        if len(given) != len(native):
            raise UsageError(
                f"{plural(len(given), 'voter')} given for {plural(len(native), 'battle')}",
                repair="give one voter for each battle",
            )
        cells, label = ["" if _is_missing(name) else str(name) for name in given], "voter"
    table = Table(FRAME, [label], [cells], range(1, len(native) + 1), frame=True)
    options = TableOptions(voter=None if voter is None else 1, blank_voters=blank_voters)
    people = read_voters(table, options, choices, Problems())
    if people is not None and not isinstance(voter, str):
        choices["voter"] = "given"
    return (None if people is None else people.cells()), label


def _cells(native: Any, bare: Table, ref: str) -> list[str]:
    """Return the cells of a column as text."""
    name = bare.names[bare.find(ref, "by")]
    return Table(FRAME, [name], [_frame_column(native[name])], range(1, len(native) + 1), frame=True).text(0)


def _is_missing(name: Any) -> bool:
    """Whether a name is None, NaN or NaT."""
    return name is None or bool(name != name)


def _plain_text(nw: Any, native: Any, name: str) -> Any:
    """Return the column, with categories as text: engines differ in how they group unused categories."""
    column = nw.col(name)
    return column.cast(nw.String) if native[name].dtype in (nw.Categorical, nw.Enum) else column


def scores_from_frame(
    frame: Any,
    *,
    higher_is_better: bool | Mapping[str, bool] = True,
    item: str | Sequence[str] | None = None,
    voters: Sequence[str] | None = None,
    unlisted: str | None = None,
    repeated: str = "refuse",
) -> RawBallots:
    """Return the ballots of a frame of scores: one row per item, a column per voter (task, judge).

    Parameters
    ----------
    frame : pandas, polars, pyarrow or other frame that narwhals supports higher_is_better : bool or mapping of column
    to bool
        Direction of all columns, or of some; those left out of a mapping are high-is-best.
    item : str or sequence of str, optional
        The column, or columns, that name the item. By default the index of a pandas frame, as after
        ``frame.set_index("model")``: if it holds text and has a name, or has either and the first column holds
        numbers. Otherwise the first column, which then must not hold numbers.
    voters : sequence of str, optional
        The columns to use; by default all except `item`, which must then hold numbers.
    unlisted : {"observed", "bottom"}, optional
        What a missing score means: nothing (the default), or a place at the bottom.
    repeated : {"refuse", "first"}
        What to do with an item on two rows.
    """
    if isinstance(higher_is_better, Mapping):
        lower: Collection[Ref] | bool = [name for name, high in higher_is_better.items() if not high]
    else:
        lower = not higher_is_better
    frame, named = _with_index(frame, item)
    options = TableOptions(item=named, columns=voters, lower_is_better=lower, unlisted=unlisted, repeated=repeated)
    return score_table(table_from_frame(frame), options, Problems())


def _with_index(frame: Any, item: str | Sequence[str] | None) -> tuple[Any, str | Sequence[str] | None]:
    """Return a frame whose index names the items with these as columns, and the names of such columns."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame, item
    names = list(index.names)
    asked = [item] if isinstance(item, str) else item
    if asked is not None and not set(asked) & set(names):
        return frame, item
    scores = bool(len(frame.columns)) and frame.dtypes.iloc[0].kind in "biufc"
    texts = not len(index) or isinstance(index[0], str | tuple)
    if (scores or texts) and all(isinstance(name, str) and name not in frame.columns for name in names):
        return frame.reset_index(), names if item is None else item
    return (with_names(frame) if scores else frame), item
