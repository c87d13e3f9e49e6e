"""Components too large for a linear program: a good order, and a bound from majority cycles that share no votes."""

from __future__ import annotations

import math

import numpy as np

from holdrank.arrays.native import call
from holdrank.rankings import Floats
from holdrank.rules.kemeny import search
from holdrank.rules.kemeny.parts import Part, order_cost, raise_to_step, tidy
from holdrank.status import Clock

HOW = "search and cycle packing"
_LOOKS = 4_000  # at each margin, in the search for better orders: a second for 600 items, twelve for 2,000
_SPANS = 64  # distances in the order handled between two looks at the clock


def solve(cost: Floats, step: float, tolerance: float, clock: Clock) -> Part:
    """Return a good order and a certified bound.

    Every order loses the minority of each pair, and of each cycle of three majorities at least one more: the smallest
    margin of the three. Cycles that share no margin add up.
    """
    best = search.good_order(cost, clock)
    half = Clock(None if math.isinf(left := clock.seconds_left()) else left / 2, within=clock)
    best = search.better_order(cost, best, half, steps=_LOOKS * cost.size)
    value = order_cost(cost, best)
    # Seen in this order, majorities point forwards except for what the order loses; each cycle has one such pair.
    margin = np.ascontiguousarray((cost - cost.T)[np.ix_(best, best)])
    lost = sum(float(row[k + 1 :][row[k + 1 :] > 0].sum()) for k, row in enumerate(margin))
    packed = 0.0
    for first in range(2, len(cost), _SPANS):
        if clock.over():
            break
        packed += call("pack_cycles", margin, len(cost), first, min(first + _SPANS, len(cost)))
    bound = raise_to_step(value - lost + packed, value, step)
    proved = bound >= value - tolerance
    order, unique = tidy(cost, best, tolerance)
    return Part(order, value, value if proved else bound, unique if proved else None, proved, HOW)
