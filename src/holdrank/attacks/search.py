"""Attacks by search, for statistics without an exact engine: attacks give upper bounds, pairs give lower bounds.

An attack here has one direction: it removes the ballots most opposed to the aim first, and adds one distinct ballot.
Running the statistic on more and less of it shows how far it must go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from holdrank.arrays.tolerances import SAME, STRICT
from holdrank.attacks.goals import Aim
from holdrank.attacks.pair_bounds import hints_of, price_of, whole_race
from holdrank.attacks.plans import Found, Plan, Progress, adds_battles
from holdrank.attacks.whole import Whole, agreement, apportioned
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import Consensus, Statistic
from holdrank.rules.merges import base_of
from holdrank.status import Clock, Step
from holdrank.votes.changes import Change
from holdrank.votes.forms.table import MAX_WEIGHT
from holdrank.votes.votes import Votes

Reaches: TypeAlias = Callable[[Aim, Callable[[], Votes], Consensus, bool], bool]

_TARGETS = 12  # rankings to aim at for one goal
_HALVINGS = 40  # of the interval between an attack that fails and one that works
_RESOLUTION = 2e-10  # resolution of shares of votes
_MOST_ADDED = 64.0  # times the votes
_BETTER = 0.995  # a further direction must do with less than this share of the best known


class Search:
    """The search for one statistic; an engine, see `engines`.

    Parameters
    ----------
    T : Statistic
    run : callable
        Runs the statistic on votes within a time limit in seconds.
    reaches : callable
        Whether a consensus of votes fulfils an aim no matter how its ties are broken; or, weakly, for some way of
        breaking them.
    """

    def __init__(self, T: Statistic, run: Callable[[Votes, float], Consensus], reaches: Reaches) -> None:
        self._statistic, self._run, self._reaches = T, run, reaches
        self._hints = hints_of(T)
        self._best: dict[Aim, _Direction] = {}
        self._former: list[tuple[float, _Direction]] = []  # that were the best once, with their weights

    def find(
        self,
        votes: Votes,
        before: Ranking,
        aims: Sequence[Aim],
        change: Change,
        clock: Clock,
        progress: Progress | None,
    ) -> list[Found]:
        """Return bounds and attacks for each aim; the lower bound is 0 where pairs have none."""
        prices = self._hints.prices(votes, change)
        races = self._hints.races(votes, change)
        found = [Found(0.0 if prices is None else price_of(aim, prices)) for aim in aims]
        if races is not None:
            found = [Found(races.needed(aim, attrgetter("share")) / votes.total) for aim in aims]
        # When time is short, an attack that reaches the farthest aim serves all.
        for done, k in enumerate(sorted(range(len(aims)), key=lambda k: k - len(aims) * (k == len(aims) - 1))):
            if progress:
                progress(Step("goals", done, len(aims)))
            lower = found[k].lower
            if clock.over() or math.isinf(lower):
                continue
            size, best = self._cheapest(votes, before, aims[k], change, clock)
            if best is not None:
                self._best[aims[k]] = best
                share = size / votes.total  # a strict win takes a little more than the least
                # Farther from the edge than any rounding: a recount must not give another result.
                clear = min(size + STRICT * votes.total, best.most)
                plan = best.plan(clear if self._works(aims[k], best, clear, clock) else size)
                others = tuple(other.plan(size) for size, other in self._former)
                found[k] = Found(lower, lower if share <= lower + 5 * _RESOLUTION else share, plan, others=others)
            elif not change.puts and not clock.over():  # taking votes away can end in ties that nothing breaks
                size, best = self._cheapest(votes, before, aims[k], change, clock, weakly=True)
                found[k] = Found(lower, tie_plan=None if best is None else best.plan(size))
        return found

    def whole(
        self,
        votes: Votes,
        before: Ranking,  # noqa: ARG002
        aims: Sequence[Aim],
        change: Change,
        found: Sequence[Found],
        clock: Clock,
    ) -> list[Whole]:
        """Return whole votes in the same directions; of mean scores and Copeland's, also what is needed, exactly."""
        results = []
        races = self._hints.races(votes, change)
        behind = self._hints.whole_prices(votes, change)
        for aim, known in zip(aims, found, strict=True):
            if races is not None and races.works_for(aim) and races.pairs(aim):
                results.append(whole_race(votes, races, aim))
                continue
            needed, decide = 0.0, 0.0
            if races is not None and races.works_for(aim):
                needed, decide = (races.needed(aim, attrgetter(name)) for name in ("tie", "decide"))
            elif behind is not None:
                needed = math.ceil(price_of(aim, behind))
            direction = self._best.get(aim)
            plan = None
            if direction is not None and math.isfinite(known.upper):
                enough = math.ceil(known.upper * votes.total - SAME)
                for size in (enough, enough + 1, enough + 2, math.ceil(1.1 * enough) + 2):
                    if clock.over() or self._works(aim, direction, float(size), clock, whole=True):
                        plan = direction.plan(float(size), whole=True)
                        break
            results.append(Whole(needed, plan, decide=decide))
        return results

    def _cheapest(
        self, votes: Votes, before: Ranking, aim: Aim, change: Change, clock: Clock, *, weakly: bool = False
    ) -> tuple[float, _Direction | None]:
        """Return the smallest weight found that works, and its direction."""
        least, best = math.inf, None
        self._former = []
        for direction in directions(votes, self._statistic, before, aim, change):
            if clock.over():
                break
            if best is not None and not self._works(aim, direction, _BETTER * least, clock, weakly=weakly):
                continue
            size = self._size(aim, direction, min(direction.most, _BETTER * least), clock, weakly=weakly)
            if size < least:
                if best is not None:
                    self._former.append((least, best))
                least, best = size, direction
        return least, best

    def _size(self, aim: Aim, direction: _Direction, most: float, clock: Clock, *, weakly: bool) -> float:
        """Return a weight that works, close to one that does not: raised until it works, then bisected."""
        fails, does = 0.0, most / 1024
        while not self._works(aim, direction, does, clock, weakly=weakly):
            fails, does = does, min(4 * does, most)
            if fails >= most or clock.over():
                return math.inf
        for _ in range(_HALVINGS):
            if clock.over() or does - fails <= _RESOLUTION * direction.votes.total:
                break
            middle = (fails + does) / 2
            works = self._works(aim, direction, middle, clock, weakly=weakly)
            fails, does = (fails, middle) if works else (middle, does)
        return does

    def _works(
        self,
        aim: Aim,
        direction: _Direction,
        size: float,
        clock: Clock,
        *,
        whole: bool = False,
        weakly: bool = False,
    ) -> bool:
        if not 0 < size <= direction.most:
            return False
        plan = direction.plan(size, whole=whole)
        if plan.leaves_nothing(direction.votes):
            return False
        attacked = plan.applied(direction.votes)
        return self._reaches(aim, lambda: attacked, self._run(attacked, clock.seconds_left()), weakly)


