from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdrank as hr
from holdrank.rules import scores as scoring
from holdrank.rules.strengths import RIDGE, strengths
from holdrank.status import Status

import oracles
from strategies import votes

RULES = [hr.copeland, hr.bradley_terry]


def moved(v, order):
    """The same votes with the items in another order."""
    order = list(order)
    return hr.Votes.from_ranks(v.ranks[:, order], v.weights, [v.items[i] for i in order], unlisted=v.unlisted)


@given(votes(counts=True))
def test_copeland_sorts_by_majorities_won(v):
    scores = oracles.copeland_scores(v.wins().tolist())
    c = hr.copeland(v)
    assert c.ranking.order == tuple(sorted(range(v.n), key=lambda i: (-scores[i], i)))
    assert c.unique == (len(set(scores)) == v.n)


@given(votes(counts=False))
def test_copeland_of_a_distribution_has_the_scores_of_its_pairwise_matrix(v):
    P = np.round(v.pairwise(), 9)
    scores = oracles.copeland_scores(P.tolist())
    order = hr.copeland(v).ranking.order
    assert all(scores[a] >= scores[b] for a, b in pairwise(order))


def test_copeland_takes_equal_shares_for_a_tie():
    v = hr.Votes.from_orders([["a", "b"], ["b", "a"], ["b", "a"]], weights=[0.3, 0.1, 0.2])
    assert v.wins()[0, 1] == pytest.approx(v.wins()[1, 0])
    c = hr.copeland(v)
    assert (c.text(), c.unique) == ("a > b", False)


def test_copeland_puts_a_condorcet_winner_first():
    v = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]], weights=[3, 2, 2])
    assert hr.copeland(v).text() == "b > c > a"
    cycle = hr.copeland(hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]))
    assert (cycle.text(), cycle.unique) == ("a > b > c", False)


def test_copeland_counts_a_pair_that_nobody_compares_as_even():
    v = hr.Votes.from_orders([["a", "b"], ["c", "b"]], unlisted="observed")
    assert (hr.copeland(v).text(), hr.copeland(v).unique) == ("a > c > b", False)


@given(votes(), st.sampled_from([1e-4, 1e-2, 1.0]))
def test_strengths_equal_those_of_a_general_optimiser(v, ridge):
    expected = oracles.bradley_terry_strengths(v.wins(), v.total, ridge)
    found, _ = strengths(v.wins() / v.total, ridge)
    assert found == pytest.approx(expected, abs=max(1e-6, 1e-7 / ridge))
    assert found.sum() == pytest.approx(0, abs=1e-9)


@given(votes())
def test_the_likelihood_is_flat_at_the_strengths(v):
    """The condition for the one maximum of a strictly concave function, checked by hand."""
    s, _ = strengths(v.wins() / v.total, RIDGE)
    W, n = v.wins() / v.total, v.n
    for i in range(n):
        slope = sum(W[i, j] / (1 + np.exp(s[i] - s[j])) - W[j, i] / (1 + np.exp(s[j] - s[i])) for j in range(n))
        assert slope == pytest.approx(RIDGE * s[i], abs=1e-12)


def test_strengths_of_two_items_are_their_log_odds():
    v = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 1])
    s, _ = strengths(v.wins() / v.total, 0.0)
    assert s[0] - s[1] == pytest.approx(np.log(3))


def test_strengths_are_those_of_choix():
    choix = pytest.importorskip("choix")
    v = hr.sample_votes(hr.PlackettLuce([5, 4, 3, 2, 1]), 200, rng=1)
    W = v.wins()
    data = [(i, j) for i in range(5) for j in range(5) for _ in range(int(W[i, j]))]
    s, _ = strengths(W / v.total, 0.0)
    assert s == pytest.approx(choix.ilsr_pairwise(5, data), abs=1e-6)


