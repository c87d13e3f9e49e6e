"""Hot loops, compiled by numba when it is there and worth its start-up time, else done by numpy.

Both ways do the same sums in the same order, and counts are exact; the choice only changes the seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

_BLOCK = 8192  # ballots counted at a time: their ranks stay in the cache, their number fits sixteen bits
_PAIRS = 1 << 18  # of items that are counted at a time, where ballots list few of them
_COMPARISONS_A_SECOND = 5e8  # by numpy
_WORTH_LOADING = 1.0  # seconds of plain work: numba takes about that long to load
_WORTH_CALLING = 0.00002  # seconds of plain work, once it is loaded
_spent = 0.0  # seconds of plain work so far


def fastest(loop: Callable[..., T], plain: Callable[..., T], *, seconds: float) -> Callable[..., T]:
    """Return `loop` compiled, if numba is there and worth it for `seconds` of plain work; else `plain`.

    Many small pieces of plain work are worth loading numba as soon as they have taken as long together.
    """
    global _spent
    if "numba" in sys.modules:
        worth = seconds >= _WORTH_CALLING
    else:
        _spent += seconds
        worth = _spent >= _WORTH_LOADING
    return _compiled(loop) if worth and has_numba() else plain


@cache
def has_numba() -> bool:
    """Whether numba can be loaded."""
    return find_spec("numba") is not None


@cache
def compiled(loop: Callable[..., T], *parts: Callable[..., Any]) -> Callable[..., T]:
    """Return `loop` compiled, with the functions `parts` that it calls by name; as it is where numba is missing.

    A part may call the parts before it. Parts are compiled into the loop: calls would cost a third of the time.
    """
    if not has_numba():
        return loop
    known: dict[str, Any] = {}
    for part in parts:
        known[part.__name__] = _compiled(FunctionType(part.__code__, {**part.__globals__, **known}), into_callers=True)
    return _compiled(FunctionType(loop.__code__, {**loop.__globals__, **known}))


@cache
def _compiled(loop: Callable[..., T], *, into_callers: bool = False) -> Callable[..., T]:
    from numba import njit

    compiled: Callable[..., T]
    try:
        compiled = njit(nogil=True, forceinline=into_callers, cache=True)(loop)
    except RuntimeError:  # neither the package's folder nor the user's is writeable
        compiled = njit(nogil=True, forceinline=into_callers)(loop)
    return compiled


def count_wins(
    ranks: npt.NDArray[np.integer[Any]],
    weights: npt.NDArray[np.float64],
    *,
    strict: bool,
    observed: bool,
) -> npt.NDArray[np.float64]:
    """Return W with W[i, j] = weight of the ballots that place i above j, a tie counting half for each.

    Parameters
    ----------
    ranks : (m, n) array, 0 = unlisted; fastest when stored column by column
    weights : (m,) array
    strict : bool
        No ballot has a tie or an unlisted item, so that one comparison settles a pair.
    observed : bool
        Unlisted items are not compared (otherwise they are tied below the listed ones).
    """
    m, n = ranks.shape
    scale = whole_number_scale(weights)
    doubled = np.zeros((n, n), dtype=np.int64)  # a tie adds one on both sides
    add_block = fastest(add_ballots, _add_ballots, seconds=m * n * n / _COMPARISONS_A_SECOND)
    columns = ranks.T
    for start in range(0, m, _BLOCK):
        block = np.array(columns[:, start : start + _BLOCK], order="C")
        if not (strict or observed):
            block += (block == 0) * block.dtype.type(n + 1)
        whole = np.rint(weights[start : start + _BLOCK] * scale).astype(np.int64)
        add_block(block, whole, strict, doubled)
    return doubled / (2 * scale)


def count_battles(ranks: npt.NDArray[np.integer[Any]], weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the wins of ballots that list exactly two items, in time linear in the ballots."""
    n = ranks.shape[1]
    scale = whole_number_scale(weights, spare_bits=11)  # sums of floats stay exact below 2**53
    whole = np.rint(weights * scale)
    row, item = np.nonzero(ranks)
    first, second = item[0::2], item[1::2]
    margin = ranks[row[1::2], second].astype(np.int64) - ranks[row[0::2], first]
    doubled = np.zeros(n * n)
    for winner, loser, points in ((first, second, 1 + np.sign(margin)), (second, first, 1 - np.sign(margin))):
        doubled += np.bincount(winner * n + loser, weights=whole * points, minlength=n * n)
    return doubled.reshape(n, n) / (2 * scale)


