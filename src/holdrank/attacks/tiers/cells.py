"""Cells of votes with the same upper tiers: the linear conditions that hold in a cell, and its score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from holdrank.arrays.tolerances import STRICT
from holdrank.attacks.goals import Aim, top_items
from holdrank.attacks.tiers.conditions import Altered, ComparedPairs, Row
from holdrank.rankings import Floats, Ranking
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock

_NUDGE = STRICT / 10  # share of the votes by which each condition is met strictly


class Rows:
    """The conditions of tiers as rows; each is made once, so that a row is known by its identity.

    Attributes
    ----------
    pairs : ComparedPairs
    theta : float
    base : {"kemeny", "borda", "other"}
        The median that is merged; the order of another one has no rows.
    ties : bool
        Whether ties matter. With theta = 0 a tie is an even pair: in a Kemeny ranking it costs as much as to reverse
        the two.
    """

    def __init__(self, pairs: ComparedPairs, theta: float, base: str) -> None:
        self.pairs, self.theta, self.base = pairs, theta, base
        self.ties = theta > 0 or base != "kemeny"
        self.zero: Floats = np.zeros(len(pairs.first))
        self._made: dict[object, Row] = {}
        self._single: dict[Row, float] = {}

    def _row(
        self, key: object, u: Floats, v: Floats, nudge: float, *, strict: bool = False, eases: Row | None = None
    ) -> Row:
        return self._made.setdefault(key, Row(u, v, nudge, strict, eases))

    def single(self, row: Row) -> float:
        """Return a lower bound on the cost of this row alone."""
        if row not in self._single:
            self._single[row] = self.pairs.single(row)
        return self._single[row]

    def tie(self, p: int, side: float) -> Row:
        """Return the row ``side * D <= 2 theta N``."""
        return self.level((int(self.pairs.first[p]), int(self.pairs.second[p])), side, self.theta, above=False)

    def apart(self, i: int, j: int) -> Row:
        """Return the row ``D > 2 theta N`` for i above j."""
        row = self.level((i, j), 1.0, self.theta, above=True)
        return self._row(("apart", i, j), row.u, row.v, row.nudge, strict=True)

    def level(self, pair: tuple[int, int], side: float, level: float, *, above: bool) -> Row:
        """Return the row ``side * D >= 2 level N``, or <=, with D counted for the first item of the pair."""
        p, sign = self.pairs.sign(*pair)
        key = ("level", p, side * sign, level, above)
        if key in self._made:
            return self._made[key]
        u, v = self.zero.copy(), self.zero.copy()
        way = 1.0 if above else -1.0
        u[p], v[p] = way * side * sign, -way * 2 * level
        # Below a level of zero there is no room.
        return self._row(key, u, v, 2 * (_NUDGE if above else min(_NUDGE, level / 4)))

    def order(self, swapped: tuple[tuple[int, int], ...]) -> Row:
        """Return the row "these blocks, each above its partner, win more than they lose together"."""
        key = ("order", swapped)
        if key in self._made:
            return self._made[key]
        u = self.zero.copy()
        for above, below in swapped:
            for i in items_of(above):
                for j in items_of(below):
                    p, sign = self.pairs.sign(i, j)
                    u[p] += sign
        return self._row(key, u, self.zero, _NUDGE * len(swapped))

    def scores(self, a: int, b: int) -> Row:
        """Return the row "the wins of a are at least those of b"; with complete ballots, the mean places."""
        key = ("scores", a, b)
        if key in self._made:
            return self._made[key]
        u, v = self.zero.copy(), self.zero.copy()
        for item, weight in ((a, 1.0), (b, -1.0)):
            for other in range(self.pairs.n):
                if other != item:
                    p, sign = self.pairs.sign(item, other)
                    u[p] += weight * sign
                    v[p] += weight
        return self._row(key, u, v, _NUDGE)

    def farther(
        self,
        large: tuple[int, int],
        side: float,
        small: tuple[int, int],
        sign: float,
        level: float = 0.0,
        large_weight: float = 1.0,
        small_weight: float = 1.0,
    ) -> Row:
        """Return the row ``(side D - 2 level N) / weight`` of the large pair ``>= (sign D - 2 level N) / weight``."""
        key = ("farther", large, side, small, sign, level, large_weight, small_weight)
        if key in self._made:
            return self._made[key]
        u, v = self.zero.copy(), self.zero.copy()
        scale = max(large_weight, small_weight) or 1.0
        for pair, way, weight in ((large, side, small_weight / scale), (small, sign, -large_weight / scale)):
            p, one = self.pairs.sign(*pair)
            u[p] += weight * way * one
            v[p] -= weight * 2 * level
        return self._row(key, u, v, _NUDGE)

    def exceeds(self, large: tuple[int, int], side: float, small: tuple[int, int], sign: float) -> Row:
        """Return the row "the large pair deviates to this side by more than the small one", where all N are equal."""
        row = self.farther(large, side, small, sign)
        return self._row(("exceeds", large, side, small, sign), row.u, row.v, row.nudge, strict=True)

    def eased(self, row: Row) -> Row:
        """Return the row with equality allowed."""
        return self._row(("eased", row), row.u, row.v, 0.0, strict=row.strict, eases=row.plain)

    def contradict(self, rows: Sequence[Row], clock: Clock) -> bool:
        """Whether no votes at all satisfy the rows, the strict ones strictly.

        This holds if a sum of the rows, with at least one strict row, has no D left and no N with a positive sign.
        """
        strict = np.array([row.strict for row in rows])
        if not strict.any():
            return False
        u, v = np.array([row.u for row in rows]).T, np.array([row.v for row in rows]).T
        if self.pairs.speaks is None:  # N is the same for all pairs
            v = v.sum(axis=0, keepdims=True)
        model = LinearProgram(np.ones(len(rows)), math.inf, presolve=False)
        wide = np.arange(len(rows))
        for values, low, high in ((u, 0.0, 0.0), (v, -math.inf, 0.0), (strict[None].astype(np.float64), 1.0, 1.0)):
            model.add_rows(np.broadcast_to(wide, values.shape), values, low, high)
        weights = np.maximum(model.solve(clock).x, 0.0)
        if not len(weights):
            return False
        # Deviations are compared to twelve decimals: rounding errors must be far smaller.
        left = float(np.abs(u @ weights).sum() + np.maximum(v @ weights, 0.0).sum())
        return left <= 1e-14 * float(weights @ strict)


@dataclass(frozen=True, slots=True)
class Window:
    """The pair `large` deviates to its side by `low` at least and by as much as those of `small`, these by `high`."""

    large: tuple[int, int]
    side: float
    small: tuple[tuple[int, int], ...]
    low: float
    high: float
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """Votes whose consensus begins with these tiers.

    Attributes
    ----------
    bound : float
        Every attack into the cell costs at least this.
    score, most : int
        What is certain, and what is still possible, in the unit of the aims' needs.
    tiers : tuple
        For each tier the blocks of items (one bit each) in which the median lists it.
    free : tuple of bool
        For each tier whether it is one only in `before`: its items stand here, tied or not.
    rest : int
        The items below.
    rows : tuple of Row
        Conditions that decide the bound; the first `chosen` of them define the cell.
    change : Altered or None
        The cheapest votes for these rows; those of the parent until `solved`.
    settled : frozenset
        Names of the conditions that were chosen; where they hold only weakly, choosing them again leads nowhere.
    sides : frozenset
        Pairs that were chosen to deviate to one side, and the side.
    windows : tuple of Window
        Those conditions that compare deviations and can be chosen more narrowly.
    joins : tuple
        The first joins of Naive Merge, as first and last place of the union.
    grows : bool
        Whether items of `rest` may still belong to the last tier, whose items so far are known one by one.
    below : int
        The items whose order has no share in the score yet, where these are not `rest`.
    """

    bound: float
    score: int
    most: int
    tiers: tuple[tuple[int, ...], ...]
    free: tuple[bool, ...]
    rest: int
    rows: tuple[Row, ...] = ()
    chosen: int = 0
    change: Altered | None = None
    solved: bool = False
    settled: frozenset[tuple[int, ...]] = frozenset()
    sides: frozenset[tuple[int, float]] = frozenset()
    windows: tuple[Window, ...] = ()
    joins: tuple[tuple[int, int], ...] = ()
    grows: bool = False
    below: int = 0

    @property
    def unscored(self) -> int:
        """The items whose order the score does not know."""
        return self.below or self.rest

    def members(self, tier: int) -> int:
        """Return the items of a tier."""
        return sum(self.tiers[tier])

    def blocks(self) -> list[int]:
        """Return all items in the order of the median, as far as it is known."""
        found = [block for tier in self.tiers for block in tier]
        return [*found, self.rest] if self.rest else found

    @property
    def met(self) -> bool:
        """Whether some votes satisfy the rows of the cell."""
        return self.change is None or self.change.met


class Score:
    """How far the tiers placed so far go towards the aims, and how far they still can."""

    def __init__(self, before: Ranking, aim: Aim) -> None:
        self.aim = aim
        self.ranks = before.ranks.tolist()
        n = self.n = before.n
        self.better = [sum(1 << j for j in range(n) if self.ranks[j] < self.ranks[i]) for i in range(n)]
        self.same = [sum(1 << j for j in range(n) if self.ranks[j] == self.ranks[i] and j != i) for i in range(n)]
        self.distance = aim.distance
        # This distance does not see how a tier of `before` is split.
        self.free = self.distance == "hausdorff_ns"
        self.newcomers = sum(1 << i for i in aim.newcomers)
        self.first = sum(1 << i for i in top_items(before, aim.top)) if aim.top else 0

    def need(self, aim: Aim) -> int:
        """Return the score that reaches an aim: half pairs for distances, 1 for others."""
        if not aim.distance:
            return 1
        pairs = self.n * (self.n - 1) // 2
        # Rounded down: everything that `Aim.reached` accepts must have this score.
        return max(math.ceil(2 * aim.delta * pairs - 1e-7), 1)

    def top(self, rest: int) -> int:
        """Return the items of `rest` that no other of them beats in `before`."""
        return sum(1 << i for i in items_of(rest) if not self.better[i] & rest)

    def clean(self, rest: int) -> bool:
        """Whether `rest` are the last tiers of `before`."""
        outside = ((1 << self.n) - 1) & ~rest
        return not any((self.same[i] | self.better[i]) & rest for i in items_of(outside))

    def possible(self, rest: int) -> int:
        """Return the most that the order of `rest` can score."""
        if not self.distance:
            return 1
        items = items_of(rest)
        strict = sum((self.better[i] & rest).bit_count() for i in items)
        tied = sum((self.same[i] & rest).bit_count() for i in items) // 2
        return 2 * strict + (0 if self.free else tied)

    def step(self, score: int, placed: int, tier: int, rest: int, *, free: bool) -> tuple[int, int]:
        """Return (score, most) with `tier` next, after `placed` and before `rest`."""
        if not self.distance:
            return (1, 1) if score else self._decided(placed, tier, rest)
        if not free:
            items = items_of(tier)
            reversed_ = sum((self.better[i] & rest).bit_count() for i in items)
            merged = sum((self.better[i] & tier).bit_count() for i in items)
            parted = sum((self.same[i] & rest).bit_count() for i in items)
            score += 2 * reversed_ + (2 * merged if self.free else merged + parted)
        return score, score + self.possible(rest)

    def reached(self, after: Ranking) -> int:
        """Return the score of a whole ranking."""
        if not self.distance:
            return int(self.aim.reached(after))
        now, then = after.ranks, self.aim.before.ranks
        i, j = np.triu_indices(self.n, 1)
        signs, old = np.sign(now[i] - now[j]), np.sign(then[i] - then[j])
        opposed, merged = int((signs * old < 0).sum()), int(((signs == 0) & (old != 0)).sum())
        parted = 0 if self.free else int(((signs != 0) & (old == 0)).sum())
        return 2 * opposed + (2 * merged if self.free else merged + parted)

    def _decided(self, placed: int, tier: int, rest: int) -> tuple[int, int]:
        aim = self.aim
        if aim.above:
            b, a = (1 << item for item in aim.above)
            if tier & (a | b):
                return (1, 1) if tier & b and rest & a else (0, 0)
            return 0, 1
        ends = (placed | tier).bit_count() >= aim.top
        if aim.other_set:
            if tier & ~self.first:
                return 1, 1
            return (0, 1) if not ends else (1, 1) if placed | tier != self.first else (0, 0)
        if aim.leaver:
            return (0, 0) if tier >> aim.leaver[0] & 1 else (1, 1) if ends else (0, 1)
        if tier & self.newcomers:
            return 1, 1
        return (0, 0) if ends else (0, 1)


def items_of(mask: int) -> list[int]:
    """Return the items of a set that is stored as one bit per item."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def alone(mask: int) -> bool:
    """Whether a set has one item."""
    return mask.bit_count() == 1


def masks_of(ranking: Ranking) -> tuple[int, ...]:
    """Return the tiers of a ranking as sets."""
    return tuple(sum(1 << i for i in bucket) for bucket in ranking.buckets)


def nearby(tiers: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return tiers with two neighbours merged or exchanged, or with an item moved by a tier or to one of its own."""
    out = []
    for at, (one, two) in enumerate(pairwise(tiers)):
        above, below = tiers[:at], tiers[at + 2 :]
        out += [(*above, one | two, *below), (*above, two, one, *below)]
        out += [(*above, one ^ (1 << i), two | (1 << i), *below) for i in items_of(one) if not alone(one)]
        out += [(*above, one | (1 << i), two ^ (1 << i), *below) for i in items_of(two) if not alone(two)]
    for at, tier in enumerate(tiers):
        for i in items_of(tier) if not alone(tier) else ():
            own, others = 1 << i, tier ^ (1 << i)
            out += [(*tiers[:at], *parts, *tiers[at + 1 :]) for parts in ((own, others), (others, own))]
    return out
