from __future__ import annotations

import os
import signal
import threading
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import holdrank as hr
from holdrank.rules import kemeny
from holdrank.rules.solvers import assignment
from holdrank.status import Status

import oracles
import truth_profiles
from strategies import votes


def kendall_unit(v):
    return v.total * oracles.pairs(v.n)


@pytest.mark.slow
@given(votes(counts=True))
def test_kemeny_equals_trying_every_order(v):
    least, optima = oracles.kemeny(v.wins().tolist())
    c = hr.kemeny(v)
    assert c.loss * kendall_unit(v) == pytest.approx(least)
    assert c.ranking.order == min(optima)
    assert c.unique == (len(optima) == 1)
    assert (c.status, c.bound, c.distance) == (Status.PROVED, c.loss, "kendall")


@given(votes(counts=False))
def test_kemeny_of_a_distribution_equals_trying_every_order(v):
    least, _ = oracles.kemeny(v.wins().tolist())
    c = hr.kemeny(v)
    assert c.loss * kendall_unit(v) == pytest.approx(least)
    assert c.bound == c.loss


@pytest.mark.slow
@given(votes(counts=True))
def test_components_are_the_strong_components_of_the_majority_relation(v):
    networkx = pytest.importorskip("networkx")
    wins = v.wins()
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(v.n))
    graph.add_edges_from((i, j) for i in range(v.n) for j in range(v.n) if i != j and wins[i, j] >= wins[j, i])
    expected = {frozenset(part) for part in networkx.strongly_connected_components(graph)}
    found = kemeny.components(wins.T)
    assert {frozenset(part.tolist()) for part in found} == expected
    for better, worse in pairwise(found):
        assert all(wins[i, j] > wins[j, i] for i in better for j in worse)


def test_time_limit_returns_the_best_ranking_with_a_certified_gap():
    rng = np.random.default_rng(0)
    v = hr.Votes.from_ranks(np.array([rng.permutation(70) + 1 for _ in range(101)]))
    c = hr.kemeny(v, time_limit=0)
    assert c.status is Status.TIME_LIMIT
    assert 0 < c.bound < c.loss
    assert c.loss == pytest.approx(v.loss(c.ranking))
    assert c.ranking.is_strict
    longer = hr.kemeny(v, time_limit=0.5)
    assert c.bound <= longer.bound <= longer.loss <= c.loss
    with pytest.raises(hr.UsageError, match="time_limit must be a number of seconds"):
        hr.kemeny(v, time_limit=-1)


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
@pytest.mark.slow
@pytest.mark.traced
def test_ctrl_c_returns_what_is_known():
    rng = np.random.default_rng(0)
    # Far beyond what any machine proves before the signal comes.
    v = hr.Votes.from_ranks(np.array([rng.permutation(250) + 1 for _ in range(101)]))
    alarm = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    alarm.start()
    c = hr.kemeny(v, time_limit=60)
    alarm.cancel()
    assert c.status is Status.INTERRUPTED
    assert c.bound < c.loss == pytest.approx(v.loss(c.ranking))
    assert c.seconds < 30


@given(votes(counts=True, most_items=4))
def test_no_ranking_agrees_more_with_the_votes_than_kemenys(v):
    """Rankings with ties included, a tie counting half."""
    wins, unit = v.wins().tolist(), v.total * oracles.pairs(v.n)

    def agreement(ranks):
        above = sum(wins[i][j] for i in range(v.n) for j in range(v.n) if ranks[i] < ranks[j])
        tied = sum(wins[i][j] for i in range(v.n) for j in range(v.n) if i != j and ranks[i] == ranks[j])
        return (above + tied / 2) / unit

    compared = sum(map(sum, wins)) / unit
    best = max(map(agreement, oracles.weak_orders(v.n)))
    found = hr.kemeny(v)
    assert compared - found.loss == pytest.approx(best)
    assert agreement(found.ranking.ranks.tolist()) == pytest.approx(best)


