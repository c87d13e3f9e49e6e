"""Rules that sort items by a score: majorities won (Copeland), or the scores that voters gave.

They are often compared with a median. A score does not minimise a distance between rankings, so the loss is the
expected Kendall distance, and the bound is the loss with every pair in the order of its majority.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from time import perf_counter

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import TIED
from holdrank.errors import UsageError
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Consensus, expect_votes, tied_by_scores
from holdrank.status import Status
from holdrank.votes.limits import NUMBERS_AT_A_TIME
from holdrank.votes.memo import close
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

_MOST_DECIMALS = 12  # of scores that are added up exactly


def copeland(votes: Votes | PairCounts) -> Consensus:
    """Return Copeland's ranking: items sorted by the number of others that they beat by a majority.

    An item gets one point for each item that more votes place below it than above it, and half a point for each
    item with as many votes either way; a pair that no ballot compares is one of these.

    Notes
    -----
    ``score[i] = #{j : W[i, j] > W[j, i]} + #{j != i : W[i, j] = W[j, i]} / 2``. Equal scores stand in the order of
    the items, as with `borda`, and `unique` is then False. A winner against every other item comes first, and
    without majority cycles and ties the ranking is Kemeny's.

    Examples
    --------
    >>> c = copeland(Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["a", "c", "b"]]))
    >>> c.text(), c.unique, c.status.value
    ('a > b > c', True, 'exact: sorted by score, not a distance minimiser')
    """
    started = perf_counter()
    expect_votes(votes, "copeland", pairs=True)
    wins = votes.wins()
    scores = majorities(wins - wins.T, _margin_tolerance(votes))
    return _sorted(votes, scores, 0.0, "sorted by majorities won", started)


def mean_score(votes: Votes) -> Consensus:
    """Return the items sorted by the mean of the scores that voters gave them.

    For votes with scores: score tables from files or from `Votes.from_scores`. Scores count as negative where lower is
    better. All other rules use only the order of each voter's scores, so that a voter with a wide scale has no more
    influence than others; here the wide scale dominates.

    Notes
    -----
    ``score[i] = sum over voters of weight * score / sum of their weights``, over those who gave i a score; an item
    without any comes last. Equal means stand in the order of the items, as with `borda`. Voters who rank the items
    alike but give different scores stay separate: an attack can change any of them, and a bootstrap draws each
    separately.

    Means are compared exactly where weights are whole numbers and scores are short decimals: whole numbers below 2**53,
    or numbers that all have at most 12 decimals and, written with as many decimals each, at most 15 digits. Elsewhere,
    neighbours that differ by no more than 1e-12 of the largest mean count as equal.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"model": ["a", "b", "c"], "task 1": [9, 8, 1], "task 2": [2, 7, 5]})
    >>> mean_score(Votes.from_scores(table)).text()
    'b > a > c'
    """
    started = perf_counter()
    expect_votes(votes, "mean_score")
    return sorted_consensus(votes, tied_by_mean_score(votes), "sorted by mean score", started)


def tied_by_mean_score(votes: Votes) -> Ranking:
    """Return the items by falling mean score, tied where the means are equal (see `mean_score`)."""
    exact = _exact_sums(votes)
    if exact is not None:
        return tied_by_fractions(*exact)
    means = mean_scores(votes)
    return tied_by_scores(means, score_tolerance(means))


def tied_by_fractions(sums: Sequence[int], heard: Sequence[int]) -> Ranking:
    """Return the items by falling ``sum / heard``, tied where these are equal; items without any score come last."""
    means = [Fraction(total, count) if count else None for total, count in zip(sums, heard, strict=True)]
    place = {mean: k for k, mean in enumerate(sorted({mean for mean in means if mean is not None}, reverse=True))}
    return Ranking([len(place) if mean is None else place[mean] for mean in means])


def mean_scores(votes: Votes) -> Floats:
    """Return the mean score of each item; of items without any score, less than all others."""
    scores = scores_of(votes)
    least = float(np.nanmin(scores)) - 1.0
    exact, units = _exact_sums(votes), score_units(votes)
    if exact is not None and units is not None:
        unit = 10 ** units[1]
        return np.array([float(Fraction(a, unit * b)) if b else least for a, b in zip(*exact, strict=True)])
    given = ~np.isnan(scores)
    heard = votes.weights @ given
    sums = votes.weights @ np.where(given, scores, 0.0)
    return np.asarray(np.divide(sums, heard, out=np.full(votes.n, least), where=heard > 0))


def score_units(votes: Votes) -> tuple[npt.NDArray[np.int64], int] | None:
    """Return the scores as whole numbers of units, 0 where there is none, and k: a unit is ``10**-k``.

    None if the scores are not short decimals (see `mean_score`). k is as small as possible.

    Examples
    --------
    >>> units, k = score_units(Votes.from_score_rows([[0.5, 2], [0.25, np.nan]]))
    >>> units.tolist(), k
    ([[50, 200], [25, 0]], 2)
    """

    def find() -> tuple[npt.NDArray[np.int64], int] | None:
        scores = scores_of(votes)
        filled = np.where(np.isnan(scores), 0.0, scores)
        k = _decimals(filled)
        if k is None:
            return None
        filled *= 10.0**k
        units = np.rint(filled, out=filled).astype(np.int64)
        close(units)
        return units, k

    return votes._remember("score units", find)


def _decimals(scores: Floats) -> int | None:
    """Return how many decimals make all scores whole numbers of units; None if more than 12, or too many digits."""
    rows = max(1, NUMBERS_AT_A_TIME // scores.shape[1])
    blocks = [scores[at : at + rows] for at in range(0, len(scores), rows)]
    k = at = agreed = 0  # blocks in a row, and in a ring, for which k decimals are enough
    while agreed < len(blocks):
        if _are_whole(blocks[at], k):
            agreed, at = agreed + 1, (at + 1) % len(blocks)
        elif k < _MOST_DECIMALS:
            k, agreed = k + 1, 0
        else:
            return None
    return k


def _are_whole(scores: Floats, k: int) -> bool:
    """Whether every score is the float nearest to a whole number of ``10**-k``, and to one such number only."""
    # Floats tell such numbers apart up to 52 bits; whole scores are themselves, up to 53.
    units = np.rint(scores * 10.0**k)
    return bool((np.abs(units) < 2.0 ** (52 if k else 53)).all() and (units / 10.0**k == scores).all())


def _exact_sums(votes: Votes) -> tuple[list[int], list[int]] | None:
    """Return the sum of the scores of each item in units, and how many votes gave one; None if they are not whole."""
    found = score_units(votes)
    if found is None or not votes.is_counts:
        return None
    units, _ = found
    weights = votes.weights.astype(np.int64)
    heard = weights @ ~np.isnan(scores_of(votes))
    if votes.total * float(np.abs(units).max(initial=0)) < 2.0**62:
        return (weights @ units).tolist(), heard.tolist()
    # 16 bits of each score at a time: weights have 46 at most, so that no sum has more than 62.
    parts = [(units >> shift) & 0xFFFF for shift in (0, 16, 32)] + [units >> 48]
    sums = zip(*((weights @ part).tolist() for part in parts), strict=True)
    return [sum(part << (16 * k) for k, part in enumerate(each)) for each in sums], heard.tolist()


def scores_of(votes: Votes) -> Floats:
    """Return the scores of votes, or refuse votes that hold none."""
    if votes.scores is None:
        raise UsageError("the mean score needs scores, and these votes are rankings", repair="read a score table")
    return votes.scores


def score_tolerance(means: Floats) -> float:
    """Return the difference up to which inexact mean scores count as equal: the possible rounding error."""
    return 1e-12 * float(np.abs(means).max(initial=0.0))


def copeland_ties(votes: Votes) -> Ranking:
    """Return the items by Copeland's scores, tied where these are equal."""
    wins = votes.wins()
    return tied_by_scores(majorities(wins - wins.T, _margin_tolerance(votes)), 0.0)


