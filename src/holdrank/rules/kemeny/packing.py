"""Components too large for a linear program: a good order, and a bound from majority cycles that share no votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from holdrank.arrays.kernels import fastest
from holdrank.rankings import Floats
from holdrank.rules.kemeny import search
from holdrank.rules.kemeny.parts import Part, order_cost, raise_to_step, tidy
from holdrank.status import Clock

HOW = "search and cycle packing"
_SPANS = 64  # distances in the order handled between two looks at the clock


def solve(cost: Floats, step: float, tolerance: float, clock: Clock) -> Part:
    """Return a good order and a certified bound.

    Every order loses the minority of each pair, and of each cycle of three majorities at least one more: the smallest
    margin of the three. Cycles that share no margin add up.
    """
    best = search.good_order(cost, clock)
    value = order_cost(cost, best)
    # Seen in this order, majorities point forwards except for what the order loses; each cycle has one such pair.
    margin = np.ascontiguousarray((cost - cost.T)[np.ix_(best, best)])
    lost = sum(float(row[k + 1 :][row[k + 1 :] > 0].sum()) for k, row in enumerate(margin))
    pack = fastest(pack_cycles, _pack_cycles, seconds=len(cost) ** 2 / 4e5)
    packed = 0.0
    for first in range(2, len(cost), _SPANS):
        if clock.over():
            break
        packed += pack(margin, first, min(first + _SPANS, len(cost)))
    bound = raise_to_step(value - lost + packed, value, step)
    proved = bound >= value - tolerance
    order, unique = tidy(cost, best, tolerance)
    return Part(order, value, value if proved else bound, unique if proved else None, proved, HOW)


def pack_cycles(margin: Any, first: int, last: int) -> float:
    """Use up `margin` by majority cycles a, k, b over lost pairs a < b with first <= b - a < last; return the sum.

    Items are numbered by an order. ``margin[a, b] > 0`` for a < b: the order loses this pair.
    """
    n = len(margin)
    packed = 0.0
    for span in range(first, last):
        for a in range(n - span):
            b = a + span
            left = margin[a, b]
            if left <= 0:
                continue
            for k in range(a + 1, b):
                most = min(left, min(margin[k, a], margin[b, k]))
                if most > 0:
                    left -= most
                    packed += most
                    margin[a, k] += most
                    margin[k, a] -= most
                    margin[k, b] += most
                    margin[b, k] -= most
                    if left <= 0:
                        break
            margin[a, b] = left
            margin[b, a] = -left
    return packed


def _pack_cycles(margin: Floats, first: int, last: int) -> float:
    """Do what `pack_cycles` does, a lost pair of numpy at a time."""
    packed = 0.0
    for span in range(first, last):
        for a in np.flatnonzero(np.diagonal(margin, span) > 0).tolist():
            b = a + span
            most = np.clip(np.minimum(-margin[a, a + 1 : b], -margin[a + 1 : b, b]), 0, None)
            before = np.cumsum(most) - most
            taken = np.clip(margin[a, b] - before, 0, most)
            for side, change in ((np.s_[a, a + 1 : b], taken), (np.s_[a + 1 : b, b], taken)):
                margin[side] += change
                margin.T[side] -= change
            packed += float(taken.sum())
            margin[a, b] -= taken.sum()
            margin[b, a] += taken.sum()
    return packed
