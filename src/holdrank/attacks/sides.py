"""The two sides of a goal: the orders that reach it and the orders that miss it, and the cheapest order of each.

An attack on a median has succeeded when the cheapest order that reaches the goal is cheaper than the cheapest that
misses it. Both are medians with some pairs of items fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdrank.attacks.goals import Aim
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.kemeny import cheapest_order
from holdrank.rules.kemeny.parts import order_cost, tie_tolerance
from holdrank.status import Clock
from holdrank.votes.votes import Votes

_EXACT_SUMS = 2.0**51  # sums of whole numbers below this are exact


@dataclass(frozen=True, slots=True)
class Cheapest:
    """The cheapest order of a side, and a proven bound on the cost of all its orders."""

    order: Ints
    cost: float
    bound: float

    @property
    def proved(self) -> bool:
        """Whether no order of the side is cheaper."""
        return self.bound >= self.cost - 1e-9 * max(1.0, abs(self.cost))


@dataclass(frozen=True, slots=True)
class Side:
    """All orders that list one set of items before another: two single items, or two sets that hold all items.

    Attributes
    ----------
    first, then : (k,) arrays of int
        Every item of `first` comes before every item of `then`.
    """

    first: Ints
    then: Ints

    def cheapest(self, cost: Floats, whole: bool, clock: Clock) -> Cheapest:
        """Return the order of this side with the smallest sum of ``cost[i, j]`` over i before j."""
        n = len(cost)
        if len(self.first) + len(self.then) == n:
            return self._blocks(cost, whole, clock)
        if len(self.first) > 1 or len(self.then) > 1:
            raise ValueError("a side is a pair of items, or two sets that hold all of them")
        b, a = int(self.first[0]), int(self.then[0])
        # A fine on a before b, raised until b comes first. Small numbers: ties are measured relative to the largest;
        # moving b to just before a loses less than `enough`.
        fine = float(np.abs(cost).max()) or 1.0
        enough = float(np.abs(cost[b] - cost[:, b]).sum()) + 1.0
        while True:
            pushed = cost.copy()
            pushed[a, b] += math.ceil(fine) if whole else fine
            solved = cheapest_order(pushed, whole=whole, clock=clock)
            order = np.asarray(solved.order)
            if np.flatnonzero(order == b)[0] < np.flatnonzero(order == a)[0]:
                break
            if fine > enough:  # not solved before the deadline
                rest = order[order != b]
                order = np.insert(rest, int(np.flatnonzero(rest == a)[0]), b)
                break
            fine *= 4
        value = order_cost(cost, order)
        return Cheapest(order, value, min(solved.bound, value))

    def _blocks(self, cost: Floats, whole: bool, clock: Clock) -> Cheapest:
        orders, gap = [], 0.0
        for block in (self.first, self.then):
            solved = cheapest_order(cost[np.ix_(block, block)], whole=whole, clock=clock)
            orders.append(block[list(solved.order)])
            gap += solved.cost - solved.bound
        order = np.concatenate(orders)
        value = order_cost(cost, order)
        return Cheapest(order, value, value - gap)


def one_pair(i: int, j: int) -> Side:
    """Return the orders with i before j."""
    return Side(np.array([i]), np.array([j]))


def reaching(aim: Aim, place: Ints) -> tuple[list[tuple[int, int]], bool]:
    """Return the arcs (i before j) of which an order that reaches an aim other than a distance has one, or all.

    Items are renumbered by `place`, their places in the consensus. If one item must enter the first few, it passes one
    of those there; that alone may not be enough.
    """
    if aim.above:
        return [(int(place[aim.above[0]]), int(place[aim.above[1]]))], True
    new, old = _newcomers(aim, place)
    together = len(new) == 1 and aim.top == 1
    passed = old.tolist() if together else range(aim.top)
    return [(x, y) for x in new.tolist() for y in passed], together


def missing(aim: Aim, place: Ints) -> Side | None:
    """Return the strict orders that miss an aim other than a distance, where they are one side; None where not."""
    if aim.above:
        return one_pair(int(place[aim.above[1]]), int(place[aim.above[0]]))
    new, old = _newcomers(aim, place)
    return Side(old, new) if len(old) == aim.top else None


def every_optimum_reaches(votes: Votes, aim: Aim, median: npt.ArrayLike, clock: Clock) -> bool:
    """Whether every Kemeny median of the votes reaches an aim, given one of them as an order; False if not decided."""
    wins = votes.wins()
    ahead = wins - wins.T
    miss = None if aim.leaver or aim.flips else missing(aim, np.arange(votes.n))
    if miss is not None:
        cost = np.maximum(-ahead, 0.0)
        step = 1.0 if votes.is_counts else 1e-9 * votes.total
        best = miss.cheapest(cost, votes.is_counts, clock)
        return order_cost(cost, np.asarray(median)) < best.bound - step / 4
    if aim.flips:  # of all medians, the one that agrees most with the order before
        ranks = aim.before.ranks
        order = _median_for(np.sign(ranks - ranks[:, None]), ahead, votes.is_counts, clock)
        return order is not None and aim.reached(Ranking.from_order(order.tolist()))
    # The median that lists the item as low, or as high, as any.
    (item,) = aim.leaver or aim.newcomers
    wish = np.zeros((votes.n, votes.n))
    wish[item] = 1 if aim.leaver else -1
    order = _median_for(wish - wish.T, ahead, votes.is_counts, clock)
    return order is not None and (item in order[: aim.top]) != bool(aim.leaver)


def _median_for(wish: Floats, ahead: Floats, whole: bool, clock: Clock) -> Ints | None:
    """Return the median that lists most pairs as wished (1: i before j, -1: j before i), if it is proven to be one.

    Every pair gets a push towards the wish. All pushes together are smaller than any difference between two costs:
    counts are multiplied, so that a push is 1. Shares have no smallest difference; their push is beyond rounding, and
    then an order that costs little more than a median may be returned, which only makes "every median" harder to claim.
    """
    n = len(ahead)
    if whole:
        ahead = np.rint(ahead) * (n * n)
        if float(np.abs(ahead).sum()) >= _EXACT_SUMS:
            return None
        push = 1.0
    else:
        push = 2 * tie_tolerance(ahead)
    solved = cheapest_order(np.maximum(-ahead - push * wish, 0.0), whole=whole, clock=clock)
    return np.asarray(solved.order) if solved.proved else None


def _newcomers(aim: Aim, place: Ints) -> tuple[Ints, Ints]:
    new = np.sort(place[list(aim.newcomers)])
    return new, np.setdiff1d(np.arange(len(place)), new)
