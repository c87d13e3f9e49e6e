"""Rules that make tiers of a few items, and the nearest votes with another result: the programs of `tier_rules.py`.

Each rule cuts the space of pairwise matrices into regions with one result each. A region is a box (each pair between
two levels) together with linear comparisons (a ranking beats all others; a pivot comes before another), or a union of
such. The breakdown is the least total variation from the votes to a region whose result is far enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

import holdrank as hr
from holdrank.rankings import Ranking
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock

Ranks = tuple[int, ...]
EQUAL, DECIMALS = 1e-9, 9


# Bucket orders of a few items, and what they say about each pair


@dataclass(frozen=True)
class BucketOrders:
    """All bucket orders of n items, the strict ones first.

    ``sign[b, k]`` is 1 where order b has the first item of pair k above the second, -1 where below, 0 where tied.
    """

    n: int
    ranks: list[Ranks]
    sign: Any
    strict: int
    number: dict[Ranks, int]
    pairs: list[tuple[int, int]]

    def broken(self, before: int) -> Any:
        """Return for each order how many pairs that are apart in `before` it ties or turns: H_ns, in pairs."""
        old = self.sign[before]
        return ((old != 0) & (self.sign != old)).sum(axis=1)


@cache
def bucket_orders(n: int) -> BucketOrders:
    found = [r for r in product(range(1, n + 1), repeat=n) if set(r) == set(range(1, max(r) + 1))]
    found.sort(key=lambda ranks: (-max(ranks), ranks))
    pairs = list(combinations(range(n), 2))
    sign = np.array([[(r[i] < r[j]) - (r[i] > r[j]) for i, j in pairs] for r in found], dtype=np.float64)
    return BucketOrders(n, found, sign, math.factorial(n), {r: k for k, r in enumerate(found)}, pairs)


def dense(buckets: Iterable[Iterable[int]], n: int) -> Ranks:
    ranks = [0] * n
    for rank, bucket in enumerate(buckets, start=1):
        for item in bucket:
            ranks[item] = rank
    return tuple(ranks)


@cache
def pair_number(n: int) -> dict[tuple[int, int], tuple[int, float]]:
    """Return for each ordered pair of items its number and the sign of its margin."""
    out = {}
    for k, (i, j) in enumerate(combinations(range(n), 2)):
        out[i, j], out[j, i] = (k, 1.0), (k, -1.0)
    return out


# The rules, as functions of the margins m = P - 1/2 of the pairs and of theta, both to nine decimals: what a program
# puts on a level is then on it.


def square(margins: Any, n: int) -> list[list[float]]:
    """Return the margins as a matrix."""
    out = [[0.0] * n for _ in range(n)]
    for (i, j), value in zip(combinations(range(n), 2), np.round(margins, DECIMALS).tolist(), strict=True):
        out[i][j], out[j][i] = value, -value
    return out


def smith(margins: Any, n: int, theta: float) -> Ranks:
    """Tiers of which every item beats all items below by more than theta; as many as possible."""
    m = square(margins, n)
    return dense(smith_sets(lambda i, j: m[i][j] > theta, range(n)), n)


def smith_sets(beats: Callable[[int, int], bool], items: Iterable[int]) -> list[list[int]]:
    left, out = list(items), []
    while left:
        wins = {i: sum(beats(i, j) for j in left) for i in left}
        left.sort(key=lambda i: -wins[i])
        for size in range(1, len(left) + 1):
            if all(beats(i, j) for i in left[:size] for j in left[size:]):
                out.append(left[:size])
                left = left[size:]
                break
    return out


def pivot(margins: Any, n: int, theta: float, turn: Iterable[int] | None = None) -> Ranks:
    """Gionis et al. 2006: what beats the pivot by more than theta goes before it, what loses so after it."""
    m = square(margins, n)
    order = list(range(n) if turn is None else turn)

    def split(items: list[int]) -> list[list[int]]:
        if not items:
            return []
        at = items[0]
        before = [i for i in items if m[i][at] > theta]
        after = [i for i in items if m[at][i] > theta]
        return [*split(before), [i for i in items if i not in before and i not in after], *split(after)]

    return dense(split(order), n)


def indecision(margins: Any, n: int) -> list[float]:
    """Aledo et al. 2017: how far the pairs of each item are from the nearest of always, never and even."""
    m = np.abs(square(margins, n))
    far = np.minimum(m, 0.5 - m)
    np.fill_diagonal(far, 0.0)
    return np.round(far.sum(axis=1), DECIMALS).tolist()


def least_indecision(margins: Any, n: int, theta: float) -> Ranks:
    """The pivot rule with the items in order of their indecision."""
    unsure = indecision(margins, n)
    return pivot(margins, n, theta, sorted(range(n), key=lambda i: (unsure[i], i)))


def several_pivots(margins: Any, n: int, theta: float) -> Ranks:
    """Aledo et al. 2017: the same, where items are compared with the mean of the pivot's bucket, in two rounds."""
    m, unsure = square(margins, n), indecision(margins, n)

    def against(item: int, bucket: list[int]) -> float:
        return round(sum(m[item][b] for b in bucket) / len(bucket), DECIMALS)

    def split(items: list[int]) -> list[list[int]]:
        if not items:
            return []
        middle, others = [items[0]], []
        for item in items[1:]:
            (middle if abs(against(item, middle)) <= theta else others).append(item)
        before, after, bucket = [], [], list(middle)
        for item in others:
            lead = against(item, middle)
            (before if lead > theta else after if lead < -theta else bucket).append(item)
        return [*split(before), bucket, *split(after)]

    return dense(split(sorted(range(n), key=lambda i: (unsure[i], i))), n)


