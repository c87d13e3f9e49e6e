"""Which differences are significant, for all pairs at once: the stepdown max-t test over pairs of items.

The hypotheses are "item i is no better than item j", one for every ordered pair. A pair is separated if its difference,
over its standard error, exceeds the critical value: the quantile that the largest of all such quotients exceeds by
chance with probability 1 - level. Separated pairs are removed, and the test is repeated for the rest until it separates
no more (Romano and Wolf 2005; for ranks Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdrank.rankings import Floats, Ints
from holdrank.votes.limits import NUMBERS_AT_A_TIME

Mask = npt.NDArray[np.bool_]
Singles = npt.NDArray[np.float32]

_FLAT = 1e-10  # standard errors below this share of the largest are rounding
_MANY_UNITS = 1000  # beyond, standard errors are as good as known
_MOST_FACTORS = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Scores of items with their covariance, and the number of independent units; larger is better.

    Attributes
    ----------
    values : (n,) array of float
        NaN where the votes determine none: such an item is separated from no other.
    covariance : (n, n) array of float
        Of the values that are there.
    units : float
        Effective number of independent ballots or equal clusters; infinite for a known covariance.
    """

    values: Floats
    covariance: Floats
    units: float = math.inf

    @property
    def known(self) -> Ints:
        """The items that have a value."""
        return np.flatnonzero(np.isfinite(self.values))


def separated(estimate: Estimate, level: float, draws: int, rng: np.random.Generator) -> tuple[Mask, Mask]:
    """Return which items stand above which: for all pairs at once, and row by row for each item alone.

    The second mask has in row i what holds about the pairs of item i, with the level for that item alone: [i, j] where
    i stands above j and, third axis, where j stands above i.
    """
    n, known = len(estimate.values), estimate.known
    above, alone = np.zeros((n, n), dtype=bool), np.zeros((n, n, 2), dtype=bool)
    if len(known) < 2 or estimate.units < 2:
        return above, alone
    test = _MaxT(estimate, level, draws, rng)
    above[np.ix_(known, known)] = test.all_pairs()
    for k, item in enumerate(known.tolist()):
        up, down = test.pairs_of(k)
        alone[item, known, 0], alone[item, known, 1] = up, down
    return above, alone


