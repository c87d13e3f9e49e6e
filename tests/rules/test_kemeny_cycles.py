"""Bounds from weighted cycles, and orders from windows: what large components get, held against every order."""

from __future__ import annotations

from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.arrays.native import call
from holdrank.rules import kemeny
from holdrank.rules.kemeny import cycles, packing, prefixes, subsets
from holdrank.rules.kemeny.cycles import CycleWeights
from holdrank.rules.kemeny.parts import lost_margins, order_cost
from holdrank.status import Clock, Status

import oracles

FOREVER = Clock(None)


def lost_by(margin, order):
    """Return what an order loses, from the definition: of each pair what it costs more than the other way round."""
    return sum(max(margin[a][b], 0) for a, b in combinations(order, 2))


def least_lost(margin):
    return min(lost_by(margin, order) for order in permutations(range(len(margin))))


def antisymmetric(values, n):
    margin = np.zeros((n, n))
    margin[np.triu_indices(n, 1)] = values
    return margin - margin.T


def weighed(margin, *, exact=True, rounds=8, smallest=0.0):
    weights = CycleWeights(np.asarray(margin, float), exact=exact)
    for number in range(rounds):
        weights.round(0.5**number if number < rounds - 1 else smallest, FOREVER)
    return weights


@st.composite
def margins(draw, most_items=6):
    n = draw(st.integers(2, most_items))
    largest = draw(st.sampled_from([1, 2, 7, 1000, 2**40]))
    pairs = n * (n - 1) // 2
    return antisymmetric(draw(st.lists(st.integers(-largest, largest), min_size=pairs, max_size=pairs)), n)


@settings(max_examples=60)
@given(margins())
def test_no_order_loses_less_than_cycles_prove(margin):
    weights = CycleWeights(margin, exact=True)
    least = least_lost(margin.tolist())
    before = 0.0
    for smoothing in (1.0, 0.2, 0.0, 3.0, 0.0):  # in any order
        weights.round(smoothing * weights.mean, FOREVER)
        assert before <= weights.bound <= least
        assert weights.bound == int(weights.bound)
        before = weights.bound


@settings(max_examples=80)
@given(margins(most_items=5), st.integers(0, 2**32))
def test_any_weights_prove_what_the_definition_says(margin, seed):
    """The certificate is recomputed from margins and weights alone: whatever is put there, no bound is too high."""
    n = len(margin)
    rng = np.random.default_rng(seed)
    weights = CycleWeights(margin, exact=True)
    triples = list(combinations(range(n), 3))
    weights.count = len(triples)
    weights.cycles[: len(triples)] = [i << 26 | j << 13 | k for i, j, k in triples]
    given_weights = rng.integers(-3, 4, len(triples)) * rng.choice([1, 2**20, 2**21])
    weights.weights[: len(triples)] = given_weights
    left = {pair: int(weights.margin[pair]) for pair in combinations(range(n), 2)}
    for (i, j, k), weight in zip(triples, given_weights.tolist(), strict=True):
        left[i, j] -= weight
        left[j, k] -= weight
        left[i, k] += weight
    total = sum(map(abs, left.values())) + sum(map(abs, given_weights.tolist()))
    assert call("left_of_cycles", weights.margin, n, weights.cycles, weights.weights, weights.count) == total
    weights._prove()
    assert 0 <= weights.bound <= least_lost(margin.tolist())


def test_weights_too_large_to_add_up_prove_nothing():
    weights = weighed(antisymmetric([-1, 1, -1], 3))
    assert weights.bound == 1
    for huge in (1e30, np.nan, np.inf):
        other = CycleWeights(antisymmetric([-1, 1, -1], 3), exact=True)
        other.cycles[0], other.weights[0], other.count = 1 << 13 | 2, huge, 1
        other._prove()
        assert other.bound == 0


def test_one_cycle_loses_its_smallest_margin_and_cycles_of_four_are_seen_through_ties():
    assert weighed(antisymmetric([-5, 3, -4], 3)).bound == 3
    # 0 > 1 > 2 > 3 > 0, and nobody prefers 0 to 2 or 1 to 3: no majority cycle of three.
    assert weighed(antisymmetric([-2, 0, 2, -2, 0, -2], 4)).bound == 2


def test_the_bound_comes_near_that_of_the_linear_program():
    """An optimum with a tight program is proved without one; cycles that share arcs share their margins."""
    proved = 0
    for seed in range(6):
        v = hr.sample_votes(hr.Mallows(list(range(30)), 0.9), 9, rng=seed)
        cost, _, _ = lost_margins(v.wins().T, True)
        order = np.array(hr.kemeny(v).ranking.order)
        best = order_cost(cost, order)
        weights = weighed((cost - cost.T)[np.ix_(order, order)], rounds=14)
        assert best - 2 <= weights.bound <= best
        proved += weights.bound == best
    assert proved >= 4


