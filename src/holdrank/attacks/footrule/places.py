"""The votes as the footrule sees them, and the price of one target: the smallest change that makes it a median.

The footrule is the sum of absolute differences of places, a metric on all vectors of places, those of ballots with
ties too. So the best ballot to add is the target itself: by the triangle inequality no other one helps it more against
any rival. The program has a column for each ballot to remove and a row for each rival that would still beat the target;
the cheapest rival is an assignment problem.

Items are numbered by the consensus, places from 0, and weights are counted in units of which the votes have ten
thousand: the tolerances of the solver are absolute, and this makes them small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from holdrank.arrays.knapsack import Knapsack
from holdrank.attacks.kemeny.integers import leaves_nothing
from holdrank.attacks.plans import Plan, replacing
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.solvers.assignment import assign
from holdrank.rules.solvers.highs import UNIT, LinearProgram
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

SAME_COST = 1e-10 * UNIT  # costs that differ by less are equal to the solver


class Places:
    """The votes as the footrule sees them: the place of each item on each ballot, items numbered by the consensus."""

    def __init__(self, votes: Votes, before: Ranking, change: Change) -> None:
        self.votes, self.order, self.change, self.n = votes, np.array(before.order), change, votes.n
        ranks = np.array(votes.ranks[:, self.order], dtype=np.int64)
        ranks[ranks == 0] = self.n + 1
        self.places: Floats = np.empty(ranks.shape)
        for i in range(self.n):
            mine = ranks[:, i, None]
            self.places[:, i] = (ranks < mine).sum(axis=1) + ((ranks == mine).sum(axis=1) - 1) / 2
        self.weights: Floats = votes.weights / votes.total * UNIT
        self.lightest = float(self.weights.min()) / UNIT
        grid = np.arange(self.n)
        # How far each place is from each other one; what each place costs each item.
        self.apart: Floats = np.abs(grid[:, None] - grid).astype(np.float64)
        # Less what the consensus costs: of counts, differences are exact before they are scaled.
        cost = votes.place_weights()[self.order] @ self.apart
        self.cost: Floats = (cost - cost.diagonal()[:, None]) / votes.total * UNIT
        # How many times the distance of target and rival one vote can move their difference of costs.
        self.pull = change.pull
        self.strict = max(1e-8, 1e-10 * self.n) * UNIT

    def distances(self, target: Ints) -> Floats:
        """Return the footrule between each ballot and a target, the vector of places."""
        far: Floats = np.abs(self.places - target).sum(axis=1)
        return far

    @cached_property
    def swaps(self) -> Floats:
        """Bounds [p, q, i, j] on the weight to change before a target with i at p and j at q is a median, p < q.

        The rival is the target with the two swapped: a fractional knapsack.
        """
        n = self.n
        bounds = np.zeros((n, n, n, n))
        for p, q in zip(*np.triu_indices(n, 1), strict=True):
            lead = np.rint(np.abs(self.places - p) - np.abs(self.places - q)).astype(np.int64)
            for i in range(n):
                for j in range(n):
                    if i != j:
                        gains = lead[:, i] - lead[:, j]
                        size = int(q - p)
                        heaps = np.bincount(gains + 2 * size, weights=self.weights, minlength=4 * size + 1).astype(
                            np.float64
                        )
                        bounds[p, q, i, j] = self._knapsack(heaps, np.arange(-2 * size, 2 * size + 1), 2 * size)
        return bounds

    def _knapsack(self, heaps: Floats, gains: Ints, apart: float) -> float:
        """Return the minimum weight to change before the target equals a rival, by weight and lead of the rival."""
        behind = float(heaps @ gains)
        if behind <= SAME_COST / 100:
            return 0.0
        if not self.change.takes:
            return behind / apart
        if self.change.keeps_total:
            gains = gains + apart  # type: ignore[assignment]
        elif not heaps[gains <= 0].any():
            return math.inf  # every ballot that could be left is for the rival
        knapsack = Knapsack(np.maximum(gains, 0)[::-1], heaps[::-1])
        return knapsack.least_weight(behind, min(behind, float(knapsack.most) * (1 - 1e-14)))

    def against_consensus(self, targets: Ints) -> Floats:
        """Return the bounds for targets (rows of places) whose rival is the consensus."""
        grid = np.arange(self.n)
        behind = self.cost[grid, targets].sum(axis=1)
        apart = self.apart[grid, targets].sum(axis=1)
        bounds: Floats = np.divide(
            np.maximum(behind, 0.0), self.pull * apart, out=np.zeros(len(targets)), where=apart > 0
        )
        return bounds

    def plan(self, removed: Floats, target: Ints, added: float) -> Plan:
        """Return the plan in the numbers and weights of the votes."""
        scale = self.votes.total / UNIT
        ranks = np.zeros((1, self.n), dtype=np.int64)
        ranks[0, self.order] = target + 1
        if not self.change.puts:
            return replacing(self.votes, removed * scale, ranks[:0], np.empty(0))
        return replacing(self.votes, removed * scale, ranks, np.array([added * scale]))


@dataclass(frozen=True, slots=True)
class TargetPrice:
    """The price of a target: a certified bound, the value (infinite if unknown), and the attack."""

    bound: float
    value: float
    removed: Floats
    added: float


def target_price(
    places: Places, target: Ints, clock: Clock, limit: float = math.inf, slack: float = 0.0
) -> TargetPrice:
    """Return the minimum weight to change before the target is a median, by `slack` for each item that a rival moves.

    Returns only the bound once it reaches `limit`, or when the clock stops.
    """
    n, m = places.n, len(places.weights)
    grid = np.arange(n)
    mine = places.distances(target)
    moved = np.ones((n, n))
    moved[grid, target] = 0.0
    pulls = places.apart[target]  # what a unit of the target, added, costs each item at each place
    removed, added, bound = np.zeros(m), 0.0, 0.0
    model = LinearProgram(np.ones(m), places.weights, presolve=False) if places.change.takes else None
    rival: Ints = grid
    leads: list[Ints] = []  # of the target over each rival, in whole numbers
    while True:
        apart = float(pulls[grid, rival].sum())
        asked = slack * float(moved[grid, rival].sum())
        if model is None:
            behind = float(places.cost[grid, target].sum() - places.cost[grid, rival].sum()) + asked
            added = bound = max(bound, behind / apart) if apart else bound
        elif apart:
            lead = mine - places.distances(rival)
            gains = lead + apart if places.change.keeps_total else lead
            most = float(np.maximum(gains, 0.0) @ places.weights) + 1.0
            model.add_rows(np.arange(m)[None], gains[None], float(lead @ places.weights) + asked, most)
            solved = model.solve(clock)
            if not solved.finished:
                return TargetPrice(bound, math.inf, removed, 0.0)
            if not len(solved.x):
                return TargetPrice(math.inf, math.inf, removed, 0.0)
            bound = max(bound, solved.bound)
            removed = np.clip(solved.x, 0.0, places.weights)
            added = float(removed.sum())
            leads.append(np.rint(-2 * lead).astype(np.int64))
            if not places.change.puts and leaves_nothing(added / UNIT, places.lightest, partial(np.array, leads)):
                return TargetPrice(math.inf, math.inf, removed, 0.0)
        if bound >= limit:
            return TargetPrice(bound, math.inf, removed, added)
        cost = places.cost.copy()
        if model is not None:
            touched = np.flatnonzero(removed)
            for i in range(n):
                cost[i] -= removed[touched] @ np.abs(places.places[touched, i, None] - grid)
        if places.change.puts:
            cost += added * pulls
        cost -= slack * moved
        again = assign(cost, 0.0).place
        if cost[grid, again].sum() >= cost[grid, target].sum() - SAME_COST / 4 or np.array_equal(again, rival):
            return TargetPrice(min(bound, added), added, removed, added)
        rival = again
