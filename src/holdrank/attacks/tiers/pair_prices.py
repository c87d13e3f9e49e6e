"""Lower bounds on moving a single pair of items across a level of deviation: a formula for each change.

One ballot says one thing about a pair: i above j, j above i, a tie, or nothing. Let w be the share of all votes that
ranks i above j (ties half), c the share that compares the two. "P[i, j] is at most 1/2 + x" is the condition
``w - (1/2 + x) c <= 0``.
One ballot counts between ``-(1/2 + x)`` and ``1/2 - x`` on the left side. So a vote replaced moves it by 1 at most, a
vote dropped lowers it by ``1/2 - x`` at most and raises it by ``1/2 + x``, a vote added the other way round. The
missing amount, divided by that, is a share of votes below which the level is not reached. No other pair matters for
this.
"""

from __future__ import annotations

import numpy as np

from holdrank.arrays.tolerances import DECIMALS
from holdrank.rankings import Floats
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_ROUNDED = 2 * 10.0**-DECIMALS  # merges round deviations: a level is reached a little before it
_SAFE = 2e-11  # rounding of sums of shares, also where rules take nearly equal sums for equal


class PairPrices:
    """Prices of pairs, for arrays of items i and j or for all pairs at once.

    Attributes
    ----------
    deviation : (n, n) array
        ``|P - 1/2|``, 0 for pairs that no vote compares.
    reversals : (n, n) array
        At [b, a] the minimum share of the votes after which b is preferred to a by as many as a to b.
    """

    def __init__(self, votes: Votes, change: Change) -> None:
        self.change = change
        wins = votes.wins() / votes.total
        self._wins, self._compared = np.maximum(wins, wins.T), wins + wins.T
        half = np.divide(self._wins, self._compared, out=np.full_like(wins, 0.5), where=self._compared > 0)
        self.deviation: Floats = half - 0.5
        self.reversals: Floats = self._paid(self._compared / 2 - wins, 0.5, rises=True)

    def fall(self, i: object, j: object, level: float) -> Floats:
        """Return (a lower bound on) the minimum share of the votes after which pairs deviate by at most a level."""
        at = 0.5 + level + _ROUNDED
        return self._paid(self._wins[i, j] - at * self._compared[i, j], at, rises=False)  # type: ignore[index]

    def rise(self, i: object, j: object, level: float) -> Floats:
        """Return (a lower bound on) the minimum share of votes after which pairs deviate by at least a level."""
        at = 0.5 + max(level - _ROUNDED, 0.0)
        return self._paid(at * self._compared[i, j] - self._wins[i, j], at, rises=True)  # type: ignore[index]

    def _paid(self, missing: Floats, at: float, *, rises: bool) -> Floats:
        """Return the share of votes that covers the missing amount."""
        one_vote = 1.0
        if not self.change.keeps_total:
            one_vote = at if self.change.takes == rises else 1 - at
        missing = missing - _SAFE
        if one_vote <= 0:
            return np.where(missing > 0, np.inf, 0.0)
        return np.asarray(np.maximum(missing, 0.0) / one_vote)
