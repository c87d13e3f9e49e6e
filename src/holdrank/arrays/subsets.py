"""Dynamic programming over subsets: the cheapest order of few items, for any costs.

With ``cost[i, j]`` paid for i before j, and item i first in the subset S::

    least[S] = min over i in S of  least[S - i] + sum over j in S - i of cost[i, j],      least[empty] = 0

A subset is a whole number with one bit per item. All subsets of one size follow from those one item smaller.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call


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
        Its position among the subsets of the previous level.
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


def order_subsets(cost: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the lowest cost of ordering each subset."""
    least = np.empty(1 << len(cost))
    call("order_subsets", np.ascontiguousarray(cost, dtype=np.float64), len(cost), least)
    return least
