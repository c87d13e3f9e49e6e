"""Rows of ballots: ranks without gaps and groups of equal rows, as defined."""

from __future__ import annotations

import numpy as np
import pytest

import holdrank as hr
from holdrank.arrays.native import call
from holdrank.votes.ballots.dense import DenseBallots, _equal_rows
from holdrank.votes.ballots.ranks import ranks_without_gaps


def closed(row):
    """Return the definition: 0 stays, positive numbers become their place among the distinct ones."""
    distinct = sorted({value for value in row if value > 0})
    return [distinct.index(value) + 1 if value > 0 else 0 for value in row]


@pytest.mark.parametrize("most", [1, 3, 61, 62, 63, 64, 200, 2**31 - 2, 2**31 - 1, 2**31, 2**40])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 12, 13, 24, 25, 40, 49, 62, 65, 130])
def test_gaps_are_closed(n, most):
    rng = np.random.default_rng([n, most % 1000])
    ranks = rng.integers(0, most + 1, (30, n))
    ranks[0] = 0
    ranks[1] = most
    expected = [closed(row) for row in ranks.tolist()]
    for table in (ranks, np.asfortranarray(ranks), ranks.astype(float), ranks.astype(np.uint64), ranks / 7):
        assert ranks_without_gaps(table).tolist() == expected


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.float16, np.float32, np.longdouble])
def test_gaps_are_closed_whatever_the_numbers(kind):
    table = np.array([[3, 0, 9, 9], [1, 2, 3, 4], [0, 0, 0, 0], [100, 100, 0, 1]], dtype=kind)
    assert ranks_without_gaps(table).tolist() == [closed(row) for row in table.tolist()]


def test_numbers_that_fit_no_signed_number_and_floats_near_each_other_keep_their_order():
    large = np.array([[2**64 - 1, 2**63, 2**63 - 1, 0, 1]], dtype=np.uint64)
    assert ranks_without_gaps(large).tolist() == [[4, 3, 2, 0, 1]]
    near = np.array([[1.0, np.nextafter(1, 2), 5e-324, 0.0, -0.0, 1e308]])
    assert ranks_without_gaps(near).tolist() == [[2, 3, 1, 0, 0, 4]]


@pytest.mark.parametrize("n", [1, 3, 4, 5, 20])
@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_equal_rows_are_one_group_numbered_as_they_occur(n, kind):
    rng = np.random.default_rng(n)
    rows = rng.integers(0, 3, (500, n)).astype(kind)
    first, label = _equal_rows(rows)
    seen: dict[tuple[int, ...], int] = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in rows.tolist()]
    assert label.tolist() == expected
    assert first.tolist() == [expected.index(group) for group in range(len(seen))]
    assert _equal_rows(rows[:0])[0].tolist() == []


def test_rows_with_equal_fingerprints_are_told_apart():
    rows = np.random.default_rng(1).integers(0, 9, (200, 3))  # the keys below make most of them look alike
    raw, (table, prints, first, label) = rows.view(np.bool_), np.empty((4, 256), np.int64)
    count = call("group_rows", raw, 200, raw.shape[1], 0, -(2**63), table, 256, prints, first, label)
    assert count == len(np.unique(rows, axis=0))
    assert all((rows[a] == rows[b]).all() == (label[a] == label[b]) for a in range(200) for b in range(0, 200, 7))


def test_votes_are_merged_heaviest_first_and_then_as_they_came():
    ranks = [[1, 2, 3], [3, 2, 1], [1, 2, 3], [2, 1, 3], [3, 1, 2], [2, 1, 3]]
    votes = hr.Votes.from_ranks(ranks)
    assert votes.ranks.tolist() == [[1, 2, 3], [2, 1, 3], [3, 2, 1], [3, 1, 2]]
    assert votes.weights.tolist() == [2, 2, 1, 1]
    votes = hr.Votes.from_ranks(ranks[1:5], [1, 1, 5, 1])
    assert votes.ranks.tolist() == [[2, 1, 3], [3, 2, 1], [1, 2, 3], [3, 1, 2]]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.float64])
@pytest.mark.parametrize("n", [1, 8, 20, 61, 62, 63])
def test_ranks_with_gaps_in_any_type_are_closed(kind, n):
    rng = np.random.default_rng(n)
    for most in (n, 62, 63, 127):
        table = (rng.integers(1, most + 1, (40, n)) * (rng.random((40, n)) < 0.7)).astype(kind)
        assert ranks_without_gaps(table).tolist() == [closed(row) for row in table.tolist()]


def test_more_items_than_short_ranks_can_number_are_ranked():
    row = np.random.default_rng(0).permutation(2**15) * 3
    ranked = ranks_without_gaps(np.array([row, np.zeros(2**15, dtype=np.int64)]))
    assert ranked.tolist() == [(row // 3).tolist(), [0] * 2**15]


def test_listed_items_are_counted_in_either_layout():
    ranks = np.array([[1, 0, 2], [0, 0, 0], [1, 1, 1]], dtype=np.int16)
    for table in (ranks, np.asfortranarray(ranks), ranks.astype(np.int32)):
        assert DenseBallots(table).listed.tolist() == [2, 0, 3]
