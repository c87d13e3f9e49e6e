"""The votes as Borda sees them, the linear program for a wanted order of points, and attacks as ballots.

Items are numbered by the consensus, so that a flipped pair is an item above one of a smaller number, and weights are
counted in units of which the votes have ten thousand: the tolerances of the solver are absolute, and this makes them
small.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.arrays.knapsack import Knapsack
from holdrank.arrays.tolerances import TIED
from holdrank.attacks.borda.races import Races
from holdrank.attacks.kemeny.integers import leaves_nothing
from holdrank.attacks.plans import Found, Plan, adds_battles, replacing
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.solvers.highs import Model, Solution
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

UNIT = 1e4  # weight of all votes
EQUAL_POINTS = 1e-10 * UNIT  # points that differ by less are equal to the solver
MANY_ITEMS = 14  # for more, distances are not searched
_CUT_ITEMS = 40  # for more, programs grow by pairs and rankings: too many facets would be broken in turn
_ROWS_AT_A_TIME = 8
_KEPT_ORDERS = 300
_ROUNDING = 1e-10  # of sums of points in this unit


class Points:
    """The votes as Borda sees them: the points that each ballot gives to each item, items numbered by the consensus."""

    def __init__(self, votes: Votes, before: Ranking, change: Change) -> None:
        self.votes, self.order, self.change = votes, np.array(before.order), change
        n = self.n = votes.n
        ranks = np.array(votes.ranks[:, self.order], dtype=np.int64)
        if votes.unlisted == "bottom":
            ranks[ranks == 0] = n + 1
        listed = ranks > 0
        self.doubled: Ints = np.empty(ranks.shape, dtype=np.int64)
        for i in range(n):
            mine = ranks[:, i, None]
            lead = 2 * (mine < ranks) + (mine == ranks)
            self.doubled[:, i] = np.where(listed, lead, 0).sum(axis=1) - 1
        self.doubled[~listed] = 0
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
        """Weight with which an attacker who adds reaches any order: each pair costs its gap at most."""
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

    @cached_property
    def above(self) -> Floats:
        """Least weight to change so that item i has as many points as item j: exact for counts, else no more."""
        cost = np.zeros((self.n, self.n))
        if self.races is not None:
            sums = self.races.sums
            for i, j in np.argwhere(sums[:, None] < sums):
                cost[i, j] = self.races.race(int(i), int(j)).share / self.votes.total * UNIT
            return cost
        # Points within rounding are equal to the rule: the gap to close is smaller by as much.
        rounding = 2 * TIED * self.n * UNIT
        for i, j in np.argwhere(self.base[:, None] < self.base):
            cost[i, j] = self.lift(int(i), int(j), -rounding)[0]
        return cost

    def lift(self, i: int, j: int, slack: float) -> tuple[float, Floats]:
        """Return the least weight to change for item i to pass item j by `slack`, and the weight taken by lead of j."""
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
        cost = float(self.above[i, j])
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
        """Return the least weight to change before the points, weighted by `worth` of the items, are worth `slack`."""
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
        """Whether pairs (upper, lower) are in their order, or the other one where `asked` is -1, in no votes but none.

        `value` is the weight that must be dropped at least.
        """
        lightest = float(self.votes.weights.min()) / self.votes.total

        def rows() -> Ints:
            leads = (self.doubled[:, pairs[:, 0]] - self.doubled[:, pairs[:, 1]]).T
            way = np.asarray(asked).astype(np.int64)
            return np.asarray(leads[way != 0] * way[way != 0, None])

        return leaves_nothing(value / UNIT, lightest, rows)

    def flipped(self, after: Floats) -> int:
        """Return how many pairs are flipped beyond doubt when the items have these points."""
        return int(np.triu(after > after[:, None] + self.strict, 1).sum())

    def battles_won(self, winners: Ints, last: int) -> Ints:
        """Return a battle for each winner, against `last` or, for that one, somebody else."""
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
    """Return the upper end: the infimum, or what the strict attack costs where that is noticeably more."""
    return value if strict <= value + 5e-7 else strict


@dataclass(frozen=True, slots=True)
class Answer:
    """One solved program: a certified bound, the value, the points after it, what is removed and (best first) added."""

    bound: float
    value: float
    points: Floats = field(default_factory=lambda: np.empty(0))
    removed: Floats = field(default_factory=lambda: np.empty(0))
    ballots: Callable[[], tuple[Ints, Floats]] = lambda: (np.empty((0, 0), dtype=np.int64), np.empty(0))


class Program:
    """The linear program of `find` with pairs (upper, lower) whose order can be asked for and let go.

    Columns: weight removed from each ballot, points added to each item, weight added, points after the attack, and
    the lead of each pair, whose bounds say what is asked.
    For few items: it is solved again and again from where it stood.
    """

    def __init__(self, points: Points, pairs: Iterable[tuple[int, int]]) -> None:
        self.data = points
        n, m = points.n, len(points.weights) if points.change.takes else 0
        self.pairs = np.array(list(pairs)).reshape(-1, 2)
        adds = points.change.puts
        widths = (m, n * adds, int(adds), n, len(self.pairs))
        starts = np.concatenate(([0], np.cumsum(widths)))
        self._removed, self._added, self._mass, self._points, self._leads = (
            np.arange(a, b) for a, b in pairwise(starts.tolist())
        )
        cost = np.zeros(starts[-1])
        cost[self._mass if adds else self._removed] = 1.0
        most = points.most_added
        reach = points.base + (points.most[1] * most if adds else 0.0) + 1.0
        self._lower, self._upper = np.zeros(starts[-1]), np.zeros(starts[-1])
        if m:
            self._upper[self._removed] = points.weights
        if adds:
            self._upper[self._added], self._upper[self._mass] = points.most[1] * most, most
        self._upper[self._points] = reach
        self._wide = float(reach.max())
        self._model = Model(cost, self._upper, presolve=False)
        for i in range(n):
            self._count(i)
        if adds:
            all_points = np.concatenate((np.ones(n), [-points.most[n]]))
            self._row(np.concatenate((self._added, self._mass)), all_points, 0.0, 0.0)
            if m:
                self._row(np.arange(m).tolist() + self._mass.tolist(), np.append(np.ones(m), -1.0), 0.0, 0.0)
        if len(self.pairs):
            three = np.column_stack((self._points[self.pairs[:, 0]], self._points[self.pairs[:, 1]], self._leads))
            self._model.add_rows(three, np.tile([1.0, -1.0, -1.0], (len(three), 1)), 0.0, 0.0)

    def _count(self, i: int) -> None:
        """Add the row that ties the points of an item to the ballots."""
        columns, values = [self._points[i : i + 1]], [np.ones(1)]
        if self.data.change.takes:
            columns.append(self._removed)
            values.append(self.data.doubled[:, i] / 2)
        if self.data.change.puts:
            columns.append(self._added[i : i + 1])
            values.append(-np.ones(1))
        self._row(np.concatenate(columns), np.concatenate(values), self.data.base[i], self.data.base[i])

    def _row(self, columns: npt.ArrayLike, values: npt.ArrayLike, lower: float, upper: float) -> None:
        self._model.add_rows(np.atleast_2d(columns), np.atleast_2d(np.asarray(values, np.float64)), lower, upper)

    @property
    def entries(self) -> float:
        """How large the program is, for the limit on work."""
        return float(self.data.n * (len(self._removed) + self.data.n) + 3 * len(self.pairs))

    def solve(self, asked: npt.NDArray[Any], clock: Clock, slack: float = 0.0) -> Answer | None:
        """Return the least weight to change so that pairs lead by `slack`; None when the clock stops.

        `asked` is 1 for a pair in its order, -1 for one in the other order, 0 for a free one.
        """
        self._lower[self._leads] = np.where(asked > 0, slack, -self._wide)
        self._upper[self._leads] = np.where(asked < 0, -slack, self._wide)
        self._model.set_bounds(self._lower, self._upper)
        while True:
            solved = self._model.solve(clock)
            if not solved.finished:
                return None
            if not len(solved.x):
                return Answer(math.inf, math.inf)
            added, mass = solved.x[self._added], float(solved.x[self._mass].sum())
            if not self._cut(added, mass):
                break
        removed = solved.x[self._removed] if len(self._removed) else np.zeros(len(self.data.weights))
        after = solved.x[self._points]
        value = mass if len(self._mass) else float(removed.sum())
        if not self.data.change.puts and self.data.leaves_nothing(value, self.pairs, asked):
            return Answer(math.inf, math.inf)
        bound = min(max(solved.bound, 0.0), value)
        return Answer(bound, value, after, removed, lambda: self._ballots(after, added, mass))

    def _cut(self, added: Floats, mass: float) -> bool:
        """Add the facets of the permutahedron that the solution breaks; return whether there were any."""
        if not len(added) or self.data.battles:
            return False
        order = np.argsort(-added, kind="stable")
        excess = np.cumsum(added[order]) - mass * self.data.most[1:]
        broken = np.flatnonzero(excess[:-1] > EQUAL_POINTS / 4)
        for k in broken:
            columns = np.concatenate((self._added[order[: k + 1]], self._mass))
            # A finite limit on the other side as well: prices of the wrong sign by rounding must not spoil the bound.
            limit = self.data.most[k + 1] * self._upper[self._mass[0]]
            self._row(columns, np.append(np.ones(k + 1), -self.data.most[k + 1]), -limit, 0.0)
        return bool(len(broken))

    def _ballots(self, after: Floats, added: Floats, mass: float) -> tuple[Ints, Floats]:
        """Return ballots, best first, and weights that give the added points."""
        if self.data.battles and len(added):
            winners = np.flatnonzero(added > 0)
            return self.data.battles_won(winners, int(after.argmin())), added[winners]
        if mass <= 0:
            return np.empty((0, self.data.n), dtype=np.int64), np.empty(0)
        orders, shares = mixture(added / mass)
        return orders, shares * mass


class GrowingProgram:
    """The same program for many items: pairs come when a solution breaks them, rankings when their price is right.

    Few pairs are ever in danger and few rankings are needed, so that the program stays small. The bound is that of the
    prices: whatever they are, the weighted sum of the asked leads is a fractional knapsack.
    """

    def __init__(self, points: Points, pairs: Iterable[tuple[int, int]]) -> None:
        self.data = points
        self.pairs = np.array(list(pairs)).reshape(-1, 2)
        # What the last solve needed is where the next one starts.
        self._needed = np.zeros(len(self.pairs), dtype=bool)
        self._orders: Ints = np.empty((0, points.n), dtype=np.int64)

    @property
    def entries(self) -> float:
        """How large the program is, for the limit on work."""
        return 40.0 * (len(self.data.weights) + self.data.n)

    def solve(self, asked: npt.NDArray[Any], clock: Clock, slack: float = 0.0) -> Answer | None:
        """See `Program.solve`; only pairs in their own order can be asked for."""
        data, n = self.data, self.data.n
        m = len(data.weights) if data.change.takes else 0
        pairs = self.pairs[asked > 0]
        place = np.argsort(_sorted_by(pairs, n))
        orders = self._first_ballots(place)
        if not data.battles:
            orders = np.unique(np.vstack((orders, self._orders)), axis=0)
        rows = np.flatnonzero(self._needed[asked > 0])
        after, bound = data.base, 0.0
        removed, added, value = np.zeros(len(data.weights)), np.zeros(len(orders)), 0.0
        while True:
            leads = after[pairs[:, 0]] - after[pairs[:, 1]]
            leads[rows] = math.inf
            broken = np.flatnonzero(leads < slack - EQUAL_POINTS / 4)
            fresh = broken[np.argsort(leads[broken], kind="stable")][:_ROWS_AT_A_TIME]
            if not len(fresh) and not len(rows):
                break
            rows = np.concatenate((rows, fresh))
            up, low = pairs[rows].T
            given = self._given(orders)
            solved = self._solve(m, rows, up, low, given, slack, clock)
            if solved is None or clock.over():
                return None
            if not len(solved.x):
                return Answer(math.inf, math.inf)
            if m:
                removed = np.clip(solved.x[:m], 0.0, data.weights)
            added = np.maximum(solved.x[m : m + len(orders)], 0.0)
            value = float(removed.sum()) if m else float(added.sum())
            after = data.base - removed @ data.doubled / 2 + added @ given
            prices = np.maximum(solved.reduced_costs[m + len(orders) : m + len(orders) + len(rows)], 0.0)
            worth: Floats = np.bincount(up, prices, n).astype(np.float64) - np.bincount(low, prices, n)
            bound = max(bound, data.knapsack(worth, slack * float(prices.sum())))
            leads = after[pairs[:, 0]] - after[pairs[:, 1]]
            if bound < value - 1e-12 * UNIT and data.change.puts and not data.battles:
                best = np.lexsort((place, -worth))
                if not (orders == best).all(axis=1).any():
                    orders = np.vstack((orders, best))
                    continue
            if (leads >= slack - EQUAL_POINTS / 4).all():
                break
            if not (leads[np.setdiff1d(np.arange(len(pairs)), rows)] < slack - EQUAL_POINTS / 4).any():
                break
        if not data.change.puts and data.leaves_nothing(value, self.pairs, asked):
            return Answer(math.inf, math.inf)
        used = added > 0
        self._needed[np.flatnonzero(asked > 0)[rows]] = True
        self._orders = orders[-_KEPT_ORDERS:] if not data.battles else self._orders
        put = orders[used], added[used]
        return Answer(min(bound, value), value, after, removed, lambda: put)

    def _first_ballots(self, place: Ints) -> Ints:
        """Return the ballots to start from: one in which all asked pairs lead, or a battle won by each item."""
        data = self.data
        if not data.change.puts:
            return np.empty((0, data.n), dtype=np.int64)
        last = int(place.argmax())
        return data.battles_won(np.arange(data.n), last) if data.battles else np.argsort(place)[None]

    def _given(self, orders: Ints) -> Floats:
        """Return the points that each ballot gives."""
        given = np.zeros((len(orders), self.data.n))
        if self.data.battles:
            given[np.arange(len(orders)), orders[:, 0]] = 1.0
        elif len(orders):
            np.put_along_axis(given, orders, np.arange(self.data.n - 1.0, -1.0, -1.0)[None], axis=1)
        return given

    def _solve(
        self, m: int, rows: Ints, up: Ints, low: Ints, given: Floats, slack: float, clock: Clock
    ) -> Solution | None:
        """Solve for the pairs and ballots at hand; the reduced costs of the surpluses are the prices of the pairs."""
        data, k = self.data, len(given)
        most = data.most_added
        cost = np.concatenate((np.ones(m), np.full(k, float(not m)), np.zeros(len(rows))))
        wide = data.n * (UNIT + most)
        upper = np.concatenate((data.weights[:m], np.full(k, most), np.full(len(rows), wide)))
        model = Model(cost, upper, presolve=False)
        block = np.hstack(
            (
                (data.doubled[:m, low] - data.doubled[:m, up]).T / 2,
                (given[:, up] - given[:, low]).T,
                -np.eye(len(rows)),
            )
        )
        wanted = data.base[low] - data.base[up] + slack
        columns = np.arange(len(cost))
        model.add_rows(np.tile(columns, (len(rows), 1)), block, wanted, wanted)
        if m and k:
            model.add_rows(columns[None, : m + k], np.append(np.ones(m), -np.ones(k))[None], 0.0, 0.0)
        solved = model.solve(clock)
        return solved if solved.finished else None


def program_for(points: Points, pairs: Iterable[tuple[int, int]]) -> Program | GrowingProgram:
    """Return the program that suits the number of items."""
    return (Program if points.n <= _CUT_ITEMS else GrowingProgram)(points, pairs)


def _sorted_by(pairs: Ints, n: int) -> Ints:
    """Return the items in an order in which every pair (upper, lower) is in its order, else by number."""
    waits = np.bincount(pairs[:, 1], minlength=n)
    free = [i for i in range(n) if not waits[i]]
    order = []
    heapq.heapify(free)
    while free:
        item = heapq.heappop(free)
        order.append(item)
        for other in pairs[pairs[:, 0] == item, 1].tolist():
            waits[other] -= 1
            if not waits[other]:
                heapq.heappush(free, other)
    return np.array(order)


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
