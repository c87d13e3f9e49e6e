from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.status import Status

import oracles
from strategies import pair_matrices, votes

# The paper's Figure 3: A before all, B C D close to each other but not all at once.
FIGURE_3 = np.array(
    [
        [0.50, 0.69, 0.90, 0.95],
        [0.31, 0.50, 0.52, 0.70],
        [0.10, 0.48, 0.50, 0.51],
        [0.05, 0.30, 0.49, 0.50],
    ]
)
ABCD = hr.Ranking([1, 2, 3, 4])


@pytest.mark.parametrize(
    ("theta", "naive", "downward"),
    [
        (0.005, "A > B > C > D", "A > B > C > D"),
        (0.01, "A > B > {C, D}", "A > B > {C, D}"),  # (i)
        (0.02, "A > B > {C, D}", "A > {B, C} > D"),  # (ii) by downward only
        (0.19, "{A, B} > {C, D}", "{A, B} > {C, D}"),  # (iii)
        (0.20, "{A, B} > {C, D}", "A > {B, C, D}"),  # (iv) by downward only
        (0.50, "{A, B, C, D}", "{A, B, C, D}"),
    ],
)
def test_figure_3_of_the_paper(theta, naive, downward):
    assert hr.naive_merge(FIGURE_3, ABCD, theta).text("ABCD") == naive
    assert hr.downward_merge(FIGURE_3, ABCD, theta).text("ABCD") == downward


def test_figure_3_as_paths():
    naive = [r.text("ABCD") for _, r in hr.merge_path(FIGURE_3, ABCD, merge="naive")]
    downward = [r.text("ABCD") for _, r in hr.merge_path(FIGURE_3, ABCD)]
    one, two, three, four = "A > B > {C, D}", "A > {B, C} > D", "{A, B} > {C, D}", "A > {B, C, D}"
    assert one in naive
    assert three in naive
    assert two not in naive
    assert four not in naive
    assert [r for r in downward if r in (one, two, three, four)] == [one, two, three, four]


@pytest.mark.slow
@settings(max_examples=1000)
@given(pair_matrices())
def test_both_merges_equal_the_loops_of_the_paper(case):
    P, start, theta = case
    for rule, merge in (("downward", hr.downward_merge), ("naive", hr.naive_merge)):
        expected = oracles.merge(P.tolist(), start.buckets, theta, downward=rule == "downward")
        assert [list(b) for b in merge(P, start, theta).buckets] == expected


@pytest.mark.slow
@settings(max_examples=500)
@given(pair_matrices())
def test_smith_merge_keeps_a_border_where_all_above_beat_all_below(case):
    P, start, theta = case
    expected = oracles.smith_merge(P.tolist(), start.buckets, theta)
    assert [list(b) for b in hr.smith_merge(P, start, theta).buckets] == expected


def test_smith_merge_of_figure_3():
    # A beats B by .19, C and D by more: one border, up to there. B, C and D are too close for any other above .01.
    assert [(t, r.text("ABCD")) for t, r in hr.merge_path(FIGURE_3, ABCD, merge="smith")] == [
        (0.0, "A > B > C > D"),
        (0.01, "A > B > {C, D}"),
        (0.02, "A > {B, C, D}"),
        (0.19, "{A, B, C, D}"),
    ]


@pytest.mark.slow
@settings(max_examples=200)
@given(votes(most_items=5), st.floats(0, 0.5))
def test_smith_merge_of_every_kemeny_ranking_and_of_copelands_is_the_dominating_sets(v, theta):
    expected = oracles.dominating_tiers(v.pairwise().tolist(), theta)
    for ranking in [*hr.kemeny_optima(v, most=200), hr.copeland(v).ranking]:
        assert [list(b) for b in hr.smith_merge(v.pairwise(), ranking, theta).buckets] == expected


def test_smith_merge_of_other_rankings_may_miss_a_border():
    # a beats b and c, by 3 to 2; b has the best mean place.
    v = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"]], weights=[3, 2])
    assert hr.borda(v).text() == "b > a > c"
    assert hr.Robust(hr.kemeny, 0, merge="smith")(v).text() == "a > b > c"
    assert hr.Robust(hr.borda, 0, merge="smith")(v).text() == "{a, b} > c"


def test_a_border_of_smith_tiers_can_cost_far_less_than_a_share_theta_of_the_votes():
    # Ten of 210 votes compare a and b, 8 to 2: a margin of .3, above theta = .2, which three votes level.
    orders = [["a", "b"], ["b", "a"], ["a", "c"], ["b", "c"]]
    v = hr.Votes.from_orders(orders, weights=[8, 2, 100, 100], unlisted="observed")
    T = hr.Robust(hr.kemeny, 0.2, merge="smith")
    assert (v.total, T(v).text()) == (210, "a > b > c")
    changed = {
        k: hr.Votes.from_orders(orders, weights=[8 - k, 2 + k, 100, 100], unlisted="observed") for k in range(1, 5)
    }
    assert [v.total_variation(after) for after in changed.values()] == pytest.approx([k / 210 for k in changed])
    assert [hr.copeland(after).unique for after in changed.values()] == [True, True, False, True]
    assert (hr.kemeny(changed[2]).text(), hr.kemeny(changed[4]).text()) == ("a > b > c", "b > a > c")
    found = hr.attack(v, hr.kemeny, hr.Above("b", "a"))
    assert (found.votes_to_tie, found.votes_to_decide) == (3, 4)
    assert found.lower == pytest.approx(3 / 210)
    assert found.lower < T.theta / 10
    # The tiers themselves hold for less than one vote: 7 to 3 is a margin of theta, and no more.
    assert T(changed[1]).text() == "{a, b} > c"


