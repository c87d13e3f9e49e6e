"""Lower bounds on lifting one item to another, pair by pair, for rules without an exact engine.

`Hints` hold what the search for attacks uses about a rule: these bounds, and where to push.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from holdrank.attacks.borda.races import Races
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Plan
from holdrank.attacks.whole import Whole
from holdrank.rankings import Floats
from holdrank.rules.consensus import Statistic
from holdrank.rules.registry import equip, rule_of
from holdrank.rules.scores import score_units
from holdrank.rules.strengths import strength_pull
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_SCORE_ROUNDING = 4e-12  # of the largest score: error of sums of scores that are not short decimals


def _nothing(votes: Votes, change: Change) -> None:  # noqa: ARG001
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the search for attacks uses about a rule; all fields are optional.

    Attributes
    ----------
    prices : callable
        (votes, change) to an array, or None: no attack that lifts b to a's height or above takes a smaller share of the
        votes than entry [b, a].
    whole_prices : callable
        The same in votes, where they are whole.
    races : callable
        (votes, change) to the points of ballots as races between items, or None.
    pulls : callable
        (votes, wanted pairs) to how much each win of i against j helps, best guesses first.
    by_scores : bool
        Whether added ballots must have scores.
    """

    prices: Callable[[Votes, Change], Floats | None] = _nothing
    whole_prices: Callable[[Votes, Change], Floats | None] = _nothing
    races: Callable[[Votes, Change], Races | None] = _nothing
    pulls: Callable[[Votes, Floats], Sequence[Floats]] = lambda votes, wanted: ()  # noqa: ARG005
    by_scores: bool = False


def hints_of(T: Statistic) -> Hints:
    """Return the hints about a rule."""
    hints: Hints | None = rule_of(T).hints
    return hints or Hints()


def score_races(votes: Votes, change: Change) -> Races | None:
    """Return the scores of votes as races between items; None where they are not whole numbers of some decimal unit."""
    units = score_units(votes)
    if units is None or not votes.is_counts or votes.scores is None or np.isnan(votes.scores).any():
        return None
    points = units[0]
    gain = int(points.max()) - int(points.min())
    if points.dtype == object or not Races.fit(points, votes.total, gain):
        return None
    return Races(points, np.rint(votes.weights).astype(np.int64), change, gain)


def whole_race(votes: Votes, races: Races, aim: Aim) -> Whole:
    """Return the minimum numbers of votes to tie and to decide an aim that is one race, with both attacks."""
    assert votes.scores is not None
    low, high = float(votes.scores.min()), float(votes.scores.max())
    plans: list[Plan | None] = []
    for name in ("decide", "tie"):
        i, j = min(races.pairs(aim), key=lambda pair: float(getattr(races.race(*pair), name)))
        size = float(getattr(races.race(i, j), name))
        if not math.isfinite(size):
            plans.append(None)
            continue
        scores = np.full((1, votes.n), low)
        scores[0, i] = high
        ranks = np.where(np.arange(votes.n) == i, 1, 2 if high > low else 1)[None].astype(np.int64)
        put = np.array([size]) if races.change.puts else np.zeros(0)
        plans.append(Plan(races.removed(i, j, size), ranks[: len(put)], put, scores[: len(put)]))
    needed, decide = (races.needed(aim, attrgetter(name)) for name in ("tie", "decide"))
    return Whole(needed, plans[0], plans[1], decide)


def _copeland_prices(votes: Votes, change: Change) -> Floats:
    """Return the share of votes from which on each item may have as many majorities as each other one."""
    return _copeland_votes(votes, change) / votes.total


