"""Votes and statistics in whole numbers: a second, plain and slow implementation of the definitions, to check results.

It shares no code with the engines, and rounds nothing: the weights of the votes are brought to a common denominator,
with floats as exact binary fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import lcm
from typing import TypeAlias

from holdrank.arrays.tolerances import DECIMALS
from holdrank.votes.votes import Votes

Ballot: TypeAlias = tuple[int, ...]  # ranks; 0 is unlisted
Order: TypeAlias = tuple[int, ...]  # items, best first
Buckets: TypeAlias = list[list[int]]

MOST_ITEMS = 16  # of the tables over all sets of items
_MOST_DECIMALS = 12  # of scores that are taken as they are written
_DIGITS = 2**52  # decimals of one unit that floats distinguish


@dataclass(frozen=True)
class ExactVotes:
    """Ballots with whole weights.

    Attributes
    ----------
    n : int
        Number of items.
    ballots : tuple of tuple of int
    weights : tuple of int
    unit : Fraction
        The value of a weight of 1.
    observed : bool
        Whether a ballot does not compare unlisted items; otherwise they are tied last.
    """

    n: int
    ballots: tuple[Ballot, ...]
    weights: tuple[int, ...]
    unit: Fraction
    observed: bool

    @classmethod
    def of(cls, votes: Votes) -> ExactVotes:
        """Return votes in whole numbers."""
        weights: dict[Ballot, Fraction] = {}
        for row, weight in zip(map(tuple, votes.ranks.tolist()), votes.weights.tolist(), strict=True):
            weights[row] = weights.get(row, Fraction(0)) + Fraction(weight)
        return cls.of_weights(cls(votes.n, (), (), Fraction(1), votes.observed), weights)

    @classmethod
    def of_scores(cls, votes: Votes) -> ExactVotes:
        """Return votes with scores, with the scores in a common unit instead of the ranks."""
        assert votes.scores is not None
        table = scores_as_written(votes.scores.tolist())
        common = lcm(*(score.denominator for row in table for score in row))
        weights: dict[Ballot, Fraction] = {}
        for row, weight in zip(table, votes.weights.tolist(), strict=True):
            kind = tuple(int(score * common) for score in row)
            weights[kind] = weights.get(kind, Fraction(0)) + Fraction(weight)
        return cls.of_weights(cls(votes.n, (), (), Fraction(1), False), weights)

    @classmethod
    def of_weights(cls, like: ExactVotes, weights: Mapping[Ballot, Fraction]) -> ExactVotes:
        """Return ballots with these weights; a weight of 1 stays 1."""
        common = lcm(*(weight.denominator for weight in weights.values()))
        kept = {ballot: int(weight * common) for ballot, weight in weights.items() if weight}
        return cls(like.n, tuple(kept), tuple(kept.values()), like.unit / common, like.observed)

    @property
    def total(self) -> int:
        """The weight of all votes."""
        return sum(self.weights)

    @cached_property
    def margins(self) -> list[list[int]]:
        """``[i][j]``: weight of the votes with i above j, less that of the votes with j above i."""
        return self._pairs(margin)

    @cached_property
    def compared(self) -> list[list[int]]:
        """``[i][j]``: weight of the votes that compare i and j."""
        return self._pairs(compares)

    def _pairs(self, says: Callable[[Ballot, int, int, bool], int]) -> list[list[int]]:
        table = [[0] * self.n for _ in range(self.n)]
        for ballot, weight in zip(self.ballots, self.weights, strict=True):
            for i in range(self.n):
                for j in range(self.n):
                    if i != j:
                        table[i][j] += weight * says(ballot, i, j, self.observed)
        return table

    @property
    def has_places(self) -> bool:
        """Whether every ballot gives every item a place."""
        return not self.observed or all(all(ballot) for ballot in self.ballots)


def scores_as_written(rows: Sequence[Sequence[float]]) -> list[list[Fraction]]:
    """Return scores as the decimals that were written, if those are short; else as binary fractions.

    Short means at most twelve decimals, and no more digits than floats distinguish.
    """
    written = [[Fraction(repr(score)) for score in row] for row in rows]
    unit = 10**_MOST_DECIMALS
    if all((score * unit).denominator == 1 for row in written for score in row):
        finest = next(10**k for k in range(_MOST_DECIMALS + 1) if _whole(written, 10**k))
        if max((abs(score) for row in written for score in row), default=0) * finest < (
            _DIGITS if finest > 1 else 2 * _DIGITS
        ):
            return written
    return [[Fraction(score) for score in row] for row in rows]


def are_short_decimals(rows: Sequence[Sequence[float]]) -> bool:
    """Whether scores count as the decimals that were written: then their means are compared exactly."""
    unit = 10**_MOST_DECIMALS
    return all((score * unit).denominator == 1 for row in scores_as_written(rows) for score in row)


def _whole(rows: Sequence[Sequence[Fraction]], unit: int) -> bool:
    return all((score * unit).denominator == 1 for row in rows for score in row)


def margin(ballot: Ballot, i: int, j: int, observed: bool) -> int:
    """Return 1 if a ballot puts i above j, -1 if j above i, 0 if it ties or does not compare them."""
    a, b = ballot[i], ballot[j]
    if observed and not (a and b):
        return 0
    a, b = a or len(ballot) + 1, b or len(ballot) + 1
    return (a < b) - (a > b)


def compares(ballot: Ballot, i: int, j: int, observed: bool) -> int:
    """Return 1 if a ballot compares two items, a tie included, else 0."""
    return int(not observed or bool(ballot[i] and ballot[j]))


def doubled_places(ballot: Ballot, observed: bool) -> list[int] | None:
    """Return twice the place of each item, tied items at the mean of their places; None if a place is not known."""
    if observed and not all(ballot):
        return None
    ranks = [rank or len(ballot) + 1 for rank in ballot]
    return [2 * sum(other < rank for other in ranks) + 1 + sum(other == rank for other in ranks) for rank in ranks]


# Medians: the cheapest orders, by tables over all sets of items.


@dataclass(frozen=True, slots=True)
class CostTable:
    """The cost of orders: ``table[i][k]`` is the cost of item i at place k (`by_place`), or of i above item k."""

    table: Sequence[Sequence[int]]
    by_place: bool

    def first(self, i: int, rest: Sequence[int]) -> int:
        """Return the cost of putting i before the items of `rest`, which are all that is left."""
        if self.by_place:
            return self.table[i][len(self.table) - len(rest) - 1]
        return sum(self.table[i][j] for j in rest)

    def of(self, order: Order) -> int:
        """Return the cost of an order."""
        return sum(self.first(item, order[k + 1 :]) for k, item in enumerate(order))


@dataclass(frozen=True, slots=True)
class Cheapest:
    """The lowest cost of an order, the first of the cheapest orders, and their number."""

    cost: int
    order: Order
    count: int


def cheapest(costs: CostTable) -> Cheapest:
    """Return the cheapest orders: for every set of items, its best order if it comes last."""
    n = len(costs.table)
    everything = (1 << n) - 1
    least, ways = [0] * (everything + 1), [1] * (everything + 1)

    def starts(group: int) -> Iterator[tuple[int, int, int]]:
        """Yield (cost, item, the others) for each item that may come first in a group."""
        members = [i for i in range(n) if group >> i & 1]
        for i in members:
            others = group & ~(1 << i)
            yield costs.first(i, [j for j in members if j != i]) + least[others], i, others

    for group in range(1, everything + 1):
        found = list(starts(group))
        least[group] = min(cost for cost, _, _ in found)
        ways[group] = sum(ways[others] for cost, _, others in found if cost == least[group])
    order, group = [], everything
    while group:
        item, group = next((i, others) for cost, i, others in starts(group) if cost == least[group])
        order.append(item)
    return Cheapest(least[everything], tuple(order), ways[everything])


@dataclass(frozen=True, slots=True)
class Common:
    """How many cheapest orders there are, and ``above[i][j]``: whether i comes before j in all of them."""

    count: int
    above: list[list[bool]]


def common(costs: CostTable) -> Common:
    """Return what all cheapest orders have in common, from the sets of items that may come last in one of them."""
    n = len(costs.table)
    everything = (1 << n) - 1
    least, ways = [0] * (everything + 1), [1] + [0] * everything
    starts: list[list[int]] = [[] for _ in range(everything + 1)]  # of each set: who may come first
    for group in range(1, everything + 1):
        members = [i for i in range(n) if group >> i & 1]
        found = [(costs.first(i, [j for j in members if j != i]) + least[group & ~(1 << i)], i) for i in members]
        least[group] = min(found)[0]
        starts[group] = [i for cost, i in found if cost == least[group]]
        ways[group] = sum(ways[group & ~(1 << i)] for i in starts[group])
    seen = [[False] * n for _ in range(n)]  # i before j, in some cheapest order
    waiting, known = [everything], {everything}
    while waiting:
        group = waiting.pop()
        for i in starts[group]:
            others = group & ~(1 << i)
            for j in range(n):
                seen[i][j] = seen[i][j] or bool(others >> j & 1)
            if others not in known:
                known.add(others)
                waiting.append(others)
    return Common(ways[everything], [[seen[i][j] and not seen[j][i] for j in range(n)] for i in range(n)])


def pair_costs(votes: ExactVotes) -> CostTable:
    """Return Kemeny's costs: twice the weight of the comparisons that contradict an order."""
    n = votes.n
    against = [[votes.compared[i][j] - votes.margins[i][j] for j in range(n)] for i in range(n)]
    return CostTable(against, by_place=False)


