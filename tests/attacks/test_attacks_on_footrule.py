"""The exact engine for the footrule median."""

from __future__ import annotations

import math

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.footrule import engine as engine
from holdrank.attacks.goals import Above, Distance, Enters, NewWinner, TopSet, Wins
from holdrank.errors import UsageError
from holdrank.status import Clock

CHANGES = list(hr.Change)


def found_for(votes, goals, change=hr.Change.REPLACE, clock=None):
    before = hr.footrule(votes).ranking
    aims = [goal.aim(before, votes.items) for goal in goals]
    return aims, engine.find(votes, before, aims, change, clock or Clock(), None)


def random_votes(seed, n, m, spread=1.5):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(m, n)) + np.linspace(0, spread, n)
    return hr.Votes.from_ranks(scores.argsort(axis=1).argsort(axis=1) + 1)


def assert_strict(votes, aim, found):
    after = hr.footrule(found.plan.applied(votes))
    assert after.unique
    assert aim.reached(after.ranking)
    assert found.plan.budget(votes) <= found.upper + 1e-6


@pytest.mark.parametrize(("change", "share"), [(hr.Change.REPLACE, 0.1), (hr.Change.DROP, 0.2), (hr.Change.ADD, 0.2)])
def test_two_items_break_when_the_majority_is_gone(change, share):
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=[6, 4])
    (aim,), (found,) = found_for(votes, [Above("b", "a")], change)
    assert found.lower == found.upper == pytest.approx(share, abs=1e-12)
    assert_strict(votes, aim, found)


def test_a_point_mass_breaks_at_one_half():
    votes = hr.Votes.from_orders([["a", "b", "c", "d"]])
    _, found = found_for(votes, [Distance(k / 6) for k in range(1, 7)])
    assert [f.upper for f in found] == pytest.approx([0.5] * 6, abs=1e-9)


def test_what_no_ballot_left_says_is_proved_unreachable():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["a", "c", "b"]], weights=[2, 3])
    goals = [Above("b", "a"), NewWinner(), Wins("b"), Distance(1.0)]
    _, found = found_for(votes, goals, hr.Change.DROP)
    assert [(f.lower, f.upper, f.plan) for f in found] == [(math.inf, math.inf, None)] * 4


def test_a_tie_that_dropping_votes_cannot_break_counts_for_the_lower_bound_only():
    votes = hr.Votes.from_orders([["a", "b", "c"], [["a", "b"], "c"]], weights=[1, 5])
    _, (found,) = found_for(votes, [Above("b", "a")], hr.Change.DROP)
    assert found.lower == pytest.approx(1 / 6, abs=1e-9)
    assert math.isinf(found.upper)
    assert found.plan is None


def test_a_goal_that_holds_already_costs_nothing():
    votes = hr.Votes.from_orders([["a", "b", "c"]])
    _, (found,) = found_for(votes, [Wins("a")])
    assert (found.lower, found.upper, found.plan.budget(votes)) == (0, 0, 0)


def test_votes_without_places_are_refused():
    votes = hr.Votes.from_orders([["a", "b"], ["b", "c"]], unlisted="observed")
    with pytest.raises(UsageError, match="places of unlisted items"):
        engine.find(votes, hr.Ranking([1, 2, 3]), [], hr.Change.REPLACE, Clock(), None)


def test_all_distances_of_six_items_are_exact():
    votes = random_votes(3, 6, 50)
    aims, found = found_for(votes, [Distance(k / 15) for k in range(1, 16)])
    for aim, one in zip(aims, found, strict=True):
        assert one.lower == pytest.approx(one.upper, abs=1e-9)
        assert_strict(votes, aim, one)
    assert [f.lower for f in found] == sorted(f.lower for f in found)


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_many_items_get_certified_bounds_and_attacks(change):
    votes = random_votes(2, 14, 60, spread=1.0)
    goals = [Distance(1 / 91), Distance(20 / 91), Distance(50 / 91), NewWinner(), Enters("13", 5), Above("9", "2")]
    aims, found = found_for(votes, goals, change)
    for aim, one in zip(aims, found, strict=True):
        assert 0 < one.lower <= one.upper
        if one.plan is None:
            assert change == "drop"  # the few targets tried need not be reachable
        else:
            assert_strict(votes, aim, one)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_the_bounds_for_many_items_enclose_the_exact_values_of_few(change, monkeypatch):
    votes = random_votes(9, 6, 40, spread=0.8)
    before = hr.footrule(votes).ranking
    goals = [Distance(k / 15) for k in range(1, 16)] + [Wins("5"), Enters("4", 2), TopSet(2), Above("5", "1")]
    # Goals that hold already are exact everywhere.
    goals = [goal for goal in goals if not goal.aim(before, votes.items).reached(before)]
    _, exact = found_for(votes, goals, change)
    monkeypatch.setattr(engine, "_LISTED_ITEMS", 3)
    aims, rough = found_for(votes, goals, change)
    for aim, loose, sure in zip(aims, rough, exact, strict=True):
        assert 0 <= loose.lower <= sure.lower + 1e-9
        assert loose.upper >= sure.upper - 1e-9
        if loose.plan is not None:
            assert_strict(votes, aim, loose)
    assert any(loose.lower < sure.lower - 1e-6 for loose, sure in zip(rough, exact, strict=True))


@pytest.mark.parametrize("change", CHANGES)
def test_without_time_the_bounds_enclose_the_exact_values(change):
    votes = random_votes(7, 5, 40, spread=0.6)
    goals = [Distance(k / 10) for k in range(1, 11)] + [Wins("4"), Enters("3", 2), TopSet(2)]
    _, exact = found_for(votes, goals, change)
    aims, hasty = found_for(votes, goals, change, Clock(time_limit=0))
    for aim, quick, sure in zip(aims, hasty, exact, strict=True):
        assert 0 <= quick.lower <= sure.lower + 1e-9
        assert quick.upper >= sure.upper - 1e-9
        if quick.plan is not None:
            assert_strict(votes, aim, quick)
    assert any(quick.lower < sure.lower - 1e-6 for quick, sure in zip(hasty, exact, strict=True))


def test_progress_tells_of_targets():
    votes = random_votes(11, 5, 30)
    before = hr.footrule(votes).ranking
    steps = []
    engine.find(votes, before, [Distance(0.5).aim(before, votes.items)], hr.Change.REPLACE, Clock(), steps.append)
    assert {step.name for step in steps} == {"targets"}
