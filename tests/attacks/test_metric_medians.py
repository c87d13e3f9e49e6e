"""Medians under any metric: what moves them, against programs over all distributions."""

from __future__ import annotations

import math
import os
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.attacks.theorems import theorem_bounds

import oracles
import strategies

METRICS = ("kendall", "cayley", "ulam", "hamming", "footrule", "spearman_rho", "weighted_kendall")
PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "4"))  # a long run takes 500
NEAR = 2e-7  # of shares, for the solver of the oracle


def distribution(rng, n):
    """Return a random distribution over all rankings: spread out, peaked, with holes, or of few whole numbers."""
    size = math.factorial(n)
    kind = rng.integers(5)
    if kind == 0:
        return rng.dirichlet(np.ones(size))
    if kind == 1:
        return rng.dirichlet(np.full(size, 0.2))
    if kind == 2:
        p = rng.dirichlet(np.ones(size)) * (rng.random(size) < 0.3)
        p[rng.integers(size)] += 0.1
        return p / p.sum()
    if kind == 3:
        counts = np.bincount(rng.integers(size, size=int(rng.integers(1, 12))), minlength=size)
        return counts / counts.sum()
    p = np.full(size, 0.5 / size)
    p[rng.integers(size)] += 0.5
    return p


def votes_of(p, n):
    ranks = np.array([np.argsort(order) + 1 for order in permutations(range(n))])
    used = p > 0
    return hr.Votes.from_ranks(ranks[used], p[used], [f"i{k}" for k in range(n)])


def index_of(ranking):
    return list(permutations(range(ranking.n))).index(ranking.order)


def agrees(p, n, metric, far):
    """Compare a whole curve with the oracle; return the number of distances compared."""
    votes = votes_of(p, n)
    table, moved = oracles.metric_table(metric, n), oracles.metric_table(far, n)
    shares = oracles.shares_to_targets(table, p)
    curve = hr.breakdown(votes, hr.Median(metric), distance=far)
    row = moved[index_of(curve.consensus.ranking)] / moved.max()
    assert p @ table[:, index_of(curve.consensus.ranking)] == pytest.approx((p @ table).min(), abs=1e-9)
    assert curve.delta == pytest.approx(np.unique(row.round(9))[1:])
    expected = np.array([shares[row >= delta - 1e-9].min() for delta in curve.delta])
    assert curve.lower == pytest.approx(expected, abs=NEAR)
    assert curve.exact.all()
    assert all(attack is not None and attack.verified for attack in curve.attacks)
    bounds = theorem_bounds(votes, hr.Median(metric), curve.delta, distance=far)
    assert (bounds.lower <= expected + NEAR).all()
    assert (np.where(bounds.upper_valid, bounds.upper, 1.0) >= expected - NEAR).all()
    return len(expected)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_breakdown_is_that_of_the_program_over_all_distributions(metric, n):
    rng = np.random.default_rng([n, METRICS.index(metric)])
    for _ in range(PROFILES):
        p = distribution(rng, n)
        agrees(p, n, metric, METRICS[rng.integers(len(METRICS))])


def test_the_breakdown_of_five_items_is_that_of_the_program():
    rng = np.random.default_rng(5)
    for _ in range(max(PROFILES // 10, 1)):
        metric, far = rng.choice(METRICS, 2)
        agrees(distribution(rng, 5), 5, metric, far)


@settings(max_examples=30, deadline=None)
@given(
    data=st.data(),
    pair=st.sampled_from([(hr.kemeny, "kendall"), (hr.footrule, "footrule"), (hr.borda, "spearman_rho")]),
)
def test_medians_of_known_rules_break_where_the_rules_do(data, pair):
    rule, metric = pair
    votes = data.draw(strategies.votes(most_items=4, unlisted=False, ties=False))
    one, other = hr.breakdown(votes, rule), hr.breakdown(votes, hr.Median(metric))
    assert hr.Median(metric)(votes).loss == pytest.approx(rule(votes).loss, abs=1e-12)
    assert other.lower == pytest.approx(one.lower, abs=1e-9) or one.consensus.unique is False
    assert other.exact.all()
