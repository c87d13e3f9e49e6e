"""Statistics of many distributions at once, for few items: shares of all n! rankings in, numbers of outcomes out.

A statistic of n items has finitely many outcomes: n! strict rankings, and for a merge each of them with its places cut
into buckets in 2**(n - 1) ways. A batch form lists them once and then answers only with their numbers, so that a
distance to a fixed ranking is a look-up. Of the n! shares it needs a few dozen means, such as the margins of the pairs:
one product with a table of n! rows, which the caller may compute together with the shares. Everything else is matrix
products and comparisons that run on any array library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, permutations
from math import factorial
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from holdrank.arrays.tolerances import DECIMALS, TIED
from holdrank.errors import LimitError, Message, Option, UsageError
from holdrank.rankings import Floats, Ints, array_namespace
from holdrank.rules.consensus import Statistic, name_of
from holdrank.rules.merges import Merge, Robust
from holdrank.rules.registry import rule_of

T = TypeVar("T", bound=np.generic)

MOST_ITEMS = 8  # 40,320 rankings
_HALVES_FROM = 7  # items: below, the costs of all orders are as fast as those of halves of orders


@runtime_checkable
class Batched(Protocol):
    """A user-defined statistic that can be estimated: a `Statistic` with a batch form."""

    @property
    def __name__(self) -> str: ...

    def batch(self, shares: Any) -> Any:
        """Return the ranks of the items, (..., n), for shares (..., n!) of the rankings in the order of `all_rankings`.

        Shares are an array of some library, at least two-dimensional; the ranks must belong to the same library.
        """
        ...


@cache
def all_orders(n: int) -> Ints:
    """Return the orders of n items, best first, one per row, in lexicographic order as in `all_rankings`."""
    if n > MOST_ITEMS:
        raise LimitError(
            f"{n} items have {factorial(n):,} rankings; the limit is {MOST_ITEMS} items",
            repair=Message("keep fewer items, or use ", Option("method", "auto"), ", which does not list all rankings"),
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
    features : (n!, f) array
        What each ranking contributes to the means that decide on the outcome, in the library of the form.
    """

    ranks: Ints
    features: Any

    def codes(self, shares: Any) -> Any:
        """Return the number of the outcome of each distribution; shares are (many, n!)."""
        return self.outcomes(array_namespace(shares).matmul(shares, self.features))

    def outcomes(self, means: Any) -> Any:
        """Return the number of the outcome for means of the features, (many, f)."""
        raise NotImplementedError


def batch_form(statistic: Statistic, n: int, like: Any) -> BatchForm | None:
    """Return the batch form of a statistic with its tables in the library and on the device of `like`.

    None for a user-defined statistic that has a method `batch` instead; one without it is refused.
    """
    median_of = rule_of(statistic).median_of
    if median_of == "spearman_rho":
        return _Borda(n, like)
    if median_of is not None:
        return MedianBatch(n, like, kendall=median_of == "kendall")
    if isinstance(statistic, Robust) and statistic.merge != "smith":
        base = batch_form(statistic.base, n, like)
        if base is not None:
            return _Merged(base, n, like, float(statistic.theta), statistic.merge)
    elif isinstance(statistic, Batched):
        return None
    raise UsageError(
        f"{name_of(statistic)} has no batch form",
        repair="give it a method batch(shares) that returns the ranks for "
        "many distributions over all rankings, or use kemeny, borda, footrule or Robust of one of them",
    )


