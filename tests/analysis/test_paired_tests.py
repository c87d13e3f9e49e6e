"""Tests of score tables, against scipy and published tables."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import holdrank as hr
from holdrank.analysis.chance.mean_ranks import rank_groups
from holdrank.analysis.chance.p_values import (
    chi_square_tail,
    holm,
    range_quantile,
    range_tail,
    sign_test,
    signed_rank_test,
)

PEERS = json.loads((Path(__file__).parents[2] / "benchmarks" / "results" / "paired_tests.json").read_text("utf-8"))
"""What scikit-posthocs, autorank, statsmodels and scipy say about generated tables: benchmarks/peer_paired_tests.py."""


@pytest.mark.parametrize("case", PEERS["cases"], ids=lambda case: case["name"])
def test_the_numbers_are_those_of_other_packages(case):
    rows = np.array(case["rows"])
    n = rows.shape[1]
    found = hr.paired_tests(hr.Votes.from_score_rows(rows, items=[f"m{k:02}" for k in range(n)]))
    upper = np.triu_indices(n, 1)
    assert found.mean_ranks == pytest.approx(case["mean_ranks"])
    assert found.friedman == pytest.approx(case["friedman"], rel=1e-9)
    assert found.friedman_p == pytest.approx(case["friedman_p"], rel=1e-9)
    # The quantile that autorank looks up is approximate, to some 1e-4; scipy's is held against ours below.
    assert found.critical_difference == pytest.approx(case["critical_difference"], rel=2e-4)
    assert found.nemenyi_p[upper] == pytest.approx(case["nemenyi"], abs=1e-9)
    assert found.test in case
    assert found.p_values[upper] == pytest.approx(case[found.test], rel=1e-9)
    place = dict(zip(found.items, found.mean_ranks, strict=True))
    ends = sorted([place[group[0]], place[group[-1]]] for group in found.groups)
    assert np.array(ends) == pytest.approx(np.array(case["bars"]), abs=1e-9)


def test_the_stored_answers_name_their_packages_and_hold_every_kind_of_test():
    assert {"scikit-posthocs", "autorank", "statsmodels", "scipy"} <= set(PEERS["packages"])
    assert {"mcnemar", "wilcoxon"} == {
        name for case in PEERS["cases"] for name in ("mcnemar", "wilcoxon") if name in case
    }
    assert any(len(case["bars"]) > 2 for case in PEERS["cases"])


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 60])
def test_chi_square_agrees_with_scipy(freedom):
    for x in (0.0, 0.01, 0.5, 1, 3.3, 10, 55.5, 200):
        assert chi_square_tail(x, freedom) == pytest.approx(stats.chi2.sf(x, freedom), rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 40])
def test_the_range_agrees_with_scipy(n):
    for q in (0.1, 1.0, 2.5, 4.0, 6.0):
        assert range_tail(q, n) == pytest.approx(stats.studentized_range.sf(q, n, math.inf), abs=1e-8)
    assert range_quantile(0.95, n) == pytest.approx(stats.studentized_range.ppf(0.95, n, math.inf), abs=1e-5)


def test_signs_agree_with_the_binomial_test():
    for wins, losses in [(0, 0), (1, 0), (5, 5), (12, 3), (40, 61)]:
        expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-12)


def test_signed_ranks_agree_with_scipy():
    rng = np.random.default_rng(4)
    for size in (5, 12, 49, 51, 120):
        gaps = rng.normal(0.2, 1, size)
        method = "exact" if size <= 50 else "asymptotic"
        expected = stats.wilcoxon(gaps, method=method, correction=False).pvalue
        assert signed_rank_test(gaps) == pytest.approx(expected, rel=1e-9)
        ties = np.round(gaps * 2) / 2
        if size > 13:
            expected = stats.wilcoxon(ties, method="asymptotic", correction=False).pvalue
        else:  # all signs of the differences are as likely
            ranks = stats.rankdata(np.abs(ties[ties != 0]))
            sums = np.array([0.0])
            for rank in ranks:
                sums = np.concatenate((sums, sums + rank))
            seen = ranks[ties[ties != 0] > 0].sum()
            expected = min(1.0, 2 * min((sums <= seen).mean(), (sums >= seen).mean()))
        assert signed_rank_test(ties) == pytest.approx(expected, rel=1e-9)
    assert signed_rank_test(np.zeros(4)) == 1.0


def test_holm_is_that_of_the_definition():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    order = sorted(range(4), key=lambda k: p[k])
    expected, most = [0.0] * 4, 0.0
    for at, k in enumerate(order):
        most = max(most, min((4 - at) * p[k], 1.0))
        expected[k] = most
    assert holm(p).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("decimals", [0, 3])
def test_friedman_and_nemenyi_agree_with_scipy(decimals):
    rng = np.random.default_rng(1)
    table = np.round(rng.normal(size=(15, 5)) + np.arange(5) / 2, decimals)
    found = hr.paired_tests(hr.Votes.from_score_rows(table, items=list("abcde")))
    expected = stats.friedmanchisquare(*table.T)
    assert (found.friedman, found.friedman_p) == pytest.approx((expected.statistic, expected.pvalue))
    means = stats.rankdata(-table, axis=1).mean(axis=0)
    assert found.mean_ranks == pytest.approx(means)
    q = np.abs(means[:, None] - means) / math.sqrt(5 * 6 / (6 * 15)) * math.sqrt(2)
    assert found.nemenyi_p == pytest.approx(np.where(q == 0, 1, stats.studentized_range.sf(q, 5, math.inf)), abs=1e-7)
    # Demsar 2006, table 5: q = 2.728 for five classifiers at 0.05.
    assert found.critical_difference == pytest.approx(2.728 * math.sqrt(5 * 6 / (6 * 15)), abs=5e-4)


def test_groups_are_runs_of_ranks_closer_than_the_critical_difference():
    rng = np.random.default_rng(2)
    table = rng.normal(size=(40, 6)) + np.array([3.0, 2.9, 2.8, 1.0, 0.9, -2.0])
    found = hr.paired_tests(hr.Votes.from_score_rows(table, items=list("abcdef")))
    for group in found.groups:
        ranks = [found.mean_ranks[found.items.index(name)] for name in group]
        assert max(ranks) - min(ranks) < found.critical_difference
    assert any(set("abc") <= set(group) for group in found.groups)
    assert not any({"a", "e"} <= set(group) for group in found.groups)
    assert not any("f" in group for group in found.groups)


def test_tables_of_zeros_and_ones_are_tested_by_mcnemar():
    rows = [[1, 0]] * 9 + [[0, 1]] + [[1, 1]] * 10 + [[0, 0]] * 5
    found = hr.paired_tests(hr.Votes.from_score_rows(np.array(rows, dtype=float), items=["a", "b"]))
    assert (found.test, found.tasks) == ("mcnemar", 25)
    assert found.p_values[0, 1] == pytest.approx(0.021484375)
    assert found.separated.tolist() == [[False, True], [True, False]]
    assert "Exact McNemar tests, corrected by Holm, separate 1 of 1 pair at 95 %." in found.text()


def test_groups_of_ranks_that_differ_by_the_critical_difference_itself():
    # 0.1 + 0.2 is more than 0.3 in floats: the difference decides, not the sum.
    assert rank_groups(np.array([0.1, 0.30000000000000004]), 0.2) == []
    assert rank_groups(np.array([3.0, 1.0, 2.0]), 1.0) == []
    assert rank_groups(np.array([3.0, 1.0, 2.0]), 1.5) == [[1, 2], [2, 0]]
    rng = np.random.default_rng(3)
    for _ in range(200):
        values, critical = rng.integers(2, 12, 7) / 2, float(rng.integers(1, 9)) / 2
        near = np.abs(values[:, None] - values) < critical
        every = [
            set(some) for size in range(2, 8) for some in combinations(range(7), size) if near[np.ix_(some, some)].all()
        ]
        expected = {frozenset(one) for one in every if not any(one < other for other in every)}
        assert {frozenset(group) for group in rank_groups(values, critical)} == expected


def test_blanks_are_left_out_pair_by_pair_and_all_tied_is_no_difference():
    rows = np.array([[1.0, 2.0, np.nan], [3.0, 1.0, 2.0], [2.0, 5.0, 4.0]])
    found = hr.paired_tests(hr.Votes.from_score_rows(rows))
    assert found.tasks == 2
    same = hr.paired_tests(hr.Votes.from_score_rows(np.full((4, 3), 0.5)))
    assert (same.friedman, same.friedman_p, same.separated.any()) == (0.0, 1.0, np.False_)


def test_what_is_no_score_table_is_refused():
    with pytest.raises(hr.UsageError, match=r"hold no scores.* Fix: give a table of scores"):
        hr.paired_tests(hr.Votes.from_orders([["a", "b"]]))
    with pytest.raises(hr.UsageError, match="at least two items, not one"):
        hr.paired_tests(hr.Votes.from_score_rows([[1.0], [2.0]]))
    with pytest.raises(hr.UsageError, match="between 0 and 1"):
        hr.paired_tests(hr.Votes.from_score_rows([[1.0, 2.0]]), level=95)
