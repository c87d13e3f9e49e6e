"""Orders that grow from both ends, kept while they may still be cheaper than the best one known: closes small gaps.

The prices of a linear program's rows split the cost of every order into a bound and losses that are never negative: of
pairs against their reduced cost, and of rows that are slack. What the first items of an order lose is known from their
set and their order; of all orders of one set only the cheapest matters. So sets of first items grow one by one, as in
dynamic programming over subsets, but a set is dropped as soon as its loss reaches the gap to the best known order. Sets
of last items grow in the same way, up to half of the gap; they give the first ones a lower bound on the loss of the
rest.

Prices are rounded to a fraction with a fixed denominator. Any prices give a bound, so no tolerance enters: everything
from there on is summed and compared in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.cuts import Cut
from holdrank.rules.kemeny.cycles import CycleWeights
from holdrank.rules.kemeny.ends import End, Tables
from holdrank.rules.kemeny.program import Program
from holdrank.status import Clock

SCALE = 1024  # prices are multiples of this fraction of a step
MOST_COST = 2.0**40  # above, whole numbers might overflow
MOST_ITEMS = 2_048  # as in the loop
_MOST_CHARGED = 2.0**31  # sums of losses up to which two fit into one number
_MOST_MEMORY = 300_000_000  # bytes of the sets at either end
_TOGETHER, _TOGETHER_FOR_LONG = 8, 10  # items of a table
_PILOT_FROM = 1_000_000  # sets for which there is room: from there on, it pays to share the gap between the ends
_PILOT_SHARE, _PILOT_ROOM = 0.15, 48  # of the gap, whose sets are counted first; the part of the room they may take
_PILOT_SLOPE = 16  # by how many powers of e sets become more from no loss to all of it

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prices:
    """The cost of every order in whole numbers, `scale` to a step: `base`, and losses of at least 0.

    Attributes
    ----------
    base : int
        The bound: the cost of an order without losses.
    deviations : (n, n) array
        The loss of placing i before j.
    triangles : (t, 4) array
        Items a, b, c and a price, lost by the orders abc, bca and cab.
    cuts : list of (Cut, int)
        Rows with a price, lost for each unit of slack.
    fixed : (n, n) array of bool
        Only orders that place i before j are considered.
    scale : int
        Units per step.
    """

    base: int
    deviations: Ints
    triangles: Ints
    cuts: list[tuple[Cut, int]]
    fixed: Bools
    scale: int = SCALE

    def reversed(self) -> Prices:
        """Return the same for orders read from the end."""
        turned = [(Cut(cut.items, -cut.weights, cut.limit - int(cut.weights.sum())), price) for cut, price in self.cuts]
        return Prices(
            self.base,
            np.ascontiguousarray(self.deviations.T),
            self.triangles[:, [2, 1, 0, 3]],
            turned,
            np.ascontiguousarray(self.fixed.T),
            self.scale,
        )


def scale_for(gap: float, rows: int, n: int) -> int:
    """Return how fine prices may be so that what an item is charged fits into 31 bits; large gaps need no fine ones."""
    fits = int(_MOST_CHARGED / (2 * (gap + 1) * (rows + 2 * n)))
    return min(SCALE, 1 << max(fits.bit_length() - 1, 0))


def whole_prices(program: Program, duals: Floats, lower: Floats, upper: Floats, scale: int = SCALE) -> Prices:
    """Return the prices of the program's rows in whole numbers; fixed columns are fixed pairs."""
    i, j = program.pairs
    reduced = np.rint(program.margins).astype(np.int64) * scale
    base = round(program.offset) * scale
    prices = np.rint(duals * scale).astype(np.int64)
    is_triangle = (program.triples[:, 0] >= 0) & (prices != 0)
    triples, paid = program.triples[is_triangle], prices[is_triangle]
    a, b, c = triples.T
    for columns, sign in ((program.column[a, b], 1), (program.column[b, c], 1), (program.column[a, c], -1)):
        np.subtract.at(reduced, columns, sign * paid)
    base += int(paid[paid < 0].sum())  # of the side <= 1; the side >= 0 adds nothing
    loses_even = paid > 0  # orders abc, bca, cab of the side >= 0; the others of the side <= 1
    turned = np.where(loses_even[:, None], triples, triples[:, [0, 2, 1]])
    cuts: list[tuple[Cut, int]] = []
    for row in np.flatnonzero((program.cut_of >= 0) & (prices < 0)).tolist():
        cut, price = program.cuts[program.cut_of[row]], -int(prices[row])
        columns, values, limit = cut.row(program.column)
        reduced[columns] += price * values.astype(np.int64)
        base -= price * round(limit)
        cuts.append((cut, price))
    low, high = lower.astype(np.int64), upper.astype(np.int64)
    base += int(np.where(reduced > 0, reduced * low, reduced * high).sum())
    free = low < high
    deviations = np.zeros((program.n, program.n), dtype=np.int64)
    deviations[i, j], deviations[j, i] = (
        np.where(free, np.maximum(reduced, 0), 0),
        np.where(free, np.maximum(-reduced, 0), 0),
    )
    fixed = np.zeros((program.n, program.n), dtype=bool)
    fixed[i, j], fixed[j, i] = low == 1, high == 0
    triangles = np.ascontiguousarray(np.column_stack((turned, np.abs(paid))))
    return Prices(base, deviations, triangles, cuts, fixed, scale)