@dataclass(frozen=True, slots=True, eq=False)
class _Direction:
    """Ballots in the order of removal, and the ballots added.

    Attributes
    ----------
    votes : Votes
    change : {"replace", "drop", "add"}
    first : array of int
        The ballots, in the order of removal.
    ranks : (k, n) array of int
        The ballots added.
    shares : (k,) array
        Their shares of the added weight.
    scores : (k, n) array or None
        Their scores, for votes with scores.
    """

    votes: Votes
    change: Change
    first: Ints
    ranks: Ints
    shares: Floats
    scores: Floats | None = None

    @property
    def most(self) -> float:
        """The largest weight that can change."""
        total = self.votes.total
        least = float(self.votes.weights.min())
        added = min(_MOST_ADDED * total, math.floor(MAX_WEIGHT - total))  # no more than can be counted
        if not self.change.takes:
            return added
        return total if self.change.puts else total - min(least, total / 2)

    def plan(self, size: float, *, whole: bool = False) -> Plan:
        """Return the attack that changes this much weight; in whole numbers if the weight and all weights are whole."""
        removed = np.zeros(self.votes.distinct)
        if self.change.takes:
            weights = self.votes.weights[self.first]
            before = np.concatenate(([0.0], np.cumsum(weights)[:-1]))
            removed[self.first] = np.clip(size - before, 0.0, weights)
        put = np.zeros(0)
        if self.change.puts:
            put = apportioned(self.shares, int(size)) if whole else size * self.shares
        return Plan(removed, self.ranks[: len(put)], put, None if self.scores is None else self.scores[: len(put)])


def directions(votes: Votes, T: Statistic, before: Ranking, aim: Aim, change: Change) -> Iterator[_Direction]:
    """Yield directions that may reach an aim, the most promising first."""
    hints = hints_of(base_of(T))
    for target in targets(votes, before, aim):
        wanted = _wanted(before, target)
        if hints.by_scores and votes.scores is not None:
            yield _by_scores(votes, wanted, target, change)
            continue
        for pull in (*hints.pulls(votes, wanted), wanted - wanted.T):
            first = np.argsort(agreement(votes, pull), kind="stable")
            for ranks, shares in _incoming(votes, wanted, pull, target):
                yield _Direction(votes, change, first, ranks, shares)
                if not change.puts:
                    break