class _MaxT:
    """The test for the items that have values."""

    def __init__(self, estimate: Estimate, level: float, draws: int, rng: np.random.Generator) -> None:
        known = estimate.known
        values, cov = estimate.values[known], _symmetric(estimate.covariance[np.ix_(known, known)])
        self.level, self.n = level, len(known)
        spread = np.diagonal(cov)[:, None] + np.diagonal(cov) - 2 * cov
        errors = np.sqrt(np.maximum(spread, 0.0))
        self._varies = errors > _FLAT * max(float(errors.max()), math.sqrt(float(np.abs(cov).max())))
        gaps = values[:, None] - values
        with np.errstate(divide="ignore", invalid="ignore"):
            self._scale = np.where(self._varies, 1 / errors, 0.0)
        self._t = gaps * self._scale
        self._units = estimate.units
        self._gaps = gaps
        root = _root(cov)
        self._noise = rng.standard_normal((draws, self.n)) @ root
        self._wobble = _wobble(root, np.where(self._varies, errors, np.inf), estimate.units, draws, rng)

    def all_pairs(self) -> Mask:
        active = self._varies.copy()
        found = self._unanimous(self.n * (self.n - 1) // 2)
        while active.any():
            new = active & (self._t > self._quantile(self._largest(*np.nonzero(active))))
            if not new.any():
                break
            found |= new
            active &= ~new
        return found

    def pairs_of(self, item: int) -> tuple[Mask, Mask]:
        """Return which items an item stands above, and which stand above it, at the level for this item alone."""
        noise = (self._noise[:, [item]] - self._noise) * self._scale[item]
        noise *= self._wobble[:, min(item, self._wobble.shape[1] - 1)]
        t, flat = self._t[item], self._unanimous(self.n - 1)
        found = np.array([flat[item], flat[:, item]])
        active = np.array([self._varies[item], self._varies[item]])
        both = np.array([t, -t])
        while active.any():
            up, down = (noise[:, rows] for rows in active)
            most = np.maximum(up.max(axis=1, initial=-np.inf), (-down).max(axis=1, initial=-np.inf))
            new = active & (both > self._quantile(most))
            if not new.any():
                break
            found |= new
            active &= ~new
        return found[0], found[1]

    def _largest(self, one: Ints, other: Ints) -> Floats:
        """Return the largest quotient of each draw, over the pairs that are left."""
        most = np.empty(len(self._noise))
        scale = self._scale[one, other]
        for at in range(0, len(most), rows := max(1, NUMBERS_AT_A_TIME // len(one))):
            some = self._noise[at : at + rows]
            factor = self._wobble[at : at + rows] if len(self._wobble) > 1 else self._wobble
            factor = factor[:, one, other] if factor.shape[1] > 1 else factor[:, :, 0]
            most[at : at + rows] = ((some[:, one] - some[:, other]) * scale * factor).max(axis=1)
        return most

    def _quantile(self, most: Floats) -> float:
        return float(np.quantile(most, self.level, method="higher"))

    def _unanimous(self, pairs: int) -> Mask:
        """Return pairs with exactly the same difference in all units, if these are enough for a sign test of all pairs.

        Their standard error is 0, no matter how few units there are.
        """
        enough = self._units - 1 >= math.log2(max(pairs, 1) / (1 - self.level))
        least = _FLAT * float(np.abs(self._gaps).max())
        return np.asarray(~self._varies & (self._gaps > least) & enough)


def _symmetric(matrices: Floats) -> Floats:
    """Return matrices without the rounding that makes them differ from their transposes.

    Where an error is almost 0, a pair would otherwise have one quotient for its first item and another for its second.
    """
    return (matrices + np.swapaxes(matrices, -1, -2)) / 2


def _root(cov: Floats) -> Floats:
    """Return the symmetric square root of a covariance: the same matrix on every machine."""
    sizes, axes = np.linalg.eigh(cov)
    return np.asarray((axes * np.sqrt(np.maximum(sizes, 0.0))) @ axes.T)


def _wobble(root: Floats, errors: Floats, units: float, draws: int, rng: np.random.Generator) -> Singles:
    """Return the factor, draw by draw, by which quotients vary because standard errors are estimated too.

    By draws of the estimated covariance (Wishart); where these would be too many numbers, one factor of Student for all
    pairs. Beyond a thousand units it does not matter.
    """
    n, freedom = len(root), units - 1
    if units > _MANY_UNITS:
        return np.ones((1, 1, 1), dtype=np.float32)
    if draws * n * n > _MOST_FACTORS:
        return np.sqrt(freedom / rng.chisquare(freedom, size=(draws, 1, 1))).astype(np.float32)
    found = np.empty((draws, n, n), dtype=np.float32)
    few = freedom < n
    width = max(int(freedom), 1) if few else n
    for at in range(0, draws, rows := max(1, NUMBERS_AT_A_TIME // (n * n))):
        size = min(rows, draws - at)
        factors = rng.standard_normal((size, n, width))
        if not few:  # as many normal numbers as there are units, turned into a triangle (Bartlett)
            factors *= np.tri(n, width, -1)
            diagonal = np.arange(n)
            factors[:, diagonal, diagonal] = np.sqrt(rng.chisquare(freedom - diagonal, size=(size, n)))
        scaled = root @ factors / math.sqrt(width if few else freedom)
        product = _symmetric(scaled @ scaled.transpose(0, 2, 1))
        own = np.diagonal(product, axis1=1, axis2=2)
        spread = np.maximum(own[:, :, None] + own[:, None, :] - 2 * product, 0.0)
        ratio = np.maximum(spread / errors**2, _FLAT)  # 0 where nothing varies, which is not used
        found[at : at + size] = 1 / np.sqrt(ratio)
    return found
