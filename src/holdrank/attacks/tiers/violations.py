"""Which conditions of a cell some votes do not satisfy: they become rows of the program that bounds the cell."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise, permutations

import numpy as np

from holdrank.attacks.tiers.cells import Cell, Rows, alone, items_of
from holdrank.attacks.tiers.conditions import Altered, Row
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import cheapest_order
from holdrank.rules.kemeny.parts import tie_tolerance
from holdrank.status import Clock

_LISTED_UP_TO = 7  # blocks: all orders at once are compared faster than by a search


def violated(rows: Rows, cell: Cell, change: Altered, clock: Clock) -> list[Row]:
    """Return conditions of the cell that these votes do not satisfy strictly."""
    out = []
    for tier, free in enumerate(cell.free):
        if free:
            continue
        for i, j in combinations(items_of(cell.members(tier)), 2):
            p, _ = rows.pairs.sign(i, j)
            side = 1.0 if change.margin[p] >= 0 else -1.0
            out.append(rows.tie(p, side))
    if rows.base == "kemeny":
        for tier, (one, two) in enumerate(pairwise(cell.free)):
            above, below = cell.members(tier), cell.members(tier + 1)
            grows = cell.grows and tier + 2 == len(cell.tiers)
            if not (one or two or grows) and alone(above) and alone(below):
                out.append(rows.apart(above.bit_length() - 1, below.bit_length() - 1))
        out += _better_orders(rows, cell, change.margin, clock)
    elif rows.base == "borda":
        out += _score_rows(rows, cell)
    return [row for row in out if row.value(change) < row.nudge / 2]


def _better_orders(rows: Rows, cell: Cell, margin: Floats, clock: Clock) -> list[Row]:
    """Return rows against the best rearrangement of the blocks, one for each stretch that it leaves in place."""
    blocks = cell.blocks()
    k = len(blocks)
    if k < 2:
        return []
    D = np.zeros((rows.pairs.n, rows.pairs.n))
    D[rows.pairs.first, rows.pairs.second], D[rows.pairs.second, rows.pairs.first] = margin, -margin
    has = np.array([[block >> i & 1 for i in range(rows.pairs.n)] for block in blocks], dtype=np.float64)
    between = has @ D @ has.T
    order = cheapest_blocks(-between, clock)
    out = []
    start, largest = 0, -1
    for at, block in enumerate(order):
        largest = max(largest, block)
        if largest == at:
            stretch = order[start : at + 1]
            swapped = [(blocks[b], blocks[a]) for a, b in combinations(stretch, 2) if a > b]
            if swapped:
                out.append(rows.order(tuple(sorted(swapped))))
            start = at + 1
    # Neighbours are cheap to check and usually what matters.
    out += [rows.order(((a, b),)) for at, (a, b) in enumerate(pairwise(blocks)) if between[at, at + 1] < 0]
    return out


def _score_rows(rows: Rows, cell: Cell) -> list[Row]:
    """Return all rows "the score of a is at least that of b", a in a block, b in the next."""
    return [rows.scores(a, b) for one, two in pairwise(cell.blocks()) for a in items_of(one) for b in items_of(two)]


def cheapest_blocks(cost: Floats, clock: Clock) -> tuple[int, ...]:
    """Return the order that costs least, where ``cost[i, j]`` is paid for i before j."""
    k = len(cost)
    if k > _LISTED_UP_TO:
        # Where majorities beyond rounding form no cycle, they are the only cheapest order.
        beaten = (cost - cost.T > tie_tolerance(cost)).sum(axis=1)
        order = np.argsort(beaten)
        if (beaten[order] == np.arange(k)).all():
            return tuple(order.tolist())
        return cheapest_order(cost, whole=False, clock=clock).order
    orders, signs, i, j = _listed(k)
    costs = signs @ (cost[i, j] - cost[j, i])
    return orders[int((costs <= costs.min() + 1e-12).argmax())]  # among equals the first, as the statistic does


@cache
def _listed(k: int) -> tuple[list[tuple[int, ...]], Floats, Ints, Ints]:
    """Return all orders of k blocks, the sign of each pair in them (1 where the first is before), and the pairs."""
    orders = list(permutations(range(k)))
    place = np.argsort(np.array(orders), axis=1)
    i, j = np.triu_indices(k, 1)
    return orders, np.where(place[:, i] < place[:, j], 1.0, -1.0), i, j
