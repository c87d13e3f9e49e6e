"""Code shared by the layers: results, components of the majority relation, and the step between costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import TIED
from holdrank.rankings import Floats, Ints

_NUMBERS_AT_A_TIME = 1 << 20  # of a matrix of thousands of items, to keep temporary arrays small
_EXACT_SUMS = 2.0**53  # whole numbers up to which floats are exact


@dataclass(frozen=True, slots=True)
class Part:
    """The order of one component with its certificate; `how` names the method."""

    order: tuple[int, ...]
    cost: float
    bound: float
    unique: bool | None
    proved: bool
    how: str


@dataclass(frozen=True, slots=True)
class Solved:
    """An order of all items with its certificate.

    Attributes
    ----------
    order : tuple of int
        Items best first.
    cost, bound : float
        Cost of the order, and a proven lower bound on the cost of every order.
    unique : bool or None
        Whether no other order is as cheap; None if that was not decided.
    proved, too_large : bool
        Whether `cost` is the least; whether a component was beyond the exact engine.
    proof : str
        How each component was solved, as text.
    """

    order: tuple[int, ...]
    cost: float
    bound: float
    unique: bool | None
    proved: bool
    too_large: bool
    proof: str


def components(cost: Floats, tolerance: float = 0.0) -> list[Ints]:
    """Return the strongly connected components of the majority relation, best first.

    A pair without a strict majority keeps its items together. Every cheapest order lists the components in this
    order. A set of k items beats all others exactly when its scores (strict wins plus half the ties) reach their
    largest possible sum, and then it consists of the k highest scores.
    """
    n = len(cost)
    wins = np.empty(n)
    rows = max(1, _NUMBERS_AT_A_TIME // n)
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        margin = cost[:, part].T - cost[part]  # positive: the row item should come first
        wins[part] = ((margin > tolerance).sum(axis=1) + (margin >= -tolerance).sum(axis=1) - 1) / 2
    by_score = np.argsort(-wins, kind="stable")
    k = np.arange(1, n + 1)
    ends = np.flatnonzero(np.cumsum(wins[by_score]) == k * (k - 1) / 2 + k * (n - k)) + 1
    return [np.sort(part) for part in np.split(by_score, ends[:-1])]


def tie_tolerance(cost: Floats) -> float:
    """Return how far sums of costs that are not whole numbers may lie apart and still count as equal."""
    return TIED * float(np.abs(cost).max(initial=0.0)) * len(cost)


def lost_margins(cost: Floats, whole: bool, tolerance: float = 0.0) -> tuple[Floats, float, bool]:
    """Return (lost, unit, exact): what each order of a pair costs more than the other, in units.

    Every order pays at least the cheaper order of each pair; only the rest can be saved, and small numbers add up
    without rounding. Whole and half numbers are divided by the greatest common divisor of the margins (2 for an even
    number of complete ballots, which is worth half a search tree), so that all sums are whole and `exact`. Shares, and
    counts so large that their sums are not, are divided by the largest; margins within `tolerance` are none.
    """
    lost = cost - cost.T
    np.maximum(lost, 0.0, out=lost)
    divisor = 0
    if whole:
        for row in lost:
            divisor = int(np.gcd.reduce(np.rint(2 * row).astype(np.int64), initial=divisor))
            if divisor == 1:
                break
    if whole and lost.sum() * 2 < _EXACT_SUMS * max(divisor, 1):
        unit = max(divisor, 1) / 2
        return np.rint(np.divide(lost, unit, out=lost)), unit, True
    lost[lost <= tolerance] = 0.0
    unit = float(lost.max()) or 1.0
    return np.divide(lost, unit, out=lost), unit, False


def raise_to_step(bound: float, value: float, step: float) -> float:
    """Return the lowest cost that an order can have, given that no order is below `bound` and one costs `value`.

    A bound from a linear program carries the rounding of long sums: with steps, it is lowered by that much before it
    is raised to the next possible cost, so that very large sums are never wrongly reported as proven.
    """
    if step == 0:
        return value if bound >= value - TIED * abs(value) else bound
    return value - float(np.floor((value - bound + rounding(value)) / step)) * step


def rounding(value: float) -> float:
    """Return how far a bound of a linear program on costs up to `value` may be off."""
    return 1e-6 + 1e-12 * abs(value)


def order_cost(cost: Floats, order: Ints) -> float:
    """Return the sum of cost[i, j] over i before j."""
    if len(order) > 1000:
        return float(sum(cost[item, order[k + 1 :]].sum() for k, item in enumerate(order)))
    return float(np.where(_above_diagonal(len(order)), cost[order[:, None], order], 0.0).sum())


@lru_cache(maxsize=8)
def _above_diagonal(n: int) -> npt.NDArray[np.bool_]:
    return np.triu(np.ones((n, n), dtype=bool), 1)


def tidy(cost: Floats, order: Ints, tolerance: float) -> tuple[tuple[int, ...], bool | None]:
    """Return the order with free swaps of neighbours sorted by number, and False if some move shows a second optimum.

    Moving one item elsewhere at no cost is another order of the same cost. If no such move is free, nothing is known.
    """
    items: list[int] = order.tolist()
    for end in range(len(items) - 1, 0, -1):
        swapped = False
        for p in range(end):
            a, b = items[p], items[p + 1]
            if a > b and abs(cost[a, b] - cost[b, a]) <= tolerance:
                items[p], items[p + 1] = b, a
                swapped = True
        if not swapped:
            break
    at = np.array(items)
    for p, item in enumerate(items):
        margins = cost[at, item] - cost[item, at]  # of moving item from before to behind
        right, left = np.cumsum(margins[p + 1 :]), np.cumsum(-margins[:p][::-1])
        if (np.abs(right) <= tolerance).any() or (np.abs(left) <= tolerance).any():
            return tuple(items), False
    return tuple(items), None
