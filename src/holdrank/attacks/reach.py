"""Which places an adversary with a given number of votes can give each item of a strict ranking."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.answers import attack
from holdrank.attacks.borda.points import Points
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.goals import Enters, Leaves
from holdrank.attacks.pair_bounds import hints_of
from holdrank.attacks.plans import Progress
from holdrank.attacks.search import directions
from holdrank.errors import UsageError, quote, real_number
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.bradley_terry import compares_all
from holdrank.rules.consensus import Statistic, expect_seconds, kemeny
from holdrank.rules.merges import Robust, ballots_for, consensus_of
from holdrank.rules.registry import rule_of
from holdrank.rules.solvers.highs import UNIT
from holdrank.status import Clock, Status, Step
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_EXACT_ITEMS = 10  # up to here every place of every item is asked for


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Places of items under attack.

    Attributes
    ----------
    budget : float
        Share of the votes that may be replaced.
    best, worst : arrays of int
        No attack with this budget brings the item above the one place or below the other.
    shown_best, shown_worst : arrays of int
        An attack that was run brings it there.
    status : Status
    """

    budget: float
    best: Ints
    worst: Ints
    shown_best: Ints
    shown_worst: Ints
    status: Status

    def __post_init__(self) -> None:
        for array in (self.best, self.worst, self.shown_best, self.shown_worst):
            array.flags.writeable = False


