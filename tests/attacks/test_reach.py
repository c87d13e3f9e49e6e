"""Places under attack, and tiers of many items: bounds against every attack of a few whole ballots."""

from __future__ import annotations

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.mirror import turned_votes
from holdrank.attacks.reach import reach
from holdrank.attacks.tiers.border_bounds import lower_bound, tie_prices
from holdrank.status import Clock, Status

import oracles
from strategies import random_ranks, unlisted_rule

RULES = {"kemeny": hr.kemeny, "borda": hr.borda, "copeland": hr.copeland}


def profile(rng, kind, n, size=9):
    ballots = [tuple(hr.Votes.from_ranks([ranks]).ranks[0].tolist()) for ranks in random_ranks(rng, kind, n, size)]
    distinct = sorted(set(ballots))
    return distinct, [ballots.count(b) for b in distinct], unlisted_rule(kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_no_attack_brings_an_item_beyond_its_places(name):
    rng = np.random.default_rng(len(name))
    exact = 0
    for number in range(24):
        n, kind = (4, "complete") if number % 3 == 2 else (3, ["complete", "tied", "bottom"][number % 3])
        ballots, weights, unlisted = profile(rng, kind, n)
        votes = hr.Votes.from_ranks(np.array(ballots), weights, unlisted=unlisted)
        size = 1 + number % 2
        found = reach(votes, RULES[name], size / votes.total)
        assert found.budget * votes.total == pytest.approx(size)
        seen = [
            ranks
            for k in range(size + 1)
            for sums in [
                oracles.attacks(ballots, weights, unlisted, hr.Change.REPLACE, k)
                if k
                else oracles.sums_of(ballots, weights, unlisted)[None]
            ]
            for kind_ in oracles.outcomes(name, sums, n)
            for ranks in kind_
        ]
        first, last = np.min(seen, axis=0), np.max(seen, axis=0)
        told = f"{ballots} x {weights}: {found}, brute force {first} to {last}"
        assert (found.best <= first).all(), told
        assert (found.worst >= last).all(), told
        assert (found.shown_best >= first).all(), told
        assert (found.shown_worst <= last).all(), told
        exact += found.status is Status.LEAST
    assert exact >= (6 if name == "copeland" else 10)


def test_groups_that_no_attack_reorders_bound_the_places_of_many_items():
    # Two halves of twelve; all of the first above all of the second on 90 of 100 ballots, disorder inside.
    rng = np.random.default_rng(7)
    halves = [np.concatenate((rng.permutation(12), 12 + rng.permutation(12))) for _ in range(90)]
    mixed = [rng.permutation(24) for _ in range(10)]
    votes = hr.Votes.from_ranks(np.argsort(halves + mixed, axis=1) + 1)
    found = reach(votes, hr.kemeny, 0.2, time_limit=2)
    upper = np.arange(24) < 12
    assert (found.worst[upper] == 12).all()
    assert (found.best[~upper] == 13).all()
    assert (found.shown_best >= found.best).all()
    assert (found.shown_worst <= found.worst).all()


def test_budgets_are_whole_votes_and_strict_rules_are_wanted():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[3, 2])
    assert reach(votes, hr.kemeny, 0.01).budget == 0.2
    with pytest.raises(hr.UsageError, match="takes a rule, not tiers"):
        reach(votes, hr.Robust(hr.kemeny, 0.1))
    with pytest.raises(hr.UsageError, match="between 0 and 1"):
        reach(votes, hr.kemeny, 1.5)


