from __future__ import annotations

import copy
import pickle
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given

import holdrank as hr
from holdrank import rankings
from holdrank.arrays.native import call

import oracles
from strategies import rank_vectors, sizes, two_rankings

DISTANCES = [hr.kendall, hr.spearman_rho, hr.footrule_distance, hr.hausdorff_ns, hr.hausdorff_half]


def test_ranks_become_dense_whatever_numbers_were_given():
    for ranks in ([1, 2, 2, 4], [1, 2, 2, 3], [0, 5, 5, 9], [-1.5, 2.5, 2.5, 7.0]):
        assert hr.Ranking(ranks).ranks.tolist() == [1, 2, 2, 3]
    assert hr.Ranking(iter([3, 1])).ranks.tolist() == [2, 1]


def test_parts_of_a_ranking():
    r = hr.Ranking([2, 1, 2, 3])
    assert r.n == 4
    assert r.buckets == ((1,), (0, 2), (3,))
    assert r.order == (1, 0, 2, 3)
    assert r.places.tolist() == [2.5, 1, 2.5, 4]
    assert not r.is_strict
    assert hr.Ranking([3, 1, 2]).is_strict
    assert r.reversed().buckets == ((3,), (0, 2), (1,))
    assert repr(r) == "Ranking([2, 1, 2, 3])"


def test_text_names_items_and_escapes_hostile_ones():
    r = hr.Ranking([1, 2, 2, 3])
    assert r.text(["A", "B", "C", "D"]) == "A > {B, C} > D"
    assert r.text() == "0 > {1, 2} > 3"
    assert "\x1b" not in r.text(["\x1b[2J", "b\nc", "c", "d"])
    assert "\n" not in r.text(["\x1b[2J", "b\nc", "c", "d"])
    with pytest.raises(hr.UsageError, match="3 names were given for a ranking of 4 items"):
        r.text(["a", "b", "c"])


def test_from_buckets_and_from_order_refuse_what_is_no_partition():
    assert hr.Ranking.from_order([2, 0, 1]).ranks.tolist() == [2, 3, 1]
    for wrong in ([[0], [0, 1]], [[0], [2]], [[-1], [0]], [[1, 2]]):
        with pytest.raises(hr.UsageError, match="exactly once"):
            hr.Ranking.from_buckets(wrong)
    for odd in ("ab", [0.9, 1.2]):
        with pytest.raises(hr.UsageError, match="items are numbers from 0"):
            hr.Ranking.from_order(odd)


@pytest.mark.parametrize("wrong", [[], [[1, 2]], [[1, 2], [3]], 3, [1, float("nan")], ["a", "b"], [1, float("inf")]])
def test_ranks_that_cannot_be_ordered_are_refused(wrong):
    with pytest.raises(hr.UsageError):
        hr.Ranking(wrong)


def test_rankings_are_immutable_and_hashable():
    r = hr.Ranking([1, 2, 2])
    with pytest.raises(ValueError, match="read-only"):
        r.ranks[0] = 2
    assert {r, hr.Ranking([5, 9, 9])} == {r}
    assert r != "1 2 2"
    assert pickle.loads(pickle.dumps(r)) == r == copy.deepcopy(r)


@given(two_rankings())
def test_stricter_means_every_way_to_break_ties_is_shared(pair):
    a, b = map(hr.Ranking, pair)
    assert (a <= b) == oracles.is_stricter(*pair)
    assert (a < b) == (oracles.is_stricter(*pair) and a != b)
    assert a <= a
    assert a <= hr.Ranking([1] * a.n)


def test_rankings_of_different_sizes_do_not_compare():
    with pytest.raises(TypeError):
        _ = hr.Ranking([1]) <= hr.Ranking([1, 2])
    with pytest.raises(TypeError):
        _ = hr.Ranking([1]) < 3


def test_all_rankings_lists_each_once_in_order():
    assert [r.order for r in hr.all_rankings(4)] == list(permutations(range(4)))
    for n in (1, 2, 3, 4):
        assert [tuple(r.ranks.tolist()) for r in hr.all_rankings(n, ties=True)] == oracles.weak_orders(n)
    with pytest.raises(hr.LimitError, match="rankings of 12 items"):
        hr.all_rankings(12)
    with pytest.raises(hr.LimitError, match="rankings of 9 items"):
        hr.all_rankings(9, ties=True)
    with pytest.raises(hr.UsageError):
        hr.all_rankings(0)


@given(two_rankings())
def test_hausdorff_distances_equal_their_definition(pair):
    a, b = pair
    there, back = oracles.hausdorff_ns(a, b), oracles.hausdorff_ns(b, a)
    assert hr.hausdorff_ns(a, b) == pytest.approx(there)
    assert hr.hausdorff_half(a, b) == pytest.approx((there + back) / 2)
    assert hr.kendall(a, b) == hr.hausdorff_half(a, b)


