"""The exact engine for Kemeny's median: the cheapest attack over all orders that would reach the goal.

Three facts carry it. For a target order the best ballot to put in is the target itself, so its price is a small
linear program over the ballots to take away, one row for each rival order that must not win (`siege.Siege.price`). Two
neighbouring blocks of the target can be swapped by a rival, which bounds the price from below by the mean margin
between the blocks; a walk through all orders that stays below the best prices known meets few candidates
(`walks.search_orders`). And budgets that cannot mix two parts of the median leave them apart (`walks.parts_of`), so
small budgets are settled for many items. Proofs: docs/theory/breakdown.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.kemeny import pricing, walks
from holdrank.attacks.kemeny.claims import Claim
from holdrank.attacks.kemeny.siege import SUBSETS_UP_TO, Priced, Siege, flips
from holdrank.attacks.plans import Found, Plan, Progress, nothing
from holdrank.attacks.sides import Side, missing
from holdrank.attacks.theorems import cheap_lower
from holdrank.attacks.whole import Whole, votes_needed, votes_to_decide
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import kemeny
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_TINY = 1e-12
_BUFFER = 50_000  # candidates kept before they are priced
# Candidates priced against the same limits between two looks at the clock, whatever the number of processors: fewer
# where one takes longer.
_BATCH, _SMALL_BATCH, _LEAST_BATCH = 512, 64, 32
_BATCH_WORK = 5e7  # columns times pairs
_WHOLE_PROGRAMS = 400  # orders rounded to whole votes at most, some hundredths of a second each
_WHOLE_WALK = 50_000_000  # orders visited at most for whole votes
_MOST_IN_PROGRAMS = 1e9  # votes: beyond, one vote is less than an integer program can tell from none
_PATIENCE = 300_000_000  # orders visited at most when there is no time limit: about a minute


def find(
    votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock, progress: Progress | None
) -> list[Found]:
    """Return what the least change of the votes is that reaches each aim: certified bounds and an attack.

    Exact for about a dozen items, and for small budgets of several dozen; else bounds.
    """
    siege = Siege(votes, before, change)
    out: list[Found | None] = [Found(0.0, 0.0, nothing(votes)) if aim.reached(before) else None for aim in aims]
    asked = [aim.flips for aim, known in zip(aims, out, strict=True) if known is None and aim.flips]
    if asked:
        curve = _Curve(siege, before, max(asked))
        curve.search(clock, progress)
        for at, aim in enumerate(aims):
            if out[at] is None and aim.flips:
                out[at] = curve.found(aim.flips, clock)
    others = [at for at, known in enumerate(out) if known is None]
    for done, at in enumerate(others):
        part = clock.share(len(others) - done)
        wish = _Wish(siege, aims[at]) if siege.n <= SUBSETS_UP_TO else Claim(siege, aims[at])
        wish.search(part, progress)
        out[at] = wish.found(part)
    return [known for known in out if known is not None]


def whole(
    votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, found: Sequence[Found], clock: Clock
) -> list[Whole]:
    """Return the least number of whole votes for each aim, and a plan of whole votes, given the answer in shares.

    Fewer candidates differ by less than one vote than one may fear; where there are too many, what is needed stays
    what the shares say.
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
    for group in ([curve] if curve else []) + [[at] for at in range(len(aims)) if at not in curve]:
        if siege.n > SUBSETS_UP_TO and group != curve:
            (at,) = group
            out[at] = Claim(siege, aims[at]).whole(found[at].lower, orders[at], clock)
            continue
        counted = _Counted(siege, [aims[at] for at in group], [found[at].lower for at in group])
        counted.search([orders[at] for at in group if len(orders[at])], clock)
        for at in group:
            out[at] = counted.found(aims[at])
    return out


