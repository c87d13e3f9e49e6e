"""Metrics by name, as functions and as matrices: what they are, and what is refused."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import holdrank as hr
from holdrank.rules.metrics import distances, ranking_indices

import oracles

NAMES = ("kendall", "cayley", "ulam", "hamming", "footrule", "spearman_rho", "weighted_kendall")
VOTES = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]], weights=[6, 3, 1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_named_metrics_are_their_definitions(name, n):
    table, expected = distances(hr.Metric.of(name), n), oracles.metric_table(name, n)
    unit = 1 if name != "weighted_kendall" else table.largest / max(expected.max(), 1e-9)
    assert table.between == pytest.approx(unit * expected)
    assert table.whole
    assert table.is_metric == (name != "spearman_rho")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "spearman_rho"])
def test_named_metrics_pass_the_checks_of_given_ones(name):
    between = oracles.metric_table(name, 4)
    assert distances(hr.Metric.of(between), 4).invariant
    assert hr.Median(between)(hr.sample_votes(hr.Uniform(4), 7, rng=1)).notes == ()


def test_spearmans_rho_is_taken_by_name_and_refused_as_a_metric():
    assert hr.Median("spearman_rho")(VOTES).text() == hr.borda(VOTES).text()
    assert hr.Median(hr.spearman_rho) == hr.Median("spearman_rho")
    with pytest.raises(hr.UsageError, match=r"0\.75, and 0\.5 by way of 0 > 1 > 2"):
        hr.Median(lambda a, b: hr.spearman_rho(a, b))(VOTES)


def test_indices_follow_the_order_of_all_rankings():
    for n in (1, 2, 3, 5):
        assert ranking_indices([r.order for r in hr.all_rankings(n)]).tolist() == list(range(len(hr.all_rankings(n))))


KENDALL = oracles.metric_table("kendall", 3)


def broken(change):
    """Return the Kendall matrix of three items with one change."""
    matrix = KENDALL.copy()
    change(matrix)
    return matrix


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (broken(lambda m: m.__setitem__((1, 4), -1)), "from 0 > 2 > 1 to 2 > 0 > 1 is -1.*not negative"),
        (broken(lambda m: m.__setitem__((2, 2), 1)), "from 1 > 0 > 2 to 1 > 0 > 2 is 1.*distance 0 from itself"),
        (broken(lambda m: m.__setitem__((0, 5), 2)), "is 2, and 3 the other way round.*symmetric"),
        (broken(lambda m: m.__setitem__((0, 5), np.nan)), "is nan.*finite"),
        (broken(lambda m: m.__setitem__((0, 5), np.inf)), "is inf.*finite"),
        (np.where(KENDALL == 1, 0, KENDALL), "is 0.*positive"),
        (np.where(KENDALL == 3, 9, KENDALL), "is 9, and 3 by way"),
        (1e-200 * KENDALL, "largest distance of own_metric is 3e-200.*multiply"),
        (1e200 * KENDALL, "largest distance of own_metric is 3e.200.*multiply"),
        (lambda *_: "far", "must return a number; between 0 > 1 > 2 and 0 > 1 > 2 it returns 'far'"),
        (lambda *_: None, "it returns None"),
        (lambda a, b: float(a.order[0] != b.order[0]), "is 0.*positive"),
    ],
)
def test_what_is_no_metric_is_refused_with_the_rankings_that_show_it(metric, words):
    with pytest.raises(hr.UsageError, match=words):
        hr.Median(metric)(VOTES)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: hr.Median("manhattan"), hr.UsageError, "one of kendall, cayley.*'manhattan'"),
        (lambda: hr.Median(3), hr.UsageError, "a name, a function of two rankings or a matrix of numbers, not 3"),
        (lambda: hr.Median([[0, 1, 1]] * 3), hr.UsageError, r"not the shape \(3, 3\).*all_rankings"),
        (lambda: hr.Median(np.zeros((2, 2, 2))), hr.UsageError, r"not the shape \(2, 2, 2\)"),
        (lambda: hr.Median([[0, 1], [1, 0]])(VOTES), hr.UsageError, "over 2 rankings, and 3 items have 6"),
        (lambda: hr.Metric.weighted_kendall([1, 0]), hr.UsageError, "weight 2 .* not '0'.*places 2 and 3"),
        (lambda: hr.Metric.weighted_kendall([-1, 1]), hr.UsageError, "weight 1"),
        (lambda: hr.Metric.weighted_kendall(["x"]), hr.UsageError, "'x'"),
        (lambda: hr.Median(hr.Metric.weighted_kendall([1]))(VOTES), hr.UsageError, "1 weights, and 3 items have 2"),
        (
            lambda: hr.Median("ulam")(hr.sample_votes(hr.Uniform(8), 3, rng=0)),
            hr.LimitError,
            "40,320.*the limit is 7 items",
        ),
        (lambda: hr.Median(lambda *_: 1.0)(hr.sample_votes(hr.Uniform(6), 3, rng=0)), hr.LimitError, "matrix"),
        (lambda: hr.Median("ulam")(hr.Votes.from_orders([["a", ["b", "c"]]])), hr.UsageError, "'a > {b, c}' has ties"),
        (lambda: hr.Median("ulam")(hr.Votes.from_orders([["a"], ["a", "b", "c"]])), hr.UsageError, "leaves items out"),
        (lambda: hr.Median("ulam")("votes"), hr.UsageError, "takes Votes, not str"),
        (lambda: hr.Metric.of("ulam")(hr.Ranking([1, 1]), hr.Ranking([1, 2])), hr.UsageError, "two strict rankings"),
    ],
)
def test_what_cannot_be_asked_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_the_last_item_may_be_left_out():
    short = hr.Votes.from_orders([["a", "b"], ["b", "a", "c"]], weights=[2, 1])
    full = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[2, 1])
    assert hr.Median("cayley")(short).loss == hr.Median("cayley")(full).loss


def test_a_metric_that_knows_items_by_name_is_taken_and_says_so():
    places = np.array([np.argsort(order) for order in permutations(range(3))])
    heavy = np.abs(places[:, None] - places) @ [5, 1, 1]  # item 0 counts most
    found = hr.Median(heavy)(VOTES)
    assert found.notes == ("own_metric is not the same for all labellings of the items",)
    assert found.loss == pytest.approx((heavy @ [6, 0, 3, 0, 1, 0]).min() / 10 / heavy.max())


def test_several_medians_are_said_and_the_first_is_reported():
    votes = hr.Votes.from_orders([["b", "a", "c"], ["a", "b", "c"]], items=["a", "b", "c"])
    found = hr.Median("cayley")(votes)
    assert (found.text(), found.unique, found.status) == ("a > b > c", False, hr.Status.PROVED)


def test_metrics_are_values():
    assert hr.Median("ulam") == hr.Median(hr.Metric.of("ulam"))
    assert hr.Metric.weighted_kendall([1, 2]) != hr.Metric.weighted_kendall([2, 1])
    assert repr(hr.Metric.weighted_kendall([1, 2])) == "Metric(weighted_kendall, 1, 2)"
    assert hr.Median("weighted_kendall").__name__ == "weighted-kendall-median"