def scores(margins: Any, n: int, price: float) -> Any:
    """Return the value of every bucket order: margins of the pairs that are apart, less a price for each of them."""
    orders = bucket_orders(n)
    return orders.sign @ margins - price * np.abs(orders.sign).sum(axis=1)


def best_at_price(margins: Any, n: int, theta: float) -> Ranks:
    """The bucket order with the largest sum, over the pairs that it keeps apart, of margin less theta."""
    value = scores(margins, n, theta)
    return bucket_orders(n).ranks[int(np.flatnonzero(value >= value.max() - EQUAL)[0])]


def kemeny_order(margins: Any, n: int) -> list[int]:
    orders = bucket_orders(n)
    value = orders.sign[: orders.strict] @ margins
    ranks = orders.ranks[int(np.flatnonzero(value >= value.max() - EQUAL)[0])]
    return sorted(range(n), key=lambda i: ranks[i])


def neighbours(margins: Any, n: int, theta: float) -> Ranks:
    """Neighbours in Kemeny's order share a tier unless the upper one beats the lower one by more than theta."""
    m, order = square(margins, n), kemeny_order(margins, n)
    buckets = [[order[0]]]
    for a, b in pairwise(order):
        if m[a][b] > theta:
            buckets.append([b])
        else:
            buckets[-1].append(b)
    return dense(buckets, n)


def merged(merge: Callable[..., Ranking], margins: Any, n: int, theta: float) -> Ranks:
    P = 0.5 + np.array(square(margins, n))
    return tuple(merge(P, Ranking.from_order(kemeny_order(margins, n)), theta).ranks.tolist())


# The nearest votes in a region


@dataclass(frozen=True)
class Region:
    """Votes with one result: margins in a box, a bucket order (or an order) of the best score, more linear rows.

    ``rows`` are (coefficients of the margins, least value).
    """

    result: int
    low: Any
    high: Any
    bound: float
    best: int | None = None
    among: int = 0
    price: float = 0.0
    rows: tuple[tuple[Any, float], ...] = ()


