"""Enclosures of Bradley-Terry strengths, from pair counts alone, rounded outward, without running the rule.

The strengths s maximise ``sum of W[i, j] * log(sigma(s[i] - s[j])) - lam / 2 * |s|**2`` with ``lam = RIDGE * votes``.
Its curvature is at least lam in every direction. So if the slope is g, the maximum is at most ``|g| / lam`` away: any
good guess, with bounds on the slope there, encloses the strengths. Guesses lie on a grid of binary fractions, so that
their differences are exact, and their sum is 0, as is that of the strengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdrank.proofs.rounding import down, lowered, raised, sigma_above, sigma_below, up
from holdrank.rankings import Floats, Ranking
from holdrank.votes.votes import Votes

RIDGE = 1e-6  # of the definition
_GRID = 2.0**46
_LARGEST = 60.0  # strengths on the grid whose differences are exact
_STEPS = 150
EQUAL = 1e-8  # of the range of the strengths, and at least of 1: closer ones are equal by definition
_EDGE = 0.1  # of that: this near to the border, nothing is decided


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Strengths within an error, for one table of wins or for many.

    Attributes
    ----------
    wins : (..., n, n) array
        A tie is half a win for each.
    total : (...) array
        Number of votes.
    s : (..., n) array
        Near the strengths; of sum 0, with exact differences.
    terms : int
        How many roundings a number in `wins` may carry.
    known : float or None
        A bound on the error of the difference of two strengths, if a better one than `error` is known.
    """

    wins: Floats
    total: Floats
    s: Floats
    terms: int = 0
    known: float | None = None

    @classmethod
    def of(cls, wins: Floats, total: Floats, start: Floats | None = None, terms: int = 0) -> Enclosed:
        """Fit strengths to wins."""
        s = _guess(wins, np.asarray(total, dtype=float), start)
        units: Floats = np.rint(s * _GRID)
        # A sum of grid points is a whole number of units; the first items take what is too many.
        over = units.sum(axis=-1, keepdims=True)
        units -= np.sign(over) * (np.arange(s.shape[-1]) < np.abs(over))
        return cls(wins, np.asarray(total, dtype=float), units / _GRID, terms)

    @classmethod
    def of_votes(cls, votes: Votes) -> Enclosed:
        """Fit strengths to votes."""
        wins, rows = wins_of(votes)
        return cls.of(wins, np.asarray(votes.total), None, 0 if votes.is_counts else rows)

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.wins.shape[-1])

    @cached_property
    def gaps(self) -> Floats:
        """The differences of `s`, exactly."""
        return np.asarray(self.s[..., :, None] - self.s[..., None, :])

    @cached_property
    def sums_to_zero(self) -> bool:
        """Whether the guesses are on the grid as they should be."""
        return bool((np.abs(self.s) < _LARGEST).all() and (self.s.sum(axis=-1) == 0).all())

    @cached_property
    def ridge(self) -> tuple[Floats, Floats]:
        """Bounds on lam."""
        lam = RIDGE * self.total
        return lowered(lam, self.terms), raised(lam, self.terms)

    @cached_property
    def slope(self) -> Floats:
        """Bounds on the absolute value of each slope at `s`."""
        terms = self.n + self.terms
        low, high = (self.wins * bound(-self.gaps) for bound in (sigma_below, sigma_above))
        pulled_up = raised(high.sum(axis=-1), terms) - lowered(low.sum(axis=-2), terms)
        pulled_down = raised(high.sum(axis=-2), terms) - lowered(low.sum(axis=-1), terms)
        least, most = (lam[..., None] for lam in self.ridge)
        held_up = np.maximum(least * self.s, most * self.s)
        held_down = np.minimum(least * self.s, most * self.s)
        return np.asarray(
            np.maximum(
                up(up(pulled_up) - down(held_down)),
                up(up(pulled_down) + up(held_up)),
            )
        )

    @cached_property
    def error(self) -> Floats:
        """By how much the difference of two strengths may be off: sqrt(2) * |slope| / lam."""
        if self.known is not None:
            return np.asarray(self.known)
        length = up(np.sqrt(raised((self.slope**2).sum(axis=-1), self.n)))
        found = up(up(1.4143 * length) / self.ridge[0])
        return np.where(np.isfinite(found) & self.sums_to_zero, found, np.inf)

    @cached_property
    def unit(self) -> tuple[Floats, Floats]:
        """Bounds on the range of the strengths, or 1 if that is more."""
        spread = np.ptp(self.s, axis=-1)
        return np.maximum(down(spread - self.error), 1.0), np.maximum(up(spread + self.error), 1.0)

    def row(self, at: int) -> Enclosed:
        """Return one of many."""
        return Enclosed(self.wins[at], self.total[at], self.s[at], self.terms, float(self.error[at]))

    def tied(self) -> Ranking | None:
        """Return the items by strength, tied where neighbours are equal by definition; None if undecided."""
        s, error = self.s, float(self.error)
        order = np.argsort(-s, kind="stable")
        steps = s[order[:-1]] - s[order[1:]]
        apart = down(steps - error) > (1 + _EDGE) * EQUAL * self.unit[1]
        equal = up(steps + error) < (1 - _EDGE) * EQUAL * self.unit[0]
        # Neighbours in the true order differ by no more than neighbours here and the error.
        if not (apart | equal).all():
            return None
        ranks = np.empty(len(s), dtype=np.int64)
        ranks[order] = 1 + np.concatenate(([0], np.cumsum(apart)))
        return Ranking(ranks)


