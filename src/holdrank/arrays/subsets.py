"""Dynamic programming over subsets: the cheapest order of few items, whatever the costs.

With ``cost[i, j]`` paid for i before j, and item i first in the subset S::

    least[S] = min over i in S of  least[S - i] + sum over j in S - i of cost[i, j],      least[empty] = 0

A subset is a whole number with one bit per item. All subsets of one size follow from those one item smaller.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Level(NamedTuple):
    """All subsets of one size, by rising number.

    Attributes
    ----------
    subsets : (count,) array of int
    members : (count, size) array of int
        The items of each, by rising number.
    rest : (count, size) array of int
        The subset without each of its members.
    rest_at : (count, size) array of int
        Where that stands among the subsets of the level before.
    """

    subsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]
    rest: npt.NDArray[np.int64]
    rest_at: npt.NDArray[np.int64]


def levels(n: int) -> list[Level]:
    """Return the subsets of n items by size, from one to n."""
    everything = np.arange(1 << n)
    size = np.bitwise_count(everything)
    place = np.zeros(1 << n, dtype=np.int64)
    found = []
    for k in range(1, n + 1):
        subsets = everything[size == k]
        place[subsets] = np.arange(len(subsets))
        members = np.nonzero((subsets[:, None] >> np.arange(n)) & 1)[1].reshape(len(subsets), k)
        rest = subsets[:, None] ^ (1 << members)
        found.append(Level(subsets, members, rest, place[rest]))
    return found


def order_subsets(cost: Any) -> Any:
    """Return the least cost of ordering each subset: a loop to be compiled.

    ::

        low[i], high[i] = sums of cost[i] over all subsets of the lower, of the upper half of the items
        for S in 1 .. 2**n - 1:                     # what is left without an item has a smaller number
            for i in S:
                least[S] = min(least[S], least[S - i] + low[i, lower half of S - i] + high[i, upper half])
    """
    n = len(cost)
    split = n // 2
    mask = (1 << split) - 1
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


def order_subsets_by_size(cost: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return what `order_subsets` returns, to the last bit: by numpy, all subsets of one size at a time."""
    n = len(cost)
    split = n // 2
    mask = (1 << split) - 1
    low, high = _sums(cost[:, :split]), _sums(cost[:, split:])
    subsets = np.arange(1 << n)
    size = np.bitwise_count(subsets)
    least = np.empty(1 << n)
    least[0] = 0.0
    for k in range(1, n + 1):
        level = subsets[size == k]
        best = np.full(len(level), np.inf)
        for i in range(n):
            has = (level >> i) & 1 == 1
            rest = level[has] ^ (1 << i)
            best[has] = np.minimum(best[has], least[rest] + low[i, rest & mask] + high[i, rest >> split])
        least[level] = best
    return least


def first_order(cost: Any, least: Any, order: Any) -> None:
    """Fill `order` with the cheapest order, the lexicographically first of equals: a loop to be compiled.

    `least` comes from `order_subsets`. From the full set down, the next item is one whose cost before all that is left
    adds up to the least cost of the set.
    """
    n = len(cost)
    left = (1 << n) - 1
    for p in range(n):
        best, first = np.inf, -1
        for i in range(n):
            if left >> i & 1:
                total = least[left ^ (1 << i)]
                for j in range(n):
                    if j != i and left >> j & 1:
                        total += cost[i, j]
                if total < best - 1e-13:
                    best, first = total, i
        order[p] = first
        left ^= 1 << first


def _sums(cost: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of each row over every subset of the columns."""
    sums = np.zeros((len(cost), 1))
    for j in range(cost.shape[1]):
        sums = np.concatenate((sums, sums + cost[:, j : j + 1]), axis=1)
    return sums
