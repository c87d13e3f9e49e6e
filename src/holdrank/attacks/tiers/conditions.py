"""The least change of the votes that satisfies some linear conditions on the pairs of items, with its certificate.

After an attack the pair p = (i, j), i < j, has the margin D_p (weight for i above j less that against) and the weight
N_p of the votes that compare it, both linear in the weights removed and put in. A `Row` asks ``u @ D + v @ N >= 0``.
For rows with duals y >= 0 every attack that satisfies them costs at least

    replace  L(y) = -y b - sum_s p_s max(0, V - y g(s) - 1)      V = largest y g(c) over the ballots c one may add,
    drop     L(y) = -y b - sum_s p_s max(0, -y g(s) - 1)         g(c) = what one vote c adds to the left sides,
    add      L(y) = -y b / V                                     b = sum_s p_s g(s) = the left sides now:

weak duality, with V a Kemeny problem. So the duals of any solver certify a bound, whatever its tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from holdrank.arrays.knapsack import Knapsack
from holdrank.arrays.tolerances import SAME
from holdrank.attacks.kemeny.integers import leaves_nothing
from holdrank.attacks.plans import Plan, adds_battles, replacing
from holdrank.rankings import Floats, Ints
from holdrank.rules.kemeny import cheapest_order
from holdrank.rules.solvers.highs import UNIT, LinearProgram
from holdrank.status import Clock
from holdrank.votes.changes import Change
from holdrank.votes.votes import Votes

_LISTED_UP_TO = 7  # items: all rankings at once are compared faster than by a search
_PENALTY = 1e3  # for missing a row by the weight of all votes: only where the rankings at hand cannot reach it
_SAFE = 1e-12  # rounding of sums of shares


@dataclass(frozen=True, slots=True)
class Row:
    """The condition ``u @ D + v @ N >= 0``, or > if `strict`; `nudge` is the share of votes that makes it so."""

    u: Floats
    v: Floats
    nudge: float
    strict: bool = False

    def value(self, change: Altered) -> float:
        """Return the left side after a change of the votes."""
        return float(self.u @ change.margin + self.v @ change.compared)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True, slots=True)
class Altered:
    """The cheapest change that satisfies rows strictly, as shares of the votes.

    Attributes
    ----------
    bound : float
        No change that satisfies the rows weakly costs less.
    removed : (distinct,) array
    added : dict
        Share of each distinct ballot put in, by its number among `ComparedPairs.kinds`.
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
        D and N of the votes as they are, in shares.
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
        self.signs: Floats = np.sign(ranks[:, self.second] - ranks[:, self.first]).astype(np.float64)
        # Where every ballot compares every pair, the weights that do are a number, not a matrix.
        self.speaks: Floats | None = None
        if votes.unlisted == "observed" and not listed.all():
            self.speaks = (listed[:, self.first] & listed[:, self.second]).astype(np.float64)
            self.signs *= self.speaks
        self.shares: Floats = votes.weights / votes.total
        self.margin: Floats = self.shares @ self.signs
        self.compared: Floats = np.ones(len(self.first)) if self.speaks is None else self.shares @ self.speaks
        self.programs = 0
        self._mixer = np.random.default_rng(20230723).uniform(1, 2, size=4096)
        self._orders: list[tuple[int, ...]] = []  # distinct ballots put in so far
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

    def gains(self, u: Floats, v: Floats) -> Floats:
        """Return what one vote of each distinct ballot adds to the left sides: (distinct, rows)."""
        out: Floats = self.signs @ u.T
        return out + (v.sum(axis=-1) if self.speaks is None else self.speaks @ v.T)

    def compared_within(self, budget: float) -> tuple[Floats, Floats]:
        """Return the least and the most that N can be after a change of at most this share of the votes."""
        # What is put in compares all pairs, unless it is battles: N then never falls when votes are replaced.
        falls = not self.change.puts or (self.battles and self.change.keeps_total)
        least = np.maximum(self.compared - budget, 0.0) if falls else self.compared
        most = self.compared if not self.change.puts else self.compared + budget
        return least, most if not self.change.takes else np.minimum(most, 1.0)

    # One row: a knapsack

    def single(self, u: Floats, v: Floats) -> float:
        """Return the share of votes to change for ``u @ D + v @ N >= 0``; a bound where no ballot has all signs."""
        need = -float(u @ self.margin + v @ self.compared)
        if need <= _SAFE:
            return 0.0
        best = float((np.abs(u) + v).max()) if self.battles else float(np.abs(u).sum() + v.sum())
        if not self.change.takes:
            return need / best - _SAFE if best > 0 else math.inf
        counted = self.gains(u, v)
        gain = (best if self.change.keeps_total else 0.0) - counted
        useful = np.flatnonzero(gain > 0)
        useful = useful[np.argsort(-gain[useful], kind="stable")]
        ballots = Knapsack(gain[useful], self.shares[useful])
        if not len(useful) or ballots.most < need - SAME:
            return math.inf
        if not self.change.puts and not (counted >= -_SAFE).any():
            return math.inf  # whatever ballots are left
        return max(ballots.least_weight(need) - _SAFE, 0.0)

    # Several rows: a linear program

    def cheapest(
        self, rows: Sequence[Row], clock: Clock, like: Altered | None = None, limit: float = math.inf
    ) -> Altered | None:
        """Return the cheapest change that satisfies the rows, or None when the clock stops it.

        Rankings to put in are generated: each is the one that the duals of the rows like best. Those of a change
        `like` it, if one is known, are there from the start. Beyond the limit only the bound is of interest.
        """
        if not rows:
            return Altered(0.0, np.zeros(len(self.shares)), {}, self.margin, self.compared)
        u, v = np.array([row.u for row in rows]), np.array([row.v for row in rows])
        gains = self.gains(u, v)
        base = u @ self.margin + v @ self.compared
        nudges = np.array([row.nudge for row in rows])
        chosen, group = self._alike(gains)
        supply: Floats = np.bincount(group, weights=self.shares).astype(np.float64)
        if not self.change.takes:
            chosen, supply = chosen[:0], supply[:0]
        kinds: list[int] = []
        if self.battles and self.change.puts:
            kinds = list(range(len(self._orders)))
        elif self.change.puts:
            kinds = [self._liked(u.T @ (base < nudges + SAME), clock)[1]]
            kinds += [kind for kind in (like.added if like else ()) if kind not in kinds]
        best_bound = -math.inf
        while True:
            found = self._program(gains[chosen], supply, self._kind_gains(u, v, kinds), base, nudges, clock)
            if found is None:
                return None
            duals, x = found
            bound, liked = self._certified(duals, u, v, gains, base, clock)
            best_bound = max(best_bound, bound)
            # The program holds the ranking that could improve it most: it is solved for all rankings.
            if liked in kinds or liked < 0 or best_bound >= limit:
                break
            kinds.append(liked)
        removed = np.zeros(len(self.shares))
        if self.change.takes:
            removed = self._fill(x[: len(chosen)], group)
        masses = x[len(chosen) : len(chosen) + len(kinds)]
        added = {kind: float(mass) for kind, mass in zip(kinds, masses, strict=True) if mass > 1e-14}
        met = float(x[len(chosen) + len(kinds) + len(rows) :].sum()) < 1e-10
        return self._after(best_bound, removed, added, met=met)

    def _alike(self, gains: Floats) -> tuple[Ints, Ints]:
        """Return one ballot of each group that gains the same in every row, and the group of each ballot.

        Ballots of a group share a column of the program, which is then far smaller. They are told apart by one number
        instead of by whole rows of `gains`: a sum with random weights, rounded, for which sorting is many times faster.
        Equal rows give equal numbers; different ones give different numbers but for bad luck. Bad luck does no harm to
        what is claimed: the program only suggests duals and changes. A bound is worked out again from the duals, with
        the gains of all ballots (`_certified`), and a change counts as an attack only once the statistic was run on it.
        """
        mixed = np.round(gains @ self._mixer[: gains.shape[1]], 9)
        _, chosen, group = np.unique(mixed, return_index=True, return_inverse=True)
        return chosen, group

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
        self, duals: Floats, u: Floats, v: Floats, gains: Floats, base: Floats, clock: Clock
    ) -> tuple[float, int]:
        """Return L(duals), and the distinct ballot that these duals like best (-1 where none is put in)."""
        owed, worth = -float(duals @ base), gains @ duals
        if not self.change.puts:
            left = owed - float(self.shares @ np.maximum(0.0, -worth - 1.0)) - _SAFE
            # Rows have no constants: what is left may be scaled, so all of some ballot is, or nothing.
            lightest = float(self.shares.min())
            none_left = leaves_nothing(left, lightest, lambda: np.zeros((0, 0), dtype=np.int64))
            return (math.inf if none_left else min(left, 1 - lightest)), -1
        best, kind = self._liked_at(duals @ u, duals @ v, clock)
        if not self.change.takes:
            if best <= 0:
                return (math.inf if owed > SAME else 0.0), kind
            return owed / best - _SAFE, kind
        bound = owed - float(self.shares @ np.maximum(0.0, best - worth - 1.0)) - _SAFE
        return (math.inf if bound > 1 + SAME else bound), kind

    def _liked(self, u: Floats, clock: Clock) -> tuple[float, int]:
        return self._liked_at(u, np.zeros_like(u), clock)

    def _liked_at(self, u: Floats, v: Floats, clock: Clock) -> tuple[float, int]:
        """Return (an upper bound of) the largest value of a ballot put in, and which it is."""
        if self.battles:
            values = (np.column_stack((u, -u)) + v[:, None]).ravel()
            return float(values.max()), int(values.argmax())
        if self.n <= _LISTED_UP_TO:
            values = self._kinds @ u
            at = int(values.argmax())
            return float(values[at] + v.sum()), at
        cost = np.zeros((self.n, self.n))
        cost[self.first, self.second], cost[self.second, self.first] = -u, u
        solved = cheapest_order(cost, whole=False, clock=clock)
        if solved.order not in self._number:
            self._number[solved.order] = len(self._orders)
            self._orders.append(solved.order)
            place = np.argsort(np.array(solved.order))
            signs = np.where(place[self.first] < place[self.second], 1.0, -1.0)
            self._kinds = np.vstack((self._kinds, signs))
        slack = 1e-11 * float(np.abs(u).sum())
        return float(-solved.bound + v.sum()) + slack, self._number[solved.order]

    def _kind_gains(self, u: Floats, v: Floats, kinds: list[int]) -> Floats:
        signs = self._kinds[kinds]
        out: Floats = signs @ u.T + (np.abs(signs) @ v.T)
        return out

    def _fill(self, masses: Floats, group: Ints) -> Floats:
        """Return how much of each ballot goes, when so much of each group does: whole ballots before parts."""
        order = np.argsort(group, kind="stable")
        shares, groups = self.shares[order], group[order]
        before = np.cumsum(shares) - shares
        starts = np.searchsorted(groups, np.arange(len(masses)))
        before -= before[starts][groups]
        removed = np.zeros(len(shares))
        removed[order] = np.clip(masses[groups] - before, 0.0, shares)
        return removed

    def _after(self, bound: float, removed: Floats, added: dict[int, float], *, met: bool) -> Altered:
        margin = self.margin - removed @ self.signs
        compared = self.compared - (removed.sum() if self.speaks is None else removed @ self.speaks)
        for kind, mass in added.items():
            margin = margin + mass * self._kinds[kind]
            compared = compared + mass * np.abs(self._kinds[kind])
        return Altered(bound, removed, added, margin, compared, met)

    def pairwise(self, change: Altered) -> Floats:
        """Return the matrix P of the votes after a change; 1/2 where no vote compares a pair."""
        P = np.full((self.n, self.n), 0.5)
        half = np.divide(
            change.margin, 2 * change.compared, out=np.zeros_like(change.margin), where=change.compared > 1e-12
        )
        half = np.clip(half, -0.5, 0.5)
        P[self.first, self.second] += half
        P[self.second, self.first] -= half
        return P

    def plan(self, change: Altered) -> Plan:
        """Return the change as a plan for the votes."""
        total = self.votes.total
        ranks = np.zeros((len(change.added), self.n), dtype=np.int64)
        for row, kind in enumerate(change.added):
            for rank, item in enumerate(self._orders[kind], start=1):
                ranks[row, item] = rank
        return replacing(self.votes, change.removed * total, ranks, np.array(list(change.added.values())) * total)
