"""Both engines against linear programs over all ballots, against brute force, and under laws that need no oracle."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdrank as hr
from holdrank.attacks.borda import engine as borda
from holdrank.attacks.footrule import engine as footrule
from holdrank.attacks.goals import Above, Distance, Enters, NewWinner, TopSet, Wins
from holdrank.attacks.plans import adds_battles
from holdrank.status import Clock

import oracles
import strategies

pytestmark = pytest.mark.slow

ENGINES = {"borda": (hr.borda, borda.find), "footrule": (hr.footrule, footrule.find)}
CHANGES = list(hr.Change)
TRUTHS = Path(__file__).resolve().parents[2].parent / "shared" / "truths" / "breakdown.json"
rules = pytest.mark.parametrize("rule", ENGINES)
changes = pytest.mark.parametrize("change", CHANGES)


def run(rule, votes, goals, change=hr.Change.REPLACE, clock=None):
    statistic, find = ENGINES[rule]
    before = statistic(votes).ranking
    return find(votes, before, [goal.aim(before, votes.items) for goal in goals], change, clock or Clock(), None)


def all_goals(n):
    """Every goal for items called 0 .. n-1, as holdrank and as the oracle write it."""
    pairs = n * (n - 1) // 2
    names = [str(i) for i in range(n)]
    return [
        *((Distance(k / pairs), ("distance", k)) for k in range(1, pairs + 1)),
        *((Above(names[i], names[j]), ("above", i, j)) for i in range(n) for j in range(n) if i != j),
        (NewWinner(), ("new winner",)),
        *((Wins(names[i]), ("wins", i)) for i in range(n)),
        *((TopSet(k), ("top set", k)) for k in range(1, n)),
        *((Enters(names[i], k), ("enters", i, k)) for i in range(n) for k in range(1, n)),
    ]


def profile(rng, kind, n):
    ballots = strategies.random_ranks(rng, kind, n, int(rng.integers(2, 9)))
    if not ballots:
        return profile(rng, kind, n)
    weights = rng.integers(1, 4, size=len(ballots))
    return hr.Votes.from_ranks(np.array(ballots), weights, unlisted=strategies.unlisted_rule(kind))


@pytest.mark.parametrize("kind", strategies.KINDS)
@changes
@rules
def test_the_least_share_is_that_of_a_program_over_all_ballots(rule, change, kind):
    statistic, _ = ENGINES[rule]
    if rule == "footrule" and kind in ("observed", "battles"):
        kind = "bottom"
    for seed in range(4):
        rng = np.random.default_rng([seed, len(kind), len(change)])
        n = 4 if seed == 3 else 3
        votes = profile(rng, kind, n)
        before = statistic(votes).ranking
        ranks = tuple(before.ranks.tolist())
        shares = oracles.least_shares(
            rule, votes.ranks.tolist(), votes.weights.tolist(), votes.unlisted, change, battles=adds_battles(votes)
        )
        goals = all_goals(n)
        told = f"{rule}, {change}: {votes.ranks.tolist()} x {votes.weights.tolist()} {votes.unlisted}"
        for (goal, by_hand), found in zip(goals, run(rule, votes, [g for g, _ in goals], change), strict=True):
            reached = {
                order: share
                for order, share in shares.items()
                if oracles.fulfils(by_hand, ranks, [place + 1 for place in oracles.inverse(order)])
            }
            least = min(reached.values())
            assert found.lower == pytest.approx(least, abs=1e-8), (goal, told)
            assert found.lower <= found.upper
            if found.plan is not None:
                assert found.plan.budget(votes) <= found.upper + 1e-6
                after = statistic(found.plan.applied(votes))
                assert goal.aim(before, votes.items).reached(after.ranking), (goal, told)
            if change != "drop" or math.isinf(found.lower):
                assert found.upper == pytest.approx(least, abs=1e-8), (goal, told)
                assert (found.plan is None) == math.isinf(found.upper)


@changes
@rules
def test_no_change_of_whole_ballots_beats_the_lower_bound(rule, change):
    statistic, _ = ENGINES[rule]
    beaten = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, 77])
        kinds = ["complete", "bottom", "observed", "battles"] if rule == "borda" else ["complete", "tied", "bottom"]
        votes = profile(rng, kinds[seed % len(kinds)], 3)
        goals = all_goals(3)
        fewest = oracles.fewest_ballots(
            votes.ranks.tolist(),
            [int(w) for w in votes.weights],
            votes.unlisted,
            change,
            rule,
            tuple(statistic(votes).ranking.ranks.tolist()),
            [by_hand for _, by_hand in goals],
            3,
            battles=adds_battles(votes),
        )
        for (_, by_hand), found in zip(goals, run(rule, votes, [g for g, _ in goals], change), strict=True):
            weak, strict = fewest[by_hand]
            if weak is not None:
                assert found.lower * votes.total <= weak + 1e-6
                beaten += weak > 0
            if strict is not None:
                assert found.upper * votes.total <= strict + 1e-6
    assert beaten > 10


def truths():
    return json.loads(TRUTHS.read_text(encoding="utf-8"))["cases"] if TRUTHS.exists() else []


@pytest.mark.parametrize("case", truths(), ids=lambda case: f"{case['kind']}-{case['n']}-{case['seed']}")
@rules
def test_the_known_breakdown_functions_are_met(rule, case):
    statistic, _ = ENGINES[rule]
    n, known = case["n"], case["breakdown_tv"][rule]["by_flipped_pairs"]
    votes = hr.Votes.from_orders(case["orders"], case["p"], items=range(n))
    before = statistic(votes).ranking
    goals = [Distance(k / len(known)) for k in range(1, len(known) + 1)]
    for goal, share, found in zip(goals, known, run(rule, votes, goals), strict=True):
        assert found.upper == pytest.approx(share, abs=1e-6)
        assert 0 <= found.upper - found.lower <= 1e-9
        after = statistic(found.plan.applied(votes))
        assert after.unique
        assert goal.aim(before, votes.items).reached(after.ranking)
        assert abs(found.plan.budget(votes) - share) <= 1e-6


few = strategies.votes(most_items=4, most_ballots=5, rule="bottom", counts=True)


def shares(founds):
    return [found.lower for found in founds]


def distances(votes):
    pairs = votes.n * (votes.n - 1) // 2
    return [Distance(k / pairs) for k in range(1, pairs + 1)]


@changes
@rules
@settings(max_examples=15)
@given(votes=few)
def test_farther_is_never_cheaper_and_upper_never_below_lower(rule, change, votes):
    found = run(rule, votes, distances(votes), change)
    assert shares(found) == sorted(shares(found))
    assert all(0 <= one.lower <= one.upper for one in found)
    uppers = [one.upper for one in found]
    assert uppers == sorted(uppers)


@rules
@settings(max_examples=15)
@given(votes=few, data=st.data())
def test_names_and_their_order_do_not_matter(rule, votes, data):
    statistic, find = ENGINES[rule]
    change = data.draw(st.sampled_from(CHANGES))
    before = statistic(votes).ranking
    columns = list(data.draw(st.permutations(range(votes.n))))
    other = hr.Votes.from_ranks(votes.ranks[:, columns], votes.weights, unlisted=votes.unlisted)
    same = hr.Ranking(before.ranks[columns])
    there, here = (
        find(v, b, [goal.aim(b, v.items) for goal in distances(votes)], change, Clock(), None)
        for v, b in ((other, same), (votes, before))
    )
    assert shares(there) == pytest.approx(shares(here), abs=1e-8)


@changes
@rules
@settings(max_examples=10)
@given(votes=few, times=st.integers(2, 50))
def test_every_vote_many_times_over_is_the_same_question(rule, change, votes, times):
    more = hr.Votes.from_ranks(votes.ranks, votes.weights * times, votes.items, unlisted=votes.unlisted)
    assert shares(run(rule, more, distances(votes), change)) == pytest.approx(
        shares(run(rule, votes, distances(votes), change)), abs=1e-8
    )


@changes
@rules
@settings(max_examples=10)
@given(votes=few)
def test_no_time_still_gives_valid_bounds(rule, change, votes):
    goals = [*distances(votes), *([TopSet(1), Wins(votes.items[-1])] if votes.n > 1 else [])]
    exact = run(rule, votes, goals, change)
    for quick, sure in zip(run(rule, votes, goals, change, Clock(time_limit=0)), exact, strict=True):
        assert quick.lower <= sure.lower + 1e-9
        assert quick.upper >= sure.upper - 1e-9
