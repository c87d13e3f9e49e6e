"""What holds in every Kemeny median, and by Copeland, for all margins in a region given by lower bounds.

Take a median that lists j before i, with the items K between them. Moving j behind i, or i before j, does not make it
better. So, for margins m (votes for the first over the second, less those against):

    m[i, j] + sum over K of m[k, j] <= 0   and   m[i, j] + sum over K of m[i, k] <= 0

and so is every mean of the two. If a mean is above 0 for every possible K, i stands before j in every median. Fewer K
are possible as more pairs are known, so the test is repeated until it finds nothing new.
"""

from __future__ import annotations

import numpy as np

from holdrank.analysis.chance.stepdown import Mask
from holdrank.rankings import Floats

_MIXES = (0.5, 0.0, 1.0)  # of the two inequalities


def surely_before(lower: Floats) -> Mask:
    """Return [i, j] where i stands before j in every Kemeny median of every matrix of margins in a region.

    Parameters
    ----------
    lower : (n, n) array of float
        The lower ends of the margins; the upper end of ``m[i, j]`` is ``-lower[j, i]``.
    """
    n = len(lower)
    sure = _by_majorities(lower > 0)
    upper = -lower.T
    while True:
        before = int(sure.sum())
        for i in range(n):
            todo = np.flatnonzero((lower[i] > 0) & ~sure[i] & ~sure[:, i])
            if not todo.size:
                continue
            # Row j, column k: k may stand between j and i, where j comes first.
            between = ~sure[:, todo].T & ~sure[i]
            between[np.arange(len(todo)), todo] = False
            between[:, i] = False
            for mix in _MIXES:
                against = np.maximum(mix * upper[todo] + (1 - mix) * upper[:, i], 0.0)
                sure[i, todo[lower[i, todo] > (against * between).sum(axis=1)]] = True
        sure = _closed(sure)
        if int(sure.sum()) == before:
            return sure


def surely_more_wins(lower: Floats) -> Mask:
    """Return [i, j] where i has more majorities than j, by Copeland, under every matrix of margins in a region."""
    wins = (lower > 0).sum(axis=1)
    losses = (lower > 0).sum(axis=0)
    return np.asarray(wins[:, None] > (len(lower) - 1 - losses))


def _by_majorities(beats: Mask) -> Mask:
    """Return what follows from majorities alone: sets whose members all beat all others come first.

    Each member of such a set of k items beats more items than any other does, so the sets are where the order by
    items beaten can be cut.
    """
    n = len(beats)
    order = np.argsort(-beats.sum(axis=1), kind="stable")
    sure = np.zeros((n, n), dtype=bool)
    for k in range(1, n):
        if beats[np.ix_(order[:k], order[k:])].all():
            sure[np.ix_(order[:k], order[k:])] = True
    return sure


def _closed(sure: Mask) -> Mask:
    """Return the pairs that follow from others: a before b and b before c."""
    while True:
        more = sure | (sure.astype(np.float32) @ sure.astype(np.float32) > 0)
        if (more == sure).all():
            return sure
        sure = more