def test_smith_merge_is_unique_where_kemenys_ranking_is_not():
    cycle = hr.Votes.from_orders([["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"]])
    assert hr.kemeny(cycle).unique is False
    assert hr.Robust(hr.kemeny, 0.1)(cycle).unique is None
    tiers = hr.Robust(hr.kemeny, 0.1, merge="smith")(cycle)
    assert (tiers.text(), tiers.unique, tiers.status) == ("{a, b, c} > d", True, Status.MERGED)
    assert hr.Robust(hr.borda, 0.1, merge="smith")(cycle).unique is None


@pytest.mark.slow
@settings(max_examples=300)
@given(pair_matrices(most=7))
def test_the_path_holds_the_result_at_every_threshold(case):
    P, start, theta = case
    levels = np.unique(np.round(np.abs(P - P.T) / 2, 12)).tolist()
    for rule in ("naive", "downward", "smith"):
        path = hr.merge_path(P, start, merge=rule)
        thetas = [t for t, _ in path]
        assert thetas[0] == 0
        assert thetas == sorted(set(thetas))
        assert set(thetas) <= {0.0, *levels}
        assert all(a != b for (_, a), (_, b) in pairwise(path))
        for at in [*levels, theta]:
            if rule == "smith":
                buckets = oracles.smith_merge(P.tolist(), start.buckets, at)
            else:
                buckets = oracles.merge(P.tolist(), start.buckets, at, downward=rule == "downward")
            current = [r for t, r in path if t <= round(at, 12)][-1]
            assert [list(b) for b in current.buckets] == buckets


@pytest.mark.slow
@settings(max_examples=300)
@given(pair_matrices())
def test_naive_and_smith_merge_are_monotone(case):
    P, start, _ = case
    for rule in ("naive", "smith"):
        results = [r for _, r in hr.merge_path(P, start, merge=rule)]
        assert all(a <= b for a, b in pairwise(results))
        assert start <= results[0]
        assert len(results[-1].buckets) == 1


def test_downward_merge_is_not_monotone():
    two, three = hr.downward_merge(FIGURE_3, ABCD, 0.02), hr.downward_merge(FIGURE_3, ABCD, 0.19)
    assert not two <= three
    assert not three <= two


@pytest.mark.slow
@settings(max_examples=300)
@given(pair_matrices())
def test_reversing_everything_reverses_the_result(case):
    P, start, theta = case
    for merge in (hr.naive_merge, hr.downward_merge):
        merged = merge(P, start, theta)
        # Equal lists of deviations go to the leftmost, which reversal turns into the rightmost: skip such draws.
        spread = np.abs(P - P.T)[np.triu_indices(len(P), 1)]
        if len(np.unique(np.round(spread, 12))) == len(spread):
            assert merge(P.T, start.reversed(), theta) == merged.reversed()
    assert hr.smith_merge(P.T, start.reversed(), theta) == hr.smith_merge(P, start, theta).reversed()


@settings(max_examples=200)
@given(pair_matrices())
def test_no_merged_pair_deviates_more_than_theta(case):
    P, start, theta = case
    for merge in (hr.naive_merge, hr.downward_merge):
        merged = merge(P, start, theta)
        assert start <= merged
        for bucket in merged.buckets:
            if not any(set(bucket) <= set(old) for old in start.buckets):
                inside = np.abs(P[np.ix_(bucket, bucket)] - 0.5)
                assert inside.max() <= theta + 1e-11


def test_floating_point_does_not_separate_equal_deviations():
    # 0.51 - 0.5 is a little more than 0.01, and 0.5 - 0.3 is not 0.7 - 0.5.
    P = np.array([[0.5, 0.51], [0.49, 0.5]])
    assert hr.naive_merge(P, hr.Ranking([1, 2]), 0.01).buckets == ((0, 1),)
    P = np.array([[0.5, 0.3], [0.7, 0.5]])
    assert hr.downward_merge(P, hr.Ranking([2, 1]), 0.2).buckets == ((0, 1),)


@pytest.mark.parametrize(
    ("P", "message"),
    [
        (np.full((2, 2), 0.5), "4 x 4 matrix"),
        (np.full((4, 4), np.nan), "shares from 0 to 1"),
        (np.full((4, 4), 1.5), "shares from 0 to 1"),
        (np.full((4, 4), 0.7), "must be 1 for every pair"),
    ],
)
def test_a_matrix_that_is_no_pairwise_matrix_is_refused(P, message):
    for merge in (hr.naive_merge, hr.downward_merge, hr.smith_merge):
        with pytest.raises(hr.UsageError, match=message):
            merge(P, ABCD, 0.1)


