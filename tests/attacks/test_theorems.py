"""The theorems' bounds are their formulas, hold on both sides of the exact value, and say where they say nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

import holdrank as hr
from conftest import ROOT
from holdrank.attacks import theorems as bounds
from holdrank.attacks.theorems import cheap_lower, theorem_bounds

import oracles

KINDS = {hr.kemeny: "kendall", hr.borda: "spearman_rho", hr.footrule: "footrule"}


def votes_of(p, n):
    return hr.Votes.from_orders(list(oracles.permutations(range(n))), p, items=range(n))


def random_shares(rng, n):
    """A distribution over all rankings: from nearly uniform to a few heavy ballots, some of them missing."""
    size = len(oracles.distance_table("kendall", n))
    p = rng.dirichlet(np.full(size, rng.choice([0.05, 0.3, 1.0, 5.0])))
    if rng.random() < 0.3:
        heavy = rng.integers(size, size=rng.integers(1, 3))
        p = 0.1 * p + 0.9 * np.bincount(heavy, minlength=size) / len(heavy)
    return p


def number_of(ranking):
    return list(oracles.permutations(range(ranking.n))).index(ranking.order)


@pytest.mark.parametrize("statistic", KINDS, ids=lambda s: s.__name__)
@pytest.mark.parametrize(("n", "cases"), [(2, 5), (3, 20), (4, 20), (5, 2)])
def test_lower_bound_is_the_formula_over_all_pairs_of_rankings(statistic, n, cases):
    rng = np.random.default_rng(n)
    for _ in range(cases):
        p = random_shares(rng, n)
        votes = votes_of(p, n)
        median = number_of(statistic(votes).ranking)
        expected = [oracles.theorem_lower(KINDS[statistic], p, median, k, n) for k in range(1, oracles.pairs(n) + 1)]
        assert theorem_bounds(votes, statistic).lower == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_upper_bound_is_the_formula_over_all_pairs_of_rankings(n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        p = random_shares(rng, n)
        votes = votes_of(p, n)
        median = number_of(hr.kemeny(votes).ranking)
        expected = np.array([oracles.theorem_upper(p, median, k, n) for k in range(1, oracles.pairs(n) + 1)])
        found = theorem_bounds(votes)
        assert found.upper == pytest.approx(expected, abs=1e-12)
        clear = np.abs(expected - p[median]) > 1e-9
        assert (found.upper_valid == (expected <= p[median]))[clear].all()


def test_the_target_is_the_best_ballot_to_add():
    rng = np.random.default_rng(5)
    for _ in range(10):
        p = random_shares(rng, 4)
        _, short = oracles.kemeny_breakdown(p, 4)
        _, full = oracles.kemeny_breakdown(p, 4, by_definition=True)
        assert short == pytest.approx(full, abs=1e-9)


@pytest.mark.slow
def test_500_distributions_break_between_the_bounds():
    rng = np.random.default_rng(20230723)
    tight = valid = 0
    for _ in range(500):
        p = random_shares(rng, 4)
        _, exact = oracles.kemeny_breakdown(p, 4)
        found = theorem_bounds(votes_of(p, 4))
        assert (found.lower <= exact + 1e-9).all()
        assert (found.upper >= exact - 1e-9)[found.upper_valid].all()
        assert (cheap_lower(votes_of(p, 4)) <= found.lower + 1e-12).all()
        tight += int((np.abs(found.lower - exact) < 1e-9).sum())
        valid += int(found.upper_valid.sum())
    # Not by being trivial: often equal below, often valid above.
    assert tight > 1000
    assert valid > 300


def test_a_point_mass_breaks_at_one_half():
    p = np.zeros(24)
    p[7] = 1.0
    found = theorem_bounds(votes_of(p, 4))
    assert found.lower == pytest.approx(np.full(6, 0.5))
    assert found.upper == pytest.approx(np.full(6, 0.5))
    assert found.upper_valid.all()
    assert found.note == ""


def test_upper_bound_is_not_valid_without_ballots_of_the_median():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[3, 2, 4])
    keen = hr.Votes.from_orders([["a", "b", "c", "d"], ["d", "b", "a", "c"], ["b", "a", "c", "d"]], weights=[5, 4, 4])
    assert votes_equal_to_median(votes) > 0
    assert votes_equal_to_median(keen) == 4
    assert not theorem_bounds(without_median(keen)).upper_valid.any()
    assert "not valid" in theorem_bounds(without_median(keen)).note


def votes_equal_to_median(votes):
    return votes.weights[(votes.ranks == hr.kemeny(votes).ranking.ranks).all(axis=1)].sum()


def without_median(votes):
    """The same pairwise wins by ballots of two items: nobody cast the median."""
    wins = votes.wins()
    orders = [[i, j] for i in range(votes.n) for j in range(votes.n) if i != j]
    return hr.Votes.from_orders(orders, [wins[i, j] for i, j in orders], items=range(votes.n), unlisted="observed")


def test_last_place_left_open_is_still_a_ballot_of_the_median():
    listed = theorem_bounds(hr.Votes.from_orders([["a", "b", "c"]]))
    open_ = theorem_bounds(hr.Votes.from_orders([["a", "b"]], items="abc"))
    assert open_.upper_valid.all()
    assert open_.upper == pytest.approx(listed.upper)


def test_bounds_hold_for_the_exact_values_of_the_truths():
    path = ROOT.parent / "shared" / "truths" / "breakdown.json"
    if not path.exists():
        pytest.skip("the folder of exact values is not beside this checkout")
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        votes = hr.Votes.from_orders(case["orders"], case["p"], items=range(case["n"]))
        for statistic in KINDS:
            exact = np.array(case["breakdown_tv"][statistic.__name__]["by_flipped_pairs"])
            found = theorem_bounds(votes, statistic)
            assert (found.lower <= exact + 1e-9).all()
            assert (found.upper >= exact - 1e-9)[found.upper_valid].all()


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_cheap_bound_is_the_best_of_two_rivals_over_all_targets(n):
    rng = np.random.default_rng(n)
    flips = oracles.distance_table("kendall", n)
    orders = list(oracles.permutations(range(n)))
    for _ in range(5):
        p = random_shares(rng, n)
        votes = votes_of(p, n)
        before = orders[rng.integers(len(orders))]  # not only the median
        start = orders.index(before)
        cost = p @ flips
        mean, neighbours = np.full(len(p), np.inf), np.full(len(p), -np.inf)
        for target, order in enumerate(orders):
            if target != start:
                mean[target] = (cost[target] - cost[start]) / (2 * flips[target, start])
            for at in range(n - 1):
                swapped = list(order)
                swapped[at : at + 2] = order[at + 1], order[at]
                neighbours[target] = max(neighbours[target], (cost[target] - cost[orders.index(tuple(swapped))]) / 2)
        expected = [
            max(mean[flips[start] >= k].min(), neighbours[flips[start] >= k].min(), 0)
            for k in range(1, oracles.pairs(n) + 1)
        ]
        assert cheap_lower(votes, hr.Ranking.from_order(before)) == pytest.approx(expected, abs=1e-12)


def test_sorted_margins_bound_from_below_what_subsets_find(monkeypatch):
    rng = np.random.default_rng(3)
    for _ in range(20):
        votes = votes_of(random_shares(rng, 5), 5)
        subsets = cheap_lower(votes)
        monkeypatch.setattr(bounds, "MOST_SUBSETS", 1)
        by_sorting = cheap_lower(votes)
        monkeypatch.undo()
        assert (by_sorting <= subsets + 1e-12).all()
        assert (np.diff(by_sorting) >= -1e-12).all()
        assert by_sorting[0] == pytest.approx(max(0, np.sort(bounds_margins(votes))[0] / 2), abs=1e-12)


def bounds_margins(votes):
    """Margins of the pairs in the order of Kemeny's median."""
    order = hr.kemeny(votes).ranking.order
    P = votes.pairwise()
    return [P[a, b] - P[b, a] for at, a in enumerate(order) for b in order[at + 1 :]]