@pytest.mark.slow
@given(votes(rule="bottom"))
def test_borda_sorts_by_mean_place_and_minimises_rho(v):
    places = [oracles.mean_places([r or v.n + 1 for r in row]) for row in v.ranks.tolist()]
    means = (v.weights / v.total) @ np.array(places)
    c = hr.borda(v)
    order = c.ranking.order
    assert all(means[a] <= means[b] + 1e-9 for a, b in pairwise(order))
    if v.is_counts:
        assert order == tuple(sorted(range(v.n), key=lambda i: (round(means[i], 9), i)))
        assert c.unique == (len({round(m, 9) for m in means}) == v.n)
    assert (c.status, c.distance, c.bound) == (Status.PROVED, "spearman_rho", c.loss)
    assert c.loss == pytest.approx(
        min(v.loss(r, "spearman_rho") for r in hr.all_rankings(min(v.n, 5))) if v.n <= 5 else c.loss
    )


def test_borda_of_incomplete_observed_ballots_sorts_by_wins():
    v = hr.Votes.from_orders([["a", "b"], ["b", "c"], ["b", "c"]], unlisted="observed")
    c = hr.borda(v)
    assert c.text() == "b > a > c"
    assert c.status is Status.SCORED
    assert c.distance == "kendall"
    assert c.bound <= c.loss == pytest.approx(v.loss(c.ranking))