def test_many_matrices_at_once_are_the_same_as_one_by_one():
    rng = np.random.default_rng(3)
    shares = rng.random((20, 6, 6)) * (1 - np.eye(6))
    shares[3] = np.triu(shares[3])
    together, _ = strengths(shares, 1e-6)
    for matrix, s in zip(shares, together, strict=True):
        assert s == pytest.approx(strengths(matrix, 1e-6)[0], abs=1e-8)


@pytest.mark.parametrize("n", [2, 30, 200])
def test_strengths_exist_for_a_single_ballot(n):
    c = hr.bradley_terry(hr.Votes.from_ranks([list(range(n, 0, -1))]))
    assert c.ranking.order == tuple(range(n - 1, -1, -1))
    assert c.unique
    assert "some items never lose to the rest" in c.proof


@pytest.mark.parametrize("ridge", [1e-12, 1e-9, 1.0, 1e6])
def test_any_ridge_converges(ridge):
    v = hr.Votes.from_ranks([list(range(1, 31)), list(range(30, 0, -1))], [10**12, 1])
    assert hr.bradley_terry(v, ridge=ridge).ranking.order[0] == 0


def test_items_that_no_ballot_connects_are_reported():
    v = hr.Votes.from_orders([["a", "b"], ["c", "d"]], unlisted="observed")
    c = hr.bradley_terry(v)
    assert c.proof.endswith("no ballot connects 2 groups of items, whose relative order depends only on the ridge")
    assert (c.text(), c.unique) == ("a > c > b > d", False)
    assert hr.bradley_terry(hr.Votes.from_orders([["a", "b"], ["b", "a"]])).proof.endswith("wins connect all items")


def test_without_a_ridge_strengths_that_do_not_exist_are_refused():
    v = hr.Votes.from_orders([["a", "b"], ["b", "a"], ["b", "c"]], unlisted="observed")
    with pytest.raises(hr.UsageError, match=r"no strengths: some items never lose .* use a ridge above 0"):
        hr.bradley_terry(v, ridge=0)
    both_ways = hr.Votes.from_orders([["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"]], unlisted="observed")
    assert hr.bradley_terry(both_ways, ridge=0).text() == "a > b > c"


@pytest.mark.parametrize("ridge", [-1, float("nan"), float("inf"), "1", None])
def test_a_ridge_that_is_no_number_is_refused(ridge):
    with pytest.raises(hr.UsageError, match="ridge must be 0 or more"):
        hr.bradley_terry(hr.Votes.from_orders([["a"]]), ridge=ridge)


def test_strengths_that_do_not_converge_are_refused(monkeypatch):
    monkeypatch.setattr("holdrank.rules.strengths._MOST_STEPS", 1)
    with pytest.raises(hr.UsageError, match=r"did not converge in 1 steps with ridge=1e-06\. Fix: use a larger"):
        hr.bradley_terry(hr.Votes.from_orders([["a", "b"], ["b", "c"]], unlisted="observed"))


@pytest.mark.parametrize("rule", RULES)
@given(v=votes(counts=True), data=st.data())
def test_names_and_order_of_items_do_not_matter(rule, v, data):
    order = data.draw(st.permutations(range(v.n)))
    here, there = rule(v), rule(moved(v, order))
    assert here.unique == there.unique
    if here.unique:
        assert here.text() == there.text()
        assert here.loss == pytest.approx(there.loss)


@pytest.mark.parametrize("rule", RULES)
@given(v=votes(counts=True), times=st.integers(2, 10**6))
@pytest.mark.slow
def test_only_shares_of_votes_matter(rule, v, times):
    here, there = rule(v), rule(v.with_weights(v.weights * times))
    assert (here.ranking, here.unique) == (there.ranking, there.unique)


