"""Proofs that a number of battles is not enough for one item to catch up with another by strength.

Write W for the wins of the votes, N = W + W.T, s for strengths near the true ones (`strengths`) and g for the slope at
s. A change removes wins r and adds wins a, fractions allowed, and leads to strengths s' = s + d. At s' the slope of the
changed votes is 0. Its product with any weights z says: the pull of the change,

    sum over p, q of (a - r)[p, q] * (1 - sigma(s'[p] - s'[q])) * (z[p] - z[q]),

equals ``sum over p < q of N[p, q] * (sigma(s'[p] - s'[q]) - sigma(s[p] - s[q])) * (z[p] - z[q])
+ lam' * z @ s' - lam * z @ s - z @ g``. Let ``rise[i, j]`` bound d[i] - d[j] from above. Over that box replace every
difference of sigmas by a line, ``m * (d[p] - d[q])``, plus an error e with bounds. For the matrix
``A = Laplacian(N * m) + lam`` the pull is then

    z @ A @ d + sum over p < q of N * e * (z[p] - z[q]) + (lam' - lam) * z @ s' - z @ g.

Weights z near the solution of A @ z = e_i - e_j turn this into a bound on d[i] - d[j]: the largest pull of k battles,
the errors, and a remainder because z is only near the solution. A box is *closed* if all resulting bounds lie inside
it. The strengths move continuously as a change is made gradually, and they start inside; so they never leave a closed
box.

Box, lines and weights are guessed in plain floats. Every inequality is rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.proofs.rounding import down, raised, rounding, sigma_above, sigma_below, up
from holdrank.proofs.strengths import EQUAL, RIDGE, Enclosed
from holdrank.rankings import Floats, Ints
from holdrank.votes.changes import Change

Bools: TypeAlias = npt.NDArray[np.bool_]
Near: TypeAlias = dict[int, tuple[Floats, Floats]]  # reference: how far each item may rise above it, or fall below

# Neighbours in strength are never farther apart than this, for any battles. Where a gap G parts the items, those above
# it have a sum of strengths of G / 2 at least, so the ridge pulls them down by RIDGE * votes * G / 2, and they resist
# by exp(-G) * votes at most: G * exp(G) <= 2 / RIDGE.
WIDEST = max(1.0, math.log(2 / RIDGE)) * 1.000001
_ROUNDS = 16  # until a box closes
_WIDE = 4.0  # an item that may move this far is loose: only the ridge holds it
_LOOSE_FROM = (4.0, 1.2, 0.5, 0.25)  # rough movements from which items start loose, tried one after the other
_CELLS = 2_000_000  # numbers at a time


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines for sigma over a box: slopes, lower bounds on errors, and upper bounds on what a win pulls."""

    slopes: Floats
    errors: Floats
    doubt: Floats


