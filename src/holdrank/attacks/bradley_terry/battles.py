"""Votes as battles: wins between two items, ties, and the strengths that explain them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdrank.attacks.plans import Plan
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import tied_by_scores
from holdrank.rules.strengths import RIDGE, nearer_strengths, strength_tolerance, strengths
from holdrank.votes.votes import Votes


@dataclass(frozen=True, eq=False)
class Battles:
    """Battles between items, and the row of each type of battle among the distinct ballots.

    Attributes
    ----------
    wins : (n, n) array
        ``wins[i, j]`` battles that i won against j; a tie is half a win for each.
    won, tied : (n, n) arrays
        The same without ties, and the ties, ``tied[i, j]`` for i below j.
    total : float
        Number of votes, ballots over a single item included: the ridge is in proportion to them.
    row_of_win, row_of_tie : (n, n) arrays of int
        The distinct ballot, -1 where there is none.
    is_counts : bool
        Whether battles are whole.
    """

    wins: Floats
    won: Floats
    tied: Floats
    total: float
    row_of_win: Ints
    row_of_tie: Ints
    distinct: int
    is_counts: bool

    @classmethod
    def of(cls, votes: Votes) -> Battles:
        """Return the battles of votes whose ballots hold two items at most."""
        ranks = votes.ranks
        n = votes.n
        rows = np.flatnonzero((ranks != 0).sum(axis=1) == 2)
        first = (ranks[rows] != 0).argmax(axis=1)
        second = n - 1 - (ranks[rows, ::-1] != 0).argmax(axis=1)
        gap = ranks[rows, first].astype(np.int64) - ranks[rows, second]
        weights = votes.weights[rows]
        won, tied = np.zeros((n, n)), np.zeros((n, n))
        row_of_win, row_of_tie = np.full((n, n), -1), np.full((n, n), -1)
        high, low = np.where(gap <= 0, first, second), np.where(gap <= 0, second, first)
        for table, row_of, which in ((won, row_of_win, gap != 0), (tied, row_of_tie, gap == 0)):
            table[high[which], low[which]] = weights[which]
            row_of[high[which], low[which]] = rows[which]
        wins = won + (tied + tied.T) / 2
        return cls(wins, won, tied, votes.total, row_of_win, row_of_tie, votes.distinct, votes.is_counts)

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.wins)

    @cached_property
    def strengths(self) -> Floats:
        """The strengths of the items."""
        return self.fitted(self.wins, self.total)

    def fitted(self, wins: Floats, total: float | Floats, start: Floats | None = None) -> Floats:
        """Return the strengths for other wins, as the rule fits them; many at once, each with its total."""
        return strengths(wins / np.asarray(total)[..., None, None], RIDGE, start)[0]

    def nearly_fitted(self, wins: Floats, total: float, start: Floats) -> Floats:
        """Return approximate strengths for other wins, given those for wins that differ slightly."""
        return nearer_strengths(wins / total, RIDGE, start)

    def plan(self, taken: Floats, ties_taken: Floats, put: Floats, ties_put: Floats | None = None) -> Plan:
        """Return a change of battles as a change of votes: wins and ties removed, wins and ties added."""
        removed = np.zeros(self.distinct)
        for table, row_of in ((taken, self.row_of_win), (ties_taken, self.row_of_tie)):
            some = table > 0
            removed[row_of[some]] = table[some]
        ballots, weights = [], []
        for second, come in ((2, put), (1, put[:0] if ties_put is None else ties_put)):
            for i, j in np.argwhere(come).tolist():
                ballot = np.zeros(self.n, dtype=np.int64)
                ballot[i], ballot[j] = 1, second
                ballots.append(ballot)
                weights.append(float(come[i, j]))
        return Plan(removed, np.array(ballots, dtype=np.int64).reshape(-1, self.n), np.array(weights))


def ranked(fitted: Floats) -> Ranking:
    """Return the items by strength, tied where the rule counts their strengths as equal."""
    return tied_by_scores(fitted, strength_tolerance(fitted))