@pytest.mark.slow
@pytest.mark.parametrize("change", list(hr.Change))
def test_bounds_for_tiers_from_the_ranking_below_hold_against_brute_force(change):
    rng = np.random.default_rng(5)
    positive = 0
    for number in range(20):
        n = 4 if number % 5 == 4 else 3
        kind = ["complete", "tied", "bottom", "observed"][number % 4]
        merge = "downward" if number % 2 else "naive"
        ballots, weights, unlisted = profile(rng, kind, n)
        votes = hr.Votes.from_ranks(np.array(ballots), weights, unlisted=unlisted)
        T = hr.Robust(hr.kemeny, 0.1, merge=merge)
        before = T(votes).ranking
        x, k = int(rng.integers(n)), int(rng.integers(1, n))
        goals = [
            (hr.NewWinner(), ("new winner",)),
            (hr.Wins(str(x)), ("wins", x)),
            (hr.Enters(str(x), k), ("enters", x, k)),
            (hr.TopSet(k), ("top set", k)),
            (hr.Leaves(str(x), k), ("leaves", x, k)),
        ]
        ranks = tuple(before.ranks.tolist())
        by_hand = ("kemeny", 0.1, merge)
        least = oracles.fewest_ballots(
            ballots, weights, unlisted, change, by_hand, ranks, [g for _, g in goals], 2 if n == 4 else 3
        )
        for goal, told in goals:
            if oracles.fulfils(told, ranks, ranks):
                continue
            aim = goal.aim(before, votes.items)
            bound = lower_bound(votes, T, before, aim, change, Clock(), exact_engine(hr.kemeny, votes).find)
            positive += bound > 0
            weak = least[told][0]
            if weak is not None:
                assert bound * votes.total <= weak + 1e-9, f"{ballots} x {weights} {change} {goal}: {bound}, {weak}"
    assert positive >= 20


def cycle_of_tiers():
    """Votes with s > y > x > z by Kemeny, where moving s to the end loses next to nothing; y beats x by a little."""
    leads = {("s", "y"): 22, ("s", "x"): 80, ("z", "s"): 100, ("x", "z"): 100, ("y", "z"): 100, ("y", "x"): 16}
    orders = []
    for pair in leads:
        rest = [item for item in "syxz" if item not in pair]
        orders += [[*pair, *rest], [*rest[::-1], *pair]]
    return hr.Votes.from_orders(orders, weights=[lead for lead in leads.values() for _ in range(2)])


BORDA = hr.Votes.from_ranks([[2, 3, 1, 4], [2, 4, 3, 1], [1, 3, 4, 2]], [11, 10, 4])
FOOTRULE = hr.Votes.from_ranks([[1, 2, 3, 4], [3, 2, 4, 1], [2, 3, 1, 4], [3, 4, 1, 2]], [11, 5, 5, 3])


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize(
    ("votes", "T", "goal"),
    [
        (cycle_of_tiers(), hr.Robust(hr.kemeny, 0.024), hr.Wins("x")),
        (BORDA, hr.Robust(hr.borda, 0.03, merge="naive"), hr.Enters("1", 1)),
        (BORDA, hr.Robust(hr.borda, 0.03, merge="naive"), hr.Enters("1", 2)),
        (FOOTRULE, hr.Robust(hr.footrule, 0.03, merge="naive"), hr.Enters("1", 1)),
    ],
    ids=["kemeny", "borda-first", "borda-second", "footrule"],
)
def test_who_comes_up_in_a_tie_need_not_lead_it_in_the_ranking_below(votes, T, goal):
    before = T(votes).ranking
    aim = goal.aim(before, votes.items)
    bound = lower_bound(votes, T, before, aim, hr.Change.REPLACE, Clock(), exact_engine(T.base, votes).find)
    assert 0 < bound <= hr.attack(votes, T, goal).upper + 1e-9


def test_votes_upside_down_bound_nothing_where_gaps_make_borda_another_rule():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "c"], ["a", "b", "c"]], [5, 4, 3], unlisted="observed")
    T = hr.Robust(hr.borda, 0.05)
    before = T(votes).ranking
    aim = hr.Leaves("a", 1).aim(before, votes.items)
    assert lower_bound(votes, T, before, aim, hr.Change.REPLACE, Clock(), exact_engine(hr.borda, votes).find) == 0


def test_the_price_of_a_tie_is_where_the_share_meets_the_threshold():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[80, 20])
    # 80 of 100 must become 60 of 100: 20 replaced; 30 of 50 after a loss of 50; 80 of 133.3 with 33.3 more.
    for change, price in ((hr.Change.REPLACE, 0.2), (hr.Change.DROP, 0.5), (hr.Change.ADD, 1 / 3)):
        assert tie_prices(votes, 0.1, change)[0, 1] == pytest.approx(price)
        assert tie_prices(votes, 0.1, change)[1, 0] == 0


