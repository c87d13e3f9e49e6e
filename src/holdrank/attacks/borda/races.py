"""One item passes another where ballots give points: the exact number of whole votes.

Borda's points and mean scores are sums over the ballots. For item i to catch up with item j, only the lead that each
ballot gives j matters. Removing a ballot removes its lead; an added ballot gives i at most `gain`. So the cheapest
ballots to change are those with the largest leads. Adding these up in whole numbers gives the number of votes that
draws level and the number that gets ahead, without linear programs or rounding.

    lead[s] = points[s, j] - points[s, i],    gap = sum over s of weight[s] * lead[s]

    add      gain * k                          >= gap      (> gap to get ahead)
    drop     sum of the k largest leads        >= gap
    replace  sum of the k largest leads + k * gain >= gap
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from holdrank.arrays.knapsack import Knapsack, taken_in_order
from holdrank.attacks.goals import Aim
from holdrank.rankings import Floats, Ints
from holdrank.votes.changes import Change

_MOST = 2**61  # sums below this fit the machine's whole numbers
_MOST_LEADS = 100_000_000  # ballots times pairs examined for one aim; a second of work


class Race(NamedTuple):
    """The minimum change for one item to pass another.

    Attributes
    ----------
    share : float
        The minimum weight to change, in votes and parts of votes, to draw level; infinite when no change does.
    tie, decide : float
        The minimum number of whole votes to draw level, and to get ahead; infinite when no number does.
    """

    share: float
    tie: float
    decide: float


class Races:
    """All races on some votes.

    Parameters
    ----------
    points : (m, n) array of int
        What each ballot gives each item.
    weights : (m,) array of int
        How many votes each ballot stands for.
    change : {"replace", "drop", "add"}
    gain : int
        The largest lead that an added ballot can give one item over another.
    """

    def __init__(self, points: Ints, weights: Ints, change: Change, gain: int) -> None:
        self.points, self.weights, self.change, self.gain = points, weights, change, gain
        self.sums: Ints = weights @ points
        self.race = cache(self._race)

    @staticmethod
    def fit(points: Ints, total: float, gain: float) -> bool:
        """Whether the sums of such races fit the machine's whole numbers."""
        largest = int(np.abs(points).max(initial=0))
        return (2 * largest + gain + 1) * (total + 1) < _MOST

    def _race(self, i: int, j: int) -> Race:
        """Return the minimum change for item i to pass item j."""
        gap = int(self.sums[j]) - int(self.sums[i])
        if gap < 0:
            return Race(0.0, 0.0, 0.0)
        if not self.change.takes:
            if not self.gain:
                return Race(0.0, 0.0, math.inf) if gap == 0 else Race(math.inf, math.inf, math.inf)
            return Race(gap / self.gain, float(-(-gap // self.gain)), float(gap // self.gain + 1))
        leads, heaps = self._heaps(i, j)
        if self.change.keeps_total:
            leads = leads + self.gain
        helps = leads > 0
        leads, heaps = leads[helps], heaps[helps]
        votes = Knapsack(leads, heaps)
        tie, share = self._first(gap, votes)
        decide, _ = self._first(gap + 1, votes)
        if not self.change.puts and heaps.sum() == self.weights.sum():
            # Every ballot favours j: as long as one is left, j leads.
            return Race(math.inf, math.inf, math.inf)
        return Race(share, tie, decide)

    def _heaps(self, i: int, j: int) -> tuple[Ints, Ints]:
        """Return the leads of j over i, the largest first, and how many votes have each."""
        lead = self.points[:, j] - self.points[:, i]
        order = np.argsort(-lead, kind="stable")
        return lead[order], self.weights[order]

    @staticmethod
    def _first(gap: int, votes: Knapsack) -> tuple[float, float]:
        """Return the minimum whole number of votes that gains `gap`, and the minimum weight that does."""
        if gap <= 0:
            return 0.0, 0.0
        if votes.most < gap:
            return math.inf, math.inf
        full, missing = (int(number) for number in votes.fill(gap))
        before, lead = int(votes.weights[:full].sum()), int(votes.gains[full])
        return float(before - (-missing // lead)), before + missing / lead

    def removed(self, i: int, j: int, size: float) -> Floats:
        """Return which votes to remove for item i to pass item j, `size` of them."""
        order = np.argsort(self.points[:, i] - self.points[:, j], kind="stable")
        out = np.zeros(len(order))
        if self.change.takes:
            out[order] = taken_in_order(self.weights[order].astype(np.float64), size)
        return out

    def works_for(self, aim: Aim) -> bool:
        """Whether the races of an aim are few enough to be run."""
        pairs = self.points.shape[1] ** 2 if aim.flips or not self.pairs(aim) else len(self.pairs(aim))
        return pairs * len(self.weights) <= _MOST_LEADS

    def pairs(self, aim: Aim) -> list[tuple[int, int]]:
        """Return the races of which one is enough for an aim; none where several are needed."""
        if aim.above:
            return [(aim.above[0], aim.above[1])]
        inside = [j for j in range(self.points.shape[1]) if j not in aim.newcomers]
        if aim.newcomers and len(inside) == aim.top:
            return [(i, j) for i in aim.newcomers for j in inside]
        return []

    def needed(self, aim: Aim, cost: Callable[[Race], float]) -> float:
        """Return a lower bound on the cost of an aim, where a race costs ``cost(race)``.

        To be among the first k, an item must pass all but k - 1 others; to be out of them, k others must pass it; f
        flips take f races.
        """
        n = int(self.points.shape[1])
        if pairs := self.pairs(aim):
            return min(cost(self.race(i, j)) for i, j in pairs)
        if aim.newcomers:
            passing = [sorted(cost(self.race(i, j)) for j in range(n) if j != i) for i in aim.newcomers]
            return min(costs[n - aim.top - 1] for costs in passing)
        if aim.leaver:
            (x,) = aim.leaver
            return sorted(cost(self.race(i, x)) for i in range(n) if i != x)[aim.top - 1]
        ranks = aim.before.ranks
        ordered = np.argwhere(ranks[:, None] < ranks).tolist()
        flips = sorted(cost(self.race(low, high)) for high, low in ordered)
        return flips[aim.flips - 1] if 0 < aim.flips <= len(flips) else 0.0
