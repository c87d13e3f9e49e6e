"""The places that changes of up to k battles can give each item: from one box, a few races, and a push per item."""

from __future__ import annotations

from itertools import islice

import numpy as np

from holdrank.attacks.bradley_terry.engine import siege_of
from holdrank.attacks.bradley_terry.movement import Mask
from holdrank.attacks.bradley_terry.pushes import Push
from holdrank.attacks.bradley_terry.races import Race
from holdrank.attacks.plans import Ends, Progress
from holdrank.rankings import Floats, Ints
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_ALL_AT_ONCE = 30  # items up to which a box bounds every two directly from the start
_IN_RACES = 40  # items up to which pairs that the box leaves open have races of their own
_RACES = 400


def places(votes: Votes, change: Change, size: float, clock: Clock, progress: Progress | None) -> Ends:
    """Return how far up and down a change of up to `size` battles may move each item, and how far attacks move it."""
    search = _Places(votes, change, size, clock, progress)
    search.push_every_item()
    search.race()
    return search.ends()


class _Places:
    """Which items certainly stay below which, and which ones attacks can bring above."""

    def __init__(self, votes: Votes, change: Change, size: float, clock: Clock, progress: Progress | None) -> None:
        siege = siege_of(votes, change)
        self.movement, self.pusher = siege.movement, siege.pusher
        self.size, self.clock, self.progress = size, clock, progress
        self.n = votes.n
        self.order = np.argsort(-self.movement.s, kind="stable").tolist()
        self.kept = self._kept()  # [b, a]: b stays below a under every change
        self.passed: Mask = np.zeros((self.n, self.n), dtype=bool)  # [b, a]: b was behind a, and an attack changes that
        self.first, self.last = np.full(self.n, self.n), np.ones(self.n, dtype=np.int64)
        self._show(self.movement.s)

    def ends(self) -> Ends:
        """Return the bounds on the places."""
        best, worst = self._limits()
        return Ends(best, worst, self.first, self.last)

    def _limits(self) -> tuple[Ints, Ints]:
        return 1 + self.kept.sum(axis=1), self.n - self.kept.sum(axis=0)

    def _kept(self) -> Mask:
        movement, n = self.movement, self.n
        box = movement.box(self.size, (), range(n) if n <= _ALL_AT_ONCE else ())
        if box is None:
            return np.zeros((n, n), dtype=bool)
        kept = self._behind(box.rise)
        if n > _ALL_AT_ONCE:
            # What holds in a box that holds, holds: so bound every two directly that the box leaves open.
            gaps = movement.gaps
            still = (gaps > 0) & ~kept.T & ~box.loose & ~box.loose[:, None]
            references = np.flatnonzero(still.any(axis=0)).tolist()
            if references and not self.clock.over():
                near = movement.all_near(self.size, box.rise, references, box.loose)
                kept |= self._behind(np.minimum(box.rise, movement.spread(near, box.loose)))
        return kept

    def _behind(self, rise: Floats) -> Mask:
        """Return which items [b, a] stay below others if they rise above them by no more than this."""
        spread = float(np.ptp(self.movement.s)) + float(rise.max())
        return np.asarray(self.movement.gaps.T - self.movement.told_apart(spread) > rise)

    def push_every_item(self) -> None:
        """Spend the whole budget for and against each item whose places are open."""
        if not self._can_change():
            return
        for done, item in enumerate(self.order):
            if self.clock.over():
                return
            if self.progress:
                self.progress(Step("places", done, self.n))
            for up in (True, False):
                push = self._push(item, up=up)
                if push and self._is_open(item, up=up):
                    for changed in islice(self.pusher.changes(push, self.size), None if self.n <= _IN_RACES else 2):
                        self._show(changed.strengths)
                        if self.n > _IN_RACES and not self._is_open(item, up=up):
                            break  # better changes would only move others

    def _is_open(self, item: int, *, up: bool) -> bool:
        """Whether an item may go farther than attacks show."""
        best, worst = self._limits()
        return bool(self.first[item] > best[item] if up else self.last[item] < worst[item])

    def _can_change(self) -> bool:
        """Whether this many battles can be removed."""
        return self.movement.change.puts or self.size < self.movement.battles.total

    def _push(self, item: int, *, up: bool) -> Push:
        gaps, kept = self.movement.gaps, self.kept
        if up:
            return [(item, a) for a in self.order if gaps[a, item] > 0 and not kept[item, a]]
        return [(b, item) for b in self.order if gaps[item, b] > 0 and not kept[b, item]]

    def _show(self, strengths: Floats) -> None:
        """Record the places that strengths give the items, no matter how equal ones are ordered."""
        apart = self.movement.told_apart(float(np.ptp(strengths)))
        above = strengths[:, None] - strengths > apart
        self.first = np.minimum(self.first, self.n - above.sum(axis=1))
        self.last = np.maximum(self.last, 1 + above.sum(axis=0))
        self.passed |= above & (self.movement.gaps <= 0)

    def race(self) -> None:
        """Look more closely at the pairs that are open, the farthest apart first."""
        if self.n > _IN_RACES:
            return
        gaps = self.movement.gaps
        still = [(b, a) for b, a in np.argwhere((gaps.T > 0) & ~self.kept & ~self.passed).tolist()]
        for b, a in sorted(still, key=lambda pair: -float(gaps[pair[1], pair[0]]))[:_RACES]:
            if self.clock.over():
                return
            best, worst = self._limits()
            if best[b] == self.first[b] and worst[a] == self.last[a]:
                continue
            race = Race(self.movement, b, a)
            self.kept[b, a] = race.is_open and race.first_spare(self.size) > 0
