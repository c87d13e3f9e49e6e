"""How far every item is ahead of every other by a rule, with standard errors: what probes compare with chance.

The meaning of "ahead" depends on the rule: model strengths, mean places, mean scores, or else the share of the votes on
a pair. Votes count as independent. Means and their errors come from `chance.estimates`; strengths are fitted here,
because probes need finite ones, also for an item that never loses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from holdrank.analysis.chance.estimates import (
    Estimator,
    Influences,
    mean_of_scores,
    point_influences,
    points,
    score_influences,
)
from holdrank.rankings import Floats, Ints
from holdrank.rules.registry import Rule
from holdrank.rules.sandwich import filling_of_ballots, filling_of_pairs, plain_slopes
from holdrank.rules.strengths import RIDGE, hessian_at, reached, strengths
from holdrank.rules.ties import tie_counts
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

_ESTIMATES: dict[str, tuple[Estimator, Callable[[Votes], tuple[Floats, Influences]]]] = {
    "places": (points, point_influences),  # a point is a place
    "score": (mean_of_scores, score_influences),
}
_FEW = 2 / math.sqrt(30)  # the error of the lead of level items after 30 comparisons

AnyVotes: TypeAlias = Votes | PairCounts
Scale: TypeAlias = Literal["strength", "places", "score", "share"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Standing:
    """How far each item is ahead of each other.

    Attributes
    ----------
    scale : str
        What a lead is measured in: ``"strength"`` (log-odds), ``"places"``, ``"score"``, or ``"share"`` of the votes on
        a pair, from -1 to 1.
    lead : (n, n) array
        How far the row is ahead of the column.
    error : (n, n) array
        The standard error of the lead, infinite where the votes determine none.
    z : (n, n) array
        The lead in standard errors, with a standard normal distribution under chance.
    values : (n,) array or None
        The values by which items are sorted, where there are any.
    bread : (n, n) array or None
        How a pull on one item moves the values of all.
    """

    scale: Scale
    lead: Floats
    error: Floats
    z: Floats
    values: Floats | None = None
    bread: Floats | None = None


def critical(level: float, tests: int) -> float:
    """Return how many standard errors a lead needs to be significant among a number of leads (Bonferroni).

    Examples
    --------
    >>> round(critical(0.95, 1), 3), round(critical(0.95, 10), 3)
    (1.96, 2.807)
    """
    return NormalDist().inv_cdf(1 - (1 - level) / (2 * max(tests, 1)))


def separated(z: Floats, level: float) -> npt.NDArray[np.bool_]:
    """Return which leads are significant, over all leads together (Holm).

    Examples
    --------
    >>> separated(np.array([5.0, 2.0, 2.3]), 0.95).tolist()
    [True, True, True]
    >>> separated(np.array([1.0, 2.0, 2.3]), 0.95).tolist()
    [False, False, False]
    """
    found = np.zeros(len(z), dtype=bool)
    for done, k in enumerate(np.argsort(-z, kind="stable").tolist()):
        if z[k] <= critical(level, len(z) - done):
            break
        found[k] = True
    return found


def components(met: Floats) -> Ints:
    """Return the number of the group of each item; items in one group are connected by comparisons."""
    label = np.full(len(met), -1)
    while (label < 0).any():
        label[reached(met > 0, int((label < 0).argmax()))] = label.max() + 1
    return label


def standing(votes: AnyVotes, rule: Rule) -> Standing:
    """Return how far each item is ahead of each other by a rule."""
    if rule.probabilities is not None:
        return _by_strength(votes)
    if isinstance(votes, Votes):
        complete = votes.compares_all
        if rule.needs == "places" and complete:
            return _by_values(votes, "places")
        if rule.needs == "scores" and votes.ballots.has_scores:
            return _by_values(votes, "score")
    return _by_share(votes)


def _by_share(votes: AnyVotes) -> Standing:
    wins = votes.wins()
    met = wins + wins.T
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = np.where(met > 0, (wins - wins.T) / met, 0.0)
        error = 1 / np.sqrt(met)  # where both are level, and no more than that elsewhere
    return Standing("share", lead, error, lead * np.sqrt(met))


def _by_values(votes: Votes, scale: Scale) -> Standing:
    """Return leads in mean places or mean scores, from the spread of the ballots; None where an item has no score."""
    found = _ESTIMATES[scale][0](votes, None)
    values, spread, total = found.values, found.covariance, votes.total
    held = np.diagonal(spread)
    error = np.sqrt(np.maximum(held[:, None] + held - 2 * spread, 0.0))
    lead = values[:, None] - values
    unknown = np.isnan(lead)
    lead[unknown], error[unknown] = 0.0, 0.0
    # Voters who all agree show no spread; as many who toss a coin would be this far from level.
    error = np.maximum(error, np.abs(lead) / math.sqrt(max(total, 1.0)))
    z = np.divide(lead, error, out=np.zeros_like(lead), where=error > 0)
    error = np.where(error > 0, error, np.inf)
    return Standing(scale, lead, error, as_normal(z, max(total - 1, 1.0)), np.nan_to_num(values))


def as_normal(t: Floats, degrees: float) -> Floats:
    """Convert Student's t values to equally rare standard normal values (Wallace 1959).

    Examples
    --------
    >>> as_normal(np.array([2.228]), 10).round(2).tolist()
    [1.96]
    """
    factor = (8 * degrees + 1) / (8 * degrees + 3)
    return np.asarray(np.sign(t) * factor * np.sqrt(degrees * np.log1p(t * t / degrees)))


def _by_strength(votes: AnyVotes) -> Standing:
    wins = votes.wins()
    n = len(wins)
    label = components(wins + wins.T)
    wins = _settled(wins, label)
    met = wins + wins.T
    total = float(wins.sum()) or 1.0
    s, _ = strengths(wins / total, RIDGE)
    loses = 1 / (1 + np.exp(np.minimum(s[:, None] - s, 700.0)))
    unit = float(met.sum(axis=1).max()) or 1.0
    bread = np.linalg.inv(hessian_at(met / unit, loses, RIDGE * total / unit)) / unit
    cov = bread @ _filling(votes, wins, s) @ bread
    held = np.diagonal(cov)
    error = np.sqrt(np.maximum(held[:, None] + held - 2 * cov, 0.0))
    error *= math.sqrt(total / max(total - n + 1, 1.0))
    # A sum of few squares may be too small by chance; what the model expects is not.
    held = np.diagonal(bread)
    by_model = np.sqrt(np.maximum(held[:, None] + held - 2 * bread, 0.0))
    error = np.where(by_model > _FEW, np.maximum(error, by_model), error)
    error[label[:, None] != label] = np.inf
    lead = s[:, None] - s
    z = np.divide(lead, error, out=np.zeros_like(lead), where=error > 0)
    return Standing("strength", lead, error, z, s, np.asarray(bread))


def _settled(wins: Floats, label: Ints) -> Floats:
    """Return the wins; where some items never lose to the rest, with about one tied battle added for each item.

    Strengths are then finite, and so are their errors.
    """
    beats = wins > 0
    groups = [np.flatnonzero(label == k) for k in range(label.max() + 1)]
    inner = (beats[np.ix_(group, group)] for group in groups)
    if all(reached(part).all() and reached(part.T).all() for part in inner):
        return wins
    met = wins + wins.T
    each = 1 / np.maximum(met.sum(axis=1), 1e-300)
    return np.asarray(wins + met * np.minimum(each[:, None] + each, 1e300) / 4)


def _filling(votes: AnyVotes, wins: Floats, s: Floats) -> Floats:
    if isinstance(votes, PairCounts):
        return filling_of_pairs(wins, None, np.ones_like(wins), s)
    if votes.compares_two:
        return filling_of_pairs(wins, tie_counts(votes)[1], np.ones_like(wins), s)
    return filling_of_ballots(votes, np.arange(votes.n), None, s)


def influences(votes: Votes, found: Standing, gaps: Ints) -> Floats:
    """Return how much one vote of each ballot moves the lead of each gap: rows of two items, the first ahead."""
    above, below = gaps.T
    if found.scale == "share":
        return _share_influences(votes, found, gaps)
    if found.scale != "strength":
        _, parts = _ESTIMATES[found.scale][1](votes)
        rows = np.concatenate([each for _, each in parts]) / votes.total
        return np.asarray(rows[:, above] - rows[:, below])
    s = cast("Floats", found.values)
    bread = cast("Floats", found.bread)
    expected = 1 / (1 + np.exp(np.clip(s - s[:, None], -700.0, 700.0)))
    np.fill_diagonal(expected, 0.0)
    pull = bread[:, above] - bread[:, below]
    ballots = votes.ballots.without_scores()
    observed = votes.observed
    return np.concatenate([slopes @ pull for _, slopes in plain_slopes(ballots, expected, observed)])


def _share_influences(votes: Votes, found: Standing, gaps: Ints) -> Floats:
    observed = votes.observed
    above, below = gaps.T
    wins = votes.wins()
    met = np.maximum((wins + wins.T)[above, below], 1e-300)
    out = np.zeros((votes.distinct, len(gaps)))
    for part, block in votes.ballots.without_scores().blocks():
        ranks = block.matrix().astype(np.int64)
        one, two = ranks[:, above], ranks[:, below]
        lists = (one > 0) & (two > 0)
        last = votes.n + 1
        sign = np.sign(np.where(two > 0, two, last) - np.where(one > 0, one, last)).astype(np.float64)
        moved = (sign - found.lead[above, below]) / met
        out[part] = np.where(lists, moved, 0.0) if observed else moved
    return out
