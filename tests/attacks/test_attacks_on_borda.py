"""The exact engine for Borda's median."""

from __future__ import annotations

import math

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.borda import engine as engine
from holdrank.attacks.borda.points import Points, mixture
from holdrank.attacks.borda.programs import ColumnProgram, FacetProgram
from holdrank.attacks.goals import Above, Distance, Enters, NewWinner, TopSet, Wins
from holdrank.status import Clock

CHANGES = list(hr.Change)


def found_for(votes, goals, change=hr.Change.REPLACE, clock=None):
    before = hr.borda(votes).ranking
    aims = [goal.aim(before, votes.items) for goal in goals]
    return aims, engine.find(votes, before, aims, change, clock or Clock(), None)


def random_votes(seed, n, m, spread=1.5, **kwargs):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(m, n)) + np.linspace(0, spread, n)
    return hr.Votes.from_ranks(scores.argsort(axis=1).argsort(axis=1) + 1, **kwargs)


def assert_strict(votes, aim, found):
    after = hr.borda(found.plan.applied(votes))
    assert aim.reached(after.ranking)
    assert found.plan.budget(votes) <= found.upper + 1e-6


def test_putting_the_second_first_takes_the_gap_over_the_most_a_vote_can_move():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[6, 4])
    # Points 16 to 14. A vote a > b > c replaced by b > c > a: b gains 1, a loses 2.
    (aim,), (found,) = found_for(votes, [Above("b", "a")])
    assert found.lower == pytest.approx(2 / 3 / 10, abs=1e-12)
    assert found.upper == pytest.approx(2 / 3 / 10, abs=1e-12)
    assert_strict(votes, aim, found)


def test_adding_votes_moves_two_places_a_vote():
    votes = hr.Votes.from_orders([["a", "b", "c"]], weights=[10])
    _, (found,) = found_for(votes, [Above("c", "a")], hr.Change.ADD)
    assert found.lower == found.upper == pytest.approx(1.0, abs=1e-12)


def test_what_no_ballot_left_says_is_proved_unreachable():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["a", "c", "b"]], weights=[2, 3])
    goals = [Above("b", "a"), NewWinner(), Wins("b"), Enters("b", 1), Distance(1.0), Distance(2 / 3), Above("b", "c")]
    _, found = found_for(votes, goals, hr.Change.DROP)
    assert [(f.lower, f.upper, f.plan) for f in found[:6]] == [(math.inf, math.inf, None)] * 6
    # Of three votes a > c > b one more than the difference must go.
    assert found[6].lower == found[6].upper == pytest.approx(1 / 5, abs=1e-12)


def test_a_tie_that_dropping_votes_cannot_break_counts_for_the_lower_bound_only():
    votes = hr.Votes.from_orders([["a", "b", "c"], [["a", "b"], "c"]], weights=[1, 5])
    _, found = found_for(votes, [Above("b", "a"), Distance(1 / 3), Wins("b")], hr.Change.DROP)
    for one in found:
        assert one.lower == pytest.approx(1 / 6, abs=1e-9)
        assert math.isinf(one.upper)
        assert one.plan is None


def test_a_goal_that_holds_already_costs_nothing():
    votes = hr.Votes.from_orders([["a", "b", "c"]])
    for goal in (Wins("a"), Above("a", "c"), Enters("b", 2)):
        _, (found,) = found_for(votes, [goal])
        assert (found.lower, found.upper, found.plan.budget(votes)) == (0, 0, 0)


def test_a_tied_median_breaks_at_zero():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]])
    (aim, _), (found, _) = found_for(votes, [Distance(1 / 3), Above("b", "a")])
    assert found.lower == found.upper == 0
    assert_strict(votes, aim, found)


def test_one_item_has_nothing_to_break():
    votes = hr.Votes.from_orders([["a"]])
    assert engine.find(votes, hr.borda(votes).ranking, [], hr.Change.REPLACE, Clock(), None) == []


@pytest.mark.parametrize("change", CHANGES)
def test_battles_are_added_where_the_votes_are_battles(change):
    votes = hr.Votes.from_orders(
        [["a", "b"], ["b", "c"], ["a", "c"], ["c", "a"]], weights=[5, 4, 3, 2], unlisted="observed"
    )
    aims, found = found_for(votes, [Wins("c"), Above("b", "a"), Distance(1.0), Enters("c", 1)], change)
    for aim, one in zip(aims, found, strict=True):
        assert one.lower == pytest.approx(one.upper, abs=1e-9)
        assert_strict(votes, aim, one)
        assert ((one.plan.ranks != 0).sum(axis=1) == 2).all()
        assert len(one.plan.ranks) == 0 or change != "drop"


def test_all_distances_of_seven_items_are_exact():
    votes = random_votes(3, 7, 60)
    aims, found = found_for(votes, [Distance(k / 21) for k in range(1, 22)])
    for aim, one in zip(aims, found, strict=True):
        assert one.lower == pytest.approx(one.upper, abs=1e-9)
        assert_strict(votes, aim, one)
        assert hr.borda(one.plan.applied(votes)).unique
    assert [f.lower for f in found] == sorted(f.lower for f in found)


