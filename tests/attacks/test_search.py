"""Attacks by search: on rules by score, on merges of them, and on statistics of one's own."""

from __future__ import annotations

import math

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.pair_bounds import hints_of
from holdrank.rules.strengths import RIDGE, strength_pull, strengths
from holdrank.status import Status

import oracles
from strategies import random_ranks

CHANGES = list(hr.Change)
each_change = pytest.mark.parametrize("change", CHANGES)


def arena(rng, n=5, battles=300):
    """Battles between items of which the first are better."""
    rows = np.zeros((battles, n), dtype=int)
    for row in rows:
        a, b = sorted(rng.choice(n, 2, replace=False))
        row[[a, b]] = (1, 2) if rng.random() < 0.5 + 0.08 * (b - a) else (2, 1)
    return hr.Votes.from_ranks(rows, unlisted="observed")


@pytest.mark.slow
@pytest.mark.usefixtures("time_at_work")
@each_change
def test_attacks_on_the_strengths_of_an_arena_work(change):
    votes = arena(np.random.default_rng(3))
    before = hr.bradley_terry(votes).ranking
    last = votes.items[before.order[-1]]
    for goal in (hr.NewWinner(), hr.Wins(last), hr.TopSet(2), hr.Distance(0.5)):
        found = hr.attack(votes, hr.bradley_terry, goal, change=change, time_limit=2.0)
        assert found.status in (Status.BETWEEN, Status.BETWEEN_TIME_LIMIT, Status.LEAST)
        assert 0 < found.lower <= found.upper
        assert found.verified
        assert hr.fulfils(votes, hr.bradley_terry, found.votes, goal)
        whole = found.whole
        assert whole.votes_sufficient == max(whole.plan.removed.sum(), whole.plan.added.sum())
        assert hr.fulfils(votes, hr.bradley_terry, whole.votes, goal)
        if change != "drop":  # battles are answered by battles
            assert ((found.plan.ranks > 0).sum(axis=1) == 2).all()


@pytest.mark.slow
def test_strengths_of_ballots_that_are_no_battles_are_searched_and_nothing_is_claimed():
    rng = np.random.default_rng(3)
    rows = np.zeros((200, 5), dtype=int)
    for row in rows:
        row[rng.choice(5, 3, replace=False)] = rng.permutation(3) + 1
    votes = hr.Votes.from_ranks(rows, unlisted="observed")
    found = hr.attack(votes, hr.bradley_terry, hr.NewWinner())
    assert (found.lower, found.status) == (0.0, Status.ESTIMATE)
    assert "cheaper attacks may exist." in found.text()


def test_the_pull_of_a_win_is_how_strengths_change():
    votes = arena(np.random.default_rng(5))
    wish = np.array([-1.0, 1.0, 0.0, 0.0, 0.0])
    pull = strength_pull(votes, wish)
    wins = votes.wins() / votes.total
    here = wish @ strengths(wins, RIDGE)[0]
    for i, j in [(1, 0), (1, 3), (2, 0), (0, 1)]:
        more = wins.copy()
        more[i, j] += 1e-5
        assert (wish @ strengths(more, RIDGE)[0] - here) / 1e-5 == pytest.approx(pull[i, j], rel=1e-3)


def test_strengths_are_attacked_through_battles_with_others():
    # a and b never met, so no battle of theirs can be dropped: a has to lose wins against c.
    battles = [["a", "c"], ["c", "a"], ["b", "c"], ["c", "b"]]
    votes = hr.Votes.from_orders(battles, weights=[80, 20, 60, 40], unlisted="observed")
    found = hr.attack(votes, hr.bradley_terry, hr.Above("b", "a"), change="drop")
    assert hr.fulfils(votes, hr.bradley_terry, found.votes, hr.Above("b", "a"))
    # For b, 60 to 15 are the odds of 80 to 20, so 26 of its losses have to go; from a, 51 wins would have to.
    assert (found.upper * votes.total, found.votes_sufficient) == (pytest.approx(25, abs=1e-3), 26)
    assert [text for text, _ in found.removed] == ["c > b"]


@pytest.mark.slow
@each_change
def test_lower_bounds_for_mean_scores_are_those_of_brute_force(change):
    rng = np.random.default_rng(11)
    tight = 0
    for _ in range(12):
        rows = rng.integers(0, 5, size=(4, 3)).astype(float).tolist()
        votes = hr.Votes.from_score_rows(rows)
        low, high = min(map(min, rows)), max(map(max, rows))
        before = hr.mean_score(votes).ranking
        x, y = before.order[2], before.order[0]
        goals = [
            (hr.NewWinner(), ("new winner",)),
            (hr.Wins(str(x)), ("wins", x)),
            (hr.Above(str(x), str(y)), ("above", x, y)),
            (hr.Enters(str(x), 2), ("enters", x, 2)),
        ]
        for goal, by_hand in goals:
            found = hr.attack(votes, hr.mean_score, goal, change=change)
            least = oracles.fewest_scored(rows, change, by_hand, before.ranks.tolist(), low, high, 3)
            told = f"{rows} {goal} {change}: {found!r}, brute force {least}"
            if least is not None:
                assert found.votes_needed <= least, told
                tight += found.votes_sufficient == least
            if found.votes_sufficient <= 3:
                assert least is not None, told
                assert least <= found.votes_sufficient, told
            if found.verified:
                assert hr.fulfils(votes, hr.mean_score, found.votes, goal), told
    assert tight >= 12


