"""Runs of tiers whose items stand in a known order, so that the steps of a merge are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdrank.arrays.tolerances import DECIMALS
from holdrank.attacks.tiers.cells import Cell, alone
from holdrank.rankings import Floats


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring tiers of a cell whose median is all known.

    Attributes
    ----------
    first : int
        How many items stand above.
    order : list of int
        The items in the order of the median.
    tier_of : list of int
        By places in it, the tier.
    deviation : (places, places) array
        By places in it, rounded as merges do.
    grows : bool
        Whether more items may belong to its last tier.
    """

    first: int
    order: list[int]
    tier_of: list[int]
    deviation: Floats
    grows: bool = False

    def complete(self) -> Run:
        """Return the run without a last tier that may grow."""
        if not self.grows:
            return self
        known = self.tier_of.index(self.tier_of[-1])
        return Run(self.first, self.order[:known], self.tier_of[:known], self.deviation[:known, :known])

    def holds(self, start: int, end: int) -> bool:
        """Whether places of the median are in the run."""
        return self.first <= start and end < self.first + len(self.order)

    def close_across(self, theta: float) -> list[tuple[int, int, float]]:
        """Return (start, end, largest deviation) of the intervals across tiers with no deviation above theta."""
        largest = np.triu(self.deviation, 1)  # of the pairs between two places
        largest = np.maximum.accumulate(largest[::-1], axis=0)[::-1]
        largest = np.maximum.accumulate(largest, axis=1)
        tiers = np.array(self.tier_of)
        across = np.argwhere((tiers[:, None] < tiers) & (largest <= theta))
        return [(start, end, float(largest[start, end])) for start, end in across.tolist()]

    def ends_where_it_should(self, theta: float) -> bool:
        """Whether Naive Merge of these items alone makes the tiers of the cell."""
        starts = naive_unions(self.deviation, theta)
        return starts == [at for at, tier in enumerate(self.tier_of) if not at or tier != self.tier_of[at - 1]]


def naive_unions(deviation: Floats, theta: float) -> list[int]:
    """Return the places where the unions of Naive Merge start, of few items in order: fast, and for guidance only."""
    n, theta = len(deviation), round(theta, DECIMALS)
    starts = list(range(n))
    across = [float(deviation[at, at + 1]) for at in starts[:-1]]  # largest deviations of unions from the next one
    height = across.copy()
    edges = [*starts, n]

    def closeness(at: int) -> tuple[float, list[float]]:
        first, middle, last = edges[at : at + 3]
        return across[at], sorted(deviation[first:middle, middle:last].ravel().tolist(), reverse=True)

    while height and (lowest := min(height)) <= theta:
        close = [at for at, own in enumerate(height) if own == lowest]
        at = close[0] if len(close) == 1 else min(close, key=closeness)
        del starts[at + 1], edges[at + 1], across[at], height[at]
        for side in (at - 1, at):
            if 0 <= side < len(across):
                first, middle, last = edges[side : side + 3]
                across[side] = float(deviation[first:middle, middle:last].max())
                height[side] = max(height[side], lowest, across[side])
    return starts


def runs_of(cell: Cell, P: Floats) -> Iterator[Run]:
    """Yield the longest runs of tiers whose items are in a known order."""
    deviations = np.round(np.abs(P - 0.5), DECIMALS)
    first = above = 0
    order: list[int] = []
    tier_of: list[int] = []
    for tier, blocks in enumerate((*cell.tiers, ())):
        known = bool(blocks) and not cell.free[tier] and all(map(alone, blocks))
        if known:
            order += [block.bit_length() - 1 for block in blocks]
            tier_of += [tier] * len(blocks)
        above += sum(block.bit_count() for block in blocks)
        if not known:
            if order:
                grows = cell.grows and tier == len(cell.tiers)
                own = np.asarray(deviations[np.ix_(order, order)], dtype=np.float64)
                yield Run(first, order, tier_of, own, grows)
            first, order, tier_of = above, [], []
