"""Tiers of Bradley-Terry on battles: what changed battles cannot do to them, from the leads that items keep.

Two items deviate from indifference by more than theta exactly when their strengths are more than c apart, where c is
``log((1/2 + theta) / (1/2 - theta))``. By "downward" and "naive", items that are farther apart than c never share a
tier. So b comes to stand level with a, or above it, only if a's lead falls to c; and strictly above it only if b passes
a. By "smith" a border stays while every item above it leads every item below it by more than c; and b comes strictly
above a only if it leads by more than c. With "downward" and "naive", a change of any other item may break a tie between
items closer than c; this engine has no bound on that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from holdrank.attacks.bradley_terry.battles import Battles, ranked
from holdrank.attacks.bradley_terry.engine import Known, siege_of
from holdrank.attacks.bradley_terry.levels import below, levels_of
from holdrank.attacks.bradley_terry.movement import Mask, Movement
from holdrank.attacks.bradley_terry.pushes import Push, Pusher
from holdrank.attacks.bradley_terry.races import Race
from holdrank.attacks.goals import Aim, top_items
from holdrank.attacks.plans import Found, Plan, Progress
from holdrank.attacks.whole import Whole
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.merges import MERGES, Robust
from holdrank.rules.strengths import win_probabilities
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_ROUNDING = 3e-12  # of deviations, which merges compare to twelve decimals
_ALL_AT_ONCE = 30  # items up to which a box bounds every two directly
_REGIONS = ((6, 100), (16, 40), (40, 12))  # items up to which this many regions are examined in one race
_RACES = 12  # for one aim
_PUSHES = 5
_QUICK_TRIES, _QUICK_STEP = 12, 1.4  # sizes of a quick attack, and from one to the next
_TRIED = 24  # distances for which attacks and bounds of their own are searched for


@dataclass(frozen=True, slots=True)
class _Safe:
    """What no change of some battles breaks: [a, b] a stays strictly above b; [b, a] b does not come strictly above."""

    stays: Mask
    below: Mask


@dataclass(slots=True)
class _Known:
    fails: float = 0.0
    does: float = math.inf
    plan: Plan | None = None


@dataclass(slots=True)
class TierSiege:
    """The engine for tiers of Bradley-Terry on battles; see `engines.Engine`."""

    T: Robust
    _known: dict[tuple[Change, Aim], _Known] = field(default_factory=dict)

    def find(
        self,
        votes: Votes,
        before: Ranking,
        aims: Sequence[Aim],
        change: Change,
        clock: Clock,
        progress: Progress | None,
    ) -> list[Found]:
        """Return bounds and attacks for each aim, each of which implies all before it."""
        case = _Case(votes, self.T, before, change)
        asked = {round(at) for at in np.linspace(0, len(aims) - 1, min(len(aims), _TRIED))}
        results, last = [], _Known()
        for done, aim in enumerate(aims):
            if progress:
                progress(Step("goals", done, len(aims)))
            known = case.ask(aim, last.fails, clock) if done in asked and not clock.over() else _Known(last.fails)
            last = self._known[change, aim] = known
            results.append(Found(known.fails / votes.total, known.does / votes.total, known.plan))
        return results

    def whole(
        self,
        votes: Votes,  # noqa: ARG002
        before: Ranking,  # noqa: ARG002
        aims: Sequence[Aim],
        change: Change,
        found: Sequence[Found],  # noqa: ARG002
        clock: Clock,  # noqa: ARG002
    ) -> list[Whole]:
        """Return the same in whole battles."""
        known = [self._known[change, aim] for aim in aims]
        return [Whole(math.floor(one.fails) + 1, one.plan, None, math.floor(one.fails) + 1) for one in known]

    def quick(self, votes: Votes, before: Ranking, aims: Sequence[Aim], change: Change, clock: Clock) -> list[Known]:
        """Return for each aim an attack by the push that seems easiest, and a bound that other thresholds share."""
        case = _Case(votes, self.T, before, change)
        levels = levels_of(votes, change)
        found = []
        for aim in aims:
            does, plan = case.quick_attack(aim, clock)
            limit = below(min(does, votes.total), whole=votes.is_counts)
            fails = levels.most(lambda left, aim=aim: case.holds(aim, left), limit, clock)  # type: ignore[misc]
            found.append(Known(fails, math.floor(fails), math.floor(fails), does, plan))
        return found


class _Case:
    """Battles, their tiers and one kind of change."""

    def __init__(self, votes: Votes, T: Robust, before: Ranking, change: Change) -> None:
        self.T, self.before, self.theta = T, before, float(T.theta)
        siege = siege_of(votes, change)
        self.battles: Battles = siege.battles
        self.movement: Movement = siege.movement
        self.pusher = Pusher(self.battles, change, self._reached)
        # The leads at which items are certainly, and may be, told apart.
        self.apart, near = (_lead(self.theta + sign * _ROUNDING) for sign in (1.0, -1.0))
        self.enough = -near if T.merge == "smith" else 0.0  # a lead with which no item is passed
        self._kept: dict[float, tuple[Mask, Mask]] = {}
        self._raced: dict[tuple[int, int, float], tuple[float, float]] = {}  # battles that fail, and those asked for

    def _reached(self, aim: Aim, strengths: Floats) -> bool:
        order = Ranking.from_order(ranked(strengths).order)
        return aim.reached(MERGES[self.T.merge](win_probabilities(strengths), order, self.theta))

    def ask(self, aim: Aim, fails: float, clock: Clock) -> _Known:
        """Return an attack on an aim, and a number of battles, at least the one given, that does not suffice."""
        known = _Known(fails)
        if self.theta >= 0.5 - _ROUNDING:  # all items are tied
            return known
        for push in self._pushes(aim):
            if clock.over():
                break
            size, plan = self.pusher.least(aim, push, known.does, clock)
            if plan is not None and size < known.does:
                known.does, known.plan = size, plan
        most = known.does - 1 if self.battles.is_counts else known.does * (1 - 1e-3)
        if math.isinf(most):
            most = self.battles.total - 1
        known.fails = max(fails, self._excluded(aim, max(most, 0.0), clock))
        return known

    def quick_attack(self, aim: Aim, clock: Clock) -> tuple[float, Plan | None]:
        """Return the first attack found by the push that seems easiest, in battles; smaller ones may exist."""
        push = self._pushes(aim)[:1]
        if not push or self.theta >= 0.5 - _ROUNDING:
            return math.inf, None
        # A lead need not be closed, only brought down to where two items are not told apart.
        lead = max(float(self.movement.gaps[a, b]) for b, a in push[0])
        part = 1 - min(self.apart / lead, 0.95) if lead > 0 else 1.0
        size = part * self.pusher.estimate(push[0])
        whole = self.battles.is_counts
        for _ in range(_QUICK_TRIES):
            size = min(max(float(math.ceil(size)), 1.0) if whole else size, self.pusher.most)
            if clock.over():
                break
            for changed in self.pusher.changes(push[0], size):
                if self._reached(aim, changed.strengths):
                    return size, self.battles.plan(changed.taken, changed.ties_taken, changed.put)
            size = max(_QUICK_STEP * size, size + 1) if whole else _QUICK_STEP * size
        return math.inf, None

    def holds(self, aim: Aim, left: Floats) -> bool:
        """Whether an aim is out of reach as long as these leads are left."""
        return self._missed(aim, self._safe(left > self.apart, left > self.enough))

    def _excluded(self, aim: Aim, most: float, clock: Clock) -> float:
        """Return a number of battles, up to `most`, that does not reach an aim."""
        whole = self.battles.is_counts
        unit = 1.0 if whole else max(most * 1e-3, 1e-300)
        low, high = 0, math.floor(most / unit) + 1
        if not self._missed(aim, self._by_box(0.0)):
            return 0.0
        step = high - 1
        while high - low > 1 and not clock.over():
            low, high = (step, high) if self._missed(aim, self._by_box(step * unit)) else (low, step)
            step = (low + high) // 2
        # Pairs that the box leaves open may hold in a race of their own, if not up to the end.
        last = math.floor(most / unit)
        if low < last and not clock.over() and self._missed(aim, self._by_races(aim, last * unit, clock)):
            return last * unit
        for fails in sorted({fails for fails, _ in self._raced.values() if low * unit < fails < last * unit})[::-1]:
            if self._missed(aim, self._by_races(aim, fails, clock)):
                return fails
        return low * unit

    def _leads(self, size: float) -> tuple[Mask, Mask]:
        """Return for a and b whether a stays ahead by more than c, and ahead enough for b not to come above it."""
        if size not in self._kept:
            n = self.battles.n
            box = None
            if size > 0:
                box = self.movement.box(size, (), range(n) if n <= _ALL_AT_ONCE else ())
            rise = box.rise if box is not None else np.full((n, n), 0.0 if size == 0 else np.inf)
            spread = float(np.ptp(self.movement.s)) + (float(rise.max()) if np.isfinite(rise).all() else 0.0)
            left = self.movement.gaps - self.movement.told_apart(spread) - rise.T  # of the lead of a over b
            self._kept[size] = left > self.apart, left > self.enough
        return self._kept[size]

    def _by_box(self, size: float) -> _Safe:
        return self._safe(*self._leads(size))

    def _safe(self, apart: Mask, enough: Mask) -> _Safe:
        """Return what is safe while these leads last."""
        if self.T.merge != "smith":
            return _Safe(apart, enough.T)
        stays = np.zeros_like(apart)
        ranks = self.before.ranks
        for rank in sorted(set(ranks.tolist()))[:-1]:
            above = ranks <= rank
            if apart[np.ix_(above, ~above)].all():
                stays |= above[:, None] & ~above
        return _Safe(stays, enough.T)

    def _by_races(self, aim: Aim, size: float, clock: Clock) -> _Safe:
        """Return what is safe by the box, and by races of pairs that it leaves open, where they are few."""
        gaps, ranks = self.movement.gaps, self.before.ranks
        apart, enough = (kept.copy() for kept in self._leads(size))
        kept, lead = (enough, self.enough) if aim.above or aim.leaver else (apart, self.apart)
        still = (ranks[:, None] <= ranks) & ~kept & (gaps > lead)
        if aim.above or aim.leaver:
            still &= np.arange(len(ranks))[:, None] == (aim.above or aim.leaver)[-1]
        elif aim.top:
            inside = np.isin(np.arange(len(ranks)), sorted(top_items(self.before, aim.top)))
            still &= inside[:, None] & ~inside
        if aim.above:
            still &= np.arange(len(ranks)) == aim.above[0]
        asked = np.argwhere(still).tolist()
        for a, b in asked if len(asked) <= _RACES else []:
            kept[a, b] = self._fails(b, a, lead, size, clock) >= size
        return self._safe(apart, enough)

    def _fails(self, b: int, a: int, lead: float, most: float, clock: Clock) -> float:
        fails, asked = self._raced.get((b, a, lead), (0.0, 0.0))
        if fails < most and asked < most and not clock.over():
            regions = next((number for items, number in _REGIONS if self.battles.n <= items), 0)
            race = Race(self.movement, b, a, 1.0 if self.battles.is_counts else most * 1e-3, lead)
            fails = max(fails, race.fails(most, clock, regions))
            self._raced[b, a, lead] = fails, most
        return fails

    def _missed(self, aim: Aim, safe: _Safe) -> bool:
        """Whether an aim is out of reach as long as what is safe holds."""
        ranks = self.before.ranks
        strict, tied = ranks[:, None] < ranks, np.triu(ranks[:, None] == ranks, 1)
        if aim.above:
            return bool(safe.below[aim.above])
        if aim.distance == "hausdorff_ns":
            return int((strict & ~safe.stays).sum()) < aim.flips
        if aim.distance:
            halves = (strict & ~safe.stays).sum() + (strict & ~safe.below.T).sum()
            return int(halves + (tied & ~(safe.below & safe.below.T)).sum()) < aim.step()
        inside = sorted(top_items(self.before, aim.top))
        if aim.leaver:
            return self._stays_in(aim.leaver[0], aim.top, safe)
        movers = [x for x in aim.newcomers if x not in set(inside)]
        if aim.other_set and len(inside) > aim.top and not all(self._stays_in(u, aim.top, safe) for u in inside):
            return False  # one of too many may leave without another entering
        enough = len(inside) - aim.top + 1
        return all(int((~safe.stays[inside, x]).sum()) < enough for x in movers)

    def _stays_in(self, x: int, top: int, safe: _Safe) -> bool:
        """Whether too few items can come strictly above x to push it out of the first `top`."""
        ranks = self.before.ranks
        others = np.flatnonzero(ranks >= ranks[x])
        return int((~safe.below[others[others != x], x]).sum()) < top - int((ranks < ranks[x]).sum())

    def _pushes(self, aim: Aim) -> list[Push]:
        """Return the pushes for an aim: lists of pairs (b, a), where b must draw level with a or pass it."""
        s, ranks = self.movement.s, self.before.ranks
        order: Ints = np.argsort(-s, kind="stable")
        if aim.above:
            return [[(aim.above[0], aim.above[1])]]
        found: list[Push] = []
        inside = sorted(top_items(self.before, aim.top), key=lambda item: s[item]) if aim.top else []
        if aim.leaver:
            (x,) = aim.leaver
            missing = aim.top - int((ranks < ranks[x]).sum())
            rivals = [int(y) for y in order if y != x and ranks[y] >= ranks[x]][: max(missing, 1)]
            return [[(y, x) for y in rivals]]
        if aim.distance:
            pairs = [(b, a) for a, b in np.argwhere(ranks[:, None] < ranks).tolist()]
            pairs.sort(key=lambda pair: self.pusher.estimate([pair]))
            wanted = max(aim.flips, 1)
            found = [pairs[: max(round(wanted * part), 1)] for part in (1.0, 0.5)]
            found += [[pair] for pair in pairs[:2]]
        enough = len(inside) - aim.top + 1
        near = sorted((x for x in aim.newcomers if x not in set(inside)), key=lambda x: -s[x])
        # By "smith" one pair that is close joins all.
        counts = (enough, 1) if self.T.merge == "smith" and enough > 1 else (enough,)
        found += [[(x, u) for u in inside[:count]] for x in near[:2] for count in counts]
        if (aim.other_set and len(inside) > aim.top) or aim.distance == "hausdorff_half":
            ties = [[i for i in order.tolist() if ranks[i] == rank] for rank in sorted(set(ranks.tolist()))]
            found += [[(tie[0], tie[-1])] for tie in ties if len(tie) > 1]
        return [push for push in found if push][:_PUSHES]


def _lead(theta: float) -> float:
    """Return the gap in strength at which two items deviate from indifference by theta."""
    if theta <= 0:
        return 4 * theta
    return math.inf if theta >= 0.5 else math.log((0.5 + theta) / (0.5 - theta))