@given(votes(rule="bottom", most_items=5))
def test_footrule_equals_trying_every_order(v):
    places = [oracles.mean_places([r or v.n + 1 for r in row]) for row in v.ranks.tolist()]
    least, optima = oracles.footrule(places, v.weights.tolist())
    c = hr.footrule(v)
    assert c.loss == pytest.approx(least / max(v.n * v.n // 2, 1))
    assert c.loss == pytest.approx(v.loss(c.ranking, "footrule"))
    assert c.bound == c.loss
    if v.is_counts:
        assert c.ranking.order == min(optima)
        assert c.unique == (len(optima) == 1)


@pytest.mark.slow
@given(st.integers(1, 7), st.data())
def test_assignment_equals_scipy_and_is_the_first_of_equals(n, data):
    from scipy.optimize import linear_sum_assignment

    values = st.integers(0, 3) if data.draw(st.booleans()) else st.floats(0, 10)
    cost = np.array(data.draw(st.lists(st.lists(values, min_size=n, max_size=n), min_size=n, max_size=n)), dtype=float)
    found = assignment.assign(cost, 0.0 if (cost == np.rint(cost)).all() else 1e-9)
    assert found.cost == pytest.approx(cost[linear_sum_assignment(cost)].sum())
    if n <= 5 and (cost == np.rint(cost)).all():
        optima = [o for o in permutations(range(n)) if sum(cost[o[k], k] for k in range(n)) == found.cost]
        assert tuple(np.argsort(found.place)) == min(optima)
        assert found.unique == (len(optima) == 1)


@given(st.integers(1, 8), st.integers(0, 10**6), st.booleans())
def test_the_duals_of_an_assignment_prove_it(n, seed, whole):
    assert_duals_prove_the_optimum(n, seed, whole)


@pytest.mark.parametrize("whole", [True, False])
def test_the_duals_of_an_assignment_prove_it_on_fixed_costs(whole):
    for seed in range(10):
        for n in (1, 2, 5, 8, 20):
            assert_duals_prove_the_optimum(n, seed, whole)


def assert_duals_prove_the_optimum(n, seed, whole):
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, 4, (n, n)).astype(float) if whole else rng.random((n, n))
    item_at, item_price, place_price = assignment.solve(cost)
    assert sorted(item_at.tolist()) == list(range(n))
    reduced = cost - item_price[:, None] - place_price
    assert reduced.min() >= -1e-9  # no pair is underpriced: the prices prove the optimum
    assert np.abs(reduced[item_at, np.arange(n)]).max() <= 1e-9
    least = cost[linear_sum_assignment(cost)].sum()
    assert item_price.sum() + place_price.sum() == pytest.approx(least)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_an_assignment_needs_finite_costs(wrong):
    with pytest.raises(ValueError, match="finite"):
        assignment.solve(np.array([[1.0, wrong], [0.0, 1.0]]))


def test_one_vote_in_a_trillion_decides_the_footrule():
    v = hr.Votes.from_orders([[["a", "b"]], ["b", "a"]], weights=[1e12, 1])
    for statistic in (hr.kemeny, hr.borda, hr.footrule):
        assert statistic(v).text() == "b > a"


def test_footrule_of_large_counts_is_exact():
    ranks = [[0, 0, 1, 5, 1], [4, 5, 1, 4, 0], [1, 2, 2, 0, 4], [5, 0, 1, 1, 0], [4, 0, 1, 5, 1]]
    weights = [9999999999998] * 3 + [10**13, 9999999999998]
    v = hr.Votes.from_ranks(ranks, weights)
    doubled = [[int(2 * p) for p in oracles.mean_places([r or 6 for r in row])] for row in v.ranks.tolist()]
    counts = [int(w) for w in v.weights]

    def cost(order):
        place = {item: 2 * k for k, item in enumerate(order, start=1)}
        return sum(w * sum(abs(place[i] - p[i]) for i in range(5)) for p, w in zip(doubled, counts, strict=True))

    least = min(map(cost, permutations(range(5))))
    c = hr.footrule(v)
    assert cost(c.ranking.order) == least
    assert c.unique == ([cost(o) for o in permutations(range(5))].count(least) == 1)


def test_scores_of_tiny_shares_are_still_told_apart():
    v = hr.Votes.from_orders([["a", "b"], ["c", "b"], ["c", "a"]], [1e-13, 2.5e-13, 1e-13], unlisted="observed")
    c = hr.borda(v)
    assert c.ranking.order[0] == v.items.index("c")
    assert c.unique


@pytest.mark.parametrize("rule", [hr.kemeny, hr.borda, hr.footrule])
def test_what_is_no_votes_is_refused(rule):
    with pytest.raises(hr.UsageError, match="takes Votes, not list"):
        rule([["a", "b"]])


def test_a_time_limit_that_is_no_number_is_refused():
    with pytest.raises(hr.UsageError, match="number of seconds, not '5'"):
        hr.kemeny(hr.Votes.from_orders([["a"]]), time_limit="5")


def test_one_item_and_one_voter_are_fine():
    for statistic in (hr.kemeny, hr.borda, hr.footrule, hr.Robust(hr.kemeny, 0.1)):
        alone = statistic(hr.Votes.from_orders([["only"]]))
        assert (alone.loss, alone.bound, alone.text()) == (0, 0, "only")
        single = statistic(hr.Votes.from_orders([["b", "a", "c"]]))
        assert single.text() == "b > a > c"
        assert single.loss == 0


def test_consensus_shows_itself_in_one_line():
    c = hr.kemeny(hr.Votes.from_orders([["b", "a"]]))
    assert repr(c) == "Consensus(b > a, loss=0, bound=0, proven optimal)"
    assert c.seconds >= 0


TRUTHS = truth_profiles.profiles()


@pytest.mark.parametrize("profile", [p for _, p in TRUTHS], ids=[i for i, _ in TRUTHS])
def test_real_files_have_the_known_borda_order(profile, shared_data):
    v = truth_profiles.load(profile, shared_data)
    level = {name: k for k, group in enumerate(profile["borda_order"]) for name in group}
    listed = [v.items[i] for i in hr.borda(v).ranking.order][: len(level)]
    assert set(listed) == set(level)
    assert [level[name] for name in listed] == sorted(level.values())


SOLVED = [(i, p) for i, p in TRUTHS if "kemeny" in p and p["n_items"] <= 62]


@pytest.mark.slow
@pytest.mark.parametrize("profile", [p for _, p in SOLVED], ids=[i for i, _ in SOLVED])
def test_real_files_have_the_known_kemeny_cost_proved(profile, shared_data):
    v = truth_profiles.load(profile, shared_data)
    c = hr.kemeny(v)
    assert c.status is Status.PROVED
    assert c.loss == c.bound
    assert c.loss * kendall_unit(v) == pytest.approx(profile["kemeny"]["cost"], abs=1e-6)
    if profile["kemeny"]["unique"]:
        assert [v.items[i] for i in c.ranking.order] == profile["kemeny"]["order"]
    if None not in (c.unique, profile["kemeny"]["unique"]):
        assert c.unique == profile["kemeny"]["unique"]


def test_real_truths_are_all_there(shared_data):
    assert len(truth_profiles.profiles(shared_data)) == 44
