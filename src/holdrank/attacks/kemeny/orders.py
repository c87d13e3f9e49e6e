"""Orders of items that are numbered by the median under attack: their flipped pairs, and bounds on reaching them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.attacks.sides import Side
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import cheapest_order
from holdrank.status import Clock
from holdrank.votes.limits import NUMBERS_AT_A_TIME


def flips(orders: Ints) -> Ints:
    """Return the number of flipped pairs of each order of items numbered by the median."""
    if not len(orders):
        return np.zeros(0, dtype=np.int64)
    first, second = np.triu_indices(orders.shape[1], 1)
    return np.asarray((orders[:, first] > orders[:, second]).sum(axis=1))


def signs(order: npt.NDArray[Any]) -> Floats:
    """Return the matrix with +1 where the order places the row before the column, -1 where after."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return np.asarray(np.sign(place[None, :] - place[:, None]), dtype=np.float64)


def cheapest_rival(ahead: Floats, whole: bool, miss: Side | None, clock: Clock) -> tuple[Ints, bool]:
    """Return the best order, of one side or of all, under a matrix of margins, and whether that is proven."""
    cost = np.maximum(-ahead, 0.0)
    if miss is not None:
        found = miss.cheapest(cost, whole, clock)
        return found.order, found.proved
    solved = cheapest_order(cost, whole=whole, clock=clock)
    return np.asarray(solved.order), solved.proved


def block_bounds_of(against: Floats, orders: Ints, sums: bool) -> Floats:
    """Return for each order the largest bound of two of its neighbouring blocks."""
    best = np.zeros(len(orders))
    n = orders.shape[-1]
    some = max(1, NUMBERS_AT_A_TIME // (n * n))
    for at in range(0, len(orders), some):
        part = orders[at : at + some]
        corner = np.zeros((len(part), n + 1, n + 1))
        corner[:, 1:, 1:] = against[part[:, :, None], part[:, None, :]].cumsum(axis=1).cumsum(axis=2)
        for middle in range(1, n):
            above, below = slice(0, middle), slice(middle + 1, n + 1)
            total = corner[:, middle, None, below] - corner[:, above, below]
            total -= corner[:, middle, middle, None, None]
            total += corner[:, above, middle, None]
            if not sums:
                total /= np.outer(np.arange(middle, 0, -1), np.arange(1, n - middle + 1))
            np.maximum(best[at : at + some], total.max(axis=(1, 2)), out=best[at : at + some])
    return best


def widest_path(against: Floats, starts: npt.NDArray[np.bool_], stops: npt.NDArray[np.bool_]) -> float:
    """Return the minimum budget that allows a chain of neighbours from a start to a stop: its worst link counts."""
    reach = np.where(starts, 0.0, np.inf)
    open_ = np.ones(len(against), dtype=np.bool_)
    while open_.any():
        here = int(np.argmin(np.where(open_, reach, np.inf)))
        if stops[here] or not np.isfinite(reach[here]):
            return float(max(reach[here], 0.0))
        open_[here] = False
        reach = np.where(open_, np.minimum(reach, np.maximum(reach[here], against[here])), reach)
    return math.inf
