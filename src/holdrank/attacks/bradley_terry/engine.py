"""The engine for Bradley-Terry on battles: the pairs of an aim, how many battles they need, and attacks on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, permutations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from holdrank.attacks.bradley_terry.battles import Battles, ranked
from holdrank.attacks.bradley_terry.enumeration import MOST_ITEMS, Enumeration
from holdrank.attacks.bradley_terry.movement import Movement
from holdrank.attacks.bradley_terry.pushes import Push, Pusher
from holdrank.attacks.bradley_terry.races import Race
from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import Found, Plan, Progress
from holdrank.attacks.whole import Whole, facts_of
from holdrank.rankings import Ranking
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes
from holdrank.words.results import so_far

Pair: TypeAlias = tuple[int, int]  # (b, a): b is to pass a

_REGIONS = ((6, 3000), (16, 240), (40, 40))  # items up to which this many regions are examined in one race
_FEW_CHANGES, _MANY_CHANGES = 40_000, 120_000  # of battles that are tried one by one, before and after other bounds
_PUSHES = 6  # tried for one aim
_MANY = 6  # pairs; of more, only first bounds are found
_ONE_BY_ONE = 8  # items up to which every pair of a distance has its own race
_ALL_AT_ONCE = 30  # items up to which every two are bounded directly
_RACES = 60  # run one by one; beyond, pairs are bounded together
_IN_PARTS = 30  # items, and battles, up to which attacks in shares are told apart to parts of a battle
_PART, _FEW = 1 / 8, 8  # of a battle: resolution up to this number of battles
_FINE = 1e-3  # of battles that are not whole
_TRIED = 24  # distances for which an attack of its own is searched for


@dataclass(frozen=True, slots=True)
class Known:
    """Bounds and attacks for one aim, in battles.

    Attributes
    ----------
    fails : float
        No change of this many battles or fewer reaches the aim.
    whole_fails : float
        The same for whole battles, which may be more; -1 where no change is needed.
    undecided : float
        No change of this many whole battles reaches it outright.
    does : float
        A change of this many battles reaches it: the plan.
    plan, tie_plan : Plan or None
        With the second, a tie must be broken in favour of the aim.
    part, part_plan : float and Plan or None
        A change that reaches it with a fraction of a battle less.
    """

    fails: float = 0.0
    whole_fails: float = 0.0
    undecided: float = 0.0
    does: float = math.inf
    plan: Plan | None = None
    tie_plan: Plan | None = None
    part: float = math.inf
    part_plan: Plan | None = None


@dataclass(slots=True)
class Siege:
    """Battles under one type of change, with the bounds on pairs found so far."""

    battles: Battles
    change: Change
    movement: Movement = field(init=False)
    pusher: Pusher = field(init=False)
    known: dict[Aim, Known] = field(default_factory=dict)
    _thorough: bool = True  # whether a better bound would help for whole battles
    _unit: float = 1.0  # to which battles are told apart
    _flips: dict[float, int] = field(default_factory=dict)  # by battles, how many pairs may flip
    _fails: dict[Pair, tuple[float, float]] = field(default_factory=dict)  # what fails, and up to which it was asked

    def __post_init__(self) -> None:
        self.movement = Movement(self.battles, self.change)
        self.pusher = Pusher(self.battles, self.change)

    def ask(self, aim: Aim, clock: Clock, tell: Callable[[Known], None] | None = None) -> Known:
        """Return bounds and an attack for an aim; the attack comes first, and limits what must be ruled out."""
        known = self._attack(aim, clock)
        if tell is not None:
            tell(known)
        if self.battles.is_counts:
            known = self._enumerated(aim, known, clock, _FEW_CHANGES)
        most, self._unit = self._asked(known)
        self._thorough = max(known.whole_fails, known.undecided) < known.does - 1
        fails = self._excluded(aim, most, clock) if most > 0 else 0.0
        whole = max(known.whole_fails, float(math.floor(fails)))
        known = replace(known, fails=fails, whole_fails=whole, undecided=max(known.undecided, whole))
        if self.battles.is_counts:
            known = self._enumerated(aim, known, clock, _MANY_CHANGES)
        if aim.reached_by_some(ranked(self.battles.strengths)):
            known = replace(known, fails=0.0, whole_fails=-1.0)  # a tie that is there already reaches it
        self.known[aim] = known
        return known

    def _asked(self, known: Known) -> tuple[float, float]:
        """Return the largest number of battles to rule out, and the resolution as a fraction of a battle."""
        whole, least = self.battles.is_counts, min(known.does, known.part)
        if math.isinf(least):
            most = float(math.floor(self.pusher.most)) if self.change.takes else self.battles.total
            return most, 1.0 if whole else _FINE * most
        if not whole:
            return least * (1 - _FINE), least * _FINE
        if known.does > _FEW:
            return known.does - 1, 1.0
        unit = min(_PART, least * _PART)
        return unit * (math.ceil(least / unit) - 1), unit

    def _enumerated(self, aim: Aim, known: Known, clock: Clock, most: int) -> Known:
        """Return the result of trying every change of a few more battles, as long as there are not too many."""
        if self.battles.n > MOST_ITEMS:
            return known
        everything = Enumeration(self.battles, self.change)
        k = int(known.undecided) + 1
        while k < known.does and everything.number(k) <= most and not clock.over():
            tried = everything.search(aim, k, clock)
            if tried.plan is not None:
                return replace(known, does=float(k), plan=tried.plan)
            if not tried.finished:
                break
            if tried.tie_plan is None and known.tie_plan is None:
                known = replace(known, whole_fails=float(k))
            known = replace(known, undecided=float(k), tie_plan=known.tie_plan or tried.tie_plan)
            k += 1
        return known

    def _attack(self, aim: Aim, clock: Clock) -> Known:
        """Return the smallest attack that a few pushes find."""
        known, best = Known(), None
        tried = [self._cheapest(aim)] if aim.flips else sorted(pushes(aim), key=self.pusher.estimate)[:_PUSHES]
        for push in tried:
            size, found = self.pusher.least(aim, push, known.does, clock)
            if found is not None and size < known.does:
                known, best = replace(known, does=size, plan=found), push
            if clock.over():
                break
        whole = self.battles.is_counts and known.does <= _IN_PARTS
        if best is not None and whole and self.battles.n <= _IN_PARTS and not clock.over():
            part, part_plan = self.pusher.finer(aim, best, known.does)
            known = replace(known, part=part, part_plan=part_plan)
        return known

    def _cheapest(self, aim: Aim) -> Push:
        """Return the pairs that seem easiest to flip, as many as a distance asks for."""
        order = aim.before.order
        pairs = [(b, a) for at, a in enumerate(order) for b in order[at + 1 :]]
        return sorted(pairs, key=lambda pair: self.pusher.estimate([pair]))[: aim.flips]

    def _excluded(self, aim: Aim, most: float, clock: Clock) -> float:
        """Return a number of battles, up to `most`, that cannot reach an aim, from the needs of its pairs."""
        order, n = list(aim.before.order), self.battles.n
        place = {item: at for at, item in enumerate(order)}
        if aim.above:
            return self._fail([(aim.above[0], aim.above[1])], most, clock)[0]
        if aim.newcomers:
            # To be among the first k, an item must pass one of any k others.
            firsts = order[: aim.top]
            if any(place[x] < aim.top for x in aim.newcomers):
                return 0.0
            newcomers = sorted(aim.newcomers, key=place.__getitem__)
            return min(self._fail([(x, c) for x in newcomers for c in reversed(firsts)], most, clock))
        if aim.leaver:
            (x,) = aim.leaver
            passers = aim.top - place[x]  # this many must pass it
            below = order[place[x] + 1 :]
            return sorted(self._fail([(c, x) for c in below], most, clock))[passers - 1] if passers > 0 else 0.0
        if not aim.flips:
            return 0.0
        if n > _ONE_BY_ONE:
            return self._few_flips(aim.flips, most, clock)
        return self._far_orders(order, aim.flips, most, clock)

    def _far_orders(self, order: list[int], flips: int, most: float, clock: Clock) -> float:
        """Return a number of battles, up to `most`, with which no order that flips this many pairs can be reached.

        An order costs at least as much as its most expensive flipped pair. So only the order with the smallest bound
        needs better bounds, and improving its most expensive pair helps most.
        """
        pairs = [(order[b], order[a]) for a, b in combinations(range(len(order)), 2)]
        far = flipped(len(order))
        far = far[far.sum(axis=1) >= flips]
        known = np.array(self._fail(pairs, most, clock, closely=False))
        regions = self._regions()
        tried: set[Pair] = set()
        while True:
            dearest = np.where(far, known, 0.0).max(axis=1)
            weakest = int(dearest.argmin())
            left = [p for p in np.flatnonzero(far[weakest]).tolist() if pairs[p] not in tried]
            if dearest[weakest] >= most or not left or not regions or clock.over():
                return float(min(dearest[weakest], most))
            at = max(left, key=known.__getitem__)
            tried.add(pairs[at])
            self._note(pairs[at], self.race(*pairs[at]).fails(most, clock, regions), most)
            known[at] = min(self._fails[pairs[at]][0], most)

    def _few_flips(self, flips: int, most: float, clock: Clock) -> float:
        """Return a number of battles, up to `most`, that cannot flip this many pairs: the largest of a few tried."""
        grid = [0.0]
        while (following := self._after(grid[-1])) <= most:
            grid.append(following)
        low, high = 0, len(grid)
        while high - low > 1 and not clock.over():
            middle = (low + high) // 2
            low, high = (middle, high) if self._may_flip(grid[middle]) < flips else (low, middle)
        return grid[low]

    def _after(self, size: float) -> float:
        """Return the next number of battles that is tried for many pairs at once."""
        if self.battles.is_counts:
            return max(size + 1, math.floor(1.3 * size))
        return max(1.3 * size, 1e-6 * self.battles.total)

    def _may_flip(self, size: float) -> int:
        """Return how many pairs a change of `size` battles may flip, judging by a box alone."""
        if size not in self._flips:
            gaps = self.movement.gaps
            ahead = gaps > 0
            references = range(self.battles.n) if self.battles.n <= _ALL_AT_ONCE else ()
            box = self.movement.box(size, (), references)
            kept = np.zeros_like(ahead)
            if box is not None:
                kept = gaps - self.movement.told_apart(float(gaps.max() + box.rise.max())) > box.rise.T
            self._flips[size] = int((ahead & ~kept).sum())
        return self._flips[size]

    def _regions(self) -> int:
        """Return how many regions to examine in one race, where a better bound would help."""
        return next((number for items, number in _REGIONS if self.battles.n <= items), 0) * self._thorough

    def _fail(self, pairs: Sequence[Pair], most: float, clock: Clock, *, closely: bool = True) -> list[float]:
        """Return for each pair a number of battles, up to `most`, that does not suffice for b to pass a."""
        todo = [pair for pair in pairs if self._fails.get(pair, (0.0, -1.0))[1] < most]
        if len(todo) > 1:
            todo = self._together(todo, most, clock)
        regions = self._regions() * closely
        if len(todo) > 1:
            regions = regions // len(todo) if len(todo) <= _MANY else 0
        races = [self.race(b, a) for b, a in todo[:_RACES]]
        # First bounds for all, then the weakest first: the least of them is what counts.
        for number in dict.fromkeys((0, regions)):
            for race in sorted(races, key=lambda race: self._fails.get((race.b, race.a), (0.0, 0.0))[0]):
                if not clock.over():
                    self._note((race.b, race.a), race.fails(most, clock, number), most)
        return [min(self._fails.get(pair, (0.0, 0.0))[0], most) for pair in pairs]

    def race(self, b: int, a: int) -> Race:
        """Return the race of b against a, which is ahead."""
        return Race(self.movement, b, a, self._unit)

    def _note(self, pair: Pair, fails: float, asked: float) -> None:
        before = self._fails.get(pair, (0.0, 0.0))
        self._fails[pair] = max(before[0], fails), max(before[1], asked)

    def _together(self, pairs: Sequence[Pair], most: float, clock: Clock) -> list[Pair]:
        """Bound many pairs by the same boxes; return those that are still open at `most`."""
        everyone = sorted({a for _, a in pairs})
        references = everyone if len(everyone) <= 12 or self.battles.n <= _ALL_AT_ONCE else []
        firm = everyone if len(everyone) == 1 else []
        level = most
        left = list(pairs)
        while level >= 1 and left and not clock.over():
            box = self.movement.box(level, firm, references)
            if box is not None:
                slack = self.movement.told_apart(float(self.movement.gaps.max() + box.rise.max()))
                for b, a in left:
                    if box.rise[b, a] < self.movement.gaps[a, b] - slack:
                        self._note((b, a), level, most if level == most else 0.0)
            if level == most:
                left = [pair for pair in left if self._fails.get(pair, (0.0, 0.0))[1] < most]
                if len(left) <= _RACES:
                    return left
            level = math.floor(level * 0.7) if self.battles.is_counts else level * 0.7
            if level < most * 1e-4:
                break
        return sorted(left, key=lambda pair: float(self.movement.gaps[pair[1], pair[0]]))


@cache
def flipped(n: int) -> npt.NDArray[np.bool_]:
    """Return for every order of n items, other than their own, which pairs (by places, i < j) it turns around.

    Examples
    --------
    >>> flipped(3).astype(int).tolist()
    [[0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]]
    """
    place = np.argsort(np.array(list(permutations(range(n))), dtype=np.int8), axis=1)
    first, second = np.triu_indices(n, 1)
    return np.asarray((place[:, first] > place[:, second])[1:])


def pushes(aim: Aim) -> list[Push]:
    """Return the pushes for an aim that is not a distance: lists of pairs that must all be passed."""
    order = list(aim.before.order)
    place = {item: at for at, item in enumerate(order)}
    if aim.above:
        return [[(aim.above[0], aim.above[1])]]
    if aim.newcomers:
        ahead = {x: [c for c in order[: place[x]] if c != x][aim.top - 1 :] for x in aim.newcomers}
        coming: list[Push] = [[(x, c) for c in passed] for x, passed in ahead.items() if passed]
        if not aim.other_set:
            return coming
        # One of the first may also fall: all that stand between it and the border pass it, and the first beyond.
        falls = ([(c, x) for c in order[at + 1 : aim.top + 1]] for at, x in enumerate(order[: aim.top - 1]))
        return [*coming, *falls]
    if aim.leaver:
        (x,) = aim.leaver
        return [[(c, x) for c in order[place[x] + 1 : aim.top + 1]]]
    return []


def find(
    votes: Votes,
    before: Ranking,  # noqa: ARG001
    aims: Sequence[Aim],
    change: Change,
    clock: Clock,
    progress: Progress | None,
) -> list[Found]:
    """Return bounds and attacks for each aim; see `engines.Engine`."""
    siege, about = siege_of(votes, change), facts_of(votes)
    asked = list(aims) if len(aims) <= _TRIED else [aims[round(at)] for at in np.linspace(0, len(aims) - 1, _TRIED)]
    for done, aim in enumerate(sorted(asked, key=lambda aim: aim.flips)):
        if progress:
            progress(Step("goals", done, len(asked)))
        if clock.over():
            break

        def tell(known: Known, done: int = done) -> None:
            if progress:
                progress(Step("goals", done, len(asked), so_far(math.floor(known.fails) + 1, known.does, about)))

        siege.ask(aim, clock, tell)
    results, last = [], Known()
    for aim in aims:
        # Farther aims need no less.
        last = siege.known.setdefault(aim, Known(last.fails, last.whole_fails, last.undecided))
        size, plan = (last.part, last.part_plan) if last.part < last.does and last.part_plan else (last.does, last.plan)
        results.append(Found(last.fails / votes.total, size / votes.total, plan))
    return results


def whole(
    votes: Votes,
    before: Ranking,  # noqa: ARG001
    aims: Sequence[Aim],
    change: Change,
    found: Sequence[Found],  # noqa: ARG001
    clock: Clock,  # noqa: ARG001
) -> list[Whole]:
    """Return the same in whole battles."""
    known = (siege_of(votes, change).known[aim] for aim in aims)
    return [Whole(one.whole_fails + 1, one.plan, one.tie_plan, one.undecided + 1) for one in known]


def siege_of(votes: Votes, change: Change) -> Siege:
    """Return the battles of votes under one type of change; bounds found for them are cached."""
    return votes._remember(f"siege {change.value}", lambda: Siege(Battles.of(votes), change))
