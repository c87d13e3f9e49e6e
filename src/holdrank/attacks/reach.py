"""Which places an adversary with a given number of votes can give each item of a strict ranking."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdrank.arrays.tolerances import SAME
from holdrank.attacks.answers import attack, votes_of
from holdrank.attacks.borda.points import Points
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.goals import Enters, Leaves
from holdrank.attacks.pair_bounds import hints_of
from holdrank.attacks.plans import Ends, Progress
from holdrank.attacks.search import directions
from holdrank.errors import UsageError, quote, real_number, whole_number
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.consensus import Statistic, expect_seconds
from holdrank.rules.merges import Robust, ballots_for, consensus_of
from holdrank.rules.registry import auto, rule_of, suited
from holdrank.rules.solvers.highs import UNIT
from holdrank.status import Clock, Shown, Status, Step
from holdrank.votes.changes import Change, ChangeName, change_of
from holdrank.votes.pairs import PairCounts
from holdrank.votes.votes import Votes
from holdrank.words.numbers import percent, plural

_EXACT_ITEMS = 10  # up to here every place of every item is asked for


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Reach(Shown):
    """Ranks that an adversary can give each item.

    Attributes
    ----------
    items : tuple of str
        Names of the items.
    budget : float
        Share of the votes that may change.
    best, worst : arrays of int
        No attack with this budget moves the item above `best` or below `worst` (proven).
    shown_best, shown_worst : arrays of int
        The best and worst place that a verified attack attains.
    status : Status
    change : Change
        The type of change.
    """

    items: tuple[str, ...]
    budget: float
    best: Ints
    worst: Ints
    shown_best: Ints
    shown_worst: Ints
    status: Status
    change: Change = Change.REPLACE

    def __post_init__(self) -> None:
        for array in (self.best, self.worst, self.shown_best, self.shown_worst):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"Reach({plural(len(self.items), 'item')}, {self.change} {percent(self.budget)}, {self.status})"


def reach(
    votes: Votes | PairCounts,
    T: Statistic = auto,
    budget: float = 0.01,
    *,
    change: Change | ChangeName = "replace",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Reach:
    """Return the ranks that an adversary with a given budget can give each item.

    Parameters
    ----------
    votes : Votes or PairCounts
        Pair counts for `bradley_terry` on battles only.
    T : Statistic
        A rule without ties; by default `auto`: Bradley-Terry for battles, else Kemeny.
    budget : float
        Share of the votes, between 0 and 1, or a whole number of votes. For counted votes a share means whole votes, at
        least one.
    change : {"replace", "drop", "add"}
        What the attacker may do, as for `attack`.
    time_limit : float, optional
        Time limit in seconds. At the limit, you get the bounds proved by then.
    progress : callable, optional
        Called with a `Step` for each item.

    Notes
    -----
    For a median of up to ten items, every place is tested (`Enters`, `Leaves`). For more items the limits come from
    pairs: an item cannot pass those whose price is above the budget; and no attack reorders groups if every member of
    one beats every member of the next by a margin that the budget cannot reverse (Kemeny and Copeland keep such groups
    in order). The places shown are those of verified attacks.

    For `bradley_terry` on battles, all places come from one bound on how far the changed battles can move each two
    items, and the places shown from an attack for and one against each item.

    Examples
    --------
    >>> votes = Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    >>> r = reach(votes, budget=0.2)
    >>> list(zip(votes.items, r.best.tolist(), r.worst.tolist()))
    [('a', 1, 2), ('b', 1, 2), ('c', 3, 3)]
    """
    if isinstance(T, Robust):
        raise UsageError("reach takes a rule, not tiers", repair="pass the base rule of the tiers")
    change = change_of(change)
    T = suited(T, votes)
    votes = votes_of(votes, T)
    share = _share_of(budget, votes)
    votes = ballots_for(T, votes)
    engine = exact_engine(T, votes)
    with Clock(expect_seconds(time_limit)) as clock:
        search = _Reach(votes, T, share, change, clock, progress)
        if engine is not None and engine.places is not None:
            search.narrow(engine.places(votes, change, share * votes.total, clock, progress))
        if votes.n <= _EXACT_ITEMS and engine is not None:
            search.ask_for_places()
        if engine is None or engine.places is None:
            search.try_attacks()
        return search.result()


def _share_of(budget: object, votes: Votes) -> float:
    """Return a budget as a share of the votes."""
    number, share = whole_number(budget), real_number(budget)
    if number is not None and votes.is_counts and 1 <= number < votes.total:
        return number / votes.total
    if share is None or not 0 < share < 1:
        votes_too = f", or a whole number of votes below {votes.total:,.0f}" if votes.is_counts else ""
        raise UsageError(f"budget must be a share of the votes between 0 and 1{votes_too}, not {quote(str(budget))}")
    return whole_budget(share, votes)


def whole_budget(budget: float, votes: Votes) -> float:
    """Return a share of the votes as one of whole votes, at least one, where votes are counts."""
    return max(math.floor(min(budget, 1.0) * votes.total + SAME), 1) / votes.total if votes.is_counts else budget


class _Reach:
    def __init__(
        self, votes: Votes, T: Statistic, budget: float, change: Change, clock: Clock, progress: Progress | None
    ) -> None:
        self.votes, self.T, self.budget, self.change = votes, T, budget, change
        self.clock, self.progress = clock, progress
        self.before = T(votes).ranking
        place = _places(self.before)
        self.best, self.worst = _limits(votes, T, self.before, budget, change)
        self.shown_best, self.shown_worst = place.copy(), place.copy()
        self._answers: dict[Enters | Leaves, bool] = {}

    def result(self) -> Reach:
        open_ends = (self.best < self.shown_best) | (self.worst > self.shown_worst)
        status = Status.LEAST
        if open_ends.any():
            status = Status.BETWEEN_TIME_LIMIT if self.clock.over() else Status.BETWEEN
            status = Status.BETWEEN_INTERRUPTED if self.clock.interrupted else status
        ends = self.best, self.worst, self.shown_best, self.shown_worst
        return Reach(self.votes.items, self.budget, *ends, status, self.change)

    def narrow(self, known: Ends) -> None:
        """Use an engine's bounds for all items at once."""
        np.maximum(self.best, known.best, out=self.best)
        np.minimum(self.worst, known.worst, out=self.worst)
        np.minimum(self.shown_best, known.shown_best, out=self.shown_best)
        np.maximum(self.shown_worst, known.shown_worst, out=self.shown_worst)

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
        """Whether a goal may be within the budget; an attack within it extends the places shown."""
        if goal in self._answers:
            return self._answers[goal]
        found = attack(self.votes, self.T, goal, change=self.change, time_limit=self.clock.time_limit())
        counts = self.votes.is_counts
        least = found.votes_needed / self.votes.total if counts else found.lower
        best = found.whole if counts else found
        within = best is not None and best.plan is not None and best.plan.budget(self.votes) <= self.budget + 1e-6
        if within and best is not None and best.votes is not None:
            self._show(self.T(best.votes).ranking)
        self._answers[goal] = least <= self.budget + SAME
        return self._answers[goal]

    def try_attacks(self) -> None:
        """Spend the whole budget for and against each item, and record the places of all items."""
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
            for direction in directions(self.votes, self.T, self.before, aim, self.change):
                plan = direction.plan(self.budget * self.votes.total, whole=self.votes.is_counts)
                if plan.leaves_nothing(self.votes):
                    break
                after = consensus_of(plan.applied(self.votes), self.T, self.clock.time_limit())
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


