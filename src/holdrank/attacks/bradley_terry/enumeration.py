"""Every change of a few battles between few items, tried by running the fit on all of them at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from holdrank.attacks.bradley_terry.battles import Battles, ranked
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Plan
from holdrank.rankings import Floats, Ints
from holdrank.status import Clock
from holdrank.votes.changes import Change

MOST_ITEMS = 6  # beyond, there are too many types of battles
_AT_A_TIME = 4_000  # changes, and the same number of added ones per removed one
_CLOSE = 1e-6  # strengths that may be called equal


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of trying every change of a number of battles.

    Attributes
    ----------
    finished : bool
        Whether all were tried, or one was found that reaches the aim.
    tie_plan : Plan or None
        A change after which the aim is reached if ties are broken in its favour.
    plan : Plan or None
        A change after which it is reached no matter how ties are broken.
    """

    finished: bool
    tie_plan: Plan | None = None
    plan: Plan | None = None


class Enumeration:
    """All changes of k battles, by the types of battles removed and added; an added tie is one of the types."""

    def __init__(self, battles: Battles, change: Change) -> None:
        self.battles, self.change = battles, change
        n = battles.n
        upper, lower = np.nonzero(~np.eye(n, dtype=bool))
        self._put_kinds = [((i, j), 0) for i, j in zip(upper.tolist(), lower.tolist(), strict=True)]
        self._put_kinds += [((i, j), 1) for i in range(n) for j in range(i + 1, n)]
        stores = (battles.won, battles.tied)
        self._taken_kinds = [
            ((i, j), kind)
            for kind, store in enumerate(stores)
            for i, j in zip(*(axis.tolist() for axis in np.nonzero(store)), strict=True)
        ]
        self._supply = [float(stores[kind][at]) for at, kind in self._taken_kinds]

    def number(self, k: int) -> float:
        """Return how many changes of k battles there are; infinity where they cannot all be tried."""
        fought = float(self.battles.won.sum() + self.battles.tied.sum())
        if fought < self.battles.total or (k >= fought and not self.change.puts):
            return math.inf  # ballots over one item could change as well
        size = 1
        if self.change.puts:
            size *= math.comb(len(self._put_kinds) + k - 1, k)
        if self.change.takes:
            size *= math.comb(len(self._taken_kinds) + k - 1, k)
        return size if self.battles.is_counts else math.inf

    def search(self, aim: Aim, k: int, clock: Clock) -> Tried:
        """Try every change of k battles, until one reaches the aim no matter how ties are broken."""
        tie_plan: Plan | None = None
        for taken, put in self._batches(k):
            if clock.over():
                return Tried(False, tie_plan)
            wins, totals = self._after(taken, put)
            fitted = self.battles.fitted(wins, totals)
            for row in self._in_doubt(aim, fitted):
                after = ranked(fitted[row])
                if aim.reached_by_all(after):
                    return Tried(True, tie_plan, self._plan(taken[row], put[row]))
                if tie_plan is None and aim.reached_by_some(after):
                    tie_plan = self._plan(taken[row], put[row])
        return Tried(True, tie_plan)

    def _in_doubt(self, aim: Aim, fitted: Floats) -> list[int]:
        """Return the rows whose order may differ from the one before in what the aim asks."""
        if aim.above:
            b, a = aim.above
            return np.flatnonzero(fitted[:, b] >= fitted[:, a] - _CLOSE).tolist()
        ordered = fitted[:, list(aim.before.order)]
        if aim.flips:
            first, second = np.triu_indices(self.battles.n, 1)
            passed = ordered[:, second] >= ordered[:, first] - _CLOSE
            return np.flatnonzero(passed.sum(axis=1) >= aim.flips).tolist()
        return np.flatnonzero((ordered[:, :-1] - ordered[:, 1:] <= _CLOSE).any(axis=1)).tolist()

    def _batches(self, k: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield the numbers of battles of each type removed and added, one change per row.

        A type that is both removed and added is left out: that is a change of fewer battles, tried before.
        """
        goes = _choices(len(self._taken_kinds), k if self.change.takes else 0)
        goes = goes[(goes <= self._supply).all(axis=1)]
        comes = _choices(len(self._put_kinds), k if self.change.puts else 0)
        again = comes[:, [self._put_kinds.index(kind) for kind in self._taken_kinds]] > 0
        taken: list[Ints] = []
        put: list[Ints] = []
        rows = 0
        for away in goes:
            here = comes[~again[:, away > 0].any(axis=1)]
            taken.append(np.broadcast_to(away, (len(here), len(away))))
            put.append(here)
            rows += len(here)
            if rows >= _AT_A_TIME:
                yield np.concatenate(taken), np.concatenate(put)
                taken, put, rows = [], [], 0
        if rows:
            yield np.concatenate(taken), np.concatenate(put)

    def _after(self, taken: Ints, put: Ints) -> tuple[Floats, Floats]:
        """Return the wins after each change, and the totals."""
        wins = np.repeat(self.battles.wins[None], len(taken), axis=0)
        for kinds, counts, sign in ((self._taken_kinds, taken, -1.0), (self._put_kinds, put, 1.0)):
            for column, ((i, j), tie) in enumerate(kinds):
                if tie:
                    wins[:, i, j] += sign * counts[:, column] / 2
                    wins[:, j, i] += sign * counts[:, column] / 2
                else:
                    wins[:, i, j] += sign * counts[:, column]
        totals = self.battles.total - taken.sum(axis=1) + put.sum(axis=1)
        return wins, totals

    def _plan(self, taken: Ints, put: Ints) -> Plan:
        """Return a change as a plan."""
        tables = np.zeros((4, self.battles.n, self.battles.n))
        for first, kinds, numbers in ((0, self._taken_kinds, taken), (2, self._put_kinds, put)):
            for (at, tie), number in zip(kinds, numbers.tolist(), strict=True):
                tables[(first + tie, *at)] += number
        return self.battles.plan(*tables)


def _choices(kinds: int, k: int) -> Ints:
    """Return the number of battles of each type in every choice of k battles, one choice per row.

    Examples
    --------
    >>> _choices(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    chosen = np.array(list(combinations_with_replacement(range(kinds), k)), dtype=np.int64)
    counts = np.zeros((len(chosen), kinds), dtype=np.int64)
    for column in range(k):
        counts[np.arange(len(chosen)), chosen[:, column]] += 1
    return counts
