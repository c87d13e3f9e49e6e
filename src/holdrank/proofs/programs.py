"""Statistics run on unknown votes: wherever the definition depends on the votes, a question is asked instead.

A statistic is written as a generator. It yields a `Question`, a list of `Case`s of which at least one holds for any
votes, is sent the number of the case to follow, and ends with the rankings that it may then report. Going through all
answers covers all votes. Cases state their conditions as rows (see `bounds`), all with >= : so votes on a border belong
to both sides, and all equal optima are covered. A condition that is not linear may be relaxed; the case then holds for
more votes than it should, which weakens bounds but never makes one wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, permutations, product
from typing import Any, TypeAlias

import numpy as np

from holdrank.arrays.tolerances import DECIMALS
from holdrank.proofs.bounds import Ground, Row
from holdrank.proofs.exact import Buckets, Order, doubled_places

_WINDOWS = 34  # times that a window of shares is halved, where it matters
_FINER = 2**8  # so that a unit of the last decimal can be written in whole numbers
_LAST_DECIMAL = 2 * 2**_WINDOWS * _FINER // 10**DECIMALS + 1  # two units of it, as leads are twice deviations

Outcome: TypeAlias = tuple[int, ...]  # ranks, equal ones tied
Outcomes: TypeAlias = Sequence[Outcome]


@dataclass(frozen=True)
class Case:
    """One answer: its conditions, and all rankings that the statistic may still report."""

    rows: Sequence[Row]
    median: tuple[str, Order] | None
    possible: Outcomes


Question: TypeAlias = Sequence[Case]
Program: TypeAlias = Generator[Question, int, Outcomes]
OrderProgram: TypeAlias = Generator[Question, int, Order]
Possible: TypeAlias = Callable[[Order], Outcomes]


def strict(order: Order) -> Outcome:
    """Return the ranks of an order."""
    return tuple(order.index(i) + 1 for i in range(len(order)))


def tiers(buckets: Buckets | Sequence[Sequence[int]]) -> Outcome:
    """Return the ranks of buckets."""
    rank = {item: k for k, bucket in enumerate(buckets, start=1) for item in bucket}
    return tuple(rank[i] for i in range(len(rank)))


@cache
def coarsenings(order: Order) -> tuple[Outcome, ...]:
    """Return all rankings whose buckets are neighbours of an order."""
    found = []
    for cuts in product((False, True), repeat=len(order) - 1):
        buckets = [[order[0]]]
        for item, cut in zip(order[1:], cuts, strict=True):
            if cut:
                buckets.append([])
            buckets[-1].append(item)
        found.append(tiers(buckets))
    return tuple(found)


def itself(order: Order) -> tuple[Outcome, ...]:
    """Return the one ranking that a median without ties reports."""
    return (strict(order),)


# Medians.


def by_cost(ground: Ground, distance: str, possible: Possible) -> OrderProgram:
    """Find Kemeny's median, or the footrule's."""

    def case(order: Order) -> Case:
        # Swapping neighbours is never better: simple rows, which need no search.
        rows = [ground.margin[pair] for pair in pairwise(order)] if distance == "kendall" else []
        return Case(rows, (distance, order), possible(order))

    return ground.orders[(yield _once(ground, (distance, possible), lambda: [case(o) for o in ground.orders]))]


def by_borda(ground: Ground, possible: Possible) -> OrderProgram:
    """Find Borda's median."""

    def cases() -> Question:
        n = ground.votes.n
        if ground.votes.has_places:
            places = np.array([doubled_places(kind, ground.votes.observed) for kind in ground.kinds])
            scores = list(-places.T)
        else:
            wins = {pair: ground.compared[pair] + ground.margin[pair] for pair in permutations(range(n), 2)}
            scores = [np.sum([wins[i, j] for j in range(n) if j != i], axis=0) for i in range(n)]
        return [
            Case([scores[i] - scores[j] for i, j in pairwise(order)], None, possible(order)) for order in ground.orders
        ]

    return ground.orders[(yield _once(ground, ("borda", possible), cases))]


def by_mean_score(ground: Ground) -> OrderProgram:
    """Rank by the sum of scores; ballots are rows of scores."""

    def cases() -> Question:
        scores = np.array(ground.kinds, dtype=np.int64).T
        return [Case([scores[i] - scores[j] for i, j in pairwise(o)], None, itself(o)) for o in ground.orders]

    return ground.orders[(yield _once(ground, "mean-score", cases))]


def by_copeland(ground: Ground) -> Program:
    """Rank by Copeland's scores; every order of items with equal scores is covered."""
    scores = [0] * ground.votes.n
    anything = [strict(order) for order in ground.orders]
    for i, j in combinations(range(ground.votes.n), 2):
        lead = ground.margin[i, j]
        answer = yield [Case(rows, None, anything) for rows in ([lead], [-lead], [lead, -lead])]
        scores[i] += (1, -1, 0)[answer]
        scores[j] += (-1, 1, 0)[answer]
    return [strict(o) for o in ground.orders if all(scores[a] >= scores[b] for a, b in pairwise(o))]


