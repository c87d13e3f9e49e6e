"""The least change of the votes that satisfies some linear conditions on the pairs of items, with its certificate.

After an attack the pair p = (i, j), i < j, has the margin D_p (weight for i above j less that against) and the weight
N_p of the votes that compare it, both linear in the weights removed and added. A `Row` asks ``u @ D + v @ N >= 0``. For
rows with duals y >= 0 every attack that satisfies them costs at least

    replace  L(y) = -y b - sum_s p_s max(0, V - y g(s) - 1)      V = largest y g(c) over the ballots c one may add,
    drop     L(y) = -y b - sum_s p_s max(0, -y g(s) - 1)         g(c) = what one vote c adds to the left sides,
    add      L(y) = -y b / V                                     b = sum_s p_s g(s) = the left sides now:

weak duality, with V a Kemeny problem. So the duals of any solver certify a bound, regardless of its tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from holdrank.arrays.knapsack import Knapsack
from holdrank.arrays.tolerances import SAME
from holdrank.attacks.kemeny.integers import leaves_nothing
from holdrank.attacks.plans import Plan, adds_battles, replacing
from holdrank.attacks.tiers.gains import BallotGains
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import cheapest_order
from holdrank.rules.solvers.highs import UNIT, LinearProgram
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_LISTED_UP_TO = 7  # items: all rankings at once are compared faster than by a search
_MOST_RECENT = 32  # distinct ballots that programs asked for lately: the next one often does
_FEW_PAIRS = 4096  # sums of more are spread over threads that wait for each other
_PENALTY = 1e3  # for missing a row by the weight of all votes: only where the rankings at hand cannot reach it
SAFE = 1e-12  # rounding of sums of shares


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The condition ``u @ D + v @ N >= 0``, or > if `strict`; `nudge` is the share of votes that makes it so.

    `eases` is the row that this one stands for where it can be met with equality only.
    """

    u: Floats
    v: Floats
    nudge: float
    strict: bool = False
    eases: Row | None = None

    @property
    def plain(self) -> Row:
        """The row as it should be met."""
        return self if self.eases is None else self.eases

    def value(self, change: Altered) -> float:
        """Return the left side after a change of the votes."""
        return total_of(self.u, change.margin) + total_of(self.v, change.compared)


@dataclass(frozen=True, slots=True)
class Altered:
    """The cheapest change that satisfies rows strictly, as shares of the votes.

    Attributes
    ----------
    bound : float
        No change that satisfies the rows weakly costs less.
    removed : (distinct,) array
    added : dict
        Share of each distinct ballot added, by its number among `ComparedPairs.kinds`.
    margin, compared : (pairs,) arrays
        D and N afterwards.
    met : bool
        Whether the rows are satisfied strictly; else they can be weakly at best, and the change means nothing.
    """

    bound: float
    removed: Floats
    added: dict[int, float]
    margin: Floats
    compared: Floats
    met: bool = True


