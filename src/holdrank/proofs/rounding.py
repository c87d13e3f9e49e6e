"""Directed rounding of floating-point numbers: results are never below, or never above, the true value.

IEEE arithmetic rounds every sum, product and quotient to the nearest float, so the next float on one side bounds it.
A sum of m products of a few factors is off by at most (m + a few) * 2**-53 of the sum of their absolute values, to
first order, in any order of addition and with any fused operations. We allow twice that. The one function that is
trusted to a few units in the last place is ``exp``; a test holds it against `decimal`.
"""

from __future__ import annotations

import numpy as np

from holdrank.rankings import Floats

_ULP = 2.0**-52
_EXP = 2.0**-50  # relative error that is allowed to exp: four units in the last place
_FARTHEST = 700.0  # beyond, exp overflows
_TINY = 1e-280  # more than all underflows of a sum together


def up(x: Floats) -> Floats:
    """Return an upper bound on the exact result that was rounded to x."""
    return np.asarray(np.nextafter(x, np.inf))


def down(x: Floats) -> Floats:
    """Return a lower bound on the exact result that was rounded to x."""
    return np.asarray(np.nextafter(x, -np.inf))


def sigma_below(x: Floats) -> Floats:
    """Return at most the logistic function of x."""
    e = up(np.exp(-np.clip(x, -_FARTHEST, _FARTHEST)) * (1 + _EXP))
    return np.where(x < -_FARTHEST, 0.0, np.maximum(down(1 / up(1 + e)), 0.0))


def sigma_above(x: Floats) -> Floats:
    """Return at least the logistic function of x."""
    e = down(np.exp(-np.clip(x, -_FARTHEST, _FARTHEST)) * (1 - _EXP))
    return np.asarray(np.minimum(up(1 / down(1 + e)), 1.0))


def rounding(terms: int) -> float:
    """Return the relative error of a sum of a number of products, as a share of the sum of absolute values."""
    return (terms + 16) * _ULP


def raised(total: Floats, terms: int) -> Floats:
    """Return at least the true sum of terms of which none is negative, given the rounded one."""
    return np.asarray(total * (1 + rounding(terms)) + _TINY)


def lowered(total: Floats, terms: int) -> Floats:
    """Return at most the true sum of terms of which none is negative, given the rounded one."""
    return np.asarray(np.maximum(total * (1 - rounding(terms)) - _TINY, 0.0))
