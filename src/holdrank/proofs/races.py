"""Numbers of battles that cannot fulfil a goal: by races of two items, or by trying every change of a few battles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, permutations
from typing import TypeAlias

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.plans import adds_battles
from holdrank.proofs import wandering
from holdrank.proofs.movements import Movements, sharpened
from holdrank.proofs.rounding import down, up
from holdrank.proofs.strengths import EQUAL, Enclosed
from holdrank.rankings import Floats, Ranking
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

Pair: TypeAlias = tuple[int, int]  # (b, a): b is to pass a

MOST_ITEMS = 120
_DIRECT = 12  # items up to which every two are bounded directly
_REGIONS = ((4, 300), (6, 150), (12, 40), (MOST_ITEMS, 4))  # items, and regions that a race may be split into
_RACES = 60  # for one goal
_CONTRACTIONS = 6
_FEW_ITEMS = 6  # up to here every change of a few battles is tried
_CHANGES = 60_000
_AT_A_TIME = 4_000


class Races:
    """Battles, and what changes of them cannot do."""

    def __init__(self, votes: Votes, fit: Enclosed) -> None:
        self.votes, self.fit = votes, fit
        self._movements = {change: Movements(fit, change) for change in Change}
        self._failed: dict[tuple[Change, Pair], float] = {}  # battles that are proved not to be enough
        self._open: dict[tuple[Change, Pair], float] = {}  # battles for which that was tried in vain
        # Rankings after changes of each number of battles, as far as requested; and those still to come.
        self._seen: dict[tuple[Change, int, Ranking], tuple[dict[Ranking | None, None], Iterator[Ranking | None]]] = {}

    @classmethod
    def of(cls, votes: Votes, fit: Enclosed) -> Races | None:
        """Return the races of votes, if they are battles and not too many items take part."""
        known = adds_battles(votes) and votes.n <= MOST_ITEMS and bool(np.isfinite(fit.error))
        return cls(votes, fit) if known else None

    def fails(self, aim: Aim, k: float, change: Change, *, whole: bool, surely: bool = False) -> bool:
        """Whether it is proven that no change of up to k battles fulfils an aim, not even by a tie.

        With `whole` only whole battles change; with `surely` a tie does not count as fulfilled.
        """
        if aim.is_impossible():
            return True
        if not math.isfinite(k) or (change is Change.DROP and k >= self.votes.total):
            return False
        if k < 0:
            return True
        asked = _pairs(aim)
        if asked is not None and self._left(*asked, k, change):
            return True
        return whole and self._tried(aim, int(k), change, surely)

    def _left(self, pairs: Sequence[Pair], allowed: int, k: float, change: Change) -> bool:
        """Whether at most a given number of the pairs is not proven to stay in order."""
        left = [pair for pair in pairs if self._failed.get((change, pair), -1.0) < k]
        if len(left) > allowed and len(left) > 1:
            self._together(left, k, change)
            left = [pair for pair in left if self._failed.get((change, pair), -1.0) < k]
        left.sort(key=lambda pair: -float(self.fit.gaps[pair[1], pair[0]]))  # the easiest first
        if len(left) - allowed > _RACES:
            return False
        lost = 0
        for pair in left:
            if not self._loses(pair, k, change):
                lost += 1
                if lost > allowed:
                    return False
        return True

    def _together(self, pairs: Sequence[Pair], k: float, change: Change) -> None:
        """Bound many pairs in the same box."""
        movements = self._movements[change]
        ahead = sorted({a for _, a in pairs})
        several = ahead if len(ahead) <= _DIRECT or self.votes.n <= 2 * _DIRECT else []
        rise = movements.box(k, ahead if len(ahead) == 1 else [], several)
        if rise is None:
            return
        room = movements.equal(rise)
        for b, a in pairs:
            if float(rise[b, a]) < float(down(self.fit.gaps[a, b] - room)):
                self._failed[change, (b, a)] = max(k, self._failed.get((change, (b, a)), -1.0))

    def _loses(self, pair: Pair, k: float, change: Change) -> bool:
        """Whether it is proven that k battles do not bring b up to a; cached."""
        key = change, pair
        if self._open.get(key, math.inf) <= k:
            return False
        proved = self._excluded(pair, k, change)
        if proved:
            self._failed[key] = k
        else:
            self._open[key] = k
        return proved

    def _excluded(self, pair: Pair, k: float, change: Change) -> bool:
        """Rule out the first moment when b is as strong as a, region by region.

        At that moment their difference is known. A region without strengths within reach of k battles is ruled out; any
        other region is cut in two.
        """
        b, a = pair
        movements, n = self._movements[change], self.votes.n
        if wandering.excluded(movements, b, a, k):
            return True
        references = list(range(n)) if n <= _DIRECT else [a, b]
        rise = movements.box(k, (a, b), references)
        if rise is None:
            rise = movements.widest()
        room, gap = movements.equal(rise), float(self.fit.gaps[a, b])
        if gap <= room + 2 * float(self.fit.error):
            return False  # they may be equal as it is
        level = gap - room  # any number below the gap will do: on the way to the end, b comes so near
        rise = rise.copy()
        rise[b, a], rise[a, b] = min(float(rise[b, a]), level), min(float(rise[a, b]), -level)
        stack = [rise]
        budget = next(regions for items, regions in _REGIONS if n <= items)
        while stack:
            rest = self._contracted(stack.pop(), k, movements, references)
            if rest is None:
                continue
            budget -= 1
            parts = None if budget < 0 else _halves(rest, a, b, movements)
            if parts is None:
                return False
            stack += parts
        return True

    def _contracted(self, rise: Floats, k: float, movements: Movements, references: Sequence[int]) -> Floats | None:
        """Return the part of a region within reach of k battles; None if it is empty."""
        for _ in range(_CONTRACTIONS):
            for r in references:
                rise = np.minimum(rise, up(rise[:, [r]] + rise[r]))
            if (up(rise + rise.T) < 0).any():
                return None
            before = float((rise + rise.T).sum())
            for r, (highest, lowest) in movements.near(k, rise, references).items():
                rise[:, r], rise[r] = np.minimum(rise[:, r], highest), np.minimum(rise[r], lowest)
            if (up(rise + rise.T) < 0).any():
                return None
            if float((rise + rise.T).sum()) > 0.98 * before:
                return rise
        return rise

    def _tried(self, aim: Aim, k: int, change: Change, surely: bool) -> bool:
        """Whether every change of up to k whole battles was tried, and none fulfils an aim, or certainly fulfils it."""
        votes = self.votes
        fought = float(self.fit.wins.sum())
        if not votes.is_counts or votes.n > _FEW_ITEMS or fought != votes.total or k < 1:
            return False
        sizes = [k] if change.keeps_total else range(k + 1)  # a battle may be replaced by one like it
        if change.takes and k > min(fought, 12.0):
            return False
        there, kinds = _supply(votes), _kinds(votes.n)
        if sum(_changes(size, there, kinds, change) for size in sizes) > _CHANGES:
            return False
        for size in sizes:
            for tied in self._rankings(size, change, aim.before):
                if tied is None or (aim.reached_by_all(tied) if surely else aim.reached_by_some(tied)):
                    return False
        return True

    def _rankings(self, size: int, change: Change, before: Ranking) -> Iterator[Ranking | None]:
        """Yield the rankings after changes of `size` battles, each once, except `before`; None where undecided."""
        key = change, size, before
        if key not in self._seen:
            self._seen[key] = {}, self._fitted(size, change, before)
        seen, coming = self._seen[key]
        yield from list(seen)
        for tied in coming:
            if tied not in seen:
                seen[tied] = None
                yield tied

    def _fitted(self, size: int, change: Change, before: Ranking) -> Iterator[Ranking | None]:
        for wins, total in self._after(size, _supply(self.votes), _kinds(self.votes.n), change):
            fit = Enclosed.of(wins, total, self.fit.s)
            for row in _in_doubt(fit, before):
                one = fit.row(row)
                yield one.tied() or sharpened(one).tied()

    def _after(
        self, size: int, there: Sequence[tuple[Floats, float]], kinds: Sequence[Floats], change: Change
    ) -> Iterator[tuple[Floats, Floats]]:
        """Yield the wins after every change of k battles, and the number of votes."""
        n = self.votes.n
        goes = [
            sum((there[kind][0] for kind in picked), np.zeros((n, n)))
            for picked in combinations_with_replacement(range(len(there)), size if change.takes else 0)
            if all(picked.count(kind) <= there[kind][1] for kind in set(picked))
        ]
        comes = [
            sum(picked, np.zeros((n, n))) for picked in combinations_with_replacement(kinds, size if change.puts else 0)
        ]
        total = self.votes.total + size * (change.puts - change.takes)
        if not goes or total <= 0:
            return
        after = (self.fit.wins - np.array(goes))[:, None] + np.array(comes)
        after = after.reshape(-1, n, n)
        for at in range(0, len(after), _AT_A_TIME):
            some = after[at : at + _AT_A_TIME]
            yield some, np.full(len(some), total)


def _pairs(aim: Aim) -> tuple[list[Pair], int] | None:
    """Return pairs, and how many of them may flip, such that an aim is missed; None for another type of aim."""
    order, n = list(aim.before.order), aim.before.n
    place = {item: at for at, item in enumerate(order)}
    if aim.above:
        b, a = aim.above
        return ([(b, a)], 0) if place[b] > place[a] else None
    if aim.newcomers:
        # An item that enters the first k passes one of those there.
        if any(place[x] < aim.top for x in aim.newcomers):
            return None
        return [(x, c) for x in aim.newcomers for c in order[: aim.top]], 0
    if aim.leaver:
        (x,) = aim.leaver
        missing = aim.top - place[x]  # this many must pass it
        return ([(c, x) for c in order[place[x] + 1 :]], missing - 1) if missing > 0 else None
    if not isinstance(aim.distance, str) or aim.flips < 1:
        return None
    return [(order[j], order[i]) for i, j in combinations(range(n), 2)], aim.flips - 1


def _halves(rise: Floats, a: int, b: int, movements: Movements) -> list[Floats] | None:
    """Return a region cut in two, where the lines of its sigmas are worst; None where there is nothing to cut."""
    width = (rise + rise.T)[:, a]
    lines = movements.lines(rise)
    inverse = movements.weights(lines.slopes)
    z = inverse[:, b] - inverse[:, a]
    worst = movements.fought * np.maximum(-lines.errors, 0.0) * np.maximum(z[:, None] - z, 0.0)
    score = np.where(width > 1e-7, worst.sum(axis=0) + worst.sum(axis=1), 0.0)
    score[[a, b]] = 0.0
    item = int(score.argmax())
    if score[item] <= 0:
        return None
    cut = (float(rise[item, a]) - float(rise[a, item])) / 2
    upper, lower = rise.copy(), rise.copy()
    upper[a, item], lower[item, a] = -cut, cut
    return [upper, lower]


def _kinds(n: int) -> list[Floats]:
    """Return every possible battle, as wins: won by either item, or tied."""
    found = []
    for i, j in permutations(range(n), 2):
        wins = np.zeros((n, n))
        wins[i, j] = 1.0
        found.append(wins)
    for i, j in combinations(range(n), 2):
        wins = np.zeros((n, n))
        wins[i, j] = wins[j, i] = 0.5
        found.append(wins)
    return found


def _supply(votes: Votes) -> list[tuple[Floats, float]]:
    """Return the existing battles, as wins, and the number of each type."""
    found = []
    for ballot, weight in zip(votes.ranks.tolist(), votes.weights.tolist(), strict=True):
        i, j = (item for item, rank in enumerate(ballot) if rank)
        wins = np.zeros((votes.n, votes.n))
        wins[i, j] = (1 + (ballot[i] < ballot[j]) - (ballot[i] > ballot[j])) / 2
        wins[j, i] = 1 - wins[i, j]
        found.append((wins, weight))
    return found


def _changes(size: int, there: Sequence[object], kinds: Sequence[object], change: Change) -> int:
    goes = math.comb(len(there) + size - 1, size) if change.takes else 1
    return goes * (math.comb(len(kinds) + size - 1, size) if change.puts else 1)


def _in_doubt(fit: Enclosed, before: Ranking) -> list[int]:
    """Return the changes after which some neighbours are not certainly in the same order as before."""
    order = list(before.order)
    steps = fit.s[:, order[:-1]] - fit.s[:, order[1:]]
    sure = down(steps - fit.error[:, None]) > 1.1 * EQUAL * fit.unit[1][:, None]
    return np.flatnonzero(~sure.all(axis=1)).tolist()
