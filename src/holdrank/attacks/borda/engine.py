"""Exact breakdown of Borda's median: a linear program for a wanted order of the points, and a search over orders.

Borda sorts by points: a ballot gives an item one point for each item below it, half a point for each tied one. So an
attack is a vector of points taken away and a vector of points put in. What a share eps of added rankings can give is
eps times the permutahedron; its facets come one by one, where a solution breaks them. Added battles give eps points in
all, to any items. Items are numbered by the consensus, see `points`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from holdrank.arrays.knapsack import taken_in_order
from holdrank.arrays.tolerances import SAME
from holdrank.attacks.borda.points import (
    EQUAL_POINTS,
    MANY_ITEMS,
    UNIT,
    Answer,
    GrowingProgram,
    Points,
    Program,
    priced,
    program_for,
)
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan, Progress, nothing
from holdrank.attacks.whole import Whole
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_QUICK_ITEMS = 7  # up to here the search needs no help
_TRIES = 6  # sets of flips tried for one distance where there are too many to search
_WORK = 2e8  # entries of linear programs that a search may go through, about two minutes


def find(
    votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock, progress: Progress | None
) -> list[Found]:
    """Return what is known about the least change of the votes that reaches each aim against Borda's median.

    Notes
    -----
    With points B, ballots s of weight w_s and points S_s, the order o_1, ..., o_n is (weakly) Borda's when

        x = B - sum_s r_s S_s + q,   x[o_1] >= x[o_2] >= ... >= x[o_n],   0 <= r_s <= w_s,   q in eps * permutahedron

    has a solution, and sum_s r_s = eps for replaced votes. That b stands above a is one row, a fractional knapsack;
    a win is a row for each rival; a distance is a search over orders, best bound first, that fixes the first places
    one by one. Paper: the breakdown function (Section 3), here exact for Borda's median.

    Examples
    --------
    >>> from holdrank import borda
    >>> from holdrank.attacks.goals import Above
    >>> votes = Votes.from_orders([["a", "b", "c"], ["a", "c", "b"]], weights=[6, 4])
    >>> before = borda(votes).ranking
    >>> [found] = find(votes, before, [Above("b", "a").aim(before, votes.items)], Change.REPLACE, Clock(), None)
    >>> round(found.lower, 9), round(found.upper, 9)
    (0.35, 0.35)
    """
    points = Points(votes, before, change)
    found: dict[int, Found] = {}
    far = [at for at, aim in enumerate(aims) if aim.flips and not aim.reached(before)]
    found.update(zip(far, _farther(points, [aims[at].flips for at in far], clock, progress), strict=True))
    place = {item: at for at, item in enumerate(before.order)}
    for at, aim in enumerate(aims):
        if aim.reached(before):
            found[at] = Found(0.0, 0.0, nothing(votes))
        elif aim.above:
            found[at] = _one_above(points, [(place[aim.above[0]], place[aim.above[1]])], clock)
        elif not aim.flips:
            found[at] = _among_the_first(points, [place[x] for x in aim.newcomers], aim.top, clock)
    return [found[at] for at in range(len(aims))]


def whole(
    votes: Votes,
    before: Ranking,
    aims: Sequence[Aim],
    change: Change,
    found: Sequence[Found],  # noqa: ARG001
    clock: Clock,
) -> list[Whole]:
    """Return what each aim takes in whole votes: exactly where one item must pass another, else at least."""
    points = Points(votes, before, change)
    races = points.races
    if races is None:
        return [Whole(0.0)] * len(aims)
    place = np.argsort(points.order)
    out = []
    for aim in aims:
        own = aim.renumbered(place)
        if clock.over() or not races.works_for(own):
            out.append(Whole(0.0))
            continue
        plan = tie_plan = None
        if pairs := races.pairs(own):
            tie_plan = _passing(points, min(pairs, key=lambda pair: races.race(*pair).tie), decide=False)
            plan = _passing(points, min(pairs, key=lambda pair: races.race(*pair).decide), decide=True)
        needed, decide = (races.needed(own, attrgetter(name)) for name in ("tie", "decide"))
        out.append(Whole(needed, plan, tie_plan, decide))
    return out


def _passing(points: Points, pair: tuple[int, int], *, decide: bool) -> Plan | None:
    """Return the least change of whole votes with which one item draws level with another, or gets ahead."""
    assert points.races is not None
    race = points.races.race(*pair)
    size = race.decide if decide else race.tie
    if not math.isfinite(size):
        return None
    i, j = pair
    order = np.array([[i, *(k for k in range(points.n) if k not in pair), j]])
    removed = points.races.removed(i, j, size) / points.votes.total * UNIT
    plan = points.plan(removed, order, np.array([size / points.votes.total * UNIT]), pair)
    return replace(plan, removed=np.rint(plan.removed), added=np.rint(plan.added))


def _one_above(points: Points, pairs: Iterable[tuple[int, int]], clock: Clock) -> Found:
    """Return the cheapest of the pairs (upper, lower) to reverse."""
    ranked = sorted((float(points.above[i, j]), i, j) for i, j in pairs)
    lower = ranked[0][0] / UNIT
    for cost, i, j in ranked:
        if math.isfinite(cost) and (found := points.lifted(i, j)):
            return _without_ties(points, Found(lower, found.upper, found.plan), clock)
    return Found(lower)


def _without_ties(points: Points, found: Found, clock: Clock) -> Found:
    """Return the same with a plan changed by a hair where it leaves items tied, so that all see the same result."""
    if found.plan is None or points.n > 2 * MANY_ITEMS or clock.over():
        return found
    after = _points_after(points, found.plan)
    order = np.argsort(-np.rint(after / EQUAL_POINTS), kind="stable")
    if np.all(-np.diff(after[order]) > points.strict / 2):
        return found
    strict = _strictly(points, order, clock)
    cheap = strict is not None and strict.budget(points.votes) <= found.upper + 5e-7
    return replace(found, plan=strict) if cheap else found


def _points_after(points: Points, plan: Plan) -> Floats:
    changed = Points(plan.applied(points.votes), Ranking.from_order(points.order), points.change)
    return changed.base


def _strictly(points: Points, order: Ints, clock: Clock) -> Plan | None:
    """Return the cheapest attack after which this order is the only result, if the clock allows and there is one."""
    program = program_for(points, zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    answer = program.solve(np.ones(points.n - 1, dtype=bool), clock, points.strict)
    return points.plan(answer.removed, *answer.ballots()) if answer and math.isfinite(answer.value) else None


def _nudged(points: Points, order: Ints, answer: Answer) -> Plan | None:
    """Return the attack of an answer, with a hair of the wanted ranking in place of the same share of everything.

    That breaks all ties and takes no program; not for battles, nor where nothing is added.
    """
    if points.battles or not points.change.puts:
        return None
    share = 2 * points.strict / UNIT
    orders, added = answer.ballots()
    if not points.change.takes:
        return points.plan(
            answer.removed, np.vstack((orders.reshape(-1, points.n), order)), np.append(added, share * UNIT)
        )
    removed = answer.removed + share * (points.weights - answer.removed)
    put = np.append((1 - share) * added, 0.0)
    put[-1] = removed.sum() - put.sum()
    return points.plan(removed, np.vstack((orders.reshape(-1, points.n), order)), put)


def _among_the_first(points: Points, newcomers: Sequence[int], top: int, clock: Clock) -> Found:
    """Return what it takes to bring one of the items among the first `top`."""
    if set(newcomers) == set(range(top, points.n)):
        # Any other set of first items: somebody from outside has as many points as somebody inside.
        return _one_above(points, [(i, j) for i in newcomers for j in range(top)], clock)
    found = [_entering(points, item, top, clock) for item in newcomers]
    lower = min((one.lower for one in found), default=math.inf)
    best = min(found, key=lambda one: one.upper, default=Found(math.inf))
    return Found(lower, best.upper, best.plan)


def _entering(points: Points, item: int, top: int, clock: Clock) -> Found:
    """Return what it takes for the item to have as many points as all but `top` - 1 others."""
    wanted = points.n - top
    others = [j for j in range(points.n) if j != item]
    costs = points.above[item, others]
    least = float(np.sort(costs)[wanted - 1])
    if not math.isfinite(least):
        return Found(math.inf)
    exact = _entering_exactly(points, item, costs, wanted, clock)
    if exact.plan is not None or not clock.over():
        return _without_ties(points, exact, clock)
    worth = np.minimum(points.base[item] - points.base, -1.0)
    worth[item] = points.n

    def beaten(after: Floats) -> int:
        return int((after[others] + points.strict < after[item]).sum())

    (upper,), (plan,) = _sweep(points, worth, beaten, [wanted])
    lower = max(exact.lower, least / UNIT)
    return Found(lower, max(upper, lower), plan)


def _entering_exactly(points: Points, item: int, costs: Floats, wanted: int, clock: Clock) -> Found:
    """Return the exact answer of `_entering`, or what is known of it when the clock stops."""
    least = float(np.sort(costs)[wanted - 1])
    if clock.over():
        return Found(least / UNIT)
    program = program_for(points, [(item, j) for j in range(points.n) if j != item])
    lower, value, beaten = _cheapest_to_beat(program, costs, wanted, clock, 0.0)
    lower = max(lower, least)
    for again in (False, True):
        if again:
            # Taking votes away can end in ties that nothing breaks: look for sets that are really beaten.
            _, value, beaten = _cheapest_to_beat(program, costs, wanted, clock, points.strict)
        answer = program.solve(beaten, clock, points.strict) if math.isfinite(value) else None
        if answer is not None and math.isfinite(answer.value):
            plan = points.plan(answer.removed, *answer.ballots())
            return Found(lower / UNIT, priced(max(value, lower) / UNIT, plan.budget(points.votes)), plan)
        if points.change.puts or not math.isfinite(value):
            break
    return Found(lower / UNIT)


def _cheapest_to_beat(
    program: Program | GrowingProgram, costs: Floats, wanted: int, clock: Clock, slack: float
) -> tuple[float, float, npt.NDArray[np.bool_]]:
    """Return a bound, the least weight known, and the set of at least `wanted` others that are then beaten.

    A search over who is beaten, best bound first: a node has items that must be and items that need not be.
    """
    item, others = program.pairs[0, 0], program.pairs[:, 1]
    nobody = np.zeros(len(others), dtype=bool)
    first = nobody.copy()
    first[np.argsort(costs, kind="stable")[:wanted]] = True
    best, beaten, floor, work = math.inf, first, math.inf, 0.0
    least = float(np.sort(costs)[wanted - 1])
    nodes = [(least, 0, first, ~first)]  # bound, number, must be beaten, need not be
    if not first.all():
        nodes.append((least, 1, nobody, nobody))
    while nodes:
        bound, number, must, spared = heapq.heappop(nodes)
        answer = None
        if bound < best:
            answer = program.solve(must, clock, slack) if work < _WORK else None
            if answer is None:
                floor = min(floor, bound)
                break
            work += program.entries
            bound = max(bound, answer.bound)
        if answer is None or not math.isfinite(bound):
            floor = min(floor, bound)
            continue
        ahead = must | (answer.points[item] >= answer.points[others] + slack - EQUAL_POINTS)
        if ahead.sum() >= wanted:
            floor = min(floor, bound)
            if answer.value < best:
                best, beaten = answer.value, ahead
            continue
        free = ~must & ~spared & ~ahead
        choice = int(np.flatnonzero(free)[costs[free].argmin()])
        more, fewer = must.copy(), spared.copy()
        more[choice] = fewer[choice] = True
        number = 2 * number + 2
        heapq.heappush(nodes, (max(bound, float(costs[choice])), number, more, spared))
        if (~fewer).sum() >= wanted:
            left = float(np.sort(costs[~fewer])[wanted - 1])
            heapq.heappush(nodes, (max(bound, left), number + 1, ~fewer if (~fewer).sum() == wanted else must, fewer))
    return min([floor, best] + [node[0] for node in nodes]), best, beaten


def _farther(points: Points, flips: Sequence[int], clock: Clock, progress: Progress | None) -> list[Found]:
    """Return what it takes to flip at least so many pairs, for each number; no answer is below one for fewer flips."""
    if not flips:
        return []
    search = _Search(points, sorted(set(flips)), clock, progress)
    upper = [math.inf] * len(search.flips)
    plans: list[Plan | None] = [None] * len(search.flips)
    if points.n > _QUICK_ITEMS:  # attacks that are good already shorten the search, or stand in for it
        _keep_cheaper(upper, plans, *_blocks(points, search.flips, clock))
    search.run(0.0, upper)
    lower = np.maximum.accumulate(search.lower()) / UNIT
    _keep_cheaper(upper, plans, *search.attacks())
    if not points.change.puts and any(plan is None for plan in plans) and not clock.over():
        # Taking votes away can end in ties that nothing breaks: look for orders that are really reached.
        strict = _Search(points, search.flips, clock, progress)
        strict.run(points.strict, upper)
        _keep_cheaper(upper, plans, *strict.attacks())
    if any(plan is None or high > low + SAME for low, high, plan in zip(lower, upper, plans, strict=True)):
        labels = np.arange(points.n, dtype=np.float64)
        _keep_cheaper(upper, plans, *_sweep(points, labels, points.flipped, search.flips))
    at = {count: i for i, count in enumerate(search.flips)}
    return [Found(float(lower[at[k]]), max(upper[at[k]], float(lower[at[k]])), plans[at[k]]) for k in flips]


def _keep_cheaper(
    upper: list[float], plans: list[Plan | None], costs: Sequence[float], others: Sequence[Plan | None]
) -> None:
    """Take over attacks that cost less, and use each for all smaller numbers of flips too."""
    for at in range(len(upper)):
        if costs[at] < upper[at]:
            upper[at], plans[at] = costs[at], others[at]
    for at in range(len(upper) - 2, -1, -1):
        if upper[at + 1] < upper[at]:
            upper[at], plans[at] = upper[at + 1], plans[at + 1]


def _sweep(
    points: Points, worth: Floats, count: Callable[[Floats], int], wanted: Sequence[int]
) -> tuple[list[float], list[Plan | None]]:
    """Return attacks that reach each of the wanted counts, by one kind of change and more and more of it.

    Ballots most against the items of most `worth` are taken away first, and the ranking by worth is put in. No linear
    program: cheap for many items or little time, but not the cheapest attack.
    """
    n, change = points.n, points.change
    first = np.argsort(points.doubled @ worth, kind="stable")
    weights = points.weights[first] if change.takes else np.zeros(len(first))
    taken = np.concatenate(([0.0], np.cumsum(weights)))
    lost = np.vstack((np.zeros(n), np.cumsum(weights[:, None] * points.doubled[first] / 2, axis=0)))
    orders: Ints = np.argsort(-worth, kind="stable")[None]
    shares: Floats = np.ones(1)
    given: Floats = np.zeros(n)
    given[orders[0]] = np.arange(n - 1.0, -1.0, -1.0)
    if points.battles:
        winners = np.flatnonzero(worth > 0)
        orders, shares = points.battles_won(winners, int(orders[0, -1])), worth[winners] / worth[winners].sum()
        given = np.bincount(winners, shares, n).astype(np.float64)

    def after(weight: float) -> Floats:
        now = points.base + (weight * given if change.puts else 0.0)
        if change.takes:
            at = min(int(np.searchsorted(taken, weight, side="right")), len(first)) - 1
            now = now - lost[at] - (weight - taken[at]) * points.doubled[first[at]] / 2
        return now

    most = points.most_added if not change.takes else UNIT * (1 - 1e-6)
    grid = np.unique(np.concatenate((np.linspace(0, most, 257), np.geomspace(most * 1e-6, most, 256))))
    reached = np.maximum.accumulate([count(after(weight)) for weight in grid])
    upper = [math.inf] * len(wanted)
    plans: list[Plan | None] = [None] * len(wanted)
    for at, enough in enumerate(wanted):
        step = int(np.searchsorted(reached, enough))
        if step == len(grid):
            break
        low, high = (float(grid[step - 1]) if step else 0.0), float(grid[step])
        for _ in range(40 if len(wanted) <= 64 else 4):
            middle = (low + high) / 2
            low, high = (low, middle) if count(after(middle)) >= enough else (middle, high)
        removed = np.zeros(len(first))
        if change.takes:
            removed[first] = taken_in_order(weights, high)
        upper[at], plans[at] = high / UNIT, points.plan(removed, orders, shares * high)
    return upper, plans


def _blocks(points: Points, flips: Sequence[int], clock: Clock) -> tuple[list[float], list[Plan | None]]:
    """Return attacks that reverse blocks of neighbours: one, equal ones side by side, or those of the closest items.

    A set of places j where item j + 1 comes above item j makes the blocks. The few sets that look cheapest by the
    dearest pair that they flip are reached by a linear program.
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
        promising = {int(ranked[counts[ranked] >= wanted][0]) for wanted in flips}
        for number in sorted(promising)[: 10 * _TRIES]:
            _keep_cheaper(upper, plans, *_sweep(points, _block_worth(sets[number]), points.flipped, flips))
    tried: set[int] = set()
    for level in range(len(flips)):
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
            found = _without_ties(points, Found(0.0, plan.budget(points.votes), plan), clock)
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
    """Return the cost of the dearest pair in the blocks that are to be reversed, and the number of pairs."""
    ends = np.flatnonzero(np.diff(np.concatenate(([0], asked, [0]))))
    starts, stops = ends[0::2], ends[1::2]
    size = stops - starts
    return float(points.above[stops, starts].max(initial=0.0)), int((size * (size + 1) // 2).sum())


class _Search:
    """A search over orders for all numbers of flips at once: best bound first, the first places fixed one by one."""

    def __init__(self, points: Points, flips: Sequence[int], clock: Clock, progress: Progress | None) -> None:
        self.points, self.flips, self.clock, self.progress = points, list(flips), clock, progress
        self._wanted = np.array(self.flips)
        self._best: Floats = np.full(len(flips), math.inf)  # weight with which a known order (weakly) reaches it
        self._orders: list[tuple[Ints, Answer] | None] = [None] * len(flips)
        self._floor: Floats = np.full(len(flips), math.inf)  # the least bound of all that was closed
        self._open: list[_Node] = []

    def lower(self) -> Floats:
        """Return the certified bounds: the least over all that is closed or open."""
        least: Floats = np.min([self._floor, *(node.bounds for node in self._open)], axis=0)
        return least

    def run(self, slack: float, known: Sequence[float]) -> None:
        """Search until nothing open can be better than attacks known already, the clock stops, or the work is done."""
        self._best = np.array(known) * UNIT
        points, n, clock = self.points, self.points.n, self.clock
        root = self._bounds(0.0, 0, np.arange(n))
        self._open = [_Node(float(root.min()), 0, (), 0, root, points.base)]
        if clock.over() or n > MANY_ITEMS:
            return
        upper, lower = np.triu_indices(n, 1)
        program = Program(points, zip(upper.tolist(), lower.tolist(), strict=True))
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
                    plan = _nudged(self.points, order, answer) or _strictly(self.points, order, self.clock)
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
        flip, over = np.triu_indices(len(rest), 1)
        costs = np.sort(self.points.above[rest[over], rest[flip]])
        missing = self._wanted - fixed
        costs = np.concatenate(([0.0], costs, [math.inf]))
        bounds: Floats = np.maximum(bound, costs[np.clip(missing, 0, len(costs) - 1)])
        return bounds

    def _alive(self, bounds: Floats) -> npt.NDArray[np.bool_]:
        """Whether something better than known may be behind these bounds; what is not is closed."""
        alive = bounds < self._best - EQUAL_POINTS / 10
        self._floor = np.where(alive, self._floor, np.minimum(self._floor, bounds))
        return alive

    def _learn(self, answer: Answer, slack: float) -> None:
        """Note the order of the points of an answer, equal ones as far from the consensus as they can be."""
        if not math.isfinite(answer.value):
            return
        after, n = answer.points, self.points.n
        # Neighbours that are equal but for rounding form levels.
        by_points = np.argsort(-after, kind="stable")
        level = np.concatenate(([0], np.cumsum(-np.diff(after[by_points]) > EQUAL_POINTS)))
        if slack and level[-1] < n - 1:
            return
        order = by_points[np.lexsort((-by_points, level))]
        above, below = np.triu_indices(n, 1)
        count = int((order[above] > order[below]).sum())
        better = (self._wanted <= count) & (answer.value < self._best)
        self._best[better] = answer.value
        for at in np.flatnonzero(better):
            self._orders[at] = order, answer


@dataclass(frozen=True, slots=True, order=True)
class _Node:
    """Orders that begin with `first`: a bound, the flips that this fixes, bounds by flips, points of the relaxation."""

    bound: float
    number: int
    first: tuple[int, ...] = field(compare=False)
    fixed: int = field(compare=False)
    bounds: Floats = field(compare=False)
    after: Floats = field(compare=False)
