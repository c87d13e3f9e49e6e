"""Good orders: single items move to their best place, again and again, from several starts or after random moves."""

from __future__ import annotations

import numpy as np

from holdrank.arrays.insertions import descend, wander
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.parts import order_cost
from holdrank.status import Clock

_SHAKES = 30
_STEPS = 30_000_000  # largest number of comparisons spent on them
_STEPS_AT_ONCE = 20_000_000  # between two checks of the clock: some 15 ms
_LOOKS = 144_000  # of a long search at every margin, all starts together
_LONGEST = 3_000_000_000  # steps of all starts together: some 3 s


def good_order(cost: Floats, clock: Clock) -> Ints:
    """Return an order that no move of a single item improves: the best of several.

    The first descends from the Borda order, the others from random shakes of the best so far.
    """
    n = len(cost)
    rng = np.random.default_rng(0)
    margin = np.ascontiguousarray(cost - cost.T)
    best = np.argsort(cost.sum(axis=1) - cost.sum(axis=0), kind="stable")
    descend(margin, best)
    value = order_cost(cost, best)
    for shake in range(int(min(_SHAKES, _STEPS / (10 * n * n)))):
        if clock.over():
            break
        spread = n / (4 << shake % 4)  # from a few places to a quarter of them
        order = np.argsort(np.argsort(best) + rng.normal(0, spread, n))
        descend(margin, order)
        if (found := order_cost(cost, order)) < value:
            best, value = order, found
    return best


def better_order(cost: Floats, start: Ints, clock: Clock, *, steps: int, seed: int = 0) -> Ints:
    """Return an order at least as cheap as `start`, found by iterated insertion search over about `steps` margins.

    It finds the best known orders of the public record boards within a second for up to 100 items.
    """
    margin = np.ascontiguousarray(cost - cost.T)
    order = start.astype(np.int64)
    for number, done in enumerate(range(0, steps, _STEPS_AT_ONCE)):
        if clock.over():
            break
        wander(margin, order, steps=min(_STEPS_AT_ONCE, steps - done), seed=(seed << 32) + number)
    return order


def best_of_starts(cost: Floats, start: Ints, clock: Clock, starts: int = 24) -> Ints:
    """Return an order at least as cheap as `start`: the best of many searches, every other one from a random order.

    One long search stays in its valley. Where many orders cost the same, as with sparse battles, short searches from
    far apart find cheaper orders in the same time; how many of them is luck.
    """
    rng = np.random.default_rng(0)
    best, value = start, order_cost(cost, start)
    steps = int(min(_LOOKS * cost.size, _LONGEST) / starts)
    for number in range(starts):
        if clock.over():
            break
        first = rng.permutation(len(cost)) if number % 2 else start
        order = better_order(cost, first, clock, steps=steps, seed=1 + number)
        if (found := order_cost(cost, order)) < value:
            best, value = order, found
    return best


def improve(cost: Floats, order: Ints) -> Ints:
    """Return `order` after moving single items to their best places until none can be improved."""
    order = order.copy()
    descend(np.ascontiguousarray(cost - cost.T), order)
    return order
