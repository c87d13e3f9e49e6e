"""The covariance of strengths, by the sandwich estimator of Huber and White.

The bread is the inverse Hessian of the likelihood; the filling is the variance of the votes' gradients. Unlike the
inverse Hessian alone, the result stays valid if votes do not follow the Bradley-Terry model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdrank.rankings import Floats, Ints
from holdrank.rules.strengths import hessian_at
from holdrank.votes.ballots import Ballots
from holdrank.votes.groups import Groups
from holdrank.votes.limits import NUMBERS_AT_A_TIME
from holdrank.votes.votes import Votes


def covariance(compared: Floats, weights: Floats, s: Floats, filling: Floats, damping: float) -> Floats:
    """Return the covariance of strengths whose sum is 0.

    Parameters
    ----------
    compared : (n, n) array of float
        How often each pair is compared.
    weights : (n, n) array of float
        The weight of one comparison of a pair in the likelihood.
    s : (n,) array of float
        The strengths.
    filling : (n, n) array of float
        The sum over votes of the outer products of their slopes.
    damping : float
        Added to the diagonal of the curvature.
    """
    loses = 1 / (1 + np.exp(s[:, None] - s))
    curvature = compared * weights
    unit = float(curvature.sum(axis=1).max())  # so that all numbers are of the size of 1
    bread = np.linalg.inv(hessian_at(curvature / unit, loses, damping / unit)) / unit
    return np.asarray(bread @ filling @ bread)


def filling_of_pairs(wins: Floats, ties: Floats | None, weights: Floats, s: Floats) -> Floats:
    """Return the sum of the outer products of slopes where every comparison is a separate vote.

    A win that had the probability p has the slope 1 - p, a tie 1/2 - p. A tie is in `wins` as two halves, and half a
    win and half a loss have squares that add up to 1/4 more than that of a tie. So, where ties are not known, the sum
    is too large by a quarter for each, never too small.
    """
    loses = 1 / (1 + np.exp(s[:, None] - s))
    squares = wins * loses**2
    squares = squares + squares.T
    if ties is not None:
        squares -= ties / 4
    squares *= weights**2
    filling: Floats = -squares
    np.fill_diagonal(filling, squares.sum(axis=1))
    return filling


def filling_of_ballots(votes: Votes, items: Ints, weights: Floats | None, s: Floats) -> Floats:
    """Return the sum of the outer products of slopes, one for each ballot: its comparisons are not independent.

    `items` are those that have strengths, `weights` what a comparison of two of them counts, if not 1.
    """
    observed = votes.observed
    ballots, expected = _rated_ballots(votes, items, s)
    filling = np.zeros((len(items), len(items)))
    if weights is None:
        parts = plain_slopes(ballots, expected, observed)
    else:
        parts = _weighted_slopes(ballots, expected, weights, observed)
    for part, slopes in parts:
        filling += slopes.T @ (votes.weights[part, None] * slopes)
    return filling


def filling_of_groups(votes: Votes, items: Ints, s: Floats, groups: Groups) -> Floats:
    """Return the sum of the outer products of slopes, one for each group of votes: its votes are not independent."""
    ballots, expected = _rated_ballots(votes, items, s)
    return filling_by_groups(groups, plain_slopes(ballots, expected, votes.observed), len(items))


def filling_by_groups(groups: Groups, slopes: Iterator[tuple[slice, Floats]], n: int) -> Floats:
    """Return the sum over groups of the outer products of what their ballots add up to."""
    order = np.argsort(groups.ballot, kind="stable")
    group, ballot, weight = groups.group[order], groups.ballot[order], groups.weight[order]
    sums = np.zeros((len(groups), n))
    for part, each in slopes:
        first, last = np.searchsorted(ballot, (part.start, part.start + len(each))).tolist()
        who, row, share = group[first:last], ballot[first:last] - part.start, weight[first:last]
        for k in range(n):
            sums[:, k] += np.bincount(who, weights=share * each[row, k], minlength=len(groups))
    return np.asarray(sums.T @ sums)


def _rated_ballots(votes: Votes, items: Ints, s: Floats) -> tuple[Ballots, Floats]:
    """Return the ballots over some items, and how likely each of these is placed above each other."""
    expected = 1 / (1 + np.exp(s - s[:, None]))
    np.fill_diagonal(expected, 0.0)
    return votes.ballots.without_scores().columns(items).without_gaps(), expected


def points_of_ballots(votes: Votes) -> Iterator[tuple[slice, Floats]]:
    """Yield Borda's points, part by part: how many others each ballot places below each item, ties half."""
    nothing = np.zeros((votes.n, votes.n))
    return plain_slopes(votes.ballots.without_scores(), nothing, votes.observed)


def plain_slopes(ballots: Ballots, expected: Floats, observed: bool) -> Iterator[tuple[slice, Floats]]:
    """Yield the slopes of ballots, part by part, from the places of their items."""
    listed = ballots.listed
    for part, places in ballots.places():
        if observed:
            lists = (ballots.take(part).matrix() > 0).astype(np.float64)
            yield part, (listed[part, None] - places - lists @ expected.T) * lists
        else:
            yield part, places.shape[1] - places - expected.sum(axis=1)


def _weighted_slopes(
    ballots: Ballots, expected: Floats, weights: Floats, observed: bool
) -> Iterator[tuple[slice, Floats]]:
    """Yield the slopes of ballots, part by part, pair by pair, where pairs have weights."""
    m, n = ballots.shape
    for start in range(0, m, rows := max(1, NUMBERS_AT_A_TIME // n**2)):
        part = slice(start, min(start + rows, m))
        ranks = ballots.take(part).matrix().astype(np.int64)
        lists = ranks > 0
        ranks[~lists] = n + 1
        one, other = ranks[:, :, None], ranks[:, None, :]
        surprise = (one < other) + (one == other) / 2 - expected
        if observed:
            surprise *= lists[:, :, None] & lists[:, None, :]
        np.einsum("kii->ki", surprise)[:] = 0.0
        yield part, np.einsum("kij,ij->ki", surprise, weights)
