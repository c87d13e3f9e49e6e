"""The inputs of the constructors of `Votes`, checked: lists, tables, frames, names and weights."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.errors import InputError, UsageError, quote
from holdrank.rankings import Floats, Ints
from holdrank.votes.ballots import Ballots, DenseBallots, SparseBallots
from holdrank.votes.forms.notes import counted
from holdrank.votes.forms.table import MAX_WEIGHT
from holdrank.votes.limits import most_cells

LEAST_MASS = 1e-100  # below this, shares of votes come near the smallest floats


def ballots_of_orders(orders: Iterable[Iterable[Any]], items: Iterable[Hashable] | None) -> tuple[list[str], Ballots]:
    """Return the names of the items and the ballots of best-first lists; by default items are those mentioned."""
    index: dict[Hashable, int] = {}
    if items is not None:
        for item in items:
            if item in index:
                raise InputError(f"item {quote(str(item))} is named twice", repair="give each item one name")
            index[item] = len(index)
    known = len(index) if items is not None else None
    ballots = [_ranked(place, order, index, known) for place, order in enumerate(orders, start=1)]
    names, shape = [str(item) for item in index], (len(ballots), len(index))
    row = np.repeat(np.arange(len(ballots)), np.array(list(map(len, ballots)), dtype=np.int64))
    marks = chain.from_iterable(mark for ballot in ballots for mark in ballot.items())
    item_at, rank = np.fromiter(marks, dtype=np.int64, count=2 * len(row)).reshape(-1, 2).T
    if shape[0] * shape[1] > most_cells(len(row)):
        return names, SparseBallots.of_marks(shape, row, item_at, rank)
    ranks = np.zeros(shape, dtype=np.int32)
    ranks[row, item_at] = rank
    return names, DenseBallots(ranks)


def _ranked(place: int, order: Iterable[Any], index: dict[Hashable, int], known: int | None) -> dict[int, int]:
    """Return the rank of each item on one ballot; items not met before join the index, unless all are `known`."""
    if isinstance(order, str):
        raise UsageError(f"ballot {place} is text, not a list of items; write it as ['a', 'b', ...]")
    ballot: dict[int, int] = {}
    for rank, group in enumerate(order, start=1):
        for item in _members(group):
            i = index.setdefault(item, len(index))
            if known is not None and i >= known:
                raise InputError(
                    f"ballot {place} names {quote(str(item))}, which is not one of the items",
                    repair="add it to items= or correct its spelling",
                )
            if i in ballot:
                raise InputError(f"ballot {place} names {quote(str(item))} twice", repair="keep one mention of it")
            ballot[i] = rank
    return ballot


def _members(group: Any) -> Iterable[Any]:
    """Return the items of one place on a ballot: a single item, or the members of a tie."""
    if isinstance(group, set | frozenset):
        return sorted(group, key=str)  # sets have no order of their own
    return group if isinstance(group, list | tuple) else (group,)


def table_of_ranks(ranks: Any, items: Iterable[str] | None) -> tuple[list[str], npt.NDArray[Any]]:
    """Return the names of the items, by default those of the columns, and a table of ranks, none below 0."""
    if not isinstance(ranks, np.ndarray | list | tuple):
        names, ranks = _frame_of_ranks(ranks)
        items = names if items is None else items
    try:
        table = np.asarray(ranks)
    except ValueError as error:
        raise UsageError("all ballots must have the same number of ranks, one for each item") from error
    if table.ndim != 2:
        raise UsageError(f"ranks must be a table with one row per ballot and one column per item, not {table.ndim}-d")
    if table.dtype.kind not in "iuf":
        raise UsageError(f"ranks must be numbers, not {table.dtype}")
    if table.size and ((table.dtype.kind == "f" and not np.isfinite(table).all()) or table.min() < 0):
        row, column = np.argwhere(~np.isfinite(table) | (table < 0))[0].tolist()
        raise InputError(
            f"ballot {row + 1} gives item {column + 1} the rank {table[row, column]}",
            expected="1 for the best, larger for worse, 0 for unlisted",
            repair="use 0 where an item is not ranked",
        )
    return names_of_columns(table, items), table


def names_of_columns(table: npt.NDArray[Any], items: Iterable[str] | None) -> list[str]:
    """Return the names of the items, by default the numbers of the columns."""
    return [str(i) for i in range(table.shape[1])] if items is None else list(items)


def _frame_of_ranks(ranks: Any) -> tuple[list[str] | None, Any]:
    """Return (names of the columns, table) of a data frame; anything else is returned unchanged."""
    import narwhals as nw

    try:
        frame = nw.from_native(ranks, eager_only=True)
    except TypeError:
        return None, ranks
    columns = []
    for k, name in enumerate(frame.columns):
        try:
            columns.append(frame[:, k].cast(nw.Float64).fill_null(0).to_numpy())
        except Exception as error:  # every library has its own
            raise InputError("the column does not hold ranks", column=str(name), expected="numbers") from error
    return [str(name) for name in frame.columns], np.column_stack(columns) if columns else np.zeros((0, 0))


def check_items(items: Sequence[str], n: int) -> None:
    """Refuse names that do not fit n columns, are not text, or occur twice."""
    if len(items) != n:
        raise UsageError(f"{len(items)} item names were given for {n} columns of ranks")
    if n == 0:
        raise InputError("no items", expected="at least one item to rank", repair="check that the right data was given")
    if wrong := [name for name in items if not isinstance(name, str)]:
        raise UsageError(f"names of items must be text, not {quote(repr(wrong[0]))}")
    seen: set[str] = set()
    for name in items:
        if name in seen:
            raise InputError(f"two items have the name {quote(name)}", repair="give each item a different name")
        seen.add(name)


def check_weights(weights: npt.ArrayLike | None, m: int, source: str) -> Floats:
    """Return m weights, 1 each by default; refuse weights that cannot be counted exactly."""
    try:
        shares = np.ones(m) if weights is None else np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError("weights must be numbers") from error
    if shares.shape != (m,):
        raise UsageError(f"{m} ballots need {m} weights, not an array of shape {shares.shape}")
    source = "" if source == "memory" else source
    wrong = np.flatnonzero(~np.isfinite(shares) | (shares < 0))
    if wrong.size:
        raise InputError(
            f"ballot {wrong[0] + 1} has the weight {shares[wrong[0]]}", source=source,
            expected="a finite number, not negative", repair="correct or remove the ballot",
        )  # fmt: skip
    total = shares.sum()
    if total > MAX_WEIGHT:
        raise InputError(
            "more votes than can be counted exactly", source=source, found=f"{total:.3g} votes",
            expected="at most 2**46, about 7e13", repair="divide all counts by the same number",
        )  # fmt: skip
    if 0 < total < LEAST_MASS:
        raise InputError(
            "the weights are too small to compare", source=source, found=f"{total:.3g} in all",
            expected=f"at least {LEAST_MASS:g}", repair="multiply all weights by the same number",
        )  # fmt: skip
    return shares


def ballots_that_count(
    ballots: Ballots, weights: Floats, times: Ints | None, source: str
) -> tuple[npt.NDArray[np.bool_], list[str]]:
    """Return which ballots have marks and weight, and notes on the others; refuse votes without any such ballot.

    Each row stands for `times` ballots of the source, one by default.
    """
    listed, heavy = ballots.listed > 0, weights > 0
    keep = listed & heavy
    if not keep.any():
        raise InputError(
            "nothing to aggregate",
            source="" if source == "memory" else source,
            found=("no ballot with a mark" if heavy.any() else "only weights of 0") if len(keep) else "no ballots",
            expected="at least one ballot that ranks at least one item",
            repair="check that the right file and columns were read",
        )
    return keep, [] if keep.all() else notes_on_dropped(listed, heavy, times)


def notes_on_dropped(listed: npt.NDArray[np.bool_], heavy: npt.NDArray[np.bool_], times: Ints | None) -> list[str]:
    """Return how many ballots are dropped because they list nothing, or have no weight."""
    times = np.ones(len(listed), dtype=np.int64) if times is None else times
    notes: list[str] = []
    for rows, rest in ((~listed, "without any mark dropped"), (listed & ~heavy, "with weight 0 ignored")):
        if count := int(times[rows].sum()):
            notes.append(counted(count, "ballot", rest))
    return notes
