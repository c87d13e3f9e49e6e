"""Numbers become ranks 1, 2, ... without gaps, with equal ranks for equal numbers; only their order counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints
from holdrank.votes.limits import refuse_large_matrix

_LARGEST_BIT = 62  # of a 64-bit number, its sign aside
_NUMBERS = 1 << 16  # of which gaps are closed at a time, to stay in the cache
_NARROW = tuple(map(np.dtype, (np.int8, np.int16, np.int32, np.uint8, np.uint16)))
_MOST_NARROW = float(2**31 - 1)
_ROWS = 1 << 16  # whose order is found at a time, to keep temporary arrays small


def rank_type(n: int) -> type[np.int16] | type[np.int32]:
    """Return the smallest integer type that holds the ranks of n items."""
    return np.int16 if n < 2**15 - 1 else np.int32


def ballot_matrix(ballots: int, items: int, source: str = "") -> npt.NDArray[np.int32]:
    """Return a matrix of zeros for that many ballots and items, or refuse one that cannot fit in memory."""
    refuse_large_matrix(ballots, items, source)
    return np.zeros((ballots, items), dtype=np.int32)


def ranks_without_gaps(ranks: npt.NDArray[Any]) -> Ints:
    """Return each row with its positive numbers replaced by 1, 2, ... in their order, equal numbers alike."""
    m, n = ranks.shape
    dense = np.empty((m, n), dtype=rank_type(n))
    step = max(1, _NUMBERS // max(n, 1))
    for start in range(0, m, step):
        block, to = ranks[start : start + step], dense[start : start + step]
        if n <= _LARGEST_BIT and (keys := _narrow_keys(block)) is not None:
            call("rank_few", keys, len(block), n, to)
        elif dense.dtype == np.int16:
            call("rank_rows", _whole_keys(block), len(block), n, to)
        else:  # so many items that their ranks need 32 bits
            for row, numbers in zip(to, _whole_keys(block), strict=True):
                distinct, place = np.unique(numbers, return_inverse=True)
                row[:] = place + (distinct[0] != 0)
    return dense


def ranks_of_values(values: Floats, higher_is_better: bool = False) -> npt.NDArray[np.int32]:
    """Return dense ranks of every row, 1 best, equal values tied, NaN = 0.

    Competition ranks ``1, 1, 3``, dense ranks ``1, 1, 2`` and mean ranks ``1.5, 1.5, 3`` give the same result: only the
    order counts.

    Examples
    --------
    >>> ranks_of_values(np.array([[1.5, 1.5, 3.0, np.nan]])).tolist()
    [[1, 1, 2, 0]]
    >>> ranks_of_values(np.array([[0.0, 5.0, 5.0]]), higher_is_better=True).tolist()
    [[2, 1, 1]]
    """
    out = ballot_matrix(*values.shape)
    for start in range(0, len(values), _ROWS):
        block = values[start : start + _ROWS]
        missing = np.isnan(block)
        if not higher_is_better and _hold_dense_ranks(filled := np.where(missing, 0.0, block)):
            out[start : start + _ROWS] = filled
            continue
        keys = -block if higher_is_better else block
        order = np.argsort(keys, axis=1, kind="stable")
        ordered = np.take_along_axis(keys, order, axis=1)
        steps = np.ones(keys.shape, dtype=np.int32)
        steps[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        ranks = np.empty(keys.shape, dtype=np.int32)
        np.put_along_axis(ranks, order, np.cumsum(steps, axis=1, dtype=np.int32), axis=1)
        out[start : start + _ROWS] = np.where(missing, 0, ranks)
    return out


def ranks_within(group: Ints, values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return dense ranks of the values, low first, separately within each group."""
    order = np.lexsort((values, group))
    g, v = group[order], values[order]
    new_group = np.diff(g, prepend=-1) != 0
    step = new_group.copy()
    step[1:] |= v[1:] != v[:-1]
    climb = np.cumsum(step)
    base = np.maximum.accumulate(np.where(new_group, climb - 1, 0))
    out = np.empty(len(values), dtype=np.int32)
    out[order] = climb - base
    return out


def _narrow_keys(numbers: npt.NDArray[Any]) -> npt.NDArray[np.int32] | None:
    """Return whole numbers below 2**31 as such; None for others, or where finding out would take long."""
    if numbers.dtype in _NARROW:
        return np.ascontiguousarray(numbers, dtype=np.int32)
    if numbers.dtype != np.float64 or not (numbers[:1] < _MOST_NARROW).all():
        return None
    narrow = np.minimum(numbers, _MOST_NARROW).astype(np.int32)
    return narrow if np.array_equal(narrow, numbers) else None


def _whole_keys(numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return whole numbers in the order of numbers that are not negative; 0 stays 0."""
    if numbers.dtype in (np.float64, np.float32, np.float16):
        exact = np.ascontiguousarray(numbers, dtype=np.float64)
        whole = np.minimum(exact, float(_LARGEST_BIT)).astype(np.int64)
        if np.array_equal(whole, exact):  # small ranks, as data frames hold them
            return whole
        # The bits of floats that are not negative have the order of the floats; -0.0 becomes 0.0.
        return (exact + 0.0).view(np.int64)
    if numbers.dtype.kind == "f" or numbers.dtype == np.uint64:  # they may not fit
        distinct, place = np.unique(numbers, return_inverse=True)
        return np.asarray(place.reshape(numbers.shape) + (distinct[0] != 0), dtype=np.int64)
    return np.ascontiguousarray(numbers, dtype=np.int64)


def _hold_dense_ranks(values: Floats) -> bool:
    """Whether every row holds dense ranks and zeros: ranks as most people write them."""
    if not values.size or values.min() < 0 or values.max() > _LARGEST_BIT:
        return False
    whole = values.astype(np.int64)
    return not (whole != values).any() and _are_without_gaps(whole)


def _are_without_gaps(ranks: npt.NDArray[np.int64]) -> bool:
    """Whether every row holds exactly the numbers 1 .. k for some k, and zeros; none is above `_LARGEST_BIT`."""
    used = np.bitwise_or.reduce(np.int64(1) << ranks, axis=1) | 1  # bit r: rank r occurs
    return bool((used & (used + 1) == 0).all())
