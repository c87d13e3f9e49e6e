"""The threshold that "auto" means: what it must tie, what it must not, and how clear it stands."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdrank as hr
from holdrank.rules.thresholds import window

from battles import arena, votes_of

AUTO = hr.Robust(hr.kemeny, "auto")


def counts(votes):
    """How many ballots place the first of each pair above the second, and below, counted one by one."""
    found = {}
    for i, j in combinations(range(votes.n), 2):
        above = below = 0.0
        for ranks, weight in zip(votes.ranks, votes.weights, strict=True):
            if ranks[i] and ranks[j] and ranks[i] != ranks[j]:
                above, below = (above + weight, below) if ranks[i] < ranks[j] else (above, below + weight)
            elif ranks[i] and ranks[j]:
                above, below = above + weight / 2, below + weight / 2
        found[i, j] = above, below
    return found


orders = st.permutations("abcde")
profiles = st.lists(st.tuples(orders, st.integers(1, 60)), min_size=1, max_size=8)


@given(profiles)
def test_no_pair_that_chance_and_votes_separate_is_tied_and_none_that_one_vote_levels_stays_out_of_reach(ballots):
    votes = hr.Votes.from_orders([list(order) for order, _ in ballots], weights=[weight for _, weight in ballots])
    theta = AUTO.fixed(votes).theta
    tiers = AUTO(votes).ranking.ranks
    assert 0 < theta <= 0.25
    for (i, j), (above, below) in counts(votes).items():
        lead, all_of_them = abs(above - below), above + below
        by_chance = lead > 1.959964 * math.sqrt(all_of_them)  # the sign test, by the normal bound
        by_votes = lead > 2  # a vote that changes sides takes two
        if (by_chance and by_votes) or lead >= all_of_them / 2:
            assert tiers[i] != tiers[j]
        elif not by_votes:
            assert lead / (2 * all_of_them) <= theta


@given(profiles)
@pytest.mark.slow
def test_the_threshold_is_as_clear_of_all_pairs_as_it_can_be(ballots):
    votes = hr.Votes.from_orders([list(order) for order, _ in ballots], weights=[weight for _, weight in ballots])
    theta = Fraction(AUTO.fixed(votes).theta)
    pairs = counts(votes).values()
    marks = {Fraction(abs(above - below)) / Fraction(2 * (above + below)) for above, below in pairs}
    apart = [m for m in marks if 4 * int(votes.total) * m * m > Fraction("3.841459") and m * int(votes.total) > 1]
    high = min([Fraction(1, 4), *apart])
    low = max([high / 2, *(m for m in marks if m * int(votes.total) <= 1 and m < high)])
    room = min(abs(theta - m) for m in {*marks, Fraction(0), Fraction(1, 2)})
    assert low - Fraction(1, 10**9) <= theta <= high
    for k in range(201):
        other = low + (high - low) * k / 200
        assert min(abs(other - m) for m in {*marks, Fraction(0), Fraction(1, 2)}) <= room + Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("weights", "tiers"),
    [
        ((8_533, 7_705), "a > b"),  # 828 of 16,238 votes apart
        ((8_130, 8_108), "{a, b}"),
        ((51, 50), "{a, b}"),
        ((3, 2), "{a, b}"),
        ((3, 1), "a > b"),  # three of four agree, though one vote levels them
        ((6, 4), "{a, b}"),  # one vote levels them
        ((1, 0), "a > b"),
        ((10, 8), "{a, b}"),
    ],
)
def test_two_items(weights, tiers):
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=weights) if weights[1] else None
    votes = votes or hr.Votes.from_orders([["a", "b"]], weights=weights[:1])
    assert AUTO(votes).text() == tiers


def test_it_takes_no_time_however_many_items_there_are():
    rng = np.random.default_rng(1)
    votes = hr.Votes.from_ranks(np.argsort(rng.normal(0, 30, (18, 200)) + np.arange(200), axis=1).argsort(axis=1) + 1)
    theta = hr.Robust(hr.borda, "auto").fixed(votes).theta
    assert theta == pytest.approx(5 / 36)  # between 11 and 12 of 18 votes


def test_by_a_model_the_errors_of_its_strengths_count():
    rng = np.random.default_rng(2)
    votes = votes_of(won := arena(rng, 8, 4_000, 0.0), np.zeros_like(won))
    T = hr.Robust(hr.bradley_terry, "auto")
    tiers = T(votes).ranking.ranks
    ratings = hr.bradley_terry(votes).ratings()
    for i, j in combinations(range(8), 2):
        anchored = hr.bradley_terry(votes).ratings(anchor=votes.items[i])  # errors are those of the difference
        apart = not anchored.lower[j] <= anchored.values[i] <= anchored.upper[j]
        assert not (apart and tiers[i] == tiers[j])
    assert T.fixed(votes).theta > 0
    assert T(hr.PairCounts.from_wins(won, items=votes.items)).ranking.ranks.tolist() == tiers.tolist()
    assert len(set(tiers.tolist())) > 1
    assert ratings.level == 0.95


def test_items_that_votes_do_not_connect_are_not_separated_by_chance():
    votes = hr.Votes.from_orders(
        [["a", "b"], ["b", "a"], ["c", "d"], ["d", "c"]], weights=[30, 28, 9, 1], unlisted="observed"
    )
    assert hr.Robust(hr.bradley_terry, "auto").fixed(votes).theta <= 0.25


def test_of_shares_only_level_pairs_are_tied():
    orders = [["a", "b", "c"], ["b", "a", "c"], ["b", "c", "a"]]
    votes = hr.Votes.from_orders(orders, weights=[0.5, 0.3, 0.2])
    assert AUTO(votes).text() == "{a, b} > c"
    assert AUTO(hr.Votes.from_orders(orders[:2], weights=[0.501, 0.499])).text() == "a > b > c"


def test_no_pairs_at_all():
    assert window(np.zeros(0), np.zeros(0), np.zeros(0)).theta == 0.25
