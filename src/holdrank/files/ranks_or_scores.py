"""Whether numbers are ranks or scores, judged by the numbers alone: rows of a matrix, NaN for missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_COLUMNS = 2000  # beyond, no column is tried as one that is not an item
_SAMPLE = 256  # rows that are checked before all others
_CELLS_AT_A_TIME = 1 << 17  # to keep temporary arrays small


def rank_evidence(values: NDArray[np.float64]) -> str | None:
    """Return ``"ranks"`` or ``"scores"`` where the rows prove it, else None.

    Ranks: every row is 1..k, with ties numbered as in competitions (1, 1, 3) or by their mean (1.5, 1.5, 3), or
    lacks some of 1..n without ties. Scores: the rows cannot number a ranking, not even (`may_be_ranks`) if ranks count
    from 0, if the lowest or highest number means "unlisted", or if one column is not an item; and some row repeats a
    number, because whole numbers that all differ may be ranks of which the table shows a part. Nothing but 0 and 1 over
    three items or more are scores too: whether or not an item was chosen.

    Examples
    --------
    >>> rank_evidence(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]))
    'ranks'
    >>> rank_evidence(np.array([[5.0, 5.0, 4.0, 0.0]])), rank_evidence(np.array([[0.25, 0.5]]))
    ('scores', 'scores')
    >>> [rank_evidence(np.array([row])) for row in ([1.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2001.0, 1.0, 2.0])]
    [None, None, None]
    """
    values = values[~np.isnan(values).all(axis=1)]
    if not len(values):
        return None
    full = ~np.isnan(values).any(axis=1)
    sure, holed, loose = _rank_rows(values)
    if sure.any() and (sure | holed).all():
        return "ranks"
    marks = values[~np.isnan(values)]
    if values.shape[1] > 2 and np.isin(marks, (0, 1)).all():
        return "scores"
    inside = (marks >= 1) & (marks <= values.shape[1]) & (marks % 0.5 == 0)
    if inside.all() and not (full & ~(sure | holed | loose)).any():
        return None
    if _all_differ(values) or _all_differ(_without(values, low=True, high=False)) or may_be_ranks(values, spare=True):
        return None
    return "scores"


def may_be_ranks(values: NDArray[np.float64], *, spare: bool = False, strict: bool = False) -> bool:
    """Whether all rows may be ranks in any numbering; with `spare`, one column need not be an item.

    Ties may have any usual number (1, 1, 2 as well), ranks may count from 0, and the lowest number, if below 1, and
    the highest, if above n, may stand for "unlisted". Use `strict` where other signs suggest scores: some row must then
    rank two items, and with two items no number is taken to mean "unlisted".

    Examples
    --------
    >>> may_be_ranks(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])), may_be_ranks(np.array([[1.0, 99.0, 99.0]]))
    (True, True)
    >>> may_be_ranks(np.array([[5.0, 5.0, 4.0, 0.0]]))
    False
    """
    least = 2 if strict else 1
    signs = (
        ((False, False),)
        if strict and values.shape[1] < 3
        else ((False, False), (True, False), (False, True), (True, True))
    )
    for low, high in signs:
        bare = _without(values, low=low, high=high)
        for ranks, enough in ((bare, least), (bare + 1, 2)):  # from 1, or from 0: a lone 0 proves nothing
            if _fits(ranks, enough) or (spare and not high and _fits_without_one(ranks)):
                return True
    return False


def parts_of_rankings(values: NDArray[np.float64]) -> bool:
    """Whether the columns look like rankings of which the table shows a part: no repeats, mostly from 1."""
    if values.shape[1] < 2 or values.shape[0] < 3 or not _all_differ(values.T):
        return False
    best = np.where(np.isnan(values), np.inf, values).min(axis=0)
    return bool(2 * (best == 1).sum() > values.shape[1])


def odd_column(values: NDArray[np.float64]) -> int | None:
    """Return a column of numbers that are unlikely to be scores of an item, such as a running number or a year."""
    rows, width = values.shape
    if rows < 2 or width < 3:
        return None
    ordered = np.sort(values, axis=0)
    repeats = (ordered[1:] == ordered[:-1]).any(axis=0)
    if rows >= 5 and repeats.sum() == width - 1:
        lone = int(np.flatnonzero(~repeats)[0])
        if (values[:, lone] % 1 == 0).all():
            return lone
    full = ~np.isnan(values).any(axis=0)
    lows = np.where(full, np.where(full, values, 0).min(axis=0), -np.inf)
    lone = int(lows.argmax())
    rest = np.delete(values, lone, axis=1)
    # Far above the scale of all others: a universal favourite is at the top of the same scale.
    if not np.isnan(rest).all() and lows[lone] / 2 > max(np.nanmax(rest), 0):
        return lone
    return None


def _without(values: NDArray[np.float64], *, low: bool, high: bool) -> NDArray[np.float64]:
    """Take the lowest number for a blank if it is below 1, and the highest if it is above n; both are whole."""
    marks = values[~np.isnan(values)]
    out = values.copy()
    if low and len(marks) and marks.min() < 1 and marks.min() % 1 == 0:
        out[values == marks.min()] = np.nan
    if high and len(marks) and marks.max() > values.shape[1] and marks.max() % 1 == 0:
        out[values == marks.max()] = np.nan
    return out


def _all_differ(values: NDArray[np.float64]) -> bool:
    """Whether the marks are whole numbers and no row repeats one."""
    ordered = np.sort(values, axis=1)
    return bool((ordered[~np.isnan(ordered)] % 1 == 0).all() and (ordered[:, 1:] != ordered[:, :-1]).all())


def _fits(values: NDArray[np.float64], least: int) -> bool:
    """Whether all rows are rankings, and one without holes ranks at least the given number of items."""
    if len(values) > _SAMPLE and len(_misfits(values[:_SAMPLE])):
        return False
    values = values[~np.isnan(values).all(axis=1)]
    sure, holed, loose = _rank_rows(values)
    many = (~np.isnan(values)).sum(axis=1) >= least
    return bool(((sure | loose) & many).any() and (sure | holed | loose).all())


def _misfits(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows that are not rankings, apart from blank ones."""
    sure, holed, loose = _rank_rows(values)
    return np.flatnonzero(~(sure | holed | loose | np.isnan(values).all(axis=1)))


