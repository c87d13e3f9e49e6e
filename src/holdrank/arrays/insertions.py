"""Insertion search: single items of an order move to their best places, until no move makes the order cheaper.

With ``margin[a, b]`` the cost of a before b less that of b before a, the item at place s that moves to place t changes
the cost of the order by

    t > s:  - sum of margin[item, order[p]] over s < p <= t
    t < s:    sum of margin[item, order[p]] over t <= p < s
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call

_LEAST_GAIN = 1e-9  # of a move


def descend(margin: npt.NDArray[np.float64], order: npt.NDArray[np.integer[Any]]) -> float:
    """Improve `order` by moves of one item; return the total gain."""
    return float(call("descend", margin, len(order), order, _LEAST_GAIN))


def wander(margin: npt.NDArray[np.float64], order: npt.NDArray[np.integer[Any]], *, steps: int, seed: int) -> float:
    """Improve `order` by iterated insertion search, which reads about `steps` margins; return the total gain.

    Random moves of one to three items are followed by insertion search among the items that they pass. Now and then the
    search continues from an order that is worse by up to a mean margin. The same seed gives the same order on every
    machine.
    """
    heat = float(np.abs(margin).mean())
    return float(call("wander", margin, len(order), order, _LEAST_GAIN, heat, steps, seed))
