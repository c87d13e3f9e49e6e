"""Bradley-Terry on battles: what is proved never exceeds the truth, and what is found works."""

import math
import os

import numpy as np
import pytest

import holdrank as hr

import oracles
from battles import arena, goals_for, random_battles, votes_of

pytestmark = pytest.mark.usefixtures("time_at_work")

PROFILES = int(os.environ.get("HOLDRANK_PROFILES", "6"))  # a long run takes 5000
SECONDS = 2.0 if PROFILES > 6 else 0.4  # for one search; a long run has more
CHANGES = ("replace", "drop", "add")
MOST = {"replace": 2, "drop": 3, "add": 3}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_bound_is_above_what_brute_force_finds(change):
    exact = 0
    for seed in range(PROFILES):
        rng = np.random.default_rng([seed, CHANGES.index(change)])
        won, tied = random_battles(rng)
        votes = votes_of(won, tied)
        if votes.n != len(won):
            continue
        consensus = hr.bradley_terry(votes)
        before = tuple(int(rank) for rank in consensus.ranking.ranks)
        goals = goals_for(consensus.ranking.order, rng)
        goals = {name: goals[name] for name in rng.permutation(np.array([*goals, None], dtype=object)[:-1])[:3]}
        most = MOST[change] - (len(won) == 5 and change == "replace")
        truth = oracles.fewest_battles(won, tied, change, before, goals, most)
        for name, goal in goals.items():
            if oracles.fulfils(name, before, before):
                continue
            found = hr.attack(votes, hr.bradley_terry, goal, change=change, time_limit=SECONDS)
            weak, strict = truth[name]
            where = (
                seed,
                won.tolist(),
                tied.tolist(),
                change,
                name,
                found.votes_needed,
                found.votes_sufficient,
                truth[name],
            )
            if weak is not None:
                assert found.votes_needed <= weak <= found.votes_to_tie, where
                assert found.lower <= weak / votes.total + 1e-12, where
            if strict is not None:
                assert found.votes_to_decide <= strict <= found.votes_sufficient, where
            elif found.votes_sufficient <= most:
                raise AssertionError(where)
            if found.whole is not None:
                assert hr.fulfils(votes, hr.bradley_terry, found.whole.votes, goal), where
            exact += found.votes_needed == found.votes_sufficient
    assert exact  # otherwise nothing was tried


def test_attacks_and_bounds_of_a_close_race_meet():
    won = [[0, 30, 25], [28, 0, 26], [15, 14, 0]]
    votes = votes_of(won, np.zeros((3, 3), dtype=int))
    for change, most in (("replace", 3), ("drop", 5), ("add", 5)):
        truth = oracles.fewest_battles(won, [[0] * 3] * 3, change, (1, 2, 3), [("above", 1, 0)], most)
        found = hr.attack(votes, hr.bradley_terry, hr.Above("i1", "i0"), change=change)
        assert (found.votes_needed, found.votes_sufficient) == truth["above", 1, 0]
        assert found.votes_to_decide == found.votes_sufficient
        assert found.votes_to_tie == found.votes_needed
        assert found.verified
        assert hr.fulfils(votes, hr.bradley_terry, found.whole.votes, hr.Above("i1", "i0"))


