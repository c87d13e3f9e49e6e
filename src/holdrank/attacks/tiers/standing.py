"""Lower bounds on changing tiers, from pairs alone, without a program or a search.

The tiers F1, F2, … are stretches of the ranking that is merged. Number the places of that ranking; E(m) is a share of
votes below which its first m items stay the same set. The bounds rest on these facts, proved on the page "How attacks
are found and proved":

1. Where every E(m) is larger than what is changed, the ranking is the same.
2. Suppose the first m items of the ranking, m at the end of a tier, stay the same set. If the border below them falls,
   the two items on both sides of it are tied, so they deviate by at most theta.
3. If a tier's items stay together, all its pairs still deviate by at most theta, and the borders above and below it
   stand, then it is one tier.
4. Where the ranking is the same, a merge joins nothing across a border before some deviation exceeds another one that
   it does not exceed now (`stability`).
"""

from __future__ import annotations

import math
from collections.abc import Set
from itertools import combinations

import numpy as np

from holdrank.attacks.goals import Aim, top_items
from holdrank.attacks.tiers.pair_prices import PairPrices
from holdrank.attacks.tiers.stability import Stretch
from holdrank.rankings import Floats, Ranking
from holdrank.rules.merges import Robust
from holdrank.rules.registry import rule_of
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_WEIGHED = 12  # numbers of first items that are compared before one is asked about