class _Search(ABC):
    """A walk through target orders below limits that fall as cheaper ones are priced."""

    def __init__(self, siege: Siege) -> None:
        self.siege = siege
        self.above = np.array([-1, -1])
        self.newcomer = np.zeros(siege.n, dtype=np.bool_)
        self.top = 0
        self.visited = 0
        self.priced = 0

    def wish_for(self, aim: Aim) -> None:
        """Visit only orders that reach an aim other than a distance."""
        place = np.argsort(self.siege.items)
        self.top = aim.top
        if aim.above:
            self.above = place[list(aim.above)]
        else:
            self.newcomer[place[list(aim.newcomers)]] = True

    @abstractmethod
    def limits(self) -> Floats:
        """Return what an order with k flipped pairs must stay below to be of interest, for each k."""

    @abstractmethod
    def take(self, priced: Priced, clock: Clock) -> None:
        """Learn the price of an order."""

    def learn(self, orders: Ints, bounds: Floats, clock: Clock, progress: Progress | None = None) -> None:
        """Price orders, the most promising first, as far as their bounds stay below the limits."""
        turned = flips(orders)
        ranked = np.argsort(bounds, kind="stable")
        most = _BATCH if self.siege.n <= SUBSETS_UP_TO else _SMALL_BATCH
        batch = max(min(most, int(_BATCH_WORK / (len(self.siege.cap) * self.siege.n**2))), _LEAST_BATCH)
        for start in range(0, len(ranked), batch):
            chosen = ranked[start : start + batch]
            limits = self.limits()
            chosen = chosen[bounds[chosen] < limits[turned[chosen]] - _TINY]
            if clock.over():
                return
            if len(chosen):
                self.priced += len(chosen)
                if progress is not None:
                    progress(Step("orders priced", self.priced, self.priced))
                for priced in self.siege.price(orders[chosen], limits[turned[chosen]] - _TINY, clock):
                    self.take(priced, clock)

    def walk(self, budget: float, most: int, clock: Clock, progress: Progress | None) -> bool:
        """Visit all orders that may cost less than `budget` and less than the limits; whether that was finished."""
        siege = self.siege
        n = siege.n
        state = walks.new_walk(n)
        found = np.zeros((_BUFFER, n), dtype=np.int64)
        bounds, turned = np.zeros(_BUFFER), np.zeros(_BUFFER, dtype=np.int64)
        limits = np.minimum(self.limits(), budget)
        ends = walks.parts_of(siege.against, float(limits[-1]))
        visited = 0
        while visited < most:
            limits = np.minimum(self.limits(), budget)
            count, nodes, finished = siege.walk(
                siege.against, limits, ends, self.above, self.newcomer, self.top, siege.battles, state,
                found, bounds, turned, siege.stride, False,
            )  # fmt: skip
            visited += nodes
            self.visited += nodes
            if finished or count >= _BUFFER:
                self.learn(found[:count].copy(), bounds[:count].copy(), clock, progress)
                state[0][4, 1] = 0
            if clock.over():
                return False
            if finished:
                return True
            if progress is not None:
                progress(Step("orders visited", self.visited, self.visited))
        return False

    def deepen(self, budgets: Iterable[float], clock: Clock, progress: Progress | None) -> float:
        """Walk with rising budgets; return the largest for which the walk was finished."""
        done = 0.0
        patience = _PATIENCE if clock.deadline is None else 10**15
        for budget in budgets:
            if clock.over() or self.visited >= patience:
                break
            if budget > done and self.walk(budget, patience - self.visited, clock, progress):
                done = budget
        return done


