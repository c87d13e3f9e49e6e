"""Laws that every statistic and every count must obey, whatever the votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdrank as hr

from strategies import two_rankings, votes

pytestmark = pytest.mark.slow

MEDIANS = [hr.kemeny, hr.borda, hr.footrule]
STATISTICS = [*MEDIANS, hr.Robust(hr.kemeny, 0.1), hr.Robust(hr.borda, 0.1, merge="naive"),
              hr.Robust(hr.kemeny, 0.05, merge="smith")]  # fmt: skip
each_median = pytest.mark.parametrize("statistic", MEDIANS, ids=lambda s: s.__name__)
each_statistic = pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.__name__)


def needs_places(statistic):
    return statistic is hr.footrule


@each_statistic
@given(data=st.data())
def test_relabelling_the_items_relabels_the_consensus(statistic, data):
    v = data.draw(votes(counts=True, rule="bottom" if needs_places(statistic) else None))
    turn = data.draw(st.permutations(range(v.n)))
    turned = hr.Votes.from_ranks(v.ranks[:, turn], v.weights, [v.items[i] for i in turn], unlisted=v.unlisted)
    a, b = statistic(v), statistic(turned)
    assert a.unique == b.unique
    if statistic in MEDIANS and v.unlisted == "bottom":
        assert b.loss == pytest.approx(a.loss)
    if a.unique:  # with several optima the names decide, so relabelling may choose another
        assert b.loss == pytest.approx(a.loss)
        assert b.ranking.ranks.tolist() == a.ranking.ranks[list(turn)].tolist()


@each_statistic
@given(data=st.data())
def test_copying_every_ballot_changes_nothing(statistic, data):
    v = data.draw(votes(counts=True, rule="bottom" if needs_places(statistic) else None))
    copies = data.draw(st.integers(2, 5))
    more = hr.Votes.from_ranks(v.ranks, v.weights * copies, v.items, unlisted=v.unlisted)
    twice = hr.Votes.from_ranks(np.vstack([v.ranks, v.ranks]), np.tile(v.weights, 2), v.items, unlisted=v.unlisted)
    a = statistic(v)
    for other in (statistic(more), statistic(twice)):
        assert other.ranking == a.ranking
        assert other.loss == pytest.approx(a.loss)


@each_median
@given(data=st.data())
def test_reversing_every_complete_ballot_reverses_the_consensus(statistic, data):
    v = data.draw(votes(counts=True, rule="bottom", unlisted=False))
    back = hr.Votes.from_ranks(v.n + 1 - v.ranks, v.weights, v.items)
    a, b = statistic(v), statistic(back)
    assert a.loss == pytest.approx(b.loss)
    if a.unique:
        assert b.ranking == a.ranking.reversed()


@each_statistic
@given(data=st.data())
def test_the_bound_is_below_the_loss_of_every_ranking(statistic, data):
    v = data.draw(votes(rule="bottom", most_items=4))
    c = statistic(v)
    for ranking in hr.all_rankings(v.n):
        assert c.bound <= v.loss(ranking, c.distance) + 1e-9


@given(votes(counts=True))
def test_unanimity_a_pair_that_all_rank_alike_is_ranked_so(v):
    wins = v.wins()
    ranks = hr.kemeny(v).ranking.ranks
    if v.unlisted == "bottom":
        for i in range(v.n):
            for j in range(v.n):
                if wins[i, j] == v.total:
                    assert ranks[i] < ranks[j]


@given(votes(counts=True, rule="bottom"))
def test_raising_an_item_never_lowers_its_borda_place(v):
    raised = v.ranks.astype(int) + 1
    raised[v.ranks == 0] = 0
    raised[:, 0] = 1
    better = hr.Votes.from_ranks(raised, v.weights, v.items)
    assert better.mean_places()[0] <= v.mean_places()[0] + 1e-9


@given(two_rankings(), st.data())
def test_kendall_and_footrule_are_metrics_on_strict_rankings(pair, data):
    n = len(pair[0])
    a, b, c = (data.draw(st.permutations(range(n))) for _ in range(3))
    for distance in (hr.kendall, hr.footrule_distance):
        assert distance(a, b) == distance(b, a)
        assert (distance(a, b) == 0) == (a == b)
        assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12


@given(two_rankings(), st.data())
def test_distances_do_not_depend_on_names(pair, data):
    a, b = map(np.array, pair)
    turn = list(data.draw(st.permutations(range(len(a)))))
    for distance in (hr.kendall, hr.footrule_distance, hr.spearman_rho, hr.hausdorff_ns, hr.hausdorff_half):
        assert distance(a[turn], b[turn]) == pytest.approx(distance(a, b))


@given(two_rankings())
def test_hausdorff_ns_is_zero_exactly_when_stricter(pair):
    a, b = map(hr.Ranking, pair)
    assert (hr.hausdorff_ns(a, b) == 0) == (b <= a)


@given(votes(counts=True))
def test_wins_add_up(v):
    wins = v.wins()
    both = wins + wins.T
    assert (np.diag(wins) == 0).all()
    assert (both <= v.total).all()
    if v.unlisted == "bottom":
        assert (both[~np.eye(v.n, dtype=bool)] == v.total).all()
    P = v.pairwise()
    assert np.allclose(P + P.T, 1)
