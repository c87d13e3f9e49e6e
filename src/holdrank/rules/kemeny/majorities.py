"""Cycles of majorities: every order breaks each of them, which bounds the cost of orders."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints

Rows: TypeAlias = tuple[Ints, Floats, Floats | float, float]
"""Columns and values of rows of one width, one line per row, and their two limits."""

_VIOLATED = 1e-6
_SHORT = 1e-7  # by how much an arc is longer than its column: of equal cycles the shortest is found
_ROWS_AN_ARC = 3  # new rows that may share a column
_WIDEST = 16  # arcs that a row has on average at most
_NONE: Ints = np.empty(0, dtype=np.int64)


class Majorities:
    """The majorities of a component, as arcs from the winner to the loser.

    Attributes
    ----------
    tail, head : (m,) arrays of int
        The winner and the loser of each.
    cost : (m,) array of float
        The cost of placing the loser before the winner.
    number : (n, n) array of int
        The number of the arc from i to j, -1 where there is none.
    """

    def __init__(self, margin: Floats) -> None:
        """Take the majorities from what i wins against j by; 0 and less are none."""
        more = margin - margin.T
        tail, head = np.nonzero(more > 0)
        self.tail: Ints = tail.astype(np.int64)
        self.head: Ints = head.astype(np.int64)
        self.cost: Floats = more[tail, head]
        self.number = np.full(margin.shape, -1, dtype=np.int64)
        self.number[tail, head] = np.arange(len(tail))

    def seen_from(self, order: Ints) -> Floats:
        """Return lengths with which each short cycle holds one majority that an order loses."""
        n = len(order)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        return np.where(place[self.tail] > place[self.head], 0.5, 0.25 / n)

    def paths(self, lengths: Floats) -> tuple[Floats, Ints]:
        """Return the lengths of the shortest paths from i to j, and the item that follows i on each."""
        n = len(self.number)
        far = np.full((n, n), np.inf)
        far[self.tail, self.head] = lengths + _SHORT
        following = np.empty((n, n), dtype=np.int64)
        call("shortest_paths", far, n, following)
        return far, following

    def fits_none(self, kept: npt.NDArray[np.bool_], broken: npt.NDArray[np.bool_]) -> bool:
        """Whether no order keeps all majorities marked in `kept` and breaks those in `broken`: they form a cycle."""
        arcs = np.zeros(self.number.shape, dtype=bool)
        arcs[self.tail[kept], self.head[kept]] = True
        arcs[self.head[broken], self.tail[broken]] = True
        return has_cycle(arcs)

    def with_turned(self, broken: Ints) -> Majorities:
        """Return these majorities, and behind them those numbered in `broken` as arcs from the loser to the winner."""
        both = copy(self)
        both.tail = np.concatenate((self.tail, self.head[broken]))
        both.head = np.concatenate((self.head, self.tail[broken]))
        both.cost = np.concatenate((self.cost, self.cost[broken]))
        both.number = self.number.copy()
        both.number[self.head[broken], self.tail[broken]] = len(self.cost) + np.arange(len(broken))
        return both

    def cycles(self, lengths: Floats, broken: Ints = _NONE, missing: float = _VIOLATED) -> Iterator[Rows]:
        """Yield rows for cycles that are shorter than 1 by `missing`, the shortest first, few of them sharing an arc.

        The lengths are the columns of a solution; a cycle of length 1 is broken. Where some majorities are known to be
        `broken`, by their numbers, cycles may go through them from the loser to the winner as well. Such an arc is as
        long as its column falls short of 1. So its rows hold for all orders: if an order has the loser first, then it
        breaks one of the other arcs, and if not, the row asks for nothing.
        """
        if len(broken):
            count = len(self.cost)
            short_of_one = np.maximum(1 - lengths[broken], 0.0)
            both = np.concatenate((lengths, short_of_one))
            for columns, values, _, upper in self.with_turned(broken).cycles(both, missing=missing):
                turned = columns >= count
                columns[turned] = broken[columns[turned] - count]
                yield columns, np.where(turned, -values, values), 1.0 - turned.sum(axis=1), upper
            return
        n = len(self.number)
        far, following = self.paths(lengths)
        whole = lengths + far[self.head, self.tail]
        closing = np.argsort(whole, kind="stable")
        closing = np.ascontiguousarray(closing[: np.count_nonzero(whole < 1 - missing)], dtype=np.int64)
        widths = np.empty(max(len(closing), 1), dtype=np.int64)
        members = np.empty(_WIDEST * len(widths) + n, dtype=np.int64)
        kept = call(
            "pick_cycles", n, len(self.cost), self.tail, self.head, self.number, following, len(closing), closing,
            _ROWS_AN_ARC, widths, members, len(members),
        )  # fmt: skip
        ends = np.cumsum(widths[:kept])
        for width in np.unique(widths[:kept]).tolist():
            last = ends[widths[:kept] == width]
            columns = members[last[:, None] - np.arange(width, 0, -1)]
            yield columns, np.ones(columns.shape), 1.0, np.inf


def has_cycle(arcs: npt.NDArray[np.bool_]) -> bool:
    """Whether a directed graph has a cycle: items without arcs into them are removed until none is left."""
    left = np.ones(len(arcs), dtype=bool)
    while left.any():
        free = left & ~arcs[left].any(axis=0)
        if not free.any():
            return True
        left &= ~free
    return False
