"""A bound for thousands of items that rises with time: weights on majority cycles of three.

Every order loses at least one arc of each cycle. Weights on cycles that do not overload any arc give a lower bound on
the total loss; the best weights give the bound of the linear program with all triangle rows, whose dual they are. They
are found by the loops of `arrays/loops/cycles.c`: a round searches all triples for cycles worth a weight, then
repeatedly adjusts those that have one. Most cycles never get a weight and need no memory.

Margins and weights are whole numbers, so the bound is exact, no matter how the weights were found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from holdrank.arrays.native import call
from holdrank.rankings import Floats, Ints
from holdrank.status import Clock

_BITS = 13  # of a number that is three items, for each
MOST_ITEMS = (1 << _BITS) - 1
_LARGEST_SUM = 2.0**50  # of the margins, in the units of the weights
_FINEST, _FINEST_OF_SHARES = 20, 50  # halvings of the unit of the margins, for the weights
_ROOM = 8_000_000  # weighted cycles, 128 MB twice; half a million are usual for 2,000 items
_TRIPLES_AT_ONCE = 50_000_000  # between two checks of the clock: some 50 ms
_SLACK = 0.02  # a cycle is worth a weight if it is violated by more
_PASS_COSTS = 30  # triples examined in the time that one cycle takes in a pass
_LOOK_COSTS = 4  # the same for a triple that may be worth a weight
_PASSES = 4, 60  # in a round: the least, and the most
_FIRST_ROUNDS, _FIRST_SMOOTHING = 24, (1 / 4, 1 / 2000)  # of weights that only choose rows


class CycleWeights:
    """Weights on cycles of three items, and the bound that they prove.

    Parameters
    ----------
    margin : (n, n) array
        ``margin[i, j]``, i < j: what i before j costs more than j before i; the items are numbered by a good order.
    exact : bool
        The margins are whole numbers.

    Attributes
    ----------
    bound : float
        Proven so far: the minimum loss of every order, in margins. A whole number if the margins are.
    work : int
        Done so far, in triples that are examined and passed over: about a nanosecond each.
    """

    def __init__(self, margin: Floats, *, exact: bool) -> None:
        n = len(margin)
        upper = np.triu(margin, 1)
        size: float = float(np.abs(upper).sum()) or 1.0
        self.exact, self.bound, self.work = exact, 0.0, 0
        halvings = math.floor(math.log2(_LARGEST_SUM) - math.log2(size))
        self.unit = 1.0 / (1 << min(max(halvings, 0), _FINEST if exact else _FINEST_OF_SHARES))
        self.margin: Floats = np.rint(upper / self.unit)
        self.total = int(np.abs(self.margin).astype(np.int64).sum())
        self.mean = size / max(int(np.count_nonzero(upper)), 1)
        self.left = self.margin.copy()
        self.share: npt.NDArray[np.float32] = np.zeros((n, n), np.float32)
        room = min(_ROOM, n * (n - 1) * (n - 2) // 6 + 1)
        self.cycles, self._found = np.empty(room, np.int64), np.empty(room, np.int64)
        self.weights, self._found_weights = np.empty(room), np.empty(room)
        self.count = 0

    def round(self, smoothing: float, clock: Clock, reach: int | None = None) -> None:
        """Search for cycles worth a weight, adjust all weights, and update the bound.

        Parameters
        ----------
        smoothing : float
            Margins up to this size count as zero; smaller in each round.
        clock : Clock
            When it is over, the round ends early.
        reach : int, optional
            Use only cycles of items fewer than this many places apart; all by default.
        """
        n = len(self.margin)
        mu = max(smoothing / self.unit, 1.0)
        reach = min(reach or n, n)
        self._find(mu, reach, clock)
        fewest, most = _PASSES
        passes = min(max(2 * triples(n, reach) // (_PASS_COSTS * max(self.count, 1)), fewest), most)
        at_once = max(2, _TRIPLES_AT_ONCE // (_PASS_COSTS * max(self.count, 1)) // 2 * 2)
        for done in range(0, passes, at_once):
            if clock.over():
                break
            few = min(at_once, passes - done)
            call("weigh_cycles", self.left, n, mu, self.cycles, self.weights, self.count, few)
            self.work += few * self.count * _PASS_COSTS
        self._prove()

    def scores(self) -> Floats:
        """Return how much each item of the last round should come late: a fractional solution, summed up."""
        late: Floats = self.share.sum(axis=1, dtype=np.float64)
        early: Floats = self.share.sum(axis=0, dtype=np.float64)
        return late - early

    def triples(self) -> tuple[Ints, Floats]:
        """Return the cycles i < j < k that have a weight, and their weights in units."""
        weights = self.weights[: self.count]
        cycles = self.cycles[: self.count][weights != 0]
        places = np.stack((cycles >> _BITS * 2, cycles >> _BITS & MOST_ITEMS, cycles & MOST_ITEMS), axis=1)
        return places, weights[weights != 0]

    def weighted(self) -> Iterator[tuple[tuple[int, int, int], int]]:
        """Yield each cycle i < j < k that has a weight, with its weight in units."""
        for cycle, weight in zip(self.cycles[: self.count].tolist(), self.weights[: self.count].tolist(), strict=True):
            yield (cycle >> _BITS * 2, cycle >> _BITS & MOST_ITEMS, cycle & MOST_ITEMS), int(weight)

    def forced(self, value: float) -> npt.NDArray[np.bool_]:
        """Return the pairs i < j that no order which loses at most `value` has the other way round; whole margins only.

        An order that reverses a pair loses what is left of its margin on top of the bound.
        """
        left = self.margin.astype(np.int64)
        cycles, weights = self.cycles[: self.count], self.weights[: self.count].astype(np.int64)
        i, j, k = cycles >> _BITS * 2, cycles >> _BITS & MOST_ITEMS, cycles & MOST_ITEMS
        np.subtract.at(left, (i, j), weights)
        np.subtract.at(left, (j, k), weights)
        np.add.at(left, (i, k), weights)
        doubled = self.total - int(np.abs(left).sum()) - int(np.abs(weights).sum())
        spare = 2 * round(value / self.unit) - doubled
        return -2 * left > spare

    def _find(self, mu: float, reach: int, clock: Clock) -> None:
        n = len(self.margin)
        call("clip_margins", self.left, n, mu, self.share)
        at: Ints = np.zeros(3, np.int64)  # taken of the old weights, made of new ones, triples not passed over
        rows = max(1, _TRIPLES_AT_ONCE * 2 // reach**2)
        for first in range(0, n, rows):
            if clock.over():
                reach, rows = 0, n  # what is weighted already is kept
            call(
                "find_cycles", self.left, self.share, n, reach, mu, _SLACK, first, min(first + rows, n), self.cycles,
                self.weights, self.count, self._found, self._found_weights, len(self._found), at,
            )  # fmt: skip
            if not reach:
                break
        self.cycles, self._found = self._found, self.cycles
        self.weights, self._found_weights = self._found_weights, self.weights
        self.count = int(at[1])
        self.work += triples(n, reach) + _LOOK_COSTS * int(at[2])

    def _prove(self) -> None:
        left = call("left_of_cycles", self.margin, len(self.margin), self.cycles, self.weights, self.count)
        if left < 0:
            return  # weights too large to add up
        doubled = self.total - left  # in units of the weights, and whole
        if self.exact:
            per_unit = 2 * round(1 / self.unit)
            proved = float(-(-doubled // per_unit))  # every order loses a whole number
        else:
            pairs = len(self.margin) * (len(self.margin) - 1) // 2
            # Each margin was rounded by up to half a unit, and sums of floats round, too.
            proved = (doubled / 2 - pairs) * self.unit * (1 - 1e-12)
        self.bound = max(self.bound, proved)


def weighted_triples(margin: Floats, order: Ints, clock: Clock) -> Ints:
    """Return the items i < j < k of the cycles that get a weight: nearly the rows that bind in the linear program.

    Parameters
    ----------
    margin : (n, n) array
        What i before j costs more than j before i.
    order : array of int
        A good order of the items.
    clock : Clock
    """
    weights = CycleWeights(margin[np.ix_(order, order)], exact=False)
    first, last = _FIRST_SMOOTHING
    for number in range(_FIRST_ROUNDS):
        if clock.over():
            break
        weights.round(weights.mean * first * (last / first) ** (number / (_FIRST_ROUNDS - 1)), clock)
    return np.sort(order[weights.triples()[0]], axis=1).astype(np.int64)


def triples(n: int, reach: int) -> int:
    """Return about how many triples of items are less than `reach` places apart."""
    return n * reach * reach // 2 - reach**3 // 3
