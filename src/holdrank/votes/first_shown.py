"""Which item of a battle was named first, stored so that the effect of the position can be measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from holdrank.rankings import Floats, Ints
from holdrank.status import Shown
from holdrank.votes.memo import close


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FirstShown(Shown):
    """Battles counted by the item named first: `Votes.first_shown` of battles read from two item columns.

    Attributes
    ----------
    first, second : (m,) arrays of int
        The two items, in the order of the columns.
    better : (m,) array of int
        -1 where the first won, 1 where the second did, 0 for a tie.
    weight : (m,) array of float
        How many such battles there are.
    """

    first: Ints
    second: Ints
    better: Ints
    weight: Floats

    @classmethod
    def of(cls, battles: Mapping[tuple[int, int, int], float]) -> FirstShown:
        """Return the battles from the counts of each first item, second item and result."""
        rows = np.array(list(battles), dtype=np.int64).reshape(-1, 3)
        weight = np.fromiter(battles.values(), dtype=np.float64, count=len(battles))
        first, second, better = (np.ascontiguousarray(column) for column in rows.T)
        close(first, second, better, weight)
        return cls(first, second, better, weight)

    def tables(self, n: int) -> tuple[Floats, Floats]:
        """Return how often each item of n was named before each other, and its wins there, a tie counting half.

        Examples
        --------
        >>> shown = FirstShown.of({(0, 1, -1): 5.0, (1, 0, 0): 2.0})
        >>> [table.tolist() for table in shown.tables(2)]
        [[[0.0, 5.0], [2.0, 0.0]], [[0.0, 5.0], [1.0, 0.0]]]
        """
        met, won = np.zeros((n, n)), np.zeros((n, n))
        np.add.at(met, (self.first, self.second), self.weight)
        np.add.at(won, (self.first, self.second), self.weight * (1 - self.better) / 2)
        return met, won

    def __repr__(self) -> str:
        return f"FirstShown({self.weight.sum():g} battles)"
