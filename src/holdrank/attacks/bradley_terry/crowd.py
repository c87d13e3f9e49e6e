"""Voters who each cast several battles: how far k of them can move the strengths by leaving or voting differently.

The equation of `movement` holds for any battles removed and added. If a voter leaves, the pulls of all their battles
act together: some pull towards the aim and some against it, and only their sum matters. To first order a voter pulls by
one vector, the same for all weights. The remainder shrinks with the box; for any k voters it is bounded by the largest
number of battles that k voters cast between any two items.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.bradley_terry.movement import CELLS, ROUNDING, Chords, Movement, most_worth, sigma
from holdrank.attacks.bradley_terry.races import Race
from holdrank.rankings import Floats, Ints
from holdrank.votes.changes import Change
from holdrank.votes.voters import Voters


class Crowd:
    """Voters grouped into kinds: voters who cast the same battles are of one kind.

    Attributes
    ----------
    kind : (people,) array of int
        The kind of every voter.
    number : (kinds,) array of float
        How many voters are of each kind.
    size : (kinds,) array of float
        How many battles a voter of a kind cast.
    of, pair, weight : arrays
        The wins of each kind, a tie as half a win for each: the kind, ``winner * n + loser``, and how many.
    """

    def __init__(self, voters: Voters, n: int) -> None:
        self.n = n
        ends = np.searchsorted(voters.voter, np.arange(len(voters) + 1)).tolist()
        table = np.column_stack((voters.results.astype(np.float64), voters.weight))
        known: dict[bytes, int] = {}
        spans = pairwise(ends)
        self.kind: Ints = np.array([known.setdefault(table[a:b].tobytes(), len(known)) for a, b in spans])
        self.number: Floats = np.bincount(self.kind).astype(np.float64)
        self._all_differ = len(self.number) == len(self.kind)
        self._meetings_of: dict[float, Floats] = {}
        model = np.unique(self.kind, return_index=True)[1]
        stands = np.isin(voters.voter, model)
        of = self.kind[voters.voter[stands]]
        first, second, better = voters.results[stands].T
        weight = voters.weight[stands]
        self.size: Floats = _sums(of, weight, len(self.number))
        sides = ((first, second, (1 - better) / 2), (second, first, (1 + better) / 2))
        self.of: Ints = np.concatenate([of[part > 0] for _, _, part in sides])
        self.pair: Ints = np.concatenate([(i * n + j)[part > 0] for i, j, part in sides])
        self.weight: Floats = np.concatenate([(weight * part)[part > 0] for _, _, part in sides])
        self._met = self._meetings(of, first * n + second, weight)

    def _meetings(self, of: Ints, met: Ints, weight: Floats) -> tuple[Ints, Floats, Floats, Floats]:
        """Return how often voters compared two items: by pair, those who did most often first.

        Returns the pairs, the battles of one voter, the number of such voters, and the number of voters before them.
        """
        keys, place = np.unique(met * len(self.number) + of, return_inverse=True)
        often = _sums(place.ravel(), weight, len(keys))
        pair, kind = np.divmod(keys, len(self.number))
        order = np.lexsort((-often, pair))
        pair, people = pair[order], self.number[kind[order]]
        before = np.cumsum(people) - people
        start = np.searchsorted(pair, pair)
        return pair, often[order], people, before - before[start]

    def most_battles(self, k: float) -> float:
        """Return how many battles k voters cast at most."""
        return most_worth(k, self.size, self.number)

    def most_meetings(self, k: float) -> Floats:
        """Return for every two items the largest number of battles between them that k voters cast."""
        if k not in self._meetings_of:
            pair, often, people, before = self._met
            taken = np.clip(k - before, 0.0, people) * often
            table = _sums(pair, taken, self.n**2).reshape(self.n, self.n)
            self._meetings_of[k] = table + table.T
        return self._meetings_of[k]

    def summed(self, values: Floats) -> Floats:
        """Return for every kind the value of one voter's wins, where a win of i over j counts ``values[i, j]``."""
        return _sums(self.of, self.weight * values.ravel()[self.pair], len(self.number))

    def vectors(self, doubt: Floats) -> Floats:
        """Return for every kind the sum of ``doubt[i, j] * (e[i] - e[j])`` over its wins."""
        pull = self.weight * doubt.ravel()[self.pair]
        winner, loser = np.divmod(self.pair, self.n)
        cells = len(self.number) * self.n
        up = _sums(self.of * self.n + winner, pull, cells)
        down = _sums(self.of * self.n + loser, pull, cells)
        return np.asarray((up - down).reshape(-1, self.n))

    def most(self, k: float, values: Floats) -> Floats:
        """Return in each row the largest total value of k voters, given the value of one voter of each kind."""
        width = min(int(np.ceil(k)), values.shape[1])
        if self._all_differ:
            others = values.shape[1] - width
            top = np.partition(values, others, axis=1)[:, others:] if width else values[:, :0]
            return np.asarray(np.maximum(top, 0.0).sum(axis=1))
        if width < values.shape[1]:
            best = np.argpartition(-values, width - 1, axis=1)[:, :width] if width else np.zeros((len(values), 0), int)
            values, number = np.take_along_axis(values, best, axis=1), self.number[best]
        else:
            number = np.broadcast_to(self.number, values.shape)
        order = np.argsort(-values, axis=1, kind="stable")
        values, number = np.take_along_axis(values, order, axis=1), np.take_along_axis(number, order, axis=1)
        before = np.cumsum(number, axis=1) - number
        return np.asarray((np.clip(k - before, 0.0, number) * np.maximum(values, 0.0)).sum(axis=1))


