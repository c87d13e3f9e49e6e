"""The price of one target order: the minimum budget with which it becomes a Kemeny median, and the attack.

For a target the best ballot to add is the target itself: no ballot helps it more against any rival. Which ballots to
remove is a linear program with one row for each rival order that must not win; rivals are added as needed.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from holdrank.arrays.tolerances import STRICT
from holdrank.attacks.kemeny import pricing, walks
from holdrank.attacks.kemeny.integers import leaves_nothing
from holdrank.attacks.kemeny.orders import cheapest_rival, signs, widest_path
from holdrank.attacks.kemeny.pricing import MOST_ROWS, Outcome, Prices, Targets
from holdrank.attacks.plans import Plan, adds_battles, replacing
from holdrank.rankings import Floats, Ints, Ranking
from holdrank.rules.kemeny import cheapest_order
from holdrank.rules.solvers import highs
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

SUBSETS_UP_TO = 12  # items: above, the rivals of a target come from the branch and bound of the median itself
_WALK = 400_000  # orders of 12 items visited between two checks of the clock, some hundredths of a second
UNIT = 10 * highs.UNIT  # all votes together; finer than elsewhere, because bounds are compared to a ten-millionth of it
SOLVED = 1e-5  # in that unit: what counts as no rival
LAST_STEP = 2.0  # seconds for the attack of a search whose time is over
_FEW_TARGETS = 4  # of many items, priced between two looks at the time
_ONE_ORDER = 5.0  # seconds for one order that tempts
_MOST_RIVALS = 400  # of one target in such a program; a tenth of that is usual


@dataclass(slots=True)
class Priced:
    """A target order with its price."""

    order: Ints
    value: float
    outcome: Outcome
    rivals: Ints


@dataclass(frozen=True, slots=True)
class TargetOptimum:
    """The optimum of the linear program of one target, all shares in `UNIT` for the votes together.

    Attributes
    ----------
    value : float
        The minimum budget, proved from below by the duals.
    taken : array
        Of each column.
    rivals : list of arrays
        One for each row.
    weights : array
        Duals of the rivals, for margins summed over pairs.
    balance : float
        Dual of a battle added, where as many must be removed.
    """

    value: float
    taken: Floats
    rivals: list[Ints]
    weights: Floats
    balance: float


class Siege:
    """The votes as an attacker sees them: items numbered by the median, ballots to remove, ballots to add.

    The attacker chooses ``z``: columns are the ballots to remove (when the change allows it), then what is added.
    Replacing a ballot by the target is one column, because the target is the best that can be put in.
    """

    def __init__(self, votes: Votes, before: Ranking, change: Change) -> None:
        self.votes, self.change = votes, change
        self.items: Ints = np.asarray(before.order)
        self.n = n = votes.n
        first, second = np.triu_indices(n, 1)
        self.pair = np.zeros((n, n), dtype=np.int64)
        self.pair[first, second] = np.arange(len(first))
        wins = votes.wins()[np.ix_(self.items, self.items)]
        self.margins: Floats = (wins - wins.T) / votes.total  # the difference of counts is exact
        self.margin = self.margins[first, second]
        self.battles = adds_battles(votes)
        # What a target wins by in every pair: a ranking added does that at once, battles pair by pair; so may drops.
        self.slack = STRICT / max(len(first), 1) if self.battles or not change.puts else STRICT
        share = votes.weights / votes.total
        self.lightest = float(share.min())
        ranks = np.ascontiguousarray(votes.ranks.T[self.items]).astype(np.int32)
        if not votes.observed:
            ranks[ranks == 0] = n + 1
        takes = change.takes
        self.ranks = ranks if takes else ranks[:, :0]
        self.takes = self.ranks.shape[1]
        self.swaps = change.keeps_total and not self.battles
        puts = 0 if not change.puts or self.swaps else (len(first) if self.battles else 1)
        taking = share if takes else share[:0]
        self.cap = np.concatenate((taking, np.full(puts, 2.0 if not change.takes else 1.0)))
        self.cost = np.concatenate((np.ones(self.takes), np.full(puts, 1.0 if not change.takes else 0.0)))
        # Battles added need as many removed.
        balanced = change.keeps_total and self.battles
        self.balance_row = np.concatenate((np.ones(self.takes), -np.ones(puts))) if balanced else np.empty(0)
        # One changed vote moves a margin by two when it is replaced, by one when it comes or goes.
        self.against: Floats = -self.margins / change.pull
        self.attacker = pricing.Attacker(
            self.ranks, self.pair, self.margin, self.cap, self.cost, self.balance_row, self.swaps
        )
        # A visit takes time in proportion to n**2.
        self.stride = max(int(_WALK * min(1.0, 150 / n**2)), 1)
        self.rounds = 20 * _WALK // self.stride  # of the first walk through many orders
        self._plans: dict[bytes, Plan | None] = {}
        self._gone: dict[bytes, bool] = {}
        self._threads = min(os.cpu_count() or 1, 8)

    def price(self, targets: Ints, stops: Floats, clock: Clock) -> list[Priced]:
        """Return the price of each target, or a bound as soon as that reaches its stop; of fewer when time is up."""
        prices = pricing.new_prices(len(targets), self.n)

        at_once = len(targets) if self.n <= SUBSETS_UP_TO else _FEW_TARGETS
        reached = np.zeros(len(targets), dtype=np.bool_)

        def work(whole: slice) -> None:
            for start in range(whole.start, whole.stop, at_once):
                if clock.seconds_left() <= 0 or clock.interrupted:  # checks are not counted: threads share them
                    return
                part = slice(start, min(start + at_once, whole.stop))
                first_rivals = np.broadcast_to(np.arange(self.n), (len(targets[part]), 1, self.n)).copy()
                self._solve(Targets(targets[part], stops[part], first_rivals), 0.0, _rows_of(prices, part))
                reached[part] = True

        threads = min(self._threads, 1 + len(targets) // 16)
        edges = np.linspace(0, len(targets), threads + 1).astype(int)
        slices = [slice(a, b) for a, b in itertools.pairwise(edges.tolist())]
        if threads == 1:
            work(slices[0])
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, slices))
        priced = []
        for at in np.flatnonzero(reached).tolist():
            outcome, value = Outcome(prices.outcomes[at]), float(prices.values[at])
            rivals = _used(prices.rivals[at])
            if outcome == Outcome.OPEN and not clock.over():
                outcome, value, rivals, _ = self._settle(targets[at], float(stops[at]), 0.0, rivals, clock)
            priced.append(Priced(targets[at], value, outcome, rivals))
        return priced

    def _solve(self, targets: Targets, slack: float, prices: Prices) -> None:
        pricing.price_orders(self.attacker, targets, slack, self.n <= SUBSETS_UP_TO, prices)

    def _settle(
        self, target: Ints, stop: float, slack: float, rivals: Ints, clock: Clock
    ) -> tuple[Outcome, float, Ints, Floats]:
        """Price one target with rivals found by the branch and bound of the median; return what is taken, too."""
        rivals = np.concatenate((np.arange(self.n)[None], rivals))
        best = 0.0
        while True:
            if len(rivals) > MOST_ROWS - 10:
                return self._settle_by_program(target, slack, rivals, best, clock)
            prices = pricing.new_prices(1, self.n, len(self.cap))
            self._solve(Targets(target[None], np.array([stop]), rivals[None]), slack, prices)
            outcome, taken = Outcome(prices.outcomes[0]), prices.taken[0]
            best = max(best, float(prices.values[0]))
            rivals = np.concatenate((rivals, _used(prices.rivals[0])))
            if outcome != Outcome.OPEN or clock.over():
                return outcome, best, rivals, taken
            after = self.margins_after(target, taken) - slack * signs(target)
            rival, proved = cheapest_rival(after, False, None, clock)
            gained = float((after * (signs(rival) - signs(target))).sum()) / 4
            if gained <= 1e-10:
                return (Outcome.PRICED if proved else Outcome.OPEN), best, rivals, taken
            rivals = np.concatenate((rivals, rival[None]))

    def _settle_by_program(
        self, target: Ints, slack: float, rivals: Ints, best: float, clock: Clock
    ) -> tuple[Outcome, float, Ints, Floats]:
        """Price one target that has more rivals than the compiled loop takes, as battles may."""
        toward = signs(target)

        def rival_of(after: Floats) -> tuple[Ints | None, bool]:
            pushed = after - slack * UNIT * toward
            rival, proved = cheapest_rival(pushed, False, None, clock)
            lead = float((pushed * (toward - signs(rival))).sum()) / 4
            return (None if lead >= -SOLVED else rival), proved

        different = [rival for rival in rivals if (rival != target).any()]
        solved = self.program(target, different, lambda size: slack * UNIT * size, rival_of, clock)
        if solved is None:
            return Outcome.OPEN, best, rivals, np.zeros(len(self.cap))
        return Outcome.PRICED, max(best, solved.value / UNIT), np.array(solved.rivals), solved.taken / UNIT

    def margins_after(self, target: Ints, taken: Floats) -> Floats:
        """Return the matrix of margins after the attack, in shares of the votes before it."""
        after = self.margins.copy()
        chosen = np.flatnonzero(taken[: self.takes])
        for ranks, mass in zip(self.ranks[:, chosen].T, taken[chosen], strict=True):
            listed = ranks != 0
            after -= mass * np.sign(ranks[None, :] - ranks[:, None]) * (listed[:, None] & listed)
        toward = signs(target)
        if self.swaps:
            after += taken.sum() * toward
        elif self.battles and len(taken) > self.takes:
            table = np.zeros((self.n, self.n))
            table[np.triu_indices(self.n, 1)] = taken[self.takes :]
            after += (table + table.T) * toward
        elif len(taken) > self.takes:
            after += taken[-1] * toward
        return after

    def plan(self, priced: Priced, clock: Clock) -> Plan | None:
        """Return the attack that makes the target the only optimum; it usually costs slightly more than the price.

        Where votes are dropped, a tie between items that no vote compares cannot be broken by a small change.
        """
        key = priced.order.tobytes()
        if key not in self._plans:
            patient = clock.for_last_step(LAST_STEP)
            outcome, _, _, taken = self._settle(priced.order, np.inf, self.slack, priced.rivals, patient)
            works = outcome == Outcome.PRICED
            self._plans[key] = self.as_plan(priced.order, taken * self.votes.total) if works else None
        return self._plans[key]

    def program(
        self,
        target: Ints,
        rivals: Sequence[Ints],
        room: Callable[[int], float],
        rival_of: Callable[[Floats], tuple[Ints | None, bool]],
        clock: Clock,
    ) -> TargetOptimum | None:
        """Solve the program of one target with as many rivals as needed; None if it has no solution or does not finish.

        Parameters
        ----------
        target : array
        rivals : sequence of arrays
            First rivals; none of them is the target.
        room : callable
            Takes the number of pairs in which a rival differs, and returns by how much the target must win.
        rival_of : callable
            Given the margins after the attack, return the next rival, or None if there is none, and whether that is
            proved.
        """
        margin = self.margin * UNIT
        model = LinearProgram(self.cost, self.cap * UNIT, presolve=False)
        columns = np.arange(len(self.cap))[None]
        balanced = len(self.balance_row) > 0
        if balanced:
            model.add_rows(columns, self.balance_row[None], 0.0, np.inf)
        met: list[Ints] = []
        sizes: list[int] = []
        waiting = list(rivals)
        while len(met) < _MOST_RIVALS:
            for rival in waiting:
                gain, need, size = self.row(target, rival, margin)
                # Rows of like size keep the solver sound.
                model.add_rows(columns, gain[None] / size, (need + room(size)) / size, np.inf)
                met.append(rival)
                sizes.append(size)
            solved = model.solve(clock)
            if not solved.finished or not len(solved.x):
                return None
            found, proved = rival_of(self.margins_after(target, solved.x / UNIT) * UNIT)
            if found is None:
                duals = np.maximum(solved.duals, 0.0)
                weights, balance = duals[int(balanced) :] / np.array(sizes), float(duals[: int(balanced)].sum())
                return TargetOptimum(max(solved.bound, 0.0), solved.x, met, weights, balance) if proved else None
            if any((found == known).all() for known in met):
                return None  # rounding of the solver
            waiting = [found]
        return None

    def weak_plan(self, priced: Priced, clock: Clock) -> Plan | None:
        """Return the attack after which a target is one of the optima."""
        outcome, _, _, taken = self._settle(priced.order, np.inf, 0.0, priced.rivals, clock)
        return self.as_plan(priced.order, taken * self.votes.total) if outcome == Outcome.PRICED else None

    def works(self, priced: Priced, clock: Clock) -> bool:
        """Whether a target was priced and can be made the only optimum; the two differ only where votes are dropped."""
        if self.change.puts or priced.outcome != Outcome.PRICED:
            return priced.outcome == Outcome.PRICED
        return not (self.leaves_nothing(priced) or clock.over()) and self.plan(priced, clock) is not None

    def leaves_open(self, priced: Priced) -> bool:
        """Whether the value of a target still limits the lower bound: an attack may be that cheap."""
        dropped = not self.change.puts and priced.outcome == Outcome.PRICED and not self.leaves_nothing(priced)
        return priced.outcome == Outcome.OPEN or dropped

    def leaves_nothing(self, priced: Priced) -> bool:
        """Whether a target becomes a median only when all votes are dropped, which leaves no median."""
        if self.change.puts:
            return False
        key = priced.order.tobytes()
        if key not in self._gone:

            def rows() -> Ints:
                rivals = [np.arange(self.n), *priced.rivals]
                return np.array([-self.row(priced.order, rival, self.margin)[0] for rival in rivals]).astype(np.int64)

            self._gone[key] = leaves_nothing(priced.value, self.lightest, rows)
        return self._gone[key]

    def row(self, target: Ints, rival: Ints, margin: Floats) -> tuple[Floats, float, int]:
        """Return each column's gain for the target against a rival, the gain needed, and the number of pairs.

        The need is in the unit of `margin`, which is `self.margin` or that times the number of votes; the pairs are
        those on which the two differ.
        """
        first, second = np.triu_indices(self.n, 1)
        way = (signs(rival) - signs(target))[first, second] / 2
        differ = np.flatnonzero(way)
        upper, lower = self.ranks[first[differ]], self.ranks[second[differ]]
        says = np.sign(lower - upper) * ((upper != 0) & (lower != 0))
        gain = np.zeros(len(self.cap))
        gain[: self.takes] = way[differ] @ says + (len(differ) if self.swaps else 0)
        if len(gain) > self.takes:
            gain[self.takes :] = np.abs(way) if self.battles else len(differ)
        return gain, float(way @ margin), len(differ)

    def as_plan(self, order: Ints, taken: Floats) -> Plan:
        """Return the plan of a target and what is taken of each column, in the unit of the weights."""
        removed = taken[: self.takes] if self.takes else np.zeros(self.votes.distinct)
        place = np.empty(self.n, dtype=np.int64)
        place[self.items[order]] = np.arange(1, self.n + 1)
        if not self.battles:
            put = removed.sum() if self.swaps else (taken[-1] if not self.change.takes else 0.0)
            return replacing(self.votes, removed, place[None], np.array([put]))
        mass = taken[self.takes :]
        first, second = np.triu_indices(self.n, 1)
        used = np.flatnonzero(mass > 0)
        ranks = np.zeros((len(used), self.n), dtype=np.int64)
        for row, f in enumerate(used):
            pair = self.items[[first[f], second[f]]]
            ranks[row, pair] = np.argsort(np.argsort(place[pair])) + 1
        put_in = mass[used]
        if self.change.keeps_total and len(used):
            # What is taken without a battle added for it gets one that changes nothing of the order.
            put_in[np.argmax(put_in)] += max(removed.sum() - put_in.sum(), 0.0)
        return replacing(self.votes, removed, ranks, put_in)

    def chain_bound(self, starts: set[int], stops: set[int], upper: float, clock: Clock) -> float:
        """Return a bound on the price of any order in which a start stands before a stop, `upper` at most.

        It follows from the items between a start and the first stop behind it, in any such order.
        """
        start, stop = np.zeros(self.n, dtype=np.bool_), np.zeros(self.n, dtype=np.bool_)
        start[list(starts)], stop[list(stops)] = True, True
        best = widest_path(self.against, start, stop)
        if best >= upper or clock.over():
            return min(best, upper)
        return max(best, walks.search_chains(self.against, start, stop, upper, self.battles, _WALK))

    def tempting_orders(self, clock: Clock) -> Ints:
        """Return orders at rising distances that lose little: medians after a push against the current one."""
        push = np.unique(np.concatenate((np.abs(self.margin) + 1e-6, np.linspace(0.01, 1.0, 40))))
        if len(push) > 200:
            push = np.quantile(push, np.linspace(0, 1, 200))
        ahead = np.triu(np.ones((self.n, self.n)), 1)
        orders = {tuple(range(self.n - 1, -1, -1))}
        for strength in push.tolist():
            if clock.over():
                break
            pushed = self.margins - strength * (ahead - ahead.T)
            part = Clock(min(_ONE_ORDER, clock.seconds_left()), within=clock)
            solved = cheapest_order(np.maximum(-pushed, 0.0), whole=False, clock=part)
            orders.add(tuple(int(i) for i in solved.order))
        orders.discard(tuple(range(self.n)))
        return np.array(sorted(orders), dtype=np.int64).reshape(-1, self.n)


def _rows_of(prices: Prices, part: slice) -> Prices:
    """Return the room for some of the targets."""
    return Prices(prices.values[part], prices.outcomes[part], prices.taken[part], prices.rivals[part])


def _used(rivals: Ints) -> Ints:
    """Return the lines that hold a rival."""
    return np.asarray(rivals[rivals[:, 0] >= 0])
