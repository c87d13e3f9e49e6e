"""Insertion search: single items of an order move to their best places, until no move makes the order cheaper.

With ``margin[a, b]`` the cost of a before b less that of b before a, the item at place s that moves to place t changes
the cost of the order by

    t > s:  - sum of margin[item, order[p]] over s < p <= t
    t < s:    sum of margin[item, order[p]] over t <= p < s
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LEAST_GAIN = 1e-9


def descend(margin: Any, order: Any, least_gain: float = LEAST_GAIN) -> float:
    """Improve `order` by moves that gain more than `least_gain`; return what they gain: a loop to be compiled.

    ::

        until no item moves:
            for each place s:
                add up the margins to the right of s, then to the left: what each move would change
                make the best of these moves, if it gains enough
    """
    n = len(order)
    gained = 0.0
    improved = True
    while improved:
        improved = False
        for start in range(n):
            item = order[start]
            row = margin[item]
            best, to = -least_gain, start
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
            elif to < start:
                for p in range(start, to, -1):
                    order[p] = order[p - 1]
            if to != start:
                order[to] = item
                gained -= best
                improved = True
    return gained


def descend_by_rows(
    margin: npt.NDArray[np.float64], order: npt.NDArray[np.integer[Any]], least_gain: float = LEAST_GAIN
) -> float:
    """Make the moves of `descend`, the same in the same order: by numpy, all moves of an item at a time."""
    gained = 0.0
    improved = True
    while improved:
        improved = False
        for start in range(len(order)):
            item = order[start]
            row = margin[item, order]
            best, to = -least_gain, start
            for change, ahead in ((np.cumsum(-row[start + 1 :]), True), (np.cumsum(row[:start][::-1]), False)):
                if len(change) and change[k := int(change.argmin())] < best:
                    best, to = float(change[k]), start + 1 + k if ahead else start - 1 - k
            if to == start:
                continue
            if to > start:
                order[start:to] = order[start + 1 : to + 1]
            else:
                order[to + 1 : start + 1] = order[to:start]
            order[to] = item
            gained -= best
            improved = True
    return gained
