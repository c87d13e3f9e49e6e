"""Components too large for a linear program: a good order, and a bound from weighted majority cycles.

Both use the available time. Without a time limit the work is fixed, so that the answer is always the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from holdrank.arrays.insertions import descend, wander
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import search
from holdrank.rules.kemeny.cycles import MOST_ITEMS, CycleWeights, triples
from holdrank.rules.kemeny.parts import Part, order_cost, raise_to_step, tidy
from holdrank.status import Clock, Step

HOW = "search and cycle packing"
_WINDOW = 400  # neighbouring items that are searched together
_LOOKS = 200  # at each margin of a window, in one search
_SWEEPS, _MORE_SWEEPS, _FEW_SWEEPS = 30, 120, 4  # of windows over the order: at first, at the end, for another start
_SWEPT = 60_000  # items, by all first sweeps together, without a time limit: 30 times 2,000
_ROUNDS = 24  # of the bound, with ever less smoothing
_SMOOTHING = 1 / 4, 1 / 2000  # of the mean margin: in the first round, and in the last
_POLISH = 2  # rounds without smoothing at the end
_ORDERS_EVERY = 4  # rounds, an order is made of the weights
_TRIPLES = 25_000_000_000  # looked at without a time limit: some 30 s
_TRIPLES_A_ROUND = 2_700_000_000  # all of 2,500 items; of more, cycles reach less far, so that a round takes no longer


def solve(
    cost: Floats, step: float, tolerance: float, clock: Clock, progress: Callable[[Step], None] | None = None
) -> Part:
    """Return a good order and a certified bound; they are equal if the order is proven optimal."""
    n = len(cost)
    margin = np.ascontiguousarray(cost - cost.T)
    limited = not math.isinf(clock.seconds_left())
    third = Clock(clock.seconds_left() / 3 if limited else None, within=clock)
    sweeps = _SWEEPS if limited else max(min(_SWEEPS, _SWEPT // n), _FEW_SWEEPS)
    best = by_windows(margin, search.good_order(cost, clock).astype(np.int64), third, sweeps=sweeps)
    value = order_cost(cost, best)
    floor = value - _lost(margin, best)
    # Seen in this order, majorities point forwards except for what the order loses.
    weights = CycleWeights(margin[np.ix_(best, best)], exact=step > 0)
    reach = _reach(n)
    rounds = _rounds(n, reach, limited) if n <= MOST_ITEMS else 0
    start = best
    for number in range(rounds):
        if clock.over() or floor + weights.bound >= value:
            break
        if progress is not None:
            progress(Step("rounds of the bound", number, rounds))
        first, last = _SMOOTHING
        smooth = first * (last / first) ** (number / max(rounds - 1 - _POLISH, 1))
        weights.round(smooth * weights.mean if number < rounds - _POLISH else 0.0, clock, reach)
        if number % _ORDERS_EVERY == _ORDERS_EVERY - 1 and not clock.over():
            order = start[np.argsort(weights.scores(), kind="stable")]
            descend(margin, order)
            order = by_windows(margin, order, clock, sweeps=_FEW_SWEEPS, seed=number)
            if (found := order_cost(cost, order)) < value:
                best, value = order, found
    if limited and floor + weights.bound < value:
        best = by_windows(margin, best, clock, sweeps=_MORE_SWEEPS, seed=rounds)
        value = order_cost(cost, best)
    bound = min(floor + weights.bound, value) if step else raise_to_step(floor + weights.bound, value, step)
    proved = bound >= value - tolerance
    tidied, unique = tidy(cost, best, tolerance)
    return Part(tidied, value, value if proved else bound, unique if proved else None, proved, HOW)


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


def _reach(n: int) -> int:
    """Return how many places apart the items of a cycle are at most."""
    reach = n
    while triples(n, reach) > _TRIPLES_A_ROUND:
        reach = reach * 19 // 20
    return reach


def _rounds(n: int, reach: int, limited: bool) -> int:
    """Return how many rounds the bound gets: fewer for many items, without a time limit."""
    affordable = _TRIPLES // max(3 * triples(n, reach), 1)  # a third of a round's time goes into looking at triples
    return _ROUNDS if limited else max(min(_ROUNDS, affordable), _POLISH + 2)
