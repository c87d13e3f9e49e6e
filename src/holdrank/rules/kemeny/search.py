"""A good order fast: single items move to their best place, again and again, from several starts."""

from __future__ import annotations

import numpy as np

from holdrank.arrays.insertions import descend
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
    descend(np.ascontiguousarray(cost - cost.T), order)
    return order
