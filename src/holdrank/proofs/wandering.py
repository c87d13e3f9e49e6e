"""Proofs about races where an attacker can move some items anywhere, because they have few battles.

The equation of `movements` holds for any weights, also for weights that depend on the strengths s' = s + d it is about.
That is used twice, with d measured against the item a.

*The core.* Take ``z = inverse(A) @ (e_i - e_j)`` for the matrix A whose lines go through s and s' exactly. Then there
are no errors, and d[i] - d[j] is the pull of the change. No two weights differ by more than ``z[i] - z[j]``, the
resistance of the network A between i and j, which only grows if battles are left out or their slopes made smaller. So k
battles move i and j apart by at most k resistances of a network that is known: the battles of a set of items with each
other, with the least slopes in a box. If the result lies inside the box, the set is a core.

*The race.* Items of the core have the weights z of `movements`, with lines and errors. Every other item x wanders: its
weight y depends on the cell in which d[x] lies. Subtract from the equation the linear identity for z, in which the
movement of x drops out. What is left of the battles of x with p in the core is

    N[x, p] * ((sigma(s'[x] - s'[p]) - sigma(s[x] - s[p])) * (y - z[p]) + m[x, p] * d[p] * (z[x] - z[p]))

and of those of two wanderers ``N * (sigma(s'[x] - s'[u]) - sigma(s[x] - s[u])) * (y[x] - y[u])``. The least over a cell
is at its ends up to a term of second order. The ridge is a linear battle with the ground, one more wanderer. Weights
are chosen in plain floats; any weights are valid. Then all terms are bounded, and the rounding error is subtracted at
the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdrank.proofs.movements import WIDEST, Bools, Lines, Movements
from holdrank.proofs.rounding import down, raised, rounding, sigma_above, sigma_below, up
from holdrank.proofs.strengths import RIDGE
from holdrank.rankings import Floats, Ints

_LIMITS = (0.5, 0.3, 0.2, 0.8, 1.5)  # of movement, beyond which an item wanders
_ROUNDS = 60  # until a core is known
_STEPS = 0.03 * 1.28 ** np.arange(23)  # ends of cells
_ENDS = np.concatenate((-_STEPS[::-1], [0.0], _STEPS))
_BEND = 0.0963  # more than 1 / (6 * sqrt(3)), the largest second derivative of sigma
_CHOICES = 11
_TO_GROUND = 0.15  # of what it costs to move a wanderer pays for the ridge
_GROUND = 0.5


def excluded(movements: Movements, b: int, a: int, k: float) -> bool:
    """Whether it is proven that k battles do not bring b up to a."""
    tried = set[bytes]()
    for limit in _LIMITS:
        found = _core(movements, k, a, b, limit)
        if found is not None and found[0].tobytes() not in tried:
            tried.add(found[0].tobytes())
            if _excluded(movements, b, a, k, *found):
                return True
    return False


def _excluded(movements: Movements, b: int, a: int, k: float, inside: Bools, rise: Floats) -> bool:
    apart = raised(np.asarray((~inside).sum() * WIDEST + 1.0), 4)
    room = movements.equal(np.asarray(2 * (rise.max() + apart)))
    level = float(movements.gaps[a, b]) - room  # on the way, b comes so near
    if level <= 2 * float(movements.fit.error):
        return False
    if rise[b, a] < level:
        return True
    rise = rise.copy()
    rise[b, a], rise[a, b] = level, -level
    for r in (a, b):
        rise = np.where(inside[:, None] & inside, np.minimum(rise, up(rise[:, [r]] + rise[r])), 0.0)
    np.fill_diagonal(rise, 0.0)
    if (up(rise + rise.T) < 0).any():
        return True
    return _Sum(movements, k, a, b, inside, rise).exceeds(level)


def _core(movements: Movements, k: float, a: int, b: int, limit: float) -> tuple[Bools, Floats] | None:
    """Return items that stay in a box together, and the box; None if a and b are not among them."""
    n, change = movements.n, movements.change
    ridge = float(down(movements.fit.ridge[0] - RIDGE * k * (1 if change.takes and not change.puts else 0)))
    if not ridge > 0:
        return None
    pulls = k * change.pull + movements.fit.slope.sum()
    if not change.keeps_total:
        pulls = pulls + RIDGE * k * np.abs(movements.s).sum()
    pulls = raised(np.asarray(pulls), movements.terms)
    inside = np.ones(n, dtype=bool)
    start = 2 * float(movements.fit.error) + 1e-12  # where the true strengths certainly are
    rise = np.full((n, n), start)
    for _ in range(_ROUNDS):
        (items,) = np.nonzero(inside)
        here = np.ix_(items, items)
        resistances = _resistances(movements, here, rise[here], ridge)
        if resistances is None:
            return None
        new = np.zeros((n, n))
        new[here] = up(raised(pulls * resistances, 2))
        leaves = inside & (new[:, a] > limit)
        if leaves[a] or leaves[b]:
            return None
        if leaves.any():
            inside &= ~leaves
        elif (new < rise)[here][~np.eye(len(items), dtype=bool)].all():
            rise = np.where(inside[:, None] & inside, rise, 0.0)
            np.fill_diagonal(rise, 0.0)
            return inside, rise
        else:
            rise = np.maximum(np.where(new >= rise, 1.02 * new + start, rise), start)
    return None


def _resistances(movements: Movements, here: tuple[Ints, ...], rise: Floats, ridge: float) -> Floats | None:
    """Return upper bounds on the resistance between every two items of a set, in the network of their own battles.

    With a rough inverse X of A and E = A @ X - 1, ``v @ inverse(A) @ v`` is ``v @ X @ v - (inverse(A) @ v) @ E @ v``.
    The smallest eigenvalue of A is that of the ridge at least.
    """
    gaps, n = movements.gaps[here], len(rise)
    middle = sigma_below(gaps)
    least = np.maximum(down(middle * down(1 - sigma_above(gaps))), 0.0)
    for moved, sign in ((rise, 1), (rise.T, -1)):
        by = np.maximum(moved, 1e-3)
        ends = (up(gaps - by), gaps) if sign < 0 else (gaps, down(gaps + by))
        least = np.minimum(least, down(down(sigma_below(ends[1]) - sigma_above(ends[0])) / up(by)))
    tied = movements.fought[here] * np.maximum(least, 0.0) * (1 - rounding(movements.terms))
    tied = np.minimum(tied, tied.T)
    np.fill_diagonal(tied, 0.0)
    matrix = np.diag(tied.sum(axis=1) * (1 - rounding(n)) + ridge) - tied
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    size = np.abs(matrix) @ np.abs(inverse)
    missed = np.abs(matrix @ inverse - np.eye(n)) + rounding(4 * n) * (size + 1)
    wrong = 2.001 * float(np.sqrt((missed**2).sum())) / ridge  # what the diagonal was rounded by included
    held = np.diag(inverse)
    found = held[:, None] + held - inverse - inverse.T
    sure = raised(np.abs(held[:, None]) + np.abs(held) + 2 * np.abs(inverse), 4) - (
        np.abs(held[:, None]) + np.abs(held) + 2 * np.abs(inverse)
    )
    return np.asarray(up(found + sure + raised(np.asarray(wrong), 4)))


@dataclass(slots=True)
class _Total:
    """A sum of terms, and the sum of their absolute values, which bounds its rounding."""

    value: float = 0.0
    size: float = 0.0

    def add(self, value: float, size: float) -> None:
        self.value += value
        self.size += abs(value) + size


class _Sum:
    """The equation when b is level with a: whether battles pull less than the strengths have moved."""

    def __init__(self, movements: Movements, k: float, a: int, b: int, inside: Bools, rise: Floats) -> None:
        self.movements, self.k, self.rise = movements, k, rise
        (self.core,), (self.others,) = np.nonzero(inside), np.nonzero(~inside)
        self.lines: Lines = movements.lines(rise)
        inverse = movements.weights(self.lines.slopes)
        self.z: Floats = inverse[:, b] - inverse[:, a]
        self.a, self.b = a, b
        self.weights = self.z[self.core]
        self.least, self.most = float(self.weights.min()), float(self.weights.max())
        self.high: Floats = rise[self.core, a]
        self.low: Floats = -rise[a, self.core]
        self.price = self.pull = 0.0
        self.total = _Total()

    def exceeds(self, level: float) -> bool:
        """Whether the movement exceeds all that pulls or errs."""
        movements, total, k = self.movements, self.total, self.k
        total.add(level, 0.0)
        self._linear()
        self._core_pairs()
        cells, extra = self._wanderers()
        if len(self.others):
            self._pairs_of_wanderers(cells, extra)
        self._ground(cells, extra)
        total.add(-k * (self.pull + self.price), 0.0)
        spread = 2 * max(abs(self.least), abs(self.most))
        total.add(-spread * float(movements.fit.slope.sum()), 0.0)
        if not movements.change.keeps_total:
            total.add(-RIDGE * k * spread * float(np.abs(movements.s).sum()), 0.0)
        lost = rounding(movements.terms + 8 * movements.n**2 + 10_000) * total.size
        return math.isfinite(total.size) and total.value > lost

    def _linear(self) -> None:
        """Subtract the residual of the linear equation, times the farthest that items can move."""
        movements = self.movements
        tied = movements.fought * self.lines.slopes
        matrix = np.diag(tied.sum(axis=1) + RIDGE * movements.fit.total) - tied
        left = matrix @ self.z
        left[self.b] -= 1.0
        left[self.a] += 1.0
        off = np.abs(left) + rounding(movements.terms) * (np.abs(matrix) @ np.abs(self.z) + 1.0)
        off = np.append(off, RIDGE * movements.fit.total * abs(self.z.sum()))
        farthest = 4 * float(movements.most)
        self.total.add(-farthest * float(off.sum()), 0.0)

    def _core_pairs(self) -> None:
        movements, here = self.movements, np.ix_(self.core, self.core)
        drop = np.maximum(self.weights[:, None] - self.weights, 0.0)
        errors = (movements.fought * self.lines.errors)[here] * drop
        self.total.add(float(errors.sum()), float(np.abs(errors).sum()))
        if movements.change.puts:
            self.pull = float((self.lines.doubt[here] * drop).max())
        if movements.change.takes:
            value, supply = (self.lines.doubt[here].T * drop).ravel(), movements.wins.T[here].ravel()
            order = np.argsort(-value)
            last = int((np.cumsum(supply[order]) < self.k).sum())
            self.price = float(value[order[last]]) if last < len(order) else 0.0
            self.total.add(-float(supply @ np.maximum(value - self.price, 0.0)), 0.0)

    def _wanderers(self) -> tuple[Floats, Floats]:
        """Return the weight of every wanderer in every cell, and how much more than the least its battles add there."""
        chosen, extra = [], []
        for x in self.others.tolist():
            weights, value, size = self._one(x)
            chosen.append(weights)
            extra.append(value - value.min())
            self.total.add(float(value.min()), size)
        shape = (len(self.others), len(_ENDS) + 1)
        return np.reshape(chosen, shape), np.reshape(extra, shape)

    def _one(self, x: int) -> tuple[Floats, Floats, float]:
        """Return a wanderer's weights in each cell, the least its battles with the core add, and sizes of terms."""
        movements, core = self.movements, self.core
        gap = movements.gaps[x, core]
        low, high = _cells()
        doubt = sigma_above(up(up(self.high - gap) - low[:, None]))  # that a win of x over p pulls at most
        doubted = sigma_above(up(up(gap - self.low) + high[:, None]))
        met, goes, comes = movements.fought[x, core], movements.wins[x, core], movements.wins[core, x]
        least, most = np.full(len(low), self.least), np.full(len(low), self.most)
        if movements.change.puts:
            least = np.maximum(least, (self.weights - self.pull / np.maximum(doubted, 1e-300)).max(axis=1))
            most = np.minimum(most, (self.weights + self.pull / np.maximum(doubt, 1e-300)).min(axis=1))
            most = np.maximum(least, most)
        steep = sigma_below(gap) * sigma_below(-gap) * met
        still = float(steep @ self.weights / max(float(steep.sum()), 1e-300))
        tries = [least + (most - least) * part for part in np.linspace(0, 1, _CHOICES)]
        tries += [np.clip(weight, least, most) for weight in (self.z[x], still)]
        best, weights = np.full(len(low), -np.inf), np.zeros(len(low))
        for weight in tries:
            weight[0], weight[-1] = self.least, self.most
            over = weight[:, None] - self.weights
            value = self._moved(x, gap, met, over)
            if movements.change.takes:
                value -= np.maximum(-doubt * over - self.price, 0.0) @ goes
                value -= np.maximum(doubted * over - self.price, 0.0) @ comes
            weights, best = np.where(value > best, weight, weights), np.maximum(value, best)
        over = weights[:, None] - self.weights
        if movements.change.puts:
            self.pull = max(self.pull, float((doubt * over).max()), float((-doubted * over).max()))
        size = 4 * float((np.abs(over) @ met).max()) + float(met @ np.abs(self.z[x] - self.weights))
        return weights, best, size

    def _moved(self, x: int, gap: Floats, met: Floats, over: Floats) -> Floats:
        """Return the least that battles of x with the core add, in each cell."""
        linear = met * self.lines.slopes[x, self.core] * (self.z[x] - self.weights)
        middle = np.clip(0.0, self.low, self.high)
        before = _sigma(gap)
        low, high = _cells()
        value = np.full(len(over), np.inf)
        # In the outermost cells no weight of the core is beyond that of x, and the least is at the inner end.
        low[0], high[-1] = high[0], low[-1]
        for end in (low, high):
            terms = [
                met * (_sigma(gap + end[:, None] - d) - before) * over + linear * d
                for d in (self.low, middle, self.high)
            ]
            value = np.minimum(value, np.minimum.reduce(terms).sum(axis=1))
        width = np.maximum(self.high - middle, middle - self.low)
        bent = np.abs(over) * met
        return np.asarray(value - _BEND / 8 * (bent @ width**2 + (high - low) ** 2 * bent.sum(axis=1)))

    def _pairs_of_wanderers(self, weights: Floats, extra: Floats) -> None:
        movements, others = self.movements, self.others
        low, high = _cells()
        met = movements.fought[np.ix_(others, others)]
        share = (1 - _TO_GROUND) / np.maximum(met.sum(axis=1), 1e-300)
        for i, x in enumerate(others.tolist()):
            for j, u in enumerate(others[:i].tolist()):
                gap = movements.gaps[x, u]
                over = weights[i][:, None] - weights[j]
                least, most = (
                    sigma_below(down(gap + down(low[:, None] - high))),
                    sigma_above(up(gap + up(high[:, None] - low))),
                )
                if movements.change.puts:
                    self.pull = max(self.pull, float(((1 - least) * over).max()), float((-most * over).max()))
                if not met[i, j]:
                    continue
                value = met[i, j] * over * (np.where(over >= 0, least, most) - _sigma(gap))
                if movements.change.takes:
                    value -= movements.wins[x, u] * np.maximum((least - 1) * over - self.price, 0.0)
                    value -= movements.wins[u, x] * np.maximum(most * over - self.price, 0.0)
                value += met[i, j] * (share[i] * extra[i][:, None] + share[j] * extra[j])
                size = met[i, j] * (3 * float(np.abs(over).max()) + float(share[i] + share[j]) * float(extra.max()))
                self.total.add(float(value.min()), size)

    def _ground(self, weights: Floats, extra: Floats) -> None:
        """Add what the ridge adds: it ties every item to the ground, whose weight depends on how far it moved."""
        change, ridge = self.movements.change, float(RIDGE * self.movements.fit.total)
        ridges = [ridge] if change.keeps_total else [ridge, ridge + RIDGE * self.k * (1 if change.puts else -1)]
        farthest = 4 * float(self.movements.most)
        low, high = np.array([-farthest, -_GROUND, _GROUND]), np.array([-_GROUND, _GROUND, farthest])
        own = np.array([self.least, 0.0, self.most])
        value, size = np.full(3, np.inf), 0.0
        for moved in (low, high):
            terms = [
                r * (d - moved[:, None]) * (self.weights - own[:, None]) - ridge * d * self.weights
                for r in ridges
                for d in (self.low, self.high)
            ]
            size = max(size, *(float(np.abs(term).sum(axis=1).max()) for term in terms))
            value = np.minimum(value, np.minimum.reduce(terms).sum(axis=1))
        self.total.add(float(value.min()), size)
        ends = [np.clip(end, -farthest, farthest) for end in _cells()]
        for i in range(len(self.others)):
            corners = [
                r * (end[:, None] - moved) * (weights[i][:, None] - own)
                for r in ridges
                for end in ends
                for moved in (low, high)
            ]
            paid = _TO_GROUND * extra[i][:, None] + (value - value.min()) / len(self.others)
            size = float(paid.max()) + max(float(np.abs(corner).max()) for corner in corners)
            self.total.add(float((np.minimum.reduce(corners) + paid).min()), size)


def _cells() -> tuple[Floats, Floats]:
    """Return the ends of the cells of a movement."""
    return np.concatenate(([-np.inf], _ENDS)), np.concatenate((_ENDS, [np.inf]))


def _sigma(x: Floats) -> Floats:
    """Return the logistic function, rounded; the rounding error is subtracted at the end."""
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -700.0, 700.0))))
