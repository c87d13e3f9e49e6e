"""However a cell is split, votes that belong to it belong to one of its parts, and no bound is above what they cost."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
import scipy.optimize

import holdrank as hr
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.goals import Distance, NewWinner
from holdrank.attacks.tiers import cells
from holdrank.attacks.tiers import engine as tiers
from holdrank.attacks.tiers.violations import cheapest_blocks, violated
from holdrank.status import Clock

import oracles
from strategies import KINDS, random_ranks, unlisted_rule

pytestmark = pytest.mark.slow


def some_votes(rng, kind, n):
    rows = np.array([rng.permutation(n) + 1 for _ in range(int(rng.integers(4, 9)))])
    if kind == "observed":
        rows = np.where(rng.random(rows.shape) < 0.8, rows, 0)
        rows[0] = rng.permutation(n) + 1
        rows = rows[(rows > 0).sum(axis=1) > 1]
    return hr.Votes.from_ranks(rows, rng.uniform(1, 3, len(rows)), unlisted="observed")


def a_change(rng, pairs, n):
    """Some ballots replaced by rankings, with what that costs."""
    removed = np.minimum(rng.dirichlet(np.ones(len(pairs.shares))) * rng.uniform(0, 0.5), pairs.shares)
    budget = float(removed.sum())
    masses = rng.dirichlet(np.ones(2)) * budget
    added = {pairs._orders.index(tuple(rng.permutation(n).tolist())): float(mass) for mass in masses}
    added = {kind: mass * budget / sum(added.values()) for kind, mass in added.items()}
    return budget, pairs._after(0.0, removed, added, met=True)


class Truth:
    """What some votes lead to: the order of the median, its tiers, the unions that Naive Merge makes on the way."""

    def __init__(self, search, after):
        n = search.n
        P = search.pairs.pairwise(after)
        D = np.zeros((n, n))
        D[search.pairs.first, search.pairs.second] = after.margin
        self.after, self.ranking = after, search._after(after)
        self.order = list(cheapest_blocks(-(D - D.T), Clock()))
        ends = np.cumsum([len(bucket) for bucket in self.ranking.buckets]).tolist()
        self.tier_of = np.searchsorted(ends, np.arange(n), side="right").tolist()
        self.dev = np.abs(P - 0.5)[np.ix_(self.order, self.order)]

    def belongs(self, cell):
        """Whether these votes are in the cell."""
        at = 0
        for number, blocks in enumerate(cell.tiers):
            start = at
            for block in blocks:
                if sum(1 << i for i in self.order[at : at + block.bit_count()]) != block:
                    return False
                at += block.bit_count()
            grows = cell.grows and number == len(cell.tiers) - 1
            if start and self.tier_of[start] == self.tier_of[start - 1]:
                return False
            if not grows and at < len(self.order) and self.tier_of[at] == self.tier_of[at - 1]:
                return False
            if not cell.free[number] and self.tier_of[start] != self.tier_of[at - 1]:
                return False
        return self.joins_in_turn(cell.joins) and all(
            row.value(self.after) >= -1e-12 for row in cell.rows[: cell.chosen]
        )

    def joins_in_turn(self, joins):
        """Whether each join is of two neighbouring unions that are closer than either is to its other neighbour."""
        unions = [(at, at) for at in range(len(self.order))]
        for start, end in joins:
            if self.tier_of[start] != self.tier_of[end]:
                return False
            heights = {
                (one[0], two[1]): self.dev[one[0] : one[1] + 1, two[0] : two[1] + 1].max()
                for one, two in pairwise(unions)
            }
            if any(not (b < start or end < a) and high < heights[start, end] for (a, b), high in heights.items()):
                return False
            unions = sorted([*(union for union in unions if not start <= union[0] <= end), (start, end)])
        return True


@pytest.mark.parametrize("kind", ["complete", "observed"])
@pytest.mark.parametrize("merge", ["downward", "naive"])
@pytest.mark.parametrize("goal", ["winner", "distance"])
def test_a_split_loses_no_votes_and_no_bound_is_above_their_price(goal, merge, kind):
    rng = np.random.default_rng([len(goal), len(merge), len(kind)])
    grown = splits = 0
    for _ in range(25):
        votes = some_votes(rng, kind, 5)
        statistic = hr.Robust(hr.kemeny, float(rng.uniform(0.02, 0.25)), merge=merge)
        before = statistic(votes).ranking
        aim = (NewWinner() if goal == "winner" else Distance(0.1)).aim(before, votes.items)
        if aim.is_impossible():
            continue
        search = tiers.CellSearch(votes, statistic, before, [aim], hr.Change.REPLACE, Clock(), None)
        budget, after = a_change(rng, search.pairs, 5)
        truth = Truth(search, after)
        if not aim.reached(truth.ranking):
            continue
        cell = cells.Cell(0.0, 0, search.goal.possible(31), (), (), 31, change=search.pairs.cheapest((), Clock()))
        for _ in range(25):
            search.upper = [np.inf]  # whatever attacks were found: nothing is left out for its price
            parts = search.splitter.split(cell)
            if parts is None:
                break
            own = [part for part in parts if truth.belongs(part)]
            assert own, (cell, truth.order, truth.tier_of)
            # What may be said in two ways is said in one: as a tier that is free, and from left to right.
            own = [part for part in own if part.free[-1]] or own
            first = min(part.joins for part in own)
            own = [part for part in own if part.joins == first]
            cell = own[int(rng.integers(len(own)))]
            assert cell.bound <= budget + 1e-9
            weak = [row.value(after) for row in violated(search.rows, cell, after, Clock())]
            assert min(weak, default=0.0) >= -1e-9
            search.upper = [np.inf]
            solved = search._solve(replace(cell, solved=False))
            assert solved.bound <= budget + 1e-9
            cell = replace(solved, solved=True)
            splits, grown = splits + 1, grown + cell.grows
            if not solved.met:
                break
    assert splits > 25
    assert grown > 2


def all_medians(D):
    """All orders with the smallest cost, by trying each; D holds margins in shares."""
    n = len(D)
    costs = {o: -sum(D[o[a], o[b]] for a in range(n) for b in range(a + 1, n)) for o in permutations(range(n))}
    return [order for order, cost in costs.items() if cost <= min(costs.values()) + 1e-12]


@pytest.mark.parametrize("change", list(hr.Change))
@pytest.mark.parametrize("kind", ["complete", "observed", "bottom"])
def test_a_bound_on_the_first_items_of_the_median_is_never_above_what_a_change_costs(kind, change):
    """Ballots that oppose an order most make way for it, until it begins with other items than now."""
    rng = np.random.default_rng([len(kind), len(change)])
    n, compared, close = 5, 0, 0
    for _ in range(6):
        ranks = np.argsort(np.argsort(0.7 * np.arange(n) + rng.gumbel(size=(9, n)), axis=1), axis=1) + 1
        listed = {"complete": ranks > 0, "bottom": ranks <= 3, "observed": rng.random(ranks.shape) < 0.7}[kind]
        listed |= listed.sum(axis=1, keepdims=True) < 2
        unlisted = "observed" if kind == "observed" else "bottom"
        votes = hr.Votes.from_ranks(ranks * listed, rng.uniform(1, 3, 9), unlisted=unlisted)
        before = hr.kemeny(votes).ranking
        aim = NewWinner().aim(before, votes.items)
        search = tiers.CellSearch(votes, hr.Robust(hr.kemeny, 0.05), before, [aim], change, Clock(), None)
        pairs = search.pairs
        target = rng.permutation(n)
        place = np.argsort(target)
        signs = np.where(place[pairs.first] < place[pairs.second], 1.0, -1.0)
        against = np.argsort(signs @ pairs.gains.signs, kind="stable")
        for budget in np.linspace(0.02, 0.6, 20):
            room = np.clip(
                budget - (np.cumsum(pairs.shares[against]) - pairs.shares[against]), 0, pairs.shares[against]
            )
            removed = np.zeros(len(room))
            removed[against] = room if change.takes else 0.0
            margin = pairs.margin - pairs.gains.margins(removed)[0] + (budget * signs if change.puts else 0.0)
            D = np.zeros((n, n))
            D[pairs.first, pairs.second], D[pairs.second, pairs.first] = margin, -margin
            for order in all_medians(D)[:3]:
                for m in range(1, n):
                    start = int(rng.integers(0, m))
                    blocks = [sum(1 << i for i in order[:start])] if start else []
                    blocks += [1 << i for i in order[start:m]]
                    rest = sum(1 << i for i in order[m:])
                    for limit in (budget, 1.2 * budget, 2.0):
                        bound = search.orders.of_beginning(blocks, rest, limit)
                        assert bound <= budget + 1e-9, (votes.ranks, votes.weights, order, m, budget)
                    compared += 1
                    close += search.orders.of_beginning(blocks, rest, 0.7 * budget) > 0.69 * budget
    assert compared > 300
    assert close > 10


def test_a_limit_hides_attacks_beyond_it_and_nothing_else():
    """The engine of the ranking proves as much below a limit as without one."""
    rng = np.random.default_rng(7)
    hidden = 0
    for number in range(12):
        votes = some_votes(rng, ("complete", "observed")[number % 2], 6)
        before = hr.kemeny(votes).ranking
        for goal in (NewWinner(), hr.TopSet(2), Distance(0.2)):
            aim = goal.aim(before, votes.items)
            find = exact_engine(hr.kemeny, votes).find
            (whole,) = find(votes, before, [aim], hr.Change.REPLACE, Clock(), None)
            assert whole.lower == pytest.approx(whole.upper)
            for limit in (whole.upper * 0.6, whole.upper * 1.5):
                (part,) = find(votes, before, [replace(aim, limit=limit)], hr.Change.REPLACE, Clock(), None)
                assert part.lower == pytest.approx(min(limit, whole.lower))
                assert part.upper >= whole.upper - 1e-9
                hidden += part.plan is None
                if limit > whole.upper:
                    assert part.upper == pytest.approx(whole.upper)
    assert hidden > 10


@pytest.mark.parametrize("change", list(hr.Change))
def test_prices_of_neighbours_are_what_a_linear_program_says(change):
    """The least share of changed votes with which b wins or ties against a, over all ballots and their signs."""
    rng = np.random.default_rng([11, len(change)])
    impossible = 0
    for number in range(40):
        kind, n = KINDS[number % len(KINDS)], 4
        table = random_ranks(rng, kind, n, int(rng.integers(1, 6)))
        if not table:
            continue
        votes = hr.Votes.from_ranks(np.array(table), rng.integers(1, 4, len(table)), unlisted=unlisted_rule(kind))
        statistic = hr.Robust(hr.kemeny, 0.1)
        before = statistic(votes).ranking
        aims = [NewWinner().aim(before, votes.items)]
        search = tiers.CellSearch(votes, statistic, before, aims, change, Clock(), None)
        shares = votes.weights / votes.total
        for b, a in permutations(range(n), 2):
            signs = np.array([oracles.pair_points(tuple(row), votes.unlisted)[b, a] for row in votes.ranks.tolist()])
            signs -= [oracles.pair_points(tuple(row), votes.unlisted)[a, b] for row in votes.ranks.tolist()]
            # Columns: what is taken of each ballot, and what is added with b above a.
            takes = shares if change.takes else np.zeros(len(shares))
            cost = np.append(np.zeros(len(shares)), 1.0) if not change.takes else np.append(np.ones(len(shares)), 0.0)
            least = scipy.optimize.linprog(
                cost,
                A_ub=[np.append(signs, -1.0)],
                b_ub=[float(signs @ shares)],
                A_eq=[np.append(np.ones(len(shares)), -1.0)] if change.keeps_total else None,
                b_eq=[0.0] if change.keeps_total else None,
                bounds=[*((0, part) for part in takes), (0, None if change.puts else 0)],
            )
            price = search.orders.direct[b, a]
            if not change.puts and least.fun > 1 - 1e-9:  # all votes would have to go
                impossible += 1
                assert price > 1 - 1e-9
            else:
                assert price == pytest.approx(least.fun, abs=1e-9)
                assert price <= least.fun + 1e-11
    assert change.puts or impossible > 10


def test_pricing_many_tiers_ends_when_the_clock_does():
    votes = some_votes(np.random.default_rng(3), "complete", 12)
    statistic = hr.Robust(hr.kemeny, 0.05)
    before = statistic(votes).ranking
    clock = Clock()
    aim = Distance(0.5).aim(before, votes.items)
    search = tiers.CellSearch(votes, statistic, before, [aim], hr.Change.REPLACE, clock, None)
    whole = (1 << 12) - 1
    cell = cells.Cell(0.0, 0, search.goal.possible(whole), (), (), whole, change=search.pairs.cheapest((), Clock()))
    bound, asked = search.splitter.with_cheap_bound, []

    def last_bound(one):
        asked.append(one)
        clock.interrupted = stops
        return bound(one)

    search.splitter.with_cheap_bound = last_bound
    search._solve = lambda _: None
    for stops in (False, True):
        asked.clear()
        search._try_tiers(cell, tuple(1 << item for item in before.order[::-1]))
        assert (len(asked) == 1) == stops