def test_tiers_of_many_items_get_a_lower_bound_and_an_attack():
    votes = hr.sample_votes(hr.Mallows(range(20), 0.7), 200, rng=1)
    T = hr.Robust(hr.kemeny, 0.05)
    found = hr.attack(votes, T, hr.NewWinner(), time_limit=20)
    assert 0 < found.lower <= found.upper < 1
    assert hr.fulfils(votes, T, found.votes, hr.NewWinner())


def test_votes_upside_down_have_the_consensus_upside_down():
    rng = np.random.default_rng(3)
    for kind in ("complete", "tied", "bottom"):
        votes = hr.Votes.from_ranks(np.array(random_ranks(rng, kind, 4, 15)), unlisted=unlisted_rule(kind))
        turned = turned_votes(votes)
        assert np.array_equal(turned.wins(), votes.wins().T)
        assert turned.place_weights()[:, ::-1] == pytest.approx(votes.place_weights())


@pytest.mark.parametrize("rule", [hr.kemeny, hr.borda, hr.footrule], ids=lambda rule: rule.__name__)
def test_leaving_costs_what_somebody_else_entering_costs(rule):
    # Of two items, the first leaves the first place exactly when the second enters it.
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[60, 40])
    leaving = hr.attack(votes, rule, hr.Leaves("a", 1))
    assert (leaving.lower, leaving.upper) == (pytest.approx(0.1), pytest.approx(0.1))
    assert leaving.votes_sufficient == 11
    assert hr.fulfils(votes, rule, leaving.votes, hr.Leaves("a", 1))
    assert leaving.text() == "10 of 100 votes tie it, 11 push a out of the top 1 (11 %, proven minimum)."


@pytest.mark.parametrize("base", [hr.kemeny, hr.copeland], ids=lambda rule: rule.__name__)
def test_dominating_sets_have_exact_bounds_at_one_pair(base):
    # Margins 20, 60 and 30 of 100 votes: with theta 0.05 all stand apart, and the nearest is 0.1 - 0.05 away.
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]], weights=[45, 35, 20])
    T = hr.Robust(base, 0.05, merge="smith")
    assert T(votes).text() == "a > b > c"
    P = votes.pairwise()
    nearest = min(P[0, 1], P[0, 2], P[1, 2]) - 0.5 - 0.05
    curve = hr.breakdown(votes, T)
    assert curve.lower[0] == pytest.approx(nearest)
    assert curve.upper[0] == pytest.approx(nearest, abs=1e-6)
    winner = hr.attack(votes, T, hr.NewWinner())
    assert winner.lower == pytest.approx(min(P[0, 1], P[0, 2]) - 0.5 - 0.05)
    assert hr.fulfils(votes, T, winner.votes, hr.NewWinner())


@pytest.mark.slow
def test_places_say_what_attacks_on_each_place_say():
    """Also where a place between is neither excluded nor shown: the search must not stop there."""
    rng = np.random.default_rng(3)
    undecided = 0
    for _ in range(6):
        votes = hr.Votes.from_ranks([rng.permutation(5) + 1 for _ in range(7)])
        found = hr.reach(votes, hr.kemeny, 1 / 7)
        for i, name in enumerate(votes.items):
            for k in range(1, 5):
                enters, leaves = (
                    hr.attack(votes, hr.kemeny, goal) for goal in (hr.Enters(name, k), hr.Leaves(name, k))
                )
                undecided += enters.votes_needed <= 1 < enters.votes_sufficient
                assert enters.votes_needed <= 1 or found.best[i] > k
                assert enters.votes_sufficient > 1 or found.shown_best[i] <= k
                assert leaves.votes_needed <= 1 or found.worst[i] <= k
                assert leaves.votes_sufficient > 1 or found.shown_worst[i] > k
    assert undecided
