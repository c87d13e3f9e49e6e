"""Components too large for a linear program: a good order, and a bound from weighted majority cycles.

Both use the available time. Without a time limit the work is fixed, so that the answer is always the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from holdrank.arrays.insertions import descend, wander
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import prefixes, search
from holdrank.rules.kemeny.cycles import MOST_ITEMS, CycleWeights, triples
from holdrank.rules.kemeny.parts import Part, order_cost, raise_to_step, tidy
from holdrank.status import Clock, Step

HOW, HOW_GROWN = "search and cycle packing", "search, cycle packing and growing orders"
_WINDOW = 400  # neighbouring items that are searched together
_LOOKS = 200  # at each margin of a window, in one search
_SWEEPS, _MORE_SWEEPS, _FEW_SWEEPS = 30, 120, 4  # of windows over the order: at first, at the end, for another start
_ALL_SWEEPS = 2_000  # items up to which all sweeps and orders are made without a time limit
_FOR_ORDERS, _FOR_BOUND = 1 / 6, 4 / 5  # of a time limit: for the first order; of the rest, for the bound
_ROUNDS, _ROUNDS_IN_TIME = 24, 160  # of the bound at most, with ever less smoothing: without a time limit, and with one
_SMOOTHING = 1 / 4, 1 / 2000  # of the mean margin: in the first round, and in the last
_POLISH = 2  # rounds without smoothing at the end
_ORDERS = 6  # made of the weights on the way
_TRIPLES = 25_000_000_000, 2_000  # of work on the bound without a time limit, some 25 s; less above this many items
_TRIPLES_A_ROUND = 2_700_000_000  # all of 2,500 items; of more, cycles reach less far, so that a round takes no longer
_FIRST_ROUND = 1 / 10  # of the work: where most triples are worth a weight, looking at them takes five times as long
_ROOM, _CYCLES_TO_GROW = 20_000, 20_000  # sets of items at either end of growing orders; weights that fit into memory
_SMALL_GAP = 10  # steps, into which orders are grown
_FEWEST_TRIPLES = 100_000_000  # a round is never shorter: a tenth of a second


def solve(
    cost: Floats, step: float, tolerance: float, clock: Clock, progress: Callable[[Step], None] | None = None
) -> Part:
    """Return a good order and a certified bound; they are equal if the order is proven optimal."""
    n = len(cost)
    margin = np.ascontiguousarray(cost - cost.T)
    limited = not math.isinf(clock.seconds_left())
    at_first = Clock(clock.seconds_left() * _FOR_ORDERS if limited else None, within=clock)
    fewer = 1.0 if limited else min(1.0, (_ALL_SWEEPS / n) ** 2)
    sweeps, orders = max(int(_SWEEPS * fewer), _FEW_SWEEPS), max(int(_ORDERS * fewer), 1)
    best = by_windows(margin, search.good_order(cost, clock).astype(np.int64), at_first, sweeps=sweeps)
    value = order_cost(cost, best)
    floor = value - _lost(margin, best)
    # Seen in this order, majorities point forwards except for what the order loses.
    weights = CycleWeights(margin[np.ix_(best, best)], exact=step > 0)
    effort = _Effort(weights, clock)
    reach = effort.first_reach()
    start, made = best, 0
    for way, smooth in effort.smoothings() if n <= MOST_ITEMS else ():
        if clock.over() or floor + weights.bound >= value:
            break
        if progress is not None:
            progress(Step("percent of the rounds of the bound", round(100 * way), 100))
        weights.round(smooth * weights.mean, clock, reach)
        reach = effort.shorter(reach)
        if made < int(way * orders) and not clock.over():
            made = int(way * orders)
            order = start[np.argsort(weights.scores(), kind="stable")]
            descend(margin, order)
            order = by_windows(margin, order, clock, sweeps=_FEW_SWEEPS, seed=made)
            if (found := order_cost(cost, order)) < value:
                best, value = order, found
    bound, how = floor + weights.bound, HOW
    if step and bound < value <= bound + _SMALL_GAP and (closed := _grown(weights, value - floor, clock)) is not None:
        best = start[closed] if len(closed) else best
        bound = value = order_cost(cost, best)
        how = HOW_GROWN
    if limited and bound < value:
        best = by_windows(margin, best, clock, sweeps=_MORE_SWEEPS, seed=_ORDERS + 1)
        value = order_cost(cost, best)
    bound = min(bound, value) if step else raise_to_step(bound, value, step)
    proved = bound >= value - tolerance
    tidied, unique = tidy(cost, best, tolerance)
    return Part(tidied, value, value if proved else bound, unique if proved else None, proved, how)


def _grown(weights: CycleWeights, value: float, clock: Clock) -> Ints | None:
    """Return the cheapest order, in the numbers of the weights, or none if no order loses less than `value`.

    None where that is not decided: orders must grow into the gap in few sets of items.
    """
    n, gap = len(weights.margin), value - weights.bound
    if clock.over():
        return None
    if n > prefixes.MOST_ITEMS or value > prefixes.MOST_COST or weights.count > _CYCLES_TO_GROW:
        return None
    prices = prefixes.cycle_prices(weights, prefixes.scale_for(gap, weights.count, n))
    decided, order = prefixes.cheaper_order(prices, value, _ROOM, clock)
    if not decided:
        return None
    return np.empty(0, dtype=np.int64) if order is None else order


class _Effort:
    """How the bound uses what there is for it: seconds of a time limit; without one, work that is counted."""

    def __init__(self, weights: CycleWeights, clock: Clock) -> None:
        self.weights, self.clock = weights, clock
        self.n = len(weights.margin)
        self.seconds = clock.seconds_left()
        self.limited = not math.isinf(self.seconds)
        work, items = _TRIPLES
        self.work = work * min(1.0, items / self.n)
        self.before = 0.0

    def spent(self) -> float:
        """Return the share that is used up."""
        if self.limited:
            return (self.seconds - self.clock.seconds_left()) / max(self.seconds * _FOR_BOUND, 1e-9)
        return self.weights.work / self.work

    def smoothings(self) -> Iterator[tuple[float, float]]:
        """Yield (way, smoothing) of each round: how far it is from first to last, and a share of the mean margin.

        The way goes as far as the effort does meanwhile, so that the last is reached, but at most one step of many.
        """
        first, last = _SMOOTHING
        steps = (_ROUNDS_IN_TIME if self.limited else _ROUNDS) - 1 - _POLISH
        for step in range(steps + 1):
            way = min(max(step / steps, self.spent()), 1.0) if step else 0.0
            yield way, first * (last / first) ** way
            if way == 1:
                break
        for _ in range(_POLISH):
            yield 1.0, 0.0

    def first_reach(self) -> int:
        """Return how many places apart the items of a cycle are at most in the first round."""
        return _reach(self.n, _TRIPLES_A_ROUND if self.limited else min(_TRIPLES_A_ROUND, self.work * _FIRST_ROUND))

    def shorter(self, reach: int) -> int:
        """Return how far cycles may reach in the next round: as now, or less, so that the last rounds can be paid."""
        spent = self.spent()
        round_takes, self.before = spent - self.before, spent
        affordable = max(1 - spent, 0.0) / (1 + _POLISH)
        if round_takes <= affordable:
            return reach
        return _reach(self.n, max(triples(self.n, reach) * affordable / round_takes, _FEWEST_TRIPLES))


def by_windows(margin: Floats, start: Ints, clock: Clock, *, sweeps: int, seed: int = 0) -> Ints:
    """Return an order at least as cheap as `start`: windows of neighbours are searched one after the other.

    Within a window, an item has few places to go; that finds more in the same time than a search through all places.
    Windows overlap by half with those of the next sweep. After each sweep, items move to their best place of all.
    """
    order = start.copy()
    n = len(order)
    for sweep in range(sweeps):
        for at in range(-(_WINDOW // 2) * (sweep % 2), n - 2, _WINDOW):
            if clock.over():
                return order
            window = slice(max(at, 0), min(at + _WINDOW, n))
            items = order[window].copy()
            places = np.arange(len(items))
            inside = np.ascontiguousarray(margin[np.ix_(items, items)])
            wander(inside, places, steps=_LOOKS * inside.size, seed=(seed << 32) + sweep)
            order[window] = items[places]
        descend(margin, order)
    return order


def _lost(margin: Floats, order: Ints) -> float:
    """Return what an order loses of the margins."""
    return sum(float(np.maximum(margin[item, order[k + 1 :]], 0).sum()) for k, item in enumerate(order))


def _reach(n: int, most: float) -> int:
    """Return how many places apart the items of a cycle are at most, so that no more triples are looked at."""
    reach = n
    while triples(n, reach) > most:
        reach = reach * 19 // 20
    return reach
