"""One goal on many items: certified bounds and an attack, where a walk through all orders is not feasible.

Upper bounds come from targets. A target that is cheaper than every order that misses the goal is enough, whether or
not it is the median itself, so its price is a linear program whose rivals all miss the goal. Lower bounds come from
the duals of those rivals: with fixed weights on them the lowest cost of any attack is a sum over pairs, and its minimum
over all orders that reach the goal is again a median problem, relaxed to a linear program. Proofs:
docs/theory/breakdown.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from heapq import heappop, heappush

import numpy as np

from holdrank.arrays.tolerances import STRICT
from holdrank.attacks.goals import Aim
from holdrank.attacks.kemeny.counted import whole_price
from holdrank.attacks.kemeny.orders import cheapest_rival, signs
from holdrank.attacks.kemeny.siege import LAST_STEP, SOLVED, UNIT, Siege, TargetOptimum
from holdrank.attacks.plans import Found, Plan, Progress
from holdrank.attacks.sides import Side, missing, one_pair, reaching
from holdrank.attacks.whole import Whole, known_so_far, votes_needed
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny.branch import relaxed_within
from holdrank.status import Clock, Step

_ROUNDS = 12  # of better targets and better weights
_TARGETS = 4  # arcs whose cheapest orders are tried as targets in one round
_SPLITS = 20  # of sets of arcs, for one set of weights
_EXACT = 1e-4  # in UNIT: bounds this near are one number


class GoalSearch:
    """The search for the minimum budget that reaches one goal other than a distance."""

    def __init__(self, siege: Siege, aim: Aim) -> None:
        self.siege, self.aim = siege, aim
        place = np.argsort(siege.items)
        self.arcs, self.together = reaching(aim, place)
        self.miss = missing(aim, place)
        self.margins = siege.margins * UNIT
        self.rivals: list[Ints] = [np.arange(siege.n)]
        self.lower, self.upper = 0.0, math.inf
        self.target: Ints | None = None
        self.price_of_target: TargetOptimum | None = None
        self._met: set[bytes] = set()
        # Of battles alone: how many there are of each kind, the winner first.
        self.battles = np.zeros((siege.n, siege.n))
        if siege.battles and siege.takes:
            mass = siege.cap[: siege.takes] * UNIT
            for ranks, weight in zip(siege.ranks.T, mass, strict=True):
                listed = np.flatnonzero(ranks)
                if len(listed) == 2 and ranks[listed[0]] != ranks[listed[1]]:
                    winner, loser = listed[np.argsort(ranks[listed])]
                    self.battles[winner, loser] += weight

    def search(self, clock: Clock, progress: Progress | None) -> None:
        """Improve targets and weights in turn until the bounds meet, nothing changes, or the time limit is reached."""
        pull = 0.0
        likely = sorted(self.arcs, key=self._passing_cost)
        for number in range(_ROUNDS):
            if progress is not None:
                progress(
                    Step(
                        "rounds", number, _ROUNDS, known_so_far(self.siege.votes, self.lower / UNIT, self.upper / UNIT)
                    )
                )
            before = self.lower, self.upper
            self._try_all(likely[:_TARGETS], pull, clock)
            if number == 0:
                self._raise_by_chains(clock)
            if clock.over() or self.price_of_target is None:
                return
            if not self._settled():
                likely = self._raise_by_weights(self.price_of_target, clock)
            if self._settled() or clock.over() or (number and (self.lower, self.upper) == before):
                return
            # The next targets are cheapest under the margins that an attack of this size leaves if nothing runs out.
            pull = self._pull() * self.upper

    def _settled(self) -> bool:
        return self.lower >= self.upper - _EXACT

    def _pull(self) -> float:
        """Return by how much a changed ballot may move every margin; battles move one only."""
        return 0.0 if self.siege.battles else self.siege.change.pull

    def _passing_cost(self, arc: tuple[int, int]) -> float:
        """Return the least sum of margins that one item loses to pass another, the rest as it is."""
        b, a = arc
        if b < a:
            return 0.0
        between = np.arange(a + 1, b)
        up, down = self.margins[between, b], self.margins[a, between]
        meet = np.concatenate(([0.0], np.cumsum(down))) + np.concatenate((np.cumsum(up[::-1])[::-1], [0.0]))
        return float(self.margins[a, b] + meet.min())

    def _try_all(self, arcs: Sequence[tuple[int, int]], pull: float, clock: Clock) -> None:
        """Try the cheapest orders that contain one of these arcs, or all of them, as targets."""
        cost = np.maximum(pull * signs(np.arange(self.siege.n)) - self.margins, 0.0)
        first, then = (np.unique([arc[end] for arc in self.arcs]) for end in (0, 1))
        sides = [Side(first, then)] if self.together else [one_pair(*arc) for arc in arcs]
        for side in sides:
            if clock.over():
                return
            self._try(side.cheapest(cost, False, clock).order, clock)

    def _try(self, target: Ints, clock: Clock) -> None:
        """Price a target and keep it if it is the best."""
        if not self._reaches(target):
            # The one item that must enter the first few has passed some of them, but not enough.
            newcomer = self.arcs[0][0]
            target = np.insert(target[target != newcomer], self.aim.top - 1, newcomer)
        if target.tobytes() in self._met:
            return
        self._met.add(target.tobytes())
        price = self.price(target, 0.0, clock)
        if price is not None and price.value < self.upper and self._may(price.value):
            self.upper, self.target, self.price_of_target = price.value, target, price

    def _may(self, value: float) -> bool:
        return not (not self.siege.change.puts and value / UNIT > 1 - self.siege.lightest / 2)

    def _reaches(self, target: Ints) -> bool:
        """Whether an order reaches the goal."""
        if self.aim.above:
            place = np.argsort(target)
            return bool(place[self.arcs[0][0]] < place[self.arcs[0][1]])
        first = set(self.siege.items[target[: self.aim.top]].tolist())
        return not first.isdisjoint(self.aim.newcomers)

    def price(self, target: Ints, slack: float, clock: Clock) -> TargetOptimum | None:
        """Return the minimum budget with which every order that misses the goal loses to the target by `slack`."""
        toward = signs(target)

        def rival_of(after: Floats) -> tuple[Ints | None, bool]:
            rival, proved = self._rival(after, slack, clock)
            lead = float((after * (toward - signs(rival))).sum()) / 4
            if self._reaches(rival) or lead >= slack - SOLVED:
                return None, proved
            self.rivals.append(rival)
            return rival, proved

        return self.siege.program(target, list(self.rivals), lambda _: slack, rival_of, clock)

    def _rival(self, after: Floats, slack: float, clock: Clock) -> tuple[Ints, bool]:
        """Return the best order that misses the goal, and whether that is proven; another order if none such is best.

        Where the orders that miss the goal are not one side of it, one item must stand high: a little push down in all
        of its pairs makes an order that misses the goal the best one unless all of these lose.
        """
        if self.miss is not None:
            return cheapest_rival(after, False, self.miss, clock)
        newcomer = self.arcs[0][0]
        pushed = after.copy()
        pushed[newcomer] -= slack / self.siege.n
        pushed[:, newcomer] += slack / self.siege.n
        return cheapest_rival(pushed, False, None, clock)

    def _raise_by_chains(self, clock: Clock) -> None:
        """Raise the lower bound by what any chain of neighbours from a newcomer to one that it passes takes."""
        starts, stops = ({arc[end] for arc in self.arcs} for end in (0, 1))
        bound = self.siege.chain_bound(starts, stops, self.upper / UNIT, clock) * UNIT
        self.lower = max(self.lower, min(bound, self.upper))

    def _raise_by_weights(self, price: TargetOptimum, clock: Clock) -> list[tuple[int, int]]:
        """Raise the lower bound by the duals of the rivals that a target's price came with.

        Where one of several arcs is enough, the arcs with the smallest bound are split until that no longer helps.
        Returns the arcs that are most likely to be part of a better target.
        """
        n = self.siege.n
        against = np.zeros((n, n))  # weight of the rivals with the row before the column
        for weight, rival in zip(price.weights, price.rivals, strict=True):
            against += weight * (signs(rival) > 0)
        if not against.any():
            return []
        bound_of = partial(self._least_of_battles if self.siege.battles else self._least_mean, against, price.balance)
        made = itertools.count()
        bound, likely = bound_of(self.arcs, clock)
        open_ = [(bound, next(made), self.arcs, likely)]
        for _ in range(_SPLITS):
            bound, _, arcs, likely = open_[0]
            if bound >= self.upper - _EXACT or self.together or len(arcs) == 1 or clock.over():
                break
            heappop(open_)
            for half in (likely[: len(arcs) // 2], likely[len(arcs) // 2 :]):
                found, order = bound_of(half, clock)
                heappush(open_, (max(found, bound), next(made), half, order))
        self.lower = max(self.lower, min(open_[0][0], self.upper))
        return open_[0][3]

    def _least_of_battles(
        self, against: Floats, balance: float, arcs: Sequence[tuple[int, int]], clock: Clock
    ) -> tuple[float, list[tuple[int, int]]]:
        """Return a bound for orders with these arcs where one changed battle changes one pair.

        Then the dual of the attack depends on pairs only: with i before j, the weight of the rivals that have j before
        i times the margin, less what removing battles can save.
        """
        change, W = self.siege.change, self.battles
        if not change.takes:
            against, balance = against / max(float(against.max()), 1.0), 0.0
        balance = max(balance, float(against.max())) if change.keeps_total else 0.0
        cost = against.T * self.margins.T
        fixed = 0.0
        if change.takes:
            cost = cost - W.T * np.maximum(balance + against.T - 1, 0.0) - W * np.maximum(balance - against.T - 1, 0.0)
            fixed = max(UNIT - float(W.sum()), 0.0) * max(balance - 1, 0.0)
        bound, before = relaxed_within(cost, arcs, self.together, self.upper + fixed, clock)
        return bound - fixed, _by_use(arcs, before)

    def _least_mean(
        self, against: Floats, _: float, arcs: Sequence[tuple[int, int]], clock: Clock
    ) -> tuple[float, list[tuple[int, int]]]:
        """Return a bound for orders with these arcs: a changed ballot helps by one or two in every pair at most.

        So the budget is at least the mean margin of the pairs to turn. The largest budget with which no order gains is
        found from above (Dinkelbach): while the relaxation gains, its mean margin is the next budget to try.
        """
        pull, budget = self._pull(), self.upper
        size, lost = against.T * pull, against.T * self.margins.T
        while True:
            cost = lost - budget * size
            tiny = 1e-10 * max(float(np.abs(cost).sum()), 1e-300)
            bound, before = relaxed_within(cost, arcs, self.together, 0.0, clock)
            if bound >= -tiny:
                return budget, _by_use(arcs, before)
            turned = float((before * size).sum()) if before.size else 0.0
            mean = float((before * lost).sum()) / turned if turned > 0 else 0.0
            if mean >= budget or mean <= self.lower or clock.over():
                return 0.0, _by_use(arcs, before)
            budget = mean

    def found(self, clock: Clock) -> Found:
        """Return bounds and an attack, in shares of the votes."""
        plan: Plan | None = None
        upper = self.upper
        if self.target is not None:
            patient = clock.for_last_step(LAST_STEP)
            price = self.price(self.target, STRICT * UNIT, patient)
            if price is not None and self._may(price.value):
                plan = self.siege.as_plan(self.target, price.taken / UNIT * self.siege.votes.total)
        lower = min(self.lower, upper) / UNIT
        return Found(lower, upper / UNIT if plan is not None else math.inf, plan)

    def whole(self, lower: float, target: Ints, clock: Clock) -> Whole:
        """Return whole votes: the lower bound from the shares, and a plan for one target, if there is one."""
        if not len(target):
            return Whole(votes_needed(lower, self.siege.votes.total))
        rivals = np.array(self.rivals, dtype=np.int64)
        _, plan, _ = whole_price(self.siege, target, True, rivals, math.inf, clock, self.miss)
        return Whole(votes_needed(lower, self.siege.votes.total), plan)


def _by_use(arcs: Sequence[tuple[int, int]], before: Floats) -> list[tuple[int, int]]:
    """Return arcs sorted by how much of them is in a solution."""
    return sorted(arcs, key=lambda arc: -before[arc]) if before.size else list(arcs)
