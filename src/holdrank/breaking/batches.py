"""Statistics of many distributions at once, for few items: shares of all n! rankings in, numbers of outcomes out.

A statistic of n items has finitely many outcomes: n! strict rankings, and for a merge each of them with its places cut
into buckets in 2**(n - 1) ways. A batch form lists them once and then answers only with their numbers, so that a
distance to a fixed ranking is a look-up. Everything between is matrix products and comparisons that run on any array
library.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from holdrank.consensus import Statistic, borda, footrule, kemeny
from holdrank.errors import LimitError, UsageError
from holdrank.merge import Robust, Rule
from holdrank.rankings import Floats, Ints, array_namespace

T = TypeVar("T", bound=np.generic)

MOST_ITEMS = 6  # 720 rankings
_TIE = 1e-11  # as in `kemeny_batch`: costs that differ by less are equal, and the first ranking wins
_DECIMALS = 12  # as in `merge`: deviations are compared to so many decimals


@runtime_checkable
class Batched(Protocol):
    """A statistic of your own that can be estimated: a `Statistic` with a batch form."""

    @property
    def __name__(self) -> str: ...

    def batch(self, shares: Any) -> Any:
        """Return the ranks of the items, (..., n), for shares (..., n!) of the rankings in the order of `all_rankings`.

        Shares are an array of some library, at least two-dimensional; the ranks must be of the same.
        """
        ...


@cache
def all_orders(n: int) -> Ints:
    """Return the orders of n items, best first, one a row, in lexicographic order as in `all_rankings`."""
    if n > MOST_ITEMS:
        raise LimitError(
            f"{n} items have {factorial(n):,} rankings; this takes up to {MOST_ITEMS} items; to repair: keep the items "
            "in question, or use a bound or an exact method, which do not list all rankings"
        )
    return closed(np.array(list(permutations(range(n)))).reshape(-1, n))


@cache
def all_places(n: int) -> Ints:
    """Return the place of each item (0 is best), one row for each order of `all_orders`."""
    return closed(np.argsort(all_orders(n), axis=1))


@cache
def pairs_before(n: int) -> Floats:
    """Return for each order (rows) and pair i < j (columns, row by row) 1.0 where i comes first, else 0.0."""
    i, j = np.triu_indices(n, 1)
    place = all_places(n)
    return closed((place[:, i] < place[:, j]).astype(np.float64))


class BatchForm:
    """The outcomes of a statistic, and which of them a distribution has.

    Attributes
    ----------
    ranks : (outcomes, n) array of int
        All outcomes, as dense ranks.
    """

    ranks: Ints

    def codes(self, shares: Any) -> Any:
        """Return the number of the outcome of each distribution; shares are (many, n!)."""
        raise NotImplementedError


def batch_form(statistic: Statistic, n: int, like: Any) -> BatchForm | None:
    """Return the batch form of a statistic with its tables in the library and on the device of `like`.

    None for a statistic of your own that offers `batch` instead; one that offers nothing is refused.
    """
    if statistic is kemeny or statistic is footrule:
        return _Median(n, like, kendall=statistic is kemeny)
    if statistic is borda:
        return _Borda(n, like)
    if isinstance(statistic, Robust) and statistic.rule != "smith":
        base = batch_form(statistic.base, n, like)
        if base is not None:
            return _Merged(base, n, like, float(statistic.theta), statistic.rule)
    elif isinstance(statistic, Batched):
        return None
    name = getattr(statistic, "__name__", type(statistic).__name__)
    raise UsageError(
        f"{name} has no batch form; to repair: give it a method batch(shares) that returns the ranks for many "
        "distributions over all rankings, or use kemeny, borda, footrule or Robust of one of them"
    )


class _Median(BatchForm):
    """Kemeny and footrule: the ranking of least expected distance, the first of several."""

    def __init__(self, n: int, like: Any, *, kendall: bool) -> None:
        self._xp = array_namespace(like)
        self.ranks = all_places(n) + 1
        if kendall:
            votes, costs = 2 * pairs_before(n) - 1, 0.5 - pairs_before(n).T
        else:
            grid = np.arange(n)
            votes = (all_places(n)[:, :, None] == grid).reshape(-1, n * n).astype(np.float64)
            costs = np.abs(all_places(n).T[:, None, :] - grid[:, None]).reshape(n * n, -1).astype(np.float64)
        # For few rankings one product is cheaper than two.
        self._tables = [_constant(votes @ costs, like)] if n <= 4 else [_constant(t, like) for t in (votes, costs)]

    def codes(self, shares: Any) -> Any:
        for table in self._tables:
            shares = self._xp.matmul(shares, table)
        least = self._xp.min(shares, axis=-1, keepdims=True)
        return self._xp.argmax(self._xp.astype(shares <= least + _TIE, self._xp.int8), axis=-1)


class _Borda(BatchForm):
    """Borda: pairs of mean places are compared, and a table says which ranking the comparisons spell."""

    def __init__(self, n: int, like: Any) -> None:
        self._xp = array_namespace(like)
        self.ranks = all_places(n) + 1
        i, j = np.triu_indices(n, 1)
        place = all_places(n).astype(np.float64)
        self._gaps = _constant(place[:, j] - place[:, i], like)  # mean place of j less that of i
        weights = 2.0 ** np.arange(len(i))
        # Equal within rounding need not be transitive: then no order spells the code, and any will do.
        spelled: Ints = np.zeros(1 << len(i), dtype=np.int64)
        spelled[(pairs_before(n) @ weights).astype(np.int64)] = np.arange(len(place))
        self._weights, self._spelled = _constant(weights, like), _constant(spelled, like)

    def codes(self, shares: Any) -> Any:
        xp = self._xp
        first = xp.astype(xp.matmul(shares, self._gaps) >= -_TIE, xp.float64)
        return xp.take(self._spelled, xp.astype(xp.matmul(first, self._weights), xp.int64))


class _Merged(BatchForm):
    """A merge of the outcome of another form."""

    def __init__(self, base: BatchForm, n: int, like: Any, theta: float, rule: Rule) -> None:
        self._xp = array_namespace(like)
        self._base, self._merge = base, BatchMerge(n, theta, rule, like)
        ways = 1 << (n - 1)
        joined = (np.arange(ways)[:, None] >> np.arange(n - 1)) & 1
        bucket_at = np.concatenate((np.ones((ways, 1), dtype=np.int64), 1 + np.cumsum(1 - joined, axis=1)), axis=1)
        self.ranks = closed(bucket_at[:, base.ranks - 1].transpose(1, 0, 2).reshape(-1, n))
        self._ways = ways
        self._before = _constant(pairs_before(n), like)
        # Which pair of items stands at each pair of places, for every outcome of the base.
        number = np.zeros((n, n), dtype=np.int64)
        i, j = np.triu_indices(n, 1)
        number[i, j] = number[j, i] = np.arange(len(i))
        order = np.argsort(base.ranks, axis=1)
        self._pair_at = _constant(number[order[:, i], order[:, j]].ravel(), like)
        self._places = _constant(np.arange(len(i)), like)

    def codes(self, shares: Any) -> Any:
        xp = self._xp
        strict = self._base.codes(shares)
        deviations = xp.abs(xp.matmul(shares, self._before) - 0.5)
        count, pairs = deviations.shape
        pair = xp.take(self._pair_at, xp.reshape(strict[:, None] * pairs + self._places[None, :], (-1,)))
        row = xp.arange(count, dtype=xp.int64, device=shares.device)[:, None] * pairs
        at = xp.reshape(row + xp.reshape(pair, (count, pairs)), (-1,))
        in_order = xp.reshape(xp.take(xp.reshape(deviations, (-1,)), at), (count, pairs))
        return strict * self._ways + self._merge(in_order)


class BatchMerge:
    """`naive_merge` and `downward_merge` of many rankings at once, given their deviations in order.

    Both rules compare lists of deviations, sorted from the largest, like words. Write r(e) for the number of deviations
    of the matrix that are smaller than e; then words compare as the sums of ``2 ** r(e)`` do. For if m deviations are
    equal, with r = s, the next larger ones have r >= s + m, and ``m 2**s <= 2**(s + m) - 2**s``: all that is smaller
    never adds up to one that is larger. Sums of up to 15 such powers are exact.
    """

    def __init__(self, n: int, theta: float, rule: Rule, like: Any) -> None:
        self._xp = array_namespace(like)
        self._n, self._rule = n, rule
        self._limit = round(round(theta, _DECIMALS) * 10**_DECIMALS)
        spans = [(s, t) for s in range(n) for t in range(s + 1, n)]  # leftmost first: it wins among equals
        first, last = (np.array(side, dtype=np.int64) for side in (zip(*spans, strict=True) if spans else ((), ())))
        inside = (first[None, :] <= first[:, None]) & (last[:, None] <= last[None, :])  # pair of places, interval
        boundary = np.arange(n - 1)
        joins = ((first[:, None] <= boundary) & (boundary < last[:, None])) @ (1 << boundary)
        apart = (last[:, None] < first) | (last < first[:, None])
        self._inside = _constant(inside.astype(np.float64), like)
        self._joins = _constant(joins.astype(np.int64), like)
        self._apart = _constant(apart, like)
        if rule == "naive":
            self._unions, self._across = (_constant(t, like) for t in _neighbours(n, inside, spans))
            self._bits = _constant(1 << boundary, like)

    def __call__(self, deviations: Any) -> Any:
        """Return for each row, (many, pairs of places), the joined borders as bits: the first place's is the lowest."""
        xp = self._xp
        whole = xp.round(deviations * 10.0**_DECIMALS)
        smaller = xp.astype(whole[:, None, :] < whole[:, :, None], xp.float64)
        rank = xp.sum(smaller, axis=-1)
        return (self._naive if self._rule == "naive" else self._downward)(whole > self._limit, rank)

    def _downward(self, too_far: Any, rank: Any) -> Any:
        """Take the interval with the largest word, drop those that overlap it, repeat."""
        xp = self._xp
        word = xp.matmul(2.0**rank, self._inside)
        allowed = xp.matmul(xp.astype(too_far, xp.float64), self._inside) == 0
        joined = xp.zeros((rank.shape[0],), dtype=xp.int64, device=rank.device)
        zero = xp.zeros_like(joined)
        for _ in range(self._n // 2):
            best = xp.argmax(xp.where(allowed, word, xp.zeros_like(word)), axis=-1)
            joined = joined + xp.where(xp.any(allowed, axis=-1), xp.take(self._joins, best), zero)
            allowed = allowed & xp.take(self._apart, best, axis=0)
        return joined

    def _naive(self, too_far: Any, rank: Any) -> Any:
        """Join the two neighbours with the smallest largest deviation, then word, as long as one may be joined."""
        xp = self._xp
        pairs = rank.shape[-1]
        power = 2.0**rank
        joined = xp.zeros((rank.shape[0],), dtype=xp.int64, device=rank.device)
        zero = xp.zeros_like(joined)
        for _ in range(self._n - 1):
            union = xp.take(self._unions, joined, axis=0)  # (many, borders, pairs)
            height = xp.max(union * (rank + 1)[:, None, :], axis=-1)  # 0: the border is gone
            allowed = (height > 0) & (xp.sum(union * xp.astype(too_far, xp.float64)[:, None, :], axis=-1) == 0)
            word = xp.sum(xp.take(self._across, joined, axis=0) * power[:, None, :], axis=-1)
            key = xp.where(allowed, height * 2.0**pairs + word, xp.full_like(word, xp.inf))
            best = xp.argmin(key, axis=-1)
            joined = joined + xp.where(xp.any(allowed, axis=-1), xp.take(self._bits, best), zero)
        return joined


def _neighbours(n: int, inside: Any, spans: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    """Return 0-1 tables (joined borders, border, pair of places): pairs in the union over a border, pairs across it."""
    number = {span: at for at, span in enumerate(spans)}
    unions = np.zeros((1 << (n - 1), n - 1, len(spans)))
    across = np.zeros_like(unions)
    for joined in range(1 << (n - 1)):
        edges = [0, *(b + 1 for b in range(n - 1) if not joined >> b & 1), n]
        for left, middle, right in zip(edges, edges[1:], edges[2:], strict=False):
            unions[joined, middle - 1] = inside[:, number[left, right - 1]]
            for s in range(left, middle):
                for t in range(middle, right):
                    across[joined, middle - 1, number[s, t]] = 1.0
    return unions, across


def _constant(table: Any, like: Any) -> Any:
    return array_namespace(like).asarray(np.array(table, order="C"), device=like.device)


def closed(table: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return the array, no longer writeable."""
    table.flags.writeable = False
    return table