class CrowdMovement(Movement):
    """Bounds on movement where k voters leave, or cast as many other battles."""

    def __init__(self, battles: Battles, change: Change, crowd: Crowd) -> None:
        super().__init__(battles, change)
        self.crowd = crowd
        self.doubt0: Floats = sigma(-self.gaps)
        self._vectors = crowd.vectors(self.doubt0)

    def battles_in(self, k: float) -> float:
        """Return how many battles k voters cast at most."""
        return self.crowd.most_battles(k)

    def near(self, k: float, chords: Chords, reference: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return how far k voters can lift every item above a reference, and how far below it, within a box."""
        doubt = chords.doubt
        potentials = (inverse - inverse[:, [reference]]).T
        other = self.other(potentials, k, chords.rise)
        # How far the doubts may be from those at the strengths, for battles of any k voters, and how far chords.
        slack = self.crowd.most_meetings(k) * np.maximum(doubt - self.doubt0, 0.0).T - self.fought * chords.errors
        up, down = other, other.copy()
        step = max(1, CELLS // max(self.n**2, len(self.crowd.number)))
        for at in range(0, self.n, step):
            z = potentials[at : at + step]
            first = z @ self._vectors.T
            drop = np.maximum(z[:, :, None] - z[:, None, :], 0.0)
            for total, sign, pull, wrong in ((up, -1.0, doubt, slack), (down, 1.0, doubt.T, slack.T)):
                values = sign * first
                if self.change.puts:
                    values += (pull * drop).max(axis=(1, 2))[:, None] * self.crowd.size
                total[at : at + step] += self.crowd.most(k, values) + drop.reshape(len(z), -1) @ wrong.ravel()
        up[reference] = down[reference] = 0.0
        return up * (1 + ROUNDING), down * (1 + ROUNDING)

    def pulls(self, chords: Chords, y: Floats) -> Floats:
        """Return the largest pull of one voter of each kind, for weights y; negative for pulls the other way."""
        rest = y[:, None] - y
        doubt = chords.doubt
        going = np.where(rest > 0, (doubt.T - 1) * rest, -doubt * rest)
        values = self.crowd.summed(going)
        if self.change.puts:
            values = values + self.crowd.size * float((doubt * np.maximum(rest, 0.0)).max())
        return values

    def pulled(self, k: float, chords: Chords, y: Floats) -> float:
        """Return the largest pull of k voters, for weights y."""
        return most_worth(k, self.pulls(chords, y), self.crowd.number)

    def rough(self, k: float, anchor: int) -> Floats:
        """Return roughly how far k voters move every item against another one."""
        potentials = (self.inverse - self.inverse[:, [anchor]]).T
        first = potentials @ self._vectors.T
        if self.change.puts:
            first = np.abs(first) + np.abs(potentials).max(axis=1)[:, None] * self.crowd.size / 2
        return np.maximum(self.crowd.most(k, first), self.crowd.most(k, -first))


class CrowdRace(Race):
    """The item b against a, which is ahead: how many voters are not enough to catch up."""

    def first_spare(self, k: float) -> float:
        """Return how much pull k voters lack; above 0, they do not suffice."""
        # The bounds by wanderers hold for battles only, not for voters.
        region = self.region(k)
        return math.inf if region is None else self.spare(k, region, self.weights(region))


def _sums(label: Ints, weights: Floats, length: int) -> Floats:
    return np.bincount(label, weights=weights, minlength=length).astype(np.float64)