class ComparedPairs:
    """The votes as seen by pairs of items, and what an attacker may do to them.

    Attributes
    ----------
    first, second : (pairs,) arrays
        The items i < j of each pair.
    margin, compared : (pairs,) arrays
        D and N of the original votes, in shares.
    programs : int
        Linear programs solved so far.
    """

    def __init__(self, votes: Votes, change: Change) -> None:
        self.votes, self.change = votes, change
        n = self.n = votes.n
        self.battles = adds_battles(votes)
        self.first, self.second = np.triu_indices(n, 1)
        self.index = np.zeros((n, n), dtype=np.int64)
        self.index[self.first, self.second] = self.index[self.second, self.first] = np.arange(len(self.first))
        ranks = votes.ranks.astype(np.int64)
        listed = ranks > 0
        ranks[~listed] = n + 1
        columns, seen = np.ascontiguousarray(ranks.T), np.ascontiguousarray(listed.T)
        signs = np.sign(columns[self.second] - columns[self.first]).astype(np.int8)
        # Where every ballot compares every pair, the weights that do are a number, not a matrix.
        self.speaks: npt.NDArray[np.int8] | None = None
        if votes.observed and not listed.all():
            self.speaks = (seen[self.first] & seen[self.second]).astype(np.int8)
            signs *= self.speaks
        self.gains = BallotGains(signs, self.speaks)
        self.shares: Floats = votes.weights / votes.total
        self.margin, compared = self.gains.margins(self.shares)
        self.compared: Floats = np.broadcast_to(np.asarray(compared), self.margin.shape).copy()
        if self.speaks is None:
            self.compared[:] = 1.0
        self.programs = 0
        self._recent: list[int] = []  # that programs asked for
        self._seen: tuple[Altered | None, Floats] = None, np.empty((0, 0))
        self._orders: list[tuple[int, ...]] = []  # distinct ballots added so far
        self._number: dict[tuple[int, ...], int] = {}
        self._kinds: Floats = np.empty((0, len(self.first)))
        if self.battles:
            for p in range(len(self.first)):
                self._orders += [(int(self.first[p]), int(self.second[p])), (int(self.second[p]), int(self.first[p]))]
            self._kinds = np.kron(np.eye(len(self.first)), np.array([[1.0], [-1.0]]))
        elif n <= _LISTED_UP_TO:
            self._orders = list(permutations(range(n)))
            place = np.argsort(np.array(self._orders), axis=1)
            self._kinds = np.where(place[:, self.first] < place[:, self.second], 1.0, -1.0)

    def sign(self, i: int, j: int) -> tuple[int, float]:
        """Return the number of the pair and whether D counts i above j (1) or below (-1)."""
        return int(self.index[i, j]), 1.0 if i < j else -1.0

    def compared_within(self, budget: float) -> tuple[Floats, Floats]:
        """Return the least and the most that N can be after a change of at most this share of the votes."""
        # What is added compares all pairs, unless it is battles: N then never falls when votes are replaced.
        falls = not self.change.puts or (self.battles and self.change.keeps_total)
        least = np.maximum(self.compared - budget, 0.0) if falls else self.compared
        most = self.compared if not self.change.puts else self.compared + budget
        return least, most if not self.change.takes else np.minimum(most, 1.0)

    # One row: a knapsack

    def single(self, row: Row, spare: float = 0.0) -> float:
        """Return the share of votes to change for one row; a bound where no ballot has all signs.

        With `spare`, a change is enough that leaves the left side above minus this.
        """
        u, v = row.u, row.v
        need = -(total_of(u, self.margin) + total_of(v, self.compared)) - spare
        if need <= SAFE:
            return 0.0
        best = float((np.abs(u) + v).max()) if self.battles else float(np.abs(u).sum() + v.sum())
        if not self.change.takes:
            return need / best - SAFE if best > 0 else math.inf
        number, counted = self.gains.of(row)
        supply = np.bincount(number, weights=self.shares, minlength=len(counted))
        gain = (best if self.change.keeps_total else 0.0) - counted
        useful = np.flatnonzero(gain > 0)  # from the largest gain on, for the values grow
        ballots = Knapsack(gain[useful], supply[useful])
        if not len(useful) or ballots.most < need - SAME:
            return math.inf
        if not self.change.puts and not (counted >= -SAFE).any():
            return math.inf  # for any ballots left
        return max(ballots.least_weight(need) - SAFE, 0.0)

    # Several rows: a linear program

    def cheapest(
        self, rows: Sequence[Row], clock: Clock, like: Altered | None = None, limit: float = math.inf
    ) -> Altered | None:
        """Return the cheapest change that satisfies the rows, or None when the clock stops it.

        Rankings to add are generated: each is the one that the duals of the rows favour most. Those of a similar change
        `like` are there from the start. Beyond the limit only the bound is needed.
        """
        if not rows:
            return Altered(0.0, np.zeros(len(self.shares)), {}, self.margin, self.compared)
        u, v = np.array([row.u for row in rows]), np.array([row.v for row in rows])
        gains, group = self.gains.alike(list(rows))
        base = np.einsum("rp,p->r", u, self.margin) + np.einsum("rp,p->r", v, self.compared)
        nudges = np.array([row.nudge for row in rows])
        supply: Floats = np.bincount(group, weights=self.shares).astype(np.float64)
        if not self.change.takes:
            gains, supply = gains[:0], supply[:0]
        kinds: list[int] = []
        if self.battles and self.change.puts:
            kinds = list(range(len(self._orders)))
        elif self.change.puts:
            kinds = [self._liked(u.T @ (base < nudges + SAME), clock)[1]]
            kinds += [kind for kind in (like.added if like else ()) if kind not in kinds]
            kinds += [kind for kind in self._recent if kind not in kinds]
        best_bound = -math.inf
        while True:
            found = self._program(gains, supply, self._kind_gains(u, v, kinds), base, nudges, clock)
            if found is None:
                return None
            duals, x = found
            bound, liked = self._certified(duals, u, v, gains, supply, base, clock)
            best_bound = max(best_bound, bound)
            # The program holds the ranking that could improve it most: it is solved for all rankings.
            if liked in kinds or liked < 0 or best_bound >= limit:
                break
            kinds.append(liked)
            self._recent = [liked, *(kind for kind in self._recent[: _MOST_RECENT - 1] if kind != liked)]
        removed = np.zeros(len(self.shares))
        if self.change.takes:
            removed = self._fill(x[: len(gains)], group)
        masses = x[len(gains) : len(gains) + len(kinds)]
        added = {kind: float(mass) for kind, mass in zip(kinds, masses, strict=True) if mass > 1e-14}
        met = float(x[len(gains) + len(kinds) + len(rows) :].sum()) < 1e-10
        return self._after(best_bound, removed, added, met=met)

    def _program(
        self, gains: Floats, supply: Floats, kinds: Floats, base: Floats, nudges: Floats, clock: Clock
    ) -> tuple[Floats, Floats] | None:
        """Return (duals of the rows, masses of ballots removed and added) of the program with these columns."""
        self.programs += 1
        k, m, c = len(base), len(gains), len(kinds)
        eye = np.eye(k)
        table = np.hstack((-gains.T, kinds.reshape(c, k).T, -eye, eye))
        paid = np.zeros(c) if self.change.keeps_total else np.ones(c)
        cost = np.concatenate((np.ones(m), paid, np.zeros(k), np.full(k, _PENALTY)))
        most = np.concatenate((supply * UNIT, np.full(c, 1e3 * UNIT), np.full(2 * k, 1e6 * UNIT)))
        model = LinearProgram(cost, most, presolve=False)
        wide = np.arange(m + c + 2 * k)
        aim = (nudges - base) * UNIT
        model.add_rows(np.broadcast_to(wide, table.shape), table, aim, aim)
        if self.change.keeps_total:
            balance = np.concatenate((np.ones(m), -np.ones(c)))[None]
            model.add_rows(wide[None, : m + c], balance, 0.0, 0.0)
        solution = model.solve(clock)
        if not solution.finished or not len(solution.x):
            return None
        # The reduced cost of a row's slack is the dual of the row.
        return np.maximum(solution.reduced_costs[m + c : m + c + k], 0.0), np.maximum(solution.x / UNIT, 0.0)

    def _certified(
        self, duals: Floats, u: Floats, v: Floats, gains: Floats, supply: Floats, base: Floats, clock: Clock
    ) -> tuple[float, int]:
        """Return L(duals), and the distinct ballot that these duals favour most (-1 where none is added)."""
        owed, worth = -float(duals @ base), np.einsum("gr,r->g", gains, duals)
        if not self.change.puts:
            left = owed - float(supply @ np.maximum(0.0, -worth - 1.0)) - SAFE
            # Rows have no constants: what is left may be scaled, so all of some ballot is, or nothing.
            lightest = float(self.shares.min())
            none_left = leaves_nothing(left, lightest, lambda: np.zeros((0, 0), dtype=np.int64))
            return (math.inf if none_left else min(left, 1 - lightest)), -1
        best, kind = self._liked_at(np.einsum("r,rp->p", duals, u), np.einsum("r,rp->p", duals, v), clock)
        if not self.change.takes:
            if best <= 0:
                return (math.inf if owed > SAME else 0.0), kind
            return owed / best - SAFE, kind
        bound = owed - float(supply @ np.maximum(0.0, best - worth - 1.0)) - SAFE
        return (math.inf if bound > 1 + SAME else bound), kind

    def _liked(self, u: Floats, clock: Clock) -> tuple[float, int]:
        return self._liked_at(u, np.zeros_like(u), clock)

    def _liked_at(self, u: Floats, v: Floats, clock: Clock) -> tuple[float, int]:
        """Return (an upper bound on) the largest value of an added ballot, and that ballot."""
        if self.battles:
            values = (np.column_stack((u, -u)) + v[:, None]).ravel()
            return float(values.max()), int(values.argmax())
        if self.n <= _LISTED_UP_TO:
            values = self._kinds @ u
            at = int(values.argmax())
            return float(values[at] + v.sum()), at
        order = _by_majority(u, self.first, self.second, self.n)
        bound = -float(np.abs(u).sum())
        if order is None:
            cost = np.zeros((self.n, self.n))
            cost[self.first, self.second], cost[self.second, self.first] = -u, u
            solved = cheapest_order(cost, whole=False, clock=clock)
            order, bound = solved.order, solved.bound
        if order not in self._number:
            self._number[order] = len(self._orders)
            self._orders.append(order)
            place = np.argsort(np.array(order))
            signs = np.where(place[self.first] < place[self.second], 1.0, -1.0)
            self._kinds = np.vstack((self._kinds, signs))
        slack = 1e-11 * float(np.abs(u).sum())
        return float(-bound + v.sum()) + slack, self._number[order]

    def _kind_gains(self, u: Floats, v: Floats, kinds: list[int]) -> Floats:
        signs = self._kinds[kinds]
        out: Floats = signs @ u.T + (np.abs(signs) @ v.T)
        return out

    def _fill(self, masses: Floats, group: Ints) -> Floats:
        """Return the weight removed from each ballot, given that of each group: whole ballots before parts."""
        order = np.argsort(group, kind="stable")
        shares, groups = self.shares[order], group[order]
        before = np.cumsum(shares) - shares
        starts = np.searchsorted(groups, np.arange(len(masses)))
        before -= before[starts][groups]
        removed = np.zeros(len(shares))
        removed[order] = np.clip(masses[groups] - before, 0.0, shares)
        return removed

    def _after(self, bound: float, removed: Floats, added: dict[int, float], *, met: bool) -> Altered:
        margin, compared = (
            now - gone for now, gone in zip((self.margin, self.compared), self.gains.margins(removed), strict=True)
        )
        for kind, mass in added.items():
            margin = margin + mass * self._kinds[kind]
            compared = compared + mass * np.abs(self._kinds[kind])
        return Altered(bound, removed, added, margin, compared, met)

    def pairwise(self, change: Altered) -> Floats:
        """Return the matrix P of the votes after a change; 1/2 where no vote compares a pair."""
        if change is self._seen[0]:
            return self._seen[1]
        P = np.full((self.n, self.n), 0.5)
        half = np.divide(
            change.margin, 2 * change.compared, out=np.zeros_like(change.margin), where=change.compared > 1e-12
        )
        half = np.clip(half, -0.5, 0.5)
        P[self.first, self.second] += half
        P[self.second, self.first] -= half
        self._seen = change, P
        return P

    def plan(self, change: Altered) -> Plan:
        """Return the change as a plan for the votes."""
        total = self.votes.total
        ranks = np.zeros((len(change.added), self.n), dtype=np.int64)
        for row, kind in enumerate(change.added):
            for rank, item in enumerate(self._orders[kind], start=1):
                ranks[row, item] = rank
        return replacing(self.votes, change.removed * total, ranks, np.array(list(change.added.values())) * total)


def total_of(weights: Floats, amounts: Floats) -> float:
    """Return the sum of weighted amounts, on one thread even where many items have many pairs."""
    return float(weights @ amounts if len(weights) < _FEW_PAIRS else np.einsum("p,p->", weights, amounts))


def _by_majority(u: Floats, first: Ints, second: Ints, n: int) -> tuple[int, ...] | None:
    """Return an order that agrees with the signs of u on all pairs; None if they form a cycle.

    Most programs constrain only a few pairs. Of the items that may come next, the one with the smallest number comes.
    """
    above = [0] * n
    for pair in np.flatnonzero(u).tolist():
        i, j = int(first[pair]), int(second[pair])
        if u[pair] < 0:
            i, j = j, i
        above[j] |= 1 << i
    order: list[int] = []
    left = (1 << n) - 1
    while left:
        following = next((i for i in range(n) if left >> i & 1 and not above[i] & left), None)
        if following is None:
            return None
        order.append(following)
        left ^= 1 << following
    return tuple(order)
