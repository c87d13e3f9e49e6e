"""A walk through target orders below limits that fall as cheaper ones are priced; subclasses define the search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.kemeny import walks
from holdrank.attacks.kemeny.orders import flips
from holdrank.attacks.kemeny.siege import SUBSETS_UP_TO, Priced, Siege
from holdrank.attacks.plans import Progress
from holdrank.rankings import Floats, Ints
from holdrank.status import Clock, Step

_TINY = 1e-12
_BUFFER, _LEAST_BUFFER = 50_000, 512  # candidates kept before they are priced, at most and at least
_PAIRS_KEPT = 1 << 24  # of all candidates together, where items are many
# Candidates priced against the same limits between two checks of the clock, for any number of processors: fewer where
# one takes longer.
_BATCH, _SMALL_BATCH, _LEAST_BATCH = 512, 64, 32
_BATCH_WORK = 5e7  # columns times pairs
_PATIENCE = 300_000_000  # orders visited at most when there is no time limit: about a minute


class TargetSearch(ABC):
    """A walk through target orders below limits that fall as cheaper ones are priced."""

    def __init__(self, siege: Siege) -> None:
        self.siege = siege
        self.above = np.array([-1, -1])
        self.newcomer = np.zeros(siege.n, dtype=np.bool_)
        self.top = 0
        self.visited = 0
        self.priced = 0

    def wish_for(self, aim: Aim) -> None:
        """Visit only orders that reach an aim other than a distance."""
        place = np.argsort(self.siege.items)
        self.top = aim.top
        if aim.above:
            self.above = place[list(aim.above)]
        else:
            self.newcomer[place[list(aim.newcomers)]] = True

    def wanted(self, ends: Ints) -> walks.Wanted:
        """Return which orders to visit, given where the parts of the median end."""
        return walks.Wanted(self.siege.against, ends, self.above, self.newcomer, self.top, self.siege.battles)

    @abstractmethod
    def limits(self) -> Floats:
        """Return the price below which an order with k flipped pairs is of interest, for each k."""

    @abstractmethod
    def take(self, priced: Priced, clock: Clock) -> None:
        """Learn the price of an order."""

    def so_far(self) -> str:
        """Return the bounds so far as text; empty without any."""
        return ""

    def learn(self, orders: Ints, bounds: Floats, clock: Clock, progress: Progress | None = None) -> None:
        """Price orders, the most promising first, as far as their bounds stay below the limits."""
        turned = flips(orders)
        ranked = np.argsort(bounds, kind="stable")
        most = _BATCH if self.siege.n <= SUBSETS_UP_TO else _SMALL_BATCH
        batch = max(min(most, int(_BATCH_WORK / (len(self.siege.cap) * self.siege.n**2))), _LEAST_BATCH)
        for start in range(0, len(ranked), batch):
            chosen = ranked[start : start + batch]
            limits = self.limits()
            chosen = chosen[bounds[chosen] < limits[turned[chosen]] - _TINY]
            if clock.over():
                return
            if len(chosen):
                self.priced += len(chosen)
                if progress is not None:
                    progress(Step("orders priced", self.priced, self.priced, self.so_far()))
                for priced in self.siege.price(orders[chosen], limits[turned[chosen]] - _TINY, clock):
                    self.take(priced, clock)

    def walk(self, budget: float, most: int, clock: Clock, progress: Progress | None) -> bool:
        """Visit all orders that may cost less than `budget` and the limits; return whether the walk finished."""
        siege = self.siege
        most_kept = min(_BUFFER, max(_LEAST_BUFFER, _PAIRS_KEPT // max(siege.n * (siege.n - 1) // 2, 1)))
        walk, found = walks.new_walk(siege.n), walks.room_for(most_kept, siege.n)
        limits = np.minimum(self.limits(), budget)
        wanted = self.wanted(walks.parts_of(siege.against, float(limits[-1])))
        visited = 0
        while visited < most:
            limits = np.minimum(self.limits(), budget)
            nodes, finished = walks.search_orders(wanted, limits, walk, found, siege.stride, False)
            visited += nodes
            self.visited += nodes
            count = int(found.filled[0])
            if finished or count >= most_kept:
                self.learn(found.orders[:count].copy(), found.bounds[:count].copy(), clock, progress)
                found.clear()
            if clock.over():
                return False
            if finished:
                return True
            if progress is not None:
                progress(Step("orders visited", self.visited, self.visited, self.so_far()))
        return False

    def deepen(self, budgets: Iterable[float], clock: Clock, progress: Progress | None) -> float:
        """Walk with rising budgets; return the largest for which the walk finished."""
        done = 0.0
        patience = _PATIENCE if clock.deadline is None else 10**15
        for budget in budgets:
            if clock.over() or self.visited >= patience:
                break
            if budget > done and self.walk(budget, patience - self.visited, clock, progress):
                done = budget
        return done
