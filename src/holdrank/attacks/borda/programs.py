"""Linear programs for a target order of Borda's points: the smallest change that puts pairs of items in order.

With points B, ballots s of weight w_s and points S_s:

    minimise the weight changed over   x = B - sum_s r_s S_s + q,   0 <= r_s <= w_s,   q in eps * permutahedron,
    and for each pair (upper, lower) that is asked for   x[upper] >= x[lower] + slack
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.attacks.borda.points import EQUAL_POINTS, Points, mixture
from holdrank.rankings import Floats, Ints
from holdrank.rules.solvers.highs import UNIT, LinearProgram, Solution
from holdrank.status import Clock

_CUT_ITEMS = 40  # for more, programs grow by pairs and rankings: too many facets would be broken in turn
_ROWS_AT_A_TIME = 8
_KEPT_ORDERS = 300


@dataclass(frozen=True, slots=True)
class OrderOptimum:
    """One solved program: a certified bound, the value, the points after it, what is removed and (best first) added."""

    bound: float
    value: float
    points: Floats = field(default_factory=lambda: np.empty(0))
    removed: Floats = field(default_factory=lambda: np.empty(0))
    ballots: Callable[[], tuple[Ints, Floats]] = lambda: (np.empty((0, 0), dtype=np.int64), np.empty(0))


class FacetProgram:
    """The linear program of `find`, with pairs (upper, lower) whose order can be required or released.

    Columns: weight removed from each ballot, points added to each item, weight added, points after the attack, and the
    lead of each pair, whose bounds hold the required order. The facets of the permutahedron are added when a solution
    violates them. For few items; each solve starts from the last solution.
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
        self._model = LinearProgram(cost, self._upper, presolve=False)
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

    def solve(self, asked: npt.NDArray[Any], clock: Clock, slack: float = 0.0) -> OrderOptimum | None:
        """Return the minimum weight to change so that pairs lead by `slack`; None when the clock stops.

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
                return OrderOptimum(math.inf, math.inf)
            added, mass = solved.x[self._added], float(solved.x[self._mass].sum())
            if not self._cut(added, mass):
                break
        removed = solved.x[self._removed] if len(self._removed) else np.zeros(len(self.data.weights))
        after = solved.x[self._points]
        value = mass if len(self._mass) else float(removed.sum())
        if not self.data.change.puts and self.data.leaves_nothing(value, self.pairs, asked):
            return OrderOptimum(math.inf, math.inf)
        bound = min(max(solved.bound, 0.0), value)
        return OrderOptimum(bound, value, after, removed, lambda: self._ballots(after, added, mass))

    def _cut(self, added: Floats, mass: float) -> bool:
        """Add the facets of the permutahedron that the solution breaks; return whether there were any."""
        if not len(added) or self.data.battles:
            return False
        order = np.argsort(-added, kind="stable")
        excess = np.cumsum(added[order]) - mass * self.data.most[1:]
        broken = np.flatnonzero(excess[:-1] > EQUAL_POINTS / 4)
        for k in broken:
            columns = np.concatenate((self._added[order[: k + 1]], self._mass))
            # A finite limit on the other side as well: duals of the wrong sign by rounding must not spoil the bound.
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


class ColumnProgram:
    """The same program for many items, by column generation: rankings come when their reduced cost is negative.

    Pairs come when a solution breaks them. Few pairs are ever in danger and few rankings are needed, so that the
    program stays small. The bound is that of the duals: for any duals, the weighted sum of the required leads is a
    fractional knapsack.
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

    def solve(self, asked: npt.NDArray[Any], clock: Clock, slack: float = 0.0) -> OrderOptimum | None:
        """See `FacetProgram.solve`; only pairs in their own order can be asked for."""
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
                return OrderOptimum(math.inf, math.inf)
            if m:
                removed = np.clip(solved.x[:m], 0.0, data.weights)
            added = np.maximum(solved.x[m : m + len(orders)], 0.0)
            value = float(removed.sum()) if m else float(added.sum())
            after = data.base - removed @ data.doubled / 2 + added @ given
            duals = np.maximum(solved.reduced_costs[m + len(orders) : m + len(orders) + len(rows)], 0.0)
            worth: Floats = np.bincount(up, duals, n).astype(np.float64) - np.bincount(low, duals, n)
            bound = max(bound, data.knapsack(worth, slack * float(duals.sum())))
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
            return OrderOptimum(math.inf, math.inf)
        used = added > 0
        self._needed[np.flatnonzero(asked > 0)[rows]] = True
        self._orders = orders[-_KEPT_ORDERS:] if not data.battles else self._orders
        put = orders[used], added[used]
        return OrderOptimum(min(bound, value), value, after, removed, lambda: put)

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
        """Solve for the pairs and ballots at hand; the reduced costs of the surpluses are the duals of the pairs."""
        data, k = self.data, len(given)
        most = data.most_added
        cost = np.concatenate((np.ones(m), np.full(k, float(not m)), np.zeros(len(rows))))
        wide = data.n * (UNIT + most)
        upper = np.concatenate((data.weights[:m], np.full(k, most), np.full(len(rows), wide)))
        model = LinearProgram(cost, upper, presolve=False)
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


def program_for(points: Points, pairs: Iterable[tuple[int, int]]) -> FacetProgram | ColumnProgram:
    """Return the program that suits the number of items."""
    return (FacetProgram if points.n <= _CUT_ITEMS else ColumnProgram)(points, pairs)


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
