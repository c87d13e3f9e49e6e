"""Tiers of Bradley-Terry on battles: merged by the model, bounds never above the truth, attacks that work."""

import math
import os

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.bradley_terry.battles import Battles
from holdrank.attacks.bradley_terry.movement import Movement
from holdrank.attacks.bradley_terry.races import Race
from holdrank.status import Clock

import oracles
from battles import arena, goals_for, profiles, votes_of

pytestmark = pytest.mark.usefixtures("time_at_work")

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "6"))  # a long run takes 5000
SECONDS = 1.0 if PROFILES > 6 else 0.2  # for one search; a long run has more
CHANGES = ("replace", "drop", "add")
MOST = {"replace": 2, "drop": 3, "add": 3}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_fewer_battles_bring_a_lead_down_to_a_given_one(change):
    told = 0
    for rng, won, tied, votes in profiles(PROFILES, 11):
        movement = Movement(Battles.of(votes), hr.Change(change))
        sizes = range(1, MOST[change] - (len(won) == 5 and change == "replace") + 1)
        after = [oracles.strengths_of_many(oracles.battles_after(won, tied, change, k), 1e-6) for k in sizes]
        for _ in range(3):
            a, b = rng.choice(len(won), 2, replace=False).tolist()
            lead = float(movement.gaps[a, b]) - rng.choice([0.02, 0.1, 0.4, 1.0])
            fails = Race(movement, b, a, lead=lead).fails(len(sizes), Clock(2 * SECONDS), 12)
            least = next((k for k, s in zip(sizes, after, strict=True) if (s[:, a] - s[:, b] <= lead).any()), math.inf)
            assert fails < least, (won.tolist(), tied.tolist(), change, a, b, lead)
            told += fails > 0
    assert told


def tiers_by_hand(s, theta, merging):
    """The tiers of strengths, as ranks, from the definitions; strengths closer than 1e-8 of their range are equal."""
    order = sorted(range(len(s)), key=lambda i: -s[i])
    level = [s[order[0]]]
    for i in order[1:]:
        level.append(level[-1] if level[-1] - s[i] <= 1e-8 * max(np.ptp(s), 1.0) else s[i])
    P = [[1 / (1 + math.exp(other - mine)) for other in level] for mine in level]
    places = [[place] for place in range(len(s))]
    if merging == "smith":
        buckets = oracles.smith_merge(P, places, theta)
    else:
        buckets = oracles.merge(P, places, theta, downward=merging == "downward")
    ranks = [0] * len(s)
    for rank, bucket in enumerate(buckets, start=1):
        for place in bucket:
            ranks[order[place]] = rank
    return tuple(ranks)


MERGES = ("downward", "naive", "smith")
THETAS = (0.0, 0.02, 0.08, 0.15, 0.3)


def test_tiers_are_merged_by_the_model():
    seen = set()
    for rng, won, tied, votes in profiles(60, 31):
        wins = np.array(won) + (np.array(tied) + np.array(tied).T) / 2
        s = oracles.strengths_of_many(wins[None], 1e-6)[0]
        counts = hr.PairCounts.from_votes(votes)
        for merging in MERGES:
            theta = float(rng.choice(THETAS))
            T = hr.Robust(hr.bradley_terry, theta, merge=merging)
            ranks = tuple(T(votes).ranking.ranks.tolist())
            assert ranks == tiers_by_hand(s, theta, merging), (won.tolist(), tied.tolist(), theta, merging)
            assert ranks == tuple(T(counts).ranking.ranks.tolist())
            seen.add(len(set(ranks)) < len(won))
    assert seen == {True, False}


def test_smith_tiers_of_the_model_part_where_neighbours_are_far_apart():
    for _, won, tied, votes in profiles(20, 32):
        wins = np.array(won) + (np.array(tied) + np.array(tied).T) / 2
        s = oracles.strengths_of_many(wins[None], 1e-6)[0]
        c = math.log(0.6 / 0.4)
        order = np.argsort(-s)
        borders = (s[order[:-1]] - s[order[1:]] > c).sum()
        assert len(hr.Robust(hr.bradley_terry, 0.1, merge="smith")(votes).ranking.buckets) == borders + 1


