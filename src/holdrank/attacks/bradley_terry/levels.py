"""Quick bounds for many aims: the leads left after certain numbers of battles, computed once for all aims.

A box bounds how far a change of k battles moves every two items apart. A few such boxes show for every aim which values
of k do not suffice. This is weaker than a race for each aim, but covers all aims at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from holdrank.attacks.bradley_terry.battles import ranked
from holdrank.attacks.bradley_terry.engine import Known, Pair, pushes, siege_of
from holdrank.attacks.bradley_terry.movement import Mask, Movement
from holdrank.attacks.bradley_terry.pushes import Pusher
from holdrank.attacks.goals import Above, Aim
from holdrank.attacks.plans import Plan
from holdrank.rankings import Floats, Ranking
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_STEP = 1.4  # from one number of battles to the next


class Levels:
    """The leads left after changes of certain numbers of battles."""

    def __init__(self, movement: Movement) -> None:
        self.movement = movement
        self._left: dict[float, Floats | None] = {}
        self._passed: dict[Pair, tuple[float, Plan | None]] = {}

    def passed(
        self, pair: Pair, aim: Aim, items: Sequence[str], pusher: Pusher, clock: Clock
    ) -> tuple[float, Plan | None]:
        """Return the smallest attack found with which one item passes another, for all aims that need only this."""
        if pair not in self._passed:
            b, a = pair
            race = aim if aim.above == pair else Above(items[b], items[a]).aim(aim.before, items)
            found = pusher.least(race, [pair], math.inf, clock)
            if clock.over():
                return found
            self._passed[pair] = found
        return self._passed[pair]

    def left(self, size: float) -> Floats | None:
        """Return the minimum lead of a over b, [a, b], after any change of `size` battles; None if unknown."""
        if size not in self._left:
            movement = self.movement
            box = movement.box(size, ())
            if box is None:
                self._left[size] = None
            else:
                slack = movement.told_apart(float(np.ptp(movement.s) + box.rise.max()))
                self._left[size] = movement.gaps - slack - box.rise.T
        return self._left[size]

    def most(self, holds: Callable[[Floats], bool], limit: float, clock: Clock) -> float:
        """Return a number of battles, up to a limit, after which something still holds; 0 if none is found."""
        sizes = self._sizes(limit)
        low, high = -1, len(sizes)
        while high - low > 1 and not clock.over():
            middle = (low + high) // 2
            left = self.left(sizes[middle])
            low, high = (middle, high) if left is not None and holds(left) else (low, middle)
        return sizes[low] if low >= 0 else 0.0

    def _sizes(self, limit: float) -> list[float]:
        """Return the numbers of battles that are tried, the same for all aims."""
        battles = self.movement.battles
        size = 1.0 if battles.is_counts else 1e-6 * battles.total
        sizes = []
        while size <= min(limit, battles.total):
            sizes.append(size)
            size = max(size + 1, float(math.floor(_STEP * size))) if battles.is_counts else _STEP * size
        return sizes


def levels_of(votes: Votes, change: Change) -> Levels:
    """Return the levels of votes under one type of change; results are cached."""
    return votes._remember(f"levels {change.value}", lambda: Levels(siege_of(votes, change).movement))


def quick(
    votes: Votes,
    before: Ranking,  # noqa: ARG001
    aims: Sequence[Aim],
    change: Change,
    clock: Clock,
) -> list[Known]:
    """Return a quick bound for each aim that is not a distance, and the attack by the push that seems easiest.

    `undecided` is -1 for aims that were not examined within the time limit.
    """
    siege, levels = siege_of(votes, change), levels_of(votes, change)
    found = []
    for aim in aims:
        options = [] if clock.over() else pushes(aim)
        if not options:
            found.append(Known(whole_fails=-1.0, undecided=-1.0))
            continue
        push = min(options, key=siege.pusher.estimate)
        # Where two neighbours change places across a border, so does the set above it: one attack serves both aims.
        border = (aim.before.order[aim.top], aim.before.order[aim.top - 1]) if aim.other_set else aim.above
        if list(push) == [border]:
            does, plan = levels.passed(push[0], aim, votes.items, siege.pusher, clock)
        else:
            does, plan = siege.pusher.least(aim, push, math.inf, clock)
        if aim.reached_by_some(ranked(siege.battles.strengths)):
            found.append(Known(whole_fails=-1.0, does=does, plan=plan))
            continue
        limit = below(does, whole=siege.battles.is_counts)
        fails = levels.most(lambda left, aim=aim: _missed(aim, left > 0), limit, clock)  # type: ignore[misc]
        found.append(Known(fails, math.floor(fails), math.floor(fails), does, plan))
    return found


def below(does: float, *, whole: bool) -> float:
    """Return the largest number of battles that may still be ruled out where this many are enough."""
    return does - 1 if whole else does * (1 - 1e-9)


def _missed(aim: Aim, kept: Mask) -> bool:
    """Whether an aim is out of reach as long as these items stay above those."""
    order = list(aim.before.order)
    place = {item: at for at, item in enumerate(order)}
    if aim.above:
        return bool(kept[aim.above[1], aim.above[0]])
    if aim.newcomers:
        # To be among the first k, an item must pass one of any k others.
        outside = sorted(aim.newcomers)
        return min(map(place.__getitem__, outside)) >= aim.top and bool(kept[np.ix_(order[: aim.top], outside)].all())
    if aim.leaver:
        (x,) = aim.leaver
        return int((~kept[x, order[place[x] + 1 :]]).sum()) < aim.top - place[x]
    return False
