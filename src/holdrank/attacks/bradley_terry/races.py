"""How many battles one item needs to catch up with another: regions of strengths, each ruled out by weights.

To pass a, the item b must at some point be as strong as a. So consider strengths s' with s'[b] = s'[a] that a change of
up to k battles leads to. They lie in the box of `movement`. For weights y of sum 0 the slope at s' equates the pull of
the changed battles with the movement of the strengths (see `movement`). If k battles cannot pull that much anywhere in
a region, then no change of k battles leads there. The best weights for a region are the duals of a linear program;
where the best are too weak, the region is split.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from holdrank.attacks.bradley_terry.movement import ROUNDING, Chords, Movement
from holdrank.attacks.bradley_terry.program import best_weights
from holdrank.attacks.bradley_terry.wanderers import spare as wandering_spare
from holdrank.rankings import Floats
from holdrank.status import Clock

_ALL_REFERENCES = 12  # items up to which every two are bounded directly
_SPLIT_WIDE = 3.0  # strengths
_FIRST_CUT = 1.2
_FEW = 60  # items, up to which chords are always tried
_PATIENCE = 24  # regions for a dimension squared, and half as many as before, until the number must grow
_MOVES_LITTLE, _NEARLY_ALL = 0.8, 0.9  # strengths; part of the items


@dataclass(order=True)
class _Region:
    """A region of strengths with b as strong as a, and the units of battles that do not lead there."""

    excluded: int
    number: int
    rise: Floats = field(compare=False)
    loose: Floats = field(compare=False)


class Race:
    """The item b against a, which is ahead: how many battles are not enough to catch up, in units.

    With a lead, a is to be ahead by no more than that: tiers tie items that are close. A negative lead is one of b.
    """

    def __init__(self, movement: Movement, b: int, a: int, unit: float = 1.0, lead: float = 0.0) -> None:
        self.movement, self.b, self.a, self.unit = movement, b, a, unit
        self.gap = float(movement.gaps[a, b]) - lead
        self._first: dict[int, int] = {}  # by the most that was asked for, what the first bound excludes

    @property
    def is_open(self) -> bool:
        """Whether the rule ranks a strictly ahead."""
        return self.gap > self.movement.told_apart(float(np.ptp(self.movement.s)))

    def fails(self, most: float, clock: Clock, regions: int) -> float:
        """Return the largest number of battles, up to `most`, that provably does not suffice; 0 if there is none.

        At most `regions` are examined where the first bound is too weak.
        """
        if not self.is_open:
            return 0.0
        steps = math.floor(most / self.unit)
        if steps not in self._first:
            self._first[steps] = self._by_first_bound(steps, clock)
        proved = self._first[steps]
        if proved < steps and regions:
            for goal in dict.fromkeys((steps, (proved + steps) // 2)):
                if clock.over() or goal <= proved:
                    break
                proved = max(proved, self._by_regions(goal, clock, regions))
        return proved * self.unit

    def _by_first_bound(self, most: int, clock: Clock) -> int:
        """Return the largest number of units that the box alone excludes: tried near the end first, then by halving."""
        low, high, step = 0, most + 1, most
        for attempt in range(64):
            if high - low <= 1 or clock.over():
                break
            step = min(max(step, low + 1), high - 1)
            spare = self.first_spare(step * self.unit)
            low, high = (step, high) if spare > 0 else (low, step)
            # The movement is nearly in proportion to the battles.
            guess = math.floor(step * (1 + spare / self.gap)) if math.isfinite(spare) else high
            step = guess if attempt < 3 and low < guess < high else (low + high) // 2
        return low

    def first_spare(self, k: float) -> float:
        """Return how much pull k battles lack, by the better of two bounds; above 0, they do not suffice."""
        movement = self.movement
        spare = wandering_spare(movement, k, self.b, self.a, self.gap)
        if spare > 0:
            return spare
        # Chords are better where nearly all items move little; elsewhere, boxes take long and give weaker bounds.
        held = movement.core(k, (self.a, self.b), _MOVES_LITTLE)
        if movement.n > _FEW and (held is None or held.items.mean() < _NEARLY_ALL):
            return spare
        region = self.region(k)
        return math.inf if region is None else max(spare, self.spare(k, region, self.weights(region)))

    def region(self, k: float) -> Chords | None:
        """Return where strengths may be when b catches up with k battles; None if they cannot be anywhere."""
        movement = self.movement
        everyone = range(movement.n) if movement.n <= _ALL_REFERENCES else ()
        box = movement.box(k, (self.a, self.b), everyone)
        if box is None:
            farthest = (movement.n - 1) * movement.widest_gap
            rise = np.maximum(farthest - movement.gaps, 0.0)
            np.fill_diagonal(rise, 0.0)
        else:
            rise = box.rise
        return self._level(rise)

    def _level(self, rise: Floats) -> Chords | None:
        """Return the part of a box where b is as strong as a; None if there is none."""
        slack = self.movement.told_apart(float(np.ptp(self.movement.s) + 2 * rise.max()))
        if rise[self.b, self.a] < self.gap - slack:
            return None
        rise = rise.copy()
        rise[self.b, self.a], rise[self.a, self.b] = self.gap + slack, slack - self.gap
        return self._consistent(rise, (self.a, self.b))

    def _consistent(self, rise: Floats, through: tuple[int, ...]) -> Chords | None:
        """Return the region tightened by the triangle inequality; None if it is empty."""
        for r in through:
            rise = np.minimum(rise, rise[:, [r]] + rise[r])
        np.fill_diagonal(rise, 0.0)
        if (rise + rise.T < 0).any():
            return None
        return self.movement.chords(rise)

    def weights(self, region: Chords) -> Floats:
        """Return the weights that would be right if the region were a point: potentials of a current from a to b."""
        inverse = self.movement.inverted(region.slopes)
        return np.asarray(inverse[:, self.b] - inverse[:, self.a])

    def spare(self, k: float, region: Chords, y: Floats) -> float:
        """Return how much pull k battles lack, for weights y; above 0, none lead into the region."""
        movement = self.movement
        y = y - y.mean()
        drop = np.maximum(y[:, None] - y, 0.0)
        pulled = float(movement.other(y[None], k, region.rise)[0]) + movement.pulled(k, region, y)
        moved = float((movement.fought * region.errors * drop).sum()) + self._least(region, y)
        return moved - pulled - ROUNDING * (abs(moved) + abs(pulled))

    def _least(self, region: Chords, y: Floats) -> float:
        """Return the least of the linear part of the movement over the region."""
        movement, a, b = self.movement, self.a, self.b
        tied = movement.fought * region.slopes
        per_item = tied.sum(axis=1) * y - tied @ y + movement.ridge * y
        mu = float(per_item[b])
        per_item[b], per_item[a] = 0.0, 0.0  # the sum is 0, and so is the movement of a against itself
        least = mu * (-region.rise[a, b] if mu >= 0 else region.rise[b, a])
        up, down = region.rise[:, a], region.rise[a]
        return float(least - (np.maximum(-per_item, 0.0) * up + np.maximum(per_item, 0.0) * down).sum())

    def _by_regions(self, most: int, clock: Clock, regions: int) -> int:
        """Return the largest number of units up to `most` that leads into no region, the weakest split first."""
        numbers = count()
        start = self.region(most * self.unit)
        heap = [] if start is None else [self._priced(start, most, next(numbers), clock)]
        looked_at, better_at, known = 1, 1, -1
        patience = _PATIENCE * (self.movement.n - 2) ** 2
        while heap and heap[0].excluded < most:
            if heap[0].excluded > known:
                better_at, known = looked_at, heap[0].excluded
            # An attack may lead into what is left: then no splitting helps.
            if looked_at >= min(regions, better_at + patience + better_at // 2) or clock.over():
                return heap[0].excluded
            weakest = heapq.heappop(heap)
            parts = self._split(weakest, most * self.unit)
            if parts is None:
                return weakest.excluded
            for part in parts:
                priced = self._priced(part, most, next(numbers), clock)
                # What holds in a region holds in its parts.
                priced.excluded = max(priced.excluded, weakest.excluded)
                if priced.excluded < most:
                    heapq.heappush(heap, priced)
                looked_at += 1
        return most

    def _priced(self, region: Chords, most: int, number: int, clock: Clock) -> _Region:
        """Return a region with the largest number of units, up to `most`, that does not lead there."""
        n = self.movement.n
        if self.spare(most * self.unit, region, self.weights(region)) > 0:
            return _Region(most, number, region.rise, np.zeros(n))
        y, loose = best_weights(self.movement, region, self.a, self.b, clock)
        if y is None:
            return _Region(0, number, region.rise, loose)
        low, high = 0, most + 1
        while high - low > 1:
            step = (low + high) // 2
            low, high = (step, high) if self.spare(step * self.unit, region, y) > 0 else (low, step)
        return _Region(low, number, region.rise, loose)

    def _split(self, region: _Region, most: float) -> list[Chords] | None:
        """Return the parts of a region, cut where its bound is loosest; None where it is a point."""
        width = (region.rise + region.rise.T)[:, self.a]
        score = np.where(width > 1e-6, region.loose, 0.0)
        item = int(score.argmax())
        if score[item] <= 0:
            return None
        high, low = float(region.rise[item, self.a]), -float(region.rise[self.a, item])
        cut = (high + low) / 2
        if high - low > _SPLIT_WIDE:
            cut = min(max(_FIRST_CUT if high > -low else -_FIRST_CUT, low + _FIRST_CUT), high - _FIRST_CUT)
        parts = []
        for up in (True, False):
            rise = region.rise.copy()
            if up:
                rise[self.a, item] = -cut
            else:
                rise[item, self.a] = cut
            part = self._consistent(rise, (item, self.a, self.b))
            part = None if part is None else self._contracted(part, most)
            if part is not None:
                parts.append(part)
        return parts

    def _contracted(self, region: Chords, k: float) -> Chords | None:
        """Return the part of the region that k battles may reach; None if nothing is left."""
        movement = self.movement
        everyone = movement.n <= _ALL_REFERENCES
        references = list(range(movement.n)) if everyone else [self.a, self.b]
        near = movement.all_near(k, region.rise, references, np.zeros(movement.n, dtype=bool))
        rise = region.rise.copy()
        for r, (up, down) in near.items():
            rise[:, r], rise[r] = np.minimum(rise[:, r], up), np.minimum(rise[r], down)
        return self._consistent(rise, tuple(references))
