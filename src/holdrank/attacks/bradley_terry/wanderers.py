"""A race where some items have so few battles that an attacker can move them anywhere: the wanderers.

All other items, the core, move little. Chords over the whole range of a wanderer would be poor. But the weights of the
equation in `movement` may depend on the strengths s' that a change leads to. So a wanderer's weight depends on the cell
in which it ends, and each cell has the weight that gives the best bound. Where the wanderer has risen, a high weight
makes the attacker pay for that; where it has fallen, a low one. The cost of moving one wanderer also covers its battles
with others. The ridge is a battle of every item with a further wanderer, the ground, whose strength is 0.

The core is found by resistance: with weights that solve the equation exactly at s', one battle moves two items apart by
no more than the resistance between them, no matter where the wanderers go, and that is no more than the resistance
without them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdrank.attacks.bradley_terry.movement import ROUNDING, Chords, Core, Mask, Movement, sigma
from holdrank.rankings import Floats, Ints
from holdrank.rules.strengths import RIDGE

LIMITS = (0.5, 0.3, 0.2, 0.8, 1.5)  # of movement, beyond which an item wanders; tried one after the other
_STEPS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.42, 0.56, 0.75, 1.0, 1.35, 1.8, 2.4, 3.2, 4.5, 7.0)  # ends of cells
_FAR = 1e6  # beyond all strengths
_BEND = 1 / (6 * math.sqrt(3))  # the largest second derivative of sigma
_CHOICES = 7  # weights tried for a cell, besides two that are right where nothing has moved
_TO_GROUND = 0.15  # of what it costs to move a wanderer pays for its battle with the ground
_GROUND = 0.5  # movement of the ground, beyond which its weight is extreme


@dataclass(frozen=True, slots=True)
class _Cells:
    """Where a wanderer may end, by its movement: a cell lies between two ends, and the outermost have none."""

    low: Floats
    high: Floats

    @property
    def bounded(self) -> Floats:
        """Widths, 0 for the outermost: there the least is at the inner end, the weight being extreme."""
        return np.where(self.high - self.low < _FAR / 2, self.high - self.low, 0.0)


_ENDS = np.concatenate((-np.array(_STEPS)[::-1], [0.0], _STEPS))
_CELLS = _Cells(np.concatenate(([-_FAR], _ENDS)), np.concatenate((_ENDS, [_FAR])))


def spare(movement: Movement, k: float, b: int, a: int, gap: float, limits: Sequence[float] = LIMITS) -> float:
    """Return how much pull k battles lack for b to gain `gap` on a; above 0, they do not suffice.

    It is infinite if the core alone proves that, and minus infinity if a or b is in no core.
    """
    best, tried = -math.inf, set[bytes]()
    for limit in limits:
        found = movement.core(k, (a, b), limit)
        if found is not None and found.items.tobytes() not in tried:
            tried.add(found.items.tobytes())
            best = max(best, _spare(movement, k, b, a, gap, found))
            if best > 0:
                break
    return best


def _spare(movement: Movement, k: float, b: int, a: int, gap: float, found: Core) -> float:
    far = movement.widest_gap * float((~found.items).sum())
    spread = float(np.ptp(movement.s) + 2 * (found.rise.max() + far))
    slack = movement.told_apart(spread)
    if found.rise[b, a] < gap - slack:
        return math.inf
    rise = found.rise.copy()
    rise[b, a], rise[a, b] = gap + slack, slack - gap
    for r in (a, b):
        rise = np.where(found.items[:, None] & found.items, np.minimum(rise, rise[:, [r]] + rise[r]), 0.0)
    np.fill_diagonal(rise, 0.0)
    if (rise + rise.T < 0).any():
        return math.inf
    return _Balance(movement, k, a, b, found.items, movement.chords(rise)).spare(gap - slack)


class _Balance:
    """The equation at the moment when b has caught up with a: the pull of battles, and the pull that movement needs."""

    def __init__(self, movement: Movement, k: float, a: int, b: int, inside: Mask, chords: Chords) -> None:
        self.movement, self.k = movement, k
        (self.items,), (self.wanderers,) = np.nonzero(inside), np.nonzero(~inside)
        self.chords = chords
        inverse = movement.inverted(chords.slopes)
        self.z: Floats = inverse[:, b] - inverse[:, a]
        self.up: Floats = chords.rise[self.items, a]
        self.down: Floats = -chords.rise[a, self.items]
        self.middle = np.clip(0.0, self.down, self.up)
        self.weights = self.z[self.items]
        self.least, self.most = float(self.weights.min()), float(self.weights.max())
        self.price = self.pull = self.excess = self.errors = 0.0

    def spare(self, moved: float) -> float:
        """Return the movement less all pulls and errors."""
        self._core_with_core()
        lost = self.errors
        weights, extra = np.zeros((0, len(_CELLS.low))), np.zeros((0, len(_CELLS.low)))
        if len(self.wanderers):
            weights, value = self._chosen()
            floor = value.min(axis=1)
            extra = value - floor[:, None]
            lost += float(floor.sum()) + self._among_wanderers(weights, extra)
        lost += self._ground(weights, extra)
        pulled = self.k * (self.pull + self.price) + self.excess
        size = self.most - self.least
        other = size * float(np.abs(self.movement.slope).sum())
        if not self.movement.change.keeps_total:
            other += RIDGE * self.k * size * float(np.abs(self.movement.s).sum())
        return moved + lost - pulled - other - ROUNDING * (abs(moved) + abs(lost) + abs(pulled))

    def _core_with_core(self) -> None:
        """Note errors and pulls among the core, and the price of a removed battle."""
        movement, k, here = self.movement, self.k, np.ix_(self.items, self.items)
        drop = np.maximum(self.weights[:, None] - self.weights, 0.0)
        self.errors = float((movement.fought * self.chords.errors)[here].ravel() @ drop.ravel())
        doubt = self.chords.doubt[here]
        if movement.change.puts:
            self.pull = float((doubt * drop).max())
        if movement.change.takes:
            value, supply = (doubt.T * drop).ravel(), movement.battles.wins.T[here].ravel()
            order = np.argsort(-value, kind="stable")
            last = int(np.searchsorted(np.cumsum(supply[order]), k))
            self.price = float(value[order[last]]) if last < len(order) else 0.0
            self.excess = float(supply @ np.maximum(value - self.price, 0.0))

    def _chosen(self) -> tuple[Floats, Floats]:
        """Return for each wanderer and cell a weight, and the least that its battles with the core then add."""
        movement, items, rows = self.movement, self.items, self.wanderers
        start = movement.s[rows][:, None]
        low, high = start + _CELLS.low, start + _CELLS.high
        against = movement.s[items]
        beats = sigma(against + self.up - low[..., None])  # what a win of the wanderer pulls at most, in each cell
        beaten = sigma(high[..., None] - against - self.down)
        fought = movement.fought[np.ix_(rows, items)]
        least, most = np.full(low.shape, self.least), np.full(low.shape, self.most)
        if movement.change.puts:
            # Added wins should pull no more than those among the core.
            least = np.maximum(least, (self.weights - self.pull / np.maximum(beaten, 1e-300)).max(axis=2))
            most = np.minimum(most, (self.weights + self.pull / np.maximum(beats, 1e-300)).min(axis=2))
            least, most = np.where(least > most, (least + most) / 2, least), np.where(least > most, least, most)
        moves = [
            [sigma(ends[..., None] - against - d) - sigma(start - against)[:, None] for d in self._places]
            for ends in (np.maximum(low, start - 2 * _STEPS[-1]), np.minimum(high, start + 2 * _STEPS[-1]))
        ]
        best, chosen = np.full(low.shape, -np.inf), np.zeros(low.shape)
        for weight in self._choices(least, most, fought * (s := sigma(start - against)) * (1 - s)):
            over = weight[..., None] - self.weights
            value = self._moved(rows, fought, moves, over)
            if movement.change.takes:
                goes, comes = movement.battles.wins[np.ix_(rows, items)], movement.battles.wins[np.ix_(items, rows)].T
                value -= (goes[:, None] * np.maximum(-beats * over - self.price, 0.0)).sum(axis=2)
                value -= (comes[:, None] * np.maximum(beaten * over - self.price, 0.0)).sum(axis=2)
            better = value > best
            best, chosen = np.where(better, value, best), np.where(better, weight, chosen)
        if movement.change.puts:
            over = chosen[..., None] - self.weights
            self.pull = max(self.pull, float((beats * over).max()), float((-beaten * over).max()))
        return chosen, best

    @property
    def _places(self) -> tuple[Floats, Floats, Floats]:
        return self.down, self.middle, self.up

    def _choices(self, least: Floats, most: Floats, tied: Floats) -> list[Floats]:
        """Return weights for every wanderer and cell; the outermost cells have the extremes."""
        still = tied @ self.weights / np.maximum(tied.sum(axis=1), 1e-300)  # right where nothing has moved
        found = [least + (most - least) * part for part in np.linspace(0, 1, _CHOICES)]
        found += [np.clip(w[:, None], least, most) for w in (self.z[self.wanderers], still)]
        for weight in found:
            weight[:, 0], weight[:, -1] = self.least, self.most
        return found

    def _moved(self, rows: Ints, fought: Floats, moves: list[list[Floats]], over: Floats) -> Floats:
        """Return the least that battles of wanderers with the core add, with weights so far over those of the core."""
        slopes = self.chords.slopes[np.ix_(rows, self.items)]
        linear = fought * slopes * (self.z[rows][:, None] - self.weights)
        value = np.full(over.shape[:2], np.inf)
        for end in moves:
            terms = [
                fought[:, None] * by * over + (linear * d)[:, None] for by, d in zip(end, self._places, strict=True)
            ]
            value = np.minimum(value, np.minimum.reduce(terms).sum(axis=2))
        # Between the ends of a cell, or of a movement of the core, a function lies at most this far below its chord.
        width = np.maximum(self.up - self.middle, self.middle - self.down)
        bent = np.abs(over) * fought[:, None]
        return np.asarray(value - _BEND / 8 * (bent @ width**2 + _CELLS.bounded**2 * bent.sum(axis=2)))

    def _among_wanderers(self, weights: Floats, extra: Floats) -> float:
        """Return the least that battles of wanderers with each other add, paid in part by what moving them costs."""
        movement, rows = self.movement, self.wanderers
        fought, wins = movement.fought[np.ix_(rows, rows)], movement.battles.wins[np.ix_(rows, rows)]
        start = movement.s[rows][:, None]
        low, high = start + _CELLS.low, start + _CELLS.high
        share = (1 - _TO_GROUND) / np.maximum(fought.sum(axis=1), 1e-300)
        total = 0.0
        for i in range(1, len(rows)):
            some = slice(0, i)
            over = weights[i][:, None, None] - weights[some]
            least, most = sigma(low[i][:, None, None] - high[some]), sigma(high[i][:, None, None] - low[some])
            if movement.change.puts:
                self.pull = max(self.pull, float(((1 - least) * over).max()), float((-most * over).max()))
            met = fought[i, some][:, None]
            if not met.any():
                continue
            value = met * over * (np.where(over >= 0, least, most) - sigma(start[i] - start[some]))
            if movement.change.takes:
                value -= wins[i, some][:, None] * np.maximum((least - 1) * over - self.price, 0.0)
                value -= wins[some, i][:, None] * np.maximum(most * over - self.price, 0.0)
            value += met * (share[i] * extra[i][:, None, None] + share[some][:, None] * extra[some])
            total += float(value.min(axis=(0, 2)).sum())
        return total

    def _ground(self, weights: Floats, extra: Floats) -> float:
        """Return the least that the ridge adds: with the core, which chords count as linear, and with wanderers."""
        change, ridge = self.movement.change, self.movement.ridge
        ridges = [ridge] if change.keeps_total else [ridge, ridge + RIDGE * self.k * (1 if change.puts else -1)]
        low, high = np.array([-_FAR, -_GROUND, _GROUND]), np.array([-_GROUND, _GROUND, _FAR])
        own = np.array([self.least, 0.0, self.most])
        value = np.full(3, np.inf)
        for moved in (low, high):
            terms = [
                r * (d - moved[:, None]) * (self.weights - own[:, None]) - ridge * d * self.weights
                for r in ridges
                for d in (self.down, self.up)
            ]
            value = np.minimum(value, np.minimum.reduce(terms).sum(axis=1))
        total = float(value.min())
        if len(weights):
            corners = [
                r * (end[:, None] - moved) * (weights[..., None] - own)
                for r in ridges
                for end in (_CELLS.low, _CELLS.high)
                for moved in (low, high)
            ]
            paid = _TO_GROUND * extra[..., None] + (value - value.min()) / len(weights)
            total += float((np.minimum.reduce(corners) + paid).min(axis=(1, 2)).sum())
        return total
