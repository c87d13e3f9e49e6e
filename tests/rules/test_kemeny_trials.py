"""Branching with trials: what it proves, also when it is stopped, and the corners that it returns to."""

from __future__ import annotations

import numpy as np
import pytest

from holdrank.rules.kemeny import branch, subsets, trials
from holdrank.rules.kemeny.majorities import Majorities
from holdrank.rules.kemeny.parts import order_cost
from holdrank.rules.kemeny.trials import Trials
from holdrank.rules.solvers.highs import LinearProgram
from holdrank.status import Clock


def battles(n, share, most, seed):
    """Costs of pairs in whole numbers, one way round of each; a share of the pairs has a majority."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(1, most + 1, (n, n)) * rng.choice([-1, 1], (n, n)) * (rng.random((n, n)) < share), 1)
    return np.maximum(upper - upper.T, 0).astype(float)


@pytest.mark.parametrize(("share", "most"), [(1.0, 1), (0.6, 1), (0.6, 3)])
@pytest.mark.parametrize("few", [0, 3, 50])
def test_the_order_is_the_cheapest_from_any_start(monkeypatch, share, most, few):
    monkeypatch.setattr(trials, "_FEW", few)
    monkeypatch.setattr(trials, "_HOPE", -1.0)
    branchings = 0
    for seed in range(4):
        cost = battles(15, share, most, seed)
        start = np.random.default_rng(seed).permutation(15)
        tree = branch._Cycles(cost, start, 1.0, 0.0, Clock())
        part = tree.close_by_trials(None)
        assert part.proved
        assert part.cost == part.bound == subsets.solve(cost, 0.0).cost == order_cost(cost, np.array(part.order))
        branchings += not part.how.endswith("(0 branchings)")
    assert branchings


def test_without_better_orders_the_bound_is_the_cost_of_the_cheapest():
    for seed in range(6):
        cost = battles(14, 0.8, 1, seed)
        least = subsets.solve(cost, 0.0).cost
        search = Trials(Majorities(cost.T), least, 1.0, lambda _, value=least: value, Clock())
        search.run(np.arange(14), None)
        assert search.bound == least
        above = Trials(Majorities(cost.T), least + 2, 1.0, lambda _, value=least: value + 2, Clock())
        above.run(np.arange(14), None)
        assert above.bound <= least  # two less than it was told: that is not disproved


@pytest.mark.parametrize("few", [2, 50])
def test_a_search_that_is_stopped_anywhere_proves_no_more_than_is_true(monkeypatch, few):
    monkeypatch.setattr(trials, "_FEW", few)
    monkeypatch.setattr(trials, "_HOPE", -1.0)
    cost = battles(16, 1.0, 1, 3)
    least = subsets.solve(cost, 0.0).cost
    bounds = []
    for looks in (*range(0, 40, 3), 100, 300, 1000, 100_000):
        tree = branch._Cycles(cost, np.arange(16), 1.0, 0.0, Clock().with_looks(looks))
        part = tree.close_by_trials(None)
        assert part.bound <= least <= part.cost
        bounds.append(part.bound)
    assert bounds[0] < least == bounds[-1]


def test_a_tree_without_hope_is_left_to_plain_branching(monkeypatch):
    monkeypatch.setattr(trials, "_FEW", 1)
    monkeypatch.setattr(trials, "_HOPE", 2.0)
    squares = {x * x % 19 for x in range(1, 19)}  # of a Paley tournament: the program leaves 7 of 64
    cost = np.array([[float((i - j) % 19 in squares) for j in range(19)] for i in range(19)])
    tree = branch._Cycles(cost, np.arange(19), 1.0, 0.0, Clock())
    assert tree.close_by_trials(None) is None
    assert tree.floor > 57 - 1e-6
    assert subsets.solve(cost, 0.0).cost == 64 > tree.floor


def test_a_corner_is_returned_to_and_trials_from_it_prove_no_more_than_full_solves():
    cost = battles(14, 1.0, 2, 1)
    arcs = Majorities(cost.T)
    model = LinearProgram(arcs.cost, presolve=False)
    lengths = arcs.seen_from(np.arange(14))
    for _ in range(6):
        for rows in arcs.cycles(lengths):
            model.add_rows(*rows)
        found = model.solve(Clock())
        lengths = np.maximum(found.x, 0.0)
    corner = model.corner(0.05)
    assert len(corner.widths) < len(found.duals)  # slack rows are forgotten
    lower, upper = np.zeros(len(arcs.cost)), np.ones(len(arcs.cost))
    for column in np.argsort(-np.minimum(found.x, 1 - found.x))[:5].tolist():
        for side in (0.0, 1.0):
            model.go_to(corner)
            model.set_bounds(lower, upper)
            few, many = (model.try_value(column, side, corner, most, Clock()) for most in (2, 10_000))
            low, high = lower.copy(), upper.copy()
            low[column] = high[column] = side
            model.set_bounds(low, high)
            fixed = model.solve(Clock()).bound
            assert few <= fixed + 1e-6
            assert many == pytest.approx(fixed)
    model.go_to(corner)
    model.set_bounds(lower, upper)
    assert model.solve(Clock()).bound == pytest.approx(found.bound)
