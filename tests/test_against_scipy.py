"""The same numbers from other people's code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdrank as hr

stats = pytest.importorskip("scipy.stats")


@given(st.integers(2, 30), st.integers(0, 10**6))
def test_kendall_is_scipys_tau(n, seed):
    a, b = np.random.default_rng(seed).permuted(np.tile(np.arange(n), (2, 1)), axis=1)
    assert hr.kendall(a, b) == pytest.approx((1 - stats.kendalltau(a, b).statistic) / 2)


def test_kendall_of_many_items_is_scipys_tau():
    a, b = np.random.default_rng(1).permuted(np.tile(np.arange(5000), (2, 1)), axis=1)
    assert hr.kendall(a, b) == pytest.approx((1 - stats.kendalltau(a, b).statistic) / 2)


@given(st.integers(2, 30), st.integers(0, 10**6))
def test_rho_is_scipys_rho(n, seed):
    a, b = np.random.default_rng(seed).permuted(np.tile(np.arange(n), (2, 1)), axis=1)
    assert hr.spearman_rho(a, b) == pytest.approx((1 - stats.spearmanr(a, b).statistic) / 2)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_mean_places_are_scipys_average_ranks(ranks):
    assert hr.Ranking(ranks).places.tolist() == stats.rankdata(ranks).tolist()


def test_footrule_is_scipys_assignment_at_size():
    from scipy.optimize import linear_sum_assignment

    votes = hr.sample_votes(hr.Mallows(range(120), 0.97), 200, rng=3)
    grid = np.arange(120)
    cost = votes.positions() @ np.abs(grid[:, None] - grid)
    expected = cost[linear_sum_assignment(cost)].sum() / (120 * 120 // 2)
    assert hr.footrule(votes).loss == pytest.approx(expected)


def test_kemeny_is_the_minimum_feedback_order_of_scipys_milp():
    """All pairs and all triangles in one integer program, solved by another interface."""
    from itertools import combinations

    from scipy.optimize import LinearConstraint, milp

    for seed in range(3):
        votes = hr.sample_votes(hr.Uniform(18), 21, rng=seed)
        wins, n = votes.wins(), votes.n
        column = {pair: k for k, pair in enumerate(combinations(range(n), 2))}
        cost = np.array([wins[j, i] - wins[i, j] for i, j in column])
        rows = np.zeros((n * (n - 1) * (n - 2) // 6, len(column)))
        for row, (i, j, k) in zip(rows, combinations(range(n), 3), strict=True):
            row[[column[i, j], column[j, k], column[i, k]]] = 1, 1, -1
        result = milp(cost, constraints=LinearConstraint(rows, 0, 1), integrality=np.ones(len(cost)), bounds=(0, 1))
        expected = result.fun + sum(wins[i, j] for i, j in column)
        found = hr.kemeny(votes)
        assert found.loss * votes.total * n * (n - 1) / 2 == pytest.approx(expected)