class Space:
    """The votes, and the program that moves them: what each ballot loses, what each ranking gets, the margins."""

    def __init__(self, votes: hr.Votes) -> None:
        n = self.n = votes.n
        self.votes = votes
        self.orders = bucket_orders(n)
        ranks = np.where(votes.ranks == 0, n + 1, votes.ranks)
        first, second = np.array(self.orders.pairs).T
        self.ballots = np.sign(ranks[:, second] - ranks[:, first]) / 2
        self.rankings = self.orders.sign[: self.orders.strict] / 2
        self.shares = votes.weights / votes.total
        self.margins = self.shares @ self.ballots
        self._boxes: LinearProgram | None = None
        self.programs = 0

    def model(self) -> LinearProgram:
        taken, put, pairs = len(self.ballots), len(self.rankings), len(self.margins)
        wide = taken + put + pairs
        cost = np.concatenate((np.ones(taken), np.zeros(put + pairs)))
        model = LinearProgram(cost, self._bounds(-0.5, 0.5)[1], presolve=False)
        rows = np.zeros((1 + pairs, wide))
        rows[0, :taken], rows[0, taken : taken + put] = 1, -1
        rows[1:, :taken], rows[1:, taken : taken + put] = self.ballots.T, -self.rankings.T
        rows[1:, taken + put :] = np.eye(pairs)
        right = np.concatenate(([0.0], self.margins))
        model.add_rows(np.broadcast_to(np.arange(wide), rows.shape), rows, right, right)
        return model

    def _bounds(self, low: Any, high: Any) -> tuple[Any, Any]:
        pairs = len(self.margins)
        lower = np.concatenate((np.zeros(len(self.shares) + len(self.rankings)), np.broadcast_to(low, pairs)))
        upper = np.concatenate((self.shares, np.ones(len(self.rankings)), np.broadcast_to(high, pairs)))
        return lower, upper

    def nearest(self, region: Region, inside: float = 0.0) -> tuple[float, Any]:
        """Return the least total variation to a region and the margins there."""
        narrow = np.minimum(inside, (region.high - region.low) / 4)
        # The ends of the scale are no borders of a region.
        low = np.where(region.low > -0.5, region.low + narrow, region.low)
        high = np.where(region.high < 0.5, region.high - narrow, region.high)
        plain = region.best is None and not region.rows
        if plain and self._boxes is None:
            self._boxes = self.model()
        model = self._boxes if plain and self._boxes is not None else self.model()
        model.set_bounds(*self._bounds(low, high))
        at = len(self.shares) + len(self.rankings) + np.arange(len(self.margins))
        for row, least in region.rows:
            model.add_rows(at[None], row[None], least + inside, math.inf)
        known: set[int] = set()
        while True:
            self.programs += 1
            solved = model.solve(Clock())
            if not len(solved.x):
                return math.inf, None
            margins = solved.x[at]
            if region.best is None:
                return float(solved.x[: len(self.shares)].sum()), margins
            value = scores(margins, self.n, region.price)[: region.among]
            mine = value[region.best]
            value[[region.best, *known]] = -math.inf
            rival = int(value.argmax())
            if value[rival] <= mine - inside + EQUAL:
                return float(solved.x[: len(self.shares)].sum()), margins
            known.add(rival)
            ahead = self.orders.sign[region.best] - self.orders.sign[rival]
            paid = np.abs(self.orders.sign[region.best]).sum() - np.abs(self.orders.sign[rival]).sum()
            model.add_rows(at[None], ahead[None], region.price * paid + inside, math.inf)

    def box_bounds(self, low: Any, high: Any) -> Any:
        """Return for boxes, one a row, how much must change at least: no ballot moves a margin by more than itself."""
        return np.maximum(np.maximum(low - self.margins, self.margins - high), 0.0).max(axis=-1)

    def score_bounds(self, price: float, among: int, now: int) -> Any:
        """Return for each order what it takes at least to be better than the order `now`."""
        value = scores(self.margins, self.n, price)[:among]
        ahead = self.orders.sign[:among] - self.orders.sign[now]
        gain = (self.rankings @ ahead.T).max(axis=0) - (self.ballots @ ahead.T).min(axis=0)
        return np.divide(value[now] - value, gain, out=np.zeros(among), where=gain > 0)


# The regions of the rules


def levels(theta: float, *more: float) -> Any:
    cuts = sorted({round(s * level, 12) for level in (theta, *more) for s in (-1, 1)})
    return np.array([-0.5, *cuts, 0.5])