class _Curve(_Search):
    """The least budget for at least k flipped pairs, for all k at once."""

    def __init__(self, siege: Siege, before: Ranking, most: int) -> None:
        super().__init__(siege)
        self.before = before
        pairs = siege.n * (siege.n - 1) // 2
        self.most = min(most, pairs)
        self.best: list[Priced | None] = [None] * (pairs + 1)
        self.upper = np.full(pairs + 1, np.inf)
        self.upper[0] = 0.0
        self.lower = np.zeros(pairs + 1)
        self.open = np.full(pairs + 1, np.inf)  # smallest bound of an order that could not be priced
        self.weak: list[Priced | None] = [None] * (pairs + 1)  # the cheapest that ties only

    def limits(self) -> Floats:
        """See `_Search`: distances beyond the largest asked for are as good as that."""
        limits = self.upper.copy()
        limits[self.most :] = limits[self.most]
        return limits

    def take(self, priced: Priced, clock: Clock) -> None:
        """See `_Search`."""
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
        """Fill the bounds, as far as the clock and patience allow."""
        siege = self.siege
        pairs = len(self.upper) - 1
        if pairs == 0:
            return
        start = siege.tempting_orders(clock) if siege.n > SUBSETS_UP_TO else np.empty((0, siege.n), dtype=np.int64)
        self.learn(start, np.zeros(len(start)), clock, progress)
        # The orders with the least bounds for each distance are good targets.
        limits = self.limits()
        found, bounds = np.zeros((pairs + 1, siege.n), dtype=np.int64), np.zeros(pairs + 1)
        turned = np.zeros(pairs + 1, dtype=np.int64)
        state, ends = walks.new_walk(siege.n), walks.parts_of(siege.against, np.inf)
        for _ in range(siege.rounds if siege.n > SUBSETS_UP_TO else 10**6):
            _, nodes, finished = siege.walk(
                siege.against, limits, ends, self.above, self.newcomer, 0, siege.battles, state, found,
                bounds, turned, siege.stride, True,
            )  # fmt: skip
            self.visited += nodes
            if finished or clock.over():
                break
        kept = turned > 0
        distinct = np.unique(found[kept], axis=0)
        self.learn(distinct, np.zeros(len(distinct)), clock, progress)
        small = siege.n <= SUBSETS_UP_TO
        done = self.deepen([math.inf] if small else np.unique(self.limits()[1:]).tolist(), clock, progress)
        self.lower = np.minimum(np.minimum(self.limits(), done), self.open)
        if (self.lower < self.limits()).any():
            # A vote that is replaced moves a margin by two, one that comes or goes by one.
            mean = cheap_lower(siege.votes, self.before) * (1 if siege.change.keeps_total else 2)
            self.lower[1:] = np.minimum(np.maximum(self.lower[1:], mean), self.upper[1:])
        np.maximum.accumulate(self.lower, out=self.lower)

    def found(self, k: int, clock: Clock) -> Found:
        """Return what is known about at least `k` flipped pairs."""
        if k >= len(self.upper):
            return Found(math.inf)
        best = self.best[k]
        lower, upper = float(self.lower[k]), float(self.upper[k])
        plan = None if best is None else self.siege.plan(best, clock)
        weak = self.weak[k] if plan is None else None
        if plan is None:
            upper = math.inf
        return Found(lower, upper, plan, None if weak is None else self.siege.weak_plan(weak, clock))


