"""Bounds on tiers from pairs alone: never above what brute force over whole ballots finds, and seldom nothing."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import holdrank as hr
from holdrank.attacks.engines import exact_engine
from holdrank.attacks.goals import Above, Distance, Enters, Leaves, NewWinner, TopSet, Wins
from holdrank.attacks.plans import adds_battles
from holdrank.attacks.tiers.pair_prices import PairPrices
from holdrank.attacks.tiers.standing import StandingTiers
from holdrank.proofs.statistics import Exactly
from holdrank.status import Clock

import oracles

pytestmark = pytest.mark.slow

CHANGES = list(hr.Change)
FAMILIES = ["strict", "ties", "bottom", "observed", "battles", "same", "near", "weights", "even"]


def a_profile(rng, family, n):
    """A few votes; `near` ones differ by two neighbours, half of the `even` ones cancel out."""
    m = int(rng.integers(2, 8 if n < 4 else 6))
    rows = np.array([rng.permutation(n) + 1 for _ in range(m)])
    weights = rng.integers(1, 4, size=m) if family == "weights" else np.ones(m)
    if family == "ties":
        rows = rng.integers(1, n + 1, size=(m, n))
    elif family in ("bottom", "observed"):
        listed = rows * (rng.random((m, n)) < 0.7)
        rows = np.where(listed.any(axis=1)[:, None], listed, rows)
    elif family == "battles":
        rows[:] = 0
        for row in rows:
            row[rng.choice(n, 2, replace=False)] = [1, 1 if rng.random() < 0.2 else 2]
    elif family == "same":
        rows[:] = rows[0]
    elif family == "near":
        rows[:] = np.arange(1, n + 1)
        for row in rows:
            k = int(rng.integers(n - 1))
            row[[k, k + 1]] = row[[k + 1, k]]
    elif family == "even":
        rows[1] = n + 1 - rows[0]
    return hr.Votes.from_ranks(rows, weights, unlisted="observed" if family in ("observed", "battles") else "bottom")


def a_threshold(rng, votes):
    """A threshold on a margin of the votes, at or near an end, or anywhere."""
    deviations = np.unique(np.abs(votes.pairwise() - 0.5).round(12))
    return float(rng.choice([rng.choice(deviations), 0.0, 0.02, 0.1, 0.49, 0.5, rng.uniform(0, 0.5)]))


def all_goals(n):
    """Every goal about n items as the oracle and as the engine know it."""
    pairs = n * (n - 1) // 2
    goals = [(("distance", d), Distance(d / pairs)) for d in range(1, pairs + 1)]
    goals += [(("new winner",), NewWinner()), *((("top set", k), TopSet(k)) for k in range(1, n))]
    for x in range(n):
        goals.append((("wins", x), Wins(str(x))))
        goals += [(("above", x, y), Above(str(x), str(y))) for y in range(n) if y != x]
        for k in range(1, n):
            goals += [(("enters", x, k), Enters(str(x), k)), (("leaves", x, k), Leaves(str(x), k))]
    return goals


def informed(votes, T, before, change):
    """The bounds with all that the engine of the base knows about first items."""
    median = T.base(votes).ranking
    standing = StandingTiers(votes, T, before, median, change)
    aims = [TopSet(m).aim(median, votes.items) for m in range(1, votes.n)]
    for m, found in enumerate(exact_engine(T.base, votes).find(votes, median, aims, change, Clock(), None), start=1):
        standing.learn(found.lower, m)
    return standing


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("rule", ["downward", "naive"])
@pytest.mark.parametrize("base", [hr.kemeny, hr.borda, hr.footrule])
def test_no_whole_ballots_do_it_below_the_bounds(base, rule, change):
    rng = np.random.default_rng([len(base.__name__), len(rule), len(change)])
    met = tight = proved = 0
    for number in range(27):
        family, n = FAMILIES[number % 9], 4 if number >= 24 else 2 + (number > 3)
        votes = a_profile(rng, "strict" if family == "battles" and n < 3 else family, n)
        if base is hr.footrule and votes.unlisted == "observed":
            continue
        T = hr.Robust(base, a_threshold(rng, votes), merge=rule)
        before = T(votes).ranking
        standing = informed(votes, T, before, change)
        again = Exactly(votes, T).borders(tuple(before.ranks.tolist()), change)  # what `verify` knows
        goals = all_goals(n)
        ballots, weights = [tuple(row) for row in votes.ranks.tolist()], [int(w) for w in votes.weights]
        least = oracles.fewest_ballots(
            ballots, weights, votes.unlisted, change, (base.__name__, T.theta, rule), tuple(before.ranks.tolist()),
            [by_hand for by_hand, _ in goals], 3 if n < 4 else 2, battles=adds_battles(votes),
        )  # fmt: skip
        for by_hand, goal in goals:
            aim = goal.aim(before, votes.items)
            weak, _ = least[by_hand]
            if weak and not aim.reached(before):
                bound = standing.least(aim) * votes.total
                assert bound <= weak + 1e-6, (family, votes.ranks, votes.weights, T, by_hand, bound, weak)
                met += 1
                tight += math.ceil(bound - 1e-6) == weak
                if again is not None:
                    assert again.least(aim) <= weak, (family, votes.ranks, votes.weights, T, by_hand, weak)
                    proved += math.ceil(again.least(aim)) == weak
    assert met > 100
    assert base is not hr.kemeny or proved > met / 8
    assert tight > met / 4  # a bound of nothing would pass everything above


@pytest.mark.parametrize("change", CHANGES)
def test_the_price_of_a_pair_is_that_of_the_ballots_that_speak_about_it(change):
    rng = np.random.default_rng(len(change))
    for family in ("strict", "ties", "observed"):
        votes = a_profile(rng, family, 3)
        prices = PairPrices(votes, change)
        ballots, weights = [tuple(row) for row in votes.ranks.tolist()], [int(w) for w in votes.weights]
        for level in (0.0, 0.1, 0.3):
            for size in (1, 2):
                for sums in oracles.attacks(ballots, weights, votes.unlisted, change, size):
                    W = sums[:9].reshape(3, 3)
                    N = W[0, 1] + W[1, 0]
                    deviation = abs(W[0, 1] / N - 0.5) if N else 0.0
                    if deviation <= level:
                        assert float(prices.fall(0, 1, level)) * votes.total <= size + 1e-9
                    if deviation >= level and N:
                        assert float(prices.rise(0, 1, level)) * votes.total <= size + 1e-9


@pytest.mark.parametrize("rule", ["downward", "naive"])
def test_tiers_off_the_margins_have_a_positive_bound_at_once(rule):
    rng = np.random.default_rng(21)
    seen = 0
    while seen < 30:
        n = int(rng.integers(3, 16))
        utilities = np.linspace(0, 2, n) * rng.uniform(0.3, 1.5)
        rows = np.argsort(np.argsort(utilities + rng.gumbel(size=(41, n)), axis=1), axis=1) + 1
        votes = hr.Votes.from_ranks(rows)
        median = hr.kemeny(votes)
        T = hr.Robust(hr.kemeny, float(rng.uniform(0.001, 0.3)), merge=rule)
        before = T.merged(votes, median).ranking
        aim = Distance(2 / (n * (n - 1))).aim(before, votes.items)
        by_majority = all(votes.pairwise()[a, b] > 0.5 for k, a in enumerate(median.ranking.order)
                          for b in median.ranking.order[k + 1 :])  # fmt: skip
        if median.unique and by_majority and len(before.buckets) > 1:
            bound = StandingTiers(votes, T, before, median.ranking, hr.Change.REPLACE).least(aim)
            # Two deviations may be equal, and a rule for ties then decides between them.
            deviations = np.abs(votes.pairwise() - 0.5)[np.triu_indices(n, 1)].round(12)
            seen += 1
            assert bound > 0 or len(np.unique(deviations)) < len(deviations)
    assert seen == 30


def test_the_closest_pair_decides_where_the_ranking_holds_longer():
    # 23 of 42 votes put b above c: 0.0476 from even, 0.0046 above the threshold.
    votes = hr.Votes.from_orders(
        [["a", "b", "c", "d"], ["a", "c", "b", "d"]], weights=[23, 19], items=["a", "b", "c", "d"]
    )
    T = hr.Robust(hr.kemeny, 0.043)
    before = T(votes).ranking
    standing = StandingTiers(votes, T, before, hr.kemeny(votes).ranking, hr.Change.REPLACE)
    assert standing.least(Distance(1 / 6).aim(before, votes.items)) == pytest.approx(23 / 42 - 0.5 - 0.043, abs=1e-9)
    assert standing.least(NewWinner().aim(before, votes.items)) == pytest.approx(0.457, abs=1e-9)


def test_more_time_gives_no_worse_answer():
    # Two hundred profiles with four limits: benchmarks/tiers_in_time.py.
    rng = np.random.default_rng(7)
    for number in range(6):
        n = 5 + number
        rows = np.argsort(np.argsort(np.linspace(0, 2, n) + rng.gumbel(size=(61, n)), axis=1), axis=1) + 1
        votes = hr.Votes.from_ranks(rows)
        T = hr.Robust(hr.kemeny, 0.047, merge=("downward", "naive")[number % 2])
        goal = (NewWinner(), TopSet(2), Distance(2 / (n * (n - 1))))[number % 3]
        found = [hr.attack(votes, T, goal, time_limit=limit) for limit in (0.1, 0.4, 1.6)]
        for less, more in pairwise(found):
            assert more.lower >= less.lower - 1e-9
            assert more.upper <= less.upper + 1e-6
            assert more.votes_needed >= less.votes_needed
