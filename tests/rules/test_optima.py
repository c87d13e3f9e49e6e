"""What all optimal rankings share: from every order that there is, and never more than is so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import holdrank as hr
from holdrank.rules.kemeny import optima as engine
from holdrank.rules.kemeny import subsets
from holdrank.words.optima import shared_text

import oracles
from strategies import votes


def truth(v):
    """Return the optimal orders, and who is above whom in all of them and in some, from the definition."""
    _, optima = oracles.kemeny(v.wins().tolist())
    n = v.n
    in_all, in_some = np.ones((n, n), dtype=bool), np.zeros((n, n), dtype=bool)
    for order in optima:
        here = np.zeros((n, n), dtype=bool)
        for k, item in enumerate(order):
            here[item, list(order[k + 1 :])] = True
        in_all &= here
        in_some |= here
    return optima, in_all, in_some & in_some.T


def check_exact(v, found):
    optima, above, differ = truth(v)
    assert found.fewest == found.most == len(optima)
    assert (found.above == above).all()
    assert (found.differ == differ).all()
    assert not found.undecided.any()
    places = np.array([[order.index(i) + 1 for i in range(v.n)] for order in optima])
    assert (found.first <= places.min(axis=0)).all()
    assert (found.last >= places.max(axis=0)).all()
    start = 0
    for group in found.groups:  # every optimum lists the groups in turn, and no group can be cut further
        assert all(set(order[start : start + len(group)]) == set(group) for order in optima)
        order = found.ranking.order
        cuts = range(start + 1, start + len(group))
        assert not any(all(above[i, j] for i in order[:c] for j in order[c:]) for c in cuts)
        start += len(group)
    assert start == v.n


@settings(max_examples=120)
@given(votes(counts=True, most_items=5))
def test_small_components_are_exact(v):
    check_exact(v, hr.shared_order(v))


def families():
    rng = np.random.default_rng(7)
    yield "all tied", hr.Votes.from_ranks([[1, 1, 1, 1, 1]])
    yield "one ballot", hr.Votes.from_ranks([[1, 2, 3, 4]])
    yield "a ballot and its mirror", hr.Votes.from_ranks([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    yield "never compared", hr.Votes.from_ranks([[1, 2, 0, 0], [0, 0, 1, 2]], unlisted="observed")
    yield "a circle", hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    yield "two circles", hr.Votes.from_ranks([[1, 2, 3, 4, 5, 6], [3, 1, 2, 6, 4, 5], [2, 3, 1, 5, 6, 4]])
    yield "one item", hr.Votes.from_ranks([[1], [1]])
    for k in range(10):
        n = int(rng.integers(3, 7))
        ranks = rng.integers(0, 4, (2 * int(rng.integers(1, 4)), n))
        ranks[0] = rng.permutation(n) + 1
        yield f"even, unlisted {k}", hr.Votes.from_ranks(ranks, unlisted=("bottom", "observed")[k % 2])


FAMILIES = dict(families())


@pytest.mark.parametrize("name", FAMILIES)
def test_families_with_many_optima_are_exact(name):
    check_exact(FAMILIES[name], hr.shared_order(FAMILIES[name]))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("window", [3, 12])
def test_large_components_say_nothing_that_is_not_so(name, window, monkeypatch):
    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
    monkeypatch.setattr(engine, "_WINDOW", window)
    v = FAMILIES[name]
    found = hr.shared_order(v)
    optima, above, differ = truth(v)
    assert not (found.above & ~above).any()
    assert not (found.differ & ~differ).any()
    assert 1 <= found.fewest <= len(optima)
    assert found.most is None or found.most >= len(optima)
    if window == 12:  # the window is the component: nothing that differs is missed
        assert found.fewest == len(optima)
        assert (found.differ == differ).all()


def test_weights_and_windows_settle_most_pairs_of_a_large_component():
    v = hr.sample_votes(hr.Mallows(list(range(40)), 0.9), 10, rng=1)
    found = hr.shared_order(v)
    pairs = 40 * 39 // 2
    assert found.fewest >= 2
    assert found.above.sum() > 0.9 * pairs
    assert found.undecided.sum() / 2 < 0.02 * pairs
    assert not (found.above & found.differ).any()
    place = np.argsort(found.ranking.order)
    assert (place[:, None] < place)[found.above].all()
    quick = hr.shared_order(v, time_limit=0)
    assert quick.fewest >= 1
    assert not (quick.above & ~found.above).any()


def test_what_is_not_proved_optimal_is_left_undecided(monkeypatch):
    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
    v = hr.sample_votes(hr.Uniform(30), 20, rng=2)
    found = hr.shared_order(v, time_limit=0)
    assert not found.status.is_exact
    assert found.fewest == 1
    assert found.most is None
    assert not found.differ.any()
    assert "not ruled out" in found.text()


def test_forced_pairs_are_those_that_cost_more_the_other_way_round():
    rng = np.random.default_rng(3)
    forced = 0
    for _ in range(20):
        n = 6
        margin = np.triu(rng.integers(-4, 5, (n, n)), 1).astype(float)
        margin -= margin.T
        cost = np.maximum(margin, 0)
        first, _ = engine._by_subsets(cost, 0.0)
        value = subsets.solve(cost, 0.0).cost
        order = np.array(subsets.solve(cost, 0.0).order)
        weights = engine.CycleWeights(margin[np.ix_(order, order)], exact=True)
        for smoothing in (1.0, 0.2, 0.01):
            weights.round(smoothing, engine.Clock(None))
        found = weights.forced(value)
        forced += found.sum()
        assert not (found & first[np.ix_(order, order)].T).any()
        other = weights.forced(value + 2)  # orders that lose two more: fewer pairs are forced
        assert not (other & ~found).any()
    assert forced > 100


def test_the_text_and_the_arrays_are_safe():
    found = hr.shared_order(FAMILIES["a ballot and its mirror"])
    assert "120 rankings are optimal." in repr(found)
    with pytest.raises(ValueError, match="read-only"):
        found.above[0, 1] = True
    many = shared_text([[k] for k in range(70)], [f"x{k}" for k in range(70)])
    assert many.endswith("x59 > …")
    assert shared_text([list(range(20))], ["<b>"] * 20).endswith(", …}")
    huge = hr.shared_order(hr.Votes.from_ranks(np.ones((1, 40), dtype=int)))
    assert huge.fewest > 2**53
    assert huge.facts()["fewest"] == 2**53
    assert huge.facts()["most"] is None
