"""First bounds for many goals at once: never above the truth, and every attack works."""

import math
import os

import numpy as np
import pytest
from test_tiers_of_battles import MERGES, THETAS, fewest_for_tiers

import holdrank as hr
from holdrank.attacks.bradley_terry.levels import quick
from holdrank.attacks.engines import exact_engine
from holdrank.status import Clock

import oracles
from battles import arena, goals_for, profiles, votes_of

pytestmark = pytest.mark.usefixtures("time_at_work")

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "6"))
CHANGES = ("replace", "drop", "add")
MOST = {"replace": 2, "drop": 3, "add": 3}


def asked(order, rng):
    """Goals that are no distances, as the oracle and as the product name them."""
    return {name: goal for name, goal in goals_for(order, rng).items() if not isinstance(goal, hr.Distance)}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_quick_bound_is_above_what_brute_force_finds(change):
    told = 0
    for rng, won, tied, votes in profiles(PROFILES, 61):
        consensus = hr.bradley_terry(votes)
        before = tuple(consensus.ranking.ranks.tolist())
        goals = asked(consensus.ranking.order, rng)
        most = MOST[change] - (len(won) == 5 and change == "replace")
        truth = oracles.fewest_battles(won, tied, change, before, goals, most)
        for name, goal in goals.items():
            if oracles.fulfils(name, before, before):
                continue
            aim = goal.aim(consensus.ranking, votes.items)
            (found,) = quick(votes, consensus.ranking, [aim], hr.Change(change), Clock(None))
            weak, strict = truth[name]
            where = won.tolist(), tied.tolist(), change, name, found, truth[name]
            assert found.whole_fails < (math.inf if weak is None else weak), where
            assert found.undecided < (math.inf if strict is None else strict), where
            assert found.does > most or (strict is not None and strict <= found.does), where
            if found.plan is not None:
                assert hr.fulfils(votes, hr.bradley_terry, found.plan.applied(votes), goal), where
            told += found.fails > 0
    assert told


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_quick_bound_on_tiers_is_above_what_brute_force_finds(change):
    told = 0
    for rng, won, tied, votes in profiles(3 * PROFILES, 62):
        theta, merging = float(rng.choice(THETAS)), str(rng.choice(MERGES))
        T = hr.Robust(hr.bradley_terry, theta, merge=merging)
        ranking = T(votes).ranking
        before = tuple(ranking.ranks.tolist())
        goals = asked(hr.bradley_terry(votes).ranking.order, rng)
        most = MOST[change] - (len(won) == 5 and change == "replace")
        truth = fewest_for_tiers(won, tied, change, theta, merging, before, goals, most)
        for name, goal in goals.items():
            aim = goal.aim(ranking, votes.items)
            if oracles.fulfils(name, before, before) or aim.is_impossible():
                continue
            (found,) = exact_engine(T, votes).quick(votes, ranking, [aim], hr.Change(change), Clock(None))
            least = math.inf if truth[name] is None else truth[name]
            assert found.fails < least, (won.tolist(), tied.tolist(), change, theta, merging, name, found)
            if found.plan is not None:
                assert hr.fulfils(votes, T, found.plan.applied(votes), goal)
            told += found.fails > 0
    assert told


@pytest.mark.slow
def test_quick_bounds_of_an_arena_hold_what_closer_ones_say():
    votes = votes_of(arena(np.random.default_rng(5), 40, 30_000, 0.0).astype(int), np.zeros((40, 40), dtype=int))
    before = hr.bradley_terry(votes).ranking
    names = [votes.items[item] for item in before.order]
    for k in (1, 4, 17, 38):
        for goal in (hr.Above(names[k], names[k - 1]), hr.TopSet(k), hr.Wins(names[k]), hr.Leaves(names[k - 1], k)):
            (found,) = quick(votes, before, [goal.aim(before, votes.items)], hr.Change.REPLACE, Clock(None))
            closer = hr.attack(votes, hr.bradley_terry, goal, time_limit=0.3)
            assert found.fails < closer.votes_sufficient
            assert closer.votes_needed <= found.does
            assert found.plan.budget(votes) * votes.total == pytest.approx(found.does)


def test_goals_that_there_was_no_time_for_claim_nothing():
    votes = votes_of([[0, 9, 9], [2, 0, 9], [2, 2, 0]], np.zeros((3, 3), dtype=int))
    before = hr.bradley_terry(votes).ranking
    (found,) = quick(votes, before, [hr.NewWinner().aim(before, votes.items)], hr.Change.REPLACE, Clock(0))
    assert (found.fails, found.whole_fails, found.undecided, found.does) == (0.0, -1.0, -1.0, math.inf)
