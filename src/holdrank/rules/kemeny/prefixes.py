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

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.cuts import Cut
from holdrank.rules.kemeny.program import Program
from holdrank.status import Clock

SCALE = 1024  # prices are multiples of one part in so many of a step
MOST_COST = 2.0**40  # above, whole numbers might overflow
_STATES_AT_ONCE = 2_000  # between two looks at the clock
_FULL = -2

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prices:
    """The cost of every order in whole numbers, SCALE to a step: `base`, and losses of at least 0.

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
    """

    base: int
    deviations: Ints
    triangles: Ints
    cuts: list[tuple[Cut, int]]
    fixed: Bools

    def reversed(self) -> Prices:
        """Return the same for orders read from the end."""
        turned = [(Cut(cut.items, -cut.weights, cut.limit - int(cut.weights.sum())), price) for cut, price in self.cuts]
        return Prices(
            self.base,
            np.ascontiguousarray(self.deviations.T),
            self.triangles[:, [2, 1, 0, 3]],
            turned,
            np.ascontiguousarray(self.fixed.T),
        )


def whole_prices(program: Program, duals: Floats, lower: Floats, upper: Floats) -> Prices:
    """Return the prices of the program's rows in whole numbers; fixed columns are fixed pairs."""
    i, j = program.pairs
    reduced = np.rint(program.margins).astype(np.int64) * SCALE
    base = round(program.offset) * SCALE
    prices = np.rint(duals * SCALE).astype(np.int64)
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
    return Prices(base, deviations, triangles, cuts, fixed)


def cheaper_order(prices: Prices, value: float, most: int, clock: Clock) -> tuple[bool, Ints | None]:
    """Return (decided, order): the cheapest order that costs at least a step less than `value`, None if there is none.

    Not decided, when more than `most` sets of items would have to be kept at either end, or the time is over.
    """
    spare = round(value) * SCALE - SCALE - prices.base
    if spare < 0:
        return True, None
    n = len(prices.deviations)
    fixed = prices.fixed | (prices.deviations > spare).T
    for item in range(n):
        fixed |= fixed[:, item, None] & fixed[item]
    if fixed.diagonal().any():
        return True, None  # every order loses too much for some pair
    most_loss = 2 * spare
    back = _End(prices.reversed(), fixed.T, most)
    for _ in range(n):
        if not back.grow(most_loss // 2, most_loss, None, clock):
            return False, None
        if back.is_over():
            break
    front = _End(prices, fixed, most)
    for length in range(1, n + 1):
        if not front.grow(most_loss - back.least(n - length), most_loss, back if length < n else None, clock):
            return False, None
        if front.is_over():
            return True, None
    return True, front.order()


class _End:
    """Sets of items that can stand at one end of an order, layer by layer, and the minimum loss of each."""

    def __init__(self, prices: Prices, fixed: Bools, most: int) -> None:
        n = len(fixed)
        words = (n + 63) // 64
        self.n, self.most = n, most
        self.limit = 0  # of losses; sets that are not here lose more
        self.deviations = np.ascontiguousarray(np.stack((prices.deviations, prices.deviations.T)))
        a, b, c, price = prices.triangles.T
        middle = np.concatenate((b, c, a))
        lines = np.column_stack((np.concatenate((a, b, c)), np.concatenate((c, a, b)), np.tile(2 * price, 3)))
        self.triangles = np.ascontiguousarray(lines[np.argsort(middle, kind="stable")])
        self.starts = np.concatenate(([0], np.cumsum(np.bincount(middle, minlength=n)))).astype(np.int64)
        needed = np.zeros((n, words * 64), dtype=np.uint8)
        needed[:, :n] = fixed.T
        self.first = np.packbits(needed, axis=1, bitorder="little").view("<i8").astype(np.int64)
        self.sizes = np.array([len(cut.items) for cut, _ in prices.cuts], dtype=np.int64)
        self.items = np.array([item for cut, _ in prices.cuts for item in cut.items], dtype=np.int64)
        ends = np.concatenate(([0], np.cumsum(self.sizes << self.sizes))).astype(np.int64)
        self.inside, self.across_cuts = np.empty(ends[-1], np.int64), np.empty(ends[-1], np.int64)
        for (cut, paid), start, end in zip(prices.cuts, ends[:-1], ends[1:], strict=True):
            charged = self.inside[start:end], self.across_cuts[start:end]
            call("charge_prefixes", len(cut.items), np.ascontiguousarray(cut.weights), cut.limit, paid, *charged)
        self.slots = np.zeros(1 << (2 * most).bit_length(), dtype=np.int64)
        self.states = np.zeros((most, words), dtype=np.int64)
        self.losses, self.across, self.last = (np.zeros(most, dtype=np.int64) for _ in range(3))
        self.layers = [0, 1]  # where the sets of each size begin; the empty one is there
        self.lost: list[int] = [0]  # the least in each layer

    def is_over(self) -> bool:
        """Whether no set of the last size is left."""
        return self.layers[-1] == self.layers[-2]

    def least(self, size: int) -> int:
        """Return the minimum loss of a set of this size."""
        return self.lost[size] if size < len(self.lost) else self.limit + 1

    def grow(self, limit: int, most_loss: int, other: _End | None, clock: Clock) -> bool:
        """Make the sets with one more item that lose at most `limit`; return False if there is no room or no time."""
        self.limit = limit
        count, end = self.layers[-1], self.layers[-1]
        beyond = self if other is None else other
        for start in range(self.layers[-2], end, _STATES_AT_ONCE):
            if clock.over():
                return False
            count = call(
                "grow_prefixes", self.n, self.deviations, self.starts, self.triangles, self.first, len(self.sizes),
                self.sizes, self.items, self.inside, self.across_cuts, start, min(start + _STATES_AT_ONCE, end), count,
                self.most, self.states, self.losses, self.across, self.last, self.slots, len(self.slots) - 1, limit,
                most_loss, beyond.limit, beyond.states, beyond.losses, beyond.slots,
                0 if other is None else len(other.slots) - 1,
            )  # fmt: skip
            if count == _FULL:
                return False
        self.layers.append(count)
        if count > end:
            self.lost.append(int(self.losses[end:count].min()))
        return True

    def order(self) -> Ints:
        """Return the cheapest order, read back from the set of all items."""
        state = self.layers[-1] - 1
        order: list[int] = []
        for size in range(self.n, 0, -1):
            item = int(self.last[state])
            order.append(item)
            smaller = self.states[state].copy()
            smaller.view(np.uint64)[item >> 6] ^= np.uint64(1) << np.uint64(item & 63)
            layer = slice(self.layers[size - 1], self.layers[size])
            state = self.layers[size - 1] + int((self.states[layer] == smaller).all(axis=1).argmax())
        return np.array(order[::-1])
