"""Walks through the orders that an attack on Kemeny's median may aim at: hot loops, compiled where numba is there.

An order is built from its first place on. Two neighbouring blocks A, B of it can be swapped by a rival, so an attack
costs at least the mean over a in A, b in B of ``against[a, b]``: half the margin of b over a (the sum, when each vote
speaks of one pair only). This bound of a beginning holds for every way to go on.

Items are numbered by their place in the median that is attacked, so a pair is flipped when its larger number stands
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TINY = 1e-12


def search_orders(
    against: Any, limit: Any, ends: Any, above: Any, newcomer: Any, top: int, sums_count: bool, state: Any, found: Any,
    bounds: Any, flips: Any, most_nodes: int, improve: bool,
) -> Any:  # fmt: skip
    """Walk through the orders whose block-swap bound stays below the limit; return (count, nodes, finished).

    ``limit[k]`` is what an order with k flipped pairs must stay below.

    Parameters
    ----------
    against : (n, n) array
    limit : (pairs + 1,) array
        Falls with the orders found when `improve`; must not fall with k.
    ends : (n + 1,) array of int
        The item at place p is below ``ends[p]``: what budgets within the limits cannot mix, see `parts_of`.
    above : (2,) array of int
        The order places the first of these above the second; -1 for no such wish.
    newcomer : (n,) array of bool, and top : int
        One of the newcomers is among the first `top`; 0 for no such wish.
    sums_count : bool
        Bounds are sums, not means.
    state : tuple of arrays
        Where the walk stands, so that it can go on later: see `new_walk`.
    found, bounds, flips : arrays
        Orders, their bounds and flipped pairs; by number of flips when `improve`, else one after the other.
    """
    n = len(against)
    whole, real, block, turned_sum, turned_count = state
    order, following, has_new, turned, place = whole
    bound, opposed, row_sum = real
    row_total = against.sum(axis=1)
    used = np.zeros(n, np.bool_)
    depth, count = place[0], place[1]
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
        if nodes >= most_nodes or count >= len(found):
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
        rest = n - depth - 1
        near = end - depth - 1
        room = limit[turns + near * (near - 1) // 2 + later[end]] - _TINY
        worst = bound[depth]
        if worst >= room:
            continue
        worst = block_bound(against, order, depth, x, sums_count, worst, room, sums, block)
        if worst >= room:
            continue
        # Rivals that sort the last places of the beginning as the median does.
        total, count_turned = 0.0, 0
        for start in range(depth - 1, -1, -1):
            if order[start] > x:
                total += against[order[start], x]
                count_turned += 1
            turned_sum[depth + 1, start] = turned_sum[depth, start] + total
            turned_count[depth + 1, start] = turned_count[depth, start] + count_turned
            mean = turned_sum[depth + 1, start]
            if turned_count[depth + 1, start] > 1 and not sums_count:
                mean /= turned_count[depth + 1, start]
            if mean > worst:
                worst = mean
        # Rivals that swap the last places of the beginning with all that is still to come.
        row_sum[depth + 1] = row_sum[depth] + row_total[x]
        for start in range(depth + 1 if rest > 0 else 0):
            across = row_sum[depth + 1] - row_sum[start] + block[start, depth + 1] - block[start, start]
            mean = across if sums_count else across / ((depth + 1 - start) * rest)
            if mean > worst:
                worst = mean
        if worst >= room:
            continue
        if depth == n - 1:
            k = turns
            if k > 0:  # the median itself is a rival
                worst = max(worst, against_turns if sums_count else against_turns / k)
            if worst >= limit[k] - _TINY:
                continue
            order[depth] = x
            if improve:
                while k >= 0 and limit[k] > worst:
                    limit[k] = worst
                    for p in range(n):
                        found[k, p] = order[p]
                    flips[k] = turns
                    bounds[k] = worst
                    k -= 1
            else:
                for p in range(n):
                    found[count, p] = order[p]
                bounds[count] = worst
                flips[count] = k
                count += 1
            continue
        order[depth] = x
        used[x] = True
        depth += 1
        has_new[depth] = new
        bound[depth] = worst
        turned[depth] = turns
        opposed[depth] = against_turns
        following[depth] = 0
    place[0] = depth
    place[1] = count
    return count, nodes, depth < 0


def search_chains(against: Any, starts: Any, stops: Any, limit: float, sums_count: bool, most_nodes: int) -> Any:
    """Return (least, finished): the least block-swap bound of a run of items from a start to a stop, or `limit`.

    Whatever the target, somewhere in it a start stands before a stop with nothing of either kind between them, and
    the bound of that run, whose blocks can be swapped like any others, holds for the whole.
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


def parts_of(against: Any, budget: float) -> Any:
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


def new_walk(n: int) -> Any:
    """Return the state of a walk that has not begun."""
    square = (n + 1, n + 1)
    return (
        np.zeros((5, n + 1), np.int64),
        np.zeros((3, n + 1)),
        np.zeros(square),
        np.zeros(square),
        np.zeros(square, np.int64),
    )