def test_lifting_one_mean_score_above_another_is_exact():
    votes = hr.Votes.from_score_rows([[10, 0, 5], [8, 6, 5], [6, 6, 5], [2, 7, 5]], weights=[4, 3, 2, 1], items="abc")
    # Means 7.8 and 3.7 of ten votes, range 10: a replaced ballot of the first kind brings 20, so 41 take 2.05 of them.
    found = hr.attack(votes, hr.mean_score, hr.Above("b", "a"))
    assert found.lower == found.upper == pytest.approx(0.205)
    assert (found.votes_needed, found.votes_sufficient) == (3, 3)
    assert hr.attack(votes, hr.mean_score, hr.Above("b", "a"), change="add").lower == pytest.approx(0.41)
    # Taking votes away: four of the first kind bring 40, half a ballot of the second kind brings the rest.
    assert hr.attack(votes, hr.mean_score, hr.Above("b", "a"), change="drop").lower == pytest.approx(0.45)


def test_a_mean_score_with_gaps_has_attacks_but_no_lower_bound():
    votes = hr.Votes.from_score_rows([[3, 1, math.nan], [3, 2, 1], [2, math.nan, 1]])
    found = hr.attack(votes, hr.mean_score, hr.Wins("2"))
    assert (found.lower, found.status, found.verified) == (0.0, Status.ESTIMATE, True)


def test_prices_of_copeland_are_margins_where_one_majority_decides():
    # a beats b 7 to 3 and both beat c 10 to 0: b is level with a once two of ten ballots change sides.
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[7, 3])
    for change, price in ((hr.Change.REPLACE, 0.2), (hr.Change.DROP, 0.4), (hr.Change.ADD, 0.4)):
        prices = hints_of(hr.copeland).prices(votes, change)
        assert prices[1, 0] == pytest.approx(price)
        assert prices[0, 1] == 0
    found = hr.attack(votes, hr.copeland, hr.NewWinner())
    assert found.lower == found.upper == pytest.approx(0.2)
    assert found.exact
    assert found.votes_sufficient == 3


@pytest.mark.parametrize("rule", [hr.copeland, hr.bradley_terry], ids=lambda rule: rule.__name__)
def test_merges_of_any_rule_can_be_attacked(rule):
    rng = np.random.default_rng(2)
    votes = hr.Votes.from_ranks(random_ranks(rng, "complete", 4, 40))
    T = hr.Robust(rule, 0.05 if rule is hr.copeland else 0.01)  # by the model, all four are within 0.05
    for change in CHANGES:
        found = hr.attack(votes, T, hr.NewWinner(), change=change)
        assert found.verified
        assert hr.fulfils(votes, T, found.votes, hr.NewWinner())
        assert hr.fulfils(votes, T, found.whole.votes, hr.NewWinner())
    # Strengths stand in Borda's order here, but merges by the model are not Borda's: no bound carries over.
    assert found.status is Status.ESTIMATE
    assert found.lower == 0


def test_a_curve_by_search_is_monotone_and_each_attack_works():
    votes = hr.Votes.from_ranks(random_ranks(np.random.default_rng(4), "complete", 4, 30))
    curve = hr.breakdown(votes, hr.copeland)
    assert curve.method == "search"
    assert (curve.lower <= curve.upper).all()
    assert (np.diff(curve.upper) >= 0).all()
    for delta, found in zip(curve.delta, curve.attacks, strict=True):
        assert hr.fulfils(votes, hr.copeland, found.votes, hr.Distance(float(delta)))


def test_time_is_kept_and_what_was_found_comes_back():
    votes = arena(np.random.default_rng(1), n=6, battles=2000)
    found = hr.attack(votes, hr.bradley_terry, hr.NewWinner(), time_limit=0)
    assert (found.lower, found.verified) == (0.0, False)
    assert "no attack found" in found.text()


@pytest.mark.parametrize(("weights", "upper"), [((3e13, 2e13), 0.2), ((4e13, 3e13), math.inf)])
def test_no_more_votes_are_added_than_can_be_counted(weights, upper):
    votes = hr.Votes.from_orders([["a", "b"], ["b", "a"]], weights=weights)
    # 1e13 more make it level; with 7e13 votes there already, that is above 2**46.
    assert hr.attack(votes, hr.copeland, hr.Wins("b"), change="add").upper == pytest.approx(upper, rel=1e-3)
