"""Scores that rules sort by, with their covariance: from the ballots, or from clusters of them.

Each score is a mean over votes, or solves an equation of such means, so one vote moves it by its influence, to first
order. The covariance adds up the squares of the influences of independent units: of single votes, or of all votes of a
cluster together (Huber and White, Liang and Zeger).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from holdrank.analysis.chance.stepdown import Estimate
from holdrank.rankings import Floats
from holdrank.rules.ratings import RatingModel
from holdrank.rules.sandwich import filling_by_groups, points_of_ballots
from holdrank.rules.scores import mean_scores, scores_of
from holdrank.rules.strengths import RIDGE
from holdrank.votes.groups import Groups
from holdrank.votes.limits import NUMBERS_AT_A_TIME
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

Influences: TypeAlias = Iterator[tuple[slice, Floats]]
Estimator: TypeAlias = Callable[[Votes, Groups | None], Estimate]


def points(votes: Votes, groups: Groups | None) -> Estimate:
    """Return Borda's scores as points of a ballot: how many others it places below each item."""
    return _with_spread(votes, groups, *point_influences(votes))


def point_influences(votes: Votes) -> tuple[Floats, Influences]:
    """Return the mean points, and how far the points of each ballot are from them, part by part."""
    mean = votes.wins().sum(axis=1) / votes.total
    return mean, ((part, each - mean) for part, each in points_of_ballots(votes))


def mean_of_scores(votes: Votes, groups: Groups | None) -> Estimate:
    """Return mean scores, of the voters who gave one."""
    return _with_spread(votes, groups, *score_influences(votes))


def score_influences(votes: Votes) -> tuple[Floats, Influences]:
    """Return the mean scores, NaN where there is none, and the influence of each ballot on them, part by part."""
    scores = scores_of(votes)
    heard = votes.weights @ ~np.isnan(scores)
    means = np.where(heard > 0, mean_scores(votes), np.nan)
    rows = max(1, NUMBERS_AT_A_TIME // votes.n)

    def influences() -> Iterator[tuple[slice, Floats]]:
        for at in range(0, votes.distinct, rows):
            part = slice(at, at + rows)
            yield part, np.nan_to_num(scores[part] - means) * (votes.total / np.where(heard > 0, heard, 1.0))

    return means, influences()


def strengths(votes: Votes | PairCounts, groups: Groups | None) -> Estimate:
    """Return Bradley-Terry strengths; or points, which have the same order, where all pairs are compared."""
    if isinstance(votes, Votes) and votes.compares_all:
        return points(votes, groups)
    values, cov = RatingModel(votes, RIDGE, None, None).estimate(groups)
    units = votes.total if groups is None else float(len(groups))
    return Estimate(values, cov * (units / max(units - 1, 1)), effective_units(votes.total, groups))


def effective_units(total: float, groups: Groups | None) -> float:
    """Return the effective number of votes, or of groups of equal size: one large group among small ones adds little.

    This is Kish's formula: the square of the sum of their sizes over the sum of the squares.
    """
    return total if groups is None else float(groups.totals.sum() ** 2 / (groups.totals**2).sum())


def _with_spread(votes: Votes, groups: Groups | None, values: Floats, influences: Influences) -> Estimate:
    """Return values with the covariance by the influence of each ballot on them."""
    units = votes.total if groups is None else float(len(groups))
    filling = np.zeros((votes.n, votes.n))
    if groups is not None:
        filling = filling_by_groups(groups, influences, votes.n)
    else:
        for part, slopes in influences:
            filling += slopes.T @ (votes.weights[part, None] * slopes)
    spread = filling / votes.total**2 * (units / max(units - 1, 1))
    return Estimate(values, spread, effective_units(votes.total, groups))
