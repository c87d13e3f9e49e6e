"""A good order fast: single items move to their best place, again and again, from several starts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from holdrank.arrays import kernels
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.parts import order_cost
from holdrank.status import Clock

_SHAKES = 30
_STEPS = 30_000_000  # comparisons spent on them at the most


def good_order(cost: Floats, clock: Clock, *, effort: float = 1.0, start: Ints | None = None) -> Ints:
    """Return an order that no move of a single item improves: the best of several.

    The first descends from the Borda order, or from `start`; the others from random shakes of the best so far.
    """
    n = len(cost)
    rng = np.random.default_rng(0)
    margin = np.ascontiguousarray(cost - cost.T)
    shakes = int(min(_SHAKES, _STEPS / (10 * n * n)) * effort)
    descend = _descender(n, shakes + 1)
    best = np.argsort(cost.sum(axis=1) - cost.sum(axis=0), kind="stable") if start is None else start.copy()
    descend(margin, best)
    value = order_cost(cost, best)
    for shake in range(shakes):
        if clock.over():
            break
        spread = n / (4 << shake % 4)  # from a few places to a quarter of them
        order = np.argsort(np.argsort(best) + rng.normal(0, spread, n))
        descend(margin, order)
        if (found := order_cost(cost, order)) < value:
            best, value = order, found
    return best


def improve(cost: Floats, order: Ints) -> Ints:
    """Return `order` after moving single items to their best places until none can be improved."""
    order = order.copy()
    _descender(len(order), 1)(np.ascontiguousarray(cost - cost.T), order)
    return order


def _descender(n: int, times: int) -> Callable[[Floats, Ints], None]:
    return kernels.fastest(kernels.descend, _descend, seconds=times * n * 8e-5)


def _descend(margin: Floats, order: Ints) -> None:
    """Make the moves of `kernels.descend`, the same in the same order, a row of numpy at a time."""
    improved = True
    while improved:
        improved = False
        for start in range(len(order)):
            item = order[start]
            row = margin[item, order]
            best, to = -1e-9, start
            for change, ahead in ((np.cumsum(-row[start + 1 :]), True), (np.cumsum(row[:start][::-1]), False)):
                if len(change) and change[k := int(change.argmin())] < best:
                    best, to = change[k], start + 1 + k if ahead else start - 1 - k
            if to > start:
                order[start:to] = order[start + 1 : to + 1]
            elif to < start:
                order[to + 1 : start + 1] = order[to:start]
            order[to] = item
            improved = improved or to != start
