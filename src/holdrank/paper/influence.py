"""The attack used in papers on arenas: battles chosen once, by influence functions, and a refit to check it.

The influence of a battle is how far the gap between two items moves when the battle is removed or added: one Newton
step from the current strengths. The influences of several battles are added up as if they were independent. The
prediction is the number of battles whose sum closes the gap. It is neither a lower nor an upper bound: the strengths
are not linear in the battles, and the battles chosen at the start may not be the best ones later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdrank.attacks.bradley_terry.battles import Battles, ranked
from holdrank.attacks.goals import Aim
from holdrank.rankings import Floats, Ints
from holdrank.rules.strengths import RIDGE, hessian_at, slope_at
from holdrank.votes.changes import Change

_MOST_ADDED = 64.0  # times the votes


@dataclass(frozen=True, slots=True)
class Guess:
    """The predicted number of battles for one item to pass another, and the result of a refit.

    Attributes
    ----------
    pair : (int, int)
        (b, a): b is to pass a.
    predicted : int or None
        Predicted number of battles; None if all battles together are not enough.
    works : bool
        Whether this many battles reach the aim when the strengths are fitted again.
    sufficient : int or None
        The fewest battles of the same choice, from the prediction upwards or downwards, that do; None if none do.
    """

    pair: tuple[int, int]
    predicted: int | None
    works: bool
    sufficient: int | None


@dataclass(frozen=True, slots=True)
class Effects:
    """How far single battles move the gap between two items, in favour of the one behind.

    Attributes
    ----------
    goes : (2 n n,) array
        The movement when a battle is removed: each win, then each tie.
    comes : (n, n) array
        The movement when a win of the row against the column is added.
    """

    goes: Floats
    comes: Floats


class Influence:
    """Influences of all battles, from one fit."""

    def __init__(self, battles: Battles) -> None:
        self.battles = battles
        shares = battles.wins / battles.total
        self._loses, _ = slope_at(shares, battles.strengths, RIDGE)
        self._inverse = np.linalg.inv(hessian_at(shares + shares.T, self._loses, RIDGE)) / battles.total
        held = np.diag(self._inverse)
        curvature = self._loses * self._loses.T
        leverage = curvature * (held[:, None] + held - 2 * self._inverse)
        np.fill_diagonal(leverage, 0.0)
        self._less = np.maximum(1 - leverage, 1e-12)  # of the curvature when a battle goes; 0 at the last of a bridge
        self._more = 1 + leverage

    def effects(self, b: int, a: int) -> Effects:
        """Return how far each battle moves the strength of b over that of a: one Newton step without it, or with it."""
        lift = self._inverse[b] - self._inverse[a]
        steps = lift[:, None] - lift
        win, tie = self._loses * steps, (self._loses - 0.5) * steps
        return Effects(np.append(-win / self._less, -tie / self._less), win / self._more)

    def supply(self) -> Floats:
        """Return how many battles of each type may be removed, in the order of `Effects.goes`."""
        return np.append(self.battles.won, self.battles.tied)

    def guess(self, aim: Aim, pairs: Sequence[tuple[int, int]], change: Change) -> Guess:
        """Return the pair with the smallest prediction, with the refits of its battles.

        Parameters
        ----------
        aim : Aim
            What the refits must reach.
        pairs : sequence of (int, int)
            The pairs (b, a) of which one is to flip.
        change : Change
        """
        s = self.battles.strengths
        best, pair = math.inf, pairs[0]
        for b, a in sorted(pairs, key=lambda one: (float(s[one[1]] - s[one[0]]), one)):
            effects = self.effects(b, a)
            if (size := self._size(effects, float(s[a] - s[b]), change, best)) < best:
                best, pair = size, (b, a)
        if math.isinf(best):
            return Guess(pair, None, False, None)
        return self._refitted(aim, pair, int(best), change)

    def _size(self, effects: Effects, gap: float, change: Change, below: float) -> float:
        """Return the predicted number of battles that reverse a gap; infinite if not fewer than `below`."""
        supply = self.supply()
        value = np.where(supply > 0, effects.goes, -math.inf)
        most = (float(value.max()) if change.takes else 0.0) + (float(effects.comes.max()) if change.puts else 0.0)
        if most <= 0 or math.floor(gap / most) + 1 >= below:
            return math.inf
        if not change.takes:
            return math.floor(gap / most) + 1
        order = self._falling(value, supply)
        each = value[order] + (float(effects.comes.max()) if change.puts else 0.0)
        order, each = order[each > 0], each[each > 0]
        sums = np.cumsum(each * supply[order])
        at = int(np.searchsorted(sums, gap, side="right"))
        if at == len(order):
            return math.inf
        before, counted = (float(sums[at - 1]), float(supply[order[:at]].sum())) if at else (0.0, 0.0)
        return counted + math.floor((gap - before) / float(each[at])) + 1

    @staticmethod
    def _falling(value: Floats, supply: Floats) -> Ints:
        """Return the existing types of battles, the most useful first."""
        order = np.argsort(-value, kind="stable")
        return np.asarray(order[: int((supply > 0).sum())])

    def _refitted(self, aim: Aim, pair: tuple[int, int], predicted: int, change: Change) -> Guess:
        effects = self.effects(*pair)
        most = self.battles.total - (not change.puts) if change.takes else _MOST_ADDED * self.battles.total

        def works(size: int) -> bool:
            return 0 < size <= most and aim.reached_by_all(ranked(self._after(effects, size, change)))

        if works(predicted):
            size = predicted
            while works(size - 1):
                size -= 1
            return Guess(pair, predicted, True, size)
        fails, reach, step = predicted, None, 1
        while reach is None and fails < most:
            size = int(min(fails + step, most))
            fails, reach, step = (fails, size, step) if works(size) else (size, None, 2 * step)
        while reach is not None and reach - fails > 1:
            middle = (fails + reach) // 2
            fails, reach = (fails, middle) if works(middle) else (middle, reach)
        return Guess(pair, predicted, False, reach)

    def _after(self, effects: Effects, size: int, change: Change) -> Floats:
        """Return the strengths after removing, adding or replacing a number of the most useful battles."""
        battles, n = self.battles, self.battles.n
        wins, total = battles.wins.copy(), battles.total
        if change.takes:
            supply = self.supply()
            value = np.where(supply > 0, effects.goes, -math.inf)
            order = self._falling(value, supply)
            gone = np.zeros(2 * n * n)
            ends = np.minimum(np.cumsum(supply[order]), size)
            gone[order] = np.diff(ends, prepend=0.0)
            ties = gone[n * n :].reshape(n, n)
            wins -= gone[: n * n].reshape(n, n) + (ties + ties.T) / 2
            total -= size
        if change.puts:
            wins.flat[int(effects.comes.argmax())] += size
            total += size
        return battles.fitted(wins, total, battles.strengths)
