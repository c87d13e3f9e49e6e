"""The engine for many items, held against the exact one on a few, where both can be run."""

from __future__ import annotations

import math
import re
from itertools import combinations, permutations

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.kemeny import engine as engine
from holdrank.attacks.kemeny import targets
from holdrank.attacks.sides import Side, every_optimum_reaches, missing, one_pair, reaching
from holdrank.rules.kemeny.branch import relaxed_within
from holdrank.status import Clock, Status

import oracles
from strategies import KINDS, random_ranks, unlisted_rule


def some_votes(rng, kind, n):
    ranks = random_ranks(rng, kind, n, int(rng.integers(10, 30) if kind == "battles" else rng.integers(5, 12)))
    return hr.Votes.from_ranks(np.array(ranks), rng.integers(1, 4, len(ranks)), unlisted=unlisted_rule(kind))


def some_goals(rng, n):
    x, y = (str(i) for i in rng.choice(n, 2, replace=False))
    k = int(rng.integers(1, n))
    return [hr.NewWinner(), hr.Wins(x), hr.Above(x, y), hr.TopSet(k), hr.Enters(x, k)]


@pytest.mark.slow
@pytest.mark.parametrize("change", list(hr.Change))
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_the_exact_value_between_them(kind, change, monkeypatch):
    rng = np.random.default_rng([KINDS.index(kind), len(change)])
    met = 0
    for _ in range(8):
        n = int(rng.integers(3, 6))
        votes = some_votes(rng, kind, n)
        for goal in some_goals(rng, n):
            exact = hr.attack(votes, hr.kemeny, goal, change=change)
            with monkeypatch.context() as patch:
                patch.setattr(engine, "SUBSETS_UP_TO", 0)
                found = hr.attack(votes, hr.kemeny, goal, change=change)
            case = (kind, change, votes.ranks.tolist(), votes.weights.tolist(), goal)
            assert found.lower <= exact.upper + 1e-7, case
            assert found.upper >= exact.lower - 1e-7, case
            if change == "drop" and not exact.exact:
                continue  # a tie that no ballot speaks about cannot be broken by dropping a hair
            assert exact.exact, case
            assert found.votes_needed <= exact.votes_sufficient, case
            assert found.votes_sufficient >= exact.votes_needed, case
            if math.isfinite(exact.upper):
                # Dropping votes cannot put every order first: there the few targets tried may not be enough.
                assert found.verified or change == hr.Change.DROP, case
                met += found.upper <= exact.upper + 1e-6
            else:
                assert math.isinf(found.upper), case
    assert met >= 12, "most attacks are the best ones"


def test_a_planted_tie_among_many_items_is_found_and_proved():
    orders = [list(range(40)), [1, 0, *range(2, 40)]]
    votes = hr.Votes.from_orders(orders, [53, 47])
    for goal in (hr.NewWinner(), hr.Wins("1"), hr.Above("1", "0")):
        found = hr.attack(votes, hr.kemeny, goal)
        assert (found.lower, found.upper) == (pytest.approx(0.03), pytest.approx(0.03))
        assert (found.status, found.verified) == (Status.LEAST, True)
        assert (found.votes_needed, found.votes_sufficient) == (3, 4)
    for goal in (hr.TopSet(5), hr.Enters("5", 5)):
        assert hr.attack(votes, hr.kemeny, goal).lower == pytest.approx(0.5)


def test_a_planted_margin_of_battles_among_many_items():
    # A chain of items, each of which beats the next by 10 to 2 and is not compared with others.
    ranks = np.zeros((58, 30), dtype=int)
    for i in range(29):
        ranks[2 * i, [i, i + 1]] = ranks[2 * i + 1, [i + 1, i]] = [1, 2]
    votes = hr.Votes.from_ranks(ranks, [10, 2] * 29, unlisted="observed")
    order = hr.kemeny(votes).ranking
    above, below = (votes.items[order.order[at]] for at in (0, 1))
    found = hr.attack(votes, hr.kemeny, hr.Above(below, above))
    assert found.lower * votes.total == pytest.approx(4)
    assert found.upper * votes.total == pytest.approx(4)
    assert (found.votes_needed, found.votes_sufficient) == (4, 5)


def test_a_time_limit_is_kept_and_leaves_valid_bounds():
    votes = hr.sample_votes(hr.Uniform(40), 60, rng=3)
    found = hr.attack(votes, hr.kemeny, hr.TopSet(5), time_limit=0.5)
    assert 0 <= found.lower <= found.upper
    assert found.seconds < 10


# The sides of a goal.


@pytest.mark.parametrize("goal", [hr.NewWinner(), hr.Wins("3"), hr.Above("2", "1"), hr.TopSet(2), hr.Enters("3", 2)])
def test_sides_hold_the_orders_that_they_should(goal):
    before = hr.Ranking([1, 2, 3, 4])
    aim = goal.aim(before, ["0", "1", "2", "3"])
    arcs, together = reaching(aim, np.arange(4))
    miss = missing(aim, np.arange(4))
    for order in permutations(range(4)):
        place = np.argsort(order)
        reached = aim.reached(hr.Ranking.from_order(order))
        has = [place[i] < place[j] for i, j in arcs]
        if reached:
            assert all(has) if together else any(has)
        if miss is not None:
            inside = all(place[i] < place[j] for i in miss.first for j in miss.then)
            assert inside is not reached
    assert (miss is None) is isinstance(goal, hr.Wins | hr.Enters)