def test_shares_are_bounded_below_what_rounding_could_hide():
    rng = np.random.default_rng(5)
    cyclic = 0
    for n in (4, 5, 6, 6):
        margin = antisymmetric(rng.normal(size=n * (n - 1) // 2), n)
        bound = weighed(margin, exact=False, rounds=12).bound
        least = least_lost(margin.tolist())
        assert 0.8 * least <= bound <= least
        cyclic += bound > 0
    assert cyclic >= 2


def test_cycles_without_room_or_out_of_reach_weaken_the_bound_only(monkeypatch):
    cost, _, _ = lost_margins(hr.sample_votes(hr.Uniform(12), 9, rng=1).wins().T, True)
    least = subsets.solve(cost, 0.0).cost
    margin = cost - cost.T
    full = weighed(margin)
    assert full.bound <= least
    near = CycleWeights(margin, exact=True)
    near.round(0.0, FOREVER, reach=5)
    keys = near.cycles[: near.count]
    assert near.count > 0
    assert ((keys & 8191) - (keys >> 26) < 5).all()
    assert 0 < near.bound < full.bound
    monkeypatch.setattr(cycles, "_ROOM", 7)
    few = weighed(margin)
    assert few.count <= 7
    assert 0 < few.bound < full.bound


def test_weights_are_kept_when_the_time_is_over():
    margin = np.asarray(antisymmetric(np.random.default_rng(2).integers(-5, 6, 190), 20), float)
    weights = weighed(margin)
    kept = dict(zip(weights.cycles[: weights.count].tolist(), weights.weights[: weights.count].tolist(), strict=True))
    bound = weights.bound
    weights.round(1.0, Clock(0))
    assert weights.bound == bound
    after = zip(weights.cycles[: weights.count].tolist(), weights.weights[: weights.count].tolist(), strict=True)
    assert dict(after) == {cycle: weight for cycle, weight in kept.items() if weight}


@pytest.fixture
def all_too_large(monkeypatch):
    """Small components take the way of large ones."""
    monkeypatch.setattr(subsets, "ALWAYS_UP_TO", 1)
    monkeypatch.setattr(kemeny, "_MOST_COLUMNS", 0)
    monkeypatch.setattr(packing, "_WINDOW", 4)


@pytest.mark.parametrize("seed", range(12))
def test_large_components_hold_against_every_order(seed, all_too_large):  # noqa: ARG001
    """Even and odd electorates, ties, unlisted items at the bottom or left out, and shares."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    ranks = rng.integers(0, n + 1, (int(rng.integers(2, 8)), n))
    ranks = ranks[(ranks > 0).any(axis=1)]
    for unlisted in ("bottom", "observed"):
        weights = rng.random(len(ranks)) if seed % 4 == 3 else None
        v = hr.Votes.from_ranks(ranks, weights, unlisted=unlisted)
        c = hr.kemeny(v)
        least, optima = oracles.kemeny(v.wins().tolist())
        assert c.bound * v.pair_votes <= least * (1 + 1e-9) + 1e-9
        assert c.loss * v.pair_votes >= least * (1 - 1e-9) - 1e-9
        if c.status is Status.PROVED and v.is_counts:
            assert tuple(c.ranking.order) in optima
            assert c.unique is None or c.unique == (len(optima) == 1)


def test_a_large_component_is_proved_where_the_bound_meets_the_order(all_too_large):  # noqa: ARG001
    """Three blocks of voters in a cycle: no majority order, but the cycles tell exactly what must be lost."""
    blocks = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    rows = [[4 * b + i for b in order for i in range(4)] for order in blocks]
    v = hr.Votes.from_orders(rows, [4, 3, 2])
    c = hr.kemeny(v)
    assert c.status is Status.PROVED
    assert "cycle packing" in c.proof
    assert c.loss == c.bound


def test_prices_of_cycles_split_the_cost_of_every_order_without_a_remainder():
    rng = np.random.default_rng(3)
    for n in (4, 5, 6, 6, 6):
        margin = antisymmetric(rng.integers(-9, 10, n * (n - 1) // 2), n)
        weights = weighed(margin, rounds=3)
        prices = prefixes.cycle_prices(weights)
        assert len(prices.triangles) == np.count_nonzero(np.rint(weights.triples()[1] * weights.unit * prefixes.SCALE))
        for order in permutations(range(n)):
            lost = sum(int(prices.deviations[a, b]) for a, b in combinations(order, 2))
            place = np.argsort(order)
            for a, b, c, price in prices.triangles.tolist():
                lost += price * (sum(place[x] < place[y] for x, y in ((a, b), (b, c), (c, a))) == 2)
            assert prices.base + lost == lost_by(margin, order) * prefixes.SCALE


def test_orders_that_grow_at_the_prices_of_cycles_close_a_small_gap(all_too_large, monkeypatch):  # noqa: ARG001
    """Fences leave a gap that no weights on cycles close; without room for sets it stays open."""
    lost = np.zeros((6, 6))
    lost[:3, 3:] = 4
    own = np.arange(3)
    lost[own, own + 3], lost[own + 3, own] = 0, 4
    part = packing.solve(lost, 1.0, 0.0, FOREVER)
    assert part.proved
    assert part.cost == part.bound == least_lost((lost - lost.T).tolist())
    assert part.how == packing.HOW_GROWN
    monkeypatch.setattr(packing, "_ROOM", 2)
    part = packing.solve(lost, 1.0, 0.0, FOREVER)
    assert not part.proved
    assert part.bound < part.cost
    assert part.how == packing.HOW
    monkeypatch.setattr(prefixes, "MOST_ITEMS", 5)
    assert packing._grown(CycleWeights(lost - lost.T, exact=True), 1.0, FOREVER) is None


def test_windows_never_make_an_order_worse_and_stop_in_time(monkeypatch):
    monkeypatch.setattr(packing, "_WINDOW", 10)
    cost = hr.sample_votes(hr.Uniform(35), 9, rng=3).wins().T
    margin = np.ascontiguousarray(cost - cost.T)
    start = np.arange(35)
    order = packing.by_windows(margin, start, FOREVER, sweeps=3)
    assert sorted(order) == list(range(35))
    assert order_cost(cost, order) < order_cost(cost, start)
    assert (packing.by_windows(margin, start, FOREVER, sweeps=3) == order).all()
    assert (packing.by_windows(margin, start, Clock(0), sweeps=3) == start).all()


def test_more_time_gives_no_worse_answer_and_progress_is_reported(all_too_large):  # noqa: ARG001
    v = hr.sample_votes(hr.Uniform(40), 21, rng=4)
    steps = []
    none, long = hr.kemeny(v, time_limit=0), hr.kemeny(v, time_limit=1000, progress=steps.append)
    assert none.bound < long.bound <= long.loss <= none.loss
    assert any(step.name == "percent of the rounds of the bound" for step in steps)
    assert hr.kemeny(v).ranking == hr.kemeny(v).ranking


class Hourglass:
    """A clock of which every look at the seconds left takes some."""

    def __init__(self, seconds, a_look=1.0):
        self.left, self.a_look = seconds, a_look

    def seconds_left(self):
        self.left -= self.a_look
        return self.left


def effort(clock, n=600):
    return packing._Effort(SimpleNamespace(margin=range(n), work=0), clock)


@pytest.mark.parametrize(("seconds", "rounds"), [(None, 24), (2, 4), (6, 7), (30, 27), (1e9, 160)])
def test_smoothing_falls_to_its_last_value_whether_time_is_short_long_or_unlimited(seconds, rounds):
    ways, shares = zip(*effort(FOREVER if seconds is None else Hourglass(seconds)).smoothings(), strict=True)
    assert ways[0] == 0.0
    assert list(ways) == sorted(ways)
    assert list(shares) == sorted(shares, reverse=True)
    assert ways[-3:] == (1.0, 1.0, 1.0)
    assert shares[-3:] == (pytest.approx(packing._SMOOTHING[1]), 0.0, 0.0)
    assert len(ways) == rounds


def test_without_a_time_limit_work_is_counted_and_falls_with_the_number_of_items():
    few, many = effort(FOREVER), effort(FOREVER, 5000)
    assert many.work < few.work
    assert few.first_reach() == 600
    assert 500 < many.first_reach() < 900
    assert effort(Hourglass(60), 5000).first_reach() > many.first_reach()
    few.weights.work = int(few.work)
    assert [way for way, _ in few.smoothings()] == [0.0, 1.0, 1.0, 1.0]
    assert cycles.triples(100, 100) == pytest.approx(100 * 99 * 98 / 6, rel=0.05)


def test_cycles_reach_less_far_where_the_last_rounds_could_not_be_paid():
    plan = effort(FOREVER, 2400)
    plan.weights.work = int(plan.work / 4)
    assert plan.shorter(2400) == 2400
    plan.weights.work = int(plan.work * 3 / 4)  # half of it for one round, a quarter left for three
    reach = plan.shorter(2400)
    assert 2400 > reach > 500
    assert cycles.triples(2400, reach) <= cycles.triples(2400, 2400) / 5
    plan.weights.work = int(plan.work * 2)
    assert plan.shorter(reach) < reach


def test_work_is_what_rounds_do():
    margin = antisymmetric(np.random.default_rng(2).integers(-5, 6, 1225), 50).astype(float)
    weights = CycleWeights(margin, exact=True)
    weights.round(0.1, FOREVER)
    looked = cycles.triples(50, 50)
    assert looked * (1 + cycles._LOOK_COSTS) * 0.9 < weights.work - weights.count * cycles._PASS_COSTS * 4
    assert weights.work < looked * (1 + cycles._LOOK_COSTS) * 1.2 + 10**6 * 60