def count_marks(
    n: int,
    sizes: npt.NDArray[np.integer[Any]],
    item: npt.NDArray[np.integer[Any]],
    rank: npt.NDArray[np.integer[Any]],
    weights: npt.NDArray[np.float64],
    *,
    observed: bool,
    spare_bits: int = 2,
) -> npt.NDArray[np.float64]:
    """Do what `count_wins` does for ballots that list few of n items, in time by the pairs that they list.

    `sizes` says how many items each ballot lists, `item` and `rank` which ones and where, ballot after ballot.
    """
    # A ballot adds 1 to both sides of a pair, and moves one of them to the other side if it prefers one to the other.
    # Under "bottom" it does so for all pairs: whoever is listed gains on whoever is not.
    scale = whole_number_scale(weights, spare_bits)
    whole = np.rint(weights * scale).astype(np.int64)
    doubled = np.zeros((n, n), dtype=np.int64)
    flat = doubled.reshape(-1)
    begins = np.cumsum(sizes) - sizes
    for size in np.unique(sizes).tolist():
        ballots = np.flatnonzero(sizes == size)
        for start in range(0, len(ballots), step := max(1, _PAIRS // (size * size))):
            some = ballots[start : start + step]
            at = begins[some][:, None] + np.arange(size)
            listed, places = item[at].astype(np.int64), rank[at].astype(np.int64)
            for first in range(0, size, rows := max(1, _PAIRS // size)):  # a long ballot by itself in parts
                upper = slice(first, first + rows)
                lead = np.sign(places[:, None, :] - places[:, upper, None]) + observed
                pairs = listed[:, upper, None] * n + listed[:, None, :]
                np.add.at(flat, pairs.reshape(-1), (whole[some][:, None, None] * lead).reshape(-1))
    if not observed:
        listing = np.zeros(n, dtype=np.int64)
        np.add.at(listing, item, np.repeat(whole, sizes))
        doubled += listing[:, None] + whole.sum()
        doubled -= listing
    np.fill_diagonal(doubled, 0)
    return doubled / (2 * scale)


def whole_number_scale(weights: npt.NDArray[np.float64], spare_bits: int = 2) -> float:
    """Return a factor that makes whole numbers of the weights and leaves room for sums in 64 bits.

    Sums of whole numbers are exact in any order, so results do not depend on the machine or on how the ballots are
    stored. Counts stay as they are where there is room for them; else, as shares do, they keep ``62 - spare_bits``
    binary digits of the total.
    """
    total = float(weights.sum())
    parts = np.array_split(weights, 1 + len(weights) // _BLOCK)
    if total <= 2.0 ** (62 - spare_bits) and all(np.array_equal(np.rint(part), part) for part in parts):
        return 1.0
    return float(2.0 ** (62 - spare_bits - int(np.ceil(np.log2(total)))))


def _add_ballots(block: Any, weights: Any, strict: bool, doubled: Any) -> None:
    for i in range(len(block) - 1):
        mine, theirs = block[i], block[i + 1 :]
        if strict:
            above = 2 * ((mine < theirs) @ weights)
            doubled[i, i + 1 :] += above
            doubled[i + 1 :, i] += 2 * weights.sum() - above
        else:
            listed = (mine > 0) & (theirs > 0)
            tied = ((mine == theirs) & listed) @ weights
            doubled[i, i + 1 :] += 2 * (((mine < theirs) & listed) @ weights) + tied
            doubled[i + 1 :, i] += 2 * (((mine > theirs) & listed) @ weights) + tied


def add_ballots(block: Any, weights: Any, strict: bool, doubled: Any) -> None:
    """Add a block of ballots (one column each) to the doubled wins."""
    n, size = block.shape
    total = weights.sum()
    one_each = weights.min() == 1 and weights.max() == 1
    for i in range(n):
        mine = block[i]
        for j in range(i + 1, n):
            theirs = block[j]
            above = np.int64(0)
            below = np.int64(0)
            tied = np.int64(0)
            # Products instead of branches, and sums no wider than a block needs: the compiler then handles as many
            # ballots at once as the processor can.
            if strict and one_each:
                heads = np.int16(0)
                for b in range(size):
                    heads = np.int16(heads + np.int16(mine[b] < theirs[b]))
                above += heads
                below = total - above
            elif strict:
                for b in range(size):
                    above += weights[b] * np.int64(mine[b] < theirs[b])
                below = total - above
            else:
                for b in range(size):
                    above += weights[b] * np.int64((mine[b] < theirs[b]) & (mine[b] != 0))
                    below += weights[b] * np.int64((mine[b] > theirs[b]) & (theirs[b] != 0))
                    tied += weights[b] * np.int64((mine[b] == theirs[b]) & (mine[b] != 0))
            doubled[i, j] += 2 * above + tied
            doubled[j, i] += 2 * below + tied


def inversions(values: Any) -> int:
    """Return the number of pairs i < j with values[i] > values[j]: merge sort from the bottom up."""
    n = len(values)
    here, there = values.copy(), np.empty_like(values)
    total = 0
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for at in range(start, end):
                if left < middle and (right >= end or here[left] <= here[right]):
                    there[at] = here[left]
                    left += 1
                else:
                    there[at] = here[right]
                    right += 1
                    total += middle - left
        here, there = there, here
        width *= 2
    return total