def greedy(wins, b, a, change, ridge=1e-6):
    """How many battles an attacker needs who takes the most influential one, refits, and goes on."""
    wins = wins.astype(float).copy()
    n = len(wins)
    for size in range(1, 400):
        s = oracles.strengths_of_many(wins[None], ridge)[0]
        doubt = 1 / (1 + np.exp(s[:, None] - s))
        bend = (wins + wins.T) * doubt * (1 - doubt)
        curvature = np.diag(bend.sum(axis=1) + ridge * wins.sum()) - bend
        lift = np.linalg.solve(curvature, np.eye(n)[b] - np.eye(n)[a])
        worth = doubt * (lift[:, None] - lift)
        if change != "add":
            wins.flat[np.where(wins >= 1, worth, np.inf).argmin()] -= 1
        if change != "drop":
            wins.flat[worth.argmax()] += 1
        s = oracles.strengths_of_many(wins[None], ridge)[0]
        if s[b] > s[a]:
            return size
    return math.inf


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_greedy_attacker_never_beats_a_bound(change):
    for seed in range(max(PROFILES // 3, 3)):
        rng = np.random.default_rng([seed, 7, CHANGES.index(change)])
        n = int(rng.integers(10, 30))
        wins = arena(rng, n, int(rng.integers(20, 400)) * n, rng.choice([0.0, 1.5, 1.0]))
        counts = hr.PairCounts.from_wins(wins, [f"i{k}" for k in range(n)])
        order = hr.bradley_terry(counts).ranking.order
        at = int(rng.integers(n - 1))
        a, b = order[at], order[at + 1]
        found = hr.attack(counts, hr.bradley_terry, hr.Above(f"i{b}", f"i{a}"), change=change, time_limit=2 * SECONDS)
        assert found.votes_needed <= greedy(wins, b, a, change), (seed, n, at)
        assert found.votes_needed <= found.votes_sufficient
        assert found.verified


@pytest.mark.slow
def test_counts_of_battles_are_as_good_as_the_battles(monkeypatch):
    monkeypatch.setattr("holdrank.attacks.bradley_terry.engine._REGIONS", ((4, 20),))  # a race stops at the same region
    wins = arena(np.random.default_rng(3), 4, 300, 0)
    counts = hr.PairCounts.from_wins(wins, list("abcd"))
    votes = counts.as_votes()
    for goal in (hr.NewWinner(), hr.TopSet(1)):
        one, other = (hr.attack(data, hr.bradley_terry, goal, change="drop") for data in (counts, votes))
        assert (one.votes_needed, one.votes_sufficient) == (other.votes_needed, other.votes_sufficient)
        assert hr.verify(counts, hr.bradley_terry, one).text() == hr.verify(votes, hr.bradley_terry, other).text()


def test_counts_of_rankings_are_refused_with_a_way_out():
    votes = hr.Votes.from_orders([["a", "b", "c"], ["b", "c", "a"]], weights=[3, 2])
    counts = hr.PairCounts.from_votes(votes)
    with pytest.raises(hr.UsageError, match="5 ballots with 15 comparisons") as refused:
        hr.attack(counts, hr.bradley_terry, hr.NewWinner())
    assert "as_votes" in str(refused.value)
    with pytest.raises(hr.UsageError, match="kemeny"):
        hr.attack(counts, hr.kemeny, hr.NewWinner())


def test_weights_that_are_no_counts_have_bounds_in_shares():
    wins = arena(np.random.default_rng(5), 6, 600, 0) / 7
    votes = hr.PairCounts.from_wins(wins, list("abcdef")).as_votes()
    whole = hr.PairCounts.from_wins(np.rint(wins * 7), list("abcdef"))
    found = hr.attack(votes, hr.bradley_terry, hr.NewWinner(), change="drop")
    counted = hr.attack(whole, hr.bradley_terry, hr.NewWinner(), change="drop")
    assert 0 < found.lower <= found.upper
    assert found.upper <= 1.2 * found.lower
    assert (counted.votes_needed - 1) / 600 <= found.upper  # the same shares
    assert found.lower <= counted.votes_sufficient / 600


def test_groups_that_no_battle_connects_hang_on_the_ridge():
    won = [[0, 9, 0, 0], [3, 0, 0, 0], [0, 0, 0, 8], [0, 0, 4, 0]]
    votes = votes_of(won, np.zeros((4, 4), dtype=int))
    for change in CHANGES:
        found = hr.attack(votes, hr.bradley_terry, hr.Above("i2", "i0"), change=change)
        before = tuple(hr.bradley_terry(votes).ranking.ranks.tolist())
        truth = oracles.fewest_battles(won, [[0] * 4] * 4, change, before, [("above", 2, 0)], 2)
        assert found.votes_needed <= truth["above", 2, 0][0] or truth["above", 2, 0][0] is None


def test_an_item_that_is_never_beaten_can_be_caught():
    won = [[0, 20, 20], [0, 0, 30], [0, 25, 0]]
    votes = votes_of(won, np.zeros((3, 3), dtype=int))
    found = hr.attack(votes, hr.bradley_terry, hr.NewWinner(), change="add")
    assert 1 <= found.votes_needed <= found.votes_sufficient < math.inf
    assert hr.fulfils(votes, hr.bradley_terry, found.whole.votes, hr.NewWinner())


def test_items_of_equal_strength_need_no_battle_to_tie():
    won = [[0, 5, 7], [5, 0, 7], [3, 3, 0]]
    votes = votes_of(won, np.zeros((3, 3), dtype=int))
    for change in CHANGES:
        for goal in (hr.NewWinner(), hr.Above("i1", "i0"), hr.Distance(1 / 3)):
            found = hr.attack(votes, hr.bradley_terry, goal, change=change)
            assert (found.lower, found.votes_needed, found.votes_to_tie) == (0.0, 0.0, 0.0)
            assert found.votes_sufficient == 1


def test_one_battle_only():
    votes = hr.Votes.from_ranks([[1, 2, 0]], [1.0], ["a", "b", "c"], unlisted="observed")
    for change in CHANGES:
        found = hr.attack(votes, hr.bradley_terry, hr.Above("b", "a"), change=change)
        assert found.votes_needed <= found.votes_sufficient
        assert found.votes_needed <= 1 or math.isinf(found.votes_sufficient)


def test_ballots_over_one_item_count_for_the_ridge_alone():
    ranks = [[1, 2, 0], [2, 1, 0], [0, 1, 2], [0, 2, 1], [1, 0, 0]]
    votes = hr.Votes.from_ranks(ranks, [9.0, 7.0, 8.0, 5.0, 20.0], ["a", "b", "c"], unlisted="observed")
    found = hr.attack(votes, hr.bradley_terry, hr.NewWinner(), change="drop")
    assert 1 <= found.votes_needed <= found.votes_sufficient <= 3
    assert hr.fulfils(votes, hr.bradley_terry, found.whole.votes, hr.NewWinner())


@pytest.mark.slow
@pytest.mark.traced
def test_breakdown_of_battles_is_certified():
    wins = arena(np.random.default_rng(11), 5, 400, 0)
    curve = hr.breakdown(hr.PairCounts.from_wins(wins, list("abcde")), hr.bradley_terry, time_limit=1.5)
    assert len(curve.delta) == 10
    assert (np.diff(curve.lower) >= 0).all()
    assert (np.diff(curve.upper) >= 0).all()
    assert (curve.lower <= curve.upper).all()
    assert curve.lower[0] > 0
    assert (curve.votes_needed <= curve.votes_sufficient).all()
    assert all(one is not None and one.verified for one in curve.attacks)


def test_more_time_never_proves_less():
    wins = arena(np.random.default_rng(2), 10, 700, 1.5)
    counts = hr.PairCounts.from_wins(wins)
    short = hr.attack(counts, hr.bradley_terry, hr.NewWinner(), time_limit=0.2)
    long = hr.attack(counts, hr.bradley_terry, hr.NewWinner())
    assert short.votes_needed <= long.votes_needed
    assert long.votes_sufficient <= short.votes_sufficient


def test_two_of_three_pairs_turn_only_with_the_first_and_the_last():
    """No order of three items turns two pairs and leaves first and last; so far distances cost what these two do."""
    votes = votes_of(np.array([[0, 7, 8], [5, 0, 6], [3, 4, 0]]), np.zeros((3, 3)))
    a, _, c = (votes.items[at] for at in hr.bradley_terry(votes).ranking.order)
    curve = hr.breakdown(votes)
    past = hr.attack(votes, hr.bradley_terry, hr.Above(c, a))
    assert past.votes_needed > curve.votes_sufficient[0]
    assert curve.lower[1] >= min(past.lower, curve.upper[1]) - 1 / 8 / votes.total
    assert curve.votes_needed[1] >= min(past.votes_needed, curve.votes_sufficient[1] - 1)
