"""The votes as Borda sees them, and attacks as ballots.

Items are numbered by the consensus, so that a flipped pair is an item above one of a smaller number, and weights are
counted in units of which the votes have ten thousand: the tolerances of the solver are absolute, and this makes them
small.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.arrays.knapsack import Knapsack
from holdrank.arrays.tolerances import TIED
from holdrank.attacks.borda.races import Races
from holdrank.attacks.kemeny.integers import leaves_nothing
from holdrank.attacks.plans import Found, Plan, adds_battles, replacing
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.solvers.highs import UNIT
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

EQUAL_POINTS = 1e-10 * UNIT  # points that differ by less are equal to the solver
MANY_ITEMS = 14  # for more, distances are not searched
_ROUNDING = 1e-10  # of sums of points in this unit


class Points:
    """The votes as Borda sees them: the points that each ballot gives to each item, items numbered by the consensus."""

    def __init__(self, votes: Votes, before: Ranking, change: Change) -> None:
        self.votes, self.order, self.change = votes, np.array(before.order), change
        n = self.n = votes.n
        # An item gets a point for each item below it and half a point for each that is tied with it.
        self.doubled: Ints = np.empty((len(votes.weights), n), dtype=np.int64)
        listed = votes.ballots.listed
        for part, places in votes.ballots.places():
            last = listed[part, None] if votes.observed else n
            self.doubled[part] = np.maximum(2 * (last - places), 0)[:, self.order]
        self.weights: Floats = votes.weights / votes.total * UNIT
        self.base: Floats = self.weights @ self.doubled / 2
        self.battles = adds_battles(votes)
        # The most points that one added ballot gives to k items together, k = 0 .. n.
        self.most: Floats = np.concatenate(([0.0], np.cumsum(np.arange(n - 1, -1, -1, dtype=np.float64))))
        if self.battles:
            self.most = np.minimum(np.arange(n + 1.0), 1.0)
        # Room between neighbours that no rounding of the statistic can close.
        self.strict = max(1e-8, 2e-10 * n) * UNIT

    @property
    def most_added(self) -> float:
        """Weight with which an attacker who adds ballots reaches any order: each pair costs at most its gap."""
        if self.change.keeps_total:
            return UNIT
        return (self.n**2 if self.battles else 1) * (float(np.ptp(self.base)) + self.n * self.strict) + 1.0

    @cached_property
    def races(self) -> Races | None:
        """The same points in whole numbers, where votes are counts; items are numbered as here."""
        gain = 2 * int(self.most[1])
        if not self.votes.is_counts or not Races.fit(self.doubled, self.votes.total, gain):
            return None
        return Races(self.doubled, np.rint(self.votes.weights).astype(np.int64), self.change, gain)

    def to_pass(self, i: int, j: int) -> float:
        """Return the minimum weight to change for item i to catch up with item j: exact for counts, else a bound."""
        if self.races is not None:
            return self.races.race(i, j).share / self.votes.total * UNIT
        # Points within rounding are equal to the rule: the gap to close is smaller by as much.
        rounding = 2 * TIED * self.n * UNIT
        return self.lift(i, j, -rounding)[0]

    @cached_property
    def above(self) -> Floats:
        """`to_pass` of all pairs."""
        cost = np.zeros((self.n, self.n))
        behind = self.base if self.races is None else self.races.sums
        for i, j in np.argwhere(behind[:, None] < behind).tolist():
            cost[i, j] = self.to_pass(i, j)
        return cost

    def lift(self, i: int, j: int, slack: float) -> tuple[float, Floats]:
        """Return the minimum weight to change for item i to pass item j by `slack`, and the weights removed."""
        gap = float(self.base[j] - self.base[i]) + slack
        lead = self.doubled[:, j] - self.doubled[:, i] + 2 * self.n
        none = np.zeros(4 * self.n + 1)
        if gap <= 0:
            return 0.0, none
        if not self.change.takes:
            return gap / float(self.most[1]), none
        heaps = np.bincount(lead, weights=self.weights, minlength=len(none))
        gains = np.arange(len(none)) / 2 - self.n
        if self.change.keeps_total:
            gains += self.most[1]
        elif not heaps[gains <= 0].any():
            return math.inf, none  # every ballot that could be left is for j
        heaps[gains <= 0] = 0.0
        knapsack = Knapsack(gains[::-1], heaps[::-1])
        if knapsack.most < gap and (slack > 0 or self.change.keeps_total):
            return math.inf, none
        gap = min(gap, float(knapsack.most))  # without the ballots for j, none of those left is
        full, missing = knapsack.fill(gap)
        taken = none
        taken[len(none) - full :] = heaps[len(none) - full :]
        at = len(none) - 1 - full
        taken[at] = missing / gains[at]
        return float(taken.sum()), taken

    def lifted(self, i: int, j: int) -> Found | None:
        """Return the cheapest way for item i to pass item j strictly, if there is one."""
        cost = self.to_pass(i, j)
        strict, taken = self.lift(i, j, self.strict)
        if not math.isfinite(strict):
            return None
        removed = np.zeros(len(self.weights))
        if self.change.takes:
            lead = self.doubled[:, j] - self.doubled[:, i] + 2 * self.n
            full = np.bincount(lead, weights=self.weights, minlength=len(taken))
            share = np.divide(taken, full, out=np.zeros_like(taken), where=full > 0)
            removed = share[lead] * self.weights
        middle = [k for k in range(self.n) if k not in (i, j)]
        order = np.array([[i, *middle, j]])
        added = np.array([0.0 if not self.change.puts else strict])
        plan = self.plan(removed, order, added, (i, j))
        return Found(cost / UNIT, priced(cost / UNIT, plan.budget(self.votes)), plan)

    def knapsack(self, worth: Floats, slack: float) -> float:
        """Return the minimum weight to change before the points, weighted by each item's `worth`, reach `slack`."""
        gap = slack - float(worth @ self.base)
        if gap <= 0:
            return 0.0
        best = float(worth.max() if self.battles else np.sort(worth)[::-1] @ np.diff(self.most))
        if not self.change.takes:
            return gap / best if best > 0 else math.inf
        gains = -(self.doubled @ worth) / 2 + (best if self.change.keeps_total else 0.0)
        first = np.argsort(-gains, kind="stable")
        ballots = Knapsack(np.maximum(gains[first], 0.0), self.weights[first])
        enough = gap - _ROUNDING
        return UNIT if ballots.most < enough else ballots.least_weight(gap, enough)

    def leaves_nothing(self, value: float, pairs: Ints, asked: npt.NDArray[Any]) -> bool:
        """Whether only no votes at all put the pairs (upper, lower) in order, or reverse those where `asked` is -1.

        `value` is the minimum weight that must be dropped.
        """
        lightest = float(self.votes.weights.min()) / self.votes.total

        def rows() -> Ints:
            leads = (self.doubled[:, pairs[:, 0]] - self.doubled[:, pairs[:, 1]]).T
            way = np.asarray(asked).astype(np.int64)
            return np.asarray(leads[way != 0] * way[way != 0, None])

        return leaves_nothing(value / UNIT, lightest, rows)

    def flipped(self, after: Floats) -> int:
        """Return how many pairs are certainly flipped when the items have these points."""
        return int(np.triu(after > after[:, None] + self.strict, 1).sum())

    def battles_won(self, winners: Ints, last: int) -> Ints:
        """Return a battle for each winner: against `last`, or against another item where the winner is `last`."""
        return np.column_stack((winners, np.where(winners == last, (last + 1) % self.n, last)))

    def plan(self, removed: Floats, orders: Ints, added: Floats, battle: tuple[int, int] | None = None) -> Plan:
        """Return the plan in the numbers and weights of the votes; `orders` are best first."""
        scale = self.votes.total / UNIT
        ranks = np.zeros((len(orders), self.n), dtype=np.int64)
        if battle:
            orders = np.array([battle]) if self.battles else orders
        for row, order in zip(ranks, orders, strict=True):
            row[self.order[order]] = np.arange(1, len(order) + 1)
        if not self.change.puts:
            ranks, added = ranks[:0], added[:0]
        return replacing(self.votes, removed * scale, ranks.reshape(-1, self.n), added * scale)


