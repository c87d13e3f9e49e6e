"""Strict attacks on Borda's median: they leave no ties; and attacks by sweeps, without any linear program."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from holdrank.arrays.knapsack import taken_in_order
from holdrank.attacks.borda.points import EQUAL_POINTS, MANY_ITEMS, Points
from holdrank.attacks.borda.programs import OrderOptimum, program_for
from holdrank.attacks.plans import Found, Plan
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.solvers.highs import UNIT
from holdrank.status import Clock


def without_ties(points: Points, found: Found, clock: Clock) -> Found:
    """Return the same answer, with a plan that leaves items tied changed slightly so that its result is unambiguous."""
    if found.plan is None or points.n > 2 * MANY_ITEMS or clock.over():
        return found
    after = _points_after(points, found.plan)
    order = np.argsort(-np.rint(after / EQUAL_POINTS), kind="stable")
    if np.all(-np.diff(after[order]) > points.strict / 2):
        return found
    strict = strictly(points, order, clock)
    cheap = strict is not None and strict.budget(points.votes) <= found.upper + 5e-7
    return replace(found, plan=strict) if cheap else found


def _points_after(points: Points, plan: Plan) -> Floats:
    changed = Points(plan.applied(points.votes), Ranking.from_order(points.order), points.change)
    return changed.base


def strictly(points: Points, order: Ints, clock: Clock) -> Plan | None:
    """Return the cheapest attack after which this order is the only result, if the clock allows and there is one."""
    program = program_for(points, zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
    answer = program.solve(np.ones(points.n - 1, dtype=bool), clock, points.strict)
    return points.plan(answer.removed, *answer.ballots()) if answer and math.isfinite(answer.value) else None


def nudged(points: Points, order: Ints, answer: OrderOptimum) -> Plan | None:
    """Return the attack of an answer, with a tiny share of everything replaced by the target ranking.

    That breaks all ties and needs no program. It does not work for battles, nor where nothing is added.
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


def sweep(
    points: Points, worth: Floats, count: Callable[[Floats], int], wanted: Sequence[int], clock: Clock
) -> tuple[list[float], list[Plan | None]]:
    """Return attacks that reach each of the wanted counts, by applying more and more of one kind of change.

    Ballots most against the items of most `worth` are removed first, and the ranking by worth is added. This needs no
    linear program. It is fast for many items or little time, but does not find the cheapest attack.
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
    made: dict[float, Plan] = {}
    for at, enough in enumerate(wanted):
        step = int(np.searchsorted(reached, enough))
        if step == len(grid):
            break
        low, high = (float(grid[step - 1]) if step else 0.0), float(grid[step])
        for _ in range(0 if clock.over() else 40 if len(wanted) <= 64 else 4):
            middle = (low + high) / 2
            low, high = (low, middle) if count(after(middle)) >= enough else (middle, high)
        if high not in made:
            removed = np.zeros(len(first))
            if change.takes:
                removed[first] = taken_in_order(weights, high)
            made[high] = points.plan(removed, orders, shares * high)
        upper[at], plans[at] = high / UNIT, made[high]
    return upper, plans