def test_pairs_that_never_met_are_told_apart_by_the_model():
    votes = votes_of([[0, 40, 0], [10, 0, 40], [0, 10, 0]], np.zeros((3, 3), dtype=int))
    assert hr.Robust(hr.kemeny, 0.31)(votes).text() == "{i0, i1, i2}"  # the votes say nothing about i0 and i2
    assert hr.Robust(hr.bradley_terry, 0.2)(votes).text() == "i0 > i1 > i2"
    assert hr.Robust(hr.bradley_terry, 0.31)(votes).text() == "{i0, i1} > i2"
    assert hr.Robust(hr.bradley_terry, 0.5)(votes).text() == "{i0, i1, i2}"


def test_items_of_equal_strength_share_a_tier_at_threshold_zero():
    votes = votes_of([[0, 5, 7], [5, 0, 7], [3, 3, 0]], np.zeros((3, 3), dtype=int))
    for merging in MERGES:
        assert hr.Robust(hr.bradley_terry, 0.0, merge=merging)(votes).text() == "{i0, i1} > i2"


def test_complete_rankings_are_merged_by_the_model_too():
    votes = hr.Votes.from_orders([list("abc"), list("bca"), list("acb")], weights=[40, 30, 30])
    s = oracles.strengths_of_many(votes.wins()[None], 1e-6 * votes.total / votes.wins().sum())[0]
    T = hr.Robust(hr.bradley_terry, 0.1)
    assert tuple(T(votes).ranking.ranks.tolist()) == tiers_by_hand(s, 0.1, "downward")
    found = hr.attack(votes, T, hr.NewWinner(), time_limit=2)
    assert found.lower <= found.upper
    assert found.votes is None or hr.fulfils(votes, T, found.votes, hr.NewWinner())
    assert not hr.verify(votes, T, T(votes)).proved
    assert not hr.verify(votes, T, T(votes)).refuted


def fewest_for_tiers(won, tied, change, theta, merging, before, goals, most):
    """For each goal, the fewest changed battles after which the tiers fulfil it; None where `most` are not enough."""
    least = dict.fromkeys(goals)
    for size in range(1, most + 1):
        after = oracles.battles_after(won, tied, change, size)
        rows = oracles.strengths_of_many(after, 1e-6) if len(after) else []
        outcomes = {tiers_by_hand(s, theta, merging) for s in rows}
        for goal in goals:
            if least[goal] is None and any(oracles.fulfils(goal, before, ranks) for ranks in outcomes):
                least[goal] = size
        if None not in least.values():
            break
    return least


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_bound_on_tiers_is_above_what_brute_force_finds(change):
    told = 0
    for rng, won, tied, votes in profiles(PROFILES, 41):
        theta, merging = float(rng.choice(THETAS)), str(rng.choice(MERGES))
        T = hr.Robust(hr.bradley_terry, theta, merge=merging)
        before = tuple(T(votes).ranking.ranks.tolist())
        goals = goals_for(hr.bradley_terry(votes).ranking.order, rng)
        a, b = rng.choice(len(won), 2, replace=False).tolist()
        goals[("above", b, a)] = hr.Above(f"i{b}", f"i{a}")
        goals = {name: goal for name, goal in goals.items() if not oracles.fulfils(name, before, before)}
        most = max(MOST[change] - (len(won) == 5) - (change == "replace" and len(won) > 3), 1)
        truth = fewest_for_tiers(won, tied, change, theta, merging, before, goals, most)
        for name, goal in goals.items():
            found = hr.attack(votes, T, goal, change=change, time_limit=SECONDS)
            least = truth[name]
            where = (won.tolist(), tied.tolist(), change, theta, merging, name, found.votes_needed, least)
            if least is not None:
                assert found.votes_needed <= least, where
                assert found.lower <= least / votes.total + 1e-12, where
                assert found.votes_sufficient >= least, where
            elif found.votes_sufficient <= most:
                raise AssertionError(where)
            if found.whole is not None:
                assert hr.fulfils(votes, T, found.whole.votes, goal), where
            told += found.votes_needed > 1 and least is not None
            told += found.votes_needed > most
    assert told


