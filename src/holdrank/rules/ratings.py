"""Ratings: maximum-likelihood strengths on a familiar scale, with standard errors and intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from holdrank.errors import UsageError, item_number, quote, real_number
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.sandwich import covariance, filling_of_ballots, filling_of_groups, filling_of_pairs
from holdrank.rules.strengths import reached, strength_tolerance, strengths, strong_groups
from holdrank.status import Shown, Tabular
from holdrank.votes.groups import Groups
from holdrank.votes.memo import Remembering, close
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words import ratings as words
from holdrank.words.numbers import percent

FLOOR = 50.0
"""Pairs compared less often than this keep their weight under `reweight`."""

_NO_SPREAD = 1e-9  # standard errors of strengths below this are rounding


@dataclass(frozen=True, slots=True)
class StyleEffect(Shown):
    """The effect of style on battles.

    Attributes
    ----------
    name : str
        The column.
    coefficient : float
        Log-odds for the first answer of a battle, for each unit of the column.
    error : float
        Its standard error; NaN where the votes do not determine one.
    """

    name: str
    coefficient: float
    error: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ratings(Tabular):
    """Ratings on the Elo scale, with standard errors and confidence intervals; arrays are read-only.

    Attributes
    ----------
    items : tuple of str
        Names of the items; all arrays are in this order.
    strengths : array of float
        Maximum-likelihood log-odds, with mean 0 over the rated items. Infinite for items that never lost to the rated
        ones (or never won), NaN for items that no votes connect with them.
    values : array of float
        The ratings, ``offset + scale / log(base) * strength``.
    errors : array of float
        Standard errors of the ratings; NaN where the votes do not determine one.
    lower, upper : array of float
        Ends of the confidence intervals.
    comparisons : array of float
        How often each item is compared with others: for battles, how many it fought.
    level : float
        Confidence level of the intervals, such as 0.95, for each item alone.
    scale, base, offset : float
        The scale.
    anchor : str or None
        The item whose rating is `offset`; None if that is the mean of the rated items.
    ties : str
        How ties count: "half" a win for each, or a separate outcome by "davidson" or "rao-kupper".
    tie : float or None
        The tie parameter, nu of Davidson or theta of Rao and Kupper; None where a tie is half a win for each.
    style : tuple of StyleEffect
        Coefficients of style, for `bradley_terry_with_style`.
    notes : tuple of str
        Which items have no rating or no interval, and what intervals assume.
    """

    items: tuple[str, ...]
    strengths: Floats
    values: Floats
    errors: Floats
    lower: Floats
    upper: Floats
    comparisons: Floats
    level: float
    scale: float
    base: float
    offset: float
    anchor: str | None
    ties: str
    tie: float | None
    style: tuple[StyleEffect, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        close(self.strengths, self.values, self.errors, self.lower, self.upper, self.comparisons)

    def probability(self, item: str, other: str) -> float:
        """Return the probability that `item` wins against `other`, a tie counting half.

        Examples
        --------
        >>> import holdrank as hr
        >>> votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
        >>> round(hr.bradley_terry(votes).ratings().probability("a", "b"), 6)
        0.75
        """
        one, two = (float(self.strengths[item_number(name, self.items)]) for name in (item, other))
        gap = math.nan if math.isinf(one) and one == two else two - one
        gap = max(min(gap, 700.0), -700.0)
        if self.ties == "davidson" and self.tie is not None:
            tie = self.tie / (math.exp(-gap / 2) + math.exp(gap / 2) + self.tie)
            return tie / 2 + (1 - tie) / (1 + math.exp(gap))
        if self.ties == "rao-kupper" and self.tie is not None:
            wins, loses = 1 / (1 + self.tie * math.exp(gap)), 1 / (1 + self.tie * math.exp(-gap))
            return (1 + wins - loses) / 2
        return 1 / (1 + math.exp(gap))

    def text(self) -> str:
        """Return the ratings with their intervals, one item per line, the highest first, and the notes.

        Examples
        --------
        >>> import holdrank as hr
        >>> votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[10, 30])
        >>> print(hr.bradley_terry(votes).ratings().text())
        ratings with 95 % confidence intervals
        b: 1095 (1033–1158)
        a: 905 (842–967)
        """
        falling = np.argsort(-self.values, kind="stable")  # NaN comes last
        rows = [words.rating_text(self.items[k], self.values[k], self.lower[k], self.upper[k]) for k in falling]
        return "\n".join([f"ratings with {percent(self.level)} confidence intervals", *rows, *self.notes])

    def __repr__(self) -> str:
        rated = int(np.isfinite(self.values).sum())
        return f"Ratings({rated} of {len(self.items)} items, level={self.level:g})"


@dataclass(frozen=True, slots=True)
class Fit:
    """Maximum-likelihood strengths of the items in `rated`; the others are infinite or unknown."""

    rated: Ints
    strengths: Floats
    notes: tuple[str, ...]
    tie: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RatingModel(Remembering):
    """The data and options of ratings; nothing is fitted before it is needed.

    Attributes
    ----------
    votes : Votes or PairCounts
    ridge : float
        The penalty of the strengths that the order is by.
    floor : float or None
        Comparisons of a pair weigh ``1 / max(count, floor)``; None for 1 each.
    near : (n,) array of float or None
        Strengths to start from.
    ties : str
        How ties count, see `bradley_terry`.
    """

    votes: Votes | PairCounts
    ridge: float
    floor: float | None
    near: Floats | None
    ties: str = "half"
    _memo: dict[str, Any] = field(default_factory=dict)

    def ratings(
        self,
        ranking: Ranking,
        *,
        scale: float,
        base: float,
        offset: float,
        anchor: str | None,
        level: float,
        damping: float,
    ) -> Ratings:
        """Return the ratings of items that stand in the order of `ranking`; see `Consensus.ratings`."""
        scale = _within("scale", scale, 0.0)
        base = _within("base", base, 1.0)
        offset = _within("offset", offset, -math.inf)
        level = _within("level", level, 0.0, 1.0)
        damping = _within("damping", damping, 0.0, including=True)
        items = self.votes.items
        zero = None if anchor is None else item_number(anchor, items)
        fit = self._remember(f"fit {zero}", lambda: self._fit(zero))
        spread, notes = self._remember(f"spread {zero} {damping!r}", lambda: self._spread(fit, zero, damping))
        unit = scale / math.log(base)
        values = offset + unit * (fit.strengths if zero is None else fit.strengths - fit.strengths[zero])
        errors = unit * spread
        reach = NormalDist().inv_cdf((1 + level) / 2) * errors
        return Ratings(
            items=items,
            strengths=fit.strengths,
            values=values,
            errors=errors,
            lower=values - reach,
            upper=values + reach,
            comparisons=self.votes.wins().sum(axis=1) + self.votes.wins().sum(axis=0),
            level=level,
            scale=scale,
            base=base,
            offset=offset,
            anchor=anchor,
            ties=self.ties,
            tie=fit.tie,
            style=self._effects(fit, damping),
            notes=(*fit.notes, *notes, *self._order_note(fit.strengths, ranking)),
        )

    def pair_errors(self) -> Floats:
        """Return the standard errors of the differences of strengths; infinite where the votes determine none."""
        fit = self._remember("fit None", lambda: self._fit(None))
        n, rated = len(self.votes.items), fit.rated
        errors = np.full((n, n), np.inf)
        if len(rated):
            cov, _ = self._covariance(fit, self.votes.wins()[np.ix_(rated, rated)], 0.0)
            held = np.diagonal(cov)
            found = np.sqrt(np.maximum(held[:, None] + held - 2 * cov, 0.0))
            errors[np.ix_(rated, rated)] = np.where(found <= _NO_SPREAD, np.inf, found)
        return errors

    def estimate(self, groups: Groups | None) -> tuple[Floats, Floats]:
        """Return the strengths, all comparisons counting alike, and their covariance; a group of votes is one unit.

        Strengths that the votes do not determine are NaN or infinite, and their covariances 0.
        """
        fit = self._remember("fit None", lambda: self._fit(None))
        votes, rated = self.votes, fit.rated
        spread = np.zeros((len(votes.items), len(votes.items)))
        wins = votes.wins()[np.ix_(rated, rated)]
        if len(rated) and groups is not None and isinstance(votes, Votes):
            s = fit.strengths[rated]
            filling = filling_of_groups(votes, rated, s, groups)
            spread[np.ix_(rated, rated)] = covariance(wins + wins.T, np.ones_like(wins), s, filling, 0.0)
        elif len(rated):
            spread[np.ix_(rated, rated)], _ = self._covariance(fit, wins, 0.0)
        return fit.strengths, spread

    def _effects(self, fit: Fit, damping: float) -> tuple[StyleEffect, ...]:  # noqa: ARG002
        """Return the effects of style, in models that have it."""
        return ()

    def _fit(self, zero: int | None) -> Fit:
        """Return the strengths of the largest group of items connected by wins, or of the group of `zero`."""
        wins, items = self.votes.wins(), self.votes.items
        beats = wins > 0
        whole = reached(beats).all() and reached(beats.T).all()
        groups: list[Ints] = [np.arange(len(items))] if whole else strong_groups(beats)
        if zero is None:
            rated = max(groups, key=lambda group: (len(group), float(wins[np.ix_(group, group)].sum()), -group[0]))
        else:
            rated = next(group for group in groups if zero in group)
        if len(rated) < 2:
            if zero is not None:
                raise UsageError(
                    f"{quote(items[zero])} cannot be the anchor: its votes determine no rating",
                    repair="choose an item that has both won and lost against others",
                )
            return Fit(rated[:0], np.full(len(items), np.nan), (words.NO_RATINGS,))
        try:
            found, tie = self._likeliest(rated, wins[np.ix_(rated, rated)])
        except (UsageError, np.linalg.LinAlgError):
            return Fit(rated[:0], np.full(len(items), np.nan), (words.NOT_FITTED,))
        s = np.full(len(items), np.nan)
        s[rated] = found - found.mean()
        if whole:
            close(s)
            return Fit(rated, s, (), tie)
        above, below = reached(beats.T, int(rated[0])), reached(beats, int(rated[0]))
        s[above & ~below], s[below & ~above] = np.inf, -np.inf
        close(s)
        apart = [np.flatnonzero(group).tolist() for group in (above & ~below, below & ~above, ~above & ~below)]
        return Fit(rated, s, words.unrated_notes(items, *apart), tie)

    def _likeliest(self, rated: Ints, wins: Floats) -> tuple[Floats, float | None]:
        """Return the strengths of the rated items by their wins over each other, and the tie parameter if any."""
        if self.floor is not None:
            wins = wins * pair_weights(wins, self.floor)
        near = None if self.near is None else self.near[rated]
        return strengths(wins / wins.sum(), 0.0, near)[0], None

    def _spread(self, fit: Fit, zero: int | None, damping: float) -> tuple[Floats, tuple[str, ...]]:
        """Return the standard errors of strengths, NaN where the votes determine none; and notes on why."""
        votes, rated = self.votes, fit.rated
        errors = np.full(len(votes.items), np.nan)
        if not len(rated):
            return errors, ()
        wins = votes.wins()[np.ix_(rated, rated)]
        if not votes.is_counts:
            return errors, (words.SHARES,)
        enough = min(votes.total, float(wins.sum()))
        if enough < len(rated):
            return errors, (words.too_few_note(enough, len(rated)),)
        cov, notes = self._covariance(fit, wins, damping)
        variances = np.diagonal(cov)
        at = None if zero is None else int(np.searchsorted(rated, zero))
        if at is not None:
            variances = variances + cov[at, at] - 2 * cov[at]
        found = np.sqrt(np.maximum(variances, 0.0))
        flat = found <= _NO_SPREAD
        if at is not None:
            flat[at], found[at] = False, 0.0  # by definition
        if flat.any():
            notes = (*notes, words.no_spread_note(votes.items, rated[flat].tolist()))
        errors[rated] = np.where(flat, np.nan, found)
        return errors, notes

    def _covariance(self, fit: Fit, wins: Floats, damping: float) -> tuple[Floats, tuple[str, ...]]:
        """Return the covariance of the strengths of the rated items, and what had to be assumed."""
        rated, s = fit.rated, fit.strengths[fit.rated]
        weights = np.ones_like(wins) if self.floor is None else pair_weights(wins, self.floor)
        filling, notes = self._filling(rated, wins, weights, s)
        extra = damping * float(wins.sum()) if self.floor is None else damping
        return covariance(wins + wins.T, weights, s, filling, extra), notes

    def _filling(self, rated: Ints, wins: Floats, weights: Floats, s: Floats) -> tuple[Floats, tuple[str, ...]]:
        """Return the sum over votes of the outer products of their slopes, and what had to be assumed."""
        votes = self.votes
        if isinstance(votes, PairCounts):
            together = not math.isclose(float(votes.wins().sum()), votes.total, rel_tol=1e-9)
            notes = (words.TIES_UNKNOWN, words.SAME_BALLOT) if together else (words.TIES_UNKNOWN,)
            return filling_of_pairs(wins, None, weights, s), notes
        ballots = votes.ballots
        if votes.observed and int(ballots.listed.max()) <= 2:
            even = (ballots.listed == 2) & (ballots.largest_ranks() == 1)
            halves = ballots.take(even).wins(votes.weights[even], observed=True) if even.any() else 0 * votes.wins()
            return filling_of_pairs(wins, 2 * halves[np.ix_(rated, rated)], weights, s), ()
        return filling_of_ballots(votes, rated, None if self.floor is None else weights, s), ()

    def _order_note(self, s: Floats, ranking: Ranking) -> tuple[str, ...]:
        """Return a note if ratings do not fall along the order of the rule."""
        along = s[list(ranking.order)]
        along = along[np.isfinite(along)]
        rises = int((np.diff(along) > strength_tolerance(along)).sum()) if len(along) else 0
        return (words.other_order_note(self.ridge, rises),) if rises else ()


def pair_weights(wins: Floats, floor: float) -> Floats:
    """Return the weight of one comparison of each pair, so that pairs compared often do not outweigh the others."""
    return np.asarray(1 / np.maximum(wins + wins.T, floor))


def _within(name: str, value: object, low: float, high: float = math.inf, *, including: bool = False) -> float:
    """Return a number between two others, the lower one `including` or not."""
    found = real_number(value)
    if found is None or not math.isfinite(found) or not (low < found < high or (including and found == low)):
        span = f" from {low:g}" if including else "" if math.isinf(low) else f" above {low:g}"
        span = span if math.isinf(high) else f" between {low:g} and {high:g}"
        raise UsageError(f"{name} must be a number{span}, not {quote(str(value))}")
    return found