def _copeland_votes(votes: Votes, change: Change) -> Floats:
    """Return from how many votes on each item may at best have as many majorities as each other one at worst.

    A replaced vote moves the margin of a pair by two votes at most, a vote dropped or added by one. So with a budget
    eps larger margins are safe, and all others count as lost. Margins of counts are whole numbers.
    """
    n = votes.n
    behind = np.maximum(votes.wins().T - votes.wins(), 0.0)
    flips_at = behind / 2 if change.keeps_total else behind  # [i, j]: from here on i may beat j
    np.fill_diagonal(flips_at, np.inf)
    levels = np.unique(flips_at[np.isfinite(flips_at)])
    by_item = np.sort(flips_at, axis=1)
    most = np.array([np.searchsorted(row, levels, side="right") for row in by_item])  # [item, level]
    fewest = n - 1 - np.array([np.searchsorted(row, levels, side="right") for row in np.sort(flips_at.T, axis=1)])
    low = np.zeros((n, n), dtype=np.int64)
    high = np.full((n, n), len(levels) - 1)  # at the last level everything may happen
    b, a = np.indices((n, n))
    while (low < high).any():
        middle = (low + high) // 2
        enough = most[b, middle] >= fewest[a, middle]
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    return np.asarray(levels[low])


def _score_prices(votes: Votes, change: Change) -> Floats:
    """Return lower bounds on lifting one mean score to another: a fractional knapsack for each pair.

    Means within rounding are equal to the rule, so that the gap to close is smaller by as much. Not by
    `arrays.knapsack`: here the ballots are sorted for all rivals of an item at once.
    """
    assert votes.scores is not None
    n, scores, weights = votes.n, votes.scores, votes.weights / votes.total
    reach = float(scores.max() - scores.min())  # of one added vote
    means = weights @ scores
    rounding = _SCORE_ROUNDING * float(np.abs(scores).max())
    prices = np.zeros((n, n))
    for b in range(n):
        gap = means - means[b] - rounding  # for b to make good, against each other item
        if not change.takes:
            prices[b] = np.where(gap > 0, gap / reach if reach else np.inf, 0.0)
            continue
        gains = scores - scores[:, b : b + 1] + (reach if change.keeps_total else 0.0)
        order = np.argsort(-gains, axis=0, kind="stable")
        sorted_gains = np.take_along_axis(gains, order, axis=0)
        taken = np.cumsum(weights[order], axis=0)
        gained = np.cumsum(weights[order] * np.maximum(sorted_gains, 0.0), axis=0)
        for a in np.flatnonzero(gap > 0).tolist():
            if not change.puts and not (gains[:, a] <= rounding).any():
                prices[b, a] = np.inf  # every ballot that could be left is for a
                continue
            at = min(int(np.searchsorted(gained[:, a], gap[a])), len(gained) - 1)
            over = (gained[at, a] - gap[a]) / max(sorted_gains[at, a], rounding)
            prices[b, a] = min(taken[at, a] - max(over, 0.0), 1.0)
    return prices


def price_of(aim: Aim, prices: Floats) -> float:
    """Return the lower bound on an aim that the prices of pairs give, for statistics without ties.

    To be among the first k, an item must get past all but k - 1 others; to be out of them, k others must get past
    it; f flips take f pairs.
    """
    n = len(prices)
    if aim.above:
        return float(prices[aim.above])
    if aim.newcomers:
        passed = np.sort(np.array([np.delete(prices[x], x) for x in aim.newcomers]), axis=1)
        return float(passed[:, n - aim.top - 1].min())
    if aim.leaver:
        return float(np.sort(np.delete(prices[:, aim.leaver[0]], aim.leaver[0]))[aim.top - 1])
    ranks = aim.before.ranks
    flips = np.sort(prices.T[ranks[:, None] < ranks])
    return float(flips[aim.flips - 1]) if 0 < aim.flips <= len(flips) else 0.0


def _plain_score_prices(votes: Votes, change: Change) -> Floats | None:
    plain = votes.scores is not None and not np.isnan(votes.scores).any()
    return _score_prices(votes, change) if plain else None


def _strength_pulls(votes: Votes, wanted: Floats) -> list[Floats]:
    return [strength_pull(votes, wanted.sum(axis=1) - wanted.sum(axis=0))]


equip("copeland", hints=Hints(prices=_copeland_prices, whole_prices=_copeland_votes))
equip("bradley-terry", hints=Hints(pulls=_strength_pulls))
equip("mean-score", hints=Hints(prices=_plain_score_prices, races=score_races, by_scores=True))
