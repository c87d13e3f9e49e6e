"""Dynamic programming over subsets: exact whatever the costs, for components of few items."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from holdrank.arrays import kernels
from holdrank.errors import LimitError
from holdrank.rankings import Floats
from holdrank.rules.kemeny.parts import Part

ALWAYS_UP_TO = 16  # items: faster than a linear program
CLOSES_UP_TO = 23  # items: still better than a search tree, half a second at the end (ten without numba)


def solve(cost: Floats, tolerance: float) -> Part:
    """Return the lexicographically first of the cheapest orders, and whether it is the only one."""
    tables = _Tables(cost, tolerance)
    order: list[int] = []
    unique = True
    left = tables.full
    while left:
        first, *others = tables.choices(left)
        unique = unique and not others
        order.append(first)
        left ^= 1 << first
    value = float(tables.least[tables.full])
    return Part(tuple(order), value, value, unique, True, "subsets")


def expected_seconds(n: int) -> float:
    """Return about how long `solve` takes for n items."""
    plain = n * n / 1e5 + n * 2.0**n / 2e7
    return plain if _engine(n) is _by_levels else plain / 20


def _engine(n: int) -> Callable[[Floats], Floats]:
    return kernels.fastest(kernels.order_subsets, _by_levels, seconds=n * n / 1e5 + n * 2.0**n / 2e7)


def all_orders(cost: Floats, tolerance: float, most: int) -> list[tuple[int, ...]]:
    """Return every cheapest order, lexicographically; refuse more than `most`."""
    tables = _Tables(cost, tolerance)

    def orders(left: int) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
        else:
            for first in tables.choices(left):
                for rest in orders(left ^ (1 << first)):
                    yield (first, *rest)

    found = []
    for order in orders(tables.full):
        found.append(order)
        if len(found) > most:
            raise too_many(most)
    return found


def too_many(most: int) -> LimitError:
    """Return the refusal to list more than `most` orders."""
    return LimitError(f"there are more than {most:,} optimal rankings; to repair: ask for more with most=")


class _Tables:
    """The least cost of ordering each subset (a bit an item), and what may stand first in it."""

    def __init__(self, cost: Floats, tolerance: float) -> None:
        n = len(cost)
        self.full = (1 << n) - 1
        self.tolerance = tolerance
        self.least: Floats = _engine(n)(np.ascontiguousarray(cost))
        self.rows: list[list[float]] = (cost * (1 - np.eye(n))).tolist()

    def choices(self, left: int) -> list[int]:
        """Return the items that may come first in a cheapest order of the subset `left`."""
        members = [i for i in range(len(self.rows)) if left >> i & 1]
        costs = [sum([self.rows[i][j] for j in members]) + self.least[left ^ (1 << i)] for i in members]
        nearly = min(costs) + self.tolerance
        return [i for i, c in zip(members, costs, strict=True) if c <= nearly]


def _by_levels(cost: Floats) -> Floats:
    """Return what `kernels.order_subsets` returns: all subsets of one size at a time."""
    n = len(cost)
    split = n // 2
    mask = (1 << split) - 1
    low, high = _sums(cost[:, :split]), _sums(cost[:, split:])
    subsets = np.arange(1 << n)
    size = np.bitwise_count(subsets)
    least = np.empty(1 << n)
    least[0] = 0.0
    for k in range(1, n + 1):
        level = subsets[size == k]
        best = np.full(len(level), np.inf)
        for i in range(n):
            has = (level >> i) & 1 == 1
            rest = level[has] ^ (1 << i)
            best[has] = np.minimum(best[has], least[rest] + low[i, rest & mask] + high[i, rest >> split])
        least[level] = best
    return least


def _sums(cost: Floats) -> Floats:
    """Return the sums of each row over every subset of the columns."""
    sums = np.zeros((len(cost), 1))
    for j in range(cost.shape[1]):
        sums = np.concatenate((sums, sums + cost[:, j : j + 1]), axis=1)
    return sums
