"""Why no cheaper change of the votes is enough: lower bounds proven by a few multiplications in whole numbers.

Votes after an attack satisfy linear conditions, ``row(votes) >= 0``: that an order is a median, that two items are
close. Adding conditions with multipliers y >= 0 gives a further condition, in which every ballot counts some points Y.
The original votes have too few points; replacing a ballot adds at most ``max Y - Y(ballot)``. Replacing the ballots
that add most first gives the weight that must be changed before the points suffice: a proven lower bound.

The multipliers come from a linear program. It is not trusted: the multipliers are rounded to whole numbers, and any
multipliers give a valid bound. A bad solver can only make the proof fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations, product
from math import inf, lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.proofs.exact import Ballot, ExactVotes, Order, compares, doubled_places, margin
from holdrank.rankings import Floats, Ints
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock
from holdrank.votes.changes import Change

Row: TypeAlias = Ints  # what each distinct ballot counts in a condition
Amount: TypeAlias = Fraction | float  # a weight of votes; infinite where no change does it

_PENALTY = 1e4  # for missing a condition: shows which ones contradict each other
_DENOMINATOR = 60  # multipliers are mostly small fractions
_FINE = 2**40  # and where they are not, they are rounded to this part of the largest
_VIOLATED = 1e-9  # share of the votes by which a rival must be ahead to be examined
_MARGIN = 1e-7  # share of the votes by which an example exceeds rounding
_SAFE = 2**62  # sums below this fit the machine's whole numbers
_UNIT = 1e4  # weight of all votes in the programs, far above the solver's absolute tolerances


class Costs(NamedTuple):
    """The cost of every order for each distinct ballot, up to a common constant: ``chosen @ parts``, in whole numbers.

    An order costs as much as its parts do: that one item stands above another, or that an item has a place.
    """

    chosen: Ints  # a row for each order: how often it has each part
    parts: Ints  # a row for each part: what it costs each distinct ballot
    best: int  # the best order of the original votes

    def of(self, masses: Floats) -> Floats:
        """Return the rounded cost of every order for votes, for quick checks."""
        cost: Floats = self.chosen @ (self.parts @ masses)
        return cost


class Ground:
    """The existing ballots, and those that an attacker may add.

    Attributes
    ----------
    kinds : list of tuple of int
        First the ballots of the votes, then all that may be added.
    orders : list of tuple of int
        All strict orders of the items.
    """

    def __init__(self, votes: ExactVotes, change: Change, added: Sequence[Ballot]) -> None:
        self.votes, self.change = votes, change
        self.orders: list[Order] = list(permutations(range(votes.n)))
        self.present = len(votes.ballots)
        self.kinds: list[Ballot] = [*votes.ballots, *(added if change.puts else [])]
        self._weights = np.array(votes.weights, dtype=object)
        self._shares = np.array([weight / votes.total for weight in votes.weights]) * _UNIT
        self._costs: dict[str, Costs] = {}
        self.memo: dict[Any, Any] = {}  # of the programs that run here

    @cached_property
    def margin(self) -> dict[tuple[int, int], Row]:
        """``[i, j]``: 1 for a ballot with i above j, -1 for one with j above i."""
        return self._of_pairs(margin)

    @cached_property
    def compared(self) -> dict[tuple[int, int], Row]:
        """``[i, j]``: 1 for a ballot that compares i and j."""
        return self._of_pairs(compares)

    def _of_pairs(self, says: Callable[[Ballot, int, int, bool], int]) -> dict[tuple[int, int], Row]:
        return {
            (i, j): np.array([says(kind, i, j, self.votes.observed) for kind in self.kinds], dtype=np.int64)
            for i, j in permutations(range(self.votes.n), 2)
        }

    def costs(self, distance: str) -> Costs:
        """Return the cost of every order for each distinct ballot, up to a common constant."""
        if distance not in self._costs:
            n, pairs = self.votes.n, list(combinations(range(self.votes.n), 2))
            places = np.argsort(np.array(self.orders), axis=1)  # a row for each order: the place of each item
            if distance == "kendall":
                parts = np.array([self.margin[pair] for pair in pairs], dtype=np.int64).reshape(-1, len(self.kinds))
                chosen = np.array([np.sign(places[:, i] - places[:, j]) for i, j in pairs], dtype=np.int64)
                chosen = chosen.reshape(-1, len(self.orders)).T
            else:
                known = [doubled_places(kind, self.votes.observed) for kind in self.kinds]
                parts = np.array(
                    [[abs(2 * at - of[i]) if of else 0 for of in known] for i in range(n) for at in range(1, n + 1)],
                    dtype=np.int64,
                )
                chosen = (places[:, :, None] == np.arange(n)).reshape(len(self.orders), -1).astype(np.int64)
            best = int(np.argmin(chosen @ (parts[:, : self.present] @ self._shares)))
            self._costs[distance] = Costs(chosen, parts, best)
        return self._costs[distance]

    def needed(self, rows: Sequence[Row], multipliers: Sequence[int]) -> Amount:
        """Return the weight that must be changed before the sum of rows with multipliers >= 0 can be 0 or more.

        This is the proof: whole numbers, sorted and added.
        """
        points = _combined(rows, multipliers, 2 * self.votes.total)
        here, weights = points[: self.present], self._weights.astype(points.dtype)
        lacking = -int(here @ weights)
        if lacking <= 0:
            return Fraction(0)
        best = int(max(points[self.present :], default=0))
        if not self.change.takes:
            return Fraction(lacking, best) if best > 0 else inf
        gains = (0 if not self.change.puts else best) - here
        helpful = np.flatnonzero(gains > 0)
        helpful = helpful[np.argsort(gains[helpful])[::-1]]  # most first
        gained = np.cumsum(gains[helpful] * weights[helpful])
        if not len(gained) or gained[-1] < lacking:
            return inf
        last = int(np.argmax(gained >= lacking))
        gain, weight = int(gains[helpful[last]]), int(weights[helpful[last]])
        rest = lacking - (int(gained[last]) - gain * weight)
        spent = int(weights[helpful[:last]].sum()) + Fraction(rest, gain)
        # To drop all votes leaves none that could reach anything.
        return inf if not self.change.puts and spent == self.votes.total else spent

    def bound(self, rows: Sequence[Row], median: tuple[str, Order] | None, enough: Amount) -> Amount:
        """Return the largest weight proven necessary before votes satisfy rows and have a median; or `enough`.

        Parameters
        ----------
        rows : sequence of array
        median : (distance, order) or None
            The order must be a median for the distance; rivals are brought in when they matter.
        enough : number
            Stop at the first proof of this weight.
        """
        rows = list(rows)
        rivals = None if median is None else _Rivals(self.costs(median[0]), self.orders.index(median[1]))
        proved: Amount = Fraction(0)
        if rivals is not None and median is not None:
            rows.append(rivals.row(self.costs(median[0]).best))  # the median as it is: often all that is needed
            proved = self.needed(rows[-1:], [1])
        while proved < enough:
            found = self._suggested(rows)
            if found is None:
                break
            multiplier_sets, masses = found
            proved = max([proved, *(self.needed(rows, multipliers) for multipliers in multiplier_sets)])
            rival = None if rivals is None else rivals.ahead(masses, rows)
            if rival is None:
                break
            rows.append(rival)
        return proved

    def example(self, rows: Sequence[Row], median: tuple[str, Order] | None) -> tuple[Fraction, ExactVotes] | None:
        """Return votes that satisfy rows and have a median, and the weight changed to make them; None if not found."""
        rows = list(rows)
        rivals = None if median is None else _Rivals(self.costs(median[0]), self.orders.index(median[1]))
        while True:
            found = self._suggested(rows, _MARGIN)
            if found is None:
                return None
            masses = found[1]
            rival = None if rivals is None else rivals.ahead(masses, rows, _MARGIN)
            if rival is None:
                break
            rows.append(rival)
        unit = Fraction(self.votes.total) / Fraction(_UNIT)
        after = [Fraction(max(mass, 0.0)) * unit for mass in masses.tolist()]
        kept = [min(Fraction(weight), mass) for weight, mass in zip(self.votes.weights, after, strict=False)]
        added = after[self.present :]
        if not self.change.takes:
            kept = [Fraction(weight) for weight in self.votes.weights]
        removed = self.votes.total - sum(kept)
        if self.change.keeps_total and any(added):
            added = [mass * removed / sum(added) for mass in added]
        weights: dict[Ballot, Fraction] = {}
        for kind, weight in zip(self.kinds, [*kept, *added], strict=True):
            weights[kind] = weights.get(kind, Fraction(0)) + weight
        spent = sum(added, Fraction(0)) if not self.change.takes else Fraction(removed)
        if spent >= self.votes.total and not self.change.puts:
            return None
        return spent, ExactVotes.of_weights(self.votes, weights)

    def _suggested(self, rows: Sequence[Row], least: float = 0.0) -> tuple[list[list[int]], Floats] | None:
        """Return multipliers suggested by a linear program, and the votes after its cheapest change.

        `least` is the share of the votes by which each row is to be satisfied.
        """
        here, added = self.present, len(self.kinds) - self.present
        removable = self._shares if self.change.takes else np.zeros(here)
        cost = np.concatenate((np.ones(here), np.full(added, float(not self.change.takes)), [_PENALTY]))
        upper = np.concatenate((removable, np.full(added, np.inf), [np.inf]))
        model = LinearProgram(cost, upper, presolve=False)
        scales = [int(np.abs(row).max(initial=1)) or 1 for row in rows]
        matrix = np.array([row / scale for row, scale in zip(rows, scales, strict=True)]).reshape(-1, len(self.kinds))
        entries = np.column_stack((-matrix[:, :here], matrix[:, here:], np.ones(len(rows))))
        columns = np.broadcast_to(np.arange(len(cost)), entries.shape)
        model.add_rows(columns, entries, least * _UNIT - matrix[:, :here] @ self._shares, np.inf)
        if self.change.keeps_total:
            balance = np.concatenate((-np.ones(here), np.ones(added), [0.0]))
            model.add_rows(np.arange(len(cost))[None], balance[None], 0.0, 0.0)
        solution = model.solve(Clock())
        if not len(solution.x):
            return None
        masses = np.concatenate((self._shares - solution.x[:here], solution.x[here:-1]))
        return _multipliers(solution.duals[: len(rows)].tolist(), scales), masses


class _Rivals:
    """The rival orders that must not be better than the median."""

    def __init__(self, costs: Costs, target: int) -> None:
        self.costs, self.target = costs, target

    def row(self, rival: int) -> Row:
        """Return the row that a rival costs no less."""
        row: Row = (self.costs.chosen[rival] - self.costs.chosen[self.target]) @ self.costs.parts
        return row

    def ahead(self, masses: Floats, rows: Sequence[Row], least: float = 0.0) -> Row | None:
        """Return the rival that is most ahead; None if none is, or if a known rival is ahead only by rounding."""
        cost = self.costs.of(masses)
        short = cost - cost[self.target] - least * _UNIT
        short[self.target] = 0.0
        worst = int(np.argmin(short))
        if short[worst] >= -_VIOLATED * _UNIT:
            return None
        row = self.row(worst)
        return None if any(np.array_equal(row, known) for known in rows) else row


def _combined(rows: Sequence[Row], multipliers: Sequence[int], times: int) -> npt.NDArray[Any]:
    """Return the sum of rows with multipliers, in numbers large enough for `times` of each."""
    largest = sum(y * int(np.abs(row).max(initial=0)) for y, row in zip(multipliers, rows, strict=True))
    kind: npt.DTypeLike = np.int64 if max(largest, 1) * times < _SAFE else object
    total = np.zeros(len(rows[0]), dtype=kind)
    for y, row in zip(multipliers, rows, strict=True):
        if y:
            total += y * row.astype(kind)
    return total


def _multipliers(prices: Sequence[float], scales: Sequence[int]) -> list[list[int]]:
    """Return whole multipliers of rows in nearly the ratios of the prices of the rows divided by their scales."""
    largest = Fraction(max([*prices, 0.0]))
    if not largest:
        return []
    ratios = [Fraction(max(price, 0.0)) / largest for price in prices]
    found = []
    for near in (
        [ratio.limit_denominator(_DENOMINATOR) for ratio in ratios],
        [Fraction(round(ratio * _FINE)) for ratio in ratios],
    ):
        shares = [ratio / scale for ratio, scale in zip(near, scales, strict=True)]
        common = lcm(*(share.denominator for share in shares))
        found.append([int(share * common) for share in shares])
    return found


def rankings(n: int) -> list[Ballot]:
    """Return all strict rankings."""
    return [tuple(order.index(i) + 1 for i in range(n)) for order in permutations(range(n))]


def battles(n: int) -> list[Ballot]:
    """Return all comparisons of two items."""
    return [tuple(1 if k == i else 2 if k == j else 0 for k in range(n)) for i, j in permutations(range(n), 2)]


def extremes(votes: ExactVotes) -> list[Ballot]:
    """Return all rows of scores that hold only the highest and the lowest score of all."""
    ends = {score for row in votes.ballots for score in row}
    return list(product((min(ends), max(ends)), repeat=votes.n))
