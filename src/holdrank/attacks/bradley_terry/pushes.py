"""Attacks on Bradley-Terry: change the battles that pull most towards the aim, and refit the strengths.

A push is a list of pairs (b, a): b is to pass a. Battles are chosen by how much each raises the strengths of the b's
over those of the a's, to first order, in a few portions with a refit after each, and then exchanged for better ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TypeAlias

import numpy as np

from holdrank.attacks.bradley_terry.battles import Battles, ranked
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Plan
from holdrank.rankings import Floats, Ints
from holdrank.rules.strengths import RIDGE, hessian_at
from holdrank.status import Clock
from holdrank.votes.changes import Change

Push: TypeAlias = Sequence[tuple[int, int]]
Reached: TypeAlias = Callable[[Aim, Floats], bool]

_PORTIONS = 6
_EXCHANGES = 4
_STEP, _FARTHEST = 1.02, 2.0  # from one size that fails to the next, at least and at most
_FINE = 1e-3  # sizes of battles that are not whole are told apart to this part
_HALVINGS = 14  # of the last battle, for attacks in shares
_ROUGH = 0.03  # the same for far distances, which have many
_MOST_ADDED = 64.0  # times the votes


@dataclass(frozen=True, slots=True)
class Changed:
    """Battles removed and added, and the strengths afterwards."""

    taken: Floats
    ties_taken: Floats
    put: Floats
    strengths: Floats


class Pusher:
    """Looks for attacks by one kind of change; `reached` says which strengths fulfil an aim."""

    def __init__(self, battles: Battles, change: Change, reached: Reached | None = None) -> None:
        self.battles, self.change = battles, change
        self._reached = reached or (lambda aim, strengths: aim.reached_by_all(ranked(strengths)))
        total = battles.total
        self.most = _MOST_ADDED * total if not change.takes else total - (0.0 if change.puts else 1.0)

    def estimate(self, push: Push) -> float:
        """Estimate the battles that a push needs, from its most expensive pair and half the full pull."""
        s = self.battles.strengths
        sizes = [max(float(s[a] - s[b]), 0.0) / self._moved[b, a] for b, a in push]
        return 2 * max(sizes, default=0.0) / self.change.pull

    @cached_property
    def _moved(self) -> Floats:
        """How far a full pull moves two items apart."""
        battles, s = self.battles, self.battles.strengths
        doubt = 1 / (1 + np.exp(np.clip(s[:, None] - s, -700.0, 700.0)))
        shares = battles.wins / battles.total
        inverse = np.linalg.inv(hessian_at(shares + shares.T, doubt, RIDGE)) / battles.total
        held = np.diag(inverse)
        moved = held[:, None] + held - 2 * inverse
        np.fill_diagonal(moved, 1.0)
        return np.asarray(np.maximum(moved, 1e-300))

    def least(self, aim: Aim, push: Push, below: float, clock: Clock) -> tuple[float, Plan | None]:
        """Return the smallest number of battles found, below the one given, that reaches an aim by a push."""
        unit = 1.0 if self.battles.is_counts else 0.0
        size = self.estimate(push)
        size = max(math.floor(size), 1.0) if unit else max(size, 1e-9 * self.battles.total)
        fails, does, plan = 0.0, math.inf, None
        while plan is None:
            size = min(size, self.most)
            if size >= below or clock.over():
                return math.inf, None
            plan, guess = self._tried(aim, push, size)
            if plan is not None:
                does = size
            elif size >= self.most:
                return math.inf, None
            else:
                fails = size
                size = max(size + unit, min(max(guess, size * _STEP), size * _FARTHEST))
                size = float(math.ceil(size)) if unit else size
        fine = max(unit, (_ROUGH if aim.flips > 1 else 0.0 if unit else _FINE) * does)
        for turn in count():
            if does - fails <= fine or clock.over():
                break
            # Every third step bisects: guesses may approach from one side for ever.
            middle = (fails + does) / 2 if turn % 3 == 2 else min(max(guess, fails + fine), does - fine)
            middle = min(float(math.ceil(middle)), does - unit) if unit else middle
            found, guess = self._tried(aim, push, middle)
            fails, does, plan = (fails, middle, found) if found is not None else (middle, does, plan)
        return does, plan

    def _tried(self, aim: Aim, push: Push, size: float) -> tuple[Plan | None, float]:
        """Return a change of `size` battles that reaches an aim, if one is found, and a guess of the right size."""
        now = self.battles.strengths
        ahead = self._short(now, push)
        for changed in self.changes(push, size):
            now = changed.strengths
            if self._reached(aim, now):
                plan = self.battles.plan(changed.taken, changed.ties_taken, changed.put)
                break
        else:
            plan = None
        moved = ahead - self._short(now, push)
        return plan, size * ahead / moved if moved > 0 else math.inf

    def finer(self, aim: Aim, push: Push, size: float) -> tuple[float, Plan | None]:
        """Return slightly less than a whole number of battles that still reaches an aim, by bisection."""
        fails, does, plan = size - 1, size, None
        for _ in range(_HALVINGS):
            middle = (fails + does) / 2
            found, _ = self._tried(aim, push, middle)
            fails, does, plan = (fails, middle, found) if found is not None else (middle, does, plan)
        return does, plan

    def changes(self, push: Push, size: float) -> Iterator[Changed]:
        """Yield changes of `size` battles, each after the first better than those before it."""
        battles = self.battles
        empty = np.zeros_like(battles.wins)
        now = Changed(empty, empty, empty, battles.strengths)
        whole = size == math.floor(size)
        ends = np.linspace(0.0, size, min(_PORTIONS, max(math.ceil(size), 1)) + 1)
        portions = np.diff(np.floor(ends + 0.5) if whole else ends).tolist()
        for number, portion in enumerate(portions, start=1):
            worth = self._worth_after(now, push)
            put = now.put.copy()
            if self.change.puts:
                put.flat[worth.argmax()] += portion
            taken, ties = (now.taken, now.ties_taken) if not self.change.takes else self._taken(worth, now, portion)
            # On the way the strengths only choose what is removed and added next.
            now = self._refitted(taken, ties, put, now.strengths, roughly=number < len(portions))
        yield now
        best = self._short(now.strengths, push)
        for turn in range(_EXCHANGES):
            worth = self._worth_after(now, push)
            put = self._exchanged(now.put, worth, size / (turn + 2), whole=whole) if self.change.puts else now.put
            taken, ties = now.taken, now.ties_taken
            if self.change.takes:
                taken, ties = self._taken(worth, Changed(empty, empty, empty, now.strengths), size)
            other = self._refitted(taken, ties, put, now.strengths)
            if (short := self._short(other.strengths, push)) >= best:
                return
            best, now = short, other
            yield now

    @staticmethod
    def _short(s: Floats, push: Push) -> float:
        """Return how far the pairs of a push are from being passed."""
        b, a = np.array(push).T
        gaps = s[a] - s[b]
        return float((np.maximum(gaps, 0.0) if len(push) > 1 else gaps).sum())

    def _refitted(self, taken: Floats, ties: Floats, put: Floats, start: Floats, *, roughly: bool = False) -> Changed:
        battles = self.battles
        wins = battles.wins - taken - (ties + ties.T) / 2 + put
        total = battles.total - float(taken.sum() + ties.sum()) + float(put.sum())
        fitted = battles.nearly_fitted if roughly else battles.fitted
        return Changed(taken, ties, put, fitted(wins, total, start))

    def _worth_after(self, changed: Changed, push: Push) -> Floats:
        battles, s = self.battles, changed.strengths
        wins = battles.wins - changed.taken - (changed.ties_taken + changed.ties_taken.T) / 2 + changed.put
        left = [(b, a) for b, a in push if s[b] <= s[a]] or push
        return worth_of_wins(wins, battles.total, s, left)

    def _taken(self, worth: Floats, so_far: Changed, size: float) -> tuple[Floats, Floats]:
        """Return the battles removed so far, and `size` more: those against the aim."""
        battles, n = self.battles, self.battles.n
        supply = np.append(battles.won - so_far.taken, battles.tied - so_far.ties_taken)
        value = np.append(-worth, -(worth + worth.T) / 2)
        value[supply <= 0] = -math.inf
        order = _best_first(value, supply, size)
        before = np.cumsum(supply[order]) - supply[order]
        more = np.zeros(2 * n * n)
        more[order] = np.clip(size - before, 0.0, supply[order])
        return so_far.taken + more[: n * n].reshape(n, n), so_far.ties_taken + more[n * n :].reshape(n, n)

    def _exchanged(self, put: Floats, worth: Floats, size: float, *, whole: bool) -> Floats:
        """Return the battles added, with some of least value exchanged for those of most value."""
        best = int(worth.argmax())
        put = put.copy()
        moved, limit = 0.0, max(math.floor(size), 1.0) if whole else size
        there = np.flatnonzero((put > 0) & (worth < worth.flat[best]))
        for at in there[np.argsort(worth.flat[there], kind="stable")].tolist():
            if moved >= limit:
                break
            part = min(float(put.flat[at]), limit - moved)
            put.flat[at] -= part
            moved += part
        put.flat[best] += moved
        return put


def _best_first(value: Floats, supply: Floats, size: float) -> Ints:
    """Return the most valuable places in order, as many as are sure to hold a supply of `size`."""
    few = min(2 * math.ceil(size) + 8, len(value) - 1)
    cut = np.partition(value, len(value) - 1 - few)[len(value) - 1 - few]
    places = np.flatnonzero(value >= cut)
    if supply[places].clip(min=0.0).sum() < size:
        places = np.arange(len(value))
    return np.asarray(places[np.argsort(-value[places], kind="stable")])


def worth_of_wins(wins: Floats, total: float, s: Floats, push: Push) -> Floats:
    """Return how much a win of i over j raises the b's of a push over its a's, to first order."""
    doubt = 1 / (1 + np.exp(np.clip(s[:, None] - s, -700.0, 700.0)))
    b, a = np.array(push).T
    wish = np.bincount(b, minlength=len(s)) - np.bincount(a, minlength=len(s)).astype(np.float64)
    lift = np.linalg.solve(hessian_at((wins + wins.T) / total, doubt, RIDGE), wish) / total
    return np.asarray(doubt * (lift[:, None] - lift))
