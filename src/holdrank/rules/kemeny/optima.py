"""What all cheapest orders share: pairs that stand the same way in all, pairs that do not, and how many there are.

A component of up to 16 items is solved over all its subsets: exactly. A larger one is searched from two sides. Weights
on cycles prove pairs that no cheapest order has the other way round. Windows of neighbours, each solved over its
subsets with the others in their places, and moves of single items at no cost show pairs that differ, and count orders.
Pairs that neither side decides stay undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.arrays.subsets import order_subsets
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import subsets
from holdrank.rules.kemeny.cycles import MOST_ITEMS, CycleWeights
from holdrank.rules.kemeny.parts import components, lost_margins, order_cost, tie_tolerance
from holdrank.status import Clock

Bools: TypeAlias = npt.NDArray[np.bool_]

_WINDOW = 12  # items whose orders are counted together in a larger component: a millisecond
_ROUNDS = 12  # of the weights on cycles, each with half the smoothing


@dataclass(frozen=True, slots=True)
class Shared:
    """What all cheapest orders share.

    Attributes
    ----------
    above, differ : (n, n) arrays of bool
        Whether i comes before j in all of them; whether it does in some and not in others.
    fewest, most : int, int or None
        Bounds on their number.
    """

    above: Bools
    differ: Bools
    fewest: int
    most: int | None


def shared(cost: Floats, order: Ints, *, proved: bool, whole: bool, clock: Clock) -> Shared:
    """Return what all cheapest orders share; `order` is one of them, if that is proven."""
    n = len(cost)
    above, differ = np.zeros((n, n), dtype=bool), np.zeros((n, n), dtype=bool)
    tolerance = tie_tolerance(cost)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    fewest, most = 1, 1 if n else None
    before = np.zeros(n, dtype=bool)
    for members in components(cost, 0.0 if whole else tolerance):
        before[members] = True
        above[np.ix_(members, ~before)] = True  # every cheapest order lists the components one after the other
        if len(members) == 1:
            continue
        lost, unit, exact = lost_margins(cost[np.ix_(members, members)], whole, tolerance)
        ties = 0.0 if exact else tolerance / unit
        here = np.ix_(members, members)
        if len(members) <= subsets.ALWAYS_UP_TO:
            first, ways = _by_subsets(lost, ties)
            found = Shared(first & ~first.T, first & first.T, ways, ways)
        elif proved:
            found = _by_both_sides(lost, np.argsort(place[members], kind="stable"), ties, exact, clock)
        else:
            nothing = np.zeros((len(members), len(members)), dtype=bool)
            found = Shared(nothing, nothing, 1, None)
        above[here], differ[here] = found.above, found.differ
        fewest *= found.fewest
        most = None if most is None or found.most is None else most * found.most
    return Shared(above, differ, fewest, most)


def _by_subsets(cost: Floats, tolerance: float) -> tuple[Bools, int]:
    """Return whether i comes before j in some cheapest order, and how many cheapest orders there are."""
    n = len(cost)
    every = np.arange(1 << n)
    size = np.bitwise_count(every)
    least = order_subsets(cost)
    bits = ((every[:, None] >> np.arange(n)) & 1).astype(np.float64)
    first: Floats = bits @ (cost * (1 - np.eye(n))).T  # of each subset: what it costs to put an item before it
    tight = []  # for each item: the subsets, without it, before which it stands in a cheapest order of both
    for i in range(n):
        rest = every[(every >> i) & 1 == 0]
        tight.append(rest[least[rest] + first[rest, i] <= least[rest | 1 << i] + tolerance])
    ways = np.zeros(1 << n, dtype=np.int64)  # 16 items have 2e13 orders
    ways[0] = 1
    by_size = [[rest[size[rest] == k] for rest in tight] for k in range(n)]
    for k in range(n):
        for i, rest in enumerate(by_size[k]):
            ways[rest | 1 << i] += ways[rest]
    reached = np.zeros(1 << n, dtype=bool)
    reached[-1] = True
    below = [0] * n
    for k in reversed(range(n)):
        for i, rest in enumerate(by_size[k]):
            rest = rest[reached[rest | 1 << i]]
            reached[rest] = True
            below[i] |= int(np.bitwise_or.reduce(rest, initial=0))
    return np.array([[mask >> j & 1 for j in range(n)] for mask in below], dtype=bool), int(ways[-1])


def _by_both_sides(cost: Floats, order: Ints, tolerance: float, exact: bool, clock: Clock) -> Shared:
    """Return what the cheapest orders of a large component share, given one of them."""
    n = len(cost)
    seen = cost[np.ix_(order, order)]  # from here on, items are their places in the order
    margin = seen - seen.T
    certain = np.zeros((n, n), dtype=bool)
    if exact and n <= MOST_ITEMS:
        weights, value = CycleWeights(margin, exact=True), order_cost(seen, np.arange(n))
        for number in range(_ROUNDS):
            if clock.over():
                break
            weights.round(weights.mean / 2 ** (number + 2), clock)
        certain = closure(weights.forced(value))
    differ = _free_moves(margin, tolerance)
    fewest = 1
    for start in (0, _WINDOW // 2):
        ways = 1
        for at in range(start, n - 1, _WINDOW):
            window = slice(at, min(at + _WINDOW, n))
            first, count = _by_subsets(seen[window, window], tolerance)
            differ[window, window] |= first & first.T
            ways *= count
        fewest = max(fewest, ways)
    if differ.any():
        fewest = max(fewest, 2)
    alone = bool(np.diagonal(certain, 1).all())
    back = np.argsort(order)
    return Shared(certain[np.ix_(back, back)], differ[np.ix_(back, back)], fewest, 1 if alone else None)


def _free_moves(margin: Floats, tolerance: float) -> Bools:
    """Return the pairs whose order a move of one item changes at no cost; the items are in a cheapest order."""
    n = len(margin)
    differ = np.zeros((n, n), dtype=bool)
    for p in range(n):
        right = np.flatnonzero(np.abs(np.cumsum(margin[p, p + 1 :])) <= tolerance)
        left = np.flatnonzero(np.abs(np.cumsum(margin[p, :p][::-1])) <= tolerance)
        far, near = p + 1 + right.max(initial=-1), p - 1 - left.max(initial=-1)
        differ[p, p + 1 : far + 1] = True
        differ[p, near:p] = True
    return differ | differ.T


def closure(arcs: Bools) -> Bools:
    """Return all pairs that follow from arcs (i, j), i < j: i before j before k."""
    rows = np.packbits(arcs, axis=1)
    for i in range(len(arcs) - 2, -1, -1):
        rows[i] |= np.bitwise_or.reduce(rows[np.flatnonzero(arcs[i])], axis=0, initial=0)
    return np.unpackbits(rows, axis=1, count=len(arcs)).astype(bool)
