"""Kemeny by cycles of majorities and by triangles: both against all orders, and what makes their rows."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import holdrank as hr
from holdrank.analysis.sampling import Stream
from holdrank.rules.kemeny import branch, prefixes, search, subsets, symmetry
from holdrank.rules.kemeny.cycles import weighted_triples
from holdrank.rules.kemeny.majorities import Majorities
from holdrank.rules.solvers.highs import LinearProgram, Solution
from holdrank.status import Clock


def margins(n, share, most, seed):
    """Costs of pairs in whole numbers, one way round of each; some pairs have none."""
    generator = np.random.default_rng(seed)
    upper = np.triu(generator.integers(-most, most + 1, size=(n, n)) * (generator.random((n, n)) < share), 1)
    whole = (upper - upper.T).astype(float)
    return np.maximum(whole, 0.0)


def min_orders(cost):
    costs = {order: sum(cost[i, j] for at, i in enumerate(order) for j in order[at + 1 :])
             for order in permutations(range(len(cost)))}  # fmt: skip
    least = min(costs.values())
    return least, {order for order, value in costs.items() if value == least}


@pytest.fixture(params=["cycles", "triangles", "weights"])
def by(request, monkeypatch):
    if request.param != "cycles":
        monkeypatch.setattr(branch, "_FEW_ITEMS", 0)
        monkeypatch.setattr(branch, "_SPARSE", 0.0)
    if request.param == "weights":  # on cycles choose the first rows
        monkeypatch.setattr(branch, "_LOOKS_BEFORE_WEIGHTS", 1)
        monkeypatch.setattr(branch, "_MANY_ROWS", 1)
    monkeypatch.setattr(subsets, "CLOSES_UP_TO", 0)  # the tree must close what the program leaves open
    monkeypatch.setattr(symmetry, "MOST_ITEMS", 0)
    return request.param


@pytest.mark.usefixtures("by")
@pytest.mark.parametrize("share", [1.0, 0.6, 0.3])
@pytest.mark.parametrize("n", [3, 5, 7])
def test_all_orders_agree(n, share):
    for seed in range(12):
        cost = margins(n, share, 4, 100 * n + seed)
        start = np.random.default_rng(seed).permutation(n)
        part = branch.solve(cost, start, 1.0, 0.0, Clock(), None)
        least, orders = min_orders(cost)
        assert part.proved
        assert part.cost == part.bound == least
        assert part.order in orders
        assert part.unique in (None, len(orders) == 1)


@pytest.mark.usefixtures("by")
def test_shares_are_solved_as_well_as_counts():
    for seed in range(6):
        cost = margins(6, 0.8, 7, seed) / 31
        part = branch.solve(cost, np.arange(6), 0.0, 1e-9, Clock(), None)
        assert part.cost == pytest.approx(min_orders(cost)[0])
        assert part.proved


@pytest.mark.usefixtures("by")
def test_trees_close_what_programs_leave_open(monkeypatch):
    # Trees alone: rows on a few items and growing orders have tests of their own.
    monkeypatch.setattr(branch, "_CUT_ROUNDS", 0)
    monkeypatch.setattr(branch, "_CUT_ROUNDS_A_NODE", 0)
    monkeypatch.setattr(prefixes, "MOST_COST", -1.0)
    closed = []
    for seed in (38, 96, 205):  # tournaments whose programs leave a gap, or an order to be found
        cost = margins(18, 1.0, 1, seed)
        part = branch.solve(cost, np.arange(18), 1.0, 0.0, Clock(), None)
        assert part.proved
        assert part.cost == subsets.solve(cost, 0.0).cost
        closed.append(part.how)
    assert closed[0] == "branch and bound (1 branching)"


@pytest.mark.parametrize("kind", [branch._Tree, branch._Cycles])
def test_pairs_that_are_fixed_in_a_cycle_fit_no_order(kind):
    cost = np.maximum(np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]]), 0.0)  # a beats b, b beats c, c beats a
    tree = kind(cost, np.arange(3), 1.0, 0.0, Clock())
    node = tree.root
    kept = node.upper.copy()
    if kind is branch._Cycles:
        node.upper[:] = 0.0
    else:
        node.lower[[0, 2]] = 1.0  # a before b, b before c
        node.upper[1] = 0.0  # c before a
    assert tree.fits_none(node)
    tree.relax(node)
    assert node.bound == np.inf
    assert not tree.gave_up
    node.lower[:], node.upper = 0.0, kept
    assert not tree.fits_none(node)


def test_a_broken_majority_and_two_kept_ones_fit_no_order():
    cost = np.tril(np.ones((3, 3)), -1)  # a beats b and c, b beats c: no cycle of majorities
    tree = branch._Cycles(cost, np.arange(3), 1.0, 0.0, Clock())
    tree.value, tree.round = 9.0, lambda _: None  # no order ends the search early
    node = tree.root
    node.lower[tree.column[0, 2]] = 1.0
    node.upper[tree.column[[0, 1], [1, 2]]] = 0.0
    assert tree.fits_none(node)
    tree.relax(node)
    assert node.bound == np.inf
    assert not tree.gave_up
    node.upper[:] = 1.0
    assert not tree.fits_none(node)


def test_rows_through_broken_majorities_hold_for_every_order():
    orders = np.array(list(permutations(range(6))))
    places = np.argsort(orders, axis=1)
    turned = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        arcs = Majorities(margins(6, 0.8, 3, seed).T)
        lengths = rng.choice([0.0, 0.25, 0.6, 1.0], size=len(arcs.cost))
        broken = np.flatnonzero((lengths > 0.5) & (rng.random(len(lengths)) < 0.7))
        breaks = places[:, arcs.tail] > places[:, arcs.head]
        missing = 1e-6 if seed % 2 else 0.3
        found = 0
        for columns, values, lower, upper in arcs.cycles(lengths, broken, missing):
            assert upper == np.inf
            assert ((breaks[:, columns] * values).sum(axis=2) >= lower).all()
            assert ((lengths[columns] * values).sum(axis=1) < lower).all()
            assert np.isin(columns[values < 0], broken).all()
            turned += (values < 0).sum()
            found += len(columns)
        # None is found exactly when no cycle is shorter than that.
        far = np.full((6, 6), np.inf)
        far[arcs.tail, arcs.head] = lengths
        far[arcs.head[broken], arcs.tail[broken]] = 1 - lengths[broken]
        for _ in range(6):
            far = np.minimum(far, (far[:, :, None] + far[None]).min(axis=1))
        assert bool(found) == bool(far.diagonal().min() < 1 - missing)
    assert turned > 50


def test_rows_are_cycles_that_the_solution_breaks_too_little():
    for seed in range(20):
        cost = margins(12, 0.7, 3, seed)
        arcs = Majorities(cost.T)
        assert (arcs.cost > 0).all()
        lengths = np.random.default_rng(seed).choice([0.0, 0.0, 0.25, 1.0], size=len(arcs.cost))
        seen, used = set(), np.zeros(len(arcs.cost), dtype=int)
        for columns, values, lower, upper in arcs.cycles(lengths):
            assert (values == 1).all()
            assert (lower, upper) == (1.0, np.inf)
            for row in columns.tolist():
                assert lengths[row].sum() < 1
                tails, heads = sorted(arcs.tail[row].tolist()), sorted(arcs.head[row].tolist())
                assert tails == heads  # every item of it is left as often as it is entered
                assert len(set(tails)) == len(row) >= 3
                seen.add(frozenset(row))
                used[row] += 1
        assert used.max(initial=0) <= 3
        assert len(seen) == sum(len(columns) for columns, *_ in arcs.cycles(lengths))
        # None is found exactly when no cycle is shorter than 1.
        far, _ = arcs.paths(lengths)
        short = (lengths + far[arcs.head, arcs.tail] < 1 - 1e-6).any()
        assert bool(seen) == short


def test_paths_are_shortest():
    cost = margins(9, 0.5, 3, 4)
    arcs = Majorities(cost.T)
    lengths = np.random.default_rng(1).random(len(arcs.cost))
    far, following = arcs.paths(lengths)
    slow = np.full((9, 9), np.inf)
    slow[arcs.tail, arcs.head] = lengths + 1e-7
    for _ in range(9):
        slow = np.minimum(slow, (slow[:, :, None] + slow[None]).min(axis=1))
    assert far == pytest.approx(slow)
    assert ((following >= 0) == np.isfinite(far)).all()


def test_draws_of_sparse_battles_are_ranked_as_kemeny_ranks_them():
    generator = np.random.default_rng(3)
    pairs = [sorted(generator.choice(20, 2, replace=False).tolist(), key=lambda i: i + 9 * generator.random())
             for _ in range(500)]  # fmt: skip
    votes = hr.Votes.from_orders([[str(i), str(j)] for i, j in pairs], unlisted="observed")
    found = hr.bootstrap(votes, hr.kemeny, draws=8, rng=5)
    alone = [tuple(hr.kemeny(votes.with_weights(w)).ranking.ranks.tolist()) for w in Stream(votes, 5).take(8)]
    expected = {ranks: alone.count(ranks) for ranks in alone}
    assert {tuple(row.tolist()): count for row, count in zip(found.ranks, found.counts, strict=True)} == expected
    assert found.unproved == 0


def test_weights_choose_nearly_the_rows_that_bind():
    """The program with these rows alone is near the one with all triangles, and its rows are triangles."""
    cost = margins(30, 1.0, 5, 3)
    start = search.good_order(cost, Clock())
    full = branch._Tree(cost, start, 1.0, 0.0, Clock())
    full.relax(full.root)
    rows = weighted_triples(cost - cost.T, start, Clock())
    assert (rows[:, 0] < rows[:, 1]).all()
    assert (rows[:, 1] < rows[:, 2]).all()
    assert len(np.unique(rows, axis=0)) == len(rows)
    few = branch._Tree(cost, start, 1.0, 0.0, Clock())
    few.program.add_triangles(rows[::2])
    assert len(few.program.new_triangles(rows)) == len(rows) // 2
    few.program.add_triangles(few.program.new_triangles(rows))
    few.model.start_inside()
    bound = few.model.solve(Clock()).bound + few.offset
    assert 0.97 * full.root.bound <= bound <= full.root.bound + 1e-6
    assert len(weighted_triples(cost - cost.T, start, Clock(0))) == 0


def test_a_solve_through_the_inside_that_fails_is_done_again(monkeypatch):
    calls = []
    real = LinearProgram._solve

    def fails_first(self, clock):
        calls.append(1)
        return Solution(False, -np.inf, np.empty(0), np.empty(0)) if len(calls) == 1 else real(self, clock)

    monkeypatch.setattr(LinearProgram, "_solve", fails_first)
    model = LinearProgram(np.array([1.0, -2.0]))
    model.start_inside()
    assert model.solve(Clock()).bound == pytest.approx(-2.0)
    assert model.solve(Clock()).finished
    assert len(calls) == 3
    calls.clear()
    model.start_inside()
    assert not model.solve(Clock(0)).finished
    assert len(calls) == 1