@pytest.mark.parametrize("change", CHANGES)
def test_many_items_get_certified_bounds_and_attacks(change):
    votes = random_votes(5, 20, 40, spread=1.0)
    goals = [Distance(1 / 190), Distance(20 / 190), Distance(60 / 190), NewWinner(), Enters("19", 5), Wins("10")]
    aims, found = found_for(votes, goals, change)
    for aim, one in zip(aims, found, strict=True):
        assert 0 < one.lower <= one.upper < math.inf
        assert_strict(votes, aim, one)
    assert found[0].lower == pytest.approx(found[0].upper, abs=1e-6)  # one flip: the cheapest pair
    assert [f.lower for f in found[3:]] == pytest.approx([f.upper for f in found[3:]], abs=1e-9)


@pytest.mark.parametrize("change", CHANGES)
def test_without_time_the_bounds_enclose_the_exact_values(change):
    votes = random_votes(7, 6, 40, spread=0.6)
    goals = [Distance(k / 15) for k in range(1, 16)] + [Wins("5"), Enters("4", 2), TopSet(2)]
    _, exact = found_for(votes, goals, change)
    aims, hasty = found_for(votes, goals, change, Clock(time_limit=0))
    for aim, quick, sure in zip(aims, hasty, exact, strict=True):
        assert 0 <= quick.lower <= sure.lower + 1e-9
        assert quick.upper >= sure.upper - 1e-9
        if quick.plan is None:
            assert change == "drop"  # what is taken away first need not lead there
        else:
            assert_strict(votes, aim, quick)
    assert any(quick.lower < sure.lower - 1e-6 for quick, sure in zip(hasty, exact, strict=True))


def test_progress_tells_of_orders():
    votes = random_votes(11, 6, 30)
    before = hr.borda(votes).ranking
    steps = []
    engine.find(votes, before, [Distance(8 / 15).aim(before, votes.items)], hr.Change.REPLACE, Clock(), steps.append)
    assert {step.name for step in steps} == {"orders"}


@pytest.mark.parametrize("n", [1, 2, 6, 25])
def test_a_mixture_of_orders_gives_the_wanted_points(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        wanted = rng.dirichlet(np.full(6, 0.4)) @ np.array([rng.permutation(n) for _ in range(6)])
        orders, shares = mixture(wanted)
        given = np.zeros(n)
        for order, share in zip(orders, shares, strict=True):
            given[order] += share * np.arange(n - 1, -1, -1)
        assert shares.min() >= 0
        assert len(orders) <= max(n, 1)
        assert given == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["rankings", "battles"])
def test_a_program_that_grows_gives_the_same_as_one_with_all_rows(change, kind):
    rng = np.random.default_rng(len(change))
    ranks = random_votes(3, 6, 30, spread=0.5).ranks.copy()
    if kind == "battles":
        for row in ranks:
            row[rng.permutation(6)[:4]] = 0
    votes = hr.Votes.from_ranks(ranks, unlisted="observed")
    points = Points(votes, hr.borda(votes).ranking, change)
    for pairs in ([(5, j) for j in range(5)], [(4, 3), (3, 2), (2, 1)], [(5, 4), (2, 1)]):
        asked = np.ones(len(pairs), dtype=int)
        for slack in (0.0, points.strict):
            whole = FacetProgram(points, pairs).solve(asked, Clock(), slack)
            grown = ColumnProgram(points, pairs).solve(asked, Clock(), slack)
            assert grown.value == pytest.approx(whole.value, abs=1e-5)
            assert grown.bound == pytest.approx(whole.bound, abs=1e-5)
            if math.isfinite(whole.value):
                leads = [grown.points[i] - grown.points[j] for i, j in pairs]
                assert min(leads) >= slack - 1e-5


def test_points_are_those_of_the_definition():
    rng = np.random.default_rng(7)
    for _ in range(60):
        n, m = int(rng.integers(2, 7)), int(rng.integers(1, 9))
        table = rng.integers(0, n + 1, (m, n))
        table[:, 0] = 1
        for unlisted in ("bottom", "observed"):
            votes = hr.Votes.from_ranks(table, unlisted=unlisted)
            before = hr.Ranking.from_order(rng.permutation(n).tolist())
            expected = []
            for ballot in votes.ranks.tolist():
                ranks = [rank or (n + 1 if unlisted == "bottom" else 0) for rank in ballot]
                rivals = [[other for j, other in enumerate(ranks) if j != i and other] for i in range(n)]
                doubled = [sum(2 * (r < o) + (r == o) for o in rivals[i]) if r else 0 for i, r in enumerate(ranks)]
                expected.append([doubled[item] for item in before.order])
            assert Points(votes, before, hr.Change.REPLACE).doubled.tolist() == expected