class MedianBatch(BatchForm):
    """Kemeny and footrule: the ranking of least expected distance, the first of several."""

    def __init__(self, n: int, like: Any, *, kendall: bool) -> None:
        self._xp = array_namespace(like)
        self._n, self._kendall = n, kendall
        self.ranks = all_places(n) + 1
        place = all_places(n)
        features = 2 * pairs_before(n) - 1 if kendall else (place[:, :, None] == np.arange(n)).reshape(-1, n * n)
        self.features = _constant(features.astype(np.float64), like)
        self._product = None
        if n < _HALVES_FROM:
            self._costs = _constant(self.costs, like)
            if n <= 4:  # for few rankings one product is cheaper than two
                self._product = _constant(features @ self.costs, like)
        else:
            self._halves = _Halves(n, self._costs_of, self._owners(), like)

    @property
    def by_pairs(self) -> bool:
        """Whether the features are the leads of pairs: 1 where the first of the pair comes first, else -1."""
        return self._kendall

    @property
    def costs(self) -> Floats:
        """Return what each mean adds to the cost of each order, (f, n!): its expected distance up to a constant."""
        return self._costs_of(all_places(self._n))

    def _costs_of(self, place: Ints) -> Floats:
        n = self._n
        if self._kendall:
            i, j = np.triu_indices(n, 1)
            return 0.5 - (place[:, i] < place[:, j]).T.astype(np.float64)
        away = np.abs(place.T[:, None, :] - np.arange(n)[:, None])
        return np.asarray(away.reshape(n * n, -1), dtype=np.float64)

    def _owners(self) -> list[tuple[int, ...]]:
        """Return the items that each mean is about."""
        n = self._n
        return list(combinations(range(n), 2)) if self._kendall else [(i,) for i in range(n) for _ in range(n)]

    def codes(self, shares: Any) -> Any:  # noqa: D102
        if self._product is None:
            return super().codes(shares)
        return self._first_least(self._xp.matmul(shares, self._product))

    def outcomes(self, means: Any) -> Any:  # noqa: D102
        if self._n >= _HALVES_FROM:
            return self._halves(means)
        return self._first_least(self._xp.matmul(means, self._costs))

    def _first_least(self, costs: Any) -> Any:
        xp = self._xp
        least = xp.min(costs, axis=-1, keepdims=True)
        return xp.argmax(xp.astype(costs <= least + TIED, xp.int8), axis=-1)


