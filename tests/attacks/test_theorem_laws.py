"""What must hold for bounds and batch forms whatever the votes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.attacks.batches import BatchMerge
from holdrank.attacks.theorems import cheap_lower, theorem_bounds

import oracles
from strategies import pair_matrices, strict_vectors, votes

pytestmark = pytest.mark.slow


def flipped_pairs(a, b):
    return oracles.discordant(a.order, b.order)


@st.composite
def attacked_votes(draw, **kwargs):
    """Votes with ties and gaps, and the same after a part of each ballot's weight went to one strict ballot.

    The ballot is a target; ballots that disagree with it most lose their weight first, as a good attack would do.
    """
    before = draw(votes(most_items=5, **kwargs))
    assume(before.n > 1)
    target = np.array(draw(strict_vectors(before.n)))
    budget = draw(st.floats(0, 1)) * before.total
    disagreement = [
        sum((row[i] < row[j]) != (target[i] < target[j]) for i in range(before.n) for j in range(i))
        for row in before.ranks.tolist()
    ]
    left = before.weights.copy()
    for row in np.argsort(disagreement)[::-1]:
        taken = min(left[row], budget)
        left[row] -= taken
        budget -= taken
    moved = before.weights.sum() - left.sum()
    assume(moved > 0)
    after = hr.Votes.from_ranks(
        np.vstack((before.ranks, target)), np.append(left, moved), before.items, unlisted=before.unlisted
    )
    return before, after


@given(attacked_votes())
@settings(max_examples=150, suppress_health_check=[HealthCheck.filter_too_much])
def test_no_attack_on_kemeny_is_cheaper_than_its_lower_bounds(case):
    before, after = case
    flips = flipped_pairs(hr.kemeny(before).ranking, hr.kemeny(after).ranking)
    assume(flips > 0)
    paid = before.total_variation(after)
    assert theorem_bounds(before).lower[flips - 1] <= paid + 1e-9
    assert cheap_lower(before)[flips - 1] <= paid + 1e-9


@pytest.mark.parametrize("statistic", [hr.borda, hr.footrule])
@given(case=attacked_votes(rule="bottom"))
@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])  # many changes move nothing
def test_no_attack_on_another_median_is_cheaper_than_its_lower_bound(statistic, case):
    before, after = case
    flips = flipped_pairs(statistic(before).ranking, statistic(after).ranking)
    assume(flips > 0)
    assert theorem_bounds(before, statistic).lower[flips - 1] <= before.total_variation(after) + 1e-9


@given(votes(most_items=5))
@settings(max_examples=60)
def test_bounds_rise_with_the_distance_and_lie_in_order(profile):
    found = theorem_bounds(profile)
    for values in (found.lower, found.upper, cheap_lower(profile)):
        assert (values >= 0).all()
        assert (np.diff(values) >= -1e-12).all()
    assert (cheap_lower(profile) <= found.lower + 1e-12).all()
    assert (found.lower <= found.upper + 1e-12).all()
    assert (found.lower <= 0.5 + 1e-12).all()


@given(votes(most_items=5, counts=True), st.integers(2, 5), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_bounds_do_not_depend_on_names_or_on_the_number_of_votes(profile, times, random):
    assume(hr.kemeny(profile).unique)  # otherwise the order of the items decides which median is reported
    items = list(range(profile.n))
    random.shuffle(items)
    other = hr.Votes.from_ranks(profile.ranks[:, items], profile.weights * times, unlisted=profile.unlisted)
    assert theorem_bounds(other).lower == pytest.approx(theorem_bounds(profile).lower, abs=1e-12)
    assert theorem_bounds(other).upper == pytest.approx(theorem_bounds(profile).upper, abs=1e-12)
    assert theorem_bounds(other).upper_valid.tolist() == theorem_bounds(profile).upper_valid.tolist()


@given(pair_matrices(most=6), st.sampled_from(["naive", "downward"]))
@settings(max_examples=150)
def test_batch_merges_agree_with_single_ones(case, rule):
    P, start, theta = case
    n = start.n
    strict = hr.Ranking.from_order(start.order)
    order = np.array(strict.order)
    i, j = np.triu_indices(n, 1)
    (code,) = BatchMerge(n, theta, rule, P)(np.abs(P[order[i], order[j]] - 0.5)[None]).tolist()
    merged = (hr.naive_merge if rule == "naive" else hr.downward_merge)(P, strict, theta)
    joined = [merged.ranks[a] == merged.ranks[b] for a, b in pairwise(order)]
    assert code == sum(1 << at for at, same in enumerate(joined) if same)