@given(two_rankings())
def test_the_symmetric_distance_is_a_sum_over_pairs_and_a_norm_of_profiles(pair):
    a, b = pair
    n = len(a)
    together = [(i, j) for i in range(n) for j in range(i + 1, n)]
    turned = sum((a[i] - a[j]) * (b[i] - b[j]) < 0 for i, j in together)
    untied = sum((a[i] == a[j]) != (b[i] == b[j]) for i, j in together)
    profiles = [[(r[i] < r[j]) / 2 - (r[i] > r[j]) / 2 for i, j in together] for r in (a, b)]
    norm = sum(abs(x - y) for x, y in zip(*profiles, strict=True))
    found = hr.hausdorff_half(hr.Ranking(a), hr.Ranking(b)) * max(len(together), 1)
    assert found == pytest.approx(turned + untied / 2)
    assert found == pytest.approx(norm)


@given(two_rankings())
def test_place_distances_equal_their_definition(pair):
    a, b = pair
    n = len(a)
    gaps = [x - y for x, y in zip(oracles.mean_places(a), oracles.mean_places(b), strict=True)]
    assert hr.footrule_distance(a, b) == pytest.approx(sum(map(abs, gaps)) / max(n * n // 2, 1))
    assert hr.spearman_rho(a, b) == pytest.approx(sum(g * g for g in gaps) / max(n * (n * n - 1) / 3, 1))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 300])
def test_distances_run_from_zero_to_one(distance, n):
    up = np.arange(1, n + 1)
    assert distance(up, up) == 0
    assert distance(up, up[::-1]) == pytest.approx(1 if n > 1 else 0)


@pytest.mark.parametrize("distance", DISTANCES)
def test_batch_form_equals_one_by_one(distance):
    rng = np.random.default_rng(5)
    a, b = rng.integers(1, 6, (4, 5)), rng.integers(1, 6, (3, 5))
    table = distance(a[:, None], b)
    assert table.shape == (4, 3)
    for i in range(4):
        for j in range(3):
            assert table[i, j] == pytest.approx(distance(a[i], b[j]))
    assert distance(hr.Ranking(a[0]), b).tolist() == pytest.approx([distance(a[0], row) for row in b])


@pytest.mark.parametrize("distance", DISTANCES)
def test_batch_form_runs_on_another_array_library(distance):
    strict_library = pytest.importorskip("array_api_strict")
    rng = np.random.default_rng(6)
    a, b = rng.integers(1, 6, (4, 5)), rng.integers(1, 6, (4, 5))
    result = distance(strict_library.asarray(a), strict_library.asarray(b))
    assert [float(x) for x in result] == pytest.approx(distance(a, b).tolist())


@pytest.mark.parametrize("distance", [hr.kendall, hr.hausdorff_ns, hr.hausdorff_half])
def test_sorting_and_comparing_all_pairs_agree(distance, monkeypatch):
    rng = np.random.default_rng(7)
    for n, most in ((1, 1), (2, 2), (9, 3), (40, 40), (300, 50)):
        a, b = rng.integers(0, most + 1, (2, 3, n))
        monkeypatch.setattr(rankings, "_SORTED_FROM", 1)
        monkeypatch.setattr(rankings, "_ONE_SORTED_FROM", 1)
        by_sorting = distance(a, b)
        monkeypatch.setattr(rankings, "_SORTED_FROM", 10**9)
        assert np.array_equal(by_sorting, distance(a, b))


@given(sizes.flatmap(rank_vectors))
def test_inversions_are_counted_once_each(values):
    assert_inversions_are_counted(values)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 33])
def test_inversions_of_fixed_lists_are_counted_once_each(n):
    for most in (2, n, 10 * n + 1):
        assert_inversions_are_counted(np.random.default_rng(n).integers(0, most + 1, n).tolist())


def assert_inversions_are_counted(values):
    expected = sum(values[i] > values[j] for i in range(len(values)) for j in range(i + 1, len(values)))
    assert call("inversions", np.array(values, dtype=np.int64), len(values)) == expected


def test_one_pair_of_a_hundred_thousand_items_fits_in_memory():
    n = 100_000
    up = np.arange(n)
    swapped = up.copy()
    swapped[[0, 1]] = 1, 0
    one_pair = 1 / (n * (n - 1) / 2)
    assert hr.kendall(up, swapped) == pytest.approx(one_pair)
    assert hr.hausdorff_ns(up, np.minimum(up, n - 2)) == pytest.approx(one_pair)
    assert hr.hausdorff_half(up, np.minimum(up, n - 2)) == pytest.approx(one_pair / 2)


def test_distances_refuse_what_does_not_fit():
    with pytest.raises(hr.UsageError, match="different numbers of items"):
        hr.kendall([1, 2], [1, 2, 3])
    with pytest.raises(hr.UsageError, match="different numbers of items"):
        hr.kendall(3, 4)
    with pytest.raises(hr.UsageError, match="batches do not fit"):
        hr.kendall(np.ones((2, 3)), np.ones((4, 3)))
    with pytest.raises(hr.UsageError, match="finite numbers"):
        hr.footrule_distance([1, float("nan")], [1, 2])


def test_distances_leave_their_arguments_alone():
    a, b = np.array([3, 1, 2]), np.array([1, 2, 3])
    for distance in DISTANCES:
        distance(a, b)
    assert a.tolist() == [3, 1, 2]
    assert b.tolist() == [1, 2, 3]
