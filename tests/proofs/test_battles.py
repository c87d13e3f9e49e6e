"""Bradley-Terry on battles, proved again: never beyond brute force, and no forged number is proved."""

from __future__ import annotations

import dataclasses
import decimal
import math
import os

import numpy as np
import pytest

import holdrank as hr
from holdrank.proofs import strengths
from holdrank.proofs.movements import Movements
from holdrank.proofs.races import Races
from holdrank.proofs.rounding import sigma_above, sigma_below
from holdrank.proofs.strengths import Enclosed
from holdrank.rules import strengths as rule_strengths

import oracles
from battles import goals_for, random_battles, votes_of

pytestmark = pytest.mark.usefixtures("time_at_work")

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "6"))  # a long run takes 500
CHANGES = tuple(hr.Change)
SURE = {hr.Change.REPLACE: 2, hr.Change.DROP: 3, hr.Change.ADD: 3}


def test_the_logistic_function_is_enclosed():
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(0, scale, 300) for scale in (1e-9, 0.1, 3.0, 40.0, 300.0)])
    points = np.concatenate([points, [0.0, 705.0, -705.0]])
    low, high = sigma_below(points), sigma_above(points)
    with decimal.localcontext(decimal.Context(prec=60)):
        for x, least, most in zip(points.tolist(), low.tolist(), high.tolist(), strict=True):
            true = 1 / (1 + (-decimal.Decimal(x)).exp())
            assert decimal.Decimal(least) <= true <= decimal.Decimal(most)
            assert most - least <= 1e-14 * most + 1e-300


def test_lines_lie_below_the_logistic_function():
    rng = np.random.default_rng(2)
    for scale in (1e-6, 0.1, 1.0, 5.0):
        n = 5
        fit = Enclosed.of(rng.integers(0, 30, (n, n)) * (1.0 - np.eye(n)), np.asarray(600.0))
        rise = rng.random((n, n)) * scale
        if scale > 0.5:
            rise -= scale / 3  # a box that does not hold the start
            rise = np.maximum(rise, -rise.T + 1e-3)
        np.fill_diagonal(rise, 0.0)
        lines = Movements(fit, hr.Change.DROP).lines(rise)
        for i in range(n):
            for j in range(n):
                if i != j:
                    x = np.linspace(-rise[j, i], rise[i, j], 2001)
                    gap = fit.gaps[i, j]
                    error = 1 / (1 + np.exp(-gap - x)) - 1 / (1 + np.exp(-gap)) - lines.slopes[i, j] * x
                    assert lines.errors[i, j] <= error.min() + 1e-16
                    assert lines.errors[i, j] >= error.min() - 1e-5 * scale
                    assert lines.doubt[i, j] >= (1 / (1 + np.exp(gap + x))).max() - 1e-16


def test_strengths_are_enclosed():
    assert strengths.RIDGE == rule_strengths.RIDGE
    rng = np.random.default_rng(3)
    for _ in range(30):
        won, tied = random_battles(rng)
        wins = won + (tied + tied.T) / 2
        fit = Enclosed.of(wins, np.asarray(float(wins.sum())))
        s = oracles.strengths_of_many(wins[None], 1e-6)[0]
        assert float(fit.error) < 1e-6
        assert np.abs((s[:, None] - s) - fit.gaps).max() <= float(fit.error) + 1e-7
        assert fit.s.sum() == 0


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_proved_is_never_beyond_brute_force(change):
    proved = tight = 0
    for seed in range(PROFILES):
        rng = np.random.default_rng([seed, CHANGES.index(change), 7])
        won, tied = random_battles(rng)
        votes = votes_of(won, tied)
        consensus = hr.bradley_terry(votes) if votes.n == len(won) else None
        if consensus is None or not consensus.unique:
            continue
        before = tuple(int(rank) for rank in consensus.ranking.ranks)
        goals = goals_for(consensus.ranking.order, rng)
        most = SURE[change] - (len(won) == 5 and change == hr.Change.REPLACE)
        truth = oracles.fewest_battles(won, tied, change.value, before, goals, most)
        races = Races.of(votes, Enclosed.of_votes(votes))
        for name, goal in goals.items():
            if oracles.fulfils(name, before, before):
                continue
            aim = goal.aim(consensus.ranking, votes.items)
            weak, strict = truth[name]
            for size in range(1, most + 1):
                for whole in (False, True):
                    if races.fails(aim, size, change, whole=whole):
                        proved += 1
                        assert weak is None or size < weak, (seed, name, size, whole)
                        tight += weak == size + 1
                if races.fails(aim, size, change, whole=True, surely=True):
                    assert strict is None or size < strict, (seed, name, size)
    assert proved > tight > 0


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.slow
@pytest.mark.traced
def test_numbers_that_are_one_battle_off_are_not_proved(change):
    rng = np.random.default_rng(4)
    proved = 0
    for n in (3, 5, 8):
        strength = rng.normal(0, 0.4, n)
        fought = np.triu(rng.integers(10, 60, (n, n)), 1)
        won = rng.binomial(fought, 1 / (1 + np.exp(strength - strength[:, None])))
        votes = votes_of(won + (fought - won).T, np.zeros((n, n), dtype=int))
        found = hr.attack(votes, hr.bradley_terry, hr.NewWinner(), change=change, time_limit=3)
        verdict = hr.verify(votes, hr.bradley_terry, found)
        assert not verdict.refuted, verdict.text()
        assert claims(verdict, "the consensus") == {"proved"}
        assert claims(verdict, "enough") == {"proved"}
        proved += claims(verdict, "needed") == {"proved"}
        # More than the attack takes cannot be needed.
        beyond = found.votes_sufficient + 1
        forged = changed(found, lower=beyond / votes.total, votes_needed=beyond, votes_to_decide=beyond)
        verdict = hr.verify(votes, hr.bradley_terry, forged)
        assert "proved" not in claims(verdict, "needed") | claims(verdict, "takes at least"), verdict.text()
        for name in ("votes_sufficient", "upper"):
            less = getattr(found, name) - (1 if name == "votes_sufficient" else 1 / votes.total)
            assert hr.verify(votes, hr.bradley_terry, changed(found, **{name: less})).refuted
        # One battle less, with its own price: the attack does not reach the goal any more.
        plan = found.whole_plan
        key = "added" if change.puts else "removed"
        weights = getattr(plan, key).copy()
        weights[np.flatnonzero(weights)[0]] -= 1
        short = dataclasses.replace(plan, **{key: weights})
        if change.keeps_total:
            removed = plan.removed.copy()
            removed[np.flatnonzero(removed)[0]] -= 1
            short = dataclasses.replace(short, removed=removed)
        size = found.votes_sufficient - 1
        if found.votes_needed > size:
            verdict = hr.verify(votes, hr.bradley_terry, changed(found, whole_plan=short, votes_sufficient=size))
            assert verdict.refuted
    assert proved


