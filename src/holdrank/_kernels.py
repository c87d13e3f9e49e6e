"""Hot loops, compiled by numba when it is there and worth its start-up time, else done by numpy.

Both ways give the same numbers to the last bit; the choice only changes the seconds.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

_BLOCK = 8192  # ballots counted at a time: their ranks stay in the cache, their number fits sixteen bits
_COMPARISONS_WORTH_NUMBA = 500_000_000  # about a second of numpy; numba takes that long to load
_COMPARISONS_ONCE_LOADED = 2_000_000


def count_wins(
    ranks: npt.NDArray[np.integer[Any]],
    weights: npt.NDArray[np.float64],
    *,
    strict: bool,
    observed: bool,
) -> npt.NDArray[np.float64]:
    """Return W with W[i, j] = weight of the ballots that place i above j, a tie counting half for each.

    Parameters
    ----------
    ranks : (m, n) array, 0 = unlisted; fastest when stored column by column
    weights : (m,) array
    strict : bool
        No ballot has a tie or an unlisted item, so that one comparison settles a pair.
    observed : bool
        Unlisted items are not compared (otherwise they are tied below the listed ones).
    """
    m, n = ranks.shape
    scale = whole_number_scale(weights)
    doubled = np.zeros((n, n), dtype=np.int64)  # a tie adds one on both sides
    add_block = _adder(m * n * n)
    columns = ranks.T
    for start in range(0, m, _BLOCK):
        block = np.array(columns[:, start : start + _BLOCK], order="C")
        if not (strict or observed):
            block[block == 0] = n + 1
        whole = np.rint(weights[start : start + _BLOCK] * scale).astype(np.int64)
        add_block(block, whole, strict, doubled)
    return doubled / (2 * scale)


def whole_number_scale(weights: npt.NDArray[np.float64], spare_bits: int = 2) -> float:
    """Return a factor that makes whole numbers of the weights and leaves room for sums in 64 bits.

    Sums of whole numbers are exact in any order, so results do not depend on the machine or on how the ballots are
    stored. Counts stay as they are; shares keep ``62 - spare_bits`` binary digits of the total.
    """
    if all(np.array_equal(np.rint(part), part) for part in np.array_split(weights, 1 + len(weights) // _BLOCK)):
        return 1.0
    return float(2.0 ** (62 - spare_bits - int(np.ceil(np.log2(weights.sum())))))


def _adder(comparisons: int) -> Any:
    loaded = "numba" in sys.modules
    worthwhile = comparisons >= (_COMPARISONS_ONCE_LOADED if loaded else _COMPARISONS_WORTH_NUMBA)
    return _compiled() if worthwhile and find_spec("numba") is not None else _add_with_numpy


@cache
def _compiled() -> Any:
    from numba import njit

    return njit(nogil=True, cache=True)(_add_with_loops)


def _add_with_numpy(block: Any, weights: Any, strict: bool, doubled: Any) -> None:
    for i in range(len(block) - 1):
        mine, theirs = block[i], block[i + 1 :]
        if strict:
            above = 2 * ((mine < theirs) @ weights)
            doubled[i, i + 1 :] += above
            doubled[i + 1 :, i] += 2 * weights.sum() - above
        else:
            listed = (mine > 0) & (theirs > 0)
            tied = ((mine == theirs) & listed) @ weights
            doubled[i, i + 1 :] += 2 * (((mine < theirs) & listed) @ weights) + tied
            doubled[i + 1 :, i] += 2 * (((mine > theirs) & listed) @ weights) + tied


def _add_with_loops(block: Any, weights: Any, strict: bool, doubled: Any) -> None:
    n, size = block.shape
    total = weights.sum()
    one_each = weights.min() == 1 and weights.max() == 1
    for i in range(n):
        mine = block[i]
        for j in range(i + 1, n):
            theirs = block[j]
            above = np.int64(0)
            below = np.int64(0)
            tied = np.int64(0)
            # Products instead of branches, and sums no wider than a block needs: the compiler then handles as many
            # ballots at once as the processor can.
            if strict and one_each:
                heads = np.int16(0)
                for b in range(size):
                    heads = np.int16(heads + np.int16(mine[b] < theirs[b]))
                above += heads
                below = total - above
            elif strict:
                for b in range(size):
                    above += weights[b] * np.int64(mine[b] < theirs[b])
                below = total - above
            else:
                for b in range(size):
                    above += weights[b] * np.int64((mine[b] < theirs[b]) & (mine[b] != 0))
                    below += weights[b] * np.int64((mine[b] > theirs[b]) & (theirs[b] != 0))
                    tied += weights[b] * np.int64((mine[b] == theirs[b]) & (mine[b] != 0))
            doubled[i, j] += 2 * above + tied
            doubled[j, i] += 2 * below + tied