def place_costs(votes: ExactVotes) -> CostTable:
    """Return the footrule's costs: twice the sum of all differences of places."""
    table = [[0] * votes.n for _ in range(votes.n)]
    for ballot, weight in zip(votes.ballots, votes.weights, strict=True):
        for i, place in enumerate(doubled_places(ballot, votes.observed) or ()):
            for k in range(votes.n):
                table[i][k] += weight * abs(2 * (k + 1) - place)
    return CostTable(table, by_place=True)


def loss(votes: ExactVotes, ranks: Sequence[int], distance: str) -> Fraction:
    """Return the expected distance of a ranking to a vote, from 0 to 1.

    With "kendall", a tie in a vote or in the ranking counts half. For distances of places, ballots without places do
    not count.
    """
    n = votes.n
    if distance == "kendall":
        doubled = 0
        for i, j in combinations(range(n), 2):
            upper = (ranks[i] < ranks[j]) - (ranks[i] > ranks[j])
            doubled += votes.compared[i][j] - upper * votes.margins[i][j]
        return Fraction(doubled, max(votes.total * n * (n - 1), 1))
    mine = doubled_places(tuple(ranks), observed=False) or []
    power, farthest = (1, Fraction(n * n // 2)) if distance == "footrule" else (2, Fraction(n * (n * n - 1), 3))
    total = 0
    for ballot, weight in zip(votes.ballots, votes.weights, strict=True):
        places = doubled_places(ballot, votes.observed) or mine
        total += weight * sum(abs(a - b) ** power for a, b in zip(mine, places, strict=True))
    return Fraction(total, 2**power * votes.total) / (farthest or 1)


def majority_loss(votes: ExactVotes) -> Fraction:
    """Return a lower bound on the Kendall loss: every pair in the order of its majority."""
    n = votes.n
    doubled = sum(votes.compared[i][j] - abs(votes.margins[i][j]) for i, j in combinations(range(n), 2))
    return Fraction(doubled, max(votes.total * n * (n - 1), 1))


def borda_scores(votes: ExactVotes) -> list[int]:
    """Return scores that sort the items by mean place, or by pairwise wins without places; higher is better."""
    if not votes.has_places:
        return [
            sum(votes.compared[i][j] + votes.margins[i][j] for j in range(votes.n) if j != i) for i in range(votes.n)
        ]
    scores = [0] * votes.n
    for ballot, weight in zip(votes.ballots, votes.weights, strict=True):
        for i, place in enumerate(doubled_places(ballot, votes.observed) or ()):
            scores[i] -= weight * place
    return scores


def total_scores(votes: ExactVotes) -> list[int]:
    """Return the sum of the scores of each item."""
    return [
        sum(weight * row[i] for row, weight in zip(votes.ballots, votes.weights, strict=True)) for i in range(votes.n)
    ]


def copeland_scores(votes: ExactVotes, slack: Fraction | int = 0) -> list[int]:
    """Return the number of majorities for each item less those against it; margins up to `slack` do not count."""
    return [
        sum((lead > slack) - (lead < -slack) for j, lead in enumerate(row) if j != i)
        for i, row in enumerate(votes.margins)
    ]


def sorted_by(scores: Sequence[int]) -> Cheapest:
    """Return the items by falling score: the first such order, and how many there are."""
    order = tuple(sorted(range(len(scores)), key=lambda i: (-scores[i], i)))
    count = 1
    for score in set(scores):
        for k in range(2, scores.count(score) + 1):
            count *= k
    return Cheapest(0, order, count)


# Merges, as the definitions have them.


def deviation(votes: ExactVotes, i: int, j: int) -> Fraction:
    """Return ``P[i, j] - 1/2`` to twelve decimals; zero where no vote compares the two."""
    weight = votes.compared[i][j]
    return round(Fraction(votes.margins[i][j], 2 * weight), DECIMALS) if weight else Fraction(0)


def merged(votes: ExactVotes, order: Order, theta: float, rule: str) -> Buckets:
    """Return the tiers of a strict order."""
    limit = round(Fraction(theta), DECIMALS)
    if rule == "smith":
        return _smith(votes, order, limit)
    buckets: Buckets = [[item] for item in order]
    while len(buckets) > 1:
        found = []
        for i, j in combinations(range(len(buckets)), 2):
            union = [item for bucket in buckets[i : j + 1] for item in bucket]
            strongest = max(abs(deviation(votes, a, b)) for a, b in combinations(union, 2))
            if strongest <= limit:
                across = [
                    abs(deviation(votes, a, b))
                    for one, other in combinations(buckets[i : j + 1], 2)
                    for a in one
                    for b in other
                ]
                found.append((strongest, sorted(across, reverse=True), i, j))
        if not found:
            break
        wanted = (max if rule == "downward" else min)((strongest, across) for strongest, across, _, _ in found)
        i, j = next((i, j) for strongest, across, i, j in found if (strongest, across) == wanted)
        buckets[i : j + 1] = [[item for bucket in buckets[i : j + 1] for item in bucket]]
    return buckets


def _smith(votes: ExactVotes, order: Order, limit: Fraction) -> Buckets:
    buckets: Buckets = []
    for k, item in enumerate(order):
        apart = all(deviation(votes, i, j) > limit for i in order[:k] for j in order[k:])
        if apart or not buckets:
            buckets.append([])
        buckets[-1].append(item)
    return buckets