class _Wish(_Search):
    """The least budget for one goal other than a distance."""

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

    def limits(self) -> Floats:
        """See `_Search`: the same for all distances."""
        return np.full(self.siege.n * (self.siege.n - 1) // 2 + 1, self.upper)

    def take(self, priced: Priced, clock: Clock) -> None:
        """See `_Search`."""
        if self.siege.leaves_open(priced):
            self.open = min(self.open, priced.value)
            self.weak = _cheaper(self.weak, priced)
        if priced.value < self.upper and self.siege.works(priced, clock):
            self.upper, self.best = priced.value, priced

    def search(self, clock: Clock, progress: Progress | None) -> None:
        """Find a good target, then prove that there is none much better."""
        siege = self.siege
        targets = self._simple_targets()
        bounds = np.array([_block_bound(siege.against, order, siege.battles) for order in targets])
        self.learn(targets, bounds, clock, progress)
        chained = siege.chain_bound(self.starts, self.stops, self.upper, clock)
        done = 0.0
        if chained < self.upper:
            done = self.deepen([np.nextafter(self.upper, np.inf)], clock, progress)
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

    def found(self, clock: Clock) -> Found:
        """Return what is known."""
        plan = None if self.best is None else self.siege.plan(self.best, clock)
        weak = self.weak if plan is None else None
        tie_plan = None if weak is None else self.siege.weak_plan(weak, clock)
        return Found(self.lower, self.upper if plan is not None else math.inf, plan, tie_plan)


class _Counted(_Search):
    """The least number of whole votes: orders whose price in shares leaves room for fewer votes than are known."""

    def __init__(self, siege: Siege, aims: Sequence[Aim], lower: Sequence[float]) -> None:
        super().__init__(siege)
        self.is_curve = bool(aims[0].flips)
        self.miss: Side | None = None  # the orders that an attack which decides must beat, where that is not all others
        if not self.is_curve:
            self.wish_for(aims[0])
            self.miss = missing(aims[0], np.argsort(siege.items))
        pairs = siege.n * (siege.n - 1) // 2
        self.least = {False: np.full(pairs + 1, np.inf), True: np.full(pairs + 1, np.inf)}  # by: strictly?
        total = siege.votes.total
        self.asked = {aim.flips: votes_needed(low, total) for aim, low in zip(aims, lower, strict=True)}
        # What the shares make necessary to decide.
        self.asked_to_decide = {
            aim.flips: votes_to_decide(low, total, max(pairs, 1), siege.change)
            for aim, low in zip(aims, lower, strict=True)
        }
        self.plans: list[Plan | None] = [None] * (pairs + 1)
        self.tie_plans: list[Plan | None] = [None] * (pairs + 1)
        self.seen: set[bytes] = set()
        self.finished, self.undecided = False, False

    def limits(self) -> Floats:
        """See `_Search`: one vote less than what is known to tie, or to decide, unless that is known to be needed."""
        limits = np.zeros(len(self.plans))
        for k, needed in self.asked.items():
            decides = float(self.least[True][k])
            ties = min(float(self.least[False][k]), decides)
            open_ = [ties] * (ties > needed) + [decides] * (decides > self.asked_to_decide[k])
            limits[k] = (max(open_, default=1.0) - 1 + 1e-6 * bool(open_)) / self.siege.votes.total
        return np.maximum.accumulate(limits)

    def take(self, priced: Priced, clock: Clock) -> None:  # noqa: ARG002
        """See `_Search`: a price that may be rounded to fewer votes than are known is rounded."""
        if priced.kind in (pricing.PRICED, pricing.OPEN):
            self.round(priced.order, priced.rivals)

    def round(self, order: Ints, rivals: Ints) -> None:
        """Find the least number of whole votes for one order, weakly and strictly."""
        if order.tobytes() in self.seen or len(self.seen) >= _WHOLE_PROGRAMS or self.clock.over():
            return
        self.seen.add(order.tobytes())
        reach = slice(1, int(flips(order[None])[0]) + 1) if self.is_curve else slice(None)
        for strictly, least in self.least.items():
            stop = float(least[reach].max())
            miss = self.miss if strictly else None
            met = rivals if miss is None else rivals[:0]
            number, plan, met = self.siege.whole_price(order, strictly, met, stop, self.clock, miss)
            rivals = met if miss is None else rivals
            self.undecided |= math.isnan(number)
            better = number < least[reach]
            least[reach][better] = number
            plans = self.plans if strictly else self.tie_plans
            for at in np.flatnonzero(better).tolist():
                plans[at + (reach.start or 0)] = plan

    def search(self, orders: Sequence[Ints], clock: Clock) -> None:
        """Begin with the best orders in shares, then look for others that take fewer whole votes."""
        self.clock = clock
        none = np.empty((0, self.siege.n), dtype=np.int64)
        for order in orders:
            self.round(order, none)
        walked = self.walk(math.inf, _WHOLE_WALK, clock, None)
        self.finished = walked and len(self.seen) < _WHOLE_PROGRAMS and not self.undecided

    def found(self, aim: Aim) -> Whole:
        """Return what is known in whole votes; where not all was decided, what the shares make necessary."""
        k = aim.flips
        least = float(min(self.least[False][k], self.least[True][k]))
        settled = self.finished or least <= self.asked[k]
        # Of the orders that could decide with fewer votes all were looked at; that none can at all is another matter.
        proved = self.finished and self.miss is not None and math.isfinite(self.least[True][k])
        decide = max(float(self.least[True][k]) if proved else 0.0, self.asked_to_decide[k])
        return Whole(least if settled else self.asked[k], self.plans[k], self.tie_plans[k], decide)


def _cheaper(one: Priced | None, other: Priced) -> Priced:
    return other if one is None or other.value < one.value else one


def _block_bound(against: Floats, order: Ints, sums: bool) -> float:
    """Return the largest bound of two neighbouring blocks of the order."""
    table = against[np.ix_(order, order)]
    n = len(order)
    corner = np.zeros((n + 1, n + 1))
    corner[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
    best = 0.0
    for middle in range(1, n):
        starts, stops = np.arange(middle), np.arange(middle + 1, n + 1)
        total = (
            corner[middle, stops][None, :]
            - corner[starts][:, stops]
            - corner[middle, middle]
            + corner[starts, middle][:, None]
        )
        best = max(best, float((total if sums else total / np.outer(middle - starts, stops - middle)).max()))
    return best