def _margin_tolerance(votes: Votes | PairCounts) -> float:
    return 0.0 if votes.is_counts else TIED * float(votes.wins().max())


def majorities(margins: Floats, tolerance: float = 0.0) -> Floats:
    """Return Copeland's scores, (..., n), for margins ``W - W.T`` in the last two axes; smaller ones are ties."""
    beaten = (margins > tolerance).sum(axis=-1)
    even = (np.abs(margins) <= tolerance).sum(axis=-1) - 1  # the diagonal is not a pair
    return np.asarray(beaten + even / 2)


def _sorted(votes: Votes | PairCounts, scores: Floats, tolerance: float, proof: str, started: float) -> Consensus:
    return sorted_consensus(votes, tied_by_scores(scores, tolerance), proof, started)


def sorted_consensus(votes: Votes | PairCounts, tied: Ranking, proof: str, started: float | None = None) -> Consensus:
    """Return the consensus of a rule that sorts by a score, given the items tied where scores are equal.

    `proof` says how the ranking was obtained; `started` is the start time, by `time.perf_counter`.
    """
    ranking = Ranking.from_order(tied.order)  # tied items in the order of their numbers
    return Consensus(
        ranking=ranking,
        items=votes.items,
        loss=votes.loss(ranking),
        bound=votes.least_loss(),
        distance="kendall",
        status=Status.SORTED,
        unique=tied.is_strict,
        proof=proof,
        seconds=0.0 if started is None else perf_counter() - started,
    )
