"""Kemeny's ranking of many items, proved by weights on cycles of three.

Let m[i, j] be how many more votes have i above j than j above i. An order loses the margin of each pair that it has
against the majority. Weights z on cycles i > j > k > i, of either sign, are taken from the margins of their three arcs;
r is what is left. An order agrees with one arc of a cycle more than it breaks, or the reverse, so

    2 * lost(order)  >=  sum of |m|  -  sum of |r|  -  sum of |z|  +  2 * |r| of every pair that it has against r

for any weights at all. Good weights come from the search of the rule, which need not be trusted: the sums are computed
here, in whole numbers. All orders lose the same up to multiples of the greatest common divisor of the margins.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import gcd
from typing import NamedTuple

import numpy as np

from holdrank.proofs.exact import ExactVotes, Order
from holdrank.rules.kemeny.cycles import CycleWeights
from holdrank.status import Clock

MOST_ITEMS = 150  # a second or two
MOST_WORK = 20_000_000  # ballots times pairs
_ROUNDS = 16
_SUMS = 2**52  # margins that add up to less are exact in the search


class Proved(NamedTuple):
    """What weights on cycles prove about an order: that it is the cheapest, the only one, or one of several."""

    cheapest: bool
    alone: bool
    several: bool


def prove(votes: ExactVotes, order: Order) -> Proved | None:
    """Return what is proven about an order; None for too many items, too many votes or too large sums."""
    n = votes.n
    if n > MOST_ITEMS or n * n * len(votes.ballots) > MOST_WORK:
        return None
    margins = votes.margins
    total = sum(abs(margins[i][j]) for i, j in combinations(range(n), 2))
    if total >= _SUMS:
        return None
    step = gcd(*(margins[i][j] for i, j in combinations(range(n), 2))) or 1
    lost = sum(max(-margins[i][j], 0) for i, j in combinations(order, 2))
    left, weights, unit = _weighted(margins, order)
    doubled = total * unit - sum(map(abs, left.values())) - weights
    # A cheaper order would lose a step less, and that is below the bound.
    cheapest = 2 * unit * (lost - step) < doubled
    spare = 2 * unit * lost - doubled
    alone = cheapest and all(2 * left[pair] > spare for pair in pairwise(order))
    return Proved(cheapest, alone, _has_free_move(margins, order))


def _weighted(margins: list[list[int]], order: Order) -> tuple[dict[tuple[int, int], int], int, int]:
    """Return what weights leave of each margin, in the order, the sum of the weights, and how many units are a vote."""
    n = len(order)
    # The search wants what i before j costs more, for places i and j.
    found = CycleWeights(np.array([[-float(margins[i][j]) for j in order] for i in order]), exact=True)
    for number in range(_ROUNDS if n > 2 else 0):
        found.round(found.mean / 2 ** (number + 2) if number < _ROUNDS - 1 else 0.0, Clock(None))
    unit = round(1 / found.unit)
    left = {(i, j): margins[i][j] * unit for i, j in combinations(order, 2)}
    size = 0
    for (i, j, k), weight in found.weighted():
        a, b, c = order[i], order[j], order[k]
        left[a, b] += weight
        left[b, c] += weight
        left[a, c] -= weight
        size += abs(weight)
    return left, size, unit


def _has_free_move(margins: list[list[int]], order: Order) -> bool:
    """Whether moving one item elsewhere costs nothing: then another order is as cheap."""
    for k, item in enumerate(order):
        for others in (order[k + 1 :], order[:k][::-1]):
            change = 0
            for other in others:
                change += margins[item][other]
                if change == 0:
                    return True
    return False
