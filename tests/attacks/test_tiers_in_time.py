"""Answers about tiers only get better with more time: more effort is the same work and more."""

from __future__ import annotations

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.engines import exact_engine
from holdrank.status import Clock

SAME = 1e-9
EFFORTS = (1, 4, 9, 20, 40, 70, 120, 250, 600)


def leaning_votes(rng: np.random.Generator) -> hr.Votes:
    """Votes of a few items that lean towards one ranking; some list half of the items only."""
    n, m = int(rng.integers(4, 8)), int(rng.choice([9, 30, 101]))
    utilities = np.linspace(0, rng.uniform(0.5, 3), n)
    ranks = np.argsort(np.argsort(utilities + rng.gumbel(size=(m, n)), axis=1), axis=1) + 1
    if rng.random() < 0.3:
        ranks = np.where(ranks <= n // 2 + 1, ranks, 0)
    return hr.Votes.from_ranks(ranks, unlisted=("bottom", "observed")[int(rng.integers(2))])


@pytest.mark.parametrize("merge", ["downward", "naive"])
@pytest.mark.parametrize("base", [hr.kemeny, hr.borda])
@pytest.mark.slow
@pytest.mark.traced
def test_more_effort_never_gives_a_worse_answer(base, merge):
    rng = np.random.default_rng(len(merge))
    better = 0
    for number in range(6):
        votes = leaning_votes(rng)
        T = hr.Robust(base, float(rng.uniform(0, 0.15)), merge=merge)
        before = T(votes).ranking
        goals = [hr.NewWinner(), hr.TopSet(2), hr.Distance(2 / (votes.n * (votes.n - 1)))]
        aim = goals[number % 3].aim(before, votes.items)
        if aim.reached(before) or aim.is_impossible():
            continue
        lower, upper = 0.0, np.inf
        for looks in EFFORTS:
            engine = exact_engine(T, votes)
            assert engine is not None
            (found,) = engine.find(votes, before, [aim], hr.Change.REPLACE, Clock(looks=looks), None)
            assert found.lower >= lower - SAME, (votes.ranks, votes.weights, T, aim, looks)
            assert found.upper <= upper + SAME, (votes.ranks, votes.weights, T, aim, looks)
            better += found.lower > lower + SAME or found.upper < upper - SAME
            lower, upper = found.lower, found.upper
            if lower == upper:
                break
    assert better > 6  # otherwise effort was never put to the test


def test_the_same_effort_gives_the_same_answer():
    votes = leaning_votes(np.random.default_rng(3))
    T = hr.Robust(hr.kemeny, 0.06, merge="naive")
    aim = hr.TopSet(2).aim(T(votes).ranking, votes.items)
    answers = []
    for seconds in (None, 1000.0):  # far from the limit, the time is of no account
        engine = exact_engine(T, votes)
        assert engine is not None
        (found,) = engine.find(votes, aim.before, [aim], hr.Change.REPLACE, Clock(seconds, looks=60), None)
        answers.append((found.lower, found.upper))
    assert answers[0] == answers[1]


def test_a_clock_with_few_looks_is_used_up_within_another_one():
    outer = Clock(looks=5)
    inner = outer.with_looks(2)
    assert [inner.over() for _ in range(3)] == [False, False, True]
    assert inner.used_up
    assert not outer.used_up
    assert [outer.over() for _ in range(3)] == [False, False, True]
    part = Clock(1000.0, within=outer)  # what is within a clock stops with it
    assert part.over()
    assert not part.used_up


def test_an_attack_that_costs_a_hair_too_much_does_not_end_the_search():
    """The first attack found costs more than the least share by more than what is taken for equal."""
    ranks = [[1, 3, 2], [3, 1, 2], [3, 2, 1], [2, 3, 1], [1, 2, 3]]
    votes = hr.Votes.from_ranks(ranks, [41, 31, 16, 7, 2])
    for goal in (hr.TopSet(2), hr.Distance(1 / 3)):
        found = hr.attack(votes, hr.Robust(hr.kemeny, 0.0), goal)
        # Items 1 and 2 are 3 votes apart: half of them, replaced, level the pair.
        assert found.lower == found.upper == pytest.approx(1.5 / 97, abs=1e-12)


def test_no_attack_is_forgotten():
    """Rounded to whole votes, a dearer attack may be cheaper: what less effort ends with, more effort has as well."""
    rng = np.random.default_rng(5)
    former = 0
    for _ in range(4):
        votes = leaning_votes(rng)
        T = hr.Robust(hr.kemeny, 0.07, merge="naive")
        before = T(votes).ranking
        aim = hr.Distance(2 / (votes.n * (votes.n - 1))).aim(before, votes.items)
        known: set[bytes] = set()
        for looks in EFFORTS[2:6]:
            engine = exact_engine(T, votes)
            assert engine is not None
            (found,) = engine.find(votes, before, [aim], hr.Change.REPLACE, Clock(looks=looks), None)
            if found.plan is None:
                continue
            marks = {plan.removed.tobytes() + plan.added.tobytes() for plan in (found.plan, *found.others)}
            assert known <= marks, (votes.ranks, looks)
            former += len(marks) > 1
            if looks > EFFORTS[2]:  # the very first search may be cut: half of it is better than no attack at all
                known = marks
    assert former
