"""Tiers of many items: lower bounds on changing them, from single pairs, in fractions.

One ballot gives one verdict on a pair. So arithmetic shows how many votes must change before a pair is within the
threshold, is beyond it, or reverses. Let S be the items of the first tiers. Two neighbours of a Kemeny ranking never
stand in the order that the majority rejects. So S stays first until an item from below is level with one of S. While S
is first, the border below it stands until the last item of S and the first one below are within the threshold; and to
be the last of S, an item must have all others of S above it. An item gets above another one only where a chain of
neighbours leads from one to the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations
from math import inf

import numpy as np

from holdrank.arrays.tolerances import DECIMALS, TIED
from holdrank.attacks.goals import Aim
from holdrank.proofs.bounds import Amount
from holdrank.proofs.exact import ExactVotes
from holdrank.proofs.programs import Outcome
from holdrank.votes.changes import Change

MOST_WORK = 5_000_000  # ballots times pairs

_ROUNDED = 2 * Fraction(1, 10**DECIMALS)  # merges round deviations


class Borders:
    """Prices of changes to tiers that are merged, downward or naively, from a Kemeny ranking.

    Parameters
    ----------
    votes : ExactVotes
    ranks : tuple of int
        The tiers.
    theta : float
        Below one half.
    change : Change
    """

    def __init__(self, votes: ExactVotes, ranks: Outcome, theta: float, change: Change) -> None:
        self.n, self.ranks, self.change = votes.n, ranks, change
        self.margins, self.compared = votes.margins, votes.compared
        self.theta = round(Fraction(theta), DECIMALS)
        self.rounding = 4 * votes.n * Fraction(TIED) * votes.total  # costs so close may pass for equal
        self.tiers = [frozenset(i for i in range(self.n) if ranks[i] == rank) for rank in sorted(set(ranks))]
        self.firsts = [frozenset[int]().union(*self.tiers[:k]) for k in range(1, len(self.tiers))]
        self.tie = self._all(self._tie)
        self.level = self._all(self._turn)
        self.passing = _by_chains(self.level)
        self.falls = cache(self._falls)

    def least(self, aim: Aim) -> Amount:
        """Return a weight of votes that must change before an aim is reached."""
        if aim.distance:
            return self._distance(aim)
        if aim.above:
            return self._above(*aim.above)
        if aim.leaver:
            return self._leaves(aim.leaver[0], aim.top)
        last = self._tier_of_place(aim.top)
        first = frozenset[int]().union(*self.tiers[: last + 1])
        if aim.other_set:
            fixed = self._ends(last)
            return fixed if len(first) == aim.top else min(fixed, self._split(last))
        return min((self._enters(x, aim.top, last, first) for x in aim.newcomers), default=inf)

    # Single pairs

    def _all(self, price: Callable[[int, int], Amount]) -> list[list[Amount]]:
        return [[price(i, j) if i != j else Fraction(0) for j in range(self.n)] for i in range(self.n)]

    def _tie(self, i: int, j: int) -> Amount:
        """Return the weight that brings a pair within the threshold."""
        twice = 2 * (self.theta + _ROUNDED)
        return self._paid(abs(self.margins[i][j]) - twice * self.compared[i][j], 1 - twice, 1 + twice)

    def _part(self, i: int, j: int) -> Amount:
        """Return the weight that brings a pair beyond the threshold."""
        twice = 2 * max(self.theta - _ROUNDED, Fraction(0))
        return self._paid(twice * self.compared[i][j] - abs(self.margins[i][j]), 1 + twice, 1 - twice)

    def _turn(self, b: int, a: int) -> Amount:
        """Return the weight that makes b level with a."""
        return self._paid(Fraction(-self.margins[b][a]), Fraction(1), Fraction(1))

    def _paid(self, missing: Fraction, dropped: Fraction, added: Fraction) -> Amount:
        """Return the weight that covers a missing amount, given the largest effect of a dropped or added vote."""
        missing -= self.rounding
        if missing <= 0:
            return Fraction(0)
        one = Fraction(2) if self.change.keeps_total else dropped if self.change.takes else added
        return missing / one if one > 0 else inf

    # Borders and tiers

    def _falls(self, first: frozenset[int]) -> tuple[Amount, Amount]:
        """Return lower bounds on other items coming first, and on the border falling while these are first."""
        below = [y for y in range(self.n) if y not in first]
        others = min(self.level[y][x] for x in first for y in below)
        last = {x: max((self.passing[o][x] for o in first), default=0) for x in first}
        next_ = {y: max((self.passing[y][o] for o in below), default=0) for y in below}
        tied = min(max(self.tie[x][y], last[x], next_[y]) for x in first for y in below)
        return others, tied

    def _ends(self, tier: int) -> Amount:
        """Return a lower bound on a tier and those above it no longer being first."""
        return inf if tier + 1 >= len(self.tiers) else min(self.falls(self.firsts[tier]))

    def _split(self, tier: int) -> Amount:
        """Return a lower bound on splitting the items of a tier."""
        apart = min((self._part(a, b) for a, b in combinations(sorted(self.tiers[tier]), 2)), default=inf)
        return min(apart, self._ends(tier), self._ends(tier - 1) if tier else inf)

    def _tier_of_place(self, place: int) -> int:
        """Return the number of the tier that holds a place."""
        return min(bisect_left(list(accumulate(map(len, self.tiers))), place), len(self.tiers) - 1)

    def _between(self, upper: int, lower: int) -> Sequence[frozenset[int]]:
        """Return the first items down to each border between the tiers of two items."""
        return [first for first in self.firsts if upper in first and lower not in first]

    # The goals

    def _above(self, b: int, a: int) -> Amount:
        if self.ranks[b] < self.ranks[a]:
            return Fraction(0)
        if self.ranks[b] == self.ranks[a]:
            tier = next(number for number, items in enumerate(self.tiers) if a in items)
            return max(self.passing[b][a], self._split(tier))
        return max(self.passing[b][a], *(self.falls(first)[0] for first in self._between(a, b)))

    def _leaves(self, x: int, top: int) -> Amount:
        missing = top - sum(rank < self.ranks[x] for rank in self.ranks)
        others = [y for y in range(self.n) if y != x and self.ranks[y] >= self.ranks[x]]
        return _dearest(missing, [self._above(y, x) for y in others])

    def _enters(self, x: int, top: int, last: int, first: Collection[int]) -> Amount:
        if x in first or last + 1 >= len(self.tiers):
            return Fraction(0)
        enough = len(first) - top + 1  # of those who are first do not stay above x
        others, falls = self.falls(self.firsts[last])
        tied = _dearest(enough, [self.tie[x][s] for s in first])
        either = _dearest(enough, [min(self.tie[x][s], self.passing[x][s]) for s in first])
        return max(either, min(others, max(tied, falls)))

    def _distance(self, aim: Aim) -> Amount:
        half = aim.distance == "hausdorff_half"
        if not half and aim.distance != "hausdorff_ns":
            return Fraction(0)
        steps: list[Amount] = []
        for a in range(self.n):
            for b in range(self.n):
                if self.ranks[a] < self.ranks[b]:
                    between = [self.falls(first) for first in self._between(a, b)]
                    falls = max(min(one) for one in between)
                    passing = max(self.passing[b][a], *(others for others, _ in between))
                    steps.append(max(falls, min(self.tie[a][b], passing)))
                    if half:  # a pair that is turned counts twice a tie
                        steps.append(max(falls, passing))
        if half:
            for number, tier in enumerate(self.tiers):
                steps += [self._split(number)] * (len(tier) * (len(tier) - 1) // 2)
        return _dearest(aim.step() if half else aim.flips, steps)


def _by_chains(level: list[list[Amount]]) -> list[list[Amount]]:
    """Return for each pair the least, over chains from one to the other, of the largest amount on the chain.

    Only the order of the amounts counts, so their numbers in that order do as well, and are compared at once.
    """
    values = sorted({amount for row in level for amount in row})
    number = {amount: k for k, amount in enumerate(values)}
    table = np.array([[number[amount] for amount in row] for row in level])
    for c in range(len(level)):
        np.minimum(table, np.maximum(table[:, c, None], table[c]), out=table)
    return [[values[k] for k in row] for row in table.tolist()]


def _dearest(number: int, prices: Sequence[Amount]) -> Amount:
    """Return the k-th cheapest price; infinite if there are fewer than k."""
    if number <= 0:
        return Fraction(0)
    return sorted(prices)[number - 1] if number <= len(prices) else inf