@pytest.mark.slow
@pytest.mark.parametrize("merging", MERGES)
def test_curves_of_tiers_rise_and_hold_what_attacks_do(merging):
    counts = hr.PairCounts.from_wins(arena(np.random.default_rng(4), 6, 900, 0), list("abcdef"))
    votes = counts.as_votes()
    for distance in ("hausdorff_ns", "hausdorff_half"):
        T = hr.Robust(hr.bradley_terry, 0.03, merge=merging)
        curve = hr.breakdown(votes, T, [1 / 15, 5 / 15, 10 / 15], distance=distance, time_limit=6 * SECONDS)
        assert (np.diff(curve.lower) >= 0).all()
        assert (curve.lower <= curve.upper).all()
        assert curve.lower[-1] > 0
        assert np.isfinite(curve.upper[0])
        for one in curve.attacks:
            if one is not None and one.votes is not None:
                assert hr.fulfils(votes, T, one.votes, one.goal)


def test_tiers_of_many_items_have_bounds_and_attacks():
    counts = hr.PairCounts.from_wins(arena(np.random.default_rng(5), 25, 20_000, 0), [f"i{k}" for k in range(25)])
    T = hr.Robust(hr.bradley_terry, 0.005, merge="smith")
    votes = counts.as_votes()
    for goal in (hr.NewWinner(), hr.TopSet(5), hr.Distance(0.01)):
        found = hr.attack(counts, T, goal, change="drop", time_limit=2)
        assert 0 < found.lower <= found.upper < 1
        assert hr.fulfils(votes, T, found.whole.votes, goal)


@pytest.mark.parametrize("merging", MERGES)
def test_weights_that_are_no_counts_have_bounds_in_shares(merging):
    wins = arena(np.random.default_rng(5), 6, 600, 0)
    T = hr.Robust(hr.bradley_terry, 0.03, merge=merging)
    votes = hr.PairCounts.from_wins(wins / 7, list("abcdef")).as_votes()
    found = hr.attack(votes, T, hr.NewWinner(), change="drop", time_limit=10)
    counted = hr.attack(hr.PairCounts.from_wins(wins, list("abcdef")), T, hr.NewWinner(), change="drop", time_limit=10)
    assert 0 < found.lower <= found.upper <= 1.2 * found.lower
    assert found.lower <= counted.votes_sufficient / 600  # the same shares
    assert (counted.votes_needed - 1) / 600 <= found.upper


def test_at_the_largest_threshold_nothing_is_strict():
    counts = hr.PairCounts.from_wins(arena(np.random.default_rng(5), 4, 200, 0), list("abcd"))
    for merging in MERGES:
        found = hr.attack(counts, hr.Robust(hr.bradley_terry, 0.5, merge=merging), hr.NewWinner(), time_limit=2)
        assert math.isinf(found.lower)


def test_tiers_by_the_model_are_open_to_verify_and_never_proved():
    votes = hr.PairCounts.from_wins(arena(np.random.default_rng(4), 5, 300, 0), list("abcde")).as_votes()
    for merging in MERGES:
        T = hr.Robust(hr.bradley_terry, 0.03, merge=merging)
        verdict = hr.verify(votes, T, hr.attack(votes, T, hr.NewWinner(), time_limit=5))
        assert not verdict.proved
        assert not verdict.refuted
        assert not any("needed" in check.claim and check.finding == "proved" for check in verdict.checks)