def wins_of(votes: Votes) -> tuple[Floats, int]:
    """Return the pairwise wins of votes that do not compare unlisted items, and the number of ballots."""
    ranks = votes.ranks.astype(np.int64)
    n = votes.n
    wins = np.zeros((n, n))
    listed = ranks != 0
    for i in range(n):
        rows = np.flatnonzero(listed[:, i])
        mine, weights = ranks[rows, i][:, None], votes.weights[rows]
        better = (ranks[rows] > mine) + 0.5 * (ranks[rows] == mine)
        wins[i] = weights @ (better * listed[rows])
    np.fill_diagonal(wins, 0.0)
    return wins, len(ranks)


def kendall_losses(wins: Floats, total: float, ranks: tuple[int, ...]) -> tuple[float, float]:
    """Return the expected Kendall distance of a ranking to a vote, and a lower bound for all rankings."""
    places = np.asarray(ranks)
    n = len(places)
    above = (places[:, None] < places) + 0.5 * (places[:, None] == places)
    pairs = max(total * n * (n - 1) / 2, 1e-300)
    return float((above * wins.T).sum()) / pairs, float(np.minimum(wins, wins.T).sum() / 2) / pairs


def _guess(wins: Floats, total: Floats, start: Floats | None) -> Floats:
    """Return strengths by Newton's method, in plain floats: no step moves two items apart by more than 1."""
    n = wins.shape[-1]
    fought = wins + np.swapaxes(wins, -1, -2)
    lam = (RIDGE * total)[..., None]
    s = np.zeros(wins.shape[:-1]) if start is None else np.broadcast_to(start, wins.shape[:-1]).copy()
    diagonal = np.arange(n)
    for _ in range(_STEPS):
        loses = 1 / (1 + np.exp(np.clip(s[..., :, None] - s[..., None, :], -_LARGEST * 4, _LARGEST * 4)))
        pull = wins * loses
        slope = pull.sum(axis=-1) - pull.sum(axis=-2) - lam * s
        bend = fought * loses * np.swapaxes(loses, -1, -2)
        curvature = (total / n)[..., None, None] - bend
        curvature[..., diagonal, diagonal] += bend.sum(axis=-1) + lam
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        reach = np.ptp(step, axis=-1, keepdims=True)
        s = s + step / np.maximum(1.0, reach)
        s = s - s.mean(axis=-1, keepdims=True)
        if (reach <= 1e-12).all():
            break
    return s
