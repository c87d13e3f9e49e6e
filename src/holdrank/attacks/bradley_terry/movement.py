"""How far a change of k battles can move the strengths: a bound for every two items.

Let s be the strengths of the votes and s' those of the changed ones, d = s' - s, and sigma the logistic function. The
slope of the likelihood vanishes at s' for the changed votes. Multiplied by any weights z of sum 0 this reads

    sum of pull(change) = sum over pairs of n[p, q] * (sigma(s'[p] - s'[q]) - sigma(s[p] - s[q])) * (z[p] - z[q])

and a part of the ridge. An added win of p over q pulls ``(1 - sigma(s'[p] - s'[q])) * (z[p] - z[q])``, and a removed
one the negative of that. The counts n are those of the original votes, no matter what the attacker does. Replace each
difference of sigmas by its chord, ``m[p, q] * (d[p] - d[q])``, plus an error. With ``z = inverse(Laplacian(n * m) +
ridge) @ (e[i] - e[j])`` the right side is then ``d[i] - d[j]`` plus errors that are small of second order. So k changes
move i and j apart by at most k times the largest pull plus the errors, as long as d stays in the box for which chords
and errors were computed. It does so if the resulting bounds lie in that box, because d moves continuously as the change
is made gradually.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.rankings import Floats
from holdrank.rules.strengths import RIDGE
from holdrank.votes.changes import Change

Mask: TypeAlias = npt.NDArray[np.bool_]
Near: TypeAlias = dict[int, tuple[Floats, Floats]]  # reference: how far each item may rise above it, and fall below it

ROUNDING = 1e-9  # that engines add to what they claim; proofs round outward
_TOLD_APART = 3e-8  # of the range of strengths: what the rule calls equal, and the rounding of its fit
_CHAINED = 1.2e-8  # the same for each item of a chain of equals
_WIDE = 4.0  # an item that may move this far is left loose: only the ridge holds it
_LOOSE_FROM = (4.0, 1.5, 0.8, 0.5, 0.3)  # by rough movement; tried one after the other
_ROUNDS = 14  # until a box closes
_CORE_ROUNDS = 40  # until a core is known
_CORE_LIMITS = (1.5, 0.5)  # of movement; tried one after the other
_SUPPLY = (0.6, 0.35)  # prices of a removed battle, as parts of the largest, for the bound with limited supply
_NEGLIGIBLE = 0.02  # of a movement: errors that need not be known more exactly
CELLS = 2_000_000  # numbers at a time


def sigma(x: Floats) -> Floats:
    """Return the logistic function."""
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -700.0, 700.0))))


@dataclass(frozen=True, slots=True)
class Chords:
    """What holds in a box of strengths.

    Attributes
    ----------
    rise : (n, n) array
        By how much ``s[i] - s[j]`` may rise.
    slopes : (n, n) array
        Slopes m of chords of sigma.
    errors : (n, n) array
        The least of ``sigma(s'[i] - s'[j]) - sigma(s[i] - s[j]) - m * (d[i] - d[j])``.
    doubt : (n, n) array
        The most that a win of i over j pulls, ``1 - sigma(s'[i] - s'[j])``.
    """

    rise: Floats
    slopes: Floats
    errors: Floats
    doubt: Floats


@dataclass(frozen=True, slots=True)
class Box:
    """Bounds on the movement of every two items under every change of a number of battles; `loose` items have none."""

    rise: Floats
    loose: Mask


@dataclass(frozen=True, slots=True)
class Core:
    """Items that k battles move little, and by how much each two of them may move apart."""

    items: Mask
    rise: Floats


@dataclass(frozen=True, slots=True)
class _Side:
    """What pulls an item up against a reference, or down: by pairs.

    An added battle pulls `pull` times the drop of potentials, a removed one `held` times, of which there are `supply`;
    `errors` are those of chords times the battles fought.
    """

    pull: Floats
    held: Floats
    supply: Floats
    errors: Floats

    @staticmethod
    def star(table: Floats, reference: int) -> Floats:
        """Return for each item its own row of a table, and next to it the column of the reference."""
        return np.hstack((table, np.broadcast_to(table[:, reference], table.shape)))


class Movement:
    """Bounds on movement, for one kind of change."""

    def __init__(self, battles: Battles, change: Change) -> None:
        self.battles, self.change = battles, change
        self.n = battles.n
        self.fought = battles.wins + battles.wins.T
        self.s = battles.strengths
        self.gaps: Floats = self.s[:, None] - self.s
        self.ridge = RIDGE * battles.total
        pull = battles.wins * sigma(-self.gaps)
        self.slope: Floats = pull.sum(axis=1) - pull.sum(axis=0) - self.ridge * self.s
        # Two neighbours in strength are never farther apart than this, for any battles: the ridge pulls the items above
        # a gap down by its share of the votes, and those below can resist by exp(-gap) of the battles at most.
        self.widest_gap = max(1.0, math.log(2 / RIDGE))

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of the curvature at the strengths."""
        return self.inverted(sigma(self.gaps) * sigma(-self.gaps))

    @cached_property
    def base(self) -> int:
        """The item that is held best."""
        return int(np.diag(self.inverse).argmin())

    def told_apart(self, spread: float) -> float:
        """Return the difference of strengths up to which the rule may count two items as equal, given their range.

        It ties neighbours that are close, so that a chain of items may tie two that are farther apart.
        """
        return max(_TOLD_APART, _CHAINED * self.n) * max(1.0, spread)

    def inverted(self, slopes: Floats) -> Floats:
        """Return the inverse of the Laplacian of the battles with these slopes, ridge included."""
        tied = self.fought * slopes
        return np.asarray(np.linalg.inv(np.diag(tied.sum(axis=1) + self.ridge) - tied))

    def chords(self, rise: Floats) -> Chords:
        """Return chords of sigma over a box, and how far they may be wrong."""
        high, low = rise, -rise.T
        width = np.maximum(high - low, 1e-6)
        slopes = (sigma(self.gaps + high) - sigma(self.gaps + high - width)) / width
        slopes = (slopes + slopes.T) / 2
        np.fill_diagonal(slopes, 0.0)
        # Sigma less a line has its extremes at the ends and where the slopes are equal.
        equal = 2 * np.arctanh(np.minimum(np.sqrt(np.maximum(1 - 4 * slopes, 0.0)), 1 - 1e-16))
        start = sigma(self.gaps)
        errors = np.full_like(rise, np.inf)
        for at in (low, high, np.clip(equal - self.gaps, low, high), np.clip(-equal - self.gaps, low, high)):
            errors = np.minimum(errors, sigma(self.gaps + at) - start - slopes * at)
        return Chords(rise, slopes, errors, sigma(rise.T - self.gaps))

    def near(self, k: float, chords: Chords, reference: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return how far k changes can lift every item above a reference, and how far below it, within a box."""
        doubt, wins = chords.doubt, self.battles.wins
        errors = self.fought * chords.errors
        there = np.where(wins > 0, doubt, 0.0)
        potentials = (inverse - inverse[:, [reference]]).T
        other = self.other(potentials, k, chords.rise)
        up = other + self._apart(k, potentials, reference, _Side(doubt, there.T, wins.T, errors))
        down = other + self._apart(k, potentials, reference, _Side(doubt.T, there, wins, errors.T))
        up[reference] = down[reference] = 0.0
        return up * (1 + ROUNDING), down * (1 + ROUNDING)

    def _apart(self, k: float, potentials: Floats, reference: int, side: _Side) -> Floats:
        """Return what k changes and the errors of chords move each item against a reference, for its potentials.

        All cells of a layer are examined only where those of the item and of the reference are not enough.
        """
        found, rough = self._by_stars(k, potentials, reference, side)
        (left,) = np.nonzero(rough)
        step = max(1, CELLS // (self.n * self.n))
        for at in range(0, len(left), step):
            z = potentials[left[at : at + step]]
            drop = np.maximum(z[:, :, None] - z[:, None, :], 0.0)
            total = -(drop.reshape(len(z), -1) @ side.errors.ravel())
            if self.change.puts:
                total += k * (side.pull * drop).max(axis=(1, 2))
            if self.change.takes:
                total += _most_taken(k, (side.held * drop).reshape(len(z), -1), side.supply.reshape(1, -1))
            found[left[at : at + step]] = total
        return found

    def _by_stars(self, k: float, potentials: Floats, reference: int, side: _Side) -> tuple[Floats, Mask]:
        """Return an upper bound on the same from a few cells of each layer, and where it may be much too large.

        Potentials are highest at the item itself and lowest at the reference: nearly all that counts is in the row of
        the one and the column of the other. Every other drop is at most the one between the highest and the lowest of
        the others, and at most the sum of the two drops to and from the median.
        """
        z, itself = potentials, np.eye(self.n, dtype=bool)
        row = np.maximum(np.diag(z)[:, None] - z, 0.0)
        column = np.where(itself, 0.0, np.maximum(z - z[:, [reference]], 0.0))
        cells = np.hstack((row, column))
        lowest = np.delete(z, reference, axis=1).min(axis=1)
        widest = np.maximum(np.where(itself, -np.inf, z).max(axis=1) - lowest, 0.0)
        middle = np.median(z, axis=1, keepdims=True)
        above = np.where(itself, 0.0, np.maximum(z - middle, 0.0))
        below = np.maximum(middle - z, 0.0)
        below[:, reference] = 0.0
        more = -(above @ side.errors.sum(axis=1) + below @ side.errors.sum(axis=0))
        total = more - (cells * side.star(side.errors, reference)).sum(axis=1)
        rough = np.zeros(self.n, dtype=bool)
        if self.change.puts:
            top = (cells * side.star(side.pull, reference)).max(axis=1)
            total += k * top
            rough |= widest * side.pull.max() > top
        if self.change.takes:
            values = cells * side.star(side.held, reference)
            total += _most_taken(k, values, side.star(side.supply, reference))
            rough |= widest * side.held.max() > min(_SUPPLY) * values.max(axis=1)
        return total, rough | (more > _NEGLIGIBLE * total)

    def other(self, potentials: Floats, k: float, rise: Floats) -> Floats:
        """Return what a nonzero slope and the change of the ridge may add, for rows of weights."""
        more = np.abs(potentials @ self.slope)
        if not self.change.keeps_total:
            moved = np.maximum(np.abs(rise[:, self.base]), np.abs(rise[self.base]))
            more = more + RIDGE * self.battles_in(k) * (np.abs(potentials @ self.s) + np.abs(potentials) @ moved)
        return np.asarray(more)

    def battles_in(self, k: float) -> float:
        """Return the largest number of battles that k changes affect."""
        return k

    def pulled(self, k: float, chords: Chords, y: Floats) -> float:
        """Return the most that k changes pull, for weights y."""
        drop = np.maximum(y[:, None] - y, 0.0)
        most = k * float((chords.doubt * drop).max()) if self.change.puts else 0.0
        if self.change.takes:
            most += most_worth(k, (chords.doubt.T * drop).ravel(), self.battles.wins.T.ravel())
        return most

    def rough(self, k: float, anchor: int) -> Floats:
        """Return roughly how far k changes move every item against another one."""
        held = np.diag(self.inverse)
        return np.asarray(k * self.change.pull * (held + held[anchor] - 2 * self.inverse[:, anchor]) / 2)

    def all_near(self, k: float, rise: Floats, references: Sequence[int], loose: Mask) -> Near:
        """Return `near` for several references; loose items have no bound, and 0 here."""
        chords = self.chords(rise)
        inverse = self.inverted(chords.slopes)
        found = {r: self.near(k, chords, r, inverse) for r in references}
        return {r: (np.where(loose, 0.0, up), np.where(loose, 0.0, down)) for r, (up, down) in found.items()}

    def spread(self, near: Near, loose: Mask) -> Floats:
        """Return bounds for every two items from bounds to references, by the triangle inequality."""
        rise = np.full((self.n, self.n), np.inf)
        for r, (up, down) in near.items():
            rise = np.minimum(rise, up[:, None] + down)
            rise[:, r], rise[r] = np.minimum(rise[:, r], up), np.minimum(rise[r], down)
        np.fill_diagonal(rise, 0.0)
        if loose.any():
            anchor = next(iter(near))
            ahead = self.s - self.s[anchor]
            top = float((ahead + rise[:, anchor])[~loose].max())
            bottom = float((ahead - rise[anchor])[~loose].min())
            beyond = float(loose.sum()) * self.widest_gap
            up = np.where(loose, top + beyond - ahead, rise[:, anchor])
            down = np.where(loose, ahead - bottom + beyond, rise[anchor])
            rise = np.where(loose[:, None] | loose, up[:, None] + down, rise)
            np.fill_diagonal(rise, 0.0)
        return rise

    def core(self, k: float, firm: Sequence[int], limit: float) -> Core | None:
        """Return the items that k changes move against the first of `firm` by a limit at most, or None.

        One battle moves two items apart by no more than the resistance between them, no matter where other items move.
        """
        n, battles = self.n, self.battles_in(k)
        ridge = self.ridge - RIDGE * battles * (self.change.takes and not self.change.puts)
        inside = np.ones(n, dtype=bool)
        rise = np.zeros((n, n))
        if ridge <= 0:
            return None
        for _ in range(_CORE_ROUNDS):
            (items,) = np.nonzero(inside)
            here = np.ix_(items, items)
            tied = self.fought[here] * _least_secants(self.gaps[here], rise[here])
            inverse = np.linalg.inv(np.diag(tied.sum(axis=1) + ridge) - tied)
            held = np.diag(inverse)
            resistance = held[:, None] + held - 2 * inverse
            new = np.zeros((n, n))
            # The slope is not quite 0, and the ridge may change with the number of votes.
            other = float(np.abs(self.slope).sum())
            if not self.change.keeps_total:
                other += RIDGE * battles * float(np.abs(self.s).sum())
            new[here] = (battles * self.change.pull + other) * resistance * (1 + ROUNDING)
            leaves = inside & (new[:, firm[0]] > limit)
            if leaves[list(firm)].any():
                return None
            if leaves.any():
                inside &= ~leaves
                continue
            if (new <= rise).all():
                return Core(inside, np.maximum(rise, 0.0))
            rise = np.where(inside[:, None] & inside, np.maximum(1.05 * new, rise), 0.0)
            np.fill_diagonal(rise, 0.0)
        return None

    def box(self, k: float, firm: Sequence[int], references: Sequence[int] = ()) -> Box | None:
        """Return bounds for every change of up to k battles, with the items `firm` bounded; None if none are found."""
        anchor = firm[0] if firm else self.base
        must = np.zeros(self.n, dtype=bool)
        must[[anchor, *firm]] = True
        for limit in _CORE_LIMITS:
            held = self.core(k, (anchor, *firm), limit)
            if held is not None:
                return self._from_core(k, held, must, references)
        rough = self.rough(k, anchor)
        tried: Mask | None = None
        for limit in _LOOSE_FROM:
            loose = (rough > limit) & ~must
            if loose.sum() > self.n - 2:
                return None
            if tried is None or (loose != tried).any():
                found = self._closed(k, must, loose, references)
                if found is not None:
                    return found
            tried = loose
        return None

    def _from_core(self, k: float, held: Core, must: Mask, references: Sequence[int]) -> Box:
        """Return bounds for all items from those of a core, whose box holds; the others are loose."""
        loose = ~held.items
        chosen = [r for r in range(self.n) if must[r] or (r in references and not loose[r])]
        near = {r: (held.rise[:, r], held.rise[r]) for r in chosen}
        rise = np.where(held.items[:, None] & held.items, held.rise, self.spread(near, loose))
        for _ in range(2):
            rise = np.minimum(rise, self.spread(self.all_near(k, rise, chosen, loose), loose))
        return Box(rise, loose)

    def _closed(self, k: float, must: Mask, loose: Mask, references: Sequence[int]) -> Box | None:
        """Return a box that no change of up to k battles leaves; it grows until the resulting bounds lie within it."""
        loose = loose.copy()
        chosen = [r for r in range(self.n) if must[r] or (r in references and not loose[r])]
        little = np.full(self.n, ROUNDING)
        rise = self.spread(dict.fromkeys(chosen, (little, little)), loose)
        for attempt in range(_ROUNDS):
            near = self.all_near(k, rise, chosen, loose)
            if (self.spread(near, loose) <= rise).all():
                return self._tightened(k, rise, near, loose)
            grown: Near = {}
            wide = np.zeros(self.n, dtype=bool)
            for r, both in near.items():
                grown[r] = (_grown(both[0], rise[:, r], attempt), _grown(both[1], rise[r], attempt))
                wide |= (np.maximum(*grown[r]) > _WIDE) & ~loose
            if (wide & must).any():
                return None
            loose = loose | wide
            chosen = [r for r in chosen if not loose[r]]
            grown = {r: (np.where(loose, 0.0, grown[r][0]), np.where(loose, 0.0, grown[r][1])) for r in chosen}
            rise = self.spread(grown, loose)
        return None

    def _tightened(self, k: float, rise: Floats, near: Near, loose: Mask) -> Box:
        """Return a smaller box: inside a valid box, the resulting bounds are valid too."""
        for _ in range(2):
            rise = np.minimum(rise, self.spread(near, loose))
            near = self.all_near(k, rise, list(near), loose)
        return Box(np.minimum(rise, self.spread(near, loose)), loose)


def _grown(new: Floats, old: Floats, attempt: int) -> Floats:
    """Return a guess beyond `new`, so that a box closes in few attempts."""
    return np.maximum(1.25 * new if attempt == 0 else 1.03 * new + np.maximum(new - old, 0.0), old)


def _most_taken(k: float, values: Floats, supply: Floats) -> Floats:
    """Return an upper bound on the value of the k most valuable battles of each row, by prices instead of sorting.

    For any price t, ``k * t + sum of supply * max(value - t, 0)`` is such a bound.
    """
    supply = np.broadcast_to(supply, values.shape)
    each, at = np.arange(len(values)), values.argmax(axis=1)
    top = values[each, at]
    best = k * top
    few = np.flatnonzero(supply[each, at] < k)  # elsewhere the best kind of battle is enough for all
    for part in _SUPPLY:
        over = np.maximum(values[few] - part * top[few, None], 0.0)
        best[few] = np.minimum(best[few], k * part * top[few] + np.einsum("ij,ij->i", over, supply[few]))
    return np.asarray(best)


def most_worth(k: float, values: Floats, supply: Floats) -> float:
    """Return what the k most valuable things are worth, of which there is a supply each; none is worth less than 0."""
    some = (values > 0) & (supply > 0)
    values, supply = values[some], supply[some]
    order = np.argsort(-values, kind="stable")
    before = np.cumsum(supply[order]) - supply[order]
    return float(np.clip(k - before, 0.0, supply[order]) @ values[order])


def _least_secants(gaps: Floats, rise: Floats) -> Floats:
    """Return the least slope of a line from sigma at a gap to sigma anywhere in a box; it is at an end."""
    found = sigma(gaps) * sigma(-gaps)
    for by in (np.maximum(rise, 1e-4), -np.maximum(rise.T, 1e-4)):
        found = np.minimum(found, (sigma(gaps + by) - sigma(gaps)) / by)
    return np.asarray(np.minimum(found, found.T))
