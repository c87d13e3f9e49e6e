"""The "auto" threshold: ties items that differ by no more than chance, but no pair that chance and votes both separate.

The deviation of a pair is abs(P - 1/2). A pair is separated by chance if its deviation exceeds the sampling error at 95
%, and by votes if one changed vote neither levels nor reverses it. Two ends bound the threshold:

- `high`: the smallest deviation of a pair that is separated by both, but at most 1/4. Tiers tie no such pair, nor one
  on which three voters of four agree.
- `low`: half of that or, if larger, the largest deviation below `high` of a pair that one vote levels or reverses.

Between the two, the threshold lies as far from all deviations as possible. That is the most robust choice, because a
pair must cross it before the tiers change. Of several equally good values it is the smallest, which loses least.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.rankings import Floats
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

LEVEL = 0.95  # of the test that a pair is separated by chance
MOST = 0.25  # three voters of four


@dataclass(frozen=True, slots=True)
class Window:
    """The range for the threshold, and the threshold.

    Attributes
    ----------
    low, high : float
        The ends; see the module.
    theta : float
        The threshold between them.
    """

    low: float
    high: float
    theta: float


def window(deviations: Floats, errors: Floats, one_vote: Floats) -> Window:
    """Return the threshold for pairs with these deviations.

    Parameters
    ----------
    deviations : array
        ``abs(P - 1/2)`` of every pair that was compared.
    errors : array
        The sampling error of each deviation, at `LEVEL`.
    one_vote : array
        The largest deviation that one changed vote levels or reverses.

    Examples
    --------
    >>> found = window(np.array([0.01, 0.12, 0.3]), np.full(3, 0.1), np.full(3, 0.01))
    >>> found.low, found.high, round(found.theta, 3)
    (0.06, 0.12, 0.065)
    """
    separated = deviations > np.maximum(errors, one_vote)
    high = min(float(deviations.min(where=separated, initial=0.5)), MOST)
    fragile = (deviations <= one_vote) & (deviations < high)
    low = max(high / 2, float(deviations.max(where=fragile, initial=0.0)))
    marks = np.unique(np.append(deviations, (0.0, 0.5)))
    theta = np.clip((marks[:-1] + marks[1:]) / 2, low, high)
    inside = (marks[:-1] <= theta) & (theta < marks[1:])
    clear = np.where(inside, np.minimum(theta - marks[:-1], marks[1:] - theta), -1.0)
    return Window(low, high, float(theta[np.flatnonzero(clear >= clear.max() - SAME)[0]]))


def chance_window(votes: Votes | PairCounts, P: Floats, spread: Floats | None) -> Window:
    """Return the threshold for votes, given the matrix P by which they are merged.

    Shares of votes have no sampling error, and a single vote has no weight. For a rule with a model, `spread` holds the
    standard errors of the differences of strengths, and one vote hardly moves a pair; otherwise it is None, and each
    pair is tested separately.
    """
    wins = votes.wins()
    above = np.triu_indices(len(votes.items), 1)
    compared = (wins + wins.T)[above]
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    deviations = np.abs(np.asarray(P) - 0.5)[above]
    if spread is not None:
        errors = 1 / (1 + np.exp(-z * np.minimum(spread[above], 700.0 / z))) - 0.5
        return window(deviations, errors, np.zeros_like(errors))
    some = compared > 0
    votes_on = compared[some] if votes.is_counts else np.full(int(some.sum()), np.inf)
    return window(deviations[some], z / (2 * np.sqrt(votes_on)), 1 / votes_on)