class Movements:
    """How far changes of battles can move strengths, for one type of change."""

    def __init__(self, fit: Enclosed, change: Change) -> None:
        self.fit, self.change, self.n = fit, change, fit.n
        self.wins, self.s, self.gaps = fit.wins, fit.s, fit.gaps
        self.fought: Floats = fit.wins + fit.wins.T
        self.terms = fit.terms + 4 * self.n + 8
        self.most = raised(np.asarray((self.n - 1) * WIDEST), 1)

    def lines(self, rise: Floats) -> Lines:
        """Return lines over a box, for every two items."""
        gaps, high, low = self.gaps, rise, -rise.T
        width = np.maximum(high - low, 1e-6)
        middle = (high + low) / 2
        steep = [1 / (1 + np.exp(-np.clip(gaps + middle + half, -700, 700))) for half in (width / 2, -width / 2)]
        slopes = np.maximum((steep[0] - steep[1]) / width, 0.0)
        slopes = (slopes + slopes.T) / 2
        np.fill_diagonal(slopes, 0.0)
        start = sigma_above(gaps)
        errors = np.full_like(rise, np.inf)
        for end in (low, high):
            errors = np.minimum(errors, down(down(sigma_below(down(gaps + end)) - start) - up(slopes * end)))
        # Where sigma is concave, at gaps above 0, the least is at an end; where it is convex, a tangent lies below it.
        first, last = down(gaps + low), np.minimum(up(gaps + high), 0.0)
        at = -2 * np.arctanh(np.minimum(np.sqrt(np.maximum(1 - 4 * slopes, 0.0)), 1 - 1e-16))
        at = np.clip(at, np.minimum(first, last), last)
        least = down(down(sigma_below(at) - start) - up(slopes * up(at - gaps)))
        below, above = sigma_below(at), sigma_above(at)
        flat = down(down(below * down(1 - below)) - slopes)  # sigma * (1 - sigma) rises where sigma is below 1/2
        steepest = up(up(above * up(1 - above)) - slopes)
        falls = np.minimum(down(flat * up(last - at)), down(steepest * down(first - at)))
        least = down(least + np.minimum(falls, 0.0))
        errors = np.where(first < 0, np.minimum(errors, least), errors)
        return Lines(slopes, errors, sigma_above(up(rise.T - gaps)))

    def weights(self, slopes: Floats) -> Floats:
        """Return a rough inverse of A on weights of sum 0."""
        tied = self.fought * slopes
        held = tied.sum(axis=1)
        rough = np.diag(held + RIDGE * self.fit.total) - tied
        return np.asarray(np.linalg.inv(rough + max(float(held.mean()), 1e-9) / self.n))

    def near(self, k: float, rise: Floats, references: Sequence[int]) -> Near:
        """Return bounds on the movement of all items against references, given that it is in a box."""
        lines = self.lines(rise)
        inverse = self.weights(lines.slopes)
        items = np.tile(np.arange(self.n), len(references))
        others = np.repeat(np.asarray(references, dtype=np.int64), self.n)
        bounds = np.zeros((2, len(items)))
        step = max(1, _CELLS // self.n**2)
        for at in range(0, len(items), step):
            some = slice(at, at + step)
            z = (inverse[:, items[some]] - inverse[:, others[some]]).T
            bounds[:, some] = self._bounds(k, rise, lines, z, items[some], others[some])
        bounds[:, items == others] = 0.0
        highest, lowest = bounds.reshape(2, len(references), self.n)
        return {r: (highest[number], lowest[number]) for number, r in enumerate(references)}

    def _bounds(self, k: float, rise: Floats, lines: Lines, z: Floats, items: Ints, others: Ints) -> Floats:
        """Return bounds on ``d[i] - d[r]`` and ``d[r] - d[i]`` for items i and others r, each with its weights."""
        n, terms, rows = self.n, self.terms, np.arange(len(z))
        size = np.abs(z)
        # The strengths sum to 0 before and after, so no item moves farther than it moves against some other.
        moved = np.maximum(np.maximum(rise, rise.T).max(axis=1), 0.0)
        tied = self.fought * lines.slopes
        matrix = np.diag(tied.sum(axis=1) + RIDGE * self.fit.total) - tied
        left = z @ matrix
        left[rows, items] -= 1.0
        left[rows, others] += 1.0
        left = np.abs(left) + rounding(terms) * (size @ np.abs(matrix) + 1.0)
        other = raised(left @ moved, terms) + raised(size @ self.fit.slope, terms)
        if not self.change.keeps_total and k:
            along = np.abs(z @ self.s) + rounding(terms) * (size @ np.abs(self.s)) + size @ moved
            other = other + raised(RIDGE * k * along, terms)
        drop = np.maximum(z[:, :, None] - z[:, None, :], 0.0)
        weighed = self.fought * lines.errors
        cells = terms + n * n
        results = []
        for pull, values, supply, error in (
            (lines.doubt, lines.doubt.T, self.wins.T, weighed),
            (lines.doubt.T, lines.doubt, self.wins, weighed.T),
        ):
            flat = drop.reshape(len(z), -1)
            total = raised(other + rounding(cells) * (flat @ np.abs(error).ravel()), cells)
            missed = flat @ error.ravel()
            total = up(total - missed)
            if self.change.puts and k:
                total = up(total + raised(k * (pull * drop).max(axis=(1, 2)), terms))
            if self.change.takes and k:
                total = up(total + self._taken(k, (values * drop).reshape(len(z), -1), supply.ravel(), cells))
            results.append(total)
        return np.array(results)

    def _taken(self, k: float, values: Floats, supply: Floats, terms: int) -> Floats:
        """Return an upper bound on the value of the k most valuable battles.

        For any price t of a battle, their value is at most ``k * t + sum of supply * max(value - t, 0)``.
        """
        values = values * (supply > 0)
        order = np.argsort(-values, axis=1)
        there = np.cumsum(supply[order], axis=1)
        last = np.minimum((there < k).sum(axis=1), values.shape[1] - 1)
        rows = np.arange(len(values))
        price = np.where(there[:, -1] < k, 0.0, values[rows, order[rows, last]])
        return raised(k * price + np.maximum(values - price[:, None], 0.0) @ supply, terms)

    def spread(self, near: Near, loose: Bools) -> Floats:
        """Return bounds for every two items, from those against references; loose items hang on the ridge."""
        rise = np.full((self.n, self.n), np.inf)
        for r, (highest, lowest) in near.items():
            rise = np.minimum(rise, up(highest[:, None] + lowest))
            rise[:, r], rise[r] = np.minimum(rise[:, r], highest), np.minimum(rise[r], lowest)
        np.fill_diagonal(rise, 0.0)
        if loose.any():
            r = next(iter(near))
            ahead = self.gaps[:, r]
            beyond = float(raised(np.asarray(loose.sum() * WIDEST), 1))
            top = float(up(up(ahead + rise[:, r])[~loose].max() + beyond))
            bottom = float(down(down(ahead - rise[r])[~loose].min() - beyond))
            highest = np.where(loose, up(top - ahead), rise[:, r])
            lowest = np.where(loose, up(ahead - bottom), rise[r])
            rise = np.where(loose[:, None] | loose, up(highest[:, None] + lowest), rise)
            rise[:, r], rise[r] = highest, lowest
            np.fill_diagonal(rise, 0.0)
        return rise

    def widest(self) -> Floats:
        """Return the box that no change of battles leaves, no matter how large: the ridge bounds it."""
        rise = np.maximum(up(float(self.most) - self.gaps), 0.0)
        np.fill_diagonal(rise, 0.0)
        return rise

    def box(self, k: float, firm: Sequence[int], references: Sequence[int]) -> Floats | None:
        """Return a closed box for changes of up to k battles in which the items `firm` are not loose, or None."""
        flat = 1 / (1 + np.exp(-np.clip(self.gaps, -700, 700)))
        inverse = self.weights(flat * flat.T)
        held = np.diag(inverse)
        anchor = firm[0] if firm else int(held.argmin())
        rough = k * self.change.pull * (held + held[anchor] - 2 * inverse[:, anchor]) / 2
        must = np.zeros(self.n, dtype=bool)
        must[[anchor, *firm]] = True
        tried: Bools | None = None
        for limit in _LOOSE_FROM:
            loose = (rough > limit) & ~must
            if loose.sum() > self.n - 2:
                return None
            if tried is None or (loose != tried).any():
                found = self._closed(k, anchor, must, loose, references)
                if found is not None:
                    return found
            tried = loose
        return None

    def _closed(self, k: float, anchor: int, must: Bools, loose: Bools, references: Sequence[int]) -> Floats | None:
        start = 2 * float(self.fit.error) + 1e-12  # where the true strengths certainly are
        others = [r for r in range(self.n) if r != anchor and (must[r] or r in references) and not loose[r]]
        chosen = [anchor, *others]
        box: Near = {r: (np.full(self.n, start), np.full(self.n, start)) for r in chosen}
        for attempt in range(_ROUNDS):
            rise = self.spread(box, loose)
            new = self.near(k, rise, chosen)
            firm = ~loose
            if all((new[r][side][firm] < box[r][side][firm]).all() for r in chosen for side in (0, 1)):
                return self._tightened(k, rise, chosen, loose)
            wide = np.zeros(self.n, dtype=bool)
            for r in chosen:
                box[r] = _beyond(new[r][0], box[r][0], attempt), _beyond(new[r][1], box[r][1], attempt)
                wide |= (np.maximum(*box[r]) > _WIDE) & firm
            if (wide & must).any() or not np.isfinite([new[r] for r in chosen]).all():
                return None
            loose = loose | wide
            chosen = [r for r in chosen if not loose[r]]
            box = {r: box[r] for r in chosen}
        return None

    def _tightened(self, k: float, rise: Floats, references: Sequence[int], loose: Bools) -> Floats:
        """Return a smaller box: inside a closed one, the resulting bounds are valid too."""
        for _ in range(2):
            rise = np.minimum(rise, self.spread(self.near(k, rise, references), loose))
        return rise

    def equal(self, rise: Floats) -> float:
        """Return the difference up to which two strengths in a box may count as equal: by a chain of neighbours."""
        spread = max(float(np.ptp(self.s)) + float(rise.max()), 1.0)
        return 1.1 * EQUAL * self.n * spread


def sharpened(fit: Enclosed) -> Enclosed:
    """Return strengths with a smaller error: the bound on the movement without any change is the error."""
    error = float(fit.error)
    if not error < 1e-3:
        return fit
    rise = np.full((fit.n, fit.n), error)
    np.fill_diagonal(rise, 0.0)
    movements = Movements(fit, Change.REPLACE)
    anchor = int(fit.wins.sum(axis=1).argmax())
    highest, lowest = movements.near(0.0, rise, [anchor])[anchor]
    smaller = float(up(np.asarray(max(highest.max(), 0.0) + max(lowest.max(), 0.0))))
    return replace(fit, known=min(error, smaller))


def _beyond(new: Floats, old: Floats, attempt: int) -> Floats:
    """Return a guess of a box that contains its resulting bounds."""
    return np.maximum(1.2 * new if attempt == 0 else 1.02 * new + np.maximum(new - old, 0.0), old)
