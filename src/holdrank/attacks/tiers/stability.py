"""Lower bounds on the change after which a merge, run on the same stretch of a ranking, joins items of two tiers.

Take the first union that a merge of the changed votes makes across a border of the old tiers. All that was merged
before it lies inside old tiers. Say it is K, and F is an old tier that K cuts in two.

Downward Merge takes the allowed intervals from the largest list of deviations down. F was not taken before K, nor was
anything that meets F but a part of it. A part has a smaller list than F. So K deviates, outside F, by at least as much
as F does outside K; or F is not allowed any more, because of a pair that K does not hold.

Naive Merge takes the closest two neighbouring unions. K joins a union U inside F to a union V beyond its end, and next
to U is another one inside F. So U and V deviate by no more than U and the rest of F; likewise for V and its tier.

All pairs of K deviate by at most theta in any case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from holdrank.attacks.tiers.pair_prices import PairPrices
from holdrank.rankings import Floats

_Pairs = Sequence[tuple[int, int]]


class Stretch:
    """Neighbouring tiers of a ranking, by places.

    Parameters
    ----------
    prices : PairPrices
    items : sequence of int
        In the order of the ranking.
    sizes : sequence of int
        The number of items in each tier.
    theta : float
    naive : bool
        Whether by Naive Merge; by Downward Merge otherwise.
    """

    def __init__(
        self, prices: PairPrices, items: Sequence[int], sizes: Sequence[int], theta: float, *, naive: bool
    ) -> None:
        self.prices, self.items, self.naive = prices, np.array(items), naive
        self.deviation: Floats = prices.deviation[np.ix_(self.items, self.items)]
        self.part: Floats = prices.rise(self.items[:, None], self.items, theta)
        ends = np.cumsum(sizes).tolist()
        self.tiers = [(end - size, end - 1) for size, end in zip(sizes, ends, strict=True)]
        self.pair: Floats = prices.fall(self.items[:, None], self.items, theta)
        self.tie = self.pair.copy()  # for each interval of places, what ties all its pairs
        for width in range(2, len(self.items)):
            for s in range(len(self.items) - width):
                t = s + width
                self.tie[s, t] = max(self.tie[s, t], self.tie[s, t - 1], self.tie[s + 1, t])

    def crossing(self) -> float:
        """Return a share of the votes below which nothing is joined across the borders between these tiers."""
        least = math.inf
        of = [t for t, (start, end) in enumerate(self.tiers) for _ in range(start, end + 1)]
        for s, t in sorted(combinations(range(len(self.items)), 2), key=lambda pair: float(self.tie[pair])):
            apart = of[t] - of[s]
            if self.tie[s, t] >= least:
                break
            if apart == 1 or (apart and not self.naive):
                cut = [self.tiers[k] for k in (of[s], of[t]) if not s <= self.tiers[k][0] <= self.tiers[k][1] <= t]
                reasons = [self._joined(s, t, *tier) if self.naive else self._preferred(s, t, *tier) for tier in cut]
                least = min(least, max([float(self.tie[s, t]), *reasons]))
        return least

    def crossing_in_any_order(self) -> float:
        """Return the same where the ranking keeps these tiers apart but may list each of them in another order.

        For Naive Merge: U and V hold a pair across the border. It deviates by no more than some pair of the tier of U,
        or U is all of that tier and is tied with the item of V; and the other way round.
        """
        least = math.inf
        for above, below in pairwise(self.tiers):
            one, two = (list(range(start, end + 1)) for start, end in (above, below))
            for x, y in _across(one, two) if self.naive else ():
                reasons = [float(self.pair[x, y])]
                for tier, pairs in ((above, _across(one, [y])), (below, _across([x], two))):
                    if reasons[0] < least and tier[0] < tier[1]:
                        whole = max(float(self.pair[pair]) for pair in pairs)
                        reasons.append(min(whole, self._stays_larger([(x, y)], _pairs(*tier))))
                least = min(least, max(reasons))
        return least if self.naive else 0.0

    def _preferred(self, s: int, t: int, start: int, end: int) -> float:
        """Return the minimum share for Downward Merge to take an interval before a tier that it cuts."""
        own = [(a, b) for a, b in _pairs(start, end) if not s <= a <= b <= t]
        others = [(a, b) for a, b in _pairs(s, t) if not start <= a <= b <= end]
        return min(self._stays_larger(own, others), *(float(self.part[pair]) for pair in own))

    def _joined(self, s: int, t: int, start: int, end: int) -> float:
        """Return the minimum share for Naive Merge to join a part of a tier to items beyond its end."""
        inside, beyond = (
            (range(s, end + 1), range(end + 1, t + 1)) if s > start else (range(start, t + 1), range(s, start))
        )
        rest = [place for place in range(start, end + 1) if place not in inside]
        return self._stays_larger(_across(inside, beyond), _across(inside, rest))

    def _stays_larger(self, large: _Pairs, small: _Pairs) -> float:
        """Return a share below which the largest deviation of some pairs stays above that of others.

        One of the two crosses any level between them otherwise.
        """
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


def _across(one: Sequence[int], other: Sequence[int]) -> list[tuple[int, int]]:
    return [(a, b) for a in one for b in other]
