"""Probe: the effect of being shown first."""

from __future__ import annotations

import math

import numpy as np

from holdrank.analysis.probes.bars import BARS
from holdrank.analysis.probes.evidence import Evidence, Mask
from holdrank.analysis.probes.findings import Finding, not_applicable
from holdrank.analysis.probes.standing import critical
from holdrank.rankings import Floats
from holdrank.rules.merges import consensus_of
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

_SECONDS = 5.0  # for the order without the effect
_BOTH_ORDERS = 0.2  # of the battles must be of pairs that met in both orders


def position(known: Evidence) -> Finding:
    """Compare, pair by pair, the wins of an item when shown first with its wins when shown second.

    The pairs are combined with Mantel-Haenszel weights.
    """
    votes = known.votes
    if not isinstance(votes, Votes) or not votes.compares_two:
        return not_applicable("position", "no battles")
    if votes.first_shown is None:
        return not_applicable("position", "not shown")
    if not votes.is_counts:
        return not_applicable("position", "shares")
    met, won = votes.first_shown.tables(votes.n)
    both = np.triu((met > 0) & (met.T > 0), 1)
    share = float((met + met.T)[both].sum() / met.sum())
    if share < _BOTH_ORDERS:
        return not_applicable("position", "one order", share=share)
    one, two = met[both], met.T[both]
    first, second = won[both] / one, 1 - won.T[both] / two  # what the same item wins in each position
    weight = one * two / (one + two)
    effect = float(weight @ (first - second) / weight.sum())
    error = math.sqrt(float(weight @ _variances(votes, both))) / float(weight.sum())
    reach = critical(known.level, 1) * error
    low, high = effect - reach, effect + reach
    outside = low > BARS["position"] or high < -BARS["position"]
    flips = _flips(known, met, effect)
    return Finding(
        "position",
        "raised" if outside else "clear",
        value=effect,
        lower=low,
        upper=high,
        bar=BARS["position"],
        pairs=flips if outside else (),
        facts={
            "effect": effect,
            "lower": low,
            "upper": high,
            "battles": float(met.sum()),
            "both_orders": share,
            "flips": flips,
            "level": known.level,
        },
    )


def _variances(votes: Votes, pairs: Mask) -> Floats:
    """Return the variance of one battle of each pair: of 1 for a win, 0 for a loss and 1/2 for a tie."""
    shown = votes.first_shown
    assert shown is not None
    squares = np.zeros((votes.n, votes.n))
    score = (1 - shown.better) / 2
    np.add.at(squares, (shown.first, shown.second), shown.weight * score**2)
    np.add.at(squares, (shown.second, shown.first), shown.weight * (1 - score) ** 2)
    wins = votes.wins()
    met = (wins + wins.T)[pairs]
    mean = wins[pairs] / met
    # One more of each result, so that pairs with few battles do not count as free of chance.
    return np.asarray(np.maximum(squares[pairs] / met - mean**2, 0.25 / (met + 2)))


def _flips(known: Evidence, met: Floats, effect: float) -> tuple[tuple[str, str], ...]:
    """Return the pairs that change their order when the effect of the position is removed."""
    wins = known.votes.wins()
    given = (met - met.T) * effect / 2
    total = wins + wins.T
    corrected = np.clip(wins - given, 0.0, total)
    counts = PairCounts.from_wins(corrected, known.items, total=known.votes.total)
    after = consensus_of(counts, known.T, _SECONDS).ranking.ranks  # type: ignore[arg-type]
    before = known.ranking.ranks
    above, below = np.nonzero((before[:, None] < before) & (after[:, None] > after))
    near = np.argsort(before[below] - before[above], kind="stable")
    return tuple((known.items[above[k]], known.items[below[k]]) for k in near.tolist())
