"""Probabilities that tests of tables need: of chi-square, of the range of normal numbers, of signs and signed ranks."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from holdrank.rankings import Floats

_MOST_EXACT = 50  # differences up to which signed ranks are counted
_MOST_TIED = 13  # the same where some are tied or 0, as scipy does
_END, _GRID = 8.0, 4001  # where the normal distribution is tabulated, and at how many points


def chi_square_tail(x: float, freedom: float) -> float:
    """Return the probability that a chi-square number is at least x: the upper incomplete gamma function.

    Examples
    --------
    >>> round(chi_square_tail(3.841458820694124, 1), 6)
    0.05
    """
    a, z = freedom / 2, x / 2
    if z <= 0:
        return 1.0
    scale = math.exp(-z + a * math.log(z) - math.lgamma(a))
    if z < a + 1:  # a series for the lower part
        term = total = 1 / a
        k = a
        while term > total * 1e-17:
            k += 1
            term *= z / k
            total += term
        return max(1 - scale * total, 0.0)
    b, c = z + 1 - a, 1e300  # a continued fraction for the upper one (Lentz)
    d = 1 / b
    h = d
    for k in range(1, 10_000):
        factor = -k * (k - a)
        b += 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        h *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return scale * h


def range_tail(q: float, n: int) -> float:
    """Return the probability that the range of n standard normal numbers exceeds q.

    Examples
    --------
    >>> round(range_tail(3.314493, 3), 5)
    0.05
    """
    x, below, density = _normal()
    inside = (below - _below(x - q)) ** (n - 1)
    return float(min(max(1 - n * np.trapezoid(density * inside, x), 0.0), 1.0))


def range_quantile(level: float, n: int) -> float:
    """Return what the range of n standard normal numbers exceeds with the probability 1 - level.

    Examples
    --------
    >>> round(range_quantile(0.95, 2), 4), round(range_quantile(0.95, 10), 4)
    (2.7718, 4.4741)
    """
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if range_tail(middle, n) > 1 - level else (low, middle)
    return (low + high) / 2


def student_quantile(p: float, freedom: float) -> float:
    """Return the number that Student's distribution stays below with the probability p, at least 1/2 (Wallace 1959).

    A little too large for very few degrees of freedom: 3.22 in place of 3.18 for three.

    Examples
    --------
    >>> [round(student_quantile(0.975, freedom), 2) for freedom in (3, 10, 100, 10**6)]
    [3.22, 2.23, 1.98, 1.96]
    """
    z = NormalDist().inv_cdf(p) * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(min(z * z / freedom, 700.0)))


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of wins and losses that are equally likely: McNemar's exact test.

    Examples
    --------
    >>> sign_test(9, 1), sign_test(0, 0)
    (0.021484375, 1.0)
    """
    n, few = wins + losses, min(wins, losses)
    tail = sum(math.comb(n, k) for k in range(few + 1))
    return float(min(1.0, 2 * tail / 2**n))


def signed_rank_test(differences: Floats) -> float:
    """Return Wilcoxon's two-sided p-value: zeros are left out, and ties share their ranks.

    Counted exactly up to 50 differences, up to 13 where some are tied or 0; beyond, by the normal approximation with
    the correction for ties.

    Examples
    --------
    >>> signed_rank_test(np.array([1.0, 2.0, 3.0, 4.0, -0.5, 6.0]))
    0.0625
    >>> signed_rank_test(np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0]))
    0.0625
    """
    given = differences[differences != 0]
    n = len(given)
    if not n:
        return 1.0
    _, place, sizes = np.unique(np.abs(given), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[place.ravel()]
    distinct = n == len(differences) and bool((sizes == 1).all())
    if len(differences) <= (_MOST_EXACT if distinct else _MOST_TIED):
        halves = np.rint(2 * ranks).astype(np.int64)  # a tie of two has a rank and a half
        ways = np.zeros(n * (n + 1) + 1)
        ways[0] = 1.0
        for rank in halves.tolist():
            ways[rank:] = ways[rank:] + ways[:-rank]
        up = int(halves[given > 0].sum())
        least = min(up, n * (n + 1) - up)
        return float(min(1.0, 2 * ways[: least + 1].sum() / 2.0**n))
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
    z = abs(float(ranks[given > 0].sum()) - n * (n + 1) / 4) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def holm(p: Floats) -> Floats:
    """Return p-values of several tests, raised so that all of them hold at once (Holm).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty_like(raised)
    found[order] = np.minimum(raised, 1.0)
    return found


@cache
def _normal() -> tuple[Floats, Floats, Floats]:
    """Return points, with the normal distribution function and its density there."""
    x = np.linspace(-_END, _END, _GRID)
    below = np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in x.tolist()])
    return x, below, np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def _below(x: Floats) -> Floats:
    """Return the normal distribution function, by cubics between the points of the table: right to some 1e-13."""
    points, below, density = _normal()
    step = points[1] - points[0]
    at = np.clip((x - points[0]) / step, 0.0, _GRID - 1.0)
    k = np.minimum(at.astype(np.int64), _GRID - 2)
    t = at - k
    rises = below[k + 1] - below[k]
    left, right = density[k] * step - rises, rises - density[k + 1] * step
    return np.asarray(below[k] + t * rises + t * (1 - t) * ((1 - t) * left + t * right))