def test_many_items_get_a_lower_bound_and_a_note():
    votes = hr.sample_votes(hr.Mallows(range(20), 0.8), 300, rng=1)
    found = theorem_bounds(votes, deltas=[1 / 190, 0.5, 1.0])
    assert found.lower[0] <= found.lower[1] <= found.lower[2]
    assert found.lower[2] > 0.2
    assert not found.upper_valid.any()
    assert np.isinf(found.upper).all()
    assert "above 8 items" in found.note
    assert "above 16 items" in found.note
    nine = hr.sample_votes(hr.Mallows(range(9), 0.8), 300, rng=1)
    assert theorem_bounds(nine).lower == pytest.approx(cheap_lower(nine))


def test_eight_items_agree_with_the_relaxation_where_it_is_tight():
    """Nobody disagrees except on neighbours: the rival is the median, and both bounds are the mean margin."""
    votes = hr.Votes.from_orders([list(range(8)), [1, 0, *range(2, 8)]], weights=[80, 20])
    found = theorem_bounds(votes)
    assert found.lower[0] == pytest.approx(0.3)
    assert found.lower[1:] == pytest.approx(np.full(27, 0.5))
    assert cheap_lower(votes)[0] == pytest.approx(0.3)


def test_distances_are_rounded_up_to_pairs():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[60, 40])
    found = theorem_bounds(votes, deltas=[0.0, 0.2, 1 / 3, 0.1 + 0.2 + 1 / 30, 0.4, 1.0, 1.1])
    assert found.lower == pytest.approx([0, 0.1, 0.1, 0.1, 0.5, 0.5, np.inf])
    assert found.upper[0] == 0
    assert found.upper_valid.tolist() == [True] * 7
    assert not found.lower.flags.writeable


def test_one_item_cannot_be_broken():
    votes = hr.Votes.from_orders([["a"]])
    assert len(theorem_bounds(votes).delta) == 0
    assert theorem_bounds(votes, deltas=[0.5]).lower.tolist() == [np.inf]


def test_what_the_theorems_do_not_cover_is_refused():
    votes = hr.sample_votes(hr.Uniform(9), 10, rng=1)
    with pytest.raises(hr.LimitError, match=r"up to 8 items for borda and footrule, not 9\. Fix"):
        theorem_bounds(votes, hr.borda)
    with pytest.raises(hr.UsageError, match="medians: kemeny, borda or footrule, not downward merge"):
        theorem_bounds(votes, hr.Robust(hr.kemeny, 0.1))
    with pytest.raises(hr.UsageError, match="takes Votes"):
        theorem_bounds([[1, 2]])
    with pytest.raises(hr.UsageError, match="finite"):
        theorem_bounds(votes, deltas=[np.nan])
    with pytest.raises(hr.UsageError, match="strict"):
        cheap_lower(votes, hr.Ranking([1] * 9))


def test_bounds_say_how_many_are_valid():
    assert repr(theorem_bounds(hr.Votes.from_orders([["a", "b"]]))) == (
        "TheoremBounds(1 distances, 1 valid upper bounds)"
    )
