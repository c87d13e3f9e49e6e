"""Runs of tiers whose items stand in a known order, so that the steps of a merge are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdrank.arrays.tolerances import DECIMALS
from holdrank.attacks.tiers.cells import Cell, alone
from holdrank.rankings import Floats, Ranking
from holdrank.rules.merges import MERGES


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

    def ends_where_it_should(self, P: Floats, theta: float) -> bool:
        """Whether Naive Merge of these items alone makes the tiers of the cell."""
        merged = MERGES["naive"](P[np.ix_(self.order, self.order)], Ranking(range(len(self.order))), theta)
        return bool((np.diff(merged.ranks) == np.diff(self.tier_of)).all())


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
