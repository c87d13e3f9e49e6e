"""Brute force straight from the definitions: slow, short, and free of any engine of holdrank.

Rankings are lists of ranks (1 best, equal = tied); orders are best-first tuples; ballots use 0 for unlisted.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import isclose

import numpy as np


def extensions(ranks):
    """All strict orders that break the ties of `ranks`."""
    n = len(ranks)
    return [o for o in permutations(range(n)) if all(ranks[a] <= ranks[b] for a, b in pairwise(o))]


def discordant(order_a, order_b):
    """Number of pairs that two strict orders list differently."""
    a, b = inverse(order_a), inverse(order_b)
    return sum((a[i] < a[j]) != (b[i] < b[j]) for i, j in combinations(range(len(a)), 2))


def inverse(order):
    place = [0] * len(order)
    for at, item in enumerate(order):
        place[item] = at
    return place


def pairs(n):
    return max(n * (n - 1) // 2, 1)


def hausdorff_ns(ranks_a, ranks_b):
    """max over ways to break b of min over ways to break a of the share of discordant pairs."""
    return max(
        min(discordant(a, b) for a in extensions(ranks_a)) for b in extensions(ranks_b)
    ) / pairs(len(ranks_a))  # fmt: skip


def is_stricter(ranks_a, ranks_b):
    """Whether every way to break the ties of a also breaks those of b."""
    return set(extensions(ranks_a)) <= set(extensions(ranks_b))


def mean_places(ranks):
    """Mean place of each item over all ways to break the ties."""
    ways = [inverse(order) for order in extensions(ranks)]
    return [sum(way[i] for way in ways) / len(ways) + 1 for i in range(len(ranks))]


def weak_orders(n):
    """All vectors of dense ranks."""
    return [r for r in product(range(1, n + 1), repeat=n) if set(r) == set(range(1, max(r) + 1))]


def wins(ballots, weights, unlisted):
    """W[i][j]: weight of ballots with i above j, ties half, unlisted by the rule."""
    n = len(ballots[0])
    matrix = [[0.0] * n for _ in range(n)]
    for ballot, weight in zip(ballots, weights, strict=True):
        for i, j in permutations(range(n), 2):
            a, b = ballot[i], ballot[j]
            if unlisted == "observed" and not (a and b):
                continue
            a, b = a or n + 1000, b or n + 1000
            matrix[i][j] += weight * (a < b) + weight / 2 * (a == b)
    return matrix


def kemeny(matrix):
    """Least cost over all orders and every order that attains it."""
    n = len(matrix)
    cost = {o: sum(matrix[o[b]][o[a]] for a, b in combinations(range(n), 2)) for o in permutations(range(n))}
    least = min(cost.values())
    return least, [order for order, value in cost.items() if isclose(value, least, rel_tol=1e-12, abs_tol=1e-12)]


@cache
def _every_order(n):
    """For all orders of n items, which of the pairs i < j come in that order; one row an order."""
    place = np.argsort(np.array(list(permutations(range(n)))), axis=1)
    i, j = np.triu_indices(n, 1)
    return (place[:, i] < place[:, j]).astype(float)


def kemeny_at_once(matrix, tolerance=0.0):
    """The least cost over all orders, and how many attain it; for more items than `kemeny` has patience for."""
    i, j = np.triu_indices(len(matrix), 1)
    costs = _every_order(len(matrix)) @ (matrix[j, i] - matrix[i, j]) + matrix[i, j].sum()
    return costs.min(), int((costs <= costs.min() + tolerance).sum())


def footrule(places, weights):
    """Least expected sum of |place - mean place| over all orders, and every order that attains it."""
    n = len(places[0])
    cost = {
        order: sum(
            w * sum(abs(inverse(order)[i] + 1 - p[i]) for i in range(n)) for p, w in zip(places, weights, strict=True)
        )
        for order in permutations(range(n))
    }
    least = min(cost.values())
    return least / sum(weights), [o for o, value in cost.items() if isclose(value, least, rel_tol=1e-11, abs_tol=1e-11)]


def merge(P, buckets, theta, *, downward):
    """The loops of the paper's Algorithms 1 and 2, with the rule for equal maxima."""
    dev = [[round(abs(P[i][j] - P[j][i]) / 2, 12) for j in range(len(P))] for i in range(len(P))]
    theta = round(theta, 12)
    buckets = [list(bucket) for bucket in buckets]
    while True:
        found = []
        for i, j in combinations(range(len(buckets)), 2):
            union = [item for bucket in buckets[i : j + 1] for item in bucket]
            strongest = max(dev[a][b] for a in union for b in union)
            if strongest <= theta:
                between = combinations(range(i, j + 1), 2)
                across = sorted((dev[a][b] for s, t in between for a in buckets[s] for b in buckets[t]), reverse=True)
                found.append(((strongest, across), i, j))
        if not found:
            return [sorted(bucket) for bucket in buckets]
        wanted = (max if downward else min)(key for key, _, _ in found)
        i, j = min((i, j) for key, i, j in found if key == wanted)
        buckets[i : j + 1] = [[item for bucket in buckets[i : j + 1] for item in bucket]]
