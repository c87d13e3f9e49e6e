"""Bradley-Terry ratings by a second method: ballot by ballot, without the rule's own formulas.

Ratings are statistics, in floats. The check is that a second fit gives the same numbers, to the stated precision. This
fit fixes the strength of the last item at 0; the rule's own fixes the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from holdrank.rankings import Floats
from holdrank.votes.votes import Votes
from holdrank.words import ratings as words

_STEPS = 200
_AT_A_TIME = 2_000_000  # numbers
_MOST_WORK = 100_000_000  # comparisons of pairs in all distinct ballots
_NO_SPREAD = 1e-9  # of the definition: standard errors of strengths below this are rounding
_EDGE = 100.0  # so near to that, in either direction, nothing is decided


class Refit(NamedTuple):
    """Strengths and their standard errors, NaN where votes determine none; and the notes that go with them."""

    strengths: Floats
    errors: Floats
    comparisons: Floats
    notes: tuple[str, ...]


def refitted(votes: Votes, order: Sequence[int], ridge: float) -> Refit | None:
    """Fit ratings again; None for too many votes, or where a case is too close to decide."""
    n = votes.n
    compared = votes.ballots.listed.astype(np.float64) if votes.observed else np.full(votes.distinct, n)
    if float((compared**2).sum()) > _MOST_WORK:
        return None
    wins = _wins(votes)
    comparisons = wins.sum(axis=0) + wins.sum(axis=1)
    nowhere = np.full(n, math.nan)
    reach = _closure(wins > 0)
    groups = {tuple(map(int, np.flatnonzero(row))) for row in (reach & reach.T)}
    rated = max(map(list, groups), key=lambda group: (len(group), float(wins[np.ix_(group, group)].sum()), -group[0]))
    if len(rated) < 2:
        return Refit(nowhere, nowhere, comparisons, (words.NO_RATINGS,))
    s = _fit(wins[np.ix_(rated, rated)])
    if s is None:
        return None
    strengths = nowhere.copy()
    strengths[rated] = s
    ahead, behind = reach[:, rated[0]], reach[rated[0]]
    apart = [np.flatnonzero(group).tolist() for group in (ahead & ~behind, behind & ~ahead, ~ahead & ~behind)]
    notes = words.unrated_notes(votes.items, *apart)
    errors, more = _errors(votes, wins, rated, s)
    if errors is None:
        return None
    along = strengths[list(order)]
    along = along[np.isfinite(along)]
    steps, equal = np.diff(along), 1e-8 * max(float(np.ptp(along)), 1.0)
    if (np.abs(steps - equal) < equal / 10).any():
        return None
    rises = int((steps > equal).sum())
    notes = (*notes, *more, *([words.other_order_note(ridge, rises)] if rises else []))
    return Refit(strengths, errors, comparisons, notes)


def _wins(votes: Votes) -> Floats:
    """Return how often each item is placed above each other one, a tie counting half."""
    ranks = votes.ranks.astype(np.int64)
    listed = ranks > 0
    place = np.where(listed, ranks, np.iinfo(np.int64).max)
    found = np.zeros((votes.n, votes.n))
    for i in range(votes.n):
        rows = np.flatnonzero(listed[:, i]) if votes.observed else np.arange(len(ranks))
        says = (place[rows, i, None] < place[rows]) + 0.5 * (place[rows, i, None] == place[rows])
        if votes.observed:
            says = says * listed[rows]
        found[i] = votes.weights[rows] @ says
        found[i, i] = 0.0
    return found


def _closure(edges: np.ndarray) -> np.ndarray:
    """Return which items lead to which along edges, each to itself included (Warshall)."""
    found = edges | np.eye(len(edges), dtype=bool)
    for k in range(len(found)):
        found |= found[:, [k]] & found[[k]]
    return found


def _fit(wins: Floats) -> Floats | None:
    """Return strengths of mean 0 by Newton's method with the last one at 0; None where it does not settle."""
    n = len(wins)
    fought = wins + wins.T
    free = np.zeros(n - 1)
    for _ in range(_STEPS):
        s = np.append(free, 0.0)
        expected = 1 / (1 + np.exp(np.clip(s - s[:, None], -700, 700)))
        slope = wins.sum(axis=1) - (fought * expected).sum(axis=1)
        curvature = _laplacian(fought * expected * expected.T)[:-1, :-1]
        try:
            step = np.linalg.solve(curvature, slope[:-1])
        except np.linalg.LinAlgError:
            return None
        longest = float(np.abs(step).max())
        free = free + step / max(1.0, longest)
        if longest <= 1e-11 * max(float(np.ptp(s)), 1.0):
            s = np.append(free, 0.0)
            return np.asarray(s - s.mean())
    return None


def _laplacian(weights: Floats) -> Floats:
    found: Floats = np.diag(weights.sum(axis=1)) - weights
    return found


def _errors(votes: Votes, wins: Floats, rated: list[int], s: Floats) -> tuple[Floats | None, tuple[str, ...]]:
    """Return the standard errors of strengths by the sandwich, and notes on those that are missing."""
    errors = np.full(votes.n, math.nan)
    inside = wins[np.ix_(rated, rated)]
    if not votes.is_counts:
        return errors, (words.SHARES,)
    enough = min(votes.total, float(inside.sum()))
    if enough < len(rated):
        return errors, (words.too_few_note(enough, len(rated)),)
    expected = 1 / (1 + np.exp(s - s[:, None]))
    curvature = _laplacian((inside + inside.T) * expected * expected.T)
    try:
        reduced = np.linalg.inv(curvature[:-1, :-1])
    except np.linalg.LinAlgError:
        return None, ()
    # From strengths with the last at 0 to strengths with mean 0.
    bread = np.zeros_like(curvature)
    bread[:-1, :-1] = reduced
    bread -= bread.mean(axis=0)
    middle = _squares(votes, rated, expected)
    variances = np.einsum("ij,jk,ik->i", bread, middle, bread)
    found = np.sqrt(np.maximum(variances, 0.0))
    if ((found > _NO_SPREAD / _EDGE) & (found < _NO_SPREAD * _EDGE)).any():
        return None, ()
    flat = found <= _NO_SPREAD
    errors[rated] = np.where(flat, math.nan, found)
    return errors, (words.no_spread_note(votes.items, np.array(rated)[flat].tolist()),) if flat.any() else ()


def _squares(votes: Votes, rated: list[int], expected: Floats) -> Floats:
    """Return the sum over ballots of the outer products of their slopes, pair by pair of what each compares."""
    found = np.zeros((len(rated), len(rated)))
    ranks = votes.ranks[:, rated].astype(np.int64)
    listed = ranks > 0
    many = listed.sum(axis=1) if votes.observed else np.full(len(ranks), len(rated))
    place = np.where(listed, ranks, np.iinfo(np.int64).max)
    for size in np.unique(many[many > 1]).tolist():
        alike = np.flatnonzero(many == size)
        for start in range(0, len(alike), rows := max(1, _AT_A_TIME // size**2)):
            part = alike[start : start + rows]
            who = np.argsort(place[part], axis=1, kind="stable")[:, :size]
            mine = np.take_along_axis(place[part], who, axis=1)
            one, other = mine[:, :, None], mine[:, None, :]
            pairs = who[:, :, None], who[:, None, :]
            says = np.where(one < other, 1.0, np.where(one == other, 0.5, 0.0)) - expected[pairs]
            says[:, np.arange(size), np.arange(size)] = 0.0
            slopes = says.sum(axis=2)
            squares = votes.weights[part, None, None] * slopes[:, :, None] * slopes[:, None, :]
            np.add.at(found, pairs, squares)
    return found
