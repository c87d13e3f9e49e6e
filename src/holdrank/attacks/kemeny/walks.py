"""Walks through the orders that an attack on Kemeny's median may aim at: hot loops, compiled where numba is there.

An order is built from its first place on. Two neighbouring blocks A, B of it can be swapped by a rival, so an attack
costs at least

    mean over a in A, b in B of against[a, b],      against[a, b] = half the margin of b over a

(the sum, when each vote speaks of one pair only). This bound of a beginning holds for every way to go on.

Items are numbered by their place in the median that is attacked, so a pair is flipped when its larger number stands
first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Floats, Ints

_TINY = 1e-12


class Wanted(NamedTuple):
    """Which orders a walk visits.

    Attributes
    ----------
    against : (n, n) array
    ends : (n + 1,) array of int
        The item at place p is below ``ends[p]``: what budgets within the limits cannot mix, see `parts_of`.
    above : (2,) array of int
        The order places the first of these above the second; -1 for no such wish.
    newcomer : (n,) array of bool
    top : int
        One of the newcomers is among the first `top`; 0 for no such wish.
    sums_count : bool
        Bounds are sums, not means.
    """

    against: Floats
    ends: Ints
    above: Ints
    newcomer: npt.NDArray[np.bool_]
    top: int
    sums_count: bool


class Walk(NamedTuple):
    """Where a walk stands, so that it can go on later; all but `order` by the length of a beginning.

    Attributes
    ----------
    depth : (1,) array of int
        Length of the beginning of the moment; -1 when the walk has ended.
    order : (n + 1,) array of int
        The beginning.
    following : (n + 1,) array of int
        The next item to try at each place.
    has_new : (n + 1,) array of int
        Whether a newcomer is in the beginning.
    turned, opposed : (n + 1,) arrays
        Number of pairs flipped for certain, and the sum of `against` over them.
    bound : (n + 1,) array
        The largest bound so far.
    row_sum : (n + 1,) array
        Sum of `against` of the items of the beginning over all others.
    block : (n + 1, n + 1) array
        See `block_bound`.
    turned_sum, turned_count : (n + 1, n + 1) arrays
        The same as `opposed` and `turned` for the places from the second index on.
    """

    depth: Ints
    order: Ints
    following: Ints
    has_new: Ints
    turned: Ints
    opposed: Floats
    bound: Floats
    row_sum: Floats
    block: Floats
    turned_sum: Floats
    turned_count: Ints


class Candidates(NamedTuple):
    """Orders that a walk met: the first `filled` rows, or, for the best of each number of flips, one row per number."""

    orders: Ints
    bounds: Floats
    flips: Ints
    filled: Ints

    def clear(self) -> None:
        """Make room for others."""
        self.filled[0] = 0


class Visited(NamedTuple):
    """How many beginnings one call of `search_orders` looked at, and whether no order is left."""

    nodes: int
    finished: bool


def new_walk(n: int) -> Walk:
    """Return a walk that has not begun."""

    def ints() -> Ints:
        return np.zeros(n + 1, np.int64)

    def floats() -> Floats:
        return np.zeros(n + 1)

    square = (n + 1, n + 1)
    return Walk(
        depth=np.zeros(1, np.int64),
        order=ints(),
        following=ints(),
        has_new=ints(),
        turned=ints(),
        opposed=floats(),
        bound=floats(),
        row_sum=floats(),
        block=np.zeros(square),
        turned_sum=np.zeros(square),
        turned_count=np.zeros(square, np.int64),
    )


def room_for(orders: int, n: int) -> Candidates:
    """Return room for so many orders of n items."""
    return Candidates(
        np.zeros((orders, n), np.int64), np.zeros(orders), np.zeros(orders, np.int64), np.zeros(1, np.int64)
    )


def search_orders(wanted: Any, limit: Any, walk: Any, found: Any, most_nodes: int, improve: bool) -> Any:
    """Walk through the orders whose block-swap bound stays below the limit; return what was `Visited`.

    ::

        until the walk ends, `found` is full, or `most_nodes` beginnings were looked at:
            x = the next item that may stand at this place; none is left: go back by one place
            skip x if the wish forbids it here
            room = what an order must stay below that begins like this and flips as many pairs as it can
            worst = the largest bound of the rivals that
                swap two neighbouring blocks, the second of which ends with x,
                sort the last places as the median does, or
                swap the last places with all that is still to come
            worst >= room: skip x
            at the last place: hold the median itself against the order, and keep it; else go on to the next place

    Parameters
    ----------
    wanted : Wanted
    limit : (pairs + 1,) array
        What an order with k flipped pairs must stay below; must not fall with k. Falls with the orders found when
        `improve`.
    walk : Walk
        Changed by the walk.
    found : Candidates
        Filled: by number of flips when `improve`, else one order after the other.
    """
    against, ends, above, newcomer, top, sums_count = wanted
    n = len(against)
    order, following, has_new, turned = walk.order, walk.following, walk.has_new, walk.turned
    opposed, bound, row_sum, block = walk.opposed, walk.bound, walk.row_sum, walk.block
    turned_sum, turned_count = walk.turned_sum, walk.turned_count
    row_total = against.sum(axis=1)
    used = np.zeros(n, np.bool_)
    depth = walk.depth[0]
    for p in range(depth):
        used[order[p]] = True
    sums = np.zeros(n + 1)
    nodes = 0
    # later[p]: pairs that can be flipped among the items from place p on, when p begins a part.
    later = np.zeros(n + 1, np.int64)
    for p in range(n - 1, -1, -1):
        later[p] = later[ends[p]] + (ends[p] - p) * (ends[p] - p - 1) // 2
    while depth >= 0:
        x = following[depth]
        end = ends[depth] if depth < n else n
        while x < end and used[x]:
            x += 1
        if x >= end:
            depth -= 1
            if depth >= 0:
                used[order[depth]] = False
            continue
        if nodes >= most_nodes or found.filled[0] >= len(found.orders):
            break
        following[depth] = x + 1
        if above[1] == x and not used[above[0]]:
            continue
        new = has_new[depth] > 0 or newcomer[x]
        if depth == top - 1 and not new:
            continue
        nodes += 1
        turns = turned[depth]
        against_turns = opposed[depth]
        for y in range(x):
            if not used[y]:
                turns += 1
                against_turns += against[x, y]
        near = end - depth - 1
        room = limit[turns + near * (near - 1) // 2 + later[end]] - _TINY
        worst = bound[depth]
        if worst >= room:
            continue
        worst = block_bound(against, order, depth, x, sums_count, worst, room, sums, block)
        if worst >= room:
            continue
        worst = sorting_bound(against, order, depth, x, sums_count, worst, turned_sum, turned_count)
        row_sum[depth + 1] = row_sum[depth] + row_total[x]
        worst = crossing_bound(n, depth, sums_count, worst, row_sum, block)
        if worst >= room:
            continue
        order[depth] = x
        if depth == n - 1:
            if turns > 0:  # the median itself is a rival
                worst = max(worst, against_turns if sums_count else against_turns / turns)
            if worst < limit[turns] - _TINY:
                keep_order(order, turns, worst, limit, found, improve)
            continue
        used[x] = True
        depth += 1
        has_new[depth] = new
        bound[depth] = worst
        turned[depth] = turns
        opposed[depth] = against_turns
        following[depth] = 0
    walk.depth[0] = depth
    return Visited(nodes, depth < 0)


def search_chains(against: Any, starts: Any, stops: Any, limit: float, sums_count: bool, most_nodes: int) -> Any:
    """Return (least, finished): the least block-swap bound of a run of items from a start to a stop, or `limit`.

    Whatever the target, somewhere in it a start stands before a stop with nothing of either kind between them, and
    the bound of that run, whose blocks can be swapped like any others, holds for the whole. The loop is that of
    `search_orders`, for runs: it begins with a start, goes on by anything but a start, and ends with a stop.
    """
    n = len(against)
    order = np.zeros(n, np.int64)
    following = np.zeros(n + 1, np.int64)
    bound = np.zeros(n + 1)
    used = np.zeros(n, np.bool_)
    block = np.zeros((n + 1, n + 1))
    sums = np.zeros(n + 1)
    depth = 0
    nodes = 0
    least = limit
    while depth >= 0:
        x = following[depth]
        while x < n and (used[x] or (starts[x] if depth else not starts[x])):
            x += 1
        if x >= n or depth >= n:
            depth -= 1
            if depth >= 0:
                used[order[depth]] = False
            continue
        nodes += 1
        if nodes > most_nodes:
            return 0.0, False
        following[depth] = x + 1
        room = least - _TINY
        worst = block_bound(against, order, depth, x, sums_count, bound[depth], room, sums, block)
        if worst >= room:
            continue
        if stops[x]:
            least = worst
            continue
        order[depth] = x
        used[x] = True
        depth += 1
        bound[depth] = worst
        following[depth] = 0
    return least, True


def block_bound(
    against: Any, order: Any, depth: int, x: int, sums_count: bool, worst: float, room: float, sums: Any, block: Any,
) -> float:  # fmt: skip
    """Return the largest bound of two neighbouring blocks, the second of them up to x at `depth`; `worst` at least.

    Stops where that reaches `room`. Fills the next column of `block`, in which the sums over blocks are looked up:
    ``block[i, d]`` is the sum over all pairs of places p < i, p < q < d.
    """
    total = 0.0
    for p in range(depth):
        total += against[order[p], x]
        sums[p + 1] = total
    for i in range(len(against) + 1):
        block[i, depth + 1] = block[i, depth] + sums[min(i, depth)]
    for middle in range(1, depth + 1):
        width = depth + 1 - middle
        for start in range(middle):
            pairs = (block[middle, depth + 1] - block[middle, middle]) - (
                block[start, depth + 1] - block[start, middle]
            )
            mean = pairs if sums_count else pairs / ((middle - start) * width)
            if mean > worst:
                worst = mean
        if worst >= room:
            break
    return worst


def sorting_bound(
    against: Any, order: Any, depth: int, x: int, sums_count: bool, worst: float, turned_sum: Any, turned_count: Any,
) -> float:  # fmt: skip
    """Return the largest bound of rivals that sort the last places, x at `depth` included, as the median does.

    `worst` at least. Fills the next row of `turned_sum` and `turned_count`.
    """
    total, count = 0.0, 0
    for start in range(depth - 1, -1, -1):
        if order[start] > x:
            total += against[order[start], x]
            count += 1
        turned_sum[depth + 1, start] = turned_sum[depth, start] + total
        turned_count[depth + 1, start] = turned_count[depth, start] + count
        mean = turned_sum[depth + 1, start]
        if turned_count[depth + 1, start] > 1 and not sums_count:
            mean /= turned_count[depth + 1, start]
        if mean > worst:
            worst = mean
    return worst


def crossing_bound(n: int, depth: int, sums_count: bool, worst: float, row_sum: Any, block: Any) -> float:
    """Return the largest bound of rivals that swap the last places up to `depth` with all to come; `worst` at least."""
    rest = n - depth - 1
    for start in range(depth + 1 if rest > 0 else 0):
        across = row_sum[depth + 1] - row_sum[start] + block[start, depth + 1] - block[start, start]
        mean = across if sums_count else across / ((depth + 1 - start) * rest)
        if mean > worst:
            worst = mean
    return worst


def keep_order(order: Any, turns: int, worst: float, limit: Any, found: Any, improve: bool) -> None:
    """Keep an order with `turns` flipped pairs: as the best for so many or fewer, if `improve`, else as the next."""
    n = found.orders.shape[1]
    if not improve:
        row = found.filled[0]
        for p in range(n):
            found.orders[row, p] = order[p]
        found.bounds[row] = worst
        found.flips[row] = turns
        found.filled[0] = row + 1
        return
    k = turns
    while k >= 0 and limit[k] > worst:
        limit[k] = worst
        for p in range(n):
            found.orders[k, p] = order[p]
        found.flips[k] = turns
        found.bounds[k] = worst
        k -= 1


PARTS = (block_bound, sorting_bound, crossing_bound, keep_order)
"""What `search_orders` calls, for `holdrank.arrays.kernels.compiled`."""


def parts_of(against: Floats, budget: float) -> Ints:
    """Return, for each place, where the part of the median ends in which orders within `budget` can be mixed.

    Neighbours a, b of an order cost at least ``against[a, b]``. Where no later item can stand directly before an
    earlier one within the budget, it cannot stand before it at all: some neighbours would have to.
    """
    n = len(against)
    ends = np.full(n + 1, n)
    reach = np.array([np.max(np.flatnonzero(against[:, a] < budget), initial=0) for a in range(n)])
    start = 0
    furthest = 0
    for p in range(n):
        furthest = max(furthest, reach[p], p)
        if furthest == p:
            ends[start : p + 1] = p + 1
            start = p + 1
    return ends