@pytest.mark.parametrize("side", [one_pair(3, 0), one_pair(0, 3), Side(np.array([1, 4]), np.array([0, 2, 3]))])
def test_the_cheapest_order_of_a_side_is_that_of_trying_all(side):
    rng = np.random.default_rng(1)
    for _ in range(30):
        cost = rng.integers(0, 9, (5, 5)).astype(float)
        np.fill_diagonal(cost, 0)
        costs = []
        for order in permutations(range(5)):
            place = np.argsort(order)
            if all(place[i] < place[j] for i in side.first for j in side.then):
                costs.append(sum(cost[order[p], order[q]] for p in range(5) for q in range(p + 1, 5)))
        for whole in (True, False):
            found = side.cheapest(cost, whole, Clock())
            assert found.proved
            assert found.cost == pytest.approx(min(costs))


def test_relaxed_bounds_never_exceed_the_cheapest_order_and_meet_it_where_there_is_no_cycle():
    rng = np.random.default_rng(2)
    for _ in range(30):
        cost = rng.normal(size=(6, 6))
        np.fill_diagonal(cost, 0)
        arcs = [(int(a), int(b)) for a, b in (rng.choice(6, 2, replace=False) for _ in range(3))]
        arcs = [arc for arc in dict.fromkeys(arcs) if arc[::-1] not in arcs] or [(0, 1)]
        least = {True: math.inf, False: math.inf}
        for order in permutations(range(6)):
            place = np.argsort(order)
            has = [place[i] < place[j] for i, j in arcs]
            value = sum(cost[order[p], order[q]] for p in range(6) for q in range(p + 1, 6))
            for together in least:
                if all(has) if together else any(has):
                    least[together] = min(least[together], value)
        for together, value in least.items():
            bound, before = relaxed_within(cost, arcs, together, 1e9, Clock())
            if math.isinf(value):
                assert bound == math.inf
                continue
            assert bound <= value + 1e-6
            assert before.shape == (6, 6)
        bound, _ = relaxed_within(cost, arcs[:1], True, 1e9, Clock())
        assert bound == pytest.approx(
            min(
                sum(cost[order[p], order[q]] for p in range(6) for q in range(p + 1, 6))
                for order in permutations(range(6))
                if order.index(arcs[0][0]) < order.index(arcs[0][1])
            ),
            abs=0.5,
        )


def test_every_optimum_is_looked_at():
    # 0 and 1 are level, 2 is last: both optima leave 2 out of the top two, one of them has 1 first.
    votes = hr.Votes.from_orders([["0", "1", "2"], ["1", "0", "2"]], weights=[5, 5], items=["0", "1", "2"])
    before = hr.Ranking([1, 2, 3])
    items = ["0", "1", "2"]
    level = hr.Above("1", "0").aim(before, items)
    assert not every_optimum_reaches(votes, level, [1, 0, 2], Clock())
    other = hr.Ranking([3, 1, 2])
    assert every_optimum_reaches(votes, hr.TopSet(2).aim(other, items), [0, 1, 2], Clock())
    assert not every_optimum_reaches(votes, hr.Wins("0").aim(other, items), [0, 1, 2], Clock())
    assert every_optimum_reaches(votes, hr.Enters("0", 2).aim(other, items), [0, 1, 2], Clock())
    assert every_optimum_reaches(votes, hr.Distance(1 / 3).aim(other, items), [0, 1, 2], Clock())
    assert not every_optimum_reaches(votes, hr.Distance(2 / 3).aim(other, items), [0, 1, 2], Clock())


@pytest.mark.parametrize("scale", [1, 10**6, 1 / 7])
def test_every_optimum_is_looked_at_as_brute_force_does(scale):
    rng = np.random.default_rng(5)
    items = [str(item) for item in range(5)]
    found = set()
    for _ in range(40):
        ranks = np.array([rng.permutation(5) + 1 for _ in range(int(rng.choice([2, 4, 6])))])
        votes = hr.Votes.from_ranks(ranks, [scale] * len(ranks), items)
        wins = oracles.wins([tuple(row) for row in ranks.tolist()], [1] * len(ranks), "bottom")
        costs = {order: sum(wins[b][a] for a, b in combinations(order, 2)) for order in permutations(range(5))}
        optima = [order for order, cost in costs.items() if cost == min(costs.values())]
        before = hr.Ranking.from_order(rng.permutation(5).tolist())
        x, y = (str(item) for item in rng.choice(5, 2, replace=False))
        k = int(rng.integers(1, 5))
        goals = [hr.Distance(d / 10) for d in (1, 3, 5, 7)]
        goals += [hr.TopSet(k), hr.Wins(x), hr.Above(x, y), hr.Enters(x, k), hr.Leaves(x, k)]
        for goal in goals:
            aim = goal.aim(before, items)
            truth = all(aim.reached(hr.Ranking.from_order(order)) for order in optima)
            decided = every_optimum_reaches(votes, aim, list(optima[0]), Clock())
            assert decided <= truth
            assert decided == truth or isinstance(goal, hr.TopSet)
            found.add((type(goal), decided, len(optima) > 1))
    assert len(found) > 20  # both answers for every goal, with one optimum and with several


