"""The Bradley-Terry rule: items sorted by the strengths that best explain their pairwise wins."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np

from holdrank.arrays.tolerances import TIED
from holdrank.errors import Message, Option, UsageError, quote, real_number
from holdrank.rankings import Floats, Ranking
from holdrank.rules.consensus import Consensus, expect_votes, tied_by_scores
from holdrank.rules.ratings import FLOOR, RatingModel, pair_weights
from holdrank.rules.scores import sorted_consensus
from holdrank.rules.strengths import RIDGE, connections, strength_tolerance, strengths, win_probabilities
from holdrank.rules.ties import TieModel, TieRatingModel, tie_counts, tied_strengths
from holdrank.votes.limits import NUMBERS_AT_A_TIME
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes


def bradley_terry(
    votes: Votes | PairCounts,
    *,
    ridge: float = RIDGE,
    reweight: bool = False,
    floor: float = FLOOR,
    ties: TieModel = "half",
) -> Consensus:
    """Return the items sorted by their strengths in the Bradley-Terry model, the model behind Elo ratings.

    The model: i is placed above j with probability ``1 / (1 + exp(s[j] - s[i]))``. The strengths s maximise the
    likelihood of the pairwise wins of the votes, with a small penalty on large strengths.

    Parameters
    ----------
    votes : Votes or PairCounts
    ridge : float
        Weight of the penalty. Some ridge is needed for strengths to exist when an item wins, or loses, all its
        comparisons. 0 is allowed where every item can be reached from every other along wins.
    reweight : bool
        Whether all pairs have the same weight, no matter how often they were compared: a comparison of a pair weighs
        ``1 / max(count of the pair, floor)``.
    floor : float
        Pairs compared less often than this do not gain weight.
    ties : {"half", "davidson", "rao-kupper"}
        How ties count: half a win for each, or a separate outcome with a fitted parameter (battles only). By Davidson,
        wins of i, wins of j and ties are in proportion ``p[i] : p[j] : nu * sqrt(p[i] * p[j])``, where ``p = exp(s)``.
        By Rao and Kupper, i wins with probability ``p[i] / (p[i] + theta * p[j])``, and j likewise. `Ratings.tie` has
        nu or theta.

    Notes
    -----
    Maximises ``sum over i, j of W[i, j] / total * log(1 / (1 + exp(s[j] - s[i]))) - ridge / 2 * sum of s[i]**2``, a
    strictly concave function, by Newton's method; a tie in a ballot is half a win for each. The penalty is proportional
    to the number of votes, so that the ranking depends only on their shares. Strengths closer than 1e-8 of their range
    count as equal, and equal items stand in their order, as with `borda`. Where every ballot compares every pair, the
    order is that of the pairwise wins and nothing is fitted.

    `proof` says how many steps were taken and what depends on the ridge. Groups of items that no ballot connects are
    each centred at strength 0: the votes do not determine the order between such groups.

    `Consensus.ratings` gives strengths, ratings, standard errors and confidence intervals. Attacks, tiers and the
    bootstrap use the rule without options.

    Examples
    --------
    >>> c = bradley_terry(Votes.from_orders([["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"]], unlisted="observed"))
    >>> c.text()
    'a > b > c'
    >>> c.proof.split("; ")
    ['sorted by strength', '... Newton steps', 'wins connect all items']
    """
    started = perf_counter()
    expect_votes(votes, "bradley_terry", pairs=True)
    if ties not in (known := ("half", "davidson", "rao-kupper")):
        raise UsageError(f"ties must be one of {', '.join(known)}, not {quote(str(ties))}")
    if ties != "half" and reweight:
        raise UsageError(
            "reweight needs ties as half wins", repair=Message("use ", Option("ties", "half"), " or do not reweight")
        )
    if not (isinstance(ridge, int | float | np.number) and math.isfinite(ridge) and ridge >= 0):
        raise UsageError(f"ridge must be 0 or more, not {quote(str(ridge))}")
    least = real_number(floor)
    if least is None or not 0 < least < math.inf:
        raise UsageError(f"floor must be a number above 0, not {quote(str(floor))}")
    shares = votes.wins() / votes.total
    if reweight:
        weighted = votes.wins() * pair_weights(votes.wins(), least)
        shares = weighted * (shares.sum() / (weighted.sum() or 1.0))
    model = RatingModel(votes, float(ridge), least if reweight else None, None)
    enough, connected = connections(shares)
    if ridge == 0 and not enough:
        raise UsageError(f"without a ridge there are no strengths: {connected}", repair="use a ridge above 0")
    if ties != "half":
        won, even = tie_counts(votes)
        fitted, _, steps = tied_strengths(won / votes.total, even / votes.total, float(ridge), ties)
        model = TieRatingModel(votes, float(ridge), None, fitted, ties)
        proof = f"sorted by strength, ties by {ties}; {steps} Newton step{'s' * (steps != 1)}; {connected}"
        found = sorted_consensus(votes, tied_by_scores(fitted, strength_tolerance(fitted)), proof, started)
        return replace(found, _model=model)
    if votes.compares_all:
        tied = tied_by_scores(*_total_wins(votes))
        found = sorted_consensus(votes, tied, f"sorted by strength, as by pairwise wins; {connected}", started)
        return replace(found, _model=model)
    fitted, steps = strengths(shares, float(ridge))
    proof = f"sorted by strength; {steps} Newton step{'s' * (steps != 1)}; {connected}"
    found = sorted_consensus(votes, tied_by_scores(fitted, strength_tolerance(fitted)), proof, started)
    return replace(found, _model=replace(model, near=fitted))


def _total_wins(votes: Votes | PairCounts) -> tuple[Floats, float]:
    """Return the pairwise wins of each item, and the difference up to which they count as equal.

    Where every ballot compares every pair, the strengths fall in the order of these, for any ridge, and need not be
    fitted: the slope of the likelihood says ``wins of i = expected wins of i + ridge * s[i]``, and the right side grows
    with ``s[i]``.
    """
    wins = votes.wins().sum(axis=1)
    return wins, 0.0 if votes.is_counts else TIED * float(wins.max())


def bradley_terry_ties(votes: Votes) -> Ranking:
    """Return the items by strength, tied where strengths count as equal."""
    if votes.compares_all:
        return tied_by_scores(*_total_wins(votes))
    fitted, _ = strengths(votes.wins() / votes.total, RIDGE)
    return tied_by_scores(fitted, strength_tolerance(fitted))


def bradley_terry_probabilities(wins: Floats, total: float) -> Floats:
    """Return the probability that each item ranks above each other, by the model fitted to pairwise wins."""
    return win_probabilities(strengths(wins / total, RIDGE)[0])


def bradley_terry_without_each(votes: Votes | PairCounts) -> Iterator[Ranking]:
    """Yield the rankings of the other items when each item is removed: many fits at once, from the strengths of all."""
    wins, n = votes.wins(), votes.n
    others = np.array([[i for i in range(n) if i != k] for k in range(n)], dtype=np.intp)
    if votes.compares_all:
        scores = wins.sum(axis=1) - wins.T  # row k: the wins of each item over all but k
        for s in (scores[k, others[k]] for k in range(n)):
            yield _strictly(s, 0.0 if votes.is_counts else TIED * float(s.max(initial=0.0)))
        return
    totals = np.full(n, votes.total)
    if isinstance(votes, Votes):  # a ballot that lists no other item is dropped
        alone = votes.ballots.listed == 1
        totals -= votes.ballots.take(alone).listed_weights(votes.weights[alone]) if alone.any() else 0.0
    near, _ = strengths(wins / votes.total, RIDGE)
    for start in range(0, n, rows := max(1, NUMBERS_AT_A_TIME // n**2)):
        part = others[start : start + rows]
        shares = wins[part[:, :, None], part[:, None, :]] / totals[start : start + rows, None, None]
        fitted, _ = strengths(shares, RIDGE, near[part])
        yield from (_strictly(s, strength_tolerance(s)) for s in fitted)


def bradley_terry_of_wins(wins: Floats, totals: Floats, near: tuple[Floats, float]) -> Iterator[Ranking]:
    """Yield the rankings for many matrices of whole pairwise wins, fitted together from the strengths of `near`.

    Wins and numbers of votes, of each and of `near`. Where every vote compares every pair, nothing is fitted.
    """
    n = wins.shape[-1]
    apart = ~np.eye(n, dtype=bool)
    full = (wins + np.swapaxes(wins, -1, -2) == totals[:, None, None])[:, apart].all(axis=1)
    fitted = np.zeros(wins.shape[:2])
    if not full.all():
        start, _ = strengths(near[0] / near[1], RIDGE)
        some = ~full
        fitted[some], _ = strengths(wins[some] / totals[some, None, None], RIDGE, np.tile(start, (int(some.sum()), 1)))
    for k, s in enumerate(fitted):
        yield _strictly(wins[k].sum(axis=1), 0.0) if full[k] else _strictly(s, strength_tolerance(s))


def _strictly(scores: Floats, tolerance: float) -> Ranking:
    return Ranking.from_order(tied_by_scores(scores, tolerance).order)
