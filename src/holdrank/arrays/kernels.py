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


def descend(margin: Any, order: Any) -> None:
    """Move single items of `order` to their best places until none can be improved.

    ``margin[a, b]`` is the cost of a before b less that of b before a.
    """
    n = len(order)
    improved = True
    while improved:
        improved = False
        for start in range(n):
            item = order[start]
            row = margin[item]
            best, to = -1e-9, start
            change = 0.0
            for p in range(start + 1, n):
                change -= row[order[p]]
                if change < best:
                    best, to = change, p
            change = 0.0
            for p in range(start - 1, -1, -1):
                change += row[order[p]]
                if change < best:
                    best, to = change, p
            if to > start:
                for p in range(start, to):
                    order[p] = order[p + 1]
                order[to] = item
                improved = True
            elif to < start:
                for p in range(start, to, -1):
                    order[p] = order[p - 1]
                order[to] = item
                improved = True


def violated_triangles(before: Any, tolerance: float, most: int) -> Any:
    """Return (excess, triples) of rows ``0 <= x_ij + x_jk - x_ik <= 1``, i < j < k, violated by more than `tolerance`.

    All of them, or when there are more than `most` those above a threshold that leaves at least `most`.
    """
    n = len(before)
    steps = np.zeros(102, np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                total = before[i, j] + before[j, k] - before[i, k]
                excess = max(total - 1, -total)
                if excess > tolerance:
                    steps[int(excess * 100)] += 1
    lowest = 101
    count = 0
    while lowest > 0 and count < most:
        lowest -= 1
        count += steps[lowest]
    excesses = np.empty(count)
    triples = np.empty((count, 3), np.int64)
    at = 0
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                total = before[i, j] + before[j, k] - before[i, k]
                excess = max(total - 1, -total)
                if excess > tolerance and int(excess * 100) >= lowest:
                    excesses[at] = excess
                    triples[at] = i, j, k
                    at += 1
    return excesses, triples


def order_subsets(cost: Any) -> Any:
    """Return the least cost of ordering each subset of the items, one bit an item."""
    n = len(cost)
    split = n // 2
    mask = (1 << split) - 1
    # What it costs to place i before a subset, as the sum over the lower and the upper half of its bits.
    low = np.zeros((n, 1 << split))
    high = np.zeros((n, 1 << (n - split)))
    for i in range(n):
        for j in range(split):
            for rest in range(1 << j):
                low[i, rest | 1 << j] = low[i, rest] + cost[i, j]
        for j in range(n - split):
            for rest in range(1 << j):
                high[i, rest | 1 << j] = high[i, rest] + cost[i, j + split]
    least = np.empty(1 << n)
    least[0] = 0.0
    for subset in range(1, 1 << n):
        best = np.inf
        for i in range(n):
            if subset >> i & 1:
                rest = subset ^ (1 << i)
                best = min(best, least[rest] + low[i, rest & mask] + high[i, rest >> split])
        least[subset] = best
    return least


def pack_cycles(margin: Any, first: int, last: int) -> float:
    """Use up `margin` by majority cycles a, k, b over lost pairs a < b with first <= b - a < last; return the sum.

    Items are numbered by an order. ``margin[a, b] > 0`` for a < b: the order loses this pair.
    """
    n = len(margin)
    packed = 0.0
    for span in range(first, last):
        for a in range(n - span):
            b = a + span
            left = margin[a, b]
            if left <= 0:
                continue
            for k in range(a + 1, b):
                most = min(left, min(margin[k, a], margin[b, k]))
                if most > 0:
                    left -= most
                    packed += most
                    margin[a, k] += most
                    margin[k, a] -= most
                    margin[k, b] += most
                    margin[b, k] -= most
                    if left <= 0:
                        break
            margin[a, b] = left
            margin[b, a] = -left
    return packed


def assign_places(cost: Any) -> Any:
    """Return (item at each place, price of each item, price of each place) of a cheapest assignment.

    Jonker and Volgenant's method: prices from the cheapest item of each place, some rounds in which items without a
    place outbid each other, and shortest augmenting paths for the items that are left.
    """
    n = len(cost)
    item_at = np.full(n, -1, np.int64)
    place_of = np.full(n, -1, np.int64)
    price = np.empty(n)  # of the places
    for place in range(n - 1, -1, -1):
        cheapest = 0
        for item in range(1, n):
            if cost[item, place] < cost[cheapest, place]:
                cheapest = item
        price[place] = cost[cheapest, place]
        if place_of[cheapest] < 0:
            place_of[cheapest] = place
            item_at[place] = cheapest
    waiting = np.empty(n, np.int64)
    count = 0
    for item in range(n):
        if place_of[item] < 0:
            waiting[count] = item
            count += 1
    bids = 0
    for _ in range(2):
        at, left = 0, 0
        while at < count:
            item = waiting[at]
            at += 1
            bids += 1
            best, second = np.inf, np.inf
            to, other = -1, -1
            for place in range(n):
                reduced = cost[item, place] - price[place]
                if reduced < best:
                    second, other = best, to
                    best, to = reduced, place
                elif reduced < second:
                    second, other = reduced, place
            strictly = best < second
            if strictly:
                price[to] -= second - best
            elif item_at[to] >= 0 and other >= 0:
                to = other
            loser = item_at[to]
            item_at[to] = item
            place_of[item] = to
            if loser >= 0:
                place_of[loser] = -1
                if strictly and bids < 20 * n:
                    at -= 1
                    waiting[at] = loser  # it bids again at once
                else:
                    waiting[left] = loser
                    left += 1
        count = left
    distance = np.empty(n)
    via = np.empty(n, np.int64)
    settled = np.empty(n, np.bool_)
    for w in range(count):
        new = waiting[w]
        for place in range(n):
            distance[place] = cost[new, place] - price[place]
            via[place] = -1
            settled[place] = False
        while True:
            here = -1
            for place in range(n):
                if not settled[place] and (here < 0 or distance[place] < distance[here]):
                    here = place
            settled[here] = True
            item = item_at[here]
            if item < 0:
                break
            base = distance[here] - (cost[item, here] - price[here])
            for place in range(n):
                if not settled[place]:
                    through = base + cost[item, place] - price[place]
                    if through < distance[place]:
                        distance[place] = through
                        via[place] = here
        for place in range(n):
            if settled[place]:
                price[place] -= distance[here] - distance[place]
        while via[here] >= 0:
            item_at[here] = item_at[via[here]]
            place_of[item_at[here]] = here
            here = via[here]
        item_at[here] = new
        place_of[new] = here
    item_price = np.empty(n)
    for item in range(n):
        item_price[item] = cost[item, place_of[item]] - price[place_of[item]]
    return item_at, item_price, price
