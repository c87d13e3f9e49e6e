"""Walks through the orders that an attack on Kemeny's median may aim at; the loop is `arrays/loops/walks.c`.

An order is built from its first place on. Two neighbouring blocks A, B of it can be swapped by a rival, so an attack
costs at least

    mean over a in A, b in B of against[a, b],      against[a, b] = half the margin of b over a

(the sum, when each vote compares one pair only). This bound of a prefix holds for every way to continue it.

Items are numbered by their place in the median that is attacked, so a pair is flipped when its larger number stands
first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints


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
    """The state of a walk, so that it can be resumed; all fields but `order` are indexed by the length of a prefix.

    Attributes
    ----------
    depth : (1,) array of int
        Length of the current prefix; -1 when the walk has ended.
    order : (n + 1,) array of int
        The prefix.
    following : (n + 1,) array of int
        The next item to try at each place.
    has_new : (n + 1,) array of int
        Whether a newcomer is in the prefix.
    turned, opposed : (n + 1,) arrays
        Number of pairs flipped for certain, and the sum of `against` over them.
    bound : (n + 1,) array
        The largest bound so far.
    row_sum : (n + 1,) array
        Sum of `against` of the items of the prefix over all others.
    block : (n + 1, n + 1) array
        ``block[i, d]`` is the sum of `against` over all pairs of places p < i, p < q < d.
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
    """How many prefixes one call of `search_orders` visited, and whether the walk is complete."""

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
    """Return arrays for a number of orders of n items."""
    return Candidates(
        np.zeros((orders, n), np.int64), np.zeros(orders), np.zeros(orders, np.int64), np.zeros(1, np.int64)
    )


def search_orders(
    wanted: Wanted, limit: Floats, walk: Walk, found: Candidates, most_nodes: int, improve: bool
) -> Visited:
    """Walk through the orders whose block-swap bound stays below the limit.

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
    most_nodes : int
        Number of prefixes to visit before it returns.
    """
    against, ends, above, newcomer, top, sums_count = wanted
    n = len(against)
    nodes = call(
        "search_orders", n, against, ends, above, newcomer, top, sums_count, limit, *walk, len(found.orders), *found,
        most_nodes, improve,
    )  # fmt: skip
    return Visited(nodes, bool(walk.depth[0] < 0))


def search_chains(
    against: Floats,
    starts: npt.NDArray[np.bool_],
    stops: npt.NDArray[np.bool_],
    limit: float,
    sums_count: bool,
    most_nodes: int,
) -> float:
    """Return the smallest block-swap bound of a run of items from a start to a stop, at most `limit`.

    In every target a start stands somewhere before a stop with neither a start nor a stop between them, and the bound
    of that run, whose blocks can be swapped like any others, holds for the whole. Returns 0 if the search would visit
    more than `most_nodes` prefixes.
    """
    return float(call("search_chains", len(against), against, starts, stops, limit, sums_count, most_nodes))


def parts_of(against: Floats, budget: float) -> Ints:
    """Return, for each place, where the part of the median ends in which orders within `budget` can be mixed.

    Neighbours a, b of an order cost at least ``against[a, b]``. If no later item can stand directly before an earlier
    one within the budget, none can stand before it at all, because some two neighbours would have to.
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