@pytest.mark.parametrize("theta", [-0.1, 0.6, float("nan"), None])
def test_a_threshold_outside_its_range_is_refused(theta):
    for call in (lambda: hr.naive_merge(FIGURE_3, ABCD, theta), lambda: hr.Robust(hr.kemeny, theta=theta)):
        with pytest.raises(hr.UsageError, match="theta must be a number from 0 to"):
            call()


def test_an_unknown_rule_is_refused():
    for call in (
        lambda: hr.merge_path(FIGURE_3, ABCD, merge="upward"),
        lambda: hr.Robust(hr.kemeny, 0.1, merge="upward"),
    ):
        with pytest.raises(hr.UsageError, match="'downward', 'naive' or 'smith', not 'upward'"):
            call()


@given(votes(most_items=5))
def test_robust_merges_the_base_and_carries_its_certificate(v):
    for base in (hr.kemeny, hr.borda):
        for rule, merge in (("downward", hr.downward_merge), ("naive", hr.naive_merge), ("smith", hr.smith_merge)):
            strict = base(v)
            robust = hr.Robust(base, 0.1, merge=rule)(v)
            assert robust.ranking == merge(v.pairwise(), strict.ranking, 0.1)
            assert robust.loss == pytest.approx(v.loss(robust.ranking))
            assert robust.distance == "kendall"
            assert robust.status is (Status.SCORED if strict.status is Status.SCORED else Status.MERGED)
            known = strict.unique or (rule == "smith" and base is hr.kemeny)
            assert robust.unique == (True if known else None)
            assert robust.seconds >= 0
            assert robust.bound <= robust.loss + 1e-12
            if base is hr.kemeny:
                assert robust.bound == strict.bound


def test_robust_knows_its_name_and_is_a_statistic():
    statistic = hr.Robust(hr.borda, theta=0.05, merge="naive")
    assert statistic.__name__ == "naive merge of borda at 0.05"
    assert isinstance(statistic, hr.Statistic)
    assert isinstance(hr.kemeny, hr.Statistic)


def test_robust_says_when_its_base_was_not_proved():
    v = hr.Votes.from_orders([["a", "b"]])

    def unproved(votes):
        from dataclasses import replace

        return replace(hr.kemeny(votes), status=Status.TIME_LIMIT)

    assert hr.Robust(unproved, 0.1)(v).status is Status.TIME_LIMIT


CIRCLE = hr.Votes.from_orders([["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"]])
SEVERAL = "several rankings are optimal for {}; the tiers come from the one that it reports"


@pytest.mark.parametrize("base", [hr.kemeny, hr.borda, hr.footrule, hr.copeland])
def test_tiers_say_that_the_ranking_below_them_is_one_of_several(base):
    assert base(CIRCLE).unique is False
    for rule in ("downward", "naive"):
        found = hr.Robust(base, 0.1, merge=rule)(CIRCLE)
        assert (found.notes, found.unique) == ((SEVERAL.format(base.__name__),), None)
        assert found.notes[0] in found._repr_html_()
    clear = hr.Votes.from_orders([["a", "b", "c", "d"]])
    assert hr.Robust(base, 0.1)(clear).notes == () == base(CIRCLE).notes


def test_a_base_without_a_name_has_tiers_too():
    assert hr.Robust(partial(hr.bradley_terry, ridge=0.1), 0.1)(CIRCLE).notes == (SEVERAL.format("the base"),)


def test_tiers_by_dominating_sets_are_the_same_from_every_kemeny_ranking():
    assert hr.Robust(hr.kemeny, 0.1, merge="smith")(CIRCLE).notes == ()
    assert hr.Robust(hr.borda, 0.1, merge="smith")(CIRCLE).notes == (SEVERAL.format("borda"),)


def test_only_rankings_are_merged():
    with pytest.raises(hr.UsageError, match="must be a Ranking, not list"):
        hr.naive_merge(FIGURE_3, [1, 2, 3, 4], 0.1)
    with pytest.raises(hr.UsageError, match="must be a Ranking, not list"):
        hr.smith_merge(FIGURE_3, [1, 2, 3, 4], 0.1)


@pytest.mark.slow
@pytest.mark.traced
def test_two_thousand_items_merge():
    strength = np.sort(np.random.default_rng(0).normal(size=2000))[::-1]
    P = 1 / (1 + np.exp(strength - strength[:, None]))
    start = hr.Ranking(np.arange(2000))
    for merge in (hr.naive_merge, hr.downward_merge):
        merged = merge(P, start, 0.1)
        worst = max(abs(P[b[0], b[-1]] - 0.5) for b in merged.buckets)
        assert worst <= 0.1
        joined = [abs(P[a[0], b[-1]] - 0.5) for a, b in pairwise(merged.buckets)]
        assert min(joined) > 0.1  # no two neighbours could still be merged
    apart = [P[a[-1], b[0]] - 0.5 for a, b in pairwise(hr.smith_merge(P, start, 0.001).buckets)]
    assert len(apart) > 100
    assert min(apart) > 0.001