def test_a_wrong_order_is_refuted():
    votes = votes_of([[0, 30, 25], [28, 0, 26], [15, 14, 0]], np.zeros((3, 3), dtype=int))
    found = hr.bradley_terry(votes)
    assert hr.verify(votes, hr.bradley_terry, found).proved
    other = hr.Ranking([2, 1, 3])
    assert hr.verify(votes, hr.bradley_terry, dataclasses.replace(found, ranking=other, loss=votes.loss(other))).refuted
    assert hr.verify(votes, hr.bradley_terry, dataclasses.replace(found, unique=False)).refuted
    assert hr.verify(votes, hr.bradley_terry, dataclasses.replace(found, loss=found.loss + 0.01)).refuted


def test_equal_strengths_are_proved_to_be_equal():
    votes = votes_of([[0, 5, 9], [5, 0, 9], [3, 3, 0]], np.zeros((3, 3), dtype=int))
    found = hr.bradley_terry(votes)
    assert not found.unique
    assert hr.verify(votes, hr.bradley_terry, found).proved
    assert hr.verify(votes, hr.bradley_terry, dataclasses.replace(found, unique=True)).refuted


@pytest.mark.parametrize(("apart", "told"), [(1e-8, True), (2e-8, False), (4e-8, True)])
def test_strengths_on_the_border_of_equality_stay_open(apart, told):
    # One more win among three items with many battles each moves two of them apart by 2 / (3 * many), with the third in
    # the middle: neighbours are half of that apart, and equal up to 1e-8.
    many = round(2 / (3 * apart))
    won = np.array([[0, many + 1, many], [many, 0, many], [many, many, 0]])
    votes = votes_of(won, np.zeros((3, 3), dtype=int))
    verdict = hr.verify(votes, hr.bradley_terry, hr.bradley_terry(votes))
    assert not verdict.refuted
    assert verdict.proved == told


def test_groups_that_never_meet_and_rankings_of_several_items():
    apart = votes_of([[0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 4], [0, 0, 1, 0]], np.zeros((4, 4), dtype=int))
    assert hr.verify(apart, hr.bradley_terry, hr.bradley_terry(apart)).proved
    longer = hr.Votes.from_orders([list("abc"), list("bcd"), list("ad"), list("ca")], [5, 4, 2, 1], unlisted="observed")
    assert hr.verify(longer, hr.bradley_terry, hr.bradley_terry(longer)).proved
    found = hr.attack(longer, hr.bradley_terry, hr.NewWinner(), time_limit=2)
    verdict = hr.verify(longer, hr.bradley_terry, found)
    assert not verdict.refuted
    assert claims(verdict, "the attack") <= {"proved"}


def claims(verdict, words):
    return {check.finding for check in verdict.checks if words in check.claim}


def changed(found, **numbers):
    return dataclasses.replace(found, _memo={}, **numbers)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_proof_excludes_what_an_attack_does(change):
    """Whole battles and parts of them, also where much is changed and only the ridge holds some items."""
    tight = 0
    for seed in range(PROFILES):
        rng = np.random.default_rng([seed, CHANGES.index(change), 8])
        won, tied = random_battles(rng)
        scale = rng.choice([1, 1, 5])
        votes = votes_of(won * scale, tied * scale)
        consensus = hr.bradley_terry(votes)
        if votes.n != len(won) or not consensus.unique:
            continue
        goals = list(goals_for(consensus.ranking.order, rng).values())
        goal = goals[int(rng.integers(len(goals)))]
        aim = goal.aim(consensus.ranking, votes.items)
        found = hr.attack(votes, hr.bradley_terry, goal, change=change, time_limit=0.3)
        if aim.reached(consensus.ranking) or not math.isfinite(found.upper):
            continue
        races = Races.of(votes, Enclosed.of_votes(votes))
        assert not races.fails(aim, found.upper * votes.total * (1 + 1e-9), change, whole=False), seed
        assert not races.fails(aim, found.votes_sufficient, change, whole=True, surely=True), seed
        assert not races.fails(aim, found.votes_to_tie, change, whole=True), seed
        for part in (0.99, 0.9, 0.7):
            if races.fails(aim, part * found.upper * votes.total, change, whole=False):
                tight += 1
                break
        verdict = hr.verify(votes, hr.bradley_terry, found)
        assert not verdict.refuted, (seed, verdict.text())
    assert tight
