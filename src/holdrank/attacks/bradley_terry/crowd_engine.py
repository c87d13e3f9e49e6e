"""How many voters an aim needs: bounds from `crowd`, attacks by the voters who pull most, and a check of other groups.

Voters leave, or cast as many other battles. For new voters only the number of battles matters, which `engine` covers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from holdrank.attacks.bradley_terry.battles import ranked
from holdrank.attacks.bradley_terry.crowd import Crowd, CrowdMovement, CrowdRace
from holdrank.attacks.bradley_terry.engine import Pair, Siege, pushes
from holdrank.attacks.bradley_terry.pushes import Push, Pusher, worth_of_wins
from holdrank.attacks.bradley_terry.races import Race
from holdrank.attacks.goals import Aim
from holdrank.rankings import Floats, Ints
from holdrank.status import Clock

_TURNS = 5  # of choosing voters again at the strengths that a choice leads to
_PORTIONS = 6  # in which battles are added
_PUSHES = 6  # tried for one aim
_PAIRS = 30  # up to which groups of voters are tried one by one
_GROUPS = 3_000  # gone through one by one
_LOOKS = 30_000  # at beginnings of groups
_CELLS = 2_000_000  # numbers at a time


@dataclass(frozen=True, slots=True)
class Group:
    """Voters who leave, as numbers of each kind, and the wins that they cast instead."""

    gone: Floats
    put: Floats

    @property
    def size(self) -> float:
        """Number of voters."""
        return float(self.gone.sum())


@dataclass(frozen=True, slots=True)
class CrowdKnown:
    """Bounds and attacks for one aim, in voters.

    Attributes
    ----------
    fails : float
        This many voters cannot reach the aim, not even by a tie; -1 where none are needed.
    undecided : float
        This many voters cannot reach it outright.
    group, tie : Group or None
        Voters who reach it, and voters who reach it by a tie.
    """

    fails: float = 0.0
    undecided: float = 0.0
    group: Group | None = None
    tie: Group | None = None

    @property
    def does(self) -> float:
        """How many voters reach the aim."""
        return math.inf if self.group is None else self.group.size


@dataclass(slots=True)
class CrowdSiege(Siege):
    """All voters, under one type of change."""

    crowd: Crowd = field(kw_only=True)

    def __post_init__(self) -> None:
        self.battles = replace(self.battles, is_counts=True)  # voters are whole, battles may not be
        self.pusher = Pusher(self.battles, self.change)
        self.movement = CrowdMovement(self.battles, self.change, self.crowd)
        self._thorough = False  # regions are for battles

    @property
    def most(self) -> int:
        """How many voters can change: at least one must stay."""
        return int(self.crowd.number.sum()) - (not self.change.puts)

    def besiege(self, aim: Aim, clock: Clock) -> CrowdKnown:
        """Return bounds and an attack for an aim; the attack comes first, and limits what must be ruled out."""
        start = ranked(self.battles.strengths)
        nobody = Group(np.zeros(len(self.crowd.number)), np.zeros_like(self.battles.wins))
        if aim.reached_by_all(start):
            return CrowdKnown(-1.0, -1.0, nobody)
        known = CrowdKnown(group=self._cheapest_group(aim, clock))
        most = min(known.does - 1, float(self.most))
        if aim.reached_by_some(start):
            known = replace(known, fails=-1.0, tie=nobody)
        elif most > 0:
            fails = float(math.floor(self._excluded(aim, most, clock)))
            known = replace(known, fails=fails, undecided=fails)
        if not self.change.puts:
            known = self._one_by_one(aim, known, clock)
        if known.undecided >= self.most and known.group is None:
            known = replace(known, undecided=math.inf, fails=known.fails if known.tie else math.inf)
        return known

    def race(self, b: int, a: int) -> Race:
        """Return the race of b against a, which is ahead."""
        return CrowdRace(self.movement, b, a)

    def _cheapest_group(self, aim: Aim, clock: Clock) -> Group | None:
        """Return the fewest voters that a few pushes find."""
        tried = [self._cheapest(aim)] if aim.flips else sorted(pushes(aim), key=self.pusher.estimate)[:_PUSHES]
        best: Group | None = None
        for push in tried:
            best = self._least(aim, push, best, clock) or best
            if clock.over():
                break
        return best

    def _least(self, aim: Aim, push: Push, best: Group | None, clock: Clock) -> Group | None:
        """Return the fewest voters, fewer than in `best`, that are found by one push."""
        below = self.most + 1 if best is None else int(best.size)
        found: Group | None = None
        fails, size = 0, 1
        while fails + 1 < below and not clock.over():
            group = self._group(aim, push, min(size, below - 1))
            if group is None:
                fails = min(size, below - 1)
            else:
                found, below = group, int(group.size)
            size = 2 * fails if found is None and best is None else (fails + below) // 2
        return found

    def _group(self, aim: Aim, push: Push, k: int) -> Group | None:
        """Return k voters who reach an aim by a push, if some choice does."""
        for group, strengths in self._choices(push, k):
            if aim.reached_by_all(ranked(strengths)):
                return group
        return None

    def _choices(self, push: Push, k: int) -> Iterator[tuple[Group, Floats]]:
        """Yield choices of k voters by their pull: at the current strengths, then at the mean of before and after."""
        battles = self.battles
        wins, total, s = battles.wins, battles.total, battles.strengths
        before: Floats | None = None
        last: Floats | None = None
        for _ in range(_TURNS):
            worth = worth_of_wins(wins, total, s, push)
            before = worth if before is None else before
            gone = self._best(k, (before + worth) / 2)
            if last is not None and np.array_equal(gone, last):
                return
            last = gone
            wins, total = self._without(gone)
            put = np.zeros_like(wins)
            if self.change.puts:
                put, s = self._put(wins, battles.total - total, push, s)
                wins, total = wins + put, battles.total
            else:
                s = battles.fitted(wins, total, s)
            yield Group(gone, put), s

    def _best(self, k: int, worth: Floats) -> Floats:
        """Return the k voters who pull most when they go, as numbers of each kind."""
        crowd = self.crowd
        values = crowd.summed(-worth)
        if self.change.puts:
            values = values + crowd.size * float(worth.max())
        order = np.argsort(-values, kind="stable")
        number = crowd.number[order]
        gone = np.zeros(len(order))
        gone[order] = np.clip(k - (np.cumsum(number) - number), 0.0, number)
        return gone

    def _without(self, gone: Floats) -> tuple[Floats, float]:
        """Return the wins and the number of votes without some voters."""
        crowd, battles = self.crowd, self.battles
        taken = np.bincount(crowd.pair, weights=crowd.weight * gone[crowd.of], minlength=battles.n**2)
        wins = np.maximum(battles.wins - taken.reshape(battles.wins.shape), 0.0)
        return wins, battles.total - float(gone @ crowd.size)

    def _put(self, wins: Floats, amount: float, push: Push, s: Floats) -> tuple[Floats, Floats]:
        """Return the battles added, those of most value at the strengths so far, and the strengths."""
        put = np.zeros_like(wins)
        ends = np.linspace(0.0, amount, _PORTIONS + 1)
        if amount == math.floor(amount):
            ends = np.floor(ends + 0.5)
        for portion in np.diff(ends).tolist():
            put.flat[worth_of_wins(wins + put, self.battles.total, s, push).argmax()] += portion
            s = self.battles.fitted(wins + put, self.battles.total, s)
        return put, s

    def _one_by_one(self, aim: Aim, known: CrowdKnown, clock: Clock) -> CrowdKnown:
        """Return the result of trying one by one the groups that no bound rules out."""
        while known.undecided + 1 < known.does and known.undecided < self.most and not clock.over():
            k = int(max(known.undecided, 0.0)) + 1
            groups = self._groups(self._pairs(aim), k, clock)
            if groups is None:
                break
            outright, tie = self._tried(aim, groups)
            if outright is not None:
                return replace(known, group=outright)
            if tie is None and known.tie is None:
                known = replace(known, fails=float(k))
            known = replace(known, undecided=float(k), tie=known.tie or tie)
        return known

    def _pairs(self, aim: Aim) -> list[Pair]:
        """Return pairs of which at least one is flipped wherever an aim is reached."""
        order = list(aim.before.order)
        if aim.above:
            return [(aim.above[0], aim.above[1])]
        if aim.newcomers:
            return [(x, c) for x in aim.newcomers for c in order[: aim.top] if x != c]
        if aim.leaver:
            (x,) = aim.leaver
            return [(c, x) for c in order[order.index(x) + 1 :]]
        return [(b, a) for at, a in enumerate(order) for b in order[at + 1 :]]

    def _groups(self, pairs: list[Pair], k: int, clock: Clock) -> Ints | None:
        """Return all groups of k voters that may flip a pair, as rows of kinds; None if they are too many."""
        # A group of voters flips no pair if their pulls, added up, are below what that takes.
        left = [pair for pair in pairs if self._fails.get(pair, (0.0, 0.0))[0] < k]
        if len(left) > _PAIRS:
            return None
        groups: set[tuple[int, ...]] = set()
        for b, a in left:
            if clock.over():
                return None
            race = self.race(b, a)
            if not race.is_open:
                needed, values = -math.inf, self.crowd.size
            else:
                region = race.region(k)
                if region is None:
                    continue
                y = race.weights(region)
                values = self._crowd_movement.pulls(region, y - y.mean())
                needed = race.spare(k, region, y) + self._crowd_movement.pulled(k, region, y - y.mean())
            more = worth_at_least(values, self.crowd.number, k, needed - 1e-9 * abs(needed))
            if more is None:
                return None
            groups |= more
            if len(groups) > _GROUPS:
                return None
        return np.array(sorted(groups), dtype=np.int64).reshape(-1, k)

    @property
    def _crowd_movement(self) -> CrowdMovement:
        assert isinstance(self.movement, CrowdMovement)
        return self.movement

    def _tried(self, aim: Aim, groups: Ints) -> tuple[Group | None, Group | None]:
        """Return a group that reaches an aim, and one that reaches it by a tie, if there are any."""
        tie: Group | None = None
        nothing = np.zeros_like(self.battles.wins)
        step = max(1, _CELLS // self.battles.n**2)
        for at in range(0, len(groups), step):
            gone = np.zeros((len(groups[at : at + step]), len(self.crowd.number)))
            np.add.at(gone, (np.arange(len(gone))[:, None], groups[at : at + step]), 1.0)
            rest = [self._without(row) for row in gone]
            wins, totals = np.array([one for one, _ in rest]), np.array([total for _, total in rest])
            for row, strengths in enumerate(self.battles.fitted(wins, totals)):
                after = ranked(strengths)
                if aim.reached_by_all(after):
                    return Group(gone[row], nothing), tie
                if tie is None and aim.reached_by_some(after):
                    tie = Group(gone[row], nothing)
        return None, tie


def worth_at_least(values: Floats, number: Floats, k: int, needed: float) -> set[tuple[int, ...]] | None:
    """Return all groups of k voters worth `needed` together, as sorted kinds; None if they are too many.

    Examples
    --------
    >>> sorted(worth_at_least(np.array([5.0, 3.0, 1.0]), np.array([1.0, 2.0, 9.0]), 2, 6.0))
    [(0, 1), (0, 2), (1, 1)]
    """
    order = np.lexsort((np.arange(len(values)), -values))
    units = np.repeat(order, np.minimum(number[order], k).astype(np.int64))
    sums = np.concatenate(([0.0], np.cumsum(values[units])))
    found: set[tuple[int, ...]] = set()
    stack: list[tuple[int, float, tuple[int, ...]]] = [(0, 0.0, ())]
    looks = 0
    while stack:
        at, so_far, chosen = stack.pop()
        left = k - len(chosen)
        if left == 0:
            found.add(tuple(sorted(chosen)))
            if len(found) > _GROUPS:
                return None
            continue
        last = -1
        for following in range(at, len(units) - left + 1):
            looks += 1
            if looks > _LOOKS:
                return None
            if so_far + sums[following + left] - sums[following] < needed:
                break  # those that follow are worth less
            unit = int(units[following])
            if unit != last:  # another voter of the same kind makes the same group
                stack.append((following + 1, so_far + float(values[unit]), (*chosen, unit)))
            last = unit
    return found
