"""The exact engine behind `kemeny`: the cheapest strict order under a matrix of pair costs.

``cost[i, j]`` is what it costs to place i before j. The engine works in layers, each exact:

1. Items split into components that every optimal order lists one after the other.
2. A component of up to 16 items is solved by dynamic programming over its subsets.
3. A larger one starts from a local search, is bounded by a linear program whose triangle rows are added when violated,
   and is closed by the integer program if the linear one leaves a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from time import monotonic

import numpy as np

from holdrank._highs import Model
from holdrank.rankings import Floats, Ints

_SUBSETS_UP_TO = 16  # items: a million table entries, some tens of milliseconds
_RESTARTS = 20
_VIOLATED = 1e-6
_SLACK = 1e-6  # of the linear program's objective, against its rounding


@dataclass(frozen=True, slots=True)
class Solved:
    """An order with its certificate.

    Attributes
    ----------
    order : tuple of int
        Items best first.
    cost, bound : float
        Cost of the order, and a proved lower bound on the cost of every order.
    unique : bool or None
        Whether no other order is as cheap; None when that was not decided.
    proved, interrupted : bool
        Whether `cost` is the least, and whether Ctrl-C ended the search.
    """

    order: tuple[int, ...]
    cost: float
    bound: float
    unique: bool | None
    proved: bool
    interrupted: bool


def cheapest_order(cost: Floats, *, step: float, time_limit: float | None) -> Solved:
    """Return the order with the least sum of ``cost[i, j]`` over i before j, with a proof if time allows.

    Parameters
    ----------
    cost : (n, n) array
    step : float
        All sums are multiples of it (one half for whole votes); 0 when they may be any number.
    time_limit : float or None
        Seconds; what is known by then is returned.
    """
    deadline = None if time_limit is None else monotonic() + time_limit
    tolerance = 0.0 if step else 1e-11 * float(np.abs(cost).max(initial=0.0)) * len(cost)
    parts = []
    interrupted = False
    for members in components(cost, tolerance):
        sub = cost[np.ix_(members, members)]
        if len(members) <= _SUBSETS_UP_TO:
            part = _by_subsets(sub, tolerance)
        else:
            # After Ctrl-C the components that are left get their local search and a pairwise bound, nothing more.
            part = _by_linear_program(sub, step, tolerance, monotonic() if interrupted else deadline)
        interrupted |= part.interrupted
        parts.append((members, part))
    order = tuple(int(members[i]) for members, part in parts for i in part.order)
    place = np.argsort(order)
    before = place[:, None] < place
    across = float((cost * before).sum()) - sum(part.cost for _, part in parts)
    verdicts = [part.unique for _, part in parts]
    return Solved(
        order,
        across + sum(part.cost for _, part in parts),
        across + sum(part.bound for _, part in parts),
        False if False in verdicts else None if None in verdicts else True,
        all(part.proved for _, part in parts),
        interrupted,
    )


def components(cost: Floats, tolerance: float = 0.0) -> list[Ints]:
    """Return the strongly connected components of the majority relation, best first.

    A pair without a strict majority keeps its items together. Every cheapest order lists the components in this
    order. A set of k items beats all others exactly when its scores (strict wins plus half the ties) reach their
    largest possible sum, and then it consists of the k highest scores.
    """
    n = len(cost)
    margin = cost.T - cost  # positive: the row item should come first
    scores = (margin > tolerance).sum(axis=1) + ((np.abs(margin) <= tolerance).sum(axis=1) - 1) / 2
    by_score = np.argsort(-scores, kind="stable")
    k = np.arange(1, n + 1)
    ends = np.flatnonzero(np.cumsum(scores[by_score]) == k * (k - 1) / 2 + k * (n - k)) + 1
    return [np.sort(part) for part in np.split(by_score, ends[:-1])]


def _by_subsets(cost: Floats, tolerance: float) -> Solved:
    """Solve by dynamic programming: the least cost of ordering each subset; the lexicographically first optimum."""
    n = len(cost)
    full = (1 << n) - 1
    # first[i, S]: cost of placing i before all of S.
    first = np.zeros((n, 1))
    for j in range(n):
        first = np.concatenate((first, first + cost[:, j : j + 1]), axis=1)
    subsets = np.arange(full + 1)
    size = np.bitwise_count(subsets)
    least = np.full(full + 1, np.inf)
    ways = np.zeros(full + 1, dtype=np.int64)
    least[0], ways[0] = 0.0, 1
    for k in range(1, n + 1):
        level = subsets[size == k]
        costs = np.full((n, len(level)), np.inf)
        for i in range(n):
            has = (level >> i) & 1 == 1
            rest = level[has] ^ (1 << i)
            costs[i, has] = first[i, rest] + least[rest]
        least[level] = costs.min(axis=0)
        for i in range(n):
            ties = costs[i] <= least[level] + tolerance
            ways[level[ties]] += ways[level[ties] ^ (1 << i)]
    order, left = [], full
    while left:
        nearly = least[left] + tolerance
        item = next(
            i for i in range(n) if left >> i & 1 and first[i, left ^ (1 << i)] + least[left ^ (1 << i)] <= nearly
        )
        order.append(item)
        left ^= 1 << item
    value = float(least[full])
    return Solved(tuple(order), value, value, bool(ways[full] == 1), True, False)


def _by_linear_program(cost: Floats, step: float, tolerance: float, deadline: float | None) -> Solved:
    """Solve by a linear program with lazy triangle rows, then the integer program on the same rows."""
    n = len(cost)
    upper = np.triu_indices(n, 1)
    margins = (cost - cost.T)[upper]  # of x = 1: i before j, for i < j
    offset = float(cost.T[upper].sum())
    best = _local_search(cost)
    value = _order_cost(cost, best)
    bound = float(np.minimum(cost, cost.T)[upper].sum())

    def settle(found: float, finished: bool, interrupted: bool = False) -> Solved | None:
        """Return the answer when the bound has met the best order, or when nothing more can be done."""
        nonlocal bound
        bound = max(bound, _round_up(found, step))
        proved = bound >= value - (tolerance or (0.0 if step else _SLACK * abs(value)))
        if not (proved or finished or interrupted or (deadline is not None and monotonic() >= deadline)):
            return None
        order = _sorted_ties(cost, best, tolerance)
        swap = any(abs(cost[a, b] - cost[b, a]) <= tolerance for a, b in pairwise(order))
        return Solved(tuple(order), value, value if proved else bound, False if swap else None, proved, interrupted)

    answer = settle(bound, finished=False)
    if answer:
        return answer
    model = Model(margins)
    column = np.zeros((n, n), dtype=np.int64)
    column[upper] = np.arange(len(margins))
    known: set[int] = set()
    integer = False
    while True:
        solution = model.solve(deadline)
        if solution.x.size:
            before = np.zeros((n, n))
            before[upper] = solution.x
            before.T[upper] = 1 - solution.x
            np.fill_diagonal(before, 0.0)
            # Wins in the relaxed tournament give an order; a few insertions make it a good one.
            candidate = _insertions(cost, np.argsort(-before.sum(axis=1), kind="stable"))
            if _order_cost(cost, candidate) < value - tolerance:
                best, value = candidate, _order_cost(cost, candidate)
        triangles = _violated_triangles(before, known) if solution.x.size else np.empty((0, 3), dtype=np.int64)
        stuck = not solution.finished or (integer and not len(triangles))
        answer = settle(solution.bound + offset, finished=stuck, interrupted=solution.interrupted)
        if answer:
            return answer
        if len(triangles):
            i, j, k = triangles.T
            rows = np.stack((column[i, j], column[j, k], column[i, k]), axis=1)
            model.add_rows(rows, np.tile([1.0, 1.0, -1.0], (len(rows), 1)), 0.0, 1.0)
            known.update(((i * n + j) * n + k).tolist())
        else:
            integer = True
            place = np.argsort(best)
            model.make_integer((place[upper[0]] < place[upper[1]]).astype(np.float64), 0.99 * step or 1e-9)


def _round_up(bound: float, step: float) -> float:
    return float(np.ceil((bound - _SLACK * max(1.0, abs(bound) * 1e-6)) / step) * step) if step else bound


def _violated_triangles(before: Floats, known: set[int]) -> Ints:
    """Return up to 4 n triples i < j < k whose row ``0 <= x_ij + x_jk - x_ik <= 1`` is violated most."""
    n = len(before)
    found = []
    for i in range(n - 2):
        later = before[i + 1 :, i + 1 :]
        sums = before[i, i + 1 :, None] + later - before[i, None, i + 1 :]
        excess = np.triu(np.maximum(sums - 1, -sums), 1)
        j, k = np.nonzero(excess > _VIOLATED)
        found.append(np.stack((excess[j, k], np.full(len(j), i), j + i + 1, k + i + 1), axis=1))
    rows = np.concatenate(found)
    rows = rows[np.argsort(-rows[:, 0], kind="stable")][: 4 * n, 1:].astype(np.int64)
    keys = ((rows[:, 0] * n + rows[:, 1]) * n + rows[:, 2]).tolist()
    return rows[[key not in known for key in keys]]


def _local_search(cost: Floats) -> Ints:
    """Return a good order: insertions from the Borda order and from some random shakes of the best one."""
    rng = np.random.default_rng(0)
    n = len(cost)
    best = _insertions(cost, np.argsort(cost.sum(axis=1) - cost.sum(axis=0), kind="stable"))
    value = _order_cost(cost, best)
    for _ in range(_RESTARTS):
        shaken = np.argsort(np.argsort(best) + rng.normal(0, n / 8, n))
        candidate = _insertions(cost, shaken)
        if (found := _order_cost(cost, candidate)) < value:
            best, value = candidate, found
    return best


def _insertions(cost: Floats, order: Ints) -> Ints:
    """Move single items to their best place until none can be improved."""
    order = order.copy()
    margin = cost - cost.T  # change of cost when the column item, now first, falls behind the row item
    improved = True
    while improved:
        improved = False
        for item in order.copy():
            at = int(np.flatnonzero(order == item)[0])
            others = np.delete(order, at)
            # gain[k]: cost of item at place k, relative to place 0.
            gain = np.concatenate(([0.0], np.cumsum(margin[others, item])))
            to = int(gain.argmin())
            if gain[to] < gain[at] - 1e-9 * (1 + abs(gain[at])):
                order = np.insert(others, to, item)
                improved = True
    return order


def _sorted_ties(cost: Floats, order: Ints, tolerance: float) -> list[int]:
    """Swap neighbours that cost nothing to swap into the order of their numbers: the same answer on every machine."""
    items: list[int] = order.tolist()
    for end in range(len(items) - 1, 0, -1):
        for p in range(end):
            a, b = items[p], items[p + 1]
            if a > b and abs(cost[a, b] - cost[b, a]) <= tolerance:
                items[p], items[p + 1] = b, a
    return items


def _order_cost(cost: Floats, order: Ints) -> float:
    return float(np.triu(cost[np.ix_(order, order)], 1).sum())