@cache
def patterns(n: int, many: int) -> Any:
    """Return all ways to choose one of `many` intervals for each pair."""
    return np.array(list(product(range(many), repeat=n * (n - 1) // 2)), dtype=np.int8)


@cache
def results_of_signs(rule: str, n: int) -> Any:
    """Return the result of a rule that only sees whether a margin is below -theta, in between, or above theta."""
    apply = {"smith": smith, "pivot": pivot}[rule]
    number = bucket_orders(n).number
    return np.array([number[apply((row - 1.0) / 2, n, 0.25)] for row in patterns(n, 3)])


def sign_regions(rule: str, space: Space, theta: float, far: Any) -> Iterator[Region]:
    cuts = np.array([-0.5, -theta, theta, 0.5])
    results = results_of_signs(rule, space.n)
    chosen = patterns(space.n, 3)[far[results]]
    low, high = cuts[chosen], cuts[chosen + 1]
    bounds = space.box_bounds(low, high)
    results = results[far[results]]
    for k in np.argsort(bounds, kind="stable"):
        yield Region(int(results[k]), low[k], high[k], float(bounds[k]))


def price_regions(space: Space, theta: float, far: Any) -> Iterator[Region]:
    orders = space.orders
    now = orders.number[best_at_price(space.margins, space.n, theta)]
    # Ties that cost nothing and gain nothing do not come out.
    among = len(orders.ranks) if theta > 0 else orders.strict
    bounds = space.score_bounds(theta, among, now)
    pairs = len(space.margins)
    low, high = np.full(pairs, -0.5), np.full(pairs, 0.5)
    for k in np.argsort(bounds, kind="stable"):
        if far[k]:
            yield Region(int(k), low, high, float(bounds[k]), int(k), among, theta)


def neighbour_regions(space: Space, theta: float, far: Any) -> Iterator[Region]:
    n, orders, number = space.n, space.orders, pair_number(space.n)
    now = orders.number[dense([[i] for i in kemeny_order(space.margins, n)], n)]
    bounds = space.score_bounds(0.0, orders.strict, now)
    found = []
    for k in range(orders.strict):
        order = sorted(range(n), key=lambda i: orders.ranks[k][i])
        for joined in product((False, True) if theta > 0 else (False,), repeat=n - 1):
            buckets = [[order[0]]]
            low, high = np.full(len(space.margins), -0.5), np.full(len(space.margins), 0.5)
            for (a, b), tie in zip(pairwise(order), joined, strict=True):
                pair, sign = number[a, b]
                least, most = (0.0, theta) if tie else (theta, 0.5)
                low[pair], high[pair] = (least, most) if sign > 0 else (-most, -least)
                if tie:
                    buckets[-1].append(b)
                else:
                    buckets.append([b])
            result = orders.number[dense(buckets, n)]
            if far[result]:
                bound = max(float(bounds[k]), float(space.box_bounds(low, high)))
                found.append(Region(result, low, high, bound, k, orders.strict))
    yield from sorted(found, key=lambda region: region.bound)


def indecision_regions(space: Space, theta: float, far: Any) -> Iterator[Region]:
    """Boxes in which every indecision is linear, cut by who is the pivot of each part."""
    n, number = space.n, space.orders.number
    cuts = levels(theta, 0.0, 0.25)
    chosen = patterns(n, len(cuts) - 1)
    bounds = space.box_bounds(cuts[chosen], cuts[chosen + 1])
    # What lies far away is not looked at before what is near.
    for k in np.argsort(bounds, kind="stable"):
        low, high = cuts[chosen[k]], cuts[chosen[k] + 1]
        middle = square((low + high) / 2, n)
        slope, level = np.zeros((n, len(low))), np.zeros(n)
        for pair, (i, j) in enumerate(space.orders.pairs):
            m = middle[i][j]
            side = math.copysign(1.0, m) * (1 if abs(m) < 0.25 else -1)
            for item in (i, j):
                slope[item, pair] += side
                level[item] += 0.0 if abs(m) < 0.25 else 0.5

        def split(items: list[int], m: Any, slope: Any, level: Any) -> Iterator[tuple[list[list[int]], list[Any]]]:
            if not items:
                yield [], []
            for at in items:
                before = [i for i in items if m[i][at] > theta]
                after = [i for i in items if m[at][i] > theta]
                bucket = [i for i in items if i not in before and i not in after]
                mine = [(slope[i] - slope[at], level[at] - level[i]) for i in items if i != at]
                for (front, some), (back, more) in product(
                    split(before, m, slope, level), split(after, m, slope, level)
                ):
                    yield [*front, bucket, *back], [*mine, *some, *more]

        for buckets, rows in split(list(range(n)), middle, slope, level):
            result = number[dense(buckets, n)]
            if far[result]:
                yield Region(result, low, high, float(bounds[k]), rows=tuple(rows))