# What once went wrong.


@pytest.mark.traced
@pytest.mark.slow
def test_dropping_votes_among_many_items_meets_more_rivals_than_the_compiled_loop_takes():
    rng = np.random.default_rng(0)
    noisy = np.arange(14) + rng.normal(0, 30, (60, 14))
    votes = hr.Votes.from_ranks(noisy.argsort(axis=1).argsort(axis=1) + 1)
    found = hr.attack(votes, hr.kemeny, hr.Distance(0.2), change="drop", time_limit=3)
    assert 0 < found.lower <= found.upper


def test_whole_votes_that_cannot_be_dropped_in_the_right_shares_end_the_search():
    votes = hr.Votes.from_ranks([[0, 3, 1, 2], [1, 1, 3, 1]])
    found = hr.attack(votes, hr.kemeny, hr.Distance(1 / 6), change="drop")
    assert found.votes_needed <= found.votes_sufficient <= 1


def test_numbers_of_votes_beyond_the_resolution_of_the_solver():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], [500000000003, 499999999997])
    found = hr.attack(votes, hr.kemeny, hr.NewWinner())
    assert found.votes_needed <= 3
    assert found.votes_sufficient >= 4
    assert "votes" in found.text()


@pytest.mark.slow
@pytest.mark.traced
def test_the_choice_of_a_threshold_keeps_the_time_limit():
    votes = hr.sample_votes(hr.Mallows(list(range(14)), 0.9), 150, rng=1)
    found = hr.attack(votes, hr.Robust(hr.kemeny, "auto"), hr.NewWinner(), time_limit=2)
    assert found.lower <= found.upper
    assert found.seconds < 20


@pytest.mark.slow
@pytest.mark.traced
def test_the_tiers_of_many_items_keep_the_time_limit():
    """Pricing every pair of 150 items takes a minute. A tenth of the votes makes all pairs level, and so ties them."""
    order = [str(k) for k in range(150)]
    votes = hr.Votes.from_orders([order, order[::-1]], weights=[60, 40])
    found = hr.breakdown(votes, hr.Robust(hr.borda, 0.02), [1 / (75 * 149)], time_limit=0.5)
    assert found.seconds < 20
    assert found.lower[0] <= min(found.upper[0], 0.1)


@pytest.mark.slow
def test_candidates_of_many_items_stay_within_memory(monkeypatch):
    """At 208 items, 50,000 orders with all their pairs once took eight gigabytes."""
    rooms = []
    room_for = targets.walks.room_for

    def noted(most, n):
        rooms.append(most * n * (n - 1) // 2)
        return room_for(most, n)

    monkeypatch.setattr(targets.walks, "room_for", noted)
    votes = hr.sample_votes(hr.Mallows(list(range(80)), 0.9), 5, rng=1)
    hr.attack(votes, hr.kemeny, hr.Distance(1 / 3160), time_limit=1)
    assert rooms
    assert max(rooms) <= 1 << 24


@pytest.mark.slow
@pytest.mark.parametrize("goal", [hr.Distance(0.1), hr.Distance(0.5), hr.Enters("14", 3)], ids=str)
def test_bounds_told_on_the_way_hold_what_is_found(goal):
    votes = hr.sample_votes(hr.Mallows(list(range(17)), phi=0.8), 60, rng=5)
    told = []
    found = hr.attack(votes, hr.kemeny, goal, time_limit=2, progress=lambda step: told.append(step.known))
    assert told[0] == f"{votes.items[found.before.ranking.order[0]]} is first so far"
    bounds = [text for text in told[1:] if text]
    assert bounds, told
    for text in bounds:
        assert text.endswith("so far")
        least, most = re.search(r"at least (\d+) votes", text), re.search(r"at most ([\d.]+) %", text)
        assert least or most
        assert least is None or int(least[1]) <= found.votes_needed, text
        assert most is None or float(most[1]) >= 100 * found.lower - 0.1, text


@pytest.mark.slow
def test_a_search_that_is_over_says_what_is_proved_at_once(monkeypatch):
    votes = hr.sample_votes(hr.Mallows(list(range(17)), phi=0.8), 60, rng=5)
    late = hr.attack(votes, hr.kemeny, hr.Distance(0.5), time_limit=0.0)
    assert late.votes_needed > 1
    monkeypatch.setattr(engine, "MOST_SUBSETS", 17)  # the bound by means comes last then
    assert hr.attack(votes, hr.kemeny, hr.Distance(0.5), time_limit=0.0).lower == late.lower
