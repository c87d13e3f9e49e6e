"""The fractional knapsack: which ballots to change first, and how many, to reach a required gain.

Every ballot gains something for each unit of its weight that changes. With the ballots sorted from the largest gain
down, the cheapest change takes whole ballots from the front and a part of the next one:

    full = the first k with  gains[0] weights[0] + ... + gains[k] weights[k] >= need
    weight = weights[0] + ... + weights[full - 1] + (need - what those gain) / gains[full]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Knapsack:
    """Ballots, or heaps of like ballots, from the largest gain down.

    Parameters
    ----------
    gains : array
        Gain per unit of weight; falling, and no product with its weight is negative.
    weights : array
        Whole numbers are added up exactly.
    """

    __slots__ = ("gained", "gains", "weights")

    def __init__(self, gains: npt.NDArray[Any], weights: npt.NDArray[Any]) -> None:
        self.gains, self.weights = gains, weights
        self.gained = np.cumsum(gains * weights)

    @property
    def most(self) -> Any:
        """The gain of all ballots together."""
        return self.gained[-1] if len(self.gained) else 0

    def fill(self, need: Any, enough: Any = None) -> tuple[int, Any]:
        """Return how many ballots are used whole, and the gain that the next one must add.

        Parameters
        ----------
        need : number
            At most the gain of all ballots, up to rounding.
        enough : number, optional
            A gain that counts as `need`: slightly less, to allow for rounding.
        """
        full = int(self.gained.searchsorted(need if enough is None else enough))
        full = min(full, len(self.gained) - 1)
        return full, need - (self.gained[full - 1] if full else 0)

    def least_weight(self, need: float, enough: float | None = None) -> float:
        """Return the minimum weight that gains `need`; see `fill`."""
        full, missing = self.fill(need, enough)
        return float(self.weights[:full].sum() + missing / self.gains[full])


def taken_in_order(weights: npt.NDArray[Any], size: float) -> npt.NDArray[np.float64]:
    """Return how much of each weight is used for a total of `size`, the first ones first."""
    before = np.concatenate(([0.0], np.cumsum(weights)[:-1]))
    return np.asarray(np.clip(size - before, 0.0, weights), dtype=np.float64)