class StandingTiers:
    """Lower bounds on what changes tiers by Downward or Naive Merge.

    Parameters
    ----------
    votes : Votes
    T : Robust
    before : Ranking
        The tiers.
    strict : Ranking
        The ranking that they are merged from.
    change : Change

    Examples
    --------
    >>> from holdrank import NewWinner, kemeny
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[70, 30])
    >>> T = Robust(kemeny, 0.05)
    >>> standing = StandingTiers(votes, T, T(votes).ranking, kemeny(votes).ranking, Change.REPLACE)
    >>> round(standing.least(NewWinner().aim(T(votes).ranking, votes.items)), 9)
    0.15
    """

    def __init__(self, votes: Votes, T: Robust, before: Ranking, strict: Ranking, change: Change) -> None:
        self.n, self.theta, self.naive = votes.n, round(float(T.theta), 12), T.merge == "naive"
        self.before, self.order = before, list(strict.order)
        self.place = {item: at for at, item in enumerate(self.order)}
        self.prices = PairPrices(votes, change)
        i, j = np.indices((self.n, self.n))
        self.tie: Floats = self.prices.fall(i, j, self.theta)
        self.part: Floats = self.prices.rise(i, j, self.theta)
        kendall = rule_of(T.base).median_of == "kendall"
        self.passing = self._chains() if kendall else np.zeros((self.n, self.n))
        self.ends = np.cumsum([len(bucket) for bucket in before.buckets]).tolist()  # places where tiers end
        # For each number m, a share below which the first m items stay the same; nothing else is possible at the ends.
        self.kept = [math.inf, *(self._passed(m) for m in range(1, self.n)), math.inf]
        self._borders: dict[int, float] = {}
        self._sorted: dict[bool, Floats] = {}
        self._beginnings: dict[int, float] = {}
        self._entering: list[tuple[int, int, float]] = []  # who may not come among how many, below a share

    def learn_goal(self, aim: Aim, share: float) -> None:
        """Record that below a share of the votes no newcomer of an aim is among its first items in the ranking."""
        if aim.newcomers:
            self._entering.append((sum(1 << i for i in aim.newcomers), aim.top, share))
            self._beginnings.clear()

    def learn(self, share: float, first: int | None = None) -> None:
        """Record that the first m items of the ranking stay the same set below a share of the votes, or all m."""
        for m in range(1, self.n) if first is None else (first,):
            self.kept[m] = max(self.kept[m], share)
        self._forget()

    def to_ask(self, aim: Aim, asked: Set[object]) -> int | None:
        """Return a number of first items, not asked about yet, for which a better bound may raise that on an aim."""
        kept, bound = self.kept, self.least(aim)
        low = sorted((m for m in range(1, self.n) if m not in asked and kept[m] <= bound), key=kept.__getitem__)

        def without(better: Set[int]) -> float:
            self.kept = [math.inf if m in better else share for m, share in enumerate(kept)]
            self._forget()
            return self.least(aim)

        helps = bool(low) and without(set(low)) > bound
        # Best are those without which nothing else helps.
        needed = (m for m in low[:_WEIGHED] if without(set(low) - {m}) <= bound)
        first = next(needed, low[0]) if helps else None
        self.kept = kept
        self._forget()
        return first

    def _forget(self) -> None:
        """Forget what was computed from `kept`."""
        self._borders.clear()
        self._sorted.clear()
        self._beginnings.clear()

    def beginning(self, items: int) -> float:
        """Return the minimum share after which a set of items, one bit each, may be the first of the ranking.

        From the first item missing from this set to its last item, the sets of first items differ from the current
        ones.
        """
        if items not in self._beginnings:
            self._beginnings[items] = self._beginning(items)
        return self._beginnings[items]

    def _beginning(self, items: int) -> float:
        places = [self.place[item] for item in range(self.n) if items >> item & 1]
        missing = next((at for at, item in enumerate(self.order) if not items >> item & 1), self.n)
        kept = max(self.kept[missing + 1 : max(places, default=0) + 1], default=0.0)
        entered = (share for new, top, share in self._entering if items & new and items.bit_count() <= top)
        return max(kept, *entered, 0.0)

    def least(self, aim: Aim) -> float:
        """Return a share of the votes below which an aim is not reached."""
        if aim.distance:
            return self._distance(aim)
        if aim.above:
            return self._above(*aim.above)
        end = len(top_items(self.before, aim.top))
        if aim.leaver:
            return self._leaves(aim.leaver[0], aim.top)
        if aim.other_set:
            fixed = min(self.kept[end], self._border(end))
            return fixed if end == aim.top else min(fixed, self._split(self.ends.index(end)))
        return min((self._enters(x, aim.top, end) for x in aim.newcomers), default=math.inf)

    # The goals

    def _enters(self, x: int, top: int, end: int) -> float:
        """Return the minimum share for x to come among the first: past or tied with all but top - 1 items there."""
        inside = self.order[:end]
        if x in inside:
            return 0.0
        must = end - top  # the cheapest of this many others do not suffice
        tied = float(np.sort(self.tie[x, inside])[must])
        either = float(np.sort(np.minimum(self.tie[x, inside], self.passing[x, inside]))[must])
        return max(either, min(self.kept[end], max(tied, self._border(end))))

    def _leaves(self, x: int, top: int) -> float:
        """Return the minimum share for `top` items to stand above x: of those that do not yet, the cheapest."""
        ranks = self.before.ranks
        missing = top - int((ranks < ranks[x]).sum())
        prices = sorted(self._above(y, x) for y in range(self.n) if y != x and ranks[y] >= ranks[x])
        return prices[missing - 1] if 0 < missing <= len(prices) else 0.0

    def _above(self, b: int, a: int) -> float:
        """Return the minimum share for b to stand above a: it passes a, and no tie holds both."""
        ranks = self.before.ranks
        if ranks[b] < ranks[a]:
            return 0.0
        passing = max(float(self.passing[b, a]), self._kept_between(a, b))
        return passing if ranks[b] > ranks[a] else max(passing, self._split(self._tier(a)))

    def _distance(self, aim: Aim) -> float:
        """Return the minimum share that breaks this many pairs: each has its own price."""
        half = aim.distance == "hausdorff_half"
        need = aim.step() if half else aim.flips
        steps = self._steps(half=half)
        return float(steps[need - 1]) if 0 < need <= len(steps) else 0.0 if need <= 0 else math.inf

    def _steps(self, *, half: bool) -> Floats:
        """Return the prices of all pairs, the smallest first; by halves, a pair that is turned counts twice a tie."""
        if half not in self._sorted:
            starts = np.array([0.0, *(self._border(m) if m in self.ends else math.inf for m in range(1, self.n))])
            kept = np.array([0.0, *self.kept[1 : self.n]])
            least = _largest_between(np.where(np.isin(np.arange(self.n), self.ends), np.minimum(kept, starts), 0.0))
            by_place = np.ix_(self.order, self.order)
            passing = np.maximum(self.passing.T[by_place], _largest_between(kept))
            either = np.maximum(least, np.minimum(self.tie[by_place], passing))
            tier = np.searchsorted(self.ends, np.arange(self.n), side="right")
            apart = tier[:, None] < tier
            steps = [either[apart]]
            if half:
                steps.append(np.maximum(least, passing)[apart])
                for r, size in enumerate(map(len, self.before.buckets)):
                    steps.append(np.full(size * (size - 1) // 2, self._split(r)))
            self._sorted[half] = np.sort(np.concatenate(steps))
        return self._sorted[half]

    # Borders and tiers

    def _border(self, end: int) -> float:
        """Return the minimum share for a border to fall while the first `end` items stay the same set.

        The two items on its sides are then tied. They are the current neighbours unless the ranking puts others there.
        """
        if end == self.n:
            return math.inf
        if end not in self._borders:
            prices = self._neighbours(end)
            prices[-1, 0] = max(prices[-1, 0], self._crossed(end, any_order=False))
            in_any_order = self._crossed(end, any_order=True) if self.naive else 0.0
            self._borders[end] = max(float(prices.min()), in_any_order)
        return self._borders[end]

    def _neighbours(self, end: int) -> Floats:
        """Return for each of the first items and each one below the share for them to be neighbours and tied."""
        inside, outside = self.order[:end], self.order[end:]
        last, first = self._last(end), self._first(end)
        return np.asarray(np.maximum(self.tie[np.ix_(inside, outside)], np.maximum(last[:, None], first)))

    def _crossed(self, end: int, *, any_order: bool) -> float:
        """Return the share to join across a border while the ranking is the same there, except for orders in tiers.

        The tiers on both sides are examined, and farther ones as long as it is cheaper to come from beyond them.
        """
        high = self.ends.index(end) + 1
        low = high - 1
        ends: list[int] = [0, *self.ends]
        best = 0.0
        while True:
            start, stop = ends[low], ends[high + 1]
            edges = {at: float(self._neighbours(at).min()) for at in (start, stop) if 0 < at < self.n}
            sizes = [ends[t + 1] - ends[t] for t in range(low, high + 1)]
            stretch = Stretch(self.prices, self.order[start:stop], sizes, self.theta, naive=self.naive)
            if any_order:
                inside = min(*(self.kept[ends[t]] for t in range(low, high + 2)), stretch.crossing_in_any_order())
            else:
                inside = min(*self.kept[start : stop + 1], stretch.crossing())
            best = max(best, min([float(inside), *edges.values()]))
            if not edges or inside <= best:
                return best
            if min(edges, key=edges.__getitem__) == start:
                low -= 1
            else:
                high += 1

    def _last(self, end: int) -> Floats:
        """Return for each of the first items the minimum share for it to be the last of them."""
        inside = self.order[:end]
        passed = self.passing[np.ix_(inside, inside)].max(axis=0)
        # At the last place, it is not among fewer items, as it was.
        fewer = np.maximum.accumulate([0.0, *self.kept[1:end][::-1]])[::-1]
        return np.asarray(np.maximum(passed, fewer))

    def _first(self, end: int) -> Floats:
        """Return for each of the items below the minimum share for it to be the first of them."""
        outside = self.order[end:]
        passing = self.passing[np.ix_(outside, outside)].max(axis=1)
        return np.asarray(np.maximum(passing, np.maximum.accumulate([0.0, *self.kept[end + 1 : -1]])))

    def _split(self, tier: int) -> float:
        """Return the minimum share after which the items of a tier need no longer share one."""
        start, end = (0, *self.ends)[tier], self.ends[tier]
        items = self.order[start:end]
        if len(items) < 2:
            return math.inf
        parts = min(float(self.part[a, b]) for a, b in combinations(items, 2))
        around = [min(self.kept[at], self._border(at)) for at in (start, end) if 0 < at < self.n]
        return float(min([parts, *around]))

    def _tier(self, item: int) -> int:
        return next(t for t, end in enumerate(self.ends) if self.place[item] < end)

    def _kept_between(self, a: int, b: int) -> float:
        """Return the minimum share for b to pass a in the ranking: as all first items between the two change."""
        return max(self.kept[self.place[a] + 1 : self.place[b] + 1], default=0.0)

    # Kemeny's median wins or ties all pairs of neighbours

    def _chains(self) -> Floats:
        """Return for b, a a lower bound on listing b above a: the cheapest chain of neighbours between them."""
        prices = self.prices.reversals.copy()
        for c in range(self.n):
            prices = np.minimum(prices, np.maximum(prices[:, c : c + 1], prices[c]))
        return prices

    def _passed(self, m: int) -> float:
        """Return the minimum share for an item to pass one of the first m: some two of these must become neighbours."""
        return float(self.passing[np.ix_(self.order[m:], self.order[:m])].min())


def _largest_between(values: Floats) -> Floats:
    """Return at [p, q], p < q, the largest of the values from p + 1 to q; 0 elsewhere."""
    out = np.zeros((len(values), len(values)))
    for p in range(len(values) - 1):
        out[p, p + 1 :] = np.maximum.accumulate(values[p + 1 :])
    return out
