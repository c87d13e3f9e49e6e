"""How few votes move Borda's order by a distance: a search over orders, and attacks that reverse blocks of it.

The search fixes the first places one by one, best bound first, for all numbers of flipped pairs at once.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.borda.points import EQUAL_POINTS, MANY_ITEMS, Points, priced
from holdrank.attacks.borda.programs import FacetProgram, OrderOptimum, program_for
from holdrank.attacks.borda.strict import nudged, strictly, sweep, without_ties
from holdrank.attacks.plans import Found, Plan, Progress, serve_nearer
from holdrank.rankings import Floats, Ints
from holdrank.rules.solvers.highs import UNIT
from holdrank.status import Clock, Step

_QUICK_ITEMS = 7  # up to here the search needs no help
_TRIES = 6  # sets of flips tried for one distance where there are too many to search
_WORK = 2e8  # entries of linear programs that a search may go through, about two minutes


def farther(points: Points, flips: Sequence[int], clock: Clock, progress: Progress | None) -> list[Found]:
    """Return the minimum change that flips at least k pairs, for each k; it never falls as k grows."""
    if not flips:
        return []
    search = _OrderSearch(points, sorted(set(flips)), clock, progress)
    upper = [math.inf] * len(search.flips)
    plans: list[Plan | None] = [None] * len(search.flips)
    if points.n > _QUICK_ITEMS:  # attacks that are good already shorten the search, or stand in for it
        _keep_cheaper(upper, plans, *_blocks(points, search.flips, clock))
    search.run(0.0, upper)
    lower = np.maximum.accumulate(search.lower()) / UNIT
    _keep_cheaper(upper, plans, *search.attacks())
    if not points.change.puts and any(plan is None for plan in plans) and not clock.over():
        # Removing votes can end in ties that nothing breaks: look for orders that are strictly reached.
        strict = _OrderSearch(points, search.flips, clock, progress)
        strict.run(points.strict, upper)
        _keep_cheaper(upper, plans, *strict.attacks())
    if any(plan is None or high > low + SAME for low, high, plan in zip(lower, upper, plans, strict=True)):
        labels = np.arange(points.n, dtype=np.float64)
        _keep_cheaper(upper, plans, *sweep(points, labels, points.flipped, search.flips, clock))
    at = {count: i for i, count in enumerate(search.flips)}
    return [Found(float(lower[at[k]]), max(upper[at[k]], float(lower[at[k]])), plans[at[k]]) for k in flips]


def _keep_cheaper(
    upper: list[float], plans: list[Plan | None], costs: Sequence[float], others: Sequence[Plan | None]
) -> None:
    """Take over attacks that cost less, and use each for all smaller numbers of flips too."""
    for at in range(len(upper)):
        if costs[at] < upper[at]:
            upper[at], plans[at] = costs[at], others[at]
    serve_nearer(upper, plans)


def _blocks(points: Points, flips: Sequence[int], clock: Clock) -> tuple[list[float], list[Plan | None]]:
    """Return attacks that reverse blocks of neighbours: one, equal ones side by side, or those of the closest items.

    A set of places j where item j + 1 comes above item j makes the blocks. A linear program prices the few sets whose
    most expensive flipped pair is cheapest.
    """
    n = points.n
    upper = [math.inf] * len(flips)
    plans: list[Plan | None] = [None] * len(flips)
    if clock.over() or n < 2:
        return upper, plans
    at = np.arange(n - 1)
    sets = [(at >= start) & (at < start + size) for size in range(1, n) for start in range(n - size)]
    sets += [(at - start) % size != 0 for size in range(2, n) for start in range(size)]
    sets += [points.above[at + 1, at] <= cost for cost in np.unique(points.above[at + 1, at])]
    looks, counts = np.array([_look(points, asked) for asked in sets]).T
    ranked = np.argsort(looks, kind="stable")
    program = program_for(points, zip((at + 1).tolist(), at.tolist(), strict=True))
    if n > MANY_ITEMS:  # programs may take too long: first something cheap for every distance
        first = np.searchsorted(np.maximum.accumulate(counts[ranked]), flips)  # that flips enough
        promising = set(ranked[first].tolist())
        for number in sorted(promising)[: 10 * _TRIES]:
            if not clock.over():
                worth = _block_worth(sets[number])
                _keep_cheaper(upper, plans, *sweep(points, worth, points.flipped, flips, clock))
    tried: set[int] = set()
    for level in range(len(flips)):
        if clock.over() or len(tried) * program.entries > _WORK:
            break
        for number in ranked[counts[ranked] >= flips[level]][:_TRIES].tolist():
            if number in tried or clock.over() or len(tried) * program.entries > _WORK:
                continue
            if looks[number] >= upper[level] * UNIT:
                break
            tried.add(number)
            answer = program.solve(sets[number], clock, points.strict)
            if answer is None or not math.isfinite(answer.value):
                continue
            plan = points.plan(answer.removed, *answer.ballots())
            found = without_ties(points, Found(0.0, plan.budget(points.votes), plan), clock)
            for other, wanted in enumerate(flips):
                if wanted <= counts[number] and found.upper < upper[other]:
                    upper[other], plans[other] = found.upper, found.plan
    return upper, plans


def _block_worth(asked: npt.NDArray[np.bool_]) -> Floats:
    """Return how far each item is below the middle of its block."""
    block = np.concatenate(([0], np.cumsum(~asked)))
    labels = np.arange(len(block), dtype=np.float64)
    middle = np.bincount(block, labels) / np.bincount(block)
    worth: Floats = labels - middle[block]
    return worth


def _look(points: Points, asked: npt.NDArray[np.bool_]) -> tuple[float, int]:
    """Return the cost of the most expensive pair in the blocks to be reversed, and the number of pairs."""
    ends = np.flatnonzero(np.diff(np.concatenate(([0], asked, [0]))))
    starts, stops = ends[0::2], ends[1::2]
    size = stops - starts
    return float(points.above[stops, starts].max(initial=0.0)), int((size * (size + 1) // 2).sum())


@dataclass(frozen=True, slots=True, order=True)
class _Node:
    """Orders that begin with `first`: a bound, the flips that this fixes, bounds by flips, points of the relaxation."""

    bound: float
    number: int
    first: tuple[int, ...] = field(compare=False)
    fixed: int = field(compare=False)
    bounds: Floats = field(compare=False)
    after: Floats = field(compare=False)


class _OrderSearch:
    """A search over orders for all numbers of flips at once: best bound first, the first places fixed one by one."""

    def __init__(self, points: Points, flips: Sequence[int], clock: Clock, progress: Progress | None) -> None:
        self.points, self.flips, self.clock, self.progress = points, list(flips), clock, progress
        self._wanted = np.array(self.flips)
        self._best: Floats = np.full(len(flips), math.inf)  # weight with which a known order (weakly) reaches it
        self._orders: list[tuple[Ints, OrderOptimum] | None] = [None] * len(flips)
        self._floor: Floats = np.full(len(flips), math.inf)  # the smallest bound of all that was closed
        self._open: list[_Node] = []
        self._pairs = cache(lambda k: np.triu_indices(k, 1))

    def lower(self) -> Floats:
        """Return the certified bounds: the minimum over all closed and open nodes."""
        least: Floats = np.min([self._floor, *(node.bounds for node in self._open)], axis=0)
        return least

    def run(self, slack: float, known: Sequence[float]) -> None:
        """Search until no open node can beat the known attacks, the clock stops, or the work limit is reached."""
        self._best = np.array(known) * UNIT
        points, n, clock = self.points, self.points.n, self.clock
        root = self._bounds(0.0, 0, np.arange(n))
        self._open = [_Node(float(root.min()), 0, (), 0, root, points.base)]
        if clock.over() or n > MANY_ITEMS:
            return
        upper, lower = self._pairs(n)
        program = FacetProgram(points, zip(upper.tolist(), lower.tolist(), strict=True))
        work, number, popped = 0.0, 0, 0
        while self._open:
            if self.progress and popped % 16 == 0:
                self.progress(Step("orders", number, number + len(self._open)))
            popped += 1
            node = heapq.heappop(self._open)
            alive = self._alive(node.bounds)
            if not alive.any() or len(node.first) >= n - 1:
                continue
            node = replace(node, bounds=np.where(alive, node.bounds, math.inf))
            place = np.full(n, n)
            place[list(node.first)] = np.arange(len(node.first))
            rest = np.flatnonzero(place == n)
            for item in rest:
                others = rest[rest != item]
                fixed = node.fixed + int((others < item).sum())
                bound = max(node.bound, float(points.above[item, others].max()))
                bounds = np.maximum(self._bounds(bound, fixed, others), node.bounds)
                after = node.after
                if not self._alive(bounds).any():
                    continue
                if not (slack == 0 and np.all(after[item] >= after[others]) and bound == node.bound and number):
                    place[item] = len(node.first)
                    asked = np.sign(place[lower] - place[upper])
                    answer = program.solve(asked, clock, slack) if work < _WORK else None
                    place[item] = n
                    if answer is None:
                        heapq.heappush(self._open, node)
                        return
                    work += program.entries
                    bound = max(bound, answer.bound)
                    after = answer.points
                    bounds = np.maximum(bounds, self._bounds(bound, fixed, others))
                    self._learn(answer, slack)
                number += 1
                if self._alive(bounds).any():
                    child = _Node(bound, number, (*node.first, int(item)), fixed, bounds, after)
                    heapq.heappush(self._open, child)

    def attacks(self) -> tuple[list[float], list[Plan | None]]:
        """Return the cost of the best known attack for each number of flips, and the attack."""
        known: dict[bytes, tuple[float, Plan | None]] = {}
        upper, plans = [], []
        for best, known_order in zip(self._best, self._orders, strict=True):
            cost, plan = math.inf, None
            if known_order is not None:
                order, answer = known_order
                if (key := order.tobytes()) not in known:
                    plan = nudged(self.points, order, answer) or strictly(self.points, order, self.clock)
                    strict = plan.budget(self.points.votes) if plan else math.inf
                    known[key] = (priced(float(best) / UNIT, strict), plan)
                cost, plan = known[key]
            upper.append(cost)
            plans.append(plan)
        return upper, plans

    def _bounds(self, bound: float, fixed: int, rest: Ints) -> Floats:
        """Return bounds for all wanted numbers, when `fixed` pairs are flipped and the order of `rest` is open.

        To flip k pairs costs at least as much as the k-th cheapest of them.
        """
        flip, over = self._pairs(len(rest))
        costs = np.sort(self.points.above[rest[over], rest[flip]])
        missing = self._wanted - fixed
        costs = np.concatenate(([0.0], costs, [math.inf]))
        bounds: Floats = np.maximum(bound, costs[np.clip(missing, 0, len(costs) - 1)])
        return bounds

    def _alive(self, bounds: Floats) -> npt.NDArray[np.bool_]:
        """Whether these bounds still allow a better attack than the known ones; the node is closed if not."""
        alive = bounds < self._best - EQUAL_POINTS / 10
        self._floor = np.where(alive, self._floor, np.minimum(self._floor, bounds))
        return alive

    def _learn(self, answer: OrderOptimum, slack: float) -> None:
        """Record the order of the points of an answer, with equal items as far from the consensus as possible."""
        if not math.isfinite(answer.value):
            return
        after, n = answer.points, self.points.n
        # Neighbours that are equal up to rounding form levels.
        by_points = np.argsort(-after, kind="stable")
        level = np.concatenate(([0], np.cumsum(-np.diff(after[by_points]) > EQUAL_POINTS)))
        if slack and level[-1] < n - 1:
            return
        order = by_points[np.lexsort((-by_points, level))]
        above, below = self._pairs(n)
        count = int((order[above] > order[below]).sum())
        better = (self._wanted <= count) & (answer.value < self._best)
        self._best[better] = answer.value
        for at in np.flatnonzero(better):
            self._orders[at] = order, answer
