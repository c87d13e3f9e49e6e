"""Ties as separate outcomes: strengths and one tie parameter, by Davidson or by Rao and Kupper.

With p = exp(strength), the outcomes of a battle of i and j are:

- Davidson: i wins, j wins, tie in proportion p_i : p_j : nu * sqrt(p_i * p_j).
- Rao and Kupper: i wins with p_i / (p_i + theta * p_j), j wins with p_j / (p_j + theta * p_i), else a tie.

Both log-likelihoods are concave in the strengths and the logarithm of the tie parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from holdrank.errors import Message, Option, UsageError
from holdrank.rankings import Floats, Ints
from holdrank.rules.ratings import Fit, RatingModel
from holdrank.rules.strengths import strengths
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes

TieModel: TypeAlias = Literal["half", "davidson", "rao-kupper"]

_MOST_STEPS = 200
_NO_GAIN = 1e-15  # of the likelihood: below, a rise is rounding
_CONVERGED = 1e-10  # largest last step, as a share of the range of the strengths (at least of 1)


class _Outcomes(NamedTuple):
    """Slopes by outcome and the curvature of every pair at given strengths, in (difference, tie parameter).

    The first axis of `slopes` is the outcome: the first wins, the second wins, tie.
    """

    likelihood: float
    slopes: Floats  # (3, 2, pairs)
    bends: Floats  # (3, pairs): of the negative log-likelihood, by both, mixed and by the tie parameter


def tie_counts(votes: Votes | PairCounts) -> tuple[Floats, Floats]:
    """Return the wins and the ties of each pair separately; refuse votes that do not distinguish them."""
    if isinstance(votes, PairCounts):
        raise UsageError(
            "pair counts do not say which comparisons were ties",
            repair=Message("give the battles, or use ", Option("ties", "half")),
        )
    ballots = votes.ballots
    if not votes.observed or int(ballots.listed.max()) > 2:
        raise UsageError(
            "a tie model needs battles, and these ballots compare more than two items",
            repair=Message("use ", Option("ties", "half")),
        )
    even = (ballots.listed == 2) & (ballots.largest_ranks() == 1)
    wins = votes.wins()
    halves = ballots.take(even).wins(votes.weights[even], observed=True) if even.any() else np.zeros_like(wins)
    return wins - halves, 2 * halves


def tied_strengths(wins: Floats, ties: Floats, ridge: float, model: str) -> tuple[Floats, float, int]:
    """Return strengths of sum 0, the logarithm of the tie parameter, and the Newton steps taken.

    `wins` and `ties` are shares of the votes. Without ties the parameter is at its limit, and strengths are those of
    the plain model.
    """
    n = len(wins)
    total = float(ties.sum()) / 2
    if total == 0.0:
        found, steps = strengths(wins, ridge)
        return found, -math.inf if model == "davidson" else 0.0, steps
    decided = float(wins.sum())
    if decided == 0.0:
        raise UsageError(
            "every battle is a tie, so no model can separate the items", repair=Message("use ", Option("ties", "half"))
        )
    # At equal strengths the likeliest parameter is known.
    start = math.log(2 * total / decided) if model == "davidson" else math.log1p(2 * total / decided)
    x = np.append(np.zeros(n), start)
    at = np.triu_indices(n, 1)
    counts = np.stack([wins[at], wins.T[at], ties[at]])
    used = counts.any(axis=0)
    pairs, counts = (at[0][used], at[1][used]), counts[:, used]
    here = _outcomes(x, pairs, counts, model)
    for steps in range(1, _MOST_STEPS + 1):
        slope, hessian = _assembled(here, counts, pairs, n, ridge, x)
        step = np.linalg.solve(hessian, slope)
        if not np.isfinite(step).all():
            break
        gain, part = float(slope @ step), 1.0
        if gain <= _NO_GAIN * max(abs(here.likelihood), 1.0) and (model == "davidson" or x[n] + step[n] > 0):
            # Rounding hides how much the likelihood still rises; Newton's last step is the better for it.
            x = x + step
            return x[:n] - x[:n].mean(), float(x[n]), steps
        while True:
            new = x + part * step
            if model == "davidson" or new[n] > 0:
                there = _outcomes(new, pairs, counts, model)
                rise = there.likelihood - here.likelihood - ridge / 2 * float(new[:n] @ new[:n] - x[:n] @ x[:n])
                if rise >= 1e-4 * part * gain or part * np.abs(step).max() < _CONVERGED:
                    break
            part /= 2
        x, here = new, there
        x[:n] -= x[:n].mean()
        if np.abs(step).max() <= _CONVERGED * max(float(np.ptp(x[:n])), 1.0):
            return x[:n], float(x[n]), steps
    raise UsageError(
        f"the strengths did not converge in {_MOST_STEPS} steps with ridge={ridge:g}", repair="use a larger one"
    )


def _outcomes(x: Floats, pairs: tuple[Ints, Ints], counts: Floats, model: str) -> _Outcomes:
    q, gap = float(x[-1]), x[pairs[0]] - x[pairs[1]]
    if model == "davidson":
        logs = np.stack([gap / 2, -gap / 2, np.full_like(gap, q)])
        logs -= np.logaddexp.reduce(logs, axis=0)
        first, second, tie = np.exp(logs)
        lead = (first - second) / 2
        slopes = np.stack([[0.5 - lead, -tie], [-0.5 - lead, -tie], [-lead, 1 - tie]])
        bends = np.stack([(first + second) / 4 - lead**2, -lead * tie, tie * (1 - tie)]) * counts.sum(axis=0)
    else:
        logs = np.stack([-np.logaddexp(0, q - gap), -np.logaddexp(0, q + gap)])
        room = math.expm1(2 * q)
        logs = np.vstack([logs, logs.sum(axis=0) + math.log(room)])
        first, second = np.exp(logs[:2])
        slopes = np.stack(
            [
                [1 - first, first - 1],
                [second - 1, second - 1],
                [second - first, 2 * (1 + 1 / room) - 2 + first + second],
            ]
        )
        one = (counts[0] + counts[2]) * first * (1 - first)
        two = (counts[1] + counts[2]) * second * (1 - second)
        bends = np.stack([one + two, two - one, one + two + counts[2] * 4 * (1 + 1 / room) / room])
    return _Outcomes(float((counts * logs).sum()), slopes, bends)


def _assembled(
    here: _Outcomes, counts: Floats, pairs: tuple[Ints, Ints], n: int, ridge: float, x: Floats
) -> tuple[Floats, Floats]:
    """Return the slope of the likelihood and the Hessian of its negative; 1 / n fixes the sum of the strengths."""
    pulls = (counts[:, None] * here.slopes).sum(axis=0)
    slope = np.append(_differences(pulls[0], pairs, n) - ridge * x[:n], pulls[1].sum())
    hessian = _matrix(here.bends, pairs, n)
    hessian[:n, :n] += 1 / n + ridge * np.eye(n)
    return slope, hessian


def _differences(values: Floats, pairs: tuple[Ints, Ints], n: int) -> Floats:
    """Return for each item the sum of values of pairs in which it is first, less those in which it is second."""
    return np.asarray(np.bincount(pairs[0], values, n) - np.bincount(pairs[1], values, n))


def _matrix(parts: Floats, pairs: tuple[Ints, Ints], n: int) -> Floats:
    """Return the matrix of items and tie parameter from its parts by pair: of differences, mixed, of the parameter."""
    found = np.zeros((n + 1, n + 1))
    i, j = pairs
    found[i, j] = found[j, i] = -parts[0]
    found[np.arange(n), np.arange(n)] = np.bincount(i, parts[0], n) + np.bincount(j, parts[0], n)
    found[:n, n] = found[n, :n] = _differences(parts[1], pairs, n)
    found[n, n] = parts[2].sum()
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TieRatingModel(RatingModel):
    """Ratings under a model of ties."""

    def _likeliest(self, rated: Ints, wins: Floats) -> tuple[Floats, float]:
        won, ties = (table[np.ix_(rated, rated)] for table in tie_counts(self.votes))
        total = float(wins.sum())
        found, q, _ = tied_strengths(won / total, ties / total, 0.0, self.ties)
        return found, math.exp(q)

    def _covariance(self, fit: Fit, wins: Floats, damping: float) -> tuple[Floats, tuple[str, ...]]:
        """Return the strengths' part of the sandwich covariance of strengths and tie parameter."""
        rated, s = fit.rated, fit.strengths[fit.rated]
        won, ties = (table[np.ix_(rated, rated)] for table in tie_counts(self.votes))
        if fit.tie is None or not ties.any():  # the parameter is at its end
            return RatingModel._covariance(self, fit, wins, damping)
        n = len(rated)
        at = np.triu_indices(n, 1)
        counts = np.stack([won[at], won.T[at], ties[at]])
        here = _outcomes(np.append(s, math.log(fit.tie)), at, counts, self.ties)
        squares = np.stack(
            [
                (counts * here.slopes[:, 0] ** 2).sum(axis=0),
                (counts * here.slopes[:, 0] * here.slopes[:, 1]).sum(axis=0),
                (counts * here.slopes[:, 1] ** 2).sum(axis=0),
            ]
        )
        curvature = _matrix(here.bends, at, n)
        unit = float(curvature.diagonal().max())
        curvature /= unit
        curvature[:n, :n] += 1 / n + np.eye(n) * damping * float(wins.sum()) / unit
        bread = np.linalg.inv(curvature) / unit
        return (bread @ _matrix(squares, at, n) @ bread)[:n, :n], ()
