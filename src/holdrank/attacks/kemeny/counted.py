"""The minimum number of whole votes for an attack on Kemeny's median: the programs of targets in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from holdrank.attacks.goals import Aim
from holdrank.attacks.kemeny.integers import UndecidedError, least_cost
from holdrank.attacks.kemeny.orders import cheapest_rival, flips, signs
from holdrank.attacks.kemeny.pricing import Outcome
from holdrank.attacks.kemeny.siege import Priced, Siege
from holdrank.attacks.kemeny.targets import TargetSearch
from holdrank.attacks.plans import Plan
from holdrank.attacks.sides import Side, missing
from holdrank.attacks.whole import Whole, votes_needed, votes_to_decide
from holdrank.rankings import Floats, Ints
from holdrank.status import Clock

_WHOLE_PROGRAMS = 400  # orders rounded to whole votes at most, some hundredths of a second each
_WHOLE_WALK = 50_000_000  # orders visited at most for whole votes


class CountedSearch(TargetSearch):
    """The minimum number of whole votes: a search over orders whose price in shares allows fewer than known."""

    def __init__(self, siege: Siege, aims: Sequence[Aim], lower: Sequence[float]) -> None:
        super().__init__(siege)
        self.is_curve = bool(aims[0].flips)
        self.miss: Side | None = None  # the orders that an attack which decides must beat, where that is not all others
        if not self.is_curve:
            self.wish_for(aims[0])
            self.miss = missing(aims[0], np.argsort(siege.items))
        pairs = siege.n * (siege.n - 1) // 2
        self.least = {False: np.full(pairs + 1, np.inf), True: np.full(pairs + 1, np.inf)}  # by: strictly?
        total = siege.votes.total
        self.asked = {aim.flips: votes_needed(low, total) for aim, low in zip(aims, lower, strict=True)}
        # What the shares make necessary to decide.
        self.asked_to_decide = {
            aim.flips: votes_to_decide(low, total, max(pairs, 1), siege.change)
            for aim, low in zip(aims, lower, strict=True)
        }
        self.plans: list[Plan | None] = [None] * (pairs + 1)
        self.tie_plans: list[Plan | None] = [None] * (pairs + 1)
        self.seen: set[bytes] = set()
        self.finished, self.undecided = False, False

    def limits(self) -> Floats:
        """See `TargetSearch`: one vote less than is known to tie, or to decide, unless that is known to be needed."""
        limits = np.zeros(len(self.plans))
        for k, needed in self.asked.items():
            decides = float(self.least[True][k])
            ties = min(float(self.least[False][k]), decides)
            open_ = [ties] * (ties > needed) + [decides] * (decides > self.asked_to_decide[k])
            limits[k] = (max(open_, default=1.0) - 1 + 1e-6 * bool(open_)) / self.siege.votes.total
        return np.maximum.accumulate(limits)

    def take(self, priced: Priced, clock: Clock) -> None:  # noqa: ARG002
        """See `TargetSearch`: a price that may be rounded to fewer votes than are known is rounded."""
        if priced.outcome in (Outcome.PRICED, Outcome.OPEN):
            self.round(priced.order, priced.rivals)

    def round(self, order: Ints, rivals: Ints) -> None:
        """Find the minimum number of whole votes for one order, weakly and strictly."""
        if order.tobytes() in self.seen or len(self.seen) >= _WHOLE_PROGRAMS or self.clock.over():
            return
        self.seen.add(order.tobytes())
        reach = slice(1, int(flips(order[None])[0]) + 1) if self.is_curve else slice(None)
        for strictly, least in self.least.items():
            stop = float(least[reach].max())
            miss = self.miss if strictly else None
            met = rivals if miss is None else rivals[:0]
            number, plan, met = whole_price(self.siege, order, strictly, met, stop, self.clock, miss)
            rivals = met if miss is None else rivals
            self.undecided |= math.isnan(number)
            better = number < least[reach]
            least[reach][better] = number
            plans = self.plans if strictly else self.tie_plans
            for at in np.flatnonzero(better).tolist():
                plans[at + (reach.start or 0)] = plan

    def search(self, orders: Sequence[Ints], clock: Clock) -> None:
        """Begin with the best orders in shares, then look for others that take fewer whole votes."""
        self.clock = clock
        none = np.empty((0, self.siege.n), dtype=np.int64)
        for order in orders:
            self.round(order, none)
        walked = self.walk(math.inf, _WHOLE_WALK, clock, None)
        self.finished = walked and len(self.seen) < _WHOLE_PROGRAMS and not self.undecided

    def found(self, aim: Aim) -> Whole:
        """Return bounds in whole votes; where the search did not finish, the bound that follows from the shares."""
        k = aim.flips
        least = float(min(self.least[False][k], self.least[True][k]))
        settled = self.finished or least <= self.asked[k]
        # All orders that could decide with fewer votes were examined; this does not prove that no number of votes
        # decides.
        proved = self.finished and self.miss is not None and math.isfinite(self.least[True][k])
        decide = max(float(self.least[True][k]) if proved else 0.0, self.asked_to_decide[k])
        return Whole(least if settled else self.asked[k], self.plans[k], self.tie_plans[k], decide)


def whole_price(
    siege: Siege, target: Ints, strictly: bool, rivals: Ints, stop: float, clock: Clock, miss: Side | None = None
) -> tuple[float, Plan | None, Ints]:
    """Return the minimum number of whole votes that make the target an optimum, or the only one; with the plan.

    The number is infinite if it is not below `stop`, and nan if it could not be found. Also returns the rivals met. The
    same program in whole numbers: margins of counts are whole, so to win strictly is to win by one. With a side `miss`,
    the target has to win against the orders of that side only.
    """
    total = siege.votes.total
    margin = np.rint(siege.margin * total)
    toward = signs(target)
    cap = np.concatenate((np.rint(siege.cap[: siege.takes] * total), np.full(len(siege.cap) - siege.takes, 4 * total)))
    rows = [*([] if miss else [np.arange(siege.n)]), *rivals]
    whole = False  # first the rivals that shares of votes meet, which costs next to nothing
    while True:
        gains, needs = [], []
        for rival in rows:
            gain, need, size = siege.row(target, np.asarray(rival), margin)
            if size:
                gains.append(gain)
                needs.append(need + strictly)
        if len(siege.balance_row):
            gains.append(siege.balance_row)
            needs.append(0.0)
        if not siege.change.puts:  # one vote must be left
            gains.append(-np.ones(len(cap)))
            needs.append(1 - total)
        table = np.array(gains).reshape(-1, len(cap))
        met = np.array(rows if miss else rows[1:], dtype=np.int64).reshape(-1, siege.n)
        try:
            taken = least_cost(table, np.array(needs), cap, siege.cost, whole, stop, clock)
        except UndecidedError:
            return math.nan, None, met
        if taken is None:
            return math.inf, None, met
        after = siege.margins_after(target, taken / total) * total
        if whole:
            after = np.rint(after)
        # To win against every rival by one is to win by less than nothing after a push by one in all pairs.
        wished = after * (len(margin) + 1) - toward if strictly else after
        rival, proved = cheapest_rival(wished, whole, miss, clock)
        if not proved:
            return math.nan, None, met
        if float((wished * (signs(rival) - toward)).sum()) / 4 >= (0.5 if whole else 1e-6):
            if any((rival == known).all() for known in rows):
                return math.nan, None, met  # rounding of the solver; no answer is better than a wrong one
            rows.append(rival)
        elif whole:
            return float(siege.cost @ taken), siege.as_plan(target, taken), met
        else:
            whole = True