def _fits_without_one(values: NDArray[np.float64]) -> bool:
    """Whether the rows fit once some column is left out; a row that does not fit says which it may be."""
    n = values.shape[1]
    candidates = list(range(n)) if 2 < n <= _MOST_COLUMNS else []
    while candidates:
        rest = np.delete(values[:_SAMPLE], candidates[0], axis=1)
        wrong = _misfits(rest)
        if not len(wrong):
            rest = np.delete(values, candidates[0], axis=1)
            if _fits(rest, 2):
                return True
            wrong = _misfits(rest)
        if not len(wrong):
            candidates.pop(0)
            continue
        row = values[wrong[0]]
        unfit = set(_misfits(np.array([np.delete(row, k) for k in candidates])).tolist())
        candidates = [k for place, k in enumerate(candidates) if place not in unfit]
    return False


def _rank_rows(values: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each row whether it is a ranking: certainly, with holes in its numbers, or with loosely numbered ties.

    Surely: 1..k with ties as in competitions or by their mean. With holes: a part of 1..n, no ties. Loosely: 1..k
    with ties numbered 1, 1, 2 or 2, 2, 3.
    """
    step = max(1, _CELLS_AT_A_TIME // max(values.shape[1], 1))
    starts = range(0, max(len(values), 1), step)
    sure, holed, loose = zip(*(_rank_block(values[start : start + step]) for start in starts), strict=True)
    return np.concatenate(sure), np.concatenate(holed), np.concatenate(loose)


def _rank_block(values: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Do what `_rank_rows` does for a few rows."""
    n = values.shape[1]
    filled = ~np.isnan(values)
    ordered = np.sort(values, axis=1)
    there = np.sort(~filled, axis=1) == 0
    place = np.broadcast_to(np.arange(1, n + 1), ordered.shape)
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    lowest = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    last = np.ones(ordered.shape, dtype=bool)
    last[:, :-1] = new[:, 1:]
    highest = np.minimum.accumulate(np.where(last, place, n)[:, ::-1], axis=1)[:, ::-1]
    dense = np.cumsum(new, axis=1)

    def fits(ranks: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(((ordered == ranks) | ~there).all(axis=1))

    sure = fits(lowest.astype(float)) | fits((lowest + highest) / 2)
    possible = (ordered >= 1) & (ordered <= n) & (ordered % 1 == 0)
    holed = ~there.all(axis=1) & ((new & possible) | ~there).all(axis=1)
    loose = fits(dense.astype(float)) | fits(highest.astype(float))
    return sure, holed, loose