def _by_scores(votes: Votes, wanted: Floats, target: Ranking, change: Change) -> _Direction:
    """Return the direction for mean scores: rising items get the highest score of all, falling items the lowest."""
    assert votes.scores is not None
    rises = wanted.sum(axis=1) - wanted.sum(axis=0)
    centred = np.nan_to_num(votes.scores - np.nanmean(votes.scores, axis=1, keepdims=True))
    given = np.unique(votes.scores[~np.isnan(votes.scores)])
    middle = given[np.abs(given - given.mean()).argmin()]
    low, high = float(np.nanmin(votes.scores)), float(np.nanmax(votes.scores))
    scores = np.where(rises > 0, high, np.where(rises < 0, low, middle))[None]
    first = np.argsort(centred @ rises, kind="stable")
    return _Direction(votes, change, first, target.ranks[None].astype(np.int64), np.ones(1), scores)


def _incoming(votes: Votes, wanted: Floats, pull: Floats, target: Ranking) -> Iterator[tuple[Ints, Floats]]:
    """Yield distinct ballots to add: the ranking aimed at, or battles."""
    n = votes.n
    if not adds_battles(votes):
        yield target.ranks[None].astype(np.int64), np.ones(1)
        return
    upper, lower = np.nonzero(wanted)
    for pairs in ([(int(i), int(j)) for i, j in zip(upper, lower, strict=True)], _strongest(pull)):
        ranks = np.zeros((len(pairs), n), dtype=np.int64)
        for row, (i, j) in enumerate(pairs):
            ranks[row, [i, j]] = 1, 2
        if len(pairs):
            yield ranks, np.full(len(pairs), 1 / len(pairs))


def _strongest(pull: Floats) -> list[tuple[int, int]]:
    """Return the battle that pulls most, as (winner, loser)."""
    i, j = divmod(int(pull.argmax()), len(pull))
    return [(i, j)] if i != j else []


def targets(votes: Votes, before: Ranking, aim: Aim) -> list[Ranking]:
    """Return strict rankings that fulfil an aim, some close to the consensus and some farther away."""
    order = list(before.order)
    n = len(order)

    def moved(up: Sequence[int], down: Sequence[int] = ()) -> Ranking:
        rest = [item for item in order if item not in up and item not in down]
        return Ranking.from_order([*up, *rest, *down])

    if aim.above:
        b, a = aim.above
        rest = [item for item in order if item != b]
        just = rest.index(a)
        return [
            Ranking.from_order([*rest[:just], b, *rest[just:]]),
            moved([b], [a]),
            moved([b]),
            moved([], [a]),
        ]
    if aim.leaver:
        (x,) = aim.leaver
        rest = [item for item in order if item != x]
        return [moved([], [x]), Ranking.from_order([*rest[: aim.top], x, *rest[aim.top :]])]
    if aim.newcomers:
        place = {item: at for at, item in enumerate(order)}
        near = sorted(aim.newcomers, key=place.__getitem__)[:_TARGETS]
        found = [moved([x]) for x in near]
        if 1 < aim.top < n:  # or the last of those inside goes out
            found += [
                Ranking.from_order([*[y for y in order[: aim.top - 1] if y != x], x]
                                   + [y for y in order[aim.top - 1 :] if y != x])
                for x in near
            ]  # fmt: skip
        return found
    # A distance: turn around a stretch of the ranking that is long enough, the least decided stretches first.
    size = next((s for s in range(2, n + 1) if s * (s - 1) // 2 >= aim.flips), n)
    margins = np.abs(votes.pairwise()[np.ix_(order, order)] - 0.5)
    found = []
    for length in dict.fromkeys((size, min(size + 1, n), n)):
        starts = sorted(range(n - length + 1), key=lambda at: float(margins[at : at + length, at : at + length].max()))
        for at in starts[: _TARGETS // 2]:
            found.append(Ranking.from_order(order[:at] + order[at : at + length][::-1] + order[at + length :]))
    return [*found, Ranking.from_order(order)]  # what is tied may also be broken, or merged, along the ranking


def _wanted(before: Ranking, target: Ranking) -> Floats:
    """Return the pairs (i above j) of the target that the consensus lacks; all of the target's if there are none."""
    above = target.ranks[:, None] < target.ranks
    new = above & ~(before.ranks[:, None] < before.ranks)
    return np.asarray(new if new.any() else above, dtype=np.float64)
