"""How much it takes before a merge, run on the same stretch of a ranking, makes other tiers.

A stretch is a run of places whose neighbours all deviate by at most theta, with ends across which nothing is joined.

Downward Merge ends with given tiers if and only if every interval J across them has a pair beyond theta, or sticks into
a tier, not inside J, that comes before J. While each J keeps one of its reasons, and no pair of a tier goes beyond
theta, the tiers are the same.

Naive Merge joins the closest two neighbouring unions. A join is safe where both unions are closer to each other than to
their other neighbours: joins elsewhere only push those farther away. So the order of joins that share no union does not
matter, and the tiers are the same while every join stays closer than those beside it, and within theta, and what is
apart in the end stays so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from holdrank.attacks.tiers.pair_prices import PairPrices
from holdrank.rankings import Floats


class Stretch:
    """Neighbouring places of a ranking with their tiers.

    Parameters
    ----------
    prices : PairPrices
    items : sequence of int
        In the order of the ranking.
    tier_of : sequence of int
        The tier of each of them.
    theta : float
    """

    def __init__(self, prices: PairPrices, items: Sequence[int], tier_of: Sequence[int], theta: float) -> None:
        self.prices, self.items, self.tier_of, self.theta = prices, np.array(items), list(tier_of), theta
        grid = np.ix_(self.items, self.items)
        self.deviation: Floats = prices.deviation[grid]
        self.tie: Floats = prices.fall(self.items[:, None], self.items, theta)
        self.part: Floats = prices.rise(self.items[:, None], self.items, theta)
        self.tiers = [
            (at, at + self.tier_of.count(tier) - 1)
            for at, tier in enumerate(self.tier_of)
            if at == 0 or tier != self.tier_of[at - 1]
        ]

    def stable(self, *, naive: bool) -> float:
        """Return a share of the votes below which the merge of this stretch makes the same tiers."""
        together = [self.part[pair] for tier in self.tiers for pair in _pairs(*tier)]
        return min([math.inf, *map(float, together), self._joins() if naive else self._intervals()])

    def _intervals(self) -> float:
        """Return the least share after which an interval across tiers has lost all that stops it."""
        k = len(self.items)
        beyond = self.tie.copy()  # for each interval, what ties all its pairs
        for width in range(2, k):
            for s in range(k - width):
                t = s + width
                beyond[s, t] = max(beyond[s, t], beyond[s, t - 1], beyond[s + 1, t])
        least = math.inf
        for s, t in combinations(range(k), 2):
            if self.tier_of[s] == self.tier_of[t]:
                continue
            stops = float(beyond[s, t])
            if stops < least:
                for tier in self.tiers:
                    if tier[0] < tier[1] and (tier[0] < s <= tier[1] or tier[0] <= t < tier[1]):
                        inside = set(_pairs(s, t))
                        own = [pair for pair in _pairs(*tier) if pair not in inside]
                        others = [pair for pair in inside if not tier[0] <= pair[0] <= pair[1] <= tier[1]]
                        stops = max(stops, self._stays_larger(own, others))
                least = min(least, stops)
        return least

    def _joins(self) -> float:
        """Return the least share after which some join of Naive Merge does not come before those beside it."""
        unions = [(at, at) for at in range(len(self.items))]
        least = math.inf
        while True:
            across = [_across(left, right) for left, right in pairwise(unions)]
            heights = [max(self.deviation[pair] for pair in pairs) for pairs in across]
            joins = [
                at for at, left in enumerate(unions[:-1]) if self.tier_of[left[0]] == self.tier_of[unions[at + 1][0]]
            ]
            if not joins:
                break
            chosen = min(joins, key=heights.__getitem__)
            for rival in (chosen - 1, chosen + 1):
                if 0 <= rival < len(across):
                    least = min(least, self._stays_larger(across[rival], across[chosen]))
            unions[chosen : chosen + 2] = [(unions[chosen][0], unions[chosen + 1][1])]
        apart = (max(float(self.tie[pair]) for pair in pairs) for pairs in across)
        return min([least, *apart])

    def _stays_larger(self, large: Sequence[tuple[int, int]], small: Sequence[tuple[int, int]]) -> float:
        """Return a share below which the largest deviation of some pairs stays above that of others."""
        high = max(large, key=lambda pair: float(self.deviation[pair]))
        above, below = float(self.deviation[high]), max(float(self.deviation[pair]) for pair in small)
        if above <= below:
            return 0.0
        level = (above + below) / 2
        first, second = (self.items[list(side)] for side in zip(*small, strict=True))
        falls = float(self.prices.fall(self.items[high[0]], self.items[high[1]], level))
        return min(falls, float(self.prices.rise(first, second, level).min()))


def _pairs(start: int, end: int) -> list[tuple[int, int]]:
    return list(combinations(range(start, end + 1), 2))


def _across(left: tuple[int, int], right: tuple[int, int]) -> list[tuple[int, int]]:
    return [(a, b) for a in range(left[0], left[1] + 1) for b in range(right[0], right[1] + 1)]
