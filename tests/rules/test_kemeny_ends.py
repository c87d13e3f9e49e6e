"""Growing orders by tables: losses of pairs, of triangles and of rows on a few items, against all orders."""

from __future__ import annotations

import os
from itertools import permutations

import numpy as np
import pytest

from holdrank.arrays.native import call
from holdrank.rules.kemeny import ends, prefixes
from holdrank.rules.kemeny.cuts import Cut
from holdrank.status import Clock

INSTANCES = int(os.environ.get("HOLDRANK_CUT_INSTANCES", "12"))  # of each kind; a long run takes 1000
KINDS = {"pairs": (1, 0, 0), "triangles": (0, 9, 0), "rows": (0, 0, 4), "all": (1, 6, 3)}


def random_prices(rng, n, pairs, triangles, rows):
    """Prices of random pairs, triangles and rows, some of them none; the limits of rows come from all orders."""
    deviations = np.zeros((n, n), dtype=np.int64)
    if pairs:
        deviations = np.triu(rng.integers(-20, 21, (n, n)), 1)
        deviations = np.maximum(deviations, 0) + np.maximum(-deviations, 0).T
    lines = [[*rng.permutation(n)[:3], rng.integers(0, 30)] for _ in range(triangles)]
    cuts = []
    for _ in range(rows):
        k = int(rng.integers(2, min(n, 6) + 1))
        weights = np.triu(rng.integers(-3, 4, (k, k)), 1)
        weights[0, 1] = 1
        cut = Cut(tuple(rng.permutation(n)[:k].tolist()), weights, 0)
        limit = max(weight(cut, order) for order in permutations(cut.items))
        cuts.append((Cut(cut.items, weights, limit), int(rng.integers(1, 9))))
    triangle_lines = np.array(lines, dtype=np.int64).reshape(-1, 4)
    return prefixes.Prices(0, deviations, triangle_lines, cuts, np.zeros((n, n), dtype=bool), 1)


def weight(cut, order):
    """The weight of an order in a row, from its definition."""
    k = len(cut.items)
    place = [order.index(item) for item in cut.items]
    return sum(int(cut.weights[i, j]) for i in range(k) for j in range(i + 1, k) if place[i] < place[j])