@pytest.mark.parametrize("rule", [*RULES, partial(hr.bradley_terry, ridge=0.1)])
@given(v=votes())
def test_loss_and_bound_are_those_of_kendall(rule, v):
    c = rule(v)
    assert (c.distance, c.status, c.items) == ("kendall", Status.SORTED, v.items)
    assert c.loss == pytest.approx(v.loss(c.ranking))
    assert c.bound <= hr.kemeny(v).loss + 1e-12
    assert c.bound <= c.loss + 1e-12
    assert c.status.is_exact
    assert c.ranking.is_strict


@pytest.mark.parametrize("rule", RULES)
def test_a_statistic_takes_votes_and_can_be_merged(rule):
    assert isinstance(rule, hr.Statistic)
    with pytest.raises(hr.UsageError, match=f"{rule.__name__} takes Votes, not list"):
        rule([["a", "b"]])
    v = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[51, 49])
    assert hr.Robust(rule, theta=0.05)(v).text() == "{a, b} > c"
    assert rule(hr.Votes.from_orders([["only"]])).text() == "only"


# ---------------------------------------------------------------------------------------------------------- mean score


@st.composite
def decimal_tables(draw):
    """Rows of scores as decimals in text, None for none, and counts: few values and large ones, so that means tie."""
    n = draw(st.integers(1, 4))
    decimals = draw(st.integers(0, 12))
    largest = draw(st.sampled_from([3, 30, 10**6, 10**15]))
    cells = draw(st.lists(st.integers(-largest, largest), min_size=1, max_size=3))
    cells += [cell + 1 for cell in cells if cell < largest]  # neighbours, and what makes ties of sums
    cell = st.one_of(st.none(), *map(st.just, cells))
    row = st.lists(cell, min_size=n, max_size=n).filter(lambda cells: any(cell is not None for cell in cells))
    table = draw(st.lists(row, min_size=1, max_size=5))
    weight = st.integers(1, draw(st.sampled_from([1, 4, 2**43])))
    weights = draw(st.lists(weight, min_size=len(table), max_size=len(table)))
    return [[None if c is None else f"{c}e-{decimals}" for c in row] for row in table], weights


def scored(rows, weights=None, **options):
    """Votes of scores given as text, as a reader would make them."""
    return hr.Votes.from_score_rows(
        [[np.nan if c is None else float(c) for c in row] for row in rows], weights, **options
    )


@given(decimal_tables())
def test_mean_scores_of_decimals_are_compared_exactly(case):
    rows, weights = case
    v = scored(rows, weights)
    expected = oracles.tiers_by_mean_score(rows, weights)
    c = hr.mean_score(v)
    assert scoring.tied_by_mean_score(v).ranks.tolist() == expected
    assert scoring.tied_by_mean_score(v).ranks.tolist() == expected
    assert c.ranking.order == tuple(sorted(range(v.n), key=lambda i: (expected[i], i)))
    assert c.unique == (len(set(expected)) == v.n)


@given(decimal_tables())
def test_mean_scores_are_the_floats_nearest_to_the_exact_ones(case):
    rows, weights = case
    exact = [[None if cell is None else Fraction(cell) for cell in row] for row in rows]
    lowest = min(cell for row in exact for cell in row if cell is not None)
    found = scoring.mean_scores(scored(rows, weights)).tolist()
    for mean, value in zip(oracles.mean_scores(exact, weights), found, strict=True):
        assert value == (float(lowest) - 1 if mean is None else float(mean))


def test_one_vote_of_ten_million_decides():
    v = hr.Votes.from_score_rows([[1000001, 1000000], [1000000, 1000000]], [1, 10**7])
    c = hr.mean_score(v)
    assert (c.ranking.order, c.unique) == ((0, 1), True)
    c = hr.mean_score(hr.Votes.from_score_rows([[1000000, 1000001], [1000000, 1000000]], [1, 10**7]))
    assert (c.ranking.order, c.unique) == ((1, 0), True)
    # Sums far beyond 64 bits: the last of 2**52 - 1 units, in one of 2**45 votes.
    high = 2**52 - 1
    v = hr.Votes.from_score_rows([[-high, 1 - high], [-high, -high]], [1, 2**45])
    assert scoring.tied_by_mean_score(v).ranks.tolist() == [2, 1]


