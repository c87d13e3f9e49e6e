"""Exact breakdown of Borda's median: a linear program for a wanted order of the points, and a search over orders.

Borda sorts by points: a ballot gives an item one point for each item below it, half a point for each tied one. So an
attack is a vector of points removed and a vector of points added. What a share eps of added rankings can give is eps
times the permutahedron; its facets come one by one, where a solution breaks them. Added battles give eps points in all,
to any items. Items are numbered by the consensus, see `points`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from holdrank.attacks.borda.distances import farther
from holdrank.attacks.borda.points import EQUAL_POINTS, Points, priced
from holdrank.attacks.borda.programs import ColumnProgram, FacetProgram, program_for
from holdrank.attacks.borda.strict import sweep, without_ties
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan, Progress, nothing
from holdrank.attacks.whole import Whole
from holdrank.rankings import Floats, Ranking
from holdrank.rules.solvers.highs import UNIT
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_WORK = 2e8  # entries of linear programs that a search may go through, about two minutes


def find(
    votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock, progress: Progress | None
) -> list[Found]:
    """Return bounds on the smallest change of the votes that reaches each aim against Borda's median.

    Notes
    -----
    With points B, ballots s of weight w_s and points S_s, the order o_1, ..., o_n is (weakly) Borda's when

        x = B - sum_s r_s S_s + q,   x[o_1] >= x[o_2] >= ... >= x[o_n],   0 <= r_s <= w_s,   q in eps * permutahedron

    has a solution, and sum_s r_s = eps for replaced votes. That b stands above a is one row, a fractional knapsack;
    a win is a row for each rival; a distance is a search over orders, best bound first, that fixes the first places
    one by one. Paper: the breakdown function (Section 2.2), here exact for Borda's median.

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
    found.update(zip(far, farther(points, [aims[at].flips for at in far], clock, progress), strict=True))
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
    """Return the number of whole votes for each aim: exact where one item must pass another, else a lower bound."""
    points = Points(votes, before, change)
    races = points.races
    if races is None:
        return [Whole(0.0)] * len(aims)
    place = np.argsort(points.order)
    out = []
    for aim in aims:
        own = None if clock.over() else aim.renumbered(place)
        if own is None or not races.works_for(own):
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
    """Return the smallest change of whole votes with which one item draws level with another, or gets ahead."""
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
    ranked = sorted((points.to_pass(i, j), i, j) for i, j in pairs)
    lower = ranked[0][0] / UNIT
    for cost, i, j in ranked:
        if math.isfinite(cost) and (found := points.lifted(i, j)):
            return without_ties(points, Found(lower, found.upper, found.plan), clock)
    return Found(lower)


def _among_the_first(points: Points, newcomers: Sequence[int], top: int, clock: Clock) -> Found:
    """Return the minimum change that brings one of the items into the first `top`."""
    if set(newcomers) == set(range(top, points.n)):
        # Any other set of first items: an item from outside has as many points as an item inside.
        return _one_above(points, [(i, j) for i in newcomers for j in range(top)], clock)
    found = [_entering(points, item, top, clock) for item in newcomers]
    lower = min((one.lower for one in found), default=math.inf)
    best = min(found, key=lambda one: one.upper, default=Found(math.inf))
    return Found(lower, best.upper, best.plan)


def _entering(points: Points, item: int, top: int, clock: Clock) -> Found:
    """Return the minimum change for the item to have as many points as all but `top` - 1 others."""
    wanted = points.n - top
    others = [j for j in range(points.n) if j != item]
    costs = np.array([points.to_pass(item, other) for other in others])
    least = float(np.sort(costs)[wanted - 1])
    if not math.isfinite(least):
        return Found(math.inf)
    exact = _entering_exactly(points, item, costs, wanted, clock)
    if exact.plan is not None or not clock.over():
        return without_ties(points, exact, clock)
    worth = np.minimum(points.base[item] - points.base, -1.0)
    worth[item] = points.n

    def beaten(after: Floats) -> int:
        return int((after[others] + points.strict < after[item]).sum())

    (upper,), (plan,) = sweep(points, worth, beaten, [wanted], Clock())  # one count: no time at all
    lower = max(exact.lower, least / UNIT)
    return Found(lower, max(upper, lower), plan)


def _entering_exactly(points: Points, item: int, costs: Floats, wanted: int, clock: Clock) -> Found:
    """Return the exact answer of `_entering`, or bounds on it when the clock stops."""
    least = float(np.sort(costs)[wanted - 1])
    if clock.over():
        return Found(least / UNIT)
    program = program_for(points, [(item, j) for j in range(points.n) if j != item])
    lower, value, beaten = _cheapest_to_beat(program, costs, wanted, clock, 0.0)
    lower = max(lower, least)
    for again in (False, True):
        if again:
            # Removing votes can end in ties that nothing breaks: look for sets that are strictly beaten.
            _, value, beaten = _cheapest_to_beat(program, costs, wanted, clock, points.strict)
        answer = program.solve(beaten, clock, points.strict) if math.isfinite(value) else None
        if answer is not None and math.isfinite(answer.value):
            plan = points.plan(answer.removed, *answer.ballots())
            return Found(lower / UNIT, priced(max(value, lower) / UNIT, plan.budget(points.votes)), plan)
        if points.change.puts or not math.isfinite(value):
            break
    return Found(lower / UNIT)


def _cheapest_to_beat(
    program: FacetProgram | ColumnProgram, costs: Floats, wanted: int, clock: Clock, slack: float
) -> tuple[float, float, npt.NDArray[np.bool_]]:
    """Return a bound, the smallest weight found, and the set of at least `wanted` other items that it beats.

    A best-first search over the items to beat: a node has items that must be beaten and items that need not be.
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