def loss(prices, order):
    """The loss of an order at the prices, from its definition."""
    place = {item: p for p, item in enumerate(order)}
    total = sum(int(prices.deviations[a, b]) for p, a in enumerate(order) for b in order[p + 1 :])
    for a, b, c, price in prices.triangles.tolist():
        total += price * ((place[a] < place[b]) + (place[b] < place[c]) + (place[c] < place[a]) == 2)
    return total + sum(price * (cut.limit - weight(cut, order)) for cut, price in prices.cuts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("long", [False, True])
def test_the_cheapest_order_is_found_exactly_when_it_fits(kind, long, monkeypatch):
    if long:  # larger tables, both ends counted first, and a look at the clock after every set
        monkeypatch.setattr(prefixes, "_PILOT_FROM", 1)
        monkeypatch.setattr(prefixes, "_PILOT_ROOM", 1)
        monkeypatch.setattr(ends, "_STATES_AT_ONCE", 1)
    rng = np.random.default_rng(list(KINDS).index(kind))
    lost = 0
    for _ in range(INSTANCES):
        prices = random_prices(rng, int(rng.integers(3, 7)), *KINDS[kind])
        least = min(loss(prices, order) for order in permutations(range(len(prices.deviations))))
        lost += least > 0
        # An order must cost a step less than the value: here, a step is a unit.
        assert prefixes.cheaper_order(prices, least, 1_000, Clock()) == (True, None)
        for more in (1, 2, 40):
            decided, order = prefixes.cheaper_order(prices, least + more, 1_000, Clock())
            assert decided
            assert loss(prices, order.tolist()) == least
    assert lost > INSTANCES / 3


def test_fixed_pairs_hold_in_tables_of_either_size(monkeypatch):
    rng = np.random.default_rng(7)
    for instance in range(8):
        monkeypatch.setattr(prefixes, "_PILOT_FROM", 1 if instance % 2 else 10**9)
        monkeypatch.setattr(prefixes, "_PILOT_ROOM", 1)
        prices = random_prices(rng, 6, *KINDS["all"])
        a, b, c = rng.permutation(6)[:3].tolist()
        prices.fixed[a, b] = prices.fixed[b, c] = True
        allowed = [order for order in permutations(range(6)) if order.index(a) < order.index(b) < order.index(c)]
        least = min(loss(prices, order) for order in allowed)
        assert prefixes.cheaper_order(prices, least, 1_000, Clock()) == (True, None)
        decided, order = prefixes.cheaper_order(prices, least + 1, 1_000, Clock())
        assert decided
        assert tuple(order.tolist()) in allowed
        assert loss(prices, order.tolist()) == least


def test_losses_too_large_for_the_tables_decide_nothing():
    rng = np.random.default_rng(3)
    prices = random_prices(rng, 6, *KINDS["all"])
    rows = len(prices.cuts) + len(prices.triangles) + 2 * 6
    fits = int(2**31 / rows) // 2
    decided, order = prefixes.cheaper_order(prices, fits, 1_000, Clock())
    assert decided
    assert loss(prices, order.tolist()) == min(loss(prices, order) for order in permutations(range(6)))
    assert prefixes.cheaper_order(prices, fits + 2, 1_000, Clock()) == (False, None)


@pytest.mark.parametrize("kind", ["triangle", "row"])
def test_prices_beyond_the_gap_are_never_lost_in_the_sums(kind):
    """Charges above the gap are cut down to it, so that sums fit; a set with one of them is still dropped."""
    huge = 1 << 40
    deviations = np.zeros((3, 3), dtype=np.int64)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        deviations[a, b] = 5
    cut = Cut((0, 1, 2), np.array([[0, 1, -1], [0, 0, 1], [0, 0, 0]]), 1)
    triangles = np.array([[0, 2, 1, huge]] if kind == "triangle" else [], dtype=np.int64).reshape(-1, 4)
    cuts = [(cut, huge)] if kind == "row" else []
    prices = prefixes.Prices(0, deviations, triangles, cuts, np.zeros((3, 3), dtype=bool), 1)
    assert sorted(loss(prices, order) for order in permutations(range(3))) == [10] * 3 + [5 + huge] * 3
    assert prefixes.cheaper_order(prices, 10, 100, Clock()) == (True, None)
    decided, order = prefixes.cheaper_order(prices, 11, 100, Clock())
    assert decided
    assert loss(prices, order.tolist()) == 10


def test_memory_bounds_the_sets_as_room_does(monkeypatch):
    prices = random_prices(np.random.default_rng(1), 6, *KINDS["all"])
    end = ends.End(prefixes._tables(prices, prices.fixed, 10, 8), 1_000)
    taken = sum(array.nbytes for array in (end.states, end.losses, end.across, end.last))
    assert taken == 1_000 * ends.End.bytes_a_set(6)
    assert ends.End.bytes_a_set(65) == ends.End.bytes_a_set(64) + 8
    assert prefixes.cheaper_order(prices, 1_000, 1_000, Clock())[0]
    monkeypatch.setattr(prefixes, "_MOST_MEMORY", 3 * ends.End.bytes_a_set(6))
    assert prefixes.cheaper_order(prices, 1_000, 1_000, Clock()) == (False, None)


def test_prices_are_as_fine_as_the_sums_allow():
    assert prefixes.scale_for(100.0, 1_000, 50) == prefixes.SCALE
    for gap in (0.5, 3.0, 1e3, 1e5, 1e7):
        for rows in (0, 100, 10_000):
            scale = prefixes.scale_for(gap, rows, 60)
            assert scale & (scale - 1) == 0
            assert 1 <= scale <= prefixes.SCALE
            assert scale == 1 or 2 * (gap + 1) * scale * (rows + 120) <= 2**31
            assert scale == prefixes.SCALE or 4 * (gap + 1) * scale * (rows + 120) > 2**31


@pytest.mark.parametrize("together", [8, 10])
def test_every_row_lies_in_its_group(together):
    rng = np.random.default_rng(together)
    n = 70
    rows = [rng.permutation(n)[: rng.integers(2, 9)] for _ in range(200)]
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    group_of, groups = np.empty(200, np.int64), np.full((200, together), -1, dtype=np.int64)
    count = call("group_charges", n, 200, starts, np.concatenate(rows), together, group_of, groups)
    assert 0 < count < 200
    assert set(group_of.tolist()) == set(range(count))
    for row, group in zip(rows, group_of.tolist(), strict=True):
        assert set(row.tolist()) <= set(groups[group].tolist())
    for group in groups[:count]:
        members = group[group < n]
        assert len(set(members.tolist())) == len(members)