def alone(order_program: OrderProgram) -> Program:
    """Report a median as it is, without ties."""
    order = yield from order_program
    return [strict(order)]


# Merges.


class Merge:
    """A run of Naive or Downward Merge on an order, at a threshold."""

    def __init__(self, ground: Ground, order: Order, theta: float, *, downward: bool, majorities: bool) -> None:
        self.ground, self.order, self.downward = ground, order, downward
        # Thresholds are compared to twelve decimals: half a unit is allowed on both sides.
        self.unit = 10 ** (DECIMALS + 1)
        self.theta = 10 * round(theta * 10**DECIMALS)
        # A median of Kemeny's has no majority against neighbours.
        self.upper = set(pairwise(order)) if majorities else set()
        self.known: dict[tuple[int, int], bool] = {}
        self.loose: list[tuple[tuple[int, int], int, list[tuple[int, int]]]] = []  # the larger, its sign, the smaller
        self.possible: list[Outcome] = list(coarsenings(order))

    def run(self) -> Program:
        """Merge until nothing is close."""
        buckets: Buckets = [[item] for item in self.order]
        while len(buckets) > 1:
            feasible = yield from self._feasible(buckets)
            if not feasible:
                break
            i, j = _alone(feasible) or (yield from self._first(buckets, feasible))
            buckets[i : j + 1] = [[item for bucket in buckets[i : j + 1] for item in bucket]]
        yield from self._narrowed(tiers(buckets))
        return [tiers(buckets)]

    def _first(
        self, buckets: Buckets, feasible: Sequence[tuple[int, int]]
    ) -> Generator[Question, int, tuple[int, int]]:
        """Find the run of buckets that is merged first."""
        spans = _outermost(feasible) if self.downward else [span for span in feasible if span[1] == span[0] + 1]
        chosen = spans[0]
        for other in spans[1:]:
            larger = yield from self._larger(buckets, chosen, other)
            chosen = (chosen if larger else other) if self.downward else (other if larger else chosen)
        return chosen

    def _feasible(self, buckets: Buckets) -> Generator[Question, int, list[tuple[int, int]]]:
        """Find the runs of neighbouring buckets in which all pairs are close."""
        found: list[tuple[int, int]] = []
        for width in range(1, len(buckets)):
            for i in range(len(buckets) - width):
                j = i + width
                if width > 1 and not ((i, j - 1) in found and (i + 1, j) in found):
                    continue
                for pair in product(buckets[i], buckets[j]):
                    if not (yield from self._close(pair)):
                        break
                else:
                    found.append((i, j))
        return found

    def _close(self, pair: tuple[int, int]) -> Generator[Question, int, bool]:
        if pair not in self.known:
            lead, weight = self.ground.margin[pair], self.ground.compared[pair]
            near = 2 * (self.theta + 5) * weight
            far = 2 * (self.theta - 5) * weight
            apart = [outcome for outcome in self.possible if outcome[pair[0]] != outcome[pair[1]]]
            signs = (1,) if pair in self.upper else (1, -1)
            answer = yield [
                Case([near - self.unit * lead, near + self.unit * lead], None, self.possible),
                *(Case([sign * self.unit * lead - far], None, apart) for sign in signs),
            ]
            self.known[pair] = answer == 0
            if answer:
                self.possible = apart
        return self.known[pair]

    def _larger(self, buckets: Buckets, one: tuple[int, int], other: tuple[int, int]) -> Generator[Question, int, bool]:
        """Whether one union has the larger list of deviations: the largest that is not in both decides."""
        spans = [buckets[i : j + 1] for i, j in (one, other)]
        inside = [{_sorted(p) for p in combinations([x for b in span for x in b], 2)} for span in spans]
        across = [{_sorted(p) for a, b in combinations(span, 2) for p in product(a, b)} for span in spans]
        first = yield from self._largest(inside[0] | inside[1])
        if first in inside[0] & inside[1]:
            first = yield from self._largest(across[0] ^ across[1])
            return first in across[0]
        return first in inside[0]

    def _largest(self, pairs: Iterable[tuple[int, int]]) -> Generator[Question, int, tuple[int, int]]:
        pairs = sorted(pairs)
        margin, weight = self.ground.margin, self.ground.compared
        alike = {p: [q for q in pairs if (weight[q] == weight[p]).all()] for p in pairs}
        cases = []
        for pair in pairs:
            for sign in (1, -1):
                lead = sign * margin[pair]
                rows = [lead + side * margin[q] for q in alike[pair] if q != pair for side in (1, -1)]
                cases.append(Case([lead, *rows], None, self.possible))
        answer = yield cases
        pair, sign = pairs[answer // 2], (1, -1)[answer % 2]
        others = [q for q in pairs if q not in alike[pair]]
        if others:
            self.loose.append((pair, sign, others))
        return pair

    def _narrowed(self, outcome: Outcome) -> Generator[Question, int, None]:
        """Handle a comparison that no row can express: which of two deviations from different voters is larger.

        Deviations are quotients: leads m over weights w. That |n| / v is at most m / w is a row as soon as the share
        s = v / (v + w) is known, |n| (1 - s) <= m s; where s lies in a window, its upper end gives a row that holds.
        The window is halved as long as needed. The error is a part of m, which is small where attacks are cheap.
        """
        for pair, sign, others in self.loose:
            for other in others:
                low, high = 0, 2**_WINDOWS
                for _ in range(_WINDOWS):
                    middle = (low + high) // 2
                    halves = [(low, middle), (middle, high)]
                    answer = yield [Case(self._within(pair, sign, other, *half), None, [outcome]) for half in halves]
                    low, high = halves[answer]

    def _within(self, pair: tuple[int, int], sign: int, other: tuple[int, int], low: int, high: int) -> list[Row]:
        """Return that the share of the other weight lies in a window, and the other deviation is not larger."""
        margin, weight = self.ground.margin, self.ground.compared
        whole, both = 2**_WINDOWS, weight[pair] + weight[other]
        # Merges compare deviations rounded to twelve decimals: the other one may be larger by less than that.
        least = sign * high * _FINER * margin[pair] + _LAST_DECIMAL * weight[other]
        apart = (whole - high) * _FINER * margin[other]
        return [whole * weight[other] - low * both, high * both - whole * weight[other], least - apart, least + apart]


def by_smith(ground: Ground, order: Order, theta: float) -> Program:
    """Merge an order by Smith's rule: a border stays where all above it beat all below it."""
    limit, unit = 10 * round(theta * 10**DECIMALS), 10 ** (DECIMALS + 1)
    possible: list[Outcome] = list(coarsenings(order))
    buckets: Buckets = [[order[0]]]
    for k in range(1, len(order)):
        pairs = list(product(order[:k], order[k:]))
        lead = {pair: unit * ground.margin[pair] for pair in pairs}
        kept = [outcome for outcome in possible if outcome[order[k - 1]] != outcome[order[k]]]
        gone = [outcome for outcome in possible if outcome[order[k - 1]] == outcome[order[k]]]
        answer = yield [
            Case([lead[pair] - 2 * (limit - 5) * ground.compared[pair] for pair in pairs], None, kept),
            *(Case([2 * (limit + 5) * ground.compared[pair] - lead[pair]], None, gone) for pair in pairs),
        ]
        possible = gone if answer else kept
        if not answer:
            buckets.append([])
        buckets[-1].append(order[k])
    return [tiers(buckets)]


def program(ground: Ground, base: str, theta: float | None, rule: str) -> Program:
    """Return a statistic as a program: a median by name, with a threshold a merge of it."""
    possible: Possible = coarsenings if theta is not None else itself
    medians: dict[str, Callable[[], OrderProgram]] = {
        "kemeny": lambda: by_cost(ground, "kendall", possible),
        "footrule": lambda: by_cost(ground, "footrule", possible),
        "borda": lambda: by_borda(ground, possible),
        "mean-score": lambda: by_mean_score(ground),
    }
    if base == "copeland" and theta is None:
        return by_copeland(ground)
    if theta is None:
        return alone(medians[base]())
    return _merged(ground, medians[base](), theta, rule, majorities=base == "kemeny")


def _merged(ground: Ground, median: OrderProgram, theta: float, rule: str, *, majorities: bool) -> Program:
    order = yield from median
    if rule == "smith":
        return (yield from by_smith(ground, order, theta))
    return (yield from Merge(ground, order, theta, downward=rule == "downward", majorities=majorities).run())


def _once(ground: Ground, key: Any, make: Callable[[], Question]) -> Question:
    """Return the questions that a program asks in every run, cached from the first."""
    if key not in ground.memo:
        ground.memo[key] = make()
    question: Question = ground.memo[key]
    return question


def _outermost(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(i, j) for i, j in spans if not any((a, b) != (i, j) and a <= i and j <= b for a, b in spans)]


def _alone(spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return a run that overlaps only its own parts: it ends as one bucket, no matter which pairs are merged first."""
    outermost = _outermost(spans)
    for i, j in outermost:
        if all(b < i or j < a for a, b in outermost if (a, b) != (i, j)):
            return i, j
    return None


def _sorted(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)