def _limits(votes: Votes, T: Statistic, before: Ranking, budget: float, change: Change) -> tuple[Ints, Ints]:
    """Return the best and worst places that are not ruled out."""
    n = votes.n
    best, worst = np.ones(n, dtype=np.int64), np.full(n, n)
    prices = _prices(votes, T, before, change)
    if prices is not None:
        cannot_pass = prices > budget + SAME  # [b, a]: b stays below a
        best, worst = 1 + cannot_pass.sum(axis=1), n - cannot_pass.sum(axis=0)
    if rule_of(T).majorities_first:
        for first, last, group in _groups(votes, change.pull * budget):
            best[group], worst[group] = np.maximum(best[group], first), np.minimum(worst[group], last)
    return best, worst


def _prices(votes: Votes, T: Statistic, before: Ranking, change: Change) -> Floats | None:
    if votes.compares_all and rule_of(T).on(votes).median_of == "spearman_rho":  # Borda's points
        points = Points(votes, before, change)
        prices = np.zeros((votes.n, votes.n))
        order = list(points.order)
        prices[np.ix_(order, order)] = points.above / UNIT
        return prices
    return hints_of(T).prices(votes, change)


def _groups(votes: Votes, moved: float) -> Iterator[tuple[int, int, Ints]]:
    """Yield (first place, last place, items) of groups that no attack reorders, from the top.

    Margins move by up to `moved`, a share of the votes.
    """
    margins = (votes.wins() - votes.wins().T) / votes.total
    surely = margins > moved + SAME
    n = votes.n
    # As with majorities: the k items that certainly beat most others are a group if they beat all the others.
    order = np.argsort(-surely.sum(axis=1), kind="stable")
    start = 0
    for end in range(1, n + 1):
        if end == n or surely[np.ix_(order[:end], order[end:])].all():
            yield start + 1, end, order[start:end]
            start = end
