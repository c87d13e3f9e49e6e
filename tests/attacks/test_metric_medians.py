"""Medians under any metric: what moves them, against programs over all distributions."""

from __future__ import annotations

import math
import os
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.attacks.medians import Siege
from holdrank.attacks.theorems import theorem_bounds
from holdrank.status import Clock

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


@cache
def places_of_orders(n):
    return {order: k for k, order in enumerate(permutations(range(n)))}


def index_of(ranking):
    return places_of_orders(ranking.n)[ranking.order]


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


@pytest.mark.slow
@pytest.mark.traced
def test_the_breakdown_of_five_items_is_that_of_the_program():
    rng = np.random.default_rng(5)
    for _ in range(max(PROFILES // 10, 1)):
        metric, far = rng.choice(METRICS, 2)
        agrees(distribution(rng, 5), 5, metric, far)


@pytest.mark.parametrize("change", ["drop", "add"])
@pytest.mark.parametrize("metric", METRICS)
def test_dropped_and_added_votes_are_those_of_programs(metric, change):
    rng = np.random.default_rng([8, METRICS.index(metric)])
    table = oracles.metric_table(metric, 3)
    orders = list(permutations(range(3)))
    for _ in range(2 * PROFILES):
        p = distribution(rng, 3)
        votes = votes_of(p, 3)
        shares = oracles.shares_of_one_kind(table, p, change)
        goal = [hr.NewWinner(), hr.Wins("i2"), hr.Above("i1", "i0"), hr.Leaves("i0", 2), hr.TopSet(2)][rng.integers(5)]
        found = hr.attack(votes, hr.Median(metric), goal, change=change)
        aim = goal.aim(found.before.ranking, votes.items)
        fulfils = np.array([aim.reached(hr.Ranking.from_order(order)) for order in orders])
        expected = shares[fulfils].min()
        if fulfils[index_of(found.before.ranking)]:
            expected = 0.0
        if change == "drop":  # the lightest ballot stays, at least
            assert found.lower == pytest.approx(min(expected, 1 - votes.weights.min()), abs=NEAR) or (
                math.isinf(found.lower) and math.isinf(expected)
            )
        else:
            assert found.lower == pytest.approx(expected, abs=NEAR)
            assert found.exact
            assert found.verified
        assert found.upper >= expected - NEAR


def lower_formula(m, d, p, median, delta):
    """Half of eps-, word for word: targets, rivals, and any ranking below the line."""
    cost = p @ m
    values = []
    for target in np.flatnonzero(d[median] >= delta * d.max() - 1e-9):
        rivals = [v for v in range(len(p)) if v != target]
        values.append(max((cost[target] - cost[v]) / (m[:, target] - m[:, v]).max() for v in rivals))
    return min(values) / 2


def upper_formula(m, p, median, delta):
    """Half of eps+, word for word, for a median that moves in its own metric."""
    cost, far = p @ m, m[median] >= delta * m.max() - 1e-9
    return min(
        max((cost[s] - cost[v]) / (m[median, s] - m[median, v]) for v in np.flatnonzero(~far))
        for s in np.flatnonzero(far)
    ) / 2  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("far", METRICS)
def test_theorem_bounds_are_the_formulas_for_any_two_metrics(metric, far):
    rng = np.random.default_rng([METRICS.index(metric), METRICS.index(far)])
    for n in (3, 4):
        p = distribution(rng, n)
        votes = votes_of(p, n)
        m, d = oracles.metric_table(metric, n), oracles.metric_table(far, n)
        bounds = theorem_bounds(votes, hr.Median(metric), distance=far)
        median = index_of(hr.Median(metric)(votes).ranking)
        assert bounds.lower == pytest.approx(
            [max(lower_formula(m, d, p, median, delta), 0) for delta in bounds.delta], abs=1e-9
        )
        opposite = metric == far and (metric in ("kendall", "spearman_rho") or (metric, n) == ("ulam", 3))
        assert np.isfinite(bounds.upper).any() == opposite
        if opposite:
            expected = [max(upper_formula(m, p, median, delta), 0) for delta in bounds.delta]
            assert bounds.upper == pytest.approx(expected, abs=1e-9)
            exact = hr.breakdown(votes, hr.Median(metric), distance=far).lower
            assert (bounds.upper[bounds.upper_valid] >= exact[bounds.upper_valid] - 1e-9).all()


def test_theorem_bounds_of_known_rules_take_a_distance_too():
    votes = votes_of(distribution(np.random.default_rng(1), 4), 4)
    for rule, metric in ((hr.kemeny, "kendall"), (hr.borda, "spearman_rho"), (hr.footrule, "footrule")):
        one, other = (
            theorem_bounds(votes, rule, distance="ulam"),
            theorem_bounds(votes, hr.Median(metric), distance="ulam"),
        )
        assert one.lower.tolist() == other.lower.tolist()
        plain = theorem_bounds(votes, rule)
        assert theorem_bounds(votes, hr.Median(metric), plain.delta).lower == pytest.approx(plain.lower, abs=1e-9)
    curve = hr.breakdown(votes, hr.Median("cayley"), method="bounds", distance="hamming")
    assert curve.lower.tolist() == theorem_bounds(votes, hr.Median("cayley"), distance="hamming").lower.tolist()
    assert curve.status is hr.Status.THEOREM


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
    assert other.consensus.ranking == one.consensus.ranking  # the first of several, too
    assert other.lower == pytest.approx(one.lower, abs=1e-9)
    assert other.exact.all()


FAMILIES = {
    "point mass": {0: 1},
    "two neighbours even": {0: 1, 2: 1},
    "a ranking and its reverse": {0: 1, 23: 1},
    "a cycle of three": {0: 1, 9: 1, 16: 1},
    "thirds and sixths": {0: 2, 7: 1, 14: 1, 23: 2},
    "uniform": dict.fromkeys(range(24), 1),
    "uniform but for one": {**dict.fromkeys(range(24), 3), 5: 4},
    "many against few": {3: 1_000_003, 20: 1_000_000, 11: 5},
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("counted", [True, False])
def test_ties_and_corner_cases_are_exact_as_counts_and_as_shares(metric, family, counted):
    weights = np.zeros(24)
    weights[list(FAMILIES[family])] = list(FAMILIES[family].values())
    p = weights / weights.sum()
    votes = votes_of(weights if counted else p, 4)
    table = oracles.metric_table(metric, 4)
    shares = oracles.shares_to_targets(table, p)
    curve = hr.breakdown(votes, hr.Median(metric), distance=metric)
    cost = table @ p
    best = np.flatnonzero(cost <= cost.min() + 1e-9)
    assert index_of(curve.consensus.ranking) == best[0]  # the first in lexicographic order
    assert curve.consensus.unique == (len(best) == 1)
    row = table[best[0]] / table.max()
    assert curve.lower == pytest.approx([shares[row >= delta - 1e-9].min() for delta in curve.delta], abs=NEAR)
    assert curve.exact.all()
    for attack in curve.attacks:
        after = hr.Median(metric)(attack.votes)
        assert hr.Metric.of(metric)(curve.consensus.ranking, after.ranking) >= attack.goal.delta - 1e-9
        assert hr.fulfils(votes, hr.Median(metric), attack.votes, attack.goal)  # as every median that there is


@pytest.mark.parametrize("metric", METRICS)
def test_whole_votes_are_those_of_brute_force(metric):
    """Every way to replace up to two of five votes."""
    rng = np.random.default_rng(METRICS.index(metric))
    orders = list(permutations(range(3)))
    table = oracles.metric_table(metric, 3)
    for _ in range(3):
        counts = np.bincount(rng.integers(6, size=5), minlength=6)
        votes = votes_of(counts.astype(float), 3)
        found = hr.attack(votes, hr.Median(metric), hr.NewWinner())
        winner = found.before.ranking.order[0]
        ties = decides = math.inf
        for size in (2, 1):
            for gone in product(range(6), repeat=size):
                for come in product(range(6), repeat=size):
                    left = counts - np.bincount(gone, minlength=6)
                    if (left < 0).any():
                        continue
                    cost = table @ (left + np.bincount(come, minlength=6))
                    first = {orders[k][0] for k in np.flatnonzero(cost <= cost.min() + 1e-9)}
                    ties = size if first != {winner} else ties
                    decides = size if winner not in first else decides
        cost = table @ counts
        if len({orders[k][0] for k in np.flatnonzero(cost <= cost.min() + 1e-9)}) > 1:
            ties = 0
        assert found.votes_needed <= ties
        assert found.votes_to_decide <= decides
        assert found.votes_to_tie >= ties
        assert found.votes_sufficient >= decides


@given(data=st.data(), metric=st.sampled_from(METRICS))
@settings(max_examples=20, deadline=None)
def test_names_of_items_and_units_of_weight_make_no_difference(data, metric):
    votes = data.draw(strategies.votes(counts=True, most_items=4, unlisted=False, ties=False))
    perm = np.array(data.draw(st.permutations(range(votes.n))))
    renamed = hr.Votes.from_ranks(votes.ranks[:, perm], votes.weights, [votes.items[k] for k in perm])
    heavier = hr.Votes.from_ranks(votes.ranks, 3 * votes.weights, votes.items)
    median = hr.Median(metric)
    curve, again = hr.breakdown(votes, median), hr.breakdown(heavier, median)
    assert median(renamed).loss == pytest.approx(median(votes).loss, abs=1e-12)
    assert again.lower.tolist() == pytest.approx(curve.lower.tolist(), abs=1e-12)
    if curve.consensus.unique:
        assert median(renamed).text() == median(votes).text()
        assert hr.breakdown(renamed, median).lower == pytest.approx(curve.lower, abs=1e-9)


@given(rows=st.lists(strategies.strict_vectors(4), min_size=1, max_size=6), weight=st.integers(1, 5))
@settings(max_examples=5, deadline=None)
def test_a_metric_as_name_as_function_as_matrix_and_as_weights_is_one_metric(rows, weight):
    votes = hr.Votes.from_ranks(np.array(rows), np.ones(len(rows)), "abcd")
    table = oracles.metric_table("cayley", 4)
    forms = ["cayley", table, lambda a, b: table[index_of(a), index_of(b)]]
    one, two, three = (hr.breakdown(votes, hr.Median(form), distance="ulam").lower for form in forms)
    assert one.tolist() == two.tolist() == three.tolist()
    flat, kendall = hr.Median(hr.Metric.weighted_kendall([weight] * 3)), hr.Median("kendall")
    assert flat(votes).ranking == kendall(votes).ranking
    assert hr.breakdown(votes, flat).lower == pytest.approx(hr.breakdown(votes, kendall).lower, abs=1e-9)


def test_a_metric_in_floating_point_is_exact_too():
    """The square root of a metric is one; its distances are no whole numbers."""
    rng = np.random.default_rng(3)
    table = np.sqrt(oracles.metric_table("spearman_rho", 3))
    for _ in range(PROFILES):
        p = distribution(rng, 3)
        curve = hr.breakdown(votes_of(p, 3), hr.Median(table), distance=table)
        shares = oracles.shares_to_targets(table, p)
        row = table[index_of(curve.consensus.ranking)] / table.max()
        assert curve.lower == pytest.approx([shares[row >= delta - 1e-9].min() for delta in curve.delta], abs=NEAR)
        assert curve.exact.all()


@pytest.mark.parametrize("change", list(hr.Change))
@pytest.mark.parametrize("metric", METRICS)
def test_no_prices_on_rivals_prove_more_than_is_true(metric, change):
    """Whatever a solver says, a bound made of its duals is one: random prices, and prices a little off the best."""
    rng = np.random.default_rng([9, METRICS.index(metric)])
    table = oracles.metric_table(metric, 3)
    best = 0.0
    for _ in range(6):
        counts = rng.integers(0, 5, size=6) + (np.arange(6) == rng.integers(6)) * 3.0
        p = counts / counts.sum()
        siege = Siege(votes_of(counts, 3), hr.Median(metric), change)
        least = oracles.shares_to_targets(table, p) if change.keeps_total else None
        least = oracles.shares_of_one_kind(table, p, change.value) if least is None else least
        for target in range(6):
            rivals = np.delete(np.arange(6), target)
            own = siege.table.rows(target)
            found = siege.price(target, Clock())
            assert found.bound == pytest.approx(least[target], abs=NEAR)
            for _ in range(20):
                prices = (
                    rng.exponential(rng.choice([0.01, 0.3, 3.0]), size=5) * (rng.random(5) < 0.5) / siege.table.unit
                )
                for bound in (siege.certified(own, rivals, prices), siege.in_fractions(own, rivals, prices)):
                    assert bound <= least[target] + NEAR
                    best = max(best, bound)
    assert best > 0.05  # some of them do prove something