def test_decimals_whose_float_sums_differ_tie():
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    v = hr.Votes.from_score_rows([[0.1, 0.3, 0.2], [0.2, 0.2, 0.2], [0.3, 0.1, 0.2]])
    c = hr.mean_score(v)
    assert (c.unique, c.ranking.order) == (False, (0, 1, 2))
    assert hr.mean_score(hr.Votes.from_score_rows([[0.1, 0.2], [0.2, 0.1], [0.3, 0.3]])).unique is False
    assert scoring.tied_by_mean_score(v).ranks.tolist() == [1, 1, 1]


def test_means_over_different_numbers_of_voters_are_compared_as_fractions():
    nan = np.nan
    # 1/3 and 2/6: equal. 1/3 and 333333333333/10**12: not, by less than the tolerance of floats.
    rows = [[1, 1, 0.333333333333], [0, 1, nan], [0, 0, nan], [nan, 0, nan], [nan, 0, nan], [nan, 0, nan]]
    assert scoring.tied_by_mean_score(hr.Votes.from_score_rows(rows)).ranks.tolist() == [1, 1, 2]
    assert scoring.tied_by_mean_score(hr.Votes.from_score_rows([[1, nan, 2]])).ranks.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("rows", "units", "k"),
    [
        ([[5.0, -3.0]], [[5, -3]], 0),
        ([[0.5, 2.0], [0.25, np.nan]], [[50, 200], [25, 0]], 2),
        ([[0.1, 0.7], [1e-12, 3.0]], [[10**11, 7 * 10**11], [1, 3 * 10**12]], 12),
        ([[2.0**53 - 1, -0.0]], [[2**53 - 1, 0]], 0),
        ([[-999999999999.999, 1.0]], [[-999999999999999, 1000]], 3),
    ],
)
def test_scores_in_units(rows, units, k):
    found = scoring.score_units(hr.Votes.from_score_rows(rows))
    assert (found[0].tolist(), found[1]) == (units, k)
    assert found[0].dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        found[0][0] = 1


@pytest.mark.parametrize("score", [1 / 3, 2.0**53, 1e-13, 1e290, 2.0**51 + 0.5, np.pi])
def test_scores_that_are_no_short_decimals_have_no_units(score):
    v = hr.Votes.from_score_rows([[score, 1.0], [2.0, 1.0]])
    assert scoring.score_units(v) is None
    # There the documented tolerance holds: 1e-12 of the largest mean.
    near = hr.Votes.from_score_rows([[score, score * (1 - 1e-13)]])
    assert hr.mean_score(near).unique is False


def test_shares_of_votes_keep_the_tolerance():
    rows = [[1000001, 1000000], [1000000, 1000000]]
    assert hr.mean_score(hr.Votes.from_score_rows(rows, [0.5, 0.5])).unique is True
    assert hr.mean_score(hr.Votes.from_score_rows(rows, [1e-8, 1.0])).unique is False


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(1, 4))
def test_decimals_are_found_in_any_block(decimals, rows):
    scores = [[10.0**-k, 3.0] for k in decimals]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "NUMBERS_AT_A_TIME", 2 * rows)
        units, k = scoring.score_units(hr.Votes.from_score_rows(scores))
    assert k == max(decimals)
    assert sorted(units.tolist()) == sorted([10 ** (k - d), 3 * 10**k] for d in set(decimals))


def test_many_scores_are_read_in_units_at_once():
    rng = np.random.default_rng(1)
    whole = rng.integers(-500, 500, (300_000, 5))
    whole[-1, -1] = 1  # alone has all three decimals
    whole[:-1] *= 10
    units, k = scoring.score_units(hr.Votes.from_score_rows(whole / 1000))
    assert k == 3
    assert np.array_equal(np.unique(units, axis=0), np.unique(whole, axis=0))