def priced(value: float, strict: float) -> float:
    """Return the upper bound: the infimum, or the cost of the strict attack where that is noticeably more."""
    return value if strict <= value + 5e-7 else strict


def mixture(points: Floats) -> tuple[Ints, Floats]:
    """Return at most n orders and their shares, whose mean points are the given point of the permutahedron.

    From the order of the points themselves, the line through the point leaves the permutahedron in a face of a
    smaller dimension; there it starts again.

    Examples
    --------
    >>> orders, shares = mixture(np.array([1.5, 1.5, 0.0]))
    >>> orders.tolist(), shares.tolist()
    ([[0, 1, 2], [1, 0, 2]], [0.5, 0.5])
    """
    n = len(points)
    most = np.cumsum(np.arange(n - 1, -1, -1, dtype=np.float64))
    # What the tolerance of a solver leaves outside is drawn towards the centre.
    centre = (n - 1) / 2
    points = points - points.mean()
    outside = np.cumsum(np.sort(points)[::-1])[:-1] / (most - centre * np.arange(1, n + 1))[:-1]
    points = centre + points / max(float(outside.max(initial=0.0)), 1.0)
    orders: list[Ints] = []
    shares: list[float] = []
    left = 1.0
    for _ in range(2 * n):
        order = np.argsort(-points, kind="stable")
        corner = np.empty(n)
        corner[order] = np.arange(n - 1, -1, -1)
        away = points - corner
        orders.append(order)
        small = 1e-13 * n / left  # each step away also stretches the rounding
        if np.abs(away).max() < 2 * n * small:
            break
        rising = away > small
        step = float(((n - 1 - points[rising]) / away[rising]).min())
        for _ in range(4 * n):  # Newton's method for the largest step that breaks no facet
            there = np.argsort(-(points + step * away), kind="stable")
            slope = np.cumsum(away[there])
            excess = np.where(slope > small, np.cumsum((points + step * away)[there]) - most, -math.inf)
            worst = int(excess.argmax())
            if excess[worst] <= small:
                break
            step = max(step - float(excess[worst] / slope[worst]), 0.0)
        shares.append(left * step / (1 + step))
        left /= 1 + step
        points = points + step * away
    shares += [left] * (len(orders) - len(shares))
    return np.array(orders), np.array(shares) / sum(shares)
