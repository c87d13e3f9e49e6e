"""The exact engine for Kemeny's median: the cheapest attack over all orders that would reach the goal.

It rests on three facts. For a target order the best ballot to add is the target itself, so its price is a small linear
program over the ballots to remove, one row for each rival order that must not win (`siege.Siege.price`). Two
neighbouring blocks of the target can be swapped by a rival, which bounds the price from below by the mean margin
between the blocks; a walk through all orders that stays below the best prices known meets few candidates
(`walks.search_orders`). And a budget too small to mix two parts of the median keeps them apart (`walks.parts_of`), so
small budgets are solved for many items. Proofs: docs/theory/breakdown.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.kemeny import walks
from holdrank.attacks.kemeny.counted import CountedSearch
from holdrank.attacks.kemeny.many_items import GoalSearch
from holdrank.attacks.kemeny.orders import block_bounds_of, flips
from holdrank.attacks.kemeny.siege import SUBSETS_UP_TO, Priced, Siege
from holdrank.attacks.kemeny.targets import TargetSearch
from holdrank.attacks.plans import Found, Progress, nothing
from holdrank.attacks.theorems import MOST_SUBSETS, cheap_lower
from holdrank.attacks.whole import Whole, known_so_far
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import kemeny
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_MOST_IN_PROGRAMS = 1e9  # votes: beyond, one vote is less than an integer program can tell from none


def find(
    votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock, progress: Progress | None
) -> list[Found]:
    """Return the smallest change of the votes that reaches each aim: certified bounds and an attack.

    Exact for about a dozen items, and for small budgets of several dozen; else bounds.
    """
    siege = Siege(votes, before, change)
    out: list[Found | None] = [Found(0.0, 0.0, nothing(votes)) if aim.reached(before) else None for aim in aims]
    asked = [aim.flips for aim, known in zip(aims, out, strict=True) if known is None and aim.flips]
    if asked:
        limit = max(aim.limit for aim in aims if aim.flips)
        curve = _Curve(siege, before, asked, limit)
        curve.search(clock, progress)
        for at, aim in enumerate(aims):
            if out[at] is None and aim.flips:
                out[at] = curve.found(aim.flips, clock)
    others = [at for at, known in enumerate(out) if known is None]
    for done, at in enumerate(others):
        part = clock.share(len(others) - done)
        wish = _Wish(siege, aims[at]) if siege.n <= SUBSETS_UP_TO else GoalSearch(siege, aims[at])
        wish.search(part, progress)
        out[at] = wish.found(part)
    return [known for known in out if known is not None]


def whole(
    votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, found: Sequence[Found], clock: Clock
) -> list[Whole]:
    """Return the minimum number of whole votes for each aim, and a plan of whole votes, given the answer in shares.

    Few candidates differ by less than one vote; where there are too many, the lower bound is the one from the shares.
    """
    if votes.total > _MOST_IN_PROGRAMS:
        return [Whole(0.0)] * len(aims)
    siege = Siege(votes, before, change)
    place = np.argsort(siege.items)
    orders = []
    for known in found:
        after = None if known.plan is None else kemeny(known.plan.applied(votes), time_limit=2.0).ranking.order
        orders.append(np.empty(0, dtype=np.int64) if after is None else place[np.asarray(after)])
    curve = [at for at, aim in enumerate(aims) if aim.flips]
    out = [Whole(0.0)] * len(aims)
    for group in ([curve] if curve else []) + [[at] for at, aim in enumerate(aims) if not aim.flips]:
        if siege.n > SUBSETS_UP_TO and group != curve:
            (at,) = group
            out[at] = GoalSearch(siege, aims[at]).whole(found[at].lower, orders[at], clock)
            continue
        counted = CountedSearch(siege, [aims[at] for at in group], [found[at].lower for at in group])
        counted.search([orders[at] for at in group if len(orders[at])], clock)
        for at in group:
            out[at] = counted.found(aims[at])
    return out


class _Curve(TargetSearch):
    """The minimum budget for at least k flipped pairs, for all k at once."""

    def __init__(self, siege: Siege, before: Ranking, asked: Sequence[int], limit: float) -> None:
        super().__init__(siege)
        self.before, self.limit = before, limit
        pairs = siege.n * (siege.n - 1) // 2
        self.asked = [min(k, pairs) for k in asked]
        self.most = max(self.asked)
        self.best: list[Priced | None] = [None] * (pairs + 1)
        self.upper = np.full(pairs + 1, np.inf)
        self.upper[0] = 0.0
        self.lower = np.zeros(pairs + 1)
        self.open = np.full(pairs + 1, np.inf)  # smallest bound of an order that could not be priced
        self.weak: list[Priced | None] = [None] * (pairs + 1)  # the cheapest that ties only

    def limits(self) -> Floats:
        """See `TargetSearch`: distances beyond the largest requested one count as that one."""
        limits: Floats = np.minimum(self.upper, self.limit)
        limits[self.most :] = limits[self.most]
        return limits

    def take(self, priced: Priced, clock: Clock) -> None:
        """See `TargetSearch`."""
        k = int(flips(priced.order[None])[0])
        if self.siege.leaves_open(priced):
            self.open[1 : k + 1] = np.minimum(self.open[1 : k + 1], priced.value)
            for at in range(1, k + 1):
                self.weak[at] = _cheaper(self.weak[at], priced)
        if self.siege.works(priced, clock):
            for at in range(1, k + 1):
                if priced.value < self.upper[at]:
                    self.upper[at], self.best[at] = priced.value, priced

    def search(self, clock: Clock, progress: Progress | None) -> None:
        """Compute the bounds, as far as the time limit and the effort limit allow."""
        siege = self.siege
        pairs = len(self.upper) - 1
        if pairs == 0:
            return
        early = siege.n > MOST_SUBSETS  # then it takes no time, and all that follows takes long
        if early:
            self._raise_by_means()
            if progress is not None:
                progress(Step("orders priced", 0, 0, self.so_far()))
        start = siege.tempting_orders(clock) if siege.n > SUBSETS_UP_TO else np.empty((0, siege.n), dtype=np.int64)
        self.learn(start, np.zeros(len(start)), clock, progress)
        # The orders with the smallest bounds for each distance are good targets.
        limits = self.limits()
        found, walk = walks.room_for(pairs + 1, siege.n), walks.new_walk(siege.n)
        wanted = self.wanted(walks.parts_of(siege.against, np.inf))
        for _ in range(siege.rounds if siege.n > SUBSETS_UP_TO else 10**6):
            nodes, finished = walks.search_orders(wanted, limits, walk, found, siege.stride, True)
            self.visited += nodes
            if finished or clock.over():
                break
        distinct = np.unique(found.orders[found.flips > 0], axis=0)
        self.learn(distinct, np.zeros(len(distinct)), clock, progress)
        small = siege.n <= SUBSETS_UP_TO
        done = self.deepen([math.inf] if small else np.unique(self.limits()[1:]).tolist(), clock, progress)
        self.lower = np.maximum(self.lower, np.minimum(np.minimum(self.limits(), done), self.open))
        if not early and (self.lower < self.limits()).any():
            self._raise_by_means()
        self.lower = np.minimum(self.lower, self.upper)
        np.maximum.accumulate(self.lower, out=self.lower)

    def _raise_by_means(self) -> None:
        """Raise the lower bounds by the mean margin of the pairs to turn."""
        # A vote that is replaced moves a margin by two, one added or dropped by one.
        halves = 1 if self.siege.change.keeps_total else 2
        mean = cheap_lower(self.siege.votes, self.before, quick=self.most == 1) * halves
        self.lower[1:] = np.maximum(self.lower[1:], mean)

    def so_far(self) -> str:
        """See `TargetSearch`: the bounds of the one distance that is asked about, or of the middle one of several."""
        at = self.asked[len(self.asked) // 2]
        return known_so_far(self.siege.votes, self.lower[at], self.upper[at], at if len(self.asked) > 1 else 0)

    def found(self, k: int, clock: Clock) -> Found:
        """Return bounds and an attack for at least `k` flipped pairs."""
        if k >= len(self.upper):
            return Found(math.inf)
        best = self.best[k]
        lower, upper = float(self.lower[k]), float(self.upper[k])
        plan = None if best is None else self.siege.plan(best, clock)
        weak = self.weak[k] if plan is None else None
        if plan is None:
            upper = math.inf
        return Found(lower, upper, plan, None if weak is None else self.siege.weak_plan(weak, clock))


class _Wish(TargetSearch):
    """The minimum budget for one goal other than a distance."""

    def __init__(self, siege: Siege, aim: Aim) -> None:
        super().__init__(siege)
        self.wish_for(aim)
        if aim.above:
            self.starts, self.stops = {int(self.above[0])}, {int(self.above[1])}
        else:
            self.starts = set(np.flatnonzero(self.newcomer).tolist())
            self.stops = set(range(aim.top)) - self.starts
        self.best: Priced | None = None
        self.weak: Priced | None = None  # the cheapest that ties only
        self.upper, self.lower, self.open = math.inf, 0.0, math.inf
        self.limit = aim.limit

    def limits(self) -> Floats:
        """See `TargetSearch`: the same for all distances."""
        return np.full(self.siege.n * (self.siege.n - 1) // 2 + 1, min(self.upper, self.limit))

    def take(self, priced: Priced, clock: Clock) -> None:
        """See `TargetSearch`."""
        if self.siege.leaves_open(priced):
            self.open = min(self.open, priced.value)
            self.weak = _cheaper(self.weak, priced)
        if priced.value < self.upper and self.siege.works(priced, clock):
            self.upper, self.best = priced.value, priced

    def search(self, clock: Clock, progress: Progress | None) -> None:
        """Find a good target, then prove that none is much better."""
        siege = self.siege
        targets = self._simple_targets()
        bounds = block_bounds_of(siege.against, targets, siege.battles)
        self.learn(targets, bounds, clock, progress)
        most = min(self.upper, self.limit)
        chained = siege.chain_bound(self.starts, self.stops, most, clock)
        done = 0.0
        if chained < most:
            done = self.deepen([np.nextafter(most, np.inf)], clock, progress)
        self.lower = min(max(chained, min(done, self.open)), self.upper)

    def _simple_targets(self) -> Ints:
        """Return the orders in which one item passes another, or both meet half-way, and the rest stays as it is."""
        n = self.siege.n
        orders = set()
        for b in self.starts:
            for a in self.stops:
                if b < a:
                    continue
                for meet in range(a, b):
                    between = list(range(a + 1, b))
                    upper, lower = between[: meet - a], between[meet - a :]
                    orders.add((*range(a), *upper, b, a, *lower, *range(b + 1, n)))
        kept = [o for o in sorted(orders) if self._fits(o)]
        return np.array(kept, dtype=np.int64).reshape(-1, n)

    def _fits(self, order: tuple[int, ...]) -> bool:
        if self.above[0] >= 0:
            return order.index(int(self.above[0])) < order.index(int(self.above[1]))
        return bool(self.newcomer[list(order[: self.top])].any())

    def so_far(self) -> str:
        """See `TargetSearch`."""
        return known_so_far(self.siege.votes, self.lower, self.upper)

    def found(self, clock: Clock) -> Found:
        """Return bounds and an attack."""
        plan = None if self.best is None else self.siege.plan(self.best, clock)
        weak = self.weak if plan is None else None
        tie_plan = None if weak is None else self.siege.weak_plan(weak, clock)
        return Found(self.lower, self.upper if plan is not None else math.inf, plan, tie_plan)


def _cheaper(one: Priced | None, other: Priced) -> Priced:
    return other if one is None or other.value < one.value else one
