"""Dynamic programming over subsets: exact for any costs, for components of few items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdrank.arrays.subsets import order_subsets
from holdrank.errors import LimitError
from holdrank.rankings import Floats
from holdrank.rules.kemeny.parts import Part

ALWAYS_UP_TO = 16  # items: faster than a linear program
CLOSES_UP_TO = 23  # items: still better than a search tree, half a second at the end


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
    return n * 2.0**n / 4e8


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
    return LimitError(f"there are more than {most:,} optimal rankings", repair="raise most=")


class _Tables:
    """The lowest cost of ordering each subset (one bit per item), and the items that may come first in it."""

    def __init__(self, cost: Floats, tolerance: float) -> None:
        n = len(cost)
        self.full = (1 << n) - 1
        self.tolerance = tolerance
        self.least: Floats = order_subsets(cost)
        self.rows: list[list[float]] = (cost * (1 - np.eye(n))).tolist()

    def choices(self, left: int) -> list[int]:
        """Return the items that may come first in a cheapest order of the subset `left`."""
        members = [i for i in range(len(self.rows)) if left >> i & 1]
        costs = [sum([self.rows[i][j] for j in members]) + self.least[left ^ (1 << i)] for i in members]
        nearly = min(costs) + self.tolerance
        return [i for i, c in zip(members, costs, strict=True) if c <= nearly]