def cycle_prices(weights: CycleWeights, scale: int = SCALE) -> Prices:
    """Return the prices of weighted cycles in whole numbers, for margins that are; items are numbered as there.

    The price of a cycle is its weight. It is lost by the orders that agree with only one of its arcs, or with two, as
    the sign of the weight says.
    """
    n = len(weights.margin)
    margin = np.rint(weights.margin * weights.unit).astype(np.int64) * scale
    left = margin.copy()
    cycles, weight = weights.triples()
    paid = np.rint(weight * (weights.unit * scale)).astype(np.int64)
    cycles, paid = cycles[paid != 0], paid[paid != 0]
    i, j, k = cycles.T
    np.subtract.at(left, (i, j), paid)
    np.subtract.at(left, (j, k), paid)
    np.add.at(left, (i, k), paid)
    base = (int(np.abs(margin).sum()) - int(np.abs(left).sum()) - int(np.abs(paid).sum())) // 2
    deviations = np.maximum(left, 0) + np.maximum(-left, 0).T
    turned = np.where((paid > 0)[:, None], cycles, cycles[:, [0, 2, 1]])
    triangles = np.ascontiguousarray(np.column_stack((turned, np.abs(paid))))
    return Prices(base, deviations, triangles, [], np.zeros((n, n), dtype=bool), scale)


def cheaper_order(prices: Prices, value: float, most: int, clock: Clock) -> tuple[bool, Ints | None]:
    """Return (decided, order): the cheapest order that costs at least a step less than `value`, None if there is none.

    Not decided, when more than `most` sets of items would have to be kept at either end, when the time is over, or when
    losses are too large for the tables.
    """
    spare = round(value) * prices.scale - prices.scale - prices.base
    if spare < 0:
        return True, None
    n = len(prices.deviations)
    fixed = prices.fixed | (prices.deviations > spare).T
    for item in range(n):
        fixed |= fixed[:, item, None] & fixed[item]
    if fixed.diagonal().any():
        return True, None  # every order loses too much for some pair
    most = min(most, _MOST_MEMORY // End.bytes_a_set(n))
    most_loss = 2 * spare
    if most_loss >= _MOST_CHARGED / (len(prices.cuts) + len(prices.triangles) + 2 * n):
        return False, None
    together = _TOGETHER if most < _PILOT_FROM else _TOGETHER_FOR_LONG
    back_tables = _tables(prices.reversed(), fixed.T, most_loss, together)
    front_tables: Tables | None = None
    back_limit = most_loss // 2
    if most >= _PILOT_FROM:
        front_tables = _tables(prices, fixed, most_loss, together)
        at_back, at_front = (_pilot(tables, most // _PILOT_ROOM, clock) for tables in (back_tables, front_tables))
        if not at_back or not at_front:
            return False, None
        back_limit = int(most_loss * min(max(0.5 - math.log(at_back / at_front) / _PILOT_SLOPE, 0.25), 0.75))
    back = End(back_tables, most)
    for _ in range(n):
        if not back.grow(back_limit, most_loss, None, clock):
            return False, None
        if back.is_over():
            break
    front = End(front_tables or _tables(prices, fixed, most_loss, together), most)
    for length in range(1, n + 1):
        if not front.grow(most_loss - back.least(n - length), most_loss, back if length < n else None, clock):
            return False, None
        if front.is_over():
            return True, None
    return True, front.order()


def _pilot(tables: Tables, room: int, clock: Clock) -> int:
    """Return how many sets one end has that lose little; 0 if there is no room for them, or no time."""
    end = End(tables, room)
    while not end.is_over():
        if not end.grow(int(_PILOT_SHARE * tables.most_loss), tables.most_loss, None, clock):
            return 0
    return end.layers[-1]


def _tables(prices: Prices, fixed: Bools, most_loss: int, together: int) -> Tables:
    """Return what items are charged at these prices when they join a set."""
    deviations = np.where(fixed.T, 0, prices.deviations)  # never charged
    return Tables(deviations, prices.triangles, prices.cuts, fixed, most_loss, together)