class _Halves:
    """The cheapest order, from the cheapest first and second half for every set of items that may come first.

    The set fixes the cost between the two halves, so each half is ordered separately: for eight items, 70 sets with 24
    + 24 orders instead of 40,320.
    """

    def __init__(self, n: int, costs_of: Callable[[Ints], Floats], owners: list[tuple[int, ...]], like: Any) -> None:
        self._xp = array_namespace(like)
        firsts, seconds, masks = [], [], []
        for front in combinations(range(n), n // 2):
            back = [item for item in range(n) if item not in front]
            firsts.append(list(permutations(front)))
            seconds.append(list(permutations(back)))
            masks.append([any(item in front for item in items) for items in owners])
        first, second, mask = np.array(firsts), np.array(seconds), np.array(masks)
        sets, self._first, half = first.shape
        self._second = second.shape[1]

        def table(head: Ints, tail: Ints, kept: Any) -> Any:
            head, tail = (np.broadcast_to(part, (sets, max(head.shape[1], tail.shape[1]), part.shape[2]))
                          for part in (head, tail))  # fmt: skip
            orders = np.concatenate((head, tail), axis=2)
            costs = costs_of(np.argsort(orders.reshape(-1, n), axis=1)).reshape(-1, sets, orders.shape[1])
            return _constant((costs * kept.T[:, :, None]).reshape(len(owners), -1), like)

        self._heads = table(first, second[:, :1], mask)
        self._tails = table(first[:, :1], second, ~mask)
        whole = np.concatenate(
            (
                np.broadcast_to(first[:, :, None, :], (sets, self._first, self._second, half)),
                np.broadcast_to(second[:, None, :, :], (sets, self._first, self._second, n - half)),
            ),
            axis=3,
        )
        self._sets = _constant(np.arange(sets), like)
        self._numbers = _constant(_numbers(whole.reshape(-1, n)), like)

    def __call__(self, means: Any) -> Any:
        xp = self._xp
        many, sets = means.shape[0], self._sets.shape[0]

        def best(table: Any, orders: int) -> tuple[Any, Any]:
            costs = xp.reshape(xp.matmul(means, table), (many, sets, orders))
            least = xp.min(costs, axis=-1)
            return least, xp.argmax(xp.astype(costs <= least[..., None] + TIED, xp.int8), axis=-1)

        head, first = best(self._heads, self._first)
        tail, second = best(self._tails, self._second)
        cost = head + tail
        least = xp.min(cost, axis=-1, keepdims=True)
        at = (self._sets[None, :] * self._first + first) * self._second + second
        number = xp.reshape(xp.take(self._numbers, xp.reshape(at, (-1,))), (many, sets))
        return xp.min(xp.where(cost <= least + TIED, number, xp.full_like(number, 1 << 30)), axis=-1)


def _numbers(orders: Ints) -> Ints:
    """Return the places of orders in `all_orders`."""
    n = orders.shape[1]
    later = [(orders[:, t + 1 :] < orders[:, t : t + 1]).sum(axis=1) * factorial(n - 1 - t) for t in range(n)]
    return np.asarray(sum(later), dtype=np.int64)


class _Borda(BatchForm):
    """Borda: pairs of mean places are compared; the comparisons spell an order, and its number.

    The number of an order adds up, over its items, how many of those behind have a smaller number than the item, times
    the number of orders of those behind. Both are counts of comparisons.
    """

    def __init__(self, n: int, like: Any) -> None:
        self._xp = array_namespace(like)
        self.ranks = all_places(n) + 1
        i, j = np.triu_indices(n, 1)
        place = all_places(n).astype(np.float64)
        self.features = _constant(place[:, j] - place[:, i], like)  # mean place of j less that of i
        item = np.arange(n)
        first, second = ((item == end[:, None]).astype(np.float64) for end in (i, j))
        # Behind item i: each later j that it beats, and each earlier one, which must not beat it.
        self._behind, self._smaller_behind = _constant(first - second, like), _constant(-second, like)
        self._earlier = _constant(item.astype(np.float64), like)
        self._orders = _constant(np.array([factorial(k) for k in range(n)], dtype=np.int64), like)

    def outcomes(self, means: Any) -> Any:
        xp = self._xp
        first = xp.astype(means >= -TIED, means.dtype)
        behind = xp.astype(xp.matmul(first, self._behind) + self._earlier, xp.int64)
        smaller = xp.astype(xp.matmul(first, self._smaller_behind) + self._earlier, xp.int64)
        ways = xp.reshape(xp.take(self._orders, xp.reshape(behind, (-1,))), behind.shape)
        number = xp.sum(smaller * ways, axis=-1)
        # Equality within rounding need not be transitive: then no order is encoded, and any order will do.
        return xp.minimum(number, xp.full_like(number, len(self.ranks) - 1))


class _Merged(BatchForm):
    """A merge of the outcome of another form."""

    def __init__(self, base: BatchForm, n: int, like: Any, theta: float, merge: Merge) -> None:
        self._xp = array_namespace(like)
        self._base, self._merge = base, BatchMerge(n, theta, merge, like)
        ways = 1 << (n - 1)
        joined = (np.arange(ways)[:, None] >> np.arange(n - 1)) & 1
        bucket_at = np.concatenate((np.ones((ways, 1), dtype=np.int64), 1 + np.cumsum(1 - joined, axis=1)), axis=1)
        # For eight items there are five million outcomes: small numbers, or they fill the memory.
        self.ranks = closed(bucket_at.astype(np.int8)[:, base.ranks - 1].transpose(1, 0, 2).reshape(-1, n))
        self._ways = ways
        leads = _constant(2 * pairs_before(n) - 1, like)
        self._means = base.features.shape[1]
        self._leads = 0 if isinstance(base, MedianBatch) and base.by_pairs else self._means  # where they begin
        self.features = self._xp.concat((base.features, leads), axis=1) if self._leads else base.features
        # Which pair of items stands at each pair of places, for every outcome of the base.
        number = np.zeros((n, n), dtype=np.int64)
        i, j = np.triu_indices(n, 1)
        number[i, j] = number[j, i] = np.arange(len(i))
        order = np.argsort(base.ranks, axis=1)
        self._pair_at = _constant(number[order[:, i], order[:, j]].ravel(), like)
        self._places = _constant(np.arange(len(i)), like)

    def outcomes(self, means: Any) -> Any:
        xp = self._xp
        strict = self._base.outcomes(means[:, : self._means])
        deviations = xp.astype(xp.abs(means[:, self._leads :]) / 2, xp.float64)
        count, pairs = deviations.shape
        pair = xp.take(self._pair_at, xp.reshape(strict[:, None] * pairs + self._places[None, :], (-1,)))
        row = xp.arange(count, dtype=xp.int64, device=means.device)[:, None] * pairs
        at = xp.reshape(row + xp.reshape(pair, (count, pairs)), (-1,))
        in_order = xp.reshape(xp.take(xp.reshape(deviations, (-1,)), at), (count, pairs))
        return strict * self._ways + self._merge(in_order)


class BatchMerge:
    """`naive_merge` and `downward_merge` of many rankings at once, given their deviations in order.

    Both rules compare lists of deviations, sorted from the largest, like words. Let r(e) be the number of deviations in
    the matrix that are smaller than e. Then words compare as the sums of ``2 ** r(e)`` do: if m deviations are equal,
    with r = s, the next larger ones have r >= s + m, and ``m 2**s <= 2**(s + m) - 2**s``, so smaller deviations never
    add up to a larger one. Sums of up to 28 such powers are exact.
    """

    def __init__(self, n: int, theta: float, merge: Merge, like: Any) -> None:
        self._xp = array_namespace(like)
        self._n, self._naively = n, merge == "naive"
        self._limit = round(round(theta, DECIMALS) * 10**DECIMALS)
        spans = [(s, t) for s in range(n) for t in range(s + 1, n)]  # leftmost first: it wins among equals
        first, last = (np.array(side, dtype=np.int64) for side in (zip(*spans, strict=True) if spans else ((), ())))
        inside = (first[None, :] <= first[:, None]) & (last[:, None] <= last[None, :])  # pair of places, interval
        boundary = np.arange(n - 1)
        joins = ((first[:, None] <= boundary) & (boundary < last[:, None])) @ (1 << boundary)
        apart = (last[:, None] < first) | (last < first[:, None])
        self._inside = _constant(inside.astype(np.float64), like, exact=True)
        self._joins = _constant(joins.astype(np.int64), like)
        self._apart = _constant(apart, like)
        if merge == "naive":
            self._unions, self._across = (_constant(t, like, exact=True) for t in _neighbours(n, inside, spans))
            self._bits = _constant(1 << boundary, like)

    def __call__(self, deviations: Any) -> Any:
        """Return for each row, (many, pairs of places), the joined borders as bits: the first place's is the lowest."""
        xp = self._xp
        whole = xp.round(deviations * 10.0**DECIMALS)
        smaller = xp.astype(whole[:, None, :] < whole[:, :, None], xp.float64)
        rank = xp.sum(smaller, axis=-1)
        return (self._naive if self._naively else self._downward)(whole > self._limit, rank)

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


def _constant(table: Any, like: Any, *, exact: bool = False) -> Any:
    """Return a table on the device of `like`, in its precision or, if values must be `exact`, in double precision."""
    xp = array_namespace(like)
    array = xp.asarray(np.array(table, order="C"), device=like.device)
    return (
        xp.astype(array, xp.float32) if array.dtype == xp.float64 and like.dtype == xp.float32 and not exact else array
    )


def closed(table: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return the array, no longer writeable."""
    table.flags.writeable = False
    return table
