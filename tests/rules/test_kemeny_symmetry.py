"""Subsets up to symmetry: symmetries from the definition, and the cheapest order against all orders and all subsets."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from holdrank.arrays.subsets import order_subsets
from holdrank.rules.kemeny import branch, symmetry
from holdrank.rules.kemeny.parts import order_cost
from holdrank.status import Clock


def circulant(n, seed, most=1):
    """Return the lost margins of a random tournament in which item i stands to i + d as 0 stands to d."""
    rng = np.random.default_rng(seed)
    lost = np.zeros((n, n))
    for d in range(1, (n + 1) // 2):
        margin = int(rng.integers(1, most + 1)) * int(rng.choice([-1, 1]))
        for i in range(n):
            pair = (i, (i + d) % n) if margin > 0 else ((i + d) % n, i)
            lost[pair] = abs(margin)
    return lost


def paley(p):
    squares = {x * x % p for x in range(1, p)}
    return np.array([[float((i - j) % p in squares) for j in range(p)] for i in range(p)])


def least_cost(cost):
    return order_subsets(cost)[-1]


def all_symmetries(cost):
    n = len(cost)
    return {p for p in permutations(range(n)) if (cost[np.ix_(p, p)] == cost).all()}


@pytest.mark.parametrize("seed", range(6))
def test_symmetries_are_those_of_the_definition(seed):
    for cost in (circulant(7, seed), circulant(7, seed, 3), circulant(6, seed), np.zeros((5, 5))):
        assert set(map(tuple, symmetry.symmetries(cost).tolist())) == all_symmetries(cost)
        changed = cost.copy()
        changed[0, 1] += 1
        assert set(map(tuple, symmetry.symmetries(changed).tolist())) == all_symmetries(changed)


@pytest.mark.parametrize("n", [7, 8, 11, 12, 13])
@pytest.mark.parametrize("most", [1, 3, 50])
def test_the_cheapest_order_is_that_of_all_subsets(n, most):
    for seed in range(3):
        cost = circulant(n, seed, most)
        part = symmetry.solve(cost, Clock())
        assert part is not None
        assert sorted(part.order) == list(range(n))
        assert part.cost == part.bound == least_cost(cost) == order_cost(cost, np.array(part.order))
        if n <= 8:
            assert part.cost == min(order_cost(cost, np.array(order)) for order in permutations(range(n)))


def test_several_orbits_share_one_search():
    """Two tournaments that look alike everywhere, with the same margin between all of their items, renamed."""
    rng = np.random.default_rng(0)
    cost = np.zeros((12, 12))
    cost[:7, :7], cost[7:, 7:], cost[:7, 7:] = paley(7), circulant(5, 1), 1
    cost[7:, :7] = 0
    names = rng.permutation(12)
    cost = cost[np.ix_(names, names)]
    assert len(symmetry.symmetries(cost)) == 21 * 5
    part = symmetry.solve(cost, Clock())
    assert part is not None
    assert part.cost == least_cost(cost)


@pytest.mark.parametrize("seed", range(8))
def test_an_almost_symmetric_matrix_keeps_its_own_optimum(seed):
    """One margin is changed: only symmetries that keep it may be used."""
    rng = np.random.default_rng(seed)
    cost = paley(11) if seed % 2 else circulant(12, seed, 3)
    i, j = rng.choice(len(cost), 2, replace=False)
    cost[i, j] += 5
    group = symmetry.symmetries(cost)
    assert all((cost[np.ix_(p, p)] == cost).all() for p in group)
    part = symmetry.solve(cost, Clock())
    assert (part is None) == (len(group) == 1)
    assert part is None or part.cost == least_cost(cost)


def test_no_symmetry_or_no_time_gives_nothing():
    rng = np.random.default_rng(0)
    random = np.triu(rng.integers(1, 9, (26, 26)), 1).astype(float)
    assert len(symmetry.symmetries(random)) == 1
    assert symmetry.solve(random, Clock()) is None
    assert symmetry.solve(paley(11), Clock(0.0)) is None
    assert symmetry.solve(circulant(31, 0), Clock()) is None  # 31 symmetries leave too many sets
    assert symmetry.solve(paley(43), Clock()) is None  # too many items
    assert len(symmetry.symmetries(np.zeros((20, 20)))) == 1  # too many to list


def test_branching_leaves_a_symmetric_component_to_symmetry(monkeypatch):
    monkeypatch.setattr(branch.subsets, "CLOSES_UP_TO", 16)
    cost = paley(19)
    part = branch.solve(cost, np.arange(19), 1.0, 0.0, Clock(), None)
    assert (part.cost, part.proved, part.unique, part.how) == (64.0, True, False, symmetry.HOW)