def reach(
    votes: Votes,
    T: Statistic = kemeny,
    budget: float = 0.01,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Reach:
    """Return the places that replacing a share of the votes can give each item.

    Parameters
    ----------
    votes : Votes
    T : Statistic
        A rule without ties.
    budget : float
        Share of the votes, between 0 and 1. Of counted votes, whole ones: at least one.
    time_limit : float, optional
        Seconds; when they are over, what is proved comes back.
    progress : callable, optional
        Called with a `Step` for each item.

    Notes
    -----
    For up to ten items and a median, every place is asked for (`Enters`, `Leaves`). For more items the limits come
    from pairs: an item cannot pass those whose price is above the budget; and no attack reorders groups of which every
    member beats every member of the next by a margin that the budget cannot turn (Kemeny and Copeland keep such
    groups in order). The places shown are those of attacks that were run.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> r = reach(votes, kemeny, 0.2)
    >>> list(zip(votes.items, r.best.tolist(), r.worst.tolist()))
    [('a', 1, 2), ('b', 1, 2), ('c', 3, 3)]
    """
    if isinstance(T, Robust):
        raise UsageError("reach takes a rule without ties", repair="give the base of the tiers")
    share = real_number(budget)
    if share is None or not 0 < share < 1:
        raise UsageError(f"budget must be a share of the votes between 0 and 1, not {quote(str(budget))}")
    share = whole_budget(share, votes)
    votes = ballots_for(T, votes)
    with Clock(expect_seconds(time_limit)) as clock:
        search = _Reach(votes, T, share, clock, progress)
        if votes.n <= _EXACT_ITEMS and exact_engine(T, votes) is not None:
            search.ask_for_places()
        search.try_attacks()
        return search.result()


def whole_budget(budget: float, votes: Votes) -> float:
    """Return a share of the votes as one of whole votes, at least one, where votes are counts."""
    return max(math.floor(budget * votes.total + SAME), 1) / votes.total if votes.is_counts else budget


class _Reach:
    def __init__(self, votes: Votes, T: Statistic, budget: float, clock: Clock, progress: Progress | None) -> None:
        self.votes, self.T, self.budget, self.clock, self.progress = votes, T, budget, clock, progress
        self.before = T(votes).ranking
        place = _places(self.before)
        self.best, self.worst = _limits(votes, T, self.before, budget)
        self.shown_best, self.shown_worst = place.copy(), place.copy()
        self._answers: dict[Enters | Leaves, bool] = {}

    def result(self) -> Reach:
        open_ends = (self.best < self.shown_best) | (self.worst > self.shown_worst)
        status = Status.LEAST
        if open_ends.any():
            status = Status.BETWEEN_TIME_LIMIT if self.clock.over() else Status.BETWEEN
            status = Status.BETWEEN_INTERRUPTED if self.clock.interrupted else status
        return Reach(self.budget, self.best, self.worst, self.shown_best, self.shown_worst, status)

    def ask_for_places(self) -> None:
        """Find the ends of each item by halving."""
        for number, item in enumerate(self.before.order):
            if self.progress:
                self.progress(Step("places", number, self.votes.n))
            name = self.votes.items[item]
            # best <= true best <= shown_best, and the same below. A place in between may be neither excluded nor shown:
            # so first the last place that is excluded, then the first that is shown.
            for wanted in ("excluded", "shown"):
                low, high = int(self.best[item]), int(self.shown_best[item])
                while low < high and not self.clock.over():
                    k = (low + high) // 2
                    if not self._asked(Enters(name, k)):
                        low = self.best[item] = max(k + 1, int(self.best[item]))
                    elif wanted == "excluded":
                        high = k
                    else:
                        low, high = (low, int(self.shown_best[item])) if self.shown_best[item] <= k else (k + 1, high)
            for wanted in ("excluded", "shown"):
                low, high = int(self.shown_worst[item]), int(self.worst[item])
                while low < high and not self.clock.over():
                    k = (low + high) // 2
                    if not self._asked(Leaves(name, k)):
                        high = self.worst[item] = min(k, int(self.worst[item]))
                    elif wanted == "excluded":
                        low = k + 1
                    else:
                        low, high = (int(self.shown_worst[item]), high) if self.shown_worst[item] > k else (low, k)

    def _asked(self, goal: Enters | Leaves) -> bool:
        """Whether a goal may be within the budget; an attack that is moves what is shown."""
        if goal in self._answers:
            return self._answers[goal]
        left = self.clock.seconds_left()
        found = attack(self.votes, self.T, goal, time_limit=None if math.isinf(left) else max(left, 0.0))
        counts = self.votes.is_counts
        least = found.votes_needed / self.votes.total if counts else found.lower
        best = found.whole if counts else found
        within = best is not None and best.plan is not None and best.plan.budget(self.votes) <= self.budget + 1e-6
        if within and best is not None and best.votes is not None:
            self._show(self.T(best.votes).ranking)
        self._answers[goal] = least <= self.budget + SAME
        return self._answers[goal]

    def try_attacks(self) -> None:
        """Spend the whole budget for and against each item, and see where all items come to stand."""
        todo = [
            (number, goal)
            for number, item in enumerate(self.before.order)
            for goal, is_open in (
                (Enters(self.votes.items[item], 1), self.best[item] < self.shown_best[item]),
                (Leaves(self.votes.items[item], self.votes.n - 1), self.worst[item] > self.shown_worst[item]),
            )
            if is_open
        ]
        for number, goal in todo:
            if self.clock.over():
                break
            if self.progress:
                self.progress(Step("places", number, self.votes.n))
            aim = goal.aim(self.before, self.votes.items)
            for direction in directions(self.votes, self.T, self.before, aim, Change.REPLACE):
                plan = direction.plan(self.budget * self.votes.total, whole=self.votes.is_counts)
                left = self.clock.seconds_left()
                after = consensus_of(plan.applied(self.votes), self.T, None if math.isinf(left) else max(left, 0.0))
                # With several optima the places are those of a rule for ties, and show nothing.
                if after.status.is_exact and after.unique is not False:
                    self._show(after.ranking)
                break

    def _show(self, after: Ranking) -> None:
        place = _places(after)
        np.minimum(self.shown_best, place, out=self.shown_best)
        np.maximum(self.shown_worst, place, out=self.shown_worst)
        np.minimum(self.best, self.shown_best, out=self.best)  # only rounding can make them differ
        np.maximum(self.worst, self.shown_worst, out=self.worst)


def _places(ranking: Ranking) -> Ints:
    place = np.empty(ranking.n, dtype=np.int64)
    place[list(ranking.order)] = np.arange(1, ranking.n + 1)
    return place


def _limits(votes: Votes, T: Statistic, before: Ranking, budget: float) -> tuple[Ints, Ints]:
    """Return the best and worst places that are not excluded."""
    n = votes.n
    best, worst = np.ones(n, dtype=np.int64), np.full(n, n)
    prices = _prices(votes, T, before)
    if prices is not None:
        cannot_pass = prices > budget + SAME  # [b, a]: b stays below a
        best, worst = 1 + cannot_pass.sum(axis=1), n - cannot_pass.sum(axis=0)
    if rule_of(T).majorities_first:
        for first, last, group in _groups(votes, budget):
            best[group], worst[group] = np.maximum(best[group], first), np.minimum(worst[group], last)
    return best, worst


def _prices(votes: Votes, T: Statistic, before: Ranking) -> Floats | None:
    if compares_all(votes) and rule_of(T).on(votes).median_of == "spearman_rho":  # Borda's points
        points = Points(votes, before, Change.REPLACE)
        prices = np.zeros((votes.n, votes.n))
        order = list(points.order)
        prices[np.ix_(order, order)] = points.above / UNIT
        return prices
    return hints_of(T).prices(votes, Change.REPLACE)


def _groups(votes: Votes, budget: float) -> Iterator[tuple[int, int, Ints]]:
    """Yield (first place, last place, items) of groups that no attack reorders, from the top."""
    margins = (votes.wins() - votes.wins().T) / votes.total
    surely = margins > 2 * budget + SAME
    n = votes.n
    # As with majorities: the k items that surely beat most others are a group if they beat all the others.
    order = np.argsort(-surely.sum(axis=1), kind="stable")
    start = 0
    for end in range(1, n + 1):
        if end == n or surely[np.ix_(order[:end], order[end:])].all():
            yield start + 1, end, order[start:end]
            start = end
